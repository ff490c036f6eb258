//! Columns of a Stan CSV: `theta.1.2` is an element of `theta`, counted from 1.
//!
//! The names of the sampler's statistics (`lp__`, `stepsize__`, ...) in CmdStan come from the table of statistics.

use crate::draw_table::is_whole;
use indexmap::IndexMap;
use octopus_trace::{STATISTICS, StatisticKind, Values, statistic_named};

/// Returns the sampler's own columns in CmdStan's order: CmdStan's name and ArviZ's.
pub(crate) fn statistics() -> Vec<(&'static str, &'static str)> {
    let mut own: Vec<_> = STATISTICS.iter().filter_map(|own| own.stan.map(|place| (place, own.name))).collect();
    own.sort_unstable();
    own.into_iter().map(|((_, theirs), ours)| (theirs, ours)).collect()
}

/// Returns CmdStan's name of the statistic that ArviZ calls `name`.
pub(crate) fn name_in_stan(name: &str) -> Option<&'static str> {
    statistic_named(name).and_then(|own| own.stan).map(|(_, theirs)| theirs)
}

/// Returns ArviZ's name of the statistic in a column of the sampler's own, or the column's without its underscores.
pub(crate) fn statistic_name(column: &str) -> &str {
    let known = STATISTICS.iter().find(|own| own.stan.is_some_and(|(_, theirs)| theirs == column));
    known.map_or(column.trim_end_matches('_'), |own| own.name)
}

/// Returns the values of a statistic in the type that ArviZ gives it, if all of them have it: Stan stores real numbers.
pub(crate) fn in_type_of_statistic(name: &str, values: Vec<f64>) -> Values {
    match statistic_named(name).map(|own| own.kind) {
        Some(StatisticKind::Flag) if values.iter().all(|flag| *flag == 0.0 || *flag == 1.0) => {
            Values::Bool(values.into_iter().map(|flag| flag != 0.0).collect())
        }
        Some(StatisticKind::Count) if values.iter().copied().all(is_whole) => {
            Values::I64(values.into_iter().map(|value| value as i64).collect())
        }
        _ => Values::F64(values),
    }
}

/// A variable and the columns of its elements.
#[derive(Debug, PartialEq)]
pub(super) struct StanVariable {
    pub name: String,
    pub shape: Vec<usize>,
    /// The column of each element, row-major.
    pub columns: Vec<usize>,
}

/// Returns the variable and the indices, from 1, that a column's name says. The two parts of a complex number,
/// `z.1.real` and `z.1.imag`, are elements of `z.real` and `z.imag`; a tuple's parts `t:1` are variables.
fn parse(column: &str) -> (String, Vec<usize>) {
    let part = [".real", ".imag"].into_iter().find_map(|part| column.strip_suffix(part).map(|rest| (rest, part)));
    let (mut name, part) = part.unwrap_or((column, ""));
    let mut indices = Vec::new();
    while let Some((before, index)) = name.rsplit_once('.') {
        match index.parse() {
            Ok(index) if !before.is_empty() => indices.push(index),
            _ => break,
        }
        name = before;
    }
    indices.reverse();
    (format!("{name}{part}"), indices)
}

/// Returns whether a variable of this name would come back under the same name.
pub(super) fn keeps_its_name(name: &str) -> bool {
    let is_plain = !name.contains([',', '"', '\n', '\r', '#']) && !name.ends_with("__") && name.trim() == name;
    is_plain && !name.is_empty() && parse(name) == (name.to_owned(), Vec::new())
}

/// Gathers the columns of each variable, those of the sampler left out.
///
/// # Errors
/// When the elements of a variable are not all there once; the error is a sentence that names the variable.
pub(super) fn variables(header: &[String]) -> Result<Vec<StanVariable>, String> {
    let mut elements: IndexMap<String, Vec<(Vec<usize>, usize)>> = IndexMap::new();
    for (column, name) in header.iter().enumerate().filter(|(_, name)| !name.ends_with("__")) {
        let (name, indices) = parse(name);
        elements.entry(name).or_default().push((indices, column));
    }
    elements.into_iter().map(|(name, elements)| variable(name, &elements)).collect()
}

fn variable(name: String, elements: &[(Vec<usize>, usize)]) -> Result<StanVariable, String> {
    let incomplete = || format!("the columns of {name} are not those of a whole array");
    let rank = elements[0].0.len();
    if elements.iter().any(|(indices, _)| indices.len() != rank || indices.contains(&0)) {
        return Err(incomplete());
    }
    let along = |axis: usize| elements.iter().map(|(indices, _)| indices[axis]).max().unwrap_or(0);
    let shape: Vec<usize> = (0..rank).map(along).collect();
    if shape.iter().try_fold(1usize, |product, &len| product.checked_mul(len)) != Some(elements.len()) {
        return Err(incomplete());
    }
    let mut columns = vec![None; elements.len()];
    for (indices, column) in elements {
        let at = indices.iter().zip(&shape).fold(0, |at, (index, len)| at * len + index - 1);
        if columns[at].replace(*column).is_some() {
            return Err(format!("two columns have the name of one element of {name}"));
        }
    }
    Ok(StanVariable { columns: columns.into_iter().flatten().collect(), shape, name })
}

/// Returns the columns of a variable in CmdStan's order, the first index fastest, with the place of each element in
/// row-major values.
pub(super) fn columns_of(name: &str, shape: &[usize]) -> Vec<(String, usize)> {
    let count: usize = shape.iter().product();
    let column = |number: usize| {
        let (mut rest, mut place, mut stride, mut column) = (number, 0, count, name.to_owned());
        for &len in shape {
            stride /= len;
            place += rest % len * stride;
            column.push_str(&format!(".{}", rest % len + 1));
            rest /= len;
        }
        (column, place)
    };
    (0..count).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn elements_find_their_places() {
        let names = [
            "lp__", "mu", "a.1.1", "a.2.1", "a.1.2", "a.2.2", "a.1.3", "a.2.3", "z.1.real", "z.1.imag", "t:1", "t:2.1",
        ];
        let found = variables(&header(&names)).unwrap();
        let expected = [
            ("mu", vec![], vec![1]),
            ("a", vec![2, 3], vec![2, 4, 6, 3, 5, 7]),
            ("z.real", vec![1], vec![8]),
            ("z.imag", vec![1], vec![9]),
            ("t:1", vec![], vec![10]),
            ("t:2", vec![1], vec![11]),
        ];
        let expected = expected.map(|(name, shape, columns)| StanVariable { name: name.into(), shape, columns });
        assert_eq!(found, expected);
        let written: Vec<_> = columns_of("a", &[2, 3]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(written, names[2..8]);
        assert_eq!(columns_of("a", &[2, 3])[1], ("a.2.1".into(), 3));
        assert_eq!(columns_of("mu", &[]), [("mu".into(), 0)]);
    }

    #[test]
    fn arrays_with_holes_are_told() {
        for bad in
            [&["a.1", "a.3"][..], &["a.1", "a"], &["a.0"], &["a.1.1", "a.2.2"], &["a.4000000000.4000000000.4000000000"]]
        {
            assert!(variables(&header(bad)).unwrap_err().contains("a are not"), "{bad:?}");
        }
        assert!(variables(&header(&["a.1", "a.1", "a.1", "a.4"])).unwrap_err().contains("two columns"));
    }

    #[test]
    fn names_that_would_change() {
        for bad in ["", "lp__", "a.1", "a,b", "a.real ", "#a"] {
            assert!(!keeps_its_name(bad), "{bad}");
        }
        for good in ["mu", "mu_group", "θ", "a.b", ".1", "t:1", "z.real"] {
            assert!(keeps_its_name(good), "{good}");
        }
    }
}
