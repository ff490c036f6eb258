//! Kernels that are right give what a GPU would give.

use super::scenario::scenario;
use super::session::Parameter::{F32, I32, U32, U64};
use super::session::{Shape, allocate, exercise, launch, ready, shape, to_device, to_host};
use crate::Settings;
use crate::ffi::Double;

fn wait(driver: &Double) {
    assert_eq!(driver.synchronize(), 0);
}

scenario!(a_grid_does_a_whole_array, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "add_number");
    for n in [0, 1, 255, 100_001] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let (input, output) = (to_device(&driver, &[x.clone(), vec![0.0]].concat()), allocate(&driver, 4 * (n + 1)));
        for blocks in [1, 7, 1000] {
            let parameters = [U64(input), F32(0.5), U64(output), U64(n as u64)];
            assert_eq!(launch(&driver, function, shape(blocks, 256), &parameters), 0);
            wait(&driver);
            let found = to_host::<f32>(&driver, output, n + 1);
            assert!(found[..n].iter().zip(&x).all(|(a, b)| *a == b + 0.5), "{n} {blocks}");
            assert!(found[n].is_nan());
        }
    }
});

/// The halving tree of 32 numbers.
fn tree(mut x: Vec<f64>) -> f64 {
    while x.len() > 1 {
        let (low, high) = x.split_at(x.len() / 2);
        x = low.iter().zip(high).map(|(a, b)| a + b).collect();
    }
    x[0]
}

scenario!(warps_sum_in_the_trees_order, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "warp_sum");
    let x: Vec<f64> = (0..4096).map(|i| (f64::from(i) * 0.7).sin() * 10_f64.powi(i % 9)).collect();
    let (input, output) = (to_device(&driver, &x), allocate(&driver, 8 * 4096));
    for block in [32, 64, 1024] {
        assert_eq!(launch(&driver, function, shape(4096 / block, block), &[U64(input), U64(output)]), 0);
        let found: Vec<f64> = to_host(&driver, output, 4096);
        for (warp, numbers) in x.chunks(32).enumerate() {
            let expected = tree(numbers.to_vec()).to_bits();
            assert!(
                found[32 * warp..][..32].iter().all(|sum| sum.to_bits() == expected),
                "warp {warp} of blocks of {block}"
            );
        }
    }
});

scenario!(every_shuffle_reads_its_lane, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "shuffles");
    let output = allocate(&driver, 64 * 6 * 4);
    assert_eq!(launch(&driver, function, shape(1, 64), &[U64(output)]), 0);
    let found: Vec<i32> = to_host(&driver, output, 64 * 6);
    let votes = (0..32).filter(|lane| lane % 3 == 0).fold(0, |bits, lane| bits | 1 << lane);
    for thread in 0..64 {
        let lane = thread % 32;
        let up = if lane % 16 >= 3 { lane - 3 } else { lane };
        let down = if lane + 3 < 32 { lane + 3 } else { lane };
        let expected = [50, lane / 8 * 80 + 20, up, down, votes, 3];
        assert_eq!(found[thread as usize * 6..][..6], expected, "thread {thread}");
    }
});

scenario!(parts_of_a_warp_go_their_own_ways, Settings::new(), || {
    let driver = ready();
    let output = allocate(&driver, 32 * 4);
    assert_eq!(launch(&driver, exercise(&driver, "half_warps"), shape(1, 32), &[U64(output)]), 0);
    wait(&driver);
    let expected = [[120; 16], [20; 16]].concat();
    assert_eq!(to_host::<i32>(&driver, output, 32), expected);
});

scenario!(barriers_hold_whole_blocks, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "turn_round");
    for block in [1, 33, 256, 1000, 1024] {
        let x: Vec<f32> = (0..block * 20).map(|i| i as f32).collect();
        let (input, output) = (to_device(&driver, &x), allocate(&driver, 4 * x.len()));
        for times in [1, 2, 51] {
            let parameters = [U64(input), U64(output), I32(times)];
            assert_eq!(launch(&driver, function, shape(20, block as u32), &parameters), 0);
            wait(&driver);
            let mut expected = x.clone();
            if times % 2 == 1 {
                expected.chunks_mut(block).for_each(<[f32]>::reverse);
            }
            assert_eq!(to_host::<f32>(&driver, output, x.len()), expected, "blocks of {block}, {times} times");
        }
    }
});

scenario!(dynamic_shared_memory, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "running_sum");
    let x: Vec<f64> = (1..=512).map(f64::from).collect();
    let (input, output) = (to_device(&driver, &x), allocate(&driver, 8 * 512));
    let shape = Shape { shared: 8 * 512, ..shape(3, 512) };
    assert_eq!(launch(&driver, function, shape, &[U64(input), U64(output), U32(512), U32(0)]), 0);
    let found: Vec<f64> = to_host(&driver, output, 512);
    assert!((1..=512_u32).zip(found).all(|(i, sum)| sum == f64::from(i * (i + 1) / 2)));
});

scenario!(more_dynamic_shared_memory_must_be_asked_for, Settings::new(), || {
    let driver = ready();
    let function = exercise(&driver, "running_sum");
    let x = to_device(&driver, &vec![1.0_f64; 12_000]);
    let output = allocate(&driver, 8 * 1024);
    let parameters = [U64(x), U64(output), U32(12_000), U32(0)];
    let shape = Shape { shared: 96_000, ..shape(1, 1024) };
    assert_eq!(launch(&driver, function, shape, &parameters), 1);
    assert_eq!(driver.set_function_attribute(function, 8, 120_000), 1);
    assert_eq!(driver.set_function_attribute(function, 8, 96_000), 0);
    assert_eq!(launch(&driver, function, shape, &parameters), 0);
    assert_eq!(to_host::<f64>(&driver, output, 1024)[1023], 1024.0);
});

scenario!(grids_and_blocks_have_three_dimensions, Settings::new(), || {
    let driver = ready();
    let ([gx, gy, gz], [bx, by, bz]) = ([3, 4, 2], [5, 2, 7]);
    let count = gx * gy * gz * bx * by * bz * 6;
    let output = allocate(&driver, 4 * count as usize);
    let shape = Shape { grid: [gx, gy, gz], block: [bx, by, bz], shared: 0 };
    assert_eq!(launch(&driver, exercise(&driver, "coordinates"), shape, &[U64(output)]), 0);
    let mut expected = Vec::new();
    for (block_z, block_y, block_x) in (0..gz).flat_map(|z| (0..gy).flat_map(move |y| (0..gx).map(move |x| (z, y, x))))
    {
        for (z, y, x) in (0..bz).flat_map(|z| (0..by).flat_map(move |y| (0..bx).map(move |x| (z, y, x)))) {
            expected.extend([block_x, block_y, block_z, x, y, z]);
        }
    }
    assert_eq!(to_host::<u32>(&driver, output, count as usize), expected);
});

scenario!(atomics_lose_nothing, Settings::new().threads(4), || {
    let driver = ready();
    let counters = to_device(&driver, &[0_u32; 7]);
    let (sum, most) = (to_device(&driver, &[0.0_f64]), to_device(&driver, &[-1_i32]));
    let parameters = [U64(counters), U64(sum), U64(most)];
    assert_eq!(launch(&driver, exercise(&driver, "count_up"), shape(2_000, 70), &parameters), 0);
    assert_eq!(to_host::<u32>(&driver, counters, 7), [20_000; 7]);
    assert_eq!(to_host::<f64>(&driver, sum, 1), [70_000.0]);
    assert_eq!(to_host::<i32>(&driver, most, 1), [1_999]);
});

scenario!(shared_memory_is_new_in_each_block, Settings::new(), || {
    let driver = ready();
    let output = allocate(&driver, 4 * 6400);
    assert_eq!(launch(&driver, exercise(&driver, "unwritten_shared"), shape(100, 64), &[U64(output)]), 0);
    assert!(to_host::<f32>(&driver, output, 6400).iter().all(|x| x.is_nan()));
});

/// Multiplies in tiles, and holds every bit to the plain loop.
fn product(driver: &Double, n: usize) {
    let a: Vec<f32> = (0..n * n).map(|i| (i as f32 * 0.37).sin()).collect();
    let b: Vec<f32> = (0..n * n).map(|i| (i as f32 * 0.11).cos()).collect();
    let (x, y, z) = (to_device(driver, &a), to_device(driver, &b), allocate(driver, 4 * n * n));
    let blocks = n.div_ceil(16) as u32;
    let shape = Shape { grid: [blocks, blocks, 1], block: [16, 16, 1], shared: 0 };
    let parameters = [U64(x), U64(y), U64(z), U32(n as u32)];
    assert_eq!(launch(driver, exercise(driver, "multiply"), shape, &parameters), 0);
    let found: Vec<f32> = to_host(driver, z, n * n);
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let expected = (0..n).fold(0.0_f32, |sum, k| sum + a[i * n + k] * b[k * n + j]);
        assert_eq!(found[i * n + j].to_bits(), expected.to_bits(), "{i} {j}");
    }
}

scenario!(a_product_on_one_thread, Settings::new().threads(1), || product(&ready(), 100));

scenario!(a_product_on_eight_threads, Settings::new().threads(8), || {
    let driver = ready();
    (0..10).for_each(|_| product(&driver, 100));
});

scenario!(host_threads_may_launch_together, Settings::new().threads(2), || {
    let driver = ready();
    let mut context = 0;
    assert_eq!(driver.current(&mut context), 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(driver.set_current(context), 0);
                product(&driver, 70);
            });
        }
    });
});
