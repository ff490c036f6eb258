//! What launches cost this thread, whatever else the machine does meanwhile. The figures are printed; only what would
//! make tests unbearable fails.

use super::scenario::{Scenario, must_succeed};
use super::session::Parameter::{F32, U32, U64};
use super::session::{Shape, allocate, exercise, launch, launch_together, ready, shape, to_device};
use crate::Settings;

/// Seconds that this thread has run, by the kernel's account.
fn running_time() -> f64 {
    let account = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    account.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

#[test]
fn launches_and_elements_are_cheap_enough() {
    let name = concat!(module_path!(), "::launches_and_elements_are_cheap_enough");
    let output = Scenario::new(name, Settings::new().threads(1)).run(|| {
        let driver = ready();
        let nothing = exercise(&driver, "nothing");
        let start = running_time();
        for _ in 0..10_000 {
            assert_eq!(launch(&driver, nothing, shape(1, 32), &[]), 0);
        }
        let launches = 10_000.0 / (running_time() - start);

        let start = running_time();
        assert_eq!(launch(&driver, nothing, shape(100_000, 32), &[]), 0);
        let blocks = 100_000.0 / (running_time() - start);

        let n = 4_000_000;
        let x = to_device(&driver, &vec![1.0_f32; n]);
        let add = exercise(&driver, "add_number");
        let start = running_time();
        assert_eq!(launch(&driver, add, shape(1024, 256), &[U64(x), F32(1.0), U64(x), U64(n as u64)]), 0);
        let elements = n as f64 / (running_time() - start);

        let warps = exercise(&driver, "warp_sum");
        let start = running_time();
        let y = to_device(&driver, &vec![1.0_f64; 1 << 20]);
        assert_eq!(launch(&driver, warps, shape(1 << 10, 1 << 10), &[U64(y), U64(y)]), 0);
        let shuffles = 5.0 * f64::from(1 << 20) / (running_time() - start);

        let n = 1000;
        let (a, b) = (to_device(&driver, &vec![0.5_f32; n * n]), to_device(&driver, &vec![0.25_f32; n * n]));
        let c = allocate(&driver, 4 * n * n);
        let tiles = Shape { grid: [63, 63, 1], block: [16, 16, 1], shared: 0 };
        let multiply = exercise(&driver, "multiply");
        let start = running_time();
        assert_eq!(launch(&driver, multiply, tiles, &[U64(a), U64(b), U64(c), U32(n as u32)]), 0);
        let product = running_time() - start;
        assert_eq!(driver.synchronize(), 0);
        assert_eq!(super::session::to_host::<f32>(&driver, c, 1), [125.0]);

        // Blocks as arrays are: one lane of each works, and all wait for the first one's question.
        let rounds = 5_000;
        let (answers, out) = (allocate(&driver, 8 * 8), allocate(&driver, 8 * rounds));
        let flags = to_device(&driver, &[0_u32; 8]);
        let ask = exercise(&driver, "asks_around");
        let start = running_time();
        let parameters = [U64(answers), U64(out), U64(flags), U32(rounds as u32)];
        assert_eq!(launch_together(&driver, ask, shape(8, 128), &parameters), 0);
        let rounds = rounds as f64 / (running_time() - start);
        assert_eq!(driver.synchronize(), 0);
        eprintln!(
            "software GPU, one thread, in seconds of its processor time: {launches:.0} launches/s, {blocks:.0} blocks of 32/s, {elements:.3e} elements/s, \
             {shuffles:.3e} lane shuffles/s, product of 1000 x 1000 in tiles {product:.2} s, \
             {rounds:.0} questions/s to 7 blocks"
        );
        assert!(product < 30.0 && launches > 1_000.0);
    });
    if let Some(said) = must_succeed(output) {
        eprint!("{said}");
    }
}
