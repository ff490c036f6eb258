//! `cargo xtask interpret`: the committed PTX, run by the interpreter as a GPU's driver would get it.
//!
//! Every kernel and the recorded runs must give the CPU's bits in lock-step, in random orders of lanes, warps and
//! blocks on a device that does what is queued as late as it may, and with all checks, which must find nothing.

use crate::place::target;
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, bail};
use octopus_softgpu::{Lanes, Settings, SoftwareGpu};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The random orders of `--whole`: of lanes, warps and blocks, and of what streams have queued.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// The random order of CI.
const SEED: u64 = 1;

/// The recorded runs.
const EXPECTED: &str = "kernels/expected-runs.json";

/// The good exit codes of a run.
const RUN: &[i32] = &[0, 1];

/// What is run of the program, and how the interpreter runs it.
struct Case {
    name: String,
    words: Vec<OsString>,
    settings: Settings,
    /// The exit codes that are good: 0, and of a run 1, whose draws are too few for their purpose.
    good: &'static [i32],
}

impl Case {
    fn is_good(&self, output: &Output) -> bool {
        output.status.code().is_some_and(|code| self.good.contains(&code))
    }
}

/// Runs the small cases, or the `whole` of them, with the binary that the tests have built.
///
/// # Errors
/// When it or the software GPU cannot be started, or the software GPU cannot be built.
pub(crate) fn run(root: &Path, whole: bool) -> Result<TaskOutcome> {
    run::timed("interpret", || {
        let gpu = match SoftwareGpu::build().and_then(|gpu| gpu.with_sampler(Lanes::Ptx, &[""; 0])) {
            Err(unavailable) if unavailable.is_absence() => {
                eprintln!("xtask: interpret: SKIPPED: {unavailable}");
                return Ok(TaskOutcome::Passed);
            }
            gpu => gpu?,
        };
        let scratch = target(root).join("interpreted");
        let mut cases = small_cases(root);
        if whole {
            cases.extend(large_cases(root, &scratch));
        }
        let failed = AtomicUsize::new(0);
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                let begun = Instant::now();
                let output = output(root, &gpu, case)?;
                let word = if case.is_good(&output) { "ok" } else { "FAILED" };
                if !case.is_good(&output) {
                    failed.fetch_add(1, Ordering::Relaxed);
                    let said = String::from_utf8_lossy(&output.stderr);
                    eprintln!("xtask: {}: {}\n{said}", case.name, output.status);
                }
                eprintln!("xtask: {}: {word} in {:.1} s", case.name, begun.elapsed().as_secs_f64());
            }
            Ok(())
        };
        // Two at a time: each is one thread, but for the CPU's runs.
        std::thread::scope(|scope| {
            let other = scope.spawn(work);
            let own = work();
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(own)
        })?;
        let failed = failed.into_inner();
        eprintln!(
            "xtask: {} of {} cases give the CPU's bits, and nothing was found",
            cases.len() - failed,
            cases.len()
        );
        Ok(if failed == 0 { TaskOutcome::Passed } else { TaskOutcome::Failed(1) })
    })
}

/// Runs small runs and arrays in lock-step, and runs of every shape, of teams and of chains that warm up together, with a
/// seed of more than 32 bits; returns the folders below `folder` that have launches of each kernel in each run.
///
/// # Errors
/// When the software GPU cannot be built, a folder cannot be made, or a run fails.
pub(crate) fn record(root: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let gpu = SoftwareGpu::build()?.with_sampler(Lanes::Ptx, &[""; 0])?;
    // By time alone, iterations would be in other launches each time: a checkpoint ends a launch.
    let fixed =
        ["--device", "cuda", "--draws", "4", "--seed", LARGE_SEED, "--checkpoint-every", "1", "--quiet", "--force"];
    let run = target(root).join("interpreted/recorded");
    let one_at_a_time =
        sampled().chain(uniform_coordinates()).map(|words| words.and(&["--chains", "3", "--tune", "12"]));
    let ends = last_rows().map(|words| words.and(&["--chains", "2", "--tune", "3", "--max-depth", "3"]));
    let interpreted = target(root).join("interpreted");
    let of_a_team = uneven_groups(&interpreted, 250)?;
    let together =
        teams(&of_a_team).map(|words| words.and(&["--chains", "2", "--tune", "30", "--target-accept", "0.9"]));
    let few_and_many = [uneven_groups(&interpreted, 20)?, uneven_groups(&interpreted, 100)?];
    let kinds = uneven(&few_and_many).map(|words| words.and(&["--chains", "2", "--tune", "20"]));
    // Short steps make trees of more leaves than a table of random numbers has.
    let deep = sampled().map(|words| words.and(&["--chains", "2", "--tune", "8", "--target-accept", "0.999"]));
    let pools = pools().map(|words| words.and(&["--chains", "3", "--tune", "40"]));
    let all = one_at_a_time
        .chain(deep)
        .chain(ends)
        .chain(together)
        .chain(kinds)
        .chain(pools)
        .map(|words| words.and(&fixed).and(&["--out"]).with(&run));
    // Vectors of which many are refused: the few of `device exact` are far from most edges of that test.
    let vectors = ["float64", "float32"].map(|dtype| {
        let drawn =
            words(&["random", "von-mises-fisher", "--direction", "1,2", "--concentration", "50", "--n", "9000"]);
        drawn
            .and(&["--dtype", dtype, "--device", "cuda", "--quiet", "--force", "--out"])
            .with(&run.with_extension("npy"))
    });
    let mut folders = Vec::new();
    for words in [small_runs(root), words(&["device", "exact"])].into_iter().chain(vectors).chain(all) {
        let of_run = folder.join(folders.len().to_string());
        fs::create_dir_all(&of_run).with_context(|| format!("cannot make {}", of_run.display()))?;
        let case = Case { good: RUN, ..case("recording", words, Settings::new().record(&of_run)) };
        let output = output(root, &gpu, &case)?;
        if !case.is_good(&output) {
            bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        folders.push(of_run);
    }
    Ok(folders)
}

/// A seed with bits in both halves.
const LARGE_SEED: &str = "12379813738877118345";

/// Returns the words that sample each model, in each precision and shape of its kernels.
fn sampled() -> impl Iterator<Item = Words> {
    ["f64", "f32", "mixed"].into_iter().flat_map(|precision| {
        let normals = GROUPS.iter().map(|groups| words(&["sample", "hierarchical-normal", "--groups", groups]));
        let models = normals.chain([words(&["sample", "eight-schools"])]);
        models.map(move |words| words.and(&["--precision", precision]))
    })
}

/// Returns the words that sample groups which differ in size, in each precision.
fn uneven(files: &[PathBuf]) -> impl Iterator<Item = Words> {
    let table = ["sample", "hierarchical-normal", "--group", "group", "--value", "value", "--data"];
    ["f64", "f32", "mixed"].into_iter().flat_map(move |precision| {
        files.iter().map(move |file| words(&table).with(file).and(&["--precision", precision]))
    })
}

/// Returns the words that sample what a team of blocks reads, in each precision: two groups of two tiles, and as many groups
/// as lanes and rows have room for.
fn teams(uneven: &Path) -> impl Iterator<Item = Words> {
    let sample = || words(&["sample", "hierarchical-normal", "--likelihood", "pointwise", "--max-depth", "4"]);
    ["f64", "f32", "mixed"].into_iter().flat_map(move |precision| {
        let two = sample().and(&["--groups", "2", "--per-group", "2060"]);
        let many = sample().and(&["--group", "group", "--value", "value", "--data"]).with(uneven);
        [two, many].map(|words| words.and(&["--precision", precision]))
    })
}

/// Returns the words that sample as many groups as end in rows of which the other runs fill each or none.
fn last_rows() -> impl Iterator<Item = Words> {
    ["f64", "f32", "mixed"].into_iter().flat_map(|precision| {
        let groups = ["140", "170", "240", "590", "700", "830"];
        groups.map(|groups| words(&["sample", "hierarchical-normal", "--groups", groups, "--precision", precision]))
    })
}

/// Returns the words that sample in coordinates that are not standardised, in each precision.
fn uniform_coordinates() -> impl Iterator<Item = Words> {
    ["f64", "f32", "mixed"].into_iter().flat_map(|precision| {
        ["centered", "non-centered"].map(|coordinates| {
            let sample = words(&["sample", "hierarchical-normal", "--groups", "200", "--max-depth", "4"]);
            sample.and(&["--parameterization", coordinates, "--metric", "diag", "--precision", precision])
        })
    })
}

/// Returns the words that warm up chains together, of which the device sums the windows.
fn pools() -> impl Iterator<Item = Words> {
    let sample = ["sample", "hierarchical-normal", "--strategy", "many-short", "--superchains", "3", "--groups", "10"];
    ["f64", "f32"].into_iter().map(move |precision| words(&sample).and(&["--precision", precision]))
}

/// Groups of a run for each shape of the kernels of hierarchical normals: 32x1, 32x4, 32x8, 128x4 and 128x8.
const GROUPS: [&str; 5] = ["10", "100", "200", "400", "1000"];

/// Draws of each distribution: as many that a thread of the one multiprocessor makes hundreds, as on a GPU that is full.
const DRAWS: [&[&str]; 9] = [
    &["uniform"],
    &["normal"],
    &["exponential"],
    &["gamma", "--shape", "3"],
    &["beta", "--a", "2", "--b", "3"],
    &["student-t", "--df", "4"],
    &["von-mises", "--concentration", "5"],
    &["von-mises-fisher", "--direction", "0,0,1", "--concentration", "5"],
    &["wrapped-normal"],
];

/// Runs the PRD's model in each shape and precision, a batch of data sets, and eight schools, kernels of arrays and draws of
/// each distribution, and writes how often each instruction was done, a file for each kernel, for `cargo xtask cycles`.
///
/// # Errors
/// When the software GPU cannot be built, or a run fails.
pub(crate) fn count(root: &Path, folder: &Path) -> Result<TaskOutcome> {
    run::timed("interpret --counts", || {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let gpu = SoftwareGpu::build()?.with_sampler(Lanes::Ptx, &[""; 0])?;
        let fixed = ["--device", "cuda", "--chains", "4", "--tune", "200", "--draws", "300", "--seed", "42", "--quiet"];
        let interpreted = target(root).join("interpreted");
        let (run, sets) = (interpreted.join("counted"), data_sets(&interpreted.join("data-sets"))?);
        let batch = || words(&["sample", "hierarchical-normal", "--group", "group", "--value", "value", "--batch"]);
        let batches = ["f64", "f32", "mixed"].map(|precision| batch().with(&sets).and(&["--precision", precision]));
        let samples = sampled().chain(batches).map(|model| model.and(&fixed).and(&["--force", "--out"]).with(&run));
        let draws = ["float64", "float32"].into_iter().flat_map(|dtype| {
            let fixed = ["--dtype", dtype, "--n", "1e6", "--device", "cuda", "--force", "--out"];
            DRAWS.map(|distribution| words(&["random"]).and(distribution).and(&fixed))
        });
        let file = interpreted.join("counted.npy");
        // What draws is counted last: a file of counts is of the last process that has run its kernel.
        let arrays = [words(&["device", "exact"])].into_iter().chain(draws.map(|words| words.with(&file)));
        let samples = samples.map(|words| (words, Settings::new()));
        for (words, settings) in samples.chain(arrays.map(|words| (words, Settings::new().multiprocessors(1)))) {
            let case = Case { good: RUN, ..case("counting", words, settings.counts(folder)) };
            let output = output(root, &gpu, &case)?;
            if !case.is_good(&output) {
                bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
            }
        }
        Ok(TaskOutcome::Passed)
    })
}

/// Writes eight data sets of 100 groups of ten observations into a folder, and returns it.
fn data_sets(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for set in 0..8 {
        let mut text = "group,value\n".to_owned();
        for (group, i) in (0..100).flat_map(|group| (0..10).map(move |i| (group, i))) {
            // About as spread as the PRD's: 10 between groups and 2 within them.
            let (mean, away) = (f64::from(137 * group + set).sin(), f64::from(1009 * group + 17 * i + set).sin());
            let _ = writeln!(text, "{group},{}", 50.0 + 14.0 * mean + 2.8 * away);
        }
        let path = folder.join(format!("{set}.csv"));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(folder.to_owned())
}

/// Writes groups of one to three observations, but for one of 300, into a folder, and returns the file. The coordinates of
/// 250 fill the lanes and rows of a team of warps.
fn uneven_groups(folder: &Path, groups: i32) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut text = "group,value\n".to_owned();
    for group in 0..groups {
        for i in 0..if group == 17 { 300 } else { 1 + group % 3 } {
            let (mean, away) = (f64::from(137 * group).sin(), f64::from(1009 * group + 17 * i).sin());
            let _ = writeln!(text, "{group},{}", 50.0 + 14.0 * mean + 2.8 * away);
        }
    }
    let path = folder.join(format!("uneven-{groups}.csv"));
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// Returns the cases of CI; what takes longest comes first.
fn small_cases(root: &Path) -> Vec<Case> {
    vec![
        case("small runs, checked", small_runs(root), Settings::new().checked()),
        case(&format!("small runs, order {SEED}"), small_runs(root), order(SEED)),
        case("small runs, in lock-step", small_runs(root), Settings::new()),
        case("arrays, checked", words(&["device", "exact"]), Settings::new().checked()),
        case(&format!("arrays, order {SEED}"), words(&["device", "exact"]), order(SEED)),
        case("arrays, in lock-step", words(&["device", "exact"]), Settings::new()),
    ]
}

/// Returns the cases that `--whole` adds.
fn large_cases(root: &Path, scratch: &Path) -> Vec<Case> {
    let sample = |name: &str, more: &[&str]| {
        let fixed = ["sample", "hierarchical-normal", "--device", "cuda", "--quiet", "--force", "--out"];
        let sample = words(&fixed).with(&scratch.join(name)).and(more);
        Case { good: RUN, ..case(&format!("{name}, checked"), sample, Settings::new().checked()) }
    };
    let all = words(&["device", "exact", "--runs", "--expected"]).with(&root.join(EXPECTED));
    let mut cases = vec![
        case("all runs, in lock-step", all, Settings::new()),
        sample("a PRD run", &["--draws", "500", "--tune", "500"]),
        sample("many short chains", &["--strategy", "many-short", "--chains", "64", "--draws", "20"]),
        case("verify, checked", words(&["verify"]), Settings::new().checked()),
    ];
    let orders = SEEDS.skip(1);
    cases.extend(orders.map(|seed| case(&format!("small runs, order {seed}"), small_runs(root), order(seed))));
    cases
}

/// Returns a GPU whose lanes, warps and blocks, and what its streams have queued, come in an order drawn by `seed`.
fn order(seed: u64) -> Settings {
    Settings::new().order(seed).late(seed)
}

fn case(name: &str, words: Words, settings: Settings) -> Case {
    Case { name: name.to_owned(), words: words.0, settings, good: &[0] }
}

fn small_runs(root: &Path) -> Words {
    words(&["device", "exact", "--runs", "--small", "--expected"]).with(&root.join(EXPECTED))
}

/// Words of a command.
struct Words(Vec<OsString>);

fn words(words: &[&str]) -> Words {
    Words(words.iter().map(OsString::from).collect())
}

impl Words {
    fn with(mut self, path: &Path) -> Self {
        self.0.push(path.into());
        self
    }

    fn and(mut self, words: &[&str]) -> Self {
        self.0.extend(words.iter().map(OsString::from));
        self
    }
}

fn output(root: &Path, gpu: &SoftwareGpu, case: &Case) -> Result<Output> {
    let mut octopus = Command::new(run::released(root));
    octopus.args(&case.words);
    gpu.command(&mut octopus, &case.settings);
    octopus.output().with_context(|| format!("cannot start {}", octopus.get_program().display()))
}
