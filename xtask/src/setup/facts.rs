//! What this machine has, as `cargo xtask setup` finds it: files are read, and a few programs are asked for a version.

use crate::run;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The systems whose commands are known, each with what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Ubuntu,
    Debian,
    /// Fedora and RHEL.
    Fedora,
    Other,
}

/// A machine. What cannot be asked counts as absent.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The system's name, as it tells it.
    pub(super) system: String,
    pub(super) family: Family,
    /// Whether it is Linux on x86-64.
    pub(super) is_supported: bool,
    pub(super) is_root: bool,
    /// The version in `rust-toolchain.toml`, and that of the `rustc` that runs in the workspace's folder.
    pub(super) pinned: String,
    pub(super) rustc: Option<String>,
    /// The programs of [`PROGRAMS`] that are installed.
    pub(super) programs: Vec<&'static str>,
    /// The version of `python3`, if it can make an environment.
    pub(super) python: Option<String>,
    /// NVIDIA's first card, by its place on the PCI bus.
    pub(super) card: Option<String>,
    /// The version of NVIDIA's driver.
    pub(super) driver: Option<String>,
    /// Whether a device file of the driver is here: without one no program reaches the card.
    pub(super) has_device_file: bool,
    pub(super) in_container: bool,
    pub(super) in_wsl: bool,
}

/// The programs that are looked for on `PATH`.
pub(super) const PROGRAMS: [&str; 8] =
    ["cc", "git", "curl", "g++", "rustup", "cargo-nextest", "cargo-deny", "cargo-machete"];

/// Fails where Debian's package with `venv` and its pip was left out.
const PYTHON: &str = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])";

impl Facts {
    /// Looks at this machine.
    pub(super) fn gather(root: &Path) -> Self {
        let release = text("/etc/os-release");
        let is_one_there = |files: &[&str]| files.iter().any(|file| Path::new(file).exists());
        let rustc = answer(Command::new("rustc").arg("--version").current_dir(root));
        Self {
            system: field(&release, "PRETTY_NAME").unwrap_or(std::env::consts::OS).to_owned(),
            family: family(&release),
            is_supported: cfg!(all(target_os = "linux", target_arch = "x86_64")),
            is_root: run::is_root(),
            pinned: pinned(&text(root.join("rust-toolchain.toml"))).unwrap_or_default(),
            rustc: rustc.and_then(|line| line.split(' ').nth(1).map(str::to_owned)),
            programs: PROGRAMS.into_iter().filter(|name| run::on_path(name)).collect(),
            python: answer(Command::new("python3").args(["-c", PYTHON])),
            card: card(Path::new("/sys/bus/pci/devices")),
            driver: driver(),
            has_device_file: is_one_there(&["/dev/nvidiactl", "/dev/dxg"]),
            in_container: is_one_there(&["/.dockerenv", "/run/.containerenv"]),
            in_wsl: text("/proc/sys/kernel/osrelease").to_lowercase().contains("microsoft"),
        }
    }
}

/// The text of a file; empty where there is none.
fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// What a program prints, if it is there and ends well.
fn answer(command: &mut Command) -> Option<String> {
    run::output(command).ok().filter(|answer| !answer.is_empty())
}

/// A field of `os-release`, without quotes.
fn field<'a>(release: &'a str, name: &str) -> Option<&'a str> {
    release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(|value| value.trim_matches('"'))
}

fn family(release: &str) -> Family {
    let named = ["ID", "ID_LIKE"].map(|name| field(release, name).unwrap_or_default()).join(" ");
    let is = |ids: &[&str]| named.split(' ').any(|word| ids.contains(&word));
    // Ubuntu says that it is like Debian, so it comes first.
    let families =
        [(Family::Ubuntu, &["ubuntu"][..]), (Family::Debian, &["debian"]), (Family::Fedora, &["fedora", "rhel"])];
    families.into_iter().find(|(_, ids)| is(ids)).map_or(Family::Other, |(family, _)| family)
}

fn pinned(toolchain: &str) -> Option<String> {
    let table: toml::Table = toolchain.parse().ok()?;
    Some(table.get("toolchain")?.get("channel")?.as_str()?.to_owned())
}

/// NVIDIA's first display device below a folder of PCI devices; cards have functions of other classes too.
fn card(devices: &Path) -> Option<String> {
    let entries = fs::read_dir(devices).ok()?.filter_map(Result::ok);
    let is_card = |device: &Path| {
        text(device.join("vendor")).trim() == "0x10de" && text(device.join("class")).starts_with("0x03")
    };
    let cards = entries.filter(|entry| is_card(&entry.path()));
    cards.map(|entry| entry.file_name().to_string_lossy().into_owned()).min()
}

/// The version of the loaded kernel module; under WSL, which has none, that of Windows' driver.
fn driver() -> Option<String> {
    let module = text("/sys/module/nvidia/version");
    if !module.is_empty() {
        return Some(module.trim().to_owned());
    }
    let mut ask = Command::new("nvidia-smi");
    let answer = answer(ask.args(["--query-gpu=driver_version", "--format=csv,noheader"]))?;
    answer.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_known_by_what_they_are_like() {
        for (release, expected) in [
            ("PRETTY_NAME=\"Mint 22\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"", Family::Ubuntu),
            ("ID=debian", Family::Debian),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"", Family::Fedora),
            ("ID=arch", Family::Other),
            ("", Family::Other),
        ] {
            assert_eq!(family(release), expected, "{release}");
        }
        assert_eq!(field("ID=x\nPRETTY_NAME=\"Mint 22\"", "PRETTY_NAME"), Some("Mint 22"));
        assert_eq!(pinned("[toolchain]\nchannel = \"1.95.0\"").as_deref(), Some("1.95.0"));
    }

    #[test]
    fn a_card_is_a_display_device_of_nvidia() {
        let devices = std::env::temp_dir().join(format!("octopus-setup-{}", std::process::id()));
        let functions = [("0", "0x8086", "0x030000"), ("41:00.0", "0x10de", "0x030200"), ("1", "0x10de", "0x040300")];
        for (slot, vendor, class) in functions {
            fs::create_dir_all(devices.join(slot)).unwrap();
            fs::write(devices.join(slot).join("vendor"), format!("{vendor}\n")).unwrap();
            fs::write(devices.join(slot).join("class"), format!("{class}\n")).unwrap();
        }
        let found = card(&devices);
        fs::remove_dir_all(&devices).unwrap();
        assert_eq!((found.as_deref(), card(&devices)), (Some("41:00.0"), None));
    }
}
