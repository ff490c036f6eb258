//! The exact posterior against references made in other ways.

use octopus_density::{GroupedData, Labels, LogDensity};
use octopus_models::exact::{ExactError, ExactPosterior, Moments, Quantity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalPrior, ModelError, Registry};
use serde_json::Value;

fn compute(data: &GroupedData) -> ExactPosterior {
    ExactPosterior::compute(data, &HierarchicalPrior::default()).expect("converges")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("number")
}

/// Mean within `tolerance` standard deviations, standard deviation within the same factor.
fn check(what: &str, ours: Moments, mean: f64, sd: f64, tolerance: f64) {
    assert!((ours.mean - mean).abs() < tolerance * sd, "{what}: mean {} and {mean}", ours.mean);
    assert!((ours.sd - sd).abs() < tolerance * sd, "{what}: sd {} and {sd}", ours.sd);
}

/// The references were made by the planners of the project with another program.
#[test]
fn the_posterior_of_phase_0() {
    for (groups, reference) in [
        (100, include_str!("data/prd_100x10_seed42_exact.json")),
        (500, include_str!("data/prd_500x10_seed42_exact.json")),
        (1000, include_str!("data/prd_1000x10_seed42_exact.json")),
    ] {
        let reference: Value = serde_json::from_str(reference).expect("JSON");
        let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
        let ours = compute(&spec.generate().expect("valid").data);
        assert!(ours.error < 1e-10, "{}", ours.error);
        for (name, quantity) in
            [("mu_pop", Quantity::MuPop), ("sigma_pop", Quantity::SigmaPop), ("sigma_obs", Quantity::SigmaObs)]
        {
            let expected = &reference[name];
            let (mean, sd) = (number(&expected["mean"]), number(&expected["sd"]));
            check(name, ours.moments(quantity), mean, sd, 1e-8);
            assert!((ours.moments(quantity).mean / mean - 1.0).abs() < 1e-8);
        }
        assert_eq!(ours.mu_group.len(), groups);
        for j in 0..groups {
            let expected = &reference["mu_group"];
            check("mu_group", ours.mu_group[j], number(&expected["mean"][j]), number(&expected["sd"][j]), 1e-8);
        }
    }
}

fn cases() -> Vec<(String, GroupedData, HierarchicalPrior, Value)> {
    let cases: Value = serde_json::from_str(include_str!("data/exact_cases.json")).expect("JSON");
    let list = |value: &Value| value.as_array().expect("list").clone();
    let case = |case: Value| {
        let group: Vec<usize> = list(&case["group"]).iter().map(|j| number(j) as usize).collect();
        let values: Vec<f64> = list(&case["y"]).iter().map(number).collect();
        let labels = Labels::Range(group.iter().max().expect("groups") + 1);
        let data = GroupedData::new(labels, &group, &values).expect("valid");
        let prior = serde_json::from_value(case["prior"].clone()).expect("prior");
        (case["name"].as_str().expect("name").to_owned(), data, prior, case["posterior"].clone())
    };
    let cases: Vec<_> = list(&cases).into_iter().map(case).collect();
    assert_eq!(cases.len(), 5);
    cases
}

/// Unbalanced and weak data, one group, single observations, another prior: every moment and the evidence
/// (tests/data/make_exact.py: dense covariance matrices and Gauss-Legendre quadrature, SciPy).
#[test]
fn small_data_sets() {
    for (name, data, prior, reference) in cases() {
        let ours = ExactPosterior::compute(&data, &prior).expect("converges");
        let tolerance = 1e-8;
        for (variable, quantity) in
            [("mu_pop", Quantity::MuPop), ("sigma_pop", Quantity::SigmaPop), ("sigma_obs", Quantity::SigmaObs)]
        {
            let expected = &reference[variable];
            let what = format!("{name} {variable}");
            check(&what, ours.moments(quantity), number(&expected["mean"]), number(&expected["sd"]), tolerance);
        }
        for variable in ["z", "mu_group"] {
            for j in 0..data.groups() {
                let expected = &reference[variable][j];
                let quantity = Quantity::named(variable, j).expect("known");
                let what = format!("{name} {variable}[{j}]");
                check(&what, ours.moments(quantity), number(&expected["mean"]), number(&expected["sd"]), tolerance);
            }
        }
        let evidence = number(&reference["log_marginal_likelihood"]);
        assert!((ours.log_marginal_likelihood - evidence).abs() < 1e-8, "{name}: {}", ours.log_marginal_likelihood);
    }
}

#[test]
fn distribution_functions() {
    for (name, data, prior, reference) in cases() {
        let ours = ExactPosterior::compute(&data, &prior).expect("converges");
        // mu_group of a single observation has a logarithmic peak at it, which the table blurs.
        let tolerance = if name == "single_observations" { 2e-6 } else { 1e-8 };
        for (variable, rows) in reference["cdf"].as_object().expect("object") {
            let quantity = Quantity::named(variable, 0).expect("known");
            let marginal = ours.marginal(quantity);
            let rows = rows.as_array().expect("rows");
            assert!(!rows.is_empty());
            for row in rows {
                let (x, p) = (number(&row[0]), number(&row[1]));
                let found = marginal.cdf(x);
                assert!((found - p).abs() < tolerance, "{name} {variable}: P(<= {x}) = {found}, not {p}");
                let back = marginal.quantile(p);
                assert!((back - x).abs() < 1e-5 * x.abs().max(1e-3), "{name} {variable}: quantile {back}, not {x}");
            }
        }
    }
}

/// Intervals hold what they say, and no interval of the same probability is shorter than the highest-density one.
#[test]
fn intervals() {
    for (name, data, prior, _) in cases() {
        let ours = ExactPosterior::compute(&data, &prior).expect("converges");
        for quantity in [Quantity::MuPop, Quantity::SigmaPop, Quantity::SigmaObs, Quantity::Z(0), Quantity::MuGroup(0)]
        {
            let marginal = ours.marginal(quantity);
            for p in [0.5, 0.89, 0.99] {
                let what = format!("{name} {quantity:?} {p}");
                let (hdi, eti) = (marginal.hdi(p), marginal.eti(p));
                let mass = |low: f64, high: f64| marginal.cdf(high) - marginal.cdf(low);
                assert!((mass(hdi.low, hdi.high) - p).abs() < 1e-10, "{what}: {hdi:?}");
                assert!((mass(eti.low, eti.high) - p).abs() < 1e-10, "{what}: {eti:?}");
                assert!((marginal.cdf(eti.low) - 0.5 * (1.0 - p)).abs() < 1e-10, "{what}: {eti:?}");
                let width = hdi.high - hdi.low;
                for k in 1..40 {
                    let below = (1.0 - p) * f64::from(k) / 40.0;
                    let other = marginal.quantile(below + p) - marginal.quantile(below);
                    assert!(other >= width * (1.0 - 1e-9), "{what}: {hdi:?}, but shorter from {below}");
                }
            }
        }
    }
}

/// A prior that pins sigma_pop near 0 and data that do not contradict it: the density of sigma_pop is highest
/// at the end of its support, and so the interval starts there.
#[test]
fn an_interval_may_start_at_zero() {
    let spec = HierarchicalSpec { groups: 8, per_group: 4, between_sd: 0.0, within_sd: 4.0, ..Default::default() };
    let ours = compute(&spec.generate().expect("valid").data);
    let marginal = ours.marginal(Quantity::SigmaPop);
    let hdi = marginal.hdi(0.89);
    assert_eq!(hdi.low, 0.0);
    assert!((marginal.cdf(hdi.high) - 0.89).abs() < 1e-10);
}

/// The order of groups moves nothing, although groups of one size are summed together.
#[test]
fn order_of_groups() {
    let data = HierarchicalSpec { groups: 9, ..Default::default() }.unbalanced().expect("valid").data;
    let mut group = Vec::new();
    let mut values = Vec::new();
    for j in (0..9).rev() {
        values.extend_from_slice(data.group(j));
        group.extend(std::iter::repeat_n(8 - j, data.group(j).len()));
    }
    let reversed = GroupedData::new(Labels::Range(9), &group, &values).expect("valid");
    let (a, b) = (compute(&data), compute(&reversed));
    for j in 0..9 {
        check("mu_group", a.mu_group[j], b.mu_group[8 - j].mean, b.mu_group[8 - j].sd, 1e-10);
        check("z", a.z[j], b.z[8 - j].mean, b.z[8 - j].sd, 1e-10);
    }
    assert!((a.log_marginal_likelihood - b.log_marginal_likelihood).abs() < 1e-10);
}

/// Other units: everything scales, in a range where priors and data are far from 1.
#[test]
fn other_units() {
    let data = HierarchicalSpec { groups: 12, ..Default::default() }.unbalanced().expect("valid").data;
    let plain = compute(&data);
    for unit in [1e-9, 1e9] {
        let values: Vec<f64> = data.values().iter().map(|y| y * unit).collect();
        let scaled = GroupedData::new(data.labels().clone(), &data.group_index(), &values).expect("valid");
        let prior = HierarchicalPrior {
            mu_mean: 50.0 * unit,
            mu_sd: 20.0 * unit,
            sigma_pop_scale: 15.0 * unit,
            sigma_obs_scale: 5.0 * unit,
        };
        let other = ExactPosterior::compute(&scaled, &prior).expect("converges");
        check("mu_pop", other.mu_pop, plain.mu_pop.mean * unit, plain.mu_pop.sd * unit, 1e-9);
        check("sigma_pop", other.sigma_pop, plain.sigma_pop.mean * unit, plain.sigma_pop.sd * unit, 1e-9);
        check("z", other.z[4], plain.z[4].mean, plain.z[4].sd, 1e-9);
    }
}

/// Data against the prior, data without noise, single observations by the hundred, a thousand sizes.
#[test]
fn extreme_data() {
    let spec = HierarchicalSpec::default();
    let far = HierarchicalSpec { mean: 1e6, ..spec };
    let quiet = HierarchicalSpec { within_sd: 1e-6, ..spec };
    let flat = HierarchicalSpec { between_sd: 0.0, per_group: 100, ..spec };
    for (what, data) in [
        ("far from the prior", far.generate()),
        ("hardly any noise", quiet.generate()),
        ("no difference between groups", flat.generate()),
        ("single observations", spec.with_sizes(&[1; 300])),
        ("one observation", spec.with_sizes(&[1])),
        ("two observations", spec.with_sizes(&[2])),
        ("many sizes", spec.with_sizes(&(1..=400).collect::<Vec<_>>())),
        ("unbalanced", spec.unbalanced()),
    ] {
        let start = std::time::Instant::now();
        let ours = ExactPosterior::compute(&data.expect("valid").data, &HierarchicalPrior::default());
        let ours = ours.unwrap_or_else(|error| panic!("{what}: {error}"));
        println!("{what}: {:?}, error {:.1e}", start.elapsed(), ours.error);
        assert!(ours.error < 1e-8, "{what}: {}", ours.error);
        assert!(ours.mu_pop.mean.is_finite() && ours.sigma_pop.sd > 0.0 && ours.z.iter().all(|z| z.sd > 0.0));
    }
}

#[test]
fn no_posterior() {
    let prior = HierarchicalPrior::default();
    let constant = |group: &[usize], values: &[f64]| {
        let groups = group.iter().max().expect("groups") + 1;
        let data = GroupedData::new(Labels::Range(groups), group, values).expect("valid");
        ExactPosterior::compute(&data, &prior).map(|_| ())
    };
    assert_eq!(
        constant(&[0, 0, 0, 1], &[0.1, 0.1, 0.1, 7.0]),
        Err(ExactError::Improper { observations: 4, groups: 2 })
    );
    assert_eq!(constant(&[0, 1, 2], &[0.1; 3]), Err(ExactError::Improper { observations: 3, groups: 3 }));
    // Two equal single observations are enough: the density near 0 goes as 1/r, which has an integral.
    assert_eq!(constant(&[0, 1], &[0.1; 2]), Ok(()));

    let data = HierarchicalSpec::default().generate().expect("valid").data;
    let bad = HierarchicalPrior { mu_sd: -1.0, ..prior };
    assert!(matches!(
        ExactPosterior::compute(&data, &bad),
        Err(ExactError::Data(ModelError::Setting { field: "mu_sd", .. }))
    ));
}

/// A problem tells its exact posterior by the names of its variables, and its density in every form of its likelihood.
#[test]
fn a_problem_tells_what_is_known_of_it() {
    let model = Registry::shipped().find("hierarchical-normal").unwrap();
    let problem = model.build(&"[data.synthetic]\ngroups = 5\n[prior]\nmu_sd = 3.0".parse().unwrap(), None).unwrap();
    let exact = problem.exact().unwrap().expect("known");
    let data = HierarchicalSpec { groups: 5, ..HierarchicalSpec::default() }.generate().unwrap().data;
    let own =
        ExactPosterior::compute(&data, &HierarchicalPrior { mu_sd: 3.0, ..HierarchicalPrior::default() }).unwrap();
    assert_eq!(exact.moments_of("mu_group", 3), Some(own.mu_group[3]));
    assert_eq!(exact.moments_of("sigma_obs", 0), Some(own.sigma_obs));
    assert_eq!(exact.moments_of("tau", 0), None);
    let interval = own.hdi(Quantity::MuPop, 0.89);
    assert_eq!(exact.hdi_of("mu_pop", 0, 0.89), Some((interval.low, interval.high)));
    assert_eq!(problem.statements()[0], "mu_pop ~ Normal(50, 3)");
    let forms = problem.likelihoods().unwrap();
    assert_eq!(forms.iter().map(|form| form.name).collect::<Vec<_>>(), ["collapsed", "pointwise"]);
    assert_eq!(problem.likelihood(), Some("collapsed"));
    let at = |density: &dyn LogDensity| density.logp_grad(&[0.1; 8], &mut [0.0; 8]).unwrap();
    let [collapsed, pointwise] = [0, 1].map(|form: usize| at(&*forms[form].density));
    assert_eq!(collapsed, at(problem.density()));
    assert!((pointwise / collapsed - 1.0).abs() < 1e-10, "{pointwise} {collapsed}");
}
