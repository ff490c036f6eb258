//! From a choice to a device: on machines as scripted, and on the software GPU with measured costs.

mod software_gpu;

use octopus_device::{
    Accelerators, AutoDevice, CostsCache, CostsConfig, CostsKey, CostsMiss, Device, DeviceChoice, KernelCost,
    LinearCost, NoProvider, Probe, ScriptedProvider, SystemProvider, Work, measure_costs, resolve,
};
use std::time::Duration;

fn missing(_: u32) -> Result<octopus_device::DeviceCosts, CostsMiss> {
    Err(CostsMiss::Missing { path: "costs.json".into() })
}

fn choice(text: &str) -> DeviceChoice {
    text.parse().unwrap()
}

#[cfg(feature = "cuda")]
#[test]
fn a_machine_without_anything_has_the_cpu() {
    let accelerators = Accelerators::of(&Probe::new(&NoProvider));
    let selection = resolve(choice("auto"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(selection.device, Device::Cpu);
    assert!(selection.reason.contains("no NVIDIA device on this machine"), "{}", selection.reason);
    let error = resolve(choice("cuda"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no NVIDIA device on this machine") && text.contains("docs/setup.md"), "{text}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn the_cpu_is_had_when_asked_for_whatever_the_machine() {
    for accelerators in
        [Accelerators::of(&Probe::new(&ScriptedProvider::healthy())), Accelerators::of(&Probe::new(&NoProvider))]
    {
        let selection = resolve(choice("cpu"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
        assert_eq!((selection.device, selection.reason.as_str()), (Device::Cpu, "cpu: asked for"));
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_healthy_machine_has_its_device_and_no_other() {
    let accelerators = Accelerators::of(&Probe::new(&ScriptedProvider::healthy()));
    assert_eq!(accelerators, Accelerators { devices: 1, unusable: None });
    let first = resolve(choice("cuda"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!((first.device, first.notes.len()), (Device::Cuda(0), 0));
    let error = resolve(choice("cuda:7"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err().to_string();
    assert!(error.contains("cuda:7") && error.contains("1 CUDA device,"), "{error}");
}

#[cfg(feature = "cuda")]
#[test]
fn an_old_driver_is_used_only_when_asked_for() {
    let mut provider = ScriptedProvider::healthy();
    let old = octopus_device::Version { major: 12, minor: 2 };
    provider.driver.as_mut().unwrap().cuda_version = Some(old);
    provider.nvml.as_mut().unwrap().cuda_version = Some(old);
    let accelerators = Accelerators::of(&Probe::new(&provider));
    let automatic = resolve(choice("auto"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(automatic.device, Device::Cpu);
    assert!(automatic.reason.contains("12.2"), "{}", automatic.reason);
    let asked = resolve(choice("cuda:0"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(asked.device, Device::Cuda(0));
    assert!(asked.notes[0].contains("12.2"), "{:?}", asked.notes);
}

/// Probe, costs, cache and choice together, as the program does it.
#[test]
fn automatic_choice_goes_by_measured_costs() {
    software_gpu::run("automatic_choice_goes_by_measured_costs", "devices=2", || {
        let folder = tempfile::tempdir().unwrap();
        let cache = CostsCache::in_folder(folder.path());
        let probe = Probe::new(&SystemProvider::new());
        let driver = probe.nvml.as_ref().ok().and_then(|nvml| nvml.driver_version.clone());
        assert_eq!(driver.as_deref(), Some("550.90.07"));
        let accelerators = Accelerators { unusable: None, ..Accelerators::of(&probe) };
        assert_eq!(accelerators.devices, 2);

        let config =
            CostsConfig { elements: (256, 4096), sides: (4, 16), samples: 3, sample_time: Duration::from_micros(50) };
        let key = CostsKey::of_device(1, driver.as_deref()).unwrap();
        let mut device_costs = measure_costs(1, key, &config).unwrap();
        assert_eq!(device_costs.device_name, "Octopus software GPU (test double)");
        assert!(device_costs.launch_seconds > 0.0 && device_costs.startup_seconds > 0.0);
        assert!(device_costs.device_bytes_per_second > 0.0);
        // A call of each takes far less than a second, and is timed.
        let quick = |seconds: f64| seconds > 0.0 && seconds < 0.5;
        assert!(quick(device_costs.launch_seconds), "{}", device_costs.launch_seconds);
        for (name, cost) in &device_costs.kernels {
            assert!(
                quick(cost.cpu.seconds(1.0, 4096.0)) && quick(cost.device.seconds(1.0, 4096.0)),
                "{name}: {cost:?}"
            );
        }
        let names: Vec<_> = device_costs.kernels.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "array_axpy_f32",
                "array_axpy_f64",
                "array_dot_f32",
                "array_dot_f64",
                "array_exp_f32",
                "array_exp_f64",
                "matmul_f32",
                "matmul_f64",
            ]
        );
        // The double is no fast device; what follows needs one.
        device_costs.record(
            "sampler_f64",
            KernelCost {
                cpu: LinearCost { fixed_seconds: 0.0, unit_seconds: 1.0 },
                device: LinearCost { fixed_seconds: 0.0, unit_seconds: 1e-3 },
            },
        );
        cache.store(&device_costs).unwrap();

        let mut lookup = |ordinal| cache.load_for_device(ordinal, driver.as_deref());
        let mut automatic = |work: Work| resolve(choice("auto"), &accelerators, &work, &mut lookup).unwrap();
        let small = automatic(Work::new("a small product").step("matmul_f64", 1, 8.0).upload(2, 64).download(1, 32));
        assert_eq!(small.device, Device::Cpu);
        assert!(small.reason.starts_with("a small product: cpu, predicted "), "{}", small.reason);
        assert!(small.reason.ends_with(" on cuda:1"), "{}", small.reason);
        assert!(small.notes[0].starts_with("cuda:0 is not considered: no costs of this device yet"));
        let large = automatic(Work::new("a long run").step("sampler_f64", 1, 1e6).in_parts(4));
        assert_eq!(large.device, Device::Cuda(1), "{}", large.reason);
    });
}

#[test]
fn hidden_devices_are_not_there() {
    software_gpu::run("hidden_devices_are_not_there", "devices=2;fail=cuInit:100", || {
        let accelerators = Accelerators::of(&Probe::new(&SystemProvider::new()));
        assert_eq!(accelerators.devices, 0);
        let error = resolve(choice("cuda:1"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("--device cuda:1: no CUDA device can be used: "), "{text}");
        assert!(text.contains("100"), "{text}");
    });
}

/// The first choice measures and keeps, the second program reads.
#[test]
fn arrays_have_their_device_without_a_command_before() {
    software_gpu::run("arrays_have_their_device_without_a_command_before", "", || {
        let folder = tempfile::tempdir().unwrap();
        let cache = CostsCache::in_folder(folder.path());
        let work = |units: f64| Work::new("a product").step("array_dot_f64", 1, units);
        let mut first = AutoDevice::with_cache(cache.clone());
        let chosen = first.for_work(&work(1000.0));
        assert_eq!(chosen.device, Device::Cpu, "the software GPU is slower: {}", chosen.reason);
        assert!(chosen.reason.contains("predicted"), "{}", chosen.reason);
        let driver = Probe::new(&SystemProvider::new()).nvml.ok().and_then(|nvml| nvml.driver_version);
        let kept = cache.load_for_device(0, driver.as_deref()).unwrap();
        // Another program goes by what is kept.
        let cost = |unit_seconds| LinearCost { fixed_seconds: 0.0, unit_seconds };
        let mut other = octopus_device::DeviceCosts { startup_seconds: 1.0, ..kept };
        other.record("array_dot_f64", KernelCost { cpu: cost(1e-3), device: cost(1e-9) });
        cache.store(&other).unwrap();
        let mut second = AutoDevice::with_cache(cache.clone());
        assert_eq!(second.for_work(&work(1001.0)).device, Device::Cuda(0));
        assert_eq!(second.for_work(&work(999.0)).device, Device::Cpu);
        assert_eq!(second.for_work(&work(999.0).on_started_device()).device, Device::Cuda(0));
        // What this program knows it does not read again.
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(second.for_work(&work(1001.0)).device, Device::Cuda(0));
        let unknown = second.for_work(&Work::new("another").step("array_tan_f64", 1, 1e9));
        assert!(unknown.device == Device::Cpu && unknown.reason.contains("array_tan_f64"), "{}", unknown.reason);
    });
}
