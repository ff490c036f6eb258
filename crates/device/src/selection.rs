//! From what the user asks for to the device that runs the work, with the reason.
//!
//! A choice comes from the flag `--device`, else from the environment variable `OCTOPUS_DEVICE`, else it is `auto`.
//! What is asked for by name is used or refused; only `auto` may decide, and it says why. It takes one device: several
//! must be asked for.

mod accelerators;
mod chosen;
mod devices;
mod resolve;

pub use accelerators::{Accelerators, Unusable};
pub use chosen::{ChoiceError, Chosen, DEVICE_VARIABLE, DeviceChoice, Source};
pub use devices::{DeviceSet, device_names, devices_named};
pub use resolve::{Selection, SelectionError, resolve};
