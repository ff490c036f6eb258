//! Loops that are bound for all of their passes at once: each pass is a lane, and a value has elements for each lane.
//!
//! It is right where no pass reads what another pass writes. What is read and written is on record; where passes meet, the
//! attempt is given up and all is as before. The next attempt lets passes read of earlier ones (`carried.rs`); where that
//! fails too, the loop is bound pass by pass. Where data make passes differ, passes that do the same are bound at once
//! (`classes.rs`); in a loop that carries state, a branch that goes another way from some pass on splits the loop.

use super::carried::CarriedReads;
use super::random::PassStreams;
use super::{Flow, Interpreter, Run, Stop};
use crate::uses::{Uses, uses_of};
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_program::GraphMark;
use octopus_stan::{Span, Statement, VariableId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A loop whose passes are bound at once.
#[derive(Clone, Debug)]
pub(crate) struct LoopLanes {
    pub(crate) count: usize,
    /// The passes that are lanes, counted from 0.
    pub(crate) passes: Arc<[u32]>,
    /// Passes of the whole loop.
    pub(crate) all: usize,
    /// Variables from outside of the loop that passes write.
    pub(crate) outer: HashMap<VariableId, Outer>,
    /// Calls that were under way when the loop began: variables of deeper ones are no outer ones.
    pub(crate) calls: usize,
    /// What passes read of earlier ones, if they may.
    pub(crate) carried: Option<CarriedReads>,
    /// The first pass in which a branch goes another way than in the passes before.
    pub(crate) split: Option<usize>,
    /// What made the lanes differ: lanes of equal numbers may be alike.
    pub(crate) outcomes: Option<Vec<i64>>,
}

impl LoopLanes {
    /// Passes that know nothing of each other.
    pub(crate) fn apart(count: usize) -> Self {
        Self {
            count,
            passes: (0..count as u32).collect(),
            all: count,
            outer: HashMap::new(),
            calls: 0,
            carried: None,
            split: None,
            outcomes: None,
        }
    }
}

/// How binding all passes of a loop at once ended.
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
    /// They write elements: for each the pass that writes, and the pass that reads, plus 1.
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
pub(super) struct Passes<'a> {
    variable: VariableId,
    from: i64,
    pub(super) count: usize,
    body: &'a [Statement],
    /// The addresses of random numbers, if any are drawn.
    streams: Option<&'a PassStreams>,
}

impl Passes<'_> {
    /// All passes, as lanes.
    pub(super) fn all(&self) -> Arc<[u32]> {
        (0..self.count as u32).collect()
    }
}

/// How an attempt to bind passes at once ended.
pub(super) enum Attempt {
    /// With what the passes have done to variables from outside.
    Bound(HashMap<VariableId, Outer>),
    Failed(Failure),
}

/// Why passes could not be bound at once.
#[derive(Default)]
pub(super) struct Failure {
    pub(super) split: Option<usize>,
    shared: Option<VariableId>,
    pub(super) outcomes: Option<Vec<i64>>,
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
            match self.in_classes(&passes, outer) {
                Ok(()) => return LanesOutcome::Bound,
                Err(at) => split = at,
            }
        }
        // Without parameters, a state is a number.
        if split.is_none() && count >= FEWEST_CARRIED && self.graph.dim() > 0 {
            let passes = Passes { variable, from, count: count as usize, body, streams };
            let (mut is_own, lanes) = (HashSet::new(), passes.all());
            loop {
                let mark = self.graph.mark();
                let values = self.values.clone();
                let Some((outer, carried)) = self.begin_carried(&uses, count as usize, &is_own) else {
                    self.values = values;
                    self.graph.rewind(&mark);
                    break;
                };
                match self.attempt(&passes, &lanes, outer, Some(carried), (values, mark)) {
                    Attempt::Bound(_) => return LanesOutcome::Bound,
                    Attempt::Failed(Failure { shared: Some(id), .. }) if is_own.insert(id) => {}
                    Attempt::Failed(failure) => {
                        split = failure.split;
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

    /// Binds passes at once, the ones in `lanes`; where that fails, all is as it was `before`.
    pub(super) fn attempt(
        &mut self,
        passes: &Passes<'_>,
        lanes: &Arc<[u32]>,
        outer: HashMap<VariableId, Outer>,
        carried: Option<CarriedReads>,
        before: (Vec<Option<Value>>, GraphMark),
    ) -> Attempt {
        let (values, mark) = before;
        let budget = self.budget;
        let (count, first_target) = (lanes.len(), self.target.len());
        let (all, calls, names) = (passes.count, self.calls, lanes.clone());
        let begun = LoopLanes { count, passes: names, all, outer, calls, carried, split: None, outcomes: None };
        self.lanes = Some(begun);
        let numbers: Vec<i64> = lanes.iter().map(|&pass| passes.from + i64::from(pass)).collect();
        let number = Ints { dims: Vec::new(), laned: true, values: numbers.into() };
        self.values[passes.variable.0] = Some(Value::Ints(number));
        let outside = self.random.clone();
        self.random = passes.streams.map(|streams| streams.lanes(lanes));
        let ended = self.statements(passes.body);
        self.random = outside;
        let Some(LoopLanes { outer, carried, split, outcomes, .. }) = self.lanes.take() else {
            return Attempt::Failed(Failure::default());
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
            return Attempt::Bound(outer);
        }
        self.values = values;
        self.forget_terms(first_target);
        self.graph.rewind(&mark);
        self.budget.restore_variables(budget);
        Attempt::Failed(Failure { split, shared, outcomes })
    }

    /// What passes read of earlier ones, in the loop that is bound.
    pub(crate) fn carried_reads(&mut self) -> Option<&mut CarriedReads> {
        self.lanes.as_mut()?.carried.as_mut()
    }

    /// Passes branch in different ways: notes how, and the first one that differs from those before.
    pub(crate) fn note_branch(&mut self, value: &Value) {
        let truths: Vec<i64> = match value {
            Value::Ints(ints) if ints.laned => ints.values.iter().map(|&x| i64::from(x != 0)).collect(),
            Value::Reals(tensor) if tensor.laned => match tensor.known() {
                Some(values) => values.iter().map(|&x| i64::from(x != 0.0)).collect(),
                None => return,
            },
            _ => return,
        };
        if let Some(lanes) = &mut self.lanes
            && truths.len() == lanes.count
        {
            lanes.split = truths.iter().position(|&truth| truth != truths[0]);
            lanes.outcomes = Some(truths);
        }
    }

    /// A whole number that must be the same in all lanes, such as a size; where it is not, notes which lanes are alike.
    pub(crate) fn same_in_lanes(&mut self, values: &[i64]) -> Run<i64> {
        let first = values.first().copied().unwrap_or(0);
        if values.iter().all(|&x| x == first) {
            return Ok(first);
        }
        if let Some(lanes) = &mut self.lanes
            && values.len() == lanes.count
        {
            lanes.outcomes = Some(values.to_vec());
        }
        Err(Stop::Lanes)
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

    /// The passes that are lanes, counted from 0.
    fn lane_names(&self) -> Arc<[u32]> {
        self.lanes.as_ref().map_or_else(|| Arc::from([0]), |lanes| lanes.passes.clone())
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
            Some(Outer::Elements { .. }) => {
                if let Some(carried) = self.carried_reads() {
                    carried.shared = Some(id);
                }
                Err(Stop::Lanes)
            }
            Some(_) => Err(Stop::Lanes),
        }
    }

    /// Elements are read: no other lane may write them.
    pub(crate) fn note_elements_read(&mut self, id: VariableId, places: &[u32], laned: bool) -> Run<()> {
        let count = self.lane_count();
        let per_lane = if laned { places.len() / count.max(1) } else { 0 };
        let names = self.lane_names();
        let Some(Outer::Elements { writers, readers }) = self.outer_of(id) else { return self.note_read(id) };
        for (k, &place) in places.iter().enumerate() {
            let lane = k.checked_div(per_lane).map_or(MANY, |lane| names[lane] + 1);
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
        let (is_carried, names) = (self.carried_reads().is_some(), self.lane_names());
        let Some(Outer::Elements { writers, readers }) = self.outer_of(id) else { return Ok(()) };
        if !laned {
            if let Some(carried) = self.carried_reads() {
                carried.shared = Some(id);
            }
            return Err(Stop::Lanes);
        }
        let per_lane = places.len() / count.max(1);
        for (k, &place) in places.iter().enumerate() {
            let lane = k.checked_div(per_lane).map_or(MANY, |lane| names[lane] + 1);
            let (writer, reader) = (&mut writers[place as usize], readers[place as usize]);
            if (*writer != 0 && *writer != lane) || (!is_carried && reader != 0 && reader != lane) {
                return Err(Stop::Lanes);
            }
            *writer = lane;
        }
        Ok(())
    }
}
