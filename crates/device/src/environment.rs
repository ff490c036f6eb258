//! What the operating system shows of NVIDIA's devices: variables, files, kernel modules, containers.
//!
//! Everything is read below a root that tests replace, and variables come through a function: no test
//! depends on the machine that runs it.

mod container;
mod hardware;
mod libraries;
mod loader_cache;
mod root;

pub(crate) use container::container;
pub use hardware::{Access, DeviceFile, PciDevice};
pub use libraries::{FoundBy, LibraryCopy};
pub(crate) use root::Root;

use libraries::Search;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Names the driver library to load instead of the one that the loader finds.
pub(crate) const LIBCUDA_VARIABLE: &str = "OCTOPUS_LIBCUDA";
/// Names the management library to load instead of the one that the loader finds.
pub(crate) const LIBNVML_VARIABLE: &str = "OCTOPUS_LIBNVML";

/// Names the folder whose files are read instead of those of `/`.
pub(crate) const ROOT_VARIABLE: &str = "OCTOPUS_ROOT";

/// The facts around the driver. All empty on a machine that has nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// `CUDA_VISIBLE_DEVICES`, if set.
    pub cuda_visible_devices: Option<String>,
    /// `CUDA_DEVICE_ORDER`, if set: without `PCI_BUS_ID` CUDA counts from the fastest device on.
    pub cuda_device_order: Option<String>,
    /// `CUDA_DISABLE_PTX_JIT`, if set.
    pub cuda_disable_ptx_jit: Option<String>,
    /// `NVIDIA_VISIBLE_DEVICES`, which container runtimes read, if set.
    pub nvidia_visible_devices: Option<String>,
    /// `NVIDIA_DRIVER_CAPABILITIES`, which container runtimes read, if set.
    pub nvidia_driver_capabilities: Option<String>,
    /// `OCTOPUS_LIBCUDA`, if set: the driver library to load instead of the one that the loader finds.
    pub octopus_libcuda: Option<String>,
    /// `OCTOPUS_LIBNVML`, if set: the same for the management library.
    pub octopus_libnvml: Option<String>,
    /// `LD_LIBRARY_PATH`, if set.
    pub ld_library_path: Option<String>,
    /// Every copy of `libcuda.so.1`, in the order in which the loader would take them.
    pub driver_libraries: Vec<LibraryCopy>,
    /// Every copy of the driver's compiler for PTX, likewise.
    pub compiler_libraries: Vec<LibraryCopy>,
    /// The device files `/dev/nvidia*` and, under WSL, `/dev/dxg`.
    pub device_files: Vec<DeviceFile>,
    /// NVIDIA's display and compute devices on the PCI bus.
    pub pci_devices: Vec<PciDevice>,
    /// NVSwitches between the devices.
    pub switches: usize,
    /// Whether the fabric manager of these switches runs; `None` where that cannot be seen.
    pub fabric_manager: Option<bool>,
    /// Version of the loaded kernel module `nvidia`.
    pub kernel_module: Option<String>,
    /// Whether the free driver `nouveau` holds the devices.
    pub nouveau: bool,
    /// The container this runs in, as far as can be seen, e.g. `docker`.
    pub container: Option<String>,
    /// Whether this is Linux under Windows.
    pub wsl: bool,
    /// The operating system's name, e.g. `Debian GNU/Linux 12 (bookworm)`.
    pub system: Option<String>,
    /// The kernel's version.
    pub kernel: Option<String>,
}

impl Environment {
    /// Reads the environment, with the file system's root and the variables given.
    pub fn read_from(root: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let root = Root(root);
        let (ld_library_path, current) = (variable("LD_LIBRARY_PATH"), variable("PWD"));
        let search = Search {
            root,
            ld_library_path: ld_library_path.as_deref(),
            current: current.as_deref(),
            cache: &fs::read(root.at("/etc/ld.so.cache")).unwrap_or_default(),
        };
        let named = |name: &str| variable(name).filter(|library| !library.is_empty());
        let (octopus_libcuda, octopus_libnvml) = (named(LIBCUDA_VARIABLE), named(LIBNVML_VARIABLE));
        let driver_libraries = search.copies("libcuda.so.1", octopus_libcuda.as_deref());
        let compiler_libraries = search.copies("libnvidia-ptxjitcompiler.so.1", None);
        let kernel = root.line("/proc/sys/kernel/osrelease");
        let container = container(root, variable);
        let switches = hardware::switches(root);
        // Machines without a switch are spared the look at every process, and a container does not show
        // the host's.
        let sees_all = switches > 0 && container.is_none();
        Self {
            cuda_visible_devices: variable("CUDA_VISIBLE_DEVICES"),
            cuda_device_order: variable("CUDA_DEVICE_ORDER"),
            cuda_disable_ptx_jit: variable("CUDA_DISABLE_PTX_JIT"),
            nvidia_visible_devices: variable("NVIDIA_VISIBLE_DEVICES"),
            nvidia_driver_capabilities: variable("NVIDIA_DRIVER_CAPABILITIES"),
            octopus_libcuda,
            octopus_libnvml,
            ld_library_path,
            driver_libraries,
            compiler_libraries,
            device_files: hardware::device_files(root),
            pci_devices: hardware::pci_devices(root),
            switches,
            fabric_manager: sees_all.then(|| hardware::fabric_manager(root)),
            kernel_module: hardware::kernel_module(root),
            nouveau: root.at("/sys/module/nouveau").exists(),
            container,
            wsl: kernel.as_deref().is_some_and(|release| release.to_ascii_lowercase().contains("microsoft")),
            system: system(root),
            kernel,
        }
    }

    /// Returns the copy of the driver library that the loader takes.
    pub fn first_driver_library(&self) -> Option<&LibraryCopy> {
        self.driver_libraries.iter().find(|copy| copy.found != FoundBy::Elsewhere)
    }

    /// Returns whether there is a file of a device itself, beside those of the driver as a whole.
    pub(crate) fn has_device_file(&self) -> bool {
        self.device_files.iter().any(|file| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            name == "dxg" || name.strip_prefix("nvidia").is_some_and(hardware::is_number)
        })
    }
}

/// Returns a variable of this process.
pub(crate) fn process_variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

fn system(root: Root<'_>) -> Option<String> {
    let text = fs::read_to_string(root.at("/etc/os-release")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).map(|name| name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    pub(super) fn unset(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn variables_are_those_of_this_process() {
        // A test knows of one variable for sure: the shell's, the harness's or the system's own.
        let (name, value) = std::env::vars_os().find(|(name, _)| name.to_str().is_some()).unwrap();
        assert_eq!(process_variable(name.to_str().unwrap()), Some(value.to_string_lossy().into_owned()));
        assert_eq!(process_variable("OCTOPUS_TEST_VARIABLE_THAT_NOBODY_SETS"), None);
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
        assert_eq!((seen.switches, seen.fabric_manager), (0, None));
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
    fn wsl_and_the_free_driver_are_recognised() {
        let wsl = tree(&[
            ("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n"),
            ("etc/os-release", "ID=x\nPRETTY_NAME=\"Example Linux 1\"\n"),
            ("dev/dxg", ""),
            ("sys/module/nouveau/refcnt", "0"),
        ]);
        let seen = Environment::read_from(wsl.path(), &unset);
        assert!(seen.wsl && seen.nouveau && seen.has_device_file());
        assert_eq!(seen.kernel.as_deref(), Some("5.15.153.1-microsoft-standard-WSL2"));
        assert_eq!(seen.system.as_deref(), Some("Example Linux 1"));
    }

    #[test]
    fn variables_are_kept_as_they_are() {
        let root = tree(&[("opt/a/libcuda.so.1", ""), ("opt/b/libcuda.so.1", "")]);
        let variable = |name: &str| match name {
            "OCTOPUS_LIBCUDA" => Some("/opt/b/libcuda.so.1".to_owned()),
            "LD_LIBRARY_PATH" => Some("/opt/a".to_owned()),
            "PWD" => None,
            _ => Some(format!("value of {name}")),
        };
        let seen = Environment::read_from(root.path(), &variable);
        assert_eq!(seen.cuda_visible_devices.as_deref(), Some("value of CUDA_VISIBLE_DEVICES"));
        assert_eq!(seen.cuda_device_order.as_deref(), Some("value of CUDA_DEVICE_ORDER"));
        assert_eq!(seen.cuda_disable_ptx_jit.as_deref(), Some("value of CUDA_DISABLE_PTX_JIT"));
        assert_eq!(seen.nvidia_driver_capabilities.as_deref(), Some("value of NVIDIA_DRIVER_CAPABILITIES"));
        assert_eq!(seen.ld_library_path.as_deref(), Some("/opt/a"));
        let paths: Vec<&str> = seen.driver_libraries.iter().map(|copy| copy.path.as_str()).collect();
        assert_eq!(paths, ["/opt/b/libcuda.so.1", "/opt/a/libcuda.so.1"]);
        assert_eq!(seen.first_driver_library().unwrap().found, FoundBy::Override);
    }

    #[test]
    fn processes_are_looked_at_only_where_there_is_a_switch() {
        let manager = ("proc/77/comm", "nv-fabricmanage\n");
        let switch = [
            ("sys/bus/pci/devices/0000:05:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:05:00.0/class", "0x068000\n"),
        ];
        let seen = |files: &[(&str, &str)]| Environment::read_from(tree(files).path(), &unset).fabric_manager;
        assert_eq!(seen(&[manager]), None);
        assert_eq!(seen(&switch), Some(false));
        assert_eq!(seen(&[switch[0], switch[1], manager]), Some(true));
        assert_eq!(seen(&[switch[0], switch[1], (".dockerenv", "")]), None);
    }
}
