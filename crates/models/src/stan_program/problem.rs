//! A program with its data as commands know it: its observations in the trace, its statements, what is odd about it.

use super::StanSettings;
use super::axes::name_axes;
use super::binding::ProgramBinding;
use crate::{BuildError, Problem};
use octopus_bind::{Data, DataNumbers, DataValue, DrawFailures, StanDensity};
use octopus_density::{Dim, Labels, LogDensity};
use octopus_formats::observations::DataTable;
use octopus_stan::{StanProgram, Statement, StatementKind};
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use toml::Table;

/// The axis of observations.
const OBSERVATION: &str = "observation";
/// The variable of observations, as in the groups that are made from draws.
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
    settings: Table,
    statements: Vec<String>,
    findings: Vec<String>,
}

impl StanProblem {
    /// Reads the program and the data that settings name, and binds them; `table` has the columns of a table that has been
    /// read already.
    ///
    /// # Errors
    /// When the program is wrong, or not the run's, or the data cannot be read or do not fit.
    pub fn new(settings: &Table, table: Option<DataTable>) -> Result<Self, BuildError> {
        Self::of(ProgramBinding::new(StanSettings::read(settings)?, table)?)
    }

    /// Binds a program to its data. The trace has the observations, the log likelihoods `log_lik` and the replicated data
    /// `y_rep` in ArviZ's groups.
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
        name_axes(&mut density, &binding.program, &binding.labelled);
        let ProgramBinding { program, bound, data, record, settings, .. } = binding;
        let warnings = program.warnings.iter().map(|warning| {
            let text = warning.to_string();
            text.strip_prefix("warning: ").unwrap_or(&text).to_owned()
        });
        let findings = warnings.chain(bound.warnings).collect();
        let count = density.observations();
        let record = DataRecord { observations: count.max(record.observations), ..record };
        let statements = statements(&program);
        Ok(Self { density, data, record, settings, statements, findings })
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

    /// Adds the observations as `observed_data`, where the program generates replicates or log likelihoods of them, and all other data as
    /// `constant_data`, but for very long ones.
    fn add_observations(&self, data: &mut InferenceData) {
        let mut constant = Dataset::default();
        let observed = self.density.observed().map(|observed| observed.name.as_str());
        for name in self.data.names() {
            let Some(value) = self.data.get(name) else { continue };
            if Some(name) == observed {
                let mut observed = Dataset::default();
                observed.insert(OBSERVED, Array::new([(OBSERVATION, value.numbers.len())], values(value)));
                observed.coords.insert(OBSERVATION.to_owned(), Labels::Range(value.numbers.len()));
                data.insert("observed_data", observed);
            } else if (1..=MOST).contains(&value.numbers.len()) {
                let axes: Vec<String> = (0..value.shape.len()).map(|k| format!("{name}_dim_{k}")).collect();
                for (axis, &length) in axes.iter().zip(&value.shape) {
                    constant.coords.insert(axis.clone(), Labels::Range(length));
                }
                let axes = axes.iter().map(String::as_str).zip(value.shape.iter().copied());
                constant.insert(name, Array::new(axes, values(value)));
            }
        }
        if !constant.variables.is_empty() {
            data.insert("constant_data", constant);
        }
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
