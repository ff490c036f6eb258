//! Work in vectors of whatever width the machine has: running results kept side by side, so that one operation need not wait for
//! the one before. Sums are always inlined: what calls them is compiled for the machine.

use pulp::{Arch, Simd, WithSimd};

/// Returns the sum of `term` over `values`, in `N` running sums.
#[inline(always)]
pub(crate) fn sum<const N: usize>(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; N];
    let rows = values.chunks_exact(N);
    let rest = rows.remainder();
    for row in rows {
        for (sum, &x) in sums.iter_mut().zip(row) {
            *sum += term(x);
        }
    }
    rest.iter().fold(halve(sums, |a, b| a + b), |sum, &x| sum + term(x))
}

/// Returns the sum of `term` over pairs of `a` and `b`, equally many, in the same way.
#[inline(always)]
pub(crate) fn sum_pairs<const N: usize>(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; N];
    let (a, b) = (a.as_chunks::<N>(), b.as_chunks::<N>());
    for (a, b) in a.0.iter().zip(b.0) {
        for k in 0..N {
            sums[k] += term(a[k], b[k]);
        }
    }
    let rest = a.1.iter().zip(b.1);
    rest.fold(halve(sums, |a, b| a + b), |sum, (&a, &b)| sum + term(a, b))
}

/// Replaces each value by `f` of it.
pub(crate) fn replace_each(values: &mut [f64], f: impl Fn(f64) -> f64) {
    Arch::new().dispatch(Each { values, f });
}

struct Each<'a, F> {
    values: &'a mut [f64],
    f: F,
}

impl<F: Fn(f64) -> f64> WithSimd for Each<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for value in self.values {
            *value = (self.f)(*value);
        }
    }
}

/// One result of many, half of them with the other half at a time; their number is a power of two.
#[inline(always)]
pub(crate) fn halve<const N: usize>(mut lanes: [f64; N], join: impl Fn(f64, f64) -> f64) -> f64 {
    let mut width = N / 2;
    while width > 0 {
        for k in 0..width {
            lanes[k] = join(lanes[k], lanes[k + width]);
        }
        width /= 2;
    }
    lanes[0]
}
