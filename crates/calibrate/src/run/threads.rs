//! The data sets of a calibration on the CPU's threads, which take one piece of work after another.

use super::{Task, ended};
use crate::data_set::{Drawn, Posed};
use crate::{CalibrateError, CalibratedSet, Found};
use octopus_sampler::Sampler;
use rayon::ThreadPoolBuilder;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};

/// Iterations between two looks at whether to stop.
pub(crate) const TURN: usize = 100;

pub(super) fn run(
    task: &Task<'_>,
    numbers: impl Iterator<Item = u32> + Send,
    threads: usize,
    keep: &mut dyn FnMut(CalibratedSet) -> Result<(), CalibrateError>,
) -> Result<(), CalibrateError> {
    let work = |number, stop: &dyn Fn() -> bool| match ended(number, found(task, number, stop)) {
        Ok(found) => found.map(|found| CalibratedSet { number, outcome: Ok(found) }),
        Err(failed) => Some(failed),
    };
    on_threads(numbers, threads, task.stop, &work, keep)
}

/// A function that does the work for an item. Its second argument returns true when the work should stop; the result is
/// then `None`.
pub(crate) type Work<'a, I, R> = dyn Fn(I, &dyn Fn() -> bool) -> Option<R> + Sync + 'a;

/// Does `work` for every item on several threads and hands each result to `keep` on this thread, in any order. `work`
/// is asked to stop when `stop` returns true or `keep` has failed; it then returns `None`.
///
/// # Errors
/// When no thread can be started, or `keep` fails.
pub(crate) fn on_threads<I: Send, R: Send>(
    items: impl Iterator<Item = I> + Send,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    work: &Work<'_, I, R>,
    keep: &mut dyn FnMut(R) -> Result<(), CalibrateError>,
) -> Result<(), CalibrateError> {
    let items = Mutex::new(items);
    let failed = AtomicBool::new(false);
    let ends = || failed.load(Ordering::Relaxed) || stop();
    let pools =
        (0..threads.max(1)).map(|_| ThreadPoolBuilder::new().num_threads(1).build()).collect::<Result<Vec<_>, _>>()?;
    tracing::info!(threads = pools.len(), "sampling begins");
    let next = || items.lock().map_or(None, |mut items| items.next());
    std::thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for pool in &pools {
            let sender = sender.clone();
            let (ends, next) = (&ends, &next);
            scope.spawn(move || {
                // The sampler's parallel loops stay in the pool that they are called in.
                pool.install(|| {
                    while !ends() {
                        let Some(done) = next().and_then(|item| work(item, ends)) else { break };
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
                return Err(error);
            }
        }
        Ok(())
    })
}

/// Does data set `number`; `None` when `stop` says so before it is done.
fn found(task: &Task<'_>, number: u32, stop: &dyn Fn() -> bool) -> Result<Option<Found>, CalibrateError> {
    let posed = Posed::new(task.simulator, task.settings, &task.quantities, number)?;
    let mut drawn = Drawn::new(&posed, &task.quantities);
    let mut sampler = Sampler::new(&*posed.density, posed.config.clone())?;
    while let Some(block) = sampler.advance(TURN)? {
        if stop() {
            return Ok(None);
        }
        drawn.take(&block)?;
    }
    drawn.found(task.settings).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::thread::{current, sleep};
    use std::time::{Duration, Instant};

    /// An item takes long enough for a second thread to take the next.
    #[test]
    fn one_thread_does_all_items_in_a_pool_of_its_own() {
        for threads in [0, 1] {
            let mut done = Vec::new();
            let work = |item: u32, _: &dyn Fn() -> bool| {
                sleep(Duration::from_millis(2));
                Some((item, current().id(), rayon::current_num_threads()))
            };
            let mut keep = |one| {
                done.push(one);
                Ok(())
            };
            on_threads(0..6, threads, &|| false, &work, &mut keep).unwrap();
            assert_eq!(done.iter().map(|one| (one.0, one.2)).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5].map(|i| (i, 1)));
            assert_eq!(done.iter().map(|one| one.1).collect::<HashSet<_>>().len(), 1, "{threads} threads");
        }
    }

    /// The first item is done when the second is under way.
    #[test]
    fn what_is_under_way_is_asked_to_stop_when_nothing_can_be_kept() {
        let (started, asked) = (AtomicBool::new(false), AtomicBool::new(false));
        let wait = |until: &dyn Fn() -> bool| {
            let begin = Instant::now();
            while !until() && begin.elapsed() < Duration::from_secs(3) {
                sleep(Duration::from_millis(1));
            }
        };
        let work = |item: u32, stop: &dyn Fn() -> bool| {
            if item == 0 {
                wait(&|| started.load(Ordering::Relaxed));
                return Some(item);
            }
            started.store(true, Ordering::Relaxed);
            wait(stop);
            asked.store(stop(), Ordering::Relaxed);
            None
        };
        let done = on_threads(0..2, 2, &|| false, &work, &mut |_| Err(CalibrateError::Keep("full".into())));
        assert!(done.is_err() && asked.into_inner());
    }
}
