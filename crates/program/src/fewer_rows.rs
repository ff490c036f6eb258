//! Sums of squares over fewer rows: what the data of many rows say of a linear predictor, a few rows say as well.
//!
//! The likelihood of a normal regression is a sum of squares of `sum of d_ij s_j`, in which data `d` (predictors, ones, the
//! observations themselves) meet scalars `s` (coefficients, the level of the row's group). Over rows with the same scalars it
//! is the squared length of `D s`, which `R s` has as well, by the QR decomposition `D = Q R`: as many rows as there are
//! scalars take the place of the data (Golub and Van Loan, Matrix Computations, section 5.3). Nothing cancels that did not
//! before, as it would with sums of squares and products. In the triangle of a group only the first rows have its own
//! scalars; what is left of all groups, in which only the scalars of everybody stand, becomes one more triangle. So a
//! regression costs the same with any number of observations, and a hierarchy with any number in each group.

use crate::graph::{Graph, Node, NodeId};
use crate::operation::Op;
use std::collections::HashMap;
use std::sync::Arc;

/// Fewer rows than these cost less than what it takes to find out.
const FEWEST: usize = 8;
/// The most terms of a row.
const MOST_TERMS: usize = 128;
/// The most numbers of all terms, and the most multiplications of a decomposition: more take longer than a second.
const MOST_NUMBERS: usize = 1 << 25;
const MOST_WORK: usize = 1 << 30;

impl Graph {
    /// Returns the node with the sums of squares in it that need not have all of their rows over fewer: the same value but for
    /// rounding.
    pub fn with_fewer_rows(&mut self, target: NodeId) -> NodeId {
        let needed = self.needed(&[target]);
        let mut instead = HashMap::new();
        for id in (0..needed.len()).filter(|&id| needed[id]) {
            let Node::Sum(square) = self.nodes[id] else { continue };
            if let Node::Map(Op::Mul, [a, b, _]) = self.nodes[square.at()]
                && a == b
                && let Some(sum) = self.over_fewer_rows(a)
            {
                instead.insert(NodeId(id as u32), sum);
            }
        }
        if instead.is_empty() {
            return target;
        }
        self.substituted(&instead, &[target]).map_or(target, |roots| roots[0])
    }

    /// Returns the sum of the squares of a vector over fewer rows; `None` where it is not linear, or little is won.
    fn over_fewer_rows(&mut self, vector: NodeId) -> Option<NodeId> {
        let rows = self.len(vector);
        if rows < FEWEST {
            return None;
        }
        let (linear, divisor) = match self.nodes[vector.at()] {
            Node::Map(Op::Div, [linear, divisor, _]) if self.active[divisor.at()] => (linear, Some(divisor)),
            _ => (vector, None),
        };
        let mut terms = LinearTerms { rows, all: Vec::new() };
        terms.add(self, linear, &Coefficient::Same(1.0))?;
        // Gathers first, 1 last: below its own row a term has no part in a triangle.
        terms.all.sort_by_key(|(factor, _)| factor.order());
        let of_divisor = match divisor {
            Some(divisor) => Some(Factor::of(self, divisor)?),
            None => None,
        };
        let indices = indices(terms.all.iter().map(|(factor, _)| *factor).chain(of_divisor));
        let groups = self.groups(&indices, rows);
        let width = terms.all.len();
        // Rows without a gather, which are divided by a scalar, are of no group any more.
        let is_pooled = !matches!(of_divisor, Some(Factor::Gather(..)));
        let gathers = terms.all.iter().filter(|(factor, _)| factor.order() == 0).count();
        let own = if is_pooled { gathers } else { width };
        let kept: usize = groups.iter().map(|group| group.len().min(own)).sum();
        if 2 * (kept + width - own) > rows || rows.saturating_mul(width * width) > MOST_WORK {
            return None;
        }
        let mut columns = vec![Vec::with_capacity(kept); width];
        let mut pool = vec![Vec::new(); width - own];
        // The row of the data that a kept row stands for: the first of its group.
        let mut stand_for = Vec::with_capacity(kept);
        for group in &groups {
            let matrix: Vec<Vec<f64>> = terms
                .all
                .iter()
                .map(|(_, column)| group.iter().map(|&row| column.at(row as usize)).collect())
                .collect();
            if matrix.iter().flatten().any(|x| !x.is_finite()) {
                return None;
            }
            let triangle = if own == 0 { matrix } else { triangle(matrix) };
            let of_group = triangle[0].len().min(own);
            stand_for.extend(std::iter::repeat_n(group[0], of_group));
            columns.iter_mut().zip(&triangle).for_each(|(column, more)| column.extend(&more[..of_group]));
            pool.iter_mut().zip(&triangle[own..]).for_each(|(column, more)| column.extend(&more[of_group..]));
        }
        let mut shorter: HashMap<u32, Arc<[u32]>> = HashMap::new();
        for index in indices {
            let whole = &self.indexes[index as usize].rows;
            shorter.insert(index, stand_for.iter().map(|&row| whole[row as usize]).collect());
        }
        let factors: Vec<Factor> = terms.all.iter().map(|(factor, _)| *factor).collect();
        let grouped = self.squares(&factors, columns, of_divisor, &shorter);
        let pooled =
            if pool.is_empty() { None } else { self.squares(&factors[own..], triangle(pool), of_divisor, &shorter) };
        match (grouped, pooled) {
            (Some(a), Some(b)) => Some(self.add(a, b)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the sum of the squares of terms, each a factor times its column, over a divisor; `None` without rows.
    fn squares(
        &mut self,
        factors: &[Factor],
        columns: Vec<Vec<f64>>,
        divisor: Option<Factor>,
        shorter: &HashMap<u32, Arc<[u32]>>,
    ) -> Option<NodeId> {
        let rows = columns.first()?.len();
        if rows == 0 {
            return None;
        }
        let mut sum = None;
        for (&factor, column) in factors.iter().zip(columns) {
            // Groups of one size have one coefficient.
            let is_same = column.iter().all(|x| x.to_bits() == column[0].to_bits());
            let column = if is_same { self.constant(column[0]) } else { self.column(column) };
            let term = match self.factor(factor, shorter) {
                Some(factor) => self.mul(column, factor),
                None => column,
            };
            sum = Some(sum.map_or(term, |sum| self.add(sum, term)));
        }
        let mut made = self.broadcast(sum?, rows);
        if let Some(divisor) = divisor.and_then(|factor| self.factor(factor, shorter)) {
            made = self.div(made, divisor);
        }
        let square = self.square(made);
        Some(self.sum(square))
    }

    /// Returns a factor for the rows that are kept; none for 1.
    fn factor(&mut self, factor: Factor, shorter: &HashMap<u32, Arc<[u32]>>) -> Option<NodeId> {
        match factor {
            Factor::One => None,
            Factor::Scalar(scalar) => Some(scalar),
            Factor::Gather(source, index) => Some(self.gather(source, shorter[&index].clone())),
        }
    }

    /// Returns the rows that have the same value of each of these indices, group by group in the order of their first rows.
    fn groups(&self, indices: &[u32], rows: usize) -> Vec<Vec<u32>> {
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for row in 0..rows {
            let key = indices.iter().map(|&index| self.indexes[index as usize].rows[row]).collect();
            let place = *places.entry(key).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(row as u32);
        }
        groups
    }
}

/// What data are multiplied by in a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    One,
    Scalar(NodeId),
    /// Elements of a vector, by an index of each row.
    Gather(NodeId, u32),
}

impl Factor {
    /// Gathers come before scalars, and 1 is last.
    fn order(self) -> u8 {
        match self {
            Self::Gather(..) => 0,
            Self::Scalar(_) => 1,
            Self::One => 2,
        }
    }

    /// Returns what a node is as a factor of rows, if it is one.
    fn of(graph: &Graph, node: NodeId) -> Option<Self> {
        match graph.nodes[node.at()] {
            _ if graph.len(node) == 1 => Some(Self::Scalar(node)),
            Node::Gather(source, index) => Some(Self::Gather(source, index)),
            _ => None,
        }
    }
}

/// The indices of all gathers, each once.
fn indices(factors: impl Iterator<Item = Factor>) -> Vec<u32> {
    let mut all: Vec<u32> =
        factors.filter_map(|factor| if let Factor::Gather(_, index) = factor { Some(index) } else { None }).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The data of a term.
#[derive(Clone, Debug, PartialEq)]
enum Coefficient {
    /// The same number in each row.
    Same(f64),
    /// One number for each row.
    Rows(Vec<f64>),
}

impl Coefficient {
    fn at(&self, row: usize) -> f64 {
        match self {
            Self::Same(x) => *x,
            Self::Rows(rows) => rows[row],
        }
    }

    fn with(&self, other: &Self, rows: usize, of: impl Fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Self::Same(a), Self::Same(b)) => Self::Same(of(*a, *b)),
            _ => Self::Rows((0..rows).map(|row| of(self.at(row), other.at(row))).collect()),
        }
    }
}

/// A vector as a sum of terms, each data times a factor.
struct LinearTerms {
    rows: usize,
    all: Vec<(Factor, Coefficient)>,
}

impl LinearTerms {
    /// Adds a node times a coefficient; `None` where it is not linear in scalars and gathers, or too large.
    fn add(&mut self, graph: &mut Graph, node: NodeId, by: &Coefficient) -> Option<()> {
        let data = |graph: &Graph, node: NodeId| {
            let known = graph.known(node).filter(|_| !graph.active[node.at()])?;
            Some(if let [x] = known[..] { Coefficient::Same(x) } else { Coefficient::Rows(known) })
        };
        if let Some(data) = data(graph, node) {
            return self.put(Factor::One, by.with(&data, self.rows, |a, b| a * b));
        }
        if let Some(factor) = Factor::of(graph, node) {
            return self.put(factor, by.clone());
        }
        let Node::Map(op, [a, b, _]) = graph.nodes[node.at()] else { return None };
        let minus = |by: &Coefficient, rows| by.with(&Coefficient::Same(-1.0), rows, |a, b| a * b);
        match op {
            Op::Neg => self.add(graph, a, &minus(by, self.rows)),
            Op::Add | Op::Sub => {
                self.add(graph, a, by)?;
                let by_b = if op == Op::Add { by.clone() } else { minus(by, self.rows) };
                self.add(graph, b, &by_b)
            }
            Op::Mul => match (data(graph, a), data(graph, b)) {
                (Some(data), _) => self.add(graph, b, &by.with(&data, self.rows, |a, b| a * b)),
                (_, Some(data)) => self.add(graph, a, &by.with(&data, self.rows, |a, b| a * b)),
                _ if graph.len(a) == 1 => self.add_scaled(graph, Op::Mul, (b, a), by),
                _ if graph.len(b) == 1 => self.add_scaled(graph, Op::Mul, (a, b), by),
                _ => None,
            },
            Op::Div => match data(graph, b) {
                Some(data) => self.add(graph, a, &by.with(&data, self.rows, |a, b| a / b)),
                None if graph.len(b) == 1 => self.add_scaled(graph, Op::Div, (a, b), by),
                None => None,
            },
            _ => None,
        }
    }

    /// Adds a vector times, or over, a scalar that is no data.
    fn add_scaled(
        &mut self,
        graph: &mut Graph,
        op: Op,
        (vector, scalar): (NodeId, NodeId),
        by: &Coefficient,
    ) -> Option<()> {
        let mut inner = Self { rows: self.rows, all: Vec::new() };
        inner.add(graph, vector, by)?;
        for (factor, coefficient) in inner.all {
            let factor = match factor {
                Factor::One => {
                    let one = graph.constant(1.0);
                    Factor::Scalar(graph.apply(op, &[one, scalar]))
                }
                Factor::Scalar(own) => Factor::Scalar(graph.apply(op, &[own, scalar])),
                Factor::Gather(source, index) => Factor::Gather(graph.apply(op, &[source, scalar]), index),
            };
            self.put(factor, coefficient)?;
        }
        Some(())
    }

    fn put(&mut self, factor: Factor, coefficient: Coefficient) -> Option<()> {
        match self.all.iter_mut().find(|(own, _)| *own == factor) {
            Some((_, own)) => *own = own.with(&coefficient, self.rows, |a, b| a + b),
            None => self.all.push((factor, coefficient)),
        }
        (self.all.len() <= MOST_TERMS && self.all.len() * self.rows <= MOST_NUMBERS).then_some(())
    }
}

/// Returns the triangle R of the QR decomposition of a matrix by its columns, by Householder's reflections (Golub and Van
/// Loan, algorithm 5.2.1): as many rows as columns, or as the matrix has if these are fewer.
fn triangle(mut columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let (rows, width) = (columns[0].len(), columns.len());
    for pivot in 0..width.min(rows.saturating_sub(1)) {
        let (done, rest) = columns.split_at_mut(pivot + 1);
        let own = &mut done[pivot][pivot..];
        let tail: f64 = own[1..].iter().map(|x| x * x).sum();
        if tail == 0.0 {
            continue;
        }
        let length = (own[0] * own[0] + tail).sqrt();
        // The sign is such that nothing cancels.
        let diagonal = if own[0] > 0.0 { -length } else { length };
        own[0] -= diagonal;
        let squares = own[0] * own[0] + tail;
        for column in rest {
            let other = &mut column[pivot..];
            let product: f64 = own.iter().zip(&*other).map(|(a, b)| a * b).sum();
            let share = 2.0 * product / squares;
            other.iter_mut().zip(&*own).for_each(|(x, v)| *x -= share * v);
        }
        own.fill(0.0);
        own[0] = diagonal;
    }
    columns.iter_mut().for_each(|column| column.truncate(width));
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plain::evaluate;
    use crate::program::Program;

    /// Numbers without a pattern, between -1 and 1.
    fn scattered(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    /// Holds the target over fewer rows to the whole one, and the compiled gradient to finite differences of the whole one.
    fn same_over(graph: &Graph, target: NodeId, rows: &[usize]) {
        let mut shorter = graph.clone();
        let fewer = shorter.with_fewer_rows(target);
        let position: Vec<f64> = scattered(graph.dim(), 5).iter().map(|x| 0.7 * x).collect();
        let whole = |x: &[f64]| evaluate(graph, &[target], x)[0][0];
        let value = evaluate(&shorter, &[fewer], &position)[0][0];
        let expected = whole(&position);
        assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{value} is not {expected}");
        let program = Program::compile(graph, target).unwrap();
        let loops: Vec<usize> = program.loops().into_iter().map(|(rows, _)| rows).collect();
        assert_eq!(loops, rows);
        let mut gradient = vec![0.0; graph.dim()];
        program.logp_grad(&mut program.workspace(), &position, &mut gradient).unwrap();
        for (k, slope) in gradient.iter().enumerate() {
            let at = |h: f64| {
                let mut moved = position.clone();
                moved[k] += h;
                whole(&moved)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - expected).abs() < 1e-6 * expected.abs().max(1.0), "{k}: {slope} is not {expected}");
        }
    }

    /// The sum of squares of `(y - mean) / sigma`.
    fn squares(graph: &mut Graph, y: NodeId, mean: NodeId, sigma: NodeId) -> NodeId {
        let miss = graph.sub(y, mean);
        let z = graph.div(miss, sigma);
        let square = graph.square(z);
        let sum = graph.sum(square);
        let half = graph.constant(-0.5);
        graph.mul(half, sum)
    }

    #[test]
    fn a_regression_has_as_many_rows_as_terms() {
        let mut graph = Graph::new();
        let (a, b, c, log_sigma) = (graph.parameter(1), graph.parameter(1), graph.parameter(1), graph.parameter(1));
        let x = graph.column(scattered(300, 1));
        let y = graph.column(scattered(300, 2));
        let (slope, square) = (graph.mul(b, x), graph.square(x));
        let (bend, level) = (graph.mul(square, c), graph.neg(a));
        let mean = graph.add(slope, bend);
        let mean = graph.sub(mean, level);
        let sigma = graph.exp(log_sigma);
        let target = squares(&mut graph, y, mean, sigma);
        same_over(&graph, target, &[4]);
    }

    #[test]
    fn weights_of_rows_and_a_scalar_factor_of_everything_are_kept() {
        let mut graph = Graph::new();
        let (a, b, scale) = (graph.parameter(1), graph.parameter(1), graph.parameter(1));
        let x = graph.column(scattered(50, 1));
        let errors = graph.column(scattered(50, 3).iter().map(|e| 1.5 + e).collect::<Vec<f64>>());
        let y = graph.column(scattered(50, 2));
        let slope = graph.mul(b, x);
        let line = graph.add(a, slope);
        let mean = graph.mul(scale, line);
        let miss = graph.sub(y, mean);
        let z = graph.div(miss, errors);
        let square = graph.square(z);
        let target = graph.sum(square);
        same_over(&graph, target, &[3]);
    }

    /// Groups of 1, 2, 5, 20 and 30 rows, in turns: each has one row with its level, and two are left for the slope and the
    /// data of all. With a spread of its own a group has a row for each of the three.
    #[test]
    fn a_hierarchy_has_few_rows_of_each_group() {
        let sizes = [1, 2, 5, 20, 30];
        let group: Vec<u32> = (0..30).flat_map(|turn| (0..5).filter(move |&g| turn < sizes[g as usize])).collect();
        let rows = group.len();
        for spread_by_group in [false, true] {
            let mut graph = Graph::new();
            let (level, slope, log_sigma) = (graph.parameter(5), graph.parameter(1), graph.parameter(5));
            let x = graph.column(scattered(rows, 1));
            let y = graph.column(scattered(rows, 2));
            let index: Arc<[u32]> = group.clone().into();
            let own = graph.gather(level, index.clone());
            let rise = graph.mul(slope, x);
            let mean = graph.add(own, rise);
            let sigma = graph.exp(log_sigma);
            let sigma = if spread_by_group { graph.gather(sigma, index) } else { graph.element(sigma, 2) };
            let target = squares(&mut graph, y, mean, sigma);
            same_over(&graph, target, if spread_by_group { &[5, 12, 5] } else { &[2, 5, 5, 5] });
        }
    }

    #[test]
    fn two_groupings_are_kept_apart() {
        let mut graph = Graph::new();
        let (first, second) = (graph.parameter(2), graph.parameter(3));
        let y = graph.column(scattered(120, 2));
        let by = |of: u32| -> Arc<[u32]> { (0..120).map(|row| row / of % if of == 1 { 2 } else { 3 }).collect() };
        let (a, b) = (graph.gather(first, by(1)), graph.gather(second, by(2)));
        let mean = graph.add(a, b);
        let one = graph.parameter(1);
        let target = squares(&mut graph, y, mean, one);
        // Six pairs of groups, three terms each.
        let mut shorter = graph.clone();
        let fewer = shorter.with_fewer_rows(target);
        assert_ne!(fewer, target);
        let position = scattered(6, 9);
        let (value, expected) =
            (evaluate(&shorter, &[fewer], &position)[0][0], evaluate(&graph, &[target], &position)[0][0]);
        assert!((value / expected - 1.0).abs() < 1e-13, "{value} is not {expected}");
    }

    #[test]
    fn what_is_not_linear_or_wins_little_stays() {
        let mut graph = Graph::new();
        let (a, long) = (graph.parameter(1), graph.parameter(40));
        let x = graph.column(scattered(40, 1));
        let y = graph.column(scattered(40, 2));
        let one = graph.constant(1.0);
        let product = graph.mul(a, x);
        let bent = graph.exp(product);
        let index: Vec<u32> = (0..40).map(|row| row / 2).collect();
        let of_two = graph.gather(long, index);
        let short = graph.column(scattered(7, 1));
        let of_seven = graph.mul(a, short);
        for mean in [bent, long, of_two] {
            let target = squares(&mut graph, y, mean, one);
            assert_eq!(graph.with_fewer_rows(target), target);
        }
        let square = graph.square(of_seven);
        let target = graph.sum(square);
        assert_eq!(graph.with_fewer_rows(target), target, "seven rows");
        let infinite = graph.column(vec![f64::INFINITY; 40]);
        let rise = graph.mul(a, x);
        let target = squares(&mut graph, infinite, rise, one);
        assert_eq!(graph.with_fewer_rows(target), target);
    }

    /// Observations of a million and more, whose noise is of the order of 1: a sum of squares less a square would have lost
    /// twelve digits.
    #[test]
    fn large_numbers_cancel_no_more_than_before() {
        let mut graph = Graph::new();
        let (a, b) = (graph.parameter(1), graph.parameter(1));
        let noise = scattered(1000, 2);
        let x: Vec<f64> = (0..1000).map(|i| 1e3 + f64::from(i)).collect();
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, e)| 1e6 + 3.0 * x + e).collect();
        let (x, y) = (graph.column(x), graph.column(y));
        let rise = graph.mul(b, x);
        let mean = graph.add(a, rise);
        let miss = graph.sub(y, mean);
        let square = graph.square(miss);
        let target = graph.sum(square);
        let mut shorter = graph.clone();
        let fewer = shorter.with_fewer_rows(target);
        let exact: f64 = noise.iter().map(|e| e * e).sum();
        let value = evaluate(&shorter, &[fewer], &[1e6, 3.0])[0][0];
        assert!((value / exact - 1.0).abs() < 1e-8, "{value} is not {exact}");
    }

    #[test]
    fn a_triangle_has_the_lengths_of_the_matrix() {
        for (rows, width) in [(5, 5), (6, 5), (40, 3), (9, 1), (2, 4), (1, 3)] {
            let columns: Vec<Vec<f64>> = (0..width).map(|k| scattered(rows, k + 1)).collect();
            let triangle = triangle(columns.clone());
            assert_eq!(triangle[0].len(), rows.min(width as usize));
            let s = scattered(width as usize, 77);
            let squares = |columns: &[Vec<f64>]| -> f64 {
                let row = |i: usize| columns.iter().zip(&s).map(|(column, s)| column[i] * s).sum::<f64>();
                (0..columns[0].len()).map(|i| row(i).powi(2)).sum()
            };
            let (found, expected) = (squares(&triangle), squares(&columns));
            assert!((found / expected - 1.0).abs() < 1e-13, "{rows} x {width}: {found} is not {expected}");
        }
        // A column of zeros, and one that others make up: no number is NaN.
        let triangle = triangle(vec![vec![0.0; 9], scattered(9, 1), scattered(9, 1)]);
        assert!(triangle.iter().flatten().all(|x| x.is_finite()));
    }
}
