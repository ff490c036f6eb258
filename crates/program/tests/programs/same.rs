//! What every program must do: the gradient is the dual numbers', and every way to evaluate has the same bits.

use crate::kernel::kernels_agree;
use octopus_program::{Dual, Program, VectorWidth};

/// Returns log density and gradient after comparing all ways to compute them.
pub(crate) fn check(program: &Program, position: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; program.dim()];
    let value = program.logp_grad(&mut program.workspace(), position, &mut gradient);
    let value = value.unwrap_or_else(|error| panic!("{error} at {position:?}"));
    bits_agree(program, position, value, &gradient);
    for k in 0..program.dim() {
        let direction = |j: usize| Dual { value: position[j], slope: f64::from(u8::from(j == k)) };
        let moved: Vec<Dual> = (0..program.dim()).map(direction).collect();
        let slope = program.plain(&moved).0.slope;
        let size = slope.abs().max(gradient[k].abs()).max(1.0);
        assert!((slope - gradient[k]).abs() < 1e-9 * size, "coordinate {k}: {} is not {slope}", gradient[k]);
    }
    (value, gradient)
}

/// Panics unless every width and block, threads and the plain evaluator have the same bits.
pub(crate) fn bits_agree(program: &Program, position: &[f64], value: f64, gradient: &[f64]) {
    let expected = [&[value], gradient].concat();
    let same = |found: f64, found_gradient: &[f64], how: &str| {
        for (k, (a, b)) in [&[found], found_gradient].concat().iter().zip(&expected).enumerate() {
            assert!(a.to_bits() == b.to_bits(), "{how}, result {k}: {a:e} is not {b:e}");
        }
    };
    let (plain, slopes) = program.plain(position);
    same(plain, &slopes, "plain");
    kernels_agree(program, position);
    for width in VectorWidth::available() {
        for (block, threads) in [(512, true), (512, false), (64, true), (128, false)] {
            let program = program.clone().with_width(width).with_block(block).with_threads(threads);
            let (mut gradient, mut workspace) = (vec![0.0; program.dim()], program.workspace());
            // Twice: nothing of the first evaluation may be left in the memory.
            for _ in 0..2 {
                let value = program.logp_grad(&mut workspace, position, &mut gradient).expect("as before");
                same(value, &gradient, &format!("{width:?}, blocks of {block}, threads {threads}"));
            }
        }
    }
}

/// Panics unless the gradient is that of central differences.
pub(crate) fn differences_agree(program: &Program, position: &[f64], gradient: &[f64], tolerance: f64) {
    let mut workspace = program.workspace();
    let mut at = |x: &[f64]| program.logp_grad(&mut workspace, x, &mut vec![0.0; x.len()]).expect("near a good point");
    for k in 0..position.len() {
        let step = 1e-5 * position[k].abs().max(1.0);
        let mut moved = |by: f64| {
            let mut x = position.to_vec();
            x[k] += by;
            at(&x)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        let size = slope.abs().max(1.0);
        assert!((slope - gradient[k]).abs() < tolerance * size, "coordinate {k}: {} is not {slope}", gradient[k]);
    }
}
