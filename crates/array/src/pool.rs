//! Memory of dropped arrays, kept for new arrays, on the host and on each device. So arrays come and go without the
//! system, whose memory comes page by page, and without the driver, whose calls wait for the device.
//!
//! Nothing is cleared, because whoever takes the memory fills it.
//!
//! The share of the memory that is kept at the most stands here.

mod on_cpu;
mod on_gpu;

pub(crate) use on_cpu::HostBuffer;
pub use on_cpu::trim;
pub(crate) use on_gpu::PooledBuffer;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The part of a memory, one in so many, that is kept at the most.
const SHARE: u64 = 16;

/// What is kept: buffers by their type and bytes.
#[derive(Default)]
pub(crate) struct Pool {
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

    /// Takes a buffer of so many bytes, where one is kept.
    fn take<B: Send + 'static>(&self, bytes: usize) -> Option<B> {
        let mut kept = self.kept();
        let buffer = kept.buffers.get_mut(&(TypeId::of::<B>(), bytes))?.pop()?.downcast::<B>().ok()?;
        kept.bytes -= bytes as u64;
        Some(*buffer)
    }

    /// Caches a buffer of `bytes` bytes; the cache holds at most `most` bytes. When it would overflow it is emptied first,
    /// so recent sizes replace old ones.
    fn keep<B: Send + 'static>(&self, buffer: B, bytes: usize, most: u64) {
        if bytes == 0 || bytes as u64 > most {
            return;
        }
        let mut kept = self.kept();
        let is_full = kept.bytes + bytes as u64 > most;
        let given_back = if is_full { std::mem::take(&mut *kept) } else { Kept::default() };
        kept.bytes += bytes as u64;
        kept.buffers.entry((TypeId::of::<B>(), bytes)).or_default().push(Box::new(buffer));
        // Memory is given back once nobody waits for the lock.
        drop(kept);
        drop(given_back);
    }

    /// Gives all that is kept back, and returns how many bytes that were.
    pub(crate) fn clear(&self) -> u64 {
        let kept = std::mem::take(&mut *self.kept());
        kept.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(pool: &Pool, bytes: usize) {
        pool.keep(vec![0_u8; bytes], bytes, 10);
    }

    #[test]
    fn what_is_kept_is_taken_once_by_its_bytes_and_type() {
        let pool = Pool::default();
        keep(&pool, 4);
        assert!(pool.take::<Vec<u8>>(3).is_none() && pool.take::<Vec<u32>>(4).is_none());
        assert_eq!(pool.take::<Vec<u8>>(4), Some(vec![0; 4]));
        assert!(pool.take::<Vec<u8>>(4).is_none());
        assert_eq!(pool.clear(), 0);
    }

    #[test]
    fn what_comes_takes_the_place_of_what_was_kept() {
        let pool = Pool::default();
        keep(&pool, 4);
        keep(&pool, 6);
        assert_eq!(pool.kept().bytes, 10, "as many as there may be");
        keep(&pool, 1);
        assert_eq!(pool.clear(), 1);
        keep(&pool, 4);
        keep(&pool, 11);
        assert_eq!(pool.clear(), 4, "more than there may be is not kept");
    }
}
