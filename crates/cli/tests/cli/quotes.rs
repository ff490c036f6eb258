//! Figures that pages quote from `reports/suites` stand there.
//!
//! A quote is a link whose text is the figure, whose address is the summary that has it, and whose title is the framework with
//! words of the case: `[4.2 ms](../reports/suites/polynomial-hmc/summary.csv "octopus: hmc n=50")`. On a line that has a link
//! into `reports/suites`, every figure with a unit is one. The tables of `reports/suites/README.md` are held to the summaries
//! cell by cell.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A number as it is written, with how far it may be from what it stands for.
struct Figure {
    value: f64,
    half: f64,
}

impl Figure {
    /// Reads a number such as `4.19`, `24,400` or `1.23e+05`, times a factor.
    fn read(text: &str, factor: f64) -> Option<Self> {
        let text = text.replace(',', "");
        let value: f64 = text.parse().ok()?;
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        let half = 0.5 * 10f64.powi(exponent.parse::<i32>().ok()? - places);
        Some(Self { value: value * factor, half: half * factor })
    }

    fn is(&self, exact: f64) -> bool {
        (self.value - exact).abs() <= self.half * (1.0 + 1e-9)
    }
}

/// Returns the column that a unit stands for, and the factor of the unit.
fn unit(name: &str) -> Option<(&'static str, f64)> {
    Some(match name {
        "s" => ("seconds", 1.0),
        "ms" => ("seconds", 1e-3),
        "us" => ("seconds", 1e-6),
        "times" => ("times_octopus", 1.0),
        "draws/s" => ("ess_per_second", 1.0),
        _ => return None,
    })
}

/// A line of a summary by the names of its columns.
struct Line(Vec<(String, String)>);

impl Line {
    fn of(&self, column: &str) -> &str {
        self.0.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell)
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.of(column).parse().ok()
    }
}

fn summary(path: &Path) -> Result<Vec<Line>, String> {
    let wrong = |error: csv::Error| format!("{}: {error}", path.display());
    let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
    let names: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    let line = |row: csv::Result<csv::StringRecord>| {
        let cells = row.map_err(wrong)?;
        Ok(Line(names.iter().cloned().zip(cells.iter().map(str::to_owned)).collect()))
    };
    reader.records().map(line).collect()
}

/// Says what is wrong with a quote; `Ok` where the summary has the figure.
fn quote(text: &str, path: &Path, title: &str) -> Result<(), String> {
    let (number, name) = text.rsplit_once(' ').ok_or_else(|| format!("{text} has no unit"))?;
    let (column, factor) = unit(name).ok_or_else(|| format!("{text}: {name} is no unit of a summary"))?;
    let figure = Figure::read(number, factor).ok_or_else(|| format!("{text} is no figure"))?;
    let (framework, words) = title.split_once(": ").ok_or_else(|| format!("{text}: its title names no case"))?;
    let has = |line: &Line| {
        let case = line.of("case");
        let parts: Vec<&str> = case.split([' ', ';', ',']).collect();
        line.of("framework") == framework && words.split(' ').all(|word| parts.contains(&word))
    };
    let lines: Vec<Line> = summary(path)?.into_iter().filter(has).collect();
    let [line] = &lines[..] else { return Err(format!("{text}: {} lines fit {title}", lines.len())) };
    match line.number(column) {
        Some(exact) if figure.is(exact) => Ok(()),
        found => Err(format!("{text} is quoted, and {} has {found:?}", path.display())),
    }
}

/// Says what is wrong with the quotes of a page; its links are relative to `folder`.
fn faults(page: &str, folder: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for line in page.lines().filter(|line| line.contains("reports/suites/")) {
        let mut rest = line.to_owned();
        while let Some((before, link)) = rest.split_once("](").map(|(a, b)| (a.to_owned(), b.to_owned())) {
            let (Some((head, text)), Some((inside, after))) = (before.rsplit_once('['), link.split_once(')')) else {
                break;
            };
            if inside.contains("reports/suites/") && inside.contains(".csv") {
                let (path, title) = inside.split_once(" \"").unwrap_or((inside, ""));
                faults.extend(quote(text, &folder.join(path), title.trim_end_matches('"')).err());
            }
            rest = format!("{head} {after}");
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        for pair in words.windows(2) {
            let name = pair[1].trim_end_matches(['.', ',', ';', ':', ')']);
            if unit(name).is_some() && Figure::read(pair[0].trim_start_matches('('), 1.0).is_some() {
                faults.push(format!("{} {name} is no link to its summary", pair[0]));
            }
        }
    }
    faults
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[test]
fn figures_quoted_from_suites_stand_there() {
    let mut all = vec![root().join("README.md")];
    pages(&root().join("docs"), &mut all);
    let of = |path: &PathBuf| {
        let faults = faults(&fs::read_to_string(path).unwrap(), path.parent().unwrap());
        faults.into_iter().map(|fault| format!("{}: {fault}", path.display())).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = all.iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_quote_is_found() {
    let link = |text: &str, title: &str| format!("[{text}](reports/suites/polynomial-hmc/summary.csv \"{title}\")");
    let faults = |line: String| faults(&line, &root());
    assert_eq!(faults(link("4.2 ms", "octopus: hmc n=50")), [""; 0]);
    assert_eq!(faults(link("0.33 times", "handwritten-jax: hmc n=50")), [""; 0]);
    for (text, title, words) in [
        ("4.3 ms", "octopus: hmc n=50", "4.3 ms is quoted"),
        ("4.2 us", "octopus: hmc n=50", "4.2 us is quoted"),
        ("0.36 times", "handwritten-jax: hmc n=50", "0.36 times is quoted"),
        ("4.2 ms", "octopus: n=50", "2 lines fit"),
        ("4.2 ms", "octopus", "names no case"),
        ("4.2", "octopus: hmc n=50", "no unit"),
    ] {
        let found = faults(link(text, title));
        assert!(found.len() == 1 && found[0].contains(words), "{text}: {found:?}");
    }
    let plain = faults("NUTS takes 4.2 ms ([suites](reports/suites/README.md)).".to_owned());
    assert_eq!(plain, ["4.2 ms is no link to its summary"]);
}

/// Returns the numbers of a cell with their units, as factors: `4.19 ms (4.17 ms to 4.28 ms)`.
fn figures(cell: &str) -> Vec<Figure> {
    let words: Vec<&str> = cell.split([' ', '(', ')']).filter(|word| !word.is_empty()).collect();
    let factor = |at: usize| words.get(at + 1).and_then(|name| unit(name)).map_or(1.0, |(_, factor)| factor);
    words.iter().enumerate().filter_map(|(at, word)| Figure::read(word, factor(at))).collect()
}

#[test]
fn the_tables_of_suites_are_their_summaries() {
    let folder = root().join("reports/suites");
    let page = fs::read_to_string(folder.join("README.md")).unwrap();
    let (mut lines, mut rows) = (Vec::new(), 0);
    for text in page.lines() {
        if let Some(suite) = text.strip_prefix("## ") {
            lines = summary(&folder.join(suite).join("summary.csv")).unwrap_or_default();
        }
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let &[_, case, framework, verdict, seconds, rate, times, _] = &cells[..] else { continue };
        let own = |line: &&Line| {
            line.of("case").replace(" noise=0.05 seed=42", "") == case && line.of("framework") == framework
        };
        let Some(line) = lines.iter().find(own) else {
            assert!(framework == "framework" || framework == "--", "no summary has {text}");
            continue;
        };
        rows += 1;
        let columns = |names: &[&str]| names.iter().filter_map(|name| line.number(name)).collect::<Vec<f64>>();
        for (cell, exact) in [
            (seconds, columns(&["seconds", "seconds_low", "seconds_high"])),
            (rate, columns(&["ess_per_second"])),
            (times, columns(&["times_octopus"])),
        ] {
            let shown = figures(cell);
            let same = shown.iter().zip(&exact).all(|(figure, exact)| figure.is(*exact));
            // Where draws are not judged, there is no rate.
            assert!(same && (shown.len() == exact.len() || shown.is_empty()), "{cell} of {text}: {exact:?}");
        }
        assert_eq!(line.of("verdict"), verdict, "{text}");
    }
    assert!(rows > 90, "{rows} rows");
}
