//! Selects the device that runs the work from what the user asks for, and gives the reason.
//!
//! A choice comes from the flag `--device`, otherwise from the environment variable `OCTOPUS_DEVICE`, otherwise it is
//! `auto`. A device that is asked for by name is used or refused; only `auto` may decide, and it says why. `auto` takes
//! one device: several must be asked for.

mod accelerators;
mod automatic;
mod chosen;
mod devices;
mod resolve;

pub use accelerators::{Accelerators, Unusable};
pub use automatic::{AutoDevice, MeasureCosts};
pub use chosen::{ChoiceError, DEVICE_VARIABLE, DeviceChoice, DeviceRequest, Source};
pub use devices::{DeviceSet, device_names, devices_named};
pub use resolve::{Selection, SelectionError, resolve};
