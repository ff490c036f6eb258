//! Octopus as a framework among others: a process of its own that reads requests and answers them.

use crate::SuiteError;
use crate::message::{Answer, Request, StartRequest};
use crate::peer::OCTOPUS;
use crate::suite::SuiteCase;
use crate::work::{OwnWork, WorkKind};
use crate::workload::{FilterModel, log_densities, parameters_of, problem_of};
use octopus_density::LogDensity;
use octopus_device::{Device, DeviceChoice, HostInfo};
use octopus_files::{NpyType, NpyWriter, Overwrite};
use octopus_models::Problem;
use octopus_runs::{Init, MemoryRun, PreparedRun, RunRequest, sample_in_memory};
use octopus_sampler::{
    Algorithm, FilterSize, ImportanceConfig, ImportanceProposal, ParticlePopulation, SamplerConfig, importance,
    importance_from_prior, particle_filter,
};
use serde_json::{Map, Value};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Answers requests, a line each, until there is none.
///
/// # Errors
/// When a request cannot be read or an answer not be written. What a request asks in vain is an answer.
pub fn answer(requests: impl BufRead, mut answers: impl Write) -> Result<(), SuiteError> {
    let said = |error: std::io::Error| SuiteError::peer(OCTOPUS, error.to_string());
    let mut contest = None;
    for line in requests.lines() {
        let line = line.map_err(said)?;
        let answer = match serde_json::from_str(&line) {
            Ok(request) => to(&mut contest, request).unwrap_or_else(|error| failed(octopus::with_causes(&error))),
            Err(error) => failed(format!("no request ({error}): {line}")),
        };
        let text = serde_json::to_string(&answer).map_err(|error| SuiteError::peer(OCTOPUS, error.to_string()))?;
        writeln!(answers, "{text}").and_then(|()| answers.flush()).map_err(said)?;
    }
    Ok(())
}

fn failed(why: String) -> Answer {
    Answer { error: Some(why), ..Answer::default() }
}

fn cannot(why: impl Into<String>) -> Answer {
    Answer { cannot: Some(why.into()), ..Answer::default() }
}

/// What was started.
enum Contest {
    Inference(Box<Inference>),
    Work(OwnWork),
}

/// A problem and a method under way.
struct Inference {
    problem: Arc<dyn Problem>,
    method: BenchMethod,
    prepared: PreparedRun,
    /// The places of the parameters in an expanded draw.
    parameters: Vec<usize>,
    last: Option<Outcome>,
}

/// What is run.
enum BenchMethod {
    Filter(FilterModel, FilterSize),
    Importance(ImportanceConfig),
    Chains,
}

/// What the last run has found.
enum Outcome {
    Evidence(f64),
    Particles(ParticlePopulation),
    Run(MemoryRun),
}

fn to(contest: &mut Option<Contest>, request: Request) -> Result<Answer, SuiteError> {
    if let Request::Start(start) = request {
        // What was there is dropped first: its threads would take part.
        *contest = None;
        return match Contest::new(&start)? {
            Ok(mut begun) => {
                let began = Instant::now();
                begun.seconds(start.seed)?;
                let mut answer = begun.introduction();
                answer.compile_seconds = Some(began.elapsed().as_secs_f64());
                *contest = Some(begun);
                Ok(answer)
            }
            Err(why) => Ok(cannot(why)),
        };
    }
    let Some(contest) = contest else { return Ok(failed("nothing was started".to_owned())) };
    match request {
        Request::LogDensity { points } => contest.log_density(&points),
        Request::Run { seed } => Ok(Answer { seconds: Some(contest.seconds(seed)?), ..Answer::default() }),
        Request::Draws { to } => contest.draws(&to),
        Request::Start(_) => unreachable!("it was answered above"),
    }
}

impl Contest {
    /// Prepares what a request asks for; `Ok(Err(why))` where Octopus does not do this.
    fn new(start: &StartRequest) -> Result<Result<Self, String>, SuiteError> {
        Ok(match WorkKind::of(&start.program) {
            Some(work) => work.prepare(start)?.map(Self::Work),
            None => Inference::new(start)?.map(|begun| Self::Inference(Box::new(begun))),
        })
    }

    fn introduction(&self) -> Answer {
        let versions = [(OCTOPUS.to_owned(), env!("CARGO_PKG_VERSION").to_owned())].into();
        let name = match self {
            Self::Inference(begun) => {
                let device = &begun.prepared.device;
                (device.device != Device::Cpu).then(|| device.name())
            }
            Self::Work(work) => work.device_name.clone(),
        };
        let processor = || HostInfo::read().cpu.unwrap_or_else(|| "cpu".to_owned());
        Answer { versions, device: Some(name.unwrap_or_else(processor)), ..Answer::default() }
    }

    fn log_density(&self, points: &[Vec<f64>]) -> Result<Answer, SuiteError> {
        match self {
            Self::Inference(begun) => {
                Ok(Answer { values: Some(log_densities(begun.density(), points)), ..Answer::default() })
            }
            Self::Work(_) => Ok(failed("a kind of work has no density".to_owned())),
        }
    }

    /// Runs once, and returns the seconds.
    fn seconds(&mut self, seed: u64) -> Result<f64, SuiteError> {
        match self {
            Self::Inference(begun) => {
                let began = Instant::now();
                begun.run(seed)?;
                Ok(began.elapsed().as_secs_f64())
            }
            Self::Work(work) => work.run(seed),
        }
    }

    fn draws(&self, to: &Path) -> Result<Answer, SuiteError> {
        match self {
            Self::Inference(begun) => begun.draws(to),
            Self::Work(work) => {
                let (width, values) = work.result()?;
                write(&to.join("draws.npy"), &[1, values.len() / width, width], values.into_iter())?;
                Ok(Answer::default())
            }
        }
    }
}

impl Inference {
    /// Prepares a problem and a method; `Ok(Err(why))` where Octopus does not do this.
    fn new(start: &StartRequest) -> Result<Result<Self, String>, SuiteError> {
        let (Some(stan), Some(data)) = (&start.stan, &start.data) else {
            return Ok(Err(format!("{} has no program and data", start.program)));
        };
        let problem = problem_of(&start.program, stan, data)?;
        let settings = start.method.iter().filter(|(key, _)| *key != "name");
        let settings: Map<String, Value> = settings.map(|(key, value)| (key.clone(), value.clone())).collect();
        let name = start.method.get("name").and_then(Value::as_str).unwrap_or_default();
        let mut sampler = SamplerConfig::default();
        let method = match name {
            "filter" => {
                let Some(model) = FilterModel::of(&start.program) else {
                    return Ok(Err(format!("{} has no particle filter", start.program)));
                };
                let particles = settings.get("particles").and_then(Value::as_u64).unwrap_or(1000) as usize;
                BenchMethod::Filter(model, FilterSize { particles, repetitions: 1 })
            }
            "importance" => match serde_json::from_value(Value::Object(settings)) {
                Ok(config) => BenchMethod::Importance(config),
                Err(error) => return Ok(Err(error.to_string())),
            },
            _ => match sampler_of(name, settings, &start.precision) {
                Ok(config) => {
                    sampler = config;
                    BenchMethod::Chains
                }
                Err(error) => return Ok(Err(error)),
            },
        };
        let device = match DeviceChoice::from_flag(Some(&start.device)) {
            Ok(device) => device,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if start.precision != "f64" && start.device == "cpu" {
            return Ok(Err("the CPU computes in f64".to_owned()));
        }
        let request =
            RunRequest { sampler, device, no_fallback: true, threads: Some(start.threads), ..RunRequest::default() };
        let prepared = match PreparedRun::of_run(problem.density(), request) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(octopus::with_causes(&error))),
        };
        let parameters = parameters_of(stan, problem.density().layout())?;
        let parameters = parameters.into_iter().flat_map(|(_, range)| range).collect();
        Ok(Ok(Self { problem, method, prepared, parameters, last: None }))
    }

    fn density(&self) -> &dyn LogDensity {
        self.problem.density()
    }

    fn run(&mut self, seed: u64) -> Result<(), SuiteError> {
        let (problem, density, pool) = (&*self.problem, self.problem.density(), &self.prepared.pool);
        self.last = Some(match &self.method {
            BenchMethod::Filter(model, size) => {
                let found = pool.install(|| match model {
                    FilterModel::Levels(model) => particle_filter(model, *size, seed),
                    FilterModel::Chain(model) => particle_filter(model, *size, seed),
                })?;
                Outcome::Evidence(found.evidence.log_evidence)
            }
            BenchMethod::Importance(config) if config.proposal == ImportanceProposal::Prior => {
                let Some(simulator) = problem.simulator() else {
                    return Err(SuiteError::peer(OCTOPUS, "the program's prior cannot be drawn from"));
                };
                let draw = |random: &mut octopus_random::Stream| simulator.draw_parameters(random);
                Outcome::Particles(pool.install(|| importance_from_prior(density, draw, config.particles, seed))?)
            }
            BenchMethod::Importance(config) => Outcome::Particles(pool.install(|| importance(density, config, seed))?),
            BenchMethod::Chains => {
                let config = SamplerConfig { seed, ..self.prepared.request.sampler.clone() };
                let begun = pool.install(|| octopus::begin(problem, &config, &Init::default()))?;
                let place = self.prepared.device.open()?;
                Outcome::Run(sample_in_memory(density, begun, &place, pool)?)
            }
        });
        Ok(())
    }

    /// Writes the draws of the last run: the parameters as the program has them.
    fn draws(&self, to: &Path) -> Result<Answer, SuiteError> {
        let density = self.density();
        let evidence = |log_evidence: f64| Answer { log_evidence: Some(log_evidence), ..Answer::default() };
        let constant = density.log_constant().unwrap_or(0.0);
        match &self.last {
            None => Ok(failed("nothing was run".to_owned())),
            Some(Outcome::Evidence(found)) => Ok(evidence(*found)),
            Some(Outcome::Particles(found)) => {
                let count = found.particles();
                write_draws(to, (density, &self.parameters), &[1, count], found.positions.chunks_exact(found.dim))?;
                write(&to.join("log_weights.npy"), &[count], found.log_weights.iter().copied())?;
                // Weighted by the likelihood alone, the evidence has its constants already.
                let from_prior = matches!(&self.method, BenchMethod::Importance(config)
                    if config.proposal == ImportanceProposal::Prior);
                let constant = if from_prior { 0.0 } else { constant };
                Ok(Answer { gradients: Some(found.evaluations), ..evidence(found.evidence.log_evidence + constant) })
            }
            Some(Outcome::Run(run)) => {
                let chains = run.blocks.first().map_or(0, |block| block.chains.len());
                let draws = run.blocks.iter().map(|block| block.draws).sum();
                let of_chain = |chain: usize| run.blocks.iter().map(move |block| &block.chains[chain].positions);
                let positions =
                    (0..chains).flat_map(|chain| of_chain(chain).flat_map(|all| all.chunks_exact(density.dim())));
                write_draws(to, (density, &self.parameters), &[chains, draws], positions)?;
                let of_population = |key: &str| run.adaptation.get("population")?.get(key)?.as_float();
                Ok(Answer {
                    log_evidence: of_population("log_evidence").map(|found| found + constant),
                    gradients: Some(run.tally.leapfrogs),
                    divergences: Some(run.tally.divergences),
                    ..Answer::default()
                })
            }
        }
    }
}

/// Returns why Octopus does not take the settings of a method that it has: one is misspelled, or out of its range.
pub(crate) fn refused(case: &SuiteCase) -> Option<String> {
    let mut settings = case.method.clone();
    let name = settings.remove("name").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    match name.as_str() {
        "importance" => {
            serde_json::from_value::<ImportanceConfig>(settings.into()).err().map(|error| error.to_string())
        }
        name if Algorithm::NAMES.contains(&name) => {
            let config = sampler_of(name, settings, "f64");
            config.and_then(|config| config.validate().map_err(|error| error.to_string())).err()
        }
        _ => None,
    }
}

/// Returns the sampler's settings: what [`SamplerConfig`] knows is its own, the rest is the algorithm's.
fn sampler_of(name: &str, settings: Map<String, Value>, precision: &str) -> Result<SamplerConfig, String> {
    let known = serde_json::to_value(SamplerConfig::default()).map_err(|error| error.to_string())?;
    let is_own = |key: &String| known.get(key).is_some();
    let (mut own, mut rest): (Map<_, _>, Map<_, _>) = settings.into_iter().partition(|(key, _)| is_own(key));
    // As other frameworks do it: steps and their number that are given are the same for each trajectory.
    if name == "hmc" && rest.contains_key("step_size") && rest.contains_key("leapfrogs") {
        rest.entry("jitter").or_insert(0.0.into());
        own.entry("metric").or_insert("identity".into());
    }
    // Its particles are the draws of a chain.
    if name == "smc"
        && let Some(particles) = rest.remove("particles")
    {
        own.insert("draws".to_owned(), particles);
        own.entry("chains").or_insert(1.into());
    }
    if !Algorithm::NAMES.contains(&name) {
        return Err(format!("there is no method {name}: it is one of {}", Algorithm::NAMES.join(", ")));
    }
    let given = rest.keys().cloned().collect::<Vec<_>>().join(" and ");
    let algorithm = if rest.is_empty() {
        name.into()
    } else {
        Value::Object([(name.to_owned(), rest.into())].into_iter().collect())
    };
    own.insert("algorithm".to_owned(), algorithm);
    own.insert("precision".to_owned(), precision.into());
    serde_json::from_value(Value::Object(own)).map_err(|error| match given.as_str() {
        "" => error.to_string(),
        given => format!("{name} does not take {given} so: {error}"),
    })
}

/// Writes draws of the parameters, `shape x parameters`, by positions of the density.
fn write_draws<'a>(
    to: &Path,
    (density, parameters): (&dyn LogDensity, &[usize]),
    shape: &[usize; 2],
    positions: impl Iterator<Item = &'a [f64]>,
) -> Result<(), SuiteError> {
    let mut expanded = vec![0.0; density.layout().width()];
    let mut values = Vec::with_capacity(shape[0] * shape[1] * parameters.len());
    for position in positions {
        density.expand(position, &mut expanded);
        values.extend(parameters.iter().map(|&parameter| expanded[parameter]));
    }
    write(&to.join("draws.npy"), &[shape[0], shape[1], parameters.len()], values.into_iter())
}

/// Writes an array of f64.
fn write(path: &Path, shape: &[usize], values: impl Iterator<Item = f64>) -> Result<(), SuiteError> {
    let shape: Vec<u64> = shape.iter().map(|&length| length as u64).collect();
    let mut file = NpyWriter::create(path, NpyType::F8, &shape, "draws of a benchmark", Overwrite::Replace)?;
    file.append(&values.collect::<Vec<f64>>())?;
    Ok(file.finish()?)
}
