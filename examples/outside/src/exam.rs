//! A density of one's own: the rate at which students pass an exam, of which `passed` of `students` are known.

use octopus_density::{DensityError, Layout, LogDensity, Role, Transform, Variable};

/// A binomial likelihood with a flat prior. The coordinate is the logit of the rate.
pub struct Exam {
    passed: f64,
    failed: f64,
    layout: Layout,
}

impl Exam {
    pub fn new(passed: u32, students: u32) -> Self {
        let variable = |name: &str, role| Variable { name: name.into(), dims: vec![], role };
        let logit = Role::Parameter { offset: 0, transform: Transform::Identity };
        let variables = vec![variable("logit", logit), variable("pass_rate", Role::Derived)];
        Self { passed: passed.into(), failed: (students - passed).into(), layout: Layout { variables } }
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
        let (for_pass, for_fail) = (-(-x[0]).exp().ln_1p(), -x[0].exp().ln_1p());
        let logp = (self.passed + 1.0) * for_pass + (self.failed + 1.0) * for_fail;
        gradient[0] = (self.passed + 1.0) * for_fail.exp() - (self.failed + 1.0) * for_pass.exp();
        if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        (out[0], out[1]) = (x[0], 1.0 / (1.0 + (-x[0]).exp()));
    }

    fn name(&self) -> &str {
        "exam"
    }
}
