//! `octopus check MODEL` checks a model at draws from its prior, before it is sampled.

use super::sample::tell_of_data;
use crate::args::{CheckArgs, Global};
use crate::config::RunConfig;
use crate::exit::Exit;
use crate::output;
use anyhow::Result;
use octopus::{check_bytes, check_model};
use octopus_density::LogDensity;
use octopus_diag::counted;
use octopus_runs::MemoryNeed;
use serde_json::json;

/// Checks a model with its data, and prints a line for each check.
///
/// # Errors
/// When the data or settings cannot be used, or stdout cannot be written.
pub(crate) fn run(args: CheckArgs, global: Global) -> Result<Exit> {
    let asked = args.into_sample();
    let model = global.models.find(&asked.model)?;
    let config = RunConfig::from_args(&asked, model, global.models)?;
    let problem = config.problem(model)?;
    config.warnings.iter().for_each(output::warn);
    tell_of_data(&*problem, global);
    check_need(problem.density()).check()?;
    let found = check_model(&*problem, config.sampler.seed);
    let good = found.good();
    if global.json {
        let mut result = json!({ "schema": 1, "good": good });
        if let (Some(result), serde_json::Value::Object(found)) =
            (result.as_object_mut(), serde_json::to_value(&found)?)
        {
            result.extend(found);
        }
        output::print_json(&result)?;
    } else {
        output::print(&found.to_string())?;
    }
    Ok(if good { Exit::Fine } else { Exit::Bad })
}

/// Returns what a check takes of the memory.
fn check_need(density: &dyn LogDensity) -> MemoryNeed {
    MemoryNeed {
        what: format!("a check of {}", counted(density.dim(), "coordinate")),
        bytes: check_bytes(density),
        advice: "ask for fewer groups: a model is as sound with a few".to_owned(),
    }
}
