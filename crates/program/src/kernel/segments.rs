//! Sums by segment: each lane of a segment is added by one thread, which walks its rows in order.

use super::emitter::{Emitter, MemoryPlace, NUMBER, WARP};
use super::text::{number, say};
use crate::plan::SegmentTable;

impl Emitter<'_> {
    /// Writes a sum by segment of rows that are in memory.
    pub(super) fn segment_sum(&mut self, rows: usize, table: &SegmentTable, values: MemoryPlace) {
        let (ends, order) = lanes_of(rows, table);
        let is_in_order = order.iter().enumerate().all(|(k, &row)| k == row as usize);
        let ends = self.new_words(&ends);
        let order = (!is_in_order).then(|| self.new_words(&order));
        let (spans, to) = (rows.div_ceil(table.span), self.slot(table.slot));
        // A segment with one lane is a thread's, one with 32 a warp's.
        let has_one = table.lanes == 1;
        let open = if has_one {
            self.begin_elements(table.segments)
        } else {
            let warp = self.warp.clone();
            self.text.begin(&warp, &table.segments.to_string(), self.lanes / WARP)
        };
        let mut lane = open.index.clone();
        if !has_one {
            let first = self.text.word("shl.b32", &[&open.index, "5"]);
            lane = self.text.word("add.s32", &[&first, &self.warp_lane]);
        }
        let mut total: Option<String> = None;
        for span in 0..spans {
            let at = ends + span * table.segments * table.lanes;
            let sum = self.lane_of_segment(&lane, at, order, values);
            if !has_one {
                self.text.join_lanes(&sum);
            }
            total = Some(match total {
                None => sum,
                Some(before) => self.text.real("add.rn.f64", &[&before, &sum]),
            });
        }
        let total = total.unwrap_or_else(|| number(0.0));
        if has_one {
            self.store_element(to, &open.index, &total);
        } else {
            let address = self.text.address(to.base, &open.index, NUMBER as u32);
            say!(self.text, "@{} st.global.f64 [{address}+{}], {total}", self.is_first_of_warp, to.byte);
        }
        self.text.end(open);
        self.set_written(table.slot);
    }

    /// The sum of a lane of a span, whose rows begin where word `ends` plus the lane says.
    fn lane_of_segment(&mut self, lane: &str, ends: usize, order: Option<usize>, values: MemoryPlace) -> String {
        let text = &mut self.text;
        let address = text.address("~w", lane, 4);
        let from = text.word("ld.global.u32", &[&format!("[{address}+{}]", 4 * ends)]);
        let to = text.word("ld.global.u32", &[&format!("[{address}+{}]", 4 * (ends + 1))]);
        let sum = text.new_real();
        say!(text, "mov.f64 {sum}, {}", number(0.0));
        let open = text.begin(&from, &to, 1);
        let row = match order {
            None => open.index.clone(),
            Some(order) => {
                let address = text.address("~w", &open.index, 4);
                text.word("ld.global.u32", &[&format!("[{address}+{}]", 4 * order)])
            }
        };
        let value = self.load_element(values, &row);
        say!(self.text, "add.rn.f64 {sum}, {sum}, {value}");
        self.text.end(open);
        sum
    }
}

/// The rows of each lane of each span, one after the other, and where those of a lane begin; the last begin ends the last
/// lane.
fn lanes_of(rows: usize, table: &SegmentTable) -> (Vec<u32>, Vec<u32>) {
    let lanes = table.segments * table.lanes;
    let (mut begins, mut order) = (Vec::new(), Vec::with_capacity(rows));
    for (span, slots) in table.slots.chunks(table.span).enumerate() {
        let mut of_lanes: Vec<Vec<u32>> = vec![Vec::new(); lanes];
        for (row, &slot) in slots.iter().enumerate() {
            of_lanes[slot as usize].push((span * table.span + row) as u32);
        }
        for rows in of_lanes {
            begins.push(order.len() as u32);
            order.extend(rows);
        }
    }
    begins.push(order.len() as u32);
    (begins, order)
}
