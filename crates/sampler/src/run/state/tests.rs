//! The beginning of a run, its steps, and what a checkpoint keeps of it.

use super::*;
use crate::adapt::{HostPool, Window};
use crate::config::{MetricKind, Strategy, WindowConfig};
use crate::engine::cpu::CpuEngine;
use crate::kernel::{MetricEstimate, Nuts};
use crate::run::WarmStart;
use octopus_density::{Centering, Hierarchy, Layout};
use octopus_random::Stream;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A normal density around its center, one hierarchical block of which is told, and what is wrong with it.
struct Faulty {
    layout: Layout,
    blocks: Vec<Hierarchy>,
    places: Option<(Vec<f64>, Vec<f64>)>,
    evaluations: AtomicUsize,
    /// So many evaluations find no value, and from this one on the density is broken.
    without_value: usize,
    broken_from: usize,
    /// What the two effects were measured to be, 1 and -1, has this precision.
    precision: f64,
    /// The gradient is wrong at this point, or everywhere in centered coordinates.
    wrong_at: Option<Vec<f64>>,
    wrong_centered: bool,
}

const DIM: usize = 4;

impl Default for Faulty {
    fn default() -> Self {
        Self {
            layout: Layout::default(),
            blocks: vec![Hierarchy { location: 2, log_scale: 3, z: 0..2, information: None }],
            places: None,
            evaluations: AtomicUsize::new(0),
            without_value: 0,
            broken_from: usize::MAX,
            precision: 0.0,
            wrong_at: None,
            wrong_centered: false,
        }
    }
}

impl LogDensity for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        &self.blocks
    }

    fn center(&self) -> Option<Vec<f64>> {
        self.places.as_ref().map(|(center, _)| center.clone())
    }

    fn init_scale(&self) -> Option<Vec<f64>> {
        self.places.as_ref().map(|(_, scale)| scale.clone())
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let before = self.evaluations.fetch_add(1, Ordering::Relaxed);
        if before >= self.broken_from {
            return Err(DensityError::Broken("out of order".into()));
        }
        if before < self.without_value {
            return Err(DensityError::NotFinite { value: f64::NAN });
        }
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -x);
        if self.wrong_at.as_ref().is_some_and(|at| at == x) {
            gradient[1] += 5.0;
        }
        let mut logp = -0.5 * x.iter().map(|x| x * x).sum::<f64>();
        let scale = x[3].exp();
        for (j, measured) in [1.0, -1.0].into_iter().enumerate() {
            let off = measured - (x[2] + scale * x[j]);
            let slope = self.precision * off;
            logp -= 0.5 * slope * off;
            gradient[j] += slope * scale;
            gradient[2] += slope;
            gradient[3] += slope * scale * x[j];
        }
        Ok(logp)
    }

    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        x: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        let blocks = self.hierarchies();
        let logp = octopus_density::logp_grad_by_chain_rule(self, blocks, centerings, x, gradient)?;
        gradient[0] += if self.wrong_centered { 3.0 } else { 0.0 };
        Ok(logp)
    }

    fn expand(&self, _x: &[f64], _values: &mut [f64]) {}
}

fn seeded(chains: usize) -> SamplerConfig {
    SamplerConfig { chains, seed: 9, draws: 5, tune: 30, strategy: Strategy::FourLong, ..SamplerConfig::default() }
}

fn many() -> SamplerConfig {
    SamplerConfig { strategy: Strategy::ManyShort, superchains: 3, ..seeded(12) }
}

/// Within the radius around the center, in its units, from the random numbers of iteration 0.
#[test]
fn chains_start_around_the_center() {
    let places = (vec![1.0, -2.0, 0.5, 30.0], vec![0.1, 3.0, 1.0, 7.0]);
    for (places, around, units) in
        [(None, vec![0.0; DIM], vec![1.0; DIM]), (Some(places.clone()), places.0.clone(), places.1.clone())]
    {
        let density = Faulty { places, ..Faulty::default() };
        let config = SamplerConfig { init_radius: 0.7, ..seeded(3) };
        let (_, states) = RunState::start(&density, config).unwrap();
        assert_eq!(states.len(), 3);
        for (chain, state) in states.iter().enumerate() {
            let mut random = Stream::new(9, chain as u32, 0, Purpose::Init);
            for i in 0..DIM {
                let expected = around[i] + units[i] * (0.7 * (2.0 * random.uniform() - 1.0));
                assert_eq!(state.x[i], expected, "chain {chain}, coordinate {i}");
            }
            assert_eq!((state.logp, state.step_size, &state.window), (0.0, 1.0, &Default::default()));
            assert_eq!(state.averaging.numbers(), crate::reference::averaging(1.0, 0.8));
        }
    }
}

#[test]
fn a_hundred_starting_points_are_tried() {
    let density = Faulty { without_value: 99, ..Faulty::default() };
    assert!(RunState::start(&density, seeded(1)).is_ok());
    let density = Faulty { without_value: 100, ..Faulty::default() };
    let error = RunState::start(&density, seeded(1)).err();
    assert!(matches!(error, Some(SamplerError::Init { chain: 0, radius: 2.0, .. })), "{error:?}");
    // A density that is broken at its first point, and one that breaks when its gradient is checked.
    for broken_from in [0, 1] {
        let density = Faulty { broken_from, ..Faulty::default() };
        let error = RunState::start(&density, seeded(1)).err();
        assert!(matches!(error, Some(SamplerError::Density { chain: 0, iteration: 0, .. })), "{error:?}");
    }
}

/// A normal density that falls off a cliff where the first coordinate is positive: half of all points.
struct Cliff(Layout);

impl LogDensity for Cliff {
    fn name(&self) -> &str {
        "cliff"
    }

    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let steepness = if x[0] > 0.0 { 1e30 } else { 1.0 };
        gradient[0] = -steepness * x[0];
        Ok(-0.5 * steepness * x[0] * x[0])
    }

    fn has_tested_gradient(&self) -> bool {
        true
    }

    fn expand(&self, _x: &[f64], _values: &mut [f64]) {}
}

/// The first random point on the flat side, whatever stands before it.
#[test]
fn no_chain_starts_where_the_density_is_absurdly_steep() {
    let density = Cliff(Layout::default());
    let (_, states) = RunState::start(&density, seeded(100)).unwrap();
    for (chain, state) in states.iter().enumerate() {
        let mut random = Stream::new(9, chain as u32, 0, Purpose::Init);
        let expected = std::iter::repeat_with(|| 2.0 * (2.0 * random.uniform() - 1.0)).find(|&x| x <= 0.0);
        assert_eq!(Some(state.x[0]), expected, "chain {chain}");
    }
}

/// At the starting points of four chains, and no more.
#[test]
fn gradients_are_checked_where_four_chains_start() {
    let right = Faulty::default();
    let (_, starts) = RunState::start(&right, seeded(8)).unwrap();
    for (chain, start) in starts.iter().enumerate() {
        let density = Faulty { wrong_at: Some(start.x.clone()), ..Faulty::default() };
        match RunState::start(&density, seeded(8)).err() {
            None => assert!(chain >= 4, "chain {chain}"),
            Some(SamplerError::Gradient(wrong)) => {
                assert!(chain < 4, "chain {chain}");
                assert_eq!((wrong.chain, wrong.slope.coordinate, wrong.centered), (chain, 1, false));
                assert_eq!(wrong.position, start.x);
            }
            Some(other) => panic!("{other}"),
        }
    }
}

/// A gradient that is wrong in centered coordinates only is told as such.
#[test]
fn the_gradient_that_is_wrong_is_named() {
    let density = Faulty { wrong_centered: true, ..Faulty::default() };
    let config = SamplerConfig { parameterization: crate::Parameterization::Centered, ..seeded(2) };
    let Some(SamplerError::Gradient(wrong)) = RunState::start(&density, config).err() else { panic!("none is wrong") };
    assert_eq!((wrong.chain, wrong.slope.coordinate, wrong.centered), (0, 0, true));
    assert!(RunState::start(&density, seeded(2)).is_ok(), "nobody walks there");
}

#[test]
fn a_run_begins_as_its_strategy_says() {
    let density = Faulty::default();
    let together = SamplerConfig { strategy: Strategy::CrossChain, ..seeded(3) };
    let alone = SamplerConfig { chains: 1, ..together.clone() };
    for config in [seeded(3), many(), together, alone, SamplerConfig { tune: 0, ..seeded(2) }] {
        let (run, states) = RunState::start(&density, config.clone()).unwrap();
        assert_eq!((run.config(), run.done(), states.len()), (&config, 0, config.first_chains()));
        assert_eq!(run.warm_up(), (config.tune == 0).then_some(0));
        let learning = Stage::Learning { window: WindowVariance::new(3, DIM), agree: false };
        let pooled = Pooled { step: PooledStep::new(3), stage: learning };
        assert_eq!(run.pooled, config.warms_up_together().then_some(pooled));
        assert_eq!(run.adaptation.centerings, [Centering::NonCentered]);
        assert_eq!(run.adaptation.metric.diagonal.len(), DIM);
        assert_eq!(run.shared().tuning, if config.tune == 0 { Tuning::Over } else { Tuning::EachChain });
        assert_eq!(run.shared().windows, if config.tune == 0 { 0..0 } else { run.schedule.windows() });
    }
}

/// At most what is asked for, at least one, and never across the end of a window or of warm-up.
#[test]
fn the_next_iterations_end_where_there_is_something_to_do() {
    let density = Faulty::default();
    let windows = WindowConfig { init_buffer: 4, base_window: 10, term_buffer: 8 };
    let (mut run, _) = RunState::start(&density, SamplerConfig { windows, ..seeded(1) }).unwrap();
    assert_eq!((run.next(0), run.next(1), run.next(2)), (Some(0..1), Some(0..1), Some(0..2)));
    assert_eq!(run.next(usize::MAX), Some(0..22), "the first window is the last");
    run.done = 22;
    assert_eq!((run.next(usize::MAX), run.place(25)), (Some(22..30), (Phase::Warmup, 25)));
    (run.done, run.warm_up) = (30, Some(30));
    assert_eq!((run.next(usize::MAX), run.next(3), run.place(33)), (Some(30..35), Some(30..33), (Phase::Sampling, 3)));
    assert!(!run.is_complete());
    run.done = 34;
    assert!(!run.is_complete());
    run.done = 35;
    assert!(run.is_complete() && run.next(1).is_none());
}

/// Every part of the state, each changed from what it is at the beginning.
#[test]
fn checkpoints_keep_every_part() {
    let density = Faulty::default();
    for (config, warm_up) in [(seeded(3), None), (seeded(3), Some(7)), (many(), None)] {
        let (mut run, mut states) = RunState::start(&density, config).unwrap();
        (run.done, run.warm_up) = (7, warm_up);
        let direction = vec![0.6, 0.8, 0.0, 0.0];
        run.adaptation.metric =
            MetricEstimate { diagonal: vec![0.5, 2.0, 3.0, 4.0], directions: vec![direction], variances: vec![9.0] };
        if let Some(pooled) = &mut run.pooled {
            pooled.step.find(&[0.25, 0.5, 1.0]);
        }
        for (c, state) in states.iter_mut().enumerate() {
            (state.logp, state.step_size) = (-1.5 - c as f64, 0.3 + c as f64);
            state.averaging.update(0.6);
            state.window.positions.extend([c as f64; 2 * DIM]);
            state.window.gradients.extend([0.5 + c as f64; 2 * DIM]);
        }
        let bytes = run.encode(states.clone()).unwrap();
        let (again, chains) = RunState::decode(&density, &bytes).unwrap();
        assert_eq!((&again.config, &again.schedule), (&run.config, &run.schedule));
        assert_eq!((&again.adaptation, &again.pooled), (&run.adaptation, &run.pooled));
        assert_eq!((again.done, again.warm_up), (7, warm_up));
        assert_eq!(chains.len(), states.len());
        for (chain, state) in chains.iter().zip(&states) {
            assert_eq!((&chain.x, chain.logp, chain.step_size), (&state.x, state.logp, state.step_size));
            assert_eq!((&chain.averaging, &chain.window), (&state.averaging, &state.window));
        }
        assert!(RunState::decode(&density, &bytes[..bytes.len() - 1]).is_err());
    }
}

/// The metric is that of the window's draws in the coordinates that follow from what was learned of the effects.
#[test]
fn draws_go_along_to_new_coordinates() {
    let density = Faulty { precision: 4.0, ..Faulty::default() };
    let (mut run, mut states) = RunState::start(&density, seeded(1)).unwrap();
    let before = MetricEstimate { diagonal: vec![0.5, 2.0, 3.0, 4.0], ..MetricEstimate::default() };
    run.adaptation.metric = before.clone();
    let mut random = Stream::new(3, 0, 0, Purpose::User);
    let draws: Vec<f64> = (0..60 * DIM).map(|_| 0.5 * random.normal()).collect();
    states[0].window = Window { positions: draws.clone(), gradients: vec![0.0; draws.len()] };
    let found = run.change_coordinates(&mut CpuEngine::new(Box::new(Nuts), DIM, states)).unwrap();
    assert_eq!(run.space.centerings(), [Centering::Standardised]);
    assert!(matches!(run.adaptation.learned[..], [Some(_)]));
    assert_eq!(run.adaptation.metric, before, "the caller has the new one");
    let mut window = Window::default();
    for x in draws.chunks_exact(DIM) {
        let (mut x, mut gradient) = (x.to_vec(), vec![0.0; DIM]);
        run.space.gradient_at_natural(&mut x, &mut gradient).unwrap();
        window.positions.extend(x);
        window.gradients.extend(gradient);
    }
    let mut pool = HostPool { windows: vec![&mut window], dim: DIM };
    let expected = learn(run.config.metric, DIM, run.config.seed, &mut pool).unwrap();
    assert!(expected.is_some());
    assert_eq!(found, expected);
}

fn warm(draws: usize) -> Starts {
    let number = |k: usize| ((k * 7 % 23) as f64 - 11.0) / 11.0;
    let points = vec![vec![0.5, -0.25, 0.125, 0.0625], vec![-1.0, 1.0, 0.5, 0.25]];
    Starts::Warm(WarmStart { points, draws: (0..draws * DIM).map(number).collect(), step_size: Some(0.3) })
}

/// The slopes of a standard normal density are minus the draws: the metric is 1, whatever the draws are.
#[test]
fn a_warm_start_has_the_metric_of_its_draws() {
    let config = SamplerConfig { metric: MetricKind::Diag, ..seeded(3) };
    let density = Faulty::default();
    let (begun, states) = RunState::start_at(&density, config.clone(), Some(&warm(40))).unwrap();
    assert!(begun.adaptation().metric.diagonal.iter().all(|x| (x - 1.0).abs() < 1e-12), "{:?}", begun.adaptation());
    for (state, first) in states.iter().zip([0.5, -1.0, 0.5]) {
        assert_eq!((state.x[0], state.step_size), (first, 0.3));
        assert_eq!(state.averaging.numbers(), crate::reference::averaging(0.3, 0.8));
    }
    // Nine draws tell coordinates and are too few for a metric there; seven tell nothing, and the metric is that of the
    // starting points' slopes.
    let (begun, _) = RunState::start_at(&density, config.clone(), Some(&warm(9))).unwrap();
    assert_eq!(begun.adaptation().metric.diagonal, [1.0; DIM]);
    let (begun, _) = RunState::start_at(&density, config, Some(&warm(7))).unwrap();
    let slope = (0.5 + 1.0 + 0.5) / 3.0;
    assert!((begun.adaptation().metric.diagonal[0] * slope - 1.0).abs() < 1e-12, "{:?}", begun.adaptation());
}

/// Effects that were measured with the precision 4, at 1 and -1.
#[test]
fn a_warm_start_has_the_coordinates_that_its_draws_tell() {
    let density = Faulty { precision: 4.0, ..Faulty::default() };
    let (begun, states) = RunState::start_at(&density, seeded(2), Some(&warm(64))).unwrap();
    assert_eq!(begun.adaptation().centerings, [Centering::Standardised]);
    let learned = begun.adaptation().learned[0].as_ref().unwrap();
    for (j, measured) in [1.0, -1.0].into_iter().enumerate() {
        assert!((learned.precision[j] - 4.0).abs() < 1e-6, "{learned:?}");
        assert!((learned.origin + learned.mean[j] - measured).abs() < 1e-6, "{learned:?}");
    }
    // The chains are where they were, in these coordinates.
    let mut natural = states[1].x.clone();
    begun.shared().space.make_natural(&mut natural);
    let point = [-1.0, 1.0, 0.5, 0.25];
    assert!(natural.iter().zip(point).all(|(x, y)| (x - y).abs() < 1e-12), "{natural:?}");
    assert_ne!(states[1].x, point);
    // A checkpoint has all of it.
    let bytes = begun.encode(states).unwrap();
    let (again, _) = RunState::decode(&density, &bytes).unwrap();
    assert_eq!(again.adaptation(), begun.adaptation());
}
