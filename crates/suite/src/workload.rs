//! The problem of a case: the program and its data as files for every framework, and what is known of the posterior; or a kind
//! of work, and what is known of its result.

use crate::SuiteError;
use crate::judge::Truth;
use crate::known::KnownPosterior;
use crate::suite::SuiteCase;
use crate::work::{WorkKind, WorkTruth, known_settings};
use octopus::stan::{DeclaredVariable, ProgramBlock, StanProgram};
use octopus_density::{Layout, LogDensity, Variable};
use octopus_models::exact::Moments;
use octopus_models::polynomial::PolynomialSpec;
use octopus_models::state_space::{HiddenMarkov, LinearGaussian};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{Problem, Registry, ShippedProgram};
use octopus_sampler::{SamplerConfig, jittered};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The program of hierarchies, whose data can be made at any size.
const HIERARCHY: &str = "hierarchical-normal-stan";
/// The program of polynomials, as well.
const POLYNOMIAL: &str = "polynomial";

/// Points at which densities are compared.
const POINTS: u32 = 5;

/// What is done in a case, with its files.
pub(crate) struct Workload {
    /// The name of the program, or of the kind of work.
    pub(crate) program: String,
    /// The program's file.
    pub(crate) stan: Option<PathBuf>,
    /// The data's file.
    pub(crate) data: Option<PathBuf>,
    /// The SHA-256 of the data; nothing where there are none.
    pub(crate) sha256: String,
    /// The problem as Octopus has it; `None` of a kind of work.
    problem: Option<Arc<dyn Problem>>,
    /// What the suite says of its posterior.
    known: Option<KnownPosterior>,
}

impl Workload {
    /// Makes the problem of a case; its files are written into `folder`, and what a kind of work is done on, which may be
    /// large, into `scratch`. Paths of the suite are relative to `home`.
    ///
    /// # Errors
    /// When there is no such program, a setting is none of it, or a file cannot be read or written.
    pub(crate) fn new(
        case: &SuiteCase,
        home: Option<&Path>,
        folder: &Path,
        scratch: &Path,
    ) -> Result<Self, SuiteError> {
        let name = case.program();
        if let Some(work) = WorkKind::of(name) {
            let (data, sha256) = work.input(case, scratch)?.unzip();
            let sha256 = sha256.unwrap_or_default();
            return Ok(Self { program: name.to_owned(), stan: None, data, sha256, problem: None, known: None });
        }
        if name.ends_with(".stan") {
            return Self::of_files(case, &home.unwrap_or(Path::new("")).join(name), home, folder);
        }
        let Some(shipped) = ShippedProgram::find(name) else {
            let known = ShippedProgram::all().iter().map(|program| program.name).collect::<Vec<_>>().join(", ");
            let known = format!("{known}, or a file that ends in .stan");
            return Err(SuiteError::Unknown { kind: "program", name: name.to_owned(), known });
        };
        let (text, size) = data_of(shipped, &case.problem)?;
        Self::written(name, shipped.text, &format!("{name}{size}"), &text, folder)
    }

    /// The problem of a program and data that the suite names by their files.
    fn of_files(case: &SuiteCase, stan: &Path, home: Option<&Path>, folder: &Path) -> Result<Self, SuiteError> {
        let read = |path: &Path| std::fs::read_to_string(path).map_err(SuiteError::io("read", path));
        known_settings(&case.problem, &["program", "data", "truth"])?;
        let Some(data) = case.problem.get("data").and_then(Value::as_str) else {
            return Err(SuiteError::file(
                stan,
                "the suite gives no data with it: write data = \"FILE.json\" beside program",
            ));
        };
        let at_home = |name: &str| home.unwrap_or(Path::new("")).join(name);
        let data = at_home(data);
        let [name, data_name] = [stan, data.as_path()].map(|path| {
            let stem = path.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        });
        let mut own = Self::written(&name, &read(stan)?, &data_name, &read(&data)?, folder)?;
        if let (Some(truth), Some(problem)) = (case.problem.get("truth").and_then(Value::as_str), &own.problem) {
            own.known = Some(KnownPosterior::read(&at_home(truth), &**problem)?);
        }
        Ok(own)
    }

    fn written(name: &str, text: &str, data_name: &str, data: &str, folder: &Path) -> Result<Self, SuiteError> {
        std::fs::create_dir_all(folder).map_err(SuiteError::io("make", folder))?;
        let folder = folder.canonicalize().map_err(SuiteError::io("find", folder))?;
        let (stan, data_file) = (folder.join(format!("{name}.stan")), folder.join(format!("{data_name}.json")));
        place(&stan, text)?;
        place(&data_file, data)?;
        let problem = problem_of(name, &stan, &data_file)?;
        let sha256 = problem.data().sha256.clone();
        Ok(Self {
            program: name.to_owned(),
            stan: Some(stan),
            data: Some(data_file),
            sha256,
            problem: Some(problem),
            known: None,
        })
    }

    /// Returns what the posterior or the result of a case is held to.
    ///
    /// # Errors
    /// When a setting is none of the work, or the program cannot be read again.
    pub(crate) fn truth(&self, case: &SuiteCase) -> Result<Truth, SuiteError> {
        let fails = case.expect.is_some();
        let asked = [case.number("chains"), case.number("draws")];
        let without_draws = Truth {
            moments: Vec::new(),
            moments_error: self.known.as_ref().map_or(0.0, |known| known.error),
            log_evidence: None,
            has_draws: false,
            result: WorkTruth::Unknown,
            fails,
            asked,
        };
        Ok(match (&self.problem, WorkKind::of(&self.program)) {
            (Some(_), _) if case.is_filter() => Truth { log_evidence: self.exact_filter(), ..without_draws },
            (Some(problem), _) => {
                let (moments, log_evidence) = self.moments(&**problem)?;
                Truth { moments, log_evidence, has_draws: true, ..without_draws }
            }
            (None, Some(work)) => Truth { result: work.truth(case)?, ..without_draws },
            (None, None) => without_draws,
        })
    }

    /// Returns points of the unconstrained coordinates, as the program is written, about where chains start; none where there
    /// is no density to compare.
    pub(crate) fn points(&self, case: &SuiteCase) -> Vec<Vec<f64>> {
        let Some(problem) = self.problem.as_ref().filter(|_| !case.is_filter()) else { return Vec::new() };
        let (density, config) = (problem.density(), SamplerConfig::default());
        let written = |own: Vec<f64>| match density.effects() {
            Some(effects) => effects.as_written(&own),
            None => own,
        };
        (0..POINTS).map(|point| written(jittered(density, &config, 0, point))).collect()
    }

    /// Returns the log densities at these points by Octopus, NaN where there is none.
    pub(crate) fn log_densities(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let found = self.problem.as_ref().map(|problem| log_densities(problem.density(), points)).unwrap_or_default();
        found.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
    }

    /// Returns the moments of each number of the parameters, in the program's order, where they are known, and the logarithm
    /// of the evidence.
    fn moments(&self, problem: &dyn Problem) -> Result<(Vec<Option<Moments>>, Option<f64>), SuiteError> {
        let exact = problem.exact().ok().flatten();
        let stan = self.stan.as_deref().unwrap_or(Path::new(""));
        let parameters = parameters_of(stan, problem.density().layout())?;
        let moments = |(variable, range): (&Variable, Range<usize>)| -> Vec<Option<Moments>> {
            let of = |index: usize| match &self.known {
                Some(known) => known.moments.of(&variable.name, index),
                None => exact.as_ref()?.moments_of(&variable.name, index),
            };
            range.enumerate().map(|(index, _)| of(index)).collect()
        };
        let log_evidence = match &self.known {
            Some(known) => known.log_evidence,
            None => exact.as_ref().and_then(|exact| exact.log_evidence()),
        };
        Ok((parameters.into_iter().flat_map(moments).collect(), log_evidence))
    }

    /// Returns the exact logarithm of the likelihood of the states that a particle filter follows.
    fn exact_filter(&self) -> Option<f64> {
        match FilterModel::of(&self.program)? {
            FilterModel::Levels(model) => Some(model.kalman().log_likelihood),
            FilterModel::Chain(model) => Some(model.forward().log_likelihood),
        }
    }
}

/// Writes a file, unless it is there already; one of other words is nobody's to replace.
fn place(path: &Path, text: &str) -> Result<(), SuiteError> {
    match std::fs::read(path) {
        Ok(found) if found == text.as_bytes() => Ok(()),
        Ok(_) => Err(SuiteError::file(path, "it is there already and holds something else: name another folder")),
        Err(_) => Ok(octopus_files::write_named(path, text.as_bytes())?),
    }
}

/// Makes the problem of a program that ships by its name, and with its own data by no file, so that its truth is known; of
/// another one by its file, whatever its name is.
pub(crate) fn problem_of(name: &str, stan: &Path, data: &Path) -> Result<Arc<dyn Problem>, SuiteError> {
    let mut settings = toml::Table::new();
    let path = |path: &Path| toml::Value::from(path.display().to_string());
    let holds = |path: &Path, text: &str| std::fs::read_to_string(path).is_ok_and(|found| found == text);
    let shipped = ShippedProgram::find(name).filter(|program| holds(stan, program.text));
    if !shipped.is_some_and(|program| holds(data, program.data)) {
        let file = toml::Table::from_iter([("path".to_owned(), path(data))]);
        settings.insert("data".to_owned(), toml::Table::from_iter([("file".to_owned(), file.into())]).into());
    }
    if shipped.is_none() {
        settings.insert("program".to_owned(), path(stan));
    }
    let model = if shipped.is_some() { name } else { "stan" };
    Ok(Registry::shipped().find(model)?.read_and_build(&settings, None)?)
}

/// Returns the parameters of a program in its own order, each with the range of its numbers in an expanded draw.
pub(crate) fn parameters_of<'a>(
    stan: &Path,
    layout: &'a Layout,
) -> Result<Vec<(&'a Variable, Range<usize>)>, SuiteError> {
    let program = StanProgram::read(stan).map_err(|error| SuiteError::file(stan, error.to_string()))?;
    let names = DeclaredVariable::in_block(&program, ProgramBlock::Parameters);
    Ok(names.into_iter().filter_map(|own| layout.ranges().find(|(variable, _)| variable.name == own.name)).collect())
}

/// Returns log densities at points of the unconstrained coordinates in which the program is written, where an effect of a
/// hierarchy may be centered: our own coordinates of it are not. `None` where there is no value.
pub(crate) fn log_densities(density: &dyn LogDensity, points: &[Vec<f64>]) -> Vec<Option<f64>> {
    let mut gradient = vec![0.0; density.dim()];
    let mut at = |position: &[f64]| density.logp_grad(position, &mut gradient).ok();
    let of = |point: &Vec<f64>| match density.effects() {
        None => at(point.as_slice()),
        Some(effects) => {
            let own = effects.natural_of(point);
            at(own.as_slice()).map(|value| value - effects.log_scales_as_written(&own))
        }
    };
    points.iter().map(of).collect()
}

/// The state-space models that particle filters follow, at the parameters of docs/benchmarks.md.
pub(crate) enum FilterModel {
    /// `state-space`.
    Levels(LinearGaussian),
    /// `hmm`.
    Chain(HiddenMarkov),
}

impl FilterModel {
    /// Returns the model of this program with the data that ship.
    pub(crate) fn of(program: &str) -> Option<Self> {
        match program {
            "state-space" => {
                Some(Self::Levels(LinearGaussian { phi: 0.9, q: 0.5, r: 0.5, ..LinearGaussian::shipped() }))
            }
            "hmm" => Some(Self::Chain(HiddenMarkov {
                stay: [0.9, 0.9],
                mu: [-1.0, 1.0],
                sigma: 0.7,
                ..HiddenMarkov::shipped()
            })),
            _ => None,
        }
    }
}

/// Returns the data of a program at the size that is asked for, and the size as part of a file's name.
fn data_of(program: &ShippedProgram, problem: &Map<String, Value>) -> Result<(String, String), SuiteError> {
    let wrong = |key: &str, value: &Value, needed: &str| {
        SuiteError::file(Path::new(program.name), format!("{key} = {value} in a [[problem]]: {needed} is needed"))
    };
    let whole = |key: &str| -> Result<Option<usize>, SuiteError> {
        let Some(value) = problem.get(key) else { return Ok(None) };
        let n = value.as_u64().ok_or_else(|| wrong(key, value, "a whole number"))?;
        Ok(Some(n as usize))
    };
    let allowed: &[&str] = match program.name {
        POLYNOMIAL => &["program", "n", "seed", "noise"],
        HIERARCHY => &["program", "groups"],
        _ => &["program"],
    };
    known_settings(problem, allowed)?;
    match program.name {
        POLYNOMIAL => {
            let plain = PolynomialSpec::default();
            let spec = PolynomialSpec {
                points: whole("n")?.unwrap_or(plain.points),
                seed: whole("seed")?.map_or(plain.seed, |seed| seed as u64),
                noise: match problem.get("noise") {
                    Some(value) => value.as_f64().ok_or_else(|| wrong("noise", value, "a number"))?,
                    None => plain.noise,
                },
            };
            // Data that differ are files of other names.
            let mut size = format!("-{}", spec.points);
            if spec.seed != plain.seed {
                size += &format!("-seed-{}", spec.seed);
            }
            if spec.noise != plain.noise {
                size += &format!("-noise-{}", spec.noise);
            }
            Ok((spec.generate()?.json(), size))
        }
        HIERARCHY => match whole("groups")? {
            Some(groups) => {
                let data = HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate()?.data;
                let group: Vec<usize> = data.group_index().iter().map(|group| group + 1).collect();
                let text = json!({ "N": group.len(), "J": groups, "group": group, "value": data.values() });
                Ok((text.to_string(), format!("-{groups}")))
            }
            None => Ok((program.data.to_owned(), String::new())),
        },
        _ => Ok((program.data.to_owned(), String::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The programs of the suites with their own data: all moments are known, and the density is the program's as it is
    /// written up to a constant, with centered effects, too.
    #[test]
    fn programs_that_ship_are_held_to_their_truth() {
        for name in ["eight-schools-stan", "hierarchical-normal-stan", "beta-bernoulli"] {
            let folder = tempfile::tempdir().unwrap();
            let case = SuiteCase {
                problem: Map::from_iter([("program".to_owned(), Value::from(name))]),
                method: Map::new(),
                expect: None,
                precision: "f64".to_owned(),
                device: "cpu".to_owned(),
                threads: 1,
            };
            let workload = Workload::new(&case, None, folder.path(), folder.path()).unwrap();
            let moments = workload.truth(&case).unwrap().moments;
            assert!(!moments.is_empty() && moments.iter().all(Option::is_some), "{name}");

            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name).join("truth.json");
            let truth: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            let known = truth["points"].as_array().unwrap();
            let points: Vec<Vec<f64>> =
                known.iter().map(|known| serde_json::from_value(known["x"].clone()).unwrap()).collect();
            let found = workload.log_densities(&points);
            let shifts = known.iter().zip(&found).map(|(known, found)| known["log_density"].as_f64().unwrap() - found);
            let shifts: Vec<f64> = shifts.collect();
            let largest = shifts.iter().map(|shift| (shift - shifts[0]).abs()).fold(0.0, f64::max);
            assert!(shifts.len() > 1 && largest < 1e-8, "{name}: {shifts:?}");
        }
    }

    /// Data of two kinds lie beside each other in a folder, and a size that is none is no default.
    #[test]
    fn data_that_differ_have_files_of_their_own_and_sizes_are_whole() {
        let program = ShippedProgram::find(POLYNOMIAL).unwrap();
        let of = |settings: Value| data_of(program, settings.as_object().unwrap());
        let name = |settings: Value| of(settings).unwrap().1;
        assert_eq!(name(json!({ "n": 10 })), "-10");
        assert_eq!(name(json!({ "n": 10, "seed": 42, "noise": 0.05 })), "-10");
        assert_eq!(name(json!({ "n": 10, "seed": 1, "noise": 0.5 })), "-10-seed-1-noise-0.5");
        for wrong in [json!({ "n": -10 }), json!({ "n": "large" }), json!({ "seed": 1.5 }), json!({ "noise": "low" })] {
            assert!(of(wrong).unwrap_err().to_string().contains("is needed"));
        }
    }

    /// A file that has the name of a program that ships is its own program.
    #[test]
    fn a_file_is_its_own_program_whatever_its_name_is() {
        let folder = tempfile::tempdir().unwrap();
        let [stan, data] = ["poisson.stan", "poisson.json"].map(|name| folder.path().join(name));
        std::fs::write(&stan, "parameters { real a; } model { a ~ normal(0, 1); }").unwrap();
        std::fs::write(&data, "{}").unwrap();
        assert_eq!(problem_of("poisson", &stan, &data).unwrap().density().dim(), 1);
    }
}
