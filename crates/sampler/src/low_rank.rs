//! The few directions whose variance stands out of the noise of a sample covariance.
//!
//! Leading eigenpairs by Lanczos' method with full reorthogonalisation, at O(n D) per step and without the
//! D x D matrix; the rank and the shrunken eigenvalues by the spiked covariance model: with D coordinates, n
//! draws and no structure, eigenvalues stay below the Marchenko-Pastur edge (1 + sqrt(D/n))^2; one above
//! it estimates a spike whose true variance is smaller (Baik and Silverstein 2006; Donoho, Gavish and
//! Johnstone 2018, eq. 1.10).

use crate::vector::Vectors;
use octopus_density::warp::Buffer;
use octopus_random::{Purpose, Stream};

/// Most directions kept.
const MAX_RANK: usize = 12;
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
pub(crate) struct Rows {
    pub(crate) draws: Vec<Buffer>,
    pub(crate) gradients: Vec<Buffer>,
}

/// The spikes of `rows`, of `dim` coordinates each.
///
/// Draws alone mislead early in warm-up, when each chain is still near its start: what differs between chains looks
/// like a direction of large variance. The gradients know: along a direction of true variance v theirs is 1 / v
/// (for a normal distribution), whether the chains have been along it or not. So both must say that a direction is
/// soft, and its variance is their geometric mean, as for the diagonal.
pub(crate) fn find_spikes(vectors: &Vectors, rows: &Rows, dim: usize, seed: u64) -> Spikes {
    let Rows { draws, gradients } = rows;
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

/// The spike that is seen as the sample eigenvalue `l` (both in units of the noise); `l` lies above the edge.
fn debias(l: f64, ratio: f64) -> f64 {
    let b = l + 1.0 - ratio;
    0.5 * (b + (b * b - 4.0 * l).max(0.0).sqrt())
}

/// Mean square length of the rows.
fn mean_square(vectors: &Vectors, rows: &[Buffer]) -> f64 {
    rows.iter().map(|row| vectors.dot(row, row)).sum::<f64>() / rows.len() as f64
}

/// Mean square of the rows' components along the unit vector `u`.
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

/// Leading eigenpairs of `rows^T rows / n`, largest first; none when after a first look not one comes near `edge`.
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
        if step + 1 == FIRST_LOOK {
            let largest = tridiagonal_eigen(&alpha, &beta).0.into_iter().fold(0.0, f64::max);
            if largest < NEAR * edge {
                return Vec::new();
            }
        }
        if step + 1 == steps || norm <= 1e-10 * alpha[0].abs() {
            break;
        }
        beta.push(norm);
        basis.push(next);
    }
    let (values, coefficients) = tridiagonal_eigen(&alpha, &beta);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
        .into_iter()
        .map(|k| {
            let mut vector = Buffer::zeros(dim);
            for (basis, row) in basis.iter().zip(&coefficients) {
                vectors.axpy(row[k], basis, &mut vector);
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

/// Eigenvalues and eigenvectors (as columns) of a symmetric tridiagonal matrix by cyclic Jacobi rotations:
/// only + - * / sqrt, so the same bits everywhere.
fn tridiagonal_eigen(alpha: &[f64], beta: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = alpha.len();
    let mut a = vec![vec![0.0; n]; n];
    let mut v = vec![vec![0.0; n]; n];
    for i in 0..n {
        a[i][i] = alpha[i];
        v[i][i] = 1.0;
        if i + 1 < n {
            a[i][i + 1] = beta[i];
            a[i + 1][i] = beta[i];
        }
    }
    let scale: f64 = alpha.iter().map(|x| x.abs()).fold(1e-300, f64::max);
    for _sweep in 0..50 {
        let mut off = 0.0f64;
        for i in 0..n {
            for j in i + 1..n {
                off = off.max(a[i][j].abs());
            }
        }
        if off <= 1e-15 * scale {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let sign = if theta < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (kp, kq) = (a[k][p], a[k][q]);
                    a[k][p] = c * kp - s * kq;
                    a[k][q] = s * kp + c * kq;
                }
                for k in 0..n {
                    let (pk, qk) = (a[p][k], a[q][k]);
                    a[p][k] = c * pk - s * qk;
                    a[q][k] = s * pk + c * qk;
                }
                for row in &mut v {
                    let (kp, kq) = (row[p], row[q]);
                    row[p] = c * kp - s * kq;
                    row[q] = s * kp + c * kq;
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of a normal distribution with one spike along `along`, and its gradients: less by spike times there.
    fn noise_rows(n: usize, dim: usize, spike: f64, along: &[f64]) -> Rows {
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
        Rows { draws, gradients }
    }

    #[test]
    fn jacobi_solves_a_known_matrix() {
        // The second difference matrix: eigenvalues 2 - 2 cos(k pi / (n + 1)).
        let n = 9;
        let (mut values, vectors) = tridiagonal_eigen(&vec![2.0; n], &vec![-1.0; n - 1]);
        for k in 0..n {
            let residual: f64 = (0..n)
                .map(|i| {
                    let neighbours =
                        if i > 0 { vectors[i - 1][k] } else { 0.0 } + if i + 1 < n { vectors[i + 1][k] } else { 0.0 };
                    (2.0 * vectors[i][k] - neighbours - values[k] * vectors[i][k]).abs()
                })
                .sum();
            assert!(residual < 1e-13, "{residual:e}");
        }
        values.sort_by(f64::total_cmp);
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
