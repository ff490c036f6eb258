//! The inputs and outputs of each command: the one place where a new option that names a file is added.

use super::signs::Sign;
use super::{OutputKind, Outputs};
use crate::args::{
    BenchCommand, Cli, Command, DataArgs, DataCommand, DeviceCommand, ModelArgs, ProgramCommand, SampleArgs,
};
use crate::calibration::is_of_a_calibration;
use crate::commands::{is_of_a_batch, is_of_a_sweep};
use octopus_models::ShippedProgram;
use octopus_runs::{Init, RunFolder};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The most bytes of a file of settings that names further inputs.
const MOST_BYTES: u64 = 1 << 20;

/// The result of `octopus sweep`.
const SWEEP: Sign = Sign::Json("result of a sweep", &["schema", "sweep", "sampler"]);
/// The figures of `octopus device sampler`.
const FIGURES: Sign = Sign::Json("figures of a sampler", &["schema", "launches", "starts"]);
/// The summary of a batch, and the same as a table.
const BATCH: Sign = Sign::Json("summary of a batch", &["schema", "sets", "sampler"]);
const SUMMARY: Sign = Sign::Text("summary of a batch", "name,status,seed,");
/// The result of `octopus compare`.
const COMPARISON: Sign = Sign::Json("result of a comparison", &["schema", "same", "limits"]);
/// The record of `octopus device exact`, of kernels or of runs.
const KERNELS: Sign = Sign::Json("record of kernels", &["schema", "kernels"]);
const RUNS: Sign = Sign::Json("record of runs", &["schema", "runs"]);

/// Returns what a command line reads and writes.
pub(crate) fn outputs_of(cli: &Cli) -> Outputs {
    let mut found = Outputs::default();
    match &cli.command {
        Command::Sample(args) => sample(args, &mut found),
        Command::Resume(args) => found.traces("RUN", std::slice::from_ref(&args.run)),
        Command::Diagnose(args) => found.traces("TRACE", &args.trace),
        Command::Loo(args) => found.traces("TRACE", &args.models),
        Command::Evidence(args) => found.traces("RUN", &args.runs),
        Command::Plot(args) => {
            found.traces("TRACE", &args.trace);
            found.output("--out", &args.out, OutputKind::Pictures(is_picture));
        }
        Command::Compare(args) => {
            found.traces("A", std::slice::from_ref(&args.first));
            found.traces("B", std::slice::from_ref(&args.second));
            if let Some(out) = &args.out {
                found.output("--out", out, OutputKind::Pictures(is_picture));
                found.output("--out", &out.join("comparison.json"), OutputKind::BesidePictures(COMPARISON));
            }
        }
        Command::Calibrate(args) => {
            found.model(&args.model_settings);
            found.config(args.config.as_deref());
            found.output("--out", &args.out, OutputKind::Folder(is_of_a_calibration));
        }
        Command::Check(args) => {
            found.model(&args.model_settings);
            found.settings(args.config.as_deref(), &args.data);
        }
        Command::Model(ProgramCommand::Check(args) | ProgramCommand::Show(args)) => {
            if ShippedProgram::find(&args.program).is_none() {
                found.input("FILE.stan", Path::new(&args.program));
            }
            if let Some(data) = &args.data {
                found.table("--data", data);
            }
        }
        Command::Sweep(args) => {
            found.model(&args.model_settings);
            found.settings(args.config.as_deref(), &args.data);
            found.outputs("--out", args.out.as_deref(), OutputKind::Result(SWEEP));
            found.outputs("--keep", args.keep.as_deref(), OutputKind::Folder(is_of_a_sweep));
        }
        Command::Export(args) => {
            found.traces("TRACE", &args.trace);
            found.output("--out", &args.out, OutputKind::Trace(args.to.format, args.force));
        }
        Command::Predict(args) => {
            found.traces("RUN", std::slice::from_ref(&args.run));
            if let Some(data) = &args.data {
                found.table("--data", data);
            }
            if let (Some(out), Some(to)) = (&args.out, args.to) {
                found.output("--out", out, OutputKind::Trace(to.format, args.force));
            }
        }
        Command::Validate(args) => {
            found.model(&args.model_settings);
            found.settings(args.config.as_deref(), &args.data);
            found.outputs("--out", args.out.as_deref(), OutputKind::Owned(is_of_a_validation, has_a_validation));
        }
        Command::Random(args) => found.outputs("--out", args.own_out().as_deref(), OutputKind::Forced),
        Command::Data(DataCommand::Polynomial(args)) => found.outputs("--out", args.out.as_deref(), OutputKind::Forced),
        Command::Man(args) => found.output("--out", &args.out, OutputKind::Owned(is_page, has_pages)),
        Command::Device(command) => device(command, &mut found),
        // Copies take no file's place.
        Command::Model(ProgramCommand::List | ProgramCommand::Copy(_)) => {}
        Command::Bench(command) => bench(command, &mut found),
        Command::Verify(_) | Command::Completions(_) | Command::Status(_) | Command::Submit(_) => {}
    }
    found.outputs("--log-file", cli.log.log_file.as_deref(), OutputKind::Result(Sign::Log));
    found.outputs("--profile", cli.log.profile.as_deref(), OutputKind::Result(Sign::Profile));
    found
}

fn sample(args: &SampleArgs, found: &mut Outputs) {
    found.model(&args.model_settings);
    found.settings(args.config.as_deref(), &args.data);
    if let Some(Init::From(path)) = &args.init {
        found.traces("--init", std::slice::from_ref(path));
    }
    // A dry run writes nothing, and tells whether the run could.
    let Some(out) = args.out.as_deref() else { return };
    let Some(source) = &args.batch.batch else { return found.output("--out", out, OutputKind::Run(args.force)) };
    found.input("--batch", source);
    found.output("--out", out, OutputKind::Folder(is_of_a_batch));
    if args.share.claim {
        return;
    }
    let suffix = args.share.part.map(|part| format!("-{}", part.file_name())).unwrap_or_default();
    for (name, sign) in [(format!("batch{suffix}.json"), BATCH), (format!("summary{suffix}.csv"), SUMMARY)] {
        let kind = if args.force { OutputKind::Forced } else { OutputKind::Result(sign) };
        found.output("--out", &out.join(name), kind);
    }
}

fn device(command: &DeviceCommand, found: &mut Outputs) {
    match command {
        DeviceCommand::Measure(args) => found.outputs("--cache", args.cache.as_deref(), OutputKind::Folder(|_| false)),
        DeviceCommand::Warm(args) => {
            found.outputs("--kernel-cache", args.kernel_cache.as_deref(), OutputKind::Folder(|_| false));
        }
        DeviceCommand::Exact(args) => {
            if let Some(expected) = &args.expected {
                found.input("--expected", expected);
            }
            let sign = if args.runs { RUNS } else { KERNELS };
            found.outputs("--record", args.record.as_deref(), OutputKind::Result(sign));
        }
        DeviceCommand::Sampler(args) => found.outputs("--out", args.out.as_deref(), OutputKind::Result(FIGURES)),
        DeviceCommand::Accept(args) => {
            found.input("RESULTS", &args.results);
            found.outputs("--reports", args.reports.as_deref(), OutputKind::Folder(|_| false));
        }
        DeviceCommand::List | DeviceCommand::Info(_) | DeviceCommand::Watch(_) => {}
    }
}

fn bench(command: &BenchCommand, found: &mut Outputs) {
    match command {
        BenchCommand::Run(args) => {
            for suite in args.suites.iter().filter(|name| name.ends_with(".toml")) {
                found.input("SUITE", Path::new(suite));
            }
            found.outputs("--out", args.own_out().as_deref(), OutputKind::Owned(is_of_results, has_results));
            found.outputs("--export-data", args.export_data.as_deref(), OutputKind::Folder(is_data));
        }
        BenchCommand::Plot(args) => {
            found.input("DIR", &args.results.join(METADATA));
            found.outputs("--out", args.out.as_deref(), OutputKind::Pictures(is_picture));
        }
        _ => {}
    }
}

/// The file that every folder of results of a suite has.
const METADATA: &str = "metadata.json";
const RESULTS: Sign = Sign::Json("metadata of a benchmark", &["schema", "machine_id", "suite"]);

/// Whether a folder has the results of a suite.
fn has_results(folder: &Path) -> bool {
    RESULTS.is_on(&folder.join(METADATA))
}

/// Whether a path in the folder of a suite's results is theirs.
fn is_of_results(path: &Path) -> bool {
    path == Path::new(METADATA) || path.starts_with("data") || has_ending(path, &["csv"])
}

/// Whether a file in a folder of data is a program or its data.
fn is_data(path: &Path) -> bool {
    has_ending(path, &["stan", "json"])
}

/// What a validation leaves in its folder: its report, and what it found on the machine.
const VALIDATION: Sign = Sign::Json("report of a validation", &["schema", "verdict", "reproduce"]);
const VERIFICATION: Sign = Sign::Json("verification of a machine", &["schema", "provider", "overall"]);
/// The manual page of the program itself.
const PAGE: Sign = Sign::Text("manual page", r".ie \n(.g .ds Aq");

/// Whether a validation has written to a folder, if not to its end.
fn has_a_validation(folder: &Path) -> bool {
    RunFolder::is_run(&folder.join("run"))
        || VALIDATION.is_on(&folder.join("report.json"))
        || VERIFICATION.is_on(&folder.join("verification.json"))
}

/// Whether a folder has our manual pages.
fn has_pages(folder: &Path) -> bool {
    PAGE.is_on(&folder.join("octopus.1"))
}

/// Whether a file in a folder of pictures is one.
fn is_picture(path: &Path) -> bool {
    has_ending(path, &["png", "svg", "pdf"])
}

/// Whether a file in a folder of manual pages is one of ours.
fn is_page(path: &Path) -> bool {
    path.to_string_lossy().starts_with("octopus") && has_ending(path, &["1"])
}

/// Whether a path in the folder of a validation is the validation's.
fn is_of_a_validation(path: &Path) -> bool {
    const FILES: [&str; 6] = [
        "benchmark_report.txt",
        "report.json",
        "junit.xml",
        "index.html",
        "verification.json",
        "performance_comparison.png",
    ];
    let is_below = ["run", "guide", "traces"].iter().any(|folder| path.starts_with(folder));
    let is_plot = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_plot"));
    is_below || FILES.iter().any(|name| path == Path::new(name)) || is_plot && has_ending(path, &["png"])
}

/// Whether a path is of a file right in a folder, with one of these endings.
fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.components().count() == 1
        && path.extension().is_some_and(|found| endings.iter().any(|ending| found == *ending))
}

impl Outputs {
    fn outputs(&mut self, option: &str, path: Option<&Path>, kind: OutputKind) {
        if let Some(path) = path {
            self.output(option, path, kind);
        }
    }

    /// Adds traces, and the data of those that are runs.
    fn traces(&mut self, named_by: &str, paths: &[PathBuf]) {
        for path in paths {
            self.input(named_by, path);
            if RunFolder::is_run(path) {
                self.named_in(&path.join("run.toml"), Some("model"));
            }
        }
    }

    /// Adds the files that options of the model name.
    fn model(&mut self, given: &ModelArgs) {
        given.paths().for_each(|(option, path)| self.input(&option, path));
    }

    /// Adds a file of settings, and the data that it or the options name.
    fn settings(&mut self, config: Option<&Path>, data: &DataArgs) {
        if let Some(data) = &data.data {
            self.table("--data", data);
        }
        self.config(config);
    }

    /// Adds a file of settings, and the files that it names.
    fn config(&mut self, config: Option<&Path>) {
        if let Some(config) = config {
            self.input("--config", config);
            self.named_in(config, None);
        }
    }

    /// Adds the files that a table of TOML names, or a table in it: every text that is the path of a file.
    fn named_in(&mut self, path: &Path, table: Option<&str>) {
        let is_small = std::fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() <= MOST_BYTES);
        let text = if is_small { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        // Who reads it says what is wrong with it.
        let Ok(mut all) = text.parse::<Table>() else { return };
        let value = match table {
            Some(name) => all.remove(name).unwrap_or(Value::Boolean(false)),
            None => Value::Table(all),
        };
        let by = path.display().to_string();
        let mut open = vec![(String::new(), value)];
        while let Some((key, value)) = open.pop() {
            match value {
                Value::String(text) if Path::new(&text).is_file() => self.input(&by, Path::new(&text)),
                // Other texts, such as names of columns, may be those of folders by chance.
                Value::String(text) if key == "path" => self.table(&by, Path::new(&text)),
                Value::Array(values) => open.extend(values.into_iter().map(|value| (String::new(), value))),
                Value::Table(table) => open.extend(table),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::Registry;
    use std::fs;

    /// What a command line reads, the tables among it, and what it writes: each with the option that names it.
    fn found(words: &str) -> [Vec<String>; 3] {
        let words = format!("octopus {words}");
        let found = outputs_of(&Cli::read(Registry::shipped(), words.split_whitespace()).unwrap());
        let shown = |place: &super::super::NamedPath| format!("{} {}", place.named_by, place.given.display());
        let outputs = found.outputs.iter().map(|output| shown(&output.place)).collect();
        [found.inputs.iter().map(shown).collect(), found.tables.iter().map(shown).collect(), outputs]
    }

    /// Every option that takes a path, with the way its command uses it.
    #[test]
    fn every_path_of_a_command_line_is_read_or_written() {
        const TABLE: &str = "--config c.toml --data d.csv --group g --value y";
        for (words, reads, writes) in [
            ("sample eight-schools --out o --config c.toml", &["--config c.toml"][..], &["--out o"][..]),
            (
                &format!("sample hierarchical-normal --out o {TABLE}"),
                &["--data d.csv", "--config c.toml"],
                &["--out o"],
            ),
            ("sample eight-schools --out o --init s.json", &["--init s.json"], &["--out o"]),
            ("sample eight-schools --out o --init prior", &[], &["--out o"]),
            ("sample eight-schools --dry-run --config c.toml", &["--config c.toml"], &[]),
            (
                "sample hierarchical-normal --batch b --group g --value y --out o",
                &["--batch b"],
                &["--out o", "--out o/batch.json", "--out o/summary.csv"],
            ),
            (
                "sample hierarchical-normal --batch b --group g --value y --out o --part 2/3",
                &["--batch b"],
                &["--out o", "--out o/batch-2-of-3.json", "--out o/summary-2-of-3.csv"],
            ),
            ("resume r", &["RUN r"], &[]),
            ("diagnose a.csv b.csv", &["TRACE a.csv", "TRACE b.csv"], &[]),
            ("loo a.nc b.nc", &["TRACE a.nc", "TRACE b.nc"], &[]),
            ("evidence a b", &["RUN a", "RUN b"], &[]),
            ("plot a.nc --out o", &["TRACE a.nc"], &["--out o"]),
            ("compare a.nc b.nc", &["A a.nc", "B b.nc"], &[]),
            ("compare a.nc b.nc --out o", &["A a.nc", "B b.nc"], &["--out o", "--out o/comparison.json"]),
            ("calibrate eight-schools --out o", &[], &["--out o"]),
            (&format!("check hierarchical-normal {TABLE}"), &["--data d.csv", "--config c.toml"], &[]),
            (&format!("sweep hierarchical-normal {TABLE} --out o"), &["--data d.csv", "--config c.toml"], &["--out o"]),
            ("sweep eight-schools", &[], &[]),
            ("sweep eight-schools --keep o --part 1/2", &[], &["--keep o"]),
            ("sample hierarchical-normal --batch b --group g --value y --out o --claim", &["--batch b"], &["--out o"]),
            ("export r --to netcdf --out o.nc", &["TRACE r"], &["--out o.nc"]),
            ("predict r --data d.csv --to netcdf --out o.nc", &["RUN r", "--data d.csv"], &["--out o.nc"]),
            (&format!("validate {TABLE} --out o"), &["--data d.csv", "--config c.toml"], &["--out o"]),
            ("random normal --n 1 --out o.npy", &[], &["--out o.npy"]),
            ("data polynomial --out o.json", &[], &["--out o.json"]),
            ("man --out o", &[], &["--out o"]),
            ("device measure --cache o", &[], &["--cache o"]),
            ("device warm --kernel-cache o", &[], &["--kernel-cache o"]),
            ("device exact --expected e.json", &["--expected e.json"], &[]),
            ("device exact --record o.json", &[], &["--record o.json"]),
            ("device sampler --out o.json", &[], &["--out o.json"]),
            ("device accept r --reports o", &["RESULTS r"], &["--reports o"]),
            ("verify --log-file l --profile p", &[], &["--log-file l", "--profile p"]),
        ] {
            let [inputs, _, outputs] = found(words);
            assert_eq!((&inputs[..], &outputs[..]), (&owned(reads)[..], &owned(writes)[..]), "{words}");
        }
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    /// A file of settings of a mebibyte names its data; a longer one is none, as `octopus sample` says.
    #[test]
    fn a_file_of_settings_names_inputs_up_to_a_mebibyte() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("d.csv"), "g,y\na,1\n").unwrap();
        fs::create_dir(at("tables")).unwrap();
        let text = format!("[data.file]\npath = {:?}\ngroup = \"g\"\n#", at("d.csv"));
        for (length, named) in [(text.len(), true), (1 << 20, true), ((1 << 20) + 1, false)] {
            fs::write(at("c.toml"), text.clone() + &"#".repeat(length - text.len())).unwrap();
            let [inputs, ..] =
                found(&format!("sample hierarchical-normal --out o --config {}", at("c.toml").display()));
            let data = format!("{} {}", at("c.toml").display(), at("d.csv").display());
            assert_eq!((inputs.len(), inputs.contains(&data)), (1 + usize::from(named), named), "{length}");
        }
        // A folder is a table where it is called one, and what a record of a run names in its model is read too.
        fs::write(at("c.toml"), format!("[data.file]\npath = {:?}\ngroup = {0:?}\n", at("tables"))).unwrap();
        let [inputs, tables, _] = found(&format!("check hierarchical-normal --config {}", at("c.toml").display()));
        assert_eq!((inputs.len(), tables.len()), (2, 1));
        fs::create_dir(at("run")).unwrap();
        let record = format!("command = [{:?}]\n[model.settings.data.file]\npath = {0:?}\n", at("d.csv"));
        for (record, inputs) in [(record.as_str(), 2), ("command = []\n", 1)] {
            fs::write(at("run/run.toml"), record).unwrap();
            assert_eq!(found(&format!("diagnose {}", at("run").display()))[0].len(), inputs);
        }
    }

    #[test]
    fn pictures_and_pages_are_right_in_their_folder() {
        let pictures = ["a.png", "a.svg", "a.pdf", "a.gif", "below/a.png", "png"];
        assert_eq!(pictures.map(|path| is_picture(Path::new(path))), [true, true, true, false, false, false]);
        let pages = ["octopus.1", "octopus-sample.1", "other.1", "octopus.2", "below/octopus.1"];
        assert_eq!(pages.map(|path| is_page(Path::new(path))), [true, true, false, false, false]);
        for (path, is_ours) in [
            ("report.json", true),
            ("run/draws/part-00000.parquet", true),
            ("guide/index.html", true),
            ("trace_plot.png", true),
            ("trace_plot.svg", false),
            ("below/trace_plot.png", false),
            ("below/report.json", false),
            ("thesis.txt", false),
        ] {
            assert_eq!(is_of_a_validation(Path::new(path)), is_ours, "{path}");
        }
    }
}
