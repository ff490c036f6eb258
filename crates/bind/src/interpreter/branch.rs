//! Branches of right-hand sides that depend on the time or the states: both are run, and each value is the one of the
//! branch that holds.

use super::nodes::elements_of;
use super::{Flow, Interpreter, Run, wrong};
use crate::uses::uses_of;
use crate::value::{Element, Tensor, Value};
use octopus_program::Op;
use octopus_stan::{Expression, Span, Statement, VariableId};
use std::collections::HashSet;

impl Interpreter<'_> {
    /// Runs both branches, inside of a right-hand side and where the condition is not known; none elsewhere.
    pub(super) fn both_branches(
        &mut self,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
    ) -> Run<Option<Flow>> {
        if self.right_hand_side.is_none() {
            return Ok(None);
        }
        let span = condition.span;
        let value = self.expression(condition)?;
        if self.truth_of(&value).is_some() {
            return Ok(None);
        }
        let holds = self.tensor(&value);
        let fails = self.apply(Op::Select, &[holds.clone(), Tensor::number(0.0), Tensor::number(1.0)], span)?;
        let before = self.values.clone();
        let first = self.returned_count();
        let yes = self.statements(then)?;
        self.narrow(first, &holds, span)?;
        let after_then = std::mem::replace(&mut self.values, before);
        let first = self.returned_count();
        let no = self.statements(otherwise)?;
        self.narrow(first, &fails, span)?;
        Ok(Some(match (yes, no) {
            (Flow::On, Flow::On) => {
                let inner: HashSet<VariableId> =
                    uses_of(then).declared.into_iter().chain(uses_of(otherwise).declared).collect();
                self.join(&holds, after_then, &inner, span)?;
                Flow::On
            }
            (Flow::Return(a), Flow::Return(b)) => Flow::Return(self.either(&holds, &a, &b, span)?),
            (Flow::Return(a), Flow::On) => {
                self.return_where(holds, a);
                Flow::On
            }
            (Flow::On, Flow::Return(b)) => {
                self.values = after_then;
                self.return_where(fails, b);
                Flow::On
            }
            _ => return wrong(span, "this depends on the time or the states: a loop cannot be left for that reason"),
        }))
    }

    fn return_where(&mut self, condition: Tensor, value: Value) {
        if let Some(side) = &mut self.right_hand_side {
            side.returned.push((condition, value));
        }
    }

    /// Values that were returned in a branch, from this one on, are returned where the branch is taken.
    fn narrow(&mut self, first: usize, condition: &Tensor, span: Span) -> Run<()> {
        for k in first..self.returned_count() {
            let Some(inner) = self.right_hand_side.as_ref().and_then(|side| side.returned.get(k)) else { break };
            let inner = inner.0.clone();
            let both = self.apply(Op::Mul, &[condition.clone(), inner], span)?;
            if let Some(returned) = self.right_hand_side.as_mut().and_then(|side| side.returned.get_mut(k)) {
                returned.0 = both;
            }
        }
        Ok(())
    }

    /// Gives each variable the value that it has after the branch that is taken; the run is after the second one.
    fn join(
        &mut self,
        holds: &Tensor,
        after_then: Vec<Option<Value>>,
        inner: &HashSet<VariableId>,
        span: Span,
    ) -> Run<()> {
        for (k, yes) in after_then.into_iter().enumerate() {
            if inner.contains(&VariableId(k)) {
                continue;
            }
            if let (Some(yes), Some(no)) = (yes, self.values[k].clone()) {
                self.values[k] = Some(self.either(holds, &yes, &no, span)?);
            }
        }
        Ok(())
    }

    /// `yes` where the condition holds, else `no`, element by element.
    pub(super) fn either(&mut self, condition: &Tensor, yes: &Value, no: &Value, span: Span) -> Run<Value> {
        if yes.dims() != no.dims() {
            return wrong(span, format!("the branches give values of sizes {:?} and {:?}", yes.dims(), no.dims()));
        }
        if let (Some(a), Some(b)) = (self.ints(yes), self.ints(no)) {
            if a.values == b.values {
                return Ok(yes.clone());
            }
            return wrong(span, "a whole number cannot depend on the time or the states");
        }
        let (a, b) = (self.tensor(yes), self.tensor(no));
        let count = a.count();
        self.work(count, span)?;
        let condition = self.node(condition);
        let mut elements = Vec::with_capacity(count);
        for k in 0..count {
            let (a, b) = (a.elements.at(k), b.elements.at(k));
            let is_same = match (a, b) {
                (Element::Known(a), Element::Known(b)) => a.to_bits() == b.to_bits(),
                _ => a == b,
            };
            elements.push(if is_same {
                a
            } else {
                let (a, b) = (self.node_of_elements(&[a]), self.node_of_elements(&[b]));
                Element::Of(self.graph.apply(Op::Select, &[condition, a, b]), 0)
            });
        }
        Ok(Tensor { elements: elements_of(elements), ..a }.into())
    }
}
