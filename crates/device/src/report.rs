//! The answer: is a GPU of this machine fit for use?

use crate::probe::Presence;
use crate::{DeviceInfo, Environment, Finding, Probe, Provider, Status, Version, check};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Version of the report's JSON form.
pub const SCHEMA: u32 = 1;

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
    /// The process exit code of `octopus verify`: 0 fit, 1 broken, 4 absent.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Fit => 0,
            Self::Broken => 1,
            Self::Absent => 4,
        }
    }
}

/// All that [`verify`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// Always [`SCHEMA`].
    pub schema: u32,
    /// Who answered: `system` for this machine; any other name is not a measurement of it.
    pub provider: String,
    /// The answer.
    pub overall: Overall,
    /// The answer in one line.
    pub summary: String,
    /// The driver's version, if it tells.
    pub driver_version: Option<String>,
    /// The newest CUDA version that the driver supports, if it tells.
    pub cuda_version: Option<Version>,
    /// Every device that NVML lists.
    pub devices: Vec<DeviceInfo>,
    /// The operating system's view.
    pub environment: Environment,
    /// One entry for each check, in the order of [`CHECK_IDS`](crate::CHECK_IDS).
    pub findings: Vec<Finding>,
}

/// Asks `provider` once and judges all it says.
pub fn verify(provider: &dyn Provider) -> VerifyReport {
    let probe = Probe::new(provider);
    let findings = check::run(&probe);
    let overall = match probe.presence() {
        Presence::NoDevice | Presence::NoDriver => Overall::Absent,
        Presence::Device if findings.iter().any(|finding| finding.status == Status::Fail) => Overall::Broken,
        Presence::Device => Overall::Fit,
    };
    VerifyReport {
        schema: SCHEMA,
        provider: provider.name().to_owned(),
        overall,
        summary: summary(&probe, &findings),
        driver_version: probe.nvml.as_ref().ok().and_then(|nvml| nvml.driver_version.clone()),
        cuda_version: probe.cuda_version(),
        devices: probe.devices().to_vec(),
        environment: probe.environment,
        findings,
    }
}

fn summary(probe: &Probe, findings: &[Finding]) -> String {
    let container = probe.environment.container.as_deref();
    match probe.presence() {
        Presence::NoDevice => container.map_or_else(
            || "no NVIDIA GPU on this machine; Octopus runs on the CPU".into(),
            |name| {
                format!(
                    "no NVIDIA GPU in this container ({name}); Octopus runs on the CPU. \
                     If the host has one, start the container with `--gpus all`"
                )
            },
        ),
        Presence::NoDriver => {
            let slot = probe.environment.pci_devices.first().map_or("unknown", |card| &card.slot);
            let fix = match container {
                Some(name) => format!("start this container ({name}) with `--gpus all`"),
                None => "install NVIDIA's driver, 550.54 or newer".into(),
            };
            format!("an NVIDIA card (PCI {slot}) without its driver; Octopus runs on the CPU. To use the card, {fix}")
        }
        Presence::Device => {
            let failed: Vec<&str> =
                findings.iter().filter(|f| f.status == Status::Fail).map(|f| f.id.as_str()).collect();
            if failed.is_empty() {
                "the GPU is fit for use".into()
            } else {
                format!("the GPU is not fit for use: {} failed", failed.join(", "))
            }
        }
    }
}

impl VerifyReport {
    /// The report as JSON, indented, without a newline at the end.
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists only: nothing in the report can fail to serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Findings of one status.
    pub fn with_status(&self, status: Status) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.status == status)
    }
}

impl fmt::Display for VerifyReport {
    /// Plain text of several lines, ASCII apart from what devices call themselves, no newline at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.provider != "system" {
            writeln!(f, "answers of the provider `{}`, not of this machine", self.provider)?;
        }
        for device in &self.devices {
            writeln!(f, "{}", describe(device))?;
        }
        // Where there is nothing, a dozen skipped checks say less than the summary.
        if self.overall != Overall::Absent {
            for finding in &self.findings {
                writeln!(f, "{:<4}  {:<18}  {}", finding.status, finding.id, finding.observed)?;
                if finding.status == Status::Fail {
                    writeln!(f, "      expected: {}", finding.expected)?;
                }
                for (word, text) in [("cause:   ", &finding.cause), ("fix:     ", &finding.fix)] {
                    if let Some(text) = text {
                        writeln!(f, "      {word} {text}")?;
                    }
                }
            }
        }
        let count = |status| self.with_status(status).count();
        if self.overall != Overall::Absent {
            let (passed, failed, skipped) = (count(Status::Pass), count(Status::Fail), count(Status::Skip));
            writeln!(f, "{passed} passed, {failed} failed, {skipped} skipped")?;
        }
        write!(f, "{}", self.summary)
    }
}

/// One line with what is known of a device.
fn describe(device: &DeviceInfo) -> String {
    let gibibytes = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let mut parts = vec![device.label()];
    let mut add = |part: Option<String>| parts.extend(part);
    add(device.uuid.clone());
    add(device.compute_capability.map(|version| format!("compute capability {version}")));
    add(device.memory_total.map(|total| match device.memory_free {
        Some(free) => format!("{:.1} of {:.1} GiB free", gibibytes(free), gibibytes(total)),
        None => format!("{:.1} GiB", gibibytes(total)),
    }));
    add(device.cuda_cores.map(|n| format!("{n} cores")));
    add(device.sm_clock_mhz.map(|now| match device.sm_clock_max_mhz {
        Some(max) => format!("{now} of {max} MHz"),
        None => format!("{now} MHz"),
    }));
    add(device.power_watts.map(|now| match device.power_limit_watts {
        Some(limit) => format!("{now:.0} of {limit:.0} W"),
        None => format!("{now:.0} W"),
    }));
    add(device.temperature_celsius.map(|t| format!("{t} C")));
    let switch = |name: &str, on: Option<bool>| on.map(|on| format!("{name} {}", if on { "on" } else { "off" }));
    add(switch("ECC", device.ecc));
    add(switch("MIG", device.mig));
    parts.join(", ")
}
