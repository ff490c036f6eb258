//! The columns of a Parquet part (chain, draw, statistics of the sampler), and how a draw fills them.

use crate::RunError;
use octopus_density::Layout;
use octopus_sampler::{DrawStats, ReadStatistic};
use octopus_trace::Values;
use std::collections::HashSet;

/// The number of the chain, from 0.
pub(crate) const CHAIN: &str = "chain";
/// The number of the draw within its chain and phase, from 0.
pub(crate) const DRAW: &str = "draw";
/// The position in the sampler's unconstrained coordinates.
pub(crate) const UNCONSTRAINED: &str = "unconstrained";

/// Returns a statistic of many draws.
pub(crate) fn values(read: ReadStatistic, stats: &[DrawStats]) -> Values {
    match read {
        ReadStatistic::Real(read) => Values::F64(stats.iter().map(read).collect()),
        ReadStatistic::Count(read) => Values::I64(stats.iter().map(read).collect()),
        ReadStatistic::Flag(read) => Values::Bool(stats.iter().map(read).collect()),
    }
}

/// Checks that the model's names can stand beside the columns and axes that every run folder has.
///
/// # Errors
/// [`RunError::Name`] for the first one that cannot.
pub fn check_names(layout: &Layout) -> Result<(), RunError> {
    let fail = |name: &str, why| Err(RunError::Name { name: name.to_owned(), why });
    let mut seen = HashSet::new();
    for variable in &layout.variables {
        let name = variable.name.as_str();
        if name.is_empty() || name.contains('/') {
            return fail(name, "is empty or contains `/`");
        }
        if [CHAIN, DRAW, UNCONSTRAINED].contains(&name) || DrawStats::ALL.iter().any(|(stat, _)| *stat == name) {
            return fail(name, "is the name of a column of the run folder");
        }
        if !seen.insert(name) {
            return fail(name, "occurs twice");
        }
        let mut dims = HashSet::new();
        for dim in &variable.dims {
            let name = dim.name.as_str();
            if name.is_empty() || name.contains('/') {
                return fail(name, "is empty or contains `/`");
            }
            if name == CHAIN || name == DRAW {
                return fail(name, "is an axis of every trace");
            }
            if !dims.insert(name) {
                return fail(name, "occurs twice in one variable");
            }
            let same = |other: &octopus_density::Dim| other.name != dim.name || other.labels == dim.labels;
            if !layout.variables.iter().flat_map(|variable| &variable.dims).all(same) {
                return fail(name, "has different labels in different variables");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{Dim, Labels, Role, Variable};
    use octopus_trace::StatisticKind;

    /// The table of names and types, and what a draw has.
    #[test]
    fn statistics_are_of_the_table() {
        let kind = |read: &ReadStatistic| match read {
            ReadStatistic::Real(_) => StatisticKind::Real,
            ReadStatistic::Count(_) => StatisticKind::Count,
            ReadStatistic::Flag(_) => StatisticKind::Flag,
        };
        let of_draws: Vec<_> = DrawStats::ALL.iter().map(|(name, read)| (*name, kind(read))).collect();
        assert_eq!(of_draws, octopus_trace::STATISTICS.map(|statistic| (statistic.name, statistic.kind)));
    }

    #[test]
    fn clashing_names_are_refused() {
        let variable = |name: &str, dims: &[(&str, usize)]| Variable {
            name: name.into(),
            dims: dims.iter().map(|&(name, n)| Dim { name: name.into(), labels: Labels::Range(n) }).collect(),
            role: Role::Derived,
        };
        let check = |variables: &[Variable]| check_names(&Layout { variables: variables.to_vec() });
        check(&[variable("a", &[("g", 2)]), variable("b", &[("g", 2)])]).unwrap();
        for bad in [
            vec![variable("lp", &[])],
            vec![variable("draw", &[])],
            vec![variable("", &[])],
            vec![variable("a/b", &[])],
            vec![variable("a", &[]), variable("a", &[])],
            vec![variable("a", &[("", 2)])],
            vec![variable("a", &[("g/h", 2)])],
            vec![variable("a", &[("chain", 2)])],
            vec![variable("a", &[("draw", 2)])],
            vec![variable("a", &[("g", 2), ("g", 2)])],
            vec![variable("a", &[("g", 2)]), variable("b", &[("g", 3)])],
        ] {
            assert!(matches!(check(&bad), Err(RunError::Name { .. })), "{bad:?}");
        }
    }
}
