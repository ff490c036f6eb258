//! The vector instructions of the processor: one body is compiled for each, and the widest is used. Nothing is contracted,
//! so that all have the same bits.

use pulp::WithSimd;

/// The width of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorWidth {
    /// AVX-512: 8 numbers at a time.
    Avx512,
    /// AVX2: 4 numbers.
    Avx2,
    /// What every processor of the kind has; SSE2 with 2 numbers on x86-64.
    Baseline,
}

impl VectorWidth {
    /// Returns the widths of this processor, the widest first.
    pub fn available() -> Vec<Self> {
        [Self::Avx512, Self::Avx2, Self::Baseline].into_iter().filter(|width| width.is_available()).collect()
    }

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => pulp::x86::V4::try_new().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::try_new().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx512 | Self::Avx2 => false,
            Self::Baseline => true,
        }
    }

    /// Runs the code that was compiled for this width, or for the widest that there is below it.
    #[inline]
    pub(crate) fn run<Op: WithSimd>(self, op: Op) -> Op::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if self == Self::Avx512
                && let Some(simd) = pulp::x86::V4::try_new()
            {
                return pulp::Simd::vectorize(simd, op);
            }
            if self != Self::Baseline
                && let Some(simd) = pulp::x86::V3::try_new()
            {
                return pulp::Simd::vectorize(simd, op);
            }
        }
        pulp::Simd::vectorize(pulp::Scalar128b, op)
    }
}
