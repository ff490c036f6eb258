//! Simplexes, and counts by category.

use super::{Block, Extent, JointDistribution, Symbol, joint, same_columns};

/// How far from 1 the sum of a simplex may be, as in Stan.
const TOLERANCE: f64 = 1e-8;

/// Demands that each row sums to 1.
pub(super) fn demand_simplexes(theta: Block<'_>) {
    let off = (theta.row_sums(theta.x) - 1.0).abs();
    (1.0 - off.number(TOLERANCE).below(off)).demand("a simplex must sum to 1");
}

/// The variate's and the parameter's vectors, one of each for each row.
fn paired<'a>(a: Block<'a>, b: Block<'a>, extent: Extent) -> Result<(Block<'a>, Block<'a>), String> {
    same_columns(&[a, b])?;
    Ok((a.repeated(extent.rows), b.repeated(extent.rows)))
}

/// ln of the number of ways to get these counts.
fn ways<'a>(n: Block<'a>, extent: Extent) -> Symbol<'a> {
    let total = n.row_sums(n.x) + 1.0;
    extent.each(total.ln_gamma() - n.row_sums((n.x + 1.0).ln_gamma()))
}

pub(super) const ROWS: &[JointDistribution] = &[
    joint!(dirichlet (theta: Vectors NotNegative, alpha: Vectors Positive), extent => {
        demand_simplexes(theta);
        let constant = alpha.row_sums(alpha.x).ln_gamma() - alpha.row_sums(alpha.x.ln_gamma());
        let (theta, powers) = paired(theta, alpha, extent)?;
        Ok(vec![extent.each(theta.row_sums((powers.x - 1.0) * theta.x.ln())), extent.each(constant)])
    }),
    joint!(multinomial (n: Vectors Count, theta: Vectors NotNegative), extent => {
        demand_simplexes(theta);
        let (n, theta) = paired(n, theta, extent)?;
        Ok(vec![extent.each(n.row_sums(n.x.times_ln(theta.x))), ways(n, extent)])
    }),
    joint!(multinomial_logit (n: Vectors Count, gamma: Vectors Real), extent => {
        let all = super::categories::log_sum_exp(gamma);
        let (n, gamma) = paired(n, gamma, extent)?;
        let total = n.row_sums(n.x);
        Ok(vec![extent.each(n.row_sums(n.x * gamma.x) - total * all), ways(n, extent)])
    }),
    joint!(dirichlet_multinomial (n: Vectors Count, alpha: Vectors Positive), extent => {
        let (n, alpha) = paired(n, alpha, extent)?;
        let (total, sum) = (n.row_sums(n.x), alpha.row_sums(alpha.x));
        let each = (n.x + alpha.x).ln_gamma() - alpha.x.ln_gamma();
        Ok(vec![extent.each(sum.ln_gamma() - (total + sum).ln_gamma() + alpha.row_sums(each)), ways(n, extent)])
    }),
];
