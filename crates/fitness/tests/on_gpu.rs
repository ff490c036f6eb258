//! What computes on a device, on the software GPU: every kernel, benchmarks, measured costs and the choice that goes by them.

#[path = "../../device/tests/software_gpu/mod.rs"]
mod software_gpu;

use octopus_array::Array;
use octopus_device::{
    Accelerators, AutoDevice, CostsCache, CostsKey, Device, DeviceChoice, DeviceCosts, DeviceReason, KernelCost,
    LinearCost, Probe, SystemProvider, Work, resolve,
};
use octopus_fitness::{
    BenchmarkClock, BenchmarkConfig, CostsConfig, ExactSize, benchmark_device, exact_kernels, measure_costs,
    quick_costs,
};
use software_gpu::run;
use std::time::Duration;

const GPU: Device = Device::Cuda(0);

/// What `octopus verify` runs, in its small form.
#[test]
fn every_kernel_is_run_in_every_precision() {
    run("every_kernel_is_run_in_every_precision", "", || {
        let rows = exact_kernels(0, ExactSize::Small).unwrap().rows;
        assert!(rows.iter().all(|row| row.equal() && row.n <= 16_385), "{rows:?}");
        let count = |name: &str| rows.iter().filter(|row| row.name == name).count();
        for (stem, sizes) in [("array_exp", 2), ("array_axpy", 2), ("array_sum", 4), ("array_dot", 4), ("matmul", 3)] {
            for suffix in ["f32", "f64"] {
                assert_eq!(count(&format!("{stem}_{suffix}")), sizes, "{stem}_{suffix}: {rows:?}");
            }
        }
        assert_eq!((count("random_uniform_f64"), count("random_normal_f64")), (2, 2), "{rows:?}");
    });
}

#[test]
fn benchmarks_read_the_device_s_clock() {
    run("benchmarks_read_the_device_s_clock", "devices=1", || {
        let x = Array::on(GPU, &vec![1.0; 100_000]).unwrap();
        let config = BenchmarkConfig {
            warm_up: 1,
            samples: 5,
            sample_time: Duration::from_micros(100),
            bytes: Some(2 * 8 * 100_000),
        };
        let benchmark = benchmark_device(GPU, &config, || {
            assert_eq!(Device::current(), GPU);
            x.exp().map(drop)
        })
        .unwrap();
        assert_eq!((benchmark.clock, benchmark.samples.len()), (BenchmarkClock::DeviceEvents, 5));
        assert!(benchmark.median_seconds > 0.0 && benchmark.fastest_seconds <= benchmark.median_seconds);
        assert!(benchmark.bytes_per_second.unwrap() > 0.0);
        assert_eq!(Device::current(), Device::Cpu);
    });
}

/// Probe, costs, cache and choice together, as the program does it.
#[test]
fn automatic_choice_goes_by_measured_costs() {
    run("automatic_choice_goes_by_measured_costs", "devices=2", || {
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
        let mut automatic = |work: Work| resolve(DeviceChoice::Auto, &accelerators, &work, &mut lookup).unwrap();
        let small = automatic(Work::new("a small product").step("matmul_f64", 1, 8.0).upload(2, 64).download(1, 32));
        assert_eq!(small.device, Device::Cpu);
        let why = small.why.to_string();
        assert!(why.starts_with("predicted "), "{why}");
        assert!(why.ends_with(" on cuda:1"), "{why}");
        assert!(small.notes[0].starts_with("cuda:0 is not considered: no costs of this device yet"));
        let large = automatic(Work::new("a long run").step("sampler_f64", 1, 1e6).in_parts(4));
        assert_eq!(large.device, Device::Cuda(1), "{}", large.why);
    });
}

/// The first choice measures and keeps, the second program reads.
#[test]
fn arrays_have_their_device_without_a_command_before() {
    run("arrays_have_their_device_without_a_command_before", "", || {
        let folder = tempfile::tempdir().unwrap();
        let cache = CostsCache::in_folder(folder.path());
        let work = |units: f64| Work::new("a product").step("array_dot_f64", 1, units);
        let mut first = AutoDevice::with_cache(quick_costs, cache.clone());
        let chosen = first.for_work(&work(1000.0));
        assert_eq!(chosen.device, Device::Cpu, "the software GPU is slower: {}", chosen.why);
        assert!(matches!(chosen.why, DeviceReason::Faster { .. }), "{}", chosen.why);
        let driver = Probe::new(&SystemProvider::new()).nvml.ok().and_then(|nvml| nvml.driver_version);
        let kept = cache.load_for_device(0, driver.as_deref()).unwrap();
        // Another program goes by what is kept.
        let cost = |unit_seconds| LinearCost { fixed_seconds: 0.0, unit_seconds };
        let mut other = DeviceCosts { startup_seconds: 1.0, ..kept };
        other.record("array_dot_f64", KernelCost { cpu: cost(1e-3), device: cost(1e-9) });
        cache.store(&other).unwrap();
        let mut second = AutoDevice::with_cache(quick_costs, cache.clone());
        assert_eq!(second.for_work(&work(1001.0)).device, Device::Cuda(0));
        assert_eq!(second.for_work(&work(999.0)).device, Device::Cpu);
        assert_eq!(second.for_work(&work(999.0).on_started_device()).device, Device::Cuda(0));
        // What this program knows it does not read again.
        std::fs::remove_dir_all(folder.path()).unwrap();
        assert_eq!(second.for_work(&work(1001.0)).device, Device::Cuda(0));
        let unknown = second.for_work(&Work::new("another").step("array_tan_f64", 1, 1e9));
        assert!(unknown.device == Device::Cpu && unknown.why.to_string().contains("array_tan_f64"), "{}", unknown.why);
    });
}
