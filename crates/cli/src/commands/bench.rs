//! `octopus bench ...` runs suites of Octopus and other frameworks.

use crate::args::{
    BenchCommand, BenchCompareArgs, BenchExportArgs, BenchPlaceArgs, BenchPlotArgs, BenchRunArgs, BenchSetupArgs,
    BenchTestArgs, Global, PictureFormat, ShareArgs,
};
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::share::{Worker, WorkerState};
use anyhow::{Result, bail};
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_report::write_figures;
use octopus_suite::{
    Peers, PosteriorCheck, Suite, SuiteChoice, SuiteError, SuiteObserver, SuitePicture, SuiteResults, SuiteRow,
    SuiteRun, SuiteVerdict, compare, results_page, summary_text,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Where results go that are given no folder.
const RESULTS: &str = "benchmarks/data";

/// Runs the subcommand of `octopus bench` that was given.
///
/// # Errors
/// When there is no such suite or framework, or a file cannot be read or written.
pub(crate) fn run(command: &BenchCommand, global: Global) -> Result<Exit> {
    match command {
        BenchCommand::List(args) => list(args, global),
        BenchCommand::Setup(args) => set_up(args, global),
        BenchCommand::Run(args) => run_suites(args, global),
        BenchCommand::Plot(args) => plot(args),
        BenchCommand::Compare(args) => compare_results(args, global),
        BenchCommand::Export(args) => export(args),
        BenchCommand::Test(args) => test(args, global),
        BenchCommand::Answer => {
            octopus_suite::answer(io::stdin().lock(), io::stdout().lock())?;
            Ok(Exit::Fine)
        }
    }
}

/// Returns the frameworks of a folder; this program answers for Octopus.
fn peers(place: &BenchPlaceArgs) -> Result<Peers> {
    let program = std::env::current_exe()?.into_os_string();
    Ok(Peers { folder: place.peers.clone(), octopus: vec![program, "bench".into(), "answer".into()] })
}

/// Returns version, commit and compiler of this program.
fn program() -> BTreeMap<String, String> {
    octopus_phase0::versions().into_iter().collect()
}

fn list(args: &BenchPlaceArgs, global: Global) -> Result<Exit> {
    let suites = Suite::names().map(Suite::find).collect::<Result<Vec<_>, _>>()?;
    let all = peers(args)?.all()?;
    if global.json {
        let suites: Vec<_> = suites.iter().map(|suite| json!({ "name": suite.name, "about": suite.about })).collect();
        let of_peer =
            |peer: &octopus_suite::Peer| json!({ "name": peer.name, "about": peer.about, "absent": peer.absence() });
        let frameworks: Vec<_> = all.iter().map(of_peer).collect();
        output::print_json(&json!({ "schema": 1, "suites": suites, "frameworks": frameworks }))?;
        return Ok(Exit::Fine);
    }
    let table = |head: &str, rows: Vec<Vec<String>>| {
        text_table(&[TextColumn::left(head), TextColumn::left("what it is")], &rows, TableLook::default())
    };
    let suites = suites.into_iter().map(|suite| vec![suite.name, suite.about]).collect();
    let here = |peer: &octopus_suite::Peer| match peer.absence() {
        None => peer.about.clone(),
        Some(why) => format!("{} (absent: {why})", peer.about),
    };
    let frameworks = all.iter().map(|peer| vec![peer.name.clone(), here(peer)]).collect();
    output::print(&format!("{}\n{}", table("suite", suites), table("framework", frameworks)))?;
    Ok(Exit::Fine)
}

fn set_up(args: &BenchSetupArgs, global: Global) -> Result<Exit> {
    let peers = peers(&args.place)?;
    let chosen = match args.names.as_slice() {
        [] => peers.all()?,
        names => names.iter().map(|name| peers.find(name)).collect::<Result<_, _>>()?,
    };
    let mut failed = false;
    for peer in chosen {
        if !global.quiet {
            output::note(format!("{}: {}", peer.name, peer.about));
        }
        // The others are made all the same.
        match peer.set_up() {
            Ok(()) => {}
            Err(error) => {
                failed = true;
                output::warn(octopus::with_causes(&error));
            }
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Fine })
}

fn run_suites(args: &BenchRunArgs, global: Global) -> Result<Exit> {
    if args.out.is_some() && args.suites.len() > 1 {
        return Err(UsageError("--out is the folder of one suite: name one, or leave --out out".to_owned()).into());
    }
    let choice = SuiteChoice {
        frameworks: args.frameworks.clone(),
        repeats: args.repeats.map(|repeats| repeats as usize),
        sizes: args.data_size.clone(),
        particles: args.n_particles.clone(),
        devices: args.device.clone(),
        part: args.part.map(|part| (part.part(), part.parts())),
    };
    let peers = peers(&args.place)?;
    let mut progress = Progress::begin(global);
    let suites = args.suites.iter().map(|name| usage(Suite::find(name).and_then(|suite| suite.narrowed(&choice))));
    for suite in suites.collect::<Result<Vec<_>>>()? {
        let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: program() };
        if let Some(folder) = &args.export_data {
            for file in run.export_data(folder)? {
                output::print(&file.display().to_string())?;
            }
            continue;
        }
        let shared = args.out.clone().unwrap_or_else(|| new_folder(&suite.name));
        let folder = args.own_out().unwrap_or_else(|| shared.clone());
        let share = ShareArgs { part: args.part, ..ShareArgs::default() };
        let all = suite.cases(&SuiteChoice { part: None, ..choice.clone() }).len();
        progress.worker = Worker::begin(&shared, &share, all)?;
        let results = match run.run(&folder, &mut progress) {
            Err(error @ SuiteError::Unknown { .. }) => return Err(UsageError(error.to_string()).into()),
            other => other?,
        };
        tell(&results, global)?;
        progress.end()?;
        if progress.stopped {
            output::note(format!("interrupted: the same command with --out {} goes on", shared.display()));
            return Ok(Exit::Interrupted);
        }
    }
    Ok(Exit::Fine)
}

/// An error of a name that a user gave, or of what a suite says, is one of usage.
fn usage<T>(found: Result<T, SuiteError>) -> Result<T> {
    match found {
        Err(error @ (SuiteError::Unknown { .. } | SuiteError::NoCase { .. } | SuiteError::File { .. })) => {
            Err(UsageError(error.to_string()).into())
        }
        other => Ok(other?),
    }
}

fn new_folder(suite: &str) -> PathBuf {
    let time: String = octopus_runs::now_utc().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    PathBuf::from(RESULTS).join(format!("{suite}_{time}"))
}

fn tell(results: &SuiteResults, global: Global) -> Result<()> {
    let summary = results.summary();
    if global.json {
        output::print_json(&json!({ "schema": 1, "folder": results.folder, "summary": summary }))?;
    } else {
        output::print(&format!("{}{}\n", summary_text(&summary), results.folder.display()))?;
    }
    Ok(())
}

/// Tells of the cases on stderr, and stops between two of them.
struct Progress {
    quiet: bool,
    interrupt: Interrupt,
    stopped: bool,
    /// Whether a framework broke off, or a posterior failed that the suite does not expect to fail.
    bad: bool,
    /// This process among the ones that share the cases.
    worker: Option<Worker>,
    /// Whether a framework was judged in the case: then it has ended.
    is_judged: bool,
}

impl Progress {
    fn begin(global: Global) -> Self {
        let interrupt = Interrupt::listen();
        Self { quiet: global.quiet, interrupt, stopped: false, bad: false, worker: None, is_judged: false }
    }

    /// Ends the record of this process.
    fn end(&mut self) -> Result<()> {
        if let Some(worker) = self.worker.take() {
            worker.end(if self.stopped { WorkerState::Interrupted } else { WorkerState::Complete })?;
        }
        Ok(())
    }
}

impl SuiteObserver for Progress {
    fn case(&mut self, number: usize, of: usize, name: &str) {
        if !self.quiet {
            output::note(format!("{number} of {of}: {name}"));
        }
        if let Some(worker) = &self.worker {
            worker.are_done(number - 1);
        }
        self.is_judged = false;
    }

    fn judged(&mut self, check: &PosteriorCheck, _rows: &[SuiteRow]) {
        if let Some(worker) = self.worker.as_ref().filter(|_| !self.is_judged) {
            worker.one_more(false);
        }
        self.is_judged = true;
        self.bad |= matches!(check.verdict, SuiteVerdict::Failed | SuiteVerdict::Error);
        if !self.quiet && !matches!(check.verdict, SuiteVerdict::Passed | SuiteVerdict::Expected) {
            output::note(format!("  {}: {}", check.framework, check.note));
        }
    }

    fn go_on(&mut self) -> bool {
        self.stopped |= self.interrupt.asked();
        !self.stopped
    }
}

fn plot(args: &BenchPlotArgs) -> Result<Exit> {
    let results = SuiteResults::open(&args.results)?;
    let folder = args.out.clone().unwrap_or_else(|| args.results.join("plots"));
    let kinds = SuitePicture::ALL.into_iter().map(|(_, kind)| kind);
    let wanted = kinds.filter(|kind| args.plot_type.is_empty() || args.plot_type.contains(kind));
    let figures: Vec<_> = wanted.flat_map(|kind| kind.figures(&results, &args.methods)).collect();
    if figures.is_empty() {
        bail!("{} has nothing that could be drawn: no time counts, or none of these methods", args.results.display());
    }
    for file in write_figures(&folder, &figures, &PictureFormat::all(&args.format))? {
        output::print(&file.display().to_string())?;
    }
    if args.page {
        let file = folder.join("index.html");
        octopus_files::write_named(&file, results_page(&results, figures)?.as_bytes())?;
        output::print(&file.display().to_string())?;
    }
    Ok(Exit::Fine)
}

fn compare_results(args: &BenchCompareArgs, global: Global) -> Result<Exit> {
    let [then, now] = [&args.then, &args.now].map(|folder| SuiteResults::open(folder));
    let compared = compare(&then?, &now?, args.force)?;
    if compared.is_empty() {
        output::note("no case has times that count in both folders");
    }
    let slower = compared.iter().any(|case| case.slower);
    if global.json {
        output::print_json(&json!({ "schema": 1, "slower": slower, "cases": compared }))?;
    } else {
        let columns = ["case", "framework"].map(TextColumn::left).into_iter();
        let columns: Vec<_> = columns.chain(["then s", "now s", "ratio", "95 %", ""].map(TextColumn::right)).collect();
        let rows = compared.iter().map(|case| {
            let word = if case.slower {
                "SLOWER"
            } else if case.faster {
                "faster"
            } else {
                ""
            };
            vec![
                case.case.clone(),
                case.framework.clone(),
                format!("{:.3e}", case.then),
                format!("{:.3e}", case.now),
                format!("{:.3}", case.ratio),
                format!("{:.3} to {:.3}", case.low, case.high),
                word.to_owned(),
            ]
        });
        output::print(&text_table(&columns, &rows.collect::<Vec<_>>(), TableLook::default()))?;
    }
    Ok(if slower { Exit::Bad } else { Exit::Fine })
}

fn export(args: &BenchExportArgs) -> Result<Exit> {
    output::print(&args.format.of(&SuiteResults::open(&args.results)?))?;
    Ok(Exit::Fine)
}

/// Runs the first case of each method of each suite, with few repetitions.
fn test(args: &BenchTestArgs, global: Global) -> Result<Exit> {
    let peers = peers(&args.place)?;
    let mut progress = Progress::begin(global);
    let folder = tempfile::tempdir()?;
    for name in Suite::names() {
        let suite = Suite::find(name)?.smallest(&args.frameworks);
        let choice = SuiteChoice::default();
        let run = SuiteRun { suite: &suite, choice: &choice, peers: &peers, program: program() };
        tell(&run.run(&folder.path().join(name), &mut progress)?, global)?;
        if progress.stopped {
            return Ok(Exit::Interrupted);
        }
    }
    Ok(if progress.bad { Exit::Bad } else { Exit::Fine })
}
