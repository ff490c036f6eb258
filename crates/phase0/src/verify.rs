//! The stage that looks at the machine, as `octopus verify` does.

use octopus_device::{HostInfo, Overall, SystemProvider, VerifyReport, verify};
use octopus_report::{GpuFacts, Measured};
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
    /// Returns the record of the verification as JSON.
    pub(super) fn record(&self) -> String {
        self.gpu.to_json()
    }

    /// Returns what the verification says of the GPU; `None` where there is none.
    pub(super) fn gpu_facts(&self) -> Option<GpuFacts> {
        let device = self.gpu.devices.first()?;
        Some(GpuFacts {
            driver: self.gpu.driver_version.clone(),
            cuda: self.gpu.cuda_version.map(|version| version.to_string()),
            compute_capability: device.compute_capability.map(|version| version.to_string()),
            memory_bytes: device.memory_total,
            sm_clock_max_mhz: device.sm_clock_max_mhz,
            sm_clock_mhz: device.sm_clock_mhz,
            memory_clock_max_mhz: device.memory_clock_max_mhz,
            power_limit_watts: device.power_limit_watts,
        })
    }

    /// Returns the name of a GPU that is fit for use, or the reason why there is none.
    pub(super) fn gpu(&self) -> Measured<String> {
        match (self.gpu.overall, self.gpu.devices.first()) {
            (Overall::Fit, Some(device)) => Measured::Value(device.label()),
            (Overall::Absent, _) => Measured::missing(no_gpu(&self.gpu)),
            _ => Measured::missing(self.gpu.summary.clone()),
        }
    }
}
