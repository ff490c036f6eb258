//! The model as its definition reads, over any kind of number, and data to try.

use crate::number::Number;
use octopus_density::{Centering, LogDensity, to_centered};
use octopus_models::EightSchools;
use octopus_random::{Purpose, Stream};
use std::f64::consts::PI;

/// log N(x | mean, sd)
pub(crate) fn normal<N: Number>(x: N, mean: N, sd: N) -> N {
    let standard = (x - mean) / sd;
    N::constant(-0.5 * (2.0 * PI).ln()) - sd.ln() - N::constant(0.5) * standard * standard
}

/// log HalfCauchy(x | scale)
pub(crate) fn half_cauchy<N: Number>(x: N, scale: f64) -> N {
    let ratio = x / N::constant(scale);
    N::constant((2.0 / (PI * scale)).ln()) - (N::constant(1.0) + ratio * ratio).ln()
}

/// mu at a position in the coordinates of `centering`, and the log-Jacobian of it. Standardised, it is so in the
/// distribution that it would have if all schools were measured with the mean precision.
pub(crate) fn location<N: Number>(model: &EightSchools, centering: Centering, at: &[N]) -> (N, N) {
    let (constant, schools) = (N::constant, model.schools());
    let (x, tau) = (at[schools], at[schools + 1].exp());
    if centering != Centering::Standardised {
        return (x, constant(0.0));
    }
    let precisions: Vec<f64> = model.sigma().iter().map(|sigma| sigma.powi(-2)).collect();
    let total: f64 = precisions.iter().sum();
    let center = model.y().iter().zip(&precisions).map(|(y, p)| y * p).sum::<f64>() / total;
    let of_school = tau * tau + constant(schools as f64 / total);
    let (by_data, by_prior) = (constant(schools as f64) / of_school, constant(1.0 / 25.0));
    let sd = constant(1.0) / (by_data + by_prior).sqrt();
    (by_data / (by_data + by_prior) * constant(center) + sd * x, sd.ln())
}

/// The log joint density, every constant included, at `x_0 .. x_{J-1}, mu, log tau`, or what `centering` has in the place of
/// all but the last; with the Jacobians of `exp` and of the centering.
pub(crate) fn log_joint<N: Number>(model: &EightSchools, centering: Centering, at: &[N]) -> N {
    let constant = N::constant;
    let (mu, log_sd) = location(model, centering, at);
    let log_tau = at[model.schools() + 1];
    let tau = log_tau.exp();
    let mut total = normal(mu, constant(0.0), constant(5.0)) + half_cauchy(tau, 5.0) + log_tau + log_sd;
    for j in 0..model.schools() {
        let (y, sigma) = (constant(model.y()[j]), constant(model.sigma()[j]));
        // The effect, and log dz/dx.
        let (theta, log_slope) = match centering {
            Centering::NonCentered => (mu + tau * at[j], constant(0.0)),
            Centering::Centered => (at[j], constant(0.0) - log_tau),
            Centering::Standardised => {
                let variance = tau * tau + sigma * sigma;
                let (share, rest) = (tau * tau / variance, sigma * sigma / variance);
                (mu + share * (y - mu) + tau * rest.sqrt() * at[j], constant(0.5) * rest.ln())
            }
        };
        total = total + normal((theta - mu) / tau, constant(0.0), constant(1.0)) + log_slope;
        total = total + normal(y, theta, sigma);
    }
    total
}

/// The log density of mu and log tau alone, the effects integrated out.
pub(crate) fn log_marginal(model: &EightSchools, mu: f64, log_tau: f64) -> f64 {
    let tau = log_tau.exp();
    let of_school = |(&y, sigma): (&f64, &f64)| normal(y, mu, (tau * tau + sigma * sigma).sqrt());
    let schools: f64 = model.y().iter().zip(model.sigma()).map(of_school).sum();
    normal(mu, 0.0, 5.0) + half_cauchy(tau, 5.0) + log_tau + schools
}

/// What [`log_joint`] has and the library leaves out: the terms that do not depend on the position.
pub(crate) fn constant(model: &EightSchools) -> f64 {
    let normals = (2 * model.schools() + 1) as f64;
    (2.0 / (PI * 5.0)).ln()
        - 0.5 * normals * (2.0 * PI).ln()
        - 5f64.ln()
        - model.sigma().iter().map(|sigma| sigma.ln()).sum::<f64>()
}

/// Rubin's schools, and others below, at and above the boundaries of the virtual warp: one row of 32 lanes, several,
/// the last of 32 lanes (256 coordinates), 128 lanes.
pub(crate) fn models() -> Vec<EightSchools> {
    let others = [1, 2, 30, 31, 100, 254, 255, 300].map(|schools| {
        let mut random = Stream::new(41, schools, 0, Purpose::User);
        let sigma: Vec<f64> = (0..schools).map(|_| 0.5 + 20.0 * random.uniform()).collect();
        let y: Vec<f64> = sigma.iter().map(|sigma| 4.0 + 6.0 * random.normal() + sigma * random.normal()).collect();
        EightSchools::new(&y, &sigma).expect("valid")
    });
    [EightSchools::rubin()].into_iter().chain(others).collect()
}

pub(crate) const CENTERINGS: [Centering; 3] = [Centering::NonCentered, Centering::Centered, Centering::Standardised];

/// A plausible position in non-centered coordinates.
pub(crate) fn position(schools: usize, number: u32) -> Vec<f64> {
    let mut random = Stream::new(43, schools as u32, number, Purpose::User);
    let mut position: Vec<f64> = (0..schools).map(|_| random.normal()).collect();
    position.extend([4.0 + 3.0 * random.normal(), 1.0 + random.normal()]);
    position
}

/// A plausible position in the coordinates of `centering`: standardised effects are standard normal given the data, as
/// non-centered ones are without them, and so is the location.
pub(crate) fn position_in(model: &EightSchools, centering: Centering, number: u32) -> Vec<f64> {
    let schools = model.schools();
    let mut position = position(schools, number);
    match centering {
        Centering::NonCentered => {}
        Centering::Centered => to_centered(model.hierarchies(), &[centering], &mut position),
        Centering::Standardised => position[schools] = (position[schools] - 4.0) / 3.0,
    }
    position
}
