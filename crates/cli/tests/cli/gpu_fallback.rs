//! A GPU that fails on the way: the CPU goes on to the same draws, with a warning and a record. With `--no-fallback`
//! the command ends, and another one goes on. The engine's own tests lose the device at every single call.

use crate::double::{Double, TINY_RUN};
use crate::support::{Answer, fingerprints};
use octopus_softgpu::{Lanes, SoftwareGpu};
use rayon::prelude::*;
use std::fs;

const BATCH_UNIT: &str = "nuts_batch_hierarchical_normal_f64_32x1";
const TOLD: &str = "no GPU is left, the CPU goes on with what is to do, to the same draws";
const RECORDED: &str = "asked for; no GPU was left, and the CPU went on";

/// Runs `words` with a device that is lost at call 1, 1 + `stride` and so on, until one ends before; in `words`, `@` stands
/// for the number of the call. `look` looks at each answer, and says whether the device was opened before it was lost;
/// the number of those.
fn lose(double: &Double, stride: usize, words: &str, look: impl Fn(usize, Answer) -> bool + Sync) -> usize {
    const AT_ONCE: usize = 8;
    let (mut count, mut first) = (0, 1);
    loop {
        let at = |turn: usize| {
            let call = first + turn * stride;
            let answer =
                double.run(&mut double.octopus(&format!("lost={call}")), &words.replace('@', &call.to_string()));
            let is_lost = [&answer.stderr, &answer.stdout].iter().any(|text| text.contains("CUDA_ERROR"));
            (is_lost, is_lost && look(call, answer))
        };
        let found: Vec<(bool, bool)> = (0..AT_ONCE).into_par_iter().map(at).collect();
        count += found.iter().filter(|(_, begun)| *begun).count();
        if found.iter().any(|(is_lost, _)| !is_lost) {
            return count;
        }
        first += AT_ONCE * stride;
    }
}

#[test]
fn a_run_goes_on_on_the_cpu_or_can_be_resumed_there() {
    const RUN: &str = "sample hierarchical-normal --groups 3 --chains 2 --draws 30 --tune 40 --keep-warmup --json \
                       --checkpoint-every 13";
    let Some(double) = Double::new() else { return };
    let prints = |name: &str| fingerprints(&double.scratch().join(name));
    double.run(&mut double.octopus(""), &format!("{RUN} --quiet --device cpu --out {{}}/cpu")).sampled();
    let expected = prints("cpu");
    let begun = lose(&double, 17, &format!("{RUN} --device cuda --out {{}}/run-@"), |call, answer| {
        let name = format!("run-{call}");
        if answer.code == Some(4) {
            assert!(!double.scratch().join(name).exists(), "{answer:#?}");
            return false;
        }
        let json = answer.sampled().json();
        assert!(json["device_reason"].as_str().unwrap().starts_with(&format!("{RECORDED} by iteration ")), "{json:#}");
        assert_eq!((answer.stderr.matches(TOLD).count(), prints(&name)), (1, expected.clone()), "call {call}");
        true
    });
    assert!(begun > 10, "{begun}");
    let begun = lose(&double, 17, &format!("{RUN} --device cuda --no-fallback --out {{}}/end-@"), |call, answer| {
        let name = format!("end-{call}");
        if !double.scratch().join(&name).exists() {
            assert!(matches!(answer.code, Some(3 | 4)), "{answer:#?}");
            return false;
        }
        answer.fails(3, &["the GPU failed", "octopus resume", "--device cpu"]);
        double.run(&mut double.octopus(""), &format!("resume {{}}/{name} --quiet --device cpu")).sampled();
        assert_eq!(prints(&name), expected, "call {call}");
        true
    });
    assert!(begun > 5, "{begun}");
}

#[test]
fn a_resumed_run_goes_on_on_the_cpu_too() {
    const RUN: &str = "sample hierarchical-normal --groups 3 --chains 2 --draws 30 --tune 40 --keep-warmup --json";
    let Some(double) = Double::new() else { return };
    let run = |settings: &str, words: &str| double.run(&mut double.octopus(settings), words);
    run("", &format!("{RUN} --quiet --device cpu --out {{}}/cpu")).sampled();
    let stopped = "--no-fallback --checkpoint-every 5 --device cuda";
    run("lost=300", &format!("{RUN} {stopped} --out {{}}/gpu")).fails(3, &["octopus resume"]);
    let record = double.scratch().join("gpu/run.toml");
    let kept = fs::read_to_string(&record).unwrap();
    run("lost=90", "resume {}/gpu --no-fallback").fails(3, &["the GPU failed"]);
    assert_eq!(fs::read_to_string(&record).unwrap(), kept, "a run that cannot go on stays as it is");
    let changed = kept.replacen("target_accept = 0.95", "target_accept = 0.9", 1);
    fs::write(&record, &changed).unwrap();
    run("", "resume {}/gpu --device cpu").fails(3, &["field `sampler` was changed", "put the old settings back"]);
    assert_eq!(fs::read_to_string(&record).unwrap(), changed);
    fs::write(&record, kept).unwrap();
    let resumed = run("lost=90", "resume {}/gpu --json");
    let json = resumed.sampled().json();
    assert!(json["device_reason"].as_str().unwrap().contains("no GPU was left, and the CPU went on"), "{json:#}");
    assert_eq!(fingerprints(&double.scratch().join("gpu")), fingerprints(&double.scratch().join("cpu")));
}

/// What would fit a GPU whose memory is full is told by every command that begins a run there.
#[test]
fn a_full_gpu_is_answered_by_what_fits() {
    const ADVICE: &str = "all 2 chains of 3 groups take";
    const MODEL: &str = "sample hierarchical-normal --chains 2 --draws 30 --tune 40 --no-fallback";
    let units = [TINY_RUN, BATCH_UNIT].map(str::to_owned);
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &units).map(Double::of) else { return };
    let run = |settings: &str, words: &str| double.run(&mut double.octopus(settings), words);
    let single = format!("{MODEL} --groups 3 --checkpoint-every 5");
    run("lost=300", &format!("{single} --device cuda --out {{}}/lost")).fails(3, &["octopus resume"]);
    let full = "fail=cuMemAlloc_v2:2";
    run(full, "resume {}/lost --no-fallback").fails(3, &[ADVICE]);
    run(full, &format!("{single} --device cuda --out {{}}/never")).fails(3, &[ADVICE]);
    let source = double.scratch().join("in");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("one.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    fs::write(source.join("two.csv"), "g,y\na,1\na,4\nb,3\nb,5\nc,8\nc,9\n").unwrap();
    let batch = format!("{MODEL} --batch {{}}/in --group g --value y --device cuda --out {{}}/batch");
    run(full, &batch).fails(3, &[ADVICE]);
}

#[test]
fn a_batch_goes_on_on_the_cpu_or_by_the_same_command() {
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &[BATCH_UNIT]).map(Double::of) else { return };
    let source = double.scratch().join("in");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("one.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    fs::write(source.join("two.csv"), "g,y\na,1\na,4\nb,3\nb,5\nc,8\nc,9\n").unwrap();
    let words = "sample hierarchical-normal --batch {}/in --group g --value y --draws 30 --tune 40 --chains 2 --json";
    let prints =
        |name: &str| ["one", "two"].map(|set| fingerprints(&double.scratch().join(name).join("sets").join(set)));
    let on_cpu = double.run(&mut double.octopus(""), &format!("{words} --quiet --device cpu --out {{}}/cpu"));
    assert!(matches!(on_cpu.code, Some(0 | 1)), "{on_cpu:#?}");
    let expected = prints("cpu");
    let begun = lose(&double, 37, &format!("{words} --device cuda --out {{}}/batch-@"), |call, answer| {
        let name = format!("batch-{call}");
        if answer.code == Some(4) {
            assert!(!double.scratch().join(name).exists(), "{answer:#?}");
            return false;
        }
        assert_eq!(answer.code, on_cpu.code, "{answer:#?}");
        assert_eq!(answer.json()["device_reason"], RECORDED);
        assert_eq!((answer.stderr.matches(TOLD).count(), prints(&name)), (1, expected.clone()), "call {call}");
        let record = fs::read_to_string(double.scratch().join(name).join("sets/two/run.toml")).unwrap();
        assert!(record.contains(RECORDED), "{record}");
        true
    });
    assert!(begun > 5, "{begun}");
    let ending = format!("{words} --device cuda --no-fallback --out {{}}/end-@");
    let begun = lose(&double, 61, &ending, |call, answer| {
        if answer.code == Some(4) {
            return false;
        }
        answer.fails(3, &["the GPU failed"]);
        let again = format!("{words} --quiet --device cpu --out {{}}/end-{call}");
        assert_eq!(double.run(&mut double.octopus(""), &again).code, on_cpu.code);
        assert_eq!(prints(&format!("end-{call}")), expected, "call {call}");
        true
    });
    assert!(begun > 3, "{begun}");
}

#[test]
fn a_calibration_goes_on_on_the_cpu() {
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &[BATCH_UNIT]).map(Double::of) else { return };
    let words = "calibrate hierarchical-normal --groups 3 --datasets 3 --chains 2 --draws 60 --tune 60";
    let on_cpu = double.run(&mut double.octopus(""), &format!("{words} --device cpu --out {{}}/cpu"));
    assert!(matches!(on_cpu.code, Some(0 | 1)), "{on_cpu:#?}");
    let ranks = |name: &str| fs::read_to_string(double.scratch().join(name).join("ranks.csv")).unwrap();
    let begun = lose(&double, 41, &format!("{words} --device cuda --out {{}}/ranks-@"), |call, answer| {
        if answer.code == Some(4) {
            return false;
        }
        assert_eq!(answer.code, on_cpu.code, "{answer:#?}");
        assert_eq!((answer.stderr.matches(TOLD).count(), ranks(&format!("ranks-{call}"))), (1, ranks("cpu")));
        true
    });
    assert!(begun > 5, "{begun}");
}

/// A validation measures the GPU, so that its rows fail; the run of the CPU is judged all the same.
#[test]
fn a_validation_ends_with_what_failed() {
    let Some(double) = Double::with_sampler(&["f64_32x1", "mixed_32x1"]) else { return };
    let words = "validate --quick --groups 5 --stages gpu --quiet --json --out {}/report-@";
    let begun = lose(&double, 211, words, |call, answer| {
        assert!(matches!(answer.code, Some(0 | 1)), "{answer:#?}");
        let report = answer.json();
        let rows = report["verdict"]["rows"].as_array().unwrap();
        let status = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap()["status"].as_str().unwrap().to_owned();
        let failed = ["P0.1", "P0.2", "P1.3"].map(status);
        assert!(failed.iter().any(|status| status == "FAIL" || status == "SKIPPED"), "call {call}: {failed:?}");
        assert!(double.scratch().join(format!("report-{call}/index.html")).exists());
        true
    });
    assert!(begun > 3, "{begun}");
}
