//! The table of distributions of one number: names as in Stan, arguments with their domains, the terms of the log density,
//! and the probabilities of the tails.
//!
//! Terms that depend on no parameter may be left out, as Stan's `~` leaves them out: so a row gives them one by one.
//! Where the variate is outside of the support, a density is 0 (its logarithm minus infinity) or the arguments are refused,
//! whichever Stan does.
//!
//! | rows | where |
//! |--|--|
//! | on all numbers | `real_line.rs` |
//! | on positive numbers | `half_line.rs` |
//! | on intervals and circles | `interval.rs` |
//! | of counts | `counts.rs` |
//! | of vectors and matrices | `joint.rs` |
//!
//! To add a row, write it there and its reference values in `tests/data/make_distributions.py`; the test fails until both are there.

mod argument;
mod counts;
mod half_line;
mod incomplete;
mod interval;
mod joint;
mod real_line;
mod symbol;
mod tail;

pub use argument::{Argument, Must};
pub use joint::{JointArgument, JointDistribution, JointShape};
pub use tail::Tail;

use crate::error::ProgramError;
use crate::graph::{Graph, NodeId};
use symbol::Symbol;

/// Makes nodes of an argument list, the variate first.
type Terms = for<'a> fn(&[Symbol<'a>]) -> Vec<Symbol<'a>>;

/// A distribution of one number: a row of the table.
pub struct Distribution {
    /// The name, as in Stan.
    pub name: &'static str,
    /// The arguments, the variate first.
    pub arguments: &'static [Argument],
    /// Terms of the log density, which sum to it.
    terms: Terms,
    tails: tail::Tails,
}

impl std::fmt::Debug for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! is_data {
    () => {
        false
    };
    (data) => {
        true
    };
}

/// A function of an argument list.
macro_rules! of_arguments {
    ($($arg:ident),+; $made:expr) => {
        |args| match *args {
            [$($arg),+] => {
                $(let _ = $arg;)+
                $made
            }
            _ => Vec::new(),
        }
    };
}

/// A row: name, arguments with their domains, terms, and logarithms of the probabilities up to the variate and beyond it.
macro_rules! row {
    ($name:ident $args:tt = [$($term:expr),+ $(,)?] $($rest:tt)*) => {
        row!($name $args = vec![$($term),+] $($rest)*)
    };
    ($name:ident $args:tt = $terms:expr) => {
        row!($name $args = $terms; tails crate::distribution::tail::Tails::None)
    };
    ($name:ident ($($arg:ident: $must:ident $($data:ident)?),+) = $terms:expr; below $below:expr, above $above:expr) => {
        row!($name ($($arg: $must $($data)?),+) = $terms; tails crate::distribution::tail::Tails::Formulas {
            below: of_arguments!($($arg),+; vec![$below]),
            above: of_arguments!($($arg),+; vec![$above]),
        })
    };
    ($name:ident ($($arg:ident: $must:ident $($data:ident)?),+) = $terms:expr; tails $tails:expr) => {
        crate::distribution::Distribution {
            name: stringify!($name),
            arguments: &[$(crate::distribution::Argument {
                name: stringify!($arg),
                must: crate::distribution::Must::$must,
                is_data: is_data!($($data)?),
            }),+],
            terms: of_arguments!($($arg),+; $terms),
            tails: $tails,
        }
    };
}
use {is_data, of_arguments, row};

impl Distribution {
    /// Returns all distributions of one number.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        [real_line::ROWS, half_line::ROWS, interval::ROWS, counts::ROWS].into_iter().flatten()
    }

    /// Returns the distribution of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|row| row.name == name)
    }

    /// Returns whether the variate is a whole number.
    pub fn is_of_counts(&self) -> bool {
        self.arguments[0].must.is_whole()
    }
}

impl Graph {
    /// Returns the terms of a log density: vectors with an element for each row, or numbers that serve every row. Its
    /// arguments have the variate first. Where they depend on parameters, a guard demands that they are in their domains.
    ///
    /// # Errors
    /// [`ProgramError`] where the count of arguments is wrong, or data are outside of their domain.
    pub fn density_terms(&mut self, distribution: &Distribution, args: &[NodeId]) -> Result<Vec<NodeId>, ProgramError> {
        self.check_arguments(distribution, args)?;
        Ok(self.formula(args, |args| (distribution.terms)(args).into_iter().map(Symbol::node).collect()))
    }

    /// Returns the log density of `distribution` summed over its rows, its variate first among `args`, without the terms that
    /// depend on no parameter. Arguments outside their domain are refused where they are data, and guarded where they
    /// depend on parameters.
    pub fn log_density(&mut self, distribution: &Distribution, args: &[NodeId]) -> NodeId {
        self.log_density_and_constant(distribution, args).0
    }

    /// The same, and the sum of what is left out.
    pub(crate) fn log_density_and_constant(&mut self, distribution: &Distribution, args: &[NodeId]) -> (NodeId, f64) {
        let rows = args.iter().map(|&arg| self.len(arg)).find(|&length| length != 1).unwrap_or(1);
        let terms = match self.density_terms(distribution, args) {
            Ok(terms) => terms,
            Err(error) => return (self.refuse(error), 0.0),
        };
        let kept = self.without_constants(terms.clone());
        let dropped = terms.iter().filter(|term| !kept.contains(term)).filter_map(|&term| self.known(term));
        // One number serves every row.
        let sum = |values: Vec<f64>| values.iter().sum::<f64>() * (rows / values.len().max(1)) as f64;
        let constant = dropped.map(sum).sum();
        let total = self.total(&kept);
        (self.sum_of_rows(total, rows), constant)
    }

    /// Returns the terms that depend on parameters, and those whose values are not finite: data outside of the support.
    pub fn without_constants(&self, mut terms: Vec<NodeId>) -> Vec<NodeId> {
        terms.retain(|&term| self.known(term).is_none_or(|values| values.iter().any(|x| !x.is_finite())));
        terms
    }

    /// Returns the sum of terms, 0 without any.
    pub fn total(&mut self, terms: &[NodeId]) -> NodeId {
        let Some((&first, rest)) = terms.split_first() else { return self.constant(0.0) };
        rest.iter().fold(first, |total, &term| self.add(total, term))
    }
}
