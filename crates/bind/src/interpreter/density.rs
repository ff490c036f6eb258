//! Logarithms of densities, of mass functions and of distribution functions.
//!
//! A row of the table gives a density's terms, for all elements at once. Terms that depend on no parameter may be left out.

use super::library::Arguments;
use super::{Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Tensor, Value};
use octopus_program::{Graph, NodeId, Op};
use octopus_random::exact;
use octopus_stan::StanType;
use std::f64::consts::PI;

type Function = Box<dyn Fn(&mut Interpreter<'_>, &Arguments) -> Run<Value>>;

/// A graph with short names for what formulas are made of.
struct Formula<'a> {
    graph: &'a mut Graph,
}

impl Formula<'_> {
    fn n(&mut self, x: f64) -> NodeId {
        self.graph.constant(x)
    }
    fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.graph.add(a, b)
    }
    fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.graph.sub(a, b)
    }
    fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.graph.mul(a, b)
    }
    fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.graph.div(a, b)
    }
    fn neg(&mut self, a: NodeId) -> NodeId {
        self.graph.neg(a)
    }
    fn ln(&mut self, a: NodeId) -> NodeId {
        self.graph.ln(a)
    }
    fn op(&mut self, op: Op, a: NodeId) -> NodeId {
        self.graph.apply(op, &[a])
    }
    fn times(&mut self, x: f64, a: NodeId) -> NodeId {
        let x = self.n(x);
        self.mul(x, a)
    }
    fn plus(&mut self, x: f64, a: NodeId) -> NodeId {
        let x = self.n(x);
        self.add(x, a)
    }
    /// (a - b) / c
    fn standard(&mut self, a: NodeId, b: NodeId, c: NodeId) -> NodeId {
        let difference = self.sub(a, b);
        self.div(difference, c)
    }
    fn minus_ln(&mut self, a: NodeId) -> NodeId {
        let log = self.ln(a);
        self.neg(log)
    }
    fn lgamma(&mut self, a: NodeId) -> NodeId {
        self.op(Op::LnGamma, a)
    }
    /// ln of the binomial coefficient.
    fn lchoose(&mut self, n: NodeId, k: NodeId) -> NodeId {
        let (n1, k1, rest) = (self.plus(1.0, n), self.plus(1.0, k), self.sub(n, k));
        let rest = self.plus(1.0, rest);
        let (n1, k1, rest) = (self.lgamma(n1), self.lgamma(k1), self.lgamma(rest));
        let both = self.add(k1, rest);
        self.sub(n1, both)
    }
    /// a ln b, 0 where a is 0.
    fn times_ln(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let log = self.ln(b);
        let product = self.mul(a, log);
        let zero = self.n(0.0);
        if self.graph.known(a).is_some_and(|values| values.contains(&0.0)) {
            return self.graph.apply(Op::Select, &[a, product, zero]);
        }
        product
    }
}

/// Terms of a density, in the order of its arguments.
type Terms = fn(&mut Formula<'_>, &[NodeId]) -> Vec<NodeId>;

/// The row of a density whose arguments are scalars, or containers that are taken element by element.
fn elementwise(name: &str) -> Option<(usize, Terms)> {
    let row: (usize, Terms) = match name {
        "std_normal_lpdf" => (1, |f, x| {
            let square = f.mul(x[0], x[0]);
            vec![f.times(-0.5, square), f.n(-0.5 * (2.0 * PI).ln())]
        }),
        "normal_lpdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let square = f.mul(z, z);
            vec![f.times(-0.5, square), f.minus_ln(x[2]), f.n(-0.5 * (2.0 * PI).ln())]
        }),
        "lognormal_lpdf" => (3, |f, x| {
            let log = f.ln(x[0]);
            let z = f.standard(log, x[1], x[2]);
            let square = f.mul(z, z);
            vec![f.times(-0.5, square), f.minus_ln(x[2]), f.neg(log), f.n(-0.5 * (2.0 * PI).ln())]
        }),
        "cauchy_lpdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let square = f.mul(z, z);
            let log = f.op(Op::Ln1p, square);
            vec![f.neg(log), f.minus_ln(x[2]), f.n(-PI.ln())]
        }),
        "student_t_lpdf" => (4, |f, x| {
            let z = f.standard(x[0], x[2], x[3]);
            let square = f.mul(z, z);
            let ratio = f.div(square, x[1]);
            let log = f.op(Op::Ln1p, ratio);
            let half = f.times(0.5, x[1]);
            let power = f.plus(0.5, half);
            let kernel = f.mul(power, log);
            let (above, below) = (f.lgamma(power), f.lgamma(half));
            let gammas = f.sub(above, below);
            let log = f.ln(x[1]);
            let log = f.times(-0.5, log);
            vec![f.neg(kernel), f.minus_ln(x[3]), f.add(gammas, log), f.n(-0.5 * PI.ln())]
        }),
        "logistic_lpdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let minus = f.neg(z);
            let soft = f.op(Op::Softplus, minus);
            let soft = f.times(2.0, soft);
            vec![f.sub(minus, soft), f.minus_ln(x[2])]
        }),
        "double_exponential_lpdf" => (3, |f, x| {
            let difference = f.sub(x[0], x[1]);
            let distance = f.op(Op::Abs, difference);
            let z = f.div(distance, x[2]);
            vec![f.neg(z), f.minus_ln(x[2]), f.n(-(2.0_f64).ln())]
        }),
        "gumbel_lpdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let minus = f.neg(z);
            let e = f.graph.exp(minus);
            vec![f.sub(minus, e), f.minus_ln(x[2])]
        }),
        "exponential_lpdf" => (2, |f, x| {
            let product = f.mul(x[1], x[0]);
            vec![f.neg(product), f.ln(x[1])]
        }),
        "gamma_lpdf" => (3, |f, x| {
            let log = f.ln(x[0]);
            let shape = f.plus(-1.0, x[1]);
            let (power, product) = (f.mul(shape, log), f.mul(x[2], x[0]));
            let rate = f.ln(x[2]);
            let gamma = f.lgamma(x[1]);
            vec![power, f.neg(product), f.mul(x[1], rate), f.neg(gamma)]
        }),
        "inv_gamma_lpdf" => (3, |f, x| {
            let log = f.ln(x[0]);
            let shape = f.plus(1.0, x[1]);
            let (power, ratio) = (f.mul(shape, log), f.div(x[2], x[0]));
            let scale = f.ln(x[2]);
            let gamma = f.lgamma(x[1]);
            vec![f.neg(power), f.neg(ratio), f.mul(x[1], scale), f.neg(gamma)]
        }),
        "chi_square_lpdf" => (2, |f, x| {
            let half = f.times(0.5, x[1]);
            let (log, power) = (f.ln(x[0]), f.plus(-1.0, half));
            let gamma = f.lgamma(half);
            vec![f.mul(power, log), f.times(-0.5, x[0]), f.times(-(2.0_f64).ln(), half), f.neg(gamma)]
        }),
        "inv_chi_square_lpdf" => (2, |f, x| {
            let half = f.times(0.5, x[1]);
            let (log, power) = (f.ln(x[0]), f.plus(1.0, half));
            let gamma = f.lgamma(half);
            let product = f.mul(power, log);
            let h = f.n(-0.5);
            vec![f.neg(product), f.div(h, x[0]), f.times(-(2.0_f64).ln(), half), f.neg(gamma)]
        }),
        "beta_lpdf" => (3, |f, x| {
            let (a, b, sum) = (f.plus(-1.0, x[1]), f.plus(-1.0, x[2]), f.add(x[1], x[2]));
            let (log, rest) = (f.ln(x[0]), f.op(Op::Ln1m, x[0]));
            let (la, lb, ls) = (f.lgamma(x[1]), f.lgamma(x[2]), f.lgamma(sum));
            vec![f.mul(a, log), f.mul(b, rest), ls, f.neg(la), f.neg(lb)]
        }),
        "beta_proportion_lpdf" => (3, |f, x| {
            let a = f.mul(x[1], x[2]);
            let b = f.sub(x[2], a);
            let (p, q) = (f.plus(-1.0, a), f.plus(-1.0, b));
            let (log, rest) = (f.ln(x[0]), f.op(Op::Ln1m, x[0]));
            let (la, lb, ls) = (f.lgamma(a), f.lgamma(b), f.lgamma(x[2]));
            vec![f.mul(p, log), f.mul(q, rest), ls, f.neg(la), f.neg(lb)]
        }),
        "uniform_lpdf" => (3, |f, x| {
            let width = f.sub(x[2], x[1]);
            let zero = f.n(0.0);
            let (below, above) = (f.graph.apply(Op::Less, &[x[0], x[1]]), f.graph.apply(Op::Less, &[x[2], x[0]]));
            let outside = f.add(below, above);
            let none = f.n(f64::NEG_INFINITY);
            let guard = f.graph.apply(Op::Select, &[outside, none, zero]);
            vec![f.minus_ln(width), guard]
        }),
        "weibull_lpdf" => (3, |f, x| {
            let ratio = f.div(x[0], x[2]);
            let log = f.ln(ratio);
            let power = f.mul(x[1], log);
            let power = f.graph.exp(power);
            let shape = f.plus(-1.0, x[1]);
            vec![f.ln(x[1]), f.minus_ln(x[2]), f.mul(shape, log), f.neg(power)]
        }),
        "pareto_lpdf" => (3, |f, x| {
            let (log, least) = (f.ln(x[0]), f.ln(x[1]));
            let shape = f.plus(1.0, x[2]);
            let power = f.mul(shape, log);
            vec![f.ln(x[2]), f.mul(x[2], least), f.neg(power)]
        }),
        "rayleigh_lpdf" => (2, |f, x| {
            let z = f.div(x[0], x[1]);
            let square = f.mul(z, z);
            let log = f.ln(x[1]);
            vec![f.ln(x[0]), f.times(-2.0, log), f.times(-0.5, square)]
        }),
        "skew_normal_lpdf" => (4, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let square = f.mul(z, z);
            let scaled = f.mul(x[3], z);
            let cdf = f.op(Op::LnPhi, scaled);
            vec![f.times(-0.5, square), f.minus_ln(x[2]), cdf, f.n(-0.5 * (PI / 2.0).ln())]
        }),
        "bernoulli_lpmf" => (2, |f, x| {
            // One logarithm, of the probability that is meant: the other one may be infinite.
            let one = f.n(1.0);
            let rest = f.sub(one, x[1]);
            let chosen = f.graph.apply(Op::Select, &[x[0], x[1], rest]);
            vec![f.ln(chosen)]
        }),
        "bernoulli_logit_lpmf" => (2, |f, x| {
            let product = f.mul(x[0], x[1]);
            let soft = f.op(Op::Softplus, x[1]);
            vec![f.sub(product, soft)]
        }),
        "binomial_lpmf" => (3, |f, x| {
            let rest = f.sub(x[1], x[0]);
            let one = f.n(1.0);
            let failure = f.sub(one, x[2]);
            vec![f.times_ln(x[0], x[2]), f.times_ln(rest, failure), f.lchoose(x[1], x[0])]
        }),
        "binomial_logit_lpmf" => (3, |f, x| {
            let product = f.mul(x[0], x[2]);
            let soft = f.op(Op::Softplus, x[2]);
            let soft = f.mul(x[1], soft);
            vec![f.sub(product, soft), f.lchoose(x[1], x[0])]
        }),
        "poisson_lpmf" => (2, |f, x| {
            let after = f.plus(1.0, x[0]);
            let factorial = f.lgamma(after);
            vec![f.times_ln(x[0], x[1]), f.neg(x[1]), f.neg(factorial)]
        }),
        "poisson_log_lpmf" => (2, |f, x| {
            let after = f.plus(1.0, x[0]);
            let factorial = f.lgamma(after);
            let e = f.graph.exp(x[1]);
            vec![f.mul(x[0], x[1]), f.neg(e), f.neg(factorial)]
        }),
        "neg_binomial_2_lpmf" => (3, |f, x| {
            let sum = f.add(x[1], x[2]);
            let log = f.ln(sum);
            let (mean, size) = (f.ln(x[1]), f.ln(x[2]));
            let (mean, size) = (f.sub(mean, log), f.sub(size, log));
            let counts = f.add(x[0], x[2]);
            let after = f.plus(1.0, x[0]);
            let (a, b, c) = (f.lgamma(counts), f.lgamma(x[2]), f.lgamma(after));
            vec![f.mul(x[0], mean), f.mul(x[2], size), f.sub(a, b), f.neg(c)]
        }),
        "neg_binomial_2_log_lpmf" => (3, |f, x| {
            let size = f.ln(x[2]);
            let log = f.graph.apply(Op::LogSumExp, &[x[1], size]);
            let (mean, size) = (f.sub(x[1], log), f.sub(size, log));
            let counts = f.add(x[0], x[2]);
            let after = f.plus(1.0, x[0]);
            let (a, b, c) = (f.lgamma(counts), f.lgamma(x[2]), f.lgamma(after));
            vec![f.mul(x[0], mean), f.mul(x[2], size), f.sub(a, b), f.neg(c)]
        }),
        "beta_binomial_lpmf" => (4, |f, x| {
            let (a, rest) = (f.add(x[0], x[2]), f.sub(x[1], x[0]));
            let b = f.add(rest, x[3]);
            let (sum, all) = (f.add(x[2], x[3]), f.add(x[1], x[2]));
            let all = f.add(all, x[3]);
            let terms = [f.lgamma(a), f.lgamma(b), f.lgamma(all), f.lgamma(x[2]), f.lgamma(x[3]), f.lgamma(sum)];
            let minus = [2, 3, 4].map(|k| f.neg(terms[k]));
            vec![terms[0], terms[1], minus[0], minus[1], minus[2], terms[5], f.lchoose(x[1], x[0])]
        }),
        "exponential_lccdf" => (2, |f, x| {
            let product = f.mul(x[1], x[0]);
            vec![f.neg(product)]
        }),
        "exponential_lcdf" => (2, |f, x| {
            let product = f.mul(x[1], x[0]);
            let minus = f.neg(product);
            let e = f.graph.exp(minus);
            vec![f.op(Op::Ln1m, e)]
        }),
        "logistic_lcdf" => (3, |f, x| {
            let z = f.standard(x[1], x[0], x[2]);
            let soft = f.op(Op::Softplus, z);
            vec![f.neg(soft)]
        }),
        "logistic_lccdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let soft = f.op(Op::Softplus, z);
            vec![f.neg(soft)]
        }),
        "uniform_lcdf" => (3, |f, x| {
            let (part, width) = (f.sub(x[0], x[1]), f.sub(x[2], x[1]));
            let ratio = f.div(part, width);
            vec![f.ln(ratio)]
        }),
        "uniform_lccdf" => (3, |f, x| {
            let (part, width) = (f.sub(x[2], x[0]), f.sub(x[2], x[1]));
            let ratio = f.div(part, width);
            vec![f.ln(ratio)]
        }),
        "weibull_lccdf" => (3, |f, x| {
            let ratio = f.div(x[0], x[2]);
            let log = f.ln(ratio);
            let power = f.mul(x[1], log);
            let power = f.graph.exp(power);
            vec![f.neg(power)]
        }),
        "normal_lcdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            vec![f.op(Op::LnPhi, z)]
        }),
        "normal_lccdf" => (3, |f, x| {
            let z = f.standard(x[1], x[0], x[2]);
            vec![f.op(Op::LnPhi, z)]
        }),
        "cauchy_lccdf" => (3, |f, x| {
            let z = f.standard(x[1], x[0], x[2]);
            let angle = f.op(Op::Atan, z);
            let part = f.times(1.0 / PI, angle);
            let cdf = f.plus(0.5, part);
            vec![f.ln(cdf)]
        }),
        "cauchy_lcdf" => (3, |f, x| {
            let z = f.standard(x[0], x[1], x[2]);
            let angle = f.op(Op::Atan, z);
            let part = f.times(1.0 / PI, angle);
            let cdf = f.plus(0.5, part);
            vec![f.ln(cdf)]
        }),
        _ => return None,
    };
    Some(row)
}

/// The density of a name, also without its constants.
pub(crate) fn density(name: &str) -> Option<Function> {
    let name = match (name.strip_suffix("_lupdf"), name.strip_suffix("_lupmf")) {
        (Some(bare), _) => format!("{bare}_lpdf"),
        (_, Some(bare)) => format!("{bare}_lpmf"),
        _ => name.to_owned(),
    };
    if let Some((arity, terms)) = elementwise(&name) {
        return Some(Box::new(move |me, a| {
            let args: Vec<Tensor> = a.values.iter().map(|value| me.tensor(value)).collect();
            if args.len() != arity {
                return wrong(a.span, format!("it takes {arity} arguments, and there are {}", args.len()));
            }
            me.density_of(&args, terms, a).map(Value::from)
        }));
    }
    let glm = |density: &'static str| -> Option<Function> {
        Some(Box::new(move |me, a| {
            let t = |me: &Interpreter<'_>, k: usize, ty: StanType| me.tensor(&a.values[k]).with_type(ty);
            let (x, beta) = (t(me, 1, a.types[1]), t(me, 3, StanType::VECTOR));
            let product = me.product(&x, &beta, a.span)?;
            let alpha = me.tensor(&a.values[2]);
            let eta = me.add(&product, &alpha, a.span)?;
            let mut values = vec![a.values[0].clone(), eta.into()];
            values.extend_from_slice(&a.values[4..]);
            let mut types = vec![a.types[0], StanType::VECTOR];
            types.extend_from_slice(&a.types[4..]);
            let inner = Arguments { values, types, ty: a.ty, drops: a.drops, span: a.span };
            me.library_function(density, inner)
        }))
    };
    match name.as_str() {
        "normal_id_glm_lpdf" => return glm("normal_lpdf"),
        "bernoulli_logit_glm_lpmf" => return glm("bernoulli_logit_lpmf"),
        "poisson_log_glm_lpmf" => return glm("poisson_log_lpmf"),
        "neg_binomial_2_log_glm_lpmf" => return glm("neg_binomial_2_log_lpmf"),
        _ => {}
    }
    type Plain = fn(&mut Interpreter<'_>, &Arguments) -> Run<Tensor>;
    if let "student_t_lccdf" | "student_t_lcdf" = name.as_str() {
        let is_above = name == "student_t_lccdf";
        return Some(Box::new(move |me, a| student_t_tail(me, a, is_above).map(Value::from)));
    }
    let function: Plain = match name.as_str() {
        "dirichlet_lpdf" => dirichlet,
        "categorical_lpmf" => |me, a| categorical(me, a, false),
        "categorical_logit_lpmf" => |me, a| categorical(me, a, true),
        "multi_normal_lpdf" => |me, a| {
            let sigma = me.tensor(&a.values[2]).with_type(StanType::MATRIX);
            let l = me.cholesky(&sigma)?;
            multi_normal(me, a, &l)
        },
        "multi_normal_cholesky_lpdf" => |me, a| {
            let l = me.tensor(&a.values[2]).with_type(StanType::MATRIX);
            multi_normal(me, a, &l)
        },
        "lkj_corr_cholesky_lpdf" => |me, a| {
            let l = me.tensor(&a.values[0]);
            lkj(me, a, &l)
        },
        "multinomial_lpmf" => |me, a| {
            let (n, theta) = (me.tensor(&a.values[0]), me.tensor(&a.values[1]));
            let log = me.apply(Op::Ln, &[theta], a.span)?;
            let terms = me.mul(&n, &log, a.span)?;
            let kernel = me.sum_of(&terms);
            let Some(counts) = n.known() else { return Err(Stop::Lanes) };
            let constant = exact::ln_gamma(counts.iter().sum::<f64>() + 1.0)
                - counts.iter().map(|&n| exact::ln_gamma(n + 1.0)).sum::<f64>();
            if a.drops { Ok(kernel) } else { me.add(&kernel, &Tensor::number(constant), a.span) }
        },
        "ordered_logistic_lpmf" => ordered_logistic,
        _ => return None,
    };
    Some(Box::new(move |me, a| function(me, a).map(Value::from)))
}

impl Interpreter<'_> {
    /// The sum of a density's terms over all elements, in each lane.
    fn density_of(&mut self, args: &[Tensor], terms: Terms, a: &Arguments) -> Run<Tensor> {
        let shared = self.shared(args, a.span)?;
        let count = shared.count();
        let laned = shared.laned;
        if count == 0 {
            return Ok(Tensor::number(0.0));
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| self.spread(arg, &shared)).collect();
        let mut formula = Formula { graph: &mut self.graph };
        let terms = terms(&mut formula, &nodes);
        let mut total: Option<NodeId> = None;
        for term in terms {
            if a.drops && !self.graph.depends_on_parameters(term) && self.is_no_trap(term) {
                continue;
            }
            total = Some(match total {
                None => term,
                Some(total) => self.graph.add(total, term),
            });
        }
        let Some(total) = total else { return Ok(Tensor::number(0.0)) };
        // Terms of scalars count once for each element.
        let lanes = if laned { self.lane_count() } else { 1 };
        let tensor = if self.graph.len(total) == 1 && count > 1 && lanes == 1 {
            let rows = self.graph.constant(count as f64);
            let node = self.graph.mul(rows, total);
            self.made(node, StanType::REAL, Vec::new())
        } else {
            let whole = self.whole(total, shared);
            self.sum_of(&whole)
        };
        Ok(tensor)
    }

    /// Whether a known term is finite: what is infinite says that data are outside of the support.
    fn is_no_trap(&self, term: NodeId) -> bool {
        self.graph.known(term).is_none_or(|values| values.iter().all(|x| x.is_finite()))
    }
}

fn dirichlet(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Tensor> {
    let (x, alpha) = (me.tensor(&a.values[0]), me.tensor(&a.values[1]));
    if x.dims.len() != 1 || alpha.dims.len() != 1 {
        return wrong(a.span, "arrays of simplexes are not supported here yet");
    }
    let log = me.apply(Op::Ln, &[x], a.span)?;
    let less = me.add(&alpha, &Tensor::number(-1.0), a.span)?;
    let kernel = me.dot(&log, &less, a.span)?;
    if a.drops && alpha.known().is_some() {
        return Ok(kernel);
    }
    let sum = me.sum_of(&alpha);
    let gamma = |me: &mut Interpreter<'_>, x: &Tensor| {
        let inner =
            Arguments { values: vec![x.clone().into()], types: vec![x.ty], ty: x.ty, drops: false, span: a.span };
        let value = me.library_function("lgamma", inner)?;
        Ok(me.tensor(&value))
    };
    let (whole, each) = (gamma(me, &sum)?, gamma(me, &alpha)?);
    let each = me.sum_of(&each);
    let constant = me.sub(&whole, &each, a.span)?;
    me.add(&kernel, &constant, a.span)
}

/// The logarithm of the probabilities at the variates.
fn categorical(me: &mut Interpreter<'_>, a: &Arguments, is_logit: bool) -> Run<Tensor> {
    let Some(y) = me.ints(&a.values[0]) else { return wrong(a.span, "the variate must be known") };
    let p = me.tensor(&a.values[1]);
    let logs = if is_logit {
        let log = me.log_sum_exp(&p, a.span)?;
        me.sub(&p, &log, a.span)?
    } else {
        me.apply(Op::Ln, &[p], a.span)?
    };
    let categories = logs.count();
    if let Some(&outside) = y.values.iter().find(|&&y| y < 1 || y > categories as i64) {
        return wrong(a.span, format!("the category {outside} is outside: there are {categories}"));
    }
    let laned = y.laned || logs.laned;
    let (lanes, count) = (if laned { me.lane_count() } else { 1 }, y.count());
    let places = (0..lanes * count)
        .map(|k| {
            let lane = if laned { k / count.max(1) } else { 0 };
            let y = y.values[if y.laned { k } else { k % count.max(1) }];
            (if logs.laned { lane * categories } else { 0 }) as u32 + (y - 1) as u32
        })
        .collect();
    let elements = me.pick(&logs.elements, places);
    let chosen = Tensor::new(StanType::VECTOR, vec![count], laned, elements);
    Ok(me.sum_of(&chosen))
}

fn multi_normal(me: &mut Interpreter<'_>, a: &Arguments, l: &Tensor) -> Run<Tensor> {
    let (y, mu) = (me.tensor(&a.values[0]), me.tensor(&a.values[1]));
    let n = l.dims.first().copied().unwrap_or(0);
    if y.laned || mu.laned || l.laned {
        return Err(Stop::Lanes);
    }
    let many = y.count().max(mu.count()) / n.max(1);
    let tiled = |me: &mut Interpreter<'_>, x: &Tensor| {
        let places = (0..many * n).map(|k| (if x.count() == n { k % n } else { k }) as u32).collect();
        let elements = me.pick(&x.elements, places);
        Tensor::new(StanType::MATRIX, vec![many, n], false, elements)
    };
    if y.count() % n.max(1) != 0 || mu.count() % n.max(1) != 0 {
        return wrong(
            a.span,
            format!("vectors of {} and {} elements where the matrix has {n} rows", y.count(), mu.count()),
        );
    }
    let (y, mu) = (tiled(me, &y), tiled(me, &mu));
    let difference = me.sub(&y, &mu, a.span)?;
    let columns = me.transpose(&difference);
    let z = me.solve_lower(l, &columns, false)?;
    let square = me.mul(&z, &z, a.span)?;
    let sum = me.sum_of(&square);
    let kernel = me.mul(&sum, &Tensor::number(-0.5), a.span)?;
    let places = (0..n).map(|k| (k * n + k) as u32).collect();
    let diagonal = Tensor::new(StanType::VECTOR, vec![n], false, Elements::Data(Vec::new().into()));
    let diagonal = Tensor { elements: me.pick(&l.elements, places), ..diagonal };
    let logs = me.apply(Op::Ln, &[diagonal], a.span)?;
    let logs = me.sum_of(&logs);
    let determinant = me.mul(&logs, &Tensor::number(-(many as f64)), a.span)?;
    let mut result = kernel;
    if !a.drops || determinant.known().is_none() {
        result = me.add(&result, &determinant, a.span)?;
    }
    if !a.drops {
        let constant = -0.5 * (2.0 * PI).ln() * (many * n) as f64;
        result = me.add(&result, &Tensor::number(constant), a.span)?;
    }
    Ok(result)
}

fn lkj(me: &mut Interpreter<'_>, a: &Arguments, l: &Tensor) -> Run<Tensor> {
    let n = l.dims.first().copied().unwrap_or(0);
    if l.laned {
        return Err(Stop::Lanes);
    }
    let eta = me.tensor(&a.values[1]);
    let places: Vec<u32> = (1..n).map(|k| (k * n + k) as u32).collect();
    let elements = me.pick(&l.elements, places);
    let diagonal = Tensor::new(StanType::VECTOR, vec![n.saturating_sub(1)], false, elements);
    let logs = me.apply(Op::Ln, &[diagonal], a.span)?;
    let powers =
        Tensor::data(StanType::VECTOR, vec![n.saturating_sub(1)], (1..n).map(|k| (n - k) as f64 - 3.0).collect());
    let twice = me.mul(&eta, &Tensor::number(2.0), a.span)?;
    let powers = me.add(&powers, &twice, a.span)?;
    let kernel = me.dot(&powers, &logs, a.span)?;
    let Some(eta) = eta.known().and_then(|values| values.first().copied()) else {
        return wrong(a.span, "an `eta` that depends on parameters is not supported yet");
    };
    if a.drops {
        return Ok(kernel);
    }
    // The constant of the density of Lewandowski, Kurowicka and Joe, as Stan has it.
    let constant = -lkj_constant(eta, n);
    me.add(&kernel, &Tensor::number(constant), a.span)
}

/// The constant of the density of Lewandowski, Kurowicka and Joe (2009), theorem 5.
fn lkj_constant(eta: f64, n: usize) -> f64 {
    let last = n as f64 - 1.0;
    let each = |k: usize| 0.5 * k as f64 * PI.ln() + exact::ln_gamma(eta + 0.5 * (last - k as f64));
    (1..n).map(each).sum::<f64>() - last * exact::ln_gamma(eta + 0.5 * last)
}

fn ordered_logistic(me: &mut Interpreter<'_>, a: &Arguments) -> Run<Tensor> {
    let (Some(y), eta, cuts) = (me.ints(&a.values[0]), me.tensor(&a.values[1]), me.tensor(&a.values[2])) else {
        return wrong(a.span, "the variate must be known");
    };
    if y.laned || eta.laned || cuts.laned || cuts.dims.len() != 1 {
        return Err(Stop::Lanes);
    }
    let last = cuts.count() as i64 + 1;
    let mut total = Tensor::number(0.0);
    for (k, &y) in y.values.iter().enumerate() {
        if y < 1 || y > last {
            return wrong(a.span, format!("the category {y} is outside: there are {last}"));
        }
        let one = |e: Elements, k: usize| {
            Tensor::new(StanType::REAL, vec![], false, super::nodes::elements_of(vec![e.at(k)]))
        };
        let eta = one(eta.elements.clone(), if eta.is_scalar() { 0 } else { k });
        // ln sigmoid(eta - c[y - 1]) + ln sigmoid(c[y] - eta) + ln(1 - e^(c[y - 1] - c[y]))
        let mut term = Tensor::number(0.0);
        if y > 1 {
            let difference = me.sub(&one(cuts.elements.clone(), y as usize - 2), &eta, a.span)?;
            let soft = me.apply(Op::Softplus, &[difference], a.span)?;
            term = me.sub(&term, &soft, a.span)?;
        }
        if y < last {
            let difference = me.sub(&eta, &one(cuts.elements.clone(), y as usize - 1), a.span)?;
            let soft = me.apply(Op::Softplus, &[difference], a.span)?;
            term = me.sub(&term, &soft, a.span)?;
        }
        if y > 1 && y < last {
            let (below, above) =
                (one(cuts.elements.clone(), y as usize - 2), one(cuts.elements.clone(), y as usize - 1));
            let difference = me.sub(&below, &above, a.span)?;
            let e = me.apply(Op::Exp, &[difference], a.span)?;
            let rest = me.apply(Op::Ln1m, &[e], a.span)?;
            term = me.add(&term, &rest, a.span)?;
        }
        total = me.add(&total, &term, a.span)?;
    }
    Ok(total)
}

/// The probability below or above a bound, where nothing depends on parameters.
fn student_t_tail(me: &mut Interpreter<'_>, a: &Arguments, is_above: bool) -> Run<Tensor> {
    let args: Vec<Tensor> = a.values.iter().map(|value| me.tensor(value)).collect();
    let mut known = Vec::new();
    for arg in &args {
        match arg.known() {
            Some(&[x]) => known.push(x),
            Some(_) => return wrong(a.span, "vectors are not supported here yet"),
            None => return wrong(a.span, "this function of parameters is not supported yet"),
        }
    }
    let [y, degrees, location, scale] = known[..] else { return Err(Stop::Lanes) };
    let z = (y - location) / scale;
    let z = if is_above { -z } else { z };
    let tail = 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + z * z));
    let below = if z > 0.0 { 1.0 - tail } else { tail };
    Ok(Tensor::number(exact::ln(below)))
}

/// The regularised incomplete beta function, by its continued fraction.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let log =
        a * exact::ln(x) + b * exact::ln_1p(-x) + exact::ln_gamma(a + b) - exact::ln_gamma(a) - exact::ln_gamma(b);
    let away = |x: f64| if x.abs() < 1e-300 { 1e-300 } else { x };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-16 {
            break;
        }
    }
    exact::exp(log) / a * fraction
}
