//! Bad input: a message that names file, row or field, value and fix; the right exit code; nothing half-written.

use crate::support::{Answer, has_gpu, run, tree};
use std::fs;
use tempfile::TempDir;

/// Samples the table `text` and expects it to be refused before a run folder is made.
#[track_caller]
fn refused(text: &str, words: &[&str]) {
    let (dir, answer) = sample(text, "");
    answer.fails(3, words);
    assert!(answer.stdout.is_empty(), "results only: {}", answer.stdout);
    assert_eq!(tree(dir.path()), ["obs.csv"], "nothing is left behind");
}

fn sample(text: &str, more: &str) -> (TempDir, Answer) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("obs.csv"), text).unwrap();
    let words = "sample hierarchical-normal --data {}/obs.csv --group g --value y --out {}/run --draws 50 --tune 50";
    let answer = run(dir.path(), &format!("{words} --device cpu {more}"));
    (dir, answer)
}

#[test]
fn missing_file() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample hierarchical-normal --data {}/none.csv --group g --value y --out {}/run";
    run(dir.path(), words).fails(3, &["none.csv", "No such file", "check the path given to --data"]);
    assert!(tree(dir.path()).is_empty());
}

#[test]
fn wrong_column() {
    refused("group,y\na,1\nb,2\n", &["obs.csv", "no column `g`", "`group`", "`y`"]);
}

#[test]
fn text_in_a_number_column() {
    refused("g,y\na,1\nb,two\n", &["obs.csv", "line 3 (row 2)", "column `y`", "`two` is not a number", "correct it"]);
}

#[test]
fn decimal_comma() {
    refused("g;y\na;1,5\nb;2\n", &["line 2 (row 1)", "1,5", "--decimal ,", "decimals with a point"]);
}

#[test]
fn nan() {
    refused("g,y\na,1\na,NaN\nb,2\n", &["obs.csv", "line 3 (row 2)", "column `y`", "NaN", "finite", "remove the row"]);
}

#[test]
fn infinite_value() {
    refused("g,y\na,1\nb,-inf\n", &["obs.csv", "line 3 (row 2)", "column `y`", "-inf", "finite"]);
}

#[test]
fn empty_cell_and_empty_group() {
    refused("g,y\na,1\nb,\n", &["obs.csv", "line 3 (row 2)", "column `y`", "empty", "fill it in or remove the row"]);
    refused("g,y\na,1\n,2\n", &["obs.csv", "line 3 (row 2)", "column `g`", "empty", "fill it in or remove the row"]);
}

#[test]
fn zero_observations() {
    refused("g,y\n", &["obs.csv", "no observations", "at least one row"]);
    refused("", &["obs.csv"]);
}

#[test]
fn a_row_with_a_cell_too_many() {
    refused("g,y\na,1\nb,2,3\n", &["obs.csv", "line 3 (row 2)", "3 cells", "header has 2"]);
}

#[test]
fn one_group_and_single_observations_are_no_mistake() {
    for text in ["g,y\nonly,1\nonly,2\nonly,4\n", "g,y\na,1\nb,2\nc,7\nc,8\n"] {
        let (dir, answer) = sample(text, "--json");
        answer.sampled();
        assert!(answer.json()["diagnosis"]["parameters"].as_array().unwrap().len() >= 5);
        assert!(dir.path().join("run/run.toml").is_file());
    }
}

/// The integral of the posterior over sigma_obs diverges at 0: no run could end well.
#[test]
fn values_that_do_not_vary_have_no_posterior() {
    refused("g,y\na,5\na,5\nb,5\nb,5\n", &["every value is 5", "sigma_obs", "check that --value"]);
    refused("g,y\na,5\nb,5\nc,5\n", &["every value is 5"]);
    refused("g,y\na,5\na,5\nb,7\nb,7\n", &["values of each group are all the same", "one row for each group"]);
}

/// What data cannot tell is said before sampling, and by a dry run.
#[test]
fn what_data_cannot_tell_apart_is_said_before_sampling() {
    for (text, words) in [
        ("g,y\na,50\n", "one value only"),
        ("g,y\na,50\na,52\na,47\n", "one group only"),
        ("g,y\na,50\nb,52\nc,47\n", "every group has one row"),
        ("g,y\na,0\na,1\nb,1\nb,1\n", "all values are 0 or 1"),
        ("g,y\na,50\na,51\nNA,52\nNA,54\n", "a group is called `NA`"),
        ("g,y\na,512\na,514\nb,530\nb,537\n", "`--mu-mean 523"),
    ] {
        let (dir, answer) = sample(text, "--dry-run");
        assert!(answer.succeeds().stderr.contains(words), "{words}: {answer:#?}");
        assert_eq!(tree(dir.path()), ["obs.csv"]);
        let (_dir, answer) = sample(text, "--quiet");
        assert!(answer.sampled().stderr.contains(words), "{words}: {answer:#?}");
    }
    let (_dir, answer) = sample("g,y\na,50\na,51\nb,47\nb,49\n", "--dry-run");
    assert!(!answer.succeeds().stderr.contains("warning"), "{answer:#?}");
}

/// Runs `sample` with an option that must be refused as usage, and expects nothing to be left behind.
#[track_caller]
fn usage(option: &str, words: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let answer = run(dir.path(), &format!("sample hierarchical-normal --out {{}}/run {option}"));
    answer.fails(2, words);
    assert!(tree(dir.path()).is_empty(), "nothing is left behind");
}

#[test]
fn options_out_of_range() {
    usage("--chains 0", &["--chains 0", "at least 1"]);
    usage("--draws 0", &["--draws 0", "at least 1"]);
    usage("--target-accept 1.5", &["--target-accept 1.5", "between 0 and 1"]);
    usage("--target-accept nan", &["--target-accept NaN"]);
    usage("--sigma-pop-scale -1", &["--sigma-pop-scale -1", "positive"]);
    usage("--sigma-obs-scale 0", &["--sigma-obs-scale 0", "positive"]);
    usage("--mu-sd -3", &["--mu-sd -3", "positive"]);
    usage("--max-depth 0", &["--max-depth 0", "between 1 and 20"]);
    usage("--init-radius -1", &["--init-radius -1", "not negative"]);
    usage("--groups 0", &["--groups 0", "at least one group"]);
    usage("--per-group 0", &["--per-group 0", "at least one observation"]);
    usage("--threads 0", &["--threads", "1 to 4096"]);
    usage("--checkpoint-every 0", &["--checkpoint-every"]);
    usage("--draws many", &["--draws", "many"]);
    usage("--metric dense", &["--metric", "dense", "low-rank"]);
    usage("--device gpu", &["--device", "gpu", "`auto`, `cpu`, `cuda`, `cuda:N` with", "`cuda:0,1`"]);
    usage("--data x.csv", &["--group"]);
    usage("--data x.csv --group g --value y --groups 3", &["--groups: the data come from --data"]);
    usage("--data-seed 5000000000", &["--data-seed 5000000000: ", "u32"]);
}

#[test]
fn f32_and_mixed_are_for_gpus() {
    let dir = tempfile::tempdir().unwrap();
    for words in [
        "sample eight-schools --precision mixed --device cpu --out {}/x",
        "calibrate eight-schools --precision mixed --device cpu --datasets 2 --out {}/x",
        "sweep eight-schools --precision mixed --seeds 2",
    ] {
        run(dir.path(), words).fails(2, &["--precision mixed: the CPU computes in f64"]);
    }
    assert!(tree(dir.path()).is_empty());
}

#[test]
fn a_settings_file_that_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let settings = dir.path().join("settings.toml");
    let check = |text: &str, code: i32, words: &[&str]| {
        fs::write(&settings, text).unwrap();
        let words_of_command = "sample hierarchical-normal --config {}/settings.toml --out {}/run";
        run(dir.path(), words_of_command).fails(code, words);
        assert_eq!(tree(dir.path()), ["settings.toml"]);
    };
    check("[sampler]\nchains = \"four\"\n", 2, &["settings.toml", "sampler.chains", "four"]);
    check("[sampler]\nchain = 4\n", 2, &["settings.toml", "chain"]);
    check("[sampler\n", 2, &["settings.toml", "line 1"]);
    check("[sampler]\nchains = 0\n", 2, &["settings.toml: sampler.chains = 0"]);
    let words = "sample hierarchical-normal --config {}/none.toml --out {}/run";
    run(dir.path(), words).fails(3, &["none.toml", "No such file"]);
}

#[test]
fn a_gpu_that_is_not_there() {
    if has_gpu("--device cuda without a GPU") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let answer = run(dir.path(), "sample hierarchical-normal --device cuda --out {}/run");
    answer.fails(4, &["--device cuda", "--device cpu", "octopus verify"]);
    assert!(tree(dir.path()).is_empty());
}

/// What is wrong with a command line is told with the user's words, but not with what a terminal would obey in them.
#[test]
fn a_refused_word_does_nothing_to_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    for (word, odd) in [("\u{202e}x", '\u{202e}'), ("\u{9b}31m", '\u{9b}'), ("\u{1b}[2J", '\u{1b}')] {
        for line in ["loo x --weights", "resume x --threads", "sample"] {
            let answer = run(dir.path(), &format!("{line} {word}"));
            assert!(answer.code == Some(2) && !answer.stderr.contains(odd), "{answer:#?}");
        }
    }
    run(dir.path(), "sample \u{202e}x").fails(2, &["\\u{202e}x"]);
}
