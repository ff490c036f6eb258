//! The inverse Hessian that L-BFGS builds on its way, and the normal distribution that it stands for.

use super::linear::{axpy, dot};
use octopus_random::{Stream, exact};
use std::collections::VecDeque;

/// Steps that are remembered, as in Zhang et al. (2022) and in Stan 6 and 5.
const HISTORY: usize = 6;
/// A step whose product with the change of the slope is a smaller share of the latter's square tells no curvature.
const FLAT: f64 = 1e-12;

/// A step, and how the slope of minus the log density changes along it.
#[derive(Clone, Debug)]
struct Secant {
    step: Vec<f64>,
    change: Vec<f64>,
    /// `step . change`, positive.
    product: f64,
}

/// An estimate of the inverse Hessian of minus the log density: a diagonal with a BFGS update by each of the last steps.
#[derive(Clone, Debug)]
pub(super) struct InverseHessian {
    diagonal: Vec<f64>,
    secants: VecDeque<Secant>,
}

impl InverseHessian {
    pub(super) fn new(diagonal: Vec<f64>) -> Self {
        Self { diagonal, secants: VecDeque::new() }
    }

    /// Returns the diagonal before the updates, about the variances of the coordinates.
    pub(super) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Returns whether any step has told a curvature yet.
    pub(super) fn has_seen_curvature(&self) -> bool {
        !self.secants.is_empty()
    }

    /// Learns from a step and the change of the slope along it. Steps along which the slope falls are left out, as in
    /// algorithm 3 of Zhang et al. (2022).
    pub(super) fn learn(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let product = dot(&step, &change);
        if !(product > FLAT * dot(&change, &change) && product.is_finite()) {
            return;
        }
        self.learn_diagonal(&step, &change, product);
        if self.secants.len() == HISTORY {
            self.secants.pop_front();
        }
        self.secants.push_back(Secant { step, change, product });
    }

    /// The diagonal of a BFGS update of the diagonal (Gilbert and Lemarechal 1989, formula 4.9).
    fn learn_diagonal(&mut self, step: &[f64], change: &[f64], product: f64) {
        let (mut a, mut c) = (0.0, 0.0);
        for (i, diagonal) in self.diagonal.iter().enumerate() {
            a += change[i] * change[i] * diagonal;
            c += step[i] * step[i] / diagonal;
        }
        for (i, diagonal) in self.diagonal.iter_mut().enumerate() {
            let along = step[i] / *diagonal;
            let next = product / (a / *diagonal + change[i] * change[i] - a / c * along * along);
            if next.is_normal() && next > 0.0 {
                *diagonal = next;
            }
        }
    }

    /// Returns the product with `v` (the two loops of Nocedal 1980).
    pub(super) fn times(&self, v: &[f64]) -> Vec<f64> {
        let mut out = v.to_vec();
        let mut shares = Vec::with_capacity(self.secants.len());
        for secant in self.secants.iter().rev() {
            let share = dot(&secant.step, &out) / secant.product;
            axpy(-share, &secant.change, &mut out);
            shares.push(share);
        }
        out.iter_mut().zip(&self.diagonal).for_each(|(out, diagonal)| *out *= diagonal);
        for (secant, share) in self.secants.iter().zip(shares.into_iter().rev()) {
            let other = dot(&secant.change, &out) / secant.product;
            axpy(share - other, &secant.step, &mut out);
        }
        out
    }
}

/// The normal distribution whose covariance is an [`InverseHessian`], about the point where a Newton step with it ends.
#[derive(Clone, Debug)]
pub(super) struct PathNormal {
    mean: Vec<f64>,
    covariance: InverseHessian,
    /// For each secant the product of its step with the inverse of the covariance before the update, and the product of
    /// that with the step.
    before: Vec<(Vec<f64>, f64)>,
    height: f64,
}

impl PathNormal {
    /// Makes the normal at a point of a path, where `gradient` is that of the log density; `None` where the numbers
    /// overflow.
    pub(super) fn new(covariance: InverseHessian, x: &[f64], gradient: &[f64]) -> Option<Self> {
        let mut mean = covariance.times(gradient);
        axpy(1.0, x, &mut mean);
        let mut log_determinant: f64 = covariance.diagonal.iter().copied().map(exact::ln).sum();
        let mut before: Vec<(Vec<f64>, f64)> = Vec::with_capacity(covariance.secants.len());
        for (number, secant) in covariance.secants.iter().enumerate() {
            let mut product: Vec<f64> =
                secant.step.iter().zip(&covariance.diagonal).map(|(step, diagonal)| step / diagonal).collect();
            for (earlier, (other, square)) in covariance.secants.iter().zip(&before).take(number) {
                axpy(-dot(other, &secant.step) / square, other, &mut product);
                axpy(dot(&earlier.change, &secant.step) / earlier.product, &earlier.change, &mut product);
            }
            let square = dot(&product, &secant.step);
            log_determinant += exact::ln(square / secant.product);
            before.push((product, square));
        }
        let height = -0.5 * (log_determinant + mean.len() as f64 * exact::ln(2.0 * std::f64::consts::PI));
        (height.is_finite() && mean.iter().all(|x| x.is_finite())).then_some(Self { mean, covariance, before, height })
    }

    /// Writes a draw to `out`: a draw of the diagonal normal, to which each BFGS update `(1 - s y^T / sy) H (1 - y s^T / sy)
    /// + s s^T / sy` is done as it is to the covariance.
    pub(super) fn draw(&self, random: &mut Stream, out: &mut [f64]) {
        for (out, diagonal) in out.iter_mut().zip(&self.covariance.diagonal) {
            *out = diagonal.sqrt() * random.normal();
        }
        for Secant { step, change, product } in &self.covariance.secants {
            let along = random.normal() / product.sqrt() - dot(change, out) / product;
            axpy(along, step, out);
        }
        axpy(1.0, &self.mean, out);
    }

    /// Returns the log density at `x`.
    pub(super) fn log_density(&self, x: &[f64]) -> f64 {
        self.height - 0.5 * self.square(&self.away(x))
    }

    /// Returns half the logarithm of the determinant of the inverse covariance, by which densities of all shapes are higher
    /// than of the unit covariance.
    pub(super) fn log_root(&self) -> f64 {
        self.height + 0.5 * self.mean.len() as f64 * exact::ln(2.0 * std::f64::consts::PI)
    }

    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }

    pub(super) fn away(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect()
    }

    /// Returns the square of `away` in units of the covariance, whose inverse has BFGS updates, too.
    pub(super) fn square(&self, away: &[f64]) -> f64 {
        let mut square: f64 = away.iter().zip(&self.covariance.diagonal).map(|(x, diagonal)| x * x / diagonal).sum();
        for (secant, (before, norm)) in self.covariance.secants.iter().zip(&self.before) {
            let (old, new) = (dot(before, away), dot(&secant.change, away));
            square += new * new / secant.product - old * old / norm;
        }
        square
    }

    /// Adds `share` times the product of the inverse covariance with `away`, half the slope of its square, to `out`.
    pub(super) fn add_slope(&self, share: f64, away: &[f64], out: &mut [f64]) {
        for (out, (x, diagonal)) in out.iter_mut().zip(away.iter().zip(&self.covariance.diagonal)) {
            *out += share * x / diagonal;
        }
        for (secant, (before, norm)) in self.covariance.secants.iter().zip(&self.before) {
            axpy(share * dot(&secant.change, away) / secant.product, &secant.change, out);
            axpy(-share * dot(before, away) / norm, before, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::Purpose;

    /// What three steps tell of a density with the precision `[[2, 1, 0], [1, 3, 1], [0, 1, 4]]`, and of one along which the
    /// slope falls.
    fn learned() -> InverseHessian {
        let mut inverse = InverseHessian::new(vec![1.0; 3]);
        for step in [[1.0, 0.0, 0.5], [0.2, 1.0, 0.0], [0.0, -0.3, 1.0]] {
            let [x, y, z] = step;
            inverse.learn(step.to_vec(), vec![2.0 * x + y, x + 3.0 * y + z, y + 4.0 * z]);
        }
        inverse.learn(vec![1.0, 0.0, 0.0], vec![-1.0, 0.0, 0.0]);
        inverse
    }

    fn unit(i: usize) -> Vec<f64> {
        (0..3).map(|j| if i == j { 1.0 } else { 0.0 }).collect()
    }

    /// The estimate maps the last change of the slope to the step that made it, is symmetric and positive.
    #[test]
    fn the_secant_equation_holds() {
        let inverse = learned();
        let last = inverse.secants.back().unwrap();
        let mapped = inverse.times(&last.change);
        assert!(mapped.iter().zip(&last.step).all(|(a, b)| (a - b).abs() < 1e-14), "{mapped:?}");
        let columns: Vec<Vec<f64>> = (0..3).map(|i| inverse.times(&unit(i))).collect();
        for i in 0..3 {
            assert!(columns[i][i] > 0.0);
            assert!((0..3).all(|j| (columns[i][j] - columns[j][i]).abs() < 1e-14), "{columns:?}");
        }
        assert_eq!(inverse.secants.len(), 3);
    }

    /// Square, slope and determinant are those of the inverse of what `times` multiplies by.
    #[test]
    fn the_normal_is_that_of_the_estimate() {
        let inverse = learned();
        let columns: Vec<Vec<f64>> = (0..3).map(|i| inverse.times(&unit(i))).collect();
        let normal = PathNormal::new(inverse.clone(), &[1.0, 2.0, 3.0], &[0.5, 0.0, -0.5]).unwrap();
        let v = [0.3, -1.0, 2.0];
        let product = inverse.times(&v);
        assert!((normal.square(&product) - dot(&v, &product)).abs() < 1e-12);
        let mut slope = vec![0.0; 3];
        normal.add_slope(1.0, &product, &mut slope);
        assert!(slope.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-12), "{slope:?}");
        let [a, b, c] = [&columns[0], &columns[1], &columns[2]];
        let determinant = a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]);
        assert!((normal.log_root() + 0.5 * determinant.ln()).abs() < 1e-12, "{}", normal.log_root());
        let newton = inverse.times(&[0.5, 0.0, -0.5]);
        assert!((normal.mean()[0] - 1.0 - newton[0]).abs() < 1e-14);
    }

    /// Means and covariances of 20,000 draws, to 5 standard errors.
    #[test]
    fn draws_have_the_covariance_of_the_estimate() {
        const DRAWS: usize = 20_000;
        let inverse = learned();
        let normal = PathNormal::new(inverse.clone(), &[1.0, 2.0, 3.0], &[0.0; 3]).unwrap();
        let mut sums = [[0.0; 3]; 3];
        for draw in 0..DRAWS {
            let mut x = vec![0.0; 3];
            normal.draw(&mut Stream::new(1, draw as u32, 0, Purpose::User), &mut x);
            let away = normal.away(&x);
            for (i, row) in sums.iter_mut().enumerate() {
                row.iter_mut().zip(&away).for_each(|(sum, other)| *sum += away[i] * other / DRAWS as f64);
            }
        }
        let columns: Vec<Vec<f64>> = (0..3).map(|i| inverse.times(&unit(i))).collect();
        for (i, row) in sums.iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                let expected = columns[i][j];
                let error = ((columns[i][i] * columns[j][j] + expected * expected) / DRAWS as f64).sqrt();
                assert!((found - expected).abs() < 5.0 * error, "{i} {j}: {found}, not {expected}");
            }
        }
    }
}
