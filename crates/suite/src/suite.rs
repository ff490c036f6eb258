//! A suite is a file that says what to measure. Its lists are crossed with each other, and each combination is a case.

use crate::SuiteError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The suites that ship, by name.
const SHIPPED: &[(&str, &str)] = &[
    ("polynomial-is", include_str!("../../../benchmarks/suites/polynomial-is.toml")),
    ("polynomial-hmc", include_str!("../../../benchmarks/suites/polynomial-hmc.toml")),
    ("polynomial-all", include_str!("../../../benchmarks/suites/polynomial-all.toml")),
    ("beta-bernoulli", include_str!("../../../benchmarks/suites/beta-bernoulli.toml")),
    ("state-space", include_str!("../../../benchmarks/suites/state-space.toml")),
    ("eight-schools", include_str!("../../../benchmarks/suites/eight-schools.toml")),
    ("hierarchical", include_str!("../../../benchmarks/suites/hierarchical.toml")),
    ("phase0", include_str!("../../../benchmarks/suites/phase0.toml")),
    ("scaling", include_str!("../../../benchmarks/suites/scaling.toml")),
    ("arrays", include_str!("../../../benchmarks/suites/arrays.toml")),
    ("random", include_str!("../../../benchmarks/suites/random.toml")),
    ("diagnostics", include_str!("../../../benchmarks/suites/diagnostics.toml")),
];

/// The most seconds that a case or an answer may take: a month.
const LONGEST: f64 = 30.0 * 86400.0;

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// What it is, in one line.
    pub about: String,
    /// The frameworks, Octopus among them.
    pub frameworks: Vec<String>,
    /// How often each case is repeated by each framework.
    pub repeats: usize,
    /// No repetition begins after so many seconds of a case, unless there are fewer than three.
    #[serde(default = "seconds")]
    pub seconds: f64,
    /// How long an answer of a framework is waited for, in seconds.
    #[serde(default = "patience")]
    pub patience: f64,
    /// Precisions: `f64`, `f32`.
    #[serde(default = "precision")]
    pub precision: Vec<String>,
    /// Devices: `cpu`, `cuda:0`.
    #[serde(default = "device")]
    pub device: Vec<String>,
    /// Numbers of cores.
    #[serde(default = "threads")]
    pub threads: Vec<usize>,
    /// Programs with their data, or kinds of work with their sizes.
    pub problem: Vec<Map<String, Value>>,
    /// Methods, or operations of the work, with their settings.
    pub method: Vec<Map<String, Value>>,
    /// The name: that of the file.
    #[serde(skip)]
    pub name: String,
    /// The folder of the file, to which its paths are relative; `None` of a suite that ships.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

fn seconds() -> f64 {
    120.0
}

fn patience() -> f64 {
    600.0
}

fn precision() -> Vec<String> {
    vec!["f64".to_owned()]
}

fn device() -> Vec<String> {
    vec!["cpu".to_owned()]
}

fn threads() -> Vec<usize> {
    vec![1]
}

/// One combination of a suite's lists.
#[derive(Clone, Debug, PartialEq)]
pub struct SuiteCase {
    /// The program with its size.
    pub problem: Map<String, Value>,
    /// The method with its settings.
    pub method: Map<String, Value>,
    /// What the suite says of the posterior that comes: `failed inference` where no framework can get it.
    pub expect: Option<String>,
    /// The precision.
    pub precision: String,
    /// The device.
    pub device: String,
    /// The number of cores.
    pub threads: usize,
}

impl SuiteCase {
    /// Returns its name, which no other case of the suite has: `polynomial n=50, hmc leapfrogs=20 ..., f64, cpu, 1 thread`.
    pub fn name(&self) -> String {
        let Self { precision, device, threads, .. } = self;
        let (problem, method) = (words(&self.problem, "program"), words(&self.method, "name"));
        format!("{problem}; {method}; {precision}, {device}, {threads}")
    }

    /// Returns the name of the program, or of the kind of work.
    pub(crate) fn program(&self) -> &str {
        self.problem.get("program").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns whether a particle filter is run, which draws no parameters.
    pub(crate) fn is_filter(&self) -> bool {
        self.method.get("name").is_some_and(|name| name == "filter")
    }

    /// Returns the size of the data, where the suite gives one: points or groups.
    pub(crate) fn size(&self) -> Option<u64> {
        self.number("n").or_else(|| self.number("groups"))
    }

    /// Returns a whole number of the problem or the method.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.method.get(key).or_else(|| self.problem.get(key)).and_then(Value::as_u64)
    }
}

/// Returns a table as words: the value of `first`, then each other key with its value.
fn words(table: &Map<String, Value>, first: &str) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let head = table.get(first).map(text).unwrap_or_default();
    let rest = table.iter().filter(|(key, _)| *key != first).map(|(key, value)| format!(" {key}={}", text(value)));
    head + &rest.collect::<String>()
}

/// What a user asks of a suite beside what it says.
#[derive(Clone, Debug, Default)]
pub struct SuiteChoice {
    /// Only these frameworks.
    pub frameworks: Vec<String>,
    /// The number of repetitions.
    pub repeats: Option<usize>,
    /// Only these sizes of data (`n`, `groups`).
    pub sizes: Vec<u64>,
    /// Only these numbers of particles, of methods that have particles.
    pub particles: Vec<u64>,
    /// These devices in place of the suite's.
    pub devices: Vec<String>,
    /// Only every Nth case, from the Kth: K, from 1, and N.
    pub part: Option<(usize, usize)>,
}

impl Suite {
    /// Returns the names of the suites that ship.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Returns the suite of this name, or of this file, which ends in `.toml`.
    ///
    /// # Errors
    /// When there is none, or its file says what it must not.
    pub fn find(name: &str) -> Result<Self, SuiteError> {
        if name.ends_with(".toml") {
            let path = Path::new(name);
            let text = std::fs::read_to_string(path).map_err(SuiteError::io("read", path))?;
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
            return Ok(Self { folder: Some(folder), ..Self::read(path, &text)? });
        }
        let Some((_, text)) = SHIPPED.iter().find(|(own, _)| *own == name) else {
            let known = Self::names().collect::<Vec<_>>().join(", ") + ", or a file that ends in .toml";
            return Err(SuiteError::Unknown { kind: "suite", name: name.to_owned(), known });
        };
        Self::read(Path::new(&format!("{name}.toml")), text)
    }

    fn read(path: &Path, text: &str) -> Result<Self, SuiteError> {
        let mut suite: Self = toml::from_str(text).map_err(|error| SuiteError::file(path, error.to_string()))?;
        suite.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let lacks = |tables: &[Map<String, Value>], key: &str| tables.iter().any(|table| !table.contains_key(key));
        for (list, tables, key) in [("problem", &suite.problem, "program"), ("method", &suite.method, "name")] {
            if lacks(tables, key) {
                return Err(SuiteError::file(path, format!("a [[{list}]] has no {key}: each of them needs one")));
            }
        }
        if suite.repeats == 0 {
            return Err(SuiteError::file(path, "repeats = 0: nothing would be measured"));
        }
        if suite.frameworks.is_empty() {
            return Err(SuiteError::file(path, "frameworks = []: nothing would be measured"));
        }
        for (key, value) in [("seconds", suite.seconds), ("patience", suite.patience)] {
            if !(value > 0.0 && value <= LONGEST) {
                let what = format!("{key} = {value}: a number of seconds above 0 and up to {LONGEST} is needed");
                return Err(SuiteError::file(path, what));
            }
        }
        Ok(suite)
    }

    /// Narrows the suite to what a user asks for.
    ///
    /// # Errors
    /// When it has no such framework, or no case of these sizes.
    pub fn narrowed(mut self, choice: &SuiteChoice) -> Result<Self, SuiteError> {
        if let Some(name) = choice.frameworks.iter().find(|name| !self.frameworks.contains(name)) {
            let known = self.frameworks.join(", ");
            return Err(SuiteError::Unknown { kind: "framework", name: name.clone(), known });
        }
        if !choice.frameworks.is_empty() {
            self.frameworks.retain(|name| choice.frameworks.contains(name));
        }
        self.repeats = choice.repeats.unwrap_or(self.repeats);
        if !choice.devices.is_empty() {
            self.device.clone_from(&choice.devices);
        }
        if self.cases(choice).is_empty() {
            let all = self.cases(&SuiteChoice::default());
            let list = |of: &dyn Fn(&SuiteCase) -> Option<u64>| {
                let numbers: BTreeSet<u64> = all.iter().filter_map(of).collect();
                if numbers.is_empty() {
                    return "none".to_owned();
                }
                numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            };
            let (sizes, particles) = (list(&SuiteCase::size), list(&|case: &SuiteCase| case.number("particles")));
            return Err(SuiteError::NoCase { suite: self.name, sizes, particles });
        }
        Ok(self)
    }

    /// Returns the suite of the first problem with the first of each list, with few repetitions: for a quick look at whether
    /// everything works. `frameworks` are all of its own where none is given.
    pub fn smallest(mut self, frameworks: &[String]) -> Self {
        let first = |table: &Map<String, Value>| crossed(table).swap_remove(0);
        self.problem = self.problem.iter().take(1).map(first).collect();
        self.method = self.method.iter().map(first).collect();
        self.threads.truncate(1);
        self.repeats = 3;
        if !frameworks.is_empty() {
            self.frameworks.retain(|name| frameworks.contains(name));
        }
        self
    }

    /// Adds the frameworks that it does not have.
    pub(crate) fn add_frameworks(&mut self, others: &[String]) {
        for other in others {
            if !self.frameworks.contains(other) {
                self.frameworks.push(other.clone());
            }
        }
    }

    /// Returns every case, set-up by set-up, and within each problem by problem.
    pub fn cases(&self, choice: &SuiteChoice) -> Vec<SuiteCase> {
        let mut cases = Vec::new();
        let problems: Vec<_> = self.problem.iter().flat_map(crossed).collect();
        let methods: Vec<_> = self.method.iter().flat_map(crossed).collect();
        // A framework is started anew for other cores, another device or precision: as seldom as possible.
        for (precision, device) in self.precision.iter().flat_map(|p| self.device.iter().map(move |d| (p, d))) {
            for &threads in &self.threads {
                for problem in &problems {
                    for method in &methods {
                        let mut method = method.clone();
                        let expect = method.remove("expect").and_then(|value| value.as_str().map(str::to_owned));
                        cases.push(SuiteCase {
                            problem: problem.clone(),
                            method,
                            expect,
                            precision: precision.clone(),
                            device: device.clone(),
                            threads,
                        });
                    }
                }
            }
        }
        let chosen =
            |wanted: &[u64], found: Option<u64>| wanted.is_empty() || found.is_none_or(|n| wanted.contains(&n));
        cases.retain(|case| chosen(&choice.sizes, case.size()) && chosen(&choice.particles, case.number("particles")));
        let (part, parts) = choice.part.unwrap_or((1, 1));
        cases.into_iter().skip(part.saturating_sub(1)).step_by(parts.max(1)).collect()
    }
}

/// Returns each combination of the lists in a table.
fn crossed(table: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut all = vec![Map::new()];
    for (key, value) in table {
        let each: &[Value] = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let with = |one: &Map<String, Value>| {
            let one = one.clone();
            let key = key.clone();
            each.iter()
                .map(move |value| {
                    let mut next = one.clone();
                    next.insert(key.clone(), value.clone());
                    next
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}
