//! The order of sums, one rule for all back ends; it depends on the problem, never on threads or vectors.
//!
//! - At most 8 numbers are added in order.
//! - Longer vectors are cut in tiles of [`TILE`] elements. Element i of a tile belongs to lane i mod [`LANES`]; each lane
//!   adds in order, and a halving tree joins the lanes. The sums of tiles are added by the same rule.
//! - Sums by segment have one lane for a segment when segments have at most [`SHORT_SEGMENT`] elements on average, else
//!   [`LANES`], the j-th element of a segment in lane j mod [`LANES`]. Rows are cut in spans ([`span`]), each with its own
//!   lanes, and spans are added in order: so that threads can share a long sum.

use crate::number::Number;

/// Elements of a tile.
pub const TILE: usize = 2048;
/// Lanes of a tile.
pub const LANES: usize = 32;
/// So few numbers are added in order.
pub const FEW: usize = 8;
/// The longest mean segment that one lane adds.
pub const SHORT_SEGMENT: usize = 64;
/// Rows of the shortest span.
pub const SPAN: usize = 32 * TILE;

/// Returns the sum of `values` in the order that all back ends have.
pub fn sum<N: Number>(values: &[N]) -> N {
    let zero = N::from_f64(0.0);
    if values.len() <= FEW {
        return values.iter().fold(zero, |sum, &x| sum + x);
    }
    if values.len() > TILE {
        let tiles: Vec<N> = values.chunks(TILE).map(tile).collect();
        return sum(&tiles);
    }
    tile(values)
}

/// The sum of a tile by its lanes.
fn tile<N: Number>(values: &[N]) -> N {
    let mut lanes = [N::from_f64(0.0); LANES];
    for (i, &x) in values.iter().enumerate() {
        lanes[i % LANES] = lanes[i % LANES] + x;
    }
    halve(&mut lanes)
}

/// Adds the second half of the lanes to the first until one is left.
#[inline(always)]
pub(crate) fn halve<N: Number>(lanes: &mut [N]) -> N {
    let mut half = lanes.len() / 2;
    while half > 0 {
        for k in 0..half {
            lanes[k] = lanes[k] + lanes[k + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Returns the lanes that each of `segments` segments of `rows` rows has.
pub fn segment_lanes(rows: usize, segments: usize) -> usize {
    if rows <= SHORT_SEGMENT * segments { 1 } else { LANES }
}

/// Returns the rows of a span of a sum by segment: a power of two times [`SPAN`], at least 64 for each segment.
pub fn span(segments: usize) -> usize {
    let mut rows = SPAN;
    while rows < 64 * segments {
        rows *= 2;
    }
    rows
}

/// Returns the lane of each row among all lanes of all segments.
pub(crate) fn segment_slots(index: &[u32], segments: usize) -> Vec<u32> {
    let lanes = segment_lanes(index.len(), segments) as u32;
    let mut seen = vec![0; segments];
    let slot = |&segment: &u32| {
        let count = &mut seen[segment as usize];
        let lane = *count % lanes;
        *count += 1;
        segment * lanes + lane
    };
    index.iter().map(slot).collect()
}

/// Returns the sums of `values` by segment in the order that all back ends have.
pub fn segment_sums<N: Number>(values: &[N], index: &[u32], segments: usize) -> Vec<N> {
    let zero = N::from_f64(0.0);
    let (lanes, slots) = (segment_lanes(index.len(), segments), segment_slots(index, segments));
    let mut sums = vec![zero; segments];
    for (start, slots) in slots.chunks(span(segments)).enumerate() {
        let mut partial = vec![zero; segments * lanes];
        for (row, &slot) in slots.iter().enumerate() {
            let x = if values.len() == 1 { values[0] } else { values[start * span(segments) + row] };
            partial[slot as usize] = partial[slot as usize] + x;
        }
        for (sum, lanes) in sums.iter_mut().zip(partial.chunks_mut(lanes)) {
            let of_span = halve(lanes);
            *sum = if start == 0 { of_span } else { *sum + of_span };
        }
    }
    sums
}
