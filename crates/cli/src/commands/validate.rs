//! `octopus validate [MODEL]` runs phase 0 from end to end, with any model.
//!
//! The draws and iterations of warm-up with `--quick` stand here.

use super::sample::tell_of_data;
use crate::args::{Global, ValidateArgs};
use crate::config::RunConfig;
use crate::exit::{Exit, UsageError};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Watcher;
use anyhow::{Result, bail};
use octopus_bench::engines::PeerRatio;
use octopus_phase0::Phase0Options;
use octopus_report::{Benchmark, Charset, Outcome as Overall, VerdictRow};
use octopus_runs::PreparedRun;
use octopus_sampler::{Precision, Strategy};
use octopus_suite::SuiteResults;
use std::path::Path;

/// The PRD's model.
const PRDS_MODEL: &str = "hierarchical-normal";
/// The PRD's model as a program, which other frameworks have, too.
const PRDS_PROGRAM: &str = "hierarchical-normal-stan";

/// Runs phase 0 from end to end.
///
/// # Errors
/// When the data or settings cannot be used, a stage cannot run, or a GPU was asked for that cannot sample.
pub(crate) fn run(args: ValidateArgs, global: Global) -> Result<Exit> {
    let (quick, require_gpu, stages) = (args.quick, args.require_gpu, args.stages.clone());
    if args.peers.is_some() && args.model != PRDS_MODEL {
        let why = format!(
            "--peers: other frameworks were measured with {PRDS_MODEL}, the PRD's model, not with {}",
            args.model
        );
        return Err(UsageError(why).into());
    }
    let peers = args.peers.as_deref().map_or_else(|| Ok(Vec::new()), peers)?;
    let args = args.into_sample();
    let model = global.models.find(&args.model)?;
    let config = RunConfig::from_args(&args, model, global.models)?;
    check(&config)?;
    let problem = config.problem(model)?;
    config.warnings.iter().for_each(output::warn);
    tell_of_data(&*problem, global);
    let run = PreparedRun::of_run(problem.density(), config.request(&args.machine)?)?;
    let device = &run.device;
    if !device.others.is_empty() {
        let why = format!("--device {}: a report is of one device; `octopus sample` takes several", device.name());
        return Err(UsageError(why).into());
    }
    output::unless_quiet(global.quiet, &device.lines()).iter().for_each(output::note);
    let out = args.out.unwrap_or_else(|| octopus_phase0::default_folder(&*problem));
    run.check_room(&out, &[problem.density()])?;
    let options = Phase0Options {
        problem: &*problem,
        out: out.clone(),
        run,
        quick,
        stages,
        peers,
        require_gpu,
        say: &|text| {
            if !global.quiet {
                output::note(text);
            }
        },
    };
    let observer = &mut Watcher::new(Interrupt::listen(), global.quiet);
    let Some(report) = octopus_phase0::run(&options, observer)? else {
        output::note("interrupted: no report was written");
        return Ok(Exit::Interrupted);
    };
    let verdict = &report.verdict;
    if global.json {
        output::print_json(&report)?;
    } else {
        let page = out.join("index.html");
        let times = report.benchmark.as_ref().map(Benchmark::times_text).unwrap_or_default();
        let verdict = verdict.text(Charset::from_environment());
        output::print(&format!("{verdict}\n{times}report: {}", page.display()))?;
    }
    if !global.quiet {
        without_gpu(&verdict.rows).iter().for_each(output::note);
    }
    Ok(match verdict.outcome {
        Overall::Passed => Exit::Fine,
        Overall::Failed => Exit::Bad,
        Overall::GpuMissing => Exit::NoHardware,
    })
}

/// Reads how other frameworks did on the PRD's model in the results of a suite.
fn peers(results: &Path) -> Result<Vec<PeerRatio>> {
    let found = SuiteResults::open(results)?.beside_octopus(PRDS_PROGRAM);
    if found.is_empty() {
        bail!(
            "--peers {}: no framework beside Octopus has passed on {PRDS_PROGRAM} there: run `octopus bench run hierarchical`",
            results.display()
        );
    }
    Ok(found.into_iter().map(|(what, ratio)| PeerRatio { what, ratio }).collect())
}

/// Returns the note that names the criteria that were skipped because there is no GPU, if there are any.
fn without_gpu(rows: &[VerdictRow]) -> Option<String> {
    let skipped = rows.iter().filter(|row| row.lacks_gpu());
    let ids: Vec<&str> = skipped.map(|row| row.id.as_str()).collect();
    (!ids.is_empty()).then(|| format!("no GPU took part: {} skipped", ids.join(", ")))
}

/// Checks that the run is one that can be compared: of few long chains, in the precision in which CPU and GPU have the
/// same bits.
fn check(config: &RunConfig) -> Result<(), UsageError> {
    config.of_draws_alone("validate")?;
    if config.auto.is_some() || config.sampler.strategy == Strategy::ManyShort {
        let why = "validate samples cross-chain or four-long, and compares the run with others itself";
        return Err(UsageError(format!("sampler.strategy: {why}")));
    }
    if config.sampler.precision != Precision::F64 {
        return Err(UsageError("sampler.precision: validate samples in f64, and measures the others itself".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_report::Status;
    use octopus_sampler::SamplerConfig;

    #[test]
    fn criteria_are_named_that_were_skipped_for_want_of_a_gpu() {
        let row = |id: &str, status, wants_gpu| VerdictRow {
            id: id.to_owned(),
            priority: String::new(),
            criterion: String::new(),
            threshold: String::new(),
            value: String::new(),
            status,
            advice: None,
            wants_gpu,
        };
        let skipped = || Status::Skipped { reason: "none here".to_owned() };
        let rows = [
            row("P0.1", skipped(), true),
            row("P0.2", Status::Fail, true),
            row("P0.3", skipped(), false),
            row("P0.4", skipped(), true),
        ];
        assert_eq!(without_gpu(&rows).as_deref(), Some("no GPU took part: P0.1, P0.4 skipped"));
        assert_eq!(without_gpu(&rows[1..3]), None);
    }

    #[test]
    fn only_few_long_chains_in_f64_are_validated() {
        assert!(check(&RunConfig::default()).is_ok());
        let refused = |change: &dyn Fn(&mut RunConfig), field: &str| {
            let mut config = RunConfig::default();
            change(&mut config);
            assert!(check(&config).unwrap_err().to_string().starts_with(field), "{config:?}");
        };
        let four_long = SamplerConfig { strategy: Strategy::FourLong, ..RunConfig::default().sampler };
        assert!(check(&RunConfig { sampler: four_long, ..RunConfig::default() }).is_ok());
        refused(&|config| config.auto = Some(false), "sampler.strategy");
        refused(&|config| config.sampler.strategy = Strategy::ManyShort, "sampler.strategy");
        refused(&|config| config.sampler.precision = Precision::F32, "sampler.precision");
    }
}
