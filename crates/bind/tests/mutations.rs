//! Damaged programs with damaged data: a value or an error, never a panic, a hang or a demand for all of the memory.
//!
//! `OCTOPUS_MUTATIONS=1000000 cargo nextest run --release -p octopus-bind --test mutations` tries more than the few
//! thousand of each run; `OCTOPUS_MUTATIONS_FROM` is the number of the first one. A case depends on its number alone.

#[path = "mutations/damage.rs"]
mod damage;

use damage::{Corpus, Xorshift};
use octopus_bind::{BindOptions, BoundModel};
use octopus_stan::StanProgram;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A case may take this long of a processor: other processes do not count.
const LONGEST: Duration = Duration::from_secs(2);
/// Cases of a test that runs with all others.
const FEW: u64 = 3000;

/// Limits with which a case ends soon.
const LIMITS: BindOptions = BindOptions { vectorise_loops: true, most_steps: 50_000, most_elements: 1 << 16 };

/// How far a case came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Unread,
    Unbound,
    Uncompiled,
    NoValue,
    Through,
}

/// Parses, binds and evaluates.
fn tried(text: &str, data: &octopus_bind::Data) -> Came {
    let program = match StanProgram::parse("mutated.stan", text) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Came::Unread;
        }
    };
    let model = match BoundModel::with_options(&program, data, LIMITS) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Came::Unbound;
        }
    };
    let Ok(compiled) = model.compile() else { return Came::Uncompiled };
    let x: Vec<f64> = (0..model.dim()).map(|k| 0.3 * (0.7 + 1.3 * k as f64).sin()).collect();
    let mut gradient = vec![0.0; x.len()];
    let value = compiled.logp_grad(&mut compiled.workspace(), &x, &mut gradient);
    assert_eq!(model.expand(&x).len(), model.labels().len());
    if value.is_ok() { Came::Through } else { Came::NoValue }
}

/// The time that this thread has had a processor for, where the system says it, else the time since `started`.
fn spent(started: Instant) -> Duration {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanoseconds.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

/// Tries cases, and returns how many came how far.
fn try_all(from: u64, count: u64, until: Option<Instant>) -> [u64; 5] {
    let corpus = Corpus::read();
    let (case, started) = (AtomicU64::new(from), Instant::now());
    let mut counts = [0; 5];
    let mut faults: Vec<String> = Vec::new();
    let mut slow: Vec<String> = Vec::new();
    std::thread::scope(|scope| {
        let (over, waiting) = std::sync::mpsc::channel::<()>();
        // A case without an end would be a test without an end: this says which it was.
        scope.spawn({
            let case = &case;
            move || {
                let mut last = (u64::MAX, Instant::now());
                while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
                    waiting.recv_timeout(Duration::from_millis(500))
                {
                    let now = case.load(Ordering::Relaxed);
                    if now != last.0 {
                        last = (now, Instant::now());
                    } else if last.1.elapsed() > LONGEST * 15 {
                        let (text, data) = Corpus::read().damaged(&mut Xorshift::of(now));
                        eprintln!("case {now} has not come to its end:\n{text}\n{data:?}");
                        std::process::exit(1);
                    }
                }
            }
        });
        for k in from..from + count {
            if until.is_some_and(|until| Instant::now() > until) || faults.len() >= 20 {
                break;
            }
            case.store(k, Ordering::Relaxed);
            let (text, data) = corpus.damaged(&mut Xorshift::of(k));
            let begun = spent(started);
            match catch_unwind(AssertUnwindSafe(|| tried(&text, &data))) {
                Ok(came) => counts[came as usize] += 1,
                Err(_) => faults.push(format!("case {k} panics:\n{text}\n{data:?}")),
            }
            let took = spent(started).saturating_sub(begun);
            if took > LONGEST {
                slow.push(format!("case {k} takes {took:?}:\n{text}"));
            }
            if (k + 1 - from).is_multiple_of(10_000) {
                println!("{} cases in {:?}: {counts:?}", k + 1 - from, started.elapsed());
            }
        }
        drop(over);
    });
    for fault in faults.iter().chain(&slow) {
        println!("{fault}\n");
    }
    assert!(faults.is_empty() && slow.is_empty(), "{} panics, {} slow cases", faults.len(), slow.len());
    counts
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn mutated_programs_come_to_an_end() {
    let counts =
        try_all(number("OCTOPUS_MUTATIONS_FROM").unwrap_or(0), number("OCTOPUS_MUTATIONS").unwrap_or(FEW), None);
    println!("{counts:?}: unread, unbound, uncompiled, without a value, through");
    // The damage reaches all parts.
    let all: u64 = counts.iter().sum();
    assert!(counts[0] < all && counts[1] * 30 > all && counts[4] * 10 > all, "{counts:?} of {all}");
}

/// Other cases each day, for ten minutes.
#[test]
#[ignore = "takes ten minutes"]
fn mutations_of_a_night() {
    let days =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs() / 86_400;
    println!("cases from {} on", days << 24);
    let counts = try_all(days << 24, 1 << 24, Some(Instant::now() + Duration::from_secs(600)));
    println!("{counts:?}: unread, unbound, uncompiled, without a value, through");
}
