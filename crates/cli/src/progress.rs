//! The progress of a run: a bar on a terminal, or one plain line each ten seconds elsewhere. Work that is done piece by
//! piece has plain lines everywhere.

use crate::interrupt::Interrupt;
use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use octopus_diag::counted;
use octopus_runs::{Observer, Progress};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The time between plain lines.
const INTERVAL: Duration = Duration::from_secs(10);

enum Display {
    Bar(ProgressBar),
    Lines(Timer),
}

/// A timer of what is done again and again.
pub(crate) struct Timer {
    every: Duration,
    last: Instant,
}

impl Timer {
    /// Starts a timer that is due when `every` has passed.
    pub(crate) fn start(every: Duration, now: Instant) -> Self {
        Self { every, last: now }
    }

    /// Starts the timer of the next plain line of progress; with `quiet` it is never due.
    pub(crate) fn of_line(quiet: bool, now: Instant) -> Self {
        Self::start(if quiet { Duration::MAX } else { INTERVAL }, now)
    }

    /// Returns whether the time has passed.
    pub(crate) fn due(&self, now: Instant) -> bool {
        now.duration_since(self.last) >= self.every
    }
}

/// The plain lines on work that is done piece by piece, e.g. `3/20 runs, 57 s left`.
pub(crate) struct Countdown {
    all: usize,
    done: usize,
    /// What the pieces are called.
    pieces: &'static str,
    begin: Instant,
    line: Timer,
}

impl Countdown {
    /// Begins to count `all` pieces; with `quiet` there are no lines.
    pub(crate) fn begin(all: usize, pieces: &'static str, quiet: bool, now: Instant) -> Self {
        Self { all, done: 0, pieces, begin: now, line: Timer::of_line(quiet, now) }
    }

    /// Counts one more piece that is done, and returns a line if one is due.
    pub(crate) fn one_more(&mut self, now: Instant) -> Option<String> {
        self.done += 1;
        if !self.line.due(now) {
            return None;
        }
        self.line = Timer::of_line(false, now);
        let left = seconds_left(now.duration_since(self.begin).as_secs_f64(), self.done, self.all - self.done);
        Some(format!("{}/{} {}, {left:.0} s left", self.done, self.all, self.pieces))
    }
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
        let display = if quiet || !std::io::stderr().is_terminal() {
            Display::Lines(Timer::of_line(quiet, now))
        } else {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
            Display::Bar(bar)
        };
        Self { display, begin: now, interrupt }
    }
}

/// Returns the seconds that are left at the pace so far, of `elapsed` seconds for `done` of what is to be done.
fn seconds_left(elapsed: f64, done: usize, left: usize) -> f64 {
    elapsed / done.max(1) as f64 * left as f64
}

/// Returns the number of iterations of the whole run, as far as it is known.
fn iterations(progress: &Progress<'_>) -> usize {
    progress.warm_up.unwrap_or(progress.config.tune) + progress.config.draws
}

/// Describes a session that has taken `elapsed` seconds so far, with all that is known.
fn describe(progress: &Progress<'_>, total: usize, elapsed: f64) -> String {
    let Progress { tally, step_sizes, .. } = progress;
    let step_sizes = step_sizes();
    let step = step_sizes.iter().sum::<f64>() / step_sizes.len().max(1) as f64;
    let rate = tally.leapfrogs as f64 / elapsed.max(1e-9);
    let left = time_left(progress, total, elapsed);
    format!("{}, step size {step:.3}, {rate:.1e} leapfrogs/s{left}", chains_and_divergences(progress))
}

fn chains_and_divergences(progress: &Progress<'_>) -> String {
    let divergences = usize::try_from(progress.tally.divergences).unwrap_or(usize::MAX);
    format!("{}, {}", counted(progress.config.chains, "chain"), counted(divergences, "divergence"))
}

/// Returns the time that is left, after a comma; nothing where nobody knows the end.
fn time_left(progress: &Progress<'_>, total: usize, elapsed: f64) -> String {
    if may_end_early(progress) {
        return String::new();
    }
    format!(", {:.0} s left", seconds_left(elapsed, progress.done - progress.first, total - progress.done))
}

/// Returns whether the run is in a warm-up that ends when its chains agree, at an iteration that nobody knows.
fn may_end_early(progress: &Progress<'_>) -> bool {
    progress.warm_up.is_none() && progress.config.warms_up_together()
}

/// Returns the look of the bar, which fits a terminal of 80 columns; without a known end there is no bar.
fn template(progress: &Progress<'_>) -> &'static str {
    if may_end_early(progress) { "{prefix:<8} {pos}  {msg}" } else { "{prefix:<8} [{wide_bar}] {pos}/{len}  {msg}" }
}

impl Observer for Watcher {
    fn stops(&self) -> bool {
        self.interrupt.asked()
    }

    fn advanced(&mut self, progress: &Progress<'_>) {
        let due = match &self.display {
            Display::Bar(_) => true,
            Display::Lines(timer) => timer.due(Instant::now()),
        };
        if !due {
            return;
        }
        let (done, phase) = (progress.done, if progress.warm_up.is_none() { "warm-up" } else { "sampling" });
        let total = iterations(progress);
        let elapsed = self.begin.elapsed().as_secs_f64();
        match &mut self.display {
            Display::Bar(bar) => {
                let style = ProgressStyle::with_template(template(progress));
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
                bar.set_prefix(phase);
                bar.set_message(chains_and_divergences(progress) + &time_left(progress, total, elapsed));
                bar.set_length(total as u64);
                bar.set_position(done as u64);
            }
            Display::Lines(timer) => {
                *timer = Timer::of_line(false, Instant::now());
                let of_all = if may_end_early(progress) { String::new() } else { format!("/{total}") };
                output::note(format!("{phase} {done}{of_all}: {}", describe(progress, total, elapsed)));
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
    use octopus_sampler::{SamplerConfig, Strategy};
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_line_tells_the_pace_and_what_is_left() {
        let strategy = Strategy::FourLong;
        let config = SamplerConfig { chains: 3, tune: 400, draws: 200, strategy, ..SamplerConfig::default() };
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
        assert!(describe(&Progress { done: 101, ..begun }, 600, 4.0).ends_with(", 1996 s left"));
        assert!(describe(&Progress { step_sizes: &Vec::new, ..begun }, 600, 4.0).contains("0.000, 2.0e3 leapfrogs/s"));
        // Warm-up that has settled early leaves fewer iterations.
        assert_eq!(iterations(&begun), 600);
        assert_eq!(iterations(&Progress { warm_up: Some(150), ..begun }), 350);
    }

    #[test]
    fn a_bar_fits_80_columns_and_a_warm_up_that_may_end_early_has_none() {
        let tally = Tally { leapfrogs: 8000, sampling_leapfrogs: 0, divergences: 12_345 };
        let told = |strategy, warm_up| {
            let config =
                SamplerConfig { strategy, chains: 16_384, tune: 100_000, draws: 20, ..SamplerConfig::default() };
            let step_sizes = || vec![0.5];
            let progress =
                Progress { config: &config, first: 0, done: 50_000, warm_up, tally: &tally, step_sizes: &step_sizes };
            let total = iterations(&progress);
            let message = chains_and_divergences(&progress) + &time_left(&progress, total, 3600.0);
            assert!(ProgressStyle::with_template(template(&progress)).is_ok());
            (template(&progress).contains("bar"), message)
        };
        let (has_bar, message) = told(Strategy::FourLong, None);
        assert_eq!((has_bar, message.as_str()), (true, "16384 chains, 12345 divergences, 3601 s left"));
        // Prefix, numbers and spaces are 26 columns, so 10 are left for the bar.
        assert!(message.len() + 26 + 10 <= 80);
        let (has_bar, message) = told(Strategy::ManyShort, None);
        assert_eq!((has_bar, message.as_str()), (false, "16384 chains, 12345 divergences"));
        assert!(told(Strategy::ManyShort, Some(50_000)).0);
        assert!(!told(Strategy::CrossChain, None).0 && told(Strategy::CrossChain, Some(50_000)).0);
    }

    #[test]
    fn lines_come_when_their_time_has_passed_and_never_with_quiet() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut countdown = Countdown::begin(5, "runs", false, begin);
        let lines: Vec<_> = [9, 10, 19, 20].into_iter().map(|seconds| countdown.one_more(at(seconds))).collect();
        // Two of five have taken 10 seconds, and four of them 20.
        let expected = [None, Some("2/5 runs, 15 s left"), None, Some("4/5 runs, 5 s left")];
        assert_eq!(lines, expected.map(|line| line.map(str::to_owned)));
        assert_eq!(Countdown::begin(5, "runs", true, begin).one_more(at(86400)), None);
    }

    #[test]
    fn a_bar_shows_what_is_done_and_is_removed_and_lines_wait() {
        static ASKED: AtomicBool = AtomicBool::new(false);
        let (begin, interrupt) = (Instant::now(), Interrupt::by_flag(&ASKED));
        let strategy = Strategy::FourLong;
        let config = SamplerConfig { chains: 3, tune: 400, draws: 200, strategy, ..SamplerConfig::default() };
        let tally = Tally { leapfrogs: 8000, sampling_leapfrogs: 0, divergences: 7 };
        let step_sizes = || vec![0.25];
        let progress =
            Progress { config: &config, first: 0, done: 300, warm_up: None, tally: &tally, step_sizes: &step_sizes };
        let bar = ProgressBar::hidden();
        let mut watcher = Watcher { display: Display::Bar(bar.clone()), begin, interrupt };
        watcher.advanced(&progress);
        assert_eq!((bar.prefix().as_str(), bar.position(), bar.length()), ("warm-up", 300, Some(600)));
        assert!(bar.message().starts_with("3 chains, 7 divergences") && !bar.is_finished(), "{}", bar.message());
        watcher.advanced(&Progress { done: 450, warm_up: Some(350), ..progress });
        assert_eq!((bar.prefix().as_str(), bar.position(), bar.length()), ("sampling", 450, Some(550)));
        watcher.ended();
        assert!(bar.is_finished());

        let mut watcher = Watcher { display: Display::Lines(Timer::of_line(false, begin)), begin, interrupt };
        watcher.advanced(&progress);
        let Display::Lines(timer) = &watcher.display else { panic!("another display") };
        assert_eq!(timer.last, begin, "no line was due");
        if let Some(earlier) = begin.checked_sub(Duration::from_secs(10)) {
            let mut watcher = Watcher { display: Display::Lines(Timer::of_line(false, earlier)), begin, interrupt };
            watcher.advanced(&progress);
            let Display::Lines(timer) = &watcher.display else { panic!("another display") };
            assert!(
                timer.last >= begin && timer.due(timer.last + Duration::from_secs(10)),
                "the next is in ten seconds"
            );
        }
        // On a terminal there is a bar.
        let told_in = |quiet, seconds| match Watcher::new(interrupt, quiet).display {
            Display::Bar(_) => !quiet,
            Display::Lines(timer) => timer.due(timer.last + Duration::from_secs(seconds)),
        };
        assert!(told_in(false, 10) && !told_in(true, 86_400));

        assert!(!watcher.stops());
        ASKED.store(true, Ordering::Relaxed);
        assert!(watcher.stops());
    }
}
