//! The time and the memory of one task, as JSON; `benchmarks/peers/diagnostics_speed.py` sets ArviZ beside it.
//!
//!     cargo run --release -p octopus-diag --example diagnostics_time -- summary_2003
//!
//! | task | what |
//! |--|--|
//! | `summary_203`, `summary_2003` | summary of 203 or 2003 numbers, 4 chains of 2000 draws |
//! | `summary_4096` | summary of 10 numbers, 4096 chains of 1000 draws |
//! | `summary_4096_nested` | the same in 64 superchains |
//! | `loo` | PSIS-LOO of 1000 observations, 4 chains of 2000 draws, with the relative efficiency of 9 numbers |
//! | `waic` | WAIC of the same |

use octopus_diag::{DEFAULT_PROB, LogLikelihood, loo, relative_eff, summary, summary_of_many, waic};
use octopus_trace::{Array, Dataset, Values};
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Repetitions at least, and how long there may be more of them; the fastest counts.
const RUNS: usize = 3;
const ENOUGH: Duration = Duration::from_secs(1);

/// Uniform numbers in [0, 1).
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 * 2f64.powi(-53)
    }

    /// Mean 0, variance 1 nearly.
    fn bell(&mut self) -> f64 {
        2.0 * (self.next() + self.next() + self.next() - 1.5)
    }
}

/// `chains x draws x width` with correlation 0.5 between neighbouring draws.
fn variable(chains: usize, draws: usize, width: usize) -> Array {
    let mut random = Uniform(1);
    let mut values = vec![0.0; chains * draws * width];
    for i in 0..values.len() {
        let before = if (i / width).is_multiple_of(draws) { 0.0 } else { values[i - width] };
        values[i] = 0.5 * before + random.bell();
    }
    Array::new([("chain", chains), ("draw", draws), ("i", width)], Values::F64(values))
}

fn group(array: Array) -> Dataset {
    let mut group = Dataset::default();
    group.insert("x", array);
    group
}

fn likelihood() -> Array {
    let mut random = Uniform(2);
    let values = (0..8000 * 1000).map(|_| -1.0 - 0.1 * random.bell().powi(2)).collect();
    Array::new([("chain", 4), ("draw", 2000), ("obs", 1000)], Values::F64(values))
}

/// What some runs of one task took and found.
struct Measured {
    /// Of the fastest.
    seconds: f64,
    /// After the first: what later ones leave behind is the allocator's.
    peak_bytes: f64,
    found: f64,
}

fn measure(mut f: impl FnMut() -> Result<f64, Box<dyn Error>>) -> Result<Measured, Box<dyn Error>> {
    let mut measured = Measured { seconds: f64::INFINITY, peak_bytes: f64::NAN, found: f64::NAN };
    let begin = Instant::now();
    for run in 0.. {
        if run >= RUNS && begin.elapsed() > ENOUGH {
            break;
        }
        let start = Instant::now();
        measured.found = black_box(f()?);
        measured.seconds = measured.seconds.min(start.elapsed().as_secs_f64());
        if run == 0 {
            measured.peak_bytes = peak_memory().unwrap_or(0.0);
        }
    }
    Ok(measured)
}

/// The largest resident memory of this process so far, in bytes; none where the system does not say.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let task = std::env::args().nth(1).unwrap_or_else(|| "summary_2003".to_owned());
    let table = |chains, draws, width| group(variable(chains, draws, width));
    let (data, measured) = match task.as_str() {
        "summary_203" | "summary_2003" => {
            let width = if task == "summary_203" { 203 } else { 2003 };
            let posterior = table(4, 2000, width);
            (8 * 8000 * width, measure(|| Ok(summary(&posterior, DEFAULT_PROB)?.max_rhat()))?)
        }
        "summary_4096" => {
            let posterior = table(4096, 1000, 10);
            (8 * 40_960_000, measure(|| Ok(summary(&posterior, DEFAULT_PROB)?.max_rhat()))?)
        }
        "summary_4096_nested" => {
            let posterior = table(4096, 1000, 10);
            (8 * 40_960_000, measure(|| Ok(summary_of_many(&posterior, DEFAULT_PROB, 64)?.max_rhat()))?)
        }
        "loo" => {
            let (posterior, log_likelihood) = (table(4, 2000, 9), group(likelihood()));
            let run = || Ok(loo(&LogLikelihood::read(&log_likelihood, &[])?, relative_eff(&posterior)?)?.elpd);
            (8 * 8000 * 1009, measure(run)?)
        }
        "waic" => {
            let log_likelihood = group(likelihood());
            (8 * 8000 * 1000, measure(|| Ok(waic(&LogLikelihood::read(&log_likelihood, &[])?).elpd))?)
        }
        _ => return Err(format!("there is no task {task}: see the table at the top of this file").into()),
    };
    let Measured { seconds, peak_bytes, found } = measured;
    println!(
        "{{\"task\": \"{task}\", \"seconds\": {seconds}, \"data_bytes\": {data}, \"peak_bytes\": {peak_bytes}, \
         \"found\": {found}}}"
    );
    Ok(())
}
