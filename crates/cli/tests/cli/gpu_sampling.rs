//! Sampling on the software GPU: the CPU's bits, whatever happens on the way, and what the record says of it.

use crate::double::Double;
use crate::support::{Answer, fingerprints};
use octopus_device::{CostsCache, DeviceCosts, KernelCost, LinearCost};
use octopus_random::{Purpose, Stream};
use octopus_softgpu::{DeviceReport, Lanes, SoftwareGpu};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A run of 103 coordinates that is long enough to be hit.
const LONG: &str = "sample hierarchical-normal --likelihood pointwise --draws 1500 --tune 300 --keep-warmup --json \
                    --quiet --checkpoint-every 25";
const SHORT: &str = "sample hierarchical-normal --groups 10 --draws 60 --tune 80 --keep-warmup --json";

/// The record of a run in the folder for what commands write.
fn record(double: &Double, name: &str) -> toml::Table {
    fs::read_to_string(double.scratch().join(name).join("run.toml")).unwrap().parse().unwrap()
}

fn prints(double: &Double, name: &str) -> std::collections::BTreeMap<String, String> {
    fingerprints(&double.scratch().join(name))
}

fn octopus(double: &Double, settings: &str, words: &str) -> Answer {
    double.run(&mut double.octopus(settings), words)
}

/// Starts a command that a test will stop.
fn start(double: &Double, words: &str) -> Child {
    start_with(double, "", words)
}

fn start_with(double: &Double, settings: &str, words: &str) -> Child {
    let mut command = double.command(settings);
    let scratch = double.scratch();
    command.args(words.split_whitespace().map(|word| word.replace("{}", scratch.to_str().unwrap())));
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_for(path: &Path) {
    let begin = Instant::now();
    while !path.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{} does not come", path.display());
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_gpu_gives_the_draws_of_the_cpu_and_the_record_tells_what_it_used() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    for likelihood in ["collapsed", "pointwise"] {
        let words = format!(
            "sample hierarchical-normal --draws 200 --tune 150 --keep-warmup --likelihood {likelihood} --force --json"
        );
        octopus(&double, "", &format!("{words} --quiet --device cpu --out {{}}/cpu")).sampled();
        let answer = octopus(&double, "", &format!("{words} --device cuda --out {{}}/gpu"));
        assert_eq!(prints(&double, "gpu"), prints(&double, "cpu"), "{likelihood}");
        let json = answer.sampled().json();
        assert_eq!((&json["device"], &json["device_reason"]), (&"cuda:0".into(), &"asked for".into()));
        assert!(json["usage"]["peak_bytes"].as_u64().unwrap() > 0, "{json:#}");
        assert!(answer.stderr.contains("run: 4 chains x (at most 150 warm-up + 200 draws)"), "{}", answer.stderr);
        let record = record(&double, "gpu");
        assert_eq!(record["device"].as_str(), Some("cuda:0"));
        let usage = record["usage"].as_table().unwrap();
        for field in ["peak_bytes", "total_bytes", "launches", "transferred_bytes", "peak_pinned_bytes"] {
            assert!(usage[field].as_integer().unwrap() > 0, "{field}: {usage:?}");
        }
        assert!(usage["kernel_seconds"].as_float().unwrap() > 0.0, "{usage:?}");
        assert!(usage["device_name"].as_str().unwrap().contains("(test double)"), "{usage:?}");
    }
    let quiet = octopus(&double, "", &format!("{SHORT} --quiet --device cuda --out {{}}/quiet"));
    let said = &quiet.sampled().stderr;
    assert!(["run:", "device:", "data:", "%"].iter().all(|words| !said.contains(words)), "--quiet is quiet: {said}");
}

/// A program of the user's, by its own instructions as PTX: draws, generated quantities and what is resumed.
#[test]
fn a_program_is_sampled_on_a_gpu_to_the_draws_of_the_cpu() {
    let none: &[&str] = &[];
    let Some(gpu) = SoftwareGpu::for_test_with_sampler(Lanes::Ptx, none) else { return };
    let double = Double::of(gpu);
    let words = "sample eight-schools-stan --chains 2 --draws 12 --tune 40 --keep-warmup --quiet --json";
    octopus(&double, "", &format!("{words} --device cpu --out {{}}/cpu")).sampled();
    let answer = octopus(&double, "", &format!("{words} --device cuda --out {{}}/gpu"));
    assert_eq!(answer.sampled().json()["device"], "cuda:0");
    assert_eq!(prints(&double, "gpu"), prints(&double, "cpu"));
    let record = record(&double, "gpu");
    assert!(record["usage"]["launches"].as_integer().unwrap() > 0, "{record:?}");
    // What no kernel does is told before anything is drawn.
    for (more, why) in [
        ("--precision f32", "none is compiled in this precision"),
        ("--algorithm walnuts", "the sampler walnuts has no kernels"),
    ] {
        let refused = octopus(&double, "", &format!("{words} {more} --device cuda --out {{}}/refused"));
        assert_eq!(refused.code, Some(2), "{more}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{more}: {}", refused.stderr);
    }
    // Data sets side by side are the CPU's.
    let calibrated = "calibrate eight-schools-stan --datasets 4 --draws 10 --tune 20 --quiet";
    let refused = octopus(&double, "", &format!("{calibrated} --device cuda --out {{}}/calibration"));
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("its kernels take one data set, and none takes many at once"),
        "{}",
        refused.stderr
    );
}

/// The spans of a profile that a device did by its own clock, and all other spans.
fn spans(profile: &Path) -> (Vec<Value>, Vec<Value>) {
    let events: Vec<Value> = serde_json::from_slice(&fs::read(profile).unwrap()).unwrap();
    let spans = events.into_iter().filter(|event| event["ph"] != "M" && event["ph"] != "i");
    spans.partition(|span| span["cat"] == "device")
}

#[test]
fn a_profile_has_each_kernel_and_each_copy_and_changes_no_bit() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    let words = format!("{SHORT} --quiet --device cuda");
    octopus(&double, "", &format!("{words} --out {{}}/plain")).sampled();
    let [trace, report, profile] = ["trace", "report", "profile.json"].map(|name| double.scratch().join(name));
    let settings = format!("trace={};report={}", trace.display(), report.display());
    octopus(&double, &settings, &format!("{words} --out {{}}/run --profile {{}}/profile.json")).sampled();
    assert_eq!(prints(&double, "run"), prints(&double, "plain"));

    let (on_device, on_host) = spans(&profile);
    let (copies, kernels): (Vec<&Value>, Vec<&Value>) =
        on_device.iter().partition(|span| span["args"]["bytes"].is_u64());
    assert_eq!(kernels.len() as u64, DeviceReport::read(&report).unwrap()[0].launches);
    // Each line has the function, its code, and the bytes of a copy.
    let trace = fs::read_to_string(trace).unwrap();
    let copied = trace.lines().filter(|line| line.starts_with("cuMemcpy")).map(|line| line.split(' ').nth(2).unwrap());
    let mut called: Vec<u64> = copied.map(|bytes| bytes.parse().unwrap()).collect();
    let mut recorded: Vec<u64> = copies.iter().map(|span| span["args"]["bytes"].as_u64().unwrap()).collect();
    called.sort_unstable();
    recorded.sort_unstable();
    assert_eq!(recorded, called);
    let names: BTreeSet<&str> = kernels.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert!(names.contains("nuts_run_hierarchical_normal_f64_32x1"), "{names:?}");

    // Within the command's own spans, and one after the other in each row.
    let times = |span: &Value| (span["ts"].as_f64().unwrap(), span["dur"].as_f64().unwrap_or_default());
    let of_host = || on_host.iter().map(|span| times(span).0);
    let (first, last) = (of_host().fold(f64::INFINITY, f64::min), of_host().fold(0.0, f64::max));
    let mut ends: HashMap<u64, f64> = HashMap::new();
    for span in &on_device {
        let (begin, took) = times(span);
        assert!(took >= 0.0 && first <= begin && begin + took <= last, "{span}");
        // Microseconds are written with nanoseconds, and rounded in the last digit.
        let before = ends.insert(span["tid"].as_u64().unwrap(), begin + took);
        assert!(before.is_none_or(|end| end <= begin + 1e-3), "{span}");
    }
    octopus(&double, "", "plot {}/profile.json --kind profile --format svg --out {}/plots").succeeds();
    let svg = fs::read_to_string(double.scratch().join("plots/profile_plot.svg")).unwrap();
    for row in ["cuda:0 kernels", "cuda:0 copies", "cuda:0: nuts_run_hierarchical_normal_f64_32x1"] {
        assert!(svg.contains(row), "{row}: {svg}");
    }
}

/// Blocks of threads share its chains' evaluations.
const BY_TEAMS: &str = "sample hierarchical-normal --groups 10 --per-group 3000 --likelihood pointwise --draws 20 \
                        --tune 40 --keep-warmup --json --quiet";

#[test]
fn blocks_that_share_a_chain_give_the_draws_of_the_cpu() {
    let Some(double) = Double::with_sampler(&["f64_32x8_team"]) else { return };
    for device in ["cpu", "cuda"] {
        octopus(&double, "", &format!("{BY_TEAMS} --device {device} --out {{}}/{device}")).sampled();
    }
    assert_eq!(prints(&double, "cuda"), prints(&double, "cpu"));
    assert_eq!(record(&double, "cuda")["device"].as_str(), Some("cuda:0"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_on_a_gpu_keeps_the_draws_and_resume_gives_the_same_bits() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    octopus(&double, "", &format!("{LONG} --device cpu --out {{}}/whole")).sampled();
    let mut child = start(&double, &format!("{LONG} --device cuda --out {{}}/run"));
    wait_for(&double.scratch().join("run/draws/part-00000.parquet"));
    let asked = Instant::now();
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait().unwrap();
    assert_eq!(ended.code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("octopus resume"), "{said}");
    assert_eq!(record(&double, "run")["status"].as_str(), Some("interrupted"));
    let resumed = octopus(&double, "", "resume {}/run --quiet --json").sampled().json();
    assert_eq!((&resumed["status"], &resumed["device"]), (&"complete".into(), &"cuda:0".into()));
    assert_eq!(prints(&double, "run"), prints(&double, "whole"));
}

/// The first asks the run to end, and it waits for the device; the second ends it, whatever the device does.
#[cfg(unix)]
#[test]
fn ctrl_c_twice_ends_a_run_whose_device_hangs() {
    let Some(double) = Double::with_sampler(&["f64_32x8_team"]) else { return };
    let mut child = start_with(&double, "hang=9", &format!("{BY_TEAMS} --device cuda --out {{}}/run"));
    wait_for(&double.scratch().join("run/run.toml"));
    // The ninth launch is a moment later, and the host would wait for it for more than a minute.
    sleep(Duration::from_secs(1));
    let id = child.id().to_string();
    let ctrl_c = || {
        let sent = std::process::Command::new("kill").args(["-INT", &id]).status();
        assert!(sent.unwrap().success());
        sleep(Duration::from_millis(500));
    };
    ctrl_c();
    assert!(child.try_wait().unwrap().is_none(), "the run did not hang");
    let asked = Instant::now();
    ctrl_c();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
}

/// Also from one device to the other: a run that was killed on the GPU may go on anywhere.
#[test]
fn kill_9_on_a_gpu_and_resume_on_either_device() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    octopus(&double, "", &format!("{LONG} --device cpu --out {{}}/whole")).sampled();
    let begin = Instant::now();
    octopus(&double, "", &format!("{LONG} --device cuda --out {{}}/gpu")).sampled();
    let whole = begin.elapsed();
    let mut moments = Stream::new(2, 0, 0, Purpose::User);
    for (first, second, last) in [("cuda", "cuda", "cuda"), ("cuda", "cpu", "cuda"), ("cpu", "cuda", "cpu")] {
        let folder = double.scratch().join("run");
        let mut child = start(&double, &format!("{LONG} --device {first} --force --out {{}}/run"));
        wait_for(&folder.join("state/checkpoint.bin"));
        sleep(whole.mul_f64(0.4 * moments.uniform()));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut child = start(&double, &format!("resume {{}}/run --quiet --device {second}"));
        sleep(whole.mul_f64(0.3 * moments.uniform()));
        child.kill().unwrap();
        child.wait().unwrap();
        octopus(&double, "", &format!("resume {{}}/run --quiet --device {last}")).sampled();
        assert_eq!(prints(&double, "run"), prints(&double, "whole"), "{first}, {second}, {last}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn other_precisions_run_on_gpus_only() {
    let Some(double) = Double::with_sampler(&["f32_32x1", "mixed_32x1"]) else { return };
    octopus(&double, "", &format!("{SHORT} --quiet --device cpu --out {{}}/f64")).sampled();
    for precision in ["f32", "mixed"] {
        let words = format!("{SHORT} --precision {precision} --out {{}}/{precision}");
        let json = octopus(&double, "", &format!("{words} --device cuda --quiet")).sampled().json();
        assert_eq!(json["sampler"]["precision"], precision);
        assert_ne!(prints(&double, precision), prints(&double, "f64"));
        // `auto` knows that only one side can do it.
        let auto = octopus(&double, "", &format!("{words} --force --quiet")).sampled().json();
        assert_eq!(auto["device"], "cuda:0");
        assert_eq!(auto["device_reason"], format!("only GPUs compute in {precision}"));
        // A run that is not done cannot go on on the CPU, and is left as it was.
        let long = words.replace("--draws 60", "--draws 2000");
        let stopped = octopus(&double, "lost=900", &format!("{long} --force --quiet --device cuda"));
        stopped.fails(3, &["the GPU failed", "octopus resume"]);
        assert!(!stopped.stderr.contains("--device cpu"), "{}", stopped.stderr);
        let path = double.scratch().join(precision).join("run.toml");
        let before = fs::read(&path).unwrap();
        let refused = octopus(&double, "", &format!("resume {{}}/{precision} --device cpu"));
        refused.fails(2, &["the CPU computes in f64", "--device cuda"]);
        assert_eq!(fs::read(&path).unwrap(), before);
        octopus(&double, "", &format!("resume {{}}/{precision} --quiet")).sampled();
    }
}

#[test]
fn chains_that_do_not_fit_take_turns() {
    let Some(double) = Double::new() else { return };
    let words = "sample hierarchical-normal --groups 10 --chains 600 --draws 20 --tune 40 --json";
    octopus(&double, "", &format!("{words} --quiet --device cpu --out {{}}/cpu")).sampled();
    let answer = octopus(&double, "total_mb=12;free_mb=11", &format!("{words} --device cuda --out {{}}/gpu"));
    assert!(answer.sampled().stderr.contains("600 at once is too much, going on with 300 at once"), "{answer:#?}");
    assert_eq!(prints(&double, "gpu"), prints(&double, "cpu"));
}

#[test]
fn a_device_that_is_lost_leaves_a_run_that_the_cpu_can_end() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    octopus(&double, "", &format!("{LONG} --device cpu --out {{}}/whole")).sampled();
    let lost = octopus(&double, "lost=4000", &format!("{LONG} --device cuda --no-fallback --out {{}}/run"));
    lost.fails(3, &["the GPU failed", "719", "octopus verify", "octopus resume", "--device cpu"]);
    let partial = octopus(&double, "", "diagnose {}/run --json");
    assert!(partial.stderr.contains("not complete"), "{partial:?}");
    let resumed = octopus(&double, "", "resume {}/run --quiet --json --device cpu").sampled().json();
    assert_eq!(resumed["device"], "cpu");
    assert!(resumed["device_reason"].as_str().unwrap().contains("begun on cuda:0"), "{resumed:#}");
    assert_eq!(prints(&double, "run"), prints(&double, "whole"));
}

#[test]
fn a_model_too_large_for_the_kernels_goes_to_the_cpu() {
    let Some(double) = Double::new() else { return };
    let words = "sample hierarchical-normal --groups 1100 --draws 5 --tune 5 --out {}/run --json";
    let refused = octopus(&double, "", &format!("{words} --device cuda"));
    refused.fails(2, &["1103 coordinates", "at most 1024", "--device cpu"]);
    assert!(!double.scratch().join("run").exists());
    let auto = octopus(&double, "", words);
    let json = auto.sampled().json();
    assert_eq!(json["device"], "cpu");
    assert!(json["device_reason"].as_str().unwrap().contains("1103 coordinates"), "{json:#}");
    assert!(auto.stderr.contains("device: cpu (no GPU kernel takes 1103 coordinates"), "{}", auto.stderr);
    octopus(&double, "", "resume {}/run --device cuda").sampled();
}

/// Of the first place of a dry run.
fn planned(double: &Double, words: &str) -> u64 {
    let json = octopus(double, "", &format!("{words} --dry-run --json")).succeeds().json();
    json["places"][0]["plan"]["total_bytes"].as_u64().unwrap()
}

#[test]
fn a_dry_run_foretells_the_memory_of_the_run() {
    let units = ["f32_32x4", "mixed_32x1", "f64_128x4"];
    let Some(double) = Double::with_sampler(&units) else { return };
    for (words, label) in [
        ("--groups 10 --chains 4 --draws 20", "few draws"),
        ("--groups 10 --chains 4 --draws 2000", "many draws"),
        ("--groups 10 --chains 600 --draws 10 --precision mixed", "many chains"),
        ("--groups 100 --chains 40 --draws 10 --precision f32", "f32"),
        ("--groups 400 --chains 3 --draws 10", "wide"),
        ("--groups 400 --chains 3 --draws 10 --likelihood pointwise", "data"),
    ] {
        let words =
            format!("sample hierarchical-normal {words} --tune 20 --device cuda --quiet --force --out {{}}/run");
        let planned = planned(&double, &words);
        let file = double.scratch().join("usage");
        let _ = fs::remove_file(&file);
        octopus(&double, &format!("report={}", file.display()), &words).sampled();
        let used = DeviceReport::read(&file).unwrap()[0].peak_bytes;
        let off = (planned as f64 - used as f64).abs() / used as f64;
        eprintln!("{label}: {planned} bytes planned, {used} used");
        assert!(off < 0.05, "{label}: {planned} bytes planned, {used} used");
    }
}

/// What does not fit takes turns, to the same draws; where not even one chain fits, each command says so.
#[test]
fn the_memory_taken_of_a_gpu_is_limited() {
    let Some(double) = Double::with_sampler(&["f64_32x1", "f64_128x4"]) else { return };
    let words = "sample hierarchical-normal --groups 10 --chains 600 --draws 4 --tune 20 --device cuda --force";
    let most = planned(&double, words) * 2 / 3;
    let plan = planned(&double, &format!("{words} --gpu-memory {most}"));
    octopus(&double, "", &format!("{words} --quiet --out {{}}/whole")).sampled();
    let file = double.scratch().join("usage");
    let limited = format!("{words} --gpu-memory {most} --out {{}}/limited");
    let limited = octopus(&double, &format!("report={}", file.display()), &limited);
    assert!(limited.sampled().stderr.contains("at once"), "{limited:#?}");
    let peak = DeviceReport::read(&file).unwrap()[0].peak_bytes;
    assert!(peak <= most, "{peak} bytes of {most}");
    assert!(plan.abs_diff(peak) < peak / 10, "{plan} bytes planned, {peak} used");
    assert_eq!(prints(&double, "limited"), prints(&double, "whole"));
    let rows = (0..800).map(|row| format!("1,c{},{}\n", row / 2, row * 29 % 17)).collect::<String>();
    fs::write(double.scratch().join("one.csv"), format!("s,g,y\n{rows}")).unwrap();
    for words in [
        "sample hierarchical-normal --groups 400 --draws 20 --tune 20",
        "sample hierarchical-normal --batch {}/one.csv --batch-by s --group g --value y --draws 20 --tune 20",
        "validate --groups 400 --quick --stages compare",
        "calibrate hierarchical-normal --groups 400 --datasets 2 --chains 2 --draws 20 --tune 20",
    ] {
        let words = format!("{words} --device cuda --gpu-memory 1MiB --no-fallback --quiet --out {{}}/none");
        octopus(&double, "", &words).fails(3, &["out of memory"]);
    }
}

fn stored(double: &Double) -> (CostsCache, DeviceCosts) {
    let json = octopus(double, "", "device measure --json --quiet --cache {}/costs").succeeds().json();
    let device_costs = serde_json::from_value(json["costs"].clone()).unwrap();
    // Where `auto` looks when XDG_CACHE_HOME is the folder for what commands write.
    (CostsCache::in_folder(double.scratch().join("octopus/costs")), device_costs)
}

/// The name under which the cost of the run's leapfrog step is kept.
const LEAPFROG: &str = "nuts_leapfrog_hierarchical_normal_f64_13";

#[test]
fn auto_measures_in_the_first_run_that_needs_it() {
    let Some(double) = Double::with_sampler(&["f64_32x1"]) else { return };
    let words = "sample hierarchical-normal --groups 10 --dry-run --draws";
    let dry = |words: &str| {
        let mut command = double.octopus("");
        command.env("XDG_CACHE_HOME", double.scratch());
        double.run(&mut command, words)
    };
    let costs = double.scratch().join("octopus/costs");
    let short = dry(&format!("{words} 100"));
    assert!(short.succeeds().stdout.contains("too little to start a GPU for"), "{short:#?}");
    assert!(!costs.exists() && !short.stderr.contains("measured"), "{short:#?}");
    // The CPU makes fewer than a million leapfrog steps a second.
    let long = format!("{words} 3000000");
    let first = dry(&long);
    assert!(first.succeeds().stderr.contains("cuda:0 was measured in "), "{first:#?}");
    assert!(first.stderr.contains(&format!("once: kept in {}", costs.display())), "{first:#?}");
    assert!(first.stdout.contains("on the CPU and ") && first.stdout.contains("on cuda:0"), "{first:#?}");
    let second = dry(&long);
    assert!(second.succeeds().stdout.contains("on the CPU and ") && !second.stderr.contains("measured"), "{second:#?}");
    // Of another model only its step is measured, and added to what is known.
    let other = dry(&format!("{long} --likelihood pointwise"));
    assert!(other.succeeds().stderr.contains("cuda:0 was measured in "), "{other:#?}");
    assert!(!dry(&long).stderr.contains("measured"));
    // A device that fails is not chosen, and a user who has no folder for caches has the costs for one run.
    let fails = double.run(&mut double.octopus("fail=cuLaunchKernel:719@3"), &long);
    assert!(fails.succeeds().stderr.contains("cuda:0 cannot be measured: "), "{fails:#?}");
    assert!(fails.stdout.contains("device: cpu ("), "{fails:#?}");
    let homeless = octopus(&double, "", &long);
    assert!(homeless.succeeds().stderr.contains("there is no cache folder"), "{homeless:#?}");
    assert!(homeless.stdout.contains("on the CPU and "), "{homeless:#?}");
    // What is asked for is not measured, nor does `--strategy auto` look at a clock.
    let counted = octopus(&double, "", &format!("{words} 100 --strategy auto --device cuda"));
    assert!(!counted.succeeds().stderr.contains("measured"), "{counted:#?}");
    let asked = octopus(&double, "", &format!("{long} --device cuda"));
    assert!(!asked.succeeds().stderr.contains("measured"), "{asked:#?}");
}

/// Not even one chain fits the memory that is free.
#[test]
fn auto_takes_a_device_only_if_the_run_fits_it() {
    let Some(double) = Double::with_sampler(&["f32_32x1"]) else { return };
    let (cache, mut device_costs) = stored(&double);
    let cost = |unit_seconds| LinearCost { fixed_seconds: 0.0, unit_seconds };
    device_costs.record(LEAPFROG, KernelCost { cpu: cost(1.0), device: cost(1e-9) });
    cache.store(&device_costs).unwrap();
    let words = "sample hierarchical-normal --groups 10 --dry-run";
    let chosen = |settings: &str| {
        let mut command = double.octopus(settings);
        command.env("XDG_CACHE_HOME", double.scratch());
        double.run(&mut command, words).succeeds().stdout.clone()
    };
    // A twentieth of 47.5 GiB is left alone.
    for settings in ["", "free_mb=3000"] {
        assert!(chosen(settings).contains("\ndevice: cuda:0 ("), "{}", chosen(settings));
    }
    let full = chosen("free_mb=2300");
    assert!(full.contains("\ndevice: cpu (not even one chain at a time fits cuda:0, which needs "), "{full}");
}

/// A look a second into the record, where the run lasts for a look.
#[test]
fn the_record_says_what_the_device_was_doing() {
    let Some(double) = Double::with_sampler(&["f64_32x4"]) else { return };
    let settings = "clock_mhz=1455;power_mw=123000";
    octopus(&double, settings, &format!("{LONG} --device cuda --out {{}}/long")).sampled();
    let load = record(&double, "long")["usage"]["load"].clone();
    assert!(load["looks"].as_integer().unwrap() >= 1, "{load}");
    for (figure, value) in [("sm_clock_mhz", 1455.0), ("power_watts", 123.0)] {
        for name in ["least", "mean", "most"] {
            assert_eq!(load[figure][name].as_float(), Some(value), "{figure} {name}: {load}");
        }
    }
    let short = "sample hierarchical-normal --draws 4 --tune 4 --quiet --device cuda --out {}/short";
    octopus(&double, settings, short).sampled();
    assert!(record(&double, "short")["usage"].get("load").is_none());
}

#[test]
fn auto_decides_by_what_was_measured() {
    let Some(double) = Double::with_sampler(&["f32_32x1"]) else { return };
    let (cache, mut device_costs) = stored(&double);
    let measured = device_costs.kernels[LEAPFROG];
    // What a launch costs by itself may be lost in the noise of so short a measurement: then the fit says 0.
    assert!(measured.cpu.unit_seconds > 0.0 && measured.device.unit_seconds > 0.0, "{measured:?}");
    for name in ["f32_13", "pointwise_f64_13", "pointwise_f32_13"] {
        assert!(device_costs.kernels.contains_key(&format!("nuts_leapfrog_hierarchical_normal_{name}")), "{name}");
    }
    // A device that is slow at one chain and does very many at once.
    let cost = |fixed_seconds, unit_seconds| LinearCost { fixed_seconds, unit_seconds };
    device_costs.record(LEAPFROG, KernelCost { cpu: cost(0.0, 1e-3), device: cost(20e-3, 1e-9) });
    device_costs.startup_seconds = 0.1;
    cache.store(&device_costs).unwrap();
    let run = |settings: &str, chains: u32, more: &str| {
        let words = format!(
            "sample hierarchical-normal --groups 10 --chains {chains} --draws 4 --tune 4 --quiet --force --json --out \
             {{}}/run {more}"
        );
        let mut command = double.octopus(settings);
        command.env("XDG_CACHE_HOME", double.scratch());
        double.run(&mut command, &words)
    };
    let sampled = |settings: &str, chains: u32| {
        run(settings, chains, "").sampled();
        let record = record(&double, "run");
        (record["device"].as_str().unwrap().to_owned(), record["device_reason"].as_str().unwrap().to_owned())
    };
    let (device, reason) = sampled("", 4);
    assert!(device == "cpu" && reason.contains("predicted") && reason.contains("on cuda:0"), "{device}: {reason}");
    let (device, reason) = sampled("", 400);
    assert!(device == "cuda:0" && reason.contains("predicted"), "{device}: {reason}");
    // A device that is there when it is chosen, and cannot be opened then.
    let cannot = "fail=cuDevicePrimaryCtxRetain:2";
    let (device, reason) = sampled(cannot, 400);
    assert!(device == "cpu" && reason.contains("cuda:0: ") && reason.contains("OUT_OF_MEMORY"), "{device}: {reason}");
    for more in ["--no-fallback", "--device cuda"] {
        run(cannot, 400, more).fails(4, &["cuda:0: ", "OUT_OF_MEMORY"]);
    }
}
