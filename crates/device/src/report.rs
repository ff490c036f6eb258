//! The answer of `octopus verify`: is a GPU of this machine fit for use, with which exit code?
//!
//! The version of the schema of its JSON stands here.

mod issue;
mod text;

use crate::probe::Presence;
use crate::{DeviceInfo, Environment, Finding, FindingStatus, Needs, Probe, Provider, Version, check};
use serde::{Deserialize, Serialize};

/// Version of the report's JSON form.
pub const SCHEMA: u32 = 2;

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overall {
    /// A device is there and nothing speaks against its use.
    Fit,
    /// A device is there and a check failed.
    Broken,
    /// No device, or no driver for it: fine for the CPU.
    Absent,
}

impl Overall {
    /// Returns the process exit code of `octopus verify`: 0 fit, 1 broken, 4 absent.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Fit => 0,
            Self::Broken => 1,
            Self::Absent => 4,
        }
    }
}

/// The results of [`verify`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Always [`SCHEMA`].
    pub schema: u32,
    /// The source of the answers: `system` for this machine; any other name is not a measurement of it.
    pub provider: String,
    /// The answer.
    pub overall: Overall,
    /// The answer in one line.
    pub summary: String,
    /// The driver's version, if it tells.
    pub driver_version: Option<String>,
    /// The newest CUDA version that the driver supports, if it tells.
    pub cuda_version: Option<Version>,
    /// The device that was asked for, else every device that NVML lists, or without NVML the driver.
    pub devices: Vec<DeviceInfo>,
    /// The operating system's view.
    pub environment: Environment,
    /// One entry for each check, in the order of [`CHECK_IDS`](crate::CHECK_IDS), then those that
    /// [`with_findings`](VerifyReport::with_findings) added.
    pub findings: Vec<Finding>,
}

/// Asks `provider` once and judges all it says by what Octopus's own kernels need.
pub fn verify(provider: &dyn Provider) -> VerifyReport {
    verify_with(provider, Needs::default())
}

/// Asks `provider` once and judges all it says by these `needs`.
pub fn verify_with(provider: &dyn Provider, needs: Needs) -> VerifyReport {
    let probe = Probe::with_needs(provider, needs);
    let findings = check::run(&probe);
    let present = probe.presence() == Presence::Device;
    let devices = match needs.device {
        Some(_) => probe.candidates().into_iter().cloned().collect(),
        None => probe.devices().to_vec(),
    };
    let (overall, summary) = if present { judge(&findings, &devices) } else { (Overall::Absent, absent(&probe)) };
    VerifyReport {
        schema: SCHEMA,
        provider: provider.name().to_owned(),
        overall,
        summary,
        driver_version: probe.nvml.as_ref().ok().and_then(|nvml| nvml.driver_version.clone()),
        cuda_version: probe.cuda_version(),
        devices,
        environment: probe.environment,
        findings,
    }
}

/// Returns the answer where there is a device, and the same in one line.
fn judge(findings: &[Finding], devices: &[DeviceInfo]) -> (Overall, String) {
    let double = devices.iter().any(DeviceInfo::is_test_double);
    let subject = if double { "the software GPU (a test double, no measurement of a GPU)" } else { "the GPU" };
    let failed: Vec<&str> =
        findings.iter().filter(|f| f.status == FindingStatus::Fail).map(|f| f.id.as_str()).collect();
    if failed.is_empty() {
        (Overall::Fit, format!("{subject} is fit for use"))
    } else {
        (Overall::Broken, format!("{subject} is not fit for use: {} failed", failed.join(", ")))
    }
}

/// Why there is no device, and what to do for one, in one line.
fn absent(probe: &Probe) -> String {
    let environment = &probe.environment;
    let container = environment.container.as_deref();
    if let Some(card) = environment.pci_devices.first() {
        let fix = match container {
            Some(name) => format!("start this container ({name}) with `--gpus all`"),
            None => "install NVIDIA's driver, 550.54 or newer".into(),
        };
        return format!(
            "an NVIDIA card (PCI {}) without its driver; Octopus runs on the CPU. To use the card, {fix}",
            card.slot
        );
    }
    match container {
        Some(name) => format!(
            "no NVIDIA GPU in this container ({name}); Octopus runs on the CPU. \
             If the host has one, start the container with `--gpus all`"
        ),
        None if environment.wsl => "no NVIDIA GPU in this WSL; Octopus runs on the CPU. \
             If Windows has one, update its NVIDIA driver to 551 or newer and run `wsl --update`"
            .into(),
        None => "no NVIDIA GPU on this machine; Octopus runs on the CPU. \
             To use one: a card of compute capability 8.0 or newer with driver 550.54 or newer (docs/setup.md)"
            .into(),
    }
}

impl VerifyReport {
    /// Returns the report as JSON, indented, without a newline at the end.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists only: nothing in the report can fail to serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns the report with further findings behind its own, and the answer that all of them together give.
    ///
    /// Deeper checks, which run kernels, add theirs so. An absent device stays absent: there is nothing that
    /// they could have run on.
    #[must_use]
    pub fn with_findings(mut self, findings: impl IntoIterator<Item = Finding>) -> Self {
        self.findings.extend(findings);
        if self.overall != Overall::Absent {
            (self.overall, self.summary) = judge(&self.findings, &self.devices);
        }
        self
    }

    /// Returns in words how many findings there are of each status.
    pub fn counts(&self) -> String {
        let count = |status| self.with_status(status).count();
        format!(
            "{} passed, {} failed, {} skipped",
            count(FindingStatus::Pass),
            count(FindingStatus::Fail),
            count(FindingStatus::Skip)
        )
    }

    /// Findings of one status.
    pub fn with_status(&self, status: FindingStatus) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.status == status)
    }
}
