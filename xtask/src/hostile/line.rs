//! Command lines: each command's own options, with values of all kinds.

use super::chance::Chance;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Commands with what must precede their options.
const COMMANDS: [&str; 19] = [
    "sample",
    "resume",
    "diagnose",
    "plot",
    "compare",
    "loo",
    "evidence",
    "calibrate",
    "sweep",
    "random",
    "export",
    "validate",
    "verify",
    "man",
    "completions",
    "device list",
    "device info",
    "device accept",
    "device measure",
];

/// Settings that keep a run short, for the commands that sample; what is chosen at random comes after them.
const SHORT: [(&str, &[&str]); 4] = [
    ("sample", &["--draws", "20", "--tune", "20", "--device", "cpu"]),
    ("calibrate", &["--datasets", "2", "--draws", "20", "--tune", "20", "--device", "cpu"]),
    ("sweep", &["--seeds", "2", "--draws", "20", "--tune", "20"]),
    ("validate", &["--quick", "--stages", "compare", "--device", "cpu", "--groups", "5"]),
];

/// Values that fit no option, or only just.
const ODD: [&str; 34] = [
    "",
    " ",
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "1e-320",
    "1e-308",
    "1e-9",
    "1e9",
    "1e308",
    "inf",
    "-inf",
    "nan",
    "0.5",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1,2,3",
    "1,,2",
    "-",
    "--",
    "a b",
    "\u{202e}x",
    "\u{9b}31m",
    "../x",
    "/dev/null",
    "/dev/stdout",
    "new/below/x",
    "x\ny",
    "all",
    "cuda:7",
];

/// An option of a command, and the word that stands for its value in the help.
pub(super) struct ListedOption {
    name: String,
    value: Option<String>,
}

/// A command as its help has it.
pub(super) struct Listed {
    words: Vec<String>,
    options: Vec<ListedOption>,
}

/// What one run is called with.
pub(super) struct Line {
    pub(super) words: Vec<String>,
}

impl Line {
    /// Returns the line as it can be typed.
    pub(super) fn shown(&self) -> String {
        self.words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" ")
    }

    /// Returns how many words of the line name the file or folder `name`, or what is in it.
    pub(super) fn named(&self, name: &str) -> usize {
        let path = |word: &String| word.trim_start_matches("./").split('/').next() == Some(name);
        self.words.iter().filter(|word| path(word)).count()
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one == word)
    }
}

/// Asks the program for its commands' options.
pub(super) fn commands(program: &Path) -> Result<Vec<Listed>> {
    let listed = |command: &&str| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let output = Command::new(program).args(&words).arg("--help").output().context("cannot ask for help")?;
        let help = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(Listed { options: help.lines().filter_map(option).collect(), words })
    };
    COMMANDS.iter().map(listed).collect()
}

/// Reads a line of help that begins with an option.
fn option(line: &str) -> Option<ListedOption> {
    let at = line.find("--").filter(|&at| line[..at].trim().is_empty() || line[..at].trim().ends_with(','))?;
    let mut words = line[at..].split([' ', '[', ']', '.']).filter(|word| !word.is_empty());
    let name = words.next().filter(|name| !["--help", "--version", "--"].contains(name))?.to_owned();
    let value = words.next().and_then(|word| word.strip_prefix('<')).map(|word| word.trim_end_matches('>').to_owned());
    Some(ListedOption { name, value })
}

/// Chooses a command line.
pub(super) fn choose(commands: &[Listed], files: &[String], chance: &mut Chance) -> Line {
    let command = chance.one_of(commands);
    let mut words = command.words.clone();
    positional(&command.words, &mut words, files, chance);
    if let Some((_, short)) = SHORT.iter().find(|(name, _)| command.words[0] == *name) {
        // An option that is given twice is refused, so each pair may be left to the choices below.
        for pair in short.chunks(2).filter(|_| !chance.one_in(6)) {
            words.extend(pair.iter().map(|&word| word.to_owned()));
        }
    }
    for _ in 0..chance.below(5) {
        let option = chance.one_of(&command.options);
        if words.contains(&option.name) {
            continue;
        }
        words.push(option.name.clone());
        if let Some(value) = &option.value {
            words.push(if chance.one_in(3) { anything(files, chance) } else { fitting(value, files, chance) });
        }
    }
    let writes = command.options.iter().any(|option| option.name == "--out");
    if writes && !words.iter().any(|word| word == "--out") && !chance.one_in(8) {
        words.extend(["--out".into(), out(files, chance)]);
    }
    Line { words }
}

/// Adds what a command takes without an option's name.
fn positional(command: &[String], words: &mut Vec<String>, files: &[String], chance: &mut Chance) {
    let mut models = || (*chance.one_of(&["hierarchical-normal", "eight-schools", "eight-schools", "none"])).to_owned();
    match command[0].as_str() {
        "sample" | "calibrate" | "sweep" | "validate" => words.push(models()),
        "random" => {
            let families = ["uniform", "normal", "exponential", "gamma", "beta", "student-t", "von-mises", "none"];
            words.push((*chance.one_of(&families)).into());
        }
        "completions" => words.push((*chance.one_of(&["bash", "zsh", "", "none"])).into()),
        "resume" => words.push((*chance.one_of(&["run", "other", "stan", "absent"])).into()),
        "device" if command[1] == "accept" => words.push(anything(files, chance)),
        "diagnose" | "plot" | "loo" | "evidence" | "export" | "compare" => {
            let count = if command[0] == "compare" { 2 } else { 1 + usize::from(chance.one_in(5)) };
            words.extend((0..count).map(|_| chance.one_of(files).clone()));
        }
        _ => {}
    }
}

/// Returns a value of the kind that the help calls `kind`, as far as it can be told.
fn fitting(kind: &str, files: &[String], chance: &mut Chance) -> String {
    let some = |chance: &mut Chance, values: &[&str]| (*chance.one_of(values)).to_owned();
    match kind {
        "N" | "N,N," => some(chance, &["1", "2", "3", "4", "5", "8", "20", "33", "100", "2,3,1"]),
        "X" | "P" | "S" | "SHARE" | "SECONDS" => some(chance, &["0.1", "0.5", "0.9", "1", "1.5", "2", "10", "1e3"]),
        "FORMAT" => some(chance, &["png", "svg", "png,svg"]),
        "TO" => some(chance, &["netcdf", "zarr", "zarr-v2", "parquet", "stan-csv", "csv"]),
        "KIND" => some(chance, &["trace", "posterior", "pair", "energy", "ppc", "pareto-k", "profile", "forest"]),
        "COL" => some(chance, &["city", "sales", "none"]),
        "K/N" => some(chance, &["1/1", "1/2", "2/2", "3/2"]),
        "STRATEGY" => some(chance, &["cross-chain", "four-long", "many-short", "auto"]),
        "METRIC" => some(chance, &["auto", "low-rank", "diag", "diag-draws"]),
        "PARAMETERIZATION" => some(chance, &["adaptive", "centered", "non-centered"]),
        "DEVICE" => some(chance, &["auto", "cpu", "cuda", "cuda:all"]),
        "SIZE" => some(chance, &["1MiB", "64MiB", "1GiB", "1"]),
        "NAME" => some(chance, &["mu_pop", "theta", "y", "sigma_obs"]),
        "DIR" | "FILE.json" | "PATH" => out(files, chance),
        _ => chance.one_of(files).clone(),
    }
}

/// Returns a place to write to: mostly a new one.
fn out(files: &[String], chance: &mut Chance) -> String {
    let new = ["new", "new.nc", "below/new.csv", "run/plots", "new.npy", "new.json"];
    if chance.one_in(3) { anything(files, chance) } else { (*chance.one_of(&new)).to_owned() }
}

/// Returns an odd value or one of the user's files, whatever was asked for.
fn anything(files: &[String], chance: &mut Chance) -> String {
    match chance.below(4) {
        0 => (*chance.one_of(&ODD)).to_owned(),
        1 => "x".repeat(1 << chance.below(13)),
        2 => format!("{}/", chance.one_of(files)),
        _ if chance.one_in(4) => (*chance.one_of(&["run/run.toml", "run/draws", "stan/.", "./table.csv"])).to_owned(),
        _ => chance.one_of(files).clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_help() {
        let read = |line: &str| option(line).map(|option| (option.name, option.value));
        assert_eq!(read("      --draws <N>").unwrap(), ("--draws".into(), Some("N".into())));
        assert_eq!(read("  -q, --quiet").unwrap(), ("--quiet".into(), None));
        assert_eq!(read("      --group-sizes <N,N,...>").unwrap().1.unwrap(), "N,N,");
        assert!(read("          as --data has it").is_none() && read("  -h, --help").is_none());
    }

    #[test]
    fn a_line_depends_on_its_number() {
        let options = || vec![ListedOption { name: "--out".into(), value: Some("DIR".into()) }];
        let commands = [Listed { words: vec!["plot".into()], options: options() }];
        let line = |number| choose(&commands, &["run".to_owned()], &mut Chance::new(number)).words;
        assert_eq!(line(3), line(3));
        assert!((0..50).any(|number| line(number) != line(3)));
    }
}
