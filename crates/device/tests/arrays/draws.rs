//! Draws on devices: the CPU's bits, in any batches, on any number of GPUs.

use crate::numbers::all_bits;
use crate::software_gpu::run;
use octopus_device::{
    Array, ArrayElement, ArrayError, BatchConfig, Device, DrawError, Engine, Scalar, draw_batches, with_device,
};
use octopus_random::{
    Beta, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, StudentT, Uniform, VonMises, WrappedNormal,
};
use octopus_softgpu::Body;

const KEY: Key = Key::new(2026);
const CONCENTRATIONS: [f64; 13] = [0.0, 1e-300, 1e-8, 1e-4, 0.1, 1.0, 5.0, 100.0, 1e4, 1e6, 1e8, 1e37, f64::INFINITY];

fn distributions<T: FloatingPoint>() -> Vec<Box<dyn Draw<T>>> {
    let number = T::from_f64;
    let mut all: Vec<Box<dyn Draw<T>>> = vec![
        Box::new(Uniform::new(number(-1.0), number(3.0)).unwrap()),
        Box::new(Normal::new(number(1.0), number(0.3)).unwrap()),
        Box::new(Exponential::new(number(1.7)).unwrap()),
        Box::new(Beta::new(number(2.5), number(1.5)).unwrap()),
        Box::new(Beta::new(number(0.2), number(3.0)).unwrap()),
        Box::new(StudentT::new(number(1.5), number(0.1), number(2.0)).unwrap()),
        Box::new(StudentT::new(number(5.0), number(0.1), number(2.0)).unwrap()),
        Box::new(WrappedNormal::new(number(3.0), number(2.0)).unwrap()),
        Box::new(WrappedNormal::new(number(3.0), number(20.0)).unwrap()),
    ];
    for shape in [0.05, 0.9, 1.0, 30.0, 1e7] {
        all.push(Box::new(Gamma::new(number(shape), number(0.7)).unwrap()));
    }
    for concentration in CONCENTRATIONS {
        all.push(Box::new(VonMises::new(number(-3.0), number(concentration)).unwrap()));
    }
    all
}

fn on_gpu_in<T: Scalar + FloatingPoint>(length: usize) {
    for distribution in distributions::<T>() {
        let mut cpu = vec![<T as ArrayElement>::ZERO; length];
        distribution.fill(KEY, 0, &mut cpu).unwrap();
        let drawn = || Array::drawn(distribution.as_ref(), KEY, length).unwrap();
        let gpu = with_device(Device::Cuda(0), || drawn().to_host().unwrap());
        let what = distribution.family();
        assert_eq!(all_bits(&cpu), all_bits(&gpu), "{what:?} in {}", <T as FloatingPoint>::NAME);
        assert_eq!(all_bits(&cpu), all_bits(&drawn().to_host().unwrap()), "{what:?} on all cores");
    }
}

/// The third allocation and the first memory that is given back, which would wait for the device, would fail.
#[test]
fn arrays_of_draws_do_not_wait_for_the_device() {
    let faults = "fail=cuMemAlloc_v2:2@3,cuMemFree_v2:700@1,cuCtxSynchronize:700@1,cuStreamSynchronize:700@1";
    run("draws::arrays_of_draws_do_not_wait_for_the_device", faults, || {
        let spread = Normal::new(0.0, 1.0).unwrap();
        with_device(Device::Cuda(0), || {
            for _ in 0..3 {
                drop(Array::<f64>::drawn(&spread, KEY, 5000).unwrap());
            }
        });
    });
}

#[test]
fn draws_give_the_cpu_s_bits() {
    run("draws::draws_give_the_cpu_s_bits", "devices=1", || {
        on_gpu_in::<f32>(70_001);
        on_gpu_in::<f64>(70_001);
    });
}

/// The kernels' PTX, in lock-step, in random orders and with all checks.
#[test]
fn draws_as_ptx_give_the_cpu_s_bits() {
    if cfg!(not(feature = "cuda")) {
        return eprintln!("SKIPPED: built without the feature `cuda`");
    }
    Body::run_as_ptx("draws::draws_as_ptx_give_the_cpu_s_bits", || {
        on_gpu_in::<f32>(3_001);
        on_gpu_in::<f64>(3_001);
    });
}

/// All batches, one after the other, and the size of the largest.
fn streamed<T: Scalar + FloatingPoint>(
    distribution: &dyn Draw<T>,
    range: std::ops::Range<u64>,
    config: &BatchConfig,
) -> Result<(Vec<T>, usize), DrawError> {
    let (mut all, mut largest) = (Vec::new(), 0);
    draw_batches(distribution, KEY, range, config, |batch: &[T]| {
        largest = largest.max(batch.len());
        all.extend_from_slice(batch);
        Ok::<(), DrawError>(())
    })?;
    Ok((all, largest))
}

fn batches_in<T: Scalar + FloatingPoint>(devices: &[Device]) {
    let first = 12_345;
    let own = VonMises::new(<T as FloatingPoint>::from_f64(0.5), <T as FloatingPoint>::from_f64(5.0)).unwrap();
    let mut whole = vec![<T as ArrayElement>::ZERO; 400_000];
    own.par_fill(KEY, first, &mut whole).unwrap();
    for memory in [2 << 20, 5 << 20, 64 << 20] {
        let config = BatchConfig { devices: devices.to_vec(), memory, threads: Some(3) };
        let (all, largest) = streamed(&own, first..first + 400_000, &config).unwrap();
        assert_eq!(all_bits(&all), all_bits(&whole), "{devices:?} {memory}");
        assert!(2 * devices.len() * largest * size_of::<T>() <= memory as usize, "{largest}");
    }
}

#[test]
fn batches_on_the_cpu_are_the_draws_in_order() {
    batches_in::<f32>(&[Device::Cpu]);
    batches_in::<f64>(&[Device::Cpu]);
}

#[test]
fn batches_of_gpus_are_the_cpu_s_draws_in_order() {
    run("draws::batches_of_gpus_are_the_cpu_s_draws_in_order", "devices=2", || {
        for devices in [&[0][..], &[1], &[0, 1]] {
            let devices: Vec<Device> = devices.iter().map(|gpu| Device::Cuda(*gpu)).collect();
            batches_in::<f32>(&devices);
            batches_in::<f64>(&devices);
        }
    });
}

/// Copies hide behind kernels, and nothing is taken before it is there: on a device that is as late as streams allow.
#[test]
fn batches_of_a_late_device_are_the_same() {
    for seed in ["devices=2;late=1", "devices=2;late=2"] {
        run("draws::batches_of_a_late_device_are_the_same", seed, || {
            batches_in::<f32>(&[Device::Cuda(0), Device::Cuda(1)]);
        });
    }
}

#[test]
fn who_takes_can_stop_and_is_told_what_failed() {
    let own = Normal::new(0.0, 1.0).unwrap();
    let config = BatchConfig { devices: vec![Device::Cpu], memory: 2 << 20, threads: None };
    let mut taken = 0;
    let stopped = draw_batches(&own, KEY, 0..1_000_000, &config, |batch: &[f64]| {
        taken += batch.len();
        if taken > 200_000 { Err(DrawError::NoDevice) } else { Ok(()) }
    });
    assert_eq!(stopped, Err(DrawError::NoDevice));
    assert!(taken < 400_000, "{taken}");
    let told = |devices: Vec<Device>, memory| {
        streamed::<f64>(&own, 0..1000, &BatchConfig { devices, memory, threads: None }).unwrap_err().to_string()
    };
    assert_eq!(told(vec![], 1 << 20), "no device was named to make draws on");
    assert!(told(vec![Device::Cpu], 100).starts_with("100 bytes of memory are too few"));
    assert_eq!(
        told(vec![Device::Cpu, Device::Cuda(0)], 1 << 22),
        "draws are made on the CPU or on GPUs, not on both at once: cpu, cuda:0 were named"
    );
}

#[test]
fn a_device_without_memory_is_an_error() {
    run("draws::a_device_without_memory_is_an_error", "devices=1;fail=cuMemAlloc_v2:2", || {
        let own = Normal::new(0.0, 1.0).unwrap();
        let config = BatchConfig { devices: vec![Device::Cuda(0)], memory: 64 << 20, threads: None };
        let error = streamed::<f64>(&own, 0..1_000_000, &config).unwrap_err();
        assert!(matches!(error, DrawError::Array(ArrayError::Cuda { .. })), "{error}");
        assert!(error.to_string().contains("memory"), "{error}");
        assert!(Engine::is_ready(0));
    });
}
