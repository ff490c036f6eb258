//! Eight schools against their exact posterior: mean and standard deviation of every variable within 4 Monte Carlo
//! standard errors.

use crate::monte_carlo::run;
use octopus_density::LogDensity;
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use octopus_sampler::{Parameterization, SamplerConfig};

fn check(model: &EightSchools, config: SamplerConfig) -> usize {
    let exact = SchoolsPosterior::compute(model);
    let expected: Vec<_> = [exact.mu, exact.tau].into_iter().chain(exact.theta).chain(exact.theta_trans).collect();
    let what = format!("{} schools, seed {}, {:?}", model.schools(), config.seed, config.parameterization);
    let draws = run(model, config);
    let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
    for (variable, range) in model.layout().ranges() {
        for (index, at) in range.enumerate() {
            let name = variable.element_name(index);
            moments[at][0].check(&format!("{what}, {name} mean"), expected[at].mean, 4.0);
            moments[at][1].check(&format!("{what}, {name} sd"), expected[at].sd, 4.0);
        }
    }
    draws.divergences()
}

fn config(seed: u64, parameterization: Parameterization) -> SamplerConfig {
    let target_accept = 0.95;
    SamplerConfig { draws: 5000, tune: 1000, chains: 4, target_accept, seed, parameterization, ..Default::default() }
}

/// No run of any seed diverges, and over all seeds every mean is the exact one, within 4.5 standard errors of the spread
/// between seeds.
#[test]
fn rubins_schools() {
    const SEEDS: u64 = 60;
    let model = EightSchools::rubin();
    let exact = SchoolsPosterior::compute(&model);
    let expected: Vec<_> = [exact.mu, exact.tau].into_iter().chain(exact.theta).chain(exact.theta_trans).collect();
    for parameterization in [Parameterization::NonCentered, Parameterization::Adaptive] {
        let mut means = vec![Vec::new(); model.layout().width()];
        let mut divergences = 0;
        for seed in 1..=SEEDS {
            let draws = run(&model, config(seed, parameterization));
            let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
            means.iter_mut().zip(&moments).for_each(|(means, moments)| means.push(moments[0].value));
            divergences += draws.divergences();
        }
        for (of_seeds, expected) in means.iter().zip(&expected) {
            let n = SEEDS as f64;
            let mean = of_seeds.iter().sum::<f64>() / n;
            let variance = of_seeds.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
            let z = (mean - expected.mean) / (variance / n).sqrt();
            assert!(z.abs() < 4.5, "{parameterization:?}: {mean}, not {} (z = {z:.2})", expected.mean);
        }
        eprintln!("{parameterization:?}: {divergences} of {} transitions diverge", SEEDS * 20_000);
        // Of 1.2 million: a few dozen at tau's extremes.
        assert!(divergences <= 60, "{parameterization:?}: {divergences} of {} diverge", SEEDS * 20_000);
    }
}

/// More schools than a warp has lanes, of very unequal accuracy.
#[test]
fn sixty_schools() {
    let y: Vec<f64> = (0..60).map(|j| 3.0 + 8.0 * f64::sin(1.7 * f64::from(j))).collect();
    let sigma: Vec<f64> = (0..60).map(|j| 0.5 + f64::from(j * j % 17)).collect();
    let model = EightSchools::new(&y, &sigma).expect("valid");
    assert_eq!(check(&model, config(4, Parameterization::Adaptive)), 0);
}
