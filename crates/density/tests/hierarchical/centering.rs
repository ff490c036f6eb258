//! Partially centered coordinates: the way there and back, its Jacobian, and the chain rule.

use crate::cases::{BOTH, GROUPS, PRIORS, centerings, model, position, shapes};
use octopus_density::{
    Centering, DensityError, HierarchicalNormal, Hierarchy, Layout, LogDensity, log_jacobian, to_centered,
    to_non_centered,
};

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
            for (name, centering) in centerings(groups) {
                for likelihood in BOTH {
                    let model = model(&data, PRIORS[0], likelihood);
                    let centering = [centering.clone()];
                    let mut at = position(groups, 1);
                    to_centered(model.hierarchies(), &centering, &mut at);
                    let (mut fused, mut generic) = (vec![0.0; groups + 3], vec![0.0; groups + 3]);
                    let a = model.logp_grad_centered(&centering, &at, &mut fused).expect("finite");
                    let b = ByChainRule(&model).logp_grad_centered(&centering, &at, &mut generic).expect("finite");
                    let what = format!("{groups} groups, {shape}, {name}, {likelihood:?}");
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
        for (name, centering) in centerings(groups) {
            let centering = [centering];
            let start = position(groups, 2);
            let mut at = start.clone();
            to_centered(model.hierarchies(), &centering, &mut at);
            // Centered effects are group means: lambda 1 is mu_group itself.
            let mut expanded = vec![0.0; model.layout().width()];
            model.expand(&start, &mut expanded);
            for j in (0..groups).filter(|&j| centering[0].lambda()[j] == 1.0) {
                assert!((at[j] / expanded[3 + groups + j] - 1.0).abs() < 1e-14, "{name}");
            }
            to_non_centered(model.hierarchies(), &centering, &mut at);
            for (found, expected) in at.iter().zip(&start) {
                // x = s^lambda z + lambda m with m near 50 and s near 7.
                assert!((found - expected).abs() < 1e-14 * 50.0, "{name}: {found}, not {expected}");
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
    let mixed = Centering::new(vec![0.0, 1.0, 0.25, 0.7]);
    for centering in centerings(groups).map(|(_, c)| c).into_iter().chain([mixed]) {
        let centering = [centering];
        let mut at = position(groups, 4);
        to_centered(model.hierarchies(), &centering, &mut at);
        let dim = at.len();
        let h = 1e-5;
        let columns: Vec<Vec<f64>> = (0..dim)
            .map(|i| {
                let map = |offset: f64| {
                    let mut x = at.clone();
                    x[i] += offset;
                    to_non_centered(model.hierarchies(), &centering, &mut x);
                    x
                };
                map(h).iter().zip(map(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
            })
            .collect();
        let expected = log_abs_determinant(columns);
        let found = log_jacobian(model.hierarchies(), &centering, &at);
        assert!((found - expected).abs() < 1e-8, "{:?}: {found}, not {expected}", centering[0].lambda());
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
