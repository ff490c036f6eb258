//! Crates know only what is below them or to their left (the picture in ARCHITECTURE.md).

use super::manifest::octopus_dependencies;
use super::{Complaint, Tree};

/// Each crate with all that it may depend on. Nobody depends on the command line.
const MAY_KNOW: [(&str, &[&str]); 28] = [
    ("crates/random", &[]),
    ("crates/cuda", &[]),
    ("crates/files", &[]),
    ("crates/trace", &[]),
    ("crates/stan", &[]),
    // Test support: only tests and developer tasks use these.
    ("crates/ptx", &[]),
    ("crates/softgpu", &["ptx"]),
    ("crates/device", &["cuda", "files"]),
    ("crates/array", &["device", "cuda", "files", "random"]),
    ("crates/fitness", &["array", "device", "cuda", "random"]),
    ("crates/density", &["random", "trace"]),
    ("crates/program", &["density", "random"]),
    ("crates/bind", &["program", "stan", "density", "random"]),
    ("crates/sampler", &["density", "random", "cuda", "diag"]),
    ("crates/diag", &["trace"]),
    ("crates/formats", &["trace", "files"]),
    ("crates/models", &["density", "random", "formats", "trace", "stan", "program", "bind"]),
    ("crates/runs", &["device", "fitness", "diag", "sampler", "density", "formats", "trace", "files"]),
    ("crates/calibrate", &["diag", "sampler", "models", "density", "random"]),
    ("crates/report", &["trace", "diag", "files"]),
    (
        "crates/octopus",
        &[
            "random",
            "density",
            "models",
            "stan",
            "program",
            "bind",
            "sampler",
            "trace",
            "formats",
            "runs",
            "diag",
            "calibrate",
            "device",
            "array",
            "fitness",
            "report",
            "files",
        ],
    ),
    (
        "crates/bench",
        &[
            "runs",
            "models",
            "device",
            "array",
            "fitness",
            "diag",
            "sampler",
            "density",
            "trace",
            "formats",
            "files",
            "report",
            "calibrate",
        ],
    ),
    (
        "crates/suite",
        &[
            "octopus", "models", "runs", "sampler", "density", "random", "diag", "device", "files", "report", "array",
            "fitness", "trace",
        ],
    ),
    (
        "crates/phase0",
        &[
            "octopus", "bench", "models", "runs", "report", "diag", "device", "sampler", "density", "trace", "formats",
            "files",
        ],
    ),
    (
        "crates/cli",
        &[
            "octopus",
            "phase0",
            "random",
            "density",
            "models",
            "sampler",
            "trace",
            "formats",
            "runs",
            "files",
            "diag",
            "calibrate",
            "device",
            "array",
            "fitness",
            "report",
            "bench",
            "suite",
        ],
    ),
    ("benchmarks", &["random", "density", "models", "sampler", "trace", "diag"]),
    ("xtask", &["ptx", "softgpu"]),
    ("xtask/launch", &[]),
];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.packages().flat_map(|(folder, manifest)| judge(folder, manifest)).collect()
}

fn judge(folder: &str, manifest: &str) -> Vec<Complaint> {
    let path = format!("{folder}/Cargo.toml");
    let Some((_, allowed)) = MAY_KNOW.iter().find(|(name, _)| *name == folder) else {
        return vec![Complaint::error(&path, "its place is not in xtask/src/tidy/direction.rs yet: add it")];
    };
    octopus_dependencies(manifest)
        .into_iter()
        // Tests may look around, but not up to the command line.
        .filter(|(entry, name)| {
            !allowed.contains(name) && (!entry.section.ends_with("dev-dependencies") || *name == "cli")
        })
        .map(|(entry, _)| {
            let allowed = if allowed.is_empty() { "no other crate".into() } else { allowed.join(", ") };
            Complaint::error(&path, format!("{} is not below it; it may know {allowed}", entry.key)).at(entry.line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(folder: &str, manifest: &str) -> Vec<Option<usize>> {
        let path = format!("{folder}/Cargo.toml");
        check(&Tree::of(&[(&path, manifest)])).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn what_is_below_may_be_known() {
        assert_eq!(
            lines("crates/sampler", "[dependencies]\noctopus-random.workspace = true\noctopus-density = \"1\""),
            []
        );
    }

    #[test]
    fn what_is_above_may_not() {
        assert_eq!(
            lines("crates/density", "[dependencies]\nserde = \"1\"\noctopus-sampler.workspace = true"),
            [Some(3)]
        );
        assert_eq!(lines("crates/random", "[dependencies.octopus-density]\npath = \"../density\""), [Some(1)]);
        assert_eq!(lines("crates/diag", "[build-dependencies]\noctopus-report = \"1\""), [Some(2)]);
    }

    #[test]
    fn tests_may_look_around_but_not_at_the_command_line() {
        assert_eq!(lines("crates/diag", "[dev-dependencies]\noctopus-sampler = \"1\""), []);
        assert_eq!(lines("crates/diag", "[dev-dependencies]\noctopus-cli = \"1\""), [Some(2)]);
        assert_eq!(lines("benchmarks", "[dependencies]\noctopus-cli = \"1\""), [Some(2)]);
    }

    #[test]
    fn a_new_crate_must_be_given_its_place() {
        assert_eq!(check(&Tree::of(&[("crates/new/Cargo.toml", "")])).len(), 1);
    }
}
