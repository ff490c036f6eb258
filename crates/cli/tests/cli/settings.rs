//! The settings of a run as a table, taken through every way in which they can be given: as options, in a file, through
//! dry run, resume, batch, sweep, validation and calibration.
//!
//! Each setting stands here off its default. It changes the draws, so that a way that drops it gives other draws.

use crate::batch::tables;
use crate::support::{Answer, fingerprints, run, stop};
use octopus_runs::RunFolder;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// A setting: its option with a value that is not the default, and its place in a run's record.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    option: &'static str,
    value: &'static str,
    place: &'static str,
}

const fn setting(option: &'static str, value: &'static str, place: &'static str) -> Setting {
    Setting { option, value, place }
}

/// The settings of the sampler. The seed comes first: each data set of a batch has a seed of its own.
const SAMPLER: [Setting; 9] = [
    setting("--seed", "7", "sampler.seed"),
    setting("--draws", "40", "sampler.draws"),
    setting("--tune", "60", "sampler.tune"),
    setting("--chains", "3", "sampler.chains"),
    setting("--target-accept", "0.6", "sampler.target_accept"),
    setting("--max-depth", "3", "sampler.max_depth"),
    setting("--parameterization", "centered", "sampler.parameterization"),
    setting("--metric", "diag-draws", "sampler.metric"),
    setting("--init-radius", "0.5", "sampler.init_radius"),
];

/// The settings of the sampler for many short chains; the first two go together.
const MANY_SHORT: [Setting; 5] = [
    setting("--superchains", "8", "sampler.superchains"),
    setting("--strategy", "many-short", "sampler.strategy"),
    setting("--chains", "24", "sampler.chains"),
    setting("--draws", "5", "sampler.draws"),
    setting("--tune", "20", "sampler.tune"),
];

/// The settings of the model.
const MODEL: [Setting; 5] = [
    setting("--likelihood", "pointwise", "model.settings.likelihood"),
    setting("--mu-mean", "40", "model.settings.prior.mu_mean"),
    setting("--mu-sd", "7", "model.settings.prior.mu_sd"),
    setting("--sigma-pop-scale", "3", "model.settings.prior.sigma_pop_scale"),
    setting("--sigma-obs-scale", "2", "model.settings.prior.sigma_obs_scale"),
];

/// The settings of made-up data.
const DATA: [Setting; 3] = [
    setting("--groups", "7", "model.settings.data.synthetic.groups"),
    setting("--per-group", "4", "model.settings.data.synthetic.per_group"),
    setting("--data-seed", "3", "model.settings.data.synthetic.seed"),
];

/// Whether an option is one of these settings.
pub(crate) fn is_setting(option: &str) -> bool {
    [&SAMPLER[..], &MANY_SHORT, &MODEL, &DATA].concat().iter().any(|one| one.option == option)
}

const SAMPLE: &str = "sample hierarchical-normal --device cpu --quiet --json --force --out {}/";

/// Settings as words of a command line.
fn words(settings: &[Setting]) -> String {
    settings.iter().map(|one| format!(" {} {}", one.option, one.value)).collect()
}

/// Settings as a file for `--config`.
fn file(settings: &[Setting]) -> String {
    let mut text = String::new();
    for one in settings {
        let place = one.place.trim_start_matches("model.settings.");
        let quoted = one.value.parse::<f64>().map_or_else(|_| format!("{:?}", one.value), |_| number(one));
        writeln!(text, "{place} = {quoted}").unwrap();
    }
    text
}

/// A number as TOML has it: those of the priors are real numbers.
fn number(setting: &Setting) -> String {
    let real = setting.place.contains("prior") && !setting.value.contains('.');
    format!("{}{}", setting.value, if real { ".0" } else { "" })
}

fn without(settings: &[Setting], left_out: Setting) -> Vec<Setting> {
    settings.iter().copied().filter(|one| *one != left_out).collect()
}

fn record(run: &Path) -> Table {
    fs::read_to_string(run.join("run.toml")).unwrap().parse().unwrap()
}

/// The value at a place of a record, as a word of a command line.
fn at(record: &Table, place: &str) -> String {
    let (table, name) = place.rsplit_once('.').unwrap();
    let table = table.split('.').fold(record, |table, name| table[name].as_table().unwrap());
    match &table[name] {
        Value::String(word) => word.clone(),
        other => other.to_string().trim_end_matches(".0").to_owned(),
    }
}

/// A folder of runs.
struct Runs(tempfile::TempDir);

impl Runs {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self) -> &Path {
        self.0.path()
    }

    /// Samples with these settings into the folder `name`.
    fn sample(&self, name: &str, settings: &[Setting]) -> BTreeMap<String, String> {
        run(self.dir(), &format!("{SAMPLE}{name}{}", words(settings))).sampled();
        self.prints(name)
    }

    fn prints(&self, name: &str) -> BTreeMap<String, String> {
        fingerprints(&self.dir().join(name))
    }

    fn record(&self, name: &str) -> Table {
        record(&self.dir().join(name))
    }

    #[track_caller]
    fn has(&self, name: &str, settings: &[Setting]) {
        let record = self.record(name);
        for one in settings {
            assert_eq!(at(&record, one.place), one.value, "{one:?} of {name}");
        }
    }
}

/// The settings of four long chains on made-up data, and those of many short chains.
fn lists() -> [(&'static str, Vec<Setting>); 2] {
    let more = [&MODEL[..], &DATA[..]].concat();
    [("four-long", [&SAMPLER[..], &more].concat()), ("many-short", [&MANY_SHORT[..], &more].concat())]
}

/// Each setting stands in the record, and without it the draws are others.
#[test]
fn each_option_changes_the_record_and_the_draws() {
    let runs = Runs::new();
    for (name, settings) in lists() {
        let whole = runs.sample(name, &settings);
        runs.has(name, &settings);
        for one in settings.iter().copied().filter(|one| one.option != "--strategy") {
            let found = runs.sample("without", &without(&settings, one));
            assert_ne!(found, whole, "{one:?} changes nothing");
            assert_ne!(at(&runs.record("without"), one.place), one.value, "{one:?} is the default");
        }
    }
}

#[test]
fn a_file_says_what_options_say_and_options_come_first() {
    let runs = Runs::new();
    for (name, settings) in lists() {
        let whole = runs.sample(name, &settings);
        fs::write(runs.dir().join("settings.toml"), file(&settings)).unwrap();
        run(runs.dir(), &format!("{SAMPLE}file --config {{}}/settings.toml")).sampled();
        assert_eq!(runs.prints("file"), whole);
        runs.has("file", &settings);
    }
    // With every option at its default, nothing of the file is left.
    let (_, settings) = &lists()[0];
    fs::write(runs.dir().join("settings.toml"), file(settings)).unwrap();
    let default = runs.sample("default", &[]);
    let record = runs.record("default");
    let given: String = settings.iter().map(|one| format!(" {} {}", one.option, at(&record, one.place))).collect();
    run(runs.dir(), &format!("{SAMPLE}given --config {{}}/settings.toml{given}")).sampled();
    assert_eq!(runs.prints("given"), default);
}

/// What a file has beside settings of the sampler and the model: goal, device and warm-up.
#[test]
fn the_rest_of_a_file_is_heard_and_comes_after_options() {
    const FILE: &str = "keep_warmup = true\ndevice = \"cpu\"\n[goal]\ntarget_ess = 5.0\ntarget_rhat = 9.0\n\
                        max_seconds = 77.0\n[sampler]\ndraws = 60\ntune = 60\n";
    let runs = Runs::new();
    let settings = runs.dir().join("settings.toml");
    let goal = |name: &str| {
        ["target_ess", "target_rhat", "max_seconds"].map(|one| at(&runs.record(name), &format!("goal.{one}")))
    };
    let sample = "sample eight-schools --config {}/settings.toml --force --quiet --out {}/";
    fs::write(&settings, FILE).unwrap();
    run(runs.dir(), &format!("{sample}file")).sampled();
    assert_eq!(goal("file"), ["5", "9", "77"]);
    assert_eq!(runs.record("file")["device_reason"].as_str(), Some("asked for"));
    assert!(runs.dir().join("file/warmup").exists());
    run(runs.dir(), &format!("{sample}both --target-ess 6 --target-rhat 8 --max-seconds 66")).sampled();
    assert_eq!(goal("both"), ["6", "8", "66"]);
    fs::write(&settings, FILE.replace("\"cpu\"", "\"cuda:63\"")).unwrap();
    run(runs.dir(), &format!("{sample}gpu")).fails(4, &["--device cuda:63"]);
    run(runs.dir(), &format!("{sample}gpu --device cpu")).sampled();
}

/// A dry run says what the run's record would say, and changes with each setting.
#[test]
fn a_dry_run_tells_every_setting() {
    let runs = Runs::new();
    let told = |settings: &[Setting]| {
        let given = words(settings);
        run(runs.dir(), &format!("sample hierarchical-normal --dry-run --device cpu --json{given}")).succeeds().json()
    };
    for (name, settings) in lists() {
        let whole = told(&settings);
        let value = |found: &serde_json::Value, one: &Setting| {
            let found = &found.pointer(&format!("/{}", one.place.replace('.', "/"))).unwrap();
            found.as_str().map_or_else(|| found.to_string().trim_end_matches(".0").to_owned(), str::to_owned)
        };
        for one in &settings {
            assert_eq!(value(&whole, one), one.value, "{one:?} of {name}");
        }
        for one in settings.iter().copied().filter(|one| one.option != "--strategy") {
            assert_ne!(value(&told(&without(&settings, one)), &one), one.value, "{one:?} is the default");
        }
    }
}

/// A run that was stopped before its first draw has its settings from its record alone.
#[test]
fn resume_takes_every_setting_from_the_record() {
    let runs = Runs::new();
    for (name, settings) in lists() {
        let whole = runs.sample(name, &settings);
        stop(&runs.dir().join(name));
        let resumed = run(runs.dir(), &format!("resume {{}}/{name} --threads 5 --checkpoint-every 3 -vv"));
        let said = &resumed.sampled().stderr;
        assert!(said.contains("threads 5") && said.contains("a checkpoint is written, iterations 3\n"), "{said}");
        assert_eq!(runs.prints(name), whole);
        runs.has(name, &settings);
    }
}

#[test]
fn each_data_set_of_a_batch_has_every_setting() {
    const DATA: &str = "--group city --value y --device cpu --quiet --json";
    let runs = Runs::new();
    tables(runs.dir());
    let four_long = [&SAMPLER[..], &MODEL[..]].concat();
    let many_short = [&MANY_SHORT[..], &MODEL[..]].concat();
    for (out, settings) in [("four-long", four_long), ("many-short", many_short)] {
        let batch = |out: &str, settings: &[Setting]| {
            let given = words(settings);
            let words = format!("sample hierarchical-normal --batch {{}}/in --force --out {{}}/{out} {DATA}{given}");
            run(runs.dir(), &words).json()["sets"].as_array().unwrap().clone()
        };
        for set in batch(out, &settings) {
            let (name, seed) = (set["name"].as_str().unwrap(), &set["seed"]);
            let own: Vec<Setting> = settings.iter().copied().filter(|one| one.option != "--seed").collect();
            let alone = format!("--data {{}}/in/{name}.csv --force --out {{}}/alone {DATA} --seed {seed}");
            run(runs.dir(), &format!("sample hierarchical-normal {alone}{}", words(&own))).sampled();
            assert_eq!(runs.prints(&format!("{out}/sets/{name}")), runs.prints("alone"), "{name}, {out}");
            runs.has(&format!("{out}/sets/{name}"), &own);
        }
        // Each counts: without it the draws are others, and a batch that drops it is found out above.
        for one in settings.iter().copied().filter(|one| one.option != "--strategy") {
            batch("without", &without(&settings, one));
            assert_ne!(runs.prints("without/sets/oslo"), runs.prints(&format!("{out}/sets/oslo")), "{one:?}");
        }
    }
}

/// The leapfrog steps of a run's draws, for each draw: no two runs that draw otherwise agree in it.
pub(crate) fn leapfrogs_a_draw(run: &Path) -> f64 {
    let data = RunFolder::open(run).unwrap().read().unwrap();
    let steps = data.groups["sample_stats"].variables["n_steps"].values.to_f64();
    steps.iter().sum::<f64>() / steps.len() as f64
}

#[test]
fn a_sweep_runs_what_sample_runs() {
    let runs = Runs::new();
    let (name, settings) = lists()[0].clone();
    runs.sample(name, &settings);
    let expected = leapfrogs_a_draw(&runs.dir().join(name));
    let sweep = |words: &str| {
        let words = format!("sweep hierarchical-normal --seeds 1 --out {{}}/sweep.json --quiet --json{words}");
        let answer = run(runs.dir(), &words);
        let written = fs::read_to_string(runs.dir().join("sweep.json")).unwrap();
        let found = answer.json();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), found);
        assert_eq!(found["sweep"]["runs"], 1);
        found["sweep"]["leapfrogs_a_draw"].as_f64().unwrap()
    };
    assert_eq!(sweep(&words(&settings)), expected);
    fs::write(runs.dir().join("settings.toml"), file(&settings)).unwrap();
    assert_eq!(sweep(" --config {}/settings.toml"), expected);
    fs::write(runs.dir().join("obs.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    let (data, sampler) = (" --data {}/obs.csv --group g --value y", words(&SAMPLER));
    run(runs.dir(), &format!("{SAMPLE}own{data}{sampler}")).sampled();
    assert_eq!(sweep(&format!("{data}{sampler}")), leapfrogs_a_draw(&runs.dir().join("own")));
    for one in settings.iter().copied() {
        let found = sweep(&words(&without(&settings, one)));
        assert_ne!(found, expected, "{one:?}");
    }
    let many: Vec<Setting> = lists()[1].1.clone();
    runs.sample("many-short", &many);
    assert_eq!(sweep(&words(&many)), leapfrogs_a_draw(&runs.dir().join("many-short")));
}

/// The settings of the sampler for which `validate` has no option are given in a file; --quick comes before it.
#[test]
fn a_validation_samples_what_sample_samples() {
    let runs = Runs::new();
    let [seed, _, _, chains, accept, depth, parameterization, metric, radius] = SAMPLER;
    let options = [&[seed, parameterization, metric][..], &MODEL[..], &DATA[..]].concat();
    let in_file = [chains, accept, depth, radius];
    fs::write(runs.dir().join("settings.toml"), file(&in_file)).unwrap();
    let quick = [setting("--draws", "1000", "sampler.draws"), setting("--tune", "500", "sampler.tune")];
    let all = [&options[..], &in_file[..], &quick[..]].concat();
    let whole = runs.sample("whole", &all);
    let given = format!("{} --config {{}}/settings.toml --quick --threads 1", words(&options));
    let found = run(runs.dir(), &format!("validate --device cpu --stages compare --out {{}}/validation -v{given}"));
    assert!(matches!(found.code, Some(0 | 1)), "{found:?}");
    assert!(found.stderr.contains("threads 1"), "{found:?}");
    assert_eq!(runs.prints("validation/run"), whole);
    runs.has("validation/run", &all);
    let report = fs::read_to_string(runs.dir().join("validation/report.json")).unwrap();
    assert!(report.contains("\"target_accept\": 0.6"), "{report}");
}

/// Its record has each setting, and without it the ranks are others.
#[test]
fn a_calibration_has_every_setting() {
    let runs = Runs::new();
    let [groups, per_group, _] = DATA;
    let sampler: Vec<Setting> = SAMPLER.iter().copied().filter(|one| one.option != "--max-depth").collect();
    let depth = setting("--max-depth", "1", "sampler.max_depth");
    let settings = [&sampler[..], &[depth], &MODEL[..], &[groups, per_group]].concat();
    let calibrate = |words: &str| -> (String, serde_json::Value, Answer) {
        let words = format!(
            "calibrate hierarchical-normal --datasets 6 --kept 99 --device cpu --json --force --out {{}}/out{words}"
        );
        let answer = run(runs.dir(), &words);
        assert!(matches!(answer.code, Some(0 | 1)), "{answer:?}");
        let read = |name: &str| fs::read_to_string(runs.dir().join("out").join(name)).unwrap();
        (read("ranks.csv"), serde_json::from_str(&read("settings.json")).unwrap(), answer)
    };
    let value = |record: &serde_json::Value, place: &str| {
        let place = place.trim_start_matches("model.settings.");
        if place.starts_with("data.") {
            let sizes = record["model"]["group_sizes"].as_array().unwrap();
            return if place.ends_with("groups") { sizes.len().to_string() } else { sizes[0].to_string() };
        }
        let table = if place.starts_with("sampler.") { "" } else { "/model" };
        let found = record.pointer(&format!("{table}/{}", place.replace('.', "/")));
        let found = found.unwrap_or_else(|| panic!("{place} in {record}"));
        found.as_str().map_or_else(|| found.to_string().trim_end_matches(".0").to_owned(), str::to_owned)
    };
    let (ranks, record, _) = calibrate(&words(&settings));
    for one in &settings {
        assert_eq!(value(&record, one.place), one.value, "{one:?}");
        let (others, record, _) = calibrate(&words(&without(&settings, *one)));
        assert_ne!(others, ranks, "{one:?} changes nothing");
        assert_ne!(value(&record, one.place), one.value, "{one:?} is the default");
    }
    // A file says the same, and options come before it.
    let in_file: Vec<Setting> = settings.iter().copied().filter(|one| !one.place.contains("data.")).collect();
    fs::write(runs.dir().join("settings.toml"), file(&in_file)).unwrap();
    let sizes = words(&[groups, per_group]);
    let (by_file, of_file, _) = calibrate(&format!("{sizes} --config {{}}/settings.toml"));
    assert_eq!((by_file, of_file), (ranks, record));
    let (_, record, _) = calibrate(&format!("{sizes} --config {{}}/settings.toml --chains 4 --mu-sd 9"));
    assert_eq!(
        (value(&record, "sampler.chains"), value(&record, "model.settings.prior.mu_sd")),
        ("4".into(), "9".into())
    );
    let many_short = " --strategy many-short --superchains 3 --chains 12 --draws 9";
    fs::write(runs.dir().join("many.toml"), "sampler = { strategy = \"many-short\", superchains = 3, chains = 12 }\n")
        .unwrap();
    let (_, by_file, _) = calibrate(" --config {}/many.toml --draws 9");
    let (_, record, _) = calibrate(many_short);
    assert_eq!(by_file, record);
    for (place, expected) in [("sampler.strategy", "many-short"), ("sampler.superchains", "3")] {
        assert_eq!(value(&record, place), expected);
    }
}
