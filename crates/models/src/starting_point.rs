//! Values of parameters become a position, for models whose layout says how.

use crate::BuildError;
use octopus_bind::{Data, DataNumbers, StartingPoint};
use octopus_density::{LogDensity, Role, Transform};

/// Returns the position of these values of parameters; those without a value keep their coordinates in `otherwise`.
///
/// # Errors
/// When the layout does not say which coordinates parameters have, has no such parameter, or a value does not fit.
pub(crate) fn of_layout(
    density: &dyn LogDensity,
    values: &Data,
    otherwise: &[f64],
) -> Result<StartingPoint, BuildError> {
    let variables = &density.layout().variables;
    let is_sampled = |role: &Role| matches!(role, Role::Parameter { .. });
    let names: Vec<&str> = variables.iter().filter(|one| is_sampled(&one.role)).map(|one| one.name.as_str()).collect();
    let fail = |what: String| Err(BuildError::StartingValues(what));
    if names.is_empty() {
        let (source, name) = (values.source(), density.name());
        return fail(format!(
            "{source}: '{name}' does not say which coordinates its parameters have: use another --init"
        ));
    }
    if let Some(name) = values.names().find(|name| !names.contains(name)) {
        let source = values.source_of(name);
        let has = names.join(", ");
        return fail(match variables.iter().any(|variable| variable.name == name) {
            true => format!("{source}: `{name}` is computed of parameters, and none itself: they are {has}"),
            false => format!("{source}: the model has no parameter `{name}`: it has {has}"),
        });
    }
    let mut position = otherwise.to_vec();
    let mut missing = Vec::new();
    for variable in variables {
        let Role::Parameter { offset, transform } = variable.role else { continue };
        let Some(value) = values.get(&variable.name) else {
            missing.push(variable.name.clone());
            continue;
        };
        let source = values.source_of(&variable.name);
        let sizes: Vec<usize> = variable.dims.iter().map(|dim| dim.labels.len()).collect();
        if value.shape != sizes {
            return fail(format!(
                "{source}: `{}` has sizes {:?}, but {sizes:?} are needed",
                variable.name, value.shape
            ));
        }
        let numbers = match &value.numbers {
            DataNumbers::Ints(whole) => whole.iter().map(|&x| x as f64).collect(),
            DataNumbers::Reals(reals) => reals.clone(),
        };
        for (k, (x, to)) in numbers.into_iter().zip(&mut position[offset..]).enumerate() {
            let free = if transform == Transform::Exp { x.ln() } else { x };
            if !free.is_finite() {
                let must = if transform == Transform::Exp { "positive and finite" } else { "finite" };
                return fail(format!("{source}: `{}` is {x}, but must be {must}", variable.element_name(k)));
            }
            *to = free;
        }
    }
    Ok(StartingPoint { position, missing })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EightSchoolsModel, Model, Registry};

    fn at(text: &str) -> Result<StartingPoint, BuildError> {
        let rubin = EightSchoolsModel.build(&toml::Table::new(), None).unwrap();
        rubin.position_of(&Data::json("starts.json", text).unwrap(), &[0.5; 10])
    }

    #[test]
    fn eight_schools_start_where_they_are_told() {
        let StartingPoint { position, missing } =
            at(r#"{"tau": 2, "theta_trans": [0, 1, 2, 3, 4, 5, 6, 7.5]}"#).unwrap();
        assert_eq!(missing, ["mu"]);
        assert_eq!(position, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.5, 0.5, 2.0_f64.ln()]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (text, words) in [
            (r#"{"x": 1}"#, "the model has no parameter `x`: it has mu, tau, theta_trans"),
            (r#"{"theta": [1]}"#, "`theta` is computed of parameters"),
            (r#"{"tau": 0}"#, "`tau` is 0, but must be positive"),
            (r#"{"tau": "Infinity"}"#, "`tau` is inf"),
            (r#"{"mu": "NaN"}"#, "`mu` is NaN, but must be finite"),
            (r#"{"theta_trans": [0, 1, 2, 3, 4, 5, 6]}"#, "`theta_trans` has sizes [7], but [8] are needed"),
            (r#"{"theta_trans": [0, 1, "NaN", 3, 4, 5, 6, 7]}"#, "`theta_trans[C]` is NaN"),
        ] {
            let error = at(text).unwrap_err().to_string();
            assert!(error.starts_with("starts.json: ") && error.contains(words), "{error}");
        }
    }

    /// The layout has the standardised effects of the groups, under the name `z`.
    #[test]
    fn groups_start_where_they_are_told() {
        let settings = "[data.synthetic]\ngroups = 3".parse().unwrap();
        let problem = Registry::shipped().find("hierarchical-normal").unwrap().build(&settings, None).unwrap();
        let values = Data::json("starts.json", r#"{"mu_pop": 40, "sigma_obs": 1, "z": [1, 2, 3]}"#).unwrap();
        let StartingPoint { position, missing } = problem.position_of(&values, &[0.25; 6]).unwrap();
        assert_eq!((position, missing), (vec![1.0, 2.0, 3.0, 40.0, 0.25, 0.0], vec!["sigma_pop".to_owned()]));
    }
}
