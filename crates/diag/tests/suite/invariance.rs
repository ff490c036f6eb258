//! What must not change an estimate: the order of the chains, the origin and the unit.

use crate::support::SplitMix;
use octopus_diag::{Chains, ess_bulk, ess_mean, ess_sd, ess_tail, hdi, mcse_mean, rhat, rhat_folded, rhat_split};
use proptest::prelude::*;

/// Autocorrelated chains with offsets of their own.
fn chains() -> impl Strategy<Value = (Vec<f64>, usize, usize)> {
    (any::<u64>(), 2..6usize, 8..300usize, -0.9..0.95f64, 0.0..2.0f64).prop_map(|(seed, chains, draws, phi, apart)| {
        let mut rng = SplitMix(seed);
        let values = (0..chains)
            .flat_map(|c| {
                let row = rng.autoregressive(phi, draws);
                row.into_iter().map(move |v| v + apart * c as f64)
            })
            .collect();
        (values, chains, draws)
    })
}

type Estimator = fn(&Chains) -> f64;

const RANKED: [(&str, Estimator); 4] =
    [("rhat", rhat), ("rhat_folded", rhat_folded), ("ess_bulk", ess_bulk), ("ess_tail", ess_tail)];
const PLAIN: [(&str, Estimator); 3] = [("rhat_split", rhat_split), ("ess_mean", ess_mean), ("ess_sd", ess_sd)];

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs()
}

proptest! {
    #[test]
    fn order_of_chains((values, chains, draws) in chains(), turn in 1..5usize) {
        let mut turned = values.clone();
        turned.rotate_left(turn % chains * draws);
        let before = Chains::new(&values, chains, draws).unwrap();
        let after = Chains::new(&turned, chains, draws).unwrap();
        for (name, estimator) in RANKED.into_iter().chain(PLAIN) {
            prop_assert!(close(estimator(&after), estimator(&before), 1e-9), "{}", name);
        }
        prop_assert_eq!(hdi(&after, 0.89).unwrap(), hdi(&before, 0.89).unwrap());
    }

    /// Powers of two scale exactly, so nothing at all may change.
    #[test]
    fn unit((values, chains, draws) in chains(), power in -40..40i32) {
        let unit = 2f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
        let before = Chains::new(&values, chains, draws).unwrap();
        let after = Chains::new(&scaled, chains, draws).unwrap();
        for (name, estimator) in RANKED {
            prop_assert!(close(estimator(&after), estimator(&before), 0.0), "{}", name);
        }
        // ArviZ takes values within 1e-15 of each other for equal, which is not free of units.
        if power > -10 {
            for (name, estimator) in PLAIN {
                prop_assert!(close(estimator(&after), estimator(&before), 1e-12), "{}", name);
            }
        }
        prop_assert!(close(mcse_mean(&after), unit * mcse_mean(&before), 1e-12) || power <= -10);
    }

    /// Ranks see only order: a shift and a reflection leave the bulk and the scale as they are. Values and
    /// origin lie on a grid, so that no sum is rounded: rounding makes and breaks ties.
    #[test]
    fn origin_and_sign((values, chains, draws) in chains(), origin in -100..100i32) {
        let grid: Vec<f64> = values.iter().map(|v| (v * 2f64.powi(20)).round() / 2f64.powi(20)).collect();
        let moved: Vec<f64> = grid.iter().map(|v| f64::from(origin) - v).collect();
        let before = Chains::new(&grid, chains, draws).unwrap();
        let after = Chains::new(&moved, chains, draws).unwrap();
        for (name, estimator) in [("rhat", rhat as Estimator), ("rhat_folded", rhat_folded), ("ess_bulk", ess_bulk)] {
            prop_assert!(close(estimator(&after), estimator(&before), 1e-9), "{}", name);
        }
        for (name, estimator) in PLAIN {
            prop_assert!(close(estimator(&after), estimator(&before), 1e-9), "{}", name);
        }
    }

    #[test]
    fn chains_apart_raise_rhat((values, chains, draws) in chains()) {
        let apart: Vec<f64> = values.iter().enumerate().map(|(i, v)| v + 50.0 * (i / draws) as f64).collect();
        prop_assert!(rhat(&Chains::new(&apart, chains, draws).unwrap()) > 1.2);
    }
}

/// An AR(1) process with correlation phi has n (1 - phi) / (1 + phi) effective draws for its mean.
#[test]
fn autoregressive_truth() {
    for phi in [-0.5, 0.0, 0.5, 0.9] {
        let (chains, draws) = (8, 20_000);
        let mut rng = SplitMix(11);
        let values: Vec<f64> = (0..chains).flat_map(|_| rng.autoregressive(phi, draws)).collect();
        let view = Chains::new(&values, chains, draws).unwrap();
        let truth = (chains * draws) as f64 * (1.0 - phi) / (1.0 + phi);
        for (name, estimator) in [("ess_mean", ess_mean as Estimator), ("ess_bulk", ess_bulk)] {
            let found = estimator(&view);
            assert!((found / truth - 1.0).abs() < 0.1, "{name} at {phi}: {found}, true {truth}");
        }
        let sd = (1.0 / (1.0 - phi * phi) / truth).sqrt();
        assert!((mcse_mean(&view) / sd - 1.0).abs() < 0.06, "{phi}: {} {sd}", mcse_mean(&view));
        assert!(rhat(&view) < 1.005);
    }
}
