//! A model built by functions: parameters with their bounds, statements, and a log density that samplers run.

use crate::density::ProgramDensity;
use crate::distribution::Distribution;
use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use octopus_density::{Dim, Labels, Layout, Role, Transform, Variable};

/// A node, or a number in its place.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A node.
    Node(NodeId),
    /// A number.
    Number(f64),
}

impl From<NodeId> for Value {
    fn from(node: NodeId) -> Self {
        Self::Node(node)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Number(x)
    }
}

/// Where a parameter may be, and in which coordinates it is walked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Any number.
    Real,
    /// Above this number.
    Above(f64),
    /// Below this number.
    Below(f64),
    /// Between these numbers.
    Between(f64, f64),
}

/// A model under construction: a [`Graph`] with named variables and the terms of its log density.
#[derive(Clone, Debug, Default)]
pub struct ProgramBuilder {
    /// The graph; its methods make any other node.
    pub graph: Graph,
    terms: Vec<NodeId>,
    variables: Vec<(Variable, NodeId)>,
}

macro_rules! statements {
    ($($name:ident $distribution:ident ($($arg:ident),+))+) => {
        impl ProgramBuilder {
            $(
                #[doc = concat!("Adds the log density of the distribution `", stringify!($name), "` to the target.")]
                pub fn $name(&mut self, $($arg: impl Into<Value>),+) {
                    let args = [$($arg.into()),+];
                    self.observe(Distribution::$distribution, &args);
                }
            )+
        }
    };
}

statements! {
    normal Normal (x, mean, sd)
    lognormal Lognormal (x, mean, sd)
    student_t StudentT (x, nu, location, scale)
    cauchy Cauchy (x, location, scale)
    double_exponential DoubleExponential (x, location, scale)
    logistic Logistic (x, location, scale)
    exponential Exponential (x, rate)
    gamma Gamma (x, shape, rate)
    inv_gamma InvGamma (x, shape, scale)
    beta Beta (x, a, b)
    uniform Uniform (x, low, high)
    weibull Weibull (x, shape, scale)
    bernoulli Bernoulli (y, p)
    bernoulli_logit BernoulliLogit (y, logit)
    binomial Binomial (y, trials, p)
    binomial_logit BinomialLogit (y, trials, logit)
    poisson Poisson (y, rate)
    poisson_log PoissonLog (y, log_rate)
    neg_binomial_2 NegBinomial2 (y, mean, size)
    neg_binomial_2_log NegBinomial2Log (y, log_mean, size)
    beta_binomial BetaBinomial (y, trials, a, b)
}

impl ProgramBuilder {
    /// Begins a model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a parameter that is any number.
    pub fn parameter(&mut self, name: &str) -> NodeId {
        self.declare(name, None, Support::Real)
    }

    /// Returns a parameter that is above 0.
    pub fn positive(&mut self, name: &str) -> NodeId {
        self.declare(name, None, Support::Above(0.0))
    }

    /// Returns a vector of parameters.
    pub fn vector(&mut self, name: &str, length: usize) -> NodeId {
        self.declare(name, Some(length), Support::Real)
    }

    /// Returns a parameter, a vector if it has a length, in its support; the log-Jacobian joins the target.
    pub fn declare(&mut self, name: &str, length: Option<usize>, support: Support) -> NodeId {
        let m = &mut self.graph;
        let offset = m.dim();
        let (rows, free) = (length.unwrap_or(1), m.parameter(length.unwrap_or(1)));
        let (value, transform) = match support {
            Support::Real => (free, Some(Transform::Identity)),
            Support::Above(low) => {
                let (size, low_node) = (m.exp(free), m.constant(low));
                self.terms.push(m.sum_of_rows(free, rows));
                (m.add(low_node, size), (low == 0.0).then_some(Transform::Exp))
            }
            Support::Below(high) => {
                let (size, high) = (m.exp(free), m.constant(high));
                self.terms.push(m.sum_of_rows(free, rows));
                (m.sub(high, size), None)
            }
            Support::Between(low, high) => {
                let share = m.apply(crate::Op::Sigmoid, &[free]);
                let (low_node, width) = (m.constant(low), m.constant(high - low));
                // ln(width s (1 - s)), from both sides so that nothing is lost far out.
                let (minus, log_width) = (m.neg(free), m.ln(width));
                let (left, right) = (m.apply(crate::Op::Softplus, &[free]), m.apply(crate::Op::Softplus, &[minus]));
                let both = m.add(left, right);
                let jacobian = m.sub(log_width, both);
                self.terms.push(m.sum_of_rows(jacobian, rows));
                let scaled = m.mul(width, share);
                (m.add(low_node, scaled), None)
            }
        };
        let role = transform.map_or(Role::Derived, |transform| Role::Parameter { offset, transform });
        self.name(name, length, role, value);
        value
    }

    /// Returns offset + multiplier z for a new parameter z, a vector if it has a length; draws are of the result.
    pub fn affine(
        &mut self,
        name: &str,
        length: Option<usize>,
        offset: impl Into<Value>,
        multiplier: impl Into<Value>,
    ) -> NodeId {
        let (offset, multiplier) = (self.node(offset.into()), self.node(multiplier.into()));
        let m = &mut self.graph;
        let (rows, free) = (length.unwrap_or(1), m.parameter(length.unwrap_or(1)));
        let log = m.ln(multiplier);
        self.terms.push(m.sum_of_rows(log, rows));
        let scaled = m.mul(multiplier, free);
        let value = m.add(offset, scaled);
        self.name(name, length, Role::Derived, value);
        value
    }

    /// Gives a name to a value that is kept with each draw.
    pub fn derived(&mut self, name: &str, value: NodeId) {
        let length = Some(self.graph.len(value)).filter(|&length| length != 1);
        self.name(name, length, Role::Derived, value);
    }

    /// Returns data.
    pub fn data(&mut self, values: impl Into<std::sync::Arc<[f64]>>) -> NodeId {
        self.graph.column(values)
    }

    /// Adds the log density of a distribution to the target, the variate first among the arguments.
    pub fn observe(&mut self, distribution: Distribution, args: &[Value]) {
        let nodes: Vec<NodeId> = args.iter().map(|&arg| self.node(arg)).collect();
        let term = self.graph.log_density(distribution, &nodes);
        self.terms.push(term);
    }

    /// Adds the sum of a vector to the target.
    pub fn add_to_target(&mut self, terms: NodeId) {
        let sum = self.graph.sum(terms);
        self.terms.push(sum);
    }

    /// Compiles the model.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse, with what to do.
    pub fn finish(mut self, name: &str) -> Result<ProgramDensity, ProgramError> {
        let mut target = self.graph.constant(0.0);
        for &term in &self.terms {
            target = self.graph.add(target, term);
        }
        let (variables, values): (Vec<Variable>, Vec<NodeId>) = self.variables.into_iter().unzip();
        for (k, variable) in variables.iter().enumerate() {
            if variables[..k].iter().any(|before| before.name == variable.name) {
                return Err(ProgramError::Name(variable.name.clone()));
            }
        }
        ProgramDensity::compile(name, &self.graph, target, Layout { variables }, &values)
    }

    fn node(&mut self, value: Value) -> NodeId {
        match value {
            Value::Node(node) => node,
            Value::Number(x) => self.graph.constant(x),
        }
    }

    fn name(&mut self, name: &str, length: Option<usize>, role: Role, value: NodeId) {
        let dim = |length| Dim { name: format!("{name}_dim_0"), labels: Labels::Range(length) };
        let variable = Variable { name: name.into(), dims: length.map(dim).into_iter().collect(), role };
        self.variables.push((variable, value));
    }
}
