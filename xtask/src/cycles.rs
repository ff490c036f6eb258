//! `cargo xtask cycles`: what the committed kernels take on GPUs that are not here.
//!
//! Three things are put together: the machine code that ptxas makes of the PTX, with the stalls and waits that it has put into
//! each instruction; how often each line of the PTX was executed, by the interpreter; and assumed latencies, with where they
//! are from. The first two are facts, the third makes a prediction of them, from a lower to an upper bound.

mod arch;
mod control;
mod counts;
mod estimate;
mod flow;
mod kind;
mod latency;
mod machine_code;
mod mangled;
mod origin;
mod program;
mod range;
mod sass;
mod schedule;
mod table;
mod warp;

use crate::ptx::{self, tools};
use crate::run::{self, TaskOutcome};
use anyhow::{Context, Result, bail};
use arch::{ARCHITECTURES, Architecture};
use counts::Counts;
use estimate::{Estimate, Kernel};
use machine_code::Assemblers;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct CyclesOptions {
    /// The folder with executed counts.
    counts: PathBuf,
    /// The beginnings of the names of the kernels; none for all.
    kernels: Vec<String>,
    architectures: Vec<&'static str>,
    /// Assemble everything with the newest assembler.
    newest: bool,
    /// Where everything is written to, as JSON.
    json: Option<PathBuf>,
}

impl CyclesOptions {
    /// # Errors
    /// A message for the user about an option that is missing, unknown or without its value.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options =
            Self { counts: PathBuf::new(), kernels: Vec::new(), architectures: Vec::new(), newest: false, json: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--counts" => options.counts = value()?.into(),
                "--json" => options.json = Some(value()?.into()),
                "--kernels" => options.kernels.extend(value()?.split(',').map(str::to_owned)),
                "--newest" => options.newest = true,
                "--arch" => {
                    for name in value()?.split(',') {
                        let known = Architecture::named(name);
                        let known = known.ok_or_else(|| format!("--arch {name}: known are {}", names().join(", ")))?;
                        options.architectures.push(known.name);
                    }
                }
                _ => return Err(format!("cycles does not know {argument:?}")),
            }
        }
        if options.counts.as_os_str().is_empty() {
            return Err("cycles needs --counts and the folder of executed counts".into());
        }
        if options.architectures.is_empty() {
            options.architectures = names().into();
        }
        Ok(options)
    }
}

fn names() -> [&'static str; ARCHITECTURES.len()] {
    ARCHITECTURES.map(|architecture| architecture.name)
}

/// What is written as JSON.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    estimates: &'a [Estimate],
}

/// Estimates every kernel that there are counts of, and prints the tables.
///
/// # Errors
/// When counts are of no kernel, the assemblers cannot be had, or a file cannot be read or written.
pub(crate) fn run(root: &Path, options: &CyclesOptions) -> Result<TaskOutcome> {
    run::timed("cycles", || {
        let counts = Counts::read(&options.counts, &options.kernels)?;
        let tools = tools::find(root)?;
        let compiler = ptx::KernelCompiler::open(root, &tools, "cycles")?;
        let modules = modules(root, &compiler, &counts)?;
        compiler.close();
        let assemblers = Assemblers(&tools);
        let jobs: Vec<(&Module, &str)> =
            modules.iter().flat_map(|module| options.architectures.iter().map(move |name| (module, *name))).collect();
        let estimates = jobs.par_iter().map(|(module, name)| {
            estimates(&assemblers, module, name, options.newest).with_context(|| format!("{} for {name}", module.name))
        });
        let mut estimates: Vec<Estimate> = estimates.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        estimates.sort_by(|a, b| {
            (&a.entry, a.architecture.len(), a.architecture).cmp(&(&b.entry, b.architecture.len(), b.architecture))
        });
        println!("{}", table::text(&estimates));
        if let Some(file) = &options.json {
            let text = serde_json::to_string_pretty(&Document { schema: 2, estimates: &estimates })?;
            fs::write(file, text + "\n").with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(TaskOutcome::Passed)
    })
}

/// A module with the counts of its kernels.
struct Module<'a> {
    name: String,
    ptx: String,
    /// The function that each line of the PTX is of.
    owners: Vec<String>,
    /// With the most threads of a block.
    kernels: Vec<(&'a Counts, u32)>,
}

/// The modules of the kernels that were counted.
fn modules<'a>(root: &Path, compiler: &ptx::KernelCompiler, counts: &'a [Counts]) -> Result<Vec<Module<'a>>> {
    let mut modules = Vec::new();
    for ptx::CommittedText { name, text } in ptx::committed_texts(root)? {
        let entries = ptx::threads_of_entries(&text)?;
        let kernels: Vec<(&Counts, u32)> = entries
            .iter()
            .filter_map(|(name, threads)| Some((counts.iter().find(|counts| counts.entry == *name)?, *threads)))
            .collect();
        if !kernels.is_empty() {
            let located = compiler.with_lines(&name)?;
            let owners = origin::owners(&text, &located).with_context(|| name.clone())?;
            modules.push(Module { name, ptx: text, owners, kernels });
        }
    }
    let found = modules.iter().flat_map(|module| &module.kernels).map(|(counts, _)| counts.entry.as_str());
    let found: BTreeSet<&str> = found.collect();
    let unknown = counts.iter().map(|counts| counts.entry.as_str()).filter(|entry| !found.contains(entry));
    let unknown: Vec<&str> = unknown.collect();
    if !unknown.is_empty() {
        bail!("counts of no committed kernel: {}", unknown.join(", "));
    }
    Ok(modules)
}

fn estimates(assemblers: &Assemblers, module: &Module, name: &str, newest: bool) -> Result<Vec<Estimate>> {
    let architecture = Architecture::named(name).with_context(|| format!("no architecture {name}"))?;
    let (ptxas, version) = assemblers.of(architecture, newest);
    let code = assemblers.assemble(ptxas, name, &module.ptx)?;
    let kernels = module.kernels.iter().map(|(counts, threads)| {
        let entry = &counts.entry;
        let listing = code.listings.get(entry).with_context(|| format!("no machine code of {entry}"))?;
        let used = code.used.get(entry).with_context(|| format!("ptxas says nothing of {entry}"))?;
        let kernel = Kernel { counts, threads: *threads, owners: &module.owners };
        Ok(Estimate::new(&kernel, architecture, version, (listing, *used)))
    });
    kernels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<CyclesOptions, String> {
        CyclesOptions::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn all_architectures_unless_some_are_named() {
        let all = parse("--counts folder").unwrap();
        assert_eq!((all.architectures, all.newest, all.json), (names().to_vec(), false, None));
        let some =
            parse("--arch sm_90 --counts folder --newest --json file --arch sm_80,sm_120 --kernels draw_,array_exp")
                .unwrap();
        assert_eq!(some.architectures, ["sm_90", "sm_80", "sm_120"]);
        assert_eq!((some.newest, some.json), (true, Some(PathBuf::from("file"))));
        assert_eq!((all.kernels.len(), some.kernels), (0, vec!["draw_".to_owned(), "array_exp".to_owned()]));
    }

    #[test]
    fn counts_are_needed_and_options_are_known() {
        assert!(parse("").unwrap_err().contains("--counts"));
        assert_eq!(parse("--arch").unwrap_err(), "--arch needs a value");
        assert_eq!(parse("--arch sm_75").unwrap_err(), "--arch sm_75: known are sm_80, sm_86, sm_90, sm_100, sm_120");
        assert_eq!(parse("--all").unwrap_err(), "cycles does not know \"--all\"");
    }
}
