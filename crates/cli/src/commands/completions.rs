//! `octopus completions SHELL` prints a script of completions.

use crate::args::{Cli, CompletionsArgs, Global};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use serde_json::json;

/// Prints the script of completions for a shell.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn run(args: &CompletionsArgs, global: Global) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::definition(global.models), "octopus", &mut script);
    let script = String::from_utf8(script).context("the script is not text")?;
    if global.json {
        output::print_json(&json!({ "schema": 1, "shell": args.shell.to_string(), "script": script }))?;
    } else {
        output::print(&script)?;
    }
    Ok(Exit::Fine)
}
