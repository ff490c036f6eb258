//! Distributions of vectors and matrices, and of categories with a vector of parameters.

mod categories;
mod matrices;
mod simplexes;

use super::argument::Must;
use super::symbol::Symbol;
use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use crate::matrix::Matrix;
use std::sync::Arc;

/// The shape of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointShape {
    /// One number.
    Number,
    /// A number for each variate, or one for all.
    Numbers,
    /// A vector for each variate, or one for all, as rows of a matrix.
    Vectors,
    /// A square matrix.
    Square,
}

impl JointShape {
    /// Returns how many dimensions a variate of this shape has.
    pub fn dimensions(self) -> usize {
        match self {
            Self::Number | Self::Numbers => 0,
            Self::Vectors => 1,
            Self::Square => 2,
        }
    }
}

/// An argument of a [`JointDistribution`].
#[derive(Clone, Copy, Debug)]
pub struct JointArgument {
    /// Its name in messages.
    pub name: &'static str,
    /// Its shape.
    pub shape: JointShape,
    /// The numbers that its elements may be.
    pub must: Must,
}

/// An argument as symbols: elements row by row.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) x: Symbol<'a>,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// How many variates there are, and whether each has a term of its own.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) apart: bool,
}

/// Terms of the log density; a reason where there are none.
type JointTerms = for<'a> fn(&[Block<'a>], Extent) -> Result<Vec<Symbol<'a>>, String>;

/// A distribution of vectors or matrices: a row of the table.
pub struct JointDistribution {
    /// The name, as in Stan.
    pub name: &'static str,
    /// The arguments, the variate first.
    pub arguments: &'static [JointArgument],
    terms: JointTerms,
}

impl std::fmt::Debug for JointDistribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A row: name, arguments with their shapes and domains, terms.
macro_rules! joint {
    ($name:ident ($($arg:ident: $shape:ident $must:ident),+), $extent:ident => $terms:expr) => {
        crate::distribution::joint::JointDistribution {
            name: stringify!($name),
            arguments: &[$(crate::distribution::joint::JointArgument {
                name: stringify!($arg),
                shape: crate::distribution::joint::JointShape::$shape,
                must: crate::distribution::Must::$must,
            }),+],
            terms: |args, $extent| match *args {
                [$($arg),+] => $terms,
                _ => Ok(Vec::new()),
            },
        }
    };
}
use joint;

impl<'a> Block<'a> {
    /// A row for each variate.
    pub(super) fn repeated(self, rows: usize) -> Self {
        if self.rows == rows {
            return self;
        }
        let n = self.columns;
        let places: Vec<u32> = (0..rows * n).map(|k| (k % n.max(1)) as u32).collect();
        Self { x: self.x.gather(&places.into()), rows, ..self }
    }

    pub(super) fn transposed(self) -> Self {
        let (rows, columns) = (self.rows, self.columns);
        if rows == 1 || columns == 1 {
            return Self { rows: columns, columns: rows, ..self };
        }
        let places: Vec<u32> = (0..rows * columns).map(|k| ((k % rows) * columns + k / rows) as u32).collect();
        Self { x: self.x.gather(&places.into()), rows: columns, columns: rows }
    }

    /// The columns, each with an element for each row.
    pub(super) fn each_column(self) -> Vec<Symbol<'a>> {
        (0..self.columns).map(|k| self.pick((0..self.rows).map(|row| row * self.columns + k))).collect()
    }

    /// Elements by their places.
    pub(super) fn pick(self, places: impl Iterator<Item = usize>) -> Symbol<'a> {
        let places: Arc<[u32]> = places.map(|place| place as u32).collect();
        self.x.gather(&places)
    }

    /// The sums of `x`, which has this block's shape, over each row.
    pub(super) fn row_sums(self, x: Symbol<'a>) -> Symbol<'a> {
        if self.rows == 1 {
            return x.sum();
        }
        let segments: Vec<u32> = (0..self.rows * self.columns).map(|k| (k / self.columns) as u32).collect();
        x.segment_sum(&segments.into(), self.rows)
    }

    pub(super) fn cholesky(self) -> Self {
        Self { x: self.x.cholesky(self.rows), ..self }
    }

    /// X with L X = `right`, L being this lower triangle.
    pub(super) fn solve(self, right: Self) -> Self {
        Self { x: self.x.solve(right.x, self.rows, right.columns), ..right }
    }

    /// The sum of the logarithms of the diagonal, each times its weight.
    pub(super) fn ln_diagonal(self, weight: impl Fn(usize) -> f64) -> Symbol<'a> {
        let logs = self.pick((0..self.rows).map(|k| k * self.columns + k)).ln();
        let weights: Vec<f64> = (0..self.rows).map(weight).collect();
        if weights.iter().all(|w| *w == 1.0) { logs.sum() } else { (logs.column(weights) * logs).sum() }
    }
}

impl Extent {
    /// The terms of all variates: as they are, or their sum; a number serves each of them.
    pub(super) fn each(self, x: Symbol<'_>) -> Symbol<'_> {
        if self.apart { x } else { x.sum_of_rows(self.rows) }
    }

    /// Terms of groups of variates, in the order of the variates.
    pub(super) fn grouped<'a>(self, groups: Vec<(Vec<usize>, Symbol<'a>)>) -> Option<Symbol<'a>> {
        let mut order = vec![0_u32; self.rows];
        let mut next = 0;
        let mut all: Option<Symbol<'a>> = None;
        for (rows, x) in groups {
            for &row in &rows {
                order[row] = next;
                next += 1;
            }
            let x = x.broadcast(rows.len());
            all = Some(match (all, self.apart) {
                (None, true) => x,
                (None, false) => x.sum(),
                (Some(all), true) => all.followed_by(x),
                (Some(all), false) => all + x.sum(),
            });
        }
        if self.apart { all.map(|all| all.gather(&order.into())) } else { all }
    }
}

impl JointDistribution {
    /// Returns all distributions of vectors, matrices and categories.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [matrices::ROWS, simplexes::ROWS, categories::ROWS].into_iter().flatten()
    }

    /// Returns the distribution of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|row| row.name == name)
    }
}

impl Graph {
    /// Returns the terms of a log density of vectors, matrices or categories, the variate first among the arguments.
    ///
    /// Arguments are matrices, row by row: numbers of 1 x 1, a column of numbers, vectors as rows, square matrices. With
    /// `apart`, terms have an element for each variate or serve each of them; else they are sums over all variates.
    ///
    /// # Errors
    /// [`ProgramError`] where arguments do not fit each other, or data are outside of their domain.
    pub fn joint_density_terms(
        &mut self,
        distribution: &JointDistribution,
        args: &[Matrix],
        apart: bool,
    ) -> Result<Vec<NodeId>, ProgramError> {
        let (name, arguments) = (distribution.name, distribution.arguments);
        let wrong = |reason: String| ProgramError::Joint { distribution: name, reason };
        if args.len() != arguments.len() {
            return Err(ProgramError::Arity { operation: name, expected: arguments.len(), found: args.len() });
        }
        let mut rows = 1;
        for (arg, argument) in args.iter().zip(arguments) {
            let is_in_rows = matches!(argument.shape, JointShape::Numbers | JointShape::Vectors);
            if is_in_rows && arg.rows != 1 {
                if rows != 1 && rows != arg.rows {
                    return Err(wrong(format!("{} has {} rows where {rows} are needed", argument.name, arg.rows)));
                }
                rows = arg.rows;
            }
            if argument.shape == JointShape::Square && arg.rows != arg.columns {
                return Err(wrong(format!("{} is {} x {}, no square matrix", argument.name, arg.rows, arg.columns)));
            }
            if self.len(arg.node) != arg.rows * arg.columns {
                let (operation, found) = (name, self.len(arg.node));
                return Err(ProgramError::Shape { operation, rows: arg.rows, columns: arg.columns, found });
            }
            let own = super::Argument { name: argument.name, must: argument.must, is_data: false };
            self.check_argument(name, &own, arg.node)?;
        }
        let nodes: Vec<NodeId> = args.iter().map(|arg| arg.node).collect();
        let terms = self.formula(&nodes, |symbols| {
            let blocks: Vec<Block<'_>> =
                symbols.iter().zip(args).map(|(&x, arg)| Block { x, rows: arg.rows, columns: arg.columns }).collect();
            let terms = (distribution.terms)(&blocks, Extent { rows, apart })?;
            Ok(terms.into_iter().map(Symbol::node).collect())
        });
        terms.map_err(wrong)
    }
}

/// Demands that arguments have equally long rows.
fn same_columns(blocks: &[Block<'_>]) -> Result<usize, String> {
    let n = blocks.first().map_or(0, |block| block.columns);
    match blocks.iter().find(|block| block.columns != n) {
        Some(other) => Err(format!("{n} and {} elements do not fit", other.columns)),
        None => Ok(n),
    }
}
