//! The programs that ship: one table of names, each with a folder in `models/` that has its text, its data and its truth.

use super::{OPTIONS, StanModel};
use crate::exact::{Exact, ExactPosterior, Moments};
use crate::polynomial::PolynomialPosterior;
use crate::{
    BuildError, CalibrationTest, DataSize, HierarchicalPrior, Model, ModelColumn, ModelOption, Problem, Simulated,
};
use octopus_bind::{Data, DataNumbers};
use octopus_density::{GroupedData, Labels};
use octopus_formats::observations::DataTable;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::{Table, Value};

/// A program in Stan's language that ships with its data, as a model of its own name.
///
/// ```
/// use octopus_models::{Registry, ShippedProgram};
///
/// let problem = Registry::shipped().find("polynomial")?.build(&"set = { noise = 0.1 }".parse()?, None)?;
/// assert_eq!(problem.density().dim(), 3);
/// assert!(ShippedProgram::all().iter().any(|program| program.name == "radon"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ShippedProgram {
    /// Its name on the command line, such as `polynomial`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The program.
    pub text: &'static str,
    /// Its data, as Stan's JSON.
    pub data: &'static str,
    /// What is known of the posterior, as JSON: [`ShippedTruth`] reads it.
    truth: &'static str,
}

macro_rules! programs {
    ($($name:literal: $about:literal,)*) => {
        [$(ShippedProgram {
            name: $name,
            about: $about,
            text: shipped_file!($name, $name, ".stan"),
            data: shipped_file!($name, $name, ".json"),
            truth: shipped_file!($name, "truth", ".json"),
        }),*]
    };
}

macro_rules! shipped_file {
    ($folder:literal, $name:literal, $ending:literal) => {
        include_str!(concat!("../../../../models/", $folder, "/", $name, $ending))
    };
}

/// The program of which the posterior is in closed form with any data.
const POLYNOMIAL: &str = "polynomial";
/// The program of which it is known by quadrature with any data.
const HIERARCHY: &str = "hierarchical-normal-stan";

/// A new program is a line here, a folder in `models/` and a page in `docs/models/`.
pub(crate) static PROGRAMS: [ShippedProgram; 18] = programs! {
    "polynomial": "polynomial regression of degree 2 with known noise",
    "beta-bernoulli": "chances of success in groups",
    "logistic-hierarchy": "logistic regression with an intercept for each clinic",
    "poisson": "counts with known exposure",
    "negative-binomial": "counts that vary more than Poisson's, with known exposure",
    "hmm": "hidden Markov model of two states",
    "state-space": "linear state-space model: a level seen through noise",
    "garch": "GARCH(1, 1): returns whose variance follows their past",
    "funnel": "Neal's funnel, without data",
    "gp-regression": "regression with a Gaussian process",
    "ordinal": "ordered logistic regression of grades",
    "mixture": "mixture of two normal distributions",
    "item-response": "abilities of persons and difficulty of tasks",
    "radon": "radon in houses, by county and by wave of measurement",
    "meta-analysis": "effect of a treatment over 22 trials with controls",
    "survival": "Weibull regression with right censoring",
    "eight-schools-stan": "eight-schools as a program",
    "hierarchical-normal-stan": "hierarchical-normal as a program",
};

impl ShippedProgram {
    /// Returns all programs that ship.
    pub fn all() -> &'static [Self] {
        &PROGRAMS
    }

    /// Returns the program of this name. A path to a file has an ending or a folder, and so is none.
    pub fn find(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| program.name == name)
    }

    /// Returns the name of the program's file: `polynomial.stan`.
    pub fn file_name(&self) -> String {
        format!("{}.stan", self.name)
    }

    /// Returns the name of the data's file: `polynomial.json`.
    pub fn data_name(&self) -> String {
        format!("{}.json", self.name)
    }

    /// Returns what is known of its posterior with these data, which are those that ship or are not.
    pub(super) fn exact(&self, data: &Data, are_its_own: bool) -> Option<Box<dyn Exact>> {
        if self.name == POLYNOMIAL {
            return PolynomialPosterior::of_data(data).map(|found| Box::new(found) as Box<dyn Exact>);
        }
        if self.name == HIERARCHY && !are_its_own {
            return hierarchy(data).map(|found| Box::new(found) as Box<dyn Exact>);
        }
        let truth = serde_json::from_str::<ShippedTruth>(self.truth).ok().filter(|_| are_its_own)?;
        Some(Box::new(truth))
    }

    /// Returns settings of the model `stan` for this program.
    fn as_stan(&self, settings: &Table) -> Result<Table, BuildError> {
        let mut settings = settings.clone();
        let own = Value::from(self.name);
        if settings.insert("program".to_owned(), own.clone()).is_some_and(|given| given != own) {
            let what = format!("{} is a program itself; the model of another one is `stan`", self.name);
            return Err(BuildError::Form { field: "program".to_owned(), what });
        }
        Ok(settings)
    }
}

/// A program that ships is the model `stan` with its own text, and its own data unless others are given.
impl Model for ShippedProgram {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    /// The settings of `stan`, but for the program.
    fn options(&self) -> &'static [ModelOption] {
        OPTIONS.split_first().map_or(&[], |(_, others)| others)
    }

    fn is_program(&self) -> bool {
        true
    }

    fn reads_table(&self) -> bool {
        StanModel.reads_table()
    }

    fn columns(&self, settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        StanModel.columns(&self.as_stan(settings)?)
    }

    fn data_size(&self, settings: &Table) -> Result<Option<DataSize>, BuildError> {
        StanModel.data_size(&self.as_stan(settings)?)
    }

    fn build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        StanModel.build(&self.as_stan(settings)?, table)
    }

    fn read_and_build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        StanModel.read_and_build(&self.as_stan(settings)?, table)
    }

    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        StanModel.simulator(&self.as_stan(settings)?, test)
    }
}

/// Returns the posterior of the hierarchy's program given other data.
fn hierarchy(data: &Data) -> Option<ExactPosterior> {
    let DataNumbers::Ints(groups) = &data.get("J")?.numbers else { return None };
    let DataNumbers::Ints(group) = &data.get("group")?.numbers else { return None };
    let group: Vec<usize> = group.iter().map(|group| usize::try_from(group - 1)).collect::<Result<_, _>>().ok()?;
    let values = match &data.get("value")?.numbers {
        DataNumbers::Reals(values) => values.clone(),
        DataNumbers::Ints(values) => values.iter().map(|&value| value as f64).collect(),
    };
    let labels = Labels::Range(usize::try_from(*groups.first()?).ok()?);
    let data = GroupedData::new(labels, &group, &values).ok()?;
    ExactPosterior::compute(&data, &HierarchicalPrior::default()).ok()
}

/// Means and standard deviations of a program's posterior with the data that ship, by a script beside the program that
/// does not sample.
#[derive(Clone, Debug, Deserialize)]
struct ShippedTruth {
    method: &'static str,
    moments: TruthMoments,
}

/// Means and standard deviations of a posterior by variable, as files `truth.json` have them: a number each, or one for each
/// element in Stan's order.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct TruthMoments(BTreeMap<String, VariableMoments>);

impl TruthMoments {
    /// Returns the names of the variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the moments of an element; `None` where they are not known.
    pub fn of(&self, variable: &str, index: usize) -> Option<Moments> {
        let found = self.0.get(variable)?;
        Some(Moments { mean: found.mean.get(index)?, sd: found.sd.get(index)? })
    }
}

/// Moments of a variable's elements.
#[derive(Clone, Debug, Deserialize)]
struct VariableMoments {
    mean: OneOrMany,
    sd: OneOrMany,
}

/// A number, or one for each element.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(f64),
    Many(Vec<f64>),
}

impl OneOrMany {
    fn get(&self, index: usize) -> Option<f64> {
        match self {
            Self::One(value) => (index == 0).then_some(*value),
            Self::Many(values) => values.get(index).copied(),
        }
    }
}

impl Exact for ShippedTruth {
    fn method(&self) -> &'static str {
        self.method
    }

    fn moments_of(&self, variable: &str, index: usize) -> Option<Moments> {
        self.moments.of(variable, index)
    }
}
