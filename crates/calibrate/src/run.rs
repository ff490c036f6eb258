//! Data sets over threads, each data set on one of them.

use crate::data_set::data_set;
use crate::quantities::Quantities;
use crate::{CalibrateError, DataSet, Settings, Simulator};
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};

/// Does the data sets of these numbers on `threads` threads, and hands each to `keep` on this one as soon as it is done,
/// in any order. `stop` is asked often: when it says so, data sets that are not done are dropped.
///
/// Chains of one data set share a thread: with many data sets that leaves no thread idle, and none waits for another.
///
/// # Errors
/// When settings are out of range, no thread can be started, or `keep` fails, which ends it. A data set that fails does
/// not: its outcome says why.
pub fn run<S: Simulator, E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    simulator: &S,
    settings: &Settings,
    numbers: impl IntoIterator<Item = u32, IntoIter: Send>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    keep: &mut dyn FnMut(DataSet) -> Result<(), E>,
) -> Result<(), CalibrateError> {
    settings.validate()?;
    let quantities = Quantities::of(simulator.layout());
    let numbers = Mutex::new(numbers.into_iter());
    let failed = AtomicBool::new(false);
    let ends = || failed.load(Ordering::Relaxed) || stop();
    let pools =
        (0..threads.max(1)).map(|_| ThreadPoolBuilder::new().num_threads(1).build()).collect::<Result<Vec<_>, _>>()?;
    let next = || numbers.lock().map_or(None, |mut numbers| numbers.next());
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for pool in &pools {
            let sender = sender.clone();
            let (ends, next, quantities) = (&ends, &next, &quantities);
            scope.spawn(move || {
                // The sampler's parallel loops stay in the pool that they are called in.
                pool.install(|| {
                    while !ends() {
                        let Some(number) = next() else { break };
                        let Some(done) = data_set(simulator, settings, quantities, number, ends) else { break };
                        if sender.send(done).is_err() {
                            break;
                        }
                    }
                });
            });
        }
        drop(sender);
        for done in results {
            if let Err(error) = keep(done) {
                failed.store(true, Ordering::Relaxed);
                return Err(CalibrateError::Keep(error.into()));
            }
        }
        Ok(())
    })
}
