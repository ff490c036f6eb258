//! Models on the command line: their names, and their settings as options.
//!
//! An unknown model is refused here, and so is an option that only other models have. Of each kind of option the bounds
//! and the text of help are made here.

use crate::exit::UsageError;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use octopus_models::{Model, ModelOption, OptionGroup, OptionKind, Registry, ShippedProgram};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use toml::{Table, Value};

/// Which settings of a model a command takes.
pub(crate) type OptionsOf = fn(&dyn Model) -> &'static [ModelOption];

/// The settings of a posterior.
pub(crate) const OF_A_POSTERIOR: OptionsOf = |model| model.options();
/// The settings of a simulator.
pub(crate) const OF_A_SIMULATOR: OptionsOf = |model| model.simulator_options();

/// Settings of a model that were given as options, with their values.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelArgs(Vec<(&'static ModelOption, Value)>);

impl ModelArgs {
    /// Returns the settings of one model with these values.
    pub(crate) fn of(settings: Vec<(&'static ModelOption, Value)>) -> Self {
        Self(settings)
    }

    /// Puts the model in place of a word that is a file of it, whose path becomes the option's value.
    ///
    /// # Errors
    /// When the option is given too.
    pub(super) fn take_file(&mut self, word: &mut String, models: Registry) -> Result<(), String> {
        let Some((model, option)) = models.of_file(word) else { return Ok(()) };
        if self.0.iter().any(|(given, _)| given.name == option.name) {
            return Err(format!("{option}: the model is {word} already; leave out one of both"));
        }
        let path = absolute(word);
        model.name().clone_into(word);
        self.0.insert(0, (option, path));
        Ok(())
    }

    /// The settings of `model` that were given, in the order of the models' lists.
    ///
    /// # Errors
    /// When an option was given that is another model's.
    pub(crate) fn given_for(
        &self,
        model: &dyn Model,
        models: Registry,
        options_of: OptionsOf,
    ) -> Result<Vec<GivenOption<'_>>, UsageError> {
        let own = options_of(model);
        let find = |(given, _): &(&ModelOption, Value)| own.iter().find(|option| option.name == given.name);
        let known = |pair: &(&'static ModelOption, Value)| match find(pair) {
            Some(option) => Ok(option),
            None => Err(UsageError(format!(
                "{}: {} has no such setting; it is one of {}",
                pair.0,
                model.name(),
                having(models, options_of, pair.0.name)
            ))),
        };
        self.0.iter().map(|pair| Ok(GivenOption { option: known(pair)?, value: &pair.1 })).collect()
    }

    /// The paths that were given, which are inputs, with their options.
    pub(crate) fn paths(&self) -> impl Iterator<Item = (String, &Path)> {
        let paths = self.0.iter().filter(|(option, _)| option.kind == OptionKind::Path);
        paths.filter_map(|(option, value)| Some((option.to_string(), Path::new(value.as_str()?))))
    }
}

/// A setting that was given as an option; it is shown as on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenOption<'a> {
    /// The option.
    pub(crate) option: &'static ModelOption,
    /// Its value.
    pub(crate) value: &'a Value,
}

impl fmt::Display for GivenOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Value::String(word) => write!(f, "{} {word}", self.option),
            Value::Table(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(name, value)| format!("{} {name}={value}", self.option)).collect();
                f.write_str(&entries.join(" "))
            }
            other => write!(f, "{} {other}", self.option),
        }
    }
}

/// Adds the names of all models, and their options, to a command whose first argument is `model`.
pub(super) fn add(command: Command, models: Registry, options_of: OptionsOf) -> Command {
    let names = models.models().map(|model| PossibleValue::new(model.name()).help(model.about()));
    let names: Vec<PossibleValue> = names.collect();
    let command = command.mut_arg("model", |arg| arg.value_parser(ModelWord { names, models }));
    let add = |command: Command, option: &'static ModelOption| command.arg(argument(option, models, options_of));
    distinct(models, options_of).into_iter().fold(command, add)
}

/// A parser of models: a name, or a file that stands for one.
#[derive(Clone, Debug)]
struct ModelWord {
    names: Vec<PossibleValue>,
    models: Registry,
}

impl TypedValueParser for ModelWord {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, word: &OsStr) -> Result<String, clap::Error> {
        match word.to_str().filter(|word| self.models.of_file(word).is_some()) {
            Some(file) => Ok(file.to_owned()),
            None => PossibleValuesParser::new(self.names.clone()).parse_ref(command, arg, word),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().cloned()))
    }
}

/// Makes the first model the default of a command to which [`add`] has added the names.
pub(super) fn default_to_first(command: Command, models: Registry) -> Command {
    match models.models().next() {
        Some(first) => command.mut_arg("model", |arg| arg.required(false).default_value(first.name())),
        None => command,
    }
}

/// Reads the options that [`add`] added.
pub(super) fn read(matches: &ArgMatches, models: Registry, options_of: OptionsOf) -> ModelArgs {
    let value = |option: &'static ModelOption| Some((option, value(matches, option)?));
    ModelArgs(distinct(models, options_of).into_iter().filter_map(value).collect())
}

/// The options of all models; of those with the same name the first.
fn distinct(models: Registry, options_of: OptionsOf) -> Vec<&'static ModelOption> {
    let mut all: Vec<&ModelOption> = Vec::new();
    for option in models.models().flat_map(options_of) {
        if all.iter().all(|other| other.name != option.name) {
            all.push(option);
        }
    }
    all
}

/// Models that have an option of this name. Programs that ship are not named one by one.
fn having(models: Registry, options_of: OptionsOf, name: &str) -> String {
    let has = |model: &&'static dyn Model| options_of(*model).iter().any(|option| option.name == name);
    let (shipped, named): (Vec<_>, Vec<_>) =
        models.models().filter(has).map(Model::name).partition(|name| ShippedProgram::find(name).is_some());
    let shipped = (!shipped.is_empty()).then_some("programs that ship");
    named.into_iter().chain(shipped).collect::<Vec<_>>().join(", ")
}

fn argument(option: &'static ModelOption, models: Registry, options_of: OptionsOf) -> Arg {
    let heading = match option.group {
        OptionGroup::Data => "Data",
        OptionGroup::Model => "Model",
    };
    let help = format!("{} ({})", option.help, having(models, options_of, option.name));
    let arg = Arg::new(option.name).long(option.name).help(help).help_heading(heading);
    match option.kind {
        OptionKind::Real => arg.value_name("X").value_parser(value_parser!(f64)),
        OptionKind::Count => arg.value_name("N").value_parser(value_parser!(i64).range(0..)),
        OptionKind::Counts => {
            let arg = arg.value_name("N,N,...").value_parser(value_parser!(i64).range(0..));
            arg.value_delimiter(',').action(ArgAction::Append)
        }
        OptionKind::Word(words) => arg.value_parser(PossibleValuesParser::new(words)),
        OptionKind::Text => arg.value_name("TEXT"),
        OptionKind::Entries => arg.value_name("NAME=VALUE").value_parser(entry).action(ArgAction::Append),
        OptionKind::Path => arg.value_name("PATH").value_hint(ValueHint::AnyPath),
    }
}

fn value(matches: &ArgMatches, option: &ModelOption) -> Option<Value> {
    match option.kind {
        OptionKind::Real => matches.get_one(option.name).copied().map(Value::Float),
        OptionKind::Count => matches.get_one(option.name).copied().map(Value::Integer),
        OptionKind::Counts => {
            let counts = matches.get_many::<i64>(option.name)?;
            Some(Value::Array(counts.copied().map(Value::Integer).collect()))
        }
        OptionKind::Word(_) | OptionKind::Text => matches.get_one(option.name).cloned().map(Value::String),
        OptionKind::Path => {
            let given: &String = matches.get_one(option.name)?;
            Some(absolute(given))
        }
        OptionKind::Entries => {
            let entries = matches.get_many::<(String, Value)>(option.name)?;
            Some(Value::Table(entries.cloned().collect::<Table>()))
        }
    }
}

/// Returns a path that is the same from any folder.
pub(crate) fn absolute(given: &str) -> Value {
    // An empty path cannot be made absolute: the model says what is wrong with it.
    let absolute = std::path::absolute(given).ok().and_then(|path| path.into_os_string().into_string().ok());
    Value::String(absolute.unwrap_or_else(|| given.to_owned()))
}

/// Reads a name with its value: a number, or a list in TOML's or JSON's form.
pub(crate) fn entry(text: &str) -> Result<(String, Value), String> {
    let wrong = || format!("NAME=VALUE is needed, such as N=3 or x=[1,2.5], not {text}");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(wrong());
    }
    let read: Table = format!("x = {}", value.trim()).parse().map_err(|_| wrong())?;
    let value = read.get("x").filter(|_| read.len() == 1).cloned().ok_or_else(wrong)?;
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_names_with_numbers_or_lists() {
        let read = |text: &str| entry(text).map(|(name, value)| format!("{name}: {value}"));
        for (text, expected) in [
            ("N=3", "N: 3"),
            ("x=[1, 2.5]", "x: [1, 2.5]"),
            ("m=[[1,2],[3,4]]", "m: [[1, 2], [3, 4]]"),
            ("y= -1e3", "y: -1000.0"),
            ("z=nan", "z: nan"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected));
        }
        for wrong in ["N", "=3", "N=", "N=three", "1N=3", "a.b=3", "N=3\ny=4", "N=[1,2", "N=3 4"] {
            assert!(read(wrong).unwrap_err().contains("NAME=VALUE"), "{wrong}");
        }
    }
}
