//! The exact posterior: against posteriordb's reference draws, and against sums over a plain grid.

use octopus_density::LogDensity;
use octopus_models::exact::{Moments, SchoolsPosterior};
use octopus_models::{EightSchools, Registry};

/// Means of theta_1 .. theta_8, mu and tau over posteriordb's 10,000 reference draws, with their Monte Carlo standard
/// errors: `reference_posteriors/summary_statistics/mean_value/mean_value/eight_schools-eight_schools_noncentered.json`.
const POSTERIORDB: [[f64; 2]; 10] = [
    [6.15050229334425, 0.0557375282295219],
    [4.9395811407422, 0.0462293788624847],
    [3.90590609001582, 0.0542313705632124],
    [4.79601675138494, 0.0474935816762281],
    [3.6144363246799, 0.0461450610244603],
    [4.0511475789675, 0.0485195392528031],
    [6.31716975886893, 0.0498766794075794],
    [4.88399694353288, 0.0542511606560972],
    [4.41051833695493, 0.0330374705950917],
    [3.60205952364059, 0.0318615135640706],
];

#[test]
fn means_are_those_of_posteriordb() {
    let posterior = SchoolsPosterior::compute(&EightSchools::rubin());
    let ours = posterior.theta.iter().chain([&posterior.mu, &posterior.tau]);
    for (i, (ours, [mean, error])) in ours.zip(POSTERIORDB).enumerate() {
        let z = (ours.mean - mean) / error;
        println!("{i}: {} +- {}, {z:.2} standard errors", ours.mean, ours.sd);
        assert!(z.abs() < 4.0, "{i}: {ours:?}, {mean} +- {error}");
    }
}

/// Moments of one school's variables from its joint density over (z, mu, log tau), summed over a grid: three
/// dimensions, and nothing integrated by hand but the place and width of z's grid.
#[test]
fn one_school_by_sums_over_a_grid() {
    let (y, sigma) = (6.0, 4.0);
    let model = EightSchools::new(&[y], &[sigma]).unwrap();
    let posterior = SchoolsPosterior::compute(&model);
    let mut gradient = [0.0; 3];
    // Mass, then sums of z, mu and tau, then of the squares of z and mu.
    let mut sums = [0.0; 6];
    for a in 0..=500 {
        let log_tau = -20.0 + 0.1 * f64::from(a);
        let tau = log_tau.exp();
        let total = sigma * sigma + tau * tau;
        let width = sigma / total.sqrt();
        for b in -20..=20 {
            let mu = 2.0 * f64::from(b);
            for c in -18..=18 {
                let z = tau * (y - mu) / total + 0.4 * width * f64::from(c);
                let weight = width * model.logp_grad(&[z, mu, log_tau], &mut gradient).unwrap().exp();
                for (sum, value) in sums.iter_mut().zip([1.0, z, mu, tau, z * z, mu * mu]) {
                    *sum += weight * value;
                }
            }
        }
    }
    let [mass, z, mu, tau, z2, mu2] = sums;
    let check = |first: f64, second: f64, expected: Moments| {
        let mean = first / mass;
        let sd = (second / mass - mean * mean).sqrt();
        let error = (mean - expected.mean).abs().max((sd - expected.sd).abs());
        assert!(error < 1e-7 * expected.sd, "{mean} +- {sd}, not {expected:?}");
    };
    check(z, z2, posterior.theta_trans[0]);
    check(mu, mu2, posterior.mu);
    assert!((tau / mass / posterior.tau.mean - 1.0).abs() < 1e-7, "{} and {}", tau / mass, posterior.tau.mean);
}

#[test]
fn one_school_leaves_taus_spread_infinite() {
    let posterior = SchoolsPosterior::compute(&EightSchools::new(&[6.0], &[4.0]).unwrap());
    assert!(posterior.tau.mean.is_finite() && posterior.tau.sd.is_infinite());
}

/// The standard deviation of tau has no standard error in draws where three schools leave it too heavy a tail.
#[test]
fn a_problem_tells_what_draws_can_be_held_to() {
    let model = Registry::shipped().find("eight-schools").unwrap();
    let exact =
        |settings: &str| model.build(&settings.parse().unwrap(), None).unwrap().exact().unwrap().expect("known");
    let (rubin, own) = (exact(""), SchoolsPosterior::compute(&EightSchools::rubin()));
    for (name, index, moments) in
        [("mu", 0, own.mu), ("tau", 0, own.tau), ("theta", 7, own.theta[7]), ("theta_trans", 2, own.theta_trans[2])]
    {
        assert_eq!(rubin.moments_of(name, index), Some(moments), "{name}");
    }
    assert_eq!((rubin.moments_of("theta", 8), rubin.moments_of("sigma", 0)), (None, None));
    let three = exact("[data]\ny = [1.0, 2.0, 4.0]\nsigma = [1.0, 1.0, 2.0]");
    assert!(three.moments_of("tau", 0).is_none() && three.moments_of("mu", 0).is_some());
}
