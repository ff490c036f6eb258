//! Sessions of a small run: their pace, and the times that they record and are limited by.

use super::*;
use crate::{CreateOptions, Goal, ModelRecord, Placement, RunFolder, seconds_a_step};
use octopus_density::{DensityError, Layout, Role, Transform, Variable};
use octopus_sampler::{Begin, LearnedInformation};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_record_says_which_coordinates_were_used_and_where_their_information_is_from() {
    use Centering::{NonCentered, Standardised};
    let learned = LearnedInformation { origin: 0.0, mean: vec![1.0], precision: vec![2.0], prior_sd: None };
    let found = Adaptation {
        centerings: vec![Standardised, Standardised, NonCentered],
        learned: vec![None, Some(learned), None],
        ..Adaptation::default()
    };
    let table = adaptation(&Normal::new(false), &found, &[0.5], Some(10));
    let words = |name: &str| table[name].as_array().unwrap().iter().filter_map(toml::Value::as_str).collect::<Vec<_>>();
    assert_eq!(words("centering"), ["standardised", "standardised", "non-centered"]);
    assert_eq!(words("information"), ["given", "learned", "none"]);
}

#[test]
fn the_pace_finds_the_step_and_never_stops() {
    let mut pace = Pace { limit: 1 };
    for _ in 0..20 {
        let limit = pace.limit;
        pace.learn(limit, Duration::from_micros(100) * limit as u32);
    }
    assert_eq!(pace.limit, 500);
    pace.learn(500, Duration::from_secs(5));
    assert_eq!(pace.limit, 5);
    pace.learn(5, Duration::from_secs(100));
    assert_eq!(pace.limit, 1);
    // It grows to four times at the most, and part of an iteration that would fit is left out.
    pace.learn(1, Duration::from_micros(1));
    assert_eq!(pace.limit, 4);
    pace.learn(7, Duration::from_millis(100));
    assert_eq!(pace.limit, 3);
    // What took no time that a clock tells took a nanosecond.
    let mut endless = Pace { limit: usize::MAX / 4 };
    endless.learn(1, Duration::ZERO);
    assert!(endless.limit.abs_diff(50_000_000) <= 1, "{}", endless.limit);
}

/// A standard normal that takes two milliseconds for each gradient while it is slow.
struct Normal {
    layout: Layout,
    slow: AtomicBool,
}

impl Normal {
    fn new(slow: bool) -> Self {
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let variables = vec![Variable { name: "x".into(), dims: Vec::new(), role }];
        Self { layout: Layout { variables }, slow: AtomicBool::new(slow) }
    }
}

impl LogDensity for Normal {
    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        if self.slow.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(2));
        }
        gradient[0] = -x[0];
        Ok(-0.5 * x[0] * x[0])
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out[0] = x[0];
    }

    fn name(&self) -> &str {
        "normal"
    }
}

const TUNE: usize = 20;
const DRAWS: usize = 30;

fn record(density: &Normal, goal: Option<Goal>) -> RunRecord {
    let sampler = SamplerConfig { chains: 2, draws: DRAWS, tune: TUNE, ..SamplerConfig::default() };
    let model = ModelRecord { name: density.name().into(), ..ModelRecord::default() };
    RunRecord { goal, ..RunRecord::new(model, sampler, density.layout.clone()) }
}

/// An observer that stops a run after so many iterations, and makes the density quick when warm-up is over.
struct Until<'a> {
    density: &'a Normal,
    last: usize,
    done: usize,
}

impl Observer for Until<'_> {
    fn stops(&self) -> bool {
        self.done >= self.last
    }

    fn advanced(&mut self, progress: &Progress<'_>) {
        self.done = progress.done;
        if progress.done >= TUNE {
            self.density.slow.store(false, Ordering::Relaxed);
        }
    }
}

/// Carries a run on by one iteration a step, until iteration `last` is done or the run has ended.
fn session(density: &Normal, writer: RunWriter, state: Option<Vec<u8>>, last: usize) -> Driven {
    let begin = state.map_or_else(|| Begin::Anew(writer.record().sampler.clone()), Begin::GoOn);
    let (density, observer): (&dyn LogDensity, _) = (density, &mut Until { density, last, done: 0 });
    let pool = pool(Some(1)).unwrap();
    let sampler = Placement::Cpu.begin(density, begin).unwrap();
    drive(sampler, density, writer, Session { pool: &pool, checkpoints: Checkpoints::Every(1), observer }).unwrap()
}

/// An observer that notes after how many iterations there is a new checkpoint.
struct Checkpointed<'a> {
    file: &'a Path,
    last: Vec<u8>,
    seen: Vec<usize>,
}

impl Observer for Checkpointed<'_> {
    fn advanced(&mut self, progress: &Progress<'_>) {
        let now = std::fs::read(self.file).unwrap();
        if !self.last.is_empty() && now != self.last {
            self.seen.push(progress.done);
        }
        self.last = now;
    }
}

/// Carries a new run in the folder `dir` to its end.
fn whole_run(
    density: &Normal,
    goal: Option<Goal>,
    dir: &Path,
    checkpoints: Checkpoints,
    observer: &mut dyn Observer,
) -> Driven {
    let writer = RunWriter::create(dir, record(density, goal), CreateOptions::default()).unwrap();
    let density: &dyn LogDensity = density;
    let pool = pool(Some(1)).unwrap();
    let sampler = Placement::Cpu.begin(density, Begin::Anew(writer.record().sampler.clone())).unwrap();
    drive(sampler, density, writer, Session { pool: &pool, checkpoints, observer }).unwrap()
}

/// Returns the iterations of a run after which there was a new checkpoint.
fn checkpointed(checkpoints: Checkpoints, slow: bool) -> Vec<usize> {
    let dir = tempfile::tempdir().unwrap();
    let file = crate::folder::checkpoint_path(dir.path());
    let mut observer = Checkpointed { file: &file, last: Vec::new(), seen: Vec::new() };
    whole_run(&Normal::new(slow), None, dir.path(), checkpoints, &mut observer);
    observer.seen
}

/// The run is slow, so that a step is a few iterations.
#[test]
fn checkpoints_come_when_they_are_due() {
    assert_eq!(checkpointed(Checkpoints::Every(10), true), [10, 20, 30, 40]);
    assert_eq!(checkpointed(Checkpoints::from(Some(25)), true), [25]);
}

/// By time the run is over long before a second is; by count its first steps are still short.
#[test]
fn a_quick_run_has_the_same_checkpoints_by_count_and_none_by_time() {
    assert_eq!(checkpointed(None.into(), false), [0; 0]);
    assert_eq!(checkpointed(Checkpoints::Every(10), false), [10, 20, 30, 40]);
    assert_eq!(checkpointed(Checkpoints::from(Some(25)), false), [25]);
}

/// An observer that notes what it is told: the iterations before and so far, and when warm-up ended.
#[derive(Default)]
struct Told(Vec<(usize, usize, Option<usize>)>);

impl Observer for Told {
    fn advanced(&mut self, progress: &Progress<'_>) {
        self.0.push((progress.first, progress.done, progress.warm_up));
    }
}

#[test]
fn an_observer_is_told_of_each_step_from_the_first_iteration_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = Told::default();
    whole_run(&Normal::new(false), None, dir.path(), None.into(), &mut told);
    assert_eq!(told.0[0], (0, 1, None), "the first step is a single iteration");
    assert_eq!(told.0.last(), Some(&(0, TUNE + DRAWS, Some(TUNE))));
    for (_, done, warm_up) in told.0 {
        assert_eq!(warm_up, (done >= TUNE).then_some(TUNE), "{done} iterations");
    }
}

/// The only look is at the last draw, when there is nothing more to draw.
#[test]
fn a_look_at_the_last_draw_still_decides_how_the_run_has_ended() {
    for (target, by) in [(1.0, EndedBy::Target), (1e9, EndedBy::Draws)] {
        let goal = Some(Goal { target_ess: Some(target), ..Goal::default() });
        let dir = tempfile::tempdir().unwrap();
        let driven = whole_run(&Normal::new(false), goal, dir.path(), None.into(), &mut ());
        let ending = driven.record.ending.unwrap();
        assert_eq!((ending.by, ending.draws, ending.last.is_some()), (by, DRAWS, by == EndedBy::Draws), "{target}");
    }
}

/// With one doubling a transition is one leapfrog step, whose gradient takes two milliseconds.
#[test]
fn a_step_takes_as_long_as_its_gradient() {
    let density = Normal::new(true);
    for steps in [1, 20] {
        let config = SamplerConfig { chains: 1, tune: 0, draws: steps, max_depth: 1, ..SamplerConfig::default() };
        let begin = Instant::now();
        let found = seconds_a_step(&density, &config, &Placement::Cpu, &pool(Some(1)).unwrap()).unwrap();
        let most = begin.elapsed().as_secs_f64() / steps as f64;
        assert!(found >= 0.002 && found <= most, "{found} s, at most {most} s");
    }
}

#[test]
fn a_run_that_nobody_observes_is_recorded_whole() {
    let dir = tempfile::tempdir().unwrap();
    let Driven { record, interrupted, tally } = whole_run(&Normal::new(false), None, dir.path(), None.into(), &mut ());
    assert!(!interrupted && record.ending.is_none() && record == *RunFolder::open(dir.path()).unwrap().record());
    assert_eq!(record.status, crate::RunStatus::Complete);
    assert!(record.timing.warmup_s > 0.0 && record.timing.sampling_s > 0.0, "{:?}", record.timing);
    assert_eq!(record.usage["device_name"].as_str(), Some("cpu"));
    let adaptation = &record.adaptation;
    assert_eq!(adaptation["iterations"].as_integer(), Some(TUNE as i64));
    assert_eq!(adaptation["rank"].as_integer(), Some(0));
    let steps = adaptation["step_sizes"].as_array().unwrap();
    assert!(!steps.is_empty() && steps.iter().all(|step| step.as_float().unwrap() > 0.0), "{steps:?}");
    assert_eq!(adaptation["metric_diagonal"].as_array().unwrap().len(), 1);
    // The only coordinate is the variable itself.
    let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
    let [x, free] = ["posterior", "unconstrained_posterior"].map(|group| data.groups[group].variables["x"].clone());
    assert_eq!((x.shape.as_slice(), x.values.to_f64()), (&[2, DRAWS][..], free.values.to_f64()));
    assert!(tally.sampling_leapfrogs >= 2 * DRAWS as u64 && tally.leapfrogs > tally.sampling_leapfrogs, "{tally:?}");
}

#[test]
fn a_device_that_fails_leaves_advice() {
    let config = |precision| SamplerConfig { precision, ..SamplerConfig::default() };
    let dir = Path::new("a/run");
    let failed = || SamplerError::Device(octopus_device::CudaError::NotBuilt);
    let advice = |config: &SamplerConfig| stopped(failed(), config, dir).to_string();
    let exact = advice(&config(Precision::F64));
    assert!(exact.contains("octopus resume a/run`, or with `octopus resume a/run --device cpu`"), "{exact}");
    let single = advice(&config(Precision::F32));
    assert!(single.contains("octopus resume a/run`") && !single.contains("--device cpu"), "{single}");
    let broken = SamplerError::Checkpoint("cut".into());
    assert_eq!(
        stopped(SamplerError::Checkpoint("cut".into()), &config(Precision::F64), dir).to_string(),
        broken.to_string()
    );
}

/// Interrupted in warm-up and after it; what earlier sessions took is so much that it cannot be this session's own.
#[test]
fn a_resumed_run_adds_to_the_recorded_times() {
    let density = Normal::new(false);
    let dir = tempfile::tempdir().unwrap();
    let writer = RunWriter::create(dir.path(), record(&density, None), CreateOptions::default()).unwrap();
    let first = session(&density, writer, None, 5);
    assert!(first.interrupted && first.record.timing.warmup_s > 0.0 && first.record.timing.sampling_s == 0.0);
    assert!(first.record.adaptation.is_empty(), "warm-up has not ended: {:?}", first.record.adaptation);

    let mut resumed = RunWriter::resume(dir.path()).unwrap();
    let state = resumed.state.take();
    let mut writer = resumed.go_on().unwrap();
    writer.update(|record| record.timing = Timing { warmup_s: 1000.0, sampling_s: 2000.0 }).unwrap();
    let second = session(&density, writer, state, TUNE + 5);
    let before = second.record.timing;
    assert!(second.tally.leapfrogs > second.tally.sampling_leapfrogs && second.tally.sampling_leapfrogs > 0);
    assert!(second.interrupted && before.warmup_s > 1000.0 && before.sampling_s > 2000.0, "{before:?}");
    assert_eq!(second.record.adaptation["iterations"].as_integer(), Some(TUNE as i64));
    assert_eq!(RunFolder::open(dir.path()).unwrap().record().timing, before);

    let mut resumed = RunWriter::resume(dir.path()).unwrap();
    let state = resumed.state.take();
    let last = session(&density, resumed.go_on().unwrap(), state, usize::MAX);
    let after = last.record.timing;
    assert!(!last.interrupted && after.sampling_s > before.sampling_s, "{after:?}");
    assert_eq!(after.warmup_s, before.warmup_s, "warm-up was over");
    assert_eq!(RunFolder::open(dir.path()).unwrap().record().timing, after);
}

/// The draws take no time that counts: what is over the limit is warm-up alone.
#[test]
fn a_warm_up_longer_than_the_limit_of_time_ends_at_the_first_draw() {
    let limit = 0.03;
    let density = Normal::new(true);
    let dir = tempfile::tempdir().unwrap();
    let goal = Goal { max_seconds: Some(limit), ..Goal::default() };
    let writer = RunWriter::create(dir.path(), record(&density, Some(goal)), CreateOptions::default()).unwrap();
    let driven = session(&density, writer, None, usize::MAX);
    let RunRecord { timing, ending, .. } = driven.record;
    assert!(timing.warmup_s > limit, "each of {TUNE} iterations takes 2 ms at the least: {timing:?}");
    let ending = ending.unwrap();
    assert_eq!((ending.by, ending.draws), (EndedBy::Time, 1), "{timing:?}");
}

/// Earlier sessions took so much that this session's own time does not count.
#[test]
fn the_limit_of_time_is_for_warm_up_and_draws_of_all_sessions_together() {
    let density = Normal::new(false);
    let dir = tempfile::tempdir().unwrap();
    let goal = Goal { max_seconds: Some(2500.0), ..Goal::default() };
    let mut writer = RunWriter::create(dir.path(), record(&density, Some(goal)), CreateOptions::default()).unwrap();
    writer.update(|record| record.timing = Timing { warmup_s: 1000.0, sampling_s: 2000.0 }).unwrap();
    let ending = session(&density, writer, None, usize::MAX).record.ending.unwrap();
    assert_eq!((ending.by, ending.draws), (EndedBy::Time, 1));
}

/// An observer that stops a run when it is asked so often.
struct Impatient {
    asked: AtomicUsize,
    patience: usize,
}

impl Observer for Impatient {
    fn stops(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.patience
    }
}

/// A session of a population, which ends when the observer has been asked `patience` times, and how often it was asked.
fn of_population(writer: RunWriter, state: Option<Vec<u8>>, patience: usize) -> (Driven, usize) {
    let density = Normal::new(false);
    let mut observer = Impatient { asked: AtomicUsize::new(0), patience };
    let begin = state.map_or_else(|| Begin::Anew(writer.record().sampler.clone()), Begin::GoOn);
    let pool = pool(Some(1)).unwrap();
    let sampler = Placement::Cpu.begin(&density, begin).unwrap();
    let session = Session { pool: &pool, checkpoints: Checkpoints::Every(10), observer: &mut observer };
    let driven = drive(sampler, &density, writer, session).unwrap();
    (driven, observer.asked.into_inner())
}

/// Nothing is kept of a population that is not drawn, and later the same one is drawn: wherever it was stopped.
#[test]
fn a_population_is_stopped_while_it_is_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let of_name = |name: &str| {
        let mut record = record(&Normal::new(false), None);
        record.sampler.algorithm = octopus_sampler::Algorithm::named(name).unwrap();
        record.sampler.tune = 0;
        record
    };
    for name in ["importance", "smc", "pathfinder"] {
        let at = |part: &str| dir.path().join(format!("{name}-{part}"));
        let begun = |part: &str| RunWriter::create(&at(part), of_name(name), CreateOptions::default()).unwrap();
        let (whole, asked) = of_population(begun("whole"), None, usize::MAX);
        assert!(!whole.interrupted && asked > 300, "{name}: asked {asked} times");
        for patience in [2, 30, asked / 2] {
            let (driven, again) = of_population(begun("part"), None, patience);
            assert!(driven.interrupted && driven.record.parts.is_empty(), "{name}: {patience}");
            assert!(again < patience + 10, "{name}: asked {again} times");
            let mut resumed = RunWriter::resume(&at("part")).unwrap();
            let state = resumed.state.take();
            let (driven, _) = of_population(resumed.go_on().unwrap(), state, usize::MAX);
            assert!(!driven.interrupted, "{name}: {patience}");
            let draws = |part: &str| {
                let data = RunFolder::open(&at(part)).unwrap().read().unwrap();
                data.groups["posterior"].variables["x"].values.to_f64()
            };
            assert_eq!((draws("part").len(), draws("part")), (2 * DRAWS, draws("whole")), "{name}: {patience}");
            std::fs::remove_dir_all(at("part")).unwrap();
        }
    }
}
