//! Hierarchies whose densities give no information: warm-up learns it, and the run is the same whatever happens on the
//! way.

use crate::effects::{Effects, Observed, exact_scalars, kinds, unbalanced};
use crate::monte_carlo::run;
use crate::reproducible::{Bits, finish};
use octopus_density::{Centering, LogDensity};
use octopus_diag::{Chains, ess_bulk, rhat};
use octopus_models::EightSchools;
use octopus_random::{Purpose, Stream};
use octopus_sampler::{Backend, Begin, LearnedInformation, Parameterization, Phase, Sampler, SamplerConfig};
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

/// Rubin's schools without their information: what is learned is nearly what they would have told.
#[test]
fn schools_that_do_not_tell() {
    let told = EightSchools::rubin();
    let kinds = told.y().iter().zip(told.sigma()).map(|(&y, &sigma)| Observed::Measured(y, sigma)).collect();
    let density = Effects::new(kinds, (5.0, 5.0));
    let config = SamplerConfig { draws: 5000, target_accept: 0.9, ..seeded(3) };
    let mut sampler = Sampler::new(&density, config).unwrap();
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
}

/// E[mu] and E[tau] of hierarchies of all kinds are those of a quadrature.
#[test]
fn means_are_exact() {
    for (name, density) in kinds() {
        let groups = density.observed.len();
        let (mu, tau) = exact_scalars(&density);
        let draws = run(&density, SamplerConfig { draws: 4000, ..seeded(11) });
        draws.mean(|x| x[groups]).check(&format!("{name}: mu"), mu, 4.0);
        draws.mean(|x| x[groups + 1].exp()).check(&format!("{name}: tau"), tau, 4.0);
    }
}

/// Simulation-based calibration: parameters from the prior, counts from the parameters, and the ranks of the true values
/// among the draws are uniform.
#[test]
fn ranks_are_uniform() {
    const SETS: u32 = 320;
    /// 63 of 630 draws are kept: ranks 0 to 63, in 16 bins of 4.
    const THIN: usize = 10;
    const BINS: usize = 16;
    /// The quantile 1 - 2e-5 of chi-square with 15 degrees of freedom.
    const LIMIT: f64 = 48.6;
    let trials = [3.0, 5.0, 10.0, 20.0, 50.0, 8.0, 100.0, 4.0];
    let kinds = Effects::new(trials.map(|trials| Observed::Successes(0.0, trials)).to_vec(), (1.5, 1.0));
    let quantities = |density: &Effects, x: &[f64]| {
        let all = density.observed.iter().zip(x);
        [x[8], x[9], x[0], all.map(|(observed, z)| observed.log_likelihood(x[8] + x[9].exp() * z).0).sum::<f64>()]
    };
    let of_set = |number: u32| {
        let (truth, density) = kinds.draw_from_prior(&mut Stream::new(88, number, 0, Purpose::User));
        let expected = quantities(&density, &truth);
        let config = SamplerConfig { draws: 630, tune: 400, chains: 1, target_accept: 0.9, ..seeded(number.into()) };
        let mut sampler = Sampler::new(&density, config).unwrap();
        let mut ranks = [0; 4];
        while let Some(block) = sampler.advance(usize::MAX).unwrap() {
            let kept = block.chains[0].positions.chunks_exact(10).step_by(THIN);
            for x in kept.filter(|_| block.phase == Phase::Sampling) {
                for ((rank, found), expected) in ranks.iter_mut().zip(quantities(&density, x)).zip(expected) {
                    *rank += usize::from(found < expected);
                }
            }
        }
        assert_eq!(sampler.adaptation().centerings, [Centering::Standardised]);
        ranks
    };
    let all: Vec<[usize; 4]> = (0..SETS).into_par_iter().map(of_set).collect();
    let expected = f64::from(SETS) / BINS as f64;
    for (q, name) in ["mu", "tau", "z[0]", "log likelihood"].into_iter().enumerate() {
        let mut counts = [0.0; BINS];
        all.iter().for_each(|ranks| counts[ranks[q] * BINS / 64] += 1.0);
        let chi_square: f64 = counts.iter().map(|n: &f64| (n - expected) * (n - expected) / expected).sum();
        eprintln!("{name}: chi-square {chi_square:.1}, counts {counts:?}");
        assert!(chi_square < LIMIT, "{name}: chi-square {chi_square:.1}, counts {counts:?}");
    }
}

/// The study of decision 1: divergences, chains that are lost and effective draws for each gradient, over as many seeds as
/// `OCTOPUS_SEEDS` says, of each kind of hierarchy (`OCTOPUS_KIND` chooses one). It takes an hour:
/// `cargo nextest run -p octopus-sampler --test sampler --run-ignored all what_learning_brings --no-capture`.
#[test]
#[ignore = "a measurement"]
fn what_learning_brings() {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seeds, only) = (asked("OCTOPUS_SEEDS").unwrap_or(1000), asked("OCTOPUS_KIND"));
    for (number, (name, density)) in kinds().into_iter().enumerate() {
        if only.is_some_and(|only| only != number as u64) {
            continue;
        }
        // What is compared with needs fewer.
        for (parameterization, seeds) in
            [(Parameterization::Adaptive, seeds), (Parameterization::NonCentered, seeds.div_ceil(10))]
        {
            let of_seed = |seed| study(&density, SamplerConfig { parameterization, ..seeded(seed) });
            let all: Vec<Studied> = (0..seeds).into_par_iter().map(of_seed).collect();
            let count = |is: &dyn Fn(&Studied) -> bool| all.iter().filter(|one| is(one)).count();
            let mut efficiency: Vec<f64> = all.iter().map(|one| one.ess / one.gradients).collect();
            efficiency.sort_by(f64::total_cmp);
            println!(
                "| {name} | {parameterization:?} | of {seeds} runs {} diverge, {} times | R-hat >= 1.01: {}, > 1.05: {} | largest R-hat {:.4} | \
                 ESS per 1000 gradients: median {:.2}, least {:.2} | gradients {:.0} |",
                count(&|one| one.divergences > 0),
                all.iter().map(|one| one.divergences).sum::<usize>(),
                count(&|one| one.rhat >= 1.01),
                count(&|one| one.rhat > 1.05),
                all.iter().map(|one| one.rhat).fold(0.0, f64::max),
                1e3 * efficiency[efficiency.len() / 2],
                1e3 * efficiency[0],
                all.iter().map(|one| one.gradients).sum::<f64>() / seeds as f64,
            );
        }
    }
}

/// What a run of the study gave.
struct Studied {
    divergences: usize,
    rhat: f64,
    /// The smallest bulk-ESS of all variables.
    ess: f64,
    /// Leapfrog steps, warm-up included.
    gradients: f64,
}

fn study(density: &Effects, config: SamplerConfig) -> Studied {
    let (dim, width, count) = (density.dim(), density.layout().width(), config.chains);
    let mut sampler = Sampler::new(density, config).unwrap();
    let (mut chains, mut stats, mut gradients) = (vec![Vec::new(); count], Vec::new(), 0.0);
    while let Some(block) = sampler.advance(usize::MAX).unwrap() {
        gradients += block.leapfrogs() as f64;
        if block.phase == Phase::Sampling {
            for (all, chain) in chains.iter_mut().zip(block.chains) {
                all.extend(chain.positions);
                stats.extend(chain.stats);
            }
        }
    }
    let draws = chains[0].len() / dim;
    let mut values = vec![0.0; width];
    let mut columns = vec![Vec::with_capacity(count * draws); width];
    for x in chains.iter().flat_map(|chain| chain.chunks_exact(dim)) {
        density.expand(x, &mut values);
        columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(*value));
    }
    let (mut largest, mut least) = (0.0_f64, f64::INFINITY);
    for column in &columns {
        let of_variable = Chains::new(column, count, draws).unwrap();
        largest = largest.max(rhat(&of_variable));
        least = least.min(ess_bulk(&of_variable));
    }
    Studied { divergences: stats.iter().filter(|stats| stats.diverging).count(), rhat: largest, ess: least, gradients }
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
            let expected = if done == bits.draws() { Bits::default() } else { bits.after(done) };
            assert!(rest == expected, "{strategy:?}: resumed after {done}");
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
    let density = unbalanced();
    let mut short = Sampler::new(&density, SamplerConfig { draws: 5, tune: 10, ..seeded(2) }).unwrap();
    while short.advance(usize::MAX).unwrap().is_some() {}
    assert_eq!(short.adaptation().centerings, [Centering::NonCentered]);
}
