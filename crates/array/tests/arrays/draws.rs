//! Draws on devices: the CPU's bits, in any batches, on any number of GPUs.

use crate::numbers::all_bits;
use crate::software_gpu::run;
use octopus_array::{
    Array, ArrayError, ArrayShape, BatchConfig, DrawError, Engine, Scalar, draw_batches, draw_batches_onto,
};
use octopus_device::{Device, with_device};
use octopus_random::{
    Beta, BroadcastParameter, Draw, Exponential, FloatingPoint, Gamma, Key, Normal, StudentT, Uniform, VonMises,
    VonMisesFisher, WrappedNormal, sample_von_mises,
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
    // Angles of 0, which have a sign.
    all.push(Box::new(VonMises::new(number(-0.0), number(f64::INFINITY)).unwrap()));
    all
}

/// Unit vectors around a direction that is no axis.
fn vectors<T: FloatingPoint>(dimensions: &[usize]) -> Vec<VonMisesFisher<T>> {
    let direction = |dimensions| (0..dimensions).map(|place| T::from_f64(f64::from(place) * 0.7 - 1.9)).collect();
    let around = |dimensions: &usize| -> Vec<T> { direction(*dimensions as u32) };
    let pairs = dimensions.iter().flat_map(|own| CONCENTRATIONS.iter().map(move |c| (own, *c)));
    pairs.map(|(own, c)| VonMisesFisher::new(&around(own), T::from_f64(c)).unwrap()).collect()
}

fn vectors_on_gpu_in<T: Scalar>(rows: usize, dimensions: &[usize]) {
    for own in vectors::<T>(dimensions) {
        let shape = (rows, own.dimensions());
        let mut cpu = vec![T::ZERO; rows * own.dimensions()];
        own.fill(KEY, 0, &mut cpu).unwrap();
        let drawn = || Array::drawn(&own, KEY, shape).unwrap();
        let gpu = with_device(Device::Cuda(0), || drawn().to_host().unwrap());
        assert_eq!(all_bits(&cpu), all_bits(&gpu), "{} in {shape:?}", own.concentration());
        assert_eq!(all_bits(&cpu), all_bits(&drawn().to_host().unwrap()), "{shape:?} on all cores");
    }
}

fn on_gpu_in<T: Scalar>(length: usize) {
    for distribution in distributions::<T>() {
        let mut cpu = vec![T::ZERO; length];
        distribution.fill(KEY, 0, &mut cpu).unwrap();
        let drawn = || Array::drawn(distribution.as_ref(), KEY, length).unwrap();
        let gpu = with_device(Device::Cuda(0), || drawn().to_host().unwrap());
        let what = distribution.family();
        assert_eq!(all_bits(&cpu), all_bits(&gpu), "{what:?} in {}", T::NAME);
        assert_eq!(all_bits(&cpu), all_bits(&drawn().to_host().unwrap()), "{what:?} on all cores");
    }
}

/// Draws from other numbers on than the first of the 64 that share blocks of random words.
fn from_within_a_block_in<T: Scalar>() {
    let config = BatchConfig { devices: vec![Device::Cuda(0)], memory: 2 << 20, threads: None };
    for distribution in distributions::<T>() {
        for (first, length) in [(1, 700), (40, 20), (12_345, 131), (u64::MAX - 500, 500)] {
            let mut cpu = vec![T::ZERO; length];
            distribution.fill(KEY, first, &mut cpu).unwrap();
            let (gpu, _) = streamed(distribution.as_ref(), first..first + length as u64, &config).unwrap();
            assert_eq!(all_bits(&cpu), all_bits(&gpu), "{:?} from {first} on", distribution.family());
        }
    }
}

/// Von Mises draws with parameters of their own, in vectors and matrices: on every device those of `sample_von_mises`.
fn with_parameters_in<T: Scalar>() {
    let number = T::from_f64;
    let array = |shape: ArrayShape, elements: &[T]| Array::from_shape(shape, elements).unwrap();
    for (shape, of_loc, of_concentration) in [
        (ArrayShape::from(1300), ArrayShape::from(1), ArrayShape::from(1300)),
        (1300.into(), 1300.into(), 1.into()),
        ((700, 3).into(), 3.into(), (700, 1).into()),
        ((3, 700).into(), (3, 1).into(), (3, 700).into()),
        ((1300, 1).into(), (1300, 1).into(), (1, 1).into()),
        ((0, 3).into(), 3.into(), 1.into()),
    ] {
        let length = |shape: ArrayShape| shape.sides().0 * shape.sides().1;
        // Beyond the circle, exactly where it ends in either type, and within.
        let locs: Vec<T> = (0..length(of_loc)).map(|i| number(std::f64::consts::PI * (i as f64 - 4.0) / 4.0)).collect();
        let concentrations = (0..length(of_concentration)).map(|i| number(CONCENTRATIONS[i % CONCENTRATIONS.len()]));
        let concentrations: Vec<T> = concentrations.collect();
        let sides = |shape: ArrayShape| match shape {
            ArrayShape::Vector(length) => vec![length],
            ArrayShape::Matrix(rows, columns) => vec![rows, columns],
        };
        let (own, other) = (sides(of_loc), sides(of_concentration));
        let loc = BroadcastParameter::new(&locs, &own).unwrap();
        let concentration = BroadcastParameter::new(&concentrations, &other).unwrap();
        let expected = sample_von_mises(KEY, loc, concentration, &sides(shape)).unwrap();
        for device in [Device::Cpu, Device::Cuda(0)] {
            let drawn = with_device(device, || {
                let (loc, concentration) = (array(of_loc, &locs), array(of_concentration, &concentrations));
                Array::drawn_von_mises(&loc, &concentration, KEY, shape).unwrap()
            });
            assert_eq!((drawn.shape(), drawn.device()), (shape, device));
            assert_eq!(all_bits(&expected), all_bits(&drawn.to_host().unwrap()), "{shape} on {device}");
        }
    }
}

#[test]
fn draws_have_parameters_of_their_own() {
    run("draws::draws_have_parameters_of_their_own", "devices=1", || {
        with_parameters_in::<f32>();
        with_parameters_in::<f64>();
        for device in [Device::Cpu, Device::Cuda(0)] {
            with_device(device, refuse_parameters);
        }
        let (here, there) = (Array::full(2, 1.0).unwrap(), Array::on(Device::Cuda(0), &[1.0, 2.0]).unwrap());
        let error = Array::drawn_von_mises(&here, &there, KEY, 2).unwrap_err();
        let words = "drawn_von_mises: one array is on cpu and the other on cuda:0; copy one with `to_device`";
        assert_eq!(error.to_string(), words);
    });
}

/// Parameters without draws are the same errors on every device.
fn refuse_parameters() {
    let drawn = |loc: &[f64], concentration: &[f64], shape: ArrayShape| {
        let array = |elements| Array::from_slice(elements).unwrap();
        Array::drawn_von_mises(&array(loc), &array(concentration), KEY, shape).unwrap_err().to_string()
    };
    let two = (5, 2).into();
    assert_eq!(drawn(&[0.0], &[1.0, -0.5], two), "von Mises: concentration is -0.5; it must be at least 0");
    assert_eq!(drawn(&[0.0], &[f64::NAN, 1.0], two), "von Mises: concentration is NaN; it must be at least 0");
    assert_eq!(drawn(&[4.0, f64::INFINITY], &[1.0], two), "von Mises: loc is inf; it must be a finite number");
    assert_eq!(drawn(&[f64::NAN], &[1.0], two), "von Mises: loc is NaN; it must be a finite number");
    assert_eq!(drawn(&[0.0; 5], &[1.0], two), "loc of shape (5,) cannot be broadcast to draws of shape (5, 2)");
    // The parameters' shape does not make that of the draws larger.
    assert_eq!(
        drawn(&[0.0], &[1.0; 3], 1.into()),
        "concentration of shape (3,) cannot be broadcast to draws of shape (1,)"
    );
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
        from_within_a_block_in::<f32>();
        from_within_a_block_in::<f64>();
        vectors_on_gpu_in::<f32>(10_001, &[2, 3, 4, 10, 100]);
        vectors_on_gpu_in::<f64>(10_001, &[2, 3, 4, 10, 100]);
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
        from_within_a_block_in::<f32>();
        from_within_a_block_in::<f64>();
        with_parameters_in::<f32>();
        with_parameters_in::<f64>();
        vectors_on_gpu_in::<f32>(701, &[2, 3, 10]);
        vectors_on_gpu_in::<f64>(701, &[2, 3, 10]);
    });
}

/// All batches, one after the other, and the size of the largest.
fn streamed<T: Scalar>(
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

fn batches_in<T: Scalar>(devices: &[Device]) {
    let first = 12_345;
    let own = VonMises::new(T::from_f64(0.5), T::from_f64(5.0)).unwrap();
    let mut whole = vec![T::ZERO; 400_000];
    own.par_fill(KEY, first, &mut whole).unwrap();
    for memory in [2 << 20, 5 << 20, 64 << 20] {
        let config = BatchConfig { devices: devices.to_vec(), memory, threads: Some(3) };
        let (all, largest) = streamed(&own, first..first + 400_000, &config).unwrap();
        assert_eq!(all_bits(&all), all_bits(&whole), "{devices:?} {memory}");
        assert!(2 * devices.len() * largest * size_of::<T>() <= memory as usize, "{largest}");
    }
}

/// Batches of vectors end where vectors do.
fn rows_in<T: Scalar>(devices: &[Device]) {
    let first = 12_345;
    for own in vectors::<T>(&[3, 7]).iter().step_by(4) {
        let mut whole = vec![T::ZERO; 100_000 * own.dimensions()];
        own.par_fill(KEY, first, &mut whole).unwrap();
        for memory in [2 << 20, 5 << 20] {
            let config = BatchConfig { devices: devices.to_vec(), memory, threads: Some(3) };
            let (all, largest) = streamed(own, first..first + 100_000, &config).unwrap();
            assert_eq!(all_bits(&all), all_bits(&whole), "{devices:?} {memory}");
            assert!(largest.is_multiple_of(own.dimensions()));
            assert!(2 * devices.len() * largest * size_of::<T>() <= memory as usize, "{largest}");
        }
    }
}

#[test]
fn batches_on_the_cpu_are_the_draws_in_order() {
    batches_in::<f32>(&[Device::Cpu]);
    batches_in::<f64>(&[Device::Cpu]);
    rows_in::<f32>(&[Device::Cpu]);
    rows_in::<f64>(&[Device::Cpu]);
}

#[test]
fn vectors_are_the_rows_of_a_matrix() {
    let own = VonMisesFisher::new(&[0.0f32, 0.0, 1.0], 5.0).unwrap();
    let told = |shape: octopus_array::ArrayShape| Array::drawn(&own, KEY, shape).unwrap_err().to_string();
    let words = "draws of 3 numbers are the rows of a matrix with as many columns, which shape";
    assert_eq!(told(6.into()), format!("{words} (6,) is not"));
    assert_eq!(told((3, 2).into()), format!("{words} (3, 2) is not"));
}

#[test]
fn batches_of_gpus_are_the_cpu_s_draws_in_order() {
    run("draws::batches_of_gpus_are_the_cpu_s_draws_in_order", "devices=2", || {
        for devices in [&[0][..], &[1], &[0, 1]] {
            let devices: Vec<Device> = devices.iter().map(|gpu| Device::Cuda(*gpu)).collect();
            batches_in::<f32>(&devices);
            batches_in::<f64>(&devices);
            rows_in::<f32>(&devices);
            rows_in::<f64>(&devices);
        }
    });
}

/// Copies hide behind kernels, and nothing is taken before it is there: on a device that is as late as streams allow.
/// One device draws, and another one reduces: what it gets is in order, on it, and the CPU's sums come out.
#[test]
fn one_device_draws_and_another_reduces() {
    let sums = |draws_on: Device, sums_on: Device| {
        let config = BatchConfig { devices: vec![draws_on], memory: 1 << 20, threads: None };
        let mut sums = Vec::new();
        let normal = Normal::new(0.0, 1.0).unwrap();
        let drawn = draw_batches_onto(sums_on, &normal, KEY, 7..200_000, &config, |batch: Array<f64>| {
            assert_eq!((batch.device(), Device::current()), (sums_on, sums_on));
            sums.push((batch.len(), batch.dot(&batch)?, batch.sum_axis(0)?.to_host()?[0]));
            Ok::<(), DrawError>(())
        });
        drawn.map(|()| sums)
    };
    run("draws::one_device_draws_and_another_reduces", "devices=2;late=11", move || {
        let on_cpu = sums(Device::Cpu, Device::Cpu).unwrap();
        assert_eq!(on_cpu.iter().map(|sum| sum.0).collect::<Vec<_>>(), [65_529, 65_536, 65_536, 3_392]);
        let mean_square = on_cpu.iter().map(|sum| sum.1).sum::<f64>() / 199_993.0;
        assert!((mean_square - 1.0).abs() < 4.0 * (2.0f64 / 199_993.0).sqrt(), "{mean_square}");
        for (draws_on, sums_on) in [(0, Some(1)), (1, Some(0)), (0, Some(0)), (1, None)] {
            let sums_on = sums_on.map_or(Device::Cpu, Device::Cuda);
            assert_eq!(sums(Device::Cuda(draws_on), sums_on).unwrap(), on_cpu, "{draws_on} to {sums_on}");
        }
        let absent = sums(Device::Cuda(0), Device::Cuda(2)).unwrap_err();
        assert!(absent.to_string().contains("cuda:2"), "{absent}");
    });
}

#[test]
fn batches_of_a_late_device_are_the_same() {
    for seed in ["devices=2;late=1", "devices=2;late=2"] {
        run("draws::batches_of_a_late_device_are_the_same", seed, || {
            batches_in::<f32>(&[Device::Cuda(0), Device::Cuda(1)]);
            rows_in::<f64>(&[Device::Cuda(0), Device::Cuda(1)]);
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
