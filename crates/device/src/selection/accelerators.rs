//! The facts about the machine that a selection needs: the devices, or why they cannot be used.

use crate::{Finding, FindingStatus, Probe, check};
use std::fmt;

/// The number of CUDA devices that this process may use, and what speaks against using them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accelerators {
    /// Devices that the driver counts, numbered from 0.
    pub devices: u32,
    /// Why they should not, or cannot, be used; `None` when nothing speaks against it.
    pub unusable: Option<Unusable>,
}

/// A reason against using a device, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong, in words.
    pub reason: String,
    /// The advice, in one line.
    pub fix: String,
    /// Whether there simply is no device that could be used: then nothing is wrong with the machine.
    pub is_absence: bool,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason, self.fix)
    }
}

impl Accelerators {
    /// Says that there is no device, for this reason.
    #[must_use]
    pub fn none(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { devices: 0, unusable: Some(Unusable { reason: reason.into(), fix: fix.into(), is_absence: true }) }
    }

    /// Judges a probe by the checks of `octopus verify`: the first that fails speaks against the devices.
    #[must_use]
    pub fn of(probe: &Probe) -> Self {
        if !cfg!(feature = "cuda") {
            return Self::none("this program was built without CUDA", "build it with the feature `cuda`");
        }
        let (setup, verify) = ("see docs/setup.md for what a GPU needs", "see `octopus verify`");
        if let Some(nothing) = probe.nothing() {
            return Self::none(nothing, setup);
        }
        let devices = probe.driver.as_ref().map_or(0, |driver| driver.devices);
        let findings = check::run(probe);
        let failed = findings.iter().find(|finding| finding.status == FindingStatus::Fail);
        let unusable = failed.map(Unusable::of).or_else(|| {
            (devices == 0).then(|| Unusable {
                reason: "the CUDA driver shows no device to this process".into(),
                fix: verify.into(),
                is_absence: false,
            })
        });
        Self { devices, unusable }
    }
}

impl Unusable {
    fn of(finding: &Finding) -> Self {
        let Finding { title, observed, .. } = finding;
        let cause = finding.cause.as_deref().map(|cause| format!(" ({cause})")).unwrap_or_default();
        Self {
            reason: format!("{title}: {observed}{cause}"),
            fix: finding.fix.clone().unwrap_or_else(|| "see `octopus verify`".into()),
            is_absence: false,
        }
    }
}
