//! The choice that `--strategy auto` makes between four long chains and many short ones.
//!
//! Leapfrog steps are counted, and no clock is looked at: the choice follows from the settings and the number of
//! coordinates, and is the same on every machine.

use crate::{Goal, RunError};
use octopus_device::DeviceChoice;
use octopus_diag::limits;
use octopus_sampler::plan::{Stage, alternatives, best, draws_for, least_draws, stages};
use octopus_sampler::{Precision, SamplerConfig};

/// The chains that a GPU moves in about the time of one.
const CHAINS_OF_A_GPU: usize = 1024;
/// The most draws of a run that ends at its target, as a multiple of the draws that it is predicted to need.
const AT_MOST: usize = 4;

/// A run with the leapfrog steps that it is predicted to make.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedRun {
    /// The run's settings.
    pub config: SamplerConfig,
    /// The steps of all chains on a CPU; on a GPU those of one chain of the many that move side by side.
    pub steps: f64,
}

/// The run that was chosen, and the runs that it was chosen from.
#[derive(Clone, Debug, PartialEq)]
pub struct StrategyPlan {
    /// The settings of the chosen run.
    pub config: SamplerConfig,
    /// The chosen run as it was counted. A run with a target may make more draws than are counted.
    pub chosen: CountedRun,
    /// All runs that were considered; the first has long chains.
    pub considered: Vec<CountedRun>,
}

impl StrategyPlan {
    /// Returns the reason for the choice, in one line.
    pub fn reason(&self) -> String {
        let counted = |run: &CountedRun| format!("{} makes about {:.0} leapfrog steps", words(&run.config), run.steps);
        let long = self.considered.first().filter(|long| **long != self.chosen);
        let against = long.map_or_else(String::new, |long| format!(", {}", counted(long)));
        format!("{}{against}", counted(&self.chosen))
    }
}

/// The number of draws of all chains together that a run is to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawsWanted {
    /// The number of draws; for a run with a target, the number that it is predicted to need.
    pub draws: usize,
    /// The limit on the number of draws.
    pub limit: DrawsLimit,
}

/// The limit on the number of draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DrawsLimit {
    /// As many draws as are wanted, because there is no target.
    Wanted,
    /// Several times as many draws as the run is predicted to need to its target.
    Generous,
    /// This number of draws of all chains together.
    Given(usize),
}

impl DrawsWanted {
    /// Returns the draws that `base` makes, or those that the goal is predicted to need. If the user gave the number of
    /// draws (`draws_given`), the draws of `base` are the limit for a run with a goal.
    pub fn new(base: &SamplerConfig, goal: &Goal, draws_given: bool) -> Self {
        let own = base.chains.saturating_mul(base.draws);
        let draws = goal.target_ess.map_or(own, |target| draws_for(target).max(1));
        match (goal.target_ess.is_some() || goal.target_rhat.is_some(), draws_given) {
            (false, _) => Self { draws: own, limit: DrawsLimit::Wanted },
            (true, true) => Self { draws: draws.min(own), limit: DrawsLimit::Given(own) },
            (true, false) => Self { draws, limit: DrawsLimit::Generous },
        }
    }
}

/// Chooses among [`alternatives`] for a model of `dim` coordinates: of the runs that make hardly more leapfrog steps than
/// the one with the fewest, the one with the most chains. The device counts only where it must be a GPU, which moves many
/// chains in the time of one.
///
/// # Errors
/// When the settings are out of range, or no run can draw as much.
pub fn plan(
    base: &SamplerConfig,
    wanted: DrawsWanted,
    dim: usize,
    device: DeviceChoice,
) -> Result<StrategyPlan, RunError> {
    let side_by_side = match device {
        DeviceChoice::Cpu => 1,
        DeviceChoice::Auto if base.precision == Precision::F64 => 1,
        _ => CHAINS_OF_A_GPU,
    };
    let steps = |stage: Stage| stage.steps * stage.chains.max(side_by_side) as f64 / side_by_side as f64;
    // With a target, R-hat lets the run end only after a least number of draws; without one, runs draw as asked.
    let least = |config: &SamplerConfig| {
        if wanted.limit == DrawsLimit::Wanted { 1 } else { least_draws(config, dim, limits::RHAT) }
    };
    let considered: Vec<CountedRun> = alternatives(base, wanted.draws, dim, limits::RHAT)
        .into_iter()
        .map(|config| SamplerConfig { draws: config.draws.max(least(&config)), ..config })
        .filter(|config| config.validate().is_ok())
        .map(|config| CountedRun { steps: stages(&config, dim).into_iter().map(steps).sum(), config })
        .collect();
    let counted: Vec<(SamplerConfig, f64)> = considered.iter().map(|run| (run.config.clone(), run.steps)).collect();
    let Some((config, steps)) = best(&counted).cloned() else {
        // A setting that is out of range is so in every run.
        let error = base.validate().err().map_or_else(|| "no run draws as much".to_owned(), |error| error.to_string());
        return Err(RunError::CannotRun(format!("--strategy auto: {error}")));
    };
    let chosen = CountedRun { config, steps };
    Ok(StrategyPlan { config: limited(chosen.config.clone(), wanted, dim), chosen, considered })
}

/// Returns the settings with as many draws as the run may make.
fn limited(config: SamplerConfig, wanted: DrawsWanted, dim: usize) -> SamplerConfig {
    let draws = match wanted.limit {
        DrawsLimit::Wanted => config.draws,
        DrawsLimit::Generous => AT_MOST * config.draws.max(least_draws(&config, dim, limits::RHAT)),
        DrawsLimit::Given(all) => all.div_ceil(config.chains).max(1),
    };
    SamplerConfig { draws, ..config }
}

fn words(config: &SamplerConfig) -> String {
    let SamplerConfig { strategy, chains, draws, .. } = config;
    let superchains = config.nested().map_or_else(String::new, |number| format!(" in {number} superchains"));
    format!("{} with {chains} chains{superchains} x {draws} draws", strategy.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::Strategy;

    /// The coordinates of the PRD's model.
    const DIM: usize = 103;

    /// The PRD's settings.
    fn prd_sampler() -> SamplerConfig {
        SamplerConfig { draws: 2000, tune: 1000, chains: 4, target_accept: 0.95, seed: 42, ..SamplerConfig::default() }
    }

    fn planned(draws: usize, device: &str) -> StrategyPlan {
        let wanted = DrawsWanted { draws, limit: DrawsLimit::Wanted };
        plan(&prd_sampler(), wanted, DIM, device.parse().unwrap()).unwrap()
    }

    /// For 8000 draws it takes the chains that were the best in a measurement (docs/performance.md).
    #[test]
    fn warm_up_together_pays() {
        let plan = planned(8000, "auto");
        let SamplerConfig { strategy, chains, superchains, draws, .. } = plan.config;
        assert_eq!((strategy, chains, superchains, draws), (Strategy::ManyShort, 64, 16, 125));
        // 15 leapfrog steps each: 16 chains learn for 40 iterations, which count one and a half times, and 64 chains
        // spread for 4. The four long chains learn for 105.
        assert_eq!(plan.chosen.steps, 15.0 * (1.5 * 16.0 * 40.0 + 64.0 * 129.0));
        assert_eq!(plan.considered[0].steps, 15.0 * 4.0 * (1.5 * 105.0 + 2000.0));
        assert_eq!(
            plan.reason(),
            "many-short with 64 chains in 16 superchains x 125 draws makes about 138240 leapfrog steps, \
             cross-chain with 4 chains x 2000 draws makes about 129450 leapfrog steps"
        );
        assert_eq!(planned(8000, "cpu"), plan);
    }

    /// Where warm-up has few iterations, it saves few.
    #[test]
    fn few_chains_are_taken_where_they_cost_no_more() {
        let short = SamplerConfig { tune: 40, ..prd_sampler() };
        let wanted = DrawsWanted { draws: 8, limit: DrawsLimit::Wanted };
        let plan = plan(&short, wanted, DIM, DeviceChoice::Cpu).unwrap();
        assert_eq!(plan.config, SamplerConfig { draws: 2, ..short });
        assert_eq!(plan.reason(), "cross-chain with 4 chains x 2 draws makes about 3720 leapfrog steps");
    }

    #[test]
    fn to_a_target_all_strategies_draw_as_r_hat_needs() {
        let wanted = DrawsWanted { draws: draws_for(400.0), limit: DrawsLimit::Generous };
        let plan = plan(&SamplerConfig { tune: 300, ..prd_sampler() }, wanted, DIM, DeviceChoice::Cpu).unwrap();
        assert_eq!(plan.config.strategy, Strategy::ManyShort, "{}", plan.reason());
        assert!(plan.considered.iter().all(|run| run.config.draws >= least_draws(&run.config, DIM, limits::RHAT)));
    }

    #[test]
    fn a_gpu_has_many_chains() {
        for device in ["cuda", "cuda:1", "cuda:0,1", "cuda:all"] {
            assert!(planned(8000, device).config.chains >= 1024, "{device}");
        }
        // A thousand chains count as one, and four thousand as four.
        let [few, many] = [1024, 4096].map(|chains| {
            let plan = planned(1_000_000, "cuda");
            plan.considered.into_iter().find(|run| run.config.chains == chains).unwrap().steps
        });
        let steps = |chains: f64, draws: f64| 15.0 * (60.0 + chains / 1024.0 * (draws + 4.0));
        assert_eq!((few, many), (steps(1024.0, 977.0), steps(4096.0, 245.0)));
        let of = |precision, device: &str| {
            let wanted = DrawsWanted { draws: 8000, limit: DrawsLimit::Wanted };
            let base = SamplerConfig { precision, ..prd_sampler() };
            plan(&base, wanted, DIM, device.parse().unwrap()).unwrap().config.chains
        };
        assert_eq!(of(Precision::F32, "auto"), of(Precision::F32, "cuda"), "only a GPU has this precision");
        assert_eq!(of(Precision::F64, "auto"), 64);
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        let wanted = DrawsWanted { draws: 100, limit: DrawsLimit::Wanted };
        let base = SamplerConfig { target_accept: 2.0, ..prd_sampler() };
        let error = plan(&base, wanted, DIM, DeviceChoice::Cpu).unwrap_err().to_string();
        assert!(error.starts_with("--strategy auto: ") && error.contains("target_accept"), "{error}");
    }

    #[test]
    fn a_target_says_how_many_draws_and_the_user_how_many_at_most() {
        let base = prd_sampler();
        let target = |ess| Goal { target_ess: Some(ess), ..Goal::default() };
        let of = |draws, limit| DrawsWanted { draws, limit };
        assert_eq!(DrawsWanted::new(&base, &Goal::default(), true), of(8000, DrawsLimit::Wanted));
        assert_eq!(DrawsWanted::new(&base, &target(1100.0), false), of(2000, DrawsLimit::Generous));
        assert_eq!(DrawsWanted::new(&base, &target(11_000.0), true), of(8000, DrawsLimit::Given(8000)));
        // As many as are needed, and one at the least.
        assert_eq!([0.0, 0.5, 0.6].map(|ess| DrawsWanted::new(&base, &target(ess), false).draws), [1, 1, 2]);
        for (draws, long) in [(0, 1), (1, 1), (5, 2)] {
            assert_eq!(planned(draws, "cpu").considered[0].config.draws, long, "{draws} by four chains");
        }
        let rhat = Goal { target_rhat: Some(1.01), ..Goal::default() };
        assert_eq!(DrawsWanted::new(&base, &rhat, false), of(8000, DrawsLimit::Generous));
        let config = SamplerConfig { draws: 100, ..SamplerConfig::many_short(64) };
        let draws = |limit| limited(config.clone(), of(2000, limit), 103).draws;
        assert_eq!(
            (draws(DrawsLimit::Wanted), draws(DrawsLimit::Generous), draws(DrawsLimit::Given(8000))),
            (100, 400, 125)
        );
        assert_eq!(draws(DrawsLimit::Given(8001)), 126, "part of a draw of each chain is a draw");
        assert_eq!(draws(DrawsLimit::Given(0)), 1, "no run is without draws");
        // Few draws of few chains would not let R-hat come below its limit.
        let few = SamplerConfig { draws: 50, ..base };
        assert!(limited(few, of(200, DrawsLimit::Generous), 103).draws > 4 * 400);
    }
}
