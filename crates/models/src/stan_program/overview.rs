//! A program in words: what it asks for, what it has and gives, which functions it uses.

use super::StanProblem;
use crate::Problem;
use octopus_bind::{DeclaredVariable, UsedFunctions};
use octopus_stan::{ProgramBlock, StanProgram};
use serde::Serialize;
use std::fmt;

/// Variables of a block that are shown.
const SHOWN: usize = 100;

/// What a Stan program is, before or with its data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgramOverview {
    /// The program's file.
    pub program: String,
    /// The data that it asks for.
    pub data: Vec<VariableOverview>,
    /// What is sampled.
    pub parameters: Vec<VariableOverview>,
    /// What is computed from the parameters with each gradient.
    pub transformed_parameters: Vec<VariableOverview>,
    /// What is computed from each draw.
    pub generated_quantities: Vec<VariableOverview>,
    /// The number of unconstrained coordinates; `None` without data.
    pub coordinates: Option<usize>,
    /// The effects of hierarchies that were found, each block with its statement; none without data.
    pub hierarchies: Vec<String>,
    /// The distributions that it uses.
    pub distributions: Vec<String>,
    /// The other functions of the library that it uses.
    pub functions: Vec<String>,
    /// What is not supported, each with its place.
    pub unsupported: Vec<String>,
}

/// A variable of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariableOverview {
    /// Its name.
    pub name: String,
    /// Its declaration without the name, e.g. `vector<lower=0>[J]`.
    pub declaration: String,
    /// Its sizes, none for a scalar; `None` without data.
    pub sizes: Option<Vec<usize>>,
}

impl ProgramOverview {
    /// Describes a program; `problem` is the same with its data, if there are any.
    pub fn new(program: &StanProgram, problem: Option<&StanProblem>) -> Self {
        let layout = problem.map(|problem| problem.density().layout());
        let variables = |block| {
            let of_draw = |name: &str| {
                let found = layout?.variables.iter().find(|variable| variable.name == name)?;
                Some(found.dims.iter().map(|dim| dim.labels.len()).collect())
            };
            let of_data = |name: &str| problem?.values().get(name).map(|value| value.shape.clone());
            let one = |declared: DeclaredVariable| VariableOverview {
                declaration: declared.text(),
                sizes: if block == ProgramBlock::Data { of_data(&declared.name) } else { of_draw(&declared.name) },
                name: declared.name,
            };
            DeclaredVariable::in_block(program, block).into_iter().map(one).collect()
        };
        let used = UsedFunctions::of(program);
        Self {
            program: program.files().next().map(|(name, _)| name.to_owned()).unwrap_or_default(),
            data: variables(ProgramBlock::Data),
            parameters: variables(ProgramBlock::Parameters),
            transformed_parameters: variables(ProgramBlock::TransformedParameters),
            generated_quantities: variables(ProgramBlock::GeneratedQuantities),
            coordinates: problem.map(|problem| problem.density().dim()),
            hierarchies: problem
                .and_then(|problem| problem.density().effects())
                .map(|effects| effects.blocks().iter().map(ToString::to_string).collect())
                .unwrap_or_default(),
            distributions: used.distributions.into_iter().collect(),
            functions: used.functions.into_iter().collect(),
            unsupported: used.unsupported.iter().map(ToString::to_string).collect(),
        }
    }
}

impl fmt::Display for ProgramOverview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let coordinates = self.coordinates.map(|count| format!(": {count} unconstrained coordinates"));
        writeln!(f, "{}{}", self.program, coordinates.unwrap_or_default())?;
        for (title, variables) in [
            ("data", &self.data),
            ("parameters", &self.parameters),
            ("transformed parameters", &self.transformed_parameters),
            ("generated quantities", &self.generated_quantities),
        ] {
            if variables.is_empty() {
                continue;
            }
            writeln!(f, "{title}")?;
            for VariableOverview { name, declaration, sizes } in variables.iter().take(SHOWN) {
                let sizes = sizes.as_ref().filter(|sizes| !sizes.is_empty());
                let sizes = sizes.map(|sizes| {
                    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                    format!("   ({})", sizes.join(" x "))
                });
                writeln!(f, "  {declaration} {name}{}", sizes.unwrap_or_default())?;
            }
            if let Some(more) = variables.len().checked_sub(SHOWN).filter(|&more| more > 0) {
                writeln!(f, "  and {more} more")?;
            }
        }
        if !self.hierarchies.is_empty() {
            writeln!(f, "hierarchies")?;
            self.hierarchies.iter().try_for_each(|block| writeln!(f, "  {block}"))?;
        }
        for (title, names) in [("distributions", &self.distributions), ("functions", &self.functions)] {
            if !names.is_empty() {
                writeln!(f, "{title}: {}", names.join(", "))?;
            }
        }
        self.unsupported.iter().try_for_each(|message| writeln!(f, "{message}"))
    }
}
