//! Assignments to variables and to elements of them.

use super::index::Places;
use super::lanes::Outer;
use super::{Interpreter, Run, Stop, wrong};
use crate::uses::added;
use crate::value::{Element, Elements, Ints, Tensor, Value};
use octopus_stan::{BinaryOp, Expression, LValue, Span};
use std::sync::Arc;

impl Interpreter<'_> {
    /// `to = value`, or `to op= value`.
    pub(crate) fn assign(&mut self, to: &LValue, op: Option<BinaryOp>, value: &Expression, span: Span) -> Run<()> {
        if let Some(Outer::Sum) = self.outer_of(to.variable) {
            let Some(added) = added(to, op, value) else { return Err(Stop::Lanes) };
            return self.add_all_lanes(to, added, span);
        }
        let mut new = self.expression(value)?;
        if let Some(op) = op {
            let old = self.old(to)?;
            let types = (to.ty, value.ty);
            new = self.binary(op, (&old, types.0), (&new, types.1), span)?;
        }
        if !to.ty.is_int() && matches!(new, Value::Int(_) | Value::Ints(_)) {
            new = self.tensor(&new).with_type(to.ty).into();
        }
        if to.indices.is_empty() {
            let known = self.values[to.variable.0].as_ref().map(|old| old.dims().to_vec());
            if let Some(dims) = known
                && dims != new.dims()
            {
                return wrong(
                    span,
                    format!("a value of sizes {:?} is assigned to a variable of sizes {dims:?}", new.dims()),
                );
            }
            match self.outer_of(to.variable) {
                Some(Outer::Whole { is_written }) => *is_written = true,
                Some(_) => return Err(Stop::Lanes),
                None => {}
            }
            self.values[to.variable.0] = Some(match new {
                Value::Reals(tensor) => tensor.with_type(to.ty).into(),
                other => other,
            });
            return Ok(());
        }
        if self.assigned_element(to, &new)? {
            return Ok(());
        }
        let Some(old) = self.values[to.variable.0].as_ref() else { return wrong(to.span, "it has no value yet") };
        let (dims, was_laned) = (old.dims().to_vec(), old.is_laned());
        let selections = self.selections(&dims, &to.indices, to.span)?;
        let chosen = self.places(&dims, was_laned, &selections, to.span)?;
        if chosen.dims != new.dims() && chosen.dims.iter().product::<usize>() != new.count() {
            return wrong(
                span,
                format!("a value of sizes {:?} is assigned to elements of sizes {:?}", new.dims(), chosen.dims),
            );
        }
        self.note_elements_written(to.variable, &chosen.places, chosen.laned)?;
        if let Some(Outer::Whole { is_written: false }) = self.outer_of(to.variable) {
            return Err(Stop::Lanes);
        }
        let is_outer = matches!(self.outer_of(to.variable), Some(Outer::Elements { .. }));
        let Some(mut old) = self.values[to.variable.0].take() else { return wrong(to.span, "it has no value yet") };
        let mut chosen = chosen;
        if !is_outer && !was_laned && (chosen.laned || new.is_laned()) {
            old = match old {
                Value::Reals(tensor) => Value::Reals(self.laned(&tensor)),
                Value::Ints(ints) => {
                    let lanes = self.lane_count();
                    let values: Vec<i64> = (0..lanes).flat_map(|_| ints.values.iter().copied()).collect();
                    Value::Ints(Ints { laned: true, values: values.into(), ..ints })
                }
                other => other,
            };
            chosen = self.places(&dims, true, &selections, to.span)?;
        }
        let result = self.write(&mut old, &chosen, new);
        self.values[to.variable.0] = Some(old);
        result
    }

    /// Assigns a known number to one element among known ones, if that is what is to be done.
    fn assigned_element(&mut self, to: &LValue, new: &Value) -> Run<bool> {
        let is_known = match (&self.values[to.variable.0], new) {
            (Some(Value::Ints(_)), Value::Int(_)) => true,
            (Some(Value::Reals(tensor)), Value::Real(_)) => tensor.known().is_some(),
            _ => false,
        };
        if !is_known {
            return Ok(false);
        }
        let Some(at) = self.place_of(to.variable, &to.indices, to.span)? else { return Ok(false) };
        match (&mut self.values[to.variable.0], new) {
            (Some(Value::Ints(ints)), Value::Int(x)) => Arc::make_mut(&mut ints.values)[at] = *x,
            (Some(Value::Reals(Tensor { elements: Elements::Data(values), .. })), Value::Real(x)) => {
                Arc::make_mut(values)[at] = *x;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `x += a` in all lanes.
    fn add_all_lanes(&mut self, to: &LValue, added: &Expression, span: Span) -> Run<()> {
        let value = self.expression(added)?;
        let mut term = self.tensor(&value);
        if !term.laned {
            term = self.laned(&term);
        }
        let sum = match term.known() {
            // A column of data would stay in the graph.
            Some(values) => Tensor::number(values.iter().sum()),
            None => {
                let node = self.node(&term);
                Tensor::scalar(self.graph.sum(node))
            }
        };
        let old = match self.values[to.variable.0].clone() {
            Some(old) => self.tensor(&old),
            None => return wrong(to.span, "it has no value yet"),
        };
        let new = self.add(&old, &sum, span)?;
        self.values[to.variable.0] = Some(self.settled(new.into()));
        Ok(())
    }

    fn old(&mut self, to: &LValue) -> Run<Value> {
        if to.indices.is_empty() {
            self.note_read(to.variable)?;
            return match self.values[to.variable.0].clone() {
                Some(value) => Ok(value),
                None => wrong(to.span, "it has no value yet"),
            };
        }
        self.element_of(to.variable, &to.indices, to.ty, to.span)
    }

    /// Writes elements; a scalar lane serves all elements of one.
    fn write(&mut self, old: &mut Value, chosen: &Places, new: Value) -> Run<()> {
        let lanes = if chosen.laned { self.lane_count() } else { 1 };
        let per_lane = chosen.places.len() / lanes.max(1);
        let new_laned = new.is_laned();
        let from = |k: usize| if new_laned || lanes == 1 { k } else { k % per_lane.max(1) };
        match (old, new) {
            (Value::Ints(old), new) => {
                let Some(new) = self.ints(&new) else { return Err(Stop::Lanes) };
                let values = Arc::make_mut(&mut old.values);
                for (k, &place) in chosen.places.iter().enumerate() {
                    values[place as usize] = new.values[from(k)];
                }
            }
            (Value::Reals(old), new) => {
                let new = self.tensor(&new);
                if let (Elements::Data(values), Elements::Data(new)) = (&mut old.elements, &new.elements) {
                    let values = Arc::make_mut(values);
                    for (k, &place) in chosen.places.iter().enumerate() {
                        values[place as usize] = new[from(k)];
                    }
                    return Ok(());
                }
                let count = old.count() * if old.laned { self.lane_count() } else { 1 };
                // All elements in their order are a node as it is.
                let is_all =
                    chosen.places.len() == count && chosen.places.iter().enumerate().all(|(k, &p)| k as u32 == p);
                if is_all && (new_laned || lanes == 1) && matches!(new.elements, Elements::Whole(_)) {
                    old.elements = new.elements;
                    return Ok(());
                }
                if !matches!(old.elements, Elements::Mixed(_)) {
                    let all: Vec<Element> = (0..count).map(|k| old.elements.at(k)).collect();
                    old.elements = Elements::Mixed(all.into());
                }
                if let Elements::Mixed(all) = &mut old.elements {
                    let all = Arc::make_mut(all);
                    for (k, &place) in chosen.places.iter().enumerate() {
                        all[place as usize] = new.elements.at(from(k));
                    }
                }
            }
            _ => return Err(Stop::Lanes),
        }
        Ok(())
    }
}
