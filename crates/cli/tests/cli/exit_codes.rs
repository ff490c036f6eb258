//! The exit codes as a table: each command with each code that it can give, and what makes it give it.
//!
//! A command or a code without a row fails these tests. What the codes mean is in `src/exit.rs`.

use crate::support::{Answer, answer, has_gpu, has_test, octopus, program, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What makes a command end with a code.
enum Seen {
    /// A command line; `{}` stands for the folder of [`prepare`]. Rows are gone through in their order.
    By(&'static str),
    /// A command line that can only end so where no GPU is.
    WithoutGpu(&'static str),
    /// A command line that works for hours, and Ctrl-C.
    Interrupted(&'static str),
    /// Another test, by its file beside this one and its name: it takes longer, or needs the software GPU.
    In(&'static str, &'static str),
}
use Seen::{By, In, Interrupted, WithoutGpu};

/// The files of results of `run-acceptance.sh` that the tests of `octopus-bench` judge.
const ACCEPTED: &str = "../bench/src/accept/good";

#[rustfmt::skip]
const TABLE: &[(&str, i32, Seen)] = &[
    ("", 0, By("--help")),
    ("", 2, By("sing")),

    ("verify", 0, In("software_gpu.rs", "a_sound_gpu_is_fit_and_says_that_it_is_a_double")),
    ("verify", 1, In("gpu_faults.rs", "every_fault_is_told_with_its_fix")),
    ("verify", 2, By("verify --small --no-deep")),
    ("verify", 3, By("verify --no-deep --log-file {}/none/log.jsonl")),
    ("verify", 4, WithoutGpu("verify")),

    ("device", 0, By("device --help")),
    ("device", 2, By("device")),
    ("device list", 0, In("software_gpu.rs", "one_of_two_devices")),
    ("device list", 2, By("device list 7")),
    ("device list", 4, WithoutGpu("device list")),
    ("device info", 0, In("software_gpu.rs", "devices_are_described")),
    ("device info", 2, By("device info first")),
    ("device info", 4, By("device info 63")),
    ("device watch", 0, In("software_gpu.rs", "a_device_is_watched")),
    ("device watch", 2, By("device watch first")),
    ("device watch", 4, By("device watch 63 --count 1")),
    ("device measure", 0, In("software_gpu.rs", "benchmarks_and_calibrations_of_a_double_say_so")),
    ("device measure", 2, By("device measure --device first")),
    ("device measure", 3, In("gpu_faults.rs", "every_fault_is_told_with_its_fix")),
    ("device measure", 4, By("device measure --cache {}/costs --device 63")),
    ("device warm", 0, In("software_gpu.rs", "kernels_are_compiled_ahead")),
    ("device warm", 2, By("device warm --precision f16")),
    ("device warm", 3, In("gpu_faults.rs", "every_fault_is_told_with_its_fix")),
    ("device warm", 4, By("device warm --device 63")),
    ("device exact", 0, In("software_gpu.rs", "every_kernel_is_exact_and_as_recorded")),
    ("device exact", 1, In("gpu_faults.rs", "wrong_numbers_are_found")),
    ("device exact", 2, By("device exact --small --record {}/x.json")),
    ("device exact", 3, In("software_gpu.rs", "every_kernel_is_exact_and_as_recorded")),
    ("device exact", 4, By("device exact --small --device 63")),
    ("device sampler", 0, In("gpu_sampler.rs", "the_sampler_s_figures_are_there_and_say_that_they_are_none")),
    ("device sampler", 2, By("device sampler --seconds soon")),
    ("device sampler", 4, By("device sampler --small --device 63")),
    ("device accept", 0, By("device accept {}/accepted")),
    ("device accept", 1, By("device accept {}/refused")),
    ("device accept", 2, By("device accept")),
    ("device accept", 3, By("device accept {}/none")),

    ("sample", 0, By("sample hierarchical-normal --groups 6 --draws 500 --tune 300 --device cpu --out {}/good")),
    ("sample", 0, By("sample hierarchical-normal --dry-run --device cpu")),
    ("sample", 1, By("sample hierarchical-normal --groups 6 --draws 20 --tune 20 --device cpu --out {}/unfit")),
    ("sample", 1, By("sample eight-schools --draws 50 --tune 50 --target-ess 1e9 --device cpu --out {}/goal")),
    ("sample", 2, By("sample hierarchical-normal --draws 0 --out {}/x")),
    ("sample", 2, By("sample no-model --out {}/x")),
    ("sample", 3, By("sample hierarchical-normal --data {}/none.csv --group g --value y --out {}/x")),
    ("sample", 3, By("sample hierarchical-normal --draws 50 --tune 50 --device cpu --out {}/good")),
    ("sample", 3, In("kill.rs", "a_dry_run_that_does_not_fit_the_disk_says_so")),
    ("sample", 4, By("sample hierarchical-normal --device cuda:63 --out {}/x")),
    ("sample", 130, Interrupted("sample hierarchical-normal --groups 2 --draws 5000000 --tune 50 --device cpu --out {}/long")),
    ("sample --batch", 0, In("batch.rs", "data_sets_that_have_not_converged_are_unfit")),
    ("sample --batch", 1, In("batch.rs", "data_sets_that_have_not_converged_are_unfit")),
    ("sample --batch", 1, In("batch.rs", "a_folder_of_data_sets_is_sampled_and_one_that_fails_ends_alone")),
    ("sample --batch", 2, By("sample hierarchical-normal --batch {}/in --group g --value y --draws 0 --out {}/x")),
    ("sample --batch", 3, By("sample hierarchical-normal --batch {}/empty --group g --value y --out {}/x")),
    ("sample --batch", 4, By("sample hierarchical-normal --batch {}/in --group g --value y \
                              --device cuda:63 --out {}/x")),
    ("sample --batch", 130, Interrupted("sample hierarchical-normal --batch {}/in --group g --value y \
                                         --draws 5000000 --tune 50 --device cpu --out {}/batch")),

    ("resume", 0, By("resume {}/good-stopped")),
    ("resume", 0, By("resume {}/good")),
    ("resume", 1, By("resume {}/unfit-stopped")),
    ("resume", 2, By("resume {}/long --threads 0")),
    ("resume", 3, By("resume {}/none")),
    ("resume", 4, By("resume {}/long --device cuda:63")),
    ("resume", 130, Interrupted("resume {}/long")),

    ("diagnose", 0, By("diagnose {}/good")),
    ("diagnose", 1, By("diagnose {}/unfit")),
    ("diagnose", 2, By("diagnose {}/good --prob 2")),
    ("diagnose", 3, By("diagnose {}/none")),

    ("plot", 0, By("plot {}/good --out {}/pictures --kind forest")),
    ("plot", 2, By("plot {}/good --out {}/pictures --kind portrait")),
    ("plot", 3, By("plot {}/good --out {}/pictures --kind forest --var nu")),

    ("compare", 0, By("compare {}/good {}/good")),
    ("compare", 1, By("compare {}/good {}/other")),
    ("compare", 2, By("compare {}/good {}/good --max-sd -1")),
    ("compare", 3, By("compare {}/good {}/none")),

    ("loo", 0, By("loo {}/good")),
    ("loo", 1, By("loo {}/good --waic")),
    ("loo", 2, By("loo {}/good --draws 0")),
    ("loo", 3, By("loo {}/none")),

    ("evidence", 0, By("evidence {}/good")),
    ("evidence", 1, By("evidence {}/good --draws 9")),
    ("evidence", 2, By("evidence {}/good --draws 7")),
    ("evidence", 3, By("evidence {}/none")),

    ("calibrate", 0, By("calibrate eight-schools --datasets 4 --chains 2 --draws 60 --tune 80 --out {}/ranks")),
    ("calibrate", 1, By("calibrate hierarchical-normal --geweke --groups 5 --per-group 20 --sequences 8 \
                         --steps 4 --out {}/geweke")),
    ("calibrate", 2, By("calibrate eight-schools --draws 0 --out {}/x")),
    ("calibrate", 3, By("calibrate eight-schools --datasets 2 --chains 2 --draws 60 --tune 80 --out {}/file/x")),
    ("calibrate", 4, By("calibrate hierarchical-normal --device cuda:63 --out {}/x")),
    ("calibrate", 130, Interrupted("calibrate eight-schools --datasets 1000000 --out {}/calibration")),

    ("check", 0, By("check eight-schools")),
    ("check", 1, In("own_model.rs", "a_wrong_gradient_is_named_and_refused")),
    ("check", 2, By("check eight-schools --mu-sd 3")),
    ("check", 3, By("check eight-schools --config {}/none.toml")),

    ("model", 0, By("model --help")),
    ("model", 2, By("model describe")),
    ("model list", 0, By("model list")),
    ("model list", 2, By("model list polynomial")),
    ("model copy", 0, In("programs.rs", "a_program_that_ships_is_sampled_by_its_name")),
    ("model copy", 2, By("model copy none")),
    ("model copy", 3, By("model copy polynomial {}/file/x")),
    ("model check", 0, In("programs.rs", "a_program_is_described_and_checked")),
    ("model check", 1, In("programs.rs", "a_program_is_described_and_checked")),
    ("model check", 2, By("model check {}/none.stan")),
    ("model show", 0, In("programs.rs", "loops_and_costs_are_shown")),
    ("model show", 2, By("model show {}/none.stan")),

    ("sweep", 0, By("sweep eight-schools --seeds 2 --draws 300 --tune 300")),
    ("sweep", 1, By("sweep eight-schools --seeds 3 --draws 20 --tune 0")),
    ("sweep", 2, By("sweep eight-schools --seeds 0")),
    ("sweep", 3, By("sweep eight-schools --config {}/none.toml")),
    ("sweep", 130, Interrupted("sweep eight-schools --seeds 1000000")),

    ("status", 0, In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("status", 1, In("sharing.rs", "parts_of_a_sweep_are_the_sweep")),
    ("status", 2, By("status")),
    ("status", 3, By("status {}/good")),

    ("submit", 0, By("submit --slurm sweep eight-schools --seeds 4 --draws 20 --tune 20 --keep {}/swept")),
    ("submit", 2, By("submit --slurm sweep eight-schools")),
    ("submit", 3, By("submit --slurm calibrate eight-schools --config {}/none.toml --out {}/x")),
    ("submit", 4, In("submitted.rs", "what_is_run_goes_to_the_scheduler")),

    ("bench", 0, By("bench --help")),
    ("bench", 2, By("bench arrays")),
    ("bench list", 0, By("bench list")),
    ("bench list", 2, By("bench list --all")),
    ("bench list", 3, In("suites.rs", "frameworks_are_found_and_set_up")),
    ("bench setup", 0, In("suites.rs", "frameworks_are_found_and_set_up")),
    ("bench setup", 2, By("bench setup --all")),
    ("bench setup", 3, In("suites.rs", "frameworks_are_found_and_set_up")),
    ("bench run", 0, In("suites.rs", "a_suite_is_run_as_asked")),
    ("bench run", 2, By("bench run nothing")),
    ("bench run", 3, By("bench run {}/nothing.toml")),
    ("bench run", 130, Interrupted("bench run hierarchical --frameworks octopus --repeats 100000 --out {}/suite")),
    ("bench plot", 0, In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench plot", 2, By("bench plot {}/run --plot-type pie")),
    ("bench plot", 3, By("bench plot {}/run")),
    ("bench compare", 0, In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench compare", 1, In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench compare", 2, By("bench compare {}/run")),
    ("bench compare", 3, By("bench compare {}/run {}/run")),
    ("bench export", 0, In("suites.rs", "results_are_drawn_compared_and_exported")),
    ("bench export", 2, By("bench export {}/run --format xml")),
    ("bench export", 3, By("bench export {}/run")),
    ("bench test", 0, In("suites.rs", "every_suite_works_in_small")),
    ("bench test", 1, In("suites.rs", "every_suite_works_in_small")),
    ("bench test", 2, By("bench test --all")),
    ("bench test", 130, Interrupted("bench test --frameworks octopus")),
    ("bench answer", 0, By("bench answer")),
    ("bench answer", 2, By("bench answer question")),
    ("data", 0, By("data --help")),
    ("data", 2, By("data hyperbola")),
    ("data polynomial", 0, By("data polynomial --out {}/points.json")),
    ("data polynomial", 2, By("data polynomial --noise 0")),
    ("data polynomial", 3, By("data polynomial --out {}/points.json")),
    ("random", 0, By("random normal --n 3 --out {}/draws.npy")),
    ("random", 0, By("random normal --n 3 --out {}/draws.parquet")),
    ("random", 2, By("random normal")),
    ("random", 2, By("random normal --n 3 --out {}/draws.csv")),
    ("random", 3, By("random normal --n 3 --out {}/draws.npy")),
    ("random", 3, By("random normal --n 3 --out {}/draws.parquet")),
    ("random", 4, WithoutGpu("random normal --n 3 --device cuda")),
    ("random", 130, In("random.rs", "what_was_interrupted_or_killed_goes_on_to_the_same_bytes")),

    ("export", 0, By("export {}/good --to csv --out {}/good.csv")),
    ("export", 2, By("export {}/good --to word --out {}/good.doc")),
    ("export", 3, By("export {}/good --to csv --out {}/good.csv")),

    ("predict", 0, In("programs.rs", "new_rows_and_groups_are_predicted")),
    ("predict", 2, By("predict {}/good")),
    ("predict", 3, By("predict {}/none --set N=2")),

    ("validate", 0, In("validate.rs", "a_quick_validation_passes_and_leaves_every_deliverable")),
    ("validate", 1, In("validate.rs", "the_plain_settings_fail_and_say_why")),
    ("validate", 2, By("validate --groups 0 --out {}/x")),
    ("validate", 3, By("validate --quick --device cpu --out {}/file/x")),
    ("validate", 4, By("validate --device cuda:63 --out {}/x")),
    ("validate", 130, Interrupted("validate --groups 1000 --device cpu --out {}/validation")),

    ("completions", 0, By("completions bash")),
    ("completions", 2, By("completions tcsh")),

    ("man", 0, By("man --out {}/man")),
    ("man", 2, By("man")),
    ("man", 3, By("man --out {}/file/man")),
];

/// Every code that there is.
const CODES: [i32; 6] = [0, 1, 2, 3, 4, 130];

/// Makes a folder of results that `octopus device accept` accepts.
pub(crate) fn copy_accepted(to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(ACCEPTED)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Fills a folder with what command lines of the table name and do not make themselves.
fn prepare(dir: &Path) {
    copy_accepted(&dir.join("accepted"));
    copy_accepted(&dir.join("refused"));
    fs::remove_file(dir.join("refused/sampler.json")).unwrap();
    fs::write(dir.join("file"), "no folder").unwrap();
    fs::create_dir(dir.join("in")).unwrap();
    fs::create_dir(dir.join("empty")).unwrap();
    fs::write(dir.join("in/one.csv"), "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    // Runs that are stopped before their first checkpoint: their records say so, and they have no draws.
    for (name, draws) in [("good-stopped", "--draws 500 --tune 300"), ("unfit-stopped", "--draws 20 --tune 20")] {
        let words = format!("sample hierarchical-normal --groups 6 {draws} --device cpu --quiet --out {{}}/{name}");
        run(dir, &words).sampled();
        let record = dir.join(name).join("run.toml");
        let text = fs::read_to_string(&record).unwrap();
        fs::write(&record, text.replace("status = \"complete\"", "status = \"interrupted\"")).unwrap();
    }
    run(dir, "sample hierarchical-normal --groups 6 --data-seed 3 --draws 500 --tune 300 --device cpu --out {}/other")
        .sampled();
}

/// Starts a command that works for hours, sends it SIGINT, and returns how it ended. A signal that comes before the
/// command listens ends it without a code, and then the next one comes later.
#[cfg(unix)]
fn interrupted(dir: &Path, words: &str) -> Option<i32> {
    for wait in [100, 200, 400, 800, 1600, 3200, 6400, 12800].map(Duration::from_millis) {
        let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
        let mut child =
            Command::new(program()).args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(wait);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        if let Some(code) = child.wait().unwrap().code() {
            return Some(code);
        }
    }
    None
}

/// Windows has another Ctrl-C, which no test sends.
#[cfg(not(unix))]
fn interrupted(_: &Path, _: &str) -> Option<i32> {
    Some(130)
}

#[test]
fn every_command_ends_with_the_code_of_its_row() {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let no_gpu = !has_gpu("what commands say where no GPU is");
    let (mut wrong, mut slow) = (Vec::new(), Vec::new());
    for (command, code, seen) in TABLE {
        let begin = Instant::now();
        let (words, found) = match seen {
            By(words) => (words, run(dir.path(), words)),
            WithoutGpu(words) if no_gpu => (words, run(dir.path(), words)),
            WithoutGpu(_) => continue,
            Interrupted(words) => {
                let code = interrupted(dir.path(), words);
                (words, Answer { code, stdout: String::new(), stderr: String::new() })
            }
            In(file, name) => {
                assert!(has_test(file, name, ""), "{command:?}, {code}: no test {name} in {file}");
                continue;
            }
        };
        assert!(words.starts_with(command.trim_end_matches(" --batch")), "{command:?} is not what runs: {words}");
        assert_eq!(words.contains("--batch"), command.ends_with("--batch"), "{words}");
        if found.code != Some(*code) || found.stderr.contains("panicked") {
            wrong.push(format!("octopus {words}: {:?} instead of {code}\n{}", found.code, found.stderr));
        }
        if begin.elapsed() > Duration::from_secs(1) {
            slow.push(format!("{:.1} s: octopus {words}", begin.elapsed().as_secs_f64()));
        }
    }
    eprintln!("{} rows took longer than a second: {slow:#?}", slow.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands, the hidden ones too: each has a page of the manual, `octopus-device-list.1` for `device list`.
pub(crate) fn commands() -> BTreeSet<String> {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "man --out {}").succeeds();
    let pages = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = |page: String| page.trim_start_matches("octopus").trim_end_matches(".1").trim_start_matches('-').into();
    pages.map(name).collect()
}

/// The codes that a text of help explains after `Exit codes:`, to the end of its paragraph.
fn explained(help: &str) -> BTreeSet<i32> {
    let Some((_, text)) = help.split_once("Exit codes:") else { return BTreeSet::new() };
    let text = text.split("\n\n").next().unwrap_or_default();
    let first = |clause: &str| clause.split_whitespace().next()?.parse().ok();
    text.split([',', ';', '.']).filter_map(first).filter(|code| CODES.contains(code)).collect()
}

fn has_row(command: &str, code: i32) -> bool {
    TABLE.iter().any(|(of, own, _)| of.replace(' ', "-") == command && *own == code)
}

#[test]
fn every_command_has_its_rows() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for command in &commands {
        // Whatever a command does, it can be done, and be asked for wrongly.
        for code in [0, 2] {
            assert!(has_row(command, code), "the table needs a row of `{command}` with {code}");
        }
        let help = answer(octopus().args(command.split('-').filter(|word| !word.is_empty())).arg("--help"));
        let explained = explained(&help.succeeds().stdout);
        if command.is_empty() {
            assert_eq!(explained, CODES.into(), "the codes that `octopus --help` explains");
            continue;
        }
        for code in explained {
            assert!(has_row(command, code), "its help explains {code}: the table needs a row of `{command}` with it");
        }
    }
    for (command, code, _) in TABLE {
        let known = commands.contains(&command.trim_end_matches(" --batch").replace(' ', "-"));
        assert!(known && CODES.contains(code), "{command:?} with {code} is no command, or no code");
    }
}
