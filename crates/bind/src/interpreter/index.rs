//! Indices: which elements of a container they mean, in each lane.

use super::{Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_stan::{Expression, Index, Span, StanType, VariableId};

/// Indices of which one element is found quickly.
const MOST_INDICES: usize = 4;

/// The places along one dimension, counted from 0.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Whether the dimension goes away.
    pub(crate) is_single: bool,
    /// How many places each lane has.
    pub(crate) per_lane: usize,
    /// Whether each lane has its own.
    pub(crate) laned: bool,
    /// Lane after lane.
    pub(crate) places: Vec<u32>,
}

/// Which elements some indices mean.
#[derive(Debug)]
pub(crate) struct Places {
    /// The sizes of the result.
    pub(crate) dims: Vec<usize>,
    /// Whether each lane has its own.
    pub(crate) laned: bool,
    /// In the order of the result, lane after lane.
    pub(crate) places: Vec<u32>,
}

impl Interpreter<'_> {
    /// The place of one element of a variable, outside of loops in lanes; none where indices mean something else.
    pub(crate) fn place_of(&mut self, id: VariableId, indices: &[Index], span: Span) -> Run<Option<usize>> {
        let Some(value) = &self.values[id.0] else { return wrong(span, "it has no value yet") };
        let mut sizes = [0; MOST_INDICES];
        let rank = value.dims().len();
        let are_single = indices.iter().all(|index| matches!(index, Index::Single(_)));
        if self.lanes.is_some() || value.is_laned() || rank != indices.len() || rank > MOST_INDICES || !are_single {
            return Ok(None);
        }
        sizes[..rank].copy_from_slice(value.dims());
        let mut at = 0;
        for (k, index) in indices.iter().enumerate() {
            let Index::Single(index) = index else { continue };
            let Value::Int(number) = self.expression(index)? else {
                return wrong(index.span, "an index must not depend on parameters");
            };
            let (place, size) = (place(number) as usize, sizes[k]);
            if place >= size {
                return wrong(span, format!("index {number} is outside: the {} has {size} elements here", ordinal(k)));
            }
            at = at * size + place;
        }
        Ok(Some(at))
    }

    /// Evaluates the indices of a container with these sizes.
    pub(crate) fn selections(&mut self, dims: &[usize], indices: &[Index], span: Span) -> Run<Vec<Selection>> {
        let mut selections = Vec::with_capacity(dims.len());
        for (k, &size) in dims.iter().enumerate() {
            selections.push(match indices.get(k) {
                None | Some(Index::All) => range(1, size as i64, size),
                Some(Index::Single(index)) => {
                    let selection = self.selected(index)?;
                    Selection { is_single: true, ..selection }
                }
                Some(Index::Multiple(index)) => self.selected(index)?,
                Some(Index::From(from)) => range(self.whole_number(from)?, size as i64, size),
                Some(Index::UpTo(to)) => range(1, self.whole_number(to)?, size),
                Some(Index::Between(from, to)) => self.between(from, to, size)?,
            });
            let selection = &selections[k];
            if let Some(&place) = selection.places.iter().find(|&&place| place as usize >= size) {
                let index = i64::from(place as i32) + 1;
                return wrong(span, format!("index {index} is outside: the {} has {size} elements here", ordinal(k)));
            }
        }
        Ok(selections)
    }

    /// From a number to a number, in all lanes equally many.
    fn between(&mut self, from: &Expression, to: &Expression, size: usize) -> Run<Selection> {
        let (first, last) = (self.expression(from)?, self.expression(to)?);
        if !first.is_laned() && !last.is_laned() {
            let (Some(first), Some(last)) = (self.ints(&first), self.ints(&last)) else {
                return wrong(from.span, "an index must be known");
            };
            return Ok(range(first.values[0], last.values[0], size));
        }
        let (Some(first), Some(last)) = (self.ints(&first), self.ints(&last)) else {
            return wrong(from.span, "an index must be known");
        };
        let lanes = self.lane_count();
        let at = |ints: &Ints, lane: usize| ints.values[if ints.laned { lane } else { 0 }];
        let count = |lane: usize| at(&last, lane).saturating_sub(at(&first, lane)).saturating_add(1).max(0);
        let counts: Vec<i64> = (0..lanes).map(count).collect();
        let length = self.same_in_lanes(&counts)?;
        if length > size as i64 {
            return Err(Stop::Lanes);
        }
        self.room(&[length as usize, lanes], from.span)?;
        let mut places = Vec::new();
        for lane in 0..lanes {
            places.extend((0..length).map(|k| place(at(&first, lane).saturating_add(k))));
        }
        Ok(Selection { is_single: false, per_lane: length as usize, laned: true, places })
    }

    fn selected(&mut self, index: &Expression) -> Run<Selection> {
        let value = self.expression(index)?;
        let Some(ints) = self.ints(&value) else { return wrong(index.span, "an index must not depend on parameters") };
        let places = ints.values.iter().map(|&index| place(index)).collect();
        Ok(Selection { is_single: false, per_lane: ints.count(), laned: ints.laned, places })
    }

    /// The elements that selections mean in a container of these sizes, which may be laned itself.
    pub(crate) fn places(
        &mut self,
        dims: &[usize],
        is_laned: bool,
        selections: &[Selection],
        span: Span,
    ) -> Run<Places> {
        let laned = is_laned || selections.iter().any(|selection| selection.laned);
        let lanes = if laned { self.lane_count() } else { 1 };
        let result: Vec<usize> = selections.iter().filter(|s| !s.is_single).map(|s| s.per_lane).collect();
        let count: usize = dims.iter().product();
        let chosen: Vec<usize> = selections.iter().map(|s| s.per_lane).collect();
        let per_lane = self.room(&chosen, span)?;
        self.room(&[per_lane, lanes], span)?;
        let mut places = Vec::with_capacity(lanes * per_lane);
        let mut so_far: Vec<u32> = Vec::with_capacity(per_lane);
        let mut next: Vec<u32> = Vec::with_capacity(per_lane);
        for lane in 0..lanes {
            so_far.clear();
            so_far.push(0);
            for (selection, &size) in selections.iter().zip(dims) {
                let from = if selection.laned { lane * selection.per_lane } else { 0 };
                let chosen = &selection.places[from..from + selection.per_lane];
                next.clear();
                for &before in &so_far {
                    next.extend(chosen.iter().map(|&place| before * size as u32 + place));
                }
                std::mem::swap(&mut so_far, &mut next);
            }
            let base = if is_laned { (lane * count) as u32 } else { 0 };
            places.extend(so_far.iter().map(|&place| base + place));
        }
        Ok(Places { dims: result, laned, places })
    }

    /// The elements of a value that indices mean.
    pub(crate) fn indexed(&mut self, value: &Value, indices: &[Index], ty: StanType, span: Span) -> Run<Value> {
        let dims = value.dims().to_vec();
        let selections = self.selections(&dims, indices, span)?;
        // One known element is the most frequent case.
        if selections.iter().all(|selection| selection.is_single && !selection.laned) && !value.is_laned() {
            let at = selections.iter().zip(&dims).fold(0, |before, (s, &size)| before * size + s.places[0] as usize);
            return Ok(match value {
                Value::Ints(ints) => Value::Int(ints.values[at]),
                Value::Reals(tensor) => match tensor.elements.at(at) {
                    crate::value::Element::Known(x) => Value::Real(x),
                    element => Tensor::new(ty, Vec::new(), false, Elements::Mixed(vec![element].into())).into(),
                },
                other => other.clone(),
            });
        }
        let places = self.places(&dims, value.is_laned(), &selections, span)?;
        Ok(self.taken(value, places, ty))
    }

    /// The elements of a value at these places, as a value of type `ty`.
    pub(crate) fn taken(&mut self, value: &Value, places: Places, ty: StanType) -> Value {
        let Places { dims, laned, places } = places;
        match value {
            Value::Ints(ints) => {
                let values: Vec<i64> = places.iter().map(|&k| ints.values[k as usize]).collect();
                Ints { dims, laned, values: values.into() }.into()
            }
            Value::Reals(tensor) => {
                let elements = self.pick(&tensor.elements, places);
                Tensor::new(ty, dims, laned, elements).into()
            }
            other => other.clone(),
        }
    }
}

/// The places of the numbers from one to another; of a range that leaves a dimension of `size`, up to the first outside.
fn range(from: i64, to: i64, size: usize) -> Selection {
    let last = to.min(from.max(size as i64).saturating_add(1));
    let places: Vec<u32> = if from < 1 && from <= to { vec![place(from)] } else { (from..=last).map(place).collect() };
    Selection { is_single: false, per_lane: places.len(), laned: false, places }
}

/// An index counted from 1 as a place counted from 0. An index below 1 becomes a place outside of every value.
fn place(index: i64) -> u32 {
    if (1..=i64::from(i32::MAX)).contains(&index) {
        (index - 1) as u32
    } else {
        (index.clamp(-(1 << 30), 0) - 1) as i32 as u32
    }
}

fn ordinal(k: usize) -> &'static str {
    ["first dimension", "second dimension", "third dimension"].get(k).copied().unwrap_or("last dimension")
}
