//! The loop of a calibration over its data sets: on threads, each on one of them, or in batches, as on a GPU.

mod batches;
mod threads;

pub(crate) use threads::{TURN, on_threads};

use crate::quantities::Quantities;
use crate::{CalibrateError, CalibratedSet, CalibrationSettings};
use octopus_density::gpu::Precision;
use octopus_models::Simulator;
use octopus_sampler::{BatchSampler, ConfigError, DataSet as Run, SamplerError};

/// What begins the runs of some data sets, wherever their chains are: [`BatchSampler::begin`].
pub type BeginBatch<'a> = dyn for<'d> FnMut(&[Run<'d>]) -> Result<BatchSampler<'d>, SamplerError> + Send + 'a;

/// What moves the runs of the data sets. In f64 the ranks are the same to the bit.
pub enum Mover<'a> {
    /// So many threads of the CPU.
    Threads(usize),
    /// Batches of data sets, as a GPU moves them.
    Batches {
        /// The most data sets of one batch.
        at_once: usize,
        /// Begins the runs of a batch.
        begin: &'a mut BeginBatch<'a>,
        /// The number of threads that make data sets and rank what is drawn.
        threads: usize,
    },
}

/// The work that is done for each data set.
struct Task<'a> {
    simulator: &'a dyn Simulator,
    settings: &'a CalibrationSettings,
    quantities: Quantities,
    stop: &'a (dyn Fn() -> bool + Sync),
}

/// Returns a failed outcome as a data set, with the error on one line, so that a table can keep it.
fn ended<T>(number: u32, outcome: Result<T, CalibrateError>) -> Result<T, CalibratedSet> {
    let one_line = |error: CalibrateError| error.to_string().replace(['\n', '\r'], " ");
    outcome.map_err(|error| CalibratedSet { number, outcome: Err(one_line(error)) })
}

/// Does the data sets with these numbers and hands each to `keep` on this thread as soon as it is done, in any order.
/// `stop` is called often: when it returns true, data sets that are not done are dropped.
///
/// With [`Mover::Threads`] the chains of one data set share one thread: with many data sets that leaves no thread idle,
/// and none waits for another.
///
/// # Errors
/// When settings are out of range, no thread can be started, a device fails or has no kernels for the model, or `keep`
/// fails: all end the calibration. A data set that fails does not end it: its outcome says why.
pub fn run<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    simulator: &dyn Simulator,
    settings: &CalibrationSettings,
    numbers: impl IntoIterator<Item = u32, IntoIter: Send>,
    mover: Mover<'_>,
    stop: &(dyn Fn() -> bool + Sync),
    keep: &mut dyn FnMut(CalibratedSet) -> Result<(), E>,
) -> Result<(), CalibrateError> {
    settings.validate()?;
    let task = Task { simulator, settings, quantities: Quantities::of(simulator.layout()), stop };
    let numbers = numbers.into_iter();
    let mut keep = |data_set| keep(data_set).map_err(|error| CalibrateError::Keep(error.into()));
    match mover {
        Mover::Threads(_) if settings.sampler.precision != Precision::F64 => {
            let value = settings.sampler.precision.to_string();
            Err(ConfigError { field: "precision", value, expected: "the CPU computes in f64" }.into())
        }
        Mover::Threads(threads) => threads::run(&task, numbers, threads, &mut keep),
        Mover::Batches { at_once, begin, threads } => batches::run(&task, numbers, at_once, begin, threads, &mut keep),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{Layout, LogDensity};
    use octopus_models::{HierarchicalPrior, HierarchicalSimulator, Likelihood, ModelError};
    use octopus_random::Stream;
    use octopus_sampler::{Backend, SamplerConfig};
    use std::sync::Mutex;

    /// Notes how many threads there are where data are simulated.
    struct Watched {
        simulator: HierarchicalSimulator,
        threads: Mutex<Vec<usize>>,
    }

    impl Simulator for Watched {
        fn layout(&self) -> &Layout {
            self.simulator.layout()
        }

        fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
            self.simulator.draw_parameters(random)
        }

        fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
            self.threads.lock().unwrap().push(rayon::current_num_threads());
            self.simulator.simulate(position, random)
        }
    }

    #[test]
    fn batches_have_as_many_data_sets_and_threads_as_are_asked_for() {
        let sampler = SamplerConfig { chains: 2, draws: 10, tune: 30, ..SamplerConfig::default() };
        let settings = CalibrationSettings { seed: 3, kept: 5, sampler };
        let ranked = |mover: Mover<'_>| {
            let simulator = HierarchicalSimulator::new(vec![3, 4], HierarchicalPrior::default(), Likelihood::Collapsed);
            let watched = Watched { simulator: simulator.unwrap(), threads: Mutex::default() };
            let mut found = Vec::new();
            run(&watched, &settings, 0..3, mover, &|| false, &mut |data_set| {
                found.push(data_set);
                Ok::<(), std::convert::Infallible>(())
            })
            .unwrap();
            found.sort_by_key(|data_set: &CalibratedSet| data_set.number);
            (found, watched.threads.into_inner().unwrap())
        };
        let (expected, _) = ranked(Mover::Threads(1));
        assert_eq!(expected.len(), 3);
        for (at_once, threads, sizes) in [(0, 0, vec![1, 1, 1]), (1, 1, vec![1, 1, 1]), (2, 3, vec![2, 1])] {
            let mut begun = Vec::new();
            let begin: &mut BeginBatch<'_> = &mut |sets| {
                begun.push(sets.len());
                BatchSampler::begin(sets, 3, Backend::Cpu)
            };
            let (found, of_threads) = ranked(Mover::Batches { at_once, begin, threads });
            assert_eq!((found, begun), (expected.clone(), sizes), "{at_once} at once");
            assert_eq!(of_threads, [threads.max(1); 3]);
        }
    }
}
