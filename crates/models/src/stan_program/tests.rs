//! Tests of programs as models: settings and fingerprints, data of files and tables, labels, the trace.

use super::*;
use crate::BuildError;
use octopus_bind::DataNumbers;
use octopus_trace::{InferenceData, Labels, Values};
use std::fs;
use tempfile::TempDir;

const CLINICS: &str = "data { int<lower=1> N; int<lower=1> J; array[N] int<lower=1, upper=J> clinic; vector[N] age;
           array[N] int<lower=0, upper=1> ill; real<lower=0> scale; }
    parameters { vector[J] level; matrix[J, J] pairs; real slope; }
    transformed parameters { vector[N] eta = level[clinic] + slope * age; }
    model { level ~ normal(0, scale); to_vector(pairs) ~ normal(0, 1); slope ~ normal(0, 1); ill ~ bernoulli_logit(eta); }";
const ROWS: &str = "clinic,age,ill,note\noslo,1.5,0,a\nrio,-0.5,1,\noslo,0,1,b\nkiel,2,0,c\n";

struct Case {
    dir: TempDir,
}

impl Case {
    fn new(program: &str, data: &str, text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("m.stan"), program).unwrap();
        fs::write(dir.path().join(data), text).unwrap();
        Self { dir }
    }

    fn settings(&self, data: &str, set: &str) -> Table {
        let at = |name: &str| self.dir.path().join(name);
        let data = if data.is_empty() { String::new() } else { format!("[data.file]\npath = {:?}\n", at(data)) };
        format!("program = {:?}\n{data}[set]\n{set}", at("m.stan")).parse().unwrap()
    }

    fn built(&self, data: &str, set: &str) -> Result<StanProblem, BuildError> {
        StanProblem::new(&self.settings(data, set), None)
    }

    #[track_caller]
    fn told(&self, data: &str, set: &str) -> String {
        match self.built(data, set) {
            Ok(_) => panic!("no error"),
            Err(error) => error.to_string(),
        }
    }
}

fn ints(problem: &StanProblem, name: &str) -> Vec<i64> {
    match &problem.values().get(name).unwrap().numbers {
        DataNumbers::Ints(values) => values.clone(),
        DataNumbers::Reals(values) => panic!("{values:?}"),
    }
}

#[test]
fn columns_sizes_and_labels_become_data() {
    let case = Case::new(CLINICS, "d.csv", ROWS);
    let problem = case.built("d.csv", "scale = 2").unwrap();
    assert_eq!((ints(&problem, "N"), ints(&problem, "J")), (vec![4], vec![3]));
    assert_eq!((ints(&problem, "clinic"), ints(&problem, "ill")), (vec![1, 2, 1, 3], vec![0, 1, 1, 0]));
    assert_eq!(problem.data().observations, 4);
    assert_eq!(problem.data().groups, 3);
    assert!(problem.findings().is_empty(), "{:?}", problem.findings());
    let layout = problem.density().layout();
    let dims = |name: &str| {
        let found = layout.variables.iter().find(|variable| variable.name == name).unwrap();
        found.dims.iter().map(|dim| (dim.name.clone(), dim.labels.clone())).collect::<Vec<_>>()
    };
    let clinics = Labels::Strings(["oslo", "rio", "kiel"].map(str::to_owned).to_vec());
    assert_eq!(dims("level"), [("clinic".to_owned(), clinics.clone())]);
    let square = [("clinic".to_owned(), clinics.clone()), ("pairs_dim_1".to_owned(), clinics)];
    assert_eq!(dims("pairs"), square, "a variable has an axis once");
    assert_eq!(dims("eta"), [("eta_dim_0".to_owned(), Labels::Integers(vec![1, 2, 3, 4]))]);
    // The same by hand.
    let json = r#"{"N": 4, "J": 3, "clinic": [1, 2, 1, 3], "age": [1.5, -0.5, 0, 2], "ill": [0, 1, 1, 0], "scale": 2}"#;
    let by_hand = Case::new(CLINICS, "d.json", json).built("d.json", "").unwrap();
    let x: Vec<f64> = (0..problem.density().dim()).map(|k| 0.1 * k as f64).collect();
    let value = |problem: &StanProblem| problem.density().logp_grad(&x, &mut vec![0.0; x.len()]).unwrap().to_bits();
    assert_eq!(value(&problem), value(&by_hand));
}

#[test]
fn whole_numbers_are_numbers_or_labels() {
    const PROGRAM: &str = "data { int N; int J; array[N] int<lower=1, upper=J> g; } parameters { vector[J] a; }
                           model { a[g] ~ normal(0, 1); }";
    let of = |column: &str, set: &str| {
        let case = Case::new(PROGRAM, "d.csv", &format!("g\n{column}"));
        let problem = case.built("d.csv", set).unwrap();
        let labels = problem.density().layout().variables[0].dims[0].labels.clone();
        (ints(&problem, "J"), ints(&problem, "g"), labels)
    };
    assert_eq!(of("2\n1\n3\n2\n", ""), (vec![3], vec![2, 1, 3, 2], Labels::Integers(vec![1, 2, 3])));
    assert_eq!(of("2\n1\n3\n2\n", "J = 5"), (vec![5], vec![2, 1, 3, 2], Labels::Integers(vec![1, 2, 3, 4, 5])));
    assert_eq!(of("907\n904\n907\n", ""), (vec![2], vec![1, 2, 1], Labels::Integers(vec![907, 904])));
    let words = Labels::Strings(vec!["b".into(), "a".into()]);
    assert_eq!(of("b\na\nb\n", ""), (vec![2], vec![1, 2, 1], words));
    // A number of labels that are not all there: without names.
    assert_eq!(of("b\na\nb\n", "J = 4"), (vec![4], vec![1, 2, 1], Labels::Integers(vec![1, 2, 3, 4])));
}

/// Columns that one size counts have one numbering: a team is the same at home and away.
#[test]
fn columns_of_one_size_are_numbered_together() {
    const PROGRAM: &str =
        "data { int N; int T; array[N] int<lower=1, upper=T> home; array[N] int<lower=1, upper=T> away; }
                           parameters { vector[T] skill; } model { skill[home] ~ normal(skill[away], 1); }";
    let case = Case::new(PROGRAM, "d.csv", "home,away\nrio,kiel\noslo,rio\nkiel,oslo\n");
    let problem = case.built("d.csv", "").unwrap();
    assert_eq!((ints(&problem, "home"), ints(&problem, "away")), (vec![1, 2, 3], vec![3, 1, 2]));
    let dim = &problem.density().layout().variables[0].dims[0];
    assert_eq!((dim.name.as_str(), dim.labels.len(), dim.labels.text(2)), ("home", 3, "kiel".to_owned()));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let case = Case::new(CLINICS, "d.csv", ROWS);
    for (set, words) in [
        ("", &["d.csv: `scale` is missing", "declared real<lower=0>", "m.stan:2:62", "--set scale=VALUE"][..]),
        ("scale = -1", &["--set: `scale` is -1", "must be >= 0"]),
        ("scale = 1\nJ = 2", &["`clinic[4]` is 3, but must be <= 2"]),
        ("scale = 1\nN = 5", &["`clinic` has sizes [4], but [5] are needed"]),
        ("scale = 1\nage = [1, 2, 3]", &["--set: `age` has sizes [3], but [4]"]),
        ("scale = 'much'", &["field `set.scale`", "is no number"]),
        ("scale = [[1], [2, 3]]", &["field `set.scale`", "side by side"]),
    ] {
        let told = case.told("d.csv", set);
        words.iter().for_each(|word| assert!(told.contains(word), "{set}: {word}: {told}"));
    }
    let told = Case::new(CLINICS, "d.csv", "clinic,ill\na,0\n").told("d.csv", "scale = 1");
    assert!(told.contains("d.csv") && told.contains("`age`"), "{told}");
    let told = Case::new(CLINICS, "d.csv", "clinic,age,ill\na,old,0\n").told("d.csv", "scale = 1");
    assert!(told.contains("age") && told.contains("old"), "{told}");
    let told = Case::new("data { int N; } model { N ~ nowhere(1); }", "d.json", "{}").told("d.json", "");
    assert!(told.contains("m.stan:1:") && told.contains("nowhere") && told.contains('^'), "{told}");
    assert!(!told.starts_with("error:"), "{told}");
    let told = Case::new(CLINICS, "d.json", "{\"N\": [1, }").told("d.json", "");
    assert!(told.contains("d.json:1"), "{told}");
    let none = StanProblem::new(&Table::new(), None).map(|_| ()).unwrap_err().to_string();
    assert!(none.contains("give FILE.stan"), "{none}");
}

#[test]
fn data_that_the_program_does_not_declare_are_told() {
    let case = Case::new("data { int N; } parameters { real x; } model { x ~ normal(0, N); }", "d.json", "{\"M\": 1}");
    let problem = case.built("d.json", "N = 2\nK = 3").unwrap();
    let told = problem.findings().join("\n");
    assert!(
        told.contains("d.json: the program has no data `M`") && told.contains("--set: the program has no data `K`")
    );
}

/// A program and data of the caller's make the problem that files make, but no settings build it again.
#[test]
fn a_program_is_bound_without_files() {
    let json = r#"{"N": 4, "J": 3, "clinic": [1, 2, 1, 3], "age": [1.5, -0.5, 0, 2], "ill": [0, 1, 1, 0], "scale": 2}"#;
    let of_files = Case::new(CLINICS, "d.json", json).built("d.json", "").unwrap();
    let program = StanProgram::parse("clinics", CLINICS).unwrap();
    let problem = StanProblem::bind(program.clone(), Data::json("by hand", json).unwrap()).unwrap();
    assert_eq!(problem.density().layout(), of_files.density().layout());
    assert_eq!(problem.statements(), of_files.statements());
    assert_eq!(problem.data().sha256, of_files.data().sha256);
    assert_eq!((problem.data().source.as_str(), problem.data().observations), ("by hand", 4));
    assert_eq!(problem.settings()["program_text"]["clinics"].as_str(), Some(CLINICS));
    let again = StanModel.build(problem.settings(), None).map(|_| ()).unwrap_err().to_string();
    assert!(again.contains("only it can build"), "{again}");
    let wrong = StanProblem::bind(program, Data::new("by hand")).map(|_| ()).unwrap_err().to_string();
    assert!(wrong.contains("by hand") && wrong.contains("`N` is missing"), "{wrong}");
}

/// A run's settings make the same problem again, unless program or data have changed.
#[test]
fn settings_make_the_same_problem_or_say_what_changed() {
    let case = Case::new(CLINICS, "d.csv", ROWS);
    let first = case.built("d.csv", "scale = 2").unwrap();
    let again = |problem: &StanProblem| StanProblem::new(problem.settings(), None);
    let second = again(&first).unwrap();
    assert_eq!((second.settings(), second.data()), (first.settings(), first.data()));
    let text = first.settings()["program_text"]["m.stan"].as_str().unwrap();
    assert_eq!(text, CLINICS);
    let path = case.dir.path().join("d.csv");
    fs::write(&path, ROWS.replace("kiel", "bonn")).unwrap();
    assert_ne!(again(&first).unwrap().data().sha256, first.data().sha256, "labels are data");
    fs::write(&path, ROWS.replace("note", "other")).unwrap();
    assert_eq!(again(&first).unwrap().data(), first.data(), "a column that is not read is none");
    fs::write(case.dir.path().join("m.stan"), CLINICS.replace("slope ~ normal(0, 1)", "slope ~ normal(0, 2)")).unwrap();
    let told = again(&first).map(|_| ()).unwrap_err().to_string();
    assert!(told.contains("m.stan is not the run's") && told.contains("program_text"), "{told}");
}

#[test]
fn included_files_are_part_of_the_program() {
    let case = Case::new("#include prior.stan\nparameters { real x; } model { x ~ normal(0, s()); }", "prior.stan", "");
    let prior = case.dir.path().join("prior.stan");
    fs::write(&prior, "functions { real s() { return 2; } }\n").unwrap();
    let first = case.built("", "").unwrap();
    assert!(first.settings()["program_text"]["prior.stan"].as_str().unwrap().contains("return 2"));
    fs::write(&prior, "functions { real s() { return 3; } }\n").unwrap();
    assert!(matches!(StanProblem::new(first.settings(), None), Err(BuildError::OtherProgram { .. })));
}

#[test]
fn data_are_constant_data_of_the_trace() {
    let case = Case::new(CLINICS, "d.csv", ROWS);
    let problem = case.built("d.csv", "scale = 2").unwrap();
    let mut data = InferenceData::default();
    problem.add_observations(&mut data);
    let constant = &data.groups["constant_data"].variables;
    assert_eq!(constant["clinic"].values, Values::I64(vec![1, 2, 1, 3]));
    assert_eq!((constant["age"].dims.clone(), constant["scale"].dims.len()), (vec!["age_dim_0".to_owned()], 0));
    assert_eq!(problem.statements()[0], "level ~ normal(0, scale)");
}

#[test]
fn what_is_no_table_has_no_columns() {
    let case = Case::new(CLINICS, "d.json", "{}");
    let mut settings = case.settings("d.json", "");
    settings["data"]["file"].as_table_mut().unwrap().insert("drop_missing".to_owned(), true.into());
    let told = StanProblem::new(&settings, None).map(|_| ()).unwrap_err().to_string();
    assert!(told.contains("field `data.file`") && told.contains("is no table"), "{told}");
}

#[test]
fn a_program_is_described() {
    let case = Case::new(CLINICS, "d.csv", ROWS);
    let program = StanModel::program(&case.settings("", "")).unwrap();
    let alone = ProgramOverview::new(&program, None).to_string();
    for line in [
        "data",
        "  array[N] int<lower=1, upper=J> clinic",
        "  vector[J] level",
        "distributions: bernoulli_logit, normal",
    ] {
        assert!(alone.lines().any(|one| one == line), "{line}: {alone}");
    }
    let problem = case.built("d.csv", "scale = 2").unwrap();
    let whole = ProgramOverview::new(&program, Some(&problem)).to_string();
    assert!(
        whole.contains("13 unconstrained coordinates") && whole.contains("matrix[J, J] pairs   (3 x 3)"),
        "{whole}"
    );
}

/// What is known of a program that ships is known with its own data, from a file as well; the hierarchy's posterior with any.
#[test]
fn truths_are_known_by_the_data() {
    let built = |name: &str, data: &str| {
        let case = Case::new("", "d.json", data);
        let settings = format!("program = {name:?}\n[data.file]\npath = {:?}\n", case.dir.path().join("d.json"));
        StanProblem::new(&settings.parse().unwrap(), None).unwrap().exact().unwrap()
    };
    let own = |name: &str| ShippedProgram::find(name).unwrap().data;
    let coin = own("beta-bernoulli");
    assert!(built("beta-bernoulli", coin).is_some());
    let other = coin.replacen("\"success\": [1", "\"success\": [0", 1);
    assert!(other != coin && built("beta-bernoulli", &other).is_none());
    let groups = own("hierarchical-normal-stan");
    let known = built("hierarchical-normal-stan", groups).unwrap().moments_of("mu_group", 3).unwrap();
    // The same data in another form of a number: the fingerprint is another one, and quadrature finds the same.
    let mut values: serde_json::Value = serde_json::from_str(groups).unwrap();
    let first = values["value"][0].as_f64().unwrap();
    values["value"][0] = (first + 1e-9).into();
    let found = built("hierarchical-normal-stan", &values.to_string()).unwrap().moments_of("mu_group", 3).unwrap();
    assert!((found.mean - known.mean).abs() < 1e-6 && (found.sd - known.sd).abs() < 1e-6, "{found:?}, {known:?}");
}

/// The sum of log likelihoods over fewer rows is the sum of the terms, of every program that ships.
#[test]
fn the_whole_likelihood_is_the_sum_of_its_terms() {
    let mut compared = 0;
    for shipped in ShippedProgram::all().iter().filter(|shipped| shipped.name != "gp-regression") {
        let problem = shipped.build(&Table::new(), None).unwrap();
        let density = problem.density();
        if !density.has_log_likelihood() {
            continue;
        }
        let position: Vec<f64> = (0..density.dim()).map(|k| 0.3 * (k as f64 * 0.7).sin()).collect();
        let mut terms = vec![0.0; density.observations()];
        density.log_likelihood(&position, &mut terms);
        let sum: f64 = terms.iter().sum();
        let whole = density.total_log_likelihood(&position, &mut terms);
        assert!((whole - sum).abs() <= 1e-11 * sum.abs().max(1.0), "{}: {whole} is not {sum}", shipped.name);
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}
