//! A profile: which work of a program was done when, from a trace in Chrome's form.
//!
//! The form is as for `octopus --profile`, `chrome://tracing` and Perfetto: a list of events, of which `B` begins
//! and `E` ends a span on a thread, and `X` is a span with its duration; times are in microseconds.

mod draw;

use serde::Deserialize;
use std::collections::HashMap;

/// The data of a profile's picture: a row for each kind of work.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfilePlot {
    /// The kinds of work, in the order in which they began first.
    pub rows: Vec<ProfileRow>,
    /// The seconds from the first begin to the last end.
    pub seconds: f64,
}

/// One kind of work in a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileRow {
    /// The kind of work, e.g. `write a file`.
    pub name: String,
    /// Begin and end of each piece, in seconds since the first begin of all. Pieces on several threads may overlap.
    pub spans: Vec<(f64, f64)>,
}

/// An event of a trace in Chrome's form; of events without a name or a duration, these are missing.
#[derive(Deserialize)]
struct Event {
    ph: String,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    name: String,
    #[serde(default)]
    pid: u64,
    #[serde(default)]
    tid: u64,
    #[serde(default)]
    args: Arguments,
}

/// The arguments of an event that are read.
#[derive(Default, Deserialize)]
struct Arguments {
    /// The name of a stage.
    #[serde(default)]
    name: Option<String>,
}

impl ProfilePlot {
    /// Reads a trace. A span that does not end, because the program was cut off, ends with the last event.
    ///
    /// # Errors
    /// When the text is no JSON of this form.
    pub fn from_chrome_trace(text: &[u8]) -> Result<Self, serde_json::Error> {
        let events: Vec<Event> = serde_json::from_slice(text)?;
        let is_span = |event: &&Event| matches!(event.ph.as_str(), "B" | "E" | "X");
        let last = events.iter().filter(is_span).map(|event| event.ts + event.dur).fold(f64::NEG_INFINITY, f64::max);
        let mut open: HashMap<(u64, u64), Vec<&Event>> = HashMap::new();
        let mut pieces: Vec<(&Event, f64)> = Vec::new();
        for event in &events {
            let thread = open.entry((event.pid, event.tid)).or_default();
            match event.ph.as_str() {
                "B" => thread.push(event),
                "E" => pieces.extend(thread.pop().map(|begin| (begin, event.ts))),
                "X" => pieces.push((event, event.ts + event.dur)),
                _ => {}
            }
        }
        pieces.extend(open.into_values().flatten().map(|begin| (begin, last)));
        pieces.sort_by(|a, b| a.0.ts.total_cmp(&b.0.ts).then(b.1.total_cmp(&a.1)));
        let first = pieces.first().map_or(0.0, |(begin, _)| begin.ts);
        let seconds = |time: f64| (time - first) / 1e6;
        let mut rows: Vec<ProfileRow> = Vec::new();
        for (begin, end) in pieces {
            let name =
                begin.args.name.as_ref().map_or_else(|| begin.name.clone(), |own| format!("{}: {own}", begin.name));
            let span = (seconds(begin.ts), seconds(end));
            match rows.iter_mut().find(|row| row.name == name) {
                Some(row) => row.spans.push(span),
                None => rows.push(ProfileRow { name, spans: vec![span] }),
            }
        }
        Ok(Self { seconds: if rows.is_empty() { 0.0 } else { seconds(last) }, rows })
    }
}

impl ProfileRow {
    /// Returns the seconds in which at least one piece was done.
    pub fn busy(&self) -> f64 {
        merged(&self.spans, 0.0).iter().map(|(begin, end)| end - begin).sum()
    }
}

/// Returns spans that are sorted by their begins with those joined that overlap or are less than `gap` apart.
fn merged(spans: &[(f64, f64)], gap: f64) -> Vec<(f64, f64)> {
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for &(begin, end) in spans {
        match joined.last_mut() {
            Some(last) if begin <= last.1 + gap => last.1 = last.1.max(end),
            _ => joined.push((begin, end)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = r#"[
        {"ph":"M","pid":1,"name":"thread_name","tid":0,"args":{"name":"main"}},
        {"ph":"B","pid":1,"ts":1000000.0,"name":"stage","tid":0,"args":{"name":"sample"}},
        {"ph":"B","pid":1,"ts":1200000.0,"name":"draw","cat":"octopus_runs","tid":0,"args":{}},
        {"ph":"B","pid":1,"ts":1250000.0,"name":"draw","tid":1},
        {"ph":"E","pid":1,"ts":1300000.0,"name":"draw","tid":1},
        {"ph":"E","pid":1,"ts":1400000.0,"name":"draw","tid":0},
        {"ph":"i","pid":1,"ts":9900000.0,"name":"a file is written","tid":0},
        {"ph":"X","pid":1,"ts":1500000.0,"dur":250000.0,"name":"draw","tid":2},
        {"ph":"E","pid":1,"ts":2000000.0,"name":"stage","tid":0},
        {"ph":"E","pid":1,"ts":2000000.0,"name":"nothing is open","tid":0},
        {"ph":"B","pid":1,"ts":1900000.0,"name":"cut off","tid":3},
        {"ph":"B","pid":1,"ts":2500000.0,"name":"cut off","tid":4}
    ]"#;

    #[test]
    fn spans_are_those_of_each_thread() {
        let profile = ProfilePlot::from_chrome_trace(TRACE.as_bytes()).unwrap();
        let row = |name: &str, spans: &[(f64, f64)]| ProfileRow { name: name.to_owned(), spans: spans.to_vec() };
        let expected = [
            row("stage: sample", &[(0.0, 1.0)]),
            row("draw", &[(0.2, 0.4), (0.25, 0.3), (0.5, 0.75)]),
            row("cut off", &[(0.9, 1.5), (1.5, 1.5)]),
        ];
        assert_eq!((&profile.rows[..], profile.seconds), (&expected[..], 1.5));
        let busy = profile.rows.iter().map(ProfileRow::busy).collect::<Vec<_>>();
        assert!(busy.iter().zip([1.0, 0.45, 0.6]).all(|(a, b)| (a - b).abs() < 1e-12), "{busy:?}");
    }

    #[test]
    fn a_whole_span_that_ends_last_ends_the_trace() {
        let trace = r#"[{"ph":"X","ts":1000000.0,"dur":250000.0,"name":"a"},{"ph":"X","ts":1000000.0,"dur":2000000.0,"name":"b"}]"#;
        assert_eq!(ProfilePlot::from_chrome_trace(trace.as_bytes()).unwrap().seconds, 2.0);
    }

    #[test]
    fn a_trace_without_spans_has_no_rows() {
        let of = |text: &str| ProfilePlot::from_chrome_trace(text.as_bytes());
        assert_eq!(of("[]").unwrap(), ProfilePlot { rows: vec![], seconds: 0.0 });
        assert_eq!(of(r#"[{"ph":"i","ts":5.0}]"#).unwrap().seconds, 0.0);
        assert!(of("{").is_err() && of(r#"[{"ts":5.0}]"#).unwrap_err().to_string().contains("ph"));
    }

    #[test]
    fn pieces_closer_than_the_gap_are_one() {
        let spans = [(0.0, 1.0), (0.5, 0.7), (1.25, 2.0), (3.0, 4.0)];
        assert_eq!(merged(&spans, 0.0), [(0.0, 1.0), (1.25, 2.0), (3.0, 4.0)]);
        assert_eq!(merged(&spans, 0.25), [(0.0, 2.0), (3.0, 4.0)]);
        assert_eq!(merged(&[], 1.0), []);
    }
}
