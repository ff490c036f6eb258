//! What options need beside them: one that would change nothing is refused, with the name of the other and what to do.
//!
//! A new option that has an effect under some condition only gets a row here, and one in `tests/cli/needs.rs`.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, Error};
use octopus_device::DeviceChoice;
use std::path::{Path, PathBuf};

/// An option and what it needs.
struct Need {
    /// The commands that the row is about; each has the option.
    commands: &'static [&'static str],
    option: &'static str,
    /// Whether what it needs is there.
    is_met: fn(&GivenOptions<'_>) -> bool,
    /// What it needs, as `--batch-by` needs `--batch`, and what to do.
    words: &'static str,
}

const WITH_A_TABLE: &[&str] = &["sample", "check", "sweep", "validate"];
const WITHOUT_BATCH: &[&str] = &["check", "sweep", "validate"];
const TABLE: &str = "needs --data, the table that it is about; give --data FILE, or leave it out";
const TABLE_OR_BATCH: &str =
    "needs --data or --batch, the table that it is about; give --data FILE or --batch DIR, or leave it out";
const BATCH: &str = "needs --batch, the data sets that it is about; give --batch DIR or FILE, or leave it out";
const KEEP: &str = "needs --keep, the folder that processes share; give --keep DIR, or leave it out";
const CLAIM: &str = "needs --claim, which takes pieces over; give --claim, or leave it out";
const ALONE: &str =
    "begins anew what other processes do: give it once without --part and --claim, or remove the folder before";
const RANKS: &str = "has no effect with --geweke, whose sequences one process makes; leave out one of both";
const GPU: &str = "has no effect with --device cpu, as it is about GPUs; leave out one of both";
const GEWEKE: &str = "needs --geweke, the test that it is about; give --geweke, or leave it out";
const NOT_GEWEKE: &str = "has no effect with --geweke, whose chains are moved on the CPU; leave out one of both";

const fn need(
    commands: &'static [&'static str],
    option: &'static str,
    is_met: fn(&GivenOptions<'_>) -> bool,
    words: &'static str,
) -> Need {
    Need { commands, option, is_met, words }
}

/// The options and what they need.
const NEEDS: &[Need] = &[
    need(&["sample"], "group", |given| given.has("data") || given.has("batch"), TABLE_OR_BATCH),
    need(&["sample"], "value", |given| given.has("data") || given.has("batch"), TABLE_OR_BATCH),
    need(&["sample"], "drop_missing", |given| given.has("data") || given.has("batch"), TABLE_OR_BATCH),
    need(&["sample"], "decimal", |given| given.has("data") || given.has("batch"), TABLE_OR_BATCH),
    need(WITHOUT_BATCH, "group", |given| given.has("data"), TABLE),
    need(WITHOUT_BATCH, "value", |given| given.has("data"), TABLE),
    need(WITHOUT_BATCH, "drop_missing", |given| given.has("data"), TABLE),
    need(WITHOUT_BATCH, "decimal", |given| given.has("data"), TABLE),
    need(
        WITH_A_TABLE,
        "group",
        |given| given.word("group") != given.word("value"),
        "names the same column as --value; name the column of labels in one and that of numbers in the other",
    ),
    need(&["sample"], "batch_by", |given| given.has("batch"), BATCH),
    need(&["sample"], "part", |given| given.has("batch"), BATCH),
    need(&["sample"], "claim", |given| given.has("batch"), BATCH),
    need(&["sweep"], "part", |given| given.has("keep"), KEEP),
    need(&["sweep"], "claim", |given| given.has("keep"), KEEP),
    need(&["sample", "sweep", "calibrate"], "lease", |given| given.has("claim"), CLAIM),
    need(&["sample"], "force", |given| !given.has("claim"), ALONE),
    need(&["calibrate"], "force", |given| !given.has("claim") && !given.has("part"), ALONE),
    need(&["calibrate"], "part", |given| !given.has("geweke"), RANKS),
    need(&["calibrate"], "claim", |given| !given.has("geweke"), RANKS),
    need(
        &["sample"],
        "batch_by",
        |given| ["group", "value"].iter().all(|other| given.word(other) != given.word("batch_by")),
        "names the same column as --group or --value; name the column that tells the data sets apart",
    ),
    need(&["sample", "validate", "calibrate"], "gpu_memory", |given| !given.is_on_cpu(), GPU),
    need(&["sample", "resume", "validate", "calibrate"], "no_fallback", |given| !given.is_on_cpu(), GPU),
    need(&["calibrate"], "gpu_memory", |given| !given.has("geweke"), NOT_GEWEKE),
    need(&["calibrate"], "no_fallback", |given| !given.has("geweke"), NOT_GEWEKE),
    need(&["calibrate"], "sequences", |given| given.has("geweke"), GEWEKE),
    need(&["calibrate"], "steps", |given| given.has("geweke"), GEWEKE),
    need(
        &["loo"],
        "weights",
        |given| given.paths("models").len() > 1,
        "needs several TRACEs, which it weighs; name another one, or leave it out",
    ),
    need(
        &["loo"],
        "draws",
        |given| given.paths("models").iter().any(|path| !path.exists() || path.join("run.toml").exists()),
        "needs a run folder among the TRACEs: others have their log likelihoods already; leave it out",
    ),
    need(
        &["random"],
        "n",
        |given| !given.has("small"),
        "has no effect with --small, which says how many draws there are; leave out one of both",
    ),
];

/// What was given on the command line of one command.
struct GivenOptions<'a>(&'a ArgMatches);

impl GivenOptions<'_> {
    /// Whether an option stands on the command line; defaults and options that the command does not have do not.
    fn has(&self, option: &str) -> bool {
        self.0.try_contains_id(option).is_ok_and(|there| there)
            && self.0.value_source(option) == Some(ValueSource::CommandLine)
    }

    fn word(&self, option: &str) -> Option<&String> {
        self.0.try_get_one(option).ok().flatten()
    }

    fn paths(&self, argument: &str) -> Vec<&Path> {
        let paths = self.0.try_get_many::<PathBuf>(argument).ok().flatten();
        paths.map(|paths| paths.map(PathBuf::as_path).collect()).unwrap_or_default()
    }

    fn is_on_cpu(&self) -> bool {
        self.0.try_get_one("device").ok().flatten() == Some(&DeviceChoice::Cpu)
    }
}

/// Checks that every option that was given has what it needs.
///
/// # Errors
/// When one has not; the error is clap's, so that it is printed as others of the command line are.
pub(super) fn check(definition: &mut Command, matches: &ArgMatches) -> Result<(), Error> {
    let Some((name, own)) = matches.subcommand() else { return Ok(()) };
    let Some(command) = definition.find_subcommand_mut(name) else { return Ok(()) };
    if own.subcommand().is_some() {
        return check(command, own);
    }
    let given = GivenOptions(own);
    let fails = |need: &&Need| need.commands.contains(&name) && given.has(need.option) && !(need.is_met)(&given);
    match NEEDS.iter().find(fails) {
        Some(Need { option, words, .. }) => {
            let message = format!("--{}: {words}", option.replace('_', "-"));
            Err(command.error(ErrorKind::ArgumentConflict, message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use octopus_models::Registry;

    /// Checks that no row is about an option that its command has not.
    #[test]
    fn each_row_is_of_an_option_that_there_is() {
        let definition = Cli::definition(Registry::shipped());
        let bench = definition.find_subcommand("bench").unwrap();
        for Need { commands, option, .. } in NEEDS {
            for name in *commands {
                let of = [&definition, bench].into_iter().filter_map(|command| command.find_subcommand(name));
                let has = of.flat_map(|command| command.get_arguments()).any(|arg| arg.get_id() == *option);
                assert!(has, "{name} --{option}");
            }
        }
    }
}
