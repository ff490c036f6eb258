//! How far a run is: a bar on a terminal, one plain line each ten seconds elsewhere.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use octopus_sampler::{Block, Phase, SamplerConfig};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Between plain lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// What has happened so far in this session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Leapfrog steps of all chains.
    pub(crate) leapfrogs: u64,
    /// Leapfrog steps of the draws proper.
    pub(crate) sampling_leapfrogs: u64,
    /// Divergent transitions after warm-up.
    pub(crate) divergences: u64,
}

impl Tally {
    /// Counts a block.
    pub(crate) fn add(&mut self, block: &Block) {
        let leapfrogs = block.leapfrogs();
        self.leapfrogs += leapfrogs;
        if block.phase == Phase::Sampling {
            let stats = block.chains.iter().flat_map(|chain| &chain.stats);
            self.sampling_leapfrogs += leapfrogs;
            self.divergences += stats.filter(|stats| stats.diverging).count() as u64;
        }
    }
}

enum Display {
    Silent,
    Bar(ProgressBar),
    Lines { last: Instant },
}

/// The progress of one session of a run.
pub(crate) struct Progress {
    display: Display,
    /// The most iterations of warm-up.
    tune: usize,
    draws: usize,
    chains: usize,
    begin: Instant,
    /// Iterations done when the session began.
    first: usize,
}

impl Progress {
    /// For a session that goes on after `done` iterations.
    pub(crate) fn new(config: &SamplerConfig, done: usize, quiet: bool) -> Self {
        let SamplerConfig { tune, draws, chains, .. } = *config;
        let now = Instant::now();
        let display = if quiet {
            Display::Silent
        } else if std::io::stderr().is_terminal() {
            let bar =
                ProgressBar::with_draw_target(Some((tune + draws) as u64), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{prefix:<9} [{bar:30}] {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.set_position(done as u64);
            Display::Bar(bar)
        } else {
            Display::Lines { last: now }
        };
        Self { display, tune, draws, chains, begin: now, first: done }
    }

    /// Shows that `done` iterations are done; `warm_up` were those of warm-up, if it is over.
    pub(crate) fn update(
        &mut self,
        done: usize,
        warm_up: Option<usize>,
        tally: &Tally,
        step_sizes: impl FnOnce() -> Vec<f64>,
    ) {
        let due = match &self.display {
            Display::Silent => false,
            Display::Bar(_) => true,
            Display::Lines { last } => last.elapsed() >= INTERVAL,
        };
        if !due {
            return;
        }
        let phase = if warm_up.is_none() { "warm-up" } else { "sampling" };
        let total = warm_up.unwrap_or(self.tune) + self.draws;
        let text = self.describe(done, total, tally, &step_sizes());
        match &mut self.display {
            Display::Silent => {}
            Display::Bar(bar) => {
                bar.set_prefix(phase);
                bar.set_message(text);
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            }
            Display::Lines { last } => {
                *last = Instant::now();
                output::note(format!("{phase} {done}/{total}: {text}"));
            }
        }
    }

    fn describe(&self, done: usize, total: usize, tally: &Tally, step_sizes: &[f64]) -> String {
        let elapsed = self.begin.elapsed().as_secs_f64();
        let step = step_sizes.iter().sum::<f64>() / step_sizes.len().max(1) as f64;
        let rate = tally.leapfrogs as f64 / elapsed.max(1e-9);
        let left = elapsed / (done - self.first).max(1) as f64 * (total - done) as f64;
        let chains = self.chains;
        format!(
            "{chains} chains, {} divergences, step size {step:.3}, {rate:.1e} leapfrogs/s, {left:.0} s left",
            tally.divergences
        )
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        if let Display::Bar(bar) = self.display {
            bar.finish_and_clear();
        }
    }
}
