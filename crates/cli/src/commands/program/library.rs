//! `octopus model list` and `octopus model copy NAME`: the models that ship, and their files to change.

use crate::args::{CopyArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::output;
use anyhow::Result;
use octopus_diag::{TableLook, TextColumn, text_table};
use octopus_files::Destination;
use octopus_models::ShippedProgram;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Lists the models that the program knows.
///
/// # Errors
/// When stdout cannot be written.
pub(super) fn list(global: Global) -> Result<Exit> {
    let models = global.models.models();
    if global.json {
        let models = models.map(|model| json!({ "name": model.name(), "about": model.about() }));
        output::print_json(&json!({ "schema": 1, "models": models.collect::<Vec<_>>() }))?;
    } else {
        let rows: Vec<_> = models.map(|model| [model.name().to_owned(), model.about().to_owned()]).collect();
        let columns = [TextColumn::left(""), TextColumn::left("")];
        output::print(text_table(&columns, &rows, TableLook::default()).trim_end())?;
    }
    Ok(Exit::Fine)
}

/// Writes the files of a program that ships.
///
/// # Errors
/// When there is no such program, a file is there already, or one cannot be written.
pub(super) fn copy(args: &CopyArgs, global: Global) -> Result<Exit> {
    let Some(program) = ShippedProgram::find(&args.name) else {
        let known: Vec<&str> = ShippedProgram::all().iter().map(|program| program.name).collect();
        let why = format!("no program that ships is called `{}`; there are {}", args.name, known.join(", "));
        return Err(UsageError(why).into());
    };
    let folder = args.folder.as_deref().unwrap_or(Path::new(program.name));
    let files = [(program.file_name(), program.text), (program.data_name(), program.data)];
    let files: Vec<(PathBuf, &str)> = files.map(|(name, text)| (folder.join(name), text)).into();
    if let Some((there, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(refused(there));
    }
    for (path, text) in &files {
        if !Destination::of(path)?.write(false, &mut |out| out.write_all(text.as_bytes()))? {
            return Err(refused(path));
        }
    }
    let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    if global.json {
        output::print_json(&json!({ "schema": 1, "files": paths }))?;
    } else {
        let lines: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Exit::Fine)
}

fn refused(there: &Path) -> anyhow::Error {
    UsageError(format!("{} is there already and stays as it is: name another folder", there.display())).into()
}
