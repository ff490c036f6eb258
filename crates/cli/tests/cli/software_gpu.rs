//! The commands on a sound software GPU, which says everywhere what it is; and on this machine, whatever it has.

use crate::double::{Double, TINY_RUN};
use crate::support::{Answer, answer, octopus, program, run};
use octopus_device::CHECK_IDS;
use octopus_fitness::FITNESS_IDS;
use octopus_softgpu::{Lanes, SoftwareGpu};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const DOUBLE: &str = "(test double)";

fn kernels(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every string below a value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_sound_gpu_is_fit_and_says_that_it_is_a_double() {
    let Some(double) = Double::new() else { return };
    let clock = Instant::now();
    let whole = double.run(&mut double.octopus(""), "verify");
    whole.sampled();
    eprintln!("verify on the software GPU took {:.1} s", clock.elapsed().as_secs_f64());
    for id in CHECK_IDS.iter().chain(&FITNESS_IDS) {
        assert!(whole.stdout.contains(&format!("PASS  {id:<18}")), "{id}: {}", whole.stdout);
    }
    for words in ["1000 x 1000: the same bits", "on cuda:0", "31 passed, 0 failed, 0 skipped", "GB/s", DOUBLE] {
        assert!(whole.stdout.contains(words), "{words}: {}", whole.stdout);
    }
    assert!(whole.stdout.contains("the software GPU (a test double, no measurement of a GPU) is fit for use"));
    let look = double.run(&mut double.octopus(""), "verify --no-deep");
    assert!(look.succeeds().stdout.contains(&format!("{} passed", CHECK_IDS.len())) && look.stdout.contains(DOUBLE));
}

#[test]
fn verify_as_json_has_every_check_once() {
    let Some(double) = Double::new() else { return };
    let json = double.run(&mut double.octopus(""), "verify --small --json").succeeds().json();
    assert_eq!((&json["schema"], &json["overall"], &json["provider"]), (&2.into(), &"fit".into(), &"system".into()));
    let findings = json["findings"].as_array().unwrap();
    let ids: Vec<&str> = findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, CHECK_IDS.into_iter().chain(FITNESS_IDS).collect::<Vec<_>>());
    for finding in findings {
        for field in ["id", "title", "status", "observed", "expected"] {
            assert!(finding[field].is_string(), "{field} of {finding}");
        }
        assert_eq!(
            (&finding["status"], &finding["cause"], &finding["fix"]),
            (&"PASS".into(), &Value::Null, &Value::Null)
        );
    }
    assert!(json["devices"][0]["name"].as_str().unwrap().contains(DOUBLE));
    assert!(json["summary"].as_str().unwrap().contains("test double"));
}

#[test]
fn the_report_tells_nobody_who_or_where() {
    let Some(double) = Double::new() else { return };
    let mut command = double.octopus("processes=1");
    command.env("USER", "alice").env("HOME", "/people/alice").env("HOSTNAME", "alices-box");
    let report = double.run(&mut command, "verify --small --report");
    let text = &report.succeeds().stdout;
    assert!(text.starts_with("```") && text.contains(DOUBLE) && text.contains("PASS matmul-f64"), "{text}");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let folder = double.gpu.folder().to_str().unwrap();
    for secret in ["alice", folder, "GPU-4f63"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    // As a whole: parts of a host's name, such as 10, may stand there for something else.
    let host = host.trim();
    assert!(host.is_empty() || !text.split_whitespace().any(|word| word == host), "{host} in {text}");
    // The UUID and the folder are there without --report: the test can fail.
    let plain = double.run(&mut double.octopus(""), "verify --small");
    assert!(plain.stdout.contains("GPU-4f63") && plain.stdout.contains(folder), "{}", plain.stdout);
    let both = double.run(&mut double.octopus(""), "verify --report --json");
    both.fails(2, &["cannot be used with"]);
}

#[test]
fn one_of_two_devices() {
    let Some(double) = Double::new() else { return };
    let json = double.run(&mut double.octopus("devices=2"), "verify --small --json --device 1").succeeds().json();
    let devices = json["devices"].as_array().unwrap();
    assert_eq!((devices.len(), &devices[0]["index"]), (1, &1.into()));
    let list = double.run(&mut double.octopus("devices=2"), "device list --json").succeeds().json();
    let names: Vec<&str> = strings(&list).into_iter().filter(|text| text.starts_with("cuda:")).collect();
    assert_eq!(names, ["cuda:0", "cuda:1"]);
    // NVML counts all devices, the driver those that are left.
    let mut command = double.octopus("devices=2");
    let hidden = double.run(command.env("CUDA_VISIBLE_DEVICES", "1"), "device list");
    let lines: Vec<&str> = hidden.succeeds().stdout.lines().collect();
    assert!(lines[0].starts_with("hidden   0: ") && lines[1].starts_with("cuda:0   1: "), "{lines:?}");
    let mut command = double.octopus("devices=2");
    double.run(command.env("CUDA_VISIBLE_DEVICES", "1"), "verify --small --device 1").succeeds();
    let second =
        double.run(&mut double.octopus("devices=2"), "device exact --small --device 1 --json").succeeds().json();
    assert_eq!(second["device"]["uuid"], devices[0]["uuid"]);
}

#[test]
fn a_device_that_is_hidden_from_the_driver_is_not_verified() {
    let Some(double) = Double::new() else { return };
    let mut command = double.octopus("devices=2");
    let hidden = double.run(command.env("CUDA_VISIBLE_DEVICES", "0"), "verify --small --device 1");
    assert_eq!(hidden.code, Some(1), "{hidden:#?}");
    assert!(hidden.stdout.contains("CUDA_VISIBLE_DEVICES hides it"), "{hidden:#?}");
}

#[test]
fn devices_are_described() {
    let Some(double) = Double::new() else { return };
    let info = double.run(&mut double.octopus(""), "device info 0");
    for words in [DOUBLE, "multiprocessors", "84", "550.90.07", "compute mode", "cuda:0"] {
        assert!(info.succeeds().stdout.contains(words), "{words}: {}", info.stdout);
    }
    let json = double.run(&mut double.octopus(""), "device info --json").succeeds().json();
    assert_eq!((&json["schema"], &json["devices"][0]["test_double"]), (&1.into(), &true.into()));
    assert_eq!((&json["cuda_available"], &json["summary"].is_string()), (&true.into(), &true));
    assert!(json["host"]["threads"].as_u64().unwrap() > 0, "{json}");
}

/// The machine itself is described where there is no GPU, and a program learns it from JSON.
#[test]
fn a_machine_without_a_gpu_is_described() {
    let run = |words: &str| {
        let mut command = octopus();
        command.env("OCTOPUS_LIBCUDA", "/none/libcuda.so.1").env("OCTOPUS_LIBNVML", "/none/libnvidia-ml.so.1");
        command.args(words.split(' ')).output().unwrap()
    };
    let text = run("device info");
    assert_eq!(text.status.code(), Some(4));
    let stdout = String::from_utf8(text.stdout).unwrap();
    assert!(stdout.starts_with("host  ") && stdout.contains("threads"), "{stdout}");
    assert!(String::from_utf8(text.stderr).unwrap().starts_with("error: "));
    let json = run("device info --json");
    assert_eq!(json.status.code(), Some(4));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["cuda_available"], &json["devices"]), (&false.into(), &Value::Array(vec![])));
    assert!(json["host"]["threads"].as_u64().unwrap() > 0 && json["summary"].is_string(), "{json}");
}

#[test]
fn a_device_is_watched() {
    let Some(double) = Double::new() else { return };
    let settings = "clock_mhz=1455;power_mw=123000";
    let clock = Instant::now();
    let table = double.run(&mut double.octopus(settings), "device watch --every 0.3 --count 3");
    assert!(clock.elapsed() >= Duration::from_millis(600), "three looks are two waits");
    let lines: Vec<&str> = table.succeeds().stdout.lines().collect();
    assert!(lines[0].starts_with("time ") && lines[0].contains("held down by"), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in &lines[1..] {
        assert!(line.contains(" 1455 ") && line.contains("123 of 300 W"), "{line}");
    }
    let json = double.run(&mut double.octopus(settings), "device watch 0 --every 0.05 --count 2 --json");
    let looks: Vec<Value> = json.succeeds().stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(looks.len(), 2);
    assert_eq!((&looks[1]["sm_clock_mhz"], &looks[1]["power_watts"]), (&1455.into(), &123.0.into()), "{looks:?}");
    let time = looks[0]["time"].as_str().unwrap();
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
}

#[test]
fn every_kernel_is_exact_and_as_recorded() {
    let Some(double) = Double::new() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/expected.json");
    let mut command = double.octopus("");
    command.args(["device", "exact", "--json", "--expected"]).arg(&path);
    let exact = double.run(&mut command, "");
    let json = exact.json();
    assert_eq!(exact.code, Some(0), "kernels/expected.json is not current: record it again with --record; {json:#}");
    assert_eq!(
        (&json["schema"], &json["equal"], &json["device"]["test_double"]),
        (&1.into(), &true.into(), &true.into())
    );
    for field in ["name", "uuid", "compute_capability", "driver"] {
        assert!(json["device"][field].is_string(), "{field}: {}", json["device"]);
    }
    let rows = json["kernels"].as_array().unwrap();
    for row in rows {
        assert!(row["hash"] == row["cpu"] && row["hash"] == row["expected"] && row["equal"] == true, "{row}");
    }
    let tried: BTreeSet<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let ptx = kernels("ptx/octopus.ptx");
    let entries = ptx.split(".entry ").skip(1).filter_map(|text| text.split(['(', '\n']).next()).map(str::trim);
    let declared: BTreeSet<&str> = entries.collect();
    assert_eq!(tried, declared, "every kernel is tried");
    // Recording gives the same file; a small run is a part of it.
    double.run(&mut double.octopus(""), "device exact --record {}/expected.json --quiet").succeeds();
    assert_eq!(std::fs::read_to_string(double.scratch().join("expected.json")).unwrap(), kernels("expected.json"));
    let mut command = double.octopus("");
    let small = double.run(command.args(["device", "exact", "--small", "--expected"]).arg(&path), "");
    assert!(small.succeeds().stdout.contains("this says nothing of a GPU"), "{}", small.stdout);
    // A hash that differs is found, and a file that is none is refused.
    let text = kernels("expected.json");
    let hash = rows[0]["hash"].as_str().unwrap();
    std::fs::write(double.scratch().join("other.json"), text.replacen(hash, "0000000000000000", 1)).unwrap();
    let other = double.run(&mut double.octopus(""), "device exact --expected {}/other.json");
    assert_eq!(other.code, Some(1), "{other:#?}");
    assert!(other.stdout.contains("recorded 0000000000000000"), "{}", other.stdout);
    std::fs::write(double.scratch().join("none.json"), "{}").unwrap();
    double.run(&mut double.octopus(""), "device exact --expected {}/none.json").fails(3, &["none.json", "--record"]);
}

#[test]
fn benchmarks_and_calibrations_of_a_double_say_so() {
    let Some(double) = Double::with_sampler(&["f32_32x1"]) else { return };
    // A GPU is a device of the suites of arrays and of draws; its results are held to the same truth.
    let run = |suite: &str, size: &str| {
        let words = format!(
            "bench run {suite} --frameworks octopus --repeats 3 --data-size {size} --device cuda:0 --json --quiet --out {{}}/{suite}"
        );
        double.run(&mut double.octopus(""), &words).succeeds().json()["summary"].as_array().unwrap().clone()
    };
    for (suite, size, methods) in [("arrays", "1024", 32), ("random", "10000", 9)] {
        let lines = run(suite, size);
        let names: BTreeSet<&str> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
        assert_eq!(names.len(), methods);
        for line in &lines {
            assert!(line["verdict"] == "passed" && line["seconds"].as_f64() > Some(0.0), "{line:#}");
        }
        let rows = std::fs::read_to_string(double.scratch().join(format!("{suite}/octopus.csv"))).unwrap();
        assert!(rows.contains("(test double)"), "{rows}");
    }

    let measured = double.run(&mut double.octopus(""), "device measure --json --cache {}/cache");
    let json = measured.succeeds().json();
    assert_eq!((&json["schema"], &json["test_double"]), (&1.into(), &true.into()));
    let file = Path::new(json["file"].as_str().unwrap());
    assert!(file.starts_with(double.scratch().join("cache")) && file.is_file());
    assert!(measured.stderr.contains("kept in "));
    let text = double.run(&mut double.octopus(""), "device measure --cache {}/cache --quiet");
    assert!(text.succeeds().stdout.contains("no measurements of a GPU") && text.stderr.is_empty(), "{text:#?}");
}

#[test]
fn each_command_measures_the_device_that_it_is_told() {
    let units = ["nuts_hierarchical_normal_f32_32x1", "nuts_eight_schools_f32_32x1", "nuts_eight_schools_f64_32x1"];
    let units: Vec<String> = std::iter::once(TINY_RUN.to_owned()).chain(units.map(str::to_owned)).collect();
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &units).map(Double::of) else { return };
    for words in [
        "device measure --cache {}/cache",
        "device warm --model eight-schools --precision f32,f64",
        "device sampler --small --seconds 0",
        "device exact --small",
    ] {
        let of = |device: u32| double.run(&mut double.octopus("devices=2"), &format!("{words} --device {device}"));
        of(1).succeeds();
        of(2).fails(4, &["2"]);
    }
}

/// The process that fills another folder fails as this one would.
#[test]
fn a_failure_in_another_folder_is_told_by_its_exit_code() {
    let Some(double) = Double::with_sampler(&["f32_32x1"]) else { return };
    let warm = |settings: &str, more: &str| {
        let words = format!("device warm --model eight-schools --kernel-cache {{}}/kernels {more}");
        double.run(&mut double.octopus(settings), &words)
    };
    warm("fail=cuModuleLoadDataEx:222", "").fails(3, &["222"]);
    warm("", "--device 63").fails(4, &["63"]);
}

#[test]
fn kernels_are_compiled_ahead() {
    let units = [TINY_RUN, "nuts_eight_schools_f32_32x1", "nuts_eight_schools_f64_32x1"];
    let Some(double) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &units).map(Double::of) else { return };
    let warm = |more: &str| double.run(&mut double.octopus(""), &format!("device warm {more}"));
    let rows = |answer: &Answer| -> Vec<String> {
        let json = answer.succeeds().json();
        // As text, so that what is missing shows.
        let row = |row: &Value| format!("{} {} {}", row["model"], row["coordinates"], row["precision"]);
        json["kernels"].as_array().unwrap().iter().map(row).collect()
    };
    let both = warm("--model eight-schools --precision f64,f32 --json --quiet");
    let expected = ["\"arrays\" null null", "\"eight-schools\" 10 \"f64\"", "\"eight-schools\" 10 \"f32\""];
    assert_eq!(rows(&both), expected);
    assert!(both.stderr.is_empty() && both.json()["cache"].is_null(), "{both:#?}");
    let there = warm("--model eight-schools --precision f64 --kernel-cache {}/compiled --json");
    let folder = double.scratch().join("compiled").canonicalize().unwrap();
    assert_eq!((rows(&there).len(), &there.json()["cache"]), (2, &folder.to_str().unwrap().into()));
    assert!(there.stderr.ends_with(&format!("CUDA_CACHE_PATH={}\n", folder.display())), "{there:#?}");
    assert!(there.stderr.starts_with("arrays\neight-schools with 10 coordinates in f64\n"), "{there:#?}");
    let text = warm("--model eight-schools --precision f64 --kernel-cache {}/compiled --quiet");
    assert!(text.succeeds().stdout.contains("no measurements of a GPU") && text.stderr.is_empty(), "{text:#?}");
    assert!(text.stdout.ends_with(&format!("the driver keeps them in {}\n", folder.display())), "{text:#?}");
    warm("--model nine-schools").fails(2, &["nine-schools", "eight-schools"]);
    warm("--device 7 --kernel-cache {}/compiled").fails(4, &["7"]);
}

#[test]
fn a_dry_run_plans_and_leaves_nothing() {
    let Some(double) = Double::new() else { return };
    let json = double.run(&mut double.octopus(""), "sample hierarchical-normal --chains 5000 --dry-run --json");
    let json = json.succeeds().json();
    let place = &json["places"][0];
    assert!(place["place"].as_str().unwrap().contains(DOUBLE) && place["test_double"] == true, "{json:#}");
    assert_eq!((&place["plan"]["chains"], &place["plan"]["chains_at_once"]), (&5000.into(), &5000.into()));
    assert!(json["host"]["total"].as_u64().unwrap() > 1 << 20);
    let text = double.run(&mut double.octopus("free_mb=300"), "sample hierarchical-normal --dry-run --out {}/run");
    for words in ["nothing is sampled", "4 chains of 103 coordinates in f64", "on cpu: ", "together", "does not fit"] {
        assert!(text.succeeds().stdout.contains(words), "{words}: {}", text.stdout);
    }
    let large = double.run(&mut double.octopus(""), "sample hierarchical-normal --groups 1100 --dry-run");
    assert!(large.succeeds().stdout.contains("hold at most 1024 coordinates"), "{}", large.stdout);
    assert!(!double.scratch().join("run").exists());
    if Double::has_real_driver() {
        eprintln!("SKIPPED: a dry run without a driver: this machine has one");
        return;
    }
    let without = double.run(&mut double.octopus_without_driver("bare"), "sample hierarchical-normal --dry-run");
    assert!(without.succeeds().stdout.contains("no GPU: no NVIDIA GPU on this machine"), "{}", without.stdout);
}

#[test]
fn the_record_of_a_run_has_device_reason_and_usage() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample hierarchical-normal --groups 3 --draws 20 --tune 20 --quiet --out {}/run";
    let record = |dir: &Path| -> String { std::fs::read_to_string(dir.join("run/run.toml")).unwrap() };
    run(dir.path(), &format!("{words} --device cpu")).sampled();
    for line in ["device = \"cpu\"", "device_reason = \"asked for\"", "[usage]", "peak_bytes = 0", "launches = 0"] {
        assert!(record(dir.path()).contains(line), "{line}: {}", record(dir.path()));
    }
    // The variable counts where no flag does, and a flag is said to override it.
    let words: Vec<String> = words
        .split(' ')
        .map(|word| word.replace("{}", dir.path().to_str().unwrap()))
        .filter(|w| w != "--quiet")
        .collect();
    let by_variable = answer(octopus().args(&words).arg("--force").env("OCTOPUS_DEVICE", "cuda:63"));
    assert!(by_variable.code == Some(4), "{by_variable:#?}");
    answer(octopus().args(&words).arg("--force").env("OCTOPUS_DEVICE", "gpu0"))
        .fails(2, &["OCTOPUS_DEVICE", "gpu0", "cuda:N"]);
    let flag = answer(octopus().args(&words).args(["--force", "--device", "cpu"]).env("OCTOPUS_DEVICE", "cuda:63"));
    assert!(flag.sampled().stderr.contains("--device cpu overrides OCTOPUS_DEVICE=cuda:63"), "{}", flag.stderr);
}

#[test]
fn this_machine_answers_at_once_where_it_has_no_gpu() {
    let look = || {
        let clock = Instant::now();
        (answer(octopus().args(["verify", "--json"])), clock.elapsed())
    };
    // The best of five: other tests have the processor too.
    let (found, took) = (0..5).map(|_| look()).min_by_key(|(_, took)| *took).unwrap();
    if found.json()["overall"] != "absent" {
        eprintln!("SKIPPED: this machine has an NVIDIA device: {}", found.json()["summary"]);
        return;
    }
    eprintln!("verify took {took:?} on a machine without a GPU");
    assert_eq!(found.code, Some(4));
    assert!(took < Duration::from_millis(100), "{took:?}");
    let findings = found.json()["findings"].as_array().unwrap().clone();
    assert_eq!(findings.len(), CHECK_IDS.len() + FITNESS_IDS.len());
    assert!(findings.iter().all(|finding| finding["status"] == "SKIP"));
}

#[test]
fn the_program_is_not_linked_to_the_driver() {
    match Command::new("readelf").args(["-d", program()]).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && text.contains("NEEDED"), "{text}");
            assert!(!text.contains("libcuda") && !text.contains("nvidia"), "{text}");
        }
        Err(error) => eprintln!("SKIPPED: no readelf: {error}"),
    }
}
