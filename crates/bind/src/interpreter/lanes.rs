//! Loops that are bound for all of their passes at once: each pass is a lane, and a value has elements for each lane.
//!
//! It is right where no pass reads what another pass writes. What is read and written is on record; where passes meet, the
//! attempt is given up, all is as before, and the loop is bound pass by pass.

use super::random::PassStreams;
use super::{Flow, Interpreter, Run, Stop};
use crate::uses::{Uses, uses_of};
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_stan::{Span, Statement, VariableId};
use std::collections::HashMap;

/// A loop whose passes are bound at once.
#[derive(Clone, Debug)]
pub(crate) struct LoopLanes {
    pub(crate) count: usize,
    /// Variables from outside of the loop that passes write.
    pub(crate) outer: HashMap<VariableId, Outer>,
    /// Calls that were under way when the loop began: variables of deeper ones are no outer ones.
    pub(crate) calls: usize,
}

/// What the passes do with a variable from outside.
#[derive(Clone, Debug)]
pub(crate) enum Outer {
    /// They write elements: for each the lane that writes, and the lane that reads, plus 1.
    Elements { writers: Vec<u32>, readers: Vec<u32> },
    /// They write all of it, and read it only after they have.
    Whole { is_written: bool },
    /// They only add to it.
    Sum,
}

/// More than one lane.
pub(crate) const MANY: u32 = u32::MAX;

/// Fewer passes are bound one by one.
const FEWEST: i64 = 4;

impl Interpreter<'_> {
    /// Binds a loop over `from..=to` for all of its passes at once; false if that cannot be.
    pub(crate) fn loop_in_lanes(
        &mut self,
        variable: VariableId,
        (from, to): (i64, i64),
        body: &[Statement],
        span: Span,
        streams: Option<&PassStreams>,
    ) -> Run<bool> {
        let count = to - from + 1;
        let is_out = !self.uses_lanes || self.lanes.is_some() || self.one_by_one.contains(&span);
        if is_out || count < FEWEST || count > super::MOST_ELEMENTS as i64 {
            return Ok(false);
        }
        let uses = uses_of(body);
        let Some(outer) = self.outer(&uses) else {
            self.one_by_one.insert(span);
            return Ok(false);
        };
        let before = (self.values.clone(), self.target.len());
        self.lanes = Some(LoopLanes { count: count as usize, outer, calls: self.calls });
        let numbers: Vec<i64> = (from..=to).collect();
        self.values[variable.0] = Some(Value::Ints(Ints { dims: Vec::new(), laned: true, values: numbers.into() }));
        let outside = self.random.clone();
        self.random = streams.map(|streams| streams.lanes(count as usize));
        let ended = self.statements(body);
        self.random = outside;
        let lanes = self.lanes.take();
        match ended {
            Ok(Flow::On | Flow::Continue) => {}
            // A message may be about a path that no single pass takes, and names no pass: bind one by one to be sure.
            Ok(_) | Err(_) => {
                (self.values, _) = before;
                self.target.truncate(before.1);
                self.one_by_one.insert(span);
                return Ok(false);
            }
        }
        for (id, outer) in lanes.into_iter().flat_map(|lanes| lanes.outer) {
            if let Outer::Whole { is_written: true } = outer
                && let Some(value) = self.values[id.0].take()
            {
                self.values[id.0] = Some(self.last_lane(value, count as usize));
            }
        }
        Ok(true)
    }

    /// What passes write outside; none if they cannot be bound at once.
    fn outer(&self, uses: &Uses) -> Option<HashMap<VariableId, Outer>> {
        let mut outer = HashMap::new();
        for (&id, usage) in &uses.variables {
            if uses.declared.contains(&id) || usage.writes() == 0 {
                continue;
            }
            let value = self.values[id.0].as_ref()?;
            outer.insert(
                id,
                match (usage.whole, usage.elements, usage.sums) {
                    (0, 0, sums) if sums == usage.reads_in_sums || usage.reads == 0 => {
                        if usage.reads > 0 || !value.dims().is_empty() {
                            return None;
                        }
                        Outer::Sum
                    }
                    (_, 0, _) => Outer::Whole { is_written: false },
                    (0, _, 0) => Outer::Elements { writers: vec![0; value.count()], readers: vec![0; value.count()] },
                    _ => return None,
                },
            );
        }
        Some(outer)
    }

    /// The value that the last pass leaves.
    fn last_lane(&mut self, value: Value, lanes: usize) -> Value {
        if !value.is_laned() {
            return value;
        }
        let count = value.count();
        let places: Vec<u32> = ((lanes - 1) * count..lanes * count).map(|place| place as u32).collect();
        match value {
            Value::Ints(ints) => {
                let values: Vec<i64> = places.iter().map(|&k| ints.values[k as usize]).collect();
                Ints { dims: ints.dims, laned: false, values: values.into() }.into()
            }
            Value::Reals(tensor) => {
                let elements: Elements = self.pick(&tensor.elements, places);
                Tensor { laned: false, elements, ..tensor }.into()
            }
            other => other,
        }
    }

    /// The record of a variable from outside of the loop, if passes write it.
    pub(crate) fn outer_of(&mut self, id: VariableId) -> Option<&mut Outer> {
        let calls = self.calls;
        self.lanes.as_mut().filter(|lanes| lanes.calls == calls)?.outer.get_mut(&id)
    }

    /// A whole variable is read.
    pub(crate) fn note_read(&mut self, id: VariableId) -> Run<()> {
        match self.outer_of(id) {
            None | Some(Outer::Whole { is_written: true }) => Ok(()),
            Some(_) => Err(Stop::Lanes),
        }
    }

    /// Elements are read: no other lane may write them.
    pub(crate) fn note_elements_read(&mut self, id: VariableId, places: &[u32], laned: bool) -> Run<()> {
        let count = self.lane_count();
        let Some(Outer::Elements { writers, readers }) = self.outer_of(id) else { return self.note_read(id) };
        let per_lane = if laned { places.len() / count.max(1) } else { 0 };
        for (k, &place) in places.iter().enumerate() {
            let lane = k.checked_div(per_lane).map_or(MANY, |lane| lane as u32 + 1);
            let (writer, reader) = (writers[place as usize], &mut readers[place as usize]);
            if writer != 0 && writer != lane {
                return Err(Stop::Lanes);
            }
            *reader = if *reader == 0 || *reader == lane { lane } else { MANY };
        }
        Ok(())
    }

    /// Elements are written: no other lane may read or write them.
    pub(crate) fn note_elements_written(&mut self, id: VariableId, places: &[u32], laned: bool) -> Run<()> {
        let count = self.lane_count();
        let Some(Outer::Elements { writers, readers }) = self.outer_of(id) else { return Ok(()) };
        if !laned {
            return Err(Stop::Lanes);
        }
        let per_lane = places.len() / count.max(1);
        for (k, &place) in places.iter().enumerate() {
            let lane = k.checked_div(per_lane).map_or(MANY, |lane| lane as u32 + 1);
            let (writer, reader) = (&mut writers[place as usize], readers[place as usize]);
            if (*writer != 0 && *writer != lane) || (reader != 0 && reader != lane) {
                return Err(Stop::Lanes);
            }
            *writer = lane;
        }
        Ok(())
    }
}
