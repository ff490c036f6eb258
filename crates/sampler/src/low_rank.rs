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

/// The spikes of `rows`: centered and scaled draws, `dim` coordinates each.
pub(crate) fn find_spikes(vectors: &Vectors, rows: &[Buffer], dim: usize, seed: u64) -> Spikes {
    let n = rows.len();
    if n < 10 || dim < 3 {
        return Spikes::default();
    }
    let count = n as f64;
    let trace = rows.iter().map(|row| vectors.dot(row, row)).sum::<f64>() / count;
    let pairs = lanczos(vectors, rows, dim, seed);
    let ratio = dim as f64 / count;
    let edge = (1.0 + ratio.sqrt()) * (1.0 + ratio.sqrt()) * EDGE_MARGIN;

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
    for pair in &pairs[..rank] {
        let variance = debias(pair.value / noise(rank), ratio);
        if variance > WORTHWHILE {
            spikes.variances.push(variance);
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

struct Eigenpair {
    value: f64,
    vector: Buffer,
}

/// Leading eigenpairs of `rows^T rows / n`, largest first.
fn lanczos(vectors: &Vectors, rows: &[Buffer], dim: usize, seed: u64) -> Vec<Eigenpair> {
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

    fn noise_rows(n: usize, dim: usize, spike: f64, along: &[f64]) -> Vec<Buffer> {
        let vectors = Vectors::new(dim);
        (0..n)
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
            .collect()
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

    #[test]
    fn a_spike_is_found_with_its_size() {
        for dim in [103, 1003] {
            let mut along = vec![1.0 / (dim as f64).sqrt(); dim];
            along[0] = -along[0];
            let spikes = find_spikes(&Vectors::new(dim), &noise_rows(300, dim, 200.0, &along), dim, 1);
            assert_eq!(spikes.variances.len(), 1, "{dim}");
            assert!((spikes.variances[0] / 200.0 - 1.0).abs() < 0.25, "{dim}: {}", spikes.variances[0]);
            let cosine: f64 = spikes.directions[0].iter().zip(&along).map(|(a, b)| a * b).sum();
            assert!(cosine.abs() > 0.98, "{cosine}");
        }
    }
}
