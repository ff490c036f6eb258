//! A model built by functions: parameters with their bounds, statements, and a log density that samplers run.

use crate::density::{ProgramDensity, TargetTerms};
use crate::distribution::Distribution;
use crate::effects::{NormalKind, NormalStatement};
use crate::error::ProgramError;
use crate::formula::Value;
use crate::graph::{Graph, NodeId};
use octopus_density::{Dim, Labels, Layout, Role, Transform, Variable};

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
    normals: Vec<NormalStatement>,
    variables: Vec<(Variable, NodeId)>,
    /// What statements leave out.
    constant: f64,
}

macro_rules! statements {
    ($($name:ident ($($arg:ident),+))+) => {
        impl ProgramBuilder {
            $(
                #[doc = concat!("Adds the log density of the distribution `", stringify!($name), "` to the target.")]
                pub fn $name(&mut self, $($arg: impl Into<Value>),+) {
                    let args = [$($arg.into()),+];
                    self.observe(stringify!($name), &args);
                }
            )+
        }
    };
}

statements! {
    normal (y, mu, sigma)
    std_normal (y)
    lognormal (y, mu, sigma)
    student_t (y, nu, mu, sigma)
    cauchy (y, mu, sigma)
    double_exponential (y, mu, sigma)
    logistic (y, mu, sigma)
    exponential (y, beta)
    gamma (y, alpha, beta)
    inv_gamma (y, alpha, beta)
    beta (y, a, b)
    uniform (y, low, high)
    weibull (y, alpha, sigma)
    bernoulli (y, theta)
    bernoulli_logit (y, alpha)
    binomial (y, trials, theta)
    binomial_logit (y, trials, alpha)
    poisson (y, lambda)
    poisson_log (y, alpha)
    neg_binomial_2 (y, mu, phi)
    neg_binomial_2_log (y, eta, phi)
    beta_binomial (y, trials, alpha, beta)
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
        let (lower, upper, transform) = match support {
            Support::Real => (None, None, Some(Transform::Identity)),
            Support::Above(low) => (Some(low), None, (low == 0.0).then_some(Transform::Exp)),
            Support::Below(high) => (None, Some(high), None),
            Support::Between(low, high) => (Some(low), Some(high), None),
        };
        let (lower, upper) = (lower.map(|x| m.constant(x)), upper.map(|x| m.constant(x)));
        let (value, jacobian) = m.bounded(free, lower, upper);
        if let Some(jacobian) = jacobian {
            self.terms.push(m.sum_of_rows(jacobian, rows));
        }
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
        let (offset, multiplier) = (self.node(offset), self.node(multiplier));
        let m = &mut self.graph;
        let (rows, free) = (length.unwrap_or(1), m.parameter(length.unwrap_or(1)));
        let (value, log) = m.offset_and_multiplied(free, offset, multiplier);
        self.terms.push(m.sum_of_rows(log, rows));
        self.name(name, length, Role::Derived, value);
        value
    }

    /// Gives a name to a value that is kept with each draw, and returns its node.
    pub fn derived(&mut self, name: &str, value: impl Into<Value>) -> NodeId {
        let value = self.node(value);
        let length = Some(self.graph.len(value)).filter(|&length| length != 1);
        self.name(name, length, Role::Derived, value);
        value
    }

    /// Returns the node of a formula.
    pub fn node(&mut self, value: impl Into<Value>) -> NodeId {
        value.into().node(&mut self.graph)
    }

    /// Returns data.
    pub fn data(&mut self, values: impl Into<std::sync::Arc<[f64]>>) -> NodeId {
        self.graph.column(values)
    }

    /// Adds the log density of a distribution, named as in Stan, to the target: the variate is first among the arguments.
    pub fn observe(&mut self, distribution: &str, args: &[Value]) {
        let nodes: Vec<NodeId> = args.iter().map(|arg| arg.node(&mut self.graph)).collect();
        self.note_normal(distribution, &nodes);
        let term = match Distribution::named(distribution) {
            Some(distribution) => {
                let (term, constant) = self.graph.log_density_and_constant(distribution, &nodes);
                self.constant += constant;
                term
            }
            None => self.graph.refuse(ProgramError::Distribution(distribution.into())),
        };
        self.terms.push(term);
    }

    /// Keeps a statement of a normal distribution, among which hierarchies are found.
    fn note_normal(&mut self, distribution: &str, nodes: &[NodeId]) {
        let (variate, location, scale) = match (distribution, nodes) {
            ("normal" | "lognormal", &[variate, location, scale]) => (variate, location, scale),
            ("std_normal", &[variate]) => (variate, self.graph.constant(0.0), self.graph.constant(1.0)),
            _ => return,
        };
        let name = self.variables.iter().find(|(_, value)| *value == variate).map(|(variable, _)| &variable.name);
        let label = format!("{} ~ {distribution}", name.map_or("..", String::as_str));
        let kind = if distribution == "lognormal" { NormalKind::Log } else { NormalKind::Plain };
        self.normals.push(NormalStatement { variate, location, scale, kind, term: self.terms.len(), label });
    }

    /// Adds the sum of a vector to the target.
    pub fn add_to_target(&mut self, terms: impl Into<Value>) {
        let terms = self.node(terms);
        let sum = self.graph.sum(terms);
        self.terms.push(sum);
    }

    /// Compiles the model.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse, with what to do.
    pub fn finish(self, name: &str) -> Result<ProgramDensity, ProgramError> {
        let (mut variables, values): (Vec<Variable>, Vec<NodeId>) = self.variables.into_iter().unzip();
        // A layout says of all coordinates whose they are, or of none.
        let is_parameter = |variable: &&Variable| variable.role != Role::Derived;
        let named: usize = variables.iter().filter(is_parameter).map(Variable::len).sum();
        if named != self.graph.dim() {
            variables.iter_mut().for_each(|variable| variable.role = Role::Derived);
        }
        for (k, variable) in variables.iter().enumerate() {
            if variables[..k].iter().any(|before| before.name == variable.name) {
                return Err(ProgramError::Name(variable.name.clone()));
            }
        }
        let target = TargetTerms { terms: &self.terms, statements: &self.normals };
        let density = ProgramDensity::compile(name, &self.graph, target, Layout { variables }, &values)?;
        Ok(density.with_whole_target(self.graph, self.terms, self.constant))
    }

    fn name(&mut self, name: &str, length: Option<usize>, role: Role, value: NodeId) {
        let dim = |length| Dim { name: format!("{name}_dim_0"), labels: Labels::Range(length) };
        let variable = Variable { name: name.into(), dims: length.map(dim).into_iter().collect(), role };
        self.variables.push((variable, value));
    }
}
