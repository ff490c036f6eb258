//! What the operating system shows of NVIDIA's devices: variables, files, kernel modules, containers.

use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

/// NVIDIA's vendor number on the PCI bus.
const NVIDIA_VENDOR: &str = "0x10de";

/// The facts around the driver. All empty on a machine that has nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// `CUDA_VISIBLE_DEVICES`, if set.
    pub cuda_visible_devices: Option<String>,
    /// `NVIDIA_VISIBLE_DEVICES`, which container runtimes read, if set.
    pub nvidia_visible_devices: Option<String>,
    /// `LD_LIBRARY_PATH`, if set.
    pub ld_library_path: Option<String>,
    /// Copies of the driver library that `LD_LIBRARY_PATH` puts before the system's.
    pub shadowing_libraries: Vec<String>,
    /// The device files `/dev/nvidia*` and, under WSL, `/dev/dxg`.
    pub device_files: Vec<DeviceFile>,
    /// NVIDIA's display and compute devices on the PCI bus.
    pub pci_devices: Vec<PciDevice>,
    /// Version of the loaded kernel module `nvidia`.
    pub kernel_module: Option<String>,
    /// Whether the free driver `nouveau` holds the devices.
    pub nouveau: bool,
    /// The container this runs in, as far as can be seen, e.g. `docker`.
    pub container: Option<String>,
    /// Whether this is Linux under Windows.
    pub wsl: bool,
}

/// A file through which programs reach the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFile {
    /// Its path.
    pub path: String,
    /// Whether it could be opened to read and write.
    pub access: Access,
}

/// How opening a device file ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It can be read and written.
    Granted,
    /// File permissions or a container's device rules forbid it.
    Denied,
    /// The driver refused, in the system's words.
    Failed(String),
}

/// A card on the PCI bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciDevice {
    /// Its place, e.g. `0000:01:00.0`.
    pub slot: String,
    /// The product's number, e.g. `0x2230`.
    pub device: String,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        Self::read_from(Path::new("/"), &|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
    }

    /// As [`read`](Self::read), with the file system's root and the variables given.
    pub fn read_from(root: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let ld_library_path = variable("LD_LIBRARY_PATH");
        Self {
            cuda_visible_devices: variable("CUDA_VISIBLE_DEVICES"),
            nvidia_visible_devices: variable("NVIDIA_VISIBLE_DEVICES"),
            shadowing_libraries: shadowing_libraries(ld_library_path.as_deref().unwrap_or_default()),
            ld_library_path,
            device_files: device_files(root),
            pci_devices: pci_devices(root),
            kernel_module: line(root, "sys/module/nvidia/version"),
            nouveau: root.join("sys/module/nouveau").exists(),
            container: container(root, variable),
            wsl: line(root, "proc/sys/kernel/osrelease")
                .is_some_and(|release| release.to_ascii_lowercase().contains("microsoft")),
        }
    }

    /// Whether there is a file of a device itself, beside those of the driver as a whole.
    pub(crate) fn has_device_file(&self) -> bool {
        self.device_files.iter().any(|file| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            name == "dxg" || name.strip_prefix("nvidia").is_some_and(is_number)
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The first line of a small file; `None` when it cannot be read or is empty.
fn line(root: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The names in a folder, sorted; none when it cannot be read.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

fn device_files(root: &Path) -> Vec<DeviceFile> {
    let folder = root.join("dev");
    names(&folder)
        .into_iter()
        .filter(|name| match name.strip_prefix("nvidia") {
            Some(rest) => is_number(rest) || rest == "ctl" || rest == "-uvm",
            None => name == "dxg",
        })
        .map(|name| DeviceFile { access: access(&folder.join(&name)), path: format!("/dev/{name}") })
        .collect()
}

/// Opens the file as the driver would: device rules of containers do not show in its permission bits.
fn access(path: &Path) -> Access {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => Access::Granted,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Access::Denied,
        Err(error) => Access::Failed(error.to_string()),
    }
}

fn pci_devices(root: &Path) -> Vec<PciDevice> {
    let folder = root.join("sys/bus/pci/devices");
    names(&folder)
        .into_iter()
        .filter_map(|slot| {
            let card = folder.join(&slot);
            // Class 0x03 is display: the sound and USB functions of the same card are left out.
            let display = line(&card, "class")?.starts_with("0x03");
            let ours = line(&card, "vendor")? == NVIDIA_VENDOR;
            (display && ours).then(|| PciDevice { device: line(&card, "device").unwrap_or_default(), slot })
        })
        .collect()
}

fn shadowing_libraries(ld_library_path: &str) -> Vec<String> {
    ld_library_path
        .split(':')
        .filter(|folder| !folder.is_empty())
        .flat_map(|folder| {
            let folder = Path::new(folder);
            names(folder)
                .into_iter()
                .filter(|name| name.starts_with("libcuda.so"))
                .map(|name| folder.join(name).display().to_string())
                .collect::<Vec<_>>()
        })
        .collect()
}

fn container(root: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if root.join(".dockerenv").exists() {
        return Some("docker".into());
    }
    if root.join("run/.containerenv").exists() {
        return Some("podman".into());
    }
    if variable("SINGULARITY_CONTAINER").is_some() || variable("APPTAINER_CONTAINER").is_some() {
        return Some("apptainer".into());
    }
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".into());
    }
    variable("container").filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn unset(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn an_empty_machine_shows_nothing() {
        let root = tree(&[]);
        assert_eq!(Environment::read_from(root.path(), &unset), Environment::default());
    }

    #[test]
    fn a_card_with_its_driver_is_seen() {
        let root = tree(&[
            ("dev/nvidia0", ""),
            ("dev/nvidiactl", ""),
            ("dev/nvidia-uvm", ""),
            ("dev/nvidia-uvm-tools", ""),
            ("dev/null", ""),
            ("sys/module/nvidia/version", "550.54.15\n"),
            ("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n"),
            ("sys/bus/pci/devices/0000:01:00.0/device", "0x2230\n"),
            ("sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n"),
            ("sys/bus/pci/devices/0000:02:00.0/vendor", "0x8086\n"),
            ("sys/bus/pci/devices/0000:02:00.0/class", "0x030000\n"),
        ]);
        let seen = Environment::read_from(root.path(), &unset);
        let files: Vec<&str> = seen.device_files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"]);
        assert!(seen.device_files.iter().all(|file| file.access == Access::Granted));
        assert!(seen.has_device_file());
        assert_eq!(seen.pci_devices, [PciDevice { slot: "0000:01:00.0".into(), device: "0x2230".into() }]);
        assert_eq!(seen.kernel_module.as_deref(), Some("550.54.15"));
        assert!(!seen.nouveau && !seen.wsl && seen.container.is_none());
    }

    #[test]
    fn the_drivers_common_files_are_not_a_device() {
        let root = tree(&[("dev/nvidiactl", ""), ("dev/nvidia-uvm", "")]);
        let seen = Environment::read_from(root.path(), &unset);
        assert_eq!(seen.device_files.len(), 2);
        assert!(!seen.has_device_file());
    }

    #[test]
    fn what_cannot_be_opened_is_told_apart_from_what_may_not() {
        // A folder cannot be opened for writing by anyone, root included.
        let root = tree(&[("dev/nvidia0/inside", "")]);
        let seen = Environment::read_from(root.path(), &unset);
        assert!(matches!(&seen.device_files[0].access, Access::Failed(words) if !words.is_empty()));
    }

    #[test]
    fn containers_and_wsl_are_recognised() {
        let docker = tree(&[(".dockerenv", "")]);
        assert_eq!(Environment::read_from(docker.path(), &unset).container.as_deref(), Some("docker"));
        let podman = tree(&[("run/.containerenv", "")]);
        assert_eq!(Environment::read_from(podman.path(), &unset).container.as_deref(), Some("podman"));
        let bare = tree(&[]);
        let variable = |name: &str| (name == "container").then(|| "lxc".to_owned());
        assert_eq!(Environment::read_from(bare.path(), &variable).container.as_deref(), Some("lxc"));
        let wsl = tree(&[
            ("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"),
            ("dev/dxg", ""),
            ("sys/module/nouveau/refcnt", "0"),
        ]);
        let seen = Environment::read_from(wsl.path(), &unset);
        assert!(seen.wsl && seen.nouveau && seen.has_device_file());
    }

    #[test]
    fn libraries_before_the_systems_are_listed() {
        let root = tree(&[("stubs/libcuda.so", ""), ("stubs/libother.so", ""), ("empty/readme", "")]);
        let path = format!("{}:{}::missing", root.path().join("empty").display(), root.path().join("stubs").display());
        let variable = |name: &str| (name == "LD_LIBRARY_PATH").then(|| path.clone());
        let seen = Environment::read_from(root.path(), &variable);
        assert_eq!(seen.shadowing_libraries, [root.path().join("stubs/libcuda.so").display().to_string()]);
        assert_eq!(seen.ld_library_path.as_deref(), Some(path.as_str()));
    }
}
