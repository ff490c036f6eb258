//! Names and labels of other programs are shown short, and obeyed by no terminal, picture or page.

use crate::support::run;
use octopus_formats::write_netcdf;
use octopus_trace::{Array, Dataset, InferenceData, Labels, Values};
use std::path::Path;
use std::time::{Duration, Instant};

/// What a terminal obeys or XML forbids, of every kind.
const OBEYED: &str = "\u{1}\u{7}\u{8}\u{1b}[2J\u{7f}\u{85}\u{9b}2J\u{202a}\u{202e}\u{2066}\u{2069}";

/// Writes a trace with labels of `len` characters, in which is what a terminal obeys.
fn trace(dir: &Path, len: usize) {
    let mut state = 1u64;
    let mut noise = |count: usize| {
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        Values::F64((0..count).map(next).collect())
    };
    let mut posterior = Dataset::default();
    let axes = [("chain", 4), ("draw", 100)];
    posterior.insert(format!("mu{OBEYED}"), Array::new(axes, noise(400)));
    posterior.insert("theta", Array::new(axes.into_iter().chain([("group", 3)]), noise(1200)));
    let label = |at: usize| format!("{OBEYED}<&>{}{at}", "x".repeat(len));
    posterior.coords.insert("group".into(), Labels::Strings((0..3).map(label).collect()));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    write_netcdf(&dir.join(format!("{len}.nc")), &data, false).unwrap();
}

fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[test]
fn labels_of_any_length_and_content_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    for len in [5_000, 20_000] {
        trace(dir.path(), len);
        for words in [
            format!("diagnose {{}}/{len}.nc"),
            format!("diagnose --json {{}}/{len}.nc"),
            format!("compare {{}}/{len}.nc {{}}/{len}.nc"),
            format!("plot {{}}/{len}.nc --format svg --out {{}}/plots-{len}"),
            format!("plot {{}}/{len}.nc --var nothing --out {{}}/none"),
        ] {
            let start = Instant::now();
            let answer = run(dir.path(), &words);
            let took = start.elapsed();
            assert!(took < Duration::from_secs(60), "{words} took {took:?}");
            for text in [&answer.stdout, &answer.stderr] {
                assert!(!text.contains(is_obeyed), "{words}: {text:?}");
                assert!(text.lines().all(|line| line.len() < 4000), "{words}: {text:?}");
            }
        }
        let mut pictures = 0;
        for entry in std::fs::read_dir(dir.path().join(format!("plots-{len}"))).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "svg") {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains(is_obeyed), "{}", path.display());
                pictures += 1;
            }
        }
        assert!(pictures > 2, "{pictures}");
    }
}
