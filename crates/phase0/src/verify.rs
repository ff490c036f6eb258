//! What machine this is.

use octopus_device::{HostInfo, Overall, SystemProvider, VerifyReport, verify};
use octopus_report::Measured;
use octopus_runs::no_gpu;

/// The machine.
pub(super) struct Machine {
    /// The GPU's side.
    gpu: VerifyReport,
    /// The processor's side.
    pub(super) host: HostInfo,
}

/// Looks.
pub(super) fn run() -> Machine {
    Machine { gpu: verify(&SystemProvider::new()), host: HostInfo::read() }
}

impl Machine {
    /// The name of a GPU that is fit for use, or why there is none.
    pub(super) fn gpu(&self) -> Measured<String> {
        match (self.gpu.overall, self.gpu.devices.first()) {
            (Overall::Fit, Some(device)) => Measured::Value(device.label()),
            (Overall::Absent, _) => Measured::missing(no_gpu(&self.gpu)),
            _ => Measured::missing(self.gpu.summary.clone()),
        }
    }
}
