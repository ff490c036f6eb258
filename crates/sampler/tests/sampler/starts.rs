//! Chains that start where they are told to.

use crate::densities::{Gaussian, Wall};
use crate::reproducible::{config, model};
use octopus_density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
use octopus_sampler::{Algorithm, Backend, Begin, Sampler, SamplerConfig, SamplerError, Starts, Strategy};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two normals of standard deviation 1 at -12 and 12, of which the first weighs less by e^-`below`.
struct Modes {
    below: f64,
    layout: Layout,
    evaluations: AtomicUsize,
}

impl Modes {
    fn new(below: f64) -> Self {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let variables = vec![Variable { name: "x".into(), dims: vec![], role }];
        Self { below, layout: Layout { variables }, evaluations: AtomicUsize::new(0) }
    }
}

impl LogDensity for Modes {
    fn name(&self) -> &str {
        "modes"
    }

    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        // Between the modes the larger term is the sum.
        let (low, high) = (-0.5 * (x[0] + 12.0).powi(2) - self.below, -0.5 * (x[0] - 12.0).powi(2));
        gradient[0] = if low > high { -x[0] - 12.0 } else { 12.0 - x[0] };
        Ok(low.max(high))
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }
}

fn begun<'d>(density: &'d dyn LogDensity, config: SamplerConfig, starts: Starts) -> Result<Sampler<'d>, SamplerError> {
    Sampler::begin(density, Begin::At(config, starts), Backend::Cpu)
}

/// The last draw of each chain of a run.
fn last(mut sampler: Sampler<'_>) -> Vec<f64> {
    let mut last = Vec::new();
    while let Some(block) = sampler.advance(usize::MAX).unwrap() {
        last = block.chains.iter().map(|chain| *chain.positions.last().unwrap()).collect();
    }
    last
}

/// Some of 16 chains that start around 0 stay in a mode with a share of e^-24 of the posterior. No chain that starts on a path
/// does. Chains whose paths end in a mode with a larger share stay there.
#[test]
fn chains_on_paths_are_not_lost_and_keep_modes_that_matter() {
    let config = SamplerConfig { chains: 16, draws: 50, tune: 100, seed: 3, ..SamplerConfig::default() };
    let low = |draws: Vec<f64>| draws.into_iter().filter(|&x| x < 0.0).count();
    let far = Modes::new(24.0);
    let around = low(last(Sampler::new(&far, config.clone()).unwrap()));
    assert!((1..16).contains(&around), "{around}");
    assert_eq!(low(last(begun(&far, config.clone(), Starts::Pathfinder).unwrap())), 0);
    let near = low(last(begun(&Modes::new(1.0), config, Starts::Pathfinder).unwrap()));
    assert!((1..16).contains(&near), "{near}");
}

/// Paths are for 16 chains: ten times as many share them, and cost little more. Each has a draw of its own.
#[test]
fn many_chains_share_paths() {
    let of = |chains: usize| {
        let density = Modes::new(24.0);
        let config = SamplerConfig { chains, draws: 1, tune: 0, seed: 3, ..SamplerConfig::default() };
        let mut drawn = last(begun(&density, config, Starts::Pathfinder).unwrap());
        drawn.sort_by(f64::total_cmp);
        drawn.dedup();
        assert_eq!(drawn.len(), chains);
        density.evaluations.into_inner()
    };
    let (few, many) = (of(16), of(160));
    assert!(many < 4 * few, "{many} and {few}");
}

/// A chain that moves at most by tiny steps is where it was told to start, in the density's own coordinates, also where
/// the sampler's are others; chains without a point of their own take one again.
#[test]
fn chains_start_at_their_points() {
    let density = model(6);
    let dim = density.dim();
    let points: Vec<Vec<f64>> = (0..2)
        .map(|k| (0..dim).map(|i| 0.1 * (i + 3 * k) as f64 + if i == 6 { 48.0 } else { 0.0 }).collect())
        .collect();
    let mut hmc = octopus_sampler::Hmc::default();
    (hmc.step_size, hmc.leapfrogs) = (Some(1e-9), Some(1));
    let still = SamplerConfig { algorithm: Algorithm::Hmc(hmc), chains: 3, draws: 1, tune: 0, ..config() };
    let mut sampler = begun(&density, still, Starts::Points(points.clone())).unwrap();
    let block = sampler.advance(1).unwrap().unwrap();
    for (chain, point) in block.chains.iter().zip(points.iter().cycle()) {
        let off = chain.positions.iter().zip(point).map(|(x, p)| (x - p).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{off}");
    }
}

/// A run that is taken up goes on to the same bits, and so does one of many short chains.
#[test]
fn a_run_that_is_taken_up_is_the_same() {
    let density = Gaussian::correlated(3, 0.5);
    let many = SamplerConfig { draws: 5, ..SamplerConfig::many_short(16) };
    for config in [SamplerConfig { draws: 20, tune: 60, ..config() }, many] {
        let is_many = config.strategy == Strategy::ManyShort;
        let whole = last(begun(&density, config.clone(), Starts::Pathfinder).unwrap());
        let mut first = begun(&density, config.clone(), Starts::Pathfinder).unwrap();
        let bytes = first.checkpoint().unwrap();
        let again = last(Sampler::begin(&density, Begin::GoOn(bytes), Backend::Cpu).unwrap());
        let bits = |draws: &[f64]| draws.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again), bits(&whole), "{is_many}");
        assert_ne!(bits(&whole), bits(&last(Sampler::new(&density, config).unwrap())), "{is_many}");
    }
}

/// A start that cannot be names the chain and the coordinate.
#[test]
fn a_bad_start_is_named() {
    let density = Modes::new(1.0);
    let of = |density: &dyn LogDensity, points: Vec<Vec<f64>>| {
        let config = SamplerConfig { chains: 2, ..SamplerConfig::default() };
        begun(density, config, Starts::Points(points)).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let wall = Wall::new(2, 1.0);
    for (found, words) in [
        (of(&density, vec![vec![1.0], vec![f64::NAN]]), "chain 1 cannot start where it is to: x is NaN"),
        (of(&density, vec![vec![1.0, 2.0]]), "chain 0 cannot start where it is to: the point has 2 coordinates"),
        (of(&density, vec![]), "no point is given"),
        (of(&wall, vec![vec![5.0, 0.0]]), "chain 0 cannot start where it is to: the log density is not finite"),
        (of(&wall, vec![vec![0.0, 0.0]]), ""),
    ] {
        assert!(found.contains(words) && words.is_empty() == found.is_empty(), "{found}, not {words}");
    }
    let smc = SamplerConfig { algorithm: Algorithm::named("smc").unwrap(), tune: 0, ..SamplerConfig::default() };
    let error = begun(&density, smc, Starts::Pathfinder).err();
    assert!(matches!(error, Some(SamplerError::Config(error)) if error.field == "algorithm"));
}
