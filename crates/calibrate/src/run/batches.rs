//! Batches of data sets: the chains of all data sets in a batch move together.
//!
//! The data of the next batch are simulated here.

use super::{BeginBatch, Task, ended};
use crate::data_set::{Drawn, Posed};
use crate::{CalibrateError, CalibratedSet, Found};
use octopus_sampler::{BatchStep, Begin as From, Block, DataSet as Run, SamplerError};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

/// Iterations between two looks at whether to stop.
const TURN: usize = 100;

pub(super) fn run(
    task: &Task<'_>,
    mut numbers: impl Iterator<Item = u32>,
    at_once: usize,
    begin: &mut BeginBatch<'_>,
    threads: usize,
    keep: &mut dyn FnMut(CalibratedSet) -> Result<(), CalibrateError>,
) -> Result<(), CalibrateError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.max(1)).build()?;
    tracing::info!(threads = pool.current_num_threads(), "sampling begins");
    loop {
        let of_batch: Vec<u32> = numbers.by_ref().take(at_once.max(1)).collect();
        if of_batch.is_empty() || (task.stop)() {
            return Ok(());
        }
        let pose = |&number: &u32| ended(number, Posed::new(task.simulator, task.settings, &task.quantities, number));
        let made: Vec<Result<Posed, CalibratedSet>> = pool.install(|| of_batch.par_iter().map(pose).collect());
        let mut posed = Vec::new();
        for made in made {
            match made {
                Ok(one) => posed.push(one),
                Err(failed) => keep(failed)?,
            }
        }
        let runs: Vec<Run<'_>> =
            posed.iter().map(|one| Run { density: &*one.density, begin: From::Anew(one.config.clone()) }).collect();
        let mut batch = pool.install(|| begin(&runs))?;
        let mut drawn: Vec<_> = posed.iter().map(|one| Some(Drawn::new(one, &task.quantities))).collect();
        loop {
            let steps = pool.install(|| batch.advance(TURN));
            batch.take_notes().iter().for_each(|note| tracing::warn!("data sets: {note}"));
            let Some(steps) = steps? else { break };
            if (task.stop)() {
                return Ok(());
            }
            let mut taken = Vec::new();
            for BatchStep { set, block } in steps {
                // Where one data set has no kernels, none of the model's has.
                if let Err(error @ SamplerError::NoKernel { .. }) = block {
                    return Err(error.into());
                }
                taken.extend(drawn[set].take().map(|drawn| (set, drawn, block, batch.is_complete(set))));
            }
            let steps: Vec<_> = pool.install(|| {
                let one = |(set, drawn, block, is_last): (usize, _, _, _)| {
                    let number = posed[set].number;
                    (set, ended(number, step(task, drawn, block, is_last)))
                };
                taken.into_par_iter().map(one).collect()
            });
            for (set, step) in steps {
                match step {
                    Ok(SetProgress::Open(open)) => drawn[set] = Some(open),
                    Ok(SetProgress::Done(found)) => {
                        keep(CalibratedSet { number: posed[set].number, outcome: Ok(found) })?
                    }
                    Err(failed) => keep(failed)?,
                }
            }
        }
    }
}

/// How a data set stands.
enum SetProgress<'a> {
    Open(Drawn<'a>),
    Done(Found),
}

/// Takes what the chains of a data set have drawn.
fn step<'a>(
    task: &Task<'_>,
    mut drawn: Drawn<'a>,
    block: Result<Block, SamplerError>,
    is_last: bool,
) -> Result<SetProgress<'a>, CalibrateError> {
    drawn.take(&block?)?;
    Ok(if is_last { SetProgress::Done(drawn.found(task.settings)?) } else { SetProgress::Open(drawn) })
}
