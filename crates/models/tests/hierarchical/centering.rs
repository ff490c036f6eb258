//! Other coordinates than the density's own: the way there and back, its Jacobian, the chain rule, and what
//! standardised ones are for.

use crate::cases::{BOTH, CENTERINGS, GROUPS, PRIORS, model, position, position_in, shapes};
use crate::reference::{effective, log_marginal, scalars};
use octopus_density::{
    Centering, DensityError, Hierarchy, Layout, LogDensity, log_jacobian, to_centered, to_non_centered,
};
use octopus_models::HierarchicalNormal;

/// The model without its own [`LogDensity::logp_grad_centered`]: the trait's chain rule takes its place.
struct ByChainRule<'a>(&'a HierarchicalNormal);

impl LogDensity for ByChainRule<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn layout(&self) -> &Layout {
        self.0.layout()
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.0.logp_grad(position, gradient)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.0.expand(position, out);
    }

    fn name(&self) -> &str {
        "by chain rule"
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        self.0.hierarchies()
    }
}

#[test]
fn one_pass_is_the_chain_rule() {
    for groups in GROUPS {
        for (shape, data) in shapes(groups) {
            for centering in CENTERINGS {
                for likelihood in BOTH {
                    let model = model(&data, PRIORS[0], likelihood);
                    let at = position_in(&model, centering, 1);
                    let (mut fused, mut generic) = (vec![0.0; groups + 3], vec![0.0; groups + 3]);
                    let a = model.logp_grad_centered(&[centering], &at, &mut fused).expect("finite");
                    let b = ByChainRule(&model).logp_grad_centered(&[centering], &at, &mut generic).expect("finite");
                    let what = format!("{groups} groups, {shape}, {centering:?}, {likelihood:?}");
                    assert!((a / b - 1.0).abs() < 1e-12, "{what}: {a}, not {b}");
                    let largest = generic.iter().fold(0.0f64, |a, g| a.max(g.abs()));
                    for i in 0..groups + 3 {
                        let error = (fused[i] - generic[i]).abs();
                        assert!(error <= 1e-12 * largest, "{what}: coordinate {i}: {}, not {}", fused[i], generic[i]);
                    }
                }
            }
        }
    }
}

#[test]
fn there_and_back_is_where_it_was() {
    for groups in GROUPS {
        let (_, data) = &shapes(groups)[1];
        let model = model(data, PRIORS[0], BOTH[0]);
        for centering in CENTERINGS {
            let start = position(groups, 2);
            let mut at = start.clone();
            to_centered(model.hierarchies(), &[centering], &mut at);
            let (natural, _) = scalars(data, &PRIORS[0], centering, &at);
            for (found, expected) in natural.into_iter().zip(&start[groups..]) {
                assert!((found - expected).abs() < 1e-14 * 50.0, "{centering:?}: {found}, not {expected}");
            }
            let mut expanded = vec![0.0; model.layout().width()];
            model.expand(&start, &mut expanded);
            let (mu, sigma_pop, sigma_obs) = (expanded[0], expanded[1], expanded[2]);
            for j in 0..groups {
                let (found, mu_group) = (at[j], expanded[3 + groups + j]);
                match effective(data, centering) {
                    Centering::NonCentered => assert_eq!(found.to_bits(), start[j].to_bits()),
                    Centering::Centered => assert!((found / mu_group - 1.0).abs() < 1e-14),
                    Centering::Standardised => {
                        let count = data.group(j).len() as f64;
                        let average = data.group(j).iter().sum::<f64>() / count;
                        let share = count * sigma_pop.powi(2) / (sigma_obs.powi(2) + count * sigma_pop.powi(2));
                        let mean = mu + share * (average - mu);
                        let expected = (mu_group - mean) / (sigma_pop * (1.0 - share).sqrt());
                        // 1 - share has lost as many digits as the share has nines.
                        let bound = 1e-14 * (1.0 + expected.abs()) / (1.0 - share);
                        assert!((found - expected).abs() < bound, "group {j} of {groups}: {found}, not {expected}");
                    }
                }
            }
            to_non_centered(model.hierarchies(), &[centering], &mut at);
            for (found, expected) in at.iter().zip(&start) {
                // Centered effects are near 50, with s near 7.
                assert!((found - expected).abs() < 1e-14 * 50.0, "{centering:?}: {found}, not {expected}");
            }
        }
    }
}

/// log |det dz/dx| of the whole map, by finite differences and elimination.
#[test]
fn jacobian_is_that_of_the_map() {
    let groups = 4;
    let (_, data) = &shapes(groups)[0];
    let model = model(data, PRIORS[0], BOTH[0]);
    for centering in CENTERINGS {
        let at = position_in(&model, centering, 4);
        let dim = at.len();
        let h = 1e-5;
        let columns: Vec<Vec<f64>> = (0..dim)
            .map(|i| {
                let map = |offset: f64| {
                    let mut x = at.clone();
                    x[i] += offset;
                    to_non_centered(model.hierarchies(), &[centering], &mut x);
                    x
                };
                map(h).iter().zip(map(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            })
            .collect();
        let expected = log_abs_determinant(columns);
        let found = log_jacobian(model.hierarchies(), &[centering], &at);
        assert!((found - expected).abs() < 1e-8, "{centering:?}: {found}, not {expected}");
    }
}

fn log_abs_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut log = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).expect("rows");
        a.swap(k, pivot);
        log += a[k][k].abs().ln();
        let (above, below) = a.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for (x, y) in row[k..].iter_mut().zip(&above[k][k..]) {
                *x -= factor * y;
            }
        }
    }
    log
}

/// Given the scalars, standardised effects are independent and standard normal, whatever the scalars are: the slope of
/// each is its coordinate, negative, and what their squares leave of the value is the density of the scalars alone. Given
/// the scales, the location is so, too, where all groups have one size.
#[test]
fn standardised_effects_are_standard_normal_given_the_scalars() {
    let centering = [Centering::Standardised];
    for groups in GROUPS {
        for (shape, data) in shapes(groups) {
            if effective(&data, centering[0]) != centering[0] {
                continue;
            }
            for likelihood in BOTH {
                let model = model(&data, PRIORS[0], likelihood);
                let what = format!("{groups} groups, {shape}, {likelihood:?}");
                let mut gradient = vec![0.0; groups + 3];
                let [(value, marginal), (other_value, other_marginal)] = [5, 6].map(|number| {
                    let at = position_in(&model, centering[0], number);
                    let value = model.logp_grad_centered(&centering, &at, &mut gradient).expect("finite");
                    let ratio = at[groups + 1].exp();
                    for j in 0..groups {
                        // A mean is rounded as the whole data are, and counts in standard deviations of its own.
                        let bound = 1e-13 * (1.0 + ratio * (data.group(j).len() as f64).sqrt());
                        let off = (gradient[j] + at[j]).abs();
                        assert!(off < bound, "{what}: the slope of {} is {}", at[j], gradient[j]);
                    }
                    if shape == "balanced" {
                        let (x, slope) = (at[groups], gradient[groups]);
                        // A sum over the groups of terms that cancel.
                        let bound = 1e-13 * (1.0 + ratio) * groups as f64;
                        assert!((slope + x).abs() < bound, "{what}: the slope of the location {x} is {slope}");
                    }
                    let squares: f64 = at[..groups].iter().map(|x| x * x).sum();
                    let (natural, log_sd) = scalars(&data, &PRIORS[0], centering[0], &at);
                    (value + 0.5 * squares, log_marginal(&data, &PRIORS[0], natural) + log_sd)
                });
                // Between two points the constant goes.
                let (found, expected) = (other_value - value, other_marginal - marginal);
                let bound = 1e-12 * (value.abs() + marginal.abs());
                assert!((found - expected).abs() < bound, "{what}: {found}, not {expected}");
            }
        }
    }
}
