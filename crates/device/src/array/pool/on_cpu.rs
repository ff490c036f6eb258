//! Memory of the host for arrays.
//!
//! The bytes from which memory is kept stand here.

use super::{Pool, SHARE};
use crate::HostInfo;
use crate::array::{ArrayError, Scalar};
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// Bytes from which memory is kept. Below, the allocator is as fast, and its memory is in the cache.
const LEAST: usize = 1 << 16;

/// What is kept of the host's memory, and how many bytes that may be: a share of what this process can have. Where the
/// system does not tell, nothing is kept.
static HOST: LazyLock<(Pool, u64)> =
    LazyLock::new(|| (Pool::default(), HostInfo::read().memory_available.unwrap_or(0) / SHARE));

/// The memory of an array on the host, which goes to the pool when the array goes.
pub(in crate::array) struct HostBuffer<T: Scalar>(Vec<T>);

/// Returns memory for `length` elements on the host: kept memory, full of numbers of others, or new memory, empty. Too
/// many are an error and not the end of the program.
pub(crate) fn host_memory<T: Scalar>(length: usize) -> Result<Vec<T>, ArrayError> {
    let is_kept = length.saturating_mul(size_of::<T>()) >= LEAST;
    if let Some(kept) = is_kept.then(|| HOST.0.take(length, bytes::<T>)).flatten() {
        return Ok(kept);
    }
    let mut elements = Vec::new();
    let error = |_| ArrayError::HostMemory { elements: length, element_bytes: size_of::<T>() };
    elements.try_reserve_exact(length).map_err(error)?;
    Ok(elements)
}

/// Gives the host's memory of arrays that are gone back to the system: up to a sixteenth of what there was when the first
/// of them went is kept for those that come. Returns the number of bytes.
pub fn trim() -> u64 {
    HOST.0.clear()
}

fn bytes<T>(elements: &Vec<T>) -> usize {
    elements.capacity() * size_of::<T>()
}

impl<T: Scalar> From<Vec<T>> for HostBuffer<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(elements)
    }
}

impl<T: Scalar> Deref for HostBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Scalar> DerefMut for HostBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Scalar> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        if self.0.len() * size_of::<T>() >= LEAST {
            let elements = std::mem::take(&mut self.0);
            let (length, bytes) = (elements.len(), bytes(&elements));
            HOST.0.keep(elements, length, bytes, HOST.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_leaves_its_memory_to_the_next_of_its_length() {
        let length = LEAST + 7;
        let buffer = HostBuffer::from(vec![1.5_f64; length]);
        let address = buffer.as_ptr();
        drop(buffer);
        let next = host_memory::<f64>(length).unwrap();
        assert_eq!((next.as_ptr(), next.len()), (address, length), "overwritten by whoever takes it, and not cleared");
        assert!(host_memory::<f64>(length).unwrap().is_empty(), "memory is given out once");
        drop(HostBuffer::from(next));
        assert!(host_memory::<f64>(LEAST / 8 - 1).unwrap().is_empty());
    }
}
