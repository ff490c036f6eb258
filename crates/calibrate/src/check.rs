//! The self-check of the sampler: it looks for faults that ranks cannot see.
//!
//! Such faults leave the distribution of the draws as it is, and cost efficiency or repeat work. Examples are a U-turn
//! that is noticed late, or a window of warm-up that begins late: each draw is still from the posterior. So a second
//! implementation repeats a few transitions, and warm-up is recomputed from its own draws.

mod iid_normal;
mod replay;
mod warm_up;

use crate::CalibrateError;
use crate::address::{Part, sampler_seed, stream};
use octopus_density::to_centered;
use octopus_models::Simulator;
use octopus_sampler::{Phase, Sampler, SamplerConfig};
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
    /// The number of cases, and the first that disagreed.
    pub detail: String,
}

/// Cases that ought to agree.
struct Tally {
    name: &'static str,
    what: &'static str,
    cases: usize,
    disagreed: usize,
    first: Option<String>,
}

impl Tally {
    fn new(name: &'static str, what: &'static str) -> Self {
        Self { name, what, cases: 0, disagreed: 0, first: None }
    }

    fn case(&mut self, disagreement: Option<String>) {
        self.cases += 1;
        self.disagreed += usize::from(disagreement.is_some());
        self.first = self.first.take().or(disagreement);
    }

    fn done(self) -> SelfCheck {
        let Self { name, what, cases, disagreed, first } = self;
        let detail = match first {
            None => format!("{cases} {what} agree"),
            Some(first) => format!("{disagreed} of {cases} {what} differ; the first: {first}"),
        };
        // What was not looked at has not passed.
        SelfCheck { name, passed: disagreed == 0 && cases > 0, detail }
    }
}

/// Runs the sampler on one data set of the model with the given metric, parameterization and target, and compares
///
/// - each transition of some with a recursive NUTS written from the papers, in the coordinates and metric that warm-up has
///   found, and on independent normals with step sizes at which trajectories close on themselves;
/// - what each window of warm-up has learned with what follows from its draws;
/// - the reported log densities with the density's.
///
/// # Errors
/// When the model cannot be simulated or sampled.
pub fn self_check(
    simulator: &dyn Simulator,
    seed: u64,
    sampler: &SamplerConfig,
) -> Result<Vec<SelfCheck>, CalibrateError> {
    let truth = simulator.draw_parameters(&mut stream(seed, NUMBER, Part::Parameters));
    let density = simulator.simulate(&truth, &mut stream(seed, NUMBER, Part::Data))?;
    let config = SamplerConfig {
        draws: DRAWS,
        tune: TUNE,
        chains: CHAINS,
        seed: sampler_seed(seed, NUMBER),
        target_accept: sampler.target_accept,
        max_depth: sampler.max_depth,
        parameterization: sampler.parameterization,
        metric: sampler.metric,
        init_radius: sampler.init_radius,
        ..SamplerConfig::default()
    };
    let mut warm_up = warm_up::WarmUp::new(&*density, &config);
    let mut reported = Tally::new("reported log density", "draws");
    let mut transitions = Tally::new("transitions of the model", "transitions");
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
                let close = (stats.lp - expected).abs() <= 1e-9 * (1.0 + expected.abs());
                reported.case((!close).then(|| format!("{} was reported, it is {expected}", stats.lp)));
            }
        }
        ends = block.chains.iter().map(|chain| chain.positions[(block.draws - 1) * density.dim()..].to_vec()).collect();
    }
    let adaptation = run.adaptation();
    for (chain, (mut x, step)) in ends.into_iter().zip(run.step_sizes()).enumerate() {
        to_centered(density.hierarchies(), &adaptation.centerings, &mut x);
        replay::compare(&*density, adaptation, run.config(), &x, step, chain as u32, &mut transitions)?;
    }
    let mut closed = Tally::new("transitions on closed orbits", "transitions");
    iid_normal::compare(run.config(), &mut closed)?;
    Ok([transitions, closed, warm_up.tally, reported].map(Tally::done).into())
}
