//! Runs a test's body in a process of its own that has a software GPU, or this machine's.

use octopus_softgpu::{Body, SoftwareGpu};

/// Calls `body` when this is the process for it, else starts that process: the test harness with `test` alone, on a
/// software GPU with these settings, or on any GPU when they are empty.
pub(crate) fn run(test: &str, settings: &str, body: impl FnOnce()) {
    if cfg!(not(feature = "cuda")) {
        eprintln!("SKIPPED: {test}: built without the feature `cuda`");
        return;
    }
    Body::new(test, settings).run(SoftwareGpu::build, body);
}

/// Calls `body` in processes of its own, in which the kernels' PTX is interpreted: in lock-step, in random orders, and with
/// all checks.
#[allow(dead_code, reason = "not every test program that has this module runs PTX")]
pub(crate) fn run_as_ptx(test: &str, body: impl FnOnce()) {
    if cfg!(not(feature = "cuda")) {
        eprintln!("SKIPPED: {test}: built without the feature `cuda`");
        return;
    }
    Body::run_as_ptx(test, body);
}
