//! The runner: for each case it starts the frameworks, holds their densities and draws to the truth, and times them in turns.

use crate::SuiteError;
use crate::answer::refused;
use crate::judge::{ComparedDensities, PosteriorCheck, RepeatDraws, SuiteVerdict, Truth};
use crate::message::{Answer, Request, StartRequest};
use crate::peer::{OCTOPUS, PeerProcess, Peers};
use crate::results::{PART, SuiteResults};
use crate::row::SuiteRow;
use crate::suite::{Suite, SuiteCase, SuiteChoice};
use crate::work::WorkKind;
use crate::workload::Workload;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The fewest repetitions of a case, whatever it takes.
const FEWEST: usize = 3;

/// A suite that is run.
#[derive(Clone, Debug)]
pub struct SuiteRun<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// What the user asks of it.
    pub choice: &'a SuiteChoice,
    /// The frameworks.
    pub peers: &'a Peers,
    /// Commit, compiler and version of Octopus, for the results.
    pub program: BTreeMap<String, String>,
}

/// What happens while a suite runs.
pub trait SuiteObserver {
    /// A case begins: its number from 1, of how many, and its name.
    fn case(&mut self, _number: usize, _of: usize, _name: &str) {}

    /// A framework was judged in a case.
    fn judged(&mut self, _check: &PosteriorCheck, _rows: &[SuiteRow]) {}

    /// Asks whether to go on with the next repetition.
    fn go_on(&mut self) -> bool {
        true
    }
}

impl SuiteObserver for () {}

impl SuiteRun<'_> {
    /// Runs every case into a folder. Cases that the folder or a part in it ([`part_folder`](Self::part_folder)) has already
    /// stay as they are; after each case all files are written, so that the same command goes on where a process was killed.
    ///
    /// # Errors
    /// When a file cannot be read or written, a problem cannot be made, or there are times of another kind of machine. What a
    /// framework does wrong is a row.
    pub fn run(&self, folder: &Path, observer: &mut dyn SuiteObserver) -> Result<SuiteResults, SuiteError> {
        let cases = self.suite.cases(self.choice);
        let scratch = tempfile::tempdir().map_err(SuiteError::io("make", Path::new("a temporary folder")))?;
        self.check(&cases, scratch.path())?;
        std::fs::create_dir_all(folder).map_err(SuiteError::io("make", folder))?;
        let names: Vec<String> = cases.iter().map(SuiteCase::name).collect();
        let begun = SuiteResults::begin(folder, self.suite, self.program.clone());
        let here = begun.metadata.machine_id.clone();
        let mut results = SuiteResults::gathered(folder, &names)?.unwrap_or(begun);
        if results.metadata.name != self.suite.name {
            let what = format!("its results are of the suite {}: give another folder", results.metadata.name);
            return Err(SuiteError::file(folder, what));
        }
        let of = &results.metadata.machine_id;
        if *of != here && names.iter().any(|name| !results.has(name)) {
            let what =
                format!("its times are of {of}, and this machine is {here}: go on there, or give another folder");
            return Err(SuiteError::file(folder, what));
        }
        // Frameworks that come later have tables, too.
        results.metadata.suite.add_frameworks(&self.suite.frameworks);
        let mut stage = Stage { peers: self.peers, running: HashMap::new(), set_up: None };
        for (number, (case, name)) in cases.iter().zip(&names).enumerate() {
            if results.has(name) {
                continue;
            }
            if !observer.go_on() {
                break;
            }
            observer.case(number + 1, cases.len(), name);
            let workload = Workload::new(case, self.suite.folder.as_deref(), &folder.join("data"), scratch.path())?;
            if let Some(data) = workload.data.as_ref().and_then(|data| data.file_name()) {
                results.metadata.data.insert(data.to_string_lossy().into_owned(), workload.sha256.clone());
            }
            // What was not finished is not kept: it is run again.
            let Some(judged) = self.case(case, &workload, &mut stage, observer)? else { break };
            for (check, rows) in judged {
                if let Some(row) = rows.iter().find(|row| !row.versions.is_empty()) {
                    results.metadata.versions.insert(row.framework.clone(), row.versions.clone());
                }
                observer.judged(&check, &rows);
                results.rows.extend(rows);
                results.checks.push(check);
            }
            results.write()?;
        }
        Ok(results)
    }

    /// Returns the folder of the results of a part of the suite's cases, within the folder of all.
    pub fn part_folder(folder: &Path, part: &str) -> PathBuf {
        folder.join(format!("{PART}{part}"))
    }

    /// Checks all cases before the first one runs: each framework must exist, program and data must be readable, and each
    /// setting must be known.
    fn check(&self, cases: &[SuiteCase], scratch: &Path) -> Result<(), SuiteError> {
        let known = self.peers.all()?;
        let is_known = |name: &String| name == OCTOPUS || known.iter().any(|peer| peer.name == *name);
        // Where there is none at all, each is absent.
        if let Some(name) = self.suite.frameworks.iter().find(|name| !known.is_empty() && !is_known(name)) {
            let names: Vec<&str> =
                std::iter::once(OCTOPUS).chain(known.iter().map(|peer| peer.name.as_str())).collect();
            return Err(SuiteError::Unknown { kind: "framework", name: name.clone(), known: names.join(", ") });
        }
        let mut seen = Vec::new();
        for case in cases {
            match WorkKind::of(case.program()) {
                Some(work) => work.check(case)?,
                None if seen.contains(&&case.problem) => {}
                None => {
                    Workload::new(case, self.suite.folder.as_deref(), scratch, scratch)?;
                    seen.push(&case.problem);
                }
            }
            if let Some(what) = refused(case) {
                return Err(SuiteError::file(Path::new(&self.suite.name), format!("{}: {what}", case.name())));
            }
        }
        Ok(())
    }

    /// Writes program and data of every case into a folder, and returns the files of data.
    ///
    /// # Errors
    /// When a problem cannot be made, or a file not be written.
    pub fn export_data(&self, folder: &Path) -> Result<Vec<PathBuf>, SuiteError> {
        let mut files = Vec::new();
        for case in self.suite.cases(self.choice) {
            let file = Workload::new(&case, self.suite.folder.as_deref(), folder, folder)?.data;
            if let Some(file) = file.filter(|file| !files.contains(file)) {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// Runs one case with all frameworks; `None` where the observer has it stopped.
    fn case(
        &self,
        case: &SuiteCase,
        workload: &Workload,
        stage: &mut Stage<'_>,
        observer: &mut dyn SuiteObserver,
    ) -> Result<Option<Vec<JudgedEntrant>>, SuiteError> {
        let (truth, points) = (workload.truth(case)?, workload.points(case));
        let patience = Duration::from_secs_f64(self.suite.patience);
        stage.set_up(case);
        let mut entrants: Vec<Entrant> = Vec::new();
        for framework in &self.suite.frameworks {
            let mut entrant = Entrant::new(framework, self.suite, case, workload);
            entrant.enter(stage, &start_request(case, workload), &points, patience);
            entrants.push(entrant);
        }
        let began = Instant::now();
        for repeat in 0..self.suite.repeats {
            if repeat >= FEWEST && began.elapsed().as_secs_f64() > self.suite.seconds {
                break;
            }
            // The one that begins is another one each time, so that none is always first after a pause.
            let count = entrants.len();
            for order in 0..count {
                if !observer.go_on() {
                    return Ok(None);
                }
                entrants[(repeat + order) % count].repeat(stage, (repeat, order), &truth, patience);
            }
        }
        let ours = workload.log_densities(&points);
        Ok(Some(entrants.into_iter().map(|entrant| entrant.judged(&ours, &truth, case)).collect()))
    }
}

/// The verdict on a framework in a case, with its repetitions.
type JudgedEntrant = (PosteriorCheck, Vec<SuiteRow>);

/// The frameworks that run, all with the same cores, device and precision.
struct Stage<'a> {
    peers: &'a Peers,
    running: HashMap<String, PeerProcess>,
    set_up: Option<(usize, String, String)>,
}

impl Stage<'_> {
    /// Ends what runs with other cores, another device or precision.
    fn set_up(&mut self, case: &SuiteCase) {
        let wanted = Some((case.threads, case.device.clone(), case.precision.clone()));
        if self.set_up != wanted {
            self.running.clear();
            self.set_up = wanted;
        }
    }

    /// Returns a framework that runs; `Ok(Err(why))` where it is absent.
    fn process(&mut self, framework: &str) -> Result<Result<&mut PeerProcess, String>, SuiteError> {
        if !self.running.contains_key(framework) {
            match self.peers.start(framework)? {
                Ok(process) => drop(self.running.insert(framework.to_owned(), process)),
                Err(why) => return Ok(Err(why)),
            }
        }
        let process = self.running.get_mut(framework);
        Ok(process.ok_or_else(|| "it does not run".to_owned()))
    }
}

fn start_request(case: &SuiteCase, workload: &Workload) -> StartRequest {
    StartRequest {
        program: workload.program.clone(),
        problem: case.problem.clone(),
        stan: workload.stan.clone(),
        data: workload.data.clone(),
        method: case.method.clone(),
        precision: case.precision.clone(),
        device: case.device.clone(),
        threads: case.threads,
        seed: 0,
    }
}

/// A framework in a case.
struct Entrant {
    row: SuiteRow,
    rows: Vec<SuiteRow>,
    drawn: Vec<RepeatDraws>,
    theirs: Option<Vec<f64>>,
    bugs: String,
    /// Why it takes no part any more.
    out: Option<(SuiteVerdict, String)>,
}

impl Entrant {
    fn new(framework: &str, suite: &Suite, case: &SuiteCase, workload: &Workload) -> Self {
        let row = SuiteRow {
            suite: suite.name.clone(),
            case: case.name(),
            framework: framework.to_owned(),
            versions: String::new(),
            settings: String::new(),
            device: String::new(),
            precision: case.precision.clone(),
            threads: case.threads,
            program: workload.program.clone(),
            data_sha256: workload.sha256.clone(),
            method: case.method.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
            n: case.size(),
            particles: case.number("particles"),
            chains: case.number("chains"),
            draws: case.number("draws"),
            repeat: 0,
            order: 0,
            compile_seconds: None,
            seconds: None,
            peak_bytes: None,
            least_ess: None,
            gradients: None,
            divergences: None,
            log_evidence: None,
            verdict: SuiteVerdict::Unchecked,
            note: String::new(),
        };
        Self { row, rows: Vec::new(), drawn: Vec::new(), theirs: None, bugs: String::new(), out: None }
    }

    /// Starts the framework with the case, and asks for its log density.
    fn enter(&mut self, stage: &mut Stage<'_>, start: &StartRequest, points: &[Vec<f64>], patience: Duration) {
        let name = self.row.framework.clone();
        let begun = match stage.process(&name) {
            Ok(Ok(process)) => process.ask(&Request::Start(start.clone()), patience),
            Ok(Err(why)) => return self.out = Some((SuiteVerdict::Absent, why)),
            Err(error) => Err(error),
        };
        let Some(answer) = self.heard(stage, begun) else { return };
        let versions = answer.versions.iter().map(|(name, version)| format!("{name} {version}"));
        self.row.versions = versions.collect::<Vec<_>>().join(", ");
        self.row.settings = answer.settings.unwrap_or_default();
        self.row.device = answer.device.unwrap_or_default();
        self.row.compile_seconds = answer.compile_seconds;
        self.bugs = answer.known_bugs.join("; ");
        if points.is_empty() {
            return;
        }
        let asked = Request::LogDensity { points: points.to_vec() };
        let Some(answer) = self.ask(stage, &asked, patience) else { return };
        let Some(values) = answer.values else {
            return self.out = Some((SuiteVerdict::Error, "it told no log densities".to_owned()));
        };
        self.theirs = Some(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect());
    }

    /// Runs once, and reads the draws.
    fn repeat(&mut self, stage: &mut Stage<'_>, (repeat, order): (usize, usize), truth: &Truth, patience: Duration) {
        if self.out.is_some() {
            return;
        }
        if let Ok(Ok(process)) = stage.process(&self.row.framework) {
            process.forget_peak();
        }
        let Some(answer) = self.ask(stage, &Request::Run { seed: repeat as u64 + 1 }, patience) else { return };
        let peak_bytes = match stage.process(&self.row.framework) {
            Ok(Ok(process)) => process.peak_bytes(),
            _ => None,
        };
        // What the framework has other processes for counts, too.
        let peak_bytes = peak_bytes.map(|own| own + answer.child_bytes.unwrap_or(0));
        let Some(seconds) = answer.seconds.filter(|seconds| *seconds > 0.0) else {
            return self.out = Some((SuiteVerdict::Error, "it told no time of its run".to_owned()));
        };
        let folder = match tempfile::tempdir() {
            Ok(folder) => folder,
            Err(error) => return self.out = Some((SuiteVerdict::Error, error.to_string())),
        };
        let asked = Request::Draws { to: folder.path().to_owned() };
        let Some(answer) = self.ask(stage, &asked, patience) else { return };
        let drawn = match RepeatDraws::read(folder.path(), answer.log_evidence) {
            Ok(drawn) => drawn,
            Err(error) => return self.out = Some((SuiteVerdict::Error, octopus::with_causes(&error))),
        };
        self.rows.push(SuiteRow {
            repeat,
            order,
            seconds: Some(seconds),
            peak_bytes,
            least_ess: drawn.least_ess().filter(|_| truth.has_draws),
            gradients: answer.gradients,
            divergences: answer.divergences,
            log_evidence: answer.log_evidence,
            ..self.row.clone()
        });
        self.drawn.push(drawn);
    }

    fn ask(&mut self, stage: &mut Stage<'_>, request: &Request, patience: Duration) -> Option<Answer> {
        let answered = match stage.process(&self.row.framework) {
            Ok(Ok(process)) => process.ask(request, patience),
            Ok(Err(why)) => Err(SuiteError::peer(&self.row.framework, why)),
            Err(error) => Err(error),
        };
        self.heard(stage, answered)
    }

    /// Takes an answer; without one the framework is out, and its process ends.
    fn heard(&mut self, stage: &mut Stage<'_>, answered: Result<Answer, SuiteError>) -> Option<Answer> {
        match answered {
            Ok(Answer { cannot: Some(why), .. }) => self.out = Some((SuiteVerdict::Cannot, why)),
            Ok(answer) => return Some(answer),
            Err(error) => {
                stage.running.remove(&self.row.framework);
                self.out = Some((SuiteVerdict::Error, octopus::with_causes(&error)));
            }
        }
        None
    }

    fn judged(self, ours: &[f64], truth: &Truth, case: &SuiteCase) -> JudgedEntrant {
        let remarks: Vec<String> = case
            .expect
            .iter()
            .map(|what| format!("expected: {what}"))
            .chain((!self.bugs.is_empty()).then(|| format!("known bugs: {}", self.bugs)))
            .collect();
        let name = &self.row.framework;
        let check = |verdict, note| PosteriorCheck::unjudged(&self.row.case, name, verdict, note);
        let check = match self.out {
            // The row of a framework that took no part tells why.
            Some((verdict, why)) => check(verdict, why),
            None => {
                let densities =
                    ComparedDensities { ours, theirs: self.theirs.as_deref(), precise: case.precision == "f64" };
                check(SuiteVerdict::Unchecked, remarks.join("; ")).judge(&densities, &self.drawn, truth)
            }
        };
        let rows = if self.rows.is_empty() { vec![self.row] } else { self.rows };
        (check.clone(), rows.into_iter().map(|row| row.judged(&check)).collect())
    }
}
