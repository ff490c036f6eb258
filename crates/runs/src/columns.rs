//! The columns of a Parquet part (chain, draw, statistics of the sampler), and how a draw fills them.

use crate::RunError;
use octopus_density::Layout;
use octopus_sampler::DrawStats;
use octopus_trace::Values;
use std::collections::HashSet;

/// The number of the chain, from 0.
pub(crate) const CHAIN: &str = "chain";
/// The number of the draw within its chain and phase, from 0.
pub(crate) const DRAW: &str = "draw";
/// The position in the sampler's unconstrained coordinates.
pub(crate) const UNCONSTRAINED: &str = "unconstrained";

/// How a statistic is read off a transition.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    F64(fn(&DrawStats) -> f64),
    I64(fn(&DrawStats) -> i64),
    Bool(fn(&DrawStats) -> bool),
}

/// Every statistic under ArviZ's name, in the order of the columns.
pub(crate) const STATS: [(&str, Read); 11] = [
    ("lp", Read::F64(|s| s.lp)),
    ("acceptance_rate", Read::F64(|s| s.acceptance_rate)),
    ("step_size", Read::F64(|s| s.step_size)),
    ("energy", Read::F64(|s| s.energy)),
    ("energy_error", Read::F64(|s| s.energy_error)),
    ("max_energy_error", Read::F64(|s| s.max_energy_error)),
    ("tree_depth", Read::I64(|s| s.tree_depth.into())),
    ("n_steps", Read::I64(|s| s.n_steps.into())),
    ("index_in_trajectory", Read::I64(|s| s.index_in_trajectory.into())),
    ("diverging", Read::Bool(|s| s.diverging)),
    ("reached_max_treedepth", Read::Bool(|s| s.reached_max_treedepth)),
];

impl Read {
    /// Returns the statistic of many transitions.
    pub(crate) fn values(self, stats: &[DrawStats]) -> Values {
        match self {
            Self::F64(read) => Values::F64(stats.iter().map(read).collect()),
            Self::I64(read) => Values::I64(stats.iter().map(read).collect()),
            Self::Bool(read) => Values::Bool(stats.iter().map(read).collect()),
        }
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
        if [CHAIN, DRAW, UNCONSTRAINED].contains(&name) || STATS.iter().any(|(stat, _)| *stat == name) {
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

    #[test]
    fn statistics_have_the_names_of_arviz() {
        assert_eq!(STATS.map(|(name, _)| name), octopus_trace::SAMPLE_STATS);
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
