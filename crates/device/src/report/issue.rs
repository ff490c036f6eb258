//! The report as a block to paste into an issue: enough to help, nothing that tells who or where you are.
//!
//! Left out or replaced: UUIDs, names of processes, folders that are not the system's, values of variables
//! that are not of the form they should have, and all of the environment that no check speaks of.

use super::{Overall, VerifyReport};
use crate::DeviceInfo;
use std::fmt::Write;

/// Folders that are alike on every machine: what lies below them tells nothing of its user.
const SYSTEM_FOLDERS: [&str; 10] = ["bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"];
/// Beginnings of paths that tell nothing of the user either, in folders that hold users' files, too.
const SYSTEM_PREFIXES: [&str; 3] = ["/run/opengl-driver/", "/var/run/nvidia", "/opt/cuda/"];
/// Names of containers that tell nothing more.
const CONTAINERS: [&str; 7] = ["docker", "podman", "apptainer", "kubernetes", "lxc", "systemd-nspawn", "oci"];
/// Words that `NVIDIA_DRIVER_CAPABILITIES` may hold.
const CAPABILITIES: [&str; 8] = ["all", "compute", "utility", "graphics", "video", "display", "compat32", "ngx"];
const HIDDEN: &str = "(not shown)";

impl VerifyReport {
    /// Returns a fenced block of Markdown to paste into an issue. It holds no user's or host's name, no UUID, no
    /// process's name, and no value of a variable that could be a secret.
    pub fn to_issue_block(&self) -> String {
        let secrets = self.secrets();
        let mut text = self.head();
        for device in &self.devices {
            text += &format!("{}\n", DeviceInfo { uuid: None, ..device.clone() }.line());
        }
        // Where nothing could be checked, all say the same as the summary.
        let findings = self.findings.iter().filter(|_| self.overall != Overall::Absent);
        for finding in findings {
            text += &format!("{} {} {}\n", finding.status, finding.id, finding.observed);
            if let Some(cause) = &finding.cause {
                text += &format!("     expected: {}\n     cause: {cause}\n", finding.expected);
            }
        }
        if self.overall != Overall::Absent {
            text += &format!("{}\n", self.counts());
        }
        text += &self.summary;
        let text: Vec<String> = text.lines().map(|line| scrub(line, &secrets)).collect();
        let text = text.join("\n");
        // The fence is longer than any that the text holds.
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(3.max(longest + 1));
        format!("{fence}text\n{text}\n{fence}")
    }

    /// Program, system and driver.
    fn head(&self) -> String {
        let environment = &self.environment;
        let mut text = format!("Octopus {}", env!("CARGO_PKG_VERSION"));
        // Writing to a String does not fail.
        if self.provider != "system" {
            let _ = write!(text, " (answers of the provider `{}`, not of this machine)", self.provider);
        }
        let _ = write!(text, ", {} {}", std::env::consts::ARCH, std::env::consts::OS);
        if let Some(system) = &environment.system {
            let _ = write!(text, ", {system}");
        }
        if let Some(kernel) = &environment.kernel {
            // What follows the numbers is whatever the kernel's builder wrote.
            let numbers = kernel.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
            let _ = write!(text, ", kernel {numbers}");
        }
        if environment.wsl {
            text += ", WSL";
        }
        if let Some(name) = &environment.container {
            let _ = write!(text, ", container {name}");
        }
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".into());
        let _ = writeln!(
            text,
            "\ndriver {}, kernel module {}, CUDA {}",
            or_none(self.driver_version.clone()),
            or_none(environment.kernel_module.clone()),
            or_none(self.cuda_version.map(|version| version.to_string()))
        );
        let list = |parts: Vec<&str>| if parts.is_empty() { "none".to_owned() } else { parts.join(", ") };
        let _ = writeln!(
            text,
            "cards on the PCI bus: {}; device files: {}; libcuda: {}{}",
            list(environment.pci_devices.iter().map(|card| card.device.as_str()).collect()),
            list(environment.device_files.iter().map(|file| file.path.as_str()).collect()),
            list(environment.driver_libraries.iter().map(|copy| copy.file.as_str()).collect()),
            if environment.nouveau { "; nouveau is loaded" } else { "" }
        );
        text
    }

    /// Returns the texts that must not appear, each with what replaces it; the longest first, so that no part of a
    /// longer one is left behind.
    fn secrets(&self) -> Vec<(String, String)> {
        let environment = &self.environment;
        let mut secrets: Vec<(String, String)> = Vec::new();
        for copy in environment.driver_libraries.iter().chain(&environment.compiler_libraries) {
            for path in [&copy.path, &copy.file] {
                if let (false, Some((folder, name))) = (is_of_system(path), path.rsplit_once('/')) {
                    secrets.push((path.clone(), format!(".../{name}")));
                    secrets.push((folder.to_owned(), "...".into()));
                }
            }
        }
        for path in [&environment.octopus_libcuda, &environment.octopus_libnvml].into_iter().flatten() {
            if let (false, Some((_, name))) = (is_of_system(path), path.rsplit_once('/')) {
                secrets.push((path.clone(), format!(".../{name}")));
            }
        }
        for process in self.devices.iter().flat_map(|device| device.processes.iter().flatten()) {
            if let Some(name) = &process.name {
                secrets.push((format!("{} {name}", process.pid), process.pid.to_string()));
            }
        }
        let mut hide_value = |value: &Option<String>, fine: fn(&str) -> bool| {
            for value in value.iter().filter(|value| !value.split(',').all(|word| fine(word.trim()))) {
                let parts = value.split(',').map(str::trim).chain([value.as_str()]);
                secrets.extend(parts.map(|part| (format!("{part:?}"), HIDDEN.to_owned())));
            }
        };
        hide_value(&environment.cuda_visible_devices, |word| {
            word.is_empty() || word.parse::<i64>().is_ok() || identifier(word).is_some_and(|end| end == word.len())
        });
        hide_value(&environment.nvidia_driver_capabilities, |word| word.is_empty() || CAPABILITIES.contains(&word));
        if let Some(name) = environment.container.as_ref().filter(|name| !CONTAINERS.contains(&name.as_str())) {
            secrets.push((name.clone(), HIDDEN.to_owned()));
        }
        secrets.retain(|(secret, _)| !secret.is_empty());
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        secrets
    }
}

/// Returns the line without the secrets, without the digits of UUIDs and without folders that are not the system's.
fn scrub(line: &str, secrets: &[(String, String)]) -> String {
    let line = secrets.iter().fold(line.to_owned(), |line, (secret, instead)| line.replace(secret.as_str(), instead));
    let mut clean = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while let Some(first) = rest.chars().next() {
        if let Some(end) = identifier(rest) {
            clean += &rest[..4];
            clean += "...";
            rest = &rest[end..];
            continue;
        }
        // A word ends where a path in a message would.
        let ends = |c: char| c.is_whitespace() || "\"'`(),;:=[]".contains(c);
        let end = rest.find(ends).unwrap_or(rest.len());
        if end == 0 {
            clean.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(end);
        let path = word.starts_with('/') && word.len() > 1 || word.contains('/') && word.contains(".so");
        match word.rsplit_once('/') {
            Some((_, name)) if path && !is_of_system(word) && !word.starts_with("...") => {
                clean += ".../";
                clean += name;
            }
            _ => clean += word,
        }
        rest = after;
    }
    clean
}

/// Returns where the UUID of a device or instance ends, if `text` starts with one.
fn identifier(text: &str) -> Option<usize> {
    let rest = ["GPU-", "MIG-"].into_iter().find_map(|mark| text.strip_prefix(mark))?;
    let length = rest.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(rest.len());
    (length > 0).then_some(4 + length)
}

fn is_of_system(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let first = rest.split('/').next().unwrap_or_default();
    SYSTEM_FOLDERS.contains(&first) || SYSTEM_PREFIXES.iter().any(|prefix| path.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::scrub;
    use crate::{DeviceProcess, DriverCode, FoundBy, LibraryCopy, NvmlFailure, ProcessKind, ScriptedProvider, verify};

    #[test]
    fn a_healthy_machine_is_told_in_full() {
        let block = verify(&ScriptedProvider::healthy()).to_issue_block();
        let lines: Vec<&str> = block.lines().collect();
        assert_eq!((lines[0], lines[lines.len() - 1]), ("```text", "```"));
        assert!(lines[1].starts_with(concat!(
            "Octopus ",
            env!("CARGO_PKG_VERSION"),
            " (answers of the provider `scripted`"
        )));
        assert!(lines[1].ends_with("Scripted Linux 1, kernel 6.1.0"));
        assert_eq!(lines[2], "driver 550.54.15, kernel module 550.54.15, CUDA 12.4");
        assert_eq!(
            lines[3],
            "cards on the PCI bus: 0x2230; device files: /dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl; \
             libcuda: /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15"
        );
        assert!(lines[4].starts_with("0: Scripted device, compute capability 8.6"));
        assert!(lines.contains(&"PASS library-copies /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15"));
        assert!(lines.contains(&"PASS device-files /dev/nvidia-uvm, /dev/nvidia0, /dev/nvidiactl"));
        assert!(!block.contains("5c1f7ed0"));
    }

    #[test]
    fn an_absent_device_takes_few_lines() {
        let mut machine = ScriptedProvider::empty();
        machine.environment.nouveau = true;
        let block = verify(&machine).to_issue_block();
        let lines: Vec<&str> = block.lines().collect();
        assert_eq!(lines.len(), 6, "{block}");
        assert_eq!(lines[2], "driver none, kernel module none, CUDA none");
        assert_eq!(lines[3], "cards on the PCI bus: none; device files: none; libcuda: none; nouveau is loaded");
        assert!(lines[4].starts_with("no NVIDIA GPU on this machine"));
    }

    #[test]
    fn nothing_that_tells_the_user_is_left() {
        let mut machine = ScriptedProvider::healthy();
        let device = &mut machine.nvml.as_mut().unwrap().devices[0];
        device.processes = Some(vec![DeviceProcess {
            pid: 4711,
            name: Some("alices-secret-model".into()),
            memory: Some(47 << 30),
            kind: ProcessKind::Compute,
        }]);
        device.memory_free = Some(0);
        let environment = &mut machine.environment;
        environment.cuda_visible_devices = Some("token hunter2,0".into());
        environment.nvidia_driver_capabilities = Some("hunter3".into());
        environment.nvidia_visible_devices = Some("hunter4".into());
        environment.ld_library_path = Some("/scratch/alice/my libs:/data/alice/lib".into());
        environment.kernel = Some("6.1.0-alice".into());
        environment.container = Some("alices-box".into());
        for file in ["/scratch/alice/my libs/libcuda.so.1", "/data/alice/lib/libcuda.so.470.82.01"] {
            environment.driver_libraries.insert(
                0,
                LibraryCopy { path: file.into(), file: file.into(), version: None, found: FoundBy::LdLibraryPath },
            );
        }
        machine.driver.as_mut().unwrap().failure = Some(DriverCode::UNKNOWN);
        let report = verify(&machine);
        let plain = report.to_string();
        let block = report.to_issue_block();
        for secret in ["alice", "hunter2", "hunter3", "my libs"] {
            assert!(plain.contains(secret), "the test is of no use: {secret} is not in\n{plain}");
            assert!(!block.contains(secret), "{secret} in\n{block}");
        }
        assert!(!block.contains("hunter4"));
        assert!(block.contains("FAIL visible-devices CUDA_VISIBLE_DEVICES=(not shown)"), "{block}");
        assert!(block.contains("FAIL library-path .../libcuda.so.470.82.01, .../libcuda.so.1"), "{block}");
        assert!(block.contains("other processes hold the memory: 4711 (47.0 GiB)"), "{block}");
    }

    #[test]
    fn words_of_the_loader_lose_their_folders() {
        let mut machine = ScriptedProvider::healthy();
        let detail = "/scratch/alice/x.so: file too short".to_owned();
        machine.nvml = Err(NvmlFailure::LibraryMissing { library: "alice/nvml.so".into(), detail });
        let block = verify(&machine).to_issue_block();
        assert!(block.contains("FAIL nvml-library .../nvml.so cannot be loaded: .../x.so: file too short"), "{block}");
    }

    #[test]
    fn lines_keep_all_but_secrets_identifiers_and_users_folders() {
        let secrets = [("7 alice".to_owned(), "7".to_owned())];
        for (line, clean) in [
            ("open /scratch/alice/data failed", "open .../data failed"),
            ("(/scratch/alice/x), \"/scratch/alice/y\"", "(.../x), \".../y\""),
            ("bob/nvml.so: no, a/b: yes", ".../nvml.so: no, a/b: yes"),
            ("host / device", "host / device"),
            ("/x", ".../x"),
            ("/dev/nvidia0 /opt/cuda/lib/x.so .../y/x.so", "/dev/nvidia0 /opt/cuda/lib/x.so .../y/x.so"),
            ("GPU-5c1f-7ed0, MIG-12 GPU-x", "GPU-..., MIG-... GPU-x"),
            ("pid 7 alice", "pid 7"),
            // Spaces and letters of several bytes.
            ("\u{2003}zwölf\u{2003}/ärger/größe", "\u{2003}zwölf\u{2003}.../größe"),
        ] {
            assert_eq!(scrub(line, &secrets), clean);
        }
    }

    #[test]
    fn the_fence_is_longer_than_any_inside() {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].name = Some("a ```` b".into());
        let block = verify(&machine).to_issue_block();
        assert!(block.starts_with("`````text\n") && block.ends_with("\n`````"), "{block}");
    }

    #[test]
    fn plain_lists_are_shown_and_names_of_devices_are_not() {
        let seen = |value: &str| {
            let mut machine = ScriptedProvider::healthy();
            machine.environment.cuda_visible_devices = Some(value.into());
            verify(&machine).to_issue_block()
        };
        assert!(seen("0,7").contains("CUDA_VISIBLE_DEVICES=\"0,7\""));
        assert!(seen("GPU-5c1f7ed0").contains("CUDA_VISIBLE_DEVICES=\"GPU-...\""));
        assert!(seen("GPU-alice").contains("CUDA_VISIBLE_DEVICES=(not shown)"));
        let capabilities = |value: &str| {
            let mut machine = ScriptedProvider::healthy();
            machine.environment.container = Some("docker".into());
            machine.environment.nvidia_driver_capabilities = Some(value.into());
            machine.driver.as_mut().unwrap().failure = Some(DriverCode::UNKNOWN);
            verify(&machine).to_issue_block()
        };
        assert!(capabilities("utility,").contains("NVIDIA_DRIVER_CAPABILITIES=\"utility,\""));
        assert!(capabilities("utility,bob").contains("NVIDIA_DRIVER_CAPABILITIES=(not shown)"));
    }
}
