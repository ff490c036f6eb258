//! Leave-one-out cross-validation (LOO) by Pareto smoothed importance sampling.
//!
//! Vehtari, A., Gelman, A., Gabry, J. (2017). Practical Bayesian model evaluation using leave-one-out cross-validation and
//! WAIC. Statistics and Computing 27, 1413-1432.

mod stream;
mod threshold;

use crate::error::DiagError;
use crate::numbers::columns;
use crate::numbers::exp::sum_exp_upto;
use crate::numbers::moments::sum_by;
use crate::numbers::pool::WorkspacePool;
use crate::predictive::elpd::{Elpd, ElpdMethod, log_sum_exp, standard_error};
use crate::predictive::likelihood::{Columns, LogLikelihood};
use crate::predictive::psis::{Tail, check_reff, pareto_k_threshold};
use rayon::prelude::*;
use stream::{Gathered, LANES, LooStream};

/// The result of leaving one observation out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PointwiseLoo {
    /// The log predictive density of the observation.
    density: f64,
    /// The shape of the largest importance weights.
    pareto_k: f64,
    /// `ln sum exp(l)` of its log likelihoods l.
    log_sum: f64,
}

/// Computes leave-one-out cross-validation by Pareto smoothed importance sampling. `reff` is the relative effective
/// sample size of the draws, [`relative_eff`](crate::relative_eff) of their posterior or 1 for independent ones; NaN
/// when it is not known, a fifth of the draws then being the tail. An observation with a NaN or infinite log likelihood
/// is NaN, and so are the sums. `az.loo`.
///
/// # Errors
/// [`DiagError::Positive`] when `reff` is 0 or negative.
pub fn loo(log_likelihood: &LogLikelihood, reff: f64) -> Result<Elpd, DiagError> {
    check_reff(reff)?;
    let samples = log_likelihood.samples();
    let pool = WorkspacePool::new(LooBuffers::default);
    let found: Vec<PointwiseLoo> = (log_likelihood.blocks(stream::MOST).into_par_iter())
        .flat_map_iter(|(_, columns)| leave_out(&columns, reff, &pool))
        .collect();
    let pointwise: Vec<f64> = found.iter().map(|left| left.density).collect();
    let elpd = sum_by(&pointwise, |v| v);
    let lppd: f64 = found.iter().map(|left| left.log_sum - (samples as f64).ln()).sum();
    Ok(Elpd {
        criterion: ElpdMethod::Loo,
        elpd,
        se: standard_error(&pointwise),
        p: lppd - elpd,
        n_samples: samples,
        n_data_points: pointwise.len(),
        pointwise,
        reliability: found.iter().map(|left| left.pareto_k).collect(),
        good: pareto_k_threshold(samples),
    })
}

/// The buffers that one thread needs.
#[derive(Debug, Default)]
struct LooBuffers {
    tail: Tail,
    column: Vec<f64>,
    gathered: Gathered,
}

/// Leaves out each observation of `columns`, and returns the results in order.
fn leave_out<M: Fn() -> LooBuffers + Sync>(
    columns: &Columns,
    reff: f64,
    pool: &WorkspacePool<LooBuffers, M>,
) -> Vec<PointwiseLoo> {
    let stream = LooStream::read(columns, reff);
    let blocks: Vec<usize> = (0..columns.count.div_ceil(LANES)).collect();
    let found: Vec<Vec<PointwiseLoo>> = (blocks.into_par_iter())
        .map(|block| {
            pool.with(|work| {
                let stream = stream.as_ref().filter(|stream| block < stream.blocks());
                let left = |stream: &LooStream| stream.left(block, &mut work.gathered, &mut work.tail);
                let found = stream.map_or([None; LANES], left);
                (block * LANES..columns.count)
                    .zip(found)
                    .map(|(k, found)| found.unwrap_or_else(|| work.leave_out_one(columns, k, reff)))
                    .collect()
            })
        })
        .collect();
    found.into_iter().flatten().collect()
}

impl LooBuffers {
    /// One column by itself, whatever is in it.
    fn leave_out_one(&mut self, columns: &Columns, k: usize, reff: f64) -> PointwiseLoo {
        self.column.resize(columns.values.len() / columns.width, 0.0);
        columns::gather(columns.values, columns.width, columns.first + k, 1, |v| v, &mut self.column);
        leave_one_out(&mut self.tail, &self.column, reff)
    }
}

/// Leaves out an observation whose log likelihoods are `column`.
fn leave_one_out(tail: &mut Tail, column: &[f64], reff: f64) -> PointwiseLoo {
    let fitted = tail.fit(column, -1.0, reff);
    let (pareto_k, high) = (tail.pareto_k, tail.range.1);
    let log_sum = log_sum_exp(column, high);
    if !fitted || high == f64::INFINITY {
        return PointwiseLoo { density: if column.len() == 1 { column[0] } else { f64::NAN }, pareto_k, log_sum };
    }
    // Where nothing was smoothed the tail is not told apart.
    let limit = if pareto_k.is_finite() { tail.cutoff } else { f64::INFINITY };
    let rest = sum_exp_upto(column, -1.0, tail.max, limit);
    PointwiseLoo { density: density(tail, column.len(), rest), pareto_k, log_sum }
}

/// The log predictive density of an observation left out: the weights are the smoothed `1 / exp(l)`, and
/// `sum(w exp(l)) / sum(w)` is what is sought. `rest` is the sum of the weights that were not smoothed, over the largest one.
/// Such a weight contributes `w exp(l) = exp(-max)` to the first sum, a smoothed one as many times that as it was raised.
fn density(tail: &Tail, samples: usize, rest: f64) -> f64 {
    if !tail.pareto_k.is_finite() {
        return (samples as f64).ln() - rest.ln() - tail.max;
    }
    let (raised, weights) = tail.raised();
    ((samples - tail.raw.len()) as f64 + raised).ln() - (rest + weights).ln() - tail.max
}
