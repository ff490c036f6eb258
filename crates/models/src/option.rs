//! Settings of models as options of a command line.

use std::fmt;

/// What a setting takes.
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
}

/// Which part of the model a setting is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionGroup {
    /// Its data.
    Data,
    /// Its priors and its likelihood.
    Model,
}

/// A setting that a command line may give: `--mu-sd 3` stands for `prior.mu_sd = 3.0` in a file of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelOption {
    /// The option's name without its dashes, e.g. `mu-sd`. Models may share a name, with the same kind.
    pub name: &'static str,
    /// The setting, from table to table, e.g. `prior.mu_sd`.
    pub setting: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// What it is about.
    pub group: OptionGroup,
    /// What it is, in one line with the default.
    pub help: &'static str,
}

impl fmt::Display for ModelOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.name)
    }
}
