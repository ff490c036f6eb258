//! Settings of models as options (flags) of the command line: their kinds of values and their help.

use std::fmt;

/// The kind of value that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A real number.
    Real,
    /// A whole number from 0 on.
    Count,
    /// Several whole numbers.
    Counts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text.
    Text,
    /// Names with values, each by an option of its own: `--set N=3 --set x=[1,2]` are the entries `N` and `x` of a table.
    /// Values are numbers and lists of them, also nested ones.
    Entries,
    /// The path of a file or folder that the model reads. Commands make it absolute, so that a run can be resumed from
    /// any folder, and never write to it.
    Path,
}

/// The part of the model that a setting is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionGroup {
    /// The model's data.
    Data,
    /// The model's priors and likelihood.
    Model,
}

/// A setting that a command line may give: `--mu-sd 3` stands for `prior.mu_sd = 3.0` in a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelOption {
    /// The option's name without its dashes, e.g. `mu-sd`. Models may share a name, with the same kind.
    pub name: &'static str,
    /// The setting, from table to table, e.g. `prior.mu_sd`.
    pub setting: &'static str,
    /// The kind of value that the option takes.
    pub kind: OptionKind,
    /// The part of the model that the option is about.
    pub group: OptionGroup,
    /// The help text: one line with the default.
    pub help: &'static str,
}

impl fmt::Display for ModelOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.name)
    }
}
