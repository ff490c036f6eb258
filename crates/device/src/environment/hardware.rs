//! Device files, cards on the PCI bus, switches between them.

use super::root::Root;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;

/// NVIDIA's vendor number on the PCI bus.
const NVIDIA_VENDOR: &str = "0x10de";
/// PCI's class of display devices: the sound and USB functions of the same card are of others.
const DISPLAY: &str = "0x03";
/// PCI's class of bridges that are of no other kind, which NVSwitches have.
const BRIDGE: &str = "0x0680";
/// The fabric manager's name as the kernel cuts it, after 15 letters.
const FABRIC_MANAGER: &str = "nv-fabricmanage";

/// A file through which programs reach the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFile {
    /// The path of the device file.
    pub path: String,
    /// Whether it could be opened to read and write.
    pub access: Access,
}

/// The result of opening a device file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The file can be read and written.
    Granted,
    /// File permissions or a container's device rules forbid it.
    Denied,
    /// The driver refused, in the system's words.
    Failed(String),
}

/// A card on the PCI bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PciDevice {
    /// The device's place on the PCI bus, e.g. `0000:01:00.0`.
    pub slot: String,
    /// The product's number, e.g. `0x2230`.
    pub device: String,
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

pub(super) fn device_files(root: Root<'_>) -> Vec<DeviceFile> {
    root.names("/dev")
        .into_iter()
        .filter(|name| match name.strip_prefix("nvidia") {
            Some(rest) => is_number(rest) || rest == "ctl" || rest == "-uvm",
            None => name == "dxg",
        })
        .map(|name| {
            let path = format!("/dev/{name}");
            DeviceFile { access: access(&root.at(&path)), path }
        })
        .collect()
}

/// Opens the file as the driver would: device rules of containers do not show in its permission bits.
fn access(path: &Path) -> Access {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => Access::Granted,
        Err(error) => refused(&error),
    }
}

fn refused(error: &io::Error) -> Access {
    if error.kind() == ErrorKind::PermissionDenied { Access::Denied } else { Access::Failed(error.to_string()) }
}

/// NVIDIA's devices of a class.
fn of_class(root: Root<'_>, class: &str) -> Vec<PciDevice> {
    let folder = Path::new("/sys/bus/pci/devices");
    root.names(folder)
        .into_iter()
        .filter_map(|slot| {
            let card = folder.join(&slot);
            let of_class = root.line(card.join("class"))?.starts_with(class);
            let ours = root.line(card.join("vendor"))? == NVIDIA_VENDOR;
            (of_class && ours).then(|| PciDevice { device: root.line(card.join("device")).unwrap_or_default(), slot })
        })
        .collect()
}

pub(super) fn pci_devices(root: Root<'_>) -> Vec<PciDevice> {
    of_class(root, DISPLAY)
}

/// Returns the number of NVSwitches, on the bus or, where a container hides that, by their device files.
pub(super) fn switches(root: Root<'_>) -> usize {
    let file = |name: &String| name.strip_prefix("nvidia-nvswitch").is_some_and(is_number);
    of_class(root, BRIDGE).len().max(root.names("/dev").iter().filter(|name| file(name)).count())
}

/// Returns whether the fabric manager runs among the processes that can be seen.
pub(super) fn fabric_manager(root: Root<'_>) -> bool {
    let named = |id: &String| root.line(format!("/proc/{id}/comm")).as_deref() == Some(FABRIC_MANAGER);
    root.names("/proc").iter().filter(|id| is_number(id)).any(named)
}

/// Returns the version of the loaded kernel module `nvidia`.
pub(super) fn kernel_module(root: Root<'_>) -> Option<String> {
    root.line("/sys/module/nvidia/version").or_else(|| {
        // `NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 ...`; the open modules say
        // `... Open Kernel Module for x86_64  550.54.15  Release Build ...`.
        let line = root.line("/proc/driver/nvidia/version")?;
        let version = |word: &&str| word.contains('.') && word.split('.').all(is_number);
        line.split_whitespace().find(version).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::*;

    #[test]
    fn the_module_tells_its_version_in_either_place() {
        for (path, text) in [
            ("sys/module/nvidia/version", "550.54.15\n"),
            (
                "proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n",
            ),
            (
                "proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (root@x)\n",
            ),
        ] {
            let folder = tree(&[(path, text)]);
            assert_eq!(kernel_module(Root(folder.path())).as_deref(), Some("550.54.15"), "{text}");
        }
        let folder = tree(&[("proc/driver/nvidia/version", "something else 7 .5 5. v1.2 1..2\n")]);
        assert_eq!(kernel_module(Root(folder.path())), None);
    }

    #[test]
    fn a_file_that_may_not_be_opened_is_told_apart_from_one_that_fails() {
        assert_eq!(refused(&ErrorKind::PermissionDenied.into()), Access::Denied);
        assert_eq!(refused(&io::Error::other("no such device")), Access::Failed("no such device".into()));
    }

    #[test]
    fn switches_and_their_manager_are_seen() {
        let folder = tree(&[
            ("sys/bus/pci/devices/0000:05:00.0/vendor", "0x10de\n"),
            ("sys/bus/pci/devices/0000:05:00.0/class", "0x068000\n"),
            ("sys/bus/pci/devices/0000:06:00.0/vendor", "0x8086\n"),
            ("sys/bus/pci/devices/0000:06:00.0/class", "0x068000\n"),
            ("dev/nvidia-nvswitchctl", ""),
            ("proc/17/comm", "bash\n"),
            ("proc/self/comm", "nv-fabricmanage\n"),
        ]);
        let root = Root(folder.path());
        assert_eq!(switches(root), 1);
        assert!(pci_devices(root).is_empty());
        assert!(!fabric_manager(root));
        let folder = tree(&[
            ("proc/1234/comm", "nv-fabricmanage\n"),
            ("dev/nvidia-nvswitch0", ""),
            ("dev/nvidia-nvswitch1", ""),
            ("dev/nvidia-nvswitchctl", ""),
        ]);
        assert_eq!(switches(Root(folder.path())), 2);
        assert!(fabric_manager(Root(folder.path())));
    }
}
