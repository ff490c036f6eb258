//! The errors in arrays given to this crate.

use thiserror::Error;

/// An input that no diagnostic is defined for.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DiagError {
    /// The number of values is not chains x draws.
    #[error(
        "{chains} chains of {draws} draws need {} values, {values} were given: pass the values row-major, chain after chain",
        .chains.saturating_mul(*.draws)
    )]
    Shape {
        /// Number of chains asked for.
        chains: usize,
        /// Draws of each chain asked for.
        draws: usize,
        /// Number of values given.
        values: usize,
    },
    /// There is no chain or no draw.
    #[error("{chains} chains of {draws} draws hold no value: at least one chain of one draw is needed")]
    Empty {
        /// Number of chains.
        chains: usize,
        /// Draws of each chain.
        draws: usize,
    },
    /// An element index beyond the width of a draw.
    #[error("element {element} of draws that are {width} wide: the index must be below the width")]
    Element {
        /// The index asked for.
        element: usize,
        /// The number of values in one draw.
        width: usize,
    },
    /// A probability outside its range.
    #[error("{name} = {value}: must be a probability, {expected}")]
    Probability {
        /// What the probability is for, e.g. `prob`.
        name: &'static str,
        /// The value given.
        value: f64,
        /// The range allowed.
        expected: &'static str,
    },
    /// Two probabilities that do not bound an interval.
    #[error("{name} from {low} to {high}: two probabilities are needed, 0 <= low < high <= 1")]
    Interval {
        /// What the interval is for.
        name: &'static str,
        /// The lower probability.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Too few points for a curve, or more than there are draws.
    #[error("a curve of {points} points over {draws} draws: at least 1 is needed, and no more than there are draws")]
    Points {
        /// The points asked for.
        points: usize,
        /// The draws of each chain.
        draws: usize,
    },
    /// Chains of different lengths.
    #[error(
        "chain {chain} has {found} draws, chain 0 has {expected}: cut all to the shortest (Chains::cut_to_shortest), or finish the run"
    )]
    Unequal {
        /// The chain that differs.
        chain: usize,
        /// The number of draws of that chain.
        found: usize,
        /// The draws of the first chain.
        expected: usize,
    },
    /// Arrays that belong together and differ in size.
    #[error("{what}: {found} values where {expected} are needed")]
    Size {
        /// What the values are, e.g. `chains of a chunk`.
        what: &'static str,
        /// The values found.
        found: usize,
        /// The values needed.
        expected: usize,
    },
    /// Models that cannot be compared.
    #[error("models cannot be compared: {what}")]
    Models {
        /// Why.
        what: String,
    },
    /// No rank, or no value that a rank may have.
    #[error("{ranks} ranks of {outcomes} possible values say nothing: at least one of each is needed")]
    Ranks {
        /// The number of ranks.
        ranks: u64,
        /// The values that a rank may have.
        outcomes: usize,
    },
    /// A rank that is too large.
    #[error("rank {rank} of {outcomes} possible values: it must be below their number")]
    Rank {
        /// The rank.
        rank: usize,
        /// The values that a rank may have.
        outcomes: usize,
    },
    /// Bins that do not divide the ranks evenly.
    #[error("{bins} bins of {outcomes} possible ranks are not equal: choose a divisor")]
    Bins {
        /// The number of bins.
        bins: usize,
        /// The values that a rank may have.
        outcomes: usize,
    },
    /// A number that must be positive.
    #[error("{name} = {value}: must be above 0")]
    Positive {
        /// What the number is, e.g. `reff`.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// A variable that a group does not have.
    #[error("there is no variable `{variable}`; there are: {}", .known.join(", "))]
    Variable {
        /// The name asked for.
        variable: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// A group with no variable or several, where one is meant and none named.
    #[error("name the variables that are meant; there are: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    Several {
        /// The names that there are.
        known: Vec<String>,
    },
    /// A group without variables.
    #[error("the posterior has no variable with values: nothing to summarise")]
    NoVariables,
    /// A variable without chains or draws.
    #[error("variable `{variable}` has dimensions ({}): `chain` and `draw` must be among them; rename the dimensions, or drop the variable", .dims.join(", "))]
    Dimensions {
        /// The variable's name.
        variable: String,
        /// The dimensions of the variable.
        dims: Vec<String>,
    },
    /// A variable whose number of values is not the product of its shape.
    #[error("variable `{variable}` has shape {shape:?} and {values} values: write it again, the array is damaged")]
    Values {
        /// The variable's name.
        variable: String,
        /// The shape of the variable.
        shape: Vec<usize>,
        /// Number of values found.
        values: usize,
    },
    /// Chains that cannot be grouped as asked.
    #[error("superchains: {what}; each chain needs one, and all must have equally many chains")]
    Superchains {
        /// The superchains that were given, in words.
        what: String,
    },
    /// Two posteriors without a number of the same name.
    #[error(
        "no parameter is in both: the first begins with `{first}`, the second with `{second}`; rename the variables of one"
    )]
    NothingInCommon {
        /// The first's first parameter.
        first: String,
        /// The second's first parameter.
        second: String,
    },
    /// Variables with different numbers of chains or draws.
    #[error(
        "variable `{variable}` has {} chains of {} draws, `{first}` has {} of {}: all variables of a group must agree",
        .found.0, .found.1, .expected.0, .expected.1
    )]
    Disagree {
        /// The variable that differs.
        variable: String,
        /// The variable that it is compared with.
        first: String,
        /// Chains and draws of `variable`.
        found: (usize, usize),
        /// Chains and draws of `first`.
        expected: (usize, usize),
    },
}

/// Checks that `value` lies strictly between 0 and 1.
pub(crate) fn open_probability(name: &'static str, value: f64) -> Result<(), DiagError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(DiagError::Probability { name, value, expected: "above 0 and below 1" })
    }
}

/// Checks that `low` and `high` are probabilities in order.
pub(crate) fn interval(name: &'static str, low: f64, high: f64) -> Result<(), DiagError> {
    // The upper end of the last of n equal parts may exceed 1 by its rounding.
    if low >= 0.0 && low < high && high <= 1.0 + f64::EPSILON {
        Ok(())
    } else {
        Err(DiagError::Interval { name, low, high })
    }
}

/// Checks that `value` lies above 0 and not above 1.
pub(crate) fn interval_probability(name: &'static str, value: f64) -> Result<(), DiagError> {
    if value > 0.0 && value <= 1.0 {
        Ok(())
    } else {
        Err(DiagError::Probability { name, value, expected: "above 0 and at most 1" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_lie_between_0_and_1_in_order() {
        for (low, high) in [(0.0, 1.0), (0.2, 0.3), (0.9, 1.0 + f64::EPSILON)] {
            assert_eq!(interval("here", low, high), Ok(()));
        }
        let nan = f64::NAN;
        for (low, high) in [(-0.1, 0.5), (0.5, 0.5), (0.6, 0.5), (0.5, 1.1), (nan, 0.5), (0.5, nan)] {
            assert!(matches!(interval("here", low, high), Err(DiagError::Interval { .. })), "{low} {high}");
        }
    }
}
