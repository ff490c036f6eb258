//! Launches like those on record, in which more depends on each line: what they leave is what the committed PTX makes of
//! them.

use super::edges;
use octopus_ptx::{Module, Order, RecordedMemory, Recording, Replay};

/// How often the input of a minimum or maximum is turned, by as many parts of it: its extreme comes to other lanes, warps
/// and rounds.
const TURNS: usize = 96;

/// The rows of a window of which the last ones fill no round of four.
const ROWS: u32 = 3;

/// What the launches like one may take, in bytes: each holds all of its memory before and after.
const MOST_BYTES: usize = 128 << 20;

/// The first launches of a kernel, of which there are others like them.
const FIRST: usize = 3;

/// The warp instructions of a kernel's first launch that is brought to its edge twice; one of fewer is more often, up to so
/// many times. In mixed precision the energies of neighbouring steps lie far apart, and it takes more edges to show what
/// moves an energy by less.
const TWICE: u64 = 30_000;
const TWICE_IN_MIXED: u64 = 120_000;
const MOST_TIMES: u64 = 16;
const MOST_TIMES_IN_MIXED: u64 = 64;

/// Returns launches like this one, of so many warp instructions, the `number`th of its kernel from 0.
pub(super) fn like(recording: &Recording, module: &Module, instructions: u64, number: usize) -> Vec<Recording> {
    let bytes: usize = recording.memory.iter().map(|memory| 2 * memory.before.len()).sum();
    let most = MOST_BYTES / bytes.max(1);
    if number >= FIRST && !recording.entry.starts_with("array_") {
        return Vec::new();
    }
    let mut changed = Vec::new();
    if ["array_min_", "array_max_"].iter().any(|name| recording.entry.starts_with(name)) {
        changed.extend((1..=TURNS.min(most)).map(|turn| turned(recording, turn)));
    }
    if recording.entry == "nuts_windows_sums" {
        changed.extend(with_rows(recording));
    }
    if recording.entry.starts_with("array_broadcast_") {
        changed.extend(with_near_rows(recording));
    }
    let replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };
    let done = changed.into_iter().filter_map(|launch| launch.record(module, replay));
    let done = done.filter(|(outcome, _)| outcome.fault.is_none()).map(|(_, launch)| launch);
    let (twice, most_times) = match recording.entry.contains("_mixed_") {
        true => (TWICE_IN_MIXED, MOST_TIMES_IN_MIXED),
        false => (TWICE, MOST_TIMES),
    };
    let times = if number == 0 { (2 * twice / instructions.max(1)).clamp(2, most_times) as usize } else { 1 };
    let mut edges = edges::restarts_at_the_edge(recording, module, most.min(2 * times));
    if number == 0 {
        edges.extend(edges::far_runs(recording, module));
    }
    edges.truncate(most.max(4));
    done.chain(edges).collect()
}

/// Returns the launch with the elements of its inputs in other places.
fn turned(recording: &Recording, turn: usize) -> Recording {
    let width = if recording.entry.ends_with("_f32") { 4 } else { 8 };
    let mut turned = recording.clone();
    let is_input = |memory: &&mut RecordedMemory| memory.before == memory.after && !memory.before.is_empty();
    for memory in turned.memory.iter_mut().filter(is_input) {
        let elements = memory.before.len() / width;
        let by = (elements * turn / TURNS + turn) % elements.max(1);
        memory.before.rotate_left(by * width);
    }
    turned
}

/// Returns the launch in which a row of the first operand is two elements from the next one: others are as long as the
/// matrix is wide. Three addresses, rows and columns come before that parameter.
fn with_near_rows(recording: &Recording) -> Option<Recording> {
    let mut near = recording.clone();
    near.parameters.get_mut(40..48)?.copy_from_slice(&2_u64.to_le_bytes());
    Some(near)
}

/// Returns the launch over fewer rows of the window: its parameters end with `Window` (kernels/nuts/windows.cuh).
fn with_rows(recording: &Recording) -> Option<Recording> {
    let mut fewer = recording.clone();
    let at = fewer.parameters.len().checked_sub(12)?;
    let rows = fewer.parameters.get_mut(at..at + 4)?;
    let is_fewer = u32::from_le_bytes(rows.try_into().ok()?) > ROWS;
    rows.copy_from_slice(&ROWS.to_le_bytes());
    is_fewer.then_some(fewer)
}
