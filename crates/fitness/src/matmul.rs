//! A matrix product on the device and on the processor: the same bits, and how fast.

use crate::exact::of_twin;
use crate::inputs::numbers;
use crate::live::Live;
use octopus_array::{Scalar, cpu};
use octopus_cuda::{CudaError, DeviceBuffer, Kernels, MatrixShape};
use octopus_device::{Finding, Question};
use std::time::{Duration, Instant};

pub(crate) const QUESTION_F32: Question =
    Question { id: "matmul-f32", title: "Matrix product in f32", expected: "the CPU's result, bit for bit" };
pub(crate) const QUESTION_F64: Question =
    Question { id: "matmul-f64", title: "Matrix product in f64", expected: "the CPU's result, bit for bit" };

/// Rows and columns; where all is small, no multiple of a tile.
const SIDE: usize = 1000;
const SMALL_SIDE: usize = 100;

pub(crate) fn check<T: Scalar>(live: &Live, kernels: &Kernels) -> Result<Finding, CudaError> {
    let question = if size_of::<T>() == 4 { QUESTION_F32 } else { QUESTION_F64 };
    let side = if live.config.small { SMALL_SIDE } else { SIDE };
    let shape = MatrixShape { m: side, k: side, n: side };
    let (a, b) = (numbers::<T>(side * side, 0), numbers::<T>(side * side, 1));
    let (on_a, on_b) = (DeviceBuffer::from_slice(&live.context, &a)?, DeviceBuffer::from_slice(&live.context, &b)?);
    let mut on_c = DeviceBuffer::zeroed(&live.context, side * side)?;
    if !live.test_double {
        // The first launch wakes the clocks; the software GPU has none, and takes seconds.
        kernels.matmul(&live.stream, shape, &on_a, &on_b, &mut on_c)?;
    }
    let ((), time) = live.stream.measure(|stream| kernels.matmul(stream, shape, &on_a, &on_b, &mut on_c))?;
    let found = on_c.to_vec()?;
    let mut expected = vec![T::ZERO; side * side];
    let clock = Instant::now();
    of_twin(cpu::matmul(shape, &a, &b, &mut expected))?;
    let (device, processor) = (gigaflops(side, time), gigaflops(side, clock.elapsed()));
    let equal = |(found, expected): (&T, &T)| found.to_f64().to_bits() == expected.to_f64().to_bits();
    let wrong: Vec<usize> = found.iter().zip(&expected).map(equal).enumerate().filter_map(unequal).collect();
    let Some(&first) = wrong.first() else {
        let speeds = format!("{device:.1} GFLOP/s, on one core of the CPU {processor:.1} GFLOP/s");
        return Ok(question.pass(format!("{side} x {side}: the same bits, {speeds}{}", live.remark(None))));
    };
    Ok(question.fail(
        format!(
            "{side} x {side}: {} of {} elements differ, the first in row {}, column {}: {} instead of {}",
            wrong.len(),
            side * side,
            first / side,
            first % side,
            found[first],
            expected[first]
        ),
        WRONG.0,
        WRONG.1,
    ))
}

/// 10^9 products and sums a second; a clock that did not move counts as a nanosecond.
fn gigaflops(side: usize, time: Duration) -> f64 {
    2e-9 * (side as f64).powi(3) / time.as_secs_f64().max(1e-9)
}

fn unequal((place, equal): (usize, bool)) -> Option<usize> {
    (!equal).then_some(place)
}

/// Cause and fix of wrong numbers.
pub(crate) const WRONG: (&str, &str) = (
    "the device computes wrong numbers: faulty memory or an overclocked chip, or a fault of the driver's compiler",
    "trust no result of this device; see memory-errors, set the usual clocks, try another driver, and report it with \
     `octopus device exact --json`",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_product_and_each_sum_counts() {
        // 2 * 1000^3 operations in a quarter of a second.
        assert!((gigaflops(1000, Duration::from_millis(250)) - 8.0).abs() < 1e-12);
        assert!((gigaflops(10, Duration::ZERO) - 2000.0).abs() < 1e-9);
        assert_eq!([(3, true), (4, false)].map(unequal), [None, Some(4)]);
    }
}
