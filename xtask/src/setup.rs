//! `cargo xtask setup`: what this machine has of what Octopus needs, and the commands for what it lacks.
//!
//! It changes nothing on the machine. `facts` looks; the functions here only judge, so that tests can make up any
//! machine. The GPU itself is judged by `octopus verify`; here is what must be there before.

mod facts;

use crate::aligned::aligned;
use crate::run::TaskOutcome;
use facts::{Facts, Family};
use std::path::Path;

/// The oldest drivers of CUDA 12.4, of Linux and of Windows (for WSL), as docs/setup.md has them.
const DRIVER: (u32, u32) = (550, 54);
const WINDOWS_DRIVER: (u32, u32) = (551, 0);
/// The oldest Python that the tests' requirements are made for.
const PYTHON: (u32, u32) = (3, 11);

/// Programs, their packages for apt and for dnf, and what they are needed for.
const PACKAGES: [(&str, &str, &str, &str); 4] = [
    ("cc", "build-essential", "gcc", "building"),
    ("git", "git", "git", "`cargo xtask tidy` and `ci`"),
    ("curl", "curl", "curl", "installing Rust"),
    ("g++", "g++", "gcc-c++", "tests on the software GPU"),
];

/// Subcommands of cargo, and what they are needed for.
const TOOLS: [(&str, &str); 3] = [
    ("cargo-nextest", "faster tests"),
    ("cargo-deny", "a step of `cargo xtask ci`"),
    ("cargo-machete", "a step of `cargo xtask ci`"),
];

/// Prints what is there and what to type; the check has failed where the CPU lacks something.
pub(crate) fn run(root: &Path) -> TaskOutcome {
    let facts = Facts::gather(root);
    println!("{}", facts.lines().join("\n"));
    if facts.missing().is_empty() { TaskOutcome::Passed } else { TaskOutcome::Failed(1) }
}

impl Facts {
    /// All that is said about a machine. Commands and remarks together can be pasted into a shell.
    fn lines(&self) -> Vec<String> {
        let (missing, commands) = (self.missing(), self.commands());
        let mut lines = vec![aligned(3, self.rows().into_iter().map(Vec::from)), String::new()];
        lines.push(match missing.is_empty() {
            true => "everything that the CPU needs is here".to_owned(),
            false => format!("missing for the CPU: {}", missing.join(", ")),
        });
        let title = if commands.is_empty() { "# nothing to install" } else { "# for what is missing" };
        lines.extend(["", title].map(str::to_owned).into_iter().chain(commands));
        lines.extend(["", "# for a GPU"].into_iter().chain(self.gpu_commands().iter().copied()).map(str::to_owned));
        if self.is_root {
            // Root needs no sudo, and containers often have none.
            lines.iter_mut().for_each(|line| *line = line.strip_prefix("sudo ").unwrap_or(line).to_owned());
        }
        lines
    }

    fn has(&self, program: &str) -> bool {
        self.programs.contains(&program)
    }

    fn has_pinned_rust(&self) -> bool {
        self.rustc.as_ref() == Some(&self.pinned)
    }

    /// What the CPU needs and is not there.
    fn missing(&self) -> Vec<String> {
        let needed = [
            (self.is_supported, "Linux on x86-64".to_owned()),
            (self.has("cc"), "cc".to_owned()),
            (self.has_pinned_rust(), format!("Rust {}", self.pinned)),
        ];
        needed.into_iter().filter(|(is_there, _)| !is_there).map(|(_, name)| name).collect()
    }

    /// The rows of the table, its header first.
    fn rows(&self) -> Vec<[String; 3]> {
        let row = |what: &str, found: &str, needed_for: &str| [what, found, needed_for].map(str::to_owned);
        let yes = |is_there: bool| if is_there { "yes" } else { "no" };
        let version = |found: &Option<String>| found.clone().unwrap_or_else(|| "no".to_owned());
        let rust = format!("Rust {}", self.pinned);
        let mut rows = vec![row("what", "found", "needed for"), row("Linux on x86-64", &self.system, "all")];
        rows.push(row(&rust, &version(&self.rustc), "building"));
        rows.extend(PACKAGES.map(|(program, .., needed_for)| row(program, yes(self.has(program)), needed_for)));
        rows.push(row("Python 3.11 with venv", &version(&self.python), "tests against ArviZ"));
        rows.extend(TOOLS.map(|(tool, needed_for)| row(tool, yes(self.has(tool)), needed_for)));
        rows.push(row("NVIDIA card", &version(&self.card), "a GPU"));
        rows.push(row("NVIDIA driver 550.54", &version(&self.driver), "a GPU"));
        if self.in_container {
            rows.push(row("GPU given to the container", yes(self.has_device_file), "a GPU"));
        }
        rows
    }

    /// The commands for what is missing, GPUs aside; what no command can do is a remark.
    fn commands(&self) -> Vec<String> {
        let needs_rustup = !self.has_pinned_rust() && !self.has("rustup");
        let is_wanted = |program: &str| !self.has(program) && (program != "curl" || needs_rustup);
        let mut packages: Vec<_> = PACKAGES.into_iter().filter(|(program, ..)| is_wanted(program)).collect();
        if self.python.is_none() {
            packages.push(("python3", "python3 python3-venv", "python3", ""));
        }
        let mut lines = match self.family {
            _ if packages.is_empty() => vec![],
            Family::Ubuntu | Family::Debian => {
                vec!["sudo apt update".to_owned(), joined("sudo apt install", packages.iter().map(|package| package.1))]
            }
            Family::Fedora => vec![joined("sudo dnf install", packages.iter().map(|package| package.2))],
            Family::Other => vec![joined("# docs/setup.md, step 1:", packages.iter().map(|package| package.0))],
        };
        if let Some(python) = self.python.as_deref().filter(|python| version(python) < Some(PYTHON)) {
            lines.push(format!("# python3 is {python}: tests against ArviZ want 3.11 and will say SKIPPED"));
        }
        if needs_rustup {
            lines.push("curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y".to_owned());
            lines.push(". \"$HOME/.cargo/env\"".to_owned());
        } else if !self.has_pinned_rust() {
            lines.push(format!("rustup toolchain install {} --profile minimal -c rustfmt,clippy", self.pinned));
        }
        let tools: Vec<&str> = TOOLS.iter().map(|(tool, _)| *tool).filter(|tool| !self.has(tool)).collect();
        if !tools.is_empty() {
            lines.push(joined("cargo install --locked", tools.into_iter()));
        }
        lines
    }

    /// The commands that lead to a driver, as docs/setup.md has them, or why there are none.
    fn gpu_commands(&self) -> &'static [&'static str] {
        let oldest = if self.in_wsl { WINDOWS_DRIVER } else { DRIVER };
        match self.family {
            _ if self.in_container && !self.has_device_file => {
                &["# if the host has one: start the container with `--gpus all` (docs/setup.md, step 6)"]
            }
            _ if self.driver.as_deref().and_then(version) >= Some(oldest) => {
                &["# whether it is fit for use:", "cargo build --release", "target/release/octopus verify"]
            }
            _ if self.in_wsl => {
                &["# in Windows: NVIDIA's driver, 551 or newer, then", "wsl --update", "wsl --shutdown"]
            }
            _ if self.in_container => &["# the host's driver is too old: update it there (docs/setup.md, step 3)"],
            _ if self.card.is_none() => &["# no NVIDIA card here: Octopus runs on the CPU, with nothing to install"],
            Family::Ubuntu => &[
                "# any branch from 550 on; the way back to an older one is in docs/setup.md, step 3",
                "sudo apt install ubuntu-drivers-common",
                "sudo ubuntu-drivers list --gpgpu",
                "sudo ubuntu-drivers install --gpgpu nvidia:550-server",
                "sudo apt install nvidia-utils-550-server",
                "sudo reboot",
            ],
            Family::Debian => &[
                "# once NVIDIA's packages are set up as docs/setup.md, step 3, says:",
                "sudo apt update",
                "sudo apt install linux-headers-amd64 cuda-drivers",
                "sudo reboot",
            ],
            Family::Fedora => &[
                "# once RPM Fusion is set up (docs/setup.md, step 3); reboot when modinfo prints a version",
                "sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda",
                "modinfo -F version nvidia",
                "sudo reboot",
            ],
            Family::Other => &["# NVIDIA's driver, 550.54 or newer (docs/setup.md, step 3)"],
        }
    }
}

fn joined<'a>(command: &'a str, words: impl Iterator<Item = &'a str>) -> String {
    std::iter::once(command).chain(words).collect::<Vec<_>>().join(" ")
}

/// The first two numbers of a version.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that has everything.
    fn whole() -> Facts {
        Facts {
            system: "Test Linux 1".into(),
            family: Family::Ubuntu,
            is_supported: true,
            is_root: false,
            pinned: "1.95.0".into(),
            rustc: Some("1.95.0".into()),
            programs: facts::PROGRAMS.into(),
            python: Some("3.12".into()),
            card: Some("0000:41:00.0".into()),
            driver: Some("550.90.07".into()),
            has_device_file: true,
            in_container: false,
            in_wsl: false,
        }
    }

    /// A machine that has only what built this program, and no GPU.
    fn bare(family: Family) -> Facts {
        let programs = vec!["cc", "rustup"];
        Facts { family, programs, python: None, card: None, driver: None, has_device_file: false, ..whole() }
    }

    #[test]
    fn a_machine_that_has_everything_needs_nothing() {
        let said = whole().lines().join("\n");
        assert!(said.contains("\nRust 1.95.0            1.95.0        building\n"), "{said}");
        let end = "everything that the CPU needs is here\n\n# nothing to install\n\n# for a GPU\n\
                   # whether it is fit for use:\ncargo build --release\ntarget/release/octopus verify";
        assert!(said.ends_with(end), "{said}");
    }

    #[test]
    fn what_only_serves_is_no_failure() {
        let debian = ["sudo apt update", "sudo apt install git g++ python3 python3-venv"];
        assert_eq!(bare(Family::Debian).commands()[..2], debian);
        assert_eq!(bare(Family::Debian).commands()[2], "cargo install --locked cargo-nextest cargo-deny cargo-machete");
        assert_eq!(bare(Family::Fedora).commands()[0], "sudo dnf install git gcc-c++ python3");
        assert_eq!(bare(Family::Other).commands()[0], "# docs/setup.md, step 1: git g++ python3");
        let root = Facts { is_root: true, ..bare(Family::Fedora) }.lines();
        assert!(root.contains(&"dnf install git gcc-c++ python3".to_owned()), "{root:?}");
        assert!(root.contains(&"everything that the CPU needs is here".to_owned()), "{root:?}");
        assert!(root.last().is_some_and(|line| line.starts_with("# no NVIDIA card here")), "{root:?}");
    }

    #[test]
    fn what_the_cpu_needs_is_named_with_its_command() {
        let old = Facts { rustc: Some("1.85.0".into()), python: Some("3.9".into()), ..whole() };
        assert_eq!(old.missing(), ["Rust 1.95.0"]);
        assert!(old.commands()[0].starts_with("# python3 is 3.9:"));
        assert_eq!(old.commands()[1], "rustup toolchain install 1.95.0 --profile minimal -c rustfmt,clippy");
        let none = Facts { rustc: None, programs: vec![], is_supported: false, ..whole() };
        let missing = "missing for the CPU: Linux on x86-64, cc, Rust 1.95.0";
        assert!(none.lines().contains(&missing.to_owned()), "{:?}", none.lines());
        assert_eq!(none.commands()[1], "sudo apt install build-essential git curl g++");
        assert!(none.commands()[2].starts_with("curl "));
    }

    #[test]
    fn drivers_that_are_missing_or_too_old_get_the_commands_of_the_guide() {
        let guide = include_str!("../../docs/setup.md");
        for (family, count) in [(Family::Ubuntu, 5), (Family::Debian, 3), (Family::Fedora, 3), (Family::Other, 0)] {
            for driver in [None, Some("535.183.01".to_owned()), Some("550.53".to_owned())] {
                let machine = Facts { family, driver, ..whole() };
                let commands: Vec<_> = machine.gpu_commands().iter().filter(|line| !line.starts_with('#')).collect();
                assert_eq!(commands.len(), count, "{commands:?}");
                let unknown = commands.iter().find(|line| !guide.contains(**line));
                assert_eq!(unknown, None, "docs/setup.md has no such command");
            }
        }
        assert!(guide.contains("driver, 550.54 or newer") && guide.contains("driver, 551 or newer"));
    }

    #[test]
    fn containers_and_wsl_are_led_to_their_hosts() {
        let container = Facts { in_container: true, has_device_file: false, ..whole() };
        assert!(container.gpu_commands()[0].contains("`--gpus all`"));
        assert_eq!(container.rows().last().map(|row| &*row[1]), Some("no"));
        let old = Facts { has_device_file: true, driver: Some("535.183.01".into()), ..container };
        assert!(old.gpu_commands()[0].contains("the host's driver is too old"));
        let wsl = Facts { in_wsl: true, card: None, driver: Some("550.90".into()), ..whole() };
        assert_eq!(wsl.gpu_commands()[1..], ["wsl --update", "wsl --shutdown"]);
        assert_eq!(Facts { driver: Some("551.61".into()), ..wsl }.gpu_commands()[1], "cargo build --release");
    }
}
