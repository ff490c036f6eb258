//! Sessions of a pretended sampler, killed and starved at every operation on the file system.

use super::*;
use crate::faulty::{Fault, Faulty};
use octopus_density::{DensityError, Dim, DrawAddress, Labels, Layout, LogDensity, Role, Transform, Variable};
use octopus_files::{Disk, Storage};
use octopus_formats::{FormatError, ParquetColumn};
use octopus_sampler::{Algorithm, Block, ChainBlock, DrawStats, Phase, SamplerConfig};
use octopus_trace::{Attribute, InferenceData, Values};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

#[path = "../../../fuzz/folder.rs"]
mod folder;

/// `a`, `s > 0`, `z[g]` (sampled) and `m[g, k]` (derived).
pub(crate) struct Toy(Layout);

impl Toy {
    pub(crate) fn new(groups: usize) -> Self {
        let g =
            Dim { name: "g".into(), labels: Labels::Strings((0..groups).map(|j| format!("grüppe {j}")).collect()) };
        let k = Dim { name: "k".into(), labels: Labels::Integers(vec![7, -3]) };
        let parameter = |name: &str, dims, offset, transform| Variable {
            name: name.into(),
            dims,
            role: Role::Parameter { offset, transform },
        };
        Self(Layout {
            variables: vec![
                parameter("a", vec![], 0, Transform::Identity),
                parameter("s", vec![], 1, Transform::Exp),
                parameter("z", vec![g.clone()], 2, Transform::Identity),
                Variable { name: "m".into(), dims: vec![g, k], role: Role::Derived },
            ],
        })
    }
}

impl LogDensity for Toy {
    fn dim(&self) -> usize {
        2 + self.0.variables[2].len()
    }
    fn layout(&self) -> &Layout {
        &self.0
    }
    fn logp_grad(&self, _: &[f64], _: &mut [f64]) -> Result<f64, DensityError> {
        unreachable!("the draws of these tests are made up")
    }
    fn expand(&self, position: &[f64], out: &mut [f64]) {
        let groups = self.dim() - 2;
        out[0] = position[0];
        out[1] = position[1].exp();
        out[2..2 + groups].copy_from_slice(&position[2..]);
        for j in 0..groups {
            out[2 + groups + 2 * j] = position[0] + position[2 + j];
            out[3 + groups + 2 * j] = -position[2 + j];
        }
    }
    fn name(&self) -> &str {
        "toy"
    }
}

pub(crate) const CHAINS: usize = 3;

fn value(phase: Phase, chain: usize, draw: usize, coordinate: usize) -> f64 {
    let sign = if phase == Phase::Warmup { -1.0 } else { 1.0 };
    sign * ((chain * 1000 + draw) as f64 + coordinate as f64 / 16.0).sin()
}

pub(crate) fn block(phase: Phase, first: usize, draws: usize, chains: usize, dim: usize) -> Block {
    let chain = |chain: usize| ChainBlock {
        positions: (first..first + draws).flat_map(|d| (0..dim).map(move |i| value(phase, chain, d, i))).collect(),
        stats: (first..first + draws)
            .map(|draw| DrawStats {
                lp: -(draw as f64) - 0.25,
                acceptance_rate: 0.9,
                step_size: 0.5,
                energy: f64::NAN,
                energy_error: -0.1,
                max_energy_error: f64::INFINITY,
                tree_depth: 3,
                n_steps: 7 + draw as u32,
                index_in_trajectory: -2,
                diverging: draw.is_multiple_of(2),
                reached_max_treedepth: chain == 1,
                ..DrawStats::default()
            })
            .collect(),
    };
    Block { phase, first, draws, chains: (0..chains).map(chain).collect() }
}

pub(crate) fn record(toy: &Toy) -> RunRecord {
    let config = SamplerConfig { chains: CHAINS, draws: 9, tune: 4, seed: 42, ..Default::default() };
    RunRecord::new(ModelRecord { name: "toy".into(), settings: toml::Table::new() }, config, toy.0.clone())
}

/// A run of one part for each phase, for the tests of other modules.
pub(crate) fn write_example(dir: &Path) {
    let toy = Toy::new(2);
    let options = CreateOptions { keep_warmup: true, ..Default::default() };
    let mut writer = RunWriter::create(dir, record(&toy), options).unwrap();
    writer.append(&block(Phase::Warmup, 0, 4, CHAINS, toy.dim()), &toy).unwrap();
    writer.append(&block(Phase::Sampling, 0, 9, CHAINS, toy.dim()), &toy).unwrap();
    writer.checkpoint(b"a state").unwrap();
    fs::copy(crate::folder::checkpoint_path(dir), dir.join("checkpoint")).unwrap();
    writer.finish(|_| ()).unwrap();
}

/// Goes on after `done` iterations of the whole run (4 of warm-up, 9 proper) to its end.
fn go_on(mut writer: RunWriter, toy: &Toy, mut done: usize) -> Result<RunRecord, RunError> {
    while done < 13 {
        let (phase, first, draws) = match done {
            0..4 => (Phase::Warmup, done, 2),
            _ => (Phase::Sampling, done - 4, 3),
        };
        writer.append(&block(phase, first, draws, CHAINS, toy.dim()), toy)?;
        done += draws;
        match done {
            4 => writer.update(|record| _ = record.adaptation.insert("rank".into(), 2.into()))?,
            7 => writer.flush()?,
            _ => {}
        }
        if done != 7 {
            writer.checkpoint(&[done as u8])?;
        }
    }
    writer.finish(|record| record.timing.sampling_s = 0.5)
}

fn session(storage: Arc<dyn Storage>, dir: &Path, toy: &Toy, force: bool) -> Result<RunRecord, RunError> {
    let options = CreateOptions { force, keep_warmup: true };
    go_on(RunWriter::create_in(storage, dir, record(toy), options)?, toy, 0)
}

fn resume(mut resumed: Resumed, toy: &Toy) -> Result<RunRecord, RunError> {
    let begin = resumed.state.take().map_or(0, |state| state[0].into());
    go_on(resumed.go_on()?, toy, begin)
}

fn recover(dir: &Path, toy: &Toy) -> RunRecord {
    if !RunFolder::is_run(dir) {
        return session(Arc::new(Disk), dir, toy, false).unwrap();
    }
    match RunWriter::resume(dir) {
        Ok(resumed) => resume(resumed, toy).unwrap(),
        Err(RunError::AlreadyComplete { .. }) => RunFolder::open(dir).unwrap().record().clone(),
        Err(error) => panic!("{error}"),
    }
}

/// Equal but for the time of creation; NaN equals NaN.
fn assert_same(left: &InferenceData, right: &InferenceData) {
    let show = |data: &InferenceData| {
        let mut data = data.clone();
        for group in data.groups.values_mut() {
            group.attrs.shift_remove("created_at");
        }
        format!("{data:?}")
    };
    assert_eq!(show(left), show(right));
}

fn reference(toy: &Toy) -> InferenceData {
    let dir = tempfile::tempdir().unwrap();
    session(Arc::new(Disk), dir.path(), toy, false).unwrap();
    RunFolder::open(dir.path()).unwrap().read().unwrap()
}

#[test]
fn what_is_written_is_read() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let record = session(Arc::new(Disk), dir.path(), &toy, false).unwrap();
    assert_eq!(record.status, RunStatus::Complete);
    assert_eq!(record.parts.iter().map(|part| part.rows).sum::<usize>(), 13 * CHAINS);
    let run = RunFolder::open(dir.path()).unwrap();
    assert_eq!(run.record(), &record);
    let data = run.read().unwrap();
    let names: Vec<&str> = data.groups.keys().map(String::as_str).collect();
    let groups = ["posterior", "unconstrained_posterior", "sample_stats"];
    let warmup = ["warmup_posterior", "warmup_unconstrained_posterior", "warmup_sample_stats"];
    assert_eq!(names, [groups, warmup].concat());

    for (phase, prefix, draws) in [(Phase::Sampling, "", 9), (Phase::Warmup, "warmup_", 4)] {
        let posterior = &data.groups[&format!("{prefix}posterior")];
        let free = &data.groups[&format!("{prefix}unconstrained_posterior")];
        let m = &posterior.variables["m"];
        assert_eq!(m.dims, ["chain", "draw", "g", "k"]);
        assert_eq!(m.shape, [CHAINS, draws, 2, 2]);
        assert_eq!(posterior.element_name("m", 2, 3), "m[grüppe 1, -3]");
        assert_eq!(free.variables.keys().collect::<Vec<_>>(), ["a", "s", "z"]);
        for chain in 0..CHAINS {
            for draw in 0..draws {
                let at = chain * draws + draw;
                let x = |i| value(phase, chain, draw, i);
                assert_eq!(posterior.variables["s"].values.to_f64()[at], x(1).exp());
                assert_eq!(free.variables["s"].values.to_f64()[at], x(1));
                assert_eq!(posterior.variables["z"].values.to_f64()[at * 2..at * 2 + 2], [x(2), x(3)]);
                assert_eq!(m.values.to_f64()[at * 4..at * 4 + 4], [x(0) + x(2), -x(2), x(0) + x(3), -x(3)]);
            }
        }
        let stats = &data.groups[&format!("{prefix}sample_stats")];
        assert_eq!(stats.variables["lp"].values.to_f64()[draws - 1], -(draws as f64 - 1.0) - 0.25);
        assert!(stats.variables["energy"].values.to_f64().iter().all(|energy| energy.is_nan()));
        let Values::I64(steps) = &stats.variables["n_steps"].values else { panic!() };
        assert_eq!(steps[1], 8);
        let Values::Bool(diverging) = &stats.variables["diverging"].values else { panic!() };
        assert_eq!(diverging[..2], [true, false]);
    }
    for (name, group) in &data.groups {
        assert_eq!(group.attrs["model_name"], Attribute::from("toy"), "{name}");
        assert_eq!(group.attrs["tuning_steps"], Attribute::I64(4), "{name}");
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.contains(&"state".into()), "{left:?}");
}

#[test]
fn coordinates_are_read_for_any_number_of_groups() {
    for groups in [0, 1, 3] {
        let toy = Toy::new(groups);
        let dir = tempfile::tempdir().unwrap();
        session(Arc::new(Disk), dir.path(), &toy, false).unwrap();
        let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
        let free = &data.groups["unconstrained_posterior"].variables;
        assert_eq!(free.keys().collect::<Vec<_>>(), ["a", "s", "z"]);
        assert_eq!(free["z"].shape, [CHAINS, 9, groups]);
        let first: Vec<f64> = (0..groups).map(|group| value(Phase::Sampling, 0, 0, 2 + group)).collect();
        assert_eq!(free["z"].values.to_f64()[..groups], first);
        // They are the coordinates themselves.
        let z = &data.groups["posterior"].variables["z"];
        assert_eq!((&z.shape, z.values.to_f64()), (&free["z"].shape, free["z"].values.to_f64()));
    }
}

/// A draw has eight elements of variables, four coordinates and its statistics.
#[test]
fn pending_draws_are_counted_in_bytes() {
    let toy = Toy::new(2);
    let mut buffer = crate::part::PartBuffer::new(&toy.0, Algorithm::Nuts);
    assert_eq!(buffer.bytes(), 0);
    buffer.extend(&block(Phase::Sampling, 0, 9, CHAINS, toy.dim()), &toy, 1).unwrap();
    assert_eq!(buffer.bytes(), 9 * CHAINS * (8 * (8 + 4) + size_of::<DrawStats>()));
    buffer.clear();
    assert_eq!((buffer.bytes(), buffer.rows()), (0, 0));
}

/// [`Toy`], whose `s` is random given the position.
struct Noisy(Toy);

impl LogDensity for Noisy {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn layout(&self) -> &Layout {
        self.0.layout()
    }
    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.0.logp_grad(position, gradient)
    }
    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.0.expand(position, out);
    }
    fn expand_draw(&self, position: &[f64], address: DrawAddress, out: &mut [f64]) -> Result<(), DensityError> {
        self.0.expand(position, out);
        out[1] = address.stream().uniform();
        Ok(())
    }
    fn name(&self) -> &str {
        "noisy"
    }
}

/// Draws have the same random variables in memory, in a folder, in blocks of any size, by any number of threads and after a
/// run was taken up again; and others in warm-up.
#[test]
fn random_variables_are_addressed_by_chain_and_draw() {
    let noisy = Noisy(Toy::new(2));
    let block_of = |phase, first, draws| block(phase, first, draws, CHAINS, noisy.dim());
    let blocks = [block_of(Phase::Sampling, 0, 9)];
    let in_memory = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let data = pool.install(|| groups_of(&noisy, &blocks, &record(&noisy.0)).unwrap());
        data.posterior().unwrap().variables["s"].values.to_f64()
    };
    let expected: Vec<f64> = (0..CHAINS as u32)
        .flat_map(|chain| (0..9).map(move |draw| DrawAddress { seed: 42, chain, draw }.stream().uniform()))
        .collect();
    assert_eq!((in_memory(1), in_memory(3)), (expected.clone(), expected.clone()));
    let dir = tempfile::tempdir().unwrap();
    let options = CreateOptions { keep_warmup: true, ..Default::default() };
    let mut writer = RunWriter::create(dir.path(), record(&noisy.0), options).unwrap();
    writer.append(&block_of(Phase::Warmup, 0, 4), &noisy).unwrap();
    writer.append(&block_of(Phase::Sampling, 0, 2), &noisy).unwrap();
    writer.checkpoint(b"a state").unwrap();
    writer.append(&block_of(Phase::Sampling, 2, 3), &noisy).unwrap();
    drop(writer);
    let mut writer = RunWriter::resume(dir.path()).unwrap().go_on().unwrap();
    writer.append(&block_of(Phase::Sampling, 2, 7), &noisy).unwrap();
    writer.finish(|_| ()).unwrap();
    let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
    let of = |group: &str| data.groups[group].variables["s"].values.to_f64();
    assert_eq!(of("posterior"), expected);
    assert!(of("warmup_posterior").iter().all(|s| !expected.contains(s)));
}

#[test]
fn the_posterior_of_a_run_in_memory_is_that_of_its_folder() {
    let toy = Toy::new(2);
    let blocks = [(0, 4), (4, 5)].map(|(first, draws)| block(Phase::Sampling, first, draws, CHAINS, toy.dim()));
    let (found, expected) = (posterior_of(&toy, &blocks).unwrap(), reference(&toy));
    let expected = expected.posterior().unwrap();
    assert_eq!((&found.variables, &found.coords), (&expected.variables, &expected.coords));
    let none = posterior_of(&toy, &[]).unwrap();
    assert_eq!(none.variables.keys().collect::<Vec<_>>(), ["a", "s", "z", "m"]);
    assert_eq!(none.variables["m"].shape, [0, 0, 2, 2]);
}

/// Each part has one row.
#[test]
fn a_run_of_one_chain_is_counted_and_read_draw_by_draw() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let sampler = SamplerConfig { chains: 1, draws: 3, tune: 1, ..record(&toy).sampler };
    let options = CreateOptions { keep_warmup: true, ..Default::default() };
    let mut writer = RunWriter::create(dir.path(), RunRecord { sampler, ..record(&toy) }, options).unwrap();
    writer.append(&block(Phase::Warmup, 0, 1, 1, toy.dim()), &toy).unwrap();
    assert_eq!((writer.draws(Phase::Warmup), writer.draws(Phase::Sampling)), (1, 0));
    for done in 0..3 {
        writer.append(&block(Phase::Sampling, done, 1, 1, toy.dim()), &toy).unwrap();
        writer.flush().unwrap();
        assert_eq!((writer.draws(Phase::Warmup), writer.draws(Phase::Sampling)), (1, done + 1));
        let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
        assert_eq!(data.posterior().unwrap().variables["z"].shape, [1, done + 1, 2]);
        assert_eq!(data.groups["warmup_posterior"].variables["z"].shape, [1, 1, 2]);
    }
    // A record without chains is no run that anybody can make, and no reason to panic.
    let other = tempfile::tempdir().unwrap();
    let sampler = SamplerConfig { chains: 0, ..record(&toy).sampler };
    let none = RunWriter::create(other.path(), RunRecord { sampler, ..record(&toy) }, options).unwrap();
    assert_eq!(none.draws(Phase::Sampling), 0);
}

#[test]
fn no_column_of_a_part_may_be_empty_in_a_row() {
    let dir = tempfile::tempdir().unwrap();
    write_example(dir.path());
    let part = fs::read(dir.path().join("draws/part-00000.parquet")).unwrap();
    // It refuses a column that may be null.
    let columns = octopus_formats::decode_columns(part.into(), |_| true).unwrap();
    assert_eq!(columns.len(), 2 + 4 + 1 + Algorithm::Nuts.statistics().count());
}

/// Some coordinates, and one derived variable whose elements are all a half.
struct Wide {
    dim: usize,
    layout: Layout,
}

impl Wide {
    fn new(dim: usize, elements: usize) -> Self {
        let dims = vec![Dim { name: "i".into(), labels: Labels::Range(elements) }];
        Self { dim, layout: Layout { variables: vec![Variable { name: "w".into(), dims, role: Role::Derived }] } }
    }

    /// Returns the record of a run of one chain.
    fn record(&self) -> RunRecord {
        let config = SamplerConfig { chains: 1, draws: 3, ..Default::default() };
        RunRecord::new(ModelRecord::default(), config, self.layout.clone())
    }
}

impl LogDensity for Wide {
    fn dim(&self) -> usize {
        self.dim
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn logp_grad(&self, _: &[f64], _: &mut [f64]) -> Result<f64, DensityError> {
        unreachable!("the draws of these tests are made up")
    }
    fn expand(&self, _: &[f64], out: &mut [f64]) {
        out.fill(0.5);
    }
    fn name(&self) -> &str {
        "wide"
    }
}

/// A draw of 64 MiB waits, and one of eight bytes more is written in the background, where a full disk is told by the next
/// call; the draws are kept, and written when there is room.
#[test]
fn more_than_64_mib_of_draws_are_written_unasked() {
    for (more, written) in [(0, false), (1, true)] {
        let elements = ((64 << 20) - size_of::<DrawStats>()) / 8 - 1 + more;
        let wide = Wide::new(1, elements);
        let dir = tempfile::tempdir().unwrap();
        let mut writer = RunWriter::create(dir.path(), wide.record(), CreateOptions::default()).unwrap();
        writer.append(&block(Phase::Sampling, 0, 1, 1, 1), &wide).unwrap();
        writer.update(|_| ()).unwrap();
        assert_eq!(dir.path().join("draws/part-00000.parquet").exists(), written);
        if !written {
            continue;
        }
        // A writer that is let go of waits for its thread: nobody else may write into the folder before.
        writer.append(&block(Phase::Sampling, 1, 1, 1, 1), &wide).unwrap();
        drop(writer);
        assert!(dir.path().join("draws/part-00001.parquet").exists());
        let create = |storage: Arc<dyn Storage>, dir: &Path| {
            RunWriter::create_in(storage, dir, wide.record(), CreateOptions::default())
        };
        let counter = Arc::new(Faulty::new(Fault::Kill, usize::MAX));
        create(counter.clone(), tempfile::tempdir().unwrap().path()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let storage = Arc::new(Faulty::new(Fault::Full, counter.operations()));
        let mut writer = create(storage, dir.path()).unwrap();
        writer.append(&block(Phase::Sampling, 0, 1, 1, 1), &wide).unwrap();
        assert_eq!(writer.draws(Phase::Sampling), 1);
        let told = writer.checkpoint(b"state").unwrap_err().to_string();
        assert!(told.contains("part-00000.parquet"), "{told}");
        writer.append(&block(Phase::Sampling, 1, 1, 1, 1), &wide).unwrap();
        assert_eq!(writer.draws(Phase::Sampling), 2);
        let record = writer.finish(|_| ()).unwrap();
        assert_eq!(record.parts.iter().map(|part| part.rows).collect::<Vec<_>>(), [1, 1]);
        let data = RunFolder::open(dir.path()).unwrap().read_posterior().unwrap();
        assert_eq!(data.posterior().unwrap().variables["w"].shape[..2], [1, 2]);
        assert_eq!(data.groups.keys().map(String::as_str).collect::<Vec<_>>(), ["posterior", "sample_stats"]);
    }
}

#[test]
fn a_run_without_coordinates_is_read() {
    let wide = Wide::new(0, 2);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(dir.path(), wide.record(), CreateOptions::default()).unwrap();
    writer.append(&block(Phase::Sampling, 0, 3, 1, 0), &wide).unwrap();
    writer.finish(|_| ()).unwrap();
    let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
    assert_eq!(data.posterior().unwrap().variables["w"].values.to_f64(), [0.5; 6]);
}

/// `kill -9` before every single operation, and halfway through every write.
#[test]
fn a_run_killed_anywhere_is_readable_and_resumes_to_the_same_draws() {
    let toy = Toy::new(2);
    let expected = reference(&toy);
    let counter = Arc::new(Faulty::new(Fault::Kill, usize::MAX));
    session(counter.clone(), tempfile::tempdir().unwrap().path(), &toy, false).unwrap();
    let operations = counter.operations();
    assert!(operations > 30, "{operations}");
    let mut reads = 0;
    for at in 0..operations {
        let dir = tempfile::tempdir().unwrap();
        session(Arc::new(Faulty::new(Fault::Kill, at)), dir.path(), &toy, false).unwrap_err();
        if RunFolder::is_run(dir.path()) {
            match RunFolder::open(dir.path()).unwrap().read() {
                Ok(data) => {
                    reads += 1;
                    let draws = data.groups.values().next().unwrap().coords["draw"].len();
                    assert!(draws > 0);
                }
                Err(RunError::NoDraws { .. }) => {}
                Err(error) => panic!("killed at {at}: {error}"),
            }
        }
        let record = recover(dir.path(), &toy);
        assert_eq!(record.adaptation["rank"].as_integer(), Some(2));
        assert_same(&RunFolder::open(dir.path()).unwrap().read().unwrap(), &expected);
    }
    assert!(reads > 10, "{reads}");
}

/// Killed, resumed, and killed again at every operation of the resumed session.
#[test]
fn a_resumed_run_may_be_killed_too() {
    let toy = Toy::new(2);
    let expected = reference(&toy);
    for first in [9, 14, 17, 21, 24] {
        for at in 0.. {
            let dir = tempfile::tempdir().unwrap();
            session(Arc::new(Faulty::new(Fault::Kill, first)), dir.path(), &toy, false).unwrap_err();
            let storage = Arc::new(Faulty::new(Fault::Kill, at));
            let again = RunWriter::resume_in(storage, dir.path()).and_then(|resumed| resume(resumed, &toy));
            let finished = again.is_ok();
            match RunFolder::open(dir.path()).unwrap().read() {
                Ok(_) | Err(RunError::NoDraws { .. }) => {}
                Err(error) => panic!("{first}, {at}: {error}"),
            }
            recover(dir.path(), &toy);
            assert_same(&RunFolder::open(dir.path()).unwrap().read().unwrap(), &expected);
            if finished {
                break;
            }
        }
    }
}

#[test]
fn a_full_or_forbidden_disk_is_told_and_leaves_nothing_half_written() {
    let toy = Toy::new(2);
    let expected = reference(&toy);
    for fault in [Fault::Full, Fault::Denied] {
        for at in 0.. {
            let dir = tempfile::tempdir().unwrap();
            let run = dir.path().join("run");
            let Err(error) = session(Arc::new(Faulty::new(fault, at)), &run, &toy, false) else {
                assert!(at > 30);
                break;
            };
            let message = error.to_string();
            let hint = if fault == Fault::Full { "free some space" } else { "permissions" };
            assert!(message.contains(hint) && message.contains(run.to_str().unwrap()), "{message}");
            if run.exists() {
                assert!(RunFolder::is_run(&run), "at {at}");
                for folder in ["", "draws", "warmup", "state"] {
                    let names = fs::read_dir(run.join(folder)).into_iter().flatten();
                    let names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
                    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "at {at}: {names:?}");
                }
            }
            recover(&run, &toy);
            assert_same(&RunFolder::open(&run).unwrap().read().unwrap(), &expected);
        }
    }
}

#[test]
fn force_replaces_runs_and_nothing_else() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    session(Arc::new(Disk), &run, &toy, false).unwrap();
    fs::write(run.join("notes.txt"), "mine").unwrap();
    let error = session(Arc::new(Disk), &run, &toy, false).unwrap_err().to_string();
    assert!(error.contains("--force") && error.contains("run"), "{error}");
    let options = CreateOptions { force: true, keep_warmup: false };
    let writer = RunWriter::create(&run, record(&toy), options).unwrap();
    assert!(matches!(RunFolder::open(&run).unwrap().read(), Err(RunError::NoDraws { .. })));
    assert!(matches!(RunWriter::create(&run, record(&toy), options), Err(RunError::InUse { .. })));
    assert!(matches!(RunWriter::resume(&run), Err(RunError::InUse { .. })));
    go_on(writer, &toy, 0).unwrap();
    assert!(RunFolder::open(&run).unwrap().read().unwrap().group("warmup_posterior").is_none());
    assert_eq!(fs::read(run.join("notes.txt")).unwrap(), b"mine");

    let other = dir.path().join("thesis");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("chapter1.tex"), "text").unwrap();
    let error = session(Arc::new(Disk), &other, &toy, true).unwrap_err().to_string();
    assert!(error.contains("not a run folder"), "{error}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    assert!(matches!(RunFolder::open(&other), Err(RunError::NotARun { .. })));
    assert!(matches!(RunWriter::resume(&other), Err(RunError::NotARun { .. })));
    assert!(matches!(RunWriter::resume(&run), Err(RunError::AlreadyComplete { .. })));
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(session(Arc::new(Disk), &file, &toy, true).is_err());
}

/// A forced run killed while the former one is being cleared never mixes the two.
#[test]
fn force_may_be_killed_anywhere() {
    let toy = Toy::new(2);
    let expected = reference(&toy);
    for at in 0.. {
        let dir = tempfile::tempdir().unwrap();
        session(Arc::new(Faulty::new(Fault::Kill, 25)), dir.path(), &Toy::new(3), false).unwrap_err();
        let finished = session(Arc::new(Faulty::new(Fault::Kill, at)), dir.path(), &toy, true).is_ok();
        match RunFolder::open(dir.path()).unwrap().read() {
            Ok(_) | Err(RunError::NoDraws { .. } | RunError::MissingPart { .. }) => {}
            Err(error) => panic!("at {at}: {error}"),
        }
        if RunFolder::open(dir.path()).unwrap().record().layout == toy.0 {
            recover(dir.path(), &toy);
        } else {
            recover(dir.path(), &Toy::new(3));
            session(Arc::new(Disk), dir.path(), &toy, true).unwrap();
        }
        assert_same(&RunFolder::open(dir.path()).unwrap().read().unwrap(), &expected);
        if finished {
            break;
        }
    }
}

#[test]
fn an_interrupted_run_is_readable_and_resumes() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let options = CreateOptions { keep_warmup: true, ..Default::default() };
    let mut writer = RunWriter::create(dir.path(), record(&toy), options).unwrap();
    writer.append(&block(Phase::Warmup, 0, 4, CHAINS, toy.dim()), &toy).unwrap();
    writer.update(|record| _ = record.adaptation.insert("rank".into(), 2.into())).unwrap();
    writer.append(&block(Phase::Sampling, 0, 3, CHAINS, toy.dim()), &toy).unwrap();
    assert_eq!((writer.draws(Phase::Warmup), writer.draws(Phase::Sampling)), (4, 3));
    writer.checkpoint(&[7]).unwrap();
    writer.append(&block(Phase::Sampling, 3, 1, CHAINS, toy.dim()), &toy).unwrap();
    let record = writer.interrupt(|record| record.timing.sampling_s = 0.25).unwrap();
    assert_eq!(record.status, RunStatus::Interrupted);
    let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
    assert_eq!(data.posterior().unwrap().variables["a"].shape, [CHAINS, 4]);
    // Who looks and does not go on leaves the run as it was.
    let looked = RunWriter::resume(dir.path()).unwrap();
    assert_eq!((looked.record.status, looked.state.as_deref()), (RunStatus::Interrupted, Some(&[7][..])));
    drop(looked);
    let kept = RunFolder::open(dir.path()).unwrap();
    assert_eq!((kept.record().status, kept.record().parts.len()), (RunStatus::Interrupted, record.parts.len()));
    let writer = RunWriter::resume(dir.path()).unwrap().go_on().unwrap();
    assert_eq!(writer.draws(Phase::Sampling), 3);
    assert_eq!(RunFolder::open(dir.path()).unwrap().record().status, RunStatus::Running);
    go_on(writer, &toy, 7).unwrap();
    assert_same(&RunFolder::open(dir.path()).unwrap().read().unwrap(), &reference(&toy));
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(dir.path(), record(&toy), CreateOptions::default()).unwrap();
    let good = || block(Phase::Sampling, 0, 3, CHAINS, toy.dim());
    let mut short = good();
    short.chains[1].positions.pop();
    for bad in [block(Phase::Sampling, 1, 3, CHAINS, toy.dim()), block(Phase::Sampling, 0, 3, 2, toy.dim()), short] {
        let error = writer.append(&bad, &toy).unwrap_err();
        let RunError::Block { expected, found, .. } = &error else { panic!("{error}") };
        assert!(!expected.is_empty() && !found.is_empty() && expected != found, "{error}");
    }
    let wide = Toy::new(3);
    let error = writer.append(&block(Phase::Sampling, 0, 3, CHAINS, wide.dim()), &wide).unwrap_err();
    assert!(error.to_string().contains("layout") && !error.to_string().contains("is ,"), "{error}");
    writer.append(&good(), &toy).unwrap();
}

#[test]
fn damaged_missing_and_unequal_parts_are_named() {
    let toy = Toy::new(2);
    let complete = tempfile::tempdir().unwrap();
    session(Arc::new(Disk), complete.path(), &toy, false).unwrap();
    let running = tempfile::tempdir().unwrap();
    // The part after the last checkpoint: written, but not yet listed anywhere.
    let mut writer = RunWriter::create(running.path(), record(&toy), CreateOptions::default()).unwrap();
    writer.append(&block(Phase::Sampling, 0, 3, CHAINS, toy.dim()), &toy).unwrap();
    writer.flush().unwrap();
    drop(writer);

    for (dir, fix) in [(complete.path(), "--force"), (running.path(), "octopus resume")] {
        let read = || RunFolder::open(dir).unwrap().read();
        let path = dir.join("draws/part-00000.parquet");
        let good = fs::read(&path).unwrap();
        for len in (0..good.len()).step_by(97) {
            fs::write(&path, &good[..len]).unwrap();
            let message = read().unwrap_err().to_string();
            assert!(message.contains("part-00000.parquet") && message.contains(fix), "{message}");
        }
        for byte in (0..good.len()).step_by(13) {
            let mut bad = good.clone();
            bad[byte] ^= 0x55;
            fs::write(&path, &bad).unwrap();
            match read() {
                Ok(_) if fix == "octopus resume" => {} // An unlisted part has no checksum yet.
                Ok(_) => panic!("byte {byte} of a listed part"),
                Err(error) => assert!(error.to_string().contains("part-00000.parquet"), "{error}"),
            }
        }
        fs::remove_file(&path).unwrap();
        match read().unwrap_err() {
            RunError::MissingPart { path: missing, .. } => assert_eq!(missing, path),
            RunError::NoDraws { .. } => assert_eq!(dir, running.path()),
            other => panic!("{other}"),
        }
        fs::write(&path, &good).unwrap();
        read().unwrap();
    }
    // A hole in the sequence, and a part there twice.
    let draws = running.path().join("draws");
    fs::copy(draws.join("part-00000.parquet"), draws.join("part-00002.parquet")).unwrap();
    let error = RunFolder::open(running.path()).unwrap().read().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("part-00001.parquet is missing") && error.contains("octopus resume"), "{error}");
    fs::rename(draws.join("part-00002.parquet"), draws.join("part-00001.parquet")).unwrap();
    let error = RunFolder::open(running.path()).unwrap().read().unwrap_err();
    let error = error.to_string();
    assert!(error.contains("there twice") && error.contains("--force"), "{error}");
    // Chains of unequal length.
    let two = RunRecord { sampler: SamplerConfig { chains: 2, ..record(&toy).sampler }, ..record(&toy) };
    let other = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(other.path(), two, CreateOptions::default()).unwrap();
    writer.append(&block(Phase::Sampling, 0, 3, 2, toy.dim()), &toy).unwrap();
    writer.flush().unwrap();
    fs::copy(other.path().join("draws/part-00000.parquet"), draws.join("part-00001.parquet")).unwrap();
    match RunFolder::open(running.path()).unwrap().read().unwrap_err() {
        RunError::Format(FormatError::UnequalChains { path, counts, fix }) => {
            assert_eq!((path, counts), (draws, vec![6, 6, 3]));
            // What has a checksum or another run's chains is not drawn again.
            assert!(fix.contains("--force"), "{fix}");
        }
        other => panic!("{other}"),
    }
    let three = complete.path().join("draws/part-00000.parquet");
    fs::copy(three, other.path().join("draws/part-00000.parquet")).unwrap();
    let error = RunFolder::open(other.path()).unwrap().read().unwrap_err().to_string();
    assert!(error.contains("a chain 2 of 2") && error.contains("--force"), "{error}");
}

/// A pipe waits for a writer, and `/dev/zero` has no end: reading a run must not hang at either.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_in_a_run_is_told() {
    let toy = Toy::new(2);
    let dir = killed(&toy, record(&toy), 0);
    let complete = tempfile::tempdir().unwrap();
    session(Arc::new(Disk), complete.path(), &toy, false).unwrap();
    for dir in [dir.path(), complete.path()] {
        let part = dir.join("draws/part-00000.parquet");
        fs::remove_file(&part).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&part).status().unwrap().success());
        let told = RunFolder::open(dir).unwrap().read().unwrap_err().to_string();
        assert!(told.contains("part-00000.parquet: it is a named pipe"), "{told}");
        fs::remove_file(&part).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &part).unwrap();
        let told = RunFolder::open(dir).unwrap().read().unwrap_err().to_string();
        assert!(told.contains("part-00000.parquet: it is a device"), "{told}");
        // A checkpoint that is none stops no reading.
        fs::create_dir_all(dir.join("state")).unwrap();
        let _ = fs::remove_file(dir.join("state/checkpoint.bin"));
        std::os::unix::fs::symlink("/dev/zero", dir.join("state/checkpoint.bin")).unwrap();
        assert!(RunFolder::open(dir).unwrap().read().is_err());
        fs::remove_file(dir.join("run.toml")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.join("run.toml")).unwrap();
        assert!(matches!(RunFolder::open(dir), Err(RunError::NotARun { .. })));
    }
}

/// Makes a run of which only a first part, of draws `first` to `first + 2`, was written before it was killed.
fn killed(density: &dyn LogDensity, record: RunRecord, first: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let chains = record.sampler.chains;
    let mut writer = RunWriter::create(dir.path(), record, CreateOptions::default()).unwrap();
    for begin in (0..=first).step_by(3) {
        writer.append(&block(Phase::Sampling, begin, 3, chains, density.dim()), density).unwrap();
        writer.flush().unwrap();
    }
    let part = |number: usize| dir.path().join(crate::folder::part_file(Phase::Sampling, number));
    fs::rename(part(first / 3), part(0)).unwrap();
    dir
}

#[test]
fn a_part_that_does_not_hold_its_draws_is_told() {
    let toy = Toy::new(2);
    let told = |dir: &tempfile::TempDir| RunFolder::open(dir.path()).unwrap().read().unwrap_err().to_string();
    let part = |dir: &tempfile::TempDir| dir.path().join("draws/part-00000.parquet");

    // The footer of nine rows announces eight, or ten. It is thrift in the compact form: field 3 is an i64 in zigzag,
    // and field 4, a list, follows.
    let dir = killed(&toy, record(&toy), 0);
    let good = fs::read(part(&dir)).unwrap();
    let end = good.len() - 8;
    let footer = end - u32::from_le_bytes(good[end..end + 4].try_into().unwrap()) as usize;
    let at = footer + good[footer..].windows(3).position(|bytes| bytes == [0x16, 2 * 9, 0x19]).unwrap() + 1;
    // In zigzag 1 is -1, which is none.
    for (rows, announced) in [(8, 16), (10, 20), (0, 1)] {
        let mut bad = good.clone();
        bad[at] = announced;
        fs::write(part(&dir), bad).unwrap();
        let message = told(&dir);
        assert!(message.contains(&format!("it has 9 rows where it announces {rows}")), "{message}");
    }

    let message = told(&killed(&toy, record(&toy), 3));
    assert!(message.contains("draw 3 of chain 0 is out of order") && message.contains("--force"), "{message}");

    let wide = Wide::new(1, 2);
    let sampler = SamplerConfig { chains: 1, ..record(&toy).sampler };
    let other = killed(&toy, RunRecord { sampler, ..record(&toy) }, 0);
    fs::copy(part(&killed(&wide, wide.record(), 0)), part(&other)).unwrap();
    let message = told(&other);
    assert!(message.contains("its column `a` is absent") && message.contains("--force"), "{message}");
    // A table of somebody else's, with rows and without: what is not this run's is not drawn again.
    for (draws, words, fix) in
        [(vec![0, 1], "its column `chain` is absent", "--force"), (vec![], "it has no rows", "octopus resume")]
    {
        let table = [ParquetColumn::of_i32("draw", draws)];
        fs::write(part(&other), octopus_formats::encode_columns(&table, &serde_json::json!({})).unwrap()).unwrap();
        let message = told(&other);
        assert!(message.contains(words) && message.contains(fix), "{message}");
    }

    // A part that is there and cannot be read is not missing.
    let complete = tempfile::tempdir().unwrap();
    session(Arc::new(Disk), complete.path(), &toy, false).unwrap();
    fs::remove_file(part(&complete)).unwrap();
    fs::create_dir(part(&complete)).unwrap();
    let message = told(&complete);
    assert!(message.contains("cannot read") && message.contains("part-00000.parquet"), "{message}");
}

/// The draws of an interrupted run are listed, as those of a complete one are: resuming does not draw them again.
#[test]
fn a_listed_part_of_an_interrupted_run_that_is_damaged_is_not_drawn_again() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(dir.path(), record(&toy), CreateOptions::default()).unwrap();
    writer.append(&block(Phase::Sampling, 0, 3, CHAINS, toy.dim()), &toy).unwrap();
    let listed = writer.interrupt(|_| ()).unwrap().parts;
    fs::write(dir.path().join("draws/part-00000.parquet"), "junk").unwrap();
    // Once the checksum is another, then it is right and the file no table all the same.
    for words in ["its checksum is not", "it is not a whole Parquet file"] {
        let message = RunFolder::open(dir.path()).unwrap().read().unwrap_err().to_string();
        assert!(message.contains(words) && message.contains("--force"), "{message}");
        let path = dir.path().join("run.toml");
        let (is, was) = (crate::writer::crc32(b"junk"), listed[0].crc32);
        let text = fs::read_to_string(&path).unwrap().replace(&format!("crc32 = {was}"), &format!("crc32 = {is}"));
        fs::write(&path, text).unwrap();
    }
}

#[test]
fn a_damaged_checkpoint_stops_resume_but_not_reading() {
    let toy = Toy::new(2);
    let dir = tempfile::tempdir().unwrap();
    session(Arc::new(Faulty::new(Fault::Kill, 25)), dir.path(), &toy, false).unwrap_err();
    let path = dir.path().join("state/checkpoint.bin");
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    let message = RunWriter::resume(dir.path()).unwrap_err().to_string();
    assert!(message.contains("checkpoint.bin") && message.contains("--force"), "{message}");
    RunFolder::open(dir.path()).unwrap().read().unwrap();
    fs::write(&path, &good).unwrap();
    fs::write(dir.path().join("warmup/part-00000.parquet"), "short").unwrap();
    let message = RunWriter::resume(dir.path()).unwrap_err().to_string();
    assert!(message.contains("part-00000.parquet") && message.contains("--force"), "{message}");
    // A checkpoint that is there and cannot be read is not one that was never made.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let message = RunWriter::resume(dir.path()).unwrap_err().to_string();
    assert!(message.contains("checkpoint.bin"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.path().join("probe"), "").is_ok() {
        eprintln!("SKIPPED: this user may write to read-only folders (root); the injected refusal is tested");
        return;
    }
    let error = session(Arc::new(Disk), &dir.path().join("run"), &Toy::new(2), false).unwrap_err().to_string();
    assert!(error.contains("run") && error.contains("permissions"), "{error}");
}

/// `cargo test --release -p octopus-trace prd -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_of_a_prd_run() {
    let toy = Toy::new(100);
    let config = SamplerConfig { chains: 4, draws: 2000, ..Default::default() };
    let record = RunRecord { sampler: config, ..record(&toy) };
    let blocks: Vec<Block> = (0..10).map(|i| block(Phase::Sampling, i * 200, 200, 4, toy.dim())).collect();
    for _ in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        let mut writer = RunWriter::create(dir.path(), record.clone(), CreateOptions::default()).unwrap();
        let created = start.elapsed();
        for block in &blocks {
            writer.append(block, &toy).unwrap();
        }
        let appended = start.elapsed();
        writer.checkpoint(&[0; 65536]).unwrap();
        let flushed = start.elapsed();
        writer.finish(|_| {}).unwrap();
        let finished = start.elapsed();
        let size = fs::metadata(dir.path().join("draws/part-00000.parquet")).unwrap().len();
        let start = Instant::now();
        let data = RunFolder::open(dir.path()).unwrap().read().unwrap();
        let read = start.elapsed();
        eprintln!("create {created:?}, append {appended:?}, checkpoint {flushed:?}, finish {finished:?}; {size} bytes");
        eprintln!("read {read:?}, {} groups", data.groups.len());
    }
}

#[test]
fn a_part_of_a_run_is_a_table_of_draws() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("run");
    write_example(&folder);
    let whole = RunFolder::open(&folder).unwrap().read().unwrap();
    for (file, prefix) in [("draws/part-00000.parquet", ""), ("warmup/part-00000.parquet", "warmup_")] {
        let part = octopus_formats::read_parquet(&folder.join(file)).unwrap();
        assert_eq!(part.groups.len(), 2);
        for (name, group) in &part.groups {
            assert!(name.starts_with(prefix));
            let expected = &whole.groups[name];
            assert_eq!(group.coords, expected.coords);
            // NaN is no reason to differ.
            let shown = |variables: &indexmap::IndexMap<String, octopus_trace::Array>| format!("{variables:?}");
            assert_eq!(shown(&group.variables), shown(&expected.variables));
        }
    }
}

/// `cargo test --release -p octopus-runs begin_corpus -- --ignored`
#[test]
#[ignore = "writes fuzz/corpus"]
fn begin_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/run");
    fs::create_dir_all(&corpus).unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(corpus.join(name), bytes).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write_example(&dir.path().join("run"));
    put("complete", &folder::pack(&dir.path().join("run"), |file| !file.starts_with('.')));
    // Without the list of parts, so that they are read without their checksums.
    let path = dir.path().join("run/run.toml");
    let record = fs::read_to_string(&path).unwrap();
    let open = record.split("[[parts]]").next().unwrap().replace("status = \"complete\"", "status = \"running\"");
    fs::write(&path, open).unwrap();
    put("open", &folder::pack(&dir.path().join("run"), |file| !file.starts_with('.') && file != "checkpoint"));
    fs::create_dir_all(dir.path().join("run/state")).unwrap();
    fs::rename(dir.path().join("run/checkpoint"), dir.path().join("run/state/checkpoint.bin")).unwrap();
    put("checkpoint", &folder::pack(&dir.path().join("run"), |file| !file.starts_with('.')));
}

/// What fuzzing found (see `fuzz/README.md`) and what it began with.
#[test]
fn the_corpus_of_damaged_runs_is_read_without_a_panic() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/run");
    let mut read = 0;
    for file in fs::read_dir(corpus).unwrap() {
        let dir = tempfile::tempdir().unwrap();
        folder::unpack(&fs::read(file.unwrap().path()).unwrap(), dir.path());
        let _ = RunFolder::open(dir.path()).and_then(|run| run.read());
        read += 1;
    }
    assert!(read > 2, "{read} folders");
}

#[test]
fn a_run_is_a_trace_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    write_example(&run);
    let data = open_trace(std::slice::from_ref(&run)).unwrap();
    assert_eq!(format!("{data:?}"), format!("{:?}", RunFolder::open(&run).unwrap().read().unwrap()));
    let several = open_trace(&[run.clone(), run]).unwrap_err().to_string();
    assert!(several.contains("run folder: give it alone"), "{several}");
    let none = open_trace(&[dir.path().join("none")]).unwrap_err().to_string();
    assert!(none.contains("check the path"), "{none}");
}
