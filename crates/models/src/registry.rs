//! The registry: models by their names, and the list of the models that ship. An unknown name is an error here.

use crate::stan_program::PROGRAMS;
use crate::{BuildError, EightSchoolsModel, HierarchicalNormalModel, Model, ModelOption, StanModel};
use std::fmt;

/// The models that a program knows.
///
/// ```
/// use octopus_models::Registry;
///
/// let models = Registry::shipped();
/// assert_eq!(models.find("eight-schools")?.name(), "eight-schools");
/// assert!(models.find("nine-schools").is_err());
/// # Ok::<(), octopus_models::BuildError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Registry(&'static [&'static dyn Model]);

/// The models that are written in Rust; a new one is one more element.
const WRITTEN: [&dyn Model; 3] = [&HierarchicalNormalModel, &EightSchoolsModel, &StanModel];

/// The models that Octopus ships: those in Rust, and the programs.
static SHIPPED: [&dyn Model; WRITTEN.len() + PROGRAMS.len()] = {
    let mut all: [&dyn Model; WRITTEN.len() + PROGRAMS.len()] = [&StanModel; WRITTEN.len() + PROGRAMS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < WRITTEN.len() { WRITTEN[at] } else { &PROGRAMS[at - WRITTEN.len()] };
        at += 1;
    }
    all
};

impl Registry {
    /// Returns the models that Octopus ships.
    pub fn shipped() -> Self {
        Self(&SHIPPED)
    }

    /// Makes a registry of `models`, whose names must differ; the help lists the first model first.
    pub const fn new(models: &'static [&'static dyn Model]) -> Self {
        Self(models)
    }

    /// Returns all models.
    pub fn models(self) -> impl Iterator<Item = &'static dyn Model> {
        self.0.iter().copied()
    }

    /// Returns the model for which a file with this name stands, with the option that names the file.
    pub fn of_file(self, name: &str) -> Option<(&'static dyn Model, &'static ModelOption)> {
        let (_, ending) = name.rsplit_once('.')?;
        self.models().find_map(|model| {
            let (_, option) = model.program_file().filter(|(known, _)| *known == ending)?;
            Some((model, model.options().iter().find(|one| one.name == option)?))
        })
    }

    /// Returns the model with this name.
    ///
    /// # Errors
    /// [`BuildError::Unknown`] when there is none.
    pub fn find(self, name: &str) -> Result<&'static dyn Model, BuildError> {
        self.models().find(|model| model.name() == name).ok_or_else(|| BuildError::Unknown {
            name: name.to_owned(),
            known: self.models().map(Model::name).collect::<Vec<_>>().join(", "),
        })
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::shipped()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.models().map(Model::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{Role, Transform};
    use octopus_random::exact;
    use std::collections::BTreeMap;
    use toml::Table;

    /// A parameter is made of the coordinates from its offset on, in every model that ships.
    #[test]
    fn parameters_are_made_of_their_own_coordinates() {
        for model in Registry::shipped().models().filter(|model| !model.is_program()) {
            let problem = model.build(&Table::new(), None).unwrap();
            let density = problem.density();
            let position: Vec<f64> = (0..density.dim()).map(|k| 0.25 + 0.01 * k as f64).collect();
            let mut values = vec![0.0; density.layout().width()];
            density.expand(&position, &mut values);
            for (variable, range) in density.layout().ranges() {
                let Role::Parameter { offset, transform } = variable.role else { continue };
                for (value, x) in values[range].iter().zip(&position[offset..]) {
                    let expected = if transform == Transform::Exp { exact::exp(*x) } else { *x };
                    assert!((value - expected).abs() < 1e-13, "{}: {value}, not {expected}", variable.name);
                }
            }
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all() {
        let error = Registry::shipped().find("nine-schools").map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("`nine-schools`") && error.contains("hierarchical-normal, eight-schools"), "{error}");
    }

    #[test]
    fn a_file_stands_for_the_model_of_its_ending() {
        let of = |name: &str| {
            let found = Registry::shipped().of_file(name);
            found.map(|(model, option)| (model.name(), option.to_string()))
        };
        assert_eq!(of("a/funnel.stan"), Some(("stan", "--program".to_owned())));
        assert!(["funnel.csv", "stan", "eight-schools"].into_iter().all(|name| of(name).is_none()));
    }

    /// Checks that an option of two models has the same kind in both, since one command line serves all models.
    #[test]
    fn options_of_one_name_are_of_one_kind() {
        let mut kinds = BTreeMap::new();
        for model in Registry::shipped().models() {
            for option in model.options().iter().chain(model.simulator_options()) {
                assert_eq!(*kinds.entry(option.name).or_insert(option.kind), option.kind, "{option}");
            }
        }
        assert!(kinds.len() > 5);
    }
}
