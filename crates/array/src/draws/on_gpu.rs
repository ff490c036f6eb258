//! Batches of draws from GPUs: while one is copied to the host and taken, the next are made.
//!
//! Each device has two streams with a buffer of their own on either side, so that a copy hides behind a kernel. Batches go
//! round devices and streams in turn, and are taken in the same turn.

use super::batches::{Batches, DrawError};
use super::{DrawSource, range_of};
use crate::{Engine, Scalar};
use octopus_cuda::{CudaError, DeviceBuffer, PinnedBuffer, Stream, Transfer};
use octopus_random::{Draw, Key, TurnsExhausted};
use std::sync::Arc;

/// Streams of each device.
const STREAMS: usize = 2;

/// One stream of a device, with its memory.
struct Lane<T: Scalar> {
    engine: Arc<Engine>,
    stream: Stream,
    source: DrawSource<T>,
    draws: DeviceBuffer<T>,
    refused: DeviceBuffer<u32>,
    host: HostSide<T>,
}

/// Where a lane's buffers on the host are.
enum HostSide<T: Scalar> {
    /// Here.
    Idle(PinnedBuffer<T>, PinnedBuffer<u32>),
    /// With the device, which copies a batch of so many numbers to them.
    Busy { draws: Transfer<T>, refused: Transfer<u32>, first: u64, numbers: usize },
    /// Gone: a call to the driver failed.
    Lost,
}

pub(super) fn stream<T: Scalar, E: From<DrawError>>(
    distribution: &dyn Draw<T>,
    key: Key,
    batches: Batches,
    gpus: &[u32],
    mut take: impl FnMut(&[T]) -> Result<(), E>,
) -> Result<(), E> {
    let numbers = batches.most() * distribution.dimensions();
    // Neighbours in turn are different devices.
    let turns = (0..STREAMS).flat_map(|_| gpus);
    let mut lanes =
        turns.map(|gpu| Lane::new(*gpu, distribution, numbers)).collect::<Result<Vec<Lane<T>>, DrawError>>()?;
    let count = lanes.len();
    let mut next = 0;
    for (first, draws) in batches {
        let lane = &mut lanes[next];
        lane.taken(&mut take)?;
        lane.begin(key, first, draws * distribution.dimensions())?;
        next = (next + 1) % count;
    }
    for turn in 0..count {
        lanes[(next + turn) % count].taken(&mut take)?;
    }
    Ok(())
}

impl<T: Scalar> Lane<T> {
    fn new(gpu: u32, distribution: &dyn Draw<T>, numbers: usize) -> Result<Self, DrawError> {
        let engine = Engine::ready(gpu)?;
        let context = engine.context();
        let made = || -> Result<_, CudaError> {
            let host = HostSide::Idle(PinnedBuffer::zeroed(context, numbers)?, PinnedBuffer::zeroed(context, 1)?);
            let draws = DeviceBuffer::unfilled(context, numbers)?;
            let source = DrawSource::new(context, distribution)?;
            Ok((Stream::new(context)?, source, draws, DeviceBuffer::zeroed(context, 1)?, host))
        };
        let (stream, source, draws, refused, host) = made().map_err(|error| engine.failed(error))?;
        Ok(Self { engine, stream, source, draws, refused, host })
    }

    /// Queues a batch of so many numbers and its copies to the host.
    fn begin(&mut self, key: Key, first: u64, numbers: usize) -> Result<(), DrawError> {
        // Whoever is busy was taken before.
        let HostSide::Idle(draws, refused) = std::mem::replace(&mut self.host, HostSide::Lost) else { return Ok(()) };
        let queued = || -> Result<HostSide<T>, CudaError> {
            let (kernels, buffers) = (self.engine.kernels(), (&mut self.refused, &mut self.draws));
            self.source.fill(kernels, &self.stream, range_of(key, first), buffers)?;
            let draws = self.draws.download(0..numbers, draws, &self.stream)?;
            let refused = self.refused.download(0..1, refused, &self.stream)?;
            Ok(HostSide::Busy { draws, refused, first, numbers })
        };
        self.host = queued().map_err(|error| self.engine.failed(error))?;
        Ok(())
    }

    /// Waits for the lane's batch, if it has one, and hands it over.
    fn taken<E: From<DrawError>>(&mut self, take: &mut impl FnMut(&[T]) -> Result<(), E>) -> Result<(), E> {
        let (draws, refused, first, numbers) = match std::mem::replace(&mut self.host, HostSide::Lost) {
            HostSide::Busy { draws, refused, first, numbers } => (draws, refused, first, numbers),
            other => {
                self.host = other;
                return Ok(());
            }
        };
        let failed = |error| E::from(DrawError::from(self.engine.failed(error)));
        let draws = draws.wait().map_err(failed)?;
        let refused = refused.wait().map_err(failed)?;
        if refused[0] != 0 {
            let place = draws[..numbers].iter().position(|draw| draw.to_f64().is_nan()).unwrap_or(0);
            let index = first + (place / self.source.dimensions()) as u64;
            return Err(DrawError::from(TurnsExhausted { distribution: "a distribution on a GPU", index }).into());
        }
        let answer = take(&draws[..numbers]);
        self.host = HostSide::Idle(draws, refused);
        answer
    }
}
