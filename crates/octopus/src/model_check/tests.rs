//! Each fault that a model may have is named by the check that is for it, and by no other.

use super::*;
use octopus_density::{Dim, Information, Labels, Layout, Variable};
use octopus_trace::{DataRecord, InferenceData};
use toml::Table;

const Y: [f64; 3] = [2.0, -1.0, 4.0];
const SD: [f64; 3] = [1.0, 0.5, 2.0];

/// What is wrong with [`Measured`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    TwoNamesAlike,
    CoordinateOfNobody,
    Infinite,
    Nowhere,
    Undecided,
    Broken,
    Expansion,
    Gradient,
    PriorOfEffects,
    OtherCoordinates,
    WrongPrecision,
    WrongMean,
    FewInformed,
    OutOfRange,
    Likelihood,
}

/// Three measured effects: z, mu, log tau.
struct Measured {
    fault: Fault,
    layout: Layout,
    blocks: Vec<Hierarchy>,
    settings: Table,
    data: DataRecord,
    asked: std::sync::atomic::AtomicU32,
}

impl Measured {
    fn with(fault: Fault) -> Self {
        let parameter = |name: &str, dims, offset, transform| Variable {
            name: name.into(),
            dims,
            role: Role::Parameter { offset, transform },
        };
        let dim = Dim { name: "study".into(), labels: Labels::Range(3) };
        let tau = if fault == Fault::TwoNamesAlike { "mu" } else { "tau" };
        let offset = if fault == Fault::CoordinateOfNobody { 3 } else { 4 };
        let layout = Layout {
            variables: vec![
                parameter("z", vec![dim], 0, Transform::Identity),
                parameter("mu", vec![], 3, Transform::Identity),
                parameter(tau, vec![], offset, Transform::Exp),
            ],
        };
        let factor = if fault == Fault::WrongPrecision { 10.0 } else { 1.0 };
        let mut precision: Vec<f64> = SD.iter().map(|sd| factor / (sd * sd)).collect();
        let mut mean = Y.to_vec();
        match fault {
            Fault::WrongMean => mean[0] += 5.0,
            Fault::FewInformed => _ = precision.pop(),
            _ => {}
        }
        let z = if fault == Fault::OutOfRange { 0..7 } else { 0..3 };
        let information = Some(Information::new(0.0, mean, precision).with_prior(3.0));
        let blocks = vec![Hierarchy { location: 3, log_scale: 4, z, information }];
        let data = DataRecord {
            source: "a test".into(),
            sha256: String::new(),
            observations: 3,
            groups: 3,
            ..DataRecord::default()
        };
        Self { fault, layout, blocks, settings: Table::new(), data, asked: Default::default() }
    }
}

impl LogDensity for Measured {
    fn dim(&self) -> usize {
        5
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let (mu, tau) = (x[3], x[4].exp());
        let prior = if self.fault == Fault::PriorOfEffects { 0.25 } else { 1.0 };
        let mut logp = x[4] - 0.5 * (mu * mu / 9.0 + tau * tau);
        let (mut by_mu, mut by_tau) = (-mu / 9.0, 1.0 - tau * tau);
        for j in 0..3 {
            let away = (Y[j] - mu - tau * x[j]) / SD[j];
            logp -= 0.5 * (away * away + prior * x[j] * x[j]);
            gradient[j] = tau * away / SD[j] - prior * x[j];
            by_mu += away / SD[j];
            by_tau += tau * x[j] * away / SD[j];
        }
        (gradient[3], gradient[4]) = (by_mu, by_tau);
        match self.fault {
            Fault::Gradient => gradient[4] -= 1.0,
            Fault::Infinite => logp = f64::INFINITY,
            Fault::Nowhere => return Err(DensityError::NotFinite { value: f64::NAN }),
            Fault::Broken => return Err(DensityError::Broken("no licence".into())),
            Fault::Undecided => {
                let asked = self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                logp += f64::from(asked % 2);
            }
            _ => {}
        }
        Ok(logp)
    }

    fn logp_grad_centered(
        &self,
        centerings: &[Centering],
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, DensityError> {
        let blocks = self.hierarchies();
        let logp = octopus_density::logp_grad_by_chain_rule(self, blocks, centerings, position, gradient)?;
        // Without the Jacobian.
        let lacks = self.fault == Fault::OtherCoordinates;
        Ok(if lacks { logp - log_jacobian(blocks, centerings, position) } else { logp })
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out[..4].copy_from_slice(&x[..4]);
        out[4] = if self.fault == Fault::Expansion { x[4] } else { x[4].exp() };
    }

    fn name(&self) -> &str {
        "measured"
    }

    fn observations(&self) -> usize {
        3
    }

    fn log_likelihood(&self, x: &[f64], out: &mut [f64]) {
        for j in 0..if self.fault == Fault::Likelihood { 2 } else { 3 } {
            out[j] = -0.5 * ((Y[j] - x[3] - x[4].exp() * x[j]) / SD[j]).powi(2);
        }
    }

    fn hierarchies(&self) -> &[Hierarchy] {
        &self.blocks
    }
}

impl Problem for Measured {
    fn density(&self) -> &(dyn LogDensity + 'static) {
        self
    }

    fn settings(&self) -> &Table {
        &self.settings
    }

    fn data(&self) -> &DataRecord {
        &self.data
    }

    fn observation_dim(&self) -> Dim {
        Dim { name: "study".into(), labels: Labels::Range(3) }
    }

    fn add_observations(&self, _: &mut InferenceData) {}
}

#[test]
fn each_fault_fails_its_check() {
    for (fault, id, words) in [
        (Fault::TwoNamesAlike, "layout", "called `mu`"),
        (Fault::CoordinateOfNobody, "layout", "coordinate 3"),
        (Fault::Infinite, "values", "the log density is inf"),
        (Fault::Nowhere, "values", "at 0 of 256 points"),
        (Fault::Undecided, "values", "asked twice"),
        (Fault::Broken, "values", "no licence"),
        (Fault::Expansion, "variables", "`tau`"),
        (Fault::Gradient, "gradient", "log(tau) (coordinate 4)"),
        (Fault::OutOfRange, "hierarchies", "z 0..7"),
        (Fault::FewInformed, "hierarchies", "information about 2 effects, and 3 are expected"),
        (Fault::PriorOfEffects, "effects", "z ~ N(0, 1)"),
        (Fault::OtherCoordinates, "coordinates", "Centered coordinates the log density is"),
        (Fault::WrongPrecision, "information", "0.100 times its precision"),
        (Fault::WrongMean, "information", "standard errors from its mean"),
        (Fault::Likelihood, "likelihood", "observation 2"),
    ] {
        let found = check_model(&Measured::with(fault), 1);
        let failed: Vec<&Check> = found.checks.iter().filter(|check| check.status == CheckStatus::Fail).collect();
        assert!(!found.good() && failed.iter().any(|check| check.id == id), "{fault:?}: {:#?}", found.checks);
        // Information about effects of another prior is wrong too.
        assert!(failed.len() == 1 || fault == Fault::PriorOfEffects, "{fault:?}: {failed:#?}");
        let message = &failed.iter().find(|check| check.id == id).unwrap().message;
        assert!(message.contains(words), "{fault:?}: {message}");
        assert!(failed[0].advice.is_some());
    }
    let sound = check_model(&Measured::with(Fault::None), 1);
    assert!(sound.good() && sound.points == 64 && !sound.from_prior, "{sound:#?}");
    assert!(sound.checks.iter().all(|check| check.status == CheckStatus::Pass), "{:#?}", sound.checks);
}

#[test]
fn predictions_without_log_likelihoods_are_no_fault() {
    let text = "data { int N; array[N] int y; } parameters { real<lower=0, upper=1> p; } model { target += sum(y) * log(p) + (N - sum(y)) * log1m(p); }
        generated quantities { array[N] int y_rep; for (n in 1:N) y_rep[n] = bernoulli_rng(p); }";
    let data = octopus_bind::Data::new("throws").with_int("N", 3).with_ints("y", &[1, 0, 1]);
    let program = octopus_stan::StanProgram::parse("coin.stan", text).unwrap();
    let check = check_model(&octopus_models::StanProblem::bind(program, data).unwrap(), 1);
    let likelihood = check.checks.iter().find(|check| check.id == "likelihood").unwrap();
    assert!(check.good() && likelihood.status == CheckStatus::Skipped, "{check}");
}

/// Slow models are checked at as many points as their operations allow, and large ones at as many as the memory does.
#[test]
fn slow_and_large_models_are_checked_at_fewer_points() {
    let points = |dim: usize| most_points(&Wide(dim, Layout { variables: Vec::new() }));
    assert_eq!([points(10), points(1 << 20), points(1 << 30)], [POINTS, 16, FEWEST]);
    assert_eq!(shown(&[0.5; 10]), "[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5] and 2 more");
    // 16 operations for each coordinate.
    let dim = budget::MOST_OPERATIONS / 16 / 10;
    let slow = CheckBudget::new(&Wide(dim, Layout { variables: Vec::new() }));
    let gradient = slow.counted(|_, _| Ok(0.0));
    let evaluated = (0..20).filter(|_| gradient(&[], &mut []).is_ok()).count();
    assert!((10..=11).contains(&evaluated), "{evaluated}");
    assert_eq!(slow.items(0..20).count(), FEWEST);
    let few = CheckBudget::new(&Wide(1, Layout { variables: Vec::new() }));
    few.items(0..20).for_each(|_| few.count(2, 1));
    assert_eq!(few.items(0..20).count(), 20);
}

/// What is NaN at a few draws from the prior is a warning, and at most of them a fault.
#[test]
fn a_variable_that_is_nan_at_few_points_is_warned_of() {
    let text =
        "parameters { real x; } model { x ~ normal(LOCATION, 1); } generated quantities { real root = sqrt(x); }";
    let found = |location: &str| {
        let program = octopus_stan::StanProgram::parse("root.stan", &text.replace("LOCATION", location)).unwrap();
        let problem = octopus_models::StanProblem::bind(program, octopus_bind::Data::new("none")).unwrap();
        let found = check_model(&problem, 1);
        let of_variables = found.checks.iter().find(|check| check.id == "variables").unwrap();
        (found.good(), of_variables.status, of_variables.message.clone())
    };
    // Normal below 0 with probabilities of 0.0000003, 0.07 and 0.93, at 64 points.
    let (good, status, _) = found("5");
    assert_eq!((good, status), (true, CheckStatus::Pass));
    let (good, status, message) = found("1.5");
    assert_eq!((good, status), (true, CheckStatus::Warn));
    assert!(message.contains(" of 64 points, the first: `root` is NaN at [-"), "{message}");
    assert!(!found("-1.5").0);
}

/// A name that a run folder has for itself is refused.
#[test]
fn names_of_columns_are_refused() {
    let dims = Vec::new();
    let variables = vec![Variable { name: "energy".into(), dims, role: Role::Derived }];
    let check = layout(&Wide(0, Layout { variables }));
    assert!(check.status == CheckStatus::Fail && check.message.contains("`energy`"), "{}", check.message);
}

/// A density of so many coordinates.
struct Wide(usize, Layout);

impl LogDensity for Wide {
    fn dim(&self) -> usize {
        self.0
    }

    fn layout(&self) -> &Layout {
        &self.1
    }

    fn logp_grad(&self, _: &[f64], _: &mut [f64]) -> Result<f64, DensityError> {
        Ok(0.0)
    }

    fn expand(&self, _: &[f64], _: &mut [f64]) {}

    fn name(&self) -> &str {
        "wide"
    }
}
