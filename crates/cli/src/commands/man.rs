//! `octopus man --out DIR` writes manual pages.

use crate::args::{Cli, Global, ManArgs};
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use octopus_files::write_file;
use serde_json::json;

/// Writes a manual page for each command.
///
/// # Errors
/// When a page cannot be written.
pub(crate) fn run(args: &ManArgs, global: Global) -> Result<Exit> {
    let mut command = Cli::definition(global.models);
    command.build();
    let mut files = Vec::new();
    let mut open = vec![(command.get_name().to_owned(), command)];
    while let Some((name, command)) = open.pop() {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            open.push((format!("{name}-{}", inner.get_name()), inner.clone()));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command).title(name.to_uppercase()).render(&mut page).context("a page is no text")?;
        let path = args.out.join(format!("{name}.1"));
        write_file(&path, &page)?;
        files.push(path);
    }
    files.sort();
    if global.json {
        output::print_json(&json!({ "schema": 1, "files": files }))?;
    } else {
        let lines: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Exit::Fine)
}
