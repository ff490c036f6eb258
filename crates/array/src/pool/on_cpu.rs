//! Memory of the host for arrays.
//!
//! The bytes from which memory is of pages, kept, and of large pages stand here.

use super::{Pool, SHARE};
use crate::{ArrayElement, ArrayError};
use memmap2::MmapMut;
use octopus_device::HostInfo;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

/// Bytes from which memory is asked of the system, as pages, and kept. Below, the allocator is as fast, and its memory is
/// in the cache.
const LEAST: usize = 1 << 16;
/// Bytes from which pages are to be large ones: each has its own entry in the processor's table of addresses, which has few.
const LARGE: usize = 3 << 20;
/// Bytes of a large page. Memory of whole pages begins at a page's beginning where the system sees to it (Linux from 6.7 on),
/// and is of large pages from end to end; else up to two of them at its ends would be small ones.
const LARGE_PAGE: usize = 1 << 21;

/// What is kept of the host's memory, and how many bytes that may be: a share of what this process can have. Where the
/// system does not tell, nothing is kept.
static HOST: LazyLock<(Pool, u64)> =
    LazyLock::new(|| (Pool::default(), HostInfo::read().memory_available.unwrap_or(0) / SHARE));

/// The memory of an array on the host. Pages go to the pool when the array goes.
pub(crate) struct HostBuffer<T: ArrayElement>(Memory<T>);

enum Memory<T> {
    Vector(Vec<T>),
    /// Always there until the drop, and the bytes of it that are the array's.
    Pages(Option<MmapMut>, usize),
}

impl<T: ArrayElement> HostBuffer<T> {
    /// Makes memory of `length` elements with the numbers of an array that is gone, or zeros: the system clears pages
    /// before it gives them away, and here nothing is cleared again. Too many elements are an error and not the end of the
    /// program.
    pub(crate) fn unfilled(length: usize) -> Result<Self, ArrayError> {
        let error = || ArrayError::HostMemory { elements: length, element_bytes: size_of::<T>() };
        let bytes = length.checked_mul(size_of::<T>()).ok_or_else(error)?;
        if bytes < LEAST {
            return Ok(Self(Memory::Vector(vec![T::ZERO; length])));
        }
        let pages = match HOST.0.take(mapped(bytes)) {
            Some(pages) => pages,
            None => new(mapped(bytes)).map_err(|_| error())?,
        };
        Ok(Self(Memory::Pages(Some(pages), bytes)))
    }
}

/// The bytes that are asked of the system for so many.
fn mapped(bytes: usize) -> usize {
    if bytes < LARGE { bytes } else { bytes.checked_next_multiple_of(LARGE_PAGE).unwrap_or(bytes) }
}

fn new(bytes: usize) -> std::io::Result<MmapMut> {
    let pages = MmapMut::map_anon(bytes)?;
    // Where the system has no large pages, small ones serve.
    #[cfg(target_os = "linux")]
    if bytes >= LARGE {
        let _ = pages.advise(memmap2::Advice::HugePage);
    }
    Ok(pages)
}

/// Gives the host's memory of arrays that are gone back to the system: up to a sixteenth of what this process could have is
/// kept for those that come. Returns the number of bytes.
pub fn trim() -> u64 {
    HOST.0.clear()
}

impl<T: ArrayElement> From<Vec<T>> for HostBuffer<T> {
    fn from(elements: Vec<T>) -> Self {
        Self(Memory::Vector(elements))
    }
}

impl<T: ArrayElement> Deref for HostBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Vector(elements) => elements,
            Memory::Pages(pages, bytes) => pages.as_ref().map_or(&[], |pages| bytemuck::cast_slice(&pages[..*bytes])),
        }
    }
}

impl<T: ArrayElement> DerefMut for HostBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::Vector(elements) => elements,
            Memory::Pages(pages, bytes) => {
                pages.as_mut().map_or(&mut [], |pages| bytemuck::cast_slice_mut(&mut pages[..*bytes]))
            }
        }
    }
}

impl<T: ArrayElement> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        if let Memory::Pages(pages, _) = &mut self.0
            && let Some(pages) = pages.take()
        {
            let bytes = pages.len();
            HOST.0.keep(pages, bytes, HOST.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_leaves_its_memory_to_the_next_of_its_size() {
        let length = LEAST + 7;
        let mut buffer = HostBuffer::<f64>::unfilled(length).unwrap();
        assert!(buffer.len() == length && buffer.iter().all(|&x| x == 0.0));
        buffer.fill(1.5);
        let address = buffer.as_ptr();
        drop(buffer);
        let next = HostBuffer::<f32>::unfilled(2 * length).unwrap();
        assert_eq!((next.as_ptr().cast(), next.len()), (address, 2 * length), "whatever type it was");
        assert_eq!(next[1], f32::from_bits((1.5_f64.to_bits() >> 32) as u32), "and nothing is cleared");
        let other = HostBuffer::<f64>::unfilled(length).unwrap();
        assert_ne!(other.as_ptr(), address, "memory is given out once");
    }

    #[test]
    fn large_memory_is_of_whole_pages_and_its_arrays_are_not() {
        assert_eq!((mapped(LARGE - 1), mapped(LARGE), mapped(2 * LARGE_PAGE)), (LARGE - 1, 4 << 20, 4 << 20));
        assert_eq!(mapped(usize::MAX), usize::MAX, "which no system gives");
        let length = 9 * LARGE_PAGE / 8 - 11;
        let buffer = HostBuffer::<f64>::unfilled(length).unwrap();
        let address = buffer.as_ptr();
        assert_eq!(buffer.len(), length);
        drop(buffer);
        let next = HostBuffer::<f64>::unfilled(length + 5).unwrap();
        assert_eq!((next.as_ptr(), next.len()), (address, length + 5), "another length of as many pages");
    }

    #[test]
    fn too_much_memory_is_an_error() {
        for length in [usize::MAX, usize::MAX / 8, 1 << 57] {
            assert!(matches!(HostBuffer::<f64>::unfilled(length), Err(ArrayError::HostMemory { .. })), "{length}");
        }
    }
}
