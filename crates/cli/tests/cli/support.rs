//! Starting the program, and looking at what it leaves behind.

use assert_cmd::Command;
use octopus_models::sha256;
use octopus_runs::RunFolder;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The program, without the user's environment for colours.
pub(crate) fn octopus() -> Command {
    let mut command = Command::new(program());
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// The program's path.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_octopus")
}

/// Whether this machine has an NVIDIA device. If so, `what` is said to be SKIPPED: it can only be seen where none is.
pub(crate) fn has_gpu(what: &str) -> bool {
    let looked = answer(octopus().args(["verify", "--no-deep", "--json"])).json();
    let found = looked["overall"] != "absent";
    if found {
        eprintln!("SKIPPED: {what}: this machine has an NVIDIA device: {}", looked["summary"]);
    }
    found
}

/// What the program said and how it ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program with words separated by spaces; `{}` in a word stands for `dir`.
pub(crate) fn run(dir: &Path, words: &str) -> Answer {
    let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    answer(octopus().args(words))
}

/// Runs a command to its end.
pub(crate) fn answer(command: &mut Command) -> Answer {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Answer {
    /// Asserts the exit code and that stderr says all of `words`.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }

    /// Asserts exit code 0.
    #[track_caller]
    pub(crate) fn succeeds(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Asserts that a run was sampled to its end: exit code 0, or 1 together with the warning that its draws should not be
    /// used, as of the few draws of a quick test.
    #[track_caller]
    pub(crate) fn sampled(&self) -> &Self {
        let unfit = self.stderr.contains("should not be used as they are");
        assert_eq!(self.code, Some(i32::from(unfit)), "{self:#?}");
        self
    }

    /// The result as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Makes a complete run one that was stopped before its first draw: its record says so, and it has no draws.
pub(crate) fn stop(run: &Path) {
    let record = run.join("run.toml");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("status = \"complete\"", "status = \"interrupted\"")).unwrap();
    fs::remove_dir_all(run.join("draws")).unwrap();
    fs::create_dir(run.join("draws")).unwrap();
}

/// SHA-256 of the bits of each array of a run: draws, statistics, positions, and warm-up where it is kept.
pub(crate) fn fingerprints(run: &Path) -> BTreeMap<String, String> {
    let data = RunFolder::open(run).unwrap().read().unwrap();
    let mut found = BTreeMap::new();
    for (group, dataset) in &data.groups {
        for (name, array) in &dataset.variables {
            let hash = sha256(&array.values.to_f64());
            found.insert(format!("{group}/{name} {:?}", array.shape), hash);
        }
    }
    assert!(found.len() > 3, "{found:?}");
    found
}

/// Whether a file of these tests has the test `name`, and in it, or in a constant that it names, the text `with`.
pub(crate) fn has_test(file: &str, name: &str, with: &str) -> bool {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(file)).unwrap();
    let Some((_, rest)) = text.split_once(&format!("\n#[test]\nfn {name}() {{")) else { return false };
    let body = rest.split("\n}\n").next().unwrap_or_default();
    let named = |constant: &str| {
        let (name, value) = constant.split_once(':').unwrap_or_default();
        body.contains(name) && value.split(";\n").next().unwrap_or_default().contains(with)
    };
    body.contains(with) || text.split("\nconst ").skip(1).any(named)
}

/// The names of everything in a folder and below, sorted.
pub(crate) fn tree(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            found.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}
