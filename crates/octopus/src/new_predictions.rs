//! Predictions of new data by a model that was sampled.

use crate::TraceError;
use crate::observed::{Positions, add_variables};
use octopus_density::{DrawAddress, Labels};
use octopus_diag::quantile_of_sorted;
use octopus_models::{ObservedVariable, Predictor, Problem};
use octopus_trace::{Dataset, InferenceData};

/// New data, drawn once for each of some posterior draws.
pub struct NewPredictions {
    variables: Vec<ObservedVariable>,
    constant: Dataset,
    /// The numbers of all variables, chain after chain.
    rows: Vec<Vec<f64>>,
    chains: usize,
    draws: Vec<usize>,
    /// How many draws could not be made; their numbers are NaN.
    pub failed: usize,
    /// Why the first one could not.
    pub first_failure: Option<String>,
}

/// A predicted number over all draws that could be made.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedNumber {
    /// Its name, e.g. `y[3]`.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The quantiles at 5, 50 and 95 %.
    pub quantiles: [f64; 3],
}

impl NewPredictions {
    /// Draws new data for at most `per_chain` draws of each chain, evenly spread. Random numbers are addressed by chain and
    /// draw, so that a prediction does not depend on which others are made.
    ///
    /// # Errors
    /// When the trace lacks the unconstrained positions of the draws.
    pub fn new(
        data: &InferenceData,
        problem: &dyn Problem,
        predictor: &dyn Predictor,
        seed: u64,
        per_chain: usize,
    ) -> Result<Self, TraceError> {
        let density = problem.density();
        let positions = Positions::new(data, density)?;
        let count = per_chain.min(positions.draws);
        let draws: Vec<usize> = (0..count).map(|k| k * positions.draws / count).collect();
        let variables = predictor.variables();
        let width = variables.iter().map(|variable| variable.numbers.labels.len()).sum();
        let mut position = vec![0.0; density.dim()];
        let (mut rows, mut failed, mut first_failure) = (Vec::new(), 0, None);
        for chain in 0..positions.chains {
            for &draw in &draws {
                positions.read(chain, draw, &mut position);
                let mut random = DrawAddress { seed, chain: chain as u32, draw: draw as u32 }.stream();
                rows.push(predictor.predict(&position, &mut random).unwrap_or_else(|reason| {
                    failed += 1;
                    first_failure.get_or_insert(reason);
                    vec![f64::NAN; width]
                }));
            }
        }
        let (chains, constant) = (positions.chains, predictor.constant_data());
        Ok(Self { variables, constant, rows, chains, draws, failed, first_failure })
    }

    /// Returns the predicted numbers, one after the other in each row.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// Returns the predictions as a group, whose draws keep the labels that they have in the posterior.
    pub fn dataset(&self) -> Dataset {
        let mut dataset = Dataset::default();
        dataset.coords.insert("chain".into(), Labels::Range(self.chains));
        let labels = self.draws.iter().map(|&draw| draw as i64).collect();
        dataset.coords.insert("draw".into(), Labels::Integers(labels));
        let shape = (self.chains, self.draws.len());
        add_variables(&mut dataset, &self.variables, |variable| &variable.numbers, shape, &self.rows);
        dataset
    }

    /// Adds ArviZ's groups `predictions` and `predictions_constant_data`.
    pub fn add_groups(&self, data: &mut InferenceData) {
        data.insert("predictions", self.dataset());
        if !self.constant.variables.is_empty() {
            data.insert("predictions_constant_data", self.constant.clone());
        }
    }

    /// Sums up each predicted number.
    pub fn summary(&self) -> Vec<PredictedNumber> {
        let mut from = 0;
        let mut all = Vec::new();
        for variable in &self.variables {
            let labels = &variable.numbers.labels;
            for at in 0..labels.len() {
                let mut values: Vec<f64> = self.rows.iter().map(|row| row[from + at]).filter(|x| !x.is_nan()).collect();
                values.sort_by(f64::total_cmp);
                let count = values.len() as f64;
                let mean = values.iter().sum::<f64>() / count;
                let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                all.push(PredictedNumber {
                    name: format!("{}[{}]", variable.name, labels.text(at)),
                    mean,
                    sd: (square / (count - 1.0)).sqrt(),
                    quantiles: [0.05, 0.5, 0.95].map(|prob| quantile_of_sorted(&values, prob)),
                });
            }
            from += labels.len();
        }
        all
    }
}
