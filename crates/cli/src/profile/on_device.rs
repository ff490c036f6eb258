//! The rows of devices in a profile: kernels and copies, each a whole span (`X`) with its duration.
//!
//! A device is a process of the trace and each of its streams a thread, since work of two streams may overlap.

use octopus_device::{DeviceWork, DeviceWorkKind};
use octopus_report::ProfilePlot;
use serde_json::{Value, json};
use std::time::Instant;

/// The process of the first device; the program's own is 1.
const FIRST_PROCESS: u64 = 2;

/// Returns a profile with the work of devices at its end. `text` is a list of events in JSON, whose times are since
/// `began`; work before that is left out.
pub(super) fn with_device_work(text: &[u8], work: &[DeviceWork], began: Instant) -> Vec<u8> {
    let mut all = text.trim_ascii_end().to_vec();
    all.truncate(all.len() - usize::from(all.ends_with(b"]")));
    all.truncate(all.trim_ascii_end().len());
    for event in events(work, began) {
        if !all.ends_with(b"[") {
            all.extend(b",\n");
        }
        all.extend(event.to_string().into_bytes());
    }
    all.extend(b"\n]");
    all
}

fn events(work: &[DeviceWork], began: Instant) -> Vec<Value> {
    let mut rows: Vec<(u32, u64, &'static str)> = Vec::new();
    let mut events = Vec::new();
    for one in work {
        let Some(since) = one.begin.checked_duration_since(began) else { continue };
        let (kind, bytes) = match one.kind {
            DeviceWorkKind::Kernel => ("kernels", None),
            DeviceWorkKind::Copy { bytes } => ("copies", Some(bytes)),
        };
        let (process, row) = (FIRST_PROCESS + u64::from(one.device), (one.device, one.stream, kind));
        let thread = rows.iter().position(|known| *known == row).unwrap_or_else(|| {
            let device = format!("cuda:{}", one.device);
            if rows.iter().all(|known| known.0 != one.device) {
                events.push(named("process_name", process, 0, &device));
            }
            events.push(named("thread_name", process, rows.len(), &format!("{device} {kind}")));
            rows.push(row);
            rows.len() - 1
        });
        let mut event = json!({
            "ph": "X", "pid": process, "tid": thread, "cat": ProfilePlot::DEVICE, "name": one.name,
            "ts": since.as_nanos() as f64 / 1e3, "dur": one.duration.as_nanos() as f64 / 1e3,
        });
        if let Some(bytes) = bytes {
            event["args"] = json!({ "bytes": bytes });
        }
        events.push(event);
    }
    events
}

/// Returns an event that names a process or a thread.
fn named(what: &str, process: u64, thread: usize, name: &str) -> Value {
    json!({ "ph": "M", "pid": process, "tid": thread, "name": what, "args": { "name": name } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn each_stream_has_a_row_of_its_device_and_kind() {
        let began = Instant::now();
        let work = |device: u32, stream: u64, kind: DeviceWorkKind, begin: u64| DeviceWork {
            device,
            stream,
            name: if kind == DeviceWorkKind::Kernel { "fill" } else { "copy to the device" }.into(),
            kind,
            begin: began + Duration::from_micros(begin),
            duration: Duration::from_nanos(2_500),
        };
        let copy = DeviceWorkKind::Copy { bytes: 80 };
        let kernel = DeviceWorkKind::Kernel;
        let all = [
            work(0, 7, kernel, 10),
            work(0, 7, copy, 20),
            work(0, 9, kernel, 30),
            work(0, 7, kernel, 40),
            work(1, 7, kernel, 50),
        ];
        let events: Vec<Value> = serde_json::from_slice(&with_device_work(b"[\n\n]", &all, began)).unwrap();
        let names: Vec<String> = events
            .iter()
            .filter(|event| event["ph"] == "M")
            .map(|event| format!("{} {} {}", event["pid"], event["tid"], event["args"]["name"].as_str().unwrap()))
            .collect();
        assert_eq!(
            names,
            [
                "2 0 cuda:0",
                "2 0 cuda:0 kernels",
                "2 1 cuda:0 copies",
                "2 2 cuda:0 kernels",
                "3 0 cuda:1",
                "3 3 cuda:1 kernels"
            ]
        );
        let spans: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
        let places: Vec<(u64, f64)> =
            spans.iter().map(|span| (span["tid"].as_u64().unwrap(), span["ts"].as_f64().unwrap())).collect();
        assert_eq!(places, [(0, 10.0), (1, 20.0), (2, 30.0), (0, 40.0), (3, 50.0)]);
        assert_eq!((&spans[1]["dur"], &spans[1]["args"]["bytes"]), (&json!(2.5), &json!(80)));
        assert_eq!(spans[0].get("args"), None);
    }

    #[test]
    fn the_events_of_the_program_stay_as_they_are() {
        let (own, began) = ("[\n{\"ph\":\"i\",\"pid\":1}\n]", Instant::now());
        let kind = DeviceWorkKind::Kernel;
        let kernel =
            DeviceWork { device: 0, stream: 1, name: "fill".into(), kind, begin: began, duration: Duration::ZERO };
        let all = String::from_utf8(with_device_work(own.as_bytes(), std::slice::from_ref(&kernel), began)).unwrap();
        assert!(all.starts_with("[\n{\"ph\":\"i\",\"pid\":1},\n{"), "{all}");
        assert_eq!(serde_json::from_str::<Vec<Value>>(&all).unwrap().len(), 4);
        // What was done before the clock began has no place.
        let early = with_device_work(own.as_bytes(), &[kernel], began + Duration::from_secs(1));
        assert_eq!(String::from_utf8(early).unwrap(), own);
    }
}
