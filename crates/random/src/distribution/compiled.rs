//! The functions of distributions that take much code, compiled here for both types of numbers.
//!
//! A generic function is compiled again in each crate that calls it, and one that fills an array is compiled for three
//! levels of vector instructions. Callers reach these by the type of the numbers, and the functions of a type are compiled
//! in this crate alone.

use super::{
    Beta, Exponential, Gamma, Normal, StudentT, TurnsExhausted, Uniform, VonMises, VonMisesFisher, WrappedNormal,
};
use crate::Key;
use rayon::prelude::*;

/// Draws that one thread makes before it looks for more work.
const SHARE: usize = 1 << 16;

/// Fills a part of an array with draws from this number on.
type FillPart<'a, T> = dyn Fn(u64, &mut [T]) -> Result<(), TurnsExhausted> + Sync + 'a;

/// A type of numbers that a distribution `D` draws.
pub trait DrawnBy<D>: Sized {
    /// Fills `out` with draws `first`, `first + 1`, ..., on this thread: [`Draw::fill`](super::Draw::fill).
    fn fill(distribution: &D, key: Key, first: u64, out: &mut [Self]) -> Result<(), TurnsExhausted>;
}

macro_rules! drawn {
    ($($distribution:ident),*) => {
        /// A type of numbers that all distributions draw.
        pub trait DrawnByAll: $(DrawnBy<$distribution<Self>> +)* Sized {
            /// Fills `out` with draws of so many dimensions, in shares on all threads of rayon's pool.
            fn fill_shares(
                dimensions: usize,
                first: u64,
                out: &mut [Self],
                fill: &FillPart<'_, Self>,
            ) -> Result<(), TurnsExhausted>;
        }

        drawn!(@ f32: $($distribution),*);
        drawn!(@ f64: $($distribution),*);
    };
    (@ $number:ty: $($distribution:ident),*) => {
        $(
            impl DrawnBy<$distribution<$number>> for $number {
                fn fill(
                    distribution: &$distribution<$number>,
                    key: Key,
                    first: u64,
                    out: &mut [$number],
                ) -> Result<(), TurnsExhausted> {
                    distribution.fill_here(key, first, out)
                }
            }
        )*

        impl DrawnByAll for $number {
            fn fill_shares(
                dimensions: usize,
                first: u64,
                out: &mut [$number],
                fill: &FillPart<'_, $number>,
            ) -> Result<(), TurnsExhausted> {
                fill_shares(dimensions, first, out, fill)
            }
        }
    };
}

drawn!(Uniform, Normal, Exponential, Gamma, Beta, StudentT, VonMises, VonMisesFisher, WrappedNormal);

fn fill_shares<T: Send>(
    dimensions: usize,
    first: u64,
    out: &mut [T],
    fill: &FillPart<'_, T>,
) -> Result<(), TurnsExhausted> {
    let share = (SHARE / dimensions).max(1);
    // The first share ends where a group of draws does, so that all others begin with one.
    let ragged = (first.next_multiple_of(share as u64) - first).min(out.len() as u64) as usize;
    let (head, rest) = out.split_at_mut(out.len().min(ragged * dimensions));
    fill(first, head)?;
    let start = first + ragged as u64;
    let shares = rest.par_chunks_mut(share * dimensions).enumerate();
    shares.try_for_each(|(number, out)| fill(start + (number * share) as u64, out))
}
