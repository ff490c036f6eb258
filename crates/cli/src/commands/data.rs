//! `octopus data ...` makes data of which the truth is known, for programs that ship.

use crate::args::{DataCommand, DataPolynomialArgs, Global};
use crate::exit::{Exit, UsageError};
use crate::output;
use anyhow::{Result, bail};
use octopus_diag::counted;
use octopus_files::Destination;
use octopus_models::polynomial::PolynomialSpec;
use serde_json::json;

/// Makes the data that are asked for.
///
/// # Errors
/// When a setting is out of range, or the file is there already or cannot be written.
pub(crate) fn run(command: &DataCommand, global: Global) -> Result<Exit> {
    match command {
        DataCommand::Polynomial(args) => polynomial(args, global),
    }
}

fn polynomial(args: &DataPolynomialArgs, global: Global) -> Result<Exit> {
    let spec = PolynomialSpec { points: args.n, seed: args.seed, noise: args.noise };
    let data = spec.generate().map_err(|error| UsageError(format!("--{error}")))?;
    let (text, sha256) = (data.json(), data.sha256());
    if let Some(out) = &args.out
        && !Destination::of(out)?.write(args.force, &mut |file| file.write_all(text.as_bytes()))?
    {
        bail!("{} already exists: name another file, or replace it with --force", out.display());
    }
    if global.json {
        let (key, value) = match &args.out {
            Some(out) => ("file", json!(out)),
            None => ("data", serde_json::from_str(&text)?),
        };
        let PolynomialSpec { points, seed, noise } = spec;
        output::print_json(&json!({
            "schema": 1, "program": "polynomial", "points": points, "seed": seed, "noise": noise, "sha256": sha256,
            (key): value,
        }))?;
        return Ok(Exit::Fine);
    }
    output::print(&args.out.as_ref().map_or(text, |out| out.display().to_string()))?;
    if !global.quiet {
        output::note(format!("{}, seed {}: SHA-256 {sha256}", counted(args.n, "point"), args.seed));
    }
    Ok(Exit::Fine)
}
