//! Programs whose loops are bound at once, held to the same programs bound pass by pass and to finite differences.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_program::Program;
use octopus_stan::StanProgram;

pub(crate) fn bound(text: &str, data: &Data, vectorise_loops: bool) -> BoundModel {
    let program = StanProgram::parse("model.stan", text).expect("a program");
    BoundModel::with_options(&program, data, BindOptions { vectorise_loops, ..BindOptions::default() })
        .expect("a model")
}

pub(crate) fn point(dim: usize, turn: f64) -> Vec<f64> {
    (0..dim).map(|k| 0.4 * (turn + 1.7 * k as f64).sin()).collect()
}

pub(crate) fn evaluated(program: &Program, x: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; x.len()];
    let value = program.logp_grad(&mut program.workspace(), x, &mut gradient).expect("a value");
    (value, gradient)
}

/// States have the bits of the unrolled loop, since a scan does the same operations. Sums over passes have another order,
/// and a slope is a sum of products of derivatives in another order, so that they agree to rounding. Returns the program,
/// and the one whose loops are unrolled.
pub(crate) fn compared(text: &str, data: &Data) -> (Program, Program) {
    let (model, unrolled) = (bound(text, data, true), bound(text, data, false));
    let (program, other) = (model.compile().expect("a program"), unrolled.compile().expect("a program"));
    for turn in [0.9, 2.3] {
        let x = point(model.dim(), turn);
        let ((value, gradient), (expected, slopes)) = (evaluated(&program, &x), evaluated(&other, &x));
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * (a.abs() + b.abs() + 1.0);
        assert!(close(value, expected), "{value} {expected}\n{text}");
        assert!(close(value, model.log_density(&x)), "{value} {}\n{text}", model.log_density(&x));
        let size = slopes.iter().fold(1.0_f64, |most, slope| most.max(slope.abs()));
        for (k, (slope, expected)) in gradient.iter().zip(&slopes).enumerate() {
            assert!((slope - expected).abs() <= 1e-13 * size, "{k}: {slope} {expected}\n{text}");
            let side = |step: f64| {
                let mut x = x.clone();
                x[k] += step;
                evaluated(&program, &x).0
            };
            let h = 1e-4;
            let difference = (8.0 * (side(h) - side(-h)) - (side(2.0 * h) - side(-2.0 * h))) / (12.0 * h);
            assert!((slope - difference).abs() <= 1e-8 * (size + value.abs()), "{k}: {slope} {difference}\n{text}");
        }
        let (draw, expected) = (model.expand(&x), unrolled.expand(&x));
        let bits = |draw: &[f64]| draw.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&draw), bits(&expected), "{text}");
    }
    (program, other)
}

/// Numbers without a pattern, between -1 and 1.
pub(crate) fn numbers(count: usize, turn: f64) -> Vec<f64> {
    (0..count).map(|t| (turn + 2.9 * t as f64).sin()).collect()
}
