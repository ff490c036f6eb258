//! The progress of a run: a bar on a terminal, or one plain line each ten seconds elsewhere.

use crate::interrupt::Interrupt;
use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use octopus_runs::{Observer, Progress};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The time between plain lines.
const INTERVAL: Duration = Duration::from_secs(10);

enum Display {
    Silent,
    Bar(ProgressBar),
    Lines { last: Instant },
}

/// An observer that shows the progress of one session of a run, and lets Ctrl-C stop it.
pub(crate) struct Watcher {
    display: Display,
    begin: Instant,
    interrupt: Interrupt,
}

impl Watcher {
    /// Makes a watcher of a session that begins; with `quiet` nothing is shown.
    pub(crate) fn new(interrupt: Interrupt, quiet: bool) -> Self {
        let now = Instant::now();
        let display = if quiet {
            Display::Silent
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{prefix:<9} [{bar:30}] {pos}/{len}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            Display::Bar(bar)
        } else {
            Display::Lines { last: now }
        };
        Self { display, begin: now, interrupt }
    }
}

/// Returns the seconds that are left at the pace so far, of `elapsed` seconds for `done` of what is to be done.
pub(crate) fn seconds_left(elapsed: f64, done: usize, left: usize) -> f64 {
    elapsed / done.max(1) as f64 * left as f64
}

/// Describes a session that has taken `elapsed` seconds so far.
fn describe(progress: &Progress<'_>, total: usize, elapsed: f64) -> String {
    let Progress { config, first, done, tally, step_sizes, .. } = progress;
    let step_sizes = step_sizes();
    let step = step_sizes.iter().sum::<f64>() / step_sizes.len().max(1) as f64;
    let rate = tally.leapfrogs as f64 / elapsed.max(1e-9);
    let left = seconds_left(elapsed, done - first, total - done);
    format!(
        "{} chains, {} divergences, step size {step:.3}, {rate:.1e} leapfrogs/s, {left:.0} s left",
        config.chains, tally.divergences
    )
}

impl Observer for Watcher {
    fn stops(&self) -> bool {
        self.interrupt.asked()
    }

    fn advanced(&mut self, progress: &Progress<'_>) {
        let due = match &self.display {
            Display::Silent => false,
            Display::Bar(_) => true,
            Display::Lines { last } => last.elapsed() >= INTERVAL,
        };
        if !due {
            return;
        }
        let (done, phase) = (progress.done, if progress.warm_up.is_none() { "warm-up" } else { "sampling" });
        let total = progress.warm_up.unwrap_or(progress.config.tune) + progress.config.draws;
        let text = describe(progress, total, self.begin.elapsed().as_secs_f64());
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

    /// Removes the bar.
    fn ended(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_runs::Tally;
    use octopus_sampler::SamplerConfig;

    #[test]
    fn a_line_tells_the_pace_and_what_is_left() {
        let config = SamplerConfig { chains: 3, ..SamplerConfig::default() };
        let tally = Tally { leapfrogs: 8000, sampling_leapfrogs: 0, divergences: 7 };
        // 200 of the 500 iterations that this session has to do, in 4 seconds.
        let progress = Progress {
            config: &config,
            first: 100,
            done: 300,
            warm_up: None,
            tally: &tally,
            step_sizes: &|| vec![0.25, 0.75],
        };
        let text = describe(&progress, 600, 4.0);
        assert_eq!(text, "3 chains, 7 divergences, step size 0.500, 2.0e3 leapfrogs/s, 6 s left");
        let begun = Progress { done: 100, step_sizes: &|| vec![0.125], ..progress };
        assert!(describe(&begun, 600, 0.0).contains("step size 0.125, 8.0e12 leapfrogs/s, 0 s left"));
    }
}
