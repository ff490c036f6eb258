//! A test's body in a process of its own, on a software GPU or on a GPU of this machine.

use crate::gpu::SoftwareGpu;
use crate::sampler::Lanes;
use crate::unavailable::Unavailable;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Set in the process that runs the body.
const INSIDE: &str = "OCTOPUS_GPU_TEST_INSIDE";
/// The name of this machine's GPU, where bodies are to run on it: `cargo xtask test --gpu` sets it.
const REAL: &str = "OCTOPUS_TEST_GPU";
/// A process that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// The body of a test that needs a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a> {
    /// The test's name as its program knows it: with its modules, without the crate.
    pub test: &'a str,
    /// What the software GPU is like, as [`Settings`](crate::Settings) or text of the same form has it.
    pub settings: &'a str,
    /// Whether a real GPU would not do, though there are no settings.
    pub software_only: bool,
}

impl<'a> Body<'a> {
    /// Returns the body of `test`, for a software GPU with these settings, or for any GPU when they are empty.
    pub fn new(test: &'a str, settings: &'a str) -> Self {
        Self { test, settings, software_only: !settings.is_empty() }
    }

    /// Returns whether this is the process that runs the body.
    pub fn is_here() -> bool {
        std::env::var_os(INSIDE).is_some()
    }

    /// Calls `body` when this is the process for it, else starts that process: the test's program with this test alone.
    /// Without a C++ compiler it says SKIPPED and passes.
    ///
    /// # Panics
    /// When the body fails or hangs, and when there is no test of this name.
    pub fn run(&self, build: impl FnOnce() -> Result<SoftwareGpu, Unavailable>, body: impl FnOnce()) {
        if Self::is_here() { body() } else { self.start(build).map_or((), drop) }
    }

    /// Calls `body` when this is a process for it, else starts such processes one after the other, in which the
    /// interpreter runs the kernels' PTX: in lock-step, where a GPU of this machine may stand in for it, in random
    /// orders, and with all checks. What is right gives the same bits in each.
    ///
    /// # Panics
    /// When the body fails or hangs in one, and when there is no test of this name.
    pub fn run_as_ptx(test: &'a str, body: impl FnOnce()) {
        if Self::is_here() {
            return body();
        }
        for settings in ["", "order=1", "order=2", "checked=1"] {
            Self::new(test, settings).start(|| SoftwareGpu::build()?.with_sampler(Lanes::Ptx, &[""; 0]));
        }
    }

    /// Starts the process that runs the body; returns what that has said on standard error, nothing where there is no
    /// GPU of any kind.
    ///
    /// # Panics
    /// When the body fails or hangs, and when there is no test of this name.
    pub fn start(&self, build: impl FnOnce() -> Result<SoftwareGpu, Unavailable>) -> Option<String> {
        let mut command = Command::new(std::env::current_exe().expect("tests know their file"));
        let test = self.test;
        command
            .args([test, "--exact", "--nocapture", "--include-ignored"])
            .env(INSIDE, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        match std::env::var(REAL).ok().filter(|_| !self.software_only) {
            Some(name) => eprintln!("TOOK PART: {name}"),
            None => {
                SoftwareGpu::unless_absent(build())?.command(&mut command, self.settings);
            }
        }
        let child = command.spawn().expect("the test starts again");
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
        assert!(output.status.success(), "{test} ({}): {}\n{stdout}\n{stderr}", self.settings, output.status);
        // A name that matches no test would pass in silence.
        assert!(stdout.contains("1 passed"), "{test} did not run:\n{stdout}");
        eprint!("{stderr}");
        Some(stderr)
    }
}
