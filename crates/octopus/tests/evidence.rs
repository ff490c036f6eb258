//! Bridge sampling finds the evidence that is known by quadrature, in closed form, or because a density integrates to 1.

use octopus::density::{DensityError, GroupedData, Labels, Layout, LogDensity};
use octopus::models::exact::{ExactPosterior, SchoolsPosterior};
use octopus::models::polynomial::PolynomialSpec;
use octopus::models::{
    DensityProblem, EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood, Problem, Registry,
    synthetic::HierarchicalSpec,
};
use octopus::program::ProgramBuilder;
use octopus::random::{Purpose, Stream};
use octopus::sampler::{ImportanceConfig, SamplerConfig, importance};
use octopus::{ModelEvidence, Trace, TraceError, model_probabilities, same_observations};
use std::sync::Arc;
use toml::Table;

fn sampled(problem: &dyn Problem, seed: u64, draws: usize) -> Trace {
    octopus::sample(problem, SamplerConfig { draws, tune: 500, seed, ..SamplerConfig::default() }).unwrap()
}

fn hierarchical(data: &GroupedData) -> (Arc<dyn Problem>, f64) {
    let prior = HierarchicalPrior::default();
    let truth = ExactPosterior::compute(data, &prior).unwrap().log_marginal_likelihood;
    let density = HierarchicalNormal::new(data.clone(), prior, Likelihood::Collapsed).unwrap();
    (Arc::new(DensityProblem::new(density, data.values().to_vec()).unwrap()), truth)
}

fn balanced(groups: usize) -> (Arc<dyn Problem>, f64) {
    hierarchical(&HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate().unwrap().data)
}

/// Groups of 1 to 9 values without a pattern.
fn unbalanced() -> (Arc<dyn Problem>, f64) {
    let group: Vec<usize> = (0..45).map(|k| (0..9).find(|j| k < (j + 1) * (j + 2) / 2).unwrap()).collect();
    let y: Vec<f64> =
        group.iter().enumerate().map(|(k, j)| 50.0 + 7.0 * (j * 13 % 9) as f64 + (k * 37 % 11) as f64).collect();
    hierarchical(&GroupedData::new(Labels::Range(9), &group, &y).unwrap())
}

fn schools() -> (Arc<dyn Problem>, f64) {
    let model = EightSchools::rubin();
    let truth = SchoolsPosterior::compute(&model).log_marginal_likelihood;
    (Arc::new(DensityProblem::new(model.clone(), model.y().to_vec()).unwrap()), truth)
}

fn shipped(name: &str) -> Arc<dyn Problem> {
    Registry::shipped().find(name).unwrap().build(&Table::new(), None).unwrap()
}

/// Programs that ship, with their evidence by SciPy: of the polynomial `multivariate_normal`, of others the trapezoidal rule
/// over the lattices of `models/truth.py`, with half-normal priors that integrate to 1, all orders of `cut` in one, and the
/// prior of `phi` between -1 and 1 (0.84 of a normal one).
fn programs() -> Vec<(&'static str, Arc<dyn Problem>, f64)> {
    let of = |(name, truth): (&'static str, f64)| (name, shipped(name), truth);
    let all = [
        ("polynomial", 71.371_586_421_305),
        ("eight-schools-stan", schools().1),
        ("ordinal", -113.894_612_127 + 6_f64.ln()),
        ("gp-regression", 14.090_118_733 - 12.5 * std::f64::consts::TAU.ln()),
    ];
    all.into_iter().map(of).collect()
}

#[test]
fn evidence_is_that_of_quadrature() {
    let mut all: Vec<(&str, Arc<dyn Problem>, f64)> = programs();
    for (name, (problem, truth)) in [("balanced", balanced(20)), ("unbalanced", unbalanced()), ("schools", schools())] {
        all.push((name, problem, truth));
    }
    for (name, problem, truth) in all {
        assert_eq!(problem.prior_obstacle(), None, "{name}");
        let found = sampled(&*problem, 3, 1000).evidence(&*problem, 1000, 0).unwrap();
        let off = found.log_evidence - truth;
        assert!(off.abs() < 0.02 && off.abs() < 4.0 * found.standard_error, "{name}: {off} {found:?}");
        assert!(found.doubt().is_none() && found.overlap() > 0.9 && found.draws == 4000, "{name}: {found:?}");
    }
}

/// The polynomial at the largest of the benchmarks' sizes: draws and particles find the evidence in closed form.
#[test]
fn a_thousand_points_have_the_evidence_of_closed_form() {
    let json = PolynomialSpec { points: 1000, ..PolynomialSpec::default() }.generate().unwrap().json();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("points.json");
    std::fs::write(&file, json).unwrap();
    let settings: Table = format!("[data.file]\npath = {file:?}").parse().unwrap();
    let problem = Registry::shipped().find("polynomial").unwrap().build(&settings, None).unwrap();
    let truth = problem.exact().unwrap().and_then(|exact| exact.log_evidence()).unwrap();
    let bridge = sampled(&*problem, 3, 1000).evidence(&*problem, 1000, 0).unwrap();
    let off = bridge.log_evidence - truth;
    assert!(off.abs() < 4.0 * bridge.standard_error && bridge.standard_error < 0.01, "{off} {bridge:?}");
    let particles = importance(problem.density(), &ImportanceConfig::default(), 3).unwrap();
    let off = particles.evidence.log_evidence + problem.density().log_constant().unwrap() - truth;
    let error = particles.evidence.standard_error;
    assert!(off.abs() < 4.0 * error.max(1e-9) && error < 0.02, "{off} {particles:?}");
}

/// Logarithms of gamma variates, which lean to one side: the product of e^(a x - e^x) / Gamma(a), without Gamma(a).
struct LogGammas(Layout);

/// Shapes of gamma distributions with their Gamma(a).
const SHAPES: [(usize, f64); 4] = [(1, 1.0), (2, 1.0), (3, 2.0), (5, 24.0)];

impl LogDensity for LogGammas {
    fn dim(&self) -> usize {
        SHAPES.len()
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let mut value = 0.0;
        for ((x, slope), (shape, _)) in x.iter().zip(gradient).zip(SHAPES) {
            *slope = shape as f64 - x.exp();
            value += shape as f64 * x - x.exp();
        }
        Ok(value)
    }

    fn expand(&self, _: &[f64], _: &mut [f64]) {}

    fn name(&self) -> &str {
        "log-gammas"
    }

    fn log_constant(&self) -> Option<f64> {
        Some(-SHAPES.iter().map(|(_, gamma)| gamma.ln()).sum::<f64>())
    }
}

/// Independent draws: sums of exponential ones.
fn draws(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Stream::new(seed, 0, 0, Purpose::User);
    let mut draw = |shape: usize| (0..shape).map(|_| -random.uniform().ln()).sum::<f64>().ln();
    (0..count).flat_map(|_| SHAPES.map(|(shape, _)| draw(shape))).collect()
}

/// Over 200 seeds the estimate is off by as much as it says, and not to one side.
#[test]
fn errors_are_as_large_as_they_say() {
    let density = LogGammas(Layout { variables: Vec::new() });
    let off: Vec<f64> = (0..200)
        .map(|seed| {
            let found = ModelEvidence::of_draws(&density, &draws(seed, 800), 2, seed).unwrap();
            assert!(found.doubt().is_none() && (0.005..0.05).contains(&found.standard_error), "{found:?}");
            found.log_evidence / found.standard_error
        })
        .collect();
    let mean = off.iter().sum::<f64>() / 200.0;
    let sd = (off.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / 199.0).sqrt();
    assert!(mean.abs() < 0.25 && (0.85..1.15).contains(&sd), "{mean} {sd}");
}

/// A standard normal distribution, with its draws: all that a bridge errs by is the errors of its fits.
struct Normal(Layout);

impl LogDensity for Normal {
    fn dim(&self) -> usize {
        10
    }

    fn layout(&self) -> &Layout {
        &self.0
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        gradient.iter_mut().zip(x).for_each(|(slope, x)| *slope = -x);
        Ok(-0.5 * x.iter().map(|x| x * x).sum::<f64>())
    }

    fn expand(&self, _: &[f64], _: &mut [f64]) {}

    fn name(&self) -> &str {
        "normal"
    }

    fn log_constant(&self) -> Option<f64> {
        Some(-5.0 * std::f64::consts::TAU.ln())
    }
}

/// Where the posterior is a normal distribution, each half errs by its own deviation times the other's: both err together, by
/// a correlation of 0.5. Taken for independent, their mean errs by 1.22 times what it says.
#[test]
fn errors_that_both_halves_share_are_counted() {
    let density = Normal(Layout { variables: Vec::new() });
    let found: Vec<ModelEvidence> = (0..400)
        .map(|seed| {
            let mut random = Stream::new(seed, 0, 0, Purpose::User);
            let draws: Vec<f64> = (0..200 * density.dim()).map(|_| random.normal()).collect();
            ModelEvidence::of_draws(&density, &draws, 2, seed).unwrap()
        })
        .collect();
    let square = |of: &dyn Fn(&ModelEvidence) -> f64| found.iter().map(|one| of(one) * of(one)).sum::<f64>() / 400.0;
    let said = square(&|one| one.standard_error).sqrt();
    let erred = square(&|one| one.log_evidence).sqrt();
    assert!((0.9..1.1).contains(&(erred / said)), "{erred}, not {said}");
}

#[test]
fn what_has_no_evidence_is_told() {
    let problem = shipped("polynomial");
    let trace = sampled(&*problem, 1, 40);
    let told = |result: Result<ModelEvidence, TraceError>| result.unwrap_err().to_string();
    assert!(told(trace.evidence(&*problem, 7, 0)).contains("7 draws of each chain: at least 8"));
    let density = LogGammas(Layout { variables: Vec::new() });
    assert!(told(ModelEvidence::of_draws(&density, &[1.0; 80], 2, 0)).contains("does not move"));
    // Few draws of many coordinates: it says that it does not know.
    let (problem, _) = balanced(100);
    let few = sampled(&*problem, 1, 40).evidence(&*problem, 40, 0).unwrap();
    assert!(few.doubt().is_some_and(|why| why.contains("standard error is above 0.1")), "{few}");
}

/// A model by functions: its statements' constants come back, in the coordinates of its effects, too.
#[test]
fn a_model_by_functions_has_its_constants() {
    let mut m = ProgramBuilder::new();
    let (mean, spread) = (m.parameter("mean"), m.positive("spread"));
    let level = m.vector("level", 3);
    m.normal(mean, 0.0, 2.0);
    m.exponential(spread, 1.5);
    m.normal(level, mean, spread);
    let y = m.data(vec![1.0, -0.5, 2.0]);
    m.normal(y, level, 0.7);
    let density = m.finish("levels").unwrap();
    assert!(density.effects().is_some());
    // `mean`, the logarithm of `spread`, and levels in units of their prior.
    let x = [0.4, -0.3, 1.1, -0.2, 0.6];
    let normal =
        |x: f64, mean: f64, sd: f64| -0.5 * ((x - mean) / sd).powi(2) - sd.ln() - 0.5 * std::f64::consts::TAU.ln();
    let spread = f64::exp(-0.3);
    let mut expected = normal(0.4, 0.0, 2.0) + 1.5_f64.ln() - 1.5 * spread - 0.3;
    for (z, y) in x[2..].iter().zip([1.0, -0.5, 2.0]) {
        expected += normal(*z, 0.0, 1.0) + normal(y, 0.4 + spread * z, 0.7);
    }
    let found = density.logp_grad(&x, &mut [0.0; 5]).unwrap() + density.log_constant().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

#[test]
fn models_are_compared_by_their_evidence_of_the_same_data() {
    let density = LogGammas(Layout { variables: Vec::new() });
    let one = ModelEvidence::of_draws(&density, &draws(1, 100), 2, 0).unwrap();
    let other = ModelEvidence { log_evidence: one.log_evidence - 3_f64.ln(), ..one };
    let probabilities = model_probabilities(&[other, one]);
    assert!((probabilities[0] - 0.25).abs() < 1e-12 && (probabilities[1] - 0.75).abs() < 1e-12, "{probabilities:?}");
    let (log_factor, error) = one.log_bayes_factor(&other);
    assert!((log_factor - 3_f64.ln()).abs() < 1e-12 && (error - 2_f64.sqrt() * one.standard_error).abs() < 1e-12);
    let (hand_written, program) = (schools().0, shipped("eight-schools-stan"));
    assert_eq!(same_observations(&*hand_written, &*program), Some(true));
    assert_eq!(same_observations(&*hand_written, &*shipped("polynomial")), Some(false));
}

/// Which seeds do how well: `cargo test --release -p octopus --test evidence -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn errors_over_many_seeds() {
    let mut all: Vec<(&str, Arc<dyn Problem>, f64, u64)> = Vec::new();
    for (name, (problem, truth), seeds) in [
        ("balanced 20", balanced(20), 200),
        ("unbalanced", unbalanced(), 200),
        ("schools", schools(), 200),
        ("balanced 1000", balanced(1000), 60),
    ] {
        all.push((name, problem, truth, seeds));
    }
    all.extend(programs().into_iter().map(|(name, problem, truth)| (name, problem, truth, 40)));
    for (name, truth) in [
        ("hierarchical-normal-stan", balanced(100).1),
        ("negative-binomial", -167.546_316_615),
        ("survival", -160.088_789_956),
        ("poisson", -92.252_800_092),
        ("beta-bernoulli", -138.772_925_822),
        ("logistic-hierarchy", -122.052_160_117),
        ("state-space", -59.736_660_250 - 0.839_994_848_036_912_8_f64.ln()),
    ] {
        all.push((name, shipped(name), truth, 40));
    }
    for (name, problem, truth, seeds) in all {
        let found: Vec<ModelEvidence> =
            (0..seeds).map(|seed| sampled(&*problem, seed, 1000).evidence(&*problem, 1000, seed).unwrap()).collect();
        let count = found.len() as f64;
        let mean = |of: &dyn Fn(&ModelEvidence) -> f64| found.iter().map(of).sum::<f64>() / count;
        let z = |one: &ModelEvidence| (one.log_evidence - truth) / one.standard_error;
        let bias = mean(&|one| one.log_evidence - truth);
        let (center, square) = (mean(&z), mean(&|one| z(one) * z(one)));
        let sd = ((square - center * center) * count / (count - 1.0)).sqrt();
        let worst = found.iter().map(|one| (one.log_evidence - truth).abs()).fold(0.0, f64::max);
        println!(
            "{name}: {seeds} seeds, mean error {bias:.5}, largest {worst:.4}, standard error {:.4}, z mean {center:.2} sd {sd:.2}, overlap {:.3}",
            mean(&|one| one.standard_error),
            mean(&ModelEvidence::overlap)
        );
    }
}
