//! `cargo xtask accept`: judges the results of `run-acceptance.sh` and makes a machine's report of them.

use crate::run::Outcome;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Steps without which there is no acceptance: skipped is as bad as failed.
const NEEDED: [&str; 4] = ["machine", "verify", "exact", "benchmark"];

/// A line of `steps.jsonl`.
#[derive(Debug, Deserialize)]
struct Step {
    step: String,
    status: String,
    seconds: u64,
    reason: String,
}

/// What the results say.
struct Judgement {
    /// The device as it names itself.
    device: String,
    /// Whether it is the software GPU.
    double: bool,
    steps: Vec<Step>,
    /// Why this is no acceptance; none when it is.
    objections: Vec<String>,
}

/// What to do with the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A report below `reports/`, of a GPU only.
    Report,
    /// No report: the results are of the software GPU, or are only looked at.
    Rehearsal,
}

/// Judges the results in `folder` and, when they are a GPU's and all is well, writes `reports/<machine>/`.
///
/// # Errors
/// When a file of the results is missing or is not what it should be.
pub(crate) fn run(root: &Path, folder: &Path, purpose: Purpose) -> Result<Outcome> {
    let judgement = judge(folder)?;
    for step in &judgement.steps {
        eprintln!("xtask: {:<8} {:<14} {:>4} s  {}", step.status, step.step, step.seconds, step.reason);
    }
    for objection in &judgement.objections {
        eprintln!("xtask: accept: {objection}");
    }
    if !judgement.objections.is_empty() {
        return Ok(Outcome::Failed(1));
    }
    if purpose == Purpose::Rehearsal {
        eprintln!("xtask: accept: all is well on {}; a rehearsal makes no report", judgement.device);
        return Ok(Outcome::Passed);
    }
    if judgement.double {
        bail!("the results are of {}: no report may present it as a GPU", judgement.device);
    }
    let report = root.join("reports").join(machine_name(&judgement.device));
    write_report(folder, &report, &judgement)?;
    println!("{}", report.display());
    Ok(Outcome::Passed)
}

fn judge(folder: &Path) -> Result<Judgement> {
    let steps = steps(folder)?;
    let mut objections = Vec::new();
    for step in steps.iter().filter(|step| step.status == "FAIL") {
        objections.push(format!("step {} failed: {}", step.step, step.reason));
    }
    for name in NEEDED {
        match steps.iter().find(|step| step.step == name) {
            None => objections.push(format!("step {name} was not run")),
            Some(step) if step.status == "SKIPPED" => objections.push(format!("step {name} skipped: {}", step.reason)),
            Some(_) => {}
        }
    }
    let exact = json(folder, "exact.out")?;
    let manifest = json(folder, "manifest.json")?;
    let device = exact.pointer("/device/name").and_then(Value::as_str).unwrap_or("unknown device").to_owned();
    let double = exact.pointer("/device/test_double").and_then(Value::as_bool).unwrap_or(true);
    if exact.get("ptx_sha256") != manifest.get("ptx_sha256") {
        objections.push("exact: the binary's PTX is not the bundle's".into());
    }
    let empty = Vec::new();
    let kernels = exact.get("kernels").and_then(Value::as_array).unwrap_or(&empty);
    if kernels.is_empty() {
        objections.push("exact: no kernel was run".into());
    }
    for kernel in kernels {
        let field = |name: &str| kernel.get(name).and_then(Value::as_str);
        let name = field("name").unwrap_or("unnamed kernel");
        // Compared here too: the program's own word would hide a fault in its comparison.
        let (hash, cpu, expected) = (field("hash"), field("cpu"), field("expected"));
        if hash.is_none() || hash != cpu || hash != expected {
            objections.push(format!(
                "exact: {name} gives {}, the CPU {}, recorded is {}",
                hash.unwrap_or("nothing"),
                cpu.unwrap_or("nothing"),
                expected.unwrap_or("nothing")
            ));
        }
    }
    Ok(Judgement { device, double, steps, objections })
}

fn steps(folder: &Path) -> Result<Vec<Step>> {
    let path = folder.join("steps.jsonl");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}: is this a folder of run-acceptance.sh?", path.display()))?;
    let line = |(at, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}: {line}", path.display(), at + 1))
    };
    text.lines().enumerate().map(line).collect()
}

fn json(folder: &Path, name: &str) -> Result<Value> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// `NVIDIA H200` is `h200`, `NVIDIA RTX A6000` is `rtx-a6000`.
fn machine_name(device: &str) -> String {
    let words = device.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| word != "nvidia").collect::<Vec<_>>().join("-")
}

fn write_report(results: &Path, report: &Path, judgement: &Judgement) -> Result<()> {
    let raw = report.join("raw");
    fs::create_dir_all(&raw).with_context(|| format!("cannot make {}", raw.display()))?;
    for path in results_files(results)? {
        let name = path.file_name().unwrap_or_default();
        fs::copy(&path, raw.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    let manifest = json(results, "manifest.json")?;
    let machine = fs::read_to_string(results.join("machine.out")).unwrap_or_default();
    let commit = manifest.get("commit").and_then(Value::as_str).unwrap_or("unknown");
    let modified =
        if manifest.get("modified") == Some(&Value::Bool(true)) { ", with changes not committed" } else { "" };
    let mut text = format!("# {}\n\n", judgement.device);
    let _ = write!(
        text,
        "Measured by `./run-acceptance.sh` of the bundle of commit `{commit}`{modified}; raw output is in `raw/`.\n\n\
         ```\n{}\n```\n\n| step | status | seconds | note |\n|---|---|---|---|\n",
        machine.trim()
    );
    for step in &judgement.steps {
        let _ = writeln!(text, "| {} | {} | {} | {} |", step.step, step.status, step.seconds, step.reason);
    }
    let path = report.join("README.md");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn results_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        // Empty streams of output say nothing.
        if path.is_file() && fs::metadata(&path)?.len() > 0 {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &str = r#"{"step": "machine", "status": "PASS", "seconds": 0, "code": 0, "reason": ""}
{"step": "verify", "status": "PASS", "seconds": 1, "code": 0, "reason": ""}
{"step": "exact", "status": "PASS", "seconds": 1, "code": 0, "reason": ""}
{"step": "memcheck", "status": "SKIPPED", "seconds": 0, "code": null, "reason": "no compute-sanitizer on this machine"}
{"step": "benchmark", "status": "PASS", "seconds": 1, "code": 0, "reason": ""}
"#;
    const EXACT: &str = r#"{"device": {"name": "NVIDIA H200", "test_double": false}, "ptx_sha256": "ab",
        "kernels": [{"name": "array_sum_f64", "hash": "1", "cpu": "1", "expected": "1", "equal": true}]}"#;

    /// Results with one text replaced in each of two files, and what is objected to.
    fn objections(name: &str, steps: (&str, &str), exact: (&str, &str)) -> Vec<String> {
        let folder = folder(name, steps, exact);
        let objections = judge(&folder).unwrap().objections;
        fs::remove_dir_all(folder).unwrap();
        objections
    }

    fn folder(name: &str, steps: (&str, &str), exact: (&str, &str)) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("octopus-accept-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(STEPS.contains(steps.0) && EXACT.contains(exact.0));
        fs::write(folder.join("steps.jsonl"), STEPS.replacen(steps.0, steps.1, 1)).unwrap();
        fs::write(folder.join("exact.out"), EXACT.replacen(exact.0, exact.1, 1)).unwrap();
        fs::write(folder.join("manifest.json"), r#"{"commit": "c0ffee", "modified": false, "ptx_sha256": "ab"}"#)
            .unwrap();
        fs::write(folder.join("machine.out"), "driver 550").unwrap();
        folder
    }

    #[test]
    fn good_results_have_no_objection() {
        assert_eq!(objections("good", ("", ""), ("", "")), Vec::<String>::new());
    }

    #[test]
    fn each_mismatch_is_an_objection() {
        for (name, steps, exact, word) in [
            ("failed", ("\"PASS\"", "\"FAIL\""), ("", ""), "step machine failed"),
            ("missing", ("\"exact\"", "\"other\""), ("", ""), "step exact was not run"),
            ("device", ("", ""), ("\"hash\": \"1\"", "\"hash\": \"2\""), "array_sum_f64 gives 2"),
            ("cpu", ("", ""), ("\"cpu\": \"1\"", "\"cpu\": \"3\""), "the CPU 3"),
            ("recorded", ("", ""), ("\"expected\": \"1\"", "\"expected\": null"), "recorded is nothing"),
            ("ptx", ("", ""), ("\"ab\"", "\"cd\""), "PTX"),
        ] {
            let objections = objections(name, steps, exact);
            assert!(objections.iter().any(|text| text.contains(word)), "{name}: {objections:?}");
        }
    }

    #[test]
    fn a_report_is_a_gpu_s_only() {
        let root = std::env::temp_dir().join(format!("octopus-accept-root-{}", std::process::id()));
        let double = folder("double", ("", ""), ("false}", "true}"));
        assert_eq!(run(&root, &double, Purpose::Rehearsal).unwrap(), Outcome::Passed);
        assert!(run(&root, &double, Purpose::Report).unwrap_err().to_string().contains("no report"));
        let real = folder("real", ("", ""), ("", ""));
        assert_eq!(run(&root, &real, Purpose::Report).unwrap(), Outcome::Passed);
        let text = fs::read_to_string(root.join("reports/h200/README.md")).unwrap();
        assert!(text.contains("c0ffee") && text.contains("driver 550") && text.contains("| exact | PASS |"), "{text}");
        assert!(root.join("reports/h200/raw/exact.out").is_file());
        for folder in [root, double, real] {
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn machines_have_short_names() {
        assert_eq!(machine_name("NVIDIA H200"), "h200");
        assert_eq!(machine_name("NVIDIA RTX A6000"), "rtx-a6000");
        assert_eq!(machine_name("NVIDIA H100 80GB HBM3"), "h100-80gb-hbm3");
    }
}
