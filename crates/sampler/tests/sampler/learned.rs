//! Hierarchies whose densities give no information: warm-up learns it, and the run is the same whatever happens on the
//! way.

use crate::effects::{Effects, Observed, unbalanced};
use crate::monte_carlo::run;
use crate::reproducible::{Bits, finish};
use octopus_density::{Centering, LogDensity};
use octopus_models::EightSchools;
use octopus_sampler::{Backend, Begin, LearnedInformation, Parameterization, Sampler, SamplerConfig};
use rayon::prelude::*;

fn seeded(seed: u64) -> SamplerConfig {
    SamplerConfig { seed, ..SamplerConfig::default() }
}

/// Of the seeds 0 to 39: how many runs diverge somewhere.
fn diverging(density: &Effects, parameterization: Parameterization) -> usize {
    let diverges = |seed| run(density, SamplerConfig { parameterization, ..seeded(seed) }).divergences() > 0;
    (0..40_u64).into_par_iter().filter(|&seed| diverges(seed)).count()
}

#[test]
fn a_binomial_hierarchy_does_not_diverge() {
    let density = unbalanced();
    let (plain, learned) =
        (diverging(&density, Parameterization::NonCentered), diverging(&density, Parameterization::Adaptive));
    eprintln!("{plain} of 40 runs diverge non-centered, {learned} with what warm-up learns");
    assert!(plain >= 5, "{plain}: this hierarchy would need no learning");
    assert_eq!(learned, 0);
}

/// Rubin's schools without their information, against their exact posterior; and what is learned is nearly what they
/// would have told.
#[test]
fn schools_that_do_not_tell() {
    let told = EightSchools::rubin();
    let kinds = told.y().iter().zip(told.sigma()).map(|(&y, &sigma)| Observed::Measured(y, sigma)).collect();
    // The shipped model's tau is half-Cauchy: the prior here is another, and the posterior is checked by quadrature.
    let density = Effects::new(kinds, (5.0, 5.0));
    let config = SamplerConfig { draws: 5000, target_accept: 0.9, ..seeded(3) };
    let mut sampler = Sampler::new(&density, config.clone()).unwrap();
    while sampler.advance(usize::MAX).unwrap().is_some() {}
    assert_eq!(sampler.adaptation().centerings, [Centering::Standardised]);
    let Some(LearnedInformation { origin, mean, precision, prior_sd }) = &sampler.adaptation().learned[0] else {
        panic!("{:?}", sampler.adaptation().learned)
    };
    assert!(origin.abs() < 1e-3 && (prior_sd.unwrap() - 5.0).abs() < 1e-3, "mu ~ N(0, 5): {origin}, {prior_sd:?}");
    for ((mean, precision), (y, sigma)) in mean.iter().zip(precision).zip(told.y().iter().zip(told.sigma())) {
        assert!(
            (origin + mean - y).abs() < 1e-3 && (precision * sigma * sigma - 1.0).abs() < 1e-3,
            "{mean} {precision}"
        );
    }
    let draws = run(&density, config);
    let (mu, tau) = schools_exact(told.y(), told.sigma());
    draws.mean(|x| x[8]).check("mu", mu, 4.0);
    draws.mean(|x| x[9].exp()).check("tau", tau, 4.0);
}

/// E[mu] and E[tau] with mu ~ N(0, 5) and tau ~ HalfNormal(5): given tau, y_j ~ N(mu, sigma_j^2 + tau^2).
fn schools_exact(y: &[f64], sigma: &[f64]) -> (f64, f64) {
    let (mut sums, mut most) = ([0.0; 3], f64::NEG_INFINITY);
    for k in 0..20_000 {
        let tau = 40.0 * (f64::from(k) + 0.5) / 20_000.0;
        let (mut precision, mut pull, mut log) = (1.0 / 25.0, 0.0, -0.5 * tau * tau / 25.0);
        for (y, sigma) in y.iter().zip(sigma) {
            let variance = sigma * sigma + tau * tau;
            precision += 1.0 / variance;
            pull += y / variance;
            log -= 0.5 * (variance.ln() + y * y / variance);
        }
        let mean = pull / precision;
        log += 0.5 * (precision * mean * mean - precision.ln());
        if log > most {
            sums = sums.map(|sum| sum * (most - log).exp());
            most = log;
        }
        let weight = (log - most).exp();
        sums = [sums[0] + weight, sums[1] + weight * mean, sums[2] + weight * tau];
    }
    (sums[1] / sums[0], sums[2] / sums[0])
}

/// The same bits with other threads and other spans, and after each interruption: what is learned goes with the run.
#[test]
fn the_bits_do_not_depend_on_threads_spans_or_interruptions() {
    for config in [
        SamplerConfig { draws: 60, tune: 200, ..seeded(5) },
        SamplerConfig { draws: 20, tune: 150, seed: 5, ..SamplerConfig::many_short(16) },
    ] {
        let density = unbalanced();
        let mut sampler = Sampler::new(&density, config.clone()).unwrap();
        let (mut bits, mut kept) = (Bits::default(), Vec::new());
        while let Some(block) = sampler.advance(7).unwrap() {
            bits.add(&block);
            kept.push((sampler.done(), sampler.adaptation().clone(), sampler.checkpoint().unwrap()));
        }
        let strategy = config.strategy;
        assert_eq!(sampler.adaptation().centerings, [Centering::Standardised], "{strategy:?}");
        assert!(kept.iter().any(|(_, adaptation, _)| adaptation.learned.is_empty()), "{strategy:?}: it begins without");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let whole = pool.install(|| finish(&mut Sampler::new(&density, config.clone()).unwrap(), || usize::MAX));
            assert!(whole == bits, "{strategy:?}: {threads} threads");
        }
        for (done, adaptation, checkpoint) in kept {
            let again = unbalanced();
            let mut sampler = Sampler::begin(&again, Begin::GoOn(checkpoint.clone()), Backend::Cpu).unwrap();
            assert_eq!(*sampler.adaptation(), adaptation);
            assert_eq!(sampler.checkpoint().unwrap(), checkpoint);
            let rest = finish(&mut sampler, || 1 + done % 11);
            assert!(rest == bits.after(done), "{strategy:?}: resumed after {done}");
        }
    }
}

/// What is learned is of this density, or the checkpoint is refused.
#[test]
fn checkpoints_with_what_another_density_has_learned_are_refused() {
    let density = unbalanced();
    let config = SamplerConfig { draws: 5, tune: 200, ..seeded(1) };
    let mut sampler = Sampler::new(&density, config).unwrap();
    while sampler.warm_up().is_none() {
        sampler.advance(usize::MAX).unwrap();
    }
    let checkpoint = sampler.checkpoint().unwrap();
    let begin = |density: &Effects, bytes: &[u8]| {
        Sampler::begin(density, Begin::GoOn(bytes.to_vec()), Backend::Cpu).map(|_| ())
    };
    assert!(begin(&density, &checkpoint).is_ok());
    for cut in 1..120 {
        assert!(begin(&density, &checkpoint[..checkpoint.len() - cut]).is_err(), "{cut} bytes less");
    }
    let others = Effects::new(density.observed[..11].to_vec(), density.priors);
    assert!(begin(&others, &checkpoint).is_err());
}

/// Coordinates are as asked, and a density that gives information learns none.
#[test]
fn only_what_is_not_known_is_learned() {
    use octopus_density::Information;
    let learned = |density: &dyn LogDensity, config: SamplerConfig| {
        let mut sampler = Sampler::new(density, SamplerConfig { draws: 5, tune: 200, ..config }).unwrap();
        while sampler.advance(usize::MAX).unwrap().is_some() {}
        (sampler.adaptation().centerings.clone(), sampler.adaptation().learned.clone())
    };
    let asked = |parameterization| learned(&unbalanced(), SamplerConfig { parameterization, ..seeded(2) });
    assert_eq!(asked(Parameterization::NonCentered), (vec![Centering::NonCentered], vec![]));
    assert_eq!(asked(Parameterization::Centered), (vec![Centering::Centered], vec![]));
    let information = Information::new(-2.0, vec![0.0; 12], vec![3.0; 12]);
    let informed = learned(&unbalanced().informed(information), seeded(2));
    assert_eq!(informed, (vec![Centering::Standardised], vec![]));
    // Eight schools have kernels, which know what the density gives.
    assert_eq!(learned(&EightSchools::rubin(), seeded(2)), (vec![Centering::Standardised], vec![]));
    // Without a window there is nothing to learn from.
    let mut short = Sampler::new(&unbalanced(), SamplerConfig { draws: 5, tune: 10, ..seeded(2) }).unwrap();
    while short.advance(usize::MAX).unwrap().is_some() {}
    assert_eq!(short.adaptation().centerings, [Centering::NonCentered]);
}
