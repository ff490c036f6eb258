//! The table of distributions, one row each: arguments with their domains, and the log density as operations.
//!
//! Terms that depend on data only are left out where a function of them is costly, as Stan's `~` leaves them out.

use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use crate::operation::Op;

/// The numbers that an argument may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Must {
    /// Any number.
    Real,
    /// A number above 0.
    Positive,
    /// 0 or a number above.
    NotNegative,
    /// A number between 0 and 1.
    Unit,
    /// 0 or 1.
    Binary,
}

impl Must {
    fn words(self) -> &'static str {
        match self {
            Self::Real => "a number",
            Self::Positive => "above 0",
            Self::NotNegative => "0 or above",
            Self::Unit => "between 0 and 1",
            Self::Binary => "0 or 1",
        }
    }

    fn holds(self, x: f64) -> bool {
        match self {
            Self::Real => !x.is_nan(),
            Self::Positive => x > 0.0,
            Self::NotNegative => x >= 0.0,
            Self::Unit => (0.0..=1.0).contains(&x),
            Self::Binary => x == 0.0 || x == 1.0,
        }
    }

    /// A node that is 0 where the condition fails; none where there is no condition.
    fn condition(self, graph: &mut Graph, x: NodeId) -> Option<NodeId> {
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        match self {
            Self::Real | Self::Binary => None,
            Self::Positive => Some(graph.apply(Op::Less, &[zero, x])),
            Self::NotNegative => {
                let below = graph.apply(Op::Less, &[x, zero]);
                Some(graph.apply(Op::Select, &[below, zero, one]))
            }
            Self::Unit => {
                let (above, below) = (graph.apply(Op::Less, &[zero, x]), graph.apply(Op::Less, &[x, one]));
                Some(graph.mul(above, below))
            }
        }
    }
}

/// An argument of a distribution.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// Its name in messages.
    pub name: &'static str,
    /// The numbers that it may be.
    pub must: Must,
    /// Whether it may depend on no parameter.
    pub is_data: bool,
}

macro_rules! is_data {
    () => {
        false
    };
    (data) => {
        true
    };
}

macro_rules! distributions {
    ($graph:ident; $(
        $(#[doc = $doc:literal])+
        $name:ident $method:ident ($($arg:ident: $must:ident $($data:ident)?),+) $density:block
    )+) => {
        /// A distribution.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Distribution { $($(#[doc = $doc])+ $name,)+ }

        impl Distribution {
            /// All distributions.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the name, as in Stan.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($method),)+ }
            }

            /// Returns the arguments, the variate first.
            pub fn arguments(self) -> &'static [Argument] {
                match self {
                    $(Self::$name => &[$(
                        Argument { name: stringify!($arg), must: Must::$must, is_data: is_data!($($data)?) }
                    ),+],)+
                }
            }

            /// The log density of each row.
            fn terms(self, $graph: &mut Graph, args: &[NodeId]) -> NodeId {
                match self {
                    $(Self::$name => {
                        let [$($arg),+] = args[..] else { return $graph.constant(f64::NAN) };
                        $density
                    })+
                }
            }
        }
    };
}

/// -z^2 / 2 - ln sd
fn standardised(
    m: &mut Graph,
    x: NodeId,
    mean: NodeId,
    sd: NodeId,
    term: impl Fn(&mut Graph, NodeId) -> NodeId,
) -> NodeId {
    let distance = m.sub(x, mean);
    let z = m.div(distance, sd);
    let (own, log_sd) = (term(m, z), m.ln(sd));
    m.sub(own, log_sd)
}

fn half_square(m: &mut Graph, z: NodeId) -> NodeId {
    let (square, half) = (m.square(z), m.constant(-0.5));
    m.mul(half, square)
}

/// (power - 1) ln x
fn power_term(m: &mut Graph, power: NodeId, x: NodeId) -> NodeId {
    let (one, log) = (m.constant(1.0), m.ln(x));
    let less = m.sub(power, one);
    m.mul(less, log)
}

/// ln Gamma; 0 of data, where it is a constant that is left out.
fn ln_gamma(m: &mut Graph, x: NodeId) -> NodeId {
    if m.depends_on_parameters(x) { m.apply(Op::LnGamma, &[x]) } else { m.constant(0.0) }
}

/// ln B(a, b), but for what is left out of data.
fn ln_beta(m: &mut Graph, a: NodeId, b: NodeId) -> NodeId {
    if !m.depends_on_parameters(a) && !m.depends_on_parameters(b) {
        return m.constant(0.0);
    }
    let all = m.add(a, b);
    let [left, right, all] = [a, b, all].map(|x| m.apply(Op::LnGamma, &[x]));
    let both = m.add(left, right);
    m.sub(both, all)
}

/// ln Gamma(y + size) - ln Gamma(size), but for what is left out of data.
fn ln_rising(m: &mut Graph, y: NodeId, size: NodeId) -> NodeId {
    let all = m.add(y, size);
    let (more, less) = (ln_gamma(m, all), ln_gamma(m, size));
    m.sub(more, less)
}

distributions! { m;
    /// Mean and standard deviation.
    Normal normal (x: Real, mean: Real, sd: Positive) { standardised(m, x, mean, sd, half_square) }
    /// The exponential of a normal variate.
    Lognormal lognormal (x: Positive, mean: Real, sd: Positive) {
        let log = m.ln(x);
        let own = standardised(m, log, mean, sd, half_square);
        m.sub(own, log)
    }
    /// Degrees of freedom, location and scale.
    StudentT student_t (x: Real, nu: Positive, location: Real, scale: Positive) {
        let (one, half) = (m.constant(1.0), m.constant(-0.5));
        let more = m.add(nu, one);
        let factor = m.mul(half, more);
        let own = standardised(m, x, location, scale, |m, z| {
            let square = m.square(z);
            let ratio = m.div(square, nu);
            let log = m.apply(Op::Ln1p, &[ratio]);
            m.mul(factor, log)
        });
        if !m.depends_on_parameters(nu) {
            return own;
        }
        // ln Gamma((nu + 1) / 2) - ln Gamma(nu / 2) - ln(nu) / 2
        let halved = [more, nu].map(|x| m.mul(half, x)).map(|x| m.neg(x)).map(|x| m.apply(Op::LnGamma, &[x]));
        let gammas = m.sub(halved[0], halved[1]);
        let log = m.ln(nu);
        let scaled = m.mul(half, log);
        let constant = m.add(gammas, scaled);
        m.add(own, constant)
    }
    /// Location and scale.
    Cauchy cauchy (x: Real, location: Real, scale: Positive) {
        standardised(m, x, location, scale, |m, z| {
            let square = m.square(z);
            let log = m.apply(Op::Ln1p, &[square]);
            m.neg(log)
        })
    }
    /// Location and scale; Laplace's.
    DoubleExponential double_exponential (x: Real, location: Real, scale: Positive) {
        standardised(m, x, location, scale, |m, z| {
            let size = m.apply(Op::Abs, &[z]);
            m.neg(size)
        })
    }
    /// Location and scale.
    Logistic logistic (x: Real, location: Real, scale: Positive) {
        standardised(m, x, location, scale, |m, z| {
            let (minus, two) = (m.neg(z), m.constant(2.0));
            let softplus = m.apply(Op::Softplus, &[minus]);
            let twice = m.mul(two, softplus);
            m.sub(minus, twice)
        })
    }
    /// Rate.
    Exponential exponential (x: NotNegative, rate: Positive) {
        let (log, product) = (m.ln(rate), m.mul(rate, x));
        m.sub(log, product)
    }
    /// Shape and rate.
    Gamma gamma (x: Positive, shape: Positive, rate: Positive) {
        let (power, log, product) = (power_term(m, shape, x), m.ln(rate), m.mul(rate, x));
        let scaled = m.mul(shape, log);
        let gamma = ln_gamma(m, shape);
        let scaled = m.sub(scaled, gamma);
        let both = m.add(power, scaled);
        m.sub(both, product)
    }
    /// Shape and scale.
    InvGamma inv_gamma (x: Positive, shape: Positive, scale: Positive) {
        let (log_x, log, one) = (m.ln(x), m.ln(scale), m.constant(1.0));
        let scaled = m.mul(shape, log);
        let more = m.add(shape, one);
        let power = m.mul(more, log_x);
        let ratio = m.div(scale, x);
        let gamma = ln_gamma(m, shape);
        let scaled = m.sub(scaled, gamma);
        let both = m.sub(scaled, power);
        m.sub(both, ratio)
    }
    /// Two shapes.
    Beta beta (x: Unit, a: Positive, b: Positive) {
        let (one, rest) = (m.constant(1.0), m.apply(Op::Ln1m, &[x]));
        let less = m.sub(b, one);
        let (left, right) = (power_term(m, a, x), m.mul(less, rest));
        let both = m.add(left, right);
        let constant = ln_beta(m, a, b);
        m.sub(both, constant)
    }
    /// Ends, which are data.
    Uniform uniform (x: Real, low: Real data, high: Real data) {
        let width = m.sub(high, low);
        let log = m.ln(width);
        let (above, below) = (m.apply(Op::Less, &[x, low]), m.apply(Op::Less, &[high, x]));
        let (zero, one) = (m.constant(0.0), m.constant(1.0));
        let outside = m.add(above, below);
        let inside = m.apply(Op::Select, &[outside, zero, one]);
        m.guard(inside, "uniform: the variate is outside its ends");
        m.neg(log)
    }
    /// Shape and scale.
    Weibull weibull (x: Positive, shape: Positive, scale: Positive) {
        let ratio = m.div(x, scale);
        let (log, log_shape, log_scale) = (m.ln(ratio), m.ln(shape), m.ln(scale));
        let one = m.constant(1.0);
        let scaled = m.mul(shape, log);
        let power = m.exp(scaled);
        let less = m.sub(shape, one);
        let first = m.mul(less, log);
        let both = m.add(first, log_shape);
        let both = m.sub(both, log_scale);
        m.sub(both, power)
    }
    /// Probability of 1.
    Bernoulli bernoulli (y: Binary data, p: Unit) {
        let (yes, no) = (m.ln(p), m.apply(Op::Ln1m, &[p]));
        m.apply(Op::Select, &[y, yes, no])
    }
    /// The logit of the probability of 1.
    BernoulliLogit bernoulli_logit (y: Binary data, logit: Real) {
        let (product, softplus) = (m.mul(y, logit), m.apply(Op::Softplus, &[logit]));
        m.sub(product, softplus)
    }
    /// Trials (data) and probability.
    Binomial binomial (y: NotNegative data, trials: NotNegative data, p: Unit) {
        let (yes, no) = (m.ln(p), m.apply(Op::Ln1m, &[p]));
        let failures = m.sub(trials, y);
        let (left, right) = (m.mul(y, yes), m.mul(failures, no));
        m.add(left, right)
    }
    /// Trials (data) and the logit of the probability.
    BinomialLogit binomial_logit (y: NotNegative data, trials: NotNegative data, logit: Real) {
        let (product, softplus) = (m.mul(y, logit), m.apply(Op::Softplus, &[logit]));
        let all = m.mul(trials, softplus);
        m.sub(product, all)
    }
    /// Rate.
    Poisson poisson (y: NotNegative data, rate: Positive) {
        let log = m.ln(rate);
        let product = m.mul(y, log);
        m.sub(product, rate)
    }
    /// The logarithm of the rate.
    PoissonLog poisson_log (y: NotNegative data, log_rate: Real) {
        let (product, rate) = (m.mul(y, log_rate), m.exp(log_rate));
        m.sub(product, rate)
    }
    /// Mean and size: the variance is mean + mean^2 / size.
    NegBinomial2 neg_binomial_2 (y: NotNegative data, mean: Positive, size: Positive) {
        let rising = ln_rising(m, y, size);
        let (sum, log_mean, log_size) = (m.add(mean, size), m.ln(mean), m.ln(size));
        let (log_sum, total) = (m.ln(sum), m.add(y, size));
        let (left, right, all) = (m.mul(y, log_mean), m.mul(size, log_size), m.mul(total, log_sum));
        let both = m.add(left, right);
        let terms = m.sub(both, all);
        m.add(rising, terms)
    }
    /// The logarithm of the mean, and size.
    NegBinomial2Log neg_binomial_2_log (y: NotNegative data, log_mean: Real, size: Positive) {
        let (rising, log_size) = (ln_rising(m, y, size), m.ln(size));
        let (log_sum, total) = (m.apply(Op::LogSumExp, &[log_mean, log_size]), m.add(y, size));
        let (left, right, all) = (m.mul(y, log_mean), m.mul(size, log_size), m.mul(total, log_sum));
        let both = m.add(left, right);
        let terms = m.sub(both, all);
        m.add(rising, terms)
    }
    /// Trials (data) and two shapes.
    BetaBinomial beta_binomial (y: NotNegative data, trials: NotNegative data, a: Positive, b: Positive) {
        let failures = m.sub(trials, y);
        let (with_y, with_rest) = (m.add(y, a), m.add(failures, b));
        let (after, before) = (ln_beta(m, with_y, with_rest), ln_beta(m, a, b));
        m.sub(after, before)
    }
}

impl Graph {
    /// Returns the log density of `distribution` summed over its rows, its variate first among `args`. Arguments outside
    /// their domain are refused where they are data, and guarded where they depend on parameters.
    pub fn log_density(&mut self, distribution: Distribution, args: &[NodeId]) -> NodeId {
        let arguments = distribution.arguments();
        if args.len() != arguments.len() {
            let operation = distribution.name();
            return self.refuse(ProgramError::Arity { operation, expected: arguments.len(), found: args.len() });
        }
        let distribution_name = distribution.name();
        for (&node, argument) in args.iter().zip(arguments) {
            if let Some(values) = self.known(node) {
                if let Some(row) = values.iter().position(|&x| !argument.must.holds(x)) {
                    return self.refuse(ProgramError::Data {
                        distribution: distribution_name,
                        argument: argument.name,
                        value: values[row],
                        row,
                        must: argument.must.words(),
                    });
                }
            } else if argument.is_data {
                let (distribution, argument) = (distribution_name, argument.name);
                return self.refuse(ProgramError::NeedsData { distribution, argument });
            } else if let Some(condition) = argument.must.condition(self, node) {
                let message = format!("{distribution_name}: {} must be {}", argument.name, argument.must.words());
                self.guard(condition, &message);
            }
        }
        let rows = args.iter().map(|&arg| self.len(arg)).find(|&length| length != 1).unwrap_or(1);
        let terms = distribution.terms(self, args);
        self.sum_of_rows(terms, rows)
    }
}
