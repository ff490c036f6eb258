//! A test that starts itself again, as a program that uses the doubles.

use crate::{KernelSources, Lanes, Settings, SoftwareGpu, Variant};
use std::path::Path;
use std::process::{Command, Output};

const CHILD: &str = "OCTOPUS_SOFTGPU_CHILD";

/// The kernels of these tests.
pub(super) fn exercises() -> KernelSources {
    KernelSources::file(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/exercises.cu"))
}

pub(super) struct Scenario {
    /// The test's own path, by which it starts itself.
    pub(super) name: &'static str,
    pub(super) settings: Settings,
    pub(super) variables: Vec<(&'static str, &'static str)>,
    pub(super) variant: Variant,
    pub(super) kernels: KernelSources,
    /// Units of the sampler's kernels, and how their lanes run.
    pub(super) sampler: Option<(Lanes, Vec<String>)>,
    /// How the child comes to the doubles.
    pub(super) way: Way,
}

pub(super) enum Way {
    Named,
    LoaderPath,
    WithoutNvml,
}

impl Scenario {
    pub(super) fn new(name: &'static str, settings: Settings) -> Self {
        let (variant, kernels) = (Variant::Plain, exercises());
        Self { name, settings, variables: Vec::new(), variant, kernels, sampler: None, way: Way::Named }
    }

    /// In the child: does `body` and gives nothing. In the parent: what the child said and how it ended.
    pub(super) fn run(self, body: impl FnOnce()) -> Option<Output> {
        let name = self.name.split_once("::").map_or(self.name, |(_, rest)| rest);
        if std::env::var(CHILD).as_deref() == Ok(name) {
            body();
            return None;
        }
        let built = SoftwareGpu::build_with(&self.kernels, self.variant);
        let gpu = SoftwareGpu::unless_absent(match &self.sampler {
            Some((lanes, units)) => built.and_then(|gpu| gpu.with_sampler(*lanes, units)),
            None => built,
        })?;
        let mut command = Command::new(std::env::current_exe().unwrap());
        match self.way {
            Way::Named => gpu.command(&mut command, &self.settings),
            Way::LoaderPath => gpu.command_by_loader_path(&mut command, &self.settings),
            Way::WithoutNvml => gpu.command_without_nvml(&mut command, &self.settings),
        };
        command.args([name, "--exact", "--nocapture", "--include-ignored"]).env(CHILD, name).envs(self.variables);
        Some(command.output().unwrap())
    }
}

/// What a child must have done.
pub(super) fn must_succeed(output: Option<Output>) -> Option<String> {
    let output = output?;
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    assert!(out.contains("1 passed"), "the child ran no test:\n{out}");
    Some(error.into_owned())
}

/// A test that runs its body in a process of its own, under the doubles with these settings.
macro_rules! scenario {
    ($name:ident, $settings:expr, $body:expr) => {
        #[test]
        fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            $crate::tests::scenario::must_succeed($crate::tests::scenario::Scenario::new(name, $settings).run($body));
        }
    };
}
pub(super) use scenario;
