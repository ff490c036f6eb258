//! A profile: which work of a program was done when, from a trace in Chrome's form.
//!
//! The form is as for `octopus --profile`, `chrome://tracing` and Perfetto: a list of events, of which `B` begins
//! and `E` ends a span on a thread, and `X` is a span with its duration; times are in microseconds.
//!
//! Work of a device is an event of the category [`ProfilePlot::DEVICE`]. It counts twice: in the row of its thread, such
//! as `cuda:0 kernels`, which shows how busy the device is, and in the row of its own name on that device.

mod draw;

use serde::Deserialize;
use std::collections::HashMap;

/// The data of a profile's picture: a row for each kind of work.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfilePlot {
    /// The kinds of work, in the order in which they began first; those of devices come last.
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
    cat: String,
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
    /// The name of a stage, or of a thread.
    #[serde(default)]
    name: Option<String>,
}

/// The names that a trace gives to processes and threads.
struct Names<'a> {
    processes: HashMap<u64, &'a str>,
    threads: HashMap<(u64, u64), &'a str>,
}

impl<'a> Names<'a> {
    fn of(events: &'a [Event]) -> Self {
        let named = |what: &'static str| {
            let own = events.iter().filter(move |event| event.ph == "M" && event.name == what);
            own.filter_map(|event| Some((event, event.args.name.as_deref()?)))
        };
        Self {
            processes: named("process_name").map(|(event, name)| (event.pid, name)).collect(),
            threads: named("thread_name").map(|(event, name)| (event.thread(), name)).collect(),
        }
    }

    fn process(&self, event: &Event) -> &'a str {
        self.processes.get(&event.pid).copied().unwrap_or(ProfilePlot::DEVICE)
    }

    fn thread(&self, event: &Event) -> &'a str {
        self.threads.get(&event.thread()).copied().unwrap_or(ProfilePlot::DEVICE)
    }
}

impl Event {
    fn thread(&self) -> (u64, u64) {
        (self.pid, self.tid)
    }

    /// Returns the kind of work, with its stage where it has one.
    fn kind(&self) -> String {
        self.args.name.as_ref().map_or_else(|| self.name.clone(), |own| format!("{}: {own}", self.name))
    }
}

impl ProfilePlot {
    /// The category of what a device did by its own clock.
    pub const DEVICE: &str = "device";

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
            let thread = open.entry(event.thread()).or_default();
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
        let mut add = |name: String, span: (f64, f64)| match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.spans.push(span),
            None => rows.push(ProfileRow { name, spans: vec![span] }),
        };
        let (on_device, on_host): (Vec<_>, Vec<_>) =
            pieces.into_iter().partition(|(begin, _)| begin.cat == Self::DEVICE);
        for (begin, end) in on_host {
            add(begin.kind(), (seconds(begin.ts), seconds(end)));
        }
        let names = Names::of(&events);
        let mut on_device: Vec<_> = on_device.into_iter().map(|piece| (names.thread(piece.0), piece)).collect();
        // Pieces of one row stay in the order of their begins.
        on_device.sort_by_key(|(thread, _)| *thread);
        for (thread, (begin, end)) in on_device {
            let span = (seconds(begin.ts), seconds(end));
            add(thread.to_owned(), span);
            add(format!("{}: {}", names.process(begin), begin.name), span);
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
    fn the_work_of_a_device_has_rows_of_its_own_below() {
        let trace = r#"[
            {"ph":"M","pid":2,"name":"process_name","tid":0,"args":{"name":"cuda:0"}},
            {"ph":"M","pid":2,"name":"thread_name","tid":0,"args":{"name":"cuda:0 kernels"}},
            {"ph":"M","pid":2,"name":"thread_name","tid":1,"args":{"name":"cuda:0 copies"}},
            {"ph":"M","pid":1,"name":"thread_name","tid":0,"args":{"name":"main"}},
            {"ph":"X","pid":2,"ts":1000000,"dur":200000,"name":"run","cat":"device","tid":0},
            {"ph":"X","pid":2,"ts":1300000,"dur":100000,"name":"sums","cat":"device","tid":0},
            {"ph":"X","pid":2,"ts":1150000,"dur":100000,"name":"copy","cat":"device","tid":1,"args":{"bytes":80}},
            {"ph":"B","pid":1,"ts":1200000,"name":"wait for the GPU","cat":"octopus_sampler","tid":0},
            {"ph":"E","pid":1,"ts":1400000,"name":"wait for the GPU","tid":0}
        ]"#;
        let profile = ProfilePlot::from_chrome_trace(trace.as_bytes()).unwrap();
        let rows: Vec<(&str, usize)> = profile.rows.iter().map(|row| (row.name.as_str(), row.spans.len())).collect();
        let copies = [("cuda:0 copies", 1), ("cuda:0: copy", 1)];
        let kernels = [("cuda:0 kernels", 2), ("cuda:0: run", 1), ("cuda:0: sums", 1)];
        assert_eq!(rows, [&[("wait for the GPU", 1)][..], &copies, &kernels].concat());
        let busy = profile.rows[3].busy();
        assert!((busy - 0.3).abs() < 1e-12 && (profile.seconds - 0.4).abs() < 1e-12, "{busy}");
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
