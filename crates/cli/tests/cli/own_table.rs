//! A model of one's own that reads a table of many columns, as `docs/models.md` shows it.

use octopus::density::{DensityError, Dim, Layout, LogDensity, Role, Transform, Variable};
use octopus::formats::observations::{ColumnKind, DataTable};
use octopus::models::{
    BuildError, CalibrationTest, DensityProblem, FileData, Model, ModelColumn, ModelOption, OptionGroup, OptionKind,
    Problem, Simulated, settings,
};
use octopus::toml::Table;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who falls ill, by age, dose and clinic: `ill[i] ~ Bernoulli(logistic(eta[i]))` with
/// `eta[i] = slope_age age[i] + slope_dose dose[i] + level[clinic[i]]`. Slopes and levels are `~ Normal(0, prior_sd)`.
struct Illness;

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct IllnessSettings {
    prior_sd: f64,
    data: Option<FileData>,
}

impl Default for IllnessSettings {
    fn default() -> Self {
        Self { prior_sd: 2.0, data: None }
    }
}

/// An option that names a column: `--ill COL` stands for `data.file.ill = "COL"`.
const ILL: ModelOption = ModelOption {
    name: "ill",
    setting: "data.file.ill",
    kind: OptionKind::Text,
    group: OptionGroup::Data,
    help: "The column that is 1 for who fell ill, else 0 [default: ill]",
};

impl Model for Illness {
    fn name(&self) -> &'static str {
        "illness"
    }

    fn about(&self) -> &'static str {
        "logistic regression on age, dose and clinic"
    }

    fn options(&self) -> &'static [ModelOption] {
        &[ILL]
    }

    fn reads_table(&self) -> bool {
        true
    }

    fn columns(&self, _settings: &Table) -> Result<Vec<ModelColumn>, BuildError> {
        Ok(vec![
            ModelColumn::new("age", ColumnKind::Real),
            ModelColumn::new("dose", ColumnKind::Real),
            ModelColumn::named_by_user("group", ColumnKind::Label), // by --group
            ModelColumn::new("ill", ColumnKind::Integer),           // or as --ill says
        ])
    }

    fn build(&self, settings: &Table, table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        let settings: IllnessSettings = settings::read(settings)?;
        let data = table.ok_or(BuildError::NoTable)?;
        let (ill, clinic) = (data.integer("ill")?, data.labels("group")?);
        if let Some(row) = ill.iter().position(|value| ![0, 1].contains(value)) {
            return Err(data.refuse("ill", row, "must be 0 or 1").into());
        }
        let level = Dim { name: "clinic".into(), labels: clinic.labels().clone() };
        let variable = |name: &str, dims: Vec<Dim>, offset| {
            let role = Role::Parameter { offset, transform: Transform::Identity };
            Variable { name: name.into(), dims, role }
        };
        let variables = vec![
            variable("slope_age", vec![], 0),
            variable("slope_dose", vec![], 1),
            variable("level", vec![level], 2),
        ];
        let density = Logistic {
            age: data.real("age")?.into_owned(),
            dose: data.real("dose")?.into_owned(),
            clinic: clinic.codes().to_vec(),
            ill: data.real("ill")?.into_owned(),
            prior_sd: settings.prior_sd,
            layout: Layout { variables },
        };
        let observed = density.ill.clone();
        Ok(Arc::new(DensityProblem::new(density, observed)?.built_from(&settings, Some(&data))?))
    }

    fn simulator(&self, _settings: &Table, _test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        Ok(None)
    }
}

struct Logistic {
    age: Vec<f64>,
    dose: Vec<f64>,
    clinic: Vec<u32>,
    ill: Vec<f64>,
    prior_sd: f64,
    layout: Layout,
}

impl Logistic {
    /// The coordinates of a row's slopes and level, each with its factor.
    fn terms(&self, row: usize) -> [(usize, f64); 3] {
        [(0, self.age[row]), (1, self.dose[row]), (2 + self.clinic[row] as usize, 1.0)]
    }

    /// The log odds of a row.
    fn eta(&self, x: &[f64], row: usize) -> f64 {
        self.terms(row).iter().map(|&(at, factor)| factor * x[at]).sum()
    }

    /// The log likelihood of a row: `ill eta - ln(1 + exp(eta))`.
    fn row(&self, x: &[f64], row: usize) -> f64 {
        let eta = self.eta(x, row);
        self.ill[row] * eta - eta.max(0.0) - (-eta.abs()).exp().ln_1p()
    }
}

impl LogDensity for Logistic {
    fn dim(&self) -> usize {
        self.layout.width()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let weight = self.prior_sd.powi(-2);
        let mut logp = 0.0;
        for (slope, &x) in gradient.iter_mut().zip(x) {
            logp -= 0.5 * weight * x * x;
            *slope = -weight * x;
        }
        for row in 0..self.ill.len() {
            logp += self.row(x, row);
            let residual = self.ill[row] - 1.0 / (1.0 + (-self.eta(x, row)).exp());
            self.terms(row).iter().for_each(|&(at, factor)| gradient[at] += residual * factor);
        }
        if logp.is_finite() { Ok(logp) } else { Err(DensityError::NotFinite { value: logp }) }
    }

    fn expand(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }

    fn name(&self) -> &str {
        "illness"
    }

    fn observations(&self) -> usize {
        self.ill.len()
    }

    fn log_likelihood(&self, x: &[f64], out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(row, out)| *out = self.row(x, row));
    }
}

use crate::own_model::{answer_of, command_of, main_of};
use crate::support::{Answer, fingerprints};
use octopus::models::Registry;
use octopus::random::{Purpose, Stream};
use octopus::runs::{RunFolder, RunStatus};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

static MODELS: [&dyn Model; 1] = [&Illness];

#[test]
#[ignore = "started by other tests"]
fn inside() {
    main_of(Registry::new(&MODELS));
}

fn command(dir: &Path, words: &str) -> Command {
    command_of("own_table::inside", dir, words)
}

fn own(dir: &Path, words: &str) -> Answer {
    answer_of(command(dir, words))
}

/// What made the data.
const SLOPES: [f64; 2] = [1.0, -1.5];
const LEVELS: [f64; 2] = [-0.5, 1.0];

/// Rows of two clinics and two years, after a header. Columns that the model does not read stand among the others.
fn rows() -> Vec<[String; 6]> {
    let mut random = Stream::new(5, 0, 0, Purpose::User);
    let mut row = |k: usize| {
        let (age, dose) = (random.normal(), random.normal());
        let eta = SLOPES[0] * age + SLOPES[1] * dose + LEVELS[k % 2];
        let ill = u8::from(random.uniform() < 1.0 / (1.0 + (-eta).exp()));
        let (clinic, year) = (["north", "south"][k % 2], ["2024", "2025"][k / 2 % 2]);
        [clinic.to_owned(), dose.to_string(), "a note".to_owned(), age.to_string(), year.to_owned(), ill.to_string()]
    };
    (0..600).map(&mut row).collect()
}

/// Writes a table of rows.
fn table<'a>(path: &Path, header: &str, rows: impl Iterator<Item = &'a [String; 6]>) {
    let rows: String = rows.map(|row| row.join(",") + "\n").collect();
    std::fs::write(path, format!("{header}\n{rows}")).unwrap();
}

const HEADER: &str = "site,dose,note,age,year,ill";
const OPTIONS: &str = "--group site --device cpu --quiet";

#[test]
fn the_page_has_this_model() {
    let page = include_str!("../../../../docs/models.md");
    let (_, section) = page.split_once("## A table of many columns\n").expect("the section");
    let (_, program) = section.split_once("```rust\n").expect("the program");
    let (program, _) = program.split_once("```\n").expect("its end");
    assert!(include_str!("own_table.rs").contains(program), "the page's program is not the one that is tested here");
}

/// Each value comes from its column, whatever the columns are called and in whatever order they stand.
#[test]
fn it_finds_what_made_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    table(&dir.path().join("all.csv"), HEADER, rows().iter());
    let found = own(dir.path(), &format!("sample illness --data {{}}/all.csv {OPTIONS} --json --out {{}}/run"));
    let found = found.succeeds().json();
    let parameters = found["diagnosis"]["parameters"].as_array().unwrap();
    let expected =
        ["slope_age", "slope_dose", "level[north]", "level[south]"].into_iter().zip([SLOPES, LEVELS].concat());
    for (parameter, (name, truth)) in parameters.iter().zip(expected) {
        let [mean, sd] = ["mean", "sd"].map(|name| parameter[name].as_f64().unwrap());
        assert_eq!(parameter["name"], name);
        assert!((mean - truth).abs() < 4.0 * sd && sd < 0.3, "{parameter}");
    }
    let run = RunFolder::open(&dir.path().join("run")).unwrap();
    let data = run.record().data.clone().unwrap();
    assert_eq!((data.observations, data.groups), (600, 2));
    let file = run.record().model.settings["data"]["file"].clone();
    let file = file.as_table().unwrap();
    assert_eq!(file["path"].as_str(), dir.path().join("all.csv").to_str());
    assert_eq!((file["group"].as_str(), file.len()), (Some("site"), 2));
    let elpd = own(dir.path(), "loo {}/run --json").succeeds().json();
    assert_eq!(elpd["models"][0]["observations"], 600);

    table(&dir.path().join("other.csv"), "site,grams,note,AGE,year,outcome", rows().iter());
    let columns = "[data.file]\npath = 'other.csv'\ngroup = 'site'\nage = 'AGE'\ndose = 'grams'\n";
    for (name, said, options) in [("file", "ill = 'outcome'", ""), ("option", "", "--ill outcome")] {
        std::fs::write(dir.path().join(format!("{name}.toml")), format!("{columns}{said}\n")).unwrap();
        let words = format!("sample illness --config {name}.toml {options} --device cpu --quiet --out {name}");
        answer_of({
            let mut command = command(dir.path(), &words);
            command.current_dir(dir.path());
            command
        })
        .succeeds();
        let again = RunFolder::open(&dir.path().join(name)).unwrap();
        assert_eq!(again.record().data.as_ref().unwrap().sha256, data.sha256);
        assert_eq!(fingerprints(&dir.path().join(name)), fingerprints(&dir.path().join("run")));
        let file = again.record().model.settings["data"]["file"].clone();
        let named = ["age", "dose", "group", "ill"].map(|name| file[name].as_str().unwrap());
        assert_eq!(named, ["AGE", "grams", "site", "outcome"]);
    }
}

/// The files of a folder and the parts of one table are the same data sets.
#[test]
fn its_batches_are_of_files_or_parts_of_one() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("years")).unwrap();
    let rows = rows();
    table(&dir.path().join("all.csv"), HEADER, rows.iter());
    for year in ["2024", "2025"] {
        let path = dir.path().join("years").join(format!("{year}.csv"));
        table(&path, HEADER, rows.iter().filter(|row| row[4] == year));
    }
    for (source, out) in [("all.csv --batch-by year", "parts"), ("years", "files")] {
        let words = format!("sample illness --batch {{}}/{source} {OPTIONS} --draws 500 --json --out {{}}/{out}");
        let found = own(dir.path(), &words).succeeds().json();
        assert_eq!(found["sets"].as_array().map(Vec::len), Some(2), "{found}");
    }
    for year in ["2024", "2025"] {
        let [parts, files] = ["parts", "files"].map(|out| dir.path().join(out).join("sets").join(year));
        assert_eq!(fingerprints(&parts), fingerprints(&files));
        let data = RunFolder::open(&parts).unwrap().record().data.clone().unwrap();
        assert_eq!((data.observations, data.source.ends_with(&format!("rows with year = {year}"))), (300, true));
    }
    // The part is found again.
    let elpd = own(dir.path(), "loo {}/parts/sets/2025 --json").succeeds().json();
    assert_eq!(elpd["models"][0]["observations"], 300);
    own(dir.path(), "sample illness --batch {}/years --quiet --out {}/none").fails(2, &["--batch: needs --group"]);
}

#[test]
fn a_killed_run_goes_on_with_the_table_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.csv");
    let mut rows = rows();
    rows.truncate(40);
    table(&path, HEADER, rows.iter());
    let words = format!("sample illness --data {{}}/all.csv {OPTIONS} --draws 20000 --checkpoint-every 500");
    let mut child = command(dir.path(), &format!("{words} --out {{}}/killed")).spawn().expect("starts");
    let (killed, begin) = (dir.path().join("killed"), Instant::now());
    while !killed.join("draws/part-00000.parquet").exists() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ran");
    assert_eq!(RunFolder::open(&killed).unwrap().record().status, RunStatus::Running);
    // One cell of each column that is read; the others may change.
    for (column, changed) in [(0, "south"), (1, "0.25"), (3, "0.25"), (5, "2")] {
        let mut other = rows.clone();
        let cell = &mut other[0][column];
        *cell = if changed == "2" { if cell == "0" { "1" } else { "0" }.to_owned() } else { changed.to_owned() };
        table(&path, HEADER, other.iter());
        own(dir.path(), "resume {}/killed --quiet").fails(3, &["all.csv", "are not those of the run"]);
    }
    rows[0][2] = "another note".to_owned();
    table(&path, HEADER, rows.iter());
    own(dir.path(), "resume {}/killed --quiet").succeeds();
    own(dir.path(), &format!("{words} --out {{}}/whole")).succeeds();
    assert_eq!(fingerprints(&killed), fingerprints(&dir.path().join("whole")));
}

/// A dry run reads the table, so that it says what a run would say.
#[test]
fn what_does_not_fit_is_said_before_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows();
    let dry = |header: &str, change: &dyn Fn(&mut [String; 6]), options: &str| {
        let mut rows = rows.clone();
        change(&mut rows[3]);
        table(&dir.path().join("all.csv"), header, rows.iter());
        own(dir.path(), &format!("sample illness --data {{}}/all.csv --device cpu --dry-run --out {{}}/run {options}"))
    };
    let as_is = |_: &mut [String; 6]| {};
    dry(HEADER, &as_is, "--group site").succeeds();
    assert!(own(dir.path(), "sample --help").succeeds().stdout.contains("--ill"));
    let told = [
        (dry(HEADER, &as_is, ""), 2, &["--data: needs --group, to name columns of the table"][..]),
        (
            dry(HEADER, &as_is, "--group site --value age"),
            2,
            &["--value: illness reads", "`age`, `dose`, `group`, `ill`"],
        ),
        (dry(HEADER, &as_is, "--group sites"), 3, &["all.csv has no column `sites` (did you mean `site`?)"]),
        (dry(HEADER, &as_is, "--group site --ill il"), 3, &["has no column `il` (did you mean `ill`?)"]),
        (dry("site,doze,note,age,year,ill", &as_is, "--group site"), 3, &["`dose` (did you mean `doze`?)"]),
        (
            dry(HEADER, &|row| row[5] = "yes".into(), "--group site"),
            3,
            &["all.csv: line 5 (row 4), column `ill`", "yes"],
        ),
        (
            dry(HEADER, &|row| row[5] = "2".into(), "--group site"),
            3,
            &["all.csv: column `ill` has 2 in row 4 of the rows that were read: it must be 0 or 1"],
        ),
        (own(dir.path(), "sample illness --device cpu --dry-run --out {}/run"), 2, &["needs a table", "--data FILE"]),
        (own(dir.path(), "sample illness --ill x --device cpu --dry-run --out {}/run"), 2, &["--ill: needs --data"]),
    ];
    for (answer, code, words) in told {
        answer.fails(code, words);
    }
    assert!(!dir.path().join("run").exists());
}
