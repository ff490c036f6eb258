//! Runs a test's body in a process of its own that has a software GPU, and does not wait for it for ever.

use octopus_softgpu::SoftwareGpu;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const INSIDE: &str = "OCTOPUS_DEVICE_TEST_INSIDE";
/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// Calls `body` when this is the process for it, else starts that process: the test harness with `test` alone, on a
/// software GPU with these settings. Without g++ it says SKIPPED and passes.
pub(crate) fn run(test: &str, settings: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    if cfg!(not(feature = "cuda")) {
        eprintln!("SKIPPED: {test}: built without the feature `cuda`");
        return;
    }
    let Some(gpu) = SoftwareGpu::for_test() else { return };
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
