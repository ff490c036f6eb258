//! Logarithms of the probabilities below and above a bound, which truncated distributions are divided by.

use super::symbol::Symbol;
use super::{Distribution, Terms};
use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use std::sync::Arc;

/// A side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Up to the bound, the bound included.
    Below,
    /// Beyond the bound.
    Above,
}

/// How the probabilities of tails are computed.
pub(super) enum Tails {
    /// They are not.
    None,
    /// By formulas.
    Formulas { below: Terms, above: Terms },
    /// By the sum of the probabilities of counts; no count is above the argument with this place.
    Sum { most: Option<usize> },
    /// By series, both sides at once, where no argument depends on parameters; else by counts, where there are some.
    Series { of_data: fn(&[f64]) -> [f64; 2], by_counts: Option<ByCounts> },
}

/// A probability as one of counts.
pub(super) struct CountedTail<'a> {
    /// The distribution of the count.
    distribution: &'static str,
    /// Its arguments, the bound first.
    args: Vec<Symbol<'a>>,
    /// Whether the probability below is the one above the count.
    turned: bool,
}

/// A distribution function as one of counts; none where a shape is no whole number.
type ByCounts = for<'a> fn(&[Symbol<'a>]) -> Option<CountedTail<'a>>;

/// A shape less 1, where it is data and a whole number.
fn whole_less_one(shape: Symbol<'_>) -> Option<Symbol<'_>> {
    let whole = shape.known()?.iter().all(|&x| x >= 1.0 && x.fract() == 0.0);
    whole.then(|| shape - 1.0)
}

/// Gamma's distribution function at x for the rate 1: the time of the n-th event is beyond x if at most n - 1 come before.
pub(super) fn gamma_by_counts<'a>(shape: Symbol<'a>, x: Symbol<'a>) -> Option<CountedTail<'a>> {
    Some(CountedTail { distribution: "poisson", args: vec![whole_less_one(shape)?, x], turned: true })
}

/// The same of the inverse of a gamma variate.
pub(super) fn inverse_gamma_by_counts<'a>(shape: Symbol<'a>, x: Symbol<'a>) -> Option<CountedTail<'a>> {
    Some(CountedTail { turned: false, ..gamma_by_counts(shape, x)? })
}

/// Beta's distribution function: the a-th smallest of a + b - 1 uniform numbers is below y if at least a are.
pub(super) fn beta_by_counts<'a>(y: Symbol<'a>, a: Symbol<'a>, b: Symbol<'a>) -> Option<CountedTail<'a>> {
    let (before, after) = (whole_less_one(a)?, whole_less_one(b)?);
    Some(CountedTail { distribution: "binomial", args: vec![before, before + after + 1.0, y], turned: true })
}

/// Probabilities that are summed at the most.
const MOST_COUNTS: usize = 1 << 20;
/// A logarithm below which terms are no longer set in relation to the largest one.
const LEAST_SHIFT: f64 = -600.0;

impl Distribution {
    /// Returns whether there are probabilities of tails.
    pub fn has_tails(&self) -> bool {
        !matches!(self.tails, Tails::None)
    }
}

impl Graph {
    /// Returns the logarithm of the probability of a tail for each row; the bound is first among `args`.
    ///
    /// The probability above is computed as 1 less the one below for counts without a largest one: where it is small, it
    /// has an error of about 1e-16, not relative to itself.
    ///
    /// # Errors
    /// [`ProgramError`] where the arguments are wrong, the distribution has no such function, or has it for data only.
    pub fn log_tail(
        &mut self,
        distribution: &Distribution,
        tail: Tail,
        args: &[NodeId],
    ) -> Result<NodeId, ProgramError> {
        let refused = |reason| Err(ProgramError::Tail { distribution: distribution.name, reason });
        if distribution.is_of_counts() && args.len() == distribution.arguments.len() {
            // A bound may be outside of the support.
            for (argument, &node) in distribution.arguments.iter().zip(args).skip(1) {
                self.check_argument(distribution.name, argument, node)?;
            }
        } else {
            self.check_arguments(distribution, args)?;
        }
        match &distribution.tails {
            Tails::None => refused("is not supported yet"),
            Tails::Formulas { below, above } => {
                let write = if tail == Tail::Below { below } else { above };
                let terms: Vec<NodeId> = self.formula(args, |args| write(args).into_iter().map(Symbol::node).collect());
                Ok(self.total(&terms))
            }
            Tails::Series { of_data, by_counts } => {
                if let Some(logs) = self.series(*of_data, tail, args) {
                    return Ok(self.column(logs));
                }
                let counted = self.formula(args, |args| {
                    let counted = by_counts.and_then(|by_counts| by_counts(args))?;
                    let args: Vec<NodeId> = counted.args.iter().map(|arg| arg.node()).collect();
                    Some((counted.distribution, args, counted.turned))
                });
                let Some((name, args, turned)) = counted else {
                    return refused("of parameters is not supported, but for shapes that are whole numbers");
                };
                let Some(counts) = Distribution::named(name) else { return refused("is not supported yet") };
                let tail = if turned { tail.other() } else { tail };
                self.log_tail(counts, tail, &args)
            }
            Tails::Sum { most } => {
                let Some(bounds) = self.known(args[0]) else { return refused("of a parameter is not supported") };
                let most = most.and_then(|place| self.known(args[place]));
                let rows = args.iter().map(|&arg| self.len(arg)).find(|&length| length != 1).unwrap_or(1);
                let Some(ranges) = ranges(tail, &bounds, most.as_deref(), rows) else {
                    return refused("of a bound that is so large is not supported");
                };
                let terms = distribution.terms;
                let is_rest = tail == Tail::Above && most.is_none();
                Ok(self.formula(args, |args| {
                    let sum = sum(terms, args, &ranges, tail);
                    let sum = sum.min(sum.number(0.0));
                    if is_rest { sum.ln_1m_exp().node() } else { sum.node() }
                }))
            }
        }
    }
}

impl Tail {
    fn other(self) -> Self {
        if self == Self::Below { Self::Above } else { Self::Below }
    }
}

impl Graph {
    /// The logarithms for each row, where all arguments are known.
    fn series(&self, of_data: fn(&[f64]) -> [f64; 2], tail: Tail, args: &[NodeId]) -> Option<Vec<f64>> {
        let known: Vec<Vec<f64>> = args.iter().map(|&arg| self.known(arg)).collect::<Option<_>>()?;
        let rows = known.iter().map(Vec::len).find(|&length| length != 1).unwrap_or(1);
        let row = |i: usize| -> Vec<f64> {
            known.iter().map(|values| values[if values.len() == 1 { 0 } else { i }]).collect()
        };
        let side = usize::from(tail == Tail::Above);
        Some((0..rows).map(|i| of_data(&row(i))[side]).collect())
    }
}

/// The counts whose probabilities each row sums.
fn ranges(tail: Tail, bounds: &[f64], most: Option<&[f64]>, rows: usize) -> Option<Vec<std::ops::Range<i64>>> {
    let at = |values: &[f64], i: usize| values[if values.len() == 1 { 0 } else { i }] as i64;
    let range = |i: usize| {
        let after = at(bounds, i).saturating_add(1).max(0);
        match (most.map(|most| at(most, i)), tail) {
            (Some(most), Tail::Above) => after..most.saturating_add(1).max(after),
            (Some(most), Tail::Below) => 0..after.min(most.saturating_add(1)),
            (None, _) => 0..after,
        }
    };
    let all: Vec<_> = (0..rows).map(range).collect();
    let count = all.iter().try_fold(0_usize, |sum, range| sum.checked_add((range.end - range.start) as usize));
    count.filter(|&count| count <= MOST_COUNTS).map(|_| all)
}

/// ln of the sum of probabilities over each row's counts.
fn sum<'a>(terms: Terms, args: &[Symbol<'a>], ranges: &[std::ops::Range<i64>], tail: Tail) -> Symbol<'a> {
    let mut counts = Vec::new();
    let mut segments: Vec<u32> = Vec::new();
    // The largest probability of a tail far out is the one next to the bound.
    let mut next_to_bound: Vec<u32> = Vec::new();
    for (row, range) in ranges.iter().enumerate() {
        let first = counts.len();
        counts.extend(range.clone().map(|k| k as f64));
        segments.resize(counts.len(), row as u32);
        let place = if tail == Tail::Below { counts.len().saturating_sub(1) } else { first };
        next_to_bound.push(place.min(counts.len().saturating_sub(1)) as u32);
    }
    let none = args[0].number(f64::NEG_INFINITY);
    if counts.is_empty() {
        return none;
    }
    let segments: Arc<[u32]> = segments.into();
    let mut each: Vec<Symbol<'a>> =
        args.iter().map(|arg| if arg.len() == 1 { *arg } else { arg.gather(&segments) }).collect();
    each[0] = args[0].column(counts.clone());
    let logs = terms(&each).into_iter().reduce(|total, term| total + term).unwrap_or(none);
    let shift = logs.gather(&next_to_bound.into()).max(logs.number(LEAST_SHIFT));
    let powers = (logs - shift.gather(&segments)).exp();
    powers.segment_sum(&segments, ranges.len()).ln() + shift
}
