//! The limits of options that take a number as a table: the last value on the inside, and the first on the outside.
//!
//! Outside, a command ends as misused (exit code 2) and names the option; inside, it does not. An option that takes a
//! number and has no row fails the tests of `options.rs`.

use crate::support::run;
use std::path::Path;

/// The limits of an option.
pub(crate) struct Limits {
    /// Commands, or `*` for all others that have the option.
    pub(crate) commands: &'static str,
    pub(crate) option: &'static str,
    /// Words that the option needs beside it.
    with: &'static str,
    inside: &'static [&'static str],
    /// Inside too, where a command only plans: work for years, or more memory than there is.
    planned: &'static [&'static str],
    outside: &'static [&'static str],
}

const fn limits(option: &'static str, inside: &'static [&'static str], outside: &'static [&'static str]) -> Limits {
    Limits { commands: "*", option, with: "", inside, planned: &[], outside }
}

const fn of(
    commands: &'static str,
    option: &'static str,
    inside: &'static [&'static str],
    outside: &'static [&'static str],
) -> Limits {
    Limits { commands, ..limits(option, inside, outside) }
}

const MANY: &str = "--strategy many-short --chains 12";

#[rustfmt::skip]
pub(crate) const LIMITS: &[Limits] = &[
    // Runs.
    // Draws and warm-up together are below 2^31; by default these are 2000 and 1000.
    of("sample", "--draws", &["1", "2147482647"], &["0", "2147482648"]),
    of("sample", "--tune", &["0", "2147481647"], &["-1", "2147481648"]),
    // Chains are compared with each other.
    of("sweep", "--draws", &["4"], &["3", "2147483648"]),
    of("sweep", "--chains", &["2"], &["1", "2147483648"]),
    limits("--draws", &["1"], &["0", "2147483648"]),
    limits("--tune", &["0"], &["-1", "2147483648"]),
    Limits { with: MANY, ..limits("--superchains", &["2", "12"], &["1", "5", "13"]) },
    Limits { planned: &["2147483647"], ..limits("--chains", &["1"], &["0", "2147483648"]) },
    limits("--target-accept", &["5e-324", "0.9999999999999999"], &["0", "1", "nan"]),
    limits("--seed", &["0", "18446744073709551614"], &["-1", "18446744073709551616"]),
    limits("--max-depth", &["1", "20"], &["0", "21"]),
    Limits { with: "--algorithm hmc", ..limits("--leapfrogs", &["1", "4294967295"], &["0", "4294967296"]) },
    Limits { with: "--algorithm hmc", ..limits("--step-size", &["5e-324", "9"], &["0", "inf", "nan"]) },
    Limits { with: "--algorithm hmc", ..limits("--length", &["5e-324", "9"], &["0", "inf", "nan"]) },
    Limits { with: "--algorithm chees", ..limits("--jitter", &["0", "1"], &["-5e-324", "1.0000000000000002", "nan"]) },
    Limits { with: "--algorithm walnuts", ..limits("--max-error", &["5e-324", "9"], &["0", "inf", "nan"]) },
    Limits { with: "--algorithm walnuts", ..limits("--max-halvings", &["0", "20"], &["-1", "21"]) },
    Limits { with: "--algorithm importance", planned: &["2147483647"], ..limits("--particles", &["2"], &["1", "2147483648"]) },
    Limits { with: "--algorithm importance", ..limits("--degrees", &["1", "1000", "inf"], &["0.99", "1001", "nan"]) },
    Limits { with: "--algorithm smc --draws 20", ..limits("--ess-share", &["0.1", "0.99"], &["0.09", "1", "nan"]) },
    Limits { with: "--algorithm pathfinder", planned: &["10000"], ..limits("--paths", &["1"], &["0", "10001"]) },
    Limits { with: "--algorithm pathfinder", planned: &["10000"], ..limits("--elbo-draws", &["1"], &["0", "10001"]) },
    Limits { with: "--algorithm pathfinder", planned: &["536870911"], ..limits("--draws-per-path", &["1"], &["0", "536870912"]) },
    limits("--init-radius", &["0", "9"], &["-5e-324", "inf", "nan"]),
    limits("--target-ess", &["5e-324", "1e308"], &["0", "inf", "nan"]),
    limits("--target-rhat", &["1.0000000000000002", "1e308"], &["1", "inf", "nan"]),
    limits("--max-seconds", &["5e-324", "1e308"], &["0", "inf", "nan"]),
    limits("--threads", &["1", "64"], &["0", "4097"]),
    Limits { with: "--device auto", ..limits("--gpu-memory", &["1MiB", "1048576", "1.5GB", "15EiB"], &["0", "1048575", "1", "1023KiB", "much"]) },
    Limits { with: "--claim --keep {}/x", ..of("sweep", "--lease", &["2", "86400"], &["1", "86401"]) },
    limits("--lease", &[], &["1", "86401"]),
    limits("--checkpoint-every", &["1", "18446744073709551615"], &["0", "18446744073709551616"]),
    // The model and its data.
    limits("--groups", &["1"], &["0", "500000001"]),
    limits("--per-group", &["1"], &["0", "500000001"]),
    of("calibrate", "--group-sizes", &["1", "1,2"], &["0", "1,0", "1000000001"]),
    limits("--data-seed", &["0", "4294967295"], &["-1", "4294967296"]),
    limits("--mu-mean", &["-1e6", "1e6"], &["-inf", "inf", "nan"]),
    limits("--mu-sd", &["1e-3", "1e6"], &["0", "inf", "nan"]),
    limits("--sigma-pop-scale", &["1e-3", "1e6"], &["0", "inf", "nan"]),
    limits("--sigma-obs-scale", &["1e-3", "1e6"], &["0", "inf", "nan"]),
    // Calibrations and sweeps.
    of("calibrate", "--datasets", &["2"], &["1", "1073741824"]),
    of("calibrate", "--kept", &["1", "18"], &["0", "19"]),
    Limits { with: "--geweke", ..of("calibrate", "--sequences", &["8"], &["1", "7", "1073741824", "99999999999"]) },
    Limits { with: "--geweke", ..of("calibrate", "--steps", &["4"], &["3", "1073741824", "18446744073709551615"]) },
    of("calibrate", "--false-alarm", &["1e-300", "0.9999999999999999"], &["0", "1", "nan"]),
    of("sweep", "--seeds", &["1"], &["0", "18446744073709551575"]),
    // What is made of draws.
    of("diagnose", "--prob", &["1e-9", "1"], &["0", "1.0000000000000002", "nan"]),
    of("compare", "--max-mean", &["0", "1e308"], &["-5e-324", "nan"]),
    of("compare", "--max-sd", &["0", "1e308"], &["-5e-324", "nan"]),
    of("compare", "--alpha", &["0", "1"], &["-5e-324", "1.0000000000000002", "nan"]),
    of("loo", "--draws", &["1", "18446744073709551615"], &["0", "-1"]),
    of("evidence", "--draws", &["8", "18446744073709551615"], &["7", "-1"]),
    of("evidence", "--seed", &["0", "18446744073709551615"], &["-1", "18446744073709551616"]),
    of("export", "--predictive", &["0", "2147483647"], &["-1", "2147483648", "18446744073709551616"]),
    of("export", "--prior", &["0", "1"], &["-1", "2147483648", "99999999999", "18446744073709551615"]),
    of("predict", "--draws", &["1", "2147483647"], &["0", "-1", "2147483648"]),
    // Random numbers.
    Limits { with: "normal", ..of("random", "--n", &["1", "100000", "1e5"], &["0", "100001", "-1", "nan"]) },
    Limits { with: "normal", ..of("random", "--seed", &["0", "18446744073709551615"], &["-1", "18446744073709551616"]) },
    Limits { with: "normal", ..of("random", "--threads", &["1", "64"], &["0", "4097"]) },
    Limits { with: "normal", ..of("random", "--memory", &["1MiB", "1048576", "1TiB"], &["1048575", "0", "much"]) },
    Limits { with: "normal", ..of("random", "--scale", &["0", "1e300"], &["-5e-324", "inf", "nan"]) },
    Limits { with: "normal", ..of("random", "--loc", &["-1e308", "1e308"], &["-inf", "inf", "nan"]) },
    Limits { with: "von-mises", ..of("random", "--concentration", &["0", "1e308", "inf"], &["-5e-324", "nan"]) },
    Limits { with: "von-mises-fisher --concentration 1",
             ..of("random", "--direction", &["-1,0", "1e308,0,-1e308"], &["1", "0,0", "1,inf", "nan,1", ""]) },
    Limits { with: "gamma", ..of("random", "--shape", &["1e-300", "1e300"], &["0", "inf", "nan"]) },
    Limits { with: "beta --b 1", ..of("random", "--a", &["1e-300", "1e300"], &["0", "inf", "nan"]) },
    Limits { with: "beta --a 1", ..of("random", "--b", &["1e-300", "1e300"], &["0", "inf", "nan"]) },
    Limits { with: "student-t", ..of("random", "--df", &["0.06", "1e300"], &["0", "0.05", "inf", "nan"]) },
    Limits { with: "uniform", ..of("random", "--low", &["-1e308", "1"], &["-inf", "inf", "nan"]) },
    Limits { with: "uniform", ..of("random", "--high", &["0", "1e308"], &["-5e-324", "inf", "nan"]) },
    of("submit", "--parts", &["1", "100000"], &["0", "100001"]),
    of("submit", "--minutes", &["1", "1000000"], &["0", "1000001"]),
    of("submit", "--gpus", &["0", "64"], &["-1", "65"]),
    of("submit", "--memory", &["1MiB", "1TiB"], &["much"]),
    // Devices.
    // There is no such GPU: nothing is timed.
    of("data-polynomial", "--n", &["1", "1000000", "1e3", "xlarge"], &["0", "1000001", "1.5", "huge"]),
    of("data-polynomial", "--seed", &["0", "18446744073709551615"], &["-1", "18446744073709551616"]),
    of("data-polynomial", "--noise", &["5e-324", "1e300"], &["0", "-1", "1e308", "inf", "nan"]),
    Limits { with: "polynomial-is --export-data {}/data", ..of("bench-run", "--data-size", &["10", "50,1000"], &["0", "7", "18446744073709551616"]) },
    Limits { with: "polynomial-is --export-data {}/data", ..of("bench-run", "--n-particles", &["100", "1000,10000"], &["0", "7", "18446744073709551616"]) },
    Limits { with: "polynomial-is --export-data {}/data", ..of("bench-run", "--repeats", &["1", "100000"], &["0", "100001"]) },
    of("verify device-measure device-warm device-exact device-sampler", "--device",
       &["0", "4294967295"], &["-1", "4294967296", "first"]),
    of("device-watch", "--every", &["0.05", "86400"], &["0.0499", "86401", "nan"]),
    of("device-watch", "--count", &["1"], &["0", "18446744073709551616"]),
    of("device-sampler", "--seconds", &["0", "18446744073709551615"], &["-1", "18446744073709551616"]),
];

/// A short command line of each command with options in the table. Where it has the option already, that value is
/// replaced.
const LINES: &[(&str, &str)] = &[
    ("submit", "submit --slurm"),
    ("sample", "sample hierarchical-normal --per-group 2 --groups 2 --dry-run --device cpu"),
    ("check", "check hierarchical-normal --per-group 2 --groups 2"),
    ("sweep", "sweep hierarchical-normal --per-group 2 --groups 2 --seeds 1 --draws 4 --tune 20 --threads 1"),
    (
        "calibrate",
        "calibrate hierarchical-normal --per-group 2 --groups 2 --datasets 2 --chains 2 --draws 9 --tune 20 \
         --device cpu --force --out {}/calibration",
    ),
    ("validate", "validate --quick --per-group 2 --groups 2 --device cpu --out {}/validation"),
    ("resume", "resume {}/run"),
    ("diagnose", "diagnose {}/run"),
    ("compare", "compare {}/run {}/run"),
    ("loo", "loo {}/run"),
    ("evidence", "evidence {}/run"),
    ("export", "export {}/run --to netcdf --force --out {}/run.nc"),
    ("predict", "predict {}/run --set N=2"),
    ("random", "random --n 2"),
    ("data-polynomial", "data polynomial --n 2"),
    ("verify", "verify --no-deep"),
    ("device-watch", "device watch --count 1"),
    ("bench-run", "bench run"),
    ("device-measure", "device measure --cache {}/costs"),
    ("device-warm", "device warm --model eight-schools"),
    ("device-exact", "device exact --small"),
    ("device-sampler", "device sampler --small"),
];

/// A command line with an option in it, whose value takes the place of the one that stands there.
fn line(command: &str, limits: &Limits, value: &str) -> String {
    let (_, line) = LINES.iter().find(|(of, _)| *of == command).unwrap_or_else(|| panic!("a line of {command}"));
    let drops: &[&str] = match limits.option {
        "--group-sizes" => &["--groups", "--per-group"],
        "--sequences" | "--steps" => &["--datasets"],
        "--n" => &["--small"],
        _ => &[],
    };
    let line = without(line, |name| name == limits.option || limits.with.contains(name) || drops.contains(&name));
    // The command that is submitted stands behind all options.
    let behind =
        if command == "submit" { "sweep eight-schools --seeds 2 --draws 9 --tune 9 --keep {}/kept" } else { "" };
    format!("{line} {} {} {value} {behind}", limits.with, limits.option)
}

/// A command line without some of its options that take a value.
pub(crate) fn without(line: &str, drops: impl Fn(&str) -> bool) -> String {
    let mut words: Vec<&str> = Vec::new();
    let mut rest = line.split_whitespace();
    while let Some(word) = rest.next() {
        if word.starts_with("--") && drops(word) {
            rest.next();
        } else {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The row of an option of a command.
pub(crate) fn row(command: &str, option: &str) -> Option<&'static Limits> {
    let own = |row: &&Limits| row.option == option && row.commands.split(' ').any(|of| of == command);
    let shared = |row: &&Limits| row.option == option && row.commands == "*";
    LIMITS.iter().find(own).or_else(|| LIMITS.iter().find(shared))
}

/// Tries a row with a command, and returns what is wrong.
pub(crate) fn wrong(dir: &Path, command: &str, row: &Limits) -> Vec<String> {
    let mut wrong = Vec::new();
    // A validation on the inside takes seconds; its values are checked where those of `sample` are.
    let inside = if command == "validate" { &[] } else { row.inside };
    let planned = if command == "sample" { row.planned } else { &[] };
    for value in inside.iter().chain(planned) {
        let line = line(command, row, value);
        let found = run(dir, &line);
        if matches!(found.code, None | Some(2)) || found.stderr.contains("panicked") {
            wrong.push(format!("{value} is inside: octopus {line}: {:?}\n{}", found.code, found.stderr));
        }
    }
    for value in row.outside {
        let line = line(command, row, value);
        let found = run(dir, &line);
        if found.code != Some(2) || !found.stderr.contains(row.option) {
            wrong.push(format!("{value} is outside: octopus {line}: {:?}\n{}", found.code, found.stderr));
        }
    }
    wrong
}
