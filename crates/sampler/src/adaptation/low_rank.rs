//! The low-rank metric: the few directions whose variance stands out of the noise of a sample covariance.
//!
//! The most directions (rank), and when one is worth its cost, stand here.
//!
//! Leading eigenpairs by Lanczos' method with full reorthogonalisation, at O(n D) per step and without the
//! D x D matrix; the rank and the shrunken eigenvalues by the spiked covariance model: with D coordinates, n
//! draws and no structure, eigenvalues stay below the Marchenko-Pastur edge (1 + sqrt(D/n))^2; one above
//! it estimates a spike whose true variance is smaller (Baik and Silverstein 2006; Donoho, Gavish and
//! Johnstone 2018, eq. 1.10).

use crate::trajectory::Vectors;
use octopus_density::warp::Buffer;
use octopus_random::{Purpose, Stream};

/// Most directions kept.
pub(crate) const MAX_RANK: usize = 12;
/// Lanczos steps: spikes far above the bulk converge in a few.
const STEPS: usize = 28;
/// Steps after which an eigenvalue that stands out is seen, and how far it may still grow: none that will pass the
/// edge is below this share of it.
const FIRST_LOOK: usize = 10;
const NEAR: f64 = 0.8;
/// A direction is worth its cost per leapfrog when its variance is this many times that of the rest.
const WORTHWHILE: f64 = 3.0;
/// Draws of a chain are correlated: the noise edge lies higher than for independent draws.
const EDGE_MARGIN: f64 = 1.3;

/// Unit vectors with their variances in units of the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spikes {
    pub(crate) directions: Vec<Vec<f64>>,
    pub(crate) variances: Vec<f64>,
}

/// Draws and the gradients there, one row each: centered, and scaled by the diagonal metric so that the products of
/// a draw and its gradient stay what they were.
pub(crate) struct SpikeRows {
    pub(crate) draws: Vec<Buffer>,
    pub(crate) gradients: Vec<Buffer>,
}

/// Returns the spikes of `rows`, of `dim` coordinates each.
///
/// Draws alone mislead early in warm-up, when each chain is still near its start: what differs between chains looks
/// like a direction of large variance. The gradients know: along a direction of true variance v theirs is 1 / v
/// (for a normal distribution), whether the chains have been along it or not. So both must say that a direction is
/// soft, and its variance is their geometric mean, as for the diagonal.
pub(crate) fn find_spikes(vectors: &Vectors, rows: &SpikeRows, dim: usize, seed: u64) -> Spikes {
    let SpikeRows { draws, gradients } = rows;
    let n = draws.len();
    if n < 10 || dim < 3 {
        return Spikes::default();
    }
    let count = n as f64;
    let trace = mean_square(vectors, draws);
    let ratio = dim as f64 / count;
    let edge = (1.0 + ratio.sqrt()) * (1.0 + ratio.sqrt()) * EDGE_MARGIN;
    let pairs = lanczos(vectors, draws, dim, seed, trace / dim as f64 * edge);

    // The noise is what the spikes leave of the trace; which are spikes depends on the noise: from none upwards.
    let noise = |rank: usize| {
        let spiked: f64 = pairs[..rank].iter().map(|pair| pair.value).sum();
        ((trace - spiked) / (dim - rank) as f64).max(trace * 1e-12)
    };
    let mut rank = 0;
    loop {
        let above = pairs.iter().take(MAX_RANK.min(dim - 1)).take_while(|pair| pair.value > noise(rank) * edge).count();
        if above <= rank {
            break;
        }
        rank = above;
    }
    let mut spikes = Spikes::default();
    let steepness: Vec<f64> =
        pairs[..rank].iter().map(|pair| variance_along(vectors, gradients, &pair.vector)).collect();
    let steep = mean_square(vectors, gradients);
    let rest = ((steep - steepness.iter().sum::<f64>()) / (dim - rank) as f64).max(steep * 1e-12);
    for (pair, steepness) in pairs[..rank].iter().zip(steepness) {
        let by_draws = debias(pair.value / noise(rank), ratio);
        let by_gradients = rest / steepness;
        if by_draws > WORTHWHILE && by_gradients > WORTHWHILE {
            spikes.variances.push((by_draws * by_gradients).sqrt());
            spikes.directions.push(pair.vector[..dim].to_vec());
        }
    }
    spikes
}

/// Returns the spike that is seen as the sample eigenvalue `l` (both in units of the noise); `l` lies above the edge.
fn debias(l: f64, ratio: f64) -> f64 {
    let b = l + 1.0 - ratio;
    0.5 * (b + (b * b - 4.0 * l).max(0.0).sqrt())
}

/// Returns the mean square length of the rows.
fn mean_square(vectors: &Vectors, rows: &[Buffer]) -> f64 {
    rows.iter().map(|row| vectors.dot(row, row)).sum::<f64>() / rows.len() as f64
}

/// Returns the mean square of the rows' components along the unit vector `u`.
fn variance_along(vectors: &Vectors, rows: &[Buffer], u: &[f64]) -> f64 {
    let squares = rows.iter().map(|row| {
        let along = vectors.dot(row, u);
        along * along
    });
    (squares.sum::<f64>() / rows.len() as f64).max(f64::MIN_POSITIVE)
}

struct Eigenpair {
    value: f64,
    vector: Buffer,
}

/// Returns the [`MAX_RANK`] leading eigenpairs of `rows^T rows / n`, largest first; none when after a first look not
/// one comes near `edge`.
fn lanczos(vectors: &Vectors, rows: &[Buffer], dim: usize, seed: u64, edge: f64) -> Vec<Eigenpair> {
    let steps = STEPS.min(dim);
    let mut start = Buffer::zeros(dim);
    Stream::new(seed, 0, rows.len() as u32, Purpose::Metric).fill_normal(vectors.lanes(), &mut start);
    start[dim..].fill(0.0);
    normalise(vectors, &mut start);
    let mut basis = vec![start];
    let (mut alpha, mut beta) = (Vec::new(), Vec::new());
    for step in 0..steps {
        let mut next = covariance_times(vectors, rows, &basis[step], dim);
        alpha.push(vectors.dot(&next, &basis[step]));
        // Twice is enough (Kahan, Parlett): against every earlier vector.
        for _ in 0..2 {
            for earlier in &basis {
                let along = vectors.dot(&next, earlier);
                vectors.axpy(-along, earlier, &mut next);
            }
        }
        let norm = normalise(vectors, &mut next);
        if step + 1 == FIRST_LOOK && all_below(&alpha, &beta, NEAR * edge) {
            return Vec::new();
        }
        if step + 1 == steps || norm <= 1e-10 * alpha[0].abs() {
            break;
        }
        beta.push(norm);
        basis.push(next);
    }
    let (values, coefficients) = tridiagonal_eigen(alpha, beta);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
        .into_iter()
        .take(MAX_RANK)
        .map(|k| {
            let mut vector = Buffer::zeros(dim);
            for (basis, &coefficient) in basis.iter().zip(&coefficients[k]) {
                vectors.axpy(coefficient, basis, &mut vector);
            }
            normalise(vectors, &mut vector);
            Eigenpair { value: values[k], vector }
        })
        .collect()
}

fn covariance_times(vectors: &Vectors, rows: &[Buffer], v: &[f64], dim: usize) -> Buffer {
    let mut out = Buffer::zeros(dim);
    let weight = 1.0 / rows.len() as f64;
    for row in rows {
        let along = vectors.dot(row, v);
        vectors.axpy(along * weight, row, &mut out);
    }
    out
}

/// Scales to unit length; returns the former length.
fn normalise(vectors: &Vectors, v: &mut [f64]) -> f64 {
    let norm = vectors.dot(v, v).sqrt();
    if norm > 0.0 {
        for x in v.iter_mut() {
            *x /= norm;
        }
    }
    norm
}

/// Returns whether all eigenvalues of a symmetric tridiagonal matrix lie below `bound`: whether `bound - T` is positive
/// definite, that is whether all its pivots are positive (Sturm).
fn all_below(alpha: &[f64], beta: &[f64], bound: f64) -> bool {
    let mut pivot = bound - alpha[0];
    for (alpha, beta) in alpha[1..].iter().zip(beta) {
        if pivot <= 0.0 {
            return false;
        }
        pivot = bound - alpha - beta * beta / pivot;
    }
    pivot > 0.0
}

/// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by the implicit QL method (Golub and Van Loan,
/// section 8.3; EISPACK's tql2): only + - * / sqrt, so the same bits everywhere.
fn tridiagonal_eigen(mut d: Vec<f64>, mut e: Vec<f64>) -> (Vec<f64>, Vec<Vec<f64>>) {
    /// A few sweeps for each eigenvalue suffice; not more than this many are made.
    const SWEEPS: usize = 60;
    let n = d.len();
    e.resize(n, 0.0);
    let mut vectors: Vec<Vec<f64>> = (0..n).map(|k| (0..n).map(|i| f64::from(u8::from(i == k))).collect()).collect();
    for l in 0..n {
        for _ in 0..SWEEPS {
            let negligible = |m: &usize| e[*m].abs() <= f64::EPSILON * (d[*m].abs() + d[*m + 1].abs());
            let m = (l..n - 1).find(negligible).unwrap_or(n - 1);
            if m == l {
                break;
            }
            // Wilkinson's shift, from the upper left corner.
            let half = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let root = (half * half + 1.0).sqrt();
            let mut g = d[m] - d[l] + e[l] / (half + if half < 0.0 { -root } else { root });
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut split = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = (f * f + g * g).sqrt();
                e[i + 1] = r;
                if r == 0.0 {
                    // The matrix falls into two: begin again with the smaller one.
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                let (low, high) = vectors.split_at_mut(i + 1);
                for (low, high) in low[i].iter_mut().zip(&mut high[0]) {
                    (*low, *high) = (c * *low - s * *high, s * *low + c * *high);
                }
            }
            if !split {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    (d, vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the draws of a normal distribution with one spike along `along`, and its gradients: less by spike times
    /// there.
    fn noise_rows(n: usize, dim: usize, spike: f64, along: &[f64]) -> SpikeRows {
        let vectors = Vectors::new(dim);
        let draws: Vec<Buffer> = (0..n)
            .map(|r| {
                let stream = Stream::new(9, r as u32, 0, Purpose::User);
                let mut row = Buffer::zeros(dim);
                stream.fill_normal(vectors.lanes(), &mut row);
                row[dim..].fill(0.0);
                let extra = (spike - 1.0).max(0.0).sqrt() * Stream::new(9, r as u32, 1, Purpose::User).normal();
                for (x, u) in row.iter_mut().zip(along) {
                    *x += extra * u;
                }
                row
            })
            .collect();
        let gradients = draws
            .iter()
            .map(|row| {
                let mut gradient = row.clone();
                if !along.is_empty() {
                    let direction = Buffer::from_slice(along);
                    let component = vectors.dot(row, &direction);
                    vectors.axpy(-component * (1.0 - 1.0 / spike), &direction, &mut gradient);
                }
                gradient
            })
            .collect();
        SpikeRows { draws, gradients }
    }

    #[test]
    fn ql_solves_a_known_matrix() {
        // The second difference matrix: eigenvalues 2 - 2 cos(k pi / (n + 1)).
        let n = 9;
        let (mut values, vectors) = tridiagonal_eigen(vec![2.0; n], vec![-1.0; n - 1]);
        for k in 0..n {
            let residual: f64 = (0..n)
                .map(|i| {
                    let v = &vectors[k];
                    let neighbours = if i > 0 { v[i - 1] } else { 0.0 } + if i + 1 < n { v[i + 1] } else { 0.0 };
                    (2.0 * v[i] - neighbours - values[k] * v[i]).abs()
                })
                .sum();
            assert!(residual < 1e-13, "{residual:e}");
        }
        values.sort_by(f64::total_cmp);
        for share in [0.999_999, 1.000_001] {
            let below = all_below(&vec![2.0; n], &vec![-1.0; n - 1], share * values[n - 1]);
            assert_eq!(below, share > 1.0);
        }
        for (k, value) in values.iter().enumerate() {
            let expected = 2.0 - 2.0 * ((k + 1) as f64 * std::f64::consts::PI / (n + 1) as f64).cos();
            assert!((value - expected).abs() < 1e-13);
        }
    }

    #[test]
    fn pure_noise_has_no_spike() {
        for (n, dim) in [(60, 103), (300, 103), (300, 1003)] {
            let spikes = find_spikes(&Vectors::new(dim), &noise_rows(n, dim, 1.0, &[]), dim, 1);
            assert_eq!(spikes.variances, Vec::<f64>::new(), "{n} x {dim}");
        }
    }

    /// Chains that have not met differ along a direction that is not soft: their gradients say so.
    #[test]
    fn what_only_the_draws_say_is_no_spike() {
        let dim = 103;
        let along = vec![1.0 / (dim as f64).sqrt(); dim];
        let mut rows = noise_rows(300, dim, 200.0, &along);
        rows.gradients = noise_rows(300, dim, 1.0, &[]).draws;
        assert_eq!(find_spikes(&Vectors::new(dim), &rows, dim, 1), Spikes::default());
    }

    #[test]
    fn a_spike_is_found_with_its_size() {
        for dim in [103, 1003] {
            let mut along = vec![1.0 / (dim as f64).sqrt(); dim];
            along[0] = -along[0];
            let spikes = find_spikes(&Vectors::new(dim), &noise_rows(300, dim, 200.0, &along), dim, 1);
            assert_eq!(spikes.variances.len(), 1, "{dim}");
            let cosine: f64 = spikes.directions[0].iter().zip(&along).map(|(a, b)| a * b).sum();
            assert!(cosine.abs() > 0.98, "{cosine}");
            // The angle to the true direction lets some of the rest's gradient in. The same draws made the angle: in
            // them the rest has variance 1 + D / n that way, and its covariance with the spike adds twice 1. So the
            // variance is below 200, and the step the more careful the less the direction is known.
            let rest = 3.0 + dim as f64 / 300.0;
            let along_found = cosine * cosine / 200.0 + rest * (1.0 - cosine * cosine);
            let expected = (200.0 / along_found).sqrt();
            assert!((spikes.variances[0] / expected - 1.0).abs() < 0.15, "{dim}: {} {expected}", spikes.variances[0]);
        }
    }
}
