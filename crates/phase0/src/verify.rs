//! The stage that looks at the machine, as `octopus verify` does.

use octopus_device::{HostInfo, Overall, SystemProvider, VerifyReport, verify};
use octopus_report::Measured;
use octopus_runs::no_gpu;

/// The machine on which phase 0 runs.
pub(super) struct VerifiedMachine {
    /// The report on the GPU.
    gpu: VerifyReport,
    /// The facts about the processor and the system.
    pub(super) host: HostInfo,
}

/// Looks at the machine.
pub(super) fn run() -> VerifiedMachine {
    VerifiedMachine { gpu: verify(&SystemProvider::new()), host: HostInfo::read() }
}

impl VerifiedMachine {
    /// Returns the name of a GPU that is fit for use, or the reason why there is none.
    pub(super) fn gpu(&self) -> Measured<String> {
        match (self.gpu.overall, self.gpu.devices.first()) {
            (Overall::Fit, Some(device)) => Measured::Value(device.label()),
            (Overall::Absent, _) => Measured::missing(no_gpu(&self.gpu)),
            _ => Measured::missing(self.gpu.summary.clone()),
        }
    }
}
