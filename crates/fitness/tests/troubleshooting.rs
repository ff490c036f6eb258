//! The guides against the program: an entry for each check, links to pages and headings (anchors) that are there, and
//! outputs that the program still prints.

use octopus_device::{CHECK_IDS, ScriptedProvider, VerifyReport, Version, verify};
use octopus_fitness::FITNESS_IDS;
use std::collections::BTreeSet;
use std::path::Path;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a page below the second-level heading `title`.
fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let start = page.find(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no section `{title}`"));
    let rest = &page[start + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// The third-level headings of a section, each with the text below it.
fn entries(section: &str) -> Vec<(&str, &str)> {
    section.split("\n### ").skip(1).map(|entry| entry.split_once('\n').unwrap_or((entry, ""))).collect()
}

#[test]
fn each_check_has_an_entry_and_each_entry_a_check() {
    let page = page("troubleshooting.md");
    for (title, expected) in
        [("Checks of the machine", &CHECK_IDS[..]), ("Checks that run on the device", &FITNESS_IDS[..])]
    {
        let entries = entries(section(&page, title));
        let ids: Vec<&str> = entries.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, expected, "one entry a check below `{title}`, in the order of the checks");
        for (id, text) in entries {
            for part in ["\n**Means.** ", "\n**Causes.** ", "\n**Fixes.**\n"] {
                assert!(text.contains(part), "the entry {id} has no {}", part.trim());
            }
        }
    }
}

#[test]
fn the_cases_that_were_asked_for_are_there() {
    let page = page("troubleshooting.md");
    let cases: Vec<&str> = entries(section(&page, "Cases")).into_iter().map(|(case, _)| case).collect();
    let on_gpus = ["The GPU failed in the middle of a run", "The model is too large for the GPU"];
    assert_eq!(cases[..2], ["No GPU found", "Out of memory"]);
    assert_eq!(cases[2..4], on_gpus);
    assert_eq!(cases[4..], ["Poor convergence", "Posteriors differ", "Slow GPU"]);
}

#[test]
fn links_lead_somewhere() {
    for name in ["troubleshooting.md", "setup.md"] {
        let text = page(name);
        let anchors: BTreeSet<String> = text
            .lines()
            .filter(|line| line.starts_with("##"))
            .map(|line| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"))
            .collect();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            match target.strip_prefix('#') {
                Some(anchor) => assert!(anchors.contains(anchor), "{name}: no heading for #{anchor}"),
                None if target.starts_with("https://") => {}
                None => drop(page(target)),
            }
        }
    }
}

#[test]
fn checks_refer_to_checks_that_exist() {
    // The checks' texts say `see <id>` and `(see <id>)`; so do the machines that fail everything.
    let mut machine = ScriptedProvider::empty();
    machine.environment = ScriptedProvider::healthy().environment;
    machine.environment.driver_libraries.clear();
    let report = verify(&machine);
    let texts = report.findings.iter().flat_map(|f| [Some(&f.observed), f.cause.as_ref(), f.fix.as_ref()]).flatten();
    let mut seen = 0;
    for text in texts {
        for rest in text.split("see ").skip(1) {
            let id = rest.split([' ', ')', ':', ',']).next().unwrap();
            if id.contains('-') {
                assert!(CHECK_IDS.contains(&id), "`{id}` in {text:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}

/// The text block after the comment `<!-- output: name -->`.
fn shown<'a>(page: &'a str, name: &str) -> &'a str {
    let mark = format!("<!-- output: {name} -->\n```text\n");
    let start = page.find(&mark).unwrap_or_else(|| panic!("no output `{name}`")) + mark.len();
    &page[start..start + page[start..].find("\n```").unwrap()]
}

/// The report without what a reader of the page is spared: the first line, the devices, the checks that pass.
fn failures(report: &VerifyReport) -> String {
    let text = report.to_string();
    let lines = text.lines().skip(1 + report.devices.len()).filter(|line| !line.starts_with("PASS"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_setup_page_shows_what_the_program_prints() {
    let page = page("setup.md");
    assert_eq!(shown(&page, "healthy"), verify(&ScriptedProvider::healthy()).to_string());

    let mut old = ScriptedProvider::healthy();
    old.driver.as_mut().unwrap().cuda_version = Some(Version { major: 12, minor: 2 });
    let nvml = old.nvml.as_mut().unwrap();
    nvml.driver_version = Some("535.183.01".into());
    old.environment.kernel_module = Some("535.183.01".into());
    for copy in &mut old.environment.driver_libraries {
        (copy.file, copy.version) = (copy.file.replace("550.54.15", "535.183.01"), Some("535.183.01".into()));
    }
    assert_eq!(shown(&page, "old-driver"), failures(&verify(&old)));

    let mut empty = ScriptedProvider::empty();
    assert_eq!(shown(&page, "no-gpu"), verify(&empty).summary);
    empty.environment.container = Some("docker".into());
    assert_eq!(shown(&page, "container"), verify(&empty).summary);
}
