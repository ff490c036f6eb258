//! What every estimator says of NaN, infinities, constants, one chain, two draws.

use octopus_diag::{
    Chains, Definition, bfmi, ess_bulk, ess_bulk_of_chains, ess_folded, ess_identity, ess_local, ess_local_curve,
    ess_mad, ess_mean, ess_mean_of_chains, ess_median, ess_quantile, ess_quantile_curve, ess_sd, ess_tail,
    ess_tail_of_chains, eti, evolution, hdi, hdi_multimodal, kde, mcse_mean, mcse_median, mcse_quantile, mcse_sd, rhat,
    rhat_folded, rhat_identity, rhat_nested, rhat_split, rhat_z_scale,
};

type Estimator = fn(&Chains) -> f64;

const RHATS: [(&str, Estimator); 5] = [
    ("rhat", rhat),
    ("rhat_split", rhat_split),
    ("rhat_folded", rhat_folded),
    ("rhat_z_scale", rhat_z_scale),
    ("rhat_identity", rhat_identity),
];

const ESSES: [(&str, Estimator); 10] = [
    ("ess_bulk", ess_bulk),
    ("ess_tail", ess_tail),
    ("ess_mean", ess_mean),
    ("ess_sd", ess_sd),
    ("ess_median", ess_median),
    ("ess_mad", ess_mad),
    ("ess_folded", ess_folded),
    ("ess_identity", ess_identity),
    ("ess_quantile", |chains| ess_quantile(chains, 0.3).unwrap()),
    ("ess_local", |chains| ess_local(chains, 0.3, 0.6).unwrap()),
];

const ERRORS: [(&str, Estimator); 4] = [
    ("mcse_mean", mcse_mean),
    ("mcse_sd", mcse_sd),
    ("mcse_median", mcse_median),
    ("mcse_quantile", |chains| mcse_quantile(chains, 0.3).unwrap()),
];

const OF_CHAINS: [(&str, Estimator); 3] = [
    ("ess_mean_of_chains", ess_mean_of_chains),
    ("ess_bulk_of_chains", ess_bulk_of_chains),
    ("ess_tail_of_chains", ess_tail_of_chains),
];

fn sound(chains: usize, draws: usize) -> Vec<f64> {
    (0..chains * draws).map(|i| (i * 7919 % 1009) as f64 / 100.0 - 5.0).collect()
}

fn all(estimators: &[(&str, Estimator)], values: &[f64], chains: usize, expected: impl Fn(f64) -> bool) {
    let view = Chains::new(values, chains, values.len() / chains).unwrap();
    for (name, estimator) in estimators {
        let found = estimator(&view);
        assert!(expected(found), "{name}: {found}");
    }
}

#[test]
fn sound_values_have_them_all() {
    let values = sound(4, 100);
    all(&RHATS, &values, 4, |v| (0.9..1.1).contains(&v));
    all(&ESSES, &values, 4, |v| v > 100.0 && v.is_finite());
    all(&ERRORS, &values, 4, |v| v > 0.0 && v < 1.0);
    all(&OF_CHAINS, &values, 4, |v| v > 1.0);
}

#[test]
fn one_nan_makes_all_nan() {
    let mut values = sound(4, 100);
    values[217] = f64::NAN;
    for estimators in [&RHATS[..], &ESSES, &ERRORS, &OF_CHAINS] {
        all(estimators, &values, 4, f64::is_nan);
    }
    let view = Chains::new(&values, 4, 100).unwrap();
    assert!(rhat_nested(&view, &[0, 0, 1, 1]).unwrap().is_nan());
    assert!(eti(&view, 0.5).unwrap().iter().all(|v| v.is_nan()));
    assert!(hdi(&view, 1.0).unwrap()[1].is_nan());
    // The rest still has a density and its regions.
    assert!(kde(&values).is_some() && !hdi_multimodal(&view, 0.5).unwrap().is_empty());
    assert!(bfmi(&view)[2].is_nan() && bfmi(&view)[0].is_finite());
    assert!(evolution(&view, 5).unwrap().ess_bulk[4].is_nan());
}

#[test]
fn an_infinity_leaves_what_only_ranks() {
    for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = sound(4, 100);
        values[217] = infinity;
        let ranked: Vec<(&str, Estimator)> = ESSES
            .into_iter()
            .chain(RHATS)
            .filter(|(name, _)| !["ess_mean", "ess_sd", "ess_identity", "rhat_split", "rhat_identity"].contains(name))
            .collect();
        all(&ranked, &values, 4, f64::is_finite);
        all(&[ESSES[2], ESSES[3], ESSES[7], ERRORS[0], ERRORS[1]], &values, 4, f64::is_nan);
        all(&[RHATS[1], RHATS[4]], &values, 4, f64::is_nan);
        let view = Chains::new(&values, 4, 100).unwrap();
        assert!(rhat_nested(&view, &[0, 0, 1, 1]).unwrap().is_nan());
        assert!(hdi(&view, 0.5).unwrap().iter().all(|v| v.is_finite()));
        assert!(Definition::Posterior.ess_tail(&view).is_nan() && Definition::ArvizStats.ess_tail(&view).is_finite());
    }
}

#[test]
fn constants_are_worth_all_their_draws() {
    // 0.1 is not the mean of many 0.1 added up.
    for constant in [0.0, 2.5, 0.1, -1e9] {
        let values = [constant; 200];
        all(&ESSES, &values, 4, |v| v == 200.0);
        all(&OF_CHAINS, &values, 4, |v| v == 200.0);
        all(&[ERRORS[2], ERRORS[3]], &values, 4, |v| v == 0.0);
        all(&[ERRORS[0]], &values, 4, |v| v.abs() <= 1e-15 * f64::abs(constant));
        all(&[RHATS[2], RHATS[3]], &values, 4, f64::is_nan);
        let view = Chains::new(&values, 4, 50).unwrap();
        assert!(rhat_nested(&view, &[0, 0, 1, 1]).unwrap().is_nan());
        assert_eq!(hdi(&view, 0.5).unwrap(), [constant; 2]);
        assert_eq!(hdi_multimodal(&view, 0.5).unwrap(), [[constant; 2]]);
        assert!(kde(&values).is_none());
    }
}

#[test]
fn one_chain_has_no_rhat() {
    let values = sound(1, 400);
    all(&RHATS, &values, 1, f64::is_nan);
    all(&OF_CHAINS, &values, 1, f64::is_nan);
    all(&ESSES, &values, 1, |v| v > 50.0);
    all(&ERRORS, &values, 1, |v| v > 0.0);
    let view = Chains::new(&values, 1, 400).unwrap();
    assert!((Definition::Posterior.rhat(&view) - 1.0).abs() < 0.1);
    assert!(rhat_nested(&view, &[0]).unwrap().is_nan());
}

#[test]
fn fewer_than_four_draws_say_nothing() {
    for draws in [1, 2, 3] {
        let values = sound(4, draws);
        for estimators in [&RHATS[..], &ESSES, &ERRORS] {
            all(estimators, &values, 4, f64::is_nan);
        }
        // Chains still tell their spread.
        all(&OF_CHAINS, &values, 4, |v| v > 0.0);
        let view = Chains::new(&values, 4, draws).unwrap();
        assert!(hdi(&view, 0.5).unwrap().iter().all(|v| v.is_finite()));
        assert!(evolution(&view, 1).unwrap().rhat[0].is_nan());
        assert!(ess_quantile_curve(&view, 3).unwrap().iter().all(|pair| pair.1.is_nan()));
        assert!(ess_local_curve(&view, 3).unwrap().iter().all(|pair| pair.1.is_nan()));
    }
}
