//! A model that is defined here: every command knows it by its line in the registry, and nothing else had to change.

use crate::support::{Answer, fingerprints, has_gpu, run};
use octopus_density::{DensityError, Dim, Labels, Layout, LogDensity, Role, Transform, Variable};
use octopus_formats::observations::{ColumnKind, DataTable};
use octopus_models::{
    BuildError, CalibrationTest, Model, ModelColumn, ModelError, ModelOption, OptionGroup, OptionKind, Problem,
    Registry, Simulated, Simulator, settings,
};
use octopus_random::Stream;
use octopus_runs::{RunFolder, RunStatus};
use octopus_trace::{Array, DataRecord, Dataset, InferenceData, Values};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toml::Table;

/// `mu ~ N(0, prior_sd)`, `y_i ~ N(mu, 1)`: the posterior is normal, with the precision `n + 1 / prior_sd^2`.
struct OneMean;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OneMeanSettings {
    prior_sd: f64,
    /// A file with a number in each line, in place of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<String>,
    /// What a user wants to remember of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// A fault of the gradient that a test plants.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<toml::Value>,
}

/// Faults of a gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Fault {
    Sign,
    Missing,
}

impl Default for OneMeanSettings {
    fn default() -> Self {
        Self { prior_sd: 10.0, numbers: None, note: None, fault: None, data: None }
    }
}

const PRIOR_SD: ModelOption = ModelOption {
    name: "prior-sd",
    setting: "prior_sd",
    kind: OptionKind::Real,
    group: OptionGroup::Model,
    help: "Standard deviation of the prior of mu [default: 10]",
};

const NUMBERS: ModelOption = ModelOption {
    name: "numbers",
    setting: "numbers",
    kind: OptionKind::Path,
    group: OptionGroup::Model,
    help: "File with a number in each line [default: four numbers]",
};

const NOTE: ModelOption = ModelOption {
    name: "note",
    setting: "note",
    kind: OptionKind::Text,
    group: OptionGroup::Model,
    help: "What to remember of the run",
};

impl Model for OneMean {
    fn name(&self) -> &'static str {
        "one-mean"
    }

    fn about(&self) -> &'static str {
        "one mean of normal observations"
    }

    fn options(&self) -> &'static [ModelOption] {
        &[PRIOR_SD, NUMBERS, NOTE]
    }

    fn reads_table(&self) -> bool {
        true
    }

    fn columns(&self, _settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        let column = ModelColumn::named_by_user;
        Ok(vec![column("group", ColumnKind::Label), column("value", ColumnKind::Real)])
    }

    fn build(&self, asked: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        let asked: OneMeanSettings = settings::read(asked)?;
        let y = match (table, &asked.numbers) {
            (Some(table), _) => table.real("value")?.into_owned(),
            (None, Some(path)) => numbers(path)?,
            (None, None) => vec![1.0, 2.0, 2.0, 3.0],
        };
        let data = DataRecord {
            source: "some numbers".to_owned(),
            sha256: octopus_models::sha256(&y),
            observations: y.len(),
            groups: 1,
            ..DataRecord::default()
        };
        let density = Normal { fault: asked.fault, ..Normal::new(y, asked.prior_sd)? };
        Ok(Arc::new(Given { simulator: Draws::like(&density), density, settings: settings::write(&asked)?, data }))
    }

    fn simulator_options(&self) -> &'static [ModelOption] {
        &[PRIOR_SD]
    }

    fn simulator(&self, asked: &Table, _test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        let asked: OneMeanSettings = settings::read(asked)?;
        let simulator = Box::new(Draws::like(&Normal::new(vec![0.0; 3], asked.prior_sd)?));
        let settings = settings::write(&asked)?;
        Ok(Some(Simulated { simulator, settings, description: "one mean of 3".to_owned(), geweke_steps: 200 }))
    }
}

fn numbers(path: &str) -> Result<Vec<f64>, BuildError> {
    let wrong = |what: String| BuildError::Form { field: "numbers".to_owned(), what };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot read {path}: {error}")))?;
    let number = |line: &str| line.parse().map_err(|_| wrong(format!("{path}: {line:?} is no number")));
    text.lines().map(number).collect()
}

#[derive(Clone)]
struct Normal {
    y: Vec<f64>,
    prior_sd: f64,
    layout: Layout,
    fault: Option<Fault>,
}

impl Normal {
    fn new(y: Vec<f64>, prior_sd: f64) -> Result<Self, ModelError> {
        if !(prior_sd > 0.0 && prior_sd.is_finite()) {
            return Err(ModelError::Setting { field: "prior_sd", value: prior_sd, expected: "must be positive" });
        }
        let role = Role::Parameter { offset: 0, transform: Transform::Identity };
        let mu = Variable { name: "mu".into(), dims: vec![], role };
        Ok(Self { y, prior_sd, layout: Layout { variables: vec![mu] }, fault: None })
    }
}

impl LogDensity for Normal {
    fn dim(&self) -> usize {
        1
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let weight = self.prior_sd.powi(-2);
        gradient[0] = self.y.iter().map(|y| y - x[0]).sum::<f64>() - weight * x[0];
        match self.fault {
            Some(Fault::Sign) => gradient[0] = -gradient[0],
            Some(Fault::Missing) => gradient[0] = 0.0,
            None => {}
        }
        Ok(-0.5 * (self.y.iter().map(|y| (y - x[0]).powi(2)).sum::<f64>() + weight * x[0] * x[0]))
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out[0] = x[0];
    }

    fn name(&self) -> &str {
        "one-mean"
    }

    fn observations(&self) -> usize {
        self.y.len()
    }

    fn log_likelihood(&self, x: &[f64], out: &mut [f64]) {
        let constant = -0.5 * (2.0 * std::f64::consts::PI).ln();
        out.iter_mut().zip(&self.y).for_each(|(out, y)| *out = constant - 0.5 * (y - x[0]).powi(2));
    }

    fn predict(&self, x: &[f64], random: &mut Stream, out: &mut [f64]) {
        out.iter_mut().for_each(|out| *out = x[0] + random.normal());
    }
}

#[derive(Clone)]
struct Draws(Normal);

impl Draws {
    fn like(density: &Normal) -> Self {
        Self(density.clone())
    }
}

impl Simulator for Draws {
    fn layout(&self) -> &Layout {
        &self.0.layout
    }

    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        vec![self.0.prior_sd * random.normal()]
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        let y = self.0.y.iter().map(|_| position[0] + random.normal()).collect();
        Ok(Box::new(Normal::new(y, self.0.prior_sd)?))
    }
}

struct Given {
    density: Normal,
    simulator: Draws,
    settings: Table,
    data: DataRecord,
}

impl Problem for Given {
    fn density(&self) -> &(dyn LogDensity + 'static) {
        &self.density
    }

    fn settings(&self) -> &Table {
        &self.settings
    }

    fn data(&self) -> &DataRecord {
        &self.data
    }

    fn observation_dim(&self) -> Dim {
        Dim { name: "row".into(), labels: Labels::Range(self.density.y.len()) }
    }

    fn add_observations(&self, data: &mut InferenceData) {
        let mut dataset = Dataset::default();
        let Dim { name, labels } = self.observation_dim();
        dataset.insert("y", Array::new([(name.as_str(), labels.len())], Values::F64(self.density.y.clone())));
        dataset.coords.insert(name, labels);
        data.insert("observed_data", dataset);
    }

    fn simulator(&self) -> Option<&dyn Simulator> {
        Some(&self.simulator)
    }
}

static MODELS: [&dyn Model; 1] = [&OneMean];
const WORDS: &str = "OCTOPUS_TEST_OWN_MODEL";

/// The program with this model instead of those that ship, in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn inside() {
    main_of(Registry::new(&MODELS));
}

/// The program with these models, with the words that [`command_of`] has left.
pub(crate) fn main_of(models: Registry) {
    let words = std::env::var(WORDS).expect("another test starts this one");
    let words = std::iter::once("octopus").chain(words.split('\n'));
    std::process::exit(octopus_cli::main(models, words).into());
}

/// Starts the program with the models of the test `inside`, which calls [`main_of`].
pub(crate) fn command_of(inside: &str, dir: &Path, words: &str) -> Command {
    let words: Vec<String> =
        words.split_whitespace().map(|word| word.replace("{}", dir.to_str().expect("text"))).collect();
    let mut command = Command::new(std::env::current_exe().expect("tests know their file"));
    command.args([inside, "--exact", "--ignored", "--nocapture"]).env(WORDS, words.join("\n"));
    command
}

fn command(dir: &Path, words: &str) -> Command {
    command_of("own_model::inside", dir, words)
}

fn own(dir: &Path, words: &str) -> Answer {
    answer_of(command(dir, words))
}

/// Runs a command of [`command_of`] to its end.
pub(crate) fn answer_of(mut command: Command) -> Answer {
    let output = command.output().expect("starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // What the harness says first is not the program's.
    let stdout = text(&output.stdout).trim_start().replacen("running 1 test\n", "", 1);
    Answer { code: output.status.code(), stdout, stderr: text(&output.stderr) }
}

#[test]
fn it_is_sampled_to_its_exact_posterior() {
    let dir = tempfile::tempdir().unwrap();
    let help = own(dir.path(), "sample --help");
    assert!(help.succeeds().stdout.contains("(one-mean)"), "an option says whose it is: {}", help.stdout);
    let found = own(dir.path(), "sample one-mean --prior-sd 0.5 --draws 4000 --device cpu --json --out {}/run");
    let found = found.succeeds().json();
    // 8 / (4 + 4) and 8^-1/2; four standard errors of some 5000 effective draws.
    let mu = &found["diagnosis"]["parameters"][0];
    let [mean, sd] = ["mean", "sd"].map(|name| mu[name].as_f64().unwrap());
    assert!((mean - 1.0).abs() < 4.0 * 0.354 / 70.0 && (sd - 8f64.powf(-0.5)).abs() < 4.0 * 0.354 / 100.0, "{mu}");
    own(dir.path(), "sample one-mean --prior-sd -1 --out {}/bad").fails(2, &["--prior-sd -1", "must be positive"]);
    own(dir.path(), "sample hierarchical-normal --out {}/bad").fails(2, &["[possible values: one-mean]"]);
    if !has_gpu("--device cuda without a GPU") {
        own(dir.path(), "sample one-mean --device cuda --out {}/gpu").fails(4, &["octopus verify"]);
    }
    // The program that ships does not know it.
    run(dir.path(), "plot {}/run --out {}/pictures --kind prior").fails(3, &["no model is called `one-mean`"]);
}

/// A path is kept as an absolute one, so that the run is known from any folder; and it is an input, which no output of
/// the command replaces.
#[test]
fn options_may_be_texts_and_paths() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("numbers.txt");
    std::fs::write(&file, "4\n6\n").unwrap();
    let here = |words: &str| {
        let output = command(dir.path(), words).current_dir(dir.path()).output().expect("starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let words = "sample one-mean --numbers numbers.txt --note weekly --draws 400 --tune 200 --device cpu --quiet";
    let (code, stderr) = here(&format!("{words} --out run"));
    assert!(matches!(code, Some(0 | 1)), "{stderr}");
    let record: Table = std::fs::read_to_string(dir.path().join("run/run.toml")).unwrap().parse().unwrap();
    let settings = &record["model"]["settings"];
    assert_eq!((settings["numbers"].as_str(), settings["note"].as_str()), (file.to_str(), Some("weekly")));
    assert_eq!(record["data"]["observations"].as_integer(), Some(2));
    // From another folder.
    let elpd = own(dir.path(), "loo {}/run --json").json();
    assert_eq!(elpd["models"][0]["observations"], 2);
    for outputs in ["--out again --log-file numbers.txt", "--out again --profile numbers.txt"] {
        let (code, stderr) = here(&format!("{words} {outputs}"));
        assert!(code == Some(2) && stderr.contains("--numbers") && stderr.contains("numbers.txt"), "{stderr}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "4\n6\n");
    }
    let (code, stderr) = here("sample one-mean --numbers absent.txt --device cpu --out other");
    assert!(code == Some(2) && stderr.contains("--numbers") && stderr.contains("absent.txt"), "{stderr}");
}

#[test]
fn what_follows_a_run_knows_it() {
    let dir = tempfile::tempdir().unwrap();
    own(dir.path(), "sample one-mean --draws 1000 --device cpu --quiet --out {}/run").succeeds();
    let drawn = own(dir.path(), "plot {}/run --out {}/pictures --quiet");
    for picture in ["prior_posterior", "ppc", "loo_pit", "pareto_k"] {
        assert!(drawn.succeeds().stdout.contains(picture), "{picture}: {drawn:#?}");
    }
    let elpd = own(dir.path(), "loo {}/run --json").succeeds().json();
    assert_eq!(elpd["models"][0]["observations"], 4);
    own(dir.path(), "export {}/run --to netcdf --out {}/run.nc --predictive 50 --prior 60").succeeds();
    let data = octopus_formats::read_trace(&[dir.path().join("run.nc")]).unwrap();
    let shape = |group: &str, name: &str| data.group(group).unwrap().get(name).unwrap().shape.clone();
    assert_eq!(shape("posterior_predictive", "y"), [4, 50, 4]);
    assert_eq!((shape("prior", "mu"), shape("prior_predictive", "y")), (vec![1, 60], vec![1, 60, 4]));
    assert_eq!(data.group("observed_data").unwrap().get("y").unwrap().values.to_f64(), [1.0, 2.0, 2.0, 3.0]);
}

#[test]
fn tests_of_the_sampler_know_it() {
    let dir = tempfile::tempdir().unwrap();
    let words = "calibrate one-mean --datasets 60 --prior-sd 2 --out {}/ranks --json --quiet";
    let ranks = own(dir.path(), words).succeeds().json();
    assert_eq!((&ranks["calibrated"], &ranks["settings"]["model"]["name"]), (&true.into(), &"one-mean".into()));
    assert_eq!(ranks["settings"]["model"]["prior_sd"], 2.0);
    own(dir.path(), "calibrate one-mean --geweke --prior-sd 0.5 --sequences 16 --out {}/geweke --quiet").succeeds();
    own(dir.path(), "sweep one-mean --seeds 5 --draws 500 --quiet").succeeds();
    own(dir.path(), "sample one-mean --strategy auto --device cpu --quiet --out {}/auto").succeeds();
}

/// The model has no known truth, no exact posterior, no effects of groups and no kernels: rows say so.
#[test]
fn it_is_validated() {
    let dir = tempfile::tempdir().unwrap();
    // The first model of a registry is the default.
    let report = own(dir.path(), "validate --quick --prior-sd 2 --out {}/own --device cpu --json --quiet");
    let report = report.succeeds().json();
    assert_eq!(
        (&report["model"]["name"], &report["data"]["group_sizes"]),
        (&"one-mean".into(), &serde_json::Value::Null)
    );
    let rows = report["verdict"]["rows"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    for id in ["P0.3", "P0.5", "P2.2", "P2.4", "Q.2"] {
        assert_eq!(row(id)["status"], "PASS", "{:#}", row(id));
    }
    assert_eq!(row("Q.1")["reason"], "the values that made these data are not known");
    assert_eq!(row("Q.3")["reason"], "the exact posterior of one-mean is not known");
    assert!(dir.path().join("own/ppc_plot.png").exists() && !dir.path().join("own/shrinkage_plot.png").exists());
    own(dir.path(), "validate two-means --out {}/bad").fails(2, &["[possible values: one-mean]"]);
    if !has_gpu("--device cuda without a GPU") {
        own(dir.path(), "validate one-mean --device cuda --out {}/gpu").fails(4, &["--device cuda"]);
    }
}

#[test]
fn a_batch_of_its_data_sets() {
    let dir = tempfile::tempdir().unwrap();
    let rows = (0..40).map(|k| format!("{},g,{}\n", ["a", "b"][k % 2], (k * k) % 7)).collect::<String>();
    std::fs::write(dir.path().join("all.csv"), format!("set,group,y\n{rows}")).unwrap();
    let words = "sample one-mean --batch {}/all.csv --batch-by set --group group --value y --draws 1000 --device cpu \
                 --json --quiet --out {}/out";
    let found = own(dir.path(), words).succeeds().json();
    assert_eq!(found["sets"].as_array().map(Vec::len), Some(2), "{found}");
    let table = "sample one-mean --data {}/all.csv --group group --value y --draws 1000 --device cpu --quiet";
    own(dir.path(), &format!("{table} --out {{}}/one")).succeeds();
    assert_eq!(RunFolder::open(&dir.path().join("one")).unwrap().record().data.as_ref().unwrap().observations, 40);
}

#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample one-mean --draws 100000 --device cpu --quiet --checkpoint-every 2000";
    let mut child = command(dir.path(), &format!("{words} --out {{}}/killed")).spawn().expect("starts");
    let (killed, begin) = (dir.path().join("killed"), Instant::now());
    // The first part of the draws is there.
    while !killed.join("draws/part-00000.parquet").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ran");
    assert_eq!(RunFolder::open(&killed).unwrap().record().status, RunStatus::Running);
    own(dir.path(), "resume {}/killed --quiet").succeeds();
    own(dir.path(), &format!("{words} --out {{}}/whole")).succeeds();
    assert_eq!(fingerprints(&killed), fingerprints(&dir.path().join("whole")));
}

/// The model is checked before it is sampled; a run refuses it, and says what is wrong where.
#[test]
fn a_wrong_gradient_is_named_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let good = own(dir.path(), "check one-mean --prior-sd 2 --json").succeeds().json();
    assert_eq!((&good["good"], &good["from_prior"], &good["points"]), (&true.into(), &true.into(), &64.into()));
    let status = |id: &str| {
        let checks = good["checks"].as_array().unwrap();
        checks.iter().find(|check| check["id"] == id).unwrap()["status"].as_str().unwrap().to_owned()
    };
    let ids = ["layout", "values", "variables", "gradient", "hierarchies", "likelihood"];
    assert_eq!(ids.map(status), ["pass", "pass", "pass", "pass", "skipped", "pass"]);
    for (fault, reason) in [("sign", "its sign is flipped"), ("missing", "it is missing from the gradient")] {
        std::fs::write(dir.path().join("fault.toml"), format!("fault = \"{fault}\"\n")).unwrap();
        let checked = own(dir.path(), "check one-mean --config {}/fault.toml");
        assert_eq!(checked.code, Some(1), "{checked:#?}");
        for word in
            ["FAIL     gradient", "the slope by mu (coordinate 0)", reason, "-> correct the derivative by mu", "BAD"]
        {
            assert!(checked.stdout.contains(word), "{word}: {}", checked.stdout);
        }
        let words = ["gradient of 'one-mean'", "chain 0", "slope by mu", reason, "`octopus check`"];
        own(dir.path(), "sample one-mean --config {}/fault.toml --device cpu --quiet --out {}/run").fails(3, &words);
        assert!(!dir.path().join("run").exists());
    }
}
