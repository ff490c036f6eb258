//! Blocks that run side by side and wait for each other.

use super::scenario::{Scenario, must_succeed, scenario};
use super::session::Parameter::{I32, U32, U64};
use super::session::{Shape, allocate, exercise, launch, launch_together, ready, shape, to_device, to_host};
use crate::ffi::{Code, Double};
use crate::{Settings, Variant};
use std::time::{Duration, Instant};

/// The ring of `relaxes`, with a plain loop: the numbers after the last round, and the sums of all rounds.
fn relaxed(mut x: Vec<f64>, rounds: usize) -> (Vec<f64>, Vec<f64>) {
    let count = x.len();
    let mut sums = vec![0.0; count];
    for _ in 0..rounds {
        x = (0..count).map(|i| 0.5 * (x[(i + 1) % count] + x[(i + count - 1) % count]) + 0.001 * i as f64).collect();
        sums.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
    }
    (x, sums)
}

fn relaxes(driver: &Double, how: Shape, rounds: usize) {
    let kernel = exercise(driver, "relaxes");
    let blocks = how.grid[0] as usize;
    let count = blocks * how.block[0] as usize;
    let start: Vec<f64> = (0..count).map(|i| (i as f64 * 0.7).sin() * 100.0).collect();
    let (values, sums) = relaxed(start.clone(), rounds);
    // The same each time.
    for _ in 0..2 {
        let x = to_device(driver, &[start.clone(), vec![f64::NAN; count]].concat());
        let done = allocate(driver, 8 * count);
        let flags = to_device(driver, &vec![0_u32; blocks]);
        let parameters = [U64(x), U64(done), U64(flags), U32(rounds as u32)];
        assert_eq!((launch_together(driver, kernel, how, &parameters), driver.synchronize()), (0, 0));
        let last: Vec<f64> = to_host(driver, x + (8 * count * (rounds % 2)) as u64, count);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same(&last, &values) && same(&to_host(driver, done, count), &sums), "{how:?}", how = how.grid);
        assert_eq!(to_host::<u32>(driver, flags, blocks), vec![rounds as u32; blocks]);
    }
}

/// One block, as many as there are host threads, and many more; lanes of one warp and of several. A machine that is
/// busy takes milliseconds for each round that goes over several host threads.
fn rings(driver: &Double) {
    for (blocks, threads, rounds) in [(1, 32, 5), (2, 1, 100), (3, 70, 60), (8, 128, 40), (84, 33, 7), (300, 32, 3)] {
        relaxes(driver, shape(blocks, threads), rounds);
    }
}

scenario!(grids_meet_on_one_thread, Settings::new(), || {
    let driver = ready();
    rings(&driver);
    relaxes(&driver, shape(7, 50), 3_000);
});
scenario!(grids_meet_on_two_threads, Settings::new().threads(2), || rings(&ready()));
scenario!(grids_meet_on_eight_threads, Settings::new().threads(8), || rings(&ready()));

scenario!(lanes_of_a_block_let_each_other_run, Settings::new().threads(2), || {
    let driver = ready();
    let kernel = exercise(&driver, "lanes_wait_for_lanes");
    for threads in [1, 2, 32, 33, 200] {
        let out = allocate(&driver, 4 * 200);
        for launch in [launch, launch_together] {
            assert_eq!((launch(&driver, kernel, shape(1, threads), &[U64(out)]), driver.synchronize()), (0, 0));
            let expected: Vec<i32> = (1..=threads as i32).rev().collect();
            assert_eq!(to_host::<i32>(&driver, out, threads as usize), expected);
        }
    }
});

fn asks_around(driver: &Double, blocks: u32, rounds: usize) {
    let kernel = exercise(driver, "asks_around");
    let mut question = 1.0_f64;
    let expected: Vec<u64> = (0..rounds)
        .map(|_| {
            question = (1..blocks).fold(0.0, |sum, block| sum + (question / (f64::from(block) + 1.0) + 0.25));
            question.to_bits()
        })
        .collect();
    let answers = allocate(driver, 8 * blocks as usize);
    let out = allocate(driver, 8 * rounds);
    let flags = to_device(driver, &vec![0_u32; blocks as usize]);
    let parameters = [U64(answers), U64(out), U64(flags), U32(rounds as u32)];
    assert_eq!((launch_together(driver, kernel, shape(blocks, 128), &parameters), driver.synchronize()), (0, 0));
    assert_eq!(to_host::<u64>(driver, out, rounds), expected, "{blocks} blocks");
}

// As kernels are when one thread of a block does the work of all.
scenario!(one_thread_of_each_block_may_do_all, Settings::new(), || {
    let driver = ready();
    for (blocks, rounds) in [(2, 5_000), (3, 1_000), (32, 200), (1_000, 2)] {
        asks_around(&driver, blocks, rounds);
    }
});

scenario!(host_threads_may_launch_grids_that_meet, Settings::new().threads(2), || {
    let driver = ready();
    let mut context = 0;
    assert_eq!(driver.current(&mut context), 0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                assert_eq!(driver.set_current(context), 0);
                relaxes(&driver, shape(6, 40), 20);
                asks_around(&driver, 5, 100);
            });
        }
    });
});

// Each block has its own dynamic shared memory, and what is written beyond it is found.
scenario!(dynamic_shared_memory_side_by_side, Settings::new().threads(1), || {
    let driver = ready();
    let kernel = exercise(&driver, "running_sum");
    let x: Vec<f64> = (1..=64).map(f64::from).collect();
    let (input, output) = (to_device(&driver, &x), allocate(&driver, 8 * 64));
    let how = Shape { shared: 8 * 64, ..shape(3, 64) };
    assert_eq!(launch_together(&driver, kernel, how, &[U64(input), U64(output), U32(64), U32(0)]), 0);
    assert_eq!(to_host::<f64>(&driver, output, 64)[63], 64.0 * 65.0 / 2.0);
    assert_eq!(launch_together(&driver, kernel, how, &[U64(input), U64(output), U32(64), U32(1)]), 0);
    assert_eq!(driver.synchronize(), 700);
});

#[test]
fn sanitizers_find_nothing_in_blocks_that_meet() {
    let name = concat!(module_path!(), "::sanitizers_find_nothing_in_blocks_that_meet");
    let mut scenario = Scenario::new(name, Settings::new().threads(2));
    scenario.variant = Variant::Sanitized;
    must_succeed(scenario.run(|| {
        let driver = ready();
        rings(&driver);
        asks_around(&driver, 9, 100);
    }));
}

// Two multiprocessors of 1536 threads.
scenario!(a_grid_must_fit_on_the_device, Settings::new().multiprocessors(2), || {
    let driver = ready();
    let kernel = exercise(&driver, "nothing");
    let code = |grid, block, shared| launch_together(&driver, kernel, Shape { grid, block, shared }, &[]);
    let mut fit = 0;
    assert_eq!((driver.occupancy(&mut fit, kernel, 512, 0), fit), (0, 3));
    assert_eq!((code([6, 1, 1], [512, 1, 1], 0), code([7, 1, 1], [512, 1, 1], 0)), (0, 720));
    assert_eq!((code([1, 2, 3], [8, 8, 8], 0), code([2, 2, 2], [8, 8, 8], 0)), (0, 720));
    // Two blocks of 48 KB of shared memory share 100 KB.
    assert_eq!((code([4, 1, 1], [32, 1, 1], 49_152), code([5, 1, 1], [32, 1, 1], 49_152)), (0, 720));
    // A shape that no launch may have is refused as such; an ordinary launch of too many blocks is none.
    assert_eq!((code([1, 1, 1], [1025, 1, 1], 0), code([0, 1, 1], [32, 1, 1], 0)), (1, 1));
    assert_eq!(launch(&driver, kernel, shape(7, 512), &[]), 0);
    // Nothing of this has harmed the context.
    assert_eq!(driver.synchronize(), 0);
    let mut name = std::ptr::null();
    assert_eq!(driver.error_name(720, &mut name), 0);
    assert_eq!(crate::ffi::text(name), "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE");
});

#[test]
fn more_blocks_than_this_double_has_room_for_are_refused() {
    let name = concat!(module_path!(), "::more_blocks_than_this_double_has_room_for_are_refused");
    let output = Scenario::new(name, Settings::new()).run(|| {
        let driver = ready();
        let kernel = exercise(&driver, "nothing");
        let code = |blocks| launch_together(&driver, kernel, shape(blocks, 32), &[]);
        assert_eq!((code(1024), code(1025), code(84 * 16), code(84 * 16 + 1)), (0, 801, 801, 720));
        assert_eq!(driver.synchronize(), 0);
    });
    let Some(error) = must_succeed(output) else { return };
    let reason = "a cooperative launch of kernel nothing has 1025 blocks, and here 1024 at most run side by side";
    assert!(error.contains(reason), "{error}");
}

/// Lanes that wait keep their stacks, of which a process can have so many.
#[test]
fn more_stacks_than_there_can_be_fail_the_launch() {
    let name = concat!(module_path!(), "::more_stacks_than_there_can_be_fail_the_launch");
    let output = Scenario::new(name, Settings::new()).run(|| {
        let driver = ready();
        let flags = to_device(&driver, &[0_u32; 84]);
        let parameters = [U64(flags), U32(83)];
        let how = shape(84, 1024);
        assert_eq!(launch_together(&driver, exercise(&driver, "waits_for_another"), how, &parameters), 0);
        assert_eq!(driver.synchronize(), 719);
    });
    let Some(error) = must_succeed(output) else { return };
    assert!(error.contains("more than 24576 threads wait in the middle of the kernel"), "{error}");
}

scenario!(a_device_without_cooperative_launches, Settings::new().compute_capability(5, 2), || {
    let driver = ready();
    let mut value = 1;
    assert_eq!((driver.attribute(&mut value, 95, 0), value), (0, 0));
    let text = super::session::ptx("8.4", "sm_50", &[("nothing", &[])]);
    let module = super::session::load(&driver, &text).unwrap();
    let nothing = super::session::function(&driver, module, "nothing").unwrap();
    assert_eq!(launch_together(&driver, nothing, shape(1, 1), &[]), 801);
    assert_eq!((launch(&driver, nothing, shape(1, 1), &[]), driver.synchronize()), (0, 0));
});

scenario!(a_device_with_cooperative_launches_says_so, Settings::new(), || {
    let mut value = 0;
    assert_eq!((ready().attribute(&mut value, 95, 0), value), (0, 1));
});

/// A launch that ends by itself with `code` after less than `most` seconds, and what it says.
fn ends(
    name: &'static str,
    settings: Settings,
    code: Code,
    most: u64,
    start: impl Fn(&Double) -> Code,
) -> Option<String> {
    let output = Scenario::new(name, settings).run(|| {
        let driver = ready();
        let clock = Instant::now();
        assert_eq!(start(&driver), 0);
        assert_eq!((driver.synchronize(), driver.allocate(&mut 0, 8)), (code, code));
        assert!(clock.elapsed().as_secs() < most, "{:?}", clock.elapsed());
    });
    must_succeed(output)
}

/// With the usual limit, of a minute.
#[test]
fn a_block_that_fails_ends_those_that_wait() {
    let name = concat!(module_path!(), "::a_block_that_fails_ends_those_that_wait");
    let start = |driver: &Double| {
        let flag = to_device(driver, &[0_u32]);
        let kernel = exercise(driver, "fails_while_others_wait");
        launch_together(driver, kernel, shape(6, 40), &[U64(flag), U64(0), I32(0)])
    };
    let Some(error) = ends(name, Settings::new().threads(3), 700, 30, start) else { return };
    assert!(error.contains("block (1, 0, 0), thread (0, 0, 0): invalid address (nil)"), "{error}");
}

#[test]
fn a_broken_exchange_ends_those_that_wait() {
    let name = concat!(module_path!(), "::a_broken_exchange_ends_those_that_wait");
    let start = |driver: &Double| {
        let flag = to_device(driver, &[0_u32]);
        let kernel = exercise(driver, "fails_while_others_wait");
        launch_together(driver, kernel, shape(6, 32), &[U64(flag), U64(0), I32(1)])
    };
    let Some(error) = ends(name, Settings::new().threads(2), 719, 30, start) else { return };
    let reason = "block (1, 0, 0) of 32 threads waits for ever: 1 threads at __syncthreads; in warp 0, lanes fffffff7";
    assert!(error.contains(reason), "{error}");
}

/// Blocks 0 and 1 of an ordinary launch, on a host thread each: the second waits for the first to fail.
#[test]
fn a_block_of_an_ordinary_launch_that_fails_ends_one_that_waits() {
    let name = concat!(module_path!(), "::a_block_of_an_ordinary_launch_that_fails_ends_one_that_waits");
    let start = |driver: &Double| {
        let flag = to_device(driver, &[0_u32]);
        let kernel = exercise(driver, "fails_while_others_wait");
        launch(driver, kernel, shape(6, 1024), &[U64(flag), U64(0), I32(0)])
    };
    let Some(error) = ends(name, Settings::new().threads(2), 700, 30, start) else { return };
    assert!(error.contains("block (1, 0, 0), thread (0, 0, 0): invalid address (nil)"), "{error}");
}

const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_wait_for_ever_ends() {
    let name = concat!(module_path!(), "::a_wait_for_ever_ends");
    let start = |driver: &Double| {
        let flag = to_device(driver, &[0_u32]);
        // There is no block 7.
        launch_together(driver, exercise(driver, "waits_for_another"), shape(4, 64), &[U64(flag), U32(7)])
    };
    let Some(error) = ends(name, Settings::new().timeout(SHORT), 702, 20, start) else { return };
    let place = "error 702 in kernel waits_for_another: block (";
    let reason = ", 0, 0), thread (0, 0, 0): it sleeps, and the launch has lasted 3";
    assert!(error.contains(place) && error.contains(reason), "{error}");
    assert!(error.contains("(setting timeout_ms)\n"), "{error}");
}

/// An ordinary launch takes one block after the other, so this one waits for what cannot come.
#[test]
fn an_ordinary_launch_that_waits_for_a_later_block_is_an_error() {
    let name = concat!(module_path!(), "::an_ordinary_launch_that_waits_for_a_later_block_is_an_error");
    let start = |driver: &Double| {
        let kernel = exercise(driver, "waits_for_another");
        // The same with a block that was before is no error, nor is it with all blocks side by side.
        let flag = to_device(driver, &[0_u32]);
        assert_eq!((launch(driver, kernel, shape(4, 64), &[U64(flag), U32(0)]), driver.synchronize()), (0, 0));
        let flag = to_device(driver, &[0_u32]);
        assert_eq!((launch_together(driver, kernel, shape(4, 64), &[U64(flag), U32(3)]), driver.synchronize()), (0, 0));
        let flag = to_device(driver, &[0_u32]);
        launch(driver, kernel, shape(4, 64), &[U64(flag), U32(3)])
    };
    let Some(error) = ends(name, Settings::new().threads(1).timeout(SHORT), 702, 20, start) else { return };
    let place = "error 702 in kernel waits_for_another: block (0, 0, 0), thread (0, 0, 0): it sleeps";
    assert!(error.contains(place) && error.contains("cuLaunchCooperativeKernel"), "{error}");
}

scenario!(
    faults_come_where_they_are_asked_for,
    Settings::new().fail("cuLaunchCooperativeKernel", 720).at_call(2).sticky(719, 4),
    || {
        let driver = ready();
        let kernel = exercise(&driver, "nothing");
        let together = || launch_together(&driver, kernel, shape(2, 32), &[]);
        assert_eq!((together(), together(), driver.synchronize()), (0, 720, 0));
        // Launches of both kinds are counted.
        assert_eq!((launch(&driver, kernel, shape(2, 32), &[]), together(), driver.synchronize()), (0, 719, 719));
    }
);
