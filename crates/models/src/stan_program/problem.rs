//! A program with its data as commands know it: its observations in the trace, its statements, what is odd about it.

use super::axes::name_axes;
use super::binding::{ProgramBinding, shipped_data, without_title};
use super::new_data::ProgramPredictor;
use super::simulator::ProgramSimulator;
use super::table::LabelledSize;
use super::{ShippedProgram, StanSettings};
use crate::exact::{Exact, ExactError};
use crate::fingerprint::data_sha256;
use crate::{BuildError, ObservedVariable, Predictor, Problem, Simulator};
use octopus_bind::{BindError, Data, DataNumbers, DataValue, DrawFailures, ObservedData, StanDensity, StartingPoint};
use octopus_density::{Dim, Labels, LogDensity};
use octopus_formats::observations::DataTable;
use octopus_stan::{Diagnostic, StanProgram, Statement, StatementKind};
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use std::path::Path;
use std::sync::OnceLock;
use toml::Table;

/// The axis of observations.
pub(super) const OBSERVATION: &str = "observation";
/// The variable of observations that no data of the program are known to be.
const OBSERVED: &str = "y";
/// Numbers of a variable of the data that are kept in a trace at the most.
const MOST: usize = 100_000;
/// Statements of the model that are shown at the most.
const SHOWN: usize = 12;

/// A Stan program with its data, as a [`Problem`].
pub struct StanProblem {
    density: StanDensity,
    data: Data,
    record: DataRecord,
    pub(super) settings: Table,
    statements: Vec<String>,
    findings: Vec<String>,
    likelihood_obstacle: Option<String>,
    pub(super) program: StanProgram,
    pub(super) labelled: Vec<LabelledSize>,
    /// How parameters and data are drawn, or the statement that stands in the way; read when it is asked for.
    simulator: OnceLock<Result<ProgramSimulator, String>>,
    /// The program that ships, and whether the data are its own.
    shipped: Option<(&'static ShippedProgram, bool)>,
}

impl StanProblem {
    /// Reads the program and the data that settings name, and binds them; `table` has the columns of a table that has been
    /// read already.
    ///
    /// # Errors
    /// When the program is wrong, or not the run's, or the data cannot be read or do not fit.
    pub fn new(settings: &Table, table: Option<DataTable>) -> Result<Self, BuildError> {
        let settings = StanSettings::read(settings)?;
        let shipped = settings.shipped();
        let problem = Self::of(ProgramBinding::new(settings, table)?)?;
        // The same data from a file are its own, too.
        let has_own_data = |program: &ShippedProgram| {
            shipped_data(program).is_ok_and(|own| data_sha256(&own, [].into_iter()) == problem.record.sha256)
        };
        let shipped = shipped.map(|program| (program, has_own_data(program)));
        Ok(Self { shipped, ..problem })
    }

    /// Binds a program to its data. The trace has the observations, log likelihoods and replicated data in ArviZ's groups: the
    /// program's own `log_lik` and `y_rep`, or what its sampling statements say.
    ///
    /// A run in a folder has the program's text in its record and can be read by every command, but
    /// `octopus resume` cannot build it again: for that the program and its data must be files
    /// ([`StanProblem::new`]).
    ///
    /// ```
    /// use octopus_bind::Data;
    /// use octopus_models::{Problem, StanProblem};
    /// use octopus_stan::StanProgram;
    ///
    /// let text = "data { int N; array[N] int y; } parameters { real<lower=0, upper=1> p; } model { y ~ bernoulli(p); }";
    /// let data = Data::new("three throws").with_int("N", 3).with_ints("y", &[1, 0, 1]);
    /// let problem = StanProblem::bind(StanProgram::parse("coin.stan", text)?, data)?;
    /// assert_eq!(problem.density().layout().variables[0].name, "p");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the data do not fit, or the program asks for what is not supported.
    pub fn bind(program: StanProgram, data: Data) -> Result<Self, BuildError> {
        Self::of(ProgramBinding::given(program, data)?)
    }

    fn of(binding: ProgramBinding) -> Result<Self, BuildError> {
        let mut density = binding.density()?;
        density.name_axes(|variables| name_axes(variables, &binding.program, &binding.labelled));
        let ProgramBinding { program, bound, data, record, settings, labelled, .. } = binding;
        let likelihood_obstacle = bound.unread().map(told);
        let findings = program.warnings.iter().map(told).chain(bound.warnings).collect();
        let count = density.observations();
        let record = DataRecord { observations: count.max(record.observations), ..record };
        let statements = statements(&program);
        let simulator = OnceLock::new();
        Ok(Self {
            density,
            data,
            record,
            settings,
            statements,
            findings,
            likelihood_obstacle,
            program,
            labelled,
            simulator,
            shipped: None,
        })
    }

    /// Returns the data by the program's names.
    pub fn values(&self) -> &Data {
        &self.data
    }
}

impl Problem for StanProblem {
    fn density(&self) -> &(dyn LogDensity + 'static) {
        &self.density
    }

    fn settings(&self) -> &Table {
        &self.settings
    }

    fn data(&self) -> &DataRecord {
        &self.record
    }

    fn observation_dim(&self) -> Dim {
        Dim { name: OBSERVATION.to_owned(), labels: Labels::Range(self.density.observations()) }
    }

    fn observed_variables(&self) -> Vec<ObservedVariable> {
        let all = self.density.observed();
        if all.is_empty() {
            let numbers = Dim { name: OBSERVATION.to_owned(), labels: Labels::Range(self.density.predictions()) };
            return vec![ObservedVariable { name: OBSERVED.to_owned(), numbers, terms: self.observation_dim() }];
        }
        let is_alone = all.len() == 1;
        let variable = |observed: &ObservedData| {
            let axis = |what: &str| if is_alone { what.to_owned() } else { format!("{}_{what}", observed.name) };
            let labels = match &observed.places {
                Some(places) => Labels::Integers(places.iter().map(|&place| place as i64).collect()),
                None => Labels::Range(observed.values.len()),
            };
            let numbers = Dim { name: axis(OBSERVATION), labels };
            let terms = match observed.terms == observed.values.len() {
                true => numbers.clone(),
                false => Dim { name: axis("term"), labels: Labels::Range(observed.terms) },
            };
            ObservedVariable { name: observed.name.clone(), numbers, terms }
        };
        all.iter().map(variable).collect()
    }

    fn likelihood_obstacle(&self) -> Option<String> {
        self.likelihood_obstacle.clone()
    }

    /// Adds the observations as `observed_data`, where it is known which data they are, and all other data as
    /// `constant_data`, but for very long ones.
    fn add_observations(&self, data: &mut InferenceData) {
        let mut observed = Dataset::default();
        for (variable, of) in self.observed_variables().iter().zip(self.density.observed()) {
            let Dim { name, labels } = &variable.numbers;
            let array = Array::new([(name.as_str(), labels.len())], self.values_of(of));
            observed.insert(&variable.name, array);
            observed.coords.insert(name.clone(), labels.clone());
        }
        let names = self.observed_names();
        let constant = constant_data(&self.data, |name| !names.contains(&name));
        for (group, dataset) in [("observed_data", observed), ("constant_data", constant)] {
            if !dataset.variables.is_empty() {
                data.insert(group, dataset);
            }
        }
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        self.draws().ok().map(|simulator| simulator as &dyn Simulator)
    }

    fn position_of(&self, values: &Data, otherwise: &[f64]) -> Result<StartingPoint, BuildError> {
        let found = self.density.position_of(values, otherwise);
        found.map_err(|error| BuildError::StartingValues(without_title(&error.to_string())))
    }

    fn new_data(&self, file: Option<&Path>, set: &Table) -> Result<Option<Box<dyn Predictor + '_>>, BuildError> {
        Ok(Some(Box::new(ProgramPredictor::new(self, file, set)?)))
    }

    fn prior_obstacle(&self) -> Option<String> {
        self.density.prior_obstacle()
    }

    fn simulator_obstacle(&self) -> Option<String> {
        self.draws().err().map(str::to_owned)
    }

    /// The posterior of a program that ships is known with its own data; in closed form, with any.
    fn exact(&self) -> Result<Option<Box<dyn Exact>>, ExactError> {
        Ok(self.shipped.and_then(|(program, has_own_data)| program.exact(&self.data, has_own_data)))
    }

    fn statements(&self) -> Vec<String> {
        self.statements.clone()
    }

    fn findings(&self) -> Vec<String> {
        self.findings.clone()
    }

    fn failures(&self) -> Vec<String> {
        let DrawFailures { count, first } = self.density.failures();
        let sentence = |reason| format!("generated quantities are NaN in {count} of the draws; the first: {reason}");
        first.map(sentence).into_iter().collect()
    }
}

impl StanProblem {
    pub(super) fn stan_density(&self) -> &StanDensity {
        &self.density
    }

    /// The names of the data that were observed.
    pub(super) fn observed_names(&self) -> Vec<&str> {
        self.density.observed().iter().map(|observed| observed.name.as_str()).collect()
    }

    fn draws(&self) -> Result<&ProgramSimulator, &str> {
        let made = self.simulator.get_or_init(|| {
            let made = ProgramSimulator::new(&self.program, &self.data, &self.labelled);
            made.map_err(|error| without_title(&without_help(error).to_string()))
        });
        made.as_ref().map_err(String::as_str)
    }

    /// The observed numbers, whole where they are declared so.
    fn values_of(&self, observed: &ObservedData) -> Values {
        match self.data.get(&observed.name).map(|value| &value.numbers) {
            Some(DataNumbers::Ints(_)) => Values::I64(observed.values.iter().map(|&x| x as i64).collect()),
            _ => Values::F64(observed.values.clone()),
        }
    }
}

/// The error without what `octopus calibrate` alone can do.
fn without_help(error: BindError) -> BindError {
    match error {
        BindError::Refused(mut all) => {
            all.iter_mut().for_each(|message| message.help.clear());
            BindError::Refused(all)
        }
        other => other,
    }
}

/// A message without its title.
fn told(message: &Diagnostic) -> String {
    without_title(&message.to_string())
}

/// The data of these names as a group of a trace, but for very long ones.
pub(super) fn constant_data(data: &Data, is_kept: impl Fn(&str) -> bool) -> Dataset {
    let mut constant = Dataset::default();
    for name in data.names().filter(|name| is_kept(name)) {
        let Some(value) = data.get(name).filter(|value| (1..=MOST).contains(&value.numbers.len())) else { continue };
        let axes: Vec<String> = (0..value.shape.len()).map(|k| format!("{name}_dim_{k}")).collect();
        for (axis, &length) in axes.iter().zip(&value.shape) {
            constant.coords.insert(axis.clone(), Labels::Range(length));
        }
        let axes = axes.iter().map(String::as_str).zip(value.shape.iter().copied());
        constant.insert(name, Array::new(axes, values(value)));
    }
    constant
}

fn values(value: &DataValue) -> Values {
    match &value.numbers {
        DataNumbers::Ints(values) => Values::I64(values.clone()),
        DataNumbers::Reals(values) => Values::F64(values.clone()),
    }
}

/// The first statements of the model that say what is distributed how, and which there are besides.
fn statements(program: &StanProgram) -> Vec<String> {
    let mut all = Vec::new();
    collect(program, &program.model, &mut all);
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}

fn collect(program: &StanProgram, statements: &[Statement], all: &mut Vec<String>) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Tilde(_) | StatementKind::Target(_) => {
                let words: Vec<&str> = program.text(statement.span).split_whitespace().collect();
                all.push(words.join(" ").trim_end_matches(';').to_owned());
            }
            StatementKind::For { body, .. }
            | StatementKind::ForEach { body, .. }
            | StatementKind::Block(body)
            | StatementKind::Profile { body, .. } => collect(program, body, all),
            StatementKind::If { then, otherwise, .. } => {
                collect(program, then, all);
                collect(program, otherwise, all);
            }
            _ => {}
        }
    }
}
