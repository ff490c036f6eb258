//! Batches of draws from all cores, while the last one is taken.

use super::batches::{Batches, DrawError};
use crate::Scalar;
use crate::pool::HostBuffer;
use octopus_random::{Draw, Key};
use std::sync::mpsc;

/// Batches under way: one that is made and one that is taken.
const UNDER_WAY: usize = 2;

pub(super) fn stream<T: Scalar, E: From<DrawError>>(
    distribution: &dyn Draw<T>,
    key: Key,
    batches: Batches,
    threads: Option<usize>,
    mut take: impl FnMut(&[T]) -> Result<(), E>,
) -> Result<(), E> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| DrawError::Threads { problem: error.to_string() })?;
    let dimensions = distribution.dimensions();
    let (give_back, given_back) = mpsc::channel();
    for _ in 0..UNDER_WAY {
        let buffer = HostBuffer::<T>::unfilled(batches.most() * dimensions).map_err(DrawError::from)?;
        // The other end is below: it is there.
        let _ = give_back.send(buffer);
    }
    std::thread::scope(|scope| {
        let (made, to_take) = mpsc::channel::<Result<(HostBuffer<T>, usize), DrawError>>();
        scope.spawn(move || {
            for (first, count) in batches {
                // Who takes has gone: nobody wants more.
                let Ok(mut buffer) = given_back.recv() else { return };
                let numbers = count * dimensions;
                let drawn = pool.install(|| distribution.par_fill(key, first, &mut buffer[..numbers]));
                let failed = drawn.is_err();
                if made.send(drawn.map(|()| (buffer, numbers)).map_err(DrawError::from)).is_err() || failed {
                    return;
                }
            }
        });
        // Dropped at the end, however that comes: the thread then stops waiting for a buffer.
        let give_back = give_back;
        for batch in to_take {
            let (buffer, numbers) = batch?;
            take(&buffer[..numbers])?;
            // After the last batch nobody takes it.
            let _ = give_back.send(buffer);
        }
        Ok(())
    })
}
