//! A normal distribution fitted to draws, from which a bridge leads to their density.

use octopus_diag::{Chains, ess_mean};
use octopus_random::{Stream, exact};
use rayon::prelude::*;

/// Coordinates up to which correlations are estimated: their factor has as many rows.
const MOST_CORRELATED: usize = 2000;

/// Pairs of neighbouring coordinates by which it is found what the draws are worth for correlations.
const NEIGHBOURS: usize = 64;
/// In how many steps correlations are made smaller until they fit together.
const KEPT: u32 = 10;
/// The least share of a coordinate's variance that the others may leave.
const LEAST_REST: f64 = 1e-10;

/// A normal distribution with a mean and a lower triangular factor of its covariance.
#[derive(Clone, Debug)]
pub(super) struct NormalProposal {
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// The factor of the correlations, row after row with the diagonal in the end: none where each coordinate is alone.
    factor: Vec<f64>,
    log_scale: f64,
}

impl NormalProposal {
    /// Fits means, variances and correlations to draws, `dim` numbers each, chain after chain; `None` where a coordinate does
    /// not move, or is not finite.
    ///
    /// Correlations as small as chance makes them are left out, as in Bickel and Levina (2008, Annals of Statistics 36(6),
    /// 2577-2604): beyond `sqrt(2 ln m)` standard errors there is none of m by chance. Each costs as much overlap as its
    /// error is large, and of a thousand coordinates there are half a million.
    pub(super) fn fit(draws: &[f64], dim: usize, chains: usize) -> Option<Self> {
        let rows = || draws.chunks_exact(dim);
        let count = rows().len() as f64;
        let mut mean = vec![0.0; dim];
        rows().for_each(|row| mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / count));
        let mut scale = vec![0.0; dim];
        for row in rows() {
            scale.iter_mut().zip(row.iter().zip(&mean)).for_each(|(sum, (x, mean))| *sum += (x - mean) * (x - mean));
        }
        scale.iter_mut().for_each(|sum| *sum = (*sum / (count - 1.0)).sqrt());
        // Where all are equal, the scale need not be 0 but for rounding.
        let first = rows().next()?;
        let moves = |k: usize| rows().any(|row| row[k] != first[k]);
        if !(0..dim).all(|k| scale[k] > 0.0 && scale[k].is_finite() && moves(k)) {
            return None;
        }
        let factor = if dim > MOST_CORRELATED { Vec::new() } else { correlation_factor(draws, chains, &mean, &scale)? };
        let logs: f64 = scale.iter().map(|&scale| exact::ln(scale)).sum();
        let diagonal: f64 = (0..dim).filter_map(|row| factor.get(row * (row + 3) / 2)).map(|&x| exact::ln(x)).sum();
        Some(Self { mean, scale, factor, log_scale: logs + diagonal })
    }

    /// Draws a point, and returns it with its log density.
    pub(super) fn draw(&self, mut random: Stream) -> (Vec<f64>, f64) {
        let z: Vec<f64> = self.mean.iter().map(|_| random.normal()).collect();
        let log = self.log_density_of(&z);
        let place = |row: usize| {
            let turned = match self.row(row) {
                Some(factor) => factor.iter().zip(&z).map(|(l, z)| l * z).sum(),
                None => z[row],
            };
            self.mean[row] + self.scale[row] * turned
        };
        ((0..z.len()).map(place).collect(), log)
    }

    /// Returns the log density at a point.
    pub(super) fn log_density(&self, x: &[f64]) -> f64 {
        let mut z: Vec<f64> =
            x.iter().zip(self.mean.iter().zip(&self.scale)).map(|(x, (mean, scale))| (x - mean) / scale).collect();
        for row in 0..z.len() {
            if let Some((last, factor)) = self.row(row).and_then(<[f64]>::split_last) {
                let known: f64 = factor.iter().zip(&z).map(|(l, z)| l * z).sum();
                z[row] = (z[row] - known) / last;
            }
        }
        self.log_density_of(&z)
    }

    fn row(&self, row: usize) -> Option<&[f64]> {
        self.factor.get(row * (row + 1) / 2..(row + 1) * (row + 2) / 2)
    }

    /// The log density at the point that is `z` in units of the distribution.
    fn log_density_of(&self, z: &[f64]) -> f64 {
        let squares: f64 = z.iter().map(|z| z * z).sum();
        -0.5 * (squares + z.len() as f64 * exact::ln(2.0 * std::f64::consts::PI)) - self.log_scale
    }
}

/// The Cholesky factor of those correlations that are none by chance.
fn correlation_factor(draws: &[f64], chains: usize, mean: &[f64], scale: &[f64]) -> Option<Vec<f64>> {
    let dim = mean.len();
    let count = draws.len() / dim;
    // Each coordinate by itself, in units of its scale, so that sums go along memory.
    let columns: Vec<Vec<f64>> = (0..dim)
        .into_par_iter()
        .map(|k| draws.iter().skip(k).step_by(dim).map(|x| (x - mean[k]) / scale[k]).collect())
        .collect();
    let products = |i: usize, j: usize| columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b);
    // What the draws are worth for correlations, by those of neighbours.
    let worth = |i: usize| {
        let of_pair: Vec<f64> = products(i, i + 1).collect();
        Chains::new(&of_pair, chains, count / chains).map_or(f64::NAN, |chains| ess_mean(&chains))
    };
    let mut worths: Vec<f64> = (0..dim - 1).step_by(dim.div_ceil(NEIGHBOURS)).map(worth).collect();
    worths.sort_by(f64::total_cmp);
    let worth = worths.get(worths.len() / 2).map_or(count as f64, |worth| worth.min(count as f64));
    let mut correlations: Vec<f64> = (0..dim)
        .into_par_iter()
        .flat_map_iter(|i| {
            (0..=i).map(move |j| if i == j { 1.0 } else { products(i, j).sum::<f64>() / (count as f64 - 1.0) })
        })
        .collect();
    leave_out_chance(&mut correlations, (dim * (dim - 1)) as f64 / 2.0, worth);
    // Without some of its elements a matrix of correlations need not be one.
    (0..=KEPT).rev().find_map(|kept| cholesky(&correlations, dim, f64::from(kept) / f64::from(KEPT)))
}

/// Leaves out the correlations that are as small as chance makes them, unless there is more in them than noise: then it costs
/// more to leave them out than to have them with their errors, as Akaike counts it.
fn leave_out_chance(correlations: &mut [f64], pairs: f64, worth: f64) {
    let by_chance = 2.0 * pairs.max(1.0).ln() / worth;
    let small = correlations.iter().filter(|r| *r * *r <= by_chance);
    let (count, squares) = small.fold((0.0, 0.0), |(count, squares), r| (count + 1.0, squares + r * r));
    if squares <= 2.0 * count / worth {
        correlations.iter_mut().filter(|r| **r * **r <= by_chance).for_each(|r| *r = 0.0);
    }
}

/// The Cholesky factor of a matrix with the diagonal 1, whose other elements are multiplied by `kept`; none where it is not
/// positive definite.
fn cholesky(correlations: &[f64], dim: usize, kept: f64) -> Option<Vec<f64>> {
    let start = |row: usize| row * (row + 1) / 2;
    let mut factor = correlations.to_vec();
    for i in 0..dim {
        let (above, own) = factor.split_at_mut(start(i));
        for j in 0..i {
            let other = &above[start(j)..=start(j) + j];
            let known: f64 = own[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            own[j] = (kept * own[j] - known) / other[j];
        }
        let rest = 1.0 - own[..i].iter().map(|x| x * x).sum::<f64>();
        if rest < LEAST_REST {
            return None;
        }
        own[i] = rest.sqrt();
    }
    Some(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    /// Draws of a known normal distribution: the fit is near it, and its density is the formula's.
    #[test]
    fn the_fit_has_the_moments_and_the_density_of_a_normal() {
        let truth = NormalProposal {
            mean: vec![1.0, -2.0],
            scale: vec![3.0, 0.5],
            factor: vec![1.0, 0.6, 0.8],
            log_scale: 1.5_f64.ln() + 0.8_f64.ln(),
        };
        // The covariance is [[9, 0.9], [0.9, 0.25]], with the determinant 1.44.
        let found = truth.log_density(&[0.0, -1.5]);
        assert!((found + 3.200754178758856).abs() < 1e-12, "{found}");
        let draws: Vec<f64> = (0..20_000).flat_map(|k| truth.draw(Stream::new(1, 0, k, Purpose::User)).0).collect();
        let fit = NormalProposal::fit(&draws, 2, 1).unwrap();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.03 * (1.0 + b.abs()));
        assert!(
            near(&fit.mean, &truth.mean) && near(&fit.scale, &truth.scale) && near(&fit.factor, &truth.factor),
            "{fit:?}"
        );
        let (x, log) = fit.draw(Stream::new(2, 0, 0, Purpose::User));
        assert!((fit.log_density(&x) - log).abs() < 1e-12);
    }

    /// With fewer draws than coordinates, the fit of independent coordinates has hardly any correlation. A coordinate that does
    /// not move has no fit.
    #[test]
    fn more_coordinates_than_draws_are_no_obstacle() {
        let mut random = Stream::new(3, 0, 0, Purpose::User);
        let mut draws: Vec<f64> = (0..30 * 50).map(|_| random.normal()).collect();
        let fit = NormalProposal::fit(&draws, 50, 1).unwrap();
        let largest =
            (0..50).flat_map(|row| fit.row(row).unwrap()[..row].to_vec()).fold(0.0, |a: f64, x| a.max(x.abs()));
        assert!(largest < 0.8, "{largest}");
        draws.iter_mut().step_by(50).for_each(|x| *x = 1.0);
        assert!(NormalProposal::fit(&draws, 50, 1).is_none());
    }
}
