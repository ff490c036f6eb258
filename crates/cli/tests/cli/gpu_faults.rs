//! Everything that can go wrong with a GPU, on the software GPU: the message, the fix and the exit code of each fault
//! are in `snapshots/`. Nothing may panic, hang, or give a wrong number.

use crate::double::Double;
use insta::assert_snapshot;
use octopus_softgpu::{KernelSources, KernelUnit, Lanes, SoftwareGpu, Variant};
use std::fs;
use std::path::Path;

/// The machine around the software GPU.
#[derive(Clone, Copy)]
enum Machine {
    /// A card with its driver.
    Whole,
    /// The same, and NVML is not installed.
    NoNvml,
    /// A card, and nothing of NVIDIA's software.
    Card,
    /// Nothing.
    Bare,
}
use Machine::{Bare, Card, NoNvml, Whole};

/// One thing that goes wrong, in one command.
struct Fault {
    name: &'static str,
    machine: Machine,
    /// Of the software GPU, and `CUDA_VISIBLE_DEVICES` where it is set.
    settings: &'static str,
    visible: Option<&'static str>,
    words: &'static str,
    code: i32,
}

const fn fault(name: &'static str, settings: &'static str, words: &'static str, code: i32) -> Fault {
    Fault { name, machine: Whole, settings, visible: None, words, code }
}

const fn verify(name: &'static str, settings: &'static str) -> Fault {
    fault(name, settings, "verify --small", 1)
}

const SAMPLE_CUDA: &str =
    "sample hierarchical-normal --groups 10 --draws 20 --tune 20 --device cuda --no-fallback --out {}/run";

const SAMPLE: &str = "sample hierarchical-normal --groups 3 --draws 20 --tune 20 --quiet --json --out {}/run";

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    // Absent.
    Fault { machine: Bare, ..fault("nothing", "", "verify", 4) },
    Fault { machine: Card, ..fault("card_without_driver", "", "verify", 4) },
    Fault { machine: Bare, ..fault("nothing_to_list", "", "device list", 4) },
    Fault { machine: Bare, ..fault("nothing_to_be_exact_on", "", "device exact", 4) },
    // The driver does not start.
    verify("no_device", "devices=0"),
    verify("init_100", "fail=cuInit:100"),
    verify("init_34_stub", "fail=cuInit:34"),
    verify("init_802", "fail=cuInit:802"),
    verify("init_803", "fail=cuInit:803"),
    verify("init_804", "fail=cuInit:804"),
    verify("init_999", "fail=cuInit:999"),
    verify("init_12345", "fail=cuInit:12345"),
    // It is too old, or the device is.
    verify("driver_11_4", "driver=11040;version=470.82.01"),
    verify("driver_12_2", "driver=12020;version=535.104.05"),
    verify("compute_capability_5_2", "cc=5.2"),
    // NVML.
    Fault { machine: NoNvml, ..verify("nvml_missing_and_driver_fails", "fail=cuInit:999") },
    Fault { machine: NoNvml, ..verify("nvml_missing", "") },
    verify("nvml_18_mismatched", "fail=nvmlInit_v2:18"),
    verify("nvml_4_not_permitted", "fail=nvmlInit_v2:4"),
    verify("nvml_9_driver_not_loaded", "fail=nvmlInit_v2:9"),
    // Settings of the device and of the user.
    fault("mig", "mig=1", "verify --small", 0),
    verify("mig_without_instance", "mig=1;fail=cuInit:100"),
    verify("compute_mode_exclusive", "mode=3;processes=1"),
    verify("compute_mode_prohibited", "mode=2"),
    verify("busy", "processes=2;free_mb=300"),
    Fault { visible: Some(""), ..verify("visible_devices_empty", "") },
    Fault { visible: Some("-1"), ..verify("visible_devices_minus_1", "") },
    Fault { visible: Some("7"), ..verify("visible_devices_7", "") },
    Fault { visible: Some("0"), ..fault("visible_devices_hide_the_one_asked_for", "devices=2", "verify --small --device 1", 1) },
    fault("no_such_device", "devices=2", "verify --small --device 7", 1),
    // The context.
    verify("context_46_unavailable", "fail=cuDevicePrimaryCtxRetain:46"),
    verify("context_2_no_memory", "fail=cuDevicePrimaryCtxRetain:2"),
    verify("stream_fails", "fail=cuStreamCreate:999,cuStreamCreateWithPriority:999"),
    // Memory.
    verify("out_of_memory_1", "fail=cuMemAlloc_v2:2@1"),
    verify("out_of_memory_2", "fail=cuMemAlloc_v2:2@2"),
    verify("out_of_memory_5", "fail=cuMemAlloc_v2:2@5"),
    verify("out_of_memory_always", "fail=cuMemAlloc_v2:2"),
    verify("out_of_pinned_memory", "fail=cuMemAllocHost_v2:2,cuMemHostAlloc:2"),
    verify("copy_to_the_device_fails", "fail=cuMemcpyHtoD_v2:1@2,cuMemcpyHtoDAsync_v2:1@2"),
    verify("copy_from_the_device_fails", "fail=cuMemcpyDtoH_v2:999@1,cuMemcpyDtoHAsync_v2:999@1"),
    verify("copy_on_the_device_fails", "fail=cuMemcpyDtoD_v2:1,cuMemcpyDtoDAsync_v2:1"),
    verify("memory_214_uncorrectable", "fail=cuMemcpyDtoH_v2:214@1,cuMemcpyDtoHAsync_v2:214@1"),
    // The kernels.
    verify("ptx_222_too_new", "fail=cuModuleLoadDataEx:222"),
    verify("ptx_218_invalid", "fail=cuModuleLoadDataEx:218"),
    verify("ptx_300_no_source", "fail=cuModuleLoadDataEx:300"),
    verify("ptx_221_no_compiler", "fail=cuModuleLoadDataEx:221"),
    verify("kernel_500_not_found", "fail=cuModuleGetFunction:500@3"),
    verify("event_fails", "fail=cuEventRecord:400"),
    verify("event_time_fails", "fail=cuEventElapsedTime:400"),
    verify("launch_719", "fail=cuLaunchKernel:719@1"),
    verify("launch_701_once", "fail=cuLaunchKernel:701@1"),
    verify("sticky_700_at_launch_1", "sticky=700@1"),
    verify("sticky_700_at_launch_3", "sticky=700@3"),
    verify("lost_from_the_start", "lost=0"),
    verify("lost_half_way", "lost=264"),
    // The same met by other commands.
    fault("exact_sticky_700", "sticky=700@3", "device exact --small", 3),
    fault("exact_out_of_memory", "fail=cuMemAlloc_v2:2@5", "device exact --small --json", 3),
    fault("exact_no_such_device", "", "device exact --device 4", 4),
    fault("measure_launch_719", "fail=cuLaunchKernel:719@5", "device measure --cache {}/costs", 3),
    fault("measure_second_load_222", "fail=cuModuleLoadDataEx:222@2", "device measure --cache {}/costs", 3),
    fault("warm_ptx_222_too_new", "fail=cuModuleLoadDataEx:222", "device warm", 3),
    fault("info_no_such_device", "", "device info 3", 4),
    fault("info_lost", "fail=nvmlDeviceGetHandleByIndex_v2:15", "device info", 0),
    fault("sample_too_many_coordinates", "", "sample hierarchical-normal --groups 1100 --device cuda --out {}/run", 2),
    fault("sample_f32_on_the_cpu", "", "sample hierarchical-normal --precision f32 --device cpu --out {}/run", 2),
    fault("sample_out_of_memory_always", "fail=cuMemAlloc_v2:2", SAMPLE_CUDA, 3),
    fault("sample_out_of_pinned_memory", "fail=cuMemAllocHost_v2:2,cuMemHostAlloc:2", SAMPLE_CUDA, 3),
    fault("sample_ptx_222_too_new", "fail=cuModuleLoadDataEx:222", SAMPLE_CUDA, 3),
    fault("sample_kernel_500_not_found", "fail=cuModuleGetFunction:500", SAMPLE_CUDA, 3),
    fault("sample_launch_701", "fail=cuLaunchKernel:701@1", SAMPLE_CUDA, 3),
    fault("sample_sticky_700", "sticky=700@1", SAMPLE_CUDA, 3),
    fault("sample_cuda_7", "", "sample hierarchical-normal --device cuda:7 --out {}/run", 4),
    fault("sample_cuda_init_999", "fail=cuInit:999", "sample hierarchical-normal --device cuda --out {}/run", 4),
    fault("sample_no_fallback", "mode=2", "sample hierarchical-normal --no-fallback --out {}/run", 4),
];

#[test]
fn every_fault_is_told_with_its_fix() {
    let Some(double) = Double::new() else { return };
    let mut names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), FAULTS.len());
    let mut wrong = Vec::new();
    for fault in FAULTS {
        if Double::has_real_driver() && !matches!(fault.machine, Whole) {
            eprintln!("SKIPPED: {}: this machine has a driver, which cannot be hidden", fault.name);
            continue;
        }
        let mut command = match fault.machine {
            Whole => double.octopus(fault.settings),
            NoNvml => double.octopus_without_nvml(fault.settings),
            Card => double.octopus_without_driver("card"),
            Bare => double.octopus_without_driver("bare"),
        };
        if let Some(list) = fault.visible {
            command.env("CUDA_VISIBLE_DEVICES", list);
        }
        let answer = double.run(&mut command, fault.words);
        if answer.code != Some(fault.code) {
            wrong.push(format!("{}: {:?} instead of {}", fault.name, answer.code, fault.code));
        }
        if fault.code == 1 {
            assert!(answer.stdout.contains("      fix:      "), "{}: no fix in {answer:#?}", fault.name);
        }
        // What failed says so on one of both, and nobody is told that it is fit.
        assert!(fault.code == 0 || !answer.stdout.contains("is fit for use"), "{}: {answer:#?}", fault.name);
        let said = format!("$ octopus {}\nOCTOPUS_SOFTGPU={}\n{}", fault.words, fault.settings, double.masked(&answer));
        assert_snapshot!(fault.name, said);
        assert!(!double.scratch().join("run").exists(), "{}: a run that cannot begin leaves nothing", fault.name);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_broken_gpu_does_not_stop_the_cpu() {
    let Some(double) = Double::new() else { return };
    for (settings, words) in [
        ("", "too little to start a GPU for"),
        ("fail=cuInit:999", "999 (CUDA_ERROR_UNKNOWN)"),
        ("mode=2", "prohibited"),
        ("lost=0", "fell off the bus"),
    ] {
        let answer = double.run(&mut double.octopus(settings), &format!("{SAMPLE} --force --device auto"));
        let json = answer.sampled().json();
        let reason = json["device_reason"].as_str().unwrap();
        assert_eq!(json["device"], "cpu");
        assert!(reason.contains(words), "{settings}: {reason}");
    }
}

/// Without the option, the CPU does the work where a GPU is there and cannot be used; with it, nothing is done.
#[test]
fn no_fallback_is_heard_by_each_command() {
    let Some(double) = Double::new() else { return };
    fs::create_dir(double.scratch().join("in")).unwrap();
    fs::write(double.scratch().join("in/one.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    for words in [
        SAMPLE,
        "sample hierarchical-normal --batch {}/in --group g --value y --draws 20 --tune 20 --out {}/batch",
        "calibrate eight-schools --datasets 2 --chains 2 --draws 60 --tune 80 --out {}/ranks",
        "validate eight-schools --quick --stages compare --out {}/validation",
    ] {
        let with = double.run(&mut double.octopus("mode=2"), &format!("{words} --no-fallback"));
        with.fails(4, &["--no-fallback: a GPU is there and cannot be used: ", "prohibited"]);
        let without = double.run(&mut double.octopus("mode=2"), words);
        assert!(matches!(without.code, Some(0 | 1)), "{without:#?}");
    }
}

/// Kernels that compute something else: the only fault that no code of the driver tells.
#[test]
fn wrong_numbers_are_found() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let folder = tempfile::tempdir().unwrap();
    let copied = copy_sources(&kernels, folder.path());
    // Sums taken from the other end of each tile differ in the last bits only.
    let matmul = folder.path().join("src/matmul.cu");
    let text = fs::read_to_string(&matmul).unwrap();
    let changed = text.replacen(
        "rows[threadIdx.y][i] * columns[i][threadIdx.x]",
        "rows[threadIdx.y][TILE - 1 - i] * columns[TILE - 1 - i][threadIdx.x]",
        1,
    );
    assert_ne!(text, changed, "the test changes nothing: see kernels/src/matmul.cu");
    fs::write(&matmul, changed).unwrap();
    let built = SoftwareGpu::build_with(&copied, Variant::Plain)
        .and_then(|gpu| gpu.with_sampler(Lanes::Arrays, &["nuts_hierarchical_normal_f64_32x1"]));
    let Some(gpu) = SoftwareGpu::unless_absent(built) else { return };
    let double = Double::of(gpu);
    let answer = double.run(&mut double.octopus(""), "verify --small");
    assert_eq!(answer.code, Some(1), "{answer:#?}");
    for words in ["FAIL  matmul-f64", "elements differ, the first in row", "FAIL  exactness", "matmul_f32 of 16"] {
        assert!(answer.stdout.contains(words), "{words} not in {}", answer.stdout);
    }
    let exact = double.run(&mut double.octopus(""), "device exact --small");
    assert_eq!(exact.code, Some(1));
    assert!(exact.stdout.contains("DIFFERS  matmul_f64"), "{}", exact.stdout);
    let record = double.run(&mut double.octopus(""), "device exact --record {}/expected.json");
    record.fails(3, &["nothing is recorded", "matmul_f"]);
    assert!(!double.scratch().join("expected.json").exists());
}

fn copy_sources(from: &Path, to: &Path) -> KernelSources {
    for part in ["src", "include/octopus"] {
        fs::create_dir_all(to.join(part)).unwrap();
        for entry in fs::read_dir(from.join(part)).unwrap() {
            let path = entry.unwrap().path();
            // Functions of programs have a folder of their own, which these units do not include.
            if path.is_dir() {
                continue;
            }
            fs::copy(&path, to.join(part).join(path.file_name().unwrap())).unwrap();
        }
    }
    let octopus = KernelUnit::File(to.join("src/octopus.cu"));
    KernelSources { units: vec![octopus], include: vec![to.join("include"), to.join("src")] }
}

/// A device that takes over for a lost one may lack the memory for all chains: what would fit is told then, too.
#[test]
fn memory_that_runs_out_half_way_is_advised_on() {
    let Some(double) = Double::new() else { return };
    let words = "sample hierarchical-normal --groups 20 --chains 8 --draws 100 --tune 100 --device cuda:0,1 \
                 --no-fallback --force --out {}/run";
    let mut half_way = 0;
    // The run allocates some thirty times before its folder is made; where exactly is its own affair.
    for allocation in 24..40 {
        let settings = format!("devices=2;fail=cuLaunchKernel:719@9,cuMemAlloc_v2:2@{allocation}+");
        let answer = double.run(&mut double.octopus(&settings), words);
        if answer.code == Some(3) && double.scratch().join("run").exists() {
            assert!(answer.stderr.contains("is given up"), "{answer:#?}");
            assert!(answer.stderr.contains("all 8 chains of 20 groups take "), "{answer:#?}");
            half_way += 1;
        }
    }
    assert!(half_way > 0, "no allocation failed between the folder and the end");
}
