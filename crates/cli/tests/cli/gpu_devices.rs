//! Sampling on several software GPUs gives the CPU's bits, also when one is lost; the loss is reported and recorded.

use crate::double::Double;
use crate::support::{Answer, fingerprints};
use octopus_softgpu::{Lanes, SoftwareGpu};
use std::fmt::Write;
use std::fs;

const RUN: &str = "sample hierarchical-normal --groups 10 --draws 60 --tune 80 --keep-warmup --json --force";

fn octopus(double: &Double, settings: &str, words: &str) -> Answer {
    double.run(&mut double.octopus(settings), words)
}

fn prints(double: &Double, name: &str) -> std::collections::BTreeMap<String, String> {
    fingerprints(&double.scratch().join(name))
}

#[test]
fn several_gpus_give_the_draws_of_the_cpu() {
    let Some(double) = Double::new() else { return };
    octopus(&double, "", &format!("{RUN} --quiet --device cpu --out {{}}/cpu")).sampled();
    for (asked, name) in [("cuda:0,1", "cuda:0,1"), ("cuda:all", "cuda:0,1,2"), ("cuda:2,0", "cuda:0,2")] {
        let answer = octopus(&double, "devices=3", &format!("{RUN} --quiet --device {asked} --out {{}}/gpus"));
        let json = answer.sampled().json();
        assert_eq!((&json["device"], &json["device_reason"]), (&name.into(), &"asked for".into()));
        assert!(!answer.stderr.contains("cuda:"), "nothing to tell: {}", answer.stderr);
        let used = json["usage"]["devices"].as_array().unwrap();
        assert_eq!(used.len(), name.split(',').count(), "{json:#}");
        assert!(used.iter().all(|one| one["launches"].as_u64().unwrap() > 0), "{json:#}");
        assert_eq!(prints(&double, "gpus"), prints(&double, "cpu"), "{asked}");
    }
    // One of one is one.
    let json = octopus(&double, "", &format!("{RUN} --quiet --device cuda:all --out {{}}/gpus")).sampled().json();
    assert_eq!(json["device"], "cuda:0");
}

#[test]
fn a_gpu_that_is_lost_leaves_its_chains_to_the_others() {
    let Some(double) = Double::new() else { return };
    octopus(&double, "", &format!("{RUN} --quiet --device cpu --out {{}}/cpu")).sampled();
    let words = format!("{RUN} --device cuda:all --out {{}}/gpus");
    let lost = octopus(&double, "devices=3;lost=1:250", &words);
    let reason = lost.sampled().json()["device_reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("asked for; cuda:1 was given up by iteration "), "{reason}");
    let told = lost.stderr.matches("cuda:1 is given up, the other devices go on with what it had to do").count();
    assert_eq!(told, 1, "{}", lost.stderr);
    assert_eq!(prints(&double, "gpus"), prints(&double, "cpu"));
    // When all are lost the run stops, and goes on on others.
    let stopped = octopus(&double, "devices=2;lost=0:340,1:190", &format!("{words} --no-fallback"));
    stopped.fails(3, &["cuda:1 is given up", "the GPU failed", "octopus resume", "--device cpu"]);
    let resumed = octopus(&double, "devices=3", "resume {}/gpus --quiet --json --device cuda:1,2").sampled().json();
    assert_eq!(resumed["device"], "cuda:1,2");
    assert_eq!(prints(&double, "gpus"), prints(&double, "cpu"));
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let Some(double) = Double::new() else { return };
    let asked = |device: &str| octopus(&double, "devices=2", &format!("{RUN} --device {device} --out {{}}/gpus"));
    for wrong in ["cuda:0,0", "cuda:0,", "cuda:0,x", "cuda:0-1", "cuda:1,64"] {
        asked(wrong).fails(2, &[wrong, "`cuda:0,1` with each once", "`cuda:all`"]);
    }
    asked("cuda:1,2").fails(4, &["--device cuda:2", "2 CUDA devices, the last is cuda:1", "octopus verify"]);
    // What is asked for by name is not replaced.
    let broken = octopus(&double, "devices=2;lost=1:0", &format!("{RUN} --device cuda:all --out {{}}/gpus"));
    broken.fails(4, &["cuda:1", "719"]);
    assert!(!double.scratch().join("gpus").exists());
    octopus(&double, "devices=2", "validate --quick --out {}/report --device cuda:0,1")
        .fails(2, &["--device cuda:0,1", "a report is of one device"]);
}

#[test]
fn a_batch_goes_on_when_one_of_two_gpus_is_lost() {
    let unit = ["nuts_batch_hierarchical_normal_f64_32x1"];
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &unit).map(Double::of) else { return };
    let source = double.scratch().join("in");
    fs::create_dir(&source).unwrap();
    for set in 0..5 {
        let mut table = "city,y\n".to_owned();
        for row in 0..24 {
            writeln!(table, "c{},{}", row % (4 + set), 50.0 + f64::from((row * 29 + set * 13) % 17) * 0.7).unwrap();
        }
        fs::write(source.join(format!("{set}.csv")), table).unwrap();
    }
    let words = "sample hierarchical-normal --batch {}/in --group city --value y --draws 40 --tune 80 --json";
    let runs = |settings: &str, device: &str| {
        let answer = octopus(&double, settings, &format!("{words} --device {device} --out {{}}/{device}"));
        let run = |set: i32| prints(&double, &format!("{device}/sets/{set}"));
        ((0..5).map(run).collect::<Vec<_>>(), answer)
    };
    let (expected, _) = runs("", "cpu");
    let (found, answer) = runs("devices=2;lost=1:300", "cuda:0,1");
    assert!(answer.stderr.contains("data sets: cuda:1 is given up, the other devices go on"), "{}", answer.stderr);
    assert_eq!(found, expected);
}
