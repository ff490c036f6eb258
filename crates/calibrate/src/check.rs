//! The self-check of the sampler: it looks for faults that ranks cannot see.
//!
//! Such faults leave the distribution of the draws as it is, and cost efficiency or repeat work. Examples are a U-turn
//! that is noticed late, or a window of warm-up that begins late: each draw is still from the posterior. So a second
//! implementation repeats a few transitions, and warm-up is recomputed from its own draws.

mod iid_normal;
mod replay;
mod warm_up;

use crate::CalibrateError;
use crate::address::{StreamPurpose, sampler_seed, stream};
use octopus_models::Simulator;
use octopus_sampler::{Phase, Sampler, SamplerConfig, Strategy};
use serde::Serialize;

/// The data set that the sampler is checked on: none that is ranked.
const NUMBER: u32 = u32::MAX;
/// Chains, warm-up and draws of the run that is looked at; with the default windows warm-up has three of them.
const CHAINS: usize = 4;
const TUNE: usize = 200;
const DRAWS: usize = 20;

/// One property of the sampler that was computed twice and compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelfCheck {
    /// The name of the property.
    pub name: &'static str,
    /// Whether both computations agree.
    pub passed: bool,
    /// Whether there is nothing to compare with: no second implementation of this sampler, or no warm-up.
    pub skipped: bool,
    /// The number of cases, and the first that disagreed; why it is skipped.
    pub detail: String,
}

impl SelfCheck {
    /// Returns whether it speaks against the sampler.
    pub fn failed(&self) -> bool {
        !(self.passed || self.skipped)
    }
}

/// Cases that ought to agree.
struct Tally {
    name: &'static str,
    what: &'static str,
    cases: usize,
    disagreed: usize,
    first: Option<String>,
    /// Why there are no cases.
    skipped: Option<String>,
}

impl Tally {
    fn new(name: &'static str, what: &'static str) -> Self {
        Self { name, what, cases: 0, disagreed: 0, first: None, skipped: None }
    }

    fn case(&mut self, disagreement: Option<String>) {
        self.cases += 1;
        self.disagreed += usize::from(disagreement.is_some());
        self.first = self.first.take().or(disagreement);
    }

    /// Has no cases where there is a reason why.
    fn unless(self, skipped: Option<String>) -> Self {
        Self { skipped, ..self }
    }

    fn done(self) -> SelfCheck {
        let Self { name, what, cases, disagreed, first, skipped } = self;
        if let Some(detail) = skipped {
            return SelfCheck { name, passed: false, skipped: true, detail };
        }
        let detail = match first {
            None => format!("{cases} {what} agree"),
            Some(first) => format!("{disagreed} of {cases} {what} differ; the first: {first}"),
        };
        // What was not looked at has not passed.
        SelfCheck { name, passed: disagreed == 0 && cases > 0, skipped: false, detail }
    }
}

/// Returns whether a log density differs from the one expected by rounding only.
fn is_close(reported: f64, expected: f64) -> bool {
    (reported - expected).abs() <= 1e-9 * (1.0 + expected.abs())
}

/// Runs the sampler on one data set of the model with the given metric, parameterization and target, and compares
///
/// - each transition of some with a second implementation, in the coordinates and metric that warm-up has found, and on
///   independent normals with step sizes at which trajectories close on themselves: a recursive NUTS written from the
///   papers, and for the samplers `hmc` and `chees` a trajectory; others have none, which is told;
/// - what each window of warm-up has learned with what follows from its draws, where there is a warm-up;
/// - the reported log densities with the density's.
///
/// # Errors
/// When the model cannot be simulated or sampled.
pub fn self_check(
    simulator: &dyn Simulator,
    seed: u64,
    sampler: &SamplerConfig,
) -> Result<Vec<SelfCheck>, CalibrateError> {
    let truth = simulator.draw_parameters(&mut stream(seed, NUMBER, StreamPurpose::Parameters));
    let density = simulator.simulate(&truth, &mut stream(seed, NUMBER, StreamPurpose::Data))?;
    let config = SamplerConfig {
        draws: DRAWS,
        tune: TUNE,
        chains: CHAINS,
        seed: sampler_seed(seed, NUMBER),
        strategy: Strategy::FourLong,
        target_accept: sampler.target_accept,
        max_depth: sampler.max_depth,
        parameterization: sampler.parameterization,
        metric: sampler.metric,
        init_radius: sampler.init_radius,
        algorithm: sampler.algorithm.clone(),
        ..SamplerConfig::default()
    };
    let (name, population) = (config.algorithm.name(), config.algorithm.draws_population());
    let unknown = (!replay::repeats(&config.algorithm)).then(|| match population {
        true => format!("{name} draws a population, which has no transitions"),
        false => format!("there is no second implementation of {name}"),
    });
    let mut warm_up = warm_up::WarmUp::new(&*density, &config);
    let mut reported = Tally::new("reported log density", "draws");
    let mut transitions = Tally::new("transitions of the model", "transitions").unless(unknown.clone());
    let mut gradient = vec![0.0; density.dim()];
    let mut run = Sampler::new(&*density, config.clone())?;
    let mut ends = Vec::new();
    while let Some(block) = run.advance(usize::MAX)? {
        if block.phase == Phase::Warmup {
            warm_up.window(&block, run.adaptation())?;
        }
        for chain in &block.chains {
            for (position, stats) in chain.positions.chunks_exact(density.dim()).zip(&chain.stats) {
                let expected = density.logp_grad(position, &mut gradient)?;
                let close = is_close(stats.lp, expected);
                reported.case((!close).then(|| format!("{} was reported, it is {expected}", stats.lp)));
            }
        }
        ends = block.chains.iter().map(|chain| chain.positions[(block.draws - 1) * density.dim()..].to_vec()).collect();
    }
    let (adaptation, length) = (run.adaptation(), run.length());
    let ends = if unknown.is_none() { ends } else { Vec::new() };
    for (chain, (mut x, step)) in ends.into_iter().zip(run.step_sizes()).enumerate() {
        adaptation.take_natural(&*density, &mut x);
        replay::compare(&*density, adaptation, run.config(), &x, (step, length), chain as u32, &mut transitions)?;
    }
    let mut closed = Tally::new("transitions on closed orbits", "transitions").unless(unknown.clone());
    if unknown.is_none() {
        iid_normal::compare(run.config(), &mut closed)?;
    }
    let learned = warm_up.tally.unless(population.then(|| format!("{name} draws a population, without warm-up")));
    Ok([transitions, closed, learned, reported].map(Tally::done).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Hierarchy, Layout, LogDensity};
    use octopus_models::{HierarchicalPrior, HierarchicalSimulator, Likelihood, ModelError};
    use octopus_random::{Purpose, Stream};
    use octopus_sampler::{Algorithm, Hmc, MetricKind, Parameterization};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn cases_are_counted_and_the_first_that_disagrees_is_told() {
        let done = |cases: &[Option<&str>]| {
            let mut tally = Tally::new("name", "things");
            cases.iter().for_each(|case| tally.case(case.map(str::to_owned)));
            let SelfCheck { name, passed, skipped, detail } = tally.done();
            assert!(!skipped);
            assert_eq!(name, "name");
            (passed, detail)
        };
        let of = |passed, detail: &str| (passed, detail.to_owned());
        assert_eq!(done(&[]), of(false, "0 things agree"));
        assert_eq!(done(&[None, None]), of(true, "2 things agree"));
        assert_eq!(done(&[None, Some("a"), Some("b")]), of(false, "2 of 3 things differ; the first: a"));
    }

    #[test]
    fn log_densities_are_close_absolutely_near_zero_and_relatively_elsewhere() {
        assert!(is_close(0.9e-9, 0.0) && !is_close(1.1e-9, 0.0));
        assert!(is_close(1e6 + 5e-4, 1e6) && !is_close(1e6 + 2e-3, 1e6));
        assert!(!is_close(f64::NAN, 1.0));
    }

    /// A simulator of always the same data, which adds up where its density is evaluated.
    struct Watched {
        simulator: HierarchicalSimulator,
        places: Arc<AtomicU64>,
    }

    struct WatchedDensity {
        density: Box<dyn LogDensity>,
        places: Arc<AtomicU64>,
    }

    impl Simulator for Watched {
        fn layout(&self) -> &Layout {
            self.simulator.layout()
        }

        fn draw_parameters(&self, _: &mut Stream) -> Vec<f64> {
            self.simulator.draw_parameters(&mut Stream::new(1, 0, 0, Purpose::User))
        }

        fn simulate(&self, position: &[f64], _: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
            let density = self.simulator.simulate(position, &mut Stream::new(1, 1, 0, Purpose::User))?;
            Ok(Box::new(WatchedDensity { density, places: Arc::clone(&self.places) }))
        }
    }

    impl LogDensity for WatchedDensity {
        fn dim(&self) -> usize {
            self.density.dim()
        }

        fn layout(&self) -> &Layout {
            self.density.layout()
        }

        fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            let place = position.iter().fold(0u64, |sum, x| sum.wrapping_add(x.to_bits()));
            self.places.fetch_add(place, Ordering::Relaxed);
            self.density.logp_grad(position, gradient)
        }

        fn expand(&self, position: &[f64], out: &mut [f64]) {
            self.density.expand(position, out);
        }

        fn name(&self) -> &str {
            self.density.name()
        }

        fn center(&self) -> Option<Vec<f64>> {
            self.density.center()
        }

        fn init_scale(&self) -> Option<Vec<f64>> {
            self.density.init_scale()
        }

        fn hierarchies(&self) -> &[Hierarchy] {
            self.density.hierarchies()
        }
    }

    /// Returns the sum of all places where the density was evaluated, and the checks.
    fn checked(seed: u64, sampler: &SamplerConfig) -> (u64, Vec<SelfCheck>) {
        let prior = HierarchicalPrior { mu_mean: 3.0, mu_sd: 2.0, sigma_pop_scale: 1.5, sigma_obs_scale: 1.0 };
        let simulator = HierarchicalSimulator::new(vec![3, 4, 5], prior, Likelihood::Collapsed).unwrap();
        let places = Arc::new(AtomicU64::new(0));
        let checks = self_check(&Watched { simulator, places: Arc::clone(&places) }, seed, sampler).unwrap();
        (places.load(Ordering::Relaxed), checks)
    }

    /// Four chains of 220 iterations are looked at, and 24 transitions of four chains and of nine step sizes.
    #[test]
    fn so_much_is_looked_at_and_agrees() {
        let (_, checks) = checked(1, &SamplerConfig { max_depth: 4, ..SamplerConfig::default() });
        let details: Vec<&str> = checks.iter().map(|check| check.detail.as_str()).collect();
        assert_eq!(details, ["96 transitions agree", "216 transitions agree", "3 windows agree", "880 draws agree"]);
    }

    /// The check runs the sampler that is asked for. It compares a sampler with its second implementation, and says which
    /// samplers have none.
    #[test]
    fn each_sampler_is_checked_as_far_as_it_can_be() {
        let (of_nuts, _) = checked(1, &SamplerConfig::default());
        for name in Algorithm::NAMES {
            let algorithm = Algorithm::named(name).unwrap();
            let (places, checks) =
                checked(1, &SamplerConfig { algorithm: algorithm.clone(), ..SamplerConfig::default() });
            assert_eq!(places == of_nuts, *name == "nuts", "{name}");
            let skipped: Vec<bool> = checks.iter().map(|check| check.skipped).collect();
            let (known, population) = (["nuts", "hmc", "chees"].contains(name), algorithm.draws_population());
            assert_eq!(skipped, [!known, !known, population, false], "{name}");
            assert!(checks.iter().all(|check| !check.failed() && check.passed != check.skipped), "{checks:#?}");
            assert!(checks.iter().all(|check| !check.skipped || check.detail.contains(name)), "{checks:#?}");
        }
        for fixed in [
            Hmc { leapfrogs: Some(3), ..Hmc::default() },
            Hmc { leapfrogs: Some(20), step_size: Some(0.01), jitter: 0.0, ..Hmc::default() },
        ] {
            let (_, checks) =
                checked(1, &SamplerConfig { algorithm: Algorithm::Hmc(fixed), ..SamplerConfig::default() });
            assert!(checks.iter().all(|check| check.passed), "{checks:#?}");
        }
    }

    /// Whatever a setting changes, the chains go to other places.
    #[test]
    fn the_sampler_is_checked_with_the_settings_that_are_asked_for() {
        let base = SamplerConfig::default();
        let (places, checks) = checked(1, &base);
        assert!(checks.iter().all(|check| check.passed), "{checks:#?}");
        assert_eq!(checked(1, &base).0, places, "the same again");
        assert_ne!(checked(2, &base).0, places, "another seed");
        for other in [
            SamplerConfig { target_accept: 0.95, ..base.clone() },
            SamplerConfig { max_depth: 2, ..base.clone() },
            SamplerConfig { parameterization: Parameterization::Centered, ..base.clone() },
            SamplerConfig { metric: MetricKind::DiagDraws, ..base.clone() },
            SamplerConfig { init_radius: 0.5, ..base.clone() },
        ] {
            let (found, checks) = checked(1, &other);
            assert!(found != places && checks.iter().all(|check| check.passed), "{other:?}: {checks:#?}");
        }
    }
}
