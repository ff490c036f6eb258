//! Options that messages and pages name: each must be one that the program has.

use crate::options::{GLOBAL, listed};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Options of other programs, by the program: messages and pages say what to do with these too.
#[rustfmt::skip]
const OF_OTHERS: &[(&str, &[&str])] = &[
    ("apt", &["--purge"]),
    ("cargo", &["--example", "--locked", "--no-deps", "--open", "--path", "--release", "--workspace"]),
    ("cargo xtask", &["--against", "--arch", "--budget", "--calibrate", "--counts", "--keep", "--kernels", "--limit", "--newest"]),
    ("curl", &["--output", "--proto", "--tlsv1"]),
    ("docker", &["--gpus", "--rm", "--runtime", "--security-opt"]),
    ("lspci, apptainer", &["--gpgpu", "--nv"]),
    ("ncu", &["--page", "--set"]),
    ("nvcc", &["--fmad"]),
    ("nvidia-smi", &["--query-gpu"]),
    ("sbatch", &["--array", "--cpus-per-task", "--dependency", "--gres", "--job-name", "--mem", "--open-mode", "--parsable",
                 "--requeue", "--signal", "--time"]),
    ("systemctl", &["--now"]),
    ("wsl", &["--set-version", "--shutdown", "--update"]),
    ("octopus, hidden", &["--first-draw"]),
    ("the model of docs/models.md", &["--ill"]),
    ("every program", &["--help", "--version"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// The string literals of a source, without those of its tests.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("\nmod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(char) = rest.chars().next() {
        let skip = |text: &'static str| rest.find(text).map_or(rest.len(), |at| at + text.len());
        let hashes = rest.strip_prefix('r').map(|after| after.len() - after.trim_start_matches('#').len());
        let raw = hashes.filter(|hashes| rest[1 + hashes..].starts_with('"'));
        let length = if rest.starts_with("//") {
            skip("\n")
        } else if let Some(hashes) = raw {
            let (begin, end) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
            let length = rest[begin..].find(&end).unwrap_or(rest.len() - begin);
            found.push(rest[begin..begin + length].to_owned());
            begin + length + end.len()
        } else if char == '"' {
            let mut escaped = false;
            let closes = |byte: u8| {
                let is_end = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                is_end
            };
            let length = rest.bytes().skip(1).position(closes).unwrap_or(rest.len() - 2);
            found.push(rest[1..1 + length].to_owned());
            length + 2
        } else if char == '\'' {
            // A character; a lifetime has no second quote within its next few bytes.
            let escape = usize::from(rest[1..].starts_with('\\'));
            let after = rest.char_indices().nth(2 + escape).map(|(at, _)| at);
            after.filter(|at| rest[*at..].starts_with('\'')).map_or(1, |at| at + 1)
        } else {
            char.len_utf8()
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

/// The options that a text names.
fn options(text: &str) -> impl Iterator<Item = String> {
    let part = |(at, _): (usize, &str)| {
        let before = text[..at].chars().next_back();
        let name: String =
            text[at + 2..].chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '-').collect();
        let name = name.trim_end_matches('-').to_owned();
        let is_option = before.is_none_or(|char| !char.is_alphanumeric() && !['-', '_'].contains(&char))
            && name.starts_with(|char: char| char.is_ascii_lowercase());
        is_option.then(|| format!("--{name}"))
    };
    text.match_indices("--").filter_map(part)
}

/// The texts that people read, with the files that have them: messages, help and pages.
fn texts() -> Vec<(PathBuf, String)> {
    let (mut sources, mut pages) = (Vec::new(), vec![root().join("README.md")]);
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("src").is_dir() && !folder.ends_with("softgpu") {
            files(&folder.join("src"), "rs", &mut sources);
        }
    }
    sources.retain(|path| !path.components().any(|part| part.as_os_str() == "tests") && !path.ends_with("tests.rs"));
    files(&root().join("docs"), "md", &mut pages);
    pages.retain(|path| !path.components().any(|part| part.as_os_str() == "decisions"));
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let of_source = |path: PathBuf| {
        let text = read(&path);
        // Help is written as the documentation of arguments.
        let help = text.lines().filter(|line| path.to_string_lossy().contains("/cli/src/args") && line.contains("///"));
        let text = literals(&text).into_iter().chain(help.map(str::to_owned)).collect::<Vec<_>>().join("\n");
        (path, text)
    };
    let pages = pages.into_iter().map(|path| (path.clone(), read(&path)));
    sources.into_iter().map(of_source).chain(pages).collect()
}

#[test]
fn every_option_that_is_named_exists() {
    let listed = listed();
    let own: BTreeSet<&str> = listed.iter().flat_map(|(_, options)| options).map(|one| one.option.as_str()).collect();
    let others: BTreeSet<&str> = OF_OTHERS.iter().flat_map(|(_, options)| *options).copied().collect();
    let (mut named, mut wrong) = (BTreeSet::new(), Vec::new());
    for (path, text) in texts() {
        for option in options(&text) {
            if !own.contains(option.as_str()) && !others.contains(option.as_str()) {
                wrong.push(format!("{}: {option}", path.display()));
            }
            named.insert(option);
        }
    }
    assert!(wrong.is_empty(), "the program has no such options: {wrong:#?}");
    // The texts are found, and no exception is left over.
    assert!(["--drop-missing", "--batch-by", "--mu-mean"].iter().all(|option| named.contains(*option)));
    let unused: Vec<_> = others.iter().filter(|option| !named.contains(**option) && **option != "--help").collect();
    assert!(unused.is_empty(), "nothing names {unused:?}");
}

/// A command line in a text, `octopus COMMAND ... --option`, has an option of that command.
#[test]
fn every_option_in_a_command_line_is_one_of_the_command() {
    let listed = listed();
    let mut wrong = Vec::new();
    let mut lines = 0;
    for (path, text) in texts() {
        for (at, _) in text.match_indices("octopus ") {
            let line = text[at + 8..].split(['`', '\n', '|', ';', '&', '"']).next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            let second = words.next().unwrap_or_default();
            // The longest name that fits is meant: `bench-run`, not `bench`.
            let of_two = format!("{first}-{second}");
            let named = |name: &str| listed.iter().find(|(command, _)| !command.is_empty() && command == name);
            let Some((command, own)) = named(&of_two).or_else(|| named(first)) else { continue };
            lines += 1;
            for option in options(line) {
                // Behind the options of submit is another command.
                let is_behind = |of: &str| {
                    listed.iter().any(|(name, all)| name == of && all.iter().any(|one| one.option == option))
                };
                let is_submitted = command == "submit" && ["sample", "sweep", "calibrate"].into_iter().any(is_behind);
                let has =
                    own.iter().any(|one| one.option == option) || GLOBAL.contains(&option.as_str()) || is_submitted;
                if !has && option != "--help" && option != "--first-draw" {
                    wrong.push(format!("{}: octopus {line}: {command} has no {option}", path.display()));
                }
            }
        }
    }
    assert!(lines > 50, "{lines}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn literals_and_options_are_found() {
    let source = "// \"--no\"\nlet a = \"x --yes-1, \\\" --two\"; let b = r#\"--raw \"q\" --three\"#; let c = '\"'; f::<'a>();\n\
                  let d = \"--last-\";\n#[cfg(test)]\nmod tests {\n\"--not\"";
    let found: Vec<String> = literals(source).iter().flat_map(|literal| options(literal)).collect();
    assert_eq!(found, ["--yes-1", "--two", "--raw", "--three", "--last"]);
    assert_eq!(options("a--b ---c --D --e").collect::<Vec<_>>(), ["--e"]);
}
