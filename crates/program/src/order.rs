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

/// Returns the sum of `values` in the order that all back ends have; it allocates nothing.
pub fn sum<N: Number>(values: &[N]) -> N {
    let (mut level, mut count) = (0, values.len());
    while count > TILE {
        (level, count) = (level + 1, count.div_ceil(TILE));
    }
    if count <= FEW {
        return (0..count).fold(N::from_f64(0.0), |sum, i| sum + element(values, level, i));
    }
    tile(count, |i| element(values, level, i))
}

/// The i-th number of a level: of the values, of the sums of their tiles, of the sums of tiles of these ...
fn element<N: Number>(values: &[N], level: u32, i: usize) -> N {
    match level {
        0 => values[i],
        1 => {
            let values = &values[i * TILE..values.len().min((i + 1) * TILE)];
            tile(values.len(), |i| values[i])
        }
        _ => {
            let below = values.len().div_ceil(TILE.pow(level - 1));
            let first = i * TILE;
            tile(TILE.min(below - first), |i| element(values, level - 1, first + i))
        }
    }
}

/// The sum of a tile of `count` numbers by its lanes.
fn tile<N: Number>(count: usize, number: impl Fn(usize) -> N) -> N {
    let mut lanes = [N::from_f64(0.0); LANES];
    for i in 0..count {
        lanes[i % LANES] = lanes[i % LANES] + number(i);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule as it is written, with a list of the sums of tiles.
    fn by_the_rule(values: &[f64]) -> f64 {
        let tile = |values: &[f64]| {
            let mut lanes = [0.0; LANES];
            values.iter().enumerate().for_each(|(i, x)| lanes[i % LANES] += x);
            halve(&mut lanes)
        };
        if values.len() <= FEW {
            values.iter().fold(0.0, |sum, x| sum + x)
        } else if values.len() <= TILE {
            tile(values)
        } else {
            by_the_rule(&values.chunks(TILE).map(tile).collect::<Vec<_>>())
        }
    }

    #[test]
    fn sums_have_the_order_of_the_rule() {
        let number = |i: usize| ((i * 7919 + 13) % 10_007) as f64 / 77.0 - 60.0;
        let long: Vec<f64> = (0..TILE * TILE + 3 * TILE + 5).map(number).collect();
        for count in [0, 1, 8, 9, 33, TILE, TILE + 1, 8 * TILE, 9 * TILE + 7, TILE * TILE, long.len()] {
            let values = &long[..count];
            assert_eq!(sum(values).to_bits(), by_the_rule(values).to_bits(), "{count} values");
        }
    }
}
