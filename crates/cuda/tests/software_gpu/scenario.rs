//! Runs a test's body in a process that has a software GPU, and does not wait for it for ever.

use octopus_cuda::{Context, Device};
use octopus_softgpu::{KernelSources, SoftwareGpu, Unavailable, Variant};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const INSIDE: &str = "OCTOPUS_CUDA_TEST_INSIDE";
/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A test on a software GPU with these settings.
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

/// As [`run`], on the software GPU that `build` makes.
pub(crate) fn run_on(
    build: impl FnOnce() -> Result<SoftwareGpu, Unavailable>,
    path: &str,
    settings: &str,
    body: impl FnOnce(),
) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let Some(gpu) = SoftwareGpu::unless_absent(build()) else { return };
    // The harness names tests without the crate.
    let test = path.split_once("::").map_or(path, |(_, test)| test);
    let mut command = Command::new(std::env::current_exe().expect("tests know their file"));
    command.args([test, "--exact", "--nocapture"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = gpu.command(&mut command, settings).env(INSIDE, "1").spawn().expect("the test starts again");
    let id = child.id();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("{test} hangs");
    };
    let output = output.expect("the process can be waited for");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{test}: {}\n{stdout}\n{stderr}", output.status);
    // A name that matches no test would pass in silence.
    assert!(stdout.contains("1 passed"), "{test} did not run:\n{stdout}");
}

/// The context of the first device.
pub(crate) fn context() -> Context {
    Context::primary(&Device::get(0).expect("a device")).expect("a context")
}
