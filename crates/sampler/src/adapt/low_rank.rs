//! The low-rank metric: the few directions whose variance stands out of the noise of a sample covariance.
//!
//! The most directions (rank), and when one is worth its cost, stand here.
//!
//! Leading eigenpairs by Lanczos' method with full reorthogonalisation, at O(n D) per step and without the
//! D x D matrix; the rank and the shrunken eigenvalues by the spiked covariance model: with D coordinates, n
//! draws and no structure, eigenvalues stay below the Marchenko-Pastur edge (1 + sqrt(D/n))^2; one above
//! it estimates a spike whose true variance is smaller (Baik and Silverstein 2006; Donoho, Gavish and
//! Johnstone 2018, eq. 1.10).

use crate::kernel::Vectors;
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

    /// The sample eigenvalue of a spike is spike (1 + ratio / (spike - 1)) (Donoho, Gavish and Johnstone 2018, eq. 1.10).
    #[test]
    fn what_sampling_adds_to_a_spike_is_taken_off() {
        for (spike, ratio) in [(2.5, 1.0), (3.0, 0.1), (50.0, 0.1), (50.0, 10.0), (5.0, 10.0), (1e6, 3.0)] {
            let seen = spike * (1.0 + ratio / (spike - 1.0));
            assert!((debias(seen, ratio) / spike - 1.0).abs() < 1e-12, "{spike} {ratio}");
        }
    }

    /// Rows along the axes whose second moments are exactly these.
    fn along_axes(moments: &[f64], n: usize) -> Vec<Buffer> {
        let dim = moments.len();
        let row = |r: usize| {
            let (axis, count) = (r % dim, (0..n).filter(|other| other % dim == r % dim).count());
            let mut row = Buffer::zeros(dim);
            row[axis] = (moments[axis] * n as f64 / count as f64).sqrt();
            row
        };
        (0..n).map(row).collect()
    }

    /// The spikes of `n` draws whose first coordinates have these moments, of draws and of gradients, and the others 1.
    fn spikes_of(n: usize, dim: usize, first: &[(f64, f64)]) -> Spikes {
        let moments =
            |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<f64> { (0..dim).map(|i| first.get(i).map_or(1.0, of)).collect() };
        let (draws, gradients) = (moments(&|&(draws, _)| draws), moments(&|&(_, gradients)| gradients));
        let rows = SpikeRows { draws: along_axes(&draws, n), gradients: along_axes(&gradients, n) };
        find_spikes(&Vectors::new(dim), &rows, dim, 1)
    }

    /// The spike that a sample eigenvalue is seen of, in units of the noise, by bisection.
    fn true_spike(seen: f64, ratio: f64) -> f64 {
        let (mut low, mut high) = (1.0 + ratio.sqrt(), seen);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle * (1.0 + ratio / (middle - 1.0)) < seen { low = middle } else { high = middle }
        }
        low
    }

    fn assert_spikes(found: &Spikes, expected: &[(usize, f64)]) {
        assert_eq!(found.variances.len(), expected.len(), "{found:?}");
        for ((variance, direction), (axis, expected)) in found.variances.iter().zip(&found.directions).zip(expected) {
            assert!((variance / expected - 1.0).abs() < 1e-6, "{variance}, not {expected}");
            assert!((direction[*axis].abs() - 1.0).abs() < 1e-9, "{direction:?}");
        }
    }

    /// The size is the geometric mean of what draws and gradients say.
    #[test]
    fn spikes_have_the_sizes_of_both_sides() {
        let found = spikes_of(200, 20, &[(80.0, 0.1), (300.0, 0.02)]);
        let size = |seen, steep| f64::sqrt(true_spike(seen, 0.1) / steep);
        assert_spikes(&found, &[(1, size(300.0, 0.02)), (0, size(80.0, 0.1))]);
        // Of three coordinates two may stand out.
        let found = spikes_of(300, 3, &[(1000.0, 0.01), (900.0, 0.02)]);
        let size = |seen, steep| f64::sqrt(true_spike(seen, 0.01) / steep);
        assert_spikes(&found, &[(0, size(1000.0, 0.01)), (1, size(900.0, 0.02))]);
    }

    #[test]
    fn ten_draws_of_three_coordinates_are_the_least() {
        let number = |n, dim| spikes_of(n, dim, &[(1000.0, 1e-3)]).variances.len();
        assert_eq!((number(9, 9), number(10, 10)), (0, 1));
        assert_eq!((number(100, 2), number(100, 3)), (0, 1));
    }

    /// One of 40 coordinates is above 1.3 (1 + sqrt(1))^2 = 5.2 times the mean of all where it is above 39 x 5.2 / 34.8.
    #[test]
    fn spikes_are_above_the_edge() {
        let edge = 39.0 * 5.2 / 34.8;
        assert_eq!(spikes_of(40, 40, &[(0.99 * edge, 0.1)]), Spikes::default());
        assert_eq!(spikes_of(40, 40, &[(1.01 * edge, 0.1)]).variances.len(), 1);
    }

    #[test]
    fn directions_are_worth_their_cost_from_three_times_the_rest_on() {
        assert_eq!(spikes_of(200, 20, &[(300.0, 1.0 / 2.97)]), Spikes::default());
        assert_eq!(spikes_of(200, 20, &[(300.0, 1.0 / 3.03)]).variances.len(), 1);
    }

    #[test]
    fn the_twelve_largest_of_twenty_spikes_are_kept() {
        let first: Vec<(f64, f64)> = (0..20).map(|i| (400.0 + 50.0 * f64::from(i), 1e-3)).collect();
        let found = spikes_of(600, 60, &first);
        let axes: Vec<usize> = (8..20).rev().collect();
        assert_eq!(found.variances.len(), 12);
        for (direction, axis) in found.directions.iter().zip(axes) {
            assert!((direction[axis].abs() - 1.0).abs() < 1e-9, "{axis}: {direction:?}");
        }
    }

    /// What is left beside the spikes counts as a 1e12th of all at the least.
    #[test]
    fn a_rest_of_nothing_is_taken_for_a_little() {
        let mut rows = SpikeRows { draws: along_axes(&[1.0; 20], 200), gradients: along_axes(&[1.0; 20], 200) };
        let keep = |rows: &mut [Buffer], factors: &[f64]| {
            for row in rows {
                row.iter_mut().zip(factors.iter().chain(std::iter::repeat(&0.0))).for_each(|(x, factor)| *x *= factor);
            }
        };
        keep(&mut rows.draws, &[f64::sqrt(500.0)]);
        rows.gradients.iter_mut().for_each(|row| row[0] *= 0.1);
        assert_spikes(&find_spikes(&Vectors::new(20), &rows, 20, 1), &[(0, f64::sqrt(1e12 / 0.01))]);
        let mut rows = SpikeRows { draws: along_axes(&[1.0; 20], 200), gradients: along_axes(&[1.0; 20], 200) };
        rows.draws.iter_mut().for_each(|row| (row[0], row[1]) = (row[0] * 500_f64.sqrt(), row[1] * 20.0));
        keep(&mut rows.gradients, &[1e-13_f64.sqrt(), 1.0]);
        let found = find_spikes(&Vectors::new(20), &rows, 20, 1);
        assert_spikes(&found, &[(0, f64::sqrt(true_spike(500.0, 0.1) * 10.0))]);
    }

    /// Lanczos' method on a diagonal matrix, with loops over plain numbers: the diagonal and its neighbours.
    fn plain_lanczos(diagonal: &[f64], start: &[f64], steps: usize) -> (Vec<f64>, Vec<f64>) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let unit = |v: &[f64]| v.iter().map(|x| x / dot(v, v).sqrt()).collect::<Vec<f64>>();
        let mut basis = vec![unit(start)];
        let (mut alpha, mut beta) = (Vec::new(), Vec::new());
        for k in 0..steps {
            let mut next: Vec<f64> = diagonal.iter().zip(&basis[k]).map(|(d, v)| d * v).collect();
            alpha.push(dot(&next, &basis[k]));
            for earlier in basis.iter().chain(&basis) {
                let along = dot(&next, earlier);
                next.iter_mut().zip(earlier).for_each(|(x, v)| *x -= along * v);
            }
            beta.push(dot(&next, &next).sqrt());
            basis.push(unit(&next));
        }
        beta.pop();
        (alpha, beta)
    }

    /// The eigenvalue of a symmetric tridiagonal matrix that `larger` others exceed, by bisection (Sturm).
    fn eigenvalue(alpha: &[f64], beta: &[f64], larger: usize) -> f64 {
        let above = |x: f64| {
            let mut pivot = x - alpha[0];
            let mut count = usize::from(pivot < 0.0);
            for (alpha, beta) in alpha[1..].iter().zip(beta) {
                pivot = x - alpha - beta * beta / pivot;
                count += usize::from(pivot < 0.0);
            }
            count
        };
        let (mut low, mut high) = (-1e3, 1e3);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if above(middle) > larger { low = middle } else { high = middle }
        }
        low
    }

    /// 40 coordinates of variances 0.1 to 4, and where the search for directions starts.
    fn spread_out() -> (Vec<f64>, Vec<Buffer>, Vec<f64>) {
        let diagonal: Vec<f64> = (1..=40).map(|k| 0.1 * f64::from(k)).collect();
        let rows = along_axes(&diagonal, 40);
        let mut start = Buffer::zeros(40);
        Stream::new(7, 0, 40, Purpose::Metric).fill_normal(Vectors::new(40).lanes(), &mut start);
        (diagonal, rows, start[..40].to_vec())
    }

    /// After 28 steps; no eigenvalue of 40 that are so near to each other has converged, so that a step more or less is seen.
    #[test]
    fn the_search_is_lanczos_method() {
        let (diagonal, rows, start) = spread_out();
        let (alpha, beta) = plain_lanczos(&diagonal, &start, 28);
        let found = lanczos(&Vectors::new(40), &rows, 40, 7, 1e-3);
        assert_eq!(found.len(), 12);
        for (larger, pair) in found.iter().enumerate() {
            let expected = eigenvalue(&alpha, &beta, larger);
            assert!((pair.value - expected).abs() < 1e-9, "{larger}: {} {expected}", pair.value);
            let quotient: f64 = pair.vector.iter().zip(&diagonal).map(|(v, d)| d * v * v).sum();
            assert!((quotient - expected).abs() < 1e-9, "{larger}");
        }
    }

    /// It ends after ten steps where nothing has come to 0.8 of the edge.
    #[test]
    fn the_search_ends_early_where_nothing_stands_out() {
        let (diagonal, rows, start) = spread_out();
        let (alpha, beta) = plain_lanczos(&diagonal, &start, 10);
        let largest = eigenvalue(&alpha, &beta, 0);
        for (share, ends) in [(1.0 - 1e-6, false), (1.0 + 1e-6, true)] {
            let found = lanczos(&Vectors::new(40), &rows, 40, 7, share * largest / 0.8);
            assert_eq!(found.is_empty(), ends, "{share}");
        }
    }

    /// Few coordinates have all their eigenpairs, at right angles even where variances are nearly the same.
    #[test]
    fn few_coordinates_are_searched_to_the_end() {
        let mut variances = vec![100.0, 90.0];
        variances.extend((0..8).map(|k| 1.0 + 1e-6 * f64::from(k)));
        let (vectors, rows) = (Vectors::new(10), along_axes(&variances, 10));
        let found = lanczos(&vectors, &rows, 10, 5, 1e-3);
        assert_eq!(found.len(), 10);
        variances.sort_by(|a, b| b.total_cmp(a));
        for (k, (pair, variance)) in found.iter().zip(&variances).enumerate() {
            assert!((pair.value - variance).abs() < 1e-11, "{} {variance}", pair.value);
            for (l, other) in found.iter().enumerate() {
                let along = vectors.dot(&pair.vector, &other.vector);
                assert!((along - f64::from(u8::from(k == l))).abs() < 1e-11, "{k} {l}: {along}");
            }
        }
    }

    /// T v = l v for unit vectors at right angles, of matrices that fall apart, are graded, or nearly nothing.
    #[test]
    fn ql_solves_matrices_of_all_kinds() {
        let mut random = Stream::new(8, 0, 0, Purpose::User);
        let mut numbers = |n: usize| -> Vec<f64> { (0..n).map(|_| random.normal()).collect() };
        for (d, e) in [
            (vec![1.0; 3], vec![0.0; 2]),
            (vec![3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0], vec![0.5, 0.0, 1e-3, 2.0, 0.0, 0.0, 1.0]),
            (vec![1e4, 1e2, 1.0, 1e-2], vec![10.0, 1.0, 0.1]),
            (vec![1e-2, 1.0, 1e2, 1e4], vec![0.1, 1.0, 10.0]),
            (vec![0.0; 6], vec![1.0; 5]),
            (vec![0.0; 3], vec![1e-170; 2]),
            (vec![0.0, 0.0, 0.0, 1.0], vec![1e-170, 1e-170, 0.0]),
            (vec![5.0], vec![]),
            (numbers(2), numbers(1)),
            (numbers(28), numbers(27)),
        ] {
            let n = d.len();
            let (values, vectors) = tridiagonal_eigen(d.clone(), e.clone());
            let most = d.iter().chain(&e).fold(1.0, |most: f64, x| most.max(x.abs()));
            for (k, (value, v)) in values.iter().zip(&vectors).enumerate() {
                for i in 0..n {
                    let before = if i > 0 { e[i - 1] * v[i - 1] } else { 0.0 };
                    let after = if i + 1 < n { e[i] * v[i + 1] } else { 0.0 };
                    let residual = before + d[i] * v[i] + after - value * v[i];
                    assert!(residual.abs() < 1e-13 * most, "{d:?} {e:?}: {residual}");
                }
                for (l, other) in vectors.iter().enumerate() {
                    let along: f64 = v.iter().zip(other).map(|(a, b)| a * b).sum();
                    assert!((along - f64::from(u8::from(k == l))).abs() < 1e-13, "{d:?} {e:?}: {along}");
                }
            }
            let largest = values.iter().fold(f64::NEG_INFINITY, |most, &value| most.max(value));
            for away in [1e-9, 0.1, 10.0] {
                assert!(all_below(&d, &e, largest + away * most), "{d:?} {e:?}: {away}");
                assert!(!all_below(&d, &e, largest - away * most), "{d:?} {e:?}: {away}");
            }
        }
    }

    /// So small that squares are 0: by the first sweep the matrix falls into two, where it has been shifted already.
    #[test]
    fn ql_falls_into_two_where_squares_are_nothing() {
        let (mut values, _) = tridiagonal_eigen(vec![0.0, 1e-150, 1e-150], vec![4e-166, 1e-150]);
        values.sort_by(f64::total_cmp);
        let expected = [0.0, 0.0, 2e-150];
        assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-164), "{values:?}");
    }
}
