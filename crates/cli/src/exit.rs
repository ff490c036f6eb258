//! Exit codes, and the errors that decide them.

use octopus::TraceError;
use octopus_runs::RunError;
use octopus_sampler::{ConfigError, SamplerError};
use thiserror::Error;

/// The exit code of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command succeeded.
    Fine = 0,
    /// The command worked, and the answer is bad: a check failed, or R-hat is too high.
    Bad = 1,
    /// The command line cannot be understood, or an option's value is out of range.
    Usage = 2,
    /// The command failed, e.g. because of bad input or a full disk; or, with --dry-run, the run would not fit.
    Failed = 3,
    /// The hardware that was asked for is not there.
    NoHardware = 4,
    /// The command was interrupted; what was drawn is kept.
    Interrupted = 130,
}

/// The error of an option whose value cannot be used.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// The error of hardware that was asked for and is not there.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct HardwareError(pub(crate) String);

/// Returns the exit code of a command that failed with `error`.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if cause.is::<UsageError>() || cause.is::<ConfigError>() {
            return Exit::Usage;
        }
        let of_trace =
            cause.downcast_ref().and_then(|error| if let TraceError::Run(error) = error { Some(error) } else { None });
        let run = cause.downcast_ref::<RunError>().or(of_trace);
        if matches!(run, Some(RunError::CannotRun(_))) {
            return Exit::Usage;
        }
        if matches!(run, Some(RunError::NoDevice(_))) {
            return Exit::NoHardware;
        }
        // A transparent error replaces its cause in the chain, so the cause is looked for inside the error.
        let of_run = run.and_then(|run| if let RunError::Sampler(error) = run { Some(error) } else { None });
        let sampler = cause.downcast_ref::<SamplerError>().or(of_run);
        if matches!(sampler, Some(SamplerError::Config(_) | SamplerError::NoKernel { .. })) {
            return Exit::Usage;
        }
        if cause.is::<HardwareError>() {
            return Exit::NoHardware;
        }
    }
    Exit::Failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;
    use octopus_bench::BenchError;
    use octopus_phase0::Phase0Error;

    #[test]
    fn the_cause_decides_whatever_stands_around_it() {
        let usage = Err::<(), _>(UsageError("--draws 0".into())).context("while reading the options").unwrap_err();
        assert_eq!(of_error(&usage), Exit::Usage);
        let hardware = anyhow::Error::new(HardwareError("no GPU".into())).context("verify");
        assert_eq!(of_error(&hardware), Exit::NoHardware);
        assert_eq!(of_error(&anyhow::anyhow!("the disk is full")), Exit::Failed);
        assert_eq!(of_error(&RunError::NoDevice("no GPU".into()).into()), Exit::NoHardware);
        assert_eq!(of_error(&RunError::CannotRun("--precision f32".into()).into()), Exit::Usage);
        let config = ConfigError { field: "draws", value: "0".into(), expected: "more" };
        assert_eq!(of_error(&SamplerError::Config(config.clone()).into()), Exit::Usage);
        assert_eq!(of_error(&RunError::Sampler(SamplerError::Config(config)).into()), Exit::Usage);
    }

    #[test]
    fn what_measuring_and_phase_0_quote_decides_too_and_is_told_once() {
        let bench = BenchError::from(RunError::NoDevice("no GPU".into()));
        let error = anyhow::Error::from(Phase0Error::from(bench));
        assert_eq!((of_error(&error), crate::output::chain(&error)), (Exit::NoHardware, "no GPU".to_owned()));
    }
}
