//! `octopus validate` runs phase 0 from end to end.
//!
//! The draws and iterations of warm-up with `--quick` stand here.

use crate::args::{Global, ValidateArgs};
use crate::config::{chosen, config_error, prd_sampler};
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Watcher;
use anyhow::Result;
use octopus_phase0::Phase0Options;
use octopus_report::{Charset, Outcome as Overall, Status};
use octopus_runs::{DeviceInventory, RunCost};
use octopus_sampler::SamplerConfig;

/// The draws and warm-up iterations with --quick. With fewer draws the largest R-hat of 203 good parameters would come
/// close to 1.01 by chance.
const QUICK: (usize, usize) = (1000, 500);

/// Runs phase 0 from end to end.
///
/// # Errors
/// When a stage cannot run, or a GPU was asked for that cannot sample.
pub(crate) fn run(args: &ValidateArgs, global: Global) -> Result<Exit> {
    if args.groups == 0 {
        return Err(UsageError("--groups 0: at least one group".into()).into());
    }
    let mut sampler = SamplerConfig { seed: args.seed, ..prd_sampler() };
    if args.quick {
        (sampler.draws, sampler.tune) = QUICK;
    }
    sampler.parameterization = args.parameterization.unwrap_or(sampler.parameterization);
    sampler.metric = args.metric.unwrap_or(sampler.metric);
    sampler.validate().map_err(|error| config_error(&error))?;
    let asked = chosen(&args.machine)?;
    let problem = octopus_phase0::of_size(args.groups)?;
    let device = DeviceInventory::look(asked.clone())
        .choose(&RunCost::of_run(problem.model(), &sampler), args.machine.no_fallback)?;
    if !device.others.is_empty() {
        let why = format!("--device {}: a report is of one device; `octopus sample` takes several", device.name());
        return Err(UsageError(why).into());
    }
    if !global.quiet {
        device.notes.iter().for_each(output::note);
    }
    let options = Phase0Options {
        out: args.out.clone(),
        groups: args.groups,
        sampler,
        quick: args.quick,
        require_gpu: args.require_gpu,
        asked: asked.choice,
        device,
        say: &|text| {
            if !global.quiet {
                output::note(text);
            }
        },
        command: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
    };
    let pool = octopus_runs::pool(args.machine.threads)?;
    let observer = &mut Watcher::new(Interrupt::install()?, global.quiet);
    let Some(report) = octopus_phase0::run(&options, &pool, observer)? else {
        output::note("interrupted: no report was written");
        return Ok(Exit::Interrupted);
    };
    let verdict = &report.verdict;
    if global.json {
        output::print_json(&report)?;
    } else {
        let page = args.out.join("index.html");
        output::print(&format!("{}report: {}", verdict.text(Charset::from_environment()), page.display()))?;
    }
    if !global.quiet {
        let skipped = verdict.rows.iter().filter(|row| row.wants_gpu && matches!(row.status, Status::Skipped { .. }));
        let ids: Vec<&str> = skipped.map(|row| row.id.as_str()).collect();
        if !ids.is_empty() {
            output::note(format!("no GPU took part: {} skipped", ids.join(", ")));
        }
    }
    Ok(match verdict.outcome {
        Overall::Passed => Exit::Fine,
        Overall::Failed => Exit::Bad,
        Overall::GpuMissing => Exit::NoHardware,
    })
}
