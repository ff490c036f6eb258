//! CSV files that CmdStan may leave behind.

use super::*;
use crate::FormatError;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use std::fs;
use std::path::PathBuf;

const HEAD: &str = "# stan_version_major = 2\n# method = sample (Default)\n#     num_samples = 3\n#     num_warmup = 4\n\
                    #     save_warmup = 1\n#     thin = 2\n# id = 1\nlp__,divergent__,mu\n";

struct Files(tempfile::TempDir);

impl Files {
    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn refuse(&self, text: &str, words: &[&str]) {
        let message = read_stan_csv(&[self.put("a.csv", text)]).unwrap_err().to_string();
        assert!(message.contains("a.csv") && words.iter().all(|word| message.contains(word)), "{message}");
    }
}

fn files() -> Files {
    Files(tempfile::tempdir().unwrap())
}

fn mu(data: &InferenceData, group: &str) -> Vec<f64> {
    data.groups[group].variables["mu"].values.to_f64()
}

#[test]
fn a_chain_that_was_killed_keeps_its_whole_lines() {
    let files = files();
    // Two draws of warm-up and one of sampling; the second may have lost digits.
    let text = format!("{HEAD}-1,0,1\n-2,1,2\n# Adaptation terminated\n-3,0,3\n-4,0,4.2");
    let data = read_stan_csv(&[files.put("a.csv", &text)]).unwrap().data;
    assert_eq!(mu(&data, "warmup_posterior"), [1.0, 2.0]);
    assert_eq!(mu(&data, "posterior"), [3.0]);
    assert_eq!(data.groups["warmup_sample_stats"].variables["diverging"].values, Values::Bool(vec![false, true]));
    // Without the comment the settings tell: 4 draws of warm-up, each second kept.
    let fixed = read_stan_csv(&[files.put("a.csv", &format!("{HEAD}-1,0,1\n-2,1,2\n-3,0,3\n-4,0,4.2\n"))]).unwrap();
    assert_eq!(mu(&fixed.data, "posterior"), [3.0, 4.2]);
    // Killed in warm-up.
    let early = read_stan_csv(&[files.put("a.csv", &format!("{HEAD}-1,0,1\n"))]).unwrap().data;
    assert_eq!(early.groups.keys().collect::<Vec<_>>(), ["warmup_posterior", "warmup_sample_stats"]);
    files.refuse(HEAD, &["no draws"]);
}

#[test]
fn chains_that_do_not_fit_are_named() {
    let files = files();
    let long = files.put("a.csv", &format!("{HEAD}-1,0,1\n-2,0,2\n# Adaptation terminated\n-3,0,3\n-4,0,4\n"));
    let short = files.put("b.csv", &format!("{HEAD}-1,0,1\n-2,0,2\n# Adaptation terminated\n-3,0,3\n"));
    let error = read_stan_csv(&[long.clone(), short]).unwrap_err();
    assert!(matches!(&error, FormatError::UnequalChains { counts, .. } if counts == &[2, 1]));
    let message = error.to_string();
    assert!(message.contains("b.csv has 1 draws of 2") && message.contains("name the other files"), "{message}");
    assert!(!message.contains("a.csv has"), "{message}");
    let other = files.put("b.csv", "lp__,divergent__,nu\n-1,0,1\n");
    let message = read_stan_csv(&[long, other]).unwrap_err().to_string();
    assert!(message.contains("b.csv") && message.contains("columns are not those of"), "{message}");
}

#[test]
fn what_is_no_chain_is_told() {
    let files = files();
    files.refuse("", &["no line of column names"]);
    files.refuse("# method = optimize\nlp__,mu\n-1,2\n", &["optimize"]);
    files.refuse("lp__,mu\n-1,2\n-1,2,3\n", &["line 3", "3 values", "2 columns"]);
    files.refuse("lp__,mu\n-1,x\n", &["line 2", "no number"]);
    files.refuse("lp__,mu.1,mu.3\n-1,2,3\n", &["mu", "whole array"]);
    let message = read_stan_csv(&[files.0.path().join("none.csv")]).unwrap_err().to_string();
    assert!(message.contains("check the path"), "{message}");
}

#[test]
fn a_folder_is_read_in_the_order_of_its_chains() {
    let files = files();
    for (name, id) in [("x_1.csv", 1), ("x_10.csv", 10), ("x_2.csv", 2)] {
        files.put(name, &format!("# id = {id}\nlp__,mu\n-1,{id}\n"));
    }
    let data = read_stan_csv(&[files.0.path().to_owned()]).unwrap().data;
    assert_eq!(mu(&data, "posterior"), [1.0, 2.0, 10.0]);
    // CmdStan gives the chains of one process one id; their files are numbered.
    for number in [1, 2, 10] {
        files.put(&format!("x_{number}.csv"), &format!("# id = 1\nlp__,mu\n-1,{number}\n"));
    }
    assert_eq!(mu(&read_stan_csv(&[files.0.path().to_owned()]).unwrap().data, "posterior"), [1.0, 2.0, 10.0]);
    // Files that are named keep their order.
    let paths = ["x_10.csv", "x_1.csv"].map(|name| files.0.path().join(name));
    assert_eq!(mu(&read_stan_csv(&paths).unwrap().data, "posterior"), [10.0, 1.0]);
}

#[test]
fn words_of_cpp_and_likelihoods() {
    let files = files();
    let text = "lp__,mu,log_lik.1,log_lik.2,y_rep\r\nnan,-inf,1,2,3\r\ninf,+1e-3,3,4,5\r\n";
    let data = read_stan_csv(&[files.put("a.csv", text)]).unwrap().data;
    assert_eq!(mu(&data, "posterior"), [f64::NEG_INFINITY, 1e-3]);
    assert!(data.groups["sample_stats"].variables["lp"].values.to_f64()[0].is_nan());
    let likelihood = &data.groups["log_likelihood"].variables["log_lik"];
    assert_eq!(likelihood.dims, ["chain", "draw", "log_lik_dim_0"]);
    assert_eq!(likelihood.values, Values::F64(vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(data.groups["posterior"].variables.keys().collect::<Vec<_>>(), ["mu", "y_rep"]);
}

fn trace(name: &str) -> InferenceData {
    let mut posterior = Dataset::default();
    posterior.insert(name, Array::new([("chain", 2), ("draw", 1)], Values::I64(vec![1, 2])));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    data
}

#[test]
fn what_a_stan_csv_cannot_hold_is_refused() {
    let files = files();
    let path = files.0.path().join("out");
    let refuse = |data: &InferenceData, metrics: &[StanMetric], words: &[&str]| {
        let message = write_stan_csv(&path, data, metrics, false).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
        assert!(!path.exists());
    };
    refuse(&InferenceData::default(), &[], &["posterior", "not in the trace"]);
    refuse(&trace("mu.1"), &[], &["mu.1", "rename"]);
    let metric = |values| StanMetric { step_size: None, inverse: InverseMetric::Diagonal(values) };
    refuse(&trace("mu"), &[metric(vec![1.0])], &["1 metrics for 2 chains"]);
    refuse(&trace("mu"), &[metric(vec![f64::NAN]), metric(vec![1.0])], &["finite"]);
    let empty = StanMetric { step_size: None, inverse: InverseMetric::Dense(Vec::new()) };
    refuse(&trace("mu"), &[empty.clone(), empty], &["finite numbers, one at least"]);
    let mut loose = trace("mu");
    loose.groups["posterior"].insert("x", Array::new([("chain", 2)], Values::F64(vec![0.0; 2])));
    refuse(&loose, &[], &["variable x"]);
    for (name, chains) in [("nu", 2), ("mu", 1)] {
        let (mut data, mut warmup) = (trace("mu"), Dataset::default());
        warmup.insert(name, Array::new([("chain", chains), ("draw", 1)], Values::I64(vec![1; chains])));
        data.insert("warmup_posterior", warmup);
        refuse(&data, &[], &["of warm-up are not those of the draws"]);
    }

    write_stan_csv(&path, &trace("mu"), &[], false).unwrap();
    write_stan_csv(&path, &trace("nu"), &[metric(vec![1.0]), metric(vec![2.0])], true).unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 4);
    fs::write(path.join("notes.txt"), "mine").unwrap();
    assert!(matches!(write_stan_csv(&path, &trace("mu"), &[], true), Err(FormatError::FileExists { .. })));
}

#[test]
fn metrics_as_json() {
    let dense = StanMetric { step_size: Some(0.1), inverse: InverseMetric::Dense(vec![1.0, 0.5, 0.5, 1.0 / 3.0]) };
    let json: serde_json::Value = serde_json::from_str(&metric::to_json(&dense).unwrap()).unwrap();
    assert_eq!(json, serde_json::json!({ "inv_metric": [[1.0, 0.5], [0.5, 1.0 / 3.0]], "stepsize": 0.1 }));
    let ragged = StanMetric { step_size: None, inverse: InverseMetric::Dense(vec![1.0, 0.5, 0.5]) };
    assert!(metric::to_json(&ragged).unwrap_err().to_string().contains("square"));
    let square = StanMetric { step_size: None, inverse: InverseMetric::Dense(vec![0.0; 9]) };
    assert_eq!(square.inverse.dim(), 3);
    let json: serde_json::Value = serde_json::from_str(&metric::to_json(&square).unwrap()).unwrap();
    assert_eq!(json, serde_json::json!({ "inv_metric": vec![vec![0.0; 3]; 3] }));
}

/// The whole text of a chain: settings, warm-up, the last step size after it, and numbers in the form of C++.
#[test]
fn a_written_chain_line_by_line() {
    let phase = |draws: usize, mu: &[f64], step: &[f64]| {
        let axes = [("chain", 2), ("draw", draws)];
        let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
        posterior.insert("mu", Array::new(axes, Values::F64(mu.to_vec())));
        stats.insert("step_size", Array::new(axes, Values::F64(step.to_vec())));
        stats.insert("diverging", Array::new(axes, Values::Bool((0..2 * draws).map(|i| i % 2 == 1).collect())));
        (posterior, stats)
    };
    let mut data = InferenceData::default();
    let (posterior, stats) = phase(1, &[7.0, 8.0], &[0.25, 0.5]);
    data.insert("warmup_posterior", posterior);
    data.insert("warmup_sample_stats", stats);
    let (posterior, stats) = phase(
        4,
        &[f64::NAN, 3.0, 1e15, 0.1, -2.0, 1e300, 1e-9, 5.5],
        &[0.125, 0.125, 0.125, 0.0625, 0.75, 0.75, 0.75, 0.875],
    );
    data.insert("posterior", posterior);
    data.insert("sample_stats", stats);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    write_stan_csv(&path, &data, &[], false).unwrap();
    let first = fs::read_to_string(path.join("chain-1.csv")).unwrap();
    let written_by = format!("# written_by = octopus {}\n", env!("CARGO_PKG_VERSION"));
    assert!(first.contains(&written_by), "{first}");
    let expected = "# stan_version_major = 2\n# stan_version_minor = 37\n# stan_version_patch = 0\n# model = octopus\n\
        # method = sample\n#   sample\n#     num_samples = 4\n#     num_warmup = 1\n#     save_warmup = true\n\
        #     thin = 1\n#     adapt\n#       engaged = true\n#     algorithm = hmc\n#       hmc\n\
        #         engine = nuts\n#         metric = unit_e\n#     num_chains = 1\n# id = 1\n\
        stepsize__,divergent__,mu\n0.25,0,7\n# Adaptation terminated\n# Step size = 0.0625\n\
        # No free parameters for unit metric\n0.125,0,nan\n0.125,1,3\n0.125,0,1000000000000000.0\n0.0625,1,0.1\n\
        # \n#  Elapsed Time: 0 seconds (Warm-up)\n#                0 seconds (Sampling)\n\
        #                0 seconds (Total)\n# \n";
    assert_eq!(first.replace(&written_by, ""), expected);
    let second = fs::read_to_string(path.join("chain-2.csv")).unwrap();
    assert!(second.contains("\n# id = 2\n") && second.contains("\n# Step size = 0.875\n"), "{second}");
    assert!(second.contains(",1e300\n") && second.contains(",1e-9\n") && second.contains("0.75,0,-2\n"), "{second}");
    // Only what this has written is replaced.
    write_stan_csv(&path, &data, &[], true).unwrap();
    for stranger in ["chain-.csv", "chain-x.csv", "chain-1.txt"] {
        fs::write(path.join(stranger), "").unwrap();
        assert!(write_stan_csv(&path, &data, &[], true).is_err(), "{stranger}");
        fs::remove_file(path.join(stranger)).unwrap();
    }
}

#[test]
fn a_chain_is_known_by_its_first_lines() {
    for (is_stan, beginning) in [
        (true, "# stan_version_major = 2\n"),
        (true, "# id = 1\n\n# method = sample\nmu, lp__ \n"),
        (true, "\u{feff}# stan_version_major = 2\n"),
        (true, "\u{feff}\"lp__\",\"mu\"\r\n"),
        (false, "# lp__\nmu,nu\nlp__,mu\n"),
        // A table of all chains that others have made of Stan's draws.
        (false, "lp__,mu,chain,draw\n"),
        (false, "\"\",\".chain\",\".iteration\",\"lp__\"\n"),
        (true, "# stan_version_major = 2\nlp__,chain,draw\n"),
        (true, "lp__,chain\n"),
        (false, "\n# only = comments\n"),
    ] {
        assert_eq!(looks_like_stan(beginning.as_bytes()), is_stan, "{beginning}");
    }
}

#[test]
fn attributes_are_the_settings_on_which_chains_agree() {
    let files = files();
    let settings = "# model = m\n# init =\n# num_samples = 1\n# delta = 0.8\n# stepsize = inf\n";
    let chain = |id: u32| files.put(&format!("{id}.csv"), &format!("{settings}# id = {id}\nlp__,mu\n-1,{id}\n"));
    let data = read_stan_csv(&[chain(1), chain(2)]).unwrap().data;
    let attributes: Vec<_> =
        data.groups["posterior"].attrs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let expected = [
        ("inference_library", Attribute::from("Stan")),
        ("model", Attribute::from("m")),
        ("num_samples", Attribute::I64(1)),
        ("delta", Attribute::F64(0.8)),
        ("stepsize", Attribute::from("inf")),
    ];
    assert_eq!(attributes, expected);
}

#[test]
fn counts_are_integers_where_they_are_whole() {
    let files = files();
    for (text, expected) in [
        ("3", Values::I64(vec![3])),
        ("-8.9e15", Values::I64(vec![-8_900_000_000_000_000])),
        ("9e15", Values::F64(vec![9e15])),
        ("1.5", Values::F64(vec![1.5])),
    ] {
        let chain = format!("treedepth__,n_leapfrog__,energy__,mu\n{text},{text},2,0\n");
        let data = read_stan_csv(&[files.put("a.csv", &chain)]).unwrap().data;
        let stats = &data.groups["sample_stats"].variables;
        assert_eq!([&stats["tree_depth"].values, &stats["n_steps"].values], [&expected, &expected]);
        assert_eq!(stats["energy"].values, Values::F64(vec![2.0]));
    }
}

/// The settings and the step size of what is written where one phase has no draws.
#[test]
fn a_phase_without_draws_is_not_written() {
    let files = files();
    for (warmup, draws) in [(0, 2), (2, 0)] {
        let mut data = InferenceData::default();
        for (prefix, draws) in [("warmup_", warmup), ("", draws)] {
            let axes = [("chain", 1), ("draw", draws)];
            let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
            posterior.insert("mu", Array::new(axes, Values::F64(vec![1.0; draws])));
            posterior.attrs.insert("model_name".into(), "eight  schools".into());
            stats.insert("step_size", Array::new(axes, Values::F64(vec![0.5; draws])));
            data.insert(format!("{prefix}posterior"), posterior);
            data.insert(format!("{prefix}sample_stats"), stats);
        }
        let path = files.0.path().join(warmup.to_string());
        write_stan_csv(&path, &data, &[], false).unwrap();
        let text = fs::read_to_string(path.join("chain-1.csv")).unwrap();
        let (num_samples, num_warmup) = (format!("num_samples = {draws}\n"), format!("num_warmup = {warmup}\n"));
        let save_warmup = format!("save_warmup = {}\n", warmup > 0);
        for line in ["# model = eight_schools\n", &num_samples, &num_warmup, &save_warmup] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
        assert_eq!(text.contains("# Step size = 0.5\n"), draws > 0, "{text}");
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 3, "{text}");
    }
}

#[test]
fn settings_tell_what_is_of_warmup() {
    let files = files();
    for (saved, first) in [("1", 3.0), ("true", 3.0), ("0", 1.0), ("false", 1.0)] {
        let head = HEAD.replace("save_warmup = 1", &format!("save_warmup = {saved}"));
        let chain = files.put("a.csv", &format!("{head}-1,0,1\n-2,1,2\n-3,0,3\n-4,0,4\n"));
        assert_eq!(mu(&read_stan_csv(&[chain]).unwrap().data, "posterior")[0], first, "{saved}");
    }
}

#[test]
fn a_metric_ends_with_its_last_row_or_is_none() {
    let files = files();
    let (diagonal, dense) = ("# Diagonal elements of inverse mass matrix:\n", "# Elements of inverse mass matrix:\n");
    for (kind, rows, expected) in [
        (diagonal, "# 1, 2\n# 3, 4\n", Some(InverseMetric::Diagonal(vec![1.0, 2.0]))),
        (dense, "# 1, 0.5\n# 0.5, 3\n", Some(InverseMetric::Dense(vec![1.0, 0.5, 0.5, 3.0]))),
        (dense, "# 1, 0.5\n", None),
        (dense, "# 1, 0.5\n# 0.5\n", None),
        (diagonal, "", None),
    ] {
        let text = format!("lp__,mu\n# Adaptation terminated\n# Step size = 0.5\n{kind}{rows}-1,2\n# \n# 5, 6\n");
        let metrics = read_stan_csv(&[files.put("a.csv", &text)]).unwrap().metrics;
        let expected = expected.map(|inverse| StanMetric { step_size: Some(0.5), inverse });
        assert_eq!(metrics, [expected], "{text}");
    }
}

/// The settings of RStan and PyStan 2, whose names are not CmdStan's.
fn rstan(settings: &str, rows: &str) -> String {
    format!(
        "# Samples Generated by Stan\n# stan_version_major=2\n# chain_id=1\n{settings}#\nlp__,treedepth__,mu\n{rows}"
    )
}

/// A row for each value of mu.
fn rows(values: std::ops::Range<i32>) -> String {
    values.map(|value| format!("-1,2,{value}\n")).collect()
}

#[test]
fn warm_up_of_rstan_is_not_of_the_posterior() {
    let files = files();
    let settings = "# iter=8\n# warmup=5\n# save_warmup=1\n# thin=1\n# adapt_engaged=0\n";
    let data = read_stan_csv(&[files.put("a.csv", &rstan(settings, &rows(0..8)))]).unwrap().data;
    assert_eq!(mu(&data, "warmup_posterior"), [0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(mu(&data, "posterior"), [5.0, 6.0, 7.0]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    // Where it is not saved, all rows count.
    let settings = settings.replace("save_warmup=1", "save_warmup=0");
    let data = read_stan_csv(&[files.put("a.csv", &rstan(&settings, &rows(5..8)))]).unwrap().data;
    assert_eq!(mu(&data, "posterior"), [5.0, 6.0, 7.0]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
}

/// Stan keeps iterations 0, thin, 2 thin, ...: of 5 with thin = 2 these are 3, not 2 (CmdStan's `generate_transitions`,
/// RStan's `iter_save`).
#[test]
fn thinned_warm_up_is_rounded_up() {
    let files = files();
    let of_cmdstan = |thin: usize, rows: &str| {
        format!(
            "# num_samples = 5\n# num_warmup = 5\n# save_warmup = true\n# thin = {thin}\nlp__,treedepth__,mu\n{rows}"
        )
    };
    let of_rstan =
        |thin: usize, rows: &str| rstan(&format!("# iter=10\n# warmup=5\n# save_warmup=1\n# thin={thin}\n"), rows);
    for (thin, saved) in [(1, 5), (2, 3), (3, 2), (4, 2), (5, 1), (6, 1)] {
        for text in [of_cmdstan(thin, &rows(0..2 * saved)), of_rstan(thin, &rows(0..2 * saved))] {
            let data = read_stan_csv(&[files.put("a.csv", &text)]).unwrap().data;
            let expected: Vec<f64> = (saved..2 * saved).map(f64::from).collect();
            assert_eq!(mu(&data, "posterior"), expected, "thin = {thin}");
            assert!(data.notes.is_empty(), "{:?}", data.notes);
        }
        let short = of_cmdstan(thin, &rows(0..2 * saved - 1));
        let short = read_stan_csv(&[files.put("a.csv", &short)]);
        if saved > 1 {
            let notes = short.unwrap().data.notes;
            let expected = format!("a.csv has {} of {saved} draws", saved - 1);
            assert!(notes.len() == 1 && notes[0].contains(&expected), "{notes:?}");
        }
    }
}

#[test]
fn a_chain_that_was_stopped_in_warm_up_has_no_draws() {
    let files = files();
    let settings = "# iter=10\n# warmup=5\n# save_warmup=1\n# thin=1\n";
    let data = read_stan_csv(&[files.put("a.csv", &rstan(settings, &rows(0..4)))]).unwrap().data;
    assert_eq!(data.groups.keys().collect::<Vec<_>>(), ["warmup_posterior", "warmup_sample_stats"]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    // Two chains that were stopped at different iterations.
    let paths = [(4, "a.csv"), (3, "b.csv")].map(|(end, name)| files.put(name, &rstan(settings, &rows(0..end))));
    let message = read_stan_csv(&paths).unwrap_err().to_string();
    assert!(message.contains("no draws yet"), "{message}");
}

#[test]
fn chains_with_and_without_their_warm_up() {
    let files = files();
    let with = "# iter=5\n# warmup=2\n# save_warmup=1\n# thin=1\n";
    let paths = [
        files.put("a.csv", &rstan(with, &rows(0..5))),
        files.put("b.csv", &rstan(&with.replace("save_warmup=1", "save_warmup=0"), &rows(10..13))),
    ];
    let data = read_stan_csv(&paths).unwrap().data;
    assert_eq!(mu(&data, "posterior"), [2.0, 3.0, 4.0, 10.0, 11.0, 12.0]);
    assert_eq!(data.groups.keys().collect::<Vec<_>>(), ["posterior", "sample_stats"]);
    assert!(
        data.notes.len() == 1 && data.notes[0].contains("unequal numbers of draws of it ([2, 0])"),
        "{:?}",
        data.notes
    );
    // One draw of each is enough to say it.
    let with = with.replace("iter=5", "iter=3");
    let paths = [
        files.put("a.csv", &rstan(&with, &rows(0..3))),
        files.put("b.csv", &rstan(&with.replace("save_warmup=1", "save_warmup=0"), &rows(10..11))),
    ];
    assert_eq!(read_stan_csv(&paths).unwrap().data.notes.len(), 1);
}

#[test]
fn a_chain_that_is_short_is_told() {
    let files = files();
    let text = |count: usize| {
        let rows: String = (0..count).map(|value| format!("-1,{value}\n")).collect();
        format!("# num_samples = 1000\n# num_warmup = 10\n# save_warmup = 0\n# thin = 1\nlp__,mu\n{rows}")
    };
    let data = read_stan_csv(&[files.put("a.csv", &text(988))]).unwrap().data;
    assert_eq!(mu(&data, "posterior").len(), 988);
    let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
    assert!(note.contains("a.csv has 988 of 1000 draws") && note.ends_with("the 988 are used"), "{note}");
    let cut = text(988) + "-1,0.2";
    let notes = read_stan_csv(&[files.put("a.csv", &cut)]).unwrap().data.notes;
    assert!(notes[0].ends_with("the 988 are used; its last line is cut, and left out"), "{notes:?}");
    assert!(read_stan_csv(&[files.put("a.csv", &text(1000))]).unwrap().data.notes.is_empty());
    let one = read_stan_csv(&[files.put("a.csv", &text(1))]).unwrap().data.notes;
    assert!(one.len() == 1 && one[0].contains("a.csv has 1 of 1000 draws"), "{one:?}");
    // Without settings, only the cut is seen.
    let notes = read_stan_csv(&[files.put("a.csv", "lp__,mu\n-1,2\n-1")]).unwrap().data.notes;
    assert!(notes.len() == 1 && notes[0].ends_with("a.csv ends within a line, which is left out"), "{notes:?}");
}

#[test]
fn each_file_tells_its_depth_limit() {
    let files = files();
    let chain = |name: &str, settings: &str| {
        files.put(name, &format!("{settings}lp__,treedepth__,mu\n-1,8,{0}\n-1,7,{0}\n-1,10,{0}\n", name.len()))
    };
    let reached = |paths: &[PathBuf]| {
        let data = read_stan_csv(paths).unwrap().data;
        data.groups["sample_stats"].get("reached_max_treedepth").map(|array| array.values.clone())
    };
    let (eight, ten) = (chain("a.csv", "#  max_depth = 8\n"), chain("bb.csv", "# max_treedepth=10\n"));
    let default = chain("ccc.csv", "#  max_depth = 10 (Default)\n");
    let none = chain("dddd.csv", "");
    assert_eq!(reached(std::slice::from_ref(&eight)), Some(Values::Bool(vec![true, false, true])));
    let both = Some(Values::Bool(vec![true, false, true, false, false, true]));
    assert_eq!(reached(&[eight.clone(), ten]), both);
    assert_eq!(reached(&[eight.clone(), default]), both);
    assert_eq!(reached(&[eight.clone(), none]), None);
    // What is written from them tells it, too.
    let (written, data) = (files.0.path().join("out"), read_stan_csv(std::slice::from_ref(&eight)).unwrap().data);
    write_stan_csv(&written, &data, &[], false).unwrap();
    assert_eq!(reached(&[written]), Some(Values::Bool(vec![true, false, true])));
    let without_depths = files.put("e.csv", "# max_depth = 8\nlp__,mu\n-1,2\n");
    assert_eq!(reached(&[without_depths]), None);
}

#[test]
fn comments_need_no_encoding_and_a_mark_is_none() {
    let files = files();
    let path = files.0.path().join("a.csv");
    fs::write(
        &path,
        b"\xEF\xBB\xBF# stan_version_major = 2\r\n# file = C:/Andr\xe9\r\n# id = 3\r\nlp__,mu\r\n-1,2\r\n",
    )
    .unwrap();
    for path in [path, files.0.path().to_owned()] {
        let data = crate::read_trace(&[path]).unwrap();
        assert_eq!(mu(&data, "posterior"), [2.0]);
        let attrs = &data.groups["posterior"].attrs;
        assert_eq!((&attrs["file"], &attrs["id"]), (&Attribute::from("C:/André"), &Attribute::I64(3)));
        assert_eq!(attrs["stan_version_major"], Attribute::I64(2));
    }
    let names = files.put("b.csv", "\u{feff}\"lp__\",\"mu\"\n-1,2\n");
    assert_eq!(mu(&read_stan_csv(&[names]).unwrap().data, "posterior"), [2.0]);
}

#[test]
fn words_of_windows_for_what_is_not_finite() {
    let files = files();
    for (word, expected) in [
        ("1.#INF", f64::INFINITY),
        ("+1.#INF", f64::INFINITY),
        ("-1.#INF000", f64::NEG_INFINITY),
        ("-1.#IND", f64::NAN),
        ("1.#IND0", f64::NAN),
        ("1.#QNAN", f64::NAN),
        ("-nan(ind)", f64::NAN),
        ("nan(snan)", f64::NAN),
        ("-nan", f64::NAN),
        ("-Infinity", f64::NEG_INFINITY),
    ] {
        let data = read_stan_csv(&[files.put("a.csv", &format!("lp__,mu\n-1,{word}\n"))]).unwrap().data;
        let found = mu(&data, "posterior")[0];
        assert!(found == expected || found.is_nan() && expected.is_nan(), "{word}: {found}");
    }
    for word in ["1.#", "1.#INFx", "-", "", "nan(", "1.#INF1", "NA"] {
        files.refuse(&format!("# id = 1\nlp__,mu\n-1,2\n-1,{word}\n"), &["line 4", "column mu", &format!("`{word}`")]);
    }
    // What is shown is short, and has no control characters.
    files.refuse("lp__,mu\n-1,\u{1b}[31mx\n", &["`\\u{1b}[31mx`"]);
    let long = "x".repeat(500);
    files.refuse(&format!("lp__,mu\n-1,{long}\n"), &[&format!("`{}`", &long[..40])]);
    files.refuse("lp__,mu\n-1,2\nlp__,mu\n-1,2\n", &["line 3", "names of the columns again"]);
}

#[test]
fn what_lies_beside_chains_is_named() {
    let files = files();
    for id in [1, 2] {
        files.put(&format!("m_{id}.csv"), &format!("# id = {id}\nlp__,mu\n-1,{id}\n"));
        files.put(&format!("m-profile-{id}.csv"), "name,thread_id,total_time\nx,0x7f,1\n");
    }
    files.put("m-begun.csv", "");
    files.put("m-mode.csv", "# stan_version_major = 2\n# method = optimize\nlp__,mu\n-1,2\n");
    files.put(
        "m-diagnostic-1.csv",
        "# id = 1\n# diagnostic_file = d.csv\nlp__,stepsize__,mu,tau,p_mu,p_tau,g_mu,g_tau\n-1,1,1,1,1,1,1,1\n",
    );
    files.put("._m_1.csv", "AppleDouble");
    fs::create_dir(files.0.path().join("folder.csv")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(files.0.path().join("pipe.csv")).status().unwrap().success());
    let data = crate::read_trace(&[files.0.path().to_owned()]).unwrap();
    assert_eq!(mu(&data, "posterior"), [1.0, 2.0]);
    let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
    for words in [
        "m-profile-1.csv, m-profile-2.csv (a file of another kind)",
        "m-begun.csv (an empty file)",
        "m-mode.csv (of CmdStan's method optimize;",
        "m-diagnostic-1.csv (CmdStan's diagnostic file",
        "pipe.csv (a pipe or a device)",
    ] {
        assert!(note.contains(words), "{words}: {note}");
    }
    assert!(!note.contains("._m") && !note.contains("folder.csv"), "{note}");
    // Named, they are refused.
    for (name, words) in
        [("m-diagnostic-1.csv", "diagnostic"), ("m-mode.csv", "method optimize"), ("pipe.csv", "a named pipe")]
    {
        let message = crate::read_trace(&[files.0.path().join(name)]).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(words), "{message}");
    }
    for id in [1, 2] {
        fs::remove_file(files.0.path().join(format!("m_{id}.csv"))).unwrap();
    }
    let message = crate::read_trace(&[files.0.path().to_owned()]).unwrap_err().to_string();
    assert!(message.contains("none of its CSV files is a chain") && message.contains("optimize"), "{message}");
}

#[test]
fn a_chain_counts_once() {
    let files = files();
    let text = |value: i32| format!("# id = 1\nlp__,mu\n-1,{value}\n");
    let (first, copy, other) =
        (files.put("a_1.csv", &text(1)), files.put("a_2.csv", &text(1)), files.put("a_3.csv", &text(3)));
    let link = files.0.path().join("a_4.csv");
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let read = |paths: &[PathBuf]| {
        let data = crate::read_trace(paths).unwrap();
        (mu(&data, "posterior"), data.notes.join("; "))
    };
    let (values, notes) = read(&[first.clone(), other.clone(), first.clone()]);
    assert!(values == [1.0, 3.0] && notes.contains("a_1.csv is named twice"), "{values:?}: {notes}");
    let (values, notes) = read(&[first.clone(), copy.clone()]);
    assert!(values == [1.0] && notes.contains("a_2.csv has the same bytes as"), "{values:?}: {notes}");
    let (values, notes) = read(&[other.clone(), link.clone(), first.clone()]);
    assert!(values == [3.0, 1.0] && notes.contains("a_4.csv has the same bytes as"), "{values:?}: {notes}");
    let (values, notes) = read(&[files.0.path().to_owned()]);
    assert!(values == [1.0, 3.0] && notes.matches("same bytes").count() == 2, "{values:?}: {notes}");
    // Chains with the same draws and other comments are two: what is wrong with them, the diagnosis says.
    fs::write(&copy, text(1).replace("id = 1", "id = 2")).unwrap();
    assert_eq!(read(&[first, copy]), (vec![1.0, 1.0], String::new()));
}

#[test]
fn fixed_parameters_have_no_warm_up() {
    let files = files();
    let chain = |algorithm: &str| {
        let settings = "# num_samples = 4\n# num_warmup = 2\n# save_warmup = 1\n";
        files.put("a.csv", &format!("{settings}{algorithm}lp__,mu\n0,1\n0,2\n0,3\n0,4\n"))
    };
    for algorithm in ["#     algorithm = fixed_param\n", "# sampler_t=Fixed_param\n"] {
        let data = read_stan_csv(&[chain(algorithm)]).unwrap().data;
        assert_eq!(mu(&data, "posterior"), [1.0, 2.0, 3.0, 4.0], "{algorithm}");
        assert!(!data.groups.contains_key("warmup_posterior") && data.notes.is_empty(), "{algorithm}: {data:?}");
    }
    // Another algorithm's warm-up is there.
    let data = read_stan_csv(&[chain("# algorithm = hmc\n")]).unwrap().data;
    assert_eq!(mu(&data, "posterior"), [3.0, 4.0]);
}

#[test]
fn a_comma_between_quotes_is_of_a_name() {
    let files = files();
    let data = read_stan_csv(&[files.put("a.csv", "\"lp__\",\"mu\",\"theta[1,2]\"\n-1,2,3\n")]).unwrap().data;
    assert_eq!(data.groups["posterior"].variables.keys().collect::<Vec<_>>(), ["mu", "theta[1,2]"]);
    assert_eq!(data.groups["posterior"].variables["theta[1,2]"].values.to_f64(), [3.0]);
}

#[test]
fn chains_of_two_runs_in_a_folder_are_told() {
    let files = files();
    let notes = |chains: &[(&str, u32)]| {
        let folder = tempfile::tempdir_in(files.0.path()).unwrap();
        let mut paths = Vec::new();
        for (at, (name, id)) in chains.iter().enumerate() {
            paths.push(folder.path().join(name));
            fs::write(&paths[at], format!("# id = {id}\nlp__,mu\n-1,{at}\n")).unwrap();
        }
        // Whoever names the files knows what they are.
        assert!(read_stan_csv(&paths).unwrap().data.notes.is_empty());
        read_stan_csv(&[folder.path().to_owned()]).unwrap().data.notes
    };
    let found = notes(&[("a_1.csv", 1), ("a_2.csv", 2), ("b_1.csv", 1), ("b_2.csv", 2)]);
    let [note] = &found[..] else { panic!("{found:?}") };
    assert!(note.contains("a_1.csv, b_1.csv have one chain's number (id = 1), as if of several runs"), "{note}");
    assert!(note.contains("all 4 files"), "{note}");
    // CmdStan may give one number to all chains of a process.
    assert!(notes(&[("a_1.csv", 1), ("a_2.csv", 1)]).is_empty());
    assert!(notes(&[("a_1.csv", 1), ("a_2.csv", 2)]).is_empty());
}

#[test]
fn parameters_may_be_called_like_momenta() {
    let files = files();
    for named in ["", "# diagnostic_file =  (Default)\n"] {
        let path = files.put("a.csv", &format!("{named}lp__,x,p_x,g_x\n-1,1,2,3\n"));
        let data = read_stan_csv(&[path]).unwrap().data;
        assert_eq!(data.groups["posterior"].variables.keys().collect::<Vec<_>>(), ["x", "p_x", "g_x"], "{named}");
    }
    files.refuse("# diagnostic_file = d.csv\nlp__,x,p_x,g_x\n-1,1,2,3\n", &["CmdStan's diagnostic file"]);
    // A chain whose settings name such a file beside it.
    let alone = files.put("b.csv", "# diagnostic_file = d.csv\nlp__,mu\n-1,2\n");
    assert_eq!(mu(&read_stan_csv(&[alone]).unwrap().data, "posterior"), [2.0]);
}

/// Without the length of warm-up there is none, and without a distance between the draws that are kept it is 1.
#[test]
fn settings_that_say_too_little_are_understood() {
    let files = files();
    for (settings, first) in [("", 1.0), ("# num_warmup = 2\n", 3.0), ("# num_warmup = 2\n# thin = 0\n", 3.0)] {
        let text = format!("# save_warmup = true\n{settings}lp__,mu\n0,1\n0,2\n0,3\n0,4\n");
        let data = read_stan_csv(&[files.put("a.csv", &text)]).unwrap().data;
        assert_eq!(mu(&data, "posterior")[0], first, "{settings}");
    }
}

#[test]
fn the_settings_name_the_kind_of_each_metric() {
    let files = files();
    let path = files.0.path().join("out");
    let metrics = [InverseMetric::Diagonal(vec![1.0, 2.0]), InverseMetric::Dense(vec![1.0, 0.5, 0.5, 1.0])]
        .map(|inverse| StanMetric { step_size: None, inverse });
    write_stan_csv(&path, &trace("mu"), &metrics, false).unwrap();
    for (chain, kind) in [(1, "diag_e"), (2, "dense_e")] {
        let text = fs::read_to_string(path.join(format!("chain-{chain}.csv"))).unwrap();
        assert!(text.contains(&format!("metric = {kind}\n")), "{text}");
    }
}

#[test]
fn a_posterior_without_variables_has_no_chain() {
    let files = files();
    let path = files.0.path().join("out");
    let mut data = InferenceData::default();
    data.insert("posterior", Dataset::default());
    write_stan_csv(&path, &data, &[], false).unwrap();
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
}

#[test]
fn a_run_without_draws_was_asked_for_none() {
    let files = files();
    files.refuse("# num_samples = 0\n# num_warmup = 9\nlp__,mu\n", &["its settings ask for none after warm-up"]);
    files.refuse("# iter=5\n# warmup=5\nlp__,mu\n", &["its settings ask for none after warm-up"]);
    files.refuse("# num_samples = 10\nlp__,mu\n", &["no draws yet"]);
}

/// A trace with warm-up: variables and statistics of both, each over one chain and one draw.
fn with_warm_up(posterior: &[&str], stats: &[&str], warmup: &[&str], warmup_stats: &[&str]) -> InferenceData {
    let mut data = InferenceData::default();
    let groups = [
        ("posterior", posterior),
        ("sample_stats", stats),
        ("warmup_posterior", warmup),
        ("warmup_sample_stats", warmup_stats),
    ];
    for (group, names) in groups.into_iter().filter(|(_, names)| !names.is_empty()) {
        let mut dataset = Dataset::default();
        for name in names {
            dataset.insert(*name, Array::new([("chain", 1), ("draw", 1)], Values::I64(vec![1])));
        }
        data.insert(group, dataset);
    }
    data
}

#[test]
fn warm_up_without_its_statistics_is_left_out() {
    let files = files();
    let path = files.0.path().join("out");
    for (warmup_stats, groups) in [
        (&[][..], &["posterior", "sample_stats"][..]),
        (&["lp"], &["posterior", "sample_stats"]),
        (&["lp", "diverging"], &["posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"]),
    ] {
        let data = with_warm_up(&["mu"], &["lp", "diverging"], &["mu"], warmup_stats);
        write_stan_csv(&path, &data, &[], true).unwrap();
        let read = read_stan_csv(std::slice::from_ref(&path)).unwrap().data;
        let mut found: Vec<_> = read.groups.keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, groups, "{warmup_stats:?}");
    }
}

#[test]
fn what_a_stan_csv_cannot_hold_is_told() {
    let mut data = with_warm_up(&["mu"], &["lp", "tree_depth", "scaling", "reached_max_treedepth"], &[], &[]);
    data.groups["posterior"].insert("city", Array::new([("chain", 1), ("draw", 1)], Values::Strings(vec!["a".into()])));
    data.groups["sample_stats"].insert("energy", Array::new([("chain", 1)], Values::F64(vec![1.0])));
    data.insert("log_likelihood", data.groups["posterior"].clone());
    data.insert("prior", Dataset::default());
    let table = write::Table::new(&data, "").unwrap();
    let lost = |has_max_depth: bool| write::what_is_lost(&data, &table, has_max_depth);
    let all = [
        "city (text)",
        "the statistic scaling",
        "the statistic reached_max_treedepth",
        "the statistic energy",
        "the group log_likelihood",
    ];
    assert_eq!(lost(false), all);
    // The depth limit tells it.
    assert_eq!(lost(true), [all[0], all[1], all[3], all[4]]);
    let files = files();
    let path = files.0.path().join("out");
    write_stan_csv(&path, &data, &[], false).unwrap();
    let read = read_stan_csv(&[path]).unwrap().data;
    assert_eq!(read.groups["posterior"].variables.keys().collect::<Vec<_>>(), ["mu"]);
}
