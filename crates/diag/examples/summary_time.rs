//! The time of a summary: 203 and 2003 numbers, 4 chains of 2000 draws. The ratio is to ArviZ 0.23.4 as measured
//! on an idle machine of 2 cores (0.605 s and 6.38 s): to compare, time `az.summary` beside it on yours.
//!
//!     cargo run --release -p octopus-diag --example summary_time

use octopus_diag::{DEFAULT_PROB, DiagError, summary};
use octopus_trace::{Array, Dataset, Values};
use std::time::{Duration, Instant};

const CHAINS: usize = 4;
const DRAWS: usize = 2000;

/// Chains with correlation `phi` between neighbouring draws; uniform innovations.
fn variable(width: usize, phi: f64) -> Array {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 * 2f64.powi(-53) - 0.5
    };
    let mut values = vec![0.0; CHAINS * DRAWS * width];
    for i in 0..values.len() {
        let before = if (i / width).is_multiple_of(DRAWS) { 0.0 } else { values[i - width] };
        values[i] = phi * before + uniform() + uniform() + uniform();
    }
    let (mut dims, mut shape) = (vec!["chain".to_owned(), "draw".to_owned()], vec![CHAINS, DRAWS]);
    if width > 1 {
        dims.push("group".to_owned());
        shape.push(width);
    }
    Array { dims, shape, values: Values::F64(values) }
}

fn main() -> Result<(), DiagError> {
    println!("{} threads", rayon::current_num_threads());
    for (groups, arviz) in [(100, 0.605), (1000, 6.38)] {
        for phi in [0.0, 0.5, 0.95] {
            let mut posterior = Dataset::default();
            for (name, width) in
                [("mu_pop", 1), ("sigma_pop", 1), ("sigma_obs", 1), ("z", groups), ("mu_group", groups)]
            {
                posterior.variables.insert(name.to_owned(), variable(width, phi));
            }
            let mut best = Duration::MAX;
            let mut rows = 0;
            for _ in 0..7 {
                let start = Instant::now();
                rows = summary(&posterior, DEFAULT_PROB)?.parameters.len();
                best = best.min(start.elapsed());
            }
            let seconds = best.as_secs_f64();
            println!(
                "{rows:5} numbers, correlation {phi:4}: {:8.2} ms, {:6.1} us each, {:5.0} times ArviZ",
                1e3 * seconds,
                1e6 * seconds / rows as f64,
                arviz / seconds
            );
        }
    }
    Ok(())
}
