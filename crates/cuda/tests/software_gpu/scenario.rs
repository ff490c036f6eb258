//! Runs a test's body in a process that has a software GPU, or this machine's.

use octopus_cuda::{Context, Device};
use octopus_softgpu::{Body, KernelSources, SoftwareGpu, Unavailable, Variant};

/// A test on a software GPU with these settings, or on any GPU when they are empty.
macro_rules! on_software_gpu {
    ($(#[$words:meta])* $name:ident, $settings:expr, $body:block) => {
        $(#[$words])*
        #[test]
        fn $name() {
            $crate::scenario::run(concat!(module_path!(), "::", stringify!($name)), $settings, || $body);
        }
    };
}

pub(crate) use on_software_gpu;

/// Calls `body` when this is the process for it, else starts that process.
pub(crate) fn run(path: &str, settings: &str, body: impl FnOnce()) {
    run_with(&KernelSources::of_workspace(), path, settings, body);
}

/// As [`run`], with other kernels than this program's.
pub(crate) fn run_with(kernels: &KernelSources, path: &str, settings: &str, body: impl FnOnce()) {
    run_on(|| SoftwareGpu::build_with(kernels, Variant::Plain), path, settings, body);
}

/// As [`run`]; `build` makes the software GPU.
pub(crate) fn run_on(
    build: impl FnOnce() -> Result<SoftwareGpu, Unavailable>,
    path: &str,
    settings: &str,
    body: impl FnOnce(),
) {
    // The harness names tests without the crate.
    let test = path.split_once("::").map_or(path, |(_, test)| test);
    Body::new(test, settings).run(build, body);
}

/// The context of the first device.
pub(crate) fn context() -> Context {
    Context::primary(&Device::get(0).expect("a device")).expect("a context")
}
