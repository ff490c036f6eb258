//! The convergence story of every parameter: how its effective sample size grew, and what each chain says.

mod ranks;

use octopus_diag::ParameterSummary;
use octopus_trace::Dataset;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::draws::{ElementDraws, elements, first_draws, summarise};
use crate::error::ReportError;
use crate::nullable;

/// Steps at which the growth of effective sample sizes is looked at: eighths of the draws.
const STEPS: usize = 8;
/// Chains that one story tells apart; more are put together with their neighbours.
const MOST_CHAINS: usize = 16;

/// The stories of all parameters, beyond their summaries. Numbers have few digits: they are for looking at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stories {
    /// The number of neighbouring chains that are put together as one; 1 with up to 16 chains.
    pub chains_together: usize,
    /// The numbers of first draws of each chain for which effective sample sizes are given; the last is all draws.
    pub draws: Vec<usize>,
    /// One story for each parameter, in the order of the posterior.
    pub parameters: Vec<ParameterStory>,
}

/// The story of one parameter. Lists are by chain (or chains put together), or by [`Stories::draws`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterStory {
    /// The name of the parameter, e.g. `mu_group[berlin]`.
    pub name: String,
    /// Mean of each chain.
    #[serde(with = "nullable::list")]
    pub means: Vec<f64>,
    /// Standard deviation of each chain (divisor n - 1).
    #[serde(with = "nullable::list")]
    pub sds: Vec<f64>,
    /// The ranks of each chain's draws: how many are among the lowest twentieth of all chains' draws, how many among
    /// the next, and so on (Vehtari et al. 2021, rank plots); empty where a draw is not finite.
    pub ranks: Vec<Vec<u32>>,
    /// Bulk effective sample size of the first draws, for each of [`Stories::draws`].
    #[serde(with = "nullable::list")]
    pub ess_bulk: Vec<f64>,
    /// Tail effective sample size of the first draws, for each of [`Stories::draws`].
    #[serde(with = "nullable::list")]
    pub ess_tail: Vec<f64>,
    /// The autocorrelation time for the mean: draws divided by their effective number (sd / MCSE)^2, that is, the
    /// number of draws that are worth one independent draw.
    #[serde(with = "nullable")]
    pub autocorrelation_time: f64,
}

impl Stories {
    /// Tells the stories of all numbers of `posterior`, whose variables are `chain x draw x ...`. With `superchains`
    /// groups of chains that began together, effective sample sizes are those of [`octopus_diag::summary_of_many`].
    ///
    /// # Errors
    /// [`ReportError::Diagnose`] when the posterior is damaged or the chains cannot be divided into `superchains`
    /// groups.
    pub fn from_posterior(posterior: &Dataset, superchains: Option<usize>) -> Result<Self, ReportError> {
        let elements: Vec<ElementDraws<'_>> = elements(posterior).collect();
        let Some((chains, draws)) = elements.first().map(|element| (element.chains, element.draws)) else {
            return Ok(Self::default());
        };
        let together = together(chains, superchains);
        let steps: Vec<usize> = (1..=STEPS).map(|step| (step * draws).div_ceil(STEPS)).collect();
        let mut steps: Vec<usize> = steps.into_iter().filter(|&step| step >= 4).collect();
        steps.dedup();
        let grown = steps
            .iter()
            .map(|&step| Ok(summarise(&first_draws(posterior, step), superchains)?.parameters))
            .collect::<Result<Vec<Vec<ParameterSummary>>, ReportError>>()?;
        let parameters = elements
            .par_iter()
            .enumerate()
            .map(|(i, element)| {
                let of = |figure: fn(&ParameterSummary) -> f64| {
                    grown.iter().filter_map(|found| found.get(i)).map(|found| rounded(figure(found))).collect()
                };
                let full = grown.last().and_then(|found| found.get(i));
                let size = (chains * draws) as f64;
                let time = full.map_or(f64::NAN, |found| size * (found.mcse_mean / found.sd).powi(2));
                let (values, each) = (element.pooled(), together * draws);
                let all = sd(&values);
                ParameterStory {
                    name: element.name.clone(),
                    means: values.chunks(each).map(|chain| rounded_by(mean(chain), all)).collect(),
                    sds: values.chunks(each).map(|chain| rounded(sd(chain))).collect(),
                    ranks: ranks::counts(&values, each),
                    ess_bulk: of(|found| found.ess_bulk),
                    ess_tail: of(|found| found.ess_tail),
                    autocorrelation_time: rounded(time),
                }
            })
            .collect();
        Ok(Self { chains_together: together, draws: steps, parameters })
    }
}

/// Returns the number of neighbouring chains that make one of at most [`MOST_CHAINS`]: whole superchains, the same
/// number in each.
fn together(chains: usize, superchains: Option<usize>) -> usize {
    let begun = superchains.filter(|&groups| groups > 0 && chains.is_multiple_of(groups)).map_or(1, |n| chains / n);
    if chains <= MOST_CHAINS {
        return 1;
    }
    let fits = |&each: &usize| chains.is_multiple_of(each) && chains / each <= MOST_CHAINS;
    (1..=chains / begun).map(|groups| groups * begun).find(fits).unwrap_or(chains)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sd(values: &[f64]) -> f64 {
    let center = mean(values);
    let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// Rounds to a ten-thousandth of `sd`: a place far from 0 needs more digits than others to be told apart.
fn rounded_by(value: f64, sd: f64) -> f64 {
    const MOST: i32 = 17;
    let decimals = 4 - if sd > 0.0 { sd.log10().floor() as i32 } else { -MOST };
    if decimals > MOST { value } else { format!("{value:.0$}", decimals.max(0) as usize).parse().unwrap_or(f64::NAN) }
}

/// Rounds to five digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, Shape};
    use octopus_diag::{Chains, ess_bulk, ess_mean, ess_tail};
    use octopus_trace::{Array, Values};

    const SHAPE: Shape = Shape { groups: 3, chains: 4, draws: 160, truth: true, divergences: false };

    #[test]
    fn figures_are_those_of_the_first_draws_of_each_chain() {
        let posterior = Sample::new(SHAPE).posterior;
        let stories = Stories::from_posterior(&posterior, None).unwrap();
        assert_eq!((stories.chains_together, stories.draws.as_slice()), (1, &[20, 40, 60, 80, 100, 120, 140, 160][..]));
        assert_eq!(stories.parameters.len(), 9);
        // One element, taken out of its array by hand.
        let story = stories.parameters.iter().find(|story| story.name == "mu_group[1]").unwrap();
        let all: Vec<f64> = posterior.get("mu_group").unwrap().values.to_f64().into_iter().skip(1).step_by(3).collect();
        let rows: Vec<&[f64]> = all.chunks(160).collect();
        for (step, &draws) in stories.draws.iter().enumerate() {
            let first: Vec<f64> = rows.iter().flat_map(|row| &row[..draws]).copied().collect();
            let chains = Chains::new(&first, 4, draws).unwrap();
            assert_eq!(story.ess_bulk[step], rounded(ess_bulk(&chains)), "{draws}");
            assert_eq!(story.ess_tail[step], rounded(ess_tail(&chains)), "{draws}");
            if draws == 160 {
                let time = 640.0 / ess_mean(&chains);
                assert!((story.autocorrelation_time / time - 1.0).abs() < 1e-4, "{story:?} {time}");
            }
        }
        for (chain, row) in rows.iter().enumerate() {
            assert!((story.means[chain] - mean(row)).abs() <= 1e-4 * sd(&all));
            assert_eq!(story.sds[chain], rounded(sd(row)));
            assert_eq!(story.ranks[chain].iter().sum::<u32>(), 160);
        }
        assert_eq!(sd(&[1.0, 2.0, 3.0]), 1.0);
        for (value, sd, expected) in [
            (49.421_234, 1.02, 49.4212),
            (12_345.678_912_3, 0.1, 12_345.678_91),
            (123_456.7, 1e6, 123_457.0),
            (1.0 / 3.0, 0.0, 1.0 / 3.0),
            (1.0 / 3.0, 1e-20, 1.0 / 3.0),
            (1.234_567_890_123_456_8e-5, 5e-13, 1.234_567_890_123e-5),
        ] {
            assert_eq!(rounded_by(value, sd), expected, "{value} {sd}");
        }
        assert!(rounded_by(f64::NAN, 1.0).is_nan() && rounded_by(1.0, f64::NAN) == 1.0);
    }

    #[test]
    fn many_chains_are_put_together_by_whole_superchains() {
        for (chains, superchains, each) in [
            (4, None, 1),
            (16, Some(4), 1),
            (64, None, 4),
            (64, Some(16), 4),
            (64, Some(4), 16),
            (1024, Some(64), 64),
            (17, None, 17),
            (20, Some(7), 2),
            (64, Some(7), 4),
            (64, Some(0), 4),
            (0, Some(0), 1),
        ] {
            assert_eq!(together(chains, superchains), each, "{chains} {superchains:?}");
        }
        let shape = Shape { groups: 1, chains: 64, draws: 10, ..SHAPE };
        let stories = Stories::from_posterior(&Sample::new(shape).posterior, Some(16)).unwrap();
        assert_eq!(stories.chains_together, 4);
        assert_eq!(stories.draws, [4, 5, 7, 8, 9, 10], "of fewer than 4 draws nothing can be said");
        assert!(stories.parameters.iter().all(|story| story.means.len() == 16 && story.ranks.len() == 16));
        assert!(stories.parameters[0].ess_bulk.iter().all(|ess| ess.is_finite()));
        let error = Stories::from_posterior(&Sample::new(shape).posterior, Some(7)).unwrap_err();
        assert!(error.to_string().contains("7 of 64 chains"), "{error}");
    }

    #[test]
    fn what_is_constant_not_finite_or_not_there_is_told_all_the_same() {
        assert_eq!(Stories::from_posterior(&Dataset::default(), None).unwrap(), Stories::default());
        let mut posterior = Dataset::default();
        let mut add = |name: &str, values: Vec<f64>| {
            posterior.variables.insert(name.to_owned(), Array::new([("chain", 2), ("draw", 4)], Values::F64(values)));
        };
        add("still", vec![3.0; 8]);
        add("broken", vec![1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let stories = Stories::from_posterior(&posterior, None).unwrap();
        let [still, broken] = &stories.parameters[..] else { panic!("{stories:?}") };
        assert_eq!((still.means.as_slice(), still.sds.as_slice()), (&[3.0, 3.0][..], &[0.0, 0.0][..]));
        assert!(still.autocorrelation_time.is_nan());
        assert!(broken.ranks.is_empty() && broken.means[0].is_nan() && broken.means[1] == 6.5);
        let json = serde_json::to_string(&stories).unwrap();
        assert!(serde_json::from_str::<Stories>(&json).unwrap().parameters[1].means[0].is_nan());
    }
}
