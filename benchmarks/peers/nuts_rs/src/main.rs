//! The PRD's model by nuts-rs: groups with normal means, centered by hand, with sufficient statistics or row by row.
//!
//!     nuts-rs-peer DATA.csv FORM CHAINS TUNE DRAWS TARGET_ACCEPT SEED THREADS OUT
//!     nuts-rs-peer DATA.csv FORM < POINTS
//!
//! `DATA.csv` has the columns `group,y`, its rows in the order of the groups; FORM is `collapsed` or `pointwise`. Prints
//! seconds of the run, of them of warm-up (a thread's mean), and leapfrog steps; writes mu_pop, sigma_pop, sigma_obs and the
//! groups' means of each draw after warm-up to OUT, little-endian doubles, chain after chain. Without the rest, prints the log
//! density of each line of standard input: the groups' means, mu_pop, and the logarithms of sigma_pop and sigma_obs.

use nuts_rs::rand::{SeedableRng, rngs::StdRng};
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError, Settings};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The priors of the PRD: normal for mu_pop, half-normal for both standard deviations.
const MU: (f64, f64) = (50.0, 20.0);
const SIGMA_POP: f64 = 15.0;
const SIGMA_OBS: f64 = 5.0;

struct Data {
    /// Observations of each group, its mean, and all squares about the groups' means together.
    sizes: Vec<f64>,
    means: Vec<f64>,
    within: f64,
    total: f64,
    /// The observations, the first of each group, then the second of each: SIMD goes across the groups. Empty where
    /// sufficient statistics do.
    rows: Vec<Vec<f64>>,
}

struct Density(Arc<Data>);

#[derive(Debug, thiserror::Error)]
#[error("no value")]
struct NoValue;

impl LogpError for NoValue {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Density {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.dim() as u64)])
    }
}

/// A sum in eight lanes: the compiler makes vectors of them.
#[inline(always)]
fn sum_of(len: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; 8];
    let whole = len / 8 * 8;
    for at in (0..whole).step_by(8) {
        for (lane, sum) in lanes.iter_mut().enumerate() {
            *sum += term(at + lane);
        }
    }
    lanes.iter().sum::<f64>() + (whole..len).map(term).sum::<f64>()
}

impl CpuLogpFunc for Density {
    type LogpError = NoValue;
    type ExpandedVector = Vec<f64>;
    type FlowParameters = ();

    /// The groups' means, then mu_pop, and the logarithms of sigma_pop and sigma_obs.
    fn dim(&self) -> usize {
        self.0.sizes.len() + 3
    }

    fn logp(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, NoValue> {
        let Data { sizes, means, within, total, rows } = &*self.0;
        let groups = sizes.len();
        let (theta, scalars) = x.split_at(groups);
        let (slopes, of_scalars) = gradient.split_at_mut(groups);
        let (mu, between_sd, within_sd) = (scalars[0], scalars[1].exp(), scalars[2].exp());
        let (between, noise) = (1.0 / (between_sd * between_sd), 1.0 / (within_sd * within_sd));
        // Squares of the data about the groups' means, and the slopes that they make.
        let about = if rows.is_empty() {
            for ((slope, &t), (&n, &m)) in slopes.iter_mut().zip(theta).zip(sizes.iter().zip(means)) {
                *slope = n * (m - t);
            }
            let slopes = &*slopes;
            within + sum_of(groups, |j| slopes[j] * (means[j] - theta[j]))
        } else {
            slopes.fill(0.0);
            let mut squares = 0.0;
            for row in rows {
                for ((slope, &t), &y) in slopes.iter_mut().zip(theta).zip(row) {
                    *slope += y - t;
                }
                squares += sum_of(groups, |j| (row[j] - theta[j]) * (row[j] - theta[j]));
            }
            squares
        };
        let from_mu = sum_of(groups, |j| theta[j] - mu);
        let square_from_mu = sum_of(groups, |j| (theta[j] - mu) * (theta[j] - mu));
        for (slope, &t) in slopes.iter_mut().zip(theta) {
            *slope = *slope * noise - (t - mu) * between;
        }
        let count = groups as f64;
        let standard = (mu - MU.0) / MU.1;
        let (pop, obs) = ((between_sd / SIGMA_POP).powi(2), (within_sd / SIGMA_OBS).powi(2));
        of_scalars[0] = from_mu * between - standard / MU.1;
        of_scalars[1] = square_from_mu * between - count - pop + 1.0;
        of_scalars[2] = about * noise - total - obs + 1.0;
        let logp = -0.5 * (square_from_mu * between + about * noise + standard * standard + pop + obs)
            - (count - 1.0) * scalars[1]
            - (total - 1.0) * scalars[2];
        if logp.is_finite() { Ok(logp) } else { Err(NoValue) }
    }

    fn expand_vector<R: nuts_rs::rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        x: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(x.to_vec())
    }
}

fn read(path: &str, pointwise: bool) -> Data {
    let text = std::fs::read_to_string(path).expect("data");
    let mut groups: Vec<Vec<f64>> = Vec::new();
    let mut last = "";
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        let (group, y) = line.split_once(',').expect("group,y");
        if group != last || groups.is_empty() {
            groups.push(Vec::new());
        }
        last = group;
        groups.last_mut().expect("a group").push(y.parse().expect("a number"));
    }
    let sizes: Vec<f64> = groups.iter().map(|y| y.len() as f64).collect();
    let means: Vec<f64> = groups.iter().map(|y| y.iter().sum::<f64>() / y.len() as f64).collect();
    let within = groups.iter().zip(&means).flat_map(|(y, m)| y.iter().map(move |y| (y - m) * (y - m))).sum();
    let rows = if pointwise {
        let each = groups[0].len();
        assert!(groups.iter().all(|y| y.len() == each), "pointwise: balanced data only");
        (0..each).map(|i| groups.iter().map(|y| y[i]).collect()).collect()
    } else {
        Vec::new()
    };
    Data { total: sizes.iter().sum(), sizes, means, within, rows }
}

/// What a chain has done.
struct Moved {
    number: usize,
    /// Draws after warm-up.
    draws: Vec<f64>,
    steps: u64,
    warm_up: f64,
}

fn chain(data: &Arc<Data>, settings: DiagNutsSettings, number: usize, seed: u64) -> Moved {
    let begin = Instant::now();
    let density = Density(data.clone());
    let (dim, groups) = (density.dim(), data.sizes.len());
    let mut random = StdRng::seed_from_u64(seed * 1000 + number as u64);
    let mut sampler = settings.new_chain(number as u64, CpuMath::new(density), &mut random).expect("valid settings");
    // Starts within 2 of zero, as Octopus has them; the groups' means about their own.
    let start: Vec<f64> = (0..dim)
        .map(|i| {
            let near = 4.0 * nuts_rs::rand::RngExt::random::<f64>(&mut random) - 2.0;
            if i < groups {
                data.means[i] + near
            } else if i == groups {
                MU.0 + near
            } else {
                near
            }
        })
        .collect();
    sampler.set_position(&start).expect("a value");
    let mut draws = Vec::with_capacity(settings.num_draws as usize * dim);
    let (mut steps, mut warm_up) = (0, 0.0);
    for _ in 0..settings.num_tune + settings.num_draws {
        let (draw, progress) = sampler.draw().expect("draws");
        steps += progress.num_steps;
        if progress.tuning {
            warm_up = begin.elapsed().as_secs_f64();
        } else {
            draws.extend_from_slice(&draw);
        }
    }
    Moved { number, draws, steps, warm_up }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, path, form] = arguments.as_slice() {
        let mut density = Density(Arc::new(read(path, form == "pointwise")));
        for line in std::io::stdin().lines() {
            let x: Vec<f64> = line.expect("a line").split(' ').map(|value| value.parse().expect("a number")).collect();
            println!("{:?}", density.logp(&x, &mut vec![0.0; x.len()]).expect("a value"));
        }
        return;
    }
    let [_, path, form, chains, tune, draws, target, seed, threads, out] = arguments.as_slice() else {
        panic!("DATA.csv FORM CHAINS TUNE DRAWS TARGET_ACCEPT SEED THREADS OUT");
    };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let data = Arc::new(read(path, form == "pointwise"));
    let mut settings = DiagNutsSettings { num_tune: number(tune), num_draws: number(draws), ..Default::default() };
    settings.adapt_options.step_size_settings.target_accept = target.parse().expect("a number");
    let (chains, seed) = (number(chains) as usize, number(seed));
    let begin = Instant::now();
    let next = AtomicUsize::new(0);
    let threads_of: u64 = number(threads);
    let mut found: Vec<Moved> = std::thread::scope(|scope| {
        let work = || {
            let mut own = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= chains {
                    return own;
                }
                own.push(chain(&data, settings, at, seed));
            }
        };
        let threads: Vec<_> = (0..threads_of).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    let seconds = begin.elapsed().as_secs_f64();
    found.sort_by_key(|moved| moved.number);
    let steps: u64 = found.iter().map(|moved| moved.steps).sum();
    let warm_up = found.iter().map(|moved| moved.warm_up).sum::<f64>() / threads_of as f64;
    println!("{seconds} {warm_up} {steps}");
    let mut file = std::io::BufWriter::new(std::fs::File::create(out).expect("a file"));
    let groups = data.sizes.len();
    for moved in &found {
        for draw in moved.draws.chunks_exact(groups + 3) {
            let scalars = [draw[groups], draw[groups + 1].exp(), draw[groups + 2].exp()];
            for value in scalars.iter().chain(&draw[..groups]) {
                file.write_all(&value.to_le_bytes()).expect("written");
            }
        }
    }
}
