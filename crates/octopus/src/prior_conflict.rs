//! Whether the data contradict the priors: a posterior that lies where the prior has nothing.

use octopus_diag::ParameterSummary;
use octopus_models::Problem;
use octopus_random::{Purpose, Stream};
use octopus_report::significant;

/// The draws from the prior that a posterior is held against.
const DRAWS: usize = 1000;
/// The most numbers that are made for it: of a model with very many variables nothing is told.
const MOST: usize = 4_000_000;
/// How far beyond the prior's draws a posterior mean must lie, as a share of their range. Of a normal prior that is about
/// 5 standard deviations from its mean.
const MARGIN: f64 = 0.25;

/// A scalar whose posterior lies where its prior has nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorConflict {
    /// The variable's name.
    pub name: String,
    /// The posterior mean.
    pub mean: f64,
    /// The least and the greatest of 1000 draws from the prior.
    pub prior: (f64, f64),
    /// The options of priors on the scale of the data, where the model has some.
    pub options: Option<String>,
}

impl std::fmt::Display for PriorConflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, mean, prior: (least, most), options } = self;
        let [mean, least, most] = [*mean, *least, *most].map(|value| significant(value, 3));
        write!(
            f,
            "the data contradict the prior of {name}: its posterior mean is {mean}, and {DRAWS} draws from the prior lie \
             from {least} to {most}; change the prior "
        )?;
        match options {
            Some(options) => write!(f, "(on the scale of the data it is `{options}`) or the data's units"),
            None => write!(f, "(see `octopus sample --help`) or the data's units"),
        }
    }
}

/// Returns the scalars whose posterior means lie far outside of draws from the prior; none where the model does not draw
/// from its prior.
pub fn prior_conflicts(problem: &dyn Problem, seed: u64, posterior: &[ParameterSummary]) -> Vec<PriorConflict> {
    let (density, layout) = (problem.density(), problem.density().layout());
    if DRAWS * layout.width() > MOST {
        return Vec::new();
    }
    let Some(simulator) = problem.simulator() else { return Vec::new() };
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); layout.width()];
    let mut expanded = vec![0.0; layout.width()];
    for draw in 0..DRAWS {
        let mut random = Stream::new(seed, 0, draw as u32, Purpose::Prior);
        density.expand(&simulator.draw_parameters(&mut random), &mut expanded);
        for (range, value) in ranges.iter_mut().zip(&expanded) {
            *range = (range.0.min(*value), range.1.max(*value));
        }
    }
    let scalars = layout.ranges().filter(|(variable, _)| variable.dims.is_empty());
    let conflict = |(variable, at): (&octopus_trace::Variable, std::ops::Range<usize>)| {
        let (least, most) = ranges[at.start];
        let mean = posterior.iter().find(|parameter| parameter.name == variable.name)?.mean;
        let margin = MARGIN * (most - least);
        let outside = mean < least - margin || mean > most + margin;
        let options = problem.priors_of_data();
        outside.then(|| PriorConflict { name: variable.name.clone(), mean, prior: (least, most), options })
    };
    scalars.filter_map(conflict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::{HierarchicalNormalModel, Model};

    #[test]
    fn means_far_outside_of_the_prior_are_named() {
        let problem = HierarchicalNormalModel.build(&Default::default(), None).unwrap();
        let found = |mu_pop: f64, sigma_pop: f64| {
            let parameter = |name: &str, mean| ParameterSummary { name: name.to_owned(), mean, ..Default::default() };
            let summary = [parameter("mu_pop", mu_pop), parameter("sigma_pop", sigma_pop), parameter("sigma_obs", 2.0)];
            let conflicts = prior_conflicts(&*problem, 42, &summary);
            conflicts.into_iter().map(|conflict| conflict.name).collect::<Vec<_>>()
        };
        // Normal(50, 20) and HalfNormal(15): four standard deviations are no contradiction, six are.
        assert!(found(50.0 + 80.0, 10.0).is_empty() && found(50.0 - 80.0, 1e-3).is_empty());
        assert_eq!(found(50.0 + 120.0, 10.0), ["mu_pop"]);
        assert_eq!(found(50.0 - 120.0, 90.0), ["mu_pop", "sigma_pop"]);
        // HalfNormal has nothing below 0 to be far from.
        assert!(found(50.0, 0.0).is_empty());
        let words = PriorConflict {
            name: "mu_pop".to_owned(),
            mean: 166.2,
            prior: (-14.0, 113.5),
            options: Some("--mu-mean 166".to_owned()),
        }
        .to_string();
        assert!(
            words.starts_with("the data contradict the prior of mu_pop: its posterior mean is 166, and 1000 draws")
        );
        assert!(words.contains("from -14.0 to 114;") || words.contains("from -14.0 to 113;"), "{words}");
        assert!(words.ends_with("(on the scale of the data it is `--mu-mean 166`) or the data's units"), "{words}");
    }
}
