//! `cargo xtask mutants --calibrate`: the program itself must notice. Eight faults, one of each kind, each in a build of
//! its own, and `octopus calibrate` on a small model, which must end with 1; without a fault it must end with 0.

use super::faults::{FAULTS, Fault};
use super::workshop::Workshop;
use crate::aligned::aligned;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// One fault of each kind, by its name.
const EIGHT: [&str; 8] = [
    "Jacobian in the fused density with the wrong sign",
    "U-turn check across the seam missing",
    "biased progressive rule inverted",
    "half step dropped",
    "stale gradient: the force is not kept",
    "wrong multinomial weight",
    "random stream shared between chains",
    "window opens one iteration late",
];

/// Few groups, weak data, and a target at which energies err enough to matter: seconds, and every part of the sampler
/// counts. A limit of the depth leaves the posterior as it is, and ends the trajectories of faults that ruin the step size.
const CALIBRATION: &str = "calibrate hierarchical-normal --group-sizes 3,4,5,7,12 --mu-mean 3 --mu-sd 2 \
    --sigma-pop-scale 1.5 --sigma-obs-scale 1 --datasets 1000 --chains 4 --draws 100 --tune 150 --target-accept 0.8 \
    --metric diag --max-depth 5 --seed 7 --force --quiet --json";

/// Builds the program with each of the eight faults whose name contains one of `filters` (all without filters).
///
/// # Errors
/// When a program cannot be built or does not run, or it finds itself miscalibrated without any fault.
pub(super) fn run(root: &Path, filters: &[String]) -> Result<TaskOutcome> {
    let chosen: Vec<&Fault> = FAULTS
        .iter()
        .filter(|fault| EIGHT.contains(&fault.name))
        .filter(|fault| filters.is_empty() || filters.iter().any(|part| fault.name.contains(part.as_str())))
        .collect();
    if chosen.is_empty() {
        bail!("none of the eight faults has a name with {filters:?} in it");
    }
    let workshop = Workshop::open(root)?;
    run::timed("mutants --calibrate", || {
        eprintln!("xtask: without a fault");
        let sound = calibrate(&workshop)?;
        if !sound.calibrated {
            bail!("the program calls itself miscalibrated without any fault: {}", sound.flags.join("; "));
        }
        let mut rows = Vec::new();
        for fault in chosen {
            eprintln!("xtask: fault \"{}\" in {}", fault.name, fault.file);
            rows.push((fault.name, workshop.with(fault, || calibrate(&workshop))?));
        }
        print!("{}", table(&rows));
        let survived = rows.iter().any(|(_, found)| found.calibrated);
        Ok(if survived { TaskOutcome::Failed(1) } else { TaskOutcome::Passed })
    })
}

/// What a calibration said.
struct Found {
    calibrated: bool,
    /// What disagreed.
    flags: Vec<String>,
}

fn calibrate(workshop: &Workshop) -> Result<Found> {
    let octopus = workshop.build_octopus()?;
    let out = octopus.with_file_name("calibration");
    let mut command = Command::new(&octopus);
    command.args(CALIBRATION.split_whitespace()).arg("--out").arg(&out);
    let output = command.output().with_context(|| format!("cannot start {}", octopus.display()))?;
    let calibrated = match output.status.code() {
        Some(0) => true,
        Some(1) => false,
        // A sampler that breaks down is no calibration: the fault must be told by its answer.
        other => bail!("octopus calibrate ended with {other:?}:\n{}", String::from_utf8_lossy(&output.stderr)),
    };
    let result: Value = serde_json::from_slice(&output.stdout).context("the calibration's result is no JSON")?;
    let found = Found { calibrated, flags: flags(&result) };
    if found.calibrated != found.flags.is_empty() {
        bail!("octopus calibrate ended with {:?} and found {:?}", output.status.code(), found.flags);
    }
    Ok(found)
}

/// What the result of a calibration holds against the sampler.
fn flags(result: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let quantities = list(&result["ranks"]["quantities"]);
    let bad: Vec<&str> =
        quantities.iter().filter(|q| q["uniform"] == false).filter_map(|q| q["name"].as_str()).collect();
    let mut flags = Vec::new();
    match bad.as_slice() {
        [] => {}
        [first, rest @ ..] => flags.push(format!(
            "ranks of {} quantities ({first}{})",
            bad.len(),
            if rest.is_empty() { "" } else { ", ..." }
        )),
    }
    if result["ranks"]["independence"]["independent"] == false {
        flags.push("chains depend on each other".to_owned());
    }
    if result["ranks"]["failed"].as_u64().is_some_and(|failed| failed > 0) {
        flags.push(format!("{} data sets failed", result["ranks"]["failed"]));
    }
    let checks = list(&result["self_check"]);
    let failed = checks.iter().filter(|check| check["passed"] == false).filter_map(|check| check["name"].as_str());
    flags.extend(failed.map(|name| format!("self-check: {name}")));
    flags
}

fn table(rows: &[(&str, Found)]) -> String {
    let lines = rows.iter().map(|(name, found)| {
        let (word, by) = if found.calibrated { ("SURVIVED", "nothing") } else { ("flagged", &*found.flags.join("; ")) };
        [name, word, by].map(str::to_owned).into()
    });
    let flagged = rows.iter().filter(|(_, found)| !found.calibrated).count();
    format!("{}\n{flagged} of {} faults flagged by octopus calibrate\n", aligned(3, lines), rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_eight_are_among_the_faults() {
        for name in EIGHT {
            assert!(FAULTS.iter().any(|fault| fault.name == name), "{name}");
        }
    }

    #[test]
    fn the_table_says_what_flagged_each() {
        let bad = json!({
            "ranks": {
                "failed": 2,
                "quantities": [{ "name": "mu", "uniform": false }, { "name": "z", "uniform": true }],
                "independence": { "independent": false },
            },
            "self_check": [{ "name": "windows", "passed": false }, { "name": "others", "passed": true }],
        });
        let good = json!({ "ranks": { "failed": 0, "quantities": [], "independence": null }, "self_check": [] });
        assert!(flags(&good).is_empty());
        let text = table(&[
            ("a", Found { calibrated: false, flags: flags(&bad) }),
            ("b", Found { calibrated: true, flags: flags(&good) }),
        ]);
        for words in ["ranks of 1 quantities (mu)", "chains depend", "2 data sets failed", "self-check: windows"] {
            assert!(text.contains(words), "{text}");
        }
        assert!(
            text.contains("b  SURVIVED") && text.ends_with("1 of 2 faults flagged by octopus calibrate\n"),
            "{text}"
        );
    }
}
