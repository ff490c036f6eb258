//! `octopus plot TRACE --out DIR` draws pictures of a trace.
//!
//! How many predictions are made for them stands here.

use crate::args::{Global, PictureFormat, PlotArgs, PlotKind};
use crate::exit::{Exit, UsageError};
use crate::opened::open;
use crate::output;
use anyhow::{Context, Result};
use octopus::PredictiveParts;
use octopus::complete;
use octopus::{Material, Picture};
use octopus_report::{Figure, Plot, ProfilePlot, write_figures};
use serde_json::json;
use std::path::PathBuf;

/// The most draws of each chain whose predictions and log likelihoods are made for a run, and the most numbers that
/// these may be: with very many observations fewer draws are used.
const PREDICTED: usize = 250;
const MOST_PREDICTED: usize = 20_000_000;

/// Draws the pictures that were asked for, or else all pictures that the trace has the data for.
///
/// # Errors
/// When the draws cannot be read, a picture that was asked for cannot be made, or a file cannot be written.
pub(crate) fn run(args: &PlotArgs, global: Global) -> Result<Exit> {
    if args.kind.contains(&PlotKind::Profile) {
        return profile(args, global);
    }
    let mut trace = open(&args.trace, global)?;
    let all = args.kind.is_empty();
    let of_trace = |kind: &PlotKind| if let PlotKind::OfTrace(picture) = kind { Some(*picture) } else { None };
    let kinds: Vec<Picture> =
        if all { Picture::all().collect() } else { args.kind.iter().filter_map(of_trace).collect() };
    let wanted = kinds.iter().map(|kind| kind.wants()).fold(PredictiveParts::default(), PredictiveParts::or);
    let problem = trace.problem(global.models).map_err(anyhow::Error::from);
    // If the trace cannot be completed, the pictures that need what is missing say so.
    let completed = match &problem {
        Ok(problem) => {
            complete(&mut trace, &**problem, wanted, PREDICTED, MOST_PREDICTED).map(drop).map_err(anyhow::Error::from)
        }
        Err(_) => Ok(()),
    };
    let material = Material::new(&trace, problem.as_ref().ok().map(|problem| &**problem), &whole_names(&args.var))?;
    let incomplete = problem.as_ref().err().or(completed.as_ref().err());
    let mut figures = Vec::new();
    let mut left_out: Vec<(String, String)> = Vec::new();
    for kind in kinds {
        match kind
            .figure(&material)
            .map_err(anyhow::Error::from)
            .and_then(|figure| Ok(figure.plot.check().map(|()| figure)?))
        {
            Ok(figure) => figures.push(figure),
            Err(why) if all => {
                left_out.push((kind.name().to_owned(), output::chain(&why)));
            }
            Err(why) => {
                return Err(match incomplete {
                    Some(cause) if trace.record.is_some() => why.context(output::chain(cause)),
                    _ => why,
                });
            }
        }
    }
    let files = write(args, &figures)?;
    if !global.quiet {
        for (name, why) in &left_out {
            output::note(format!("no {name}: {why}"));
        }
        if let Some(why) = incomplete.filter(|_| !left_out.is_empty() && trace.record.is_some()) {
            output::note(format!("the run's model cannot be made again: {}", output::chain(why)));
        }
    }
    print(&files, &left_out, global)
}

/// Draws a profile.
///
/// # Errors
/// When other pictures are asked for with it, or its file cannot be read.
fn profile(args: &PlotArgs, global: Global) -> Result<Exit> {
    let ([file], [_], []) = (&args.trace[..], &args.kind[..], &args.var[..]) else {
        let why = "--kind profile: give the one file of --profile, and no other kind and no --var";
        return Err(UsageError(why.into()).into());
    };
    if file.is_dir() {
        let why = format!("--kind profile: {} is a folder; give the file that --profile has written", file.display());
        return Err(UsageError(why).into());
    }
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let plot = ProfilePlot::from_chrome_trace(&text).with_context(|| {
        format!("{}: no trace in Chrome's form, such as `octopus sample ... --profile FILE` writes", file.display())
    })?;
    plot.check().with_context(|| format!("{}", file.display()))?;
    print(&write(args, &[Figure::new(plot)])?, &[], global)
}

fn write(args: &PlotArgs, figures: &[Figure]) -> Result<Vec<PathBuf>> {
    Ok(write_figures(&args.out, figures, &PictureFormat::all(&args.format))?)
}

/// Prints the files that were written, and in JSON the kinds that were left out and why.
fn print(files: &[PathBuf], left_out: &[(String, String)], global: Global) -> Result<Exit> {
    if global.json {
        let left_out: Vec<_> = left_out.iter().map(|(name, why)| json!({ "kind": name, "why": why })).collect();
        output::print_json(&json!({ "schema": 1, "files": files, "left_out": left_out }))?;
    } else {
        let lines: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Exit::Fine)
}

/// Names that were given between commas: those inside of brackets belong to a name, as in `Omega[2, 1]`.
fn whole_names(pieces: &[String]) -> Vec<String> {
    let is_open = |name: &String| name.contains('[') && !name.contains(']');
    let mut names: Vec<String> = Vec::new();
    for piece in pieces {
        match names.last_mut().filter(|name| is_open(name)) {
            Some(name) => *name = format!("{name},{piece}"),
            None => names.push(piece.clone()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::whole_names;

    #[test]
    fn commas_in_brackets_belong_to_names() {
        let pieces = ["mu", "Omega[2", " 1]", "b[*", "3]", "tau"].map(str::to_owned);
        assert_eq!(whole_names(&pieces), ["mu", "Omega[2, 1]", "b[*,3]", "tau"]);
    }
}
