//! The groups of a trace beside the draws: replicated observations, log likelihoods, and draws from the prior.

use crate::TraceError;
use octopus_density::{Dim, DrawAddress, Labels, LogDensity, Role};
use octopus_models::{ObservedVariable, Problem};
use octopus_random::{Purpose, Stream};
use octopus_trace::{Array, Dataset, InferenceData, Values};

/// The variable of positions that have no names of parameters, in a run's group `unconstrained_posterior`.
const UNCONSTRAINED: &str = "unconstrained";

/// The quantities to make from each draw; each quantity has a number for each observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictiveParts {
    /// Replicated observations.
    pub replicates: bool,
    /// Log likelihoods.
    pub log_likelihood: bool,
}

impl PredictiveParts {
    /// Both quantities.
    pub const ALL: Self = Self { replicates: true, log_likelihood: true };

    /// Returns the quantities that a density can make.
    pub fn of(self, density: &dyn LogDensity) -> Self {
        Self {
            replicates: self.replicates && density.has_predictions(),
            log_likelihood: self.log_likelihood && density.has_log_likelihood(),
        }
    }

    /// Returns the quantities that `self` or `other` wants.
    pub fn or(self, other: Self) -> Self {
        Self {
            replicates: self.replicates || other.replicates,
            log_likelihood: self.log_likelihood || other.log_likelihood,
        }
    }
}

/// Replicated observations and log likelihoods of a few draws of each chain; a quantity that was not wanted, or that the model
/// cannot make, is empty.
pub struct Predictive {
    /// One replicated data set for each chosen draw, chain after chain.
    pub replicates: Vec<Vec<f64>>,
    /// The log likelihoods of all observations for each chosen draw, chain after chain.
    pub log_likelihood: Vec<Vec<f64>>,
    /// The numbers of the draws that were chosen in each chain.
    pub draws: Vec<usize>,
    chains: usize,
    variables: Vec<ObservedVariable>,
}

impl Predictive {
    /// Makes the wanted quantities from at most `per_chain` draws of each chain, evenly spread. The random numbers are
    /// addressed by chain and draw, so that a draw's replicate does not depend on which others are chosen.
    ///
    /// Everything is computed on the CPU and in f64, wherever and in whatever precision the chains ran. A GPU would
    /// give the same bits in f64, and would coarsen the noise to 23 bits in f32; and a few hundred replicates take
    /// hundredths of a second on the CPU, which is no reason to open a GPU
    /// (docs/decisions/17-replicates-on-the-cpu.md).
    ///
    /// # Errors
    /// When the trace lacks the unconstrained positions of the draws.
    pub fn new(
        data: &InferenceData,
        problem: &dyn Problem,
        seed: u64,
        per_chain: usize,
        wanted: PredictiveParts,
    ) -> Result<Self, TraceError> {
        let model = problem.density();
        let wanted = wanted.of(model);
        let positions = Positions::new(data, model)?;
        let count = per_chain.min(positions.draws);
        let draws: Vec<usize> = (0..count).map(|k| k * positions.draws / count).collect();
        let (observations, predictions) = (model.observations(), model.predictions());
        let mut position = vec![0.0; model.dim()];
        let (mut replicates, mut log_likelihood) = (Vec::new(), Vec::new());
        for chain in 0..positions.chains {
            for &draw in &draws {
                positions.read(chain, draw, &mut position);
                if wanted.replicates {
                    let address = DrawAddress { seed, chain: chain as u32, draw: draw as u32 };
                    let mut random = address.stream();
                    let mut replicate = vec![0.0; predictions];
                    model.predict(&position, &mut random, &mut replicate);
                    replicates.push(replicate);
                }
                if wanted.log_likelihood {
                    let mut terms = vec![0.0; observations];
                    model.log_likelihood(&position, &mut terms);
                    log_likelihood.push(terms);
                }
            }
        }
        Ok(Self {
            replicates,
            log_likelihood,
            draws,
            chains: positions.chains,
            variables: problem.observed_variables(),
        })
    }

    /// Adds the groups `posterior_predictive` and `log_likelihood`, each if its quantity was made. Draws keep the
    /// labels that they have in the posterior.
    pub fn add_groups(&self, data: &mut InferenceData) {
        let labels = Labels::Integers(self.draws.iter().map(|&draw| draw as i64).collect());
        let numbers: fn(&ObservedVariable) -> &Dim = |variable| &variable.numbers;
        let terms: fn(&ObservedVariable) -> &Dim = |variable| &variable.terms;
        for (group, rows, axis) in
            [("posterior_predictive", &self.replicates, numbers), ("log_likelihood", &self.log_likelihood, terms)]
        {
            if rows.is_empty() {
                continue;
            }
            let mut dataset = Dataset::default();
            dataset.coords.insert("chain".into(), Labels::Range(self.chains));
            dataset.coords.insert("draw".into(), labels.clone());
            add_variables(&mut dataset, &self.variables, axis, (self.chains, self.draws.len()), rows);
            data.insert(group, dataset);
        }
    }
}

/// Adds variables whose numbers stand one after the other in each row, a row for each draw.
pub(crate) fn add_variables(
    dataset: &mut Dataset,
    variables: &[ObservedVariable],
    axis: fn(&ObservedVariable) -> &Dim,
    (chains, draws): (usize, usize),
    rows: &[Vec<f64>],
) {
    let mut from = 0;
    for variable in variables {
        let Dim { name, labels } = axis(variable);
        let count = labels.len();
        // The program's own log likelihoods are of one variable.
        if count == 0 {
            continue;
        }
        let own = rows.iter().flat_map(|row| row.get(from..from + count).unwrap_or_default());
        let axes = [("chain", chains), ("draw", draws), (name.as_str(), count)];
        dataset.insert(&variable.name, Array::new(axes, Values::F64(own.copied().collect())));
        dataset.coords.insert(name.clone(), labels.clone());
        from += count;
    }
}

/// Draws from the prior, and observations made from each.
pub struct PriorDraws {
    /// The draws of the model's variables.
    pub parameters: Dataset,
    /// The observations made from these draws, where the model has any.
    predictive: Dataset,
}

impl PriorDraws {
    /// Makes draws from the prior as ArviZ keeps them: one chain of `draws` draws. The random numbers are addressed by
    /// the draw's number.
    ///
    /// # Errors
    /// When the model has no simulator, which is what draws from its prior.
    pub fn new(problem: &dyn Problem, seed: u64, draws: usize) -> Result<Self, TraceError> {
        let model = problem.density();
        let none = || match problem.simulator_obstacle() {
            Some(why) => TraceError::lacks(format!("{} does not say how its prior is drawn from: {why}", model.name())),
            None => TraceError::lacks(format!("{} has no simulator that draws from its prior", model.name())),
        };
        let simulator = problem.simulator().ok_or_else(none)?;
        let layout = model.layout();
        let mut expanded = vec![0.0; layout.width()];
        let mut variables: Vec<Vec<f64>> = vec![Vec::new(); layout.variables.len()];
        let mut replicated = Vec::with_capacity(draws);
        for draw in 0..draws {
            let mut random = Stream::new(seed, 0, draw as u32, Purpose::Prior);
            let position = simulator.draw_parameters(&mut random);
            model.expand(&position, &mut expanded);
            for ((_, range), values) in layout.ranges().zip(&mut variables) {
                values.extend_from_slice(&expanded[range]);
            }
            let mut numbers = vec![0.0; model.predictions()];
            model.predict(&position, &mut random, &mut numbers);
            replicated.push(numbers);
        }
        let mut parameters = Dataset::default();
        for (variable, values) in layout.variables.iter().zip(variables) {
            let dims = variable.dims.iter().map(|dim| (dim.name.as_str(), dim.labels.len()));
            let axes = [("chain", 1), ("draw", draws)].into_iter().chain(dims);
            for dim in &variable.dims {
                parameters.coords.insert(dim.name.clone(), dim.labels.clone());
            }
            parameters.insert(&variable.name, Array::new(axes, Values::F64(values)));
        }
        let mut predictive = Dataset::default();
        if model.has_predictions() {
            let variables = problem.observed_variables();
            add_variables(&mut predictive, &variables, |variable| &variable.numbers, (1, draws), &replicated);
        }
        Ok(Self { parameters, predictive })
    }

    /// Adds the groups `prior` and, where the model has observations, `prior_predictive`.
    pub fn add_groups(self, data: &mut InferenceData) {
        data.insert("prior", self.parameters);
        if !self.predictive.variables.is_empty() {
            data.insert("prior_predictive", self.predictive);
        }
    }
}

/// The unconstrained positions in the arrays of a trace.
pub(crate) struct Positions<'a> {
    /// For each parameter: its first coordinate, its width, and its values.
    parts: Vec<(usize, usize, &'a [f64])>,
    pub(crate) chains: usize,
    pub(crate) draws: usize,
}

impl<'a> Positions<'a> {
    pub(crate) fn new(data: &'a InferenceData, model: &dyn LogDensity) -> Result<Self, TraceError> {
        let group = data
            .group("unconstrained_posterior")
            .ok_or_else(|| TraceError::lacks("the trace has no unconstrained_posterior"))?;
        let wrong = |what: String| TraceError::lacks(what);
        // The positions of a model whose parameters do not name each coordinate stand as they are.
        if let Some(array) = group.get(UNCONSTRAINED)
            && let Values::F64(values) = &array.values
            && array.is_sampled()
            && array.elements(2) == model.dim()
        {
            let parts = vec![(0, model.dim(), values.as_slice())];
            return Ok(Self { parts, chains: array.chains(), draws: array.draws() });
        }
        let mut parts = Vec::new();
        let mut shape = None;
        for variable in &model.layout().variables {
            let Role::Parameter { offset, .. } = variable.role else { continue };
            let name = &variable.name;
            let array = group.get(name).ok_or_else(|| wrong(format!("the trace lacks the positions of {name}")))?;
            let Values::F64(values) = &array.values else {
                return Err(wrong(format!("the positions of {name} are no real numbers")));
            };
            if array.elements(2) != variable.len() || !array.is_sampled() {
                return Err(wrong(format!("the positions of {name} have another shape than the model's")));
            }
            shape = Some((array.chains(), array.draws()));
            parts.push((offset, variable.len(), values.as_slice()));
        }
        let (chains, draws) = shape.ok_or_else(|| wrong("the model has no parameter".to_owned()))?;
        Ok(Self { parts, chains, draws })
    }

    pub(crate) fn read(&self, chain: usize, draw: usize, position: &mut [f64]) {
        let row = chain * self.draws + draw;
        for &(offset, width, values) in &self.parts {
            position[offset..offset + width].copy_from_slice(&values[row * width..(row + 1) * width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::{HierarchicalNormalModel, Model};
    use std::sync::Arc;

    const CHAINS: usize = 3;
    const DRAWS: usize = 40;

    /// A coordinate of every draw: all are at one place, so that replicates differ by their noise alone.
    const PLACE: f64 = 0.25;

    fn problem() -> Arc<dyn Problem> {
        let settings = "[data.synthetic]\ngroups = 3\nper_group = 4".parse().unwrap();
        HierarchicalNormalModel.build(&settings, None).unwrap()
    }

    fn at_one_place(problem: &dyn Problem) -> InferenceData {
        let mut positions = Dataset::default();
        for variable in &problem.density().layout().variables {
            let Role::Parameter { .. } = variable.role else { continue };
            let dims = variable.dims.iter().map(|dim| (dim.name.as_str(), dim.labels.len()));
            let axes = [("chain", CHAINS), ("draw", DRAWS)].into_iter().chain(dims);
            let values = vec![PLACE; CHAINS * DRAWS * variable.len()];
            positions.insert(&variable.name, Array::new(axes, Values::F64(values)));
        }
        let mut data = InferenceData::default();
        data.insert("unconstrained_posterior", positions);
        data
    }

    fn replicates(seed: u64, per_chain: usize) -> Vec<Vec<f64>> {
        let problem = problem();
        let data = at_one_place(&*problem);
        Predictive::new(&data, &*problem, seed, per_chain, PredictiveParts::ALL).unwrap().replicates
    }

    #[test]
    fn every_chain_and_every_draw_has_noise_of_its_own() {
        let [first, other] = [1, 2].map(|seed| replicates(seed, DRAWS));
        let all: Vec<&Vec<f64>> = first.iter().chain(&other).collect();
        assert_eq!((first.len(), all[0].len()), (CHAINS * DRAWS, 12));
        for (i, one) in all.iter().enumerate() {
            for (j, another) in all.iter().enumerate().skip(i + 1) {
                assert!(one.iter().zip(*another).all(|(a, b)| a != b), "replicates {i} and {j} share noise");
            }
        }
        // Every group has the mean mu_pop + sigma_pop z, and the noise around it is sigma_obs times a standard normal.
        let scale = PLACE.exp();
        let noise: Vec<f64> = all.into_iter().flatten().map(|y| (y - (PLACE + scale * PLACE)) / scale).collect();
        let count = noise.len() as f64;
        let [mean, square] = [1, 2].map(|power| noise.iter().map(|z| z.powi(power)).sum::<f64>() / count);
        assert!(
            mean.abs() < 4.0 / count.sqrt() && (square - 1.0).abs() < 4.0 * (2.0 / count).sqrt(),
            "{mean} {square}"
        );
    }

    #[test]
    fn a_replicate_does_not_depend_on_which_others_are_made() {
        let (all, few) = (replicates(1, DRAWS), replicates(1, 4));
        let chosen: Vec<_> = (0..CHAINS * DRAWS).step_by(DRAWS / 4).map(|row| all[row].clone()).collect();
        assert_eq!(few, chosen);
    }
}
