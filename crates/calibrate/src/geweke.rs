//! Geweke's joint distribution test: do two simulators of parameters and data agree?
//!
//! Geweke, J. (2004). Getting it right: joint distribution tests of posterior simulators. Journal of the American
//! Statistical Association 99, 799-804.
//!
//! Parameters and data have one joint distribution, which two simulators draw from. The first draws parameters from the
//! prior and data from the parameters. The second alternates: the sampler moves the parameters given the data, and new
//! data are drawn given the parameters. If means of the same functions differ, model, density or sampler is wrong.

use crate::CalibrateError;
use crate::address::{StreamPurpose, sampler_seed, step_stream, stream};
use crate::quantities::Coordinates;
use crate::run::{TURN, on_threads};
use octopus_density::LogDensity;
use octopus_diag::{MeanTest, holm, mean_zero, student_limit};
use octopus_models::Simulator;
use octopus_sampler::reference::{RandomAddress, ReferenceChain};
use octopus_sampler::{Sampler, SamplerConfig};
use serde::{Deserialize, Serialize};

/// Effective draws that each sequence needs on average. A sequence that hardly moves from where the prior has put it
/// agrees with the prior, whatever its transitions are: the part of a wrong sampler's error that shows is 1 - (1 -
/// exp(-t)) / t after t
/// autocorrelation times. Two effective draws are t = 4: three quarters of it.
const ENOUGH: f64 = 2.0;

/// The settings of Geweke's test.
#[derive(Clone, Debug)]
pub struct GewekeSettings {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Sequences of the alternating simulator, independent of each other; at least 8.
    pub sequences: usize,
    /// The number of steps of each sequence: in each step come new data, and transitions given them.
    pub steps: usize,
    /// The sampler's settings. Chains and warm-up learn the metric and the step size for each step's data; `draws` is
    /// the number of transitions of each step.
    pub sampler: SamplerConfig,
    /// The probability of a false alarm.
    pub false_alarm: f64,
}

/// The result of both simulators.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Geweke {
    /// Whether the simulators agree in all moments, and had enough draws to disagree.
    pub calibrated: bool,
    /// Whether there were enough draws to disagree: `least_ess` is `wanted_ess` or more.
    pub decided: bool,
    /// The largest probability that a sampler without fault is called miscalibrated, over all moments together.
    pub false_alarm: f64,
    /// The number of sequences of the alternating simulator.
    pub sequences: usize,
    /// The number of steps of each sequence.
    pub steps: usize,
    /// The number of draws of the first simulator.
    pub independent_draws: usize,
    /// The difference, in standard errors, that chance makes in one of the moments with the probability `false_alarm`
    /// (Bonferroni); Holm's adjustment of the verdict is a little finer.
    pub limit: f64,
    /// Means and squares of each quantity.
    pub moments: Vec<Moment>,
    /// The smallest effective sample size of all moments, in draws of all sequences.
    pub least_ess: f64,
    /// The effective sample size that `least_ess` should reach.
    pub wanted_ess: f64,
    /// The number of divergent transitions.
    pub divergences: u64,
}

/// One function of parameters and data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moment {
    /// The quantity's name; names of squares end in `^2`.
    pub name: String,
    /// The mean with parameters from the prior.
    pub prior: f64,
    /// The mean with parameters from the sampler.
    pub sampler: f64,
    /// Standard error of the difference.
    pub error: f64,
    /// The difference divided by its standard error: it follows Student's distribution with sequences - 1 degrees of
    /// freedom.
    pub z: f64,
    /// The p-value of `z`.
    pub p: f64,
    /// The p-value adjusted for all moments (Holm).
    pub adjusted_p: f64,
    /// Effective draws of all sequences together: the variance of one draw divided by the variance of the mean, which
    /// is estimated from the sequences' spread.
    pub ess: f64,
    /// Whether the adjusted p-value is above the rate of false alarms.
    pub agrees: bool,
}

/// What one sequence of the alternating simulator has found, and as many independent draws beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GewekeSequence {
    /// The number of the sequence, from 0 on.
    pub number: u32,
    /// The mean of each moment over independent draws.
    pub independent: Vec<f64>,
    /// Each moment over the steps of the sequence.
    pub moments: Vec<SequenceMoment>,
    /// The number of divergent transitions.
    pub divergences: u64,
}

impl GewekeSequence {
    /// Returns whether it is one of such a test of this model.
    pub fn is_of(&self, simulator: &dyn Simulator, settings: &GewekeSettings) -> bool {
        let moments = 2 * Coordinates::of(simulator.layout()).names.len();
        (self.number as usize) < settings.sequences && [self.independent.len(), self.moments.len()] == [moments; 2]
    }

    /// Returns whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let are_finite = |moment: &SequenceMoment| moment.mean.is_finite() && moment.deviations.is_finite();
        self.independent.iter().all(|mean| mean.is_finite()) && self.moments.iter().all(are_finite)
    }
}

/// One moment over the steps of a sequence, by Welford's sums: a long sequence needs no more memory than a short one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SequenceMoment {
    /// The mean.
    pub mean: f64,
    /// The sum of the squared deviations from the mean.
    pub deviations: f64,
}

impl SequenceMoment {
    /// Takes the value of a step, of which it is the `count`-th.
    fn take(&mut self, value: f64, count: usize) {
        let from_old = value - self.mean;
        self.mean += from_old / count as f64;
        self.deviations += from_old * (value - self.mean);
    }
}

/// Compares both simulators on `threads` threads; returns `None` when `stop` returns true.
///
/// See [`geweke_sequences`] and [`judge_geweke`], which do one half of it each.
///
/// # Errors
/// When settings are out of range, or the model cannot be simulated or sampled.
pub fn geweke(
    simulator: &dyn Simulator,
    settings: &GewekeSettings,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Geweke>, CalibrateError> {
    let mut done = Vec::new();
    let mut keep = |sequence| {
        done.push(sequence);
        Ok::<(), std::convert::Infallible>(())
    };
    let all = 0..u32::try_from(settings.sequences).unwrap_or(u32::MAX);
    geweke_sequences(simulator, settings, all, threads, stop, &mut keep)?;
    if done.len() < settings.sequences {
        return Ok(None);
    }
    Ok(Some(judge_geweke(simulator, settings, &mut done)))
}

/// Does the sequences with these numbers on `threads` threads, and hands each to `keep` on this thread as soon as it is
/// done, in any order. `stop` is called often: when it returns true, sequences that are not done are dropped.
///
/// Each sequence begins with a draw from the joint distribution, so that it has that distribution at every step if the
/// sampler is right: nothing is thrown away, and the sequences' means are independent numbers with the same mean. Their
/// spread is a standard error that counts every autocorrelation in, and Student's distribution with sequences - 1 degrees
/// of freedom judges it.
///
/// # Errors
/// When settings are out of range, the model cannot be simulated or sampled, or `keep` fails.
pub fn geweke_sequences<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    simulator: &dyn Simulator,
    settings: &GewekeSettings,
    numbers: impl IntoIterator<Item = u32, IntoIter: Send>,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
    keep: &mut dyn FnMut(GewekeSequence) -> Result<(), E>,
) -> Result<(), CalibrateError> {
    settings.validate()?;
    let coordinates = Coordinates::of(simulator.layout());
    let work = |number, stop: &dyn Fn() -> bool| both(simulator, settings, &coordinates, number, stop).transpose();
    let mut keep =
        |done: Result<GewekeSequence, CalibrateError>| keep(done?).map_err(|error| CalibrateError::Keep(error.into()));
    on_threads(numbers.into_iter(), threads, stop, &work, &mut keep)
}

/// Compares both simulators by all sequences, which it puts in the order of their numbers.
pub fn judge_geweke(simulator: &dyn Simulator, settings: &GewekeSettings, sequences: &mut [GewekeSequence]) -> Geweke {
    sequences.sort_by_key(|sequence| sequence.number);
    compare(settings, &Coordinates::of(simulator.layout()), sequences)
}

impl GewekeSettings {
    /// # Errors
    /// When a setting is out of range.
    pub fn validate(&self) -> Result<(), CalibrateError> {
        self.sampler.validate()?;
        let fail = |field, value, expected| Err(CalibrateError::Setting { field, value, expected });
        if !(Self::FEWEST..=Self::MOST).contains(&self.sequences) {
            let expected = format!("at least {} and at most {}", Self::FEWEST, Self::MOST);
            return fail("sequences", self.sequences, expected);
        }
        if !(Self::SHORTEST..=Self::MOST).contains(&self.steps) {
            return fail("steps", self.steps, format!("at least {} and at most {}", Self::SHORTEST, Self::MOST));
        }
        Ok(())
    }
}

impl GewekeSettings {
    /// The fewest sequences: standard errors need so many to be worth the name.
    pub const FEWEST: usize = 8;
    /// The fewest steps of a sequence.
    pub const SHORTEST: usize = 4;
    /// The most sequences and steps: each has random numbers of its own.
    pub const MOST: usize = (1 << 30) - 1;
}

/// Sequences are numbered from 0, the draws of the first simulator from here.
const INDEPENDENT: u32 = 1 << 31;

/// Values, and then their squares.
fn moments(values: Vec<f64>) -> impl Iterator<Item = f64> {
    let squares: Vec<f64> = values.iter().map(|v| v * v).collect();
    values.into_iter().chain(squares)
}

/// Means of moments over as many independent draws as a sequence has steps.
fn independent(
    simulator: &dyn Simulator,
    settings: &GewekeSettings,
    coordinates: &Coordinates,
    number: u32,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<f64>>, CalibrateError> {
    let mut sums = vec![0.0; 2 * coordinates.names.len()];
    let number = INDEPENDENT + number;
    for step in 0..settings.steps as u32 {
        if stop() {
            return Ok(None);
        }
        let mut random = step_stream(settings.seed, number, step);
        let position = simulator.draw_parameters(&mut random);
        let density = simulator.simulate(&position, &mut random)?;
        let values = coordinates.evaluate(&*density, &position, &mut coordinates.scratch(&*density))?;
        sums.iter_mut().zip(moments(values)).for_each(|(sum, value)| *sum += value);
    }
    sums.iter_mut().for_each(|sum| *sum /= settings.steps as f64);
    Ok(Some(sums))
}

/// One sequence, and the independent draws that it is compared with; `None` when `stop` says so before both are done.
fn both(
    simulator: &dyn Simulator,
    settings: &GewekeSettings,
    coordinates: &Coordinates,
    number: u32,
    stop: &dyn Fn() -> bool,
) -> Result<Option<GewekeSequence>, CalibrateError> {
    let Some(independent) = independent(simulator, settings, coordinates, number, stop)? else { return Ok(None) };
    sequence(
        simulator,
        settings,
        coordinates,
        GewekeSequence { number, independent, ..GewekeSequence::default() },
        stop,
    )
}

/// Adds the steps of the alternating simulator to `done`.
fn sequence(
    simulator: &dyn Simulator,
    settings: &GewekeSettings,
    coordinates: &Coordinates,
    mut done: GewekeSequence,
    stop: &dyn Fn() -> bool,
) -> Result<Option<GewekeSequence>, CalibrateError> {
    let (number, seed) = (done.number, sampler_seed(settings.seed, done.number));
    let mut position = simulator.draw_parameters(&mut stream(settings.seed, number, StreamPurpose::Parameters));
    done.moments = vec![SequenceMoment::default(); 2 * coordinates.names.len()];
    for step in 0..settings.steps as u32 {
        let density = simulator.simulate(&position, &mut step_stream(settings.seed, number, step))?;
        let Some(divergences) = move_on(&*density, &settings.sampler, sampler_seed(seed, step), &mut position, stop)?
        else {
            return Ok(None);
        };
        done.divergences += divergences;
        let values = coordinates.evaluate(&*density, &position, &mut coordinates.scratch(&*density))?;
        moments(values).zip(&mut done.moments).for_each(|(value, moment)| moment.take(value, step as usize + 1));
    }
    Ok(Some(done))
}

/// Moves `position` by the sampler's transitions given the density's data; returns how many diverged, or `None` when
/// `stop` says so on the way.
///
/// Metric and step size are learned by other chains, which know the data and not the position: whatever they learn, the
/// transitions leave the posterior as it is.
fn move_on(
    density: &dyn LogDensity,
    config: &SamplerConfig,
    seed: u64,
    position: &mut Vec<f64>,
    stop: &dyn Fn() -> bool,
) -> Result<Option<u64>, CalibrateError> {
    let mut learners = Sampler::new(density, SamplerConfig { seed, draws: 1, ..config.clone() })?;
    while learners.done() < config.tune && learners.advance(TURN)?.is_some() {
        if stop() {
            return Ok(None);
        }
    }
    let (adaptation, steps) = (learners.adaptation(), learners.step_sizes());
    let (step, length) = (steps.iter().sum::<f64>() / steps.len().max(1) as f64, learners.length());
    adaptation.take_natural(density, position);
    let mut chain = ReferenceChain::new(density, adaptation, position)?;
    let mut divergences = 0;
    for iteration in 0..config.draws as u32 {
        if stop() {
            return Ok(None);
        }
        // A chain that the learners do not have: its random numbers are its own.
        let place = RandomAddress { seed, chain: config.chains as u32, iteration };
        let stats = chain.step(config, step, length, place)?;
        divergences += u64::from(stats.diverging);
    }
    *position = chain.natural();
    Ok(Some(divergences))
}

fn compare(settings: &GewekeSettings, coordinates: &Coordinates, sequences: &[GewekeSequence]) -> Geweke {
    // The square of a logarithm is not the logarithm of a square.
    let squared = |name: &String| if name.contains(' ') { format!("({name})^2") } else { format!("{name}^2") };
    let names = coordinates.names.iter().cloned().chain(coordinates.names.iter().map(squared));
    let mut found = Vec::new();
    for (m, name) in names.enumerate() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let of_sampler: Vec<f64> = sequences.iter().map(|sequence| sequence.moments[m].mean).collect();
        let of_prior: Vec<f64> = sequences.iter().map(|sequence| sequence.independent[m]).collect();
        // Pairs of independent means: their differences have the variance of both.
        let differences: Vec<f64> = of_sampler.iter().zip(&of_prior).map(|(s, i)| s - i).collect();
        let MeanTest { error, t, p_value, .. } = mean_zero(&differences);
        // As many independent draws have a mean as uncertain as the sequences' means show this one to be.
        let center = mean(&of_sampler);
        let within = sequences.iter().map(|sequence| sequence.moments[m].deviations / settings.steps as f64);
        let between = of_sampler.iter().map(|mean| (mean - center) * (mean - center));
        let variance = mean(&within.zip(between).map(|(within, between)| within + between).collect::<Vec<_>>());
        let ess = variance / mean_zero(&of_sampler).error.powi(2);
        found.push(Moment {
            name,
            prior: mean(&of_prior),
            sampler: center,
            error,
            z: t,
            p: p_value,
            adjusted_p: f64::NAN,
            ess,
            agrees: false,
        });
    }
    let adjusted = holm(&found.iter().map(|moment| moment.p).collect::<Vec<_>>());
    for (moment, adjusted) in found.iter_mut().zip(adjusted) {
        moment.adjusted_p = adjusted;
        moment.agrees = adjusted > settings.false_alarm;
    }
    // NaN, where it is not defined, must not look like enough.
    let least_ess =
        found.iter().map(|moment| if moment.ess.is_nan() { 0.0 } else { moment.ess }).fold(f64::MAX, f64::min);
    let wanted_ess = ENOUGH * sequences.len() as f64;
    let decided = least_ess >= wanted_ess;
    Geweke {
        calibrated: found.iter().all(|moment| moment.agrees) && decided,
        decided,
        false_alarm: settings.false_alarm,
        sequences: sequences.len(),
        steps: settings.steps,
        independent_draws: sequences.len() * settings.steps,
        limit: student_limit(settings.false_alarm / found.len() as f64, (sequences.len() - 1) as f64),
        moments: found,
        least_ess,
        wanted_ess,
        divergences: sequences.iter().map(|sequence| sequence.divergences).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{DensityError, Layout, Role, Transform, Variable};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Two independent standard normals that count their evaluations.
    struct Counted {
        layout: Layout,
        evaluations: AtomicUsize,
    }

    impl LogDensity for Counted {
        fn dim(&self) -> usize {
            2
        }

        fn layout(&self) -> &Layout {
            &self.layout
        }

        fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
            self.evaluations.fetch_add(1, Ordering::Relaxed);
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
            Ok(-0.5 * (x[0] * x[0] + x[1] * x[1]))
        }

        fn expand(&self, x: &[f64], out: &mut [f64]) {
            out.copy_from_slice(x);
        }

        fn name(&self) -> &str {
            "two normals"
        }
    }

    /// The sum of all learners' steps is far beyond 2, where a leapfrog step is no longer stable and no transition
    /// leaves its place.
    #[test]
    fn a_position_moves_by_the_mean_step_of_its_learners() {
        let (start, learners, tune) = ([0.5, -0.5], 16, 200);
        let moved = |own: u64, seed: u64| {
            let variable = |name: &str, offset| {
                let role = Role::Parameter { offset, transform: Transform::Identity };
                Variable { name: name.into(), dims: Vec::new(), role }
            };
            let layout = Layout { variables: vec![variable("x", 0), variable("y", 1)] };
            let density = Counted { layout, evaluations: AtomicUsize::new(0) };
            let config = SamplerConfig {
                chains: learners,
                tune,
                draws: 1,
                target_accept: 0.98,
                seed: own,
                ..SamplerConfig::default()
            };
            let mut position = start.to_vec();
            assert_eq!(move_on(&density, &config, seed, &mut position, &|| false).unwrap(), Some(0));
            let evaluations = density.evaluations.into_inner();
            assert!(evaluations > learners * tune, "{evaluations}: they learn for all iterations of warm-up");
            position
        };
        let positions: Vec<Vec<f64>> = (0..10).map(|seed| moved(1, seed)).collect();
        assert!(positions.iter().filter(|position| **position != start).count() >= 7, "{positions:?}");
        assert_eq!(moved(2, 3), positions[3], "the seed of the settings does not count");
    }

    /// The steps written out, with all values kept, and learners that also draw.
    #[test]
    fn a_sequence_is_what_its_steps_show() {
        let simulator = octopus_models::SchoolsSimulator::rubin();
        let sampler = SamplerConfig {
            chains: 1,
            tune: 40,
            draws: 3,
            max_energy_error: 0.5,
            max_depth: 4,
            ..SamplerConfig::default()
        };
        let settings = GewekeSettings { seed: 5, sequences: 8, steps: 6, sampler, false_alarm: 1e-3 };
        let (coordinates, number) = (Coordinates::of(simulator.layout()), 3);
        let found = both(&simulator, &settings, &coordinates, number, &|| false).unwrap().unwrap();
        assert!(found.is_of(&simulator, &settings) && found.is_finite() && found.number == number, "{found:?}");
        let mut x = simulator.draw_parameters(&mut stream(5, number, StreamPurpose::Parameters));
        let values_at = |density: &dyn LogDensity, x: &[f64]| {
            let values = coordinates.evaluate(density, x, &mut coordinates.scratch(density)).unwrap();
            values.iter().copied().chain(values.iter().map(|value| value * value)).collect::<Vec<f64>>()
        };
        let (mut divergences, mut of_steps, mut of_prior) = (0, Vec::new(), Vec::new());
        for step in 0..6 {
            let mut random = step_stream(5, (1 << 31) + number, step);
            let independent = simulator.draw_parameters(&mut random);
            of_prior.push(values_at(&*simulator.simulate(&independent, &mut random).unwrap(), &independent));
            let density = simulator.simulate(&x, &mut step_stream(5, number, step)).unwrap();
            let seed = sampler_seed(sampler_seed(5, number), step);
            let mut learners = Sampler::new(&*density, SamplerConfig { seed, ..settings.sampler.clone() }).unwrap();
            while learners.advance(usize::MAX).unwrap().is_some() {}
            let (adaptation, sizes) = (learners.adaptation(), learners.step_sizes());
            adaptation.take_natural(&*density, &mut x);
            let mut chain = ReferenceChain::new(&*density, adaptation, &x).unwrap();
            for iteration in 0..3 {
                let stats = chain.transition(sizes[0], 4, 0.5, RandomAddress { seed, chain: 1, iteration }).unwrap();
                divergences += u64::from(stats.diverging);
            }
            x = chain.natural();
            of_steps.push(values_at(&*density, &x));
        }
        assert_eq!(found.divergences, divergences);
        for (m, moment) in found.moments.iter().enumerate() {
            let mean = |rows: &[Vec<f64>]| rows.iter().map(|row| row[m]).sum::<f64>() / 6.0;
            let (center, prior) = (mean(&of_steps), mean(&of_prior));
            let deviations: f64 = of_steps.iter().map(|row| (row[m] - center) * (row[m] - center)).sum();
            assert!((moment.mean - center).abs() <= 1e-12 * center.abs(), "{moment:?}, not {center}");
            assert!((moment.deviations - deviations).abs() <= 1e-9 * deviations, "{moment:?}, not {deviations}");
            assert!((found.independent[m] - prior).abs() <= 1e-12 * prior.abs(), "{}", found.independent[m]);
        }
    }

    #[test]
    fn sequences_and_steps_have_limits() {
        let valid = |sequences, steps| {
            let sampler = SamplerConfig::default();
            GewekeSettings { seed: 0, sequences, steps, sampler, false_alarm: 1e-3 }.validate().is_ok()
        };
        let most = 1_073_741_823;
        assert!(valid(8, 4) && valid(most, most));
        assert!(!valid(7, 4) && !valid(8, 3) && !valid(most + 1, 4) && !valid(8, most + 1));
    }

    /// Places and scales of the moments of made-up sequences. In the third, differences of squares lose all digits.
    const MOMENTS: [(f64, f64); 4] = [(0.0, 1.0), (3.0, 1.0), (1e9, 1e-5), (-1.0, 0.5)];

    /// Makes a sequence of the values of each moment.
    fn made(number: u32, independent: Vec<f64>, values: Vec<Vec<f64>>) -> GewekeSequence {
        let of = |values: Vec<f64>| {
            let mut moment = SequenceMoment::default();
            values.into_iter().enumerate().for_each(|(step, value)| moment.take(value, step + 1));
            moment
        };
        GewekeSequence {
            number,
            independent,
            moments: values.into_iter().map(of).collect(),
            divergences: u64::from(number),
        }
    }

    /// Compares eight sequences of four values. In units of the scale and from the place on, the means of sequences are
    /// 1 and -1 in turn, and their values `within` above and below. Means of the prior are at the place, but that of the
    /// second moment is `shift` higher.
    fn compared(false_alarm: f64, within: f64, shift: f64) -> Geweke {
        let sampler = SamplerConfig::default();
        let settings = GewekeSettings { seed: 0, sequences: 8, steps: 4, sampler, false_alarm };
        let mut prior = MOMENTS.map(|(place, _)| place).to_vec();
        prior[1] += shift;
        let sequence = |number: u32| {
            let own = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
            let values = |&(place, scale): &(f64, f64)| {
                [within, within, -within, -within].map(|x| place + scale * (own + x)).to_vec()
            };
            made(number, prior.clone(), MOMENTS.iter().map(values).collect())
        };
        let sequences: Vec<GewekeSequence> = (0..8).map(sequence).collect();
        compare(&settings, &Coordinates::of(&Layout { variables: Vec::new() }), &sequences)
    }

    /// The variance of a draw is 1 + 4, and that of the mean of eight sequences (8 / 7) / 8: 35 effective draws.
    #[test]
    fn simulators_that_agree_are_calibrated_when_there_are_draws_enough() {
        let found = compared(1e-3, 2.0, 0.0);
        let names: Vec<&str> = found.moments.iter().map(|moment| moment.name.as_str()).collect();
        assert_eq!(names, ["log likelihood", "log density", "(log likelihood)^2", "(log density)^2"]);
        assert!(found.calibrated && found.decided, "{found:#?}");
        assert_eq!((found.sequences, found.steps, found.independent_draws, found.divergences), (8, 4, 32, 28));
        assert_eq!((found.false_alarm, found.wanted_ess), (1e-3, 16.0));
        // From the distribution function in closed form: P(|t| > limit) = 0.001 / 4 with 7 degrees of freedom.
        assert!((found.limit - 6.814_035_479).abs() < 1e-6, "{}", found.limit);
        assert!((found.least_ess - 35.0).abs() < 0.1, "{}", found.least_ess);
        for (moment, (place, scale)) in found.moments.iter().zip(MOMENTS) {
            assert_eq!(moment.prior, place);
            assert!((moment.sampler - place).abs() < 0.1 * scale && moment.z.abs() < 0.1, "{moment:?}");
            assert!((moment.error / scale * 7f64.sqrt() - 1.0).abs() < 0.05, "{moment:?}");
            assert!((moment.ess - 35.0).abs() < 0.1 && moment.agrees && moment.adjusted_p == 1.0, "{moment:?}");
        }
        // Without differences inside sequences, eight of them are seven effective draws.
        let few = compared(1e-3, 0.0, 0.0);
        assert!((few.least_ess - 7.0).abs() < 0.1, "{}", few.least_ess);
        assert!(!few.decided && !few.calibrated && few.moments.iter().all(|moment| moment.agrees), "{few:#?}");
    }

    /// A shift of 1 is the root of 7 in standard errors, and 4 times its p-value of 0.033 (in closed form, 7 degrees of
    /// freedom) is the adjusted one.
    #[test]
    fn a_moment_agrees_while_its_adjusted_p_value_is_above_the_rate_of_false_alarms() {
        let found = compared(1e-3, 2.0, 1.0);
        let shifted = &found.moments[1];
        assert!((shifted.z + 7f64.sqrt()).abs() < 1e-12 && (shifted.prior - 4.0).abs() < 1e-12, "{shifted:?}");
        assert!((shifted.p - 0.033_145_500_263_773).abs() < 1e-8, "{shifted:?}");
        assert!((shifted.adjusted_p - 4.0 * shifted.p).abs() < 1e-15 && found.calibrated, "{found:#?}");
        for (rate, agrees) in [(0.999 * shifted.adjusted_p, true), (shifted.adjusted_p, false)] {
            let found = compared(rate, 2.0, 1.0);
            assert_eq!((found.moments[1].agrees, found.calibrated), (agrees, agrees));
            assert!([0, 2, 3].iter().all(|&m| found.moments[m].agrees), "{found:#?}");
        }
    }

    #[test]
    fn moments_without_variance_decide_nothing() {
        let sampler = SamplerConfig::default();
        let settings = GewekeSettings { seed: 0, sequences: 8, steps: 4, sampler, false_alarm: 1e-3 };
        let sequences: Vec<GewekeSequence> =
            (0..8).map(|number| made(number, vec![1.0; 4], vec![vec![1.0; 4]; 4])).collect();
        let coordinates = Coordinates::of(&Layout { variables: Vec::new() });
        let found = compare(&settings, &coordinates, &sequences);
        assert!(found.least_ess == 0.0 && !found.decided && !found.calibrated, "{found:#?}");
    }
}
