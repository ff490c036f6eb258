//! The kernels, run by the software GPU, against the CPU's operations: every bit of every result.

use crate::numbers::{LENGTHS, all_bits, bits, numbers, positive};
use crate::software_gpu::run;
use octopus_array::{Array, ArrayError, Engine, Scalar};
use octopus_device::{Device, Monitor, with_device};

const GPU: Device = Device::Cuda(0);

/// An operation on both devices.
fn same<T: Scalar>(what: &str, arrays: &[&Array<T>], operation: impl Fn(&[Array<T>]) -> Result<Array<T>, ArrayError>) {
    let on = |device| arrays.iter().map(|array| array.to_device(device).unwrap()).collect::<Vec<_>>();
    let (cpu, gpu) = (operation(&on(Device::Cpu)).unwrap(), operation(&on(GPU)).unwrap());
    assert_eq!((cpu.device(), gpu.device()), (Device::Cpu, GPU), "{what}");
    assert_eq!(all_bits(&cpu.to_host().unwrap()), all_bits(&gpu.to_host().unwrap()), "{what} in {}", T::SUFFIX);
}

fn element_wise_operations_in<T: Scalar>() {
    for length in LENGTHS {
        let (x, y): (Array<T>, Array<T>) = (numbers::<T>(length, 11).into(), numbers::<T>(length, 12).into());
        let p: Array<T> = positive::<T>(length, 13).into();
        let a = T::from_f64(-1.7);
        same("add", &[&x, &y], |v| v[0].add(&v[1]));
        same("sub", &[&x, &y], |v| v[0].sub(&v[1]));
        same("mul", &[&x, &y], |v| v[0].mul(&v[1]));
        same("div", &[&x, &y], |v| v[0].div(&v[1]));
        same("scale", &[&x], |v| v[0].scale(a));
        same("axpy", &[&x, &y], |v| v[0].axpy(a, &v[1]));
        same("exp", &[&x], |v| v[0].exp());
        same("ln", &[&p], |v| v[0].ln());
        same("sqrt", &[&p], |v| v[0].sqrt());
        same("copy", &[&x], |v| v[0].to_device(v[0].device()));
    }
}

#[test]
fn element_wise_operations_give_the_cpu_s_bits() {
    run("on_gpu::element_wise_operations_give_the_cpu_s_bits", "devices=1", || {
        element_wise_operations_in::<f32>();
        element_wise_operations_in::<f64>();
    });
}

fn special_values_in<T: Scalar>() {
    let special = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1.0,
        -1.0,
        1e-42,
        1e-310,
        1e30,
        1e300,
        710.0,
        -710.0,
        88.5,
        -87.5,
    ]
    .map(T::from_f64);
    // Every pair of them.
    let x: Array<T> = special.iter().flat_map(|&x| special.map(|_| x)).collect::<Vec<_>>().into();
    let y: Array<T> = special.iter().flat_map(|_| special).collect::<Vec<_>>().into();
    same("add", &[&x, &y], |v| v[0].add(&v[1]));
    same("sub", &[&x, &y], |v| v[0].sub(&v[1]));
    same("mul", &[&x, &y], |v| v[0].mul(&v[1]));
    same("div", &[&x, &y], |v| v[0].div(&v[1]));
    same("axpy", &[&x, &y], |v| v[0].axpy(T::from_f64(0.5), &v[1]));
    same("exp", &[&x], |v| v[0].exp());
    same("ln", &[&x], |v| v[0].ln());
    same("sqrt", &[&x], |v| v[0].sqrt());
    // Zeros of both signs in either order: the first of equals stays.
    for pair in [[0.0, -0.0], [-0.0, 0.0]] {
        let x: Array<T> = pair.map(T::from_f64).to_vec().into();
        let gpu = x.to_device(GPU).unwrap();
        assert_eq!(bits(gpu.min().unwrap()), bits(x.min().unwrap()));
        assert_eq!(bits(gpu.max().unwrap()), bits(x.max().unwrap()));
        assert_eq!(bits(gpu.sum().unwrap()), bits(x.sum().unwrap()));
    }
}

#[test]
fn special_values_give_the_cpu_s_bits() {
    run("on_gpu::special_values_give_the_cpu_s_bits", "devices=1", || {
        special_values_in::<f32>();
        special_values_in::<f64>();
    });
}

fn reductions_in<T: Scalar>() {
    for length in LENGTHS.into_iter().chain([3 * 16_384 + 300]) {
        let (x, y): (Array<T>, Array<T>) = (numbers::<T>(length, 21).into(), numbers::<T>(length, 22).into());
        let (gx, gy) = (x.to_device(GPU).unwrap(), y.to_device(GPU).unwrap());
        let pairs = [
            ("sum", x.sum().unwrap(), gx.sum().unwrap()),
            ("dot", x.dot(&y).unwrap(), gx.dot(&gy).unwrap()),
            ("min", x.min().unwrap(), gx.min().unwrap()),
            ("max", x.max().unwrap(), gx.max().unwrap()),
        ];
        for (what, cpu, gpu) in pairs {
            assert_eq!(bits(cpu), bits(gpu), "{what} of {length} in {}: {cpu} {gpu}", T::SUFFIX);
        }
        if length > 0 {
            let mut with_nan = x.to_host().unwrap();
            with_nan[2 * length / 3] = T::from_f64(f64::NAN);
            let gpu = Array::on(GPU, &with_nan).unwrap();
            assert!(gpu.min().unwrap().to_f64().is_nan() && gpu.max().unwrap().to_f64().is_nan());
        }
    }
}

#[test]
fn reductions_give_the_cpu_s_bits() {
    run("on_gpu::reductions_give_the_cpu_s_bits", "devices=1", || {
        reductions_in::<f32>();
        reductions_in::<f64>();
    });
}

fn products_in<T: Scalar>() {
    for (m, k, n) in [(1, 1, 1), (2, 3, 4), (16, 16, 16), (17, 5, 31), (33, 40, 15), (1, 300, 2), (5, 0, 3), (0, 4, 4)]
    {
        let a = Array::from_shape((m, k), &numbers::<T>(m * k, 31)).unwrap();
        let b = Array::from_shape((k, n), &numbers::<T>(k * n, 32)).unwrap();
        let cpu = a.matmul(&b).unwrap();
        let gpu = a.to_device(GPU).unwrap().matmul(&b.to_device(GPU).unwrap()).unwrap();
        assert_eq!((gpu.device(), gpu.shape().sides()), (GPU, (m, n)));
        assert_eq!(all_bits(&cpu.to_host().unwrap()), all_bits(&gpu.to_host().unwrap()), "{m} x {k} x {n}");
    }
}

#[test]
fn products_give_the_cpu_s_bits() {
    run("on_gpu::products_give_the_cpu_s_bits", "devices=1", || {
        products_in::<f32>();
        products_in::<f64>();
    });
}

#[test]
fn arrays_come_and_go_between_devices() {
    run("on_gpu::arrays_come_and_go_between_devices", "devices=2", || {
        let x = numbers::<f64>(1000, 41);
        let second = Device::Cuda(1);
        let chain = Array::on(GPU, &x).unwrap().to_device(second).unwrap();
        assert_eq!(chain.device(), second);
        assert_eq!(all_bits(&chain.to_device(Device::Cpu).unwrap().to_host().unwrap()), all_bits(&x));
        with_device(second, || {
            let filled = Array::full(5, 2.5_f32).unwrap();
            assert_eq!((filled.device(), filled.to_host().unwrap()), (second, vec![2.5; 5]));
        });
        let mixed = Array::on(GPU, &x).unwrap().add(&chain).unwrap_err();
        assert_eq!(mixed.to_string(), "add: one array is on cuda:0 and the other on cuda:1; copy one with `to_device`");
        let mixed = Array::from(x).dot(&chain).unwrap_err();
        assert!(matches!(mixed, ArrayError::Devices { left: Device::Cpu, .. }));
        let beyond = Array::on(Device::Cuda(2), &[1.0]).unwrap_err().to_string();
        assert!(beyond.contains("no CUDA device 2") && beyond.contains("shows 2"), "{beyond}");
        assert!(Engine::is_ready(0) && Engine::is_ready(1) && !Engine::is_ready(2));
        let engine = format!("{:?}", Engine::of(1).unwrap());
        assert!(engine.starts_with("Engine { device: Cuda(1), startup: "), "{engine}");
    });
}

#[test]
fn threads_share_a_device() {
    run("on_gpu::threads_share_a_device", "devices=1", || {
        let sums: Vec<f64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|seed| {
                    scope.spawn(move || {
                        let x = numbers::<f64>(2000, seed);
                        with_device(GPU, || Array::from_slice(&x)?.exp()?.ln()?.sum()).unwrap()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (seed, sum) in sums.into_iter().enumerate() {
            let x: Array<f64> = numbers::<f64>(2000, seed as u64).into();
            assert_eq!(bits(sum), bits(x.exp().unwrap().ln().unwrap().sum().unwrap()));
        }
    });
}

#[test]
fn a_lost_device_says_so_again_and_the_cpu_goes_on() {
    run("on_gpu::a_lost_device_says_so_again_and_the_cpu_goes_on", "devices=1;sticky=700@2", || {
        let x = Array::on(GPU, &[1.0, 2.0, 3.0]).unwrap();
        let lost = |error: ArrayError| error.cuda().and_then(octopus_cuda::CudaError::code).map(|code| code.0);
        let first = x.sum().and_then(|_| x.exp()?.to_host()).unwrap_err();
        assert_eq!(lost(first), Some(700));
        assert_eq!(lost(x.sum().unwrap_err()), Some(700));
        assert_eq!(lost(Array::on(GPU, &[1.0]).unwrap_err()), Some(700));
        assert_eq!(lost(x.synchronize().unwrap_err()), Some(700));
        assert_eq!(Array::from(vec![1.0, 2.0]).sum().unwrap(), 3.0);
    });
}

#[test]
fn a_monitor_counts_memory_and_copies() {
    run("on_gpu::a_monitor_counts_memory_and_copies", "devices=1;total_mb=8192;free_mb=8000", || {
        let before = Array::on(GPU, &[0.0_f64; 1000]).unwrap();
        let monitor = Monitor::start(GPU).unwrap();
        let x = Array::on(GPU, &vec![1.0_f64; 50_000]).unwrap();
        let y = x.scale(2.0).unwrap();
        assert_eq!(y.to_host().unwrap(), vec![2.0; 50_000]);
        // A copy on the same device stays there.
        let z = y.to_device(GPU).unwrap();
        drop((x, y, z));
        let usage = monitor.usage();
        assert_eq!(usage.peak_bytes, 8 * (1000 + 3 * 50_000));
        assert_eq!(usage.transferred_bytes, 2 * 8 * 50_000);
        assert_eq!(usage.total_bytes, 8192 << 20);
        assert!(usage.launches >= 1 && usage.transfer_seconds > 0.0 && usage.memory_share().unwrap() > 0.0);
        let text = serde_json::to_string(&usage).unwrap();
        assert!(text.contains("\"device\":\"cuda:0\""), "{text}");
        assert_eq!(serde_json::from_str::<octopus_device::DeviceUsage>(&text).unwrap(), usage);
        // A second monitor starts from what is held, which is also what is kept for later arrays.
        drop(before);
        assert_eq!(Monitor::start(GPU).unwrap().usage().peak_bytes, 8 * (1000 + 3 * 50_000));
        assert_eq!(Engine::of(0).unwrap().trim(), 8 * (1000 + 3 * 50_000));
        assert_eq!(Engine::of(0).unwrap().trim(), 0);
        assert_eq!(Monitor::start(GPU).unwrap().usage().peak_bytes, 0);
    });
}

/// The fourth allocation, the first memory that is given back and the first that is cleared would fail.
#[test]
fn a_loop_over_arrays_does_not_ask_the_driver_for_memory() {
    let faults = "fail=cuMemAlloc_v2:2@4,cuMemFree_v2:700@1,cuMemsetD8_v2:700@1";
    run("on_gpu::a_loop_over_arrays_does_not_ask_the_driver_for_memory", faults, || {
        let ones = vec![1.0_f64; 5000];
        let x = Array::on(GPU, &ones).unwrap();
        let mut y = x.scale(2.0).unwrap();
        for _ in 0..50 {
            // The new one, while the old one is still there; then the old one's memory is the next one's.
            y = y.axpy(0.5, &x).unwrap();
        }
        assert!(y.to_host().unwrap().iter().all(|&y| (y - 2.0).abs() < 1e-12));
        // Numbers of the last owner do not show: whoever takes memory fills it.
        drop(y);
        with_device(GPU, || assert_eq!(Array::full(5000, 7.0_f64).unwrap().to_host().unwrap(), vec![7.0; 5000]));
    });
}

#[test]
fn memory_in_use_is_not_counted_as_kept() {
    run("on_gpu::memory_in_use_is_not_counted_as_kept", "", || {
        let of = || Array::on(GPU, &[1.0_f64; 1000]).unwrap();
        let engine = Engine::of(0).unwrap();
        assert!(engine.startup() > std::time::Duration::ZERO, "this process has started the driver");
        let kept = of();
        drop((of(), kept));
        let taken = of();
        assert_eq!(engine.trim(), 8000, "one of two is taken again");
        drop(taken);
        assert_eq!(engine.trim(), 8000);
    });
}

/// Where nothing is kept that could be given back, a second try is no use.
#[test]
fn the_driver_is_asked_once_for_memory_that_it_does_not_have() {
    let name = "on_gpu::the_driver_is_asked_once_for_memory_that_it_does_not_have";
    run(name, "fail=cuMemAlloc_v2:2@1", || {
        let of = || Array::on(GPU, &[1.0_f64; 100]);
        let error = of().unwrap_err().to_string();
        assert!(error.contains("out of memory"), "{error}");
        assert!(of().is_ok());
    });
}

#[test]
fn memory_that_is_kept_serves_arrays_of_other_lengths_where_there_is_no_more() {
    run("on_gpu::memory_that_is_kept_serves_arrays_of_other_lengths_where_there_is_no_more", "", || {
        octopus_device::limit_device_memory(8 << 20);
        let of = |length: usize| Array::on(GPU, &vec![1.5_f32; length]);
        // Six MiB are kept, of eight.
        drop((of(3 << 18).unwrap(), of(3 << 18).unwrap()));
        assert_eq!(of(1 << 20).unwrap().sum().unwrap(), 1.5 * f32::from_bits(0x4980_0000));
        let error = of(3 << 20).unwrap_err().to_string();
        assert!(error.contains("out of memory"), "{error}");
    });
}

#[test]
fn a_device_keeps_a_sixteenth_of_its_memory() {
    run("on_gpu::a_device_keeps_a_sixteenth_of_its_memory", "total_mb=64;free_mb=60", || {
        let of = |mebibytes: usize| Array::on(GPU, &vec![0.0_f64; mebibytes << 17]).unwrap();
        drop(of(4));
        assert_eq!(Engine::of(0).unwrap().trim(), 4 << 20);
        drop((of(3), of(1)));
        assert_eq!(Engine::of(0).unwrap().trim(), 4 << 20);
        // What is kept makes room for what comes.
        drop((of(3), of(2)));
        assert_eq!(Engine::of(0).unwrap().trim(), 2 << 20);
        drop(Array::on(GPU, &vec![0.0_f64; (4 << 17) + 1]).unwrap());
        assert_eq!(Engine::of(0).unwrap().trim(), 0);
    });
}

#[test]
fn an_engine_is_let_go_when_nobody_uses_it() {
    run("on_gpu::an_engine_is_let_go_when_nobody_uses_it", "", || {
        assert!(Engine::release(0), "there is none yet");
        let x = Array::on(GPU, &[1.0_f64, 2.0]).unwrap();
        assert!(!Engine::release(0) && Engine::is_ready(0));
        drop(x);
        let engine = Engine::of(0).unwrap();
        assert!(!Engine::release(0));
        drop(engine);
        assert!(Engine::release(0) && !Engine::is_ready(0));
        assert_eq!(Array::on(GPU, &[1.0_f64, 2.0]).unwrap().sum().unwrap(), 3.0);
    });
}
