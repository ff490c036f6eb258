//! Two posteriors side by side: how far apart they are, and whether chance explains it.
//!
//! Means, standard deviations and quantiles are compared in Monte Carlo standard errors (z, p-values), and draws by the
//! Wasserstein distance.

use crate::chains::{Chains, has_nan};
use crate::error::DiagError;
use crate::estimators::mcse::mcse_quantile;
use crate::estimators::ranks::holm;
use crate::numbers::order::{Sorted, quantile};
use crate::numbers::scale::unit;
use crate::numbers::tails::normal_beyond;
use crate::pairing::{LabelPairing, by_value, counted_from, pair_labels};
use crate::summary::parameter::ParameterSummary;
use crate::summary::{DEFAULT_PROB, Summary, numeric, summarise};
use octopus_trace::{Array, Dataset, Values};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The quantiles that are compared.
pub const COMPARED_QUANTILES: [f64; 3] = [0.05, 0.5, 0.95];

/// What two posteriors say of one number. Differences are the second posterior's number less the first's.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDifference {
    /// The element's name, e.g. `mu_group[berlin]`.
    pub name: String,
    /// The means of the first and the second posterior.
    pub mean: [f64; 2],
    /// The standard deviations of the first and the second posterior.
    pub sd: [f64; 2],
    /// The [quantiles](COMPARED_QUANTILES) of the first and the second posterior.
    pub quantiles: [[f64; 3]; 2],
    /// Difference of the means, divided by the larger of the first posterior's |mean| and its standard deviation: where
    /// the mean is near 0, every difference would be a large fraction of it.
    pub relative_mean: f64,
    /// Difference of the standard deviations, divided by the first posterior's.
    pub relative_sd: f64,
    /// Difference of the means in its Monte Carlo standard errors; 0 where both are constant and equal.
    pub z_mean: f64,
    /// Difference of the standard deviations in its Monte Carlo standard errors.
    pub z_sd: f64,
    /// Differences of the quantiles in their Monte Carlo standard errors; NaN where chains are too short to tell them.
    pub z_quantiles: [f64; 3],
    /// Wasserstein distance of order 1, in the quantity's units: how far draws of the first posterior must be moved on
    /// average to make the second's. `scipy.stats.wasserstein_distance`.
    pub wasserstein: f64,
    /// The smallest p-value of the parameter's z values, adjusted for all z of all parameters ([`holm`](crate::holm)).
    pub p_value: f64,
}

impl ParameterDifference {
    /// Returns the z that is farthest from 0; NaN where there is none.
    pub fn worst_z(&self) -> f64 {
        self.all_z().filter(|z| !z.is_nan()).fold(f64::NAN, |worst, z| if z.abs() <= worst.abs() { worst } else { z })
    }

    /// Returns the Wasserstein distance in standard deviations of the first.
    pub fn wasserstein_sds(&self) -> f64 {
        over(self.wasserstein, self.sd[0])
    }

    fn all_z(&self) -> impl Iterator<Item = f64> {
        [self.z_mean, self.z_sd].into_iter().chain(self.z_quantiles)
    }
}

/// How two posteriors differ.
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorDifference {
    /// The summaries of both.
    pub summaries: [Summary; 2],
    /// The parameters that both have, in the order of the first.
    pub parameters: Vec<ParameterDifference>,
    /// Parameters that only the first has.
    pub only_first: Vec<String>,
    /// Parameters that only the second has.
    pub only_second: Vec<String>,
    /// Variables whose elements have other labels in the two, and were paired in the order in which they stand: the names
    /// of the first element in the first posterior and in the second.
    pub by_position: Vec<[String; 2]>,
    /// Root mean square difference of the means over that of their scales, each the larger of |mean| and standard deviation.
    pub rmse: f64,
}

impl PosteriorDifference {
    /// Returns the parameter where `size` is largest; NaN counts as largest.
    pub fn largest(&self, size: impl Fn(&ParameterDifference) -> f64) -> Option<&ParameterDifference> {
        let key = |p: &ParameterDifference| if size(p).is_nan() { f64::INFINITY } else { size(p).abs() };
        self.parameters.iter().max_by(|a, b| key(a).total_cmp(&key(b)))
    }

    /// Returns the smallest adjusted p-value: what chance would do as far as this or farther anywhere.
    pub fn p_value(&self) -> f64 {
        self.parameters.iter().map(|p| p.p_value).fold(1.0, |least, p| if p >= least { least } else { p })
    }
}

/// Compares the numbers that two posteriors of independent draws have in common, by name. With `superchains` the first or
/// the second is a run of many short chains, as in [`summary_of_many`](crate::summary_of_many).
///
/// A variable that both have with as many elements, of which one counts them without labels, from 0 or from 1, is paired
/// as a whole, in the order of its elements. Columns such as `theta[1]`, `theta[2]` are the elements of one variable. Draws that are the same in both are no different, whatever they are.
///
/// Standard errors are those of [`mcse_mean`](crate::mcse_mean), [`mcse_sd`](crate::mcse_sd) and
/// [`mcse_quantile`](crate::mcse_quantile), added in squares; they mean something only of chains that have converged.
/// A number that is constant in both and the same has z = 0.
///
/// # Errors
/// When a posterior cannot be summarised (see [`summary`](crate::summary)); [`DiagError::NothingInCommon`] when no name
/// is in both.
pub fn posterior_difference(
    first: &Dataset,
    second: &Dataset,
    superchains: [Option<usize>; 2],
) -> Result<PosteriorDifference, DiagError> {
    let summaries = [summarise(first, DEFAULT_PROB, superchains[0])?, summarise(second, DEFAULT_PROB, superchains[1])?];
    let elements = [elements(first), elements(second)];
    let Common { pairs, by_position } = common(first, second);
    if pairs.is_empty() {
        let [first, second] = [0, 1].map(|i| summaries[i].parameters.first().map_or(String::new(), |p| p.name.clone()));
        return Err(DiagError::NothingInCommon { first, second });
    }
    let parameters: Vec<ParameterDifference> = pairs
        .par_iter()
        .map(|&[a, b]| {
            let rows = [&summaries[0].parameters[a], &summaries[1].parameters[b]];
            difference(rows, [&elements[0][a].draws(), &elements[1][b].draws()], &summaries)
        })
        .collect::<Result<_, DiagError>>()?;
    let alone = |side: usize| -> Vec<String> {
        let paired: HashSet<usize> = pairs.iter().map(|pair| pair[side]).collect();
        let rows = summaries[side].parameters.iter().enumerate();
        rows.filter(|(row, _)| !paired.contains(row)).map(|(_, p)| p.name.clone()).collect()
    };
    let (only_first, only_second) = (alone(0), alone(1));
    let name = |side: usize, row: usize| summaries[side].parameters[row].name.clone();
    let by_position = by_position.into_iter().map(|[a, b]| [name(0, a), name(1, b)]).collect();
    let rmse = rmse(&parameters);
    Ok(PosteriorDifference { parameters: adjusted(parameters), only_first, only_second, by_position, rmse, summaries })
}

/// Which numbers of two posteriors are the same quantity, by their places among all.
struct Common {
    pairs: Vec<[usize; 2]>,
    /// The first elements of the variables that were paired in order.
    by_position: Vec<[usize; 2]>,
}

/// Pairs the numbers of two posteriors, family by family.
fn common(first: &Dataset, second: &Dataset) -> Common {
    let others = families(second);
    let mut found = Common { pairs: Vec::new(), by_position: Vec::new() };
    for (name, ours) in families(first) {
        let Some(theirs) = others.get(&name) else { continue };
        let pairing = (ours.rows.len() == theirs.rows.len()).then(|| pair_labels(&ours.labels, &theirs.labels));
        let from = (counted_from(&ours.labels), counted_from(&theirs.labels));
        let mut pair = |order: &[usize]| {
            found.pairs.extend(ours.rows.iter().zip(order).map(|(&row, &at)| [row, theirs.rows[at]]));
        };
        match pairing {
            Some(LabelPairing::Same) => found.pairs.extend(ours.rows.iter().zip(&theirs.rows).map(|(&a, &b)| [a, b])),
            Some(LabelPairing::Reordered(order)) => pair(&order),
            Some(LabelPairing::ByPosition(order)) => {
                pair(&order);
                found.by_position.push([ours.rows[0], theirs.rows[order[0]]]);
            }
            // Counted from different numbers, equal labels mean different elements.
            None if matches!(from, (Some(a), Some(b)) if a != b) => {}
            Some(LabelPairing::Different { .. }) | None => {
                let places: HashMap<&str, usize> =
                    theirs.labels.iter().map(String::as_str).zip(theirs.rows.iter().copied()).collect();
                let by_label = ours.labels.iter().zip(&ours.rows);
                found.pairs.extend(by_label.filter_map(|(label, &row)| Some([row, *places.get(label.as_str())?])));
            }
        }
    }
    found.pairs.sort_unstable();
    found
}

/// The elements of a variable, or of the columns that another program has made of one: `theta[1]`, `theta[2]`.
#[derive(Default)]
struct Family {
    /// The places of the elements among all numbers.
    rows: Vec<usize>,
    labels: Vec<String>,
}

/// Returns the families of a posterior by their names.
fn families(group: &Dataset) -> BTreeMap<String, Family> {
    let mut found: BTreeMap<String, Family> = BTreeMap::new();
    let elements = numeric(group).flat_map(|(name, array)| (0..array.elements(2)).map(move |index| (name, index)));
    for (row, (variable, index)) in elements.enumerate() {
        let element = group.element_text(variable, 2, index);
        let (name, label) = match element.strip_suffix(']').and_then(|element| element.split_once('[')) {
            Some((name, label)) => (name, label),
            None => (element.as_str(), ""),
        };
        let family = found.entry(name.to_owned()).or_default();
        family.rows.push(row);
        // R writes `1,2` where we write `1, 2`.
        family.labels.push(label.split(',').map(str::trim).collect::<Vec<_>>().join(", "));
    }
    found.values_mut().for_each(|family| family.labels = by_value(&family.labels));
    found
}

/// One number of a posterior: its place within a variable.
struct ComparedElement<'a> {
    array: &'a Array,
    index: usize,
}

impl ComparedElement<'_> {
    /// Returns the number's draws, chain after chain.
    fn draws(&self) -> Vec<f64> {
        fn pick<T: Copy>(values: &[T], index: usize, width: usize, real: impl Fn(T) -> f64) -> Vec<f64> {
            values.iter().skip(index).step_by(width).map(|&value| real(value)).collect()
        }
        let width = self.array.elements(2);
        match &self.array.values {
            Values::F64(values) => pick(values, self.index, width, |v| v),
            Values::I64(values) => pick(values, self.index, width, |v| v as f64),
            Values::Bool(values) => pick(values, self.index, width, |v| f64::from(u8::from(v))),
            Values::Strings(_) => Vec::new(),
        }
    }
}

/// Returns the numbers of a posterior, in the order of a summary's rows.
fn elements(posterior: &Dataset) -> Vec<ComparedElement<'_>> {
    numeric(posterior)
        .flat_map(|(_, array)| (0..array.elements(2)).map(|index| ComparedElement { array, index }))
        .collect()
}

fn difference(
    rows: [&ParameterSummary; 2],
    draws: [&[f64]; 2],
    summaries: &[Summary; 2],
) -> Result<ParameterDifference, DiagError> {
    let sorted = draws.map(|values| (!has_nan(values)).then(|| Sorted::of(values).values));
    let quantiles = [0, 1].map(|i| match &sorted[i] {
        Some(sorted) => COMPARED_QUANTILES.map(|prob| quantile(sorted, prob)),
        None => [f64::NAN; 3],
    });
    let mut z_quantiles = [f64::NAN; 3];
    // The error of a quantile comes from the correlations of draws, which short chains do not tell.
    if summaries.iter().all(|summary| summary.superchains.is_none()) {
        for (k, prob) in COMPARED_QUANTILES.into_iter().enumerate() {
            let mut errors = [0.0; 2];
            for i in 0..2 {
                errors[i] = mcse_quantile(&Chains::new(draws[i], summaries[i].chains, summaries[i].draws)?, prob)?;
            }
            z_quantiles[k] = z(quantiles[1][k] - quantiles[0][k], errors);
        }
    }
    let [a, b] = rows;
    let same_shape = summaries[0].chains == summaries[1].chains && summaries[0].superchains == summaries[1].superchains;
    if same_shape && draws[0].iter().map(|v| v.to_bits()).eq(draws[1].iter().map(|v| v.to_bits())) {
        return Ok(no_difference(rows, quantiles));
    }
    let apart = b.mean - a.mean;
    // The error of a constant's standard deviation is 0 / 0.
    let error_of_sd = |row: &ParameterSummary| if row.constant { 0.0 } else { row.mcse_sd };
    Ok(ParameterDifference {
        name: a.name.clone(),
        mean: [a.mean, b.mean],
        sd: [a.sd, b.sd],
        quantiles,
        relative_mean: over(apart, scale(a.mean, a.sd)),
        relative_sd: over(b.sd - a.sd, a.sd),
        z_mean: z(apart, [a.mcse_mean, b.mcse_mean]),
        z_sd: z(b.sd - a.sd, [error_of_sd(a), error_of_sd(b)]),
        z_quantiles,
        wasserstein: match &sorted {
            [Some(a), Some(b)] => wasserstein(a, b),
            _ => f64::NAN,
        },
        p_value: f64::NAN,
    })
}

/// What there is to say of the same draws: also where they have no standard deviation, or are not finite.
fn no_difference([a, b]: [&ParameterSummary; 2], quantiles: [[f64; 3]; 2]) -> ParameterDifference {
    ParameterDifference {
        name: a.name.clone(),
        mean: [a.mean, b.mean],
        sd: [a.sd, b.sd],
        quantiles,
        relative_mean: 0.0,
        relative_sd: 0.0,
        z_mean: 0.0,
        z_sd: 0.0,
        z_quantiles: [0.0; 3],
        wasserstein: 0.0,
        p_value: f64::NAN,
    }
}

fn scale(mean: f64, sd: f64) -> f64 {
    mean.abs().max(sd)
}

fn z(difference: f64, errors: [f64; 2]) -> f64 {
    over(difference, hypotenuse(errors[0], errors[1]))
}

/// Returns the root of the sum of two squares, of any size.
fn hypotenuse(a: f64, b: f64) -> f64 {
    let largest = a.abs().max(b.abs());
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    largest * ((a / largest).powi(2) + (b / largest).powi(2)).sqrt()
}

/// A quotient in which nothing of nothing is nothing.
fn over(difference: f64, unit: f64) -> f64 {
    if difference == 0.0 { 0.0 } else { difference / unit }
}

/// Parameters whose draws are the same have no difference; they are left out where they have no mean or no standard
/// deviation.
fn rmse(parameters: &[ParameterDifference]) -> f64 {
    let terms: Vec<[f64; 2]> = (parameters.iter())
        .map(|p| {
            let apart = if p.relative_mean == 0.0 { 0.0 } else { p.mean[1] - p.mean[0] };
            let scale = scale(p.mean[0], p.sd[0]);
            [apart, if apart == 0.0 && !scale.is_finite() { 0.0 } else { scale }]
        })
        .collect();
    let unit = unit(terms.as_flattened());
    let root = |which: usize| terms.iter().map(|term| (term[which] * unit).powi(2)).sum::<f64>().sqrt();
    over(root(0), root(1))
}

/// Adds the p-values, adjusted for as many z as are defined. A mean or a standard deviation without a z (too few draws,
/// NaN) counts as different; a quantile without a z is left out.
fn adjusted(mut parameters: Vec<ParameterDifference>) -> Vec<ParameterDifference> {
    let mut owners = Vec::new();
    let mut p_values = Vec::new();
    for (owner, parameter) in parameters.iter().enumerate() {
        for (k, z) in parameter.all_z().enumerate() {
            if k < 2 || !z.is_nan() {
                owners.push(owner);
                p_values.push(normal_beyond(z));
            }
        }
    }
    for (owner, p) in owners.into_iter().zip(holm(&p_values)) {
        let least = &mut parameters[owner].p_value;
        *least = least.min(p);
    }
    parameters
}

/// Returns the area between the distribution functions of two sorted samples.
fn wasserstein(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j) = (0, 0);
    let mut area = 0.0;
    let mut from = a[0].min(b[0]);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) => x.min(*y),
            (Some(x), None) | (None, Some(x)) => *x,
            (None, None) => from,
        };
        let gap = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        // Infinite values lie nowhere apart when both samples have them.
        if gap != 0.0 {
            area += gap.abs() * (next - from);
        }
        from = next;
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Labels;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "ours is held to that of the machine")]
    fn hypotenuses_are_the_machines() {
        let sizes = [0.0, 1e-310, 1e-200, 3.0, 4.0, 1e200, 1.5e308, f64::INFINITY];
        for a in sizes {
            for b in sizes {
                let (found, expected) = (hypotenuse(a, -b), a.hypot(b));
                assert!(found == expected || (found / expected - 1.0).abs() < 4e-16, "{a} {b}: {found} {expected}");
            }
        }
        assert!(hypotenuse(f64::NAN, 1.0).is_nan() && hypotenuse(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn elements_are_paired_by_the_values_of_their_labels() {
        let posterior = |labels: Labels| {
            let mut data = Dataset::default();
            let axes = [("chain", 1), ("draw", 1), ("k", labels.len())];
            data.insert("t", Array::new(axes, Values::F64(vec![0.0; labels.len()])));
            data.coords.insert("k".into(), labels);
            data
        };
        let whole = posterior(Labels::Integers(vec![10, 20, 30]));
        let found = common(&whole, &posterior(Labels::Reals(vec![30.0, 10.0, 20.0])));
        assert_eq!(found.pairs, [[0, 1], [1, 2], [2, 0]]);
        // Also those that both have, of unequal numbers.
        let found = common(&whole, &posterior(Labels::Reals(vec![20.0, 10.0])));
        assert!(found.pairs == [[0, 1], [1, 0]] && found.by_position.is_empty());
    }

    #[test]
    fn distances_are_scipys() {
        let sort = |values: Vec<f64>| Sorted::of(&values).values;
        // scipy.stats.wasserstein_distance (SciPy 1.17.1).
        let (a, b) = (sort(vec![0.5, 1.0, 1.0, 2.5, -3.0]), sort(vec![0.0, 1.0, 4.0]));
        assert_eq!([wasserstein(&a, &b), wasserstein(&b, &a)], [1.400_000_000_000_000_1; 2]);
        let x = (0..800u32).map(|k| f64::from(k * 7919 % 1009) / 1009.0).collect();
        let y = (0..600u32).map(|k| f64::from((k * 6151 + 17) % 997) / 997.0 * 1.3 + 0.1).collect();
        let found = wasserstein(&sort(x), &sort(y));
        assert!((found - 0.242_856_274_721_090_98).abs() < 1e-14, "{found}");
        let infinite = [f64::NEG_INFINITY, 0.0, f64::INFINITY];
        assert_eq!(wasserstein(&infinite, &infinite), 0.0);
        assert_eq!(wasserstein(&infinite, &[f64::NEG_INFINITY, 1.0, f64::INFINITY]), 1.0 / 3.0);
        assert_eq!(wasserstein(&[0.0], &[f64::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn what_only_one_has_and_what_stands_in_order_is_named() {
        let posterior = |extra: &str, labels: Option<Labels>| {
            let mut data = Dataset::default();
            let axes = [("chain", 2), ("draw", 20)];
            let draws = |n: u32| Values::F64((0..n).map(|k| f64::from(k * 7919 % 1009)).collect());
            data.insert("t", Array::new([("chain", 2), ("draw", 20), ("k", 2)], draws(80)));
            data.insert(extra, Array::new(axes, draws(40)));
            if let Some(labels) = labels {
                data.coords.insert("k".into(), labels);
            }
            data
        };
        let cities = Labels::Strings(vec!["berlin".into(), "rome".into()]);
        let found =
            posterior_difference(&posterior("mine", Some(cities)), &posterior("yours", None), [None, None]).unwrap();
        assert_eq!((found.only_first, found.only_second), (vec!["mine".to_owned()], vec!["yours".to_owned()]));
        assert_eq!(found.by_position, [["t[berlin]".to_owned(), "t[0]".to_owned()]]);
        let names: Vec<&str> = found.parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["t[berlin]", "t[rome]"]);
        let error = posterior_difference(&found_alone("a"), &found_alone("b"), [None, None]).unwrap_err();
        assert_eq!(error, DiagError::NothingInCommon { first: "a".to_owned(), second: "b".to_owned() });
    }

    fn found_alone(name: &str) -> Dataset {
        let mut data = Dataset::default();
        let draws = (0..8).map(f64::from).collect();
        data.insert(name, Array::new([("chain", 2), ("draw", 4)], Values::F64(draws)));
        data
    }

    /// Equal means differ by 0. Means that are not finite add nothing to the scale.
    #[test]
    fn a_mean_that_is_not_defined_is_left_out_of_the_error() {
        let row = |mean: [f64; 2], sd: f64, relative_mean: f64| ParameterDifference {
            relative_mean,
            ..no_difference(
                [
                    &ParameterSummary { mean: mean[0], sd, ..ParameterSummary::default() },
                    &ParameterSummary { mean: mean[1], sd, ..ParameterSummary::default() },
                ],
                [[0.0; 3]; 2],
            )
        };
        let apart = row([3.0, 4.5], 1.0, 0.5);
        assert_eq!(rmse(std::slice::from_ref(&apart)), 0.5);
        assert_eq!(rmse(&[apart.clone(), row([f64::NAN; 2], f64::NAN, 0.0)]), 0.5);
        assert_eq!(rmse(&[apart.clone(), row([f64::INFINITY; 2], f64::NAN, 0.0)]), 0.5);
        // The same draws of a scale of 4: 1.5 over the root of 9 + 16.
        assert!((rmse(&[apart, row([4.0; 2], 1.0, 0.0)]) - 0.3).abs() < 1e-15);
        assert!(rmse(&[row([f64::NAN, 1.0], 1.0, f64::NAN)]).is_nan());
    }

    #[test]
    fn the_same_draws_have_no_difference() {
        let a = ParameterSummary { name: "x".to_owned(), mean: 2.0, sd: 3.0, ..ParameterSummary::default() };
        let found = no_difference([&a, &a], [[1.0; 3]; 2]);
        assert_eq!((found.name.as_str(), found.mean, found.sd), ("x", [2.0; 2], [3.0; 2]));
        let zeros = [found.relative_mean, found.relative_sd, found.z_mean, found.z_sd, found.wasserstein];
        assert_eq!((zeros, found.z_quantiles), ([0.0; 5], [0.0; 3]));
    }

    /// A mean or a standard deviation without a z counts as different, a quantile does not.
    #[test]
    fn what_has_no_z_is_different() {
        let row = |z_mean: f64, z_sd: f64| {
            let empty = ParameterSummary::default();
            let same = no_difference([&empty, &empty], [[0.0; 3]; 2]);
            ParameterDifference { z_mean, z_sd, z_quantiles: [f64::NAN, 0.0, f64::NAN], ..same }
        };
        let p_values = |rows: Vec<ParameterDifference>| adjusted(rows).iter().map(|p| p.p_value).collect::<Vec<_>>();
        assert_eq!(p_values(vec![row(0.0, 0.0), row(f64::NAN, 0.0), row(0.0, f64::NAN)]), [1.0, 0.0, 0.0]);
        // Three z of one parameter and three of another: six.
        let found = p_values(vec![row(0.0, 0.0), row(3.5, 0.0)]);
        assert!((found[1] / (6.0 * normal_beyond(3.5)) - 1.0).abs() < 1e-12 && found[0] == 1.0, "{found:?}");
    }

    /// The standard deviation of a constant is known: the difference is in errors of the other posterior alone.
    #[test]
    fn a_constant_adds_no_error() {
        let posterior = |values: &[f64]| {
            let mut data = Dataset::default();
            data.insert("t", Array::new([("chain", 2), ("draw", 50)], Values::F64(values.to_vec())));
            data
        };
        let draws: Vec<f64> = (0..100u32).map(|k| f64::from(k * 7919 % 1009) / 1009.0).collect();
        let (constant, varying) = (posterior(&[0.5; 100]), posterior(&draws));
        let error = crate::estimators::mcse::mcse_sd(&Chains::new(&draws, 2, 50).unwrap());
        for (first, second, sign) in [(&constant, &varying, 1.0), (&varying, &constant, -1.0)] {
            let row = &posterior_difference(first, second, [None, None]).unwrap().parameters[0];
            let expected = sign * row.sd[0].max(row.sd[1]) / error;
            assert!((row.z_sd / expected - 1.0).abs() < 1e-9, "{row:?}");
        }
    }

    #[test]
    fn nothing_of_nothing_is_nothing() {
        assert_eq!([over(0.0, 0.0), over(0.0, f64::NAN), over(1.0, 2.0), over(-3.0, 1.5)], [0.0, 0.0, 0.5, -2.0]);
        assert!(over(f64::NAN, 1.0).is_nan() && over(1.0, 0.0) == f64::INFINITY);
    }
}
