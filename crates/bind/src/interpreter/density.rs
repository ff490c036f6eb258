//! Densities, mass functions and distribution functions as Stan's syntax has them: of containers element by element, without
//! constants, truncated, of linear predictors. Their formulas are the table of `octopus_program`.

use super::arithmetic::SharedSizes;
use super::library::Arguments;
use super::{Interpreter, Run, Stop, wrong};
use crate::generative::EACH;
use crate::value::{Tensor, Value};
use octopus_program::{Distribution, JointDistribution, JointShape, Matrix, NodeId, NormalKind, Op, Tail};
use octopus_stan::{Span, StanType, Tilde};

type Function = Box<dyn Fn(&mut Interpreter<'_>, &Arguments) -> Run<Value>>;

/// What a function of a distribution gives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DensityFunction {
    /// The logarithm of the density, summed over all variates.
    Density,
    /// The logarithm of the density of each variate.
    Each,
    /// The logarithm of a tail's probability.
    LogTail(Tail),
    /// The probability up to the variate.
    Below,
}

/// Suffixes of functions of distributions.
const SUFFIXES: [(&str, DensityFunction); 8] = [
    ("_lpdf", DensityFunction::Density),
    ("_lpmf", DensityFunction::Density),
    ("_lupdf", DensityFunction::Density),
    ("_lupmf", DensityFunction::Density),
    ("_lcdf", DensityFunction::LogTail(Tail::Below)),
    ("_lccdf", DensityFunction::LogTail(Tail::Above)),
    ("_cdf", DensityFunction::Below),
    (EACH, DensityFunction::Each),
];

/// Densities of linear predictors: the name, the distribution given the predictor, the place of the matrix of predictors among
/// the arguments, and whether an intercept follows it.
pub(crate) const OF_PREDICTORS: [(&str, &str, usize, bool); 7] = [
    ("normal_id_glm", "normal", 1, true),
    ("bernoulli_logit_glm", "bernoulli_logit", 1, true),
    ("binomial_logit_glm", "binomial_logit", 2, true),
    ("poisson_log_glm", "poisson_log", 1, true),
    ("neg_binomial_2_log_glm", "neg_binomial_2_log", 1, true),
    ("categorical_logit_glm", "categorical_logit", 1, true),
    ("ordered_logistic_glm", "ordered_logistic", 1, false),
];

/// The function of a distribution that has this name.
pub(crate) fn density(name: &str) -> Option<Function> {
    let (base, wanted) = SUFFIXES.iter().find_map(|(suffix, wanted)| Some((name.strip_suffix(suffix)?, *wanted)))?;
    if let Some(row) = Distribution::named(base) {
        return match wanted {
            DensityFunction::Density => Some(Box::new(move |me, a| me.density_of(row, a).map(Value::from))),
            DensityFunction::Each => Some(Box::new(move |me, a| me.each_density_of(row, a).map(Value::from))),
            _ if !row.has_tails() => None,
            DensityFunction::LogTail(tail) => Some(Box::new(move |me, a| {
                let log = me.log_tail(row, tail, &a.values, a.span)?;
                Ok(me.sum_of(&log).into())
            })),
            DensityFunction::Below => Some(Box::new(move |me, a| {
                let log = me.log_tail(row, Tail::Below, &a.values, a.span)?;
                let log = me.sum_of(&log);
                Ok(me.apply(Op::Exp, &[log], a.span)?.into())
            })),
        };
    }
    if !matches!(wanted, DensityFunction::Density | DensityFunction::Each) {
        return None;
    }
    let is_each = wanted == DensityFunction::Each;
    if let Some(row) = JointDistribution::named(base) {
        return Some(Box::new(move |me, a| me.joint_density_of(row, is_each, a).map(Value::from)));
    }
    let &(_, distribution, place, has_intercept) = OF_PREDICTORS.iter().find(|row| row.0 == base)?;
    let density = format!("{distribution}{}", if is_each { EACH } else { "_lpdf" });
    Some(Box::new(move |me, a| me.density_of_predictor(&density, place, has_intercept, a)))
}

impl Interpreter<'_> {
    /// The sum of a density's terms over all elements, in each lane.
    fn density_of(&mut self, row: &Distribution, a: &Arguments) -> Run<Tensor> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let shared = self.shared(&args, a.span)?;
        let (count, laned) = (shared.count(), shared.laned);
        if count == 0 {
            return Ok(Tensor::number(0.0));
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| self.spread(arg, &shared)).collect();
        let total = self.total_of(row, &nodes, a)?;
        let kind = if row.name == "lognormal" { NormalKind::Log } else { NormalKind::Plain };
        self.last_normal = match (row.name, &nodes[..]) {
            ("normal" | "lognormal", &[variate, location, scale]) => Some(([variate, location, scale], kind)),
            ("std_normal", &[variate]) => Some(([variate, self.graph.constant(0.0), self.graph.constant(1.0)], kind)),
            _ => None,
        };
        let lanes = if laned { self.lane_count() } else { 1 };
        if self.graph.len(total) == 1 && count > 1 && lanes == 1 {
            let node = self.graph.sum_of_rows(total, count);
            return Ok(self.made(node, StanType::REAL, Vec::new()));
        }
        let whole = self.whole(total, shared);
        Ok(self.sum_of(&whole))
    }

    /// The log density of each element.
    fn each_density_of(&mut self, row: &Distribution, a: &Arguments) -> Run<Tensor> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let shared = self.shared(&args, a.span)?;
        if shared.count() == 0 {
            return Ok(Tensor::data(shared.ty, shared.dims, Vec::new()));
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| self.spread(arg, &shared)).collect();
        let total = self.total_of(row, &nodes, a)?;
        Ok(self.whole(total, shared))
    }

    /// The log density of each element, or of one that serves all.
    fn total_of(&mut self, row: &Distribution, nodes: &[NodeId], a: &Arguments) -> Run<NodeId> {
        let terms = self.graph.density_terms(row, nodes);
        let terms = terms.or_else(|error| wrong(a.span, error.to_string()))?;
        Ok(self.kept(terms, a.drops))
    }

    /// The sum of the terms that stay.
    fn kept(&mut self, terms: Vec<NodeId>, drops: bool) -> NodeId {
        let terms = if drops { self.graph.without_constants(terms) } else { terms };
        self.graph.total(&terms)
    }

    /// The logarithm of a tail's probability, for each element.
    fn log_tail(&mut self, row: &Distribution, tail: Tail, values: &[Value], span: Span) -> Run<Tensor> {
        let args: Vec<Tensor> = values.iter().map(|value| self.tensor(value)).collect();
        let shared = self.shared(&args, span)?;
        if shared.count() == 0 {
            return Ok(Tensor::data(shared.ty, shared.dims, Vec::new()));
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| self.spread(arg, &shared)).collect();
        let log = self.graph.log_tail(row, tail, &nodes);
        let log = log.or_else(|error| wrong(span, error.to_string()))?;
        Ok(self.whole(log, shared))
    }

    /// The density of vectors, matrices or categories: of each variate, or the sum over all of them, in each lane.
    fn joint_density_of(&mut self, row: &JointDistribution, is_each: bool, a: &Arguments) -> Run<Tensor> {
        let args: Vec<Tensor> = a.values.iter().map(|value| self.tensor(value)).collect();
        let width = |arg: &Tensor, shape: JointShape| match shape {
            JointShape::Number | JointShape::Numbers => 1,
            JointShape::Vectors | JointShape::Square => arg.dims.last().copied().unwrap_or(1),
        };
        let laned = args.iter().any(|arg| arg.laned);
        let lanes = if laned { self.lane_count() } else { 1 };
        let mut many = 1;
        for (arg, argument) in args.iter().zip(row.arguments) {
            let is_by_variate = matches!(argument.shape, JointShape::Numbers | JointShape::Vectors);
            if arg.laned && !is_by_variate {
                return Err(Stop::Lanes);
            }
            let own = if arg.count() == 0 { 0 } else { arg.count() / width(arg, argument.shape) };
            if is_by_variate && own != 1 {
                many = own;
            }
        }
        // The sizes of the variates without their own.
        let mut dims = args.first().map(|variate| variate.dims.clone()).unwrap_or_default();
        let own = row.arguments.first().map_or(0, |variate| variate.shape.dimensions());
        dims.truncate(dims.len().saturating_sub(own));
        if many == 0 {
            return Ok(if is_each { Tensor::data(StanType::VECTOR, dims, Vec::new()) } else { Tensor::number(0.0) });
        }
        if is_each && dims.iter().product::<usize>() != many {
            return wrong(a.span, "one variate has several densities here");
        }
        let mut matrices = Vec::with_capacity(args.len());
        for (arg, argument) in args.iter().zip(row.arguments) {
            let columns = width(arg, argument.shape);
            let rows = arg.count().checked_div(columns).unwrap_or(0);
            let is_by_variate = matches!(argument.shape, JointShape::Numbers | JointShape::Vectors);
            if argument.shape == JointShape::Square {
                // Its factor, and a solution for each variate.
                self.multiplications(&[columns, columns, columns.saturating_add(many)], 2, a.span)?;
            }
            let (node, rows) = match (arg.laned, is_by_variate && laned && rows > 1) {
                (false, false) => (self.node(arg), rows),
                (true, _) if rows == many => (self.node(arg), lanes * many),
                // Each lane's vector for all of the lane's variates, or all variates for each lane.
                (is_laned, _) => {
                    let place = |lane: usize, k: usize| if is_laned { lane * rows + k % rows } else { k };
                    let places = (0..lanes)
                        .flat_map(|lane| (0..many).map(move |k| place(lane, k)))
                        .flat_map(|row| (0..columns).map(move |j| (row * columns + j) as u32))
                        .collect();
                    let elements = self.pick(&arg.elements, places);
                    let tiled = Tensor { elements, laned: true, ..arg.clone() };
                    (self.node(&tiled), lanes * many)
                }
            };
            let node = if rows * columns > 1 { self.graph.broadcast(node, rows * columns) } else { node };
            matrices.push(Matrix::new(node, rows, columns));
        }
        self.last_normal = match (row.name, &matrices[..]) {
            ("multi_normal" | "multi_normal_cholesky", &[variate, location, scale]) => {
                let is_factor = row.name == "multi_normal_cholesky";
                let (scale, columns) = (scale.node, scale.columns);
                let scale = if is_factor { scale } else { self.graph.cholesky(scale, columns) };
                Some(([variate.node, location.node, scale], NormalKind::Joint(columns)))
            }
            _ => None,
        };
        let terms = self.graph.joint_density_terms(row, &matrices, laned || is_each);
        let terms = terms.or_else(|error| wrong(a.span, error.to_string()))?;
        let total = self.kept(terms, a.drops);
        if is_each {
            return Ok(self.whole(total, SharedSizes { ty: StanType::VECTOR, dims, laned }));
        }
        if !laned {
            return Ok(self.made(total, StanType::REAL, Vec::new()));
        }
        let shared = SharedSizes { ty: StanType::VECTOR, dims: vec![many], laned };
        let whole = self.whole(total, shared);
        Ok(self.sum_of(&whole))
    }

    /// The density of a variate given x beta, with an intercept.
    fn density_of_predictor(&mut self, density: &str, place: usize, has_intercept: bool, a: &Arguments) -> Run<Value> {
        let coefficients = place + 1 + usize::from(has_intercept);
        let typed = |me: &Self, k: usize| me.tensor(&a.values[k]).with_type(a.types[k]);
        let (x, beta) = (typed(self, place), typed(self, coefficients));
        let mut eta = self.product(&x, &beta, a.span)?;
        if has_intercept {
            let mut alpha = self.tensor(&a.values[place + 1]);
            // One intercept for each category: the same in all rows.
            if let &[rows, columns] = &eta.dims[..]
                && alpha.count() == columns
            {
                let places = (0..rows * columns).map(|k| (k % columns) as u32).collect();
                let elements = self.pick(&alpha.elements, places);
                alpha = Tensor { elements, ..eta.clone() };
            }
            eta = self.add(&eta, &alpha, a.span)?;
        }
        let mut values = a.values[..place].to_vec();
        let mut types = a.types[..place].to_vec();
        types.push(eta.ty);
        values.push(eta.into());
        values.extend_from_slice(&a.values[coefficients + 1..]);
        types.extend_from_slice(&a.types[coefficients + 1..]);
        self.library_function(density, Arguments { values, types, ty: a.ty, drops: a.drops, span: a.span })
    }

    /// Takes away the logarithm of the probability between the bounds; outside of them the density is 0.
    pub(super) fn truncation(&mut self, tilde: &Tilde, span: Span) -> Run<()> {
        let name = &tilde.density.name;
        let base = SUFFIXES.iter().find_map(|(suffix, _)| name.strip_suffix(suffix)).unwrap_or(name);
        let Some(row) = Distribution::named(base).filter(|row| row.has_tails()) else {
            return wrong(span, format!("`{base}` cannot be truncated yet"));
        };
        let mut values = Vec::new();
        for argument in &tilde.density.arguments {
            values.push(self.expression(argument)?);
        }
        let variate = self.tensor(&values[0]);
        let lower = tilde.lower.as_ref().map(|bound| self.expression(bound)).transpose()?;
        let upper = tilde.upper.as_ref().map(|bound| self.expression(bound)).transpose()?;
        for (bound, is_lower) in [(&lower, true), (&upper, false)] {
            let Some(bound) = bound else { continue };
            let bound = self.tensor(bound);
            let pair = if is_lower { [variate.clone(), bound] } else { [bound, variate.clone()] };
            let outside = self.apply(Op::Less, &pair, span)?;
            let (none, zero) = (Tensor::number(f64::NEG_INFINITY), Tensor::number(0.0));
            let term = self.apply(Op::Select, &[outside, none, zero], span)?;
            if term.known().is_none_or(|values| values.iter().any(|x| *x != 0.0)) {
                self.add_to_target(&term);
            }
        }
        let mut at = |me: &mut Self, bound: Tensor, tail: Tail| {
            values[0] = bound.into();
            me.log_tail(row, tail, &values, span)
        };
        // Up to the count before a lower bound, which is included itself.
        let before = if row.is_of_counts() { -1.0 } else { 0.0 };
        let lower = match lower {
            Some(bound) => {
                let bound = self.tensor(&bound);
                Some(self.add(&bound, &Tensor::number(before), span)?)
            }
            None => None,
        };
        let log = match (lower, upper) {
            (Some(lower), None) => at(self, lower, Tail::Above)?,
            (None, Some(upper)) => {
                let upper = self.tensor(&upper);
                at(self, upper, Tail::Below)?
            }
            (Some(lower), Some(upper)) => {
                let upper = self.tensor(&upper);
                let (below, above) = (at(self, lower, Tail::Below)?, at(self, upper, Tail::Below)?);
                // ln(e^above - e^below)
                let difference = self.sub(&below, &above, span)?;
                let rest = self.apply(Op::Ln1mExp, &[difference], span)?;
                self.add(&above, &rest, span)?
            }
            (None, None) => return Ok(()),
        };
        // Parameters may be scalars while there are many variates.
        let factor = if log.is_scalar() { -(variate.count() as f64) } else { -1.0 };
        let scaled = self.mul(&log, &Tensor::number(factor), span)?;
        self.add_to_target(&scaled);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::density;

    /// What Stan has and we have not, by name.
    const MISSING: [&str; 9] = [
        "gaussian_dlm_obs_lpdf",
        "lkj_cov_lpdf",
        "skew_normal_cdf",
        "skew_normal_lccdf",
        "skew_normal_lcdf",
        "von_mises_cdf",
        "von_mises_lccdf",
        "von_mises_lcdf",
        "wiener_lpdf",
    ];

    #[test]
    fn distributions_of_stan_are_there_but_for_a_few() {
        let table = include_str!("../../../stan/src/signatures.txt");
        let mut missing = Vec::new();
        for line in table.lines().filter(|line| !line.starts_with('#')) {
            let Some((names, forms)) = line.split_once(": ") else { continue };
            let suffixes = forms.split(" (").next().unwrap_or_default().split(' ');
            for suffix in suffixes.filter(|suffix| ["lpdf", "lpmf", "cdf", "lcdf", "lccdf"].contains(suffix)) {
                let all = names.split(' ').map(|name| format!("{name}_{suffix}"));
                missing.extend(all.filter(|name| density(name).is_none()));
            }
        }
        missing.sort();
        assert_eq!(missing, MISSING);
    }
}
