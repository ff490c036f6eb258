//! Which generated quantities belong to the trace's groups of observations, by Stan's and ArviZ's conventions of names:
//! `log_lik` are log likelihoods, and `y_rep` replicates the data `y`. What a program does not generate, its sampling
//! statements say (`generative/`).

use crate::bind::DrawQuantity;
use crate::generative::ReadObservations;
use crate::value::Value;
use octopus_stan::{ProgramBlock, StanProgram, StatementKind};
use std::ops::Range;

/// The name of log likelihoods.
const LOG_LIKELIHOOD: &str = "log_lik";
/// What replicated data have behind the name of the data.
const REPLICATED: &str = "_rep";
/// The data that log likelihoods without replicated data are of.
const OUTCOME: &str = "y";

/// Data that were observed.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedData {
    /// The name in the program.
    pub name: String,
    /// The sizes; none for one number. Of data of which only some numbers are observations, how many.
    pub shape: Vec<usize>,
    /// The numbers, the last index fastest.
    pub values: Vec<f64>,
    /// How many log likelihoods they have: one for each number, or for each vector where vectors are observed.
    pub terms: usize,
    /// The places of the numbers among all of the data's, where they are only some.
    pub places: Option<Vec<usize>>,
}

/// The places of what belongs to groups of observations, among all numbers of a draw.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceGroups {
    pub(crate) log_likelihood: Option<Range<usize>>,
    pub(crate) replicates: Option<Range<usize>>,
    pub(crate) observed: Vec<ObservedData>,
}

impl TraceGroups {
    /// How many log likelihoods a draw has; as many as replicated numbers where it has none.
    pub(crate) fn observations(&self) -> usize {
        let generated = self.log_likelihood.as_ref().or(self.replicates.as_ref());
        generated.map_or_else(|| self.observed.iter().map(|one| one.terms).sum(), Range::len)
    }

    /// How many numbers a replicate has.
    pub(crate) fn predictions(&self) -> usize {
        let generated = self.replicates.as_ref();
        generated.map_or_else(|| self.observed.iter().map(|one| one.values.len()).sum(), Range::len)
    }

    /// Adds what sampling statements say where nothing is generated, and leaves of it what is needed: all of it, or what the
    /// program's own `log_lik` or replicates are also of.
    pub(crate) fn complete(&mut self, read: ReadObservations) -> Option<ReadObservations> {
        let generated = [&self.log_likelihood, &self.replicates].map(|own| own.as_ref().map(Range::len));
        let used = match (generated, &read.observed[..]) {
            ([None, None], _) => read,
            ([Some(terms), None], [only]) if terms == only.terms => ReadObservations { terms: None, ..read },
            ([None, Some(numbers)], [only])
                if numbers == only.terms && self.observed.iter().any(|own| own.name == only.name) =>
            {
                ReadObservations { replicate: None, ..read }
            }
            _ => return None,
        };
        self.observed.clone_from(&used.observed);
        Some(used)
    }

    /// Finds the groups of these quantities. What does not fit stays in the posterior, and a warning says so.
    pub(crate) fn find(
        program: &StanProgram,
        values: &[Option<Value>],
        quantities: &[DrawQuantity],
        warnings: &mut Vec<String>,
    ) -> Self {
        let generated = || {
            let is_generated = |quantity: &&DrawQuantity| quantity.block == ProgramBlock::GeneratedQuantities;
            quantities.iter().filter(is_generated).filter(|quantity| !quantity.is_empty())
        };
        let place = |quantity: &DrawQuantity| quantity.offset..quantity.offset + quantity.len();
        let likelihood = generated().find(|quantity| quantity.name == LOG_LIKELIHOOD);
        let pairs: Vec<(&DrawQuantity, ObservedData)> = generated()
            .filter_map(|quantity| {
                let data = data_of(program, values, quantity.name.strip_suffix(REPLICATED)?)?;
                (data.shape == quantity.shape).then_some((quantity, data))
            })
            .collect();
        let fits = |quantity: &DrawQuantity| likelihood.is_none_or(|likelihood| likelihood.len() == quantity.len());
        let replicated = pairs.iter().find(|(quantity, _)| fits(quantity));
        if let (Some(likelihood), None, Some((quantity, data))) = (likelihood, replicated, pairs.first()) {
            warnings.push(format!(
                "`{}` has {} elements and `{}` {}: `{}` stays in the posterior, and nothing is compared with `{}`",
                likelihood.name,
                likelihood.len(),
                quantity.name,
                quantity.len(),
                quantity.name,
                data.name,
            ));
        }
        if let Some((chosen, _)) = replicated {
            for (other, _) in pairs.iter().filter(|(other, _)| other.name != chosen.name) {
                let (chosen, other) = (&chosen.name, &other.name);
                warnings.push(format!("`{other}` stays in the posterior: `{chosen}` are the replicated observations"));
            }
        }
        let of_likelihood = || {
            let likelihood = likelihood?;
            data_of(program, values, OUTCOME).filter(|data| data.values.len() == likelihood.len())
        };
        Self {
            log_likelihood: likelihood.map(place),
            replicates: replicated.map(|(quantity, _)| place(quantity)),
            observed: replicated.map(|(_, data)| data.clone()).or_else(of_likelihood).into_iter().collect(),
        }
    }
}

/// The data of a name.
fn data_of(program: &StanProgram, values: &[Option<Value>], name: &str) -> Option<ObservedData> {
    let declared = program.data.iter().find_map(|statement| match &statement.kind {
        StatementKind::Declare(declaration) if program.variables[declaration.variable.0].name == name => {
            Some(declaration.variable)
        }
        _ => None,
    })?;
    let value = values[declared.0].as_ref()?;
    let (shape, values) = (value.dims().to_vec(), value.numbers()?);
    Some(ObservedData { name: name.to_owned(), shape, terms: values.len(), values, places: None })
}
