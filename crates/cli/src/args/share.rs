//! The options with which processes or machines share a command's work.

use crate::exit::UsageError;
use crate::share::WorkPart;
use clap::Args;
use std::time::Duration;

/// How processes or machines share the work.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sharing (several processes or machines, one folder)")]
pub(crate) struct ShareArgs {
    /// Do part K of N; auto: the part of this task of an array job, of Slurm, Kubernetes, PBS or AWS
    /// Batch
    ///
    /// All parts use one folder. Afterwards the same command without --part finds the result of all.
    #[arg(long, value_name = "K/N")]
    pub(crate) part: Option<WorkPart>,
    /// Take from the folder what no other process has taken, piece by piece, until none is left
    ///
    /// What a process that is gone had taken is taken over. Afterwards the same command without --claim finds the result.
    #[arg(long, conflicts_with = "part")]
    pub(crate) claim: bool,
    /// Seconds without a sign of life until a process's pieces are taken over [default: 60]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=86400))]
    pub(crate) lease: Option<u64>,
}

impl ShareArgs {
    /// Returns whether another process may be at work in the same folder.
    pub(crate) fn is_shared(&self) -> bool {
        self.claim || self.part.is_some()
    }

    /// Refuses settings that each machine would choose by itself: the whole would depend on who does which part.
    ///
    /// # Errors
    /// When there are such settings (`auto`) and the work is shared.
    pub(crate) fn without_auto(&self, auto: bool) -> Result<(), UsageError> {
        if auto && self.is_shared() {
            let why = "--strategy auto: each machine would choose by itself, and the whole would depend on who does which \
                       part; give a strategy with --part and --claim";
            return Err(UsageError(why.to_owned()));
        }
        Ok(())
    }

    /// The time without a sign of life after which a process counts as gone.
    pub(crate) fn lease(&self) -> Duration {
        Duration::from_secs(self.lease.unwrap_or(60))
    }
}
