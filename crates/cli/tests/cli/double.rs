//! The program on a software GPU, in an operating system made up for the test: what it says depends on neither the
//! machine nor the user that runs the test.

use crate::support::{Answer, answer, program};
use assert_cmd::Command;
use octopus_softgpu::{Lanes, SoftwareGpu};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// No command may take longer, whatever fails.
const LIMIT: Duration = Duration::from_secs(180);

/// The sampler's kernels that `octopus verify` needs for its run of 13 coordinates.
pub(crate) const TINY_RUN: &str = "nuts_hierarchical_normal_f64_32x1";

/// A software GPU and the machine around it.
pub(crate) struct Double {
    pub(crate) gpu: SoftwareGpu,
    folder: TempDir,
}

impl Double {
    /// With the kernels that `octopus verify` needs. None, said aloud, where there is no C++ compiler.
    pub(crate) fn new() -> Option<Self> {
        Self::with_sampler(&[])
    }

    /// With these of the sampler's kernels besides, by what comes after `nuts_hierarchical_normal_` in their names.
    pub(crate) fn with_sampler(units: &[&str]) -> Option<Self> {
        let named = units.iter().map(|unit| format!("nuts_hierarchical_normal_{unit}"));
        let all: Vec<String> = std::iter::once(TINY_RUN.to_owned()).chain(named).collect();
        Some(Self::of(SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &all)?))
    }

    pub(crate) fn of(gpu: SoftwareGpu) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("bare/etc/os-release"), "PRETTY_NAME=\"Test Linux 1\"\n");
        write(&folder.path().join("card/sys/bus/pci/devices/0000:41:00.0/vendor"), "0x10de\n");
        write(&folder.path().join("card/sys/bus/pci/devices/0000:41:00.0/class"), "0x030200\n");
        Self { gpu, folder }
    }

    /// The root of a machine with a card and a driver of this version.
    fn machine(&self, version: &str) -> PathBuf {
        let machine = self.folder.path().join("machine").join(version);
        if machine.exists() {
            return machine;
        }
        for (path, text) in [
            ("etc/os-release", "PRETTY_NAME=\"Test Linux 1\"\n"),
            ("proc/sys/kernel/osrelease", "6.1.0\n"),
            ("sys/module/nvidia/version", version),
            ("sys/bus/pci/devices/0000:41:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:41:00.0/class", "0x030200\n"),
            ("sys/bus/pci/devices/0000:41:00.0/device", "0x2230\n"),
            ("dev/nvidia0", ""),
            ("dev/nvidiactl", ""),
            ("dev/nvidia-uvm", ""),
        ] {
            write(&machine.join(path), text);
        }
        // The checks look for the libraries below the machine's root.
        for library in [self.gpu.libcuda(), self.gpu.libnvml()] {
            let inside = machine.join(library.strip_prefix("/").unwrap());
            fs::create_dir_all(inside.parent().unwrap()).unwrap();
            fs::copy(&library, inside).unwrap();
        }
        machine
    }

    /// The program with the software GPU of these settings, in a machine with its driver.
    pub(crate) fn octopus(&self, settings: &str) -> Command {
        let mut command = Command::from_std(self.command(settings));
        command.timeout(LIMIT);
        command
    }

    /// The same for a test that does not wait for its end.
    pub(crate) fn command(&self, settings: &str) -> std::process::Command {
        let mut command = std::process::Command::new(program());
        // Nothing of the user's: no locale, no CUDA_VISIBLE_DEVICES, no folder that libraries could come from.
        command.env_clear();
        self.gpu.command(&mut command, settings);
        let version = settings.split(';').find_map(|part| part.strip_prefix("version="));
        command.env("OCTOPUS_ROOT", self.machine(version.unwrap_or("550.90.07")));
        command
    }

    /// The program in a machine where NVML is not installed; this one has it not either.
    pub(crate) fn octopus_without_nvml(&self, settings: &str) -> Command {
        let mut command = self.octopus(settings);
        command.env_remove("OCTOPUS_LIBNVML");
        command
    }

    /// The program in a machine without NVIDIA's libraries, as this one is: `bare`, or with a `card`.
    pub(crate) fn octopus_without_driver(&self, root: &str) -> Command {
        let mut command = self.octopus_without_nvml("");
        command.env_remove("OCTOPUS_LIBCUDA").env("OCTOPUS_ROOT", self.folder.path().join(root));
        command
    }

    /// Whether this machine has a driver of its own, which tests cannot hide from the loader.
    pub(crate) fn has_real_driver() -> bool {
        Path::new("/dev/nvidiactl").exists() || Path::new("/dev/dxg").exists()
    }

    /// Runs words separated by spaces; `{}` in a word stands for a new folder.
    pub(crate) fn run(&self, command: &mut Command, words: &str) -> Answer {
        let words = words.split_whitespace().map(|word| word.replace("{}", self.scratch().to_str().unwrap()));
        let answer = answer(command.args(words));
        assert!(answer.code.is_some(), "ended by a signal, or not at all: {answer:#?}");
        assert!(!answer.stderr.contains("panicked"), "{}", answer.stderr);
        answer
    }

    /// A folder for what commands write.
    pub(crate) fn scratch(&self) -> PathBuf {
        let scratch = self.folder.path().join("scratch");
        fs::create_dir_all(&scratch).unwrap();
        scratch
    }

    /// What a snapshot keeps of an answer: without times, speeds, and the folders of this machine.
    pub(crate) fn masked(&self, answer: &Answer) -> String {
        let text = format!(
            "exit code {}\n--- stdout\n{}--- stderr\n{}",
            answer.code.unwrap(),
            lines(&interesting(&answer.stdout)),
            lines(&answer.stderr)
        );
        let text = text.replace(self.gpu.folder().to_str().unwrap(), "[softgpu]");
        mask_numbers(&text.replace(self.folder.path().to_str().unwrap(), "[folder]"))
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn lines(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Without the lines of checks of the machine that passed: they are of no interest when something else fails.
fn interesting(text: &str) -> String {
    let deep = ["context ", "kernel-load ", "memory ", "bandwidth ", "matmul-", "exactness ", "tiny-run "];
    let keep = |line: &&str| line.strip_prefix("PASS  ").is_none_or(|rest| deep.iter().any(|id| rest.starts_with(id)));
    text.lines().filter(keep).map(|line| format!("{}\n", without_host(line))).collect()
}

/// A line without what tells the machine that runs the test.
fn without_host(line: &str) -> &str {
    if line.starts_with("host ") { "host                       [this machine]" } else { line }
}

/// `#` for each number before a unit of time or speed.
fn mask_numbers(text: &str) -> String {
    const UNITS: [&str; 3] = ["s", "GB/s", "GFLOP/s"];
    let mask = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let masked = words.iter().enumerate().map(|(place, word)| {
            let unit = words.get(place + 1).map(|next| next.trim_end_matches([',', ';', ':', ')']));
            let measured = word.parse::<f64>().is_ok() && unit.is_some_and(|unit| UNITS.contains(&unit));
            if measured { "#" } else { word }
        });
        masked.collect::<Vec<_>>().join(" ")
    };
    // What is expected is no measurement.
    let line = |line: &str| if line.contains("expected: ") { line.to_owned() } else { mask(line) };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn only_times_and_speeds_are_masked() {
    assert_eq!(
        mask_numbers("made in 0.31 s (12 of 31.5 GiB), 4.1 GB/s, 7 of 9"),
        "made in # s (12 of 31.5 GiB), # GB/s, 7 of 9\n"
    );
}
