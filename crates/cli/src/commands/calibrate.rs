//! `octopus calibrate MODEL --out DIR` tests the sampler with a model.
//!
//! How often sequences are written, and how many data sets are claimed together, stand here.

use crate::args::{CalibrateArgs, Global, PictureFormat};
use crate::calibration::{
    CalibrationMachine, Folder, any_data_set, check_false_alarm, default_kept, geweke_text, of_moments, of_ranks,
    only_cpu, ranks_text, setting_in_options, simulated, threads,
};
use crate::config::RunConfig;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Timer;
use crate::share::{Outcomes, SharedWork, tell_share};
use anyhow::Result;
use octopus_calibrate::{
    CalibrateError, CalibratedSet, CalibrationSettings, GewekeSettings, SelfCheck, Table, found_bytes, geweke_bytes,
    geweke_sequences, judge, judge_geweke, self_check,
};
use octopus_density::LogDensity;
use octopus_device::DeviceRequest;
use octopus_files::WithInfinities;
use octopus_models::Simulated;
use octopus_report::{Figure, write_figures};
use octopus_runs::{MemoryNeed, RunCost};
use octopus_sampler::SamplerConfig;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The time between two files of sequences, which is what a power cut costs at most.
const PART: Duration = Duration::from_secs(2);
/// The number of data sets that are claimed together: some seconds of work, so that claims cost little.
const BLOCK: usize = 8;

/// The message that says how to go on when a calibration has ended before its last data set.
const STOPPED: &str =
    "the calibration stopped; data sets that are done are kept, and the same command goes on, with --device cpu too";

/// Calibrates a model.
///
/// # Errors
/// When settings are out of range, the folder holds another calibration or cannot be written, or a device fails.
pub(crate) fn run(args: &CalibrateArgs, global: Global) -> Result<Exit> {
    let model = global.models.find(&args.model)?;
    let config = RunConfig::of_calibration(args, model, global.models)?;
    check_false_alarm(args.false_alarm)?;
    let asked = config.device(&args.machine)?;
    let simulated = simulated(&config, model, args.geweke)?;
    let work = CalibrationWork {
        args,
        global,
        asked,
        sampler: config.sampler,
        model: model_json(args, &simulated)?,
        simulated,
        interrupt: Interrupt::listen(),
    };
    if args.geweke {
        only_cpu(&work.asked)?;
        return work.geweke();
    }
    let any = any_data_set(&*work.simulated.simulator)?;
    work.ranks(&*any, &RunCost::of_equals(&*any, &work.sampler, args.datasets as usize))
}

/// Returns what the outcomes of all data sets take of the memory.
fn found_need(density: &dyn LogDensity, data_sets: u32) -> MemoryNeed {
    MemoryNeed {
        what: format!("--datasets {data_sets}: what is found of them"),
        bytes: found_bytes(density, data_sets),
        advice: "ask for fewer --datasets".to_owned(),
    }
}

/// Returns what Geweke's test takes of the memory.
fn geweke_need(density: &dyn LogDensity, settings: &GewekeSettings, threads: usize) -> MemoryNeed {
    MemoryNeed {
        what: format!(
            "--sequences {} --chains {}: the test on --threads {threads}",
            settings.sequences, settings.sampler.chains
        ),
        bytes: geweke_bytes(density, settings, threads),
        advice: "ask for fewer --chains, --sequences or --threads, or a shorter --tune".to_owned(),
    }
}

/// Returns the model with its settings, for the calibration's record.
fn model_json(args: &CalibrateArgs, simulated: &Simulated) -> Result<Value> {
    let mut model = serde_json::to_value(&simulated.settings)?;
    if let Value::Object(model) = &mut model {
        model.insert("name".to_owned(), args.model.clone().into());
    }
    Ok(model)
}

/// Converts an error; a setting is called by its option's name.
fn in_options(error: CalibrateError) -> anyhow::Error {
    match error {
        CalibrateError::Sampler(error) => anyhow::Error::from(error).context(STOPPED),
        other => setting_in_options(other),
    }
}

struct CalibrationWork<'a> {
    args: &'a CalibrateArgs,
    global: Global,
    simulated: Simulated,
    /// The model as the calibration's record has it.
    model: Value,
    sampler: SamplerConfig,
    /// The device that is asked for.
    asked: DeviceRequest,
    interrupt: Interrupt,
}

impl CalibrationWork<'_> {
    fn ranks(&self, density: &dyn LogDensity, cost: &RunCost) -> Result<Exit> {
        let Self { args, sampler, simulated, model, interrupt, .. } = self;
        let simulator = &*simulated.simulator;
        let kept = args.kept.unwrap_or_else(|| default_kept(sampler));
        let settings = CalibrationSettings { seed: sampler.seed, kept, sampler: sampler.clone() };
        settings.validate().map_err(in_options)?;
        found_need(density, args.datasets).check()?;
        let machine = CalibrationMachine::open(&args.machine, self.asked.clone(), density, cost, self.global.quiet)?;
        machine.check_memory(density, &settings, args.datasets)?;
        let record = json!({ "schema": 2, "test": "ranks", "model": model, "sampler": sampler, "kept": kept });
        let folder = Folder::open(&args.out, &record, args.force, args.share.is_shared())?;
        let work = SharedWork {
            folder: &args.out,
            share: &args.share,
            all: args.datasets as usize,
            first: 0,
            pieces: "data sets",
            block: BLOCK,
            quiet: self.global.quiet,
            stop: &|| interrupt.asked(),
        };
        let mut ranks = folder.ranks(Table::of(simulator), &work.label())?;
        let (all, model) = (args.datasets, &simulated.description);
        let there = |ranks: &Outcomes<Table>| ranks.found().range(..u64::from(all)).count();
        let note = format!("{all} data sets of {model}, {} of them are there", there(&ranks));
        output::unless_quiet(self.global.quiet, &[note]).iter().for_each(output::note);
        let is_complete = work.find(&mut ranks, &mut |numbers, keep| {
            let numbers = numbers.filter_map(|number| u32::try_from(number).ok());
            machine.run(simulator, &settings, numbers, &|| interrupt.asked(), keep).map_err(in_options)
        })?;
        if !is_complete {
            let kept = format!("{} of {all} data sets are kept, the same command goes on", there(&ranks));
            return self.interrupted(&kept);
        }
        if args.share.is_shared() {
            return tell_share(&args.out, &args.share, ("data sets", work.all, there(&ranks)), self.global.json);
        }
        ranks.finish()?;
        // An earlier session that was asked for more data sets may have left more of them.
        let mut judged: Vec<CalibratedSet> =
            ranks.found().range(..u64::from(all)).map(|(_, one)| one.clone()).collect();
        let judgement = judge(simulator, &settings, &mut judged, args.false_alarm)?;
        let checks = self_check(simulator, settings.seed, sampler)?;
        let text = ranks_text(&judgement, &checks, &simulated.description);
        let result = json!({ "ranks": WithInfinities(&judgement) });
        self.conclude(&folder, record, result, &checks, judgement.calibrated, of_ranks(&judgement)?.into(), &text)
    }

    fn geweke(&self) -> Result<Exit> {
        let Self { args, sampler, simulated, model, interrupt, .. } = self;
        let simulator = &*simulated.simulator;
        let settings = GewekeSettings {
            seed: sampler.seed,
            sequences: args.sequences,
            steps: args.steps.unwrap_or(simulated.geweke_steps),
            sampler: sampler.clone(),
            false_alarm: args.false_alarm,
        };
        let record = json!({
            "schema": 1,
            "test": "geweke",
            "model": model,
            "sampler": sampler,
            "sequences": args.sequences,
            "steps": settings.steps,
        });
        settings.validate().map_err(in_options)?;
        let threads = threads(&args.machine);
        geweke_need(&*any_data_set(simulator)?, &settings, threads).check()?;
        let folder = Folder::open(&args.out, &record, args.force, false)?;
        let mut done = folder.sequences()?;
        // What somebody has changed in the file is done again.
        done.retain(|sequence| sequence.is_of(simulator, &settings));
        done.sort_by_key(|sequence| sequence.number);
        done.dedup_by_key(|sequence| sequence.number);
        if !self.global.quiet {
            let (all, steps, model) = (args.sequences, settings.steps, &simulated.description);
            output::note(format!("{all} sequences of {steps} steps of {model}, {} of them are there", done.len()));
        }
        let numbers: BTreeSet<u32> = done.iter().map(|sequence| sequence.number).collect();
        let missing = (0..args.sequences as u32).filter(|number| !numbers.contains(number));
        let mut part = Timer::start(PART, Instant::now());
        let run = geweke_sequences(simulator, &settings, missing, threads, &|| interrupt.asked(), &mut |sequence| {
            done.push(sequence);
            if part.due(Instant::now()) {
                folder.keep_sequences(&done)?;
                part = Timer::start(PART, Instant::now());
            }
            Ok::<(), anyhow::Error>(())
        });
        // The sequences that are done are kept even when another has failed.
        folder.keep_sequences(&done)?;
        run.map_err(in_options)?;
        if done.len() < args.sequences {
            let kept = format!("{} of {} sequences are kept, the same command goes on", done.len(), args.sequences);
            return self.interrupted(&kept);
        }
        let found = judge_geweke(simulator, &settings, &mut done);
        let checks = self_check(simulator, settings.seed, sampler)?;
        let text = geweke_text(&found, &checks, &simulated.description);
        let figures = vec![of_moments(&found)];
        self.conclude(
            &folder,
            record,
            json!({ "geweke": WithInfinities(&found) }),
            &checks,
            found.calibrated,
            figures,
            &text,
        )
    }

    fn interrupted(&self, kept: &str) -> Result<Exit> {
        output::note(format!("interrupted: {kept}"));
        if self.global.json {
            output::print_json(&json!({ "schema": 1, "status": "interrupted", "kept": kept }))?;
        }
        Ok(Exit::Interrupted)
    }

    #[allow(clippy::too_many_arguments, reason = "all that both tests have found, written in one place")]
    fn conclude(
        &self,
        folder: &Folder,
        settings: Value,
        found: Value,
        checks: &[SelfCheck],
        calibrated: bool,
        figures: Vec<Figure>,
        text: &str,
    ) -> Result<Exit> {
        let calibrated = calibrated && !checks.iter().any(SelfCheck::failed);
        let mut result = json!({ "schema": 1, "calibrated": calibrated, "settings": settings, "self_check": checks });
        if let (Value::Object(result), Value::Object(found)) = (&mut result, found) {
            result.extend(found);
        }
        folder.write_result(&result)?;
        write_figures(&folder.join(""), &figures, &PictureFormat::all(&self.args.format))?;
        if self.global.json {
            output::print_json(&result)?;
        } else {
            output::print(&format!("{text}\nfolder: {}", self.args.out.display()))?;
        }
        Ok(if calibrated { Exit::Fine } else { Exit::Bad })
    }
}
