//! `octopus model check FILE.stan` and `octopus model show FILE.stan`: what a program is, and what it does. `library.rs`
//! has the commands of the models that ship.

mod library;

use super::sample::tell_of_data;
use crate::args::{Global, ProgramArgs, ProgramCommand};
use crate::config::RunConfig;
use crate::exit::Exit;
use crate::output;
use anyhow::{Error, Result};
use octopus::program::{STEPS_OF_A_SOLUTION, StepSummary};
use octopus::{check_bytes, check_model};
use octopus_density::{Layout, Role, Variable};
use octopus_diag::counted;
use octopus_models::{BuildError, Problem, ProgramOverview, ShippedProgram, StanModel, StanProblem};
use octopus_runs::{MemoryNeed, check_names};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long gradients are measured.
const MEASURED: Duration = Duration::from_millis(200);
/// Gradients between two looks at the clock, where they are quick.
const AT_ONCE: u32 = 16;
/// Lines of steps that are shown: of those that do the most.
const SHOWN: usize = 40;

/// Lists models, copies a program or describes one.
///
/// # Errors
/// When the program is no Stan, a file cannot be written, or stdout cannot.
pub(super) fn run(command: &ProgramCommand, global: Global) -> Result<Exit> {
    match command {
        ProgramCommand::List => library::list(global),
        ProgramCommand::Copy(args) => library::copy(args, global),
        ProgramCommand::Check(args) => check(args, global),
        ProgramCommand::Show(args) => show(args, global),
    }
}

fn check(args: &ProgramArgs, global: Global) -> Result<Exit> {
    let config = RunConfig::from_args(&args.as_sample(), &StanModel, global.models)?;
    let program = StanModel::program(&config.settings).map_err(|error| explained(&config, error))?;
    let alone = ProgramOverview::new(&program, None);
    let has_own = ShippedProgram::find(&args.program).is_some();
    let has_data = has_own || args.data.is_some() || !args.set.is_empty() || alone.data.is_empty();
    if !has_data {
        let bad_name = check_names(&names(&alone)).err().map(|error| error.to_string());
        let good = alone.unsupported.is_empty() && bad_name.is_none();
        let note = "data: none were given; with --data FILE they and the gradient are checked too";
        let faults: Vec<&str> = bad_name.as_deref().into_iter().collect();
        let found = if good { Value::Null } else { json!({ "faults": faults }) };
        return tell(&alone, &found, &format!("{alone}{}", verdict(good, &faults)), good, note, global);
    }
    let problem = match StanProblem::new(&config.settings, None) {
        Ok(problem) => problem,
        Err(BuildError::ProgramData(faults)) => {
            let faults: Vec<&str> = faults.lines().collect();
            let text = format!("{alone}{}", verdict(false, &faults));
            return tell(&alone, &json!({ "data_faults": faults }), &text, false, "", global);
        }
        // What is not supported is in the overview, with its places.
        Err(BuildError::Program(_)) if !alone.unsupported.is_empty() => {
            return tell(&alone, &Value::Null, &format!("{alone}{}", verdict(false, &[])), false, "", global);
        }
        Err(error) => return Err(explained(&config, error)),
    };
    tell_of_data(&problem, global);
    let density = problem.density();
    let need = MemoryNeed {
        what: format!("a check of {}", counted(density.dim(), "coordinate")),
        bytes: check_bytes(density),
        advice: "give fewer data: a program is as sound with a few".to_owned(),
    };
    need.check()?;
    let overview = ProgramOverview::new(&program, Some(&problem));
    let found = check_model(&problem, config.sampler.seed);
    problem.failures().iter().for_each(output::warn);
    let good = found.good() && overview.unsupported.is_empty();
    let text = format!("{overview}{found}\n{}", verdict(good, &[]));
    tell(&overview, &serde_json::to_value(&found)?, &text, good, "", global)
}

/// The variables of a program's trace, whose sizes are not known yet.
fn names(overview: &ProgramOverview) -> Layout {
    let all = [&overview.parameters, &overview.transformed_parameters, &overview.generated_quantities];
    let variable = |name: &String| Variable { name: name.clone(), dims: Vec::new(), role: Role::Derived };
    Layout { variables: all.into_iter().flatten().map(|of| variable(&of.name)).collect() }
}

/// Prints what was found.
fn tell(
    overview: &ProgramOverview,
    checks: &Value,
    text: &str,
    good: bool,
    note: &str,
    global: Global,
) -> Result<Exit> {
    if global.json {
        output::print_json(&json!({ "schema": 1, "good": good, "program": overview, "found": checks }))?;
    } else {
        output::print(text)?;
        if !global.quiet && !note.is_empty() {
            output::note(note);
        }
    }
    Ok(if good { Exit::Fine } else { Exit::Bad })
}

/// The last lines: what is wrong, else that nothing is.
fn verdict(good: bool, faults: &[&str]) -> String {
    if good {
        return "OK".to_owned();
    }
    let faults: String = faults.iter().map(|fault| format!("FAIL {fault}\n")).collect();
    format!("{faults}WRONG: see above")
}

fn show(args: &ProgramArgs, global: Global) -> Result<Exit> {
    let config = RunConfig::from_args(&args.as_sample(), &StanModel, global.models)?;
    let problem = StanProblem::new(&config.settings, None).map_err(|error| explained(&config, error))?;
    tell_of_data(&problem, global);
    let compiled = StanModel::compile(&config.settings).map_err(|error| explained(&config, error))?;
    let nanoseconds = measure(&problem);
    let steps = compiled.steps();
    let work: usize = steps.iter().map(|step| step.work).sum();
    let share = |part: usize| 100.0 * part as f64 / work.max(1) as f64;
    if global.json {
        let steps = steps.iter().map(|step| {
            json!({ "kind": step.kind, "rows": step.rows, "operations": step.operations, "share_of_operations": share(step.work) })
        });
        output::print_json(&json!({
            "schema": 1, "coordinates": compiled.dim(), "nanoseconds_per_gradient": nanoseconds,
            "operations": work, "steps": steps.collect::<Vec<_>>(),
        }))?;
        return Ok(Exit::Fine);
    }
    let mut text = format!("{}, {}", counted(compiled.dim(), "coordinate"), counted(steps.len(), "step"));
    text += &match nanoseconds {
        Some(nanoseconds) => format!(", {nanoseconds:.0} ns for a gradient\n"),
        None => ", no gradient near the origin\n".to_owned(),
    };
    let steps_are_guessed = steps.iter().any(|step| step.kind == "solve");
    let groups = alike(steps);
    let mut works: Vec<usize> = groups.iter().map(StepGroup::work).collect();
    works.sort_unstable_by(|a, b| b.cmp(a));
    let least = works.get(SHOWN - 1).copied().unwrap_or(0);
    let (shown, others): (Vec<StepGroup>, _) = groups.into_iter().partition(|group| group.work() >= least);
    for group in &shown {
        let more = if group.count > 1 { format!(", and {} more like it", group.count - 1) } else { String::new() };
        text += &format!("{:>5.1} %  {}{more}\n", share(group.work()), group.step);
    }
    if !others.is_empty() {
        let (count, work) =
            others.iter().fold((0, 0), |(count, work), group| (count + group.count, work + group.work()));
        text += &format!("{:>5.1} %  {} of less work each\n", share(work), counted(count, "more step"));
    }
    text += "(shares are of operations: an exponential counts as much as a sum)";
    if steps_are_guessed {
        text += &format!("\n(solutions of differential equations count as {STEPS_OF_A_SOLUTION} steps each)");
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// Steps that do the same over as many rows.
struct StepGroup {
    step: StepSummary,
    count: usize,
}

impl StepGroup {
    fn work(&self) -> usize {
        self.count.saturating_mul(self.step.work)
    }
}

/// Groups steps, in the order of the first of each.
fn alike(steps: Vec<StepSummary>) -> Vec<StepGroup> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<StepGroup> = Vec::new();
    for step in steps {
        let at = *places.entry(step.to_string()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.count += 1,
            None => groups.push(StepGroup { step, count: 1 }),
        }
    }
    groups
}

/// Returns the nanoseconds of a gradient at a point near the origin; `None` where none has a value.
fn measure(problem: &dyn Problem) -> Option<f64> {
    let density = problem.density();
    let mut gradient = vec![0.0; density.dim()];
    let points = [0.0, 0.1, -0.1, 0.5, -0.5, 1.0].map(|at| vec![at; density.dim()]);
    let point = points.iter().find(|point| density.logp_grad(point, &mut gradient).is_ok())?;
    let (begin, mut count) = (Instant::now(), 0_u32);
    while begin.elapsed() < MEASURED {
        // The first one is measured alone: it may take seconds.
        let at_once = if count == 0 { 1 } else { AT_ONCE };
        for _ in 0..at_once {
            // Its value was looked at above.
            let _ = std::hint::black_box(density.logp_grad(point, &mut gradient));
        }
        count += at_once;
    }
    Some(begin.elapsed().as_secs_f64() * 1e9 / f64::from(count))
}

fn explained(config: &RunConfig, error: BuildError) -> Error {
    config.explained(error, octopus_models::Model::options(&StanModel))
}
