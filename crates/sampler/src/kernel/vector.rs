//! Vector operations of the sampler, each one pass over memory, every sum in the order of the virtual warp.
//!
//! All slices have the same padded length (whole rows of `lanes`); padding is zero and stays zero.

use octopus_density::warp::reduce;
use pulp::{Arch, Simd, WithSimd};

/// The vector unit of this machine and the shape of the problem's sums.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors {
    arch: Arch,
    lanes: usize,
}

impl Vectors {
    pub(crate) fn new(dim: usize) -> Self {
        Self { arch: Arch::new(), lanes: octopus_density::warp::lanes(dim) }
    }

    /// Runs `op` with the best vector instructions of this machine.
    #[inline(always)]
    fn run<O: Reduce>(&self, op: O) -> O::Sums {
        self.arch.dispatch(Dispatch { lanes: self.lanes, op })
    }

    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// `a . b`
    #[inline(always)]
    pub(crate) fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        self.run(Dot { a, b })[0]
    }

    /// Half a kick and a drift with a diagonal metric in whitened momentum.
    #[inline(always)]
    pub(crate) fn kick_drift(&self, op: KickDrift<'_>) {
        self.run(op);
    }

    /// The other half of the kick; returns the square of the momentum.
    #[inline(always)]
    pub(crate) fn kick(&self, op: Kick<'_>) -> f64 {
        self.run(op)[0]
    }

    /// `out = a + h b`; returns `|out|^2`.
    #[inline(always)]
    pub(crate) fn add_scaled(&self, h: f64, a: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
        self.run(AddScaled { h, a, b, out })[0]
    }

    /// `out = a b`, element by element.
    #[inline(always)]
    pub(crate) fn multiply(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        self.run(Multiply { a, b, out });
    }

    /// `out += c a`
    #[inline(always)]
    pub(crate) fn axpy(&self, c: f64, a: &[f64], out: &mut [f64]) {
        self.run(Axpy { c, a, out });
    }

    /// `out = x + step scale v`
    #[inline(always)]
    pub(crate) fn drift(&self, step: f64, scale: &[f64], v: &[f64], x: &[f64], out: &mut [f64]) {
        self.run(Drift { step, scale, v, x, out });
    }

    /// Joins two neighbouring leaves: `rho = a + b`; whether neither end turns back on it.
    #[inline(always)]
    pub(crate) fn join_leaves(&self, a: &[f64], b: &[f64], rho: &mut [f64]) -> bool {
        let [begin, end] = self.run(JoinLeaves { a, b, rho });
        begin > 0.0 && end > 0.0
    }

    /// Joins two neighbouring subtrees: `rho += other.rho`; whether no end turns back on the sum of momenta of
    /// the whole, nor across the seam (the two extra checks of Stan).
    #[inline(always)]
    pub(crate) fn join(&self, rho: &mut [f64], a: Ends<'_>, b: Ends<'_>, b_rho: &[f64]) -> bool {
        let dots = self.run(Join { rho, a, b, b_rho });
        dots.iter().all(|&dot| dot > 0.0)
    }
}

/// The momenta at the two ends of a trajectory.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'a> {
    pub(crate) begin: &'a [f64],
    pub(crate) end: &'a [f64],
}

/// An operation on vectors that may return sums. (Structs, not closures: the call through which a closure is
/// dispatched is compiled for the lowest level of vector instructions.)
trait Reduce {
    type Sums;
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> Self::Sums;
}

struct Dispatch<O> {
    lanes: usize,
    op: O,
}

impl<O: Reduce> WithSimd for Dispatch<O> {
    type Output = O::Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> O::Sums {
        self.op.reduce(simd, self.lanes)
    }
}

/// `half = momentum + h force`, `out = x + step scale half`.
pub(crate) struct KickDrift<'a> {
    pub(crate) h: f64,
    pub(crate) step: f64,
    pub(crate) x: &'a [f64],
    pub(crate) force: &'a [f64],
    pub(crate) scale: &'a [f64],
    pub(crate) momentum: &'a [f64],
    pub(crate) half: &'a mut [f64],
    pub(crate) out: &'a mut [f64],
}

impl Reduce for KickDrift<'_> {
    type Sums = ();

    #[inline(always)]
    fn reduce<S: Simd>(self, _: S, _: usize) {
        let Self { h, step, x, force, scale, momentum, half, out } = self;
        let n = out.len();
        let (x, force, scale, momentum, half) = (&x[..n], &force[..n], &scale[..n], &momentum[..n], &mut half[..n]);
        for i in 0..n {
            half[i] = momentum[i] + h * force[i];
            out[i] = x[i] + step * (scale[i] * half[i]);
        }
    }
}

struct Multiply<'a> {
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl Reduce for Multiply<'_> {
    type Sums = ();

    #[inline(always)]
    fn reduce<S: Simd>(self, _: S, _: usize) {
        for ((out, a), b) in self.out.iter_mut().zip(self.a).zip(self.b) {
            *out = a * b;
        }
    }
}

struct Axpy<'a> {
    c: f64,
    a: &'a [f64],
    out: &'a mut [f64],
}

impl Reduce for Axpy<'_> {
    type Sums = ();

    #[inline(always)]
    fn reduce<S: Simd>(self, _: S, _: usize) {
        for (out, a) in self.out.iter_mut().zip(self.a) {
            *out += self.c * a;
        }
    }
}

struct Drift<'a> {
    step: f64,
    scale: &'a [f64],
    v: &'a [f64],
    x: &'a [f64],
    out: &'a mut [f64],
}

impl Reduce for Drift<'_> {
    type Sums = ();

    #[inline(always)]
    fn reduce<S: Simd>(self, _: S, _: usize) {
        for (((out, x), scale), v) in self.out.iter_mut().zip(self.x).zip(self.scale).zip(self.v) {
            *out = x + self.step * (scale * v);
        }
    }
}

struct Dot<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl Reduce for Dot<'_> {
    type Sums = [f64; 1];

    #[inline(always)]
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> [f64; 1] {
        let (a, _) = S::as_simd_f64s(self.a);
        let n = a.len();
        let b = &S::as_simd_f64s(self.b).0[..n];
        reduce::<S, 1>(
            simd,
            lanes,
            n,
            #[inline(always)]
            |i| [simd.mul_f64s(a[i], b[i])],
        )
    }
}

/// `force = scale gradient`, `out = half + h force`; the sum is that of the squares of `out`.
pub(crate) struct Kick<'a> {
    pub(crate) h: f64,
    pub(crate) gradient: &'a [f64],
    pub(crate) scale: &'a [f64],
    pub(crate) half: &'a [f64],
    pub(crate) force: &'a mut [f64],
    pub(crate) out: &'a mut [f64],
}

impl Reduce for Kick<'_> {
    type Sums = [f64; 1];

    #[inline(always)]
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> [f64; 1] {
        let h = simd.splat_f64s(self.h);
        let (gradient, _) = S::as_simd_f64s(self.gradient);
        let n = gradient.len();
        let scale = &S::as_simd_f64s(self.scale).0[..n];
        let half = &S::as_simd_f64s(self.half).0[..n];
        let forces = &mut S::as_mut_simd_f64s(self.force).0[..n];
        let out = &mut S::as_mut_simd_f64s(self.out).0[..n];
        reduce::<S, 1>(
            simd,
            lanes,
            n,
            #[inline(always)]
            |i| {
                let force = simd.mul_f64s(scale[i], gradient[i]);
                let momentum = simd.add_f64s(half[i], simd.mul_f64s(h, force));
                forces[i] = force;
                out[i] = momentum;
                [simd.mul_f64s(momentum, momentum)]
            },
        )
    }
}

struct AddScaled<'a> {
    h: f64,
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl Reduce for AddScaled<'_> {
    type Sums = [f64; 1];

    #[inline(always)]
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> [f64; 1] {
        let h = simd.splat_f64s(self.h);
        let (a, _) = S::as_simd_f64s(self.a);
        let n = a.len();
        let b = &S::as_simd_f64s(self.b).0[..n];
        let out = &mut S::as_mut_simd_f64s(self.out).0[..n];
        reduce::<S, 1>(
            simd,
            lanes,
            n,
            #[inline(always)]
            |i| {
                let value = simd.add_f64s(a[i], simd.mul_f64s(h, b[i]));
                out[i] = value;
                [simd.mul_f64s(value, value)]
            },
        )
    }
}

struct JoinLeaves<'a> {
    a: &'a [f64],
    b: &'a [f64],
    rho: &'a mut [f64],
}

impl Reduce for JoinLeaves<'_> {
    type Sums = [f64; 2];

    #[inline(always)]
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> [f64; 2] {
        let (a, _) = S::as_simd_f64s(self.a);
        let n = a.len();
        let b = &S::as_simd_f64s(self.b).0[..n];
        let rho = &mut S::as_mut_simd_f64s(self.rho).0[..n];
        reduce::<S, 2>(
            simd,
            lanes,
            n,
            #[inline(always)]
            |i| {
                let sum = simd.add_f64s(a[i], b[i]);
                rho[i] = sum;
                [simd.mul_f64s(a[i], sum), simd.mul_f64s(b[i], sum)]
            },
        )
    }
}

struct Join<'a> {
    rho: &'a mut [f64],
    a: Ends<'a>,
    b: Ends<'a>,
    b_rho: &'a [f64],
}

impl Reduce for Join<'_> {
    type Sums = [f64; 6];

    #[inline(always)]
    fn reduce<S: Simd>(self, simd: S, lanes: usize) -> [f64; 6] {
        let rho = S::as_mut_simd_f64s(self.rho).0;
        let n = rho.len();
        let a_begin = &S::as_simd_f64s(self.a.begin).0[..n];
        let a_end = &S::as_simd_f64s(self.a.end).0[..n];
        let b_begin = &S::as_simd_f64s(self.b.begin).0[..n];
        let b_end = &S::as_simd_f64s(self.b.end).0[..n];
        let b_rho = &S::as_simd_f64s(self.b_rho).0[..n];
        reduce::<S, 6>(
            simd,
            lanes,
            n,
            #[inline(always)]
            |i| {
                let whole = simd.add_f64s(rho[i], b_rho[i]);
                let over_begin = simd.add_f64s(rho[i], b_begin[i]);
                let over_end = simd.add_f64s(b_rho[i], a_end[i]);
                rho[i] = whole;
                [
                    simd.mul_f64s(a_begin[i], whole),
                    simd.mul_f64s(b_end[i], whole),
                    simd.mul_f64s(a_begin[i], over_begin),
                    simd.mul_f64s(b_begin[i], over_begin),
                    simd.mul_f64s(a_end[i], over_end),
                    simd.mul_f64s(b_end[i], over_end),
                ]
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::warp::{Buffer, sum_in_order};
    use octopus_random::{Purpose, Stream};

    fn random(dim: usize, chain: u32) -> Buffer {
        let mut values = Buffer::zeros(dim);
        let lanes = octopus_density::warp::lanes(dim);
        Stream::new(1, chain, 0, Purpose::User).fill_normal(lanes, &mut values);
        values[dim..].fill(0.0);
        values
    }

    #[test]
    fn sums_have_the_order_of_the_virtual_warp() {
        for dim in [1, 31, 103, 256, 257, 1003] {
            let (a, b) = (random(dim, 0), random(dim, 1));
            let products: Vec<f64> = a.iter().zip(b.iter()).map(|(a, b)| a * b).collect();
            let dot = Vectors::new(dim).dot(&a, &b);
            assert_eq!(dot.to_bits(), sum_in_order(&products, dim).to_bits(), "{dim}");
        }
    }

    #[test]
    fn kicks_and_drifts_are_what_they_say() {
        let dim = 103;
        let vectors = Vectors::new(dim);
        let (r, w, scale, g, start) = (random(dim, 0), random(dim, 1), random(dim, 2), random(dim, 3), random(dim, 4));
        let (mut half, mut q) = (Buffer::zeros(dim), Buffer::zeros(dim));
        let (x, force, momentum) = (&start, &w, &r);
        vectors.kick_drift(KickDrift {
            h: 0.1,
            step: 0.2,
            x,
            force,
            scale: &scale,
            momentum,
            half: &mut half,
            out: &mut q,
        });
        let (mut w2, mut r2) = (Buffer::zeros(dim), Buffer::zeros(dim));
        let kick = Kick { h: 0.1, gradient: &g, scale: &scale, half: &half, force: &mut w2, out: &mut r2 };
        let square = vectors.kick(kick);
        let mut squares = Vec::new();
        for i in 0..q.len() {
            let expected_half = r[i] + 0.1 * w[i];
            assert_eq!(q[i], start[i] + 0.2 * (scale[i] * expected_half));
            assert_eq!(w2[i], scale[i] * g[i]);
            assert_eq!(r2[i], expected_half + 0.1 * w2[i]);
            squares.push(r2[i] * r2[i]);
        }
        assert_eq!(square, sum_in_order(&squares, dim));
    }
}
