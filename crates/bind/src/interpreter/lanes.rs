//! Loops that are bound for all of their passes at once: each pass is a lane, and a value has elements for each lane.
//!
//! It is right where no pass reads what another pass writes. What is read and written is on record; where passes meet, the
//! attempt is given up and all is as before. The next attempt lets passes read of earlier ones (`carried.rs`); where that
//! fails too, the loop is bound pass by pass. A branch on data that goes another way from some pass on splits the loop.

use super::carried::CarriedReads;
use super::random::PassStreams;
use super::{Flow, Interpreter, Run, Stop};
use crate::uses::{Uses, uses_of};
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_program::GraphMark;
use octopus_stan::{Span, Statement, VariableId};
use std::collections::{HashMap, HashSet};

/// A loop whose passes are bound at once.
#[derive(Clone, Debug)]
pub(crate) struct LoopLanes {
    pub(crate) count: usize,
    /// Variables from outside of the loop that passes write.
    pub(crate) outer: HashMap<VariableId, Outer>,
    /// Calls that were under way when the loop began: variables of deeper ones are no outer ones.
    pub(crate) calls: usize,
    /// What passes read of earlier ones, if they may.
    pub(crate) carried: Option<CarriedReads>,
    /// The first pass in which a branch goes another way than in the passes before.
    pub(crate) split: Option<usize>,
}

/// What became of a loop that was to be bound for all passes at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanesOutcome {
    Bound,
    /// The first passes, of this number, branch alike, and the next one otherwise.
    Split(usize),
    Refused,
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

impl Outer {
    /// Elements that no lane has written or read yet.
    pub(crate) fn elements(count: usize) -> Self {
        Self::Elements { writers: vec![0; count], readers: vec![0; count] }
    }
}

/// The passes of a loop.
struct Passes<'a> {
    variable: VariableId,
    from: i64,
    count: usize,
    body: &'a [Statement],
    /// The addresses of random numbers, if any are drawn.
    streams: Option<&'a PassStreams>,
}

/// How an attempt to bind all passes at once ended.
enum Attempt {
    Bound,
    Failed { split: Option<usize>, shared: Option<VariableId> },
}

/// More than one lane.
pub(crate) const MANY: u32 = u32::MAX;

/// Fewer passes are bound one by one.
const FEWEST: i64 = 4;

/// Fewer passes that carry state are bound one by one: their operations are scalars.
const FEWEST_CARRIED: i64 = 16;

impl Interpreter<'_> {
    /// Binds a loop over `from..=to` for all of its passes at once, if that can be: passes that read nothing of each other
    /// as vectors, and others as a scan.
    pub(crate) fn loop_in_lanes(
        &mut self,
        variable: VariableId,
        (from, to): (i64, i64),
        body: &[Statement],
        span: Span,
        streams: Option<&PassStreams>,
    ) -> LanesOutcome {
        let count = to.saturating_sub(from).saturating_add(1);
        let is_out = !self.uses_lanes || self.lanes.is_some() || self.one_by_one.contains(&span);
        if is_out || count < FEWEST || count > self.budget.most_lanes(streams.is_some()) as i64 {
            return LanesOutcome::Refused;
        }
        let uses = uses_of(body);
        let lanes = usize::try_from(count).unwrap_or(0);
        if self.room(&[lanes], span).is_err() {
            return LanesOutcome::Refused;
        }
        let mut split = None;
        if let Some(outer) = self.outer(&uses) {
            let passes = Passes { variable, from, count: count as usize, body, streams };
            match self.attempt(&passes, outer, None) {
                Attempt::Bound => return LanesOutcome::Bound,
                Attempt::Failed { split: at, .. } => split = at,
            }
        }
        // Without parameters, a state is a number.
        if split.is_none() && count >= FEWEST_CARRIED && self.graph.dim() > 0 {
            let passes = Passes { variable, from, count: count as usize, body, streams };
            let mut is_own = HashSet::new();
            loop {
                let mark = self.graph.mark();
                let values = self.values.clone();
                let Some((outer, carried)) = self.begin_carried(&uses, count as usize, &is_own) else {
                    self.values = values;
                    self.graph.rewind(&mark);
                    break;
                };
                match self.attempt_from(&passes, outer, Some(carried), (values, mark)) {
                    Attempt::Bound => return LanesOutcome::Bound,
                    Attempt::Failed { shared: Some(id), .. } if is_own.insert(id) => {}
                    Attempt::Failed { split: at, .. } => {
                        split = at;
                        break;
                    }
                }
            }
        }
        match split {
            Some(first) => LanesOutcome::Split(first),
            None => {
                self.one_by_one.insert(span);
                LanesOutcome::Refused
            }
        }
    }

    fn attempt(
        &mut self,
        passes: &Passes<'_>,
        outer: HashMap<VariableId, Outer>,
        carried: Option<CarriedReads>,
    ) -> Attempt {
        let before = (self.values.clone(), self.graph.mark());
        self.attempt_from(passes, outer, carried, before)
    }

    /// Binds all passes at once; where that fails, all is as it was `before`.
    fn attempt_from(
        &mut self,
        passes: &Passes<'_>,
        outer: HashMap<VariableId, Outer>,
        carried: Option<CarriedReads>,
        before: (Vec<Option<Value>>, GraphMark),
    ) -> Attempt {
        let (values, mark) = before;
        let budget = self.budget;
        let (count, first_target) = (passes.count, self.target.len());
        self.lanes = Some(LoopLanes { count, outer, calls: self.calls, carried, split: None });
        let numbers: Vec<i64> = (passes.from..passes.from + count as i64).collect();
        let number = Ints { dims: Vec::new(), laned: true, values: numbers.into() };
        self.values[passes.variable.0] = Some(Value::Ints(number));
        let outside = self.random.clone();
        self.random = passes.streams.map(|streams| streams.lanes(count));
        let ended = self.statements(passes.body);
        self.random = outside;
        let Some(LoopLanes { outer, carried, split, .. }) = self.lanes.take() else {
            return Attempt::Failed { split: None, shared: None };
        };
        // A message may be about a path that no single pass takes, and names no pass: bind one by one to be sure.
        let mut is_bound = matches!(ended, Ok(Flow::On | Flow::Continue));
        let shared = carried.as_ref().and_then(|carried| carried.shared);
        if is_bound {
            for (id, outer) in &outer {
                if let Outer::Whole { is_written: true } = outer
                    && let Some(value) = self.values[id.0].take()
                {
                    self.values[id.0] = Some(self.last_lane(value, count));
                }
            }
            if let Some(carried) = &carried {
                is_bound = self.close_carried(&mark, count, &outer, carried, first_target);
            }
        }
        if is_bound {
            return Attempt::Bound;
        }
        self.values = values;
        self.target.truncate(first_target);
        self.graph.rewind(&mark);
        self.budget.restore_variables(budget);
        Attempt::Failed { split, shared }
    }

    /// What passes read of earlier ones, in the loop that is bound.
    pub(crate) fn carried_reads(&mut self) -> Option<&mut CarriedReads> {
        self.lanes.as_mut()?.carried.as_mut()
    }

    /// Passes branch in different ways: notes the first one that differs from those before.
    pub(crate) fn note_branch(&mut self, value: &Value) {
        let truths: Vec<bool> = match value {
            Value::Ints(ints) if ints.laned => ints.values.iter().map(|&x| x != 0).collect(),
            Value::Reals(tensor) if tensor.laned => match tensor.known() {
                Some(values) => values.iter().map(|&x| x != 0.0).collect(),
                None => return,
            },
            _ => return,
        };
        if let Some(lanes) = &mut self.lanes
            && truths.len() == lanes.count
        {
            lanes.split = truths.iter().position(|&truth| truth != truths[0]);
        }
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
                    (0, _, 0) => Outer::elements(value.count()),
                    _ => return None,
                },
            );
        }
        Some(outer)
    }

    /// The value that the last pass leaves.
    pub(super) fn last_lane(&mut self, value: Value, lanes: usize) -> Value {
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
        let is_carried = self.carried_reads().is_some();
        let Some(Outer::Elements { writers, readers }) = self.outer_of(id) else { return Ok(()) };
        if !laned {
            if let Some(carried) = self.carried_reads() {
                carried.shared = Some(id);
            }
            return Err(Stop::Lanes);
        }
        let per_lane = places.len() / count.max(1);
        for (k, &place) in places.iter().enumerate() {
            let lane = k.checked_div(per_lane).map_or(MANY, |lane| lane as u32 + 1);
            let (writer, reader) = (&mut writers[place as usize], readers[place as usize]);
            if (*writer != 0 && *writer != lane) || (!is_carried && reader != 0 && reader != lane) {
                return Err(Stop::Lanes);
            }
            *writer = lane;
        }
        Ok(())
    }
}
