//! Single steps of the CPU engine, for tests that hold other engines to its bits; they are not part of the interface.

use crate::adapt::Adaptation;
use crate::adapt::DualAveraging;
use crate::config::SamplerConfig;
use crate::draw::DrawStats;
use crate::engine::ChainState;
use crate::kernel::{
    Address, Metric, NutsSettings, PhaseSpace, Point, Space, State, StateMut, Tuned, Vectors, Workspace, transition,
};
use crate::run::Sampler;
use octopus_density::warp::Buffer;
use octopus_density::{DensityError, LogDensity};

/// A chain whose every part the test chooses.
pub struct ReferenceChain<'d> {
    space: Space<'d>,
    metric: Metric,
    vectors: Vectors,
    point: Point,
    workspace: Workspace,
}

/// The place of a transition in the random numbers of a run.
#[derive(Clone, Copy, Debug)]
pub struct RandomAddress {
    /// Seed of the run.
    pub seed: u64,
    /// Number of the chain.
    pub chain: u32,
    /// The number of iterations before the transition, warm-up included.
    pub iteration: u32,
}

impl RandomAddress {
    fn of_transition(self) -> Address {
        let Self { seed, chain, iteration } = self;
        // Iteration 0 of the random numbers belongs to the starting points.
        Address { seed, chain, iteration: iteration + 1 }
    }
}

impl<'d> ReferenceChain<'d> {
    /// Places a chain at `x`, in the coordinates and with the metric of `adaptation`.
    ///
    /// # Errors
    /// When the density has no value there.
    pub fn new(density: &'d dyn LogDensity, adaptation: &Adaptation, x: &[f64]) -> Result<Self, DensityError> {
        let dim = density.dim();
        let mut chain = Self {
            space: Space::of(density, adaptation),
            metric: Metric::new(&adaptation.metric),
            vectors: Vectors::new(dim),
            point: Point { x: Buffer::from_slice(x), ..Point::zeros(dim) },
            workspace: Workspace::new(dim),
        };
        let (phase_space, point, workspace) = chain.parts();
        phase_space.evaluate(point, &mut workspace.scratch)?;
        Ok(chain)
    }

    fn parts(&mut self) -> (PhaseSpace<'_, 'd>, &mut Point, &mut Workspace) {
        let Self { space, metric, vectors, point, workspace } = self;
        (PhaseSpace { space, metric, vectors }, point, workspace)
    }

    /// Returns the position, in the sampler's coordinates.
    pub fn x(&self) -> &[f64] {
        &self.point.x[..self.space.dim]
    }

    /// Returns the position in the density's own coordinates.
    pub fn natural(&self) -> Vec<f64> {
        let mut x = self.x().to_vec();
        self.space.make_natural(&mut x);
        x
    }

    /// Returns the whitened force at the position.
    pub fn force(&self) -> &[f64] {
        &self.point.force[..self.space.dim]
    }

    /// Returns the log density at the position.
    pub fn logp(&self) -> f64 {
        self.point.logp
    }

    /// Makes one leapfrog step with the whitened momentum `r`, which becomes the new momentum. Returns the square of
    /// the new momentum, or `None` where the density has no value.
    ///
    /// # Errors
    /// When the density is broken.
    pub fn leapfrog(&mut self, step: f64, r: &mut [f64]) -> Result<Option<f64>, DensityError> {
        let (phase_space, point, workspace) = self.parts();
        let dim = phase_space.dim();
        let momentum = Buffer::from_slice(r);
        let (mut to, mut next) = (Point::zeros(dim), Buffer::zeros(dim));
        let (from, arrival) = (State { point, momentum: &momentum }, StateMut { point: &mut to, momentum: &mut next });
        let square = phase_space.leapfrog(step, from, arrival, &mut workspace.scratch)?;
        *point = to;
        r.copy_from_slice(&next[..dim]);
        Ok(square)
    }

    /// Makes one transition of the run's sampler, with this step size and, where the sampler learns it, this mean length
    /// of trajectories.
    ///
    /// # Errors
    /// When the density is broken.
    pub fn step(
        &mut self,
        config: &SamplerConfig,
        step_size: f64,
        length: Option<f64>,
        address: RandomAddress,
    ) -> Result<DrawStats, DensityError> {
        let (phase_space, point, workspace) = self.parts();
        let tuned = Tuned { config, step_size, length, center: None };
        let Some(kernel) = config.algorithm.kernel() else {
            return Err(DensityError::Broken("a population has no transitions".to_owned()));
        };
        kernel.step(phase_space, tuned, address.of_transition(), point, workspace)
    }

    /// Makes one transition of NUTS.
    ///
    /// # Errors
    /// When the density is broken.
    pub fn transition(
        &mut self,
        step_size: f64,
        max_depth: u32,
        max_energy_error: f64,
        address: RandomAddress,
    ) -> Result<DrawStats, DensityError> {
        let (phase_space, point, workspace) = self.parts();
        let settings = NutsSettings { step_size, max_depth, max_energy_error };
        transition(phase_space, settings, address.of_transition(), point, workspace)
    }
}

/// The state of a chain of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSnapshot {
    /// The position, in the sampler's coordinates.
    pub x: Vec<f64>,
    /// The log density at the position.
    pub logp: f64,
    /// The step size of the next transition.
    pub step_size: f64,
    /// The state of dual averaging: target, mu, count, mean error, log step, mean log step.
    pub averaging: [f64; 6],
}

/// Returns the state of dual averaging at its start, as in [`ChainSnapshot::averaging`].
pub fn averaging(initial: f64, target: f64) -> [f64; 6] {
    DualAveraging::new(initial, target).numbers()
}

/// Returns the state of every chain of a run.
pub fn snapshot(sampler: &Sampler<'_>) -> Vec<ChainSnapshot> {
    let of = |chain: ChainState| ChainSnapshot {
        x: chain.x,
        logp: chain.logp,
        step_size: chain.step_size,
        averaging: chain.averaging.numbers(),
    };
    sampler.states().expect("the CPU keeps its chains").into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;

    /// The draws of a run without warm-up are the transitions of its chains from where they start, with the run's seed.
    #[test]
    fn a_run_is_its_transitions() {
        let density = EightSchools::rubin();
        let config = SamplerConfig { chains: 2, tune: 0, draws: 5, seed: 9, max_depth: 6, ..SamplerConfig::default() };
        let mut sampler = Sampler::new(&density, config).unwrap();
        let (starts, adaptation) = (snapshot(&sampler), sampler.adaptation().clone());
        let block = sampler.advance(usize::MAX).unwrap().unwrap();
        let ends = snapshot(&sampler);
        for (c, (start, drawn)) in starts.iter().zip(&block.chains).enumerate() {
            let mut chain = ReferenceChain::new(&density, &adaptation, &start.x).unwrap();
            assert_eq!(chain.logp(), start.logp);
            for (iteration, x) in drawn.positions.chunks(density.dim()).enumerate() {
                let address = RandomAddress { seed: 9, chain: c as u32, iteration: iteration as u32 };
                let stats = chain.transition(start.step_size, 6, 1000.0, address).unwrap();
                assert_eq!((chain.natural().as_slice(), stats), (x, drawn.stats[iteration]));
            }
            assert_eq!((chain.x(), chain.logp()), (ends[c].x.as_slice(), ends[c].logp));
        }
    }
}
