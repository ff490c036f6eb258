//! Memory of arrays that are gone, kept for those that come, on the host and on each device: so that arrays come and go
//! without the system, which hands memory out page by page, and without the driver, which waits for the device.
//!
//! Nothing is cleared, because whoever takes the memory fills it.
//!
//! The share of the memory that is kept at the most stands here.

mod on_cpu;
mod on_gpu;

pub(super) use on_cpu::HostBuffer;
pub(crate) use on_cpu::host_memory;
pub use on_cpu::trim;
pub(crate) use on_gpu::PooledBuffer;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The part of a memory, one in so many, that is kept at the most.
const SHARE: u64 = 16;

/// What is kept: buffers by their type and length.
#[derive(Default)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    buffers: HashMap<(TypeId, usize), Vec<Box<dyn Any + Send>>>,
    bytes: u64,
}

impl Pool {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a buffer of so many elements and bytes, where one is kept.
    fn take<B: Send + 'static>(&self, length: usize, bytes: impl Fn(&B) -> usize) -> Option<B> {
        let mut kept = self.kept();
        let buffer = kept.buffers.get_mut(&(TypeId::of::<B>(), length))?.pop()?.downcast::<B>().ok()?;
        kept.bytes -= bytes(&buffer) as u64;
        Some(*buffer)
    }

    /// Keeps a buffer of so many elements and bytes, `most` bytes in all. Where it does not fit beside what is kept, that
    /// goes: the lengths that a program now works with take the place of those that it no longer asks for.
    fn keep<B: Send + 'static>(&self, buffer: B, length: usize, bytes: usize, most: u64) {
        let bytes = bytes as u64;
        if bytes == 0 || bytes > most {
            return;
        }
        let mut kept = self.kept();
        // Given back once nobody waits for the lock.
        let given_back =
            if kept.bytes.saturating_add(bytes) > most { std::mem::take(&mut *kept) } else { Kept::default() };
        kept.bytes += bytes;
        kept.buffers.entry((TypeId::of::<B>(), length)).or_default().push(Box::new(buffer));
        drop(kept);
        drop(given_back);
    }

    /// Gives all that is kept back, and returns how many bytes that were.
    pub(super) fn clear(&self) -> u64 {
        let kept = std::mem::take(&mut *self.kept());
        kept.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(pool: &Pool, length: usize) -> Option<Vec<u8>> {
        pool.take(length, Vec::len)
    }

    fn keep(pool: &Pool, length: usize) {
        pool.keep(vec![0_u8; length], length, length, 10);
    }

    #[test]
    fn what_is_kept_is_taken_once_by_its_length_and_type() {
        let pool = Pool::default();
        keep(&pool, 4);
        assert!(take(&pool, 3).is_none() && pool.take(4, Vec::<u32>::len).is_none());
        assert_eq!(take(&pool, 4).map(|buffer| buffer.len()), Some(4));
        assert!(take(&pool, 4).is_none());
        assert_eq!(pool.clear(), 0);
    }

    #[test]
    fn what_comes_takes_the_place_of_what_was_kept() {
        let pool = Pool::default();
        (keep(&pool, 4), keep(&pool, 6));
        assert_eq!(pool.kept().bytes, 10, "as many as there may be");
        keep(&pool, 1);
        assert_eq!(pool.clear(), 1);
        keep(&pool, 4);
        keep(&pool, 11);
        assert_eq!(pool.clear(), 4, "more than there may be is not kept");
    }
}
