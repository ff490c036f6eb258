//! Resolves a choice to a device: what `auto` takes, and when a device that was asked for is an error.

use super::{Accelerators, DeviceChoice, Unusable};
use crate::Device;
use crate::costs::{Choice, CostsMiss, DeviceCosts, DeviceReason, Work, choose};
use thiserror::Error;

/// The device for a piece of work, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The device; of several, the first.
    pub device: Device,
    /// The further devices, where several were asked for.
    pub others: Vec<Device>,
    /// Why this one.
    pub why: DeviceReason,
    /// Further lines for the user: what could not be used or known, and what to do about it.
    pub notes: Vec<String>,
}

/// A device that was asked for and cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// There is no CUDA device to use.
    #[error("--device {choice}: no CUDA device can be used: {unusable}; or use `--device cpu`")]
    NoDevice {
        /// The choice that was asked for.
        choice: DeviceChoice,
        /// Why there is no such device, and what to do.
        unusable: Unusable,
    },
    /// There are fewer.
    #[error(
        "--device cuda:{ordinal}: this process may use {devices} CUDA device{}, the last is cuda:{}; \
         see `octopus device list` and CUDA_VISIBLE_DEVICES",
        if *.devices == 1 { "" } else { "s" }, .devices - 1
    )]
    DeviceMissing {
        /// The number asked for.
        ordinal: u32,
        /// The number of devices; at least one.
        devices: u32,
    },
}

impl SelectionError {
    /// Returns the process exit code: 4, needed hardware or driver absent.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        4
    }
}

/// Picks the device for `work`.
///
/// A device that is asked for by name is taken as it is: if a check of it failed, it is used, with a note. If it is not
/// there, that is an error, and it is never replaced. `auto` takes the device with the least predicted time. It ignores
/// devices that fail a check, or that `costs` (asked with the device's number) knows nothing of, and a note says
/// so.
///
/// ```
/// use octopus_device::{Accelerators, CostsMiss, Device, DeviceChoice, NoProvider, Probe, Work, resolve};
///
/// let accelerators = Accelerators::of(&Probe::new(&NoProvider));
/// let mut unmeasured = |_| Err(CostsMiss::Missing { path: "costs.json".into() });
/// let work = Work::new("a small run");
/// let selection = resolve(DeviceChoice::Auto, &accelerators, &work, &mut unmeasured).unwrap();
/// assert_eq!(selection.device, Device::Cpu);
///
/// let error = resolve(DeviceChoice::Cuda(None), &accelerators, &work, &mut unmeasured).unwrap_err();
/// assert_eq!(error.exit_code(), 4);
/// ```
///
/// # Errors
/// When CUDA is asked for and there is none, or fewer devices than the number says.
pub fn resolve(
    choice: DeviceChoice,
    accelerators: &Accelerators,
    work: &Work,
    device_costs: &mut dyn FnMut(u32) -> Result<DeviceCosts, CostsMiss>,
) -> Result<Selection, SelectionError> {
    match choice {
        DeviceChoice::Cpu => {
            Ok(Selection { device: Device::Cpu, others: vec![], why: DeviceReason::AskedFor, notes: vec![] })
        }
        DeviceChoice::Cuda(ordinal) => cuda(choice, &[Device::Cuda(ordinal.unwrap_or(0))], accelerators),
        DeviceChoice::Several(set) => cuda(choice, &set.devices(), accelerators),
        DeviceChoice::All => {
            let all: Vec<Device> = (0..accelerators.devices).map(Device::Cuda).collect();
            cuda(choice, &all, accelerators)
        }
        DeviceChoice::Auto => Ok(auto(accelerators, work, device_costs)),
    }
}

fn cuda(choice: DeviceChoice, asked: &[Device], accelerators: &Accelerators) -> Result<Selection, SelectionError> {
    let Accelerators { devices, unusable } = accelerators;
    let (1.., Some((&device, others))) = (*devices, asked.split_first()) else {
        let unknown =
            || Unusable { reason: "none was found".into(), fix: "see `octopus verify`".into(), is_absence: false };
        return Err(SelectionError::NoDevice { choice, unusable: unusable.clone().unwrap_or_else(unknown) });
    };
    for &device in asked {
        if let Device::Cuda(ordinal) = device
            && ordinal >= *devices
        {
            return Err(SelectionError::DeviceMissing { ordinal, devices: *devices });
        }
    }
    let notes = unusable.iter().map(|unusable| format!("a check failed and may spoil the run: {unusable}")).collect();
    Ok(Selection { device, others: others.to_vec(), why: DeviceReason::AskedFor, notes })
}

/// Takes the device with the least predicted time, or the processor.
pub(super) fn auto(
    accelerators: &Accelerators,
    work: &Work,
    device_costs: &mut dyn FnMut(u32) -> Result<DeviceCosts, CostsMiss>,
) -> Selection {
    let on_cpu = |why, notes| Selection { device: Device::Cpu, others: vec![], why, notes };
    match (accelerators.devices, &accelerators.unusable) {
        (0, None) => return on_cpu(DeviceReason::NoGpu("there is no CUDA device".into()), vec![]),
        (0, Some(unusable)) => {
            // Advice is for a machine that was meant to have a device.
            let notes = if unusable.is_absence { vec![] } else { vec![unusable.fix.clone()] };
            return on_cpu(DeviceReason::NoGpu(unusable.reason.clone()), notes);
        }
        (_, Some(unusable)) => {
            return on_cpu(
                DeviceReason::CheckFailed(unusable.reason.clone()),
                vec![unusable.fix.clone(), "`--device cuda` uses it all the same".into()],
            );
        }
        (_, None) => {}
    }
    let mut notes = vec![];
    let mut choices: Vec<Choice> = vec![];
    for ordinal in 0..accelerators.devices {
        match device_costs(ordinal) {
            Ok(device_costs) => choices.push(choose(work, &device_costs, ordinal)),
            Err(miss) => notes.push(format!("cuda:{ordinal} is not considered: {miss}")),
        }
    }
    let seconds = |choice: &Choice| choice.predicted.map_or(f64::INFINITY, |predicted| predicted.device_seconds);
    // The processor where every device says so: where one is faster than it, so is the fastest.
    match choices.into_iter().min_by(|a, b| seconds(a).total_cmp(&seconds(b))) {
        Some(Choice { device, why, .. }) => Selection { device, others: vec![], why, notes },
        None => on_cpu(DeviceReason::Unmeasured, notes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(_: u32) -> Result<DeviceCosts, CostsMiss> {
        Err(CostsMiss::Missing { path: "c.json".into() })
    }

    fn refuse(choice: &str, accelerators: &Accelerators) -> String {
        let work = Work::new("work");
        resolve(choice.parse().unwrap(), accelerators, &work, &mut missing).unwrap_err().to_string()
    }

    #[test]
    fn cuda_that_is_not_there_is_an_error_with_reason_and_fix() {
        let none = Accelerators::none("no NVIDIA device on this machine", "see docs/setup.md for what a GPU needs");
        assert_eq!(
            refuse("cuda", &none),
            "--device cuda: no CUDA device can be used: no NVIDIA device on this machine; see docs/setup.md for what a \
             GPU needs; or use `--device cpu`"
        );
        assert!(refuse("cuda:3", &none).starts_with("--device cuda:3: no CUDA device can be used"));
    }

    #[test]
    fn advice_is_for_a_machine_that_was_meant_to_have_a_device() {
        let automatic = |is_absence| {
            let unusable = Some(Unusable { reason: "no device".into(), fix: "buy one".into(), is_absence });
            let accelerators = Accelerators { devices: 0, unusable };
            resolve(DeviceChoice::Auto, &accelerators, &Work::new("work"), &mut missing).unwrap()
        };
        assert_eq!(automatic(true).notes, Vec::<String>::new());
        let no_device = DeviceReason::NoGpu("no device".into());
        assert_eq!((automatic(false).notes, automatic(true).why), (vec!["buy one".into()], no_device));
    }

    #[test]
    fn a_number_too_high_names_both_numbers() {
        let message = |devices| refuse("cuda:7", &Accelerators { devices, unusable: None });
        assert!(message(2).starts_with("--device cuda:7: this process may use 2 CUDA devices, the last is cuda:1;"));
        assert!(message(1).starts_with("--device cuda:7: this process may use 1 CUDA device, the last is cuda:0;"));
        // The last number and the one after it.
        let used = |devices| {
            let accelerators = Accelerators { devices, unusable: None };
            resolve(DeviceChoice::Cuda(Some(7)), &accelerators, &Work::new("work"), &mut missing).is_ok()
        };
        assert_eq!([7, 8].map(used), [false, true]);
    }

    #[test]
    fn what_is_asked_for_is_used_with_a_note_when_a_check_failed() {
        let unusable = Some(Unusable { reason: "Clocks: low".into(), fix: "cool it".into(), is_absence: false });
        let accelerators = Accelerators { devices: 2, unusable };
        let choice = DeviceChoice::Cuda(Some(1));
        let selection = resolve(choice, &accelerators, &Work::new("work"), &mut missing).unwrap();
        assert_eq!((selection.device, selection.why), (Device::Cuda(1), DeviceReason::AskedFor));
        assert_eq!(selection.notes, ["a check failed and may spoil the run: Clocks: low; cool it"]);
        let automatic = resolve(DeviceChoice::Auto, &accelerators, &Work::new("work"), &mut missing).unwrap();
        assert_eq!((automatic.device, automatic.notes[0].as_str()), (Device::Cpu, "cool it"));
        assert_eq!(automatic.why, DeviceReason::CheckFailed("Clocks: low".into()));
    }

    #[test]
    fn several_devices_are_used_or_refused_together() {
        let accelerators = Accelerators { devices: 3, unusable: None };
        let of = |choice: &str| resolve(choice.parse().unwrap(), &accelerators, &Work::new("work"), &mut missing);
        let two = of("cuda:2,0").unwrap();
        assert_eq!((two.device, two.others, two.why), (Device::Cuda(0), vec![Device::Cuda(2)], DeviceReason::AskedFor));
        let all = of("cuda:all").unwrap();
        assert_eq!((all.device, all.others), (Device::Cuda(0), vec![Device::Cuda(1), Device::Cuda(2)]));
        let error = of("cuda:0,5").unwrap_err();
        assert!(error.to_string().starts_with("--device cuda:5: this process may use 3 CUDA devices"), "{error}");
        assert_eq!(error.exit_code(), 4);
        let none = Accelerators::none("no NVIDIA device on this machine", "buy one");
        assert!(refuse("cuda:all", &none).starts_with("--device cuda:all: no CUDA device can be used"));
        assert!(refuse("cuda:0,1", &none).starts_with("--device cuda:0,1: no CUDA device can be used"));
    }

    #[test]
    fn auto_without_costs_stays_on_the_cpu_and_says_so() {
        let accelerators = Accelerators { devices: 2, unusable: None };
        let selection = resolve(DeviceChoice::Auto, &accelerators, &Work::new("work"), &mut missing).unwrap();
        assert_eq!(selection.device, Device::Cpu);
        assert_eq!(selection.why, DeviceReason::Unmeasured);
        assert_eq!(selection.notes.len(), 2);
        assert!(selection.notes[1].starts_with("cuda:1 is not considered: no costs of this device yet"));
    }
}
