//! A density of one's own: the rate at which students pass an exam, of which some results are known.

use octopus::density::{DensityError, Layout, LogDensity, Role, Transform, Variable};
use octopus::models::{ModelError, Simulator};
use octopus::random::Stream;

/// A Bernoulli likelihood with a flat prior of the rate. The coordinate is the logit of the rate.
#[derive(Clone, Debug)]
pub struct Exam {
    /// 1 for each student who passed, 0 for each who failed.
    results: Vec<f64>,
    layout: Layout,
}

fn layout() -> Layout {
    let variable = |name: &str, role| Variable { name: name.into(), dims: vec![], role };
    let logit = Role::Parameter { offset: 0, transform: Transform::Identity };
    Layout { variables: vec![variable("logit", logit), variable("pass_rate", Role::Derived)] }
}

/// The logarithms of the rate and of one minus the rate.
fn log_rates(logit: f64) -> (f64, f64) {
    (-(-logit).exp().ln_1p(), -logit.exp().ln_1p())
}

fn rate(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

impl Exam {
    pub fn new(results: Vec<f64>) -> Self {
        Self { results, layout: layout() }
    }
}

impl LogDensity for Exam {
    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The likelihood, and the Jacobian `rate (1 - rate)` of the logit, which makes the prior of the rate flat.
    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let passed: f64 = self.results.iter().sum();
        let failed = self.results.len() as f64 - passed;
        let (for_pass, for_fail) = log_rates(x[0]);
        let logp = (passed + 1.0) * for_pass + (failed + 1.0) * for_fail;
        gradient[0] = (passed + 1.0) * for_fail.exp() - (failed + 1.0) * for_pass.exp();
        if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        (out[0], out[1]) = (x[0], rate(x[0]));
    }

    fn name(&self) -> &str {
        "exam"
    }

    fn observations(&self) -> usize {
        self.results.len()
    }

    fn log_likelihood(&self, x: &[f64], out: &mut [f64]) {
        let (for_pass, for_fail) = log_rates(x[0]);
        out.iter_mut().zip(&self.results).for_each(|(out, result)| *out = if *result > 0.5 { for_pass } else { for_fail });
    }

    fn predict(&self, x: &[f64], random: &mut Stream, out: &mut [f64]) {
        out.fill_with(|| f64::from(u8::from(random.uniform() < rate(x[0]))));
    }
}

/// Draws a rate and results of students, from the model's statement and not from its density.
pub struct ExamSimulator {
    students: usize,
    layout: Layout,
}

impl ExamSimulator {
    pub fn new(students: usize) -> Self {
        Self { students, layout: layout() }
    }
}

impl Simulator for ExamSimulator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        let rate = random.uniform();
        vec![(rate / (1.0 - rate)).ln()]
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        let mut passed = || f64::from(u8::from(random.uniform() < rate(position[0])));
        let results = (0..self.students).map(|_| passed()).collect();
        Ok(Box::new(Exam::new(results)))
    }
}
