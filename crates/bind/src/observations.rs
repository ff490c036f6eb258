//! Which generated quantities belong to the trace's groups of observations, by Stan's and ArviZ's conventions of names:
//! `log_lik` are log likelihoods, and `y_rep` replicates the data `y`, whatever their name. What a program does not
//! generate, its sampling statements say (`generative/`).

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

/// What belongs to groups of observations.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceGroups {
    /// The place of the program's own log likelihoods among all numbers of a draw.
    pub(crate) log_likelihood: Option<Range<usize>>,
    /// The program's own replicates.
    pub(crate) replicates: Vec<OwnReplicate>,
    pub(crate) observed: Vec<ObservedData>,
}

/// Data that the program replicates itself.
#[derive(Clone, Debug)]
pub(crate) struct OwnReplicate {
    /// Which of the observed data it replicates.
    pub(crate) of: usize,
    /// Its place among all numbers of a draw.
    pub(crate) place: Range<usize>,
}

impl TraceGroups {
    /// How many log likelihoods a draw has; as many as replicated numbers where it has none.
    pub(crate) fn observations(&self) -> usize {
        let generated = self.log_likelihood.as_ref();
        generated.map_or_else(|| self.observed.iter().map(|one| one.terms).sum(), Range::len)
    }

    /// How many numbers a replicate has.
    pub(crate) fn predictions(&self) -> usize {
        self.observed.iter().map(|one| one.values.len()).sum()
    }

    /// Writes the program's own replicates into a replicate of all data; `all` has all numbers of a draw.
    pub(crate) fn replicate(&self, all: &[f64], out: &mut [f64]) {
        for OwnReplicate { of, place } in &self.replicates {
            let from: usize = self.observed[..*of].iter().map(|one| one.values.len()).sum();
            out[from..from + place.len()].copy_from_slice(&all[place.clone()]);
        }
    }

    /// Adds what sampling statements say where nothing is generated, and leaves of it what is needed: all of it, or what the
    /// program's own `log_lik` or replicates are also of.
    pub(crate) fn complete(&mut self, read: ReadObservations, warnings: &mut Vec<String>) -> Option<ReadObservations> {
        let used = match (&self.log_likelihood, &read.observed[..]) {
            (None, _) if self.replicates.is_empty() => read,
            (Some(own), [only]) if self.replicates.is_empty() && own.len() == only.terms => {
                ReadObservations { terms: None, ..read }
            }
            (None, observed) => {
                let place_of = |own: &OwnReplicate| {
                    let name = &self.observed[own.of].name;
                    observed.iter().position(|one| one.name == *name && one.values.len() == own.place.len())
                };
                let places: Vec<usize> = self.replicates.iter().map(place_of).collect::<Option<_>>()?;
                let lacking = (0..observed.len()).find(|of| !places.contains(of)).map(|of| &observed[of].name);
                if let Some(lacking) = lacking {
                    read.replicate.as_ref()?;
                    // A mixture would replicate some data given other replicates than those that are seen.
                    let own = &self.observed[self.replicates[0].of].name;
                    warnings.push(format!(
                        "`{own}{REPLICATED}` stays in the posterior, as there is no `{lacking}{REPLICATED}`: all data are \
                         replicated by their statements"
                    ));
                    self.replicates.clear();
                    read
                } else {
                    self.replicates.iter_mut().zip(places).for_each(|(own, of)| own.of = of);
                    ReadObservations { replicate: None, ..read }
                }
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
        let log_likelihood = likelihood.map(place);
        let (quantities, mut observed): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let replicates =
            || quantities.iter().enumerate().map(|(of, quantity)| OwnReplicate { of, place: place(quantity) });
        let Some(likelihood) = likelihood else {
            return Self { log_likelihood, replicates: replicates().collect(), observed };
        };
        // One variable of the data has the log likelihoods: the first of as many numbers.
        if let Some(at) = observed.iter().position(|data| data.values.len() == likelihood.len()) {
            observed.iter_mut().enumerate().filter(|(k, _)| *k != at).for_each(|(_, other)| other.terms = 0);
            return Self { log_likelihood, replicates: replicates().collect(), observed };
        }
        if let (Some(quantity), Some(data)) = (quantities.first(), observed.first()) {
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
        let outcome = data_of(program, values, OUTCOME).filter(|data| data.values.len() == likelihood.len());
        Self { log_likelihood, replicates: Vec::new(), observed: outcome.into_iter().collect() }
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
