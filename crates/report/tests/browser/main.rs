//! The page in a real browser: no error, no request, tables that sort and filter, stories, tips, both themes, and
//! everything where it belongs at six widths, a phone's among them. Faults are planted, too: a check that sees none checks nothing.

mod chromium;
#[path = "../../examples/gallery/sample.rs"]
#[allow(dead_code)]
mod sample;

use std::path::{Path, PathBuf};

use octopus_report::{Figure, Measured, Report, Status, SummaryRow, write_report};
use sample::{Sample, Shape};
use serde::Deserialize;

const SHAPE: Shape = Shape { groups: 12, chains: 4, draws: 240, truth: true, divergences: false };
/// The first is a phone's.
const WIDTHS: [u32; 6] = [400, 500, 800, 840, 900, 1400];
const HEIGHT: u32 = 1000;
/// A browser without a window is no narrower.
const NARROWEST_WINDOW: u32 = 500;
/// An em in pixels that can be read.
const SMALLEST_LETTERS: f64 = 9.0;

/// Left, top, right, bottom in pixels.
type Edges = [f64; 4];

/// What `probe.js` saw.
#[derive(Deserialize)]
struct Seen {
    width: f64,
    page_width: f64,
    too_wide: Vec<String>,
    overflowing: Vec<String>,
    without_hint: Vec<String>,
    sections: Vec<(String, f64, f64, f64, f64)>,
    links: Vec<String>,
    tables: Vec<SeenTable>,
    pictures: Vec<(String, f64, f64, f64, f64)>,
    hidden_pictures: usize,
    smallest_letters: Vec<(String, f64)>,
    cards: Vec<(f64, f64, f64, f64, f64)>,
    verdict_ids: Vec<String>,
    by_mean: Vec<String>,
    mean_sort: Option<String>,
    by_mean_down: Vec<String>,
    mean_sort_down: Option<String>,
    by_bulk: Vec<String>,
    sorted_headings: Vec<String>,
    by_name: Vec<String>,
    by_wall: Vec<(String, String)>,
    filtered: Vec<String>,
    filtered_count: String,
    outside: Vec<String>,
    missed: Vec<String>,
    skipped: Vec<String>,
    story: Vec<String>,
    story_expanded: String,
    story_pictures: Vec<(String, usize, f64, f64, f64, f64)>,
    story_box: Edges,
    story_follows: bool,
    story_hidden: bool,
    story_of_none: usize,
    story_closed: bool,
    tip: Option<String>,
    tip_box: Edges,
    tip_titles: usize,
    tip_next: Option<String>,
    tip_gone: bool,
    before: [String; 2],
    after: [String; 2],
    back: [String; 2],
}

#[derive(Deserialize)]
struct SeenTable {
    label: String,
    table: Edges,
    head_bottom: f64,
    first_top: f64,
    headings: Vec<Edges>,
}

/// A report with a page, and a parameter without a story.
fn write(folder: &Path) -> (Report, String) {
    let sample = Sample::new(SHAPE);
    let mut report = sample::report(&sample, SHAPE);
    report.parameters[4].rhat = 1.02;
    report.stories.parameters.retain(|story| story.name != "z[0]");
    let figures = [
        Figure::new(sample.trace()),
        Figure::new(sample.posterior_plot()),
        Figure::new(sample.forest()),
        Figure::new(sample.ppc()),
        Figure::new(sample::benchmark(false).plot()),
    ];
    write_report(folder, &report, &figures).unwrap();
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    (report, page)
}

/// All that is wrong with `page` at `width`.
fn complaints(browser: &Path, report: &Report, page: &str, width: u32, folder: &Path) -> Vec<String> {
    let probe = include_str!("probe.js");
    let probed = page.replace("</body>", &format!("<script>{probe}</script></body>"));
    assert_ne!(probed, page, "the probe found its place");
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("probed.html"), probed).unwrap();
    // The page stands in a frame of its width, and says what it saw.
    let frame = format!(
        "<body style=\"margin:0\"><iframe src=\"probed.html\" style=\"display:block;border:0;width:{width}px;height:{HEIGHT}px\"></iframe>\
         <script>onmessage = (message) => document.body.insertAdjacentHTML('beforeend', message.data)</script></body>"
    );
    let file = folder.join("frame.html");
    std::fs::write(&file, frame).unwrap();
    let window = width.max(NARROWEST_WINDOW);
    let visit = chromium::visit(browser, &file, (window, HEIGHT), folder);
    let mut found: Vec<String> = visit.console.iter().map(|line| format!("console: {line}")).collect();
    found.extend(visit.requests.iter().map(|url| format!("request: {url}")));
    found.extend(picture_flaws(&visit.picture, window));
    let json =
        visit.document.split_once("<pre id=\"probe\" hidden=\"\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((json, _)) = json else {
        found.push("the probe did not come to its end".to_owned());
        return found;
    };
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    let seen: Seen = serde_json::from_str(&json).unwrap();
    let mut check = |good: bool, what: String| {
        if !good {
            found.push(what);
        }
    };
    check(seen.width == f64::from(width), format!("the window is {} wide", seen.width));
    layout(&seen, &mut check);
    behaviour(&seen, report, &mut check);
    found
}

/// The picture of the window has its size and shows something: letters, and colours of badges and cards.
fn picture_flaws(bytes: &[u8], width: u32) -> Vec<String> {
    let Ok(mut reader) = png::Decoder::new(std::io::Cursor::new(bytes)).read_info() else {
        return vec![format!("no picture was taken ({} bytes)", bytes.len())];
    };
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    let mut flaws = Vec::new();
    if (frame.width, frame.height) != (width, HEIGHT) {
        flaws.push(format!("the picture is {} by {}", frame.width, frame.height));
    }
    let samples = frame.color_type.samples();
    let background = pixels[..samples].to_vec();
    let inked = pixels.chunks(samples).filter(|pixel| **pixel != background[..]).count();
    let share = inked as f64 / (pixels.len() / samples) as f64;
    if !(0.03..0.9).contains(&share) {
        flaws.push(format!("a share of {share} of the picture is not background"));
    }
    flaws
}

/// Whether everything is where it belongs.
fn layout(seen: &Seen, check: &mut impl FnMut(bool, String)) {
    check(seen.page_width <= seen.width, format!("the page is {} wide in {}", seen.page_width, seen.width));
    check(seen.too_wide.is_empty(), format!("wider than the window: {:?}", seen.too_wide));
    check(seen.without_hint.is_empty(), format!("to be scrolled, and nothing says so: {:?}", seen.without_hint));
    let has = |kind: &str| seen.overflowing.iter().any(|class| class.split(' ').any(|name| name == kind));
    check(has("framed") || seen.width >= 600.0, format!("no table is wider than the window: {:?}", seen.overflowing));
    check(!has("picture"), format!("a picture must be scrolled: {:?}", seen.overflowing));
    let ids: Vec<&String> = seen.sections.iter().map(|(id, ..)| id).collect();
    check(ids == seen.links.iter().collect::<Vec<_>>(), format!("contents {:?} of {ids:?}", seen.links));
    check(ids.first().is_some_and(|id| *id == "verdict"), format!("first comes {:?}", ids.first()));
    for pair in seen.sections.windows(2) {
        check(pair[0].4 <= pair[1].2 + 0.5, format!("{} reaches into {}", pair[0].0, pair[1].0));
    }
    check(seen.tables.len() >= 8, format!("{} tables", seen.tables.len()));
    for table in &seen.tables {
        let [left, _, right, _] = table.table;
        check(left >= 0.0 && right - left > 100.0, format!("{}: from {left} to {right}", table.label));
        // Where rows are read from top to bottom there is no heading.
        let apart = if table.head_bottom == 0.0 { 0.0 } else { table.first_top - table.head_bottom };
        check(apart.abs() <= 1.0, format!("{}: heading and first row are {apart} apart", table.label));
        for pair in table.headings.windows(2) {
            check(pair[0][2] <= pair[1][0] + 0.5, format!("{}: headings overlap", table.label));
        }
    }
    check(seen.pictures.len() == 5, format!("{} pictures", seen.pictures.len()));
    check(seen.hidden_pictures == 5, format!("{} pictures are for other widths", seen.hidden_pictures));
    // A picture for narrow windows grows no wider than 36 rem.
    let inside = seen.width.min(1216.0);
    let expected = if seen.width <= 832.0 { (inside - 45.0).min(576.0) } else { inside - 60.0 };
    for (id, left, top, right, bottom) in &seen.pictures {
        let (width, height) = (right - left, bottom - top);
        check((0.95..1.05).contains(&(width / expected)), format!("{id} is {width} wide, not about {expected}"));
        check(*left >= 0.0 && *right <= seen.width, format!("{id} lies from {left} to {right} of {}", seen.width));
        check((0.15..6.0).contains(&(height / width)), format!("{id} is {width} by {height}"));
    }
    check(seen.smallest_letters.len() == 5, format!("letters in {:?}", seen.smallest_letters));
    for (id, em) in &seen.smallest_letters {
        check(*em >= SMALLEST_LETTERS, format!("{id} has letters of {em} pixels"));
    }
    check(seen.cards.len() == 5, format!("{} cards", seen.cards.len()));
    for (left, _, right, bottom, beyond) in &seen.cards {
        check(
            right - left > 130.0 && *beyond <= 0.0,
            format!("a card is {} wide, and {beyond} too little", right - left),
        );
        check(*bottom < if seen.width > 800.0 { 520.0 } else { 900.0 }, format!("a card ends at {bottom}"));
    }
}

/// Whether what a reader does has its effect.
fn behaviour(seen: &Seen, report: &Report, check: &mut impl FnMut(bool, String)) {
    let names = |rows: Vec<&SummaryRow>| rows.into_iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    let sorted = |key: &dyn Fn(&SummaryRow) -> f64| {
        let mut rows: Vec<&SummaryRow> = report.parameters.iter().collect();
        rows.sort_by(|a, b| key(a).total_cmp(&key(b)));
        names(rows)
    };
    let mut equal = |what: &str, found: &[String], expected: &[String]| {
        check(found == expected, format!("{what}: {found:?}, not {expected:?}"));
    };
    equal("by mean", &seen.by_mean, &sorted(&|row| row.mean));
    equal("by mean, down", &seen.by_mean_down, &sorted(&|row| -row.mean));
    // By what the table shows, in which some are equal: those stay in the order in which they were.
    let mut by_bulk: Vec<&SummaryRow> = report.parameters.iter().collect();
    by_bulk.sort_by(|a, b| b.mean.total_cmp(&a.mean));
    by_bulk.sort_by(|a, b| a.ess_bulk.round().total_cmp(&b.ess_bulk.round()));
    equal("by bulk ESS", &seen.by_bulk, &names(by_bulk));
    let elements = |variable: &str| (0..SHAPE.groups).map(|i| format!("{variable}[{i}]")).collect::<Vec<_>>();
    let scalars = ["mu_pop", "sigma_obs", "sigma_pop"].map(str::to_owned);
    equal("by name", &seen.by_name, &[elements("mu_group"), scalars.into(), elements("z")].concat());
    equal(
        "filtered",
        &seen.filtered,
        &names(kept(report, |row| row.name.contains("mu_group") && row.name.contains('1'))),
    );
    equal("truth outside", &seen.outside, &names(kept(report, |row| row.truth_inside() == Some(false))));
    equal("that miss a limit", &seen.missed, &names(kept(report, misses)));
    let rows = &report.verdict.rows;
    let of = |rank: fn(&Status) -> bool| rows.iter().filter(move |row| rank(&row.status)).map(|row| row.id.clone());
    let skipped: Vec<String> = of(|status| matches!(status, Status::Skipped { .. })).collect();
    equal("skipped", &seen.skipped, &skipped);
    let judged = of(|status| matches!(status, Status::Pass | Status::Warn));
    let verdict: Vec<String> = of(|s| *s == Status::Fail).chain(judged).chain(skipped).collect();
    equal("verdict, failed first", &seen.verdict_ids, &verdict);
    equal("one heading is sorted by", &seen.sorted_headings, &["bulk ESS draws".to_owned()]);

    let filtered = format!("{} of {}", seen.filtered.len(), report.parameters.len());
    check(seen.filtered_count == filtered, format!("{:?} is shown, not {filtered:?}", seen.filtered_count));
    let sorts = [seen.mean_sort.as_deref(), seen.mean_sort_down.as_deref()];
    check(sorts == [Some("ascending"), Some("descending")], format!("aria-sort {sorts:?}"));
    // Seconds and milliseconds in one column, and what was not measured last.
    let mut runs: Vec<_> = report.benchmark.as_ref().unwrap().runs.iter().collect();
    runs.sort_by(|a, b| wall(&a.result).total_cmp(&wall(&b.result)));
    let expected: Vec<(String, String)> = runs
        .iter()
        .map(|run| (format!("{}, {}", run.engine, run.setting).trim_end_matches(", ").to_owned(), commas(run.groups)))
        .collect();
    check(seen.by_wall == expected, format!("by wall: {:?}, not {expected:?}", seen.by_wall));

    let told = seen.story.join("\n");
    for words in
        ["R-hat 1.00", "effective draws of 960", "(MCSE)", "standard errors", "The value that made the data, 10.00"]
    {
        check(told.contains(words), format!("the story says nothing of {words:?}: {told}"));
    }
    check(
        seen.story_expanded == "true" && seen.story_follows && seen.story_hidden && seen.story_closed,
        "the story does not stay with its row".into(),
    );
    check(seen.story_of_none >= 3, format!("{} sentences on a parameter without a story", seen.story_of_none));
    let titles: Vec<&str> = seen.story_pictures.iter().map(|(title, ..)| title.as_str()).collect();
    check(titles == ["Effective draws", "Means by chain", "Ranks by chain"], format!("{titles:?}"));
    for (title, marks, left, top, right, bottom) in &seen.story_pictures {
        check(
            *marks >= 4 && right - left > 180.0 && bottom - top > 70.0,
            format!("{title}: {marks} marks from {left} to {right}"),
        );
        check(*left >= 0.0 && *right <= seen.width, format!("{title} lies from {left} to {right} of {}", seen.width));
    }
    check(
        seen.story_box[0] >= 0.0 && seen.story_box[2] <= seen.width,
        format!("the story is cut: {:?}", seen.story_box),
    );

    let tip = seen.tip.as_deref().unwrap_or("");
    let mean = report.parameters.iter().find(|row| row.name == "mu_pop").map_or(0.0, |row| row.mean);
    check(tip.starts_with("mu_pop") && tip.contains(&format!("mean {mean:.2}")), format!("the tip says {tip:?}"));
    let [left, top, right, bottom] = seen.tip_box;
    let inside = left >= 0.0 && top >= 0.0 && right <= seen.width && bottom <= f64::from(HEIGHT);
    check(inside && right - left > 60.0, format!("the tip lies at {:?}", seen.tip_box));
    check(seen.tip_titles == 0, "the browser would show its own tip, too".into());
    check(
        seen.tip_next.as_deref().is_some_and(|next| next.starts_with("sigma_pop")),
        format!("the arrow leads to {:?}", seen.tip_next),
    );
    check(seen.tip_gone, "Escape leaves the tip".into());

    let differ = (0..2).all(|i| seen.before[i] != seen.after[i] && seen.before[i] == seen.back[i]);
    check(
        differ && seen.before[0] == seen.before[1],
        format!("themes: {:?} {:?} {:?}", seen.before, seen.after, seen.back),
    );
}

fn kept(report: &Report, of: impl Fn(&SummaryRow) -> bool) -> Vec<&SummaryRow> {
    // After sorting by name, which is the order in which the page has them then.
    let mut rows: Vec<&SummaryRow> = report.parameters.iter().filter(|row| of(row)).collect();
    let key = |row: &SummaryRow| {
        let (variable, label) = row.name.split_once('[').unwrap_or((&row.name, "0]"));
        (variable.to_owned(), label.trim_end_matches(']').parse::<usize>().unwrap())
    };
    rows.sort_by_key(|row| key(row));
    rows
}

fn misses(row: &SummaryRow) -> bool {
    let good = row.rhat < 1.01 && row.ess_bulk > 400.0 && row.ess_tail > 400.0;
    !good
}

fn wall(result: &Measured<octopus_report::EngineTimes>) -> f64 {
    result.value().map_or(f64::INFINITY, octopus_report::EngineTimes::wall_s)
}

fn commas(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

fn browser() -> Option<PathBuf> {
    match chromium::find() {
        Ok(browser) => Some(browser),
        Err(reason) => {
            eprintln!("SKIPPED: {reason}: the page is not opened");
            None
        }
    }
}

#[test]
fn the_page_works_in_a_browser_at_every_width() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (report, page) = write(folder.path());
    let found: Vec<String> = std::thread::scope(|scope| {
        let visits = WIDTHS.map(|width| {
            let (browser, report, page) = (&browser, &report, &page);
            let folder = folder.path().join(width.to_string());
            scope.spawn(move || {
                let found = complaints(browser, report, page, width, &folder);
                found.into_iter().map(move |complaint| format!("{width}: {complaint}")).collect::<Vec<_>>()
            })
        });
        visits.into_iter().flat_map(|visit| visit.join().unwrap()).collect()
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn planted_faults_are_seen() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (report, page) = write(folder.path());
    let faults = [
        // A sort that does nothing, a word on the console, a picture from outside, a table wider than the page.
        ("rows.sort((a, b) =>", "[].sort((a, b) =>", "by mean: "),
        ("</main>", "</main><script>console.error('planted')</script>", "console: "),
        ("</main>", "</main><img src=\"http://127.0.0.1:9/planted.png\">", "request: http://127.0.0.1:9/planted.png"),
        ("<table class=\"facts\">", "<table class=\"facts\" style=\"width:3000px\">", "the page is "),
        (
            "<td>mu_pop</td>",
            "<td><div style=\"margin-left:-3000px\"></div>mu_pop<script>nowhere()</script></td>",
            "nowhere is not defined",
        ),
    ];
    // The page's own policy would hold the request back.
    let mut broken = page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"policy\"");
    for (good, bad, _) in faults {
        assert!(broken.contains(good), "{good}");
        broken = broken.replacen(good, bad, 1);
    }
    let found = complaints(&browser, &report, &broken, 900, folder.path());
    for (_, _, complaint) in faults {
        assert!(found.iter().any(|found| found.contains(complaint)), "{complaint}: {found:#?}");
    }
}
