//! `octopus plot RUN|FILE.nc --out DIR`

use crate::args::{Global, PictureFormat, PlotArgs};
use crate::exit::Exit;
use crate::observed::Predictive;
use crate::phase0::check_predictive;
use crate::trace::{Trace, rows};
use crate::{output, problem::Problem};
use anyhow::{Context, Result};
use octopus_density::LogDensity;
use octopus_diag::{DEFAULT_PROB, summary};
use octopus_report::{ForestPlot, Plot, PosteriorPlot, PpcPlot, TracePlot, render};
use serde_json::json;
use std::collections::HashMap;

/// Replicated data sets of each chain.
const REPLICATES: usize = 25;

/// Draws trace, posterior, forest and, where the data are known, the posterior predictive check.
///
/// # Errors
/// When the draws cannot be read or a picture cannot be written.
pub(crate) fn run(args: &PlotArgs, global: Global) -> Result<Exit> {
    let trace = Trace::open(&args.trace)?;
    let posterior = trace.posterior(&args.trace)?;
    let problem = trace.problem();
    let truth = match &problem {
        Ok(Problem { model, truth: Some(truth), .. }) => truth.by_name(model.layout()),
        _ => HashMap::new(),
    };
    let summary = summary(posterior, DEFAULT_PROB).with_context(|| format!("{}", args.trace.display()))?;
    let rows = rows(&summary.parameters, &truth);
    let mut plots = vec![
        ("trace_plot", Plot::Trace(TracePlot::from_posterior(posterior, trace.data.group("sample_stats"), &rows))),
        ("posterior_plot", Plot::Posterior(PosteriorPlot::from_posterior(posterior, &rows))),
        ("forest_plot", Plot::Forest(ForestPlot::from_posterior(posterior, &rows))),
    ];
    match problem {
        Ok(problem) => {
            let seed = trace.record.as_ref().map_or(0, |record| record.sampler.seed);
            let predictive = Predictive::new(&trace.data, &problem.model, seed, REPLICATES)?;
            let observed = problem.model.data().values().to_vec();
            let statistics = check_predictive(&observed, &predictive.replicates);
            plots.push(("ppc_plot", Plot::Ppc(PpcPlot { observed, replicates: predictive.replicates, statistics })));
        }
        Err(why) if !global.quiet => output::note(format!("no ppc_plot: {}", output::chain(&why))),
        Err(_) => {}
    }
    let format = PictureFormat::all(&args.format);
    let mut files = Vec::new();
    for (name, plot) in &plots {
        files.extend(render(plot, &args.out.join(name), format)?);
    }
    if global.json {
        output::print_json(&json!({ "schema": 1, "files": files }))?;
    } else {
        let lines: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        output::print(&lines.join("\n"))?;
    }
    Ok(Exit::Fine)
}
