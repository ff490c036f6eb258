//! Expressions.

use super::arithmetic::sizes;
use super::{Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Ints, Tensor, Value};
use octopus_program::Op;
use octopus_stan::{BaseType, BinaryOp, Expression, ExpressionKind, Span, StanType, UnaryOp};

impl Interpreter<'_> {
    /// Evaluates an expression; the value has the expression's type.
    pub(crate) fn expression(&mut self, expression: &Expression) -> Run<Value> {
        match &expression.kind {
            ExpressionKind::Variable(id) => {
                self.note_read(*id)?;
                match &self.values[id.0] {
                    Some(value) => Ok(value.clone()),
                    None => wrong(expression.span, "it has no value yet"),
                }
            }
            ExpressionKind::Int(x) => Ok(Value::Int(i64::from(*x))),
            ExpressionKind::Real(x) => Ok(Value::Real(*x)),
            _ => {
                let value = self.deeper(expression.span, |me| me.expression_inside(expression))?;
                self.worked(&value, expression.span)?;
                Ok(value)
            }
        }
    }

    fn expression_inside(&mut self, expression: &Expression) -> Run<Value> {
        let span = expression.span;
        let value = match &expression.kind {
            ExpressionKind::Variable(_) | ExpressionKind::Int(_) | ExpressionKind::Real(_) => {
                return self.expression(expression);
            }
            ExpressionKind::Target => {
                if self.lanes.is_some() {
                    return Err(Stop::Lanes);
                }
                let terms = self.graph.concat(&self.target);
                let sum = self.graph.sum(terms);
                Tensor::scalar(sum).into()
            }
            ExpressionKind::Promoted(inner) => {
                let value = self.expression(inner)?;
                if let Value::Int(x) = value { Value::Real(x as f64) } else { self.tensor(&value).into() }
            }
            ExpressionKind::Call(call) => self.call(call, Some(expression.ty), span)?,
            ExpressionKind::Array(elements) | ExpressionKind::Row(elements) => {
                let values = elements.iter().map(|element| self.expression(element)).collect::<Run<Vec<_>>>()?;
                self.stacked(&values, expression.ty, span)?
            }
            ExpressionKind::Index(inner, indices) => match &inner.kind {
                ExpressionKind::Variable(id) => self.element_of(*id, indices, expression.ty, span)?,
                _ => {
                    let value = self.expression(inner)?;
                    self.indexed(&value, indices, expression.ty, span)?
                }
            },
            ExpressionKind::Unary(op, operand) => {
                let value = self.expression(operand)?;
                self.unary(*op, &value, operand.ty, span)?
            }
            ExpressionKind::Binary(op, operands) => {
                if let BinaryOp::And | BinaryOp::Or = op {
                    return self.logical(*op, &operands.0, &operands.1);
                }
                let (a, b) = (self.expression(&operands.0)?, self.expression(&operands.1)?);
                self.binary(*op, (&a, operands.0.ty), (&b, operands.1.ty), span)?
            }
            ExpressionKind::Conditional(parts) => {
                let condition = self.expression(&parts.0)?;
                match self.truth_of(&condition) {
                    Some(truth) => self.expression(if truth { &parts.1 } else { &parts.2 })?,
                    None => {
                        let streams = self.random.clone();
                        let (yes, no) = (self.expression(&parts.1)?, self.expression(&parts.2)?);
                        if self.random != streams {
                            // Only one of them may draw.
                            return Err(Stop::Lanes);
                        }
                        if let (true, Some(chosen)) = (expression.ty.is_int(), self.chosen(&condition, &yes, &no)) {
                            return Ok(chosen);
                        }
                        if expression.ty.is_int() {
                            return Err(Stop::Lanes).or_else(|stop: Stop| self.branch_on_parameter(stop, parts.0.span));
                        }
                        let condition = self.tensor(&condition);
                        let (yes, no) = (self.tensor(&yes), self.tensor(&no));
                        self.apply(Op::Select, &[condition, yes, no], span)?.into()
                    }
                }
            }
        };
        let value = if self.is_on_draw { self.settled(value) } else { value };
        Ok(match value {
            Value::Reals(tensor) if tensor.ty != expression.ty && !expression.ty.is_int() => {
                tensor.with_type(expression.ty).into()
            }
            other => other,
        })
    }

    /// Whole numbers of which each lane has one of two, if the condition is known.
    fn chosen(&self, condition: &Value, yes: &Value, no: &Value) -> Option<Value> {
        let (condition, yes, no) = (self.tensor(condition), self.ints(yes)?, self.ints(no)?);
        let known = condition.known().filter(|_| condition.is_scalar() && condition.laned)?;
        if yes.dims != no.dims {
            return None;
        }
        let count = yes.count();
        let from = |ints: &Ints, lane: usize| if ints.laned { lane * count } else { 0 };
        let mut values = Vec::with_capacity(known.len() * count);
        for (lane, &truth) in known.iter().enumerate() {
            let chosen = if truth != 0.0 { &yes } else { &no };
            let from = from(chosen, lane);
            values.extend_from_slice(&chosen.values[from..from + count]);
        }
        Some(Ints { dims: yes.dims, laned: true, values: values.into() }.into())
    }

    /// Lanes that differ are bound one by one; parameters decide nothing.
    fn branch_on_parameter<T>(&self, stop: Stop, span: Span) -> Run<T> {
        if self.lanes.is_some() {
            return Err(stop);
        }
        wrong(
            span,
            "this depends on parameters: a branch on parameters is not supported; `condition ? a : b` of reals is",
        )
    }

    /// Whether a condition holds, if it does not depend on parameters and all lanes agree.
    pub(crate) fn truth_of(&self, value: &Value) -> Option<bool> {
        match value {
            Value::Int(x) => Some(*x != 0),
            Value::Real(x) => Some(*x != 0.0),
            Value::Ints(ints) => {
                let first = *ints.values.first()? != 0;
                ints.values.iter().all(|&x| (x != 0) == first).then_some(first)
            }
            Value::Reals(tensor) => {
                let values = tensor.known()?;
                let first = *values.first()? != 0.0;
                values.iter().all(|&x| (x != 0.0) == first).then_some(first)
            }
            Value::Void => None,
        }
    }

    /// Whether a condition holds.
    pub(crate) fn truth(&mut self, condition: &Expression) -> Run<bool> {
        let value = self.expression(condition)?;
        match self.truth_of(&value) {
            Some(truth) => Ok(truth),
            None => {
                self.note_branch(&value);
                self.branch_on_parameter(Stop::Lanes, condition.span)
            }
        }
    }

    /// A whole number that is the same in all lanes.
    pub(crate) fn whole_number(&mut self, expression: &Expression) -> Run<i64> {
        match self.expression(expression)? {
            Value::Int(x) => Ok(x),
            Value::Ints(ints) if ints.dims.is_empty() => self.same_in_lanes(&ints.values),
            _ => wrong(expression.span, "this must be a whole number that depends on no parameter"),
        }
    }

    fn logical(&mut self, op: BinaryOp, a: &Expression, b: &Expression) -> Run<Value> {
        let is_or = op == BinaryOp::Or;
        let first = self.expression(a)?;
        match self.truth_of(&first) {
            Some(truth) if truth == is_or => return Ok(Value::Int(i64::from(truth))),
            Some(_) => {
                let second = self.expression(b)?;
                return match self.truth_of(&second) {
                    Some(truth) => Ok(Value::Int(i64::from(truth))),
                    None => match second {
                        Value::Reals(_) => Ok(second),
                        // Comparisons of data are whole numbers.
                        Value::Ints(ints) => {
                            let truths: Vec<i64> = ints.values.iter().map(|&x| i64::from(x != 0)).collect();
                            Ok(Ints { values: truths.into(), ..ints }.into())
                        }
                        _ => self.branch_on_parameter(Stop::Lanes, b.span),
                    },
                };
            }
            None => {}
        }
        if let Value::Ints(_) = first {
            // The second may be meant for some of the lanes only.
            self.note_branch(&first);
            return Err(Stop::Lanes);
        }
        let (Value::Reals(first), second) = (first, self.expression(b)?) else {
            return self.branch_on_parameter(Stop::Lanes, a.span);
        };
        // Both depend on parameters, or one does.
        let (second, one, zero) = (self.tensor(&second), Tensor::number(1.0), Tensor::number(0.0));
        let second = self.apply(Op::Select, &[second, one.clone(), zero.clone()], b.span)?;
        let (yes, no) = if is_or { (one, second) } else { (second, zero) };
        Ok(self.apply(Op::Select, &[first, yes, no], a.span)?.into())
    }

    fn unary(&mut self, op: UnaryOp, value: &Value, ty: StanType, span: Span) -> Run<Value> {
        match (op, value) {
            (UnaryOp::Plus, value) => Ok(value.clone()),
            (UnaryOp::Negate, Value::Int(x)) => Ok(Value::Int(x.saturating_neg())),
            (UnaryOp::Negate, Value::Real(x)) => Ok(Value::Real(-x)),
            (UnaryOp::Negate, Value::Ints(ints)) => {
                let values: Vec<i64> = ints.values.iter().map(|x| x.saturating_neg()).collect();
                Ok(Ints { values: values.into(), ..ints.clone() }.into())
            }
            (UnaryOp::Negate, value) => {
                let tensor = self.tensor(value);
                Ok(self.apply(Op::Neg, &[tensor], span)?.into())
            }
            (UnaryOp::Not, Value::Ints(ints)) => {
                let values: Vec<i64> = ints.values.iter().map(|&x| i64::from(x == 0)).collect();
                Ok(Ints { values: values.into(), ..ints.clone() }.into())
            }
            (UnaryOp::Not, value) => match self.truth_of(value) {
                Some(truth) => Ok(Value::Int(i64::from(!truth))),
                None => {
                    let (tensor, zero, one) = (self.tensor(value), Tensor::number(0.0), Tensor::number(1.0));
                    Ok(self.apply(Op::Select, &[tensor, zero, one], span)?.into())
                }
            },
            (UnaryOp::Transpose, value) => {
                let tensor = self.tensor(value).with_type(ty);
                Ok(self.transpose(&tensor).into())
            }
        }
    }

    /// An operator between two values of these types.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        (a, a_type): (&Value, StanType),
        (b, b_type): (&Value, StanType),
        span: Span,
    ) -> Run<Value> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) if op != BinaryOp::Power && op != BinaryOp::ElementPower => {
                return whole(op, *a, *b, span).map(Value::Int);
            }
            (Value::Real(a), Value::Real(b)) => return Ok(real(op, *a, *b)),
            (Value::Int(a), Value::Real(b)) => return Ok(real(op, *a as f64, *b)),
            (Value::Real(a), Value::Int(b)) => return Ok(real(op, *a, *b as f64)),
            _ => {}
        }
        if a_type.is_int()
            && b_type.is_int()
            && !matches!(op, BinaryOp::Power | BinaryOp::ElementPower)
            && let (Some(a), Some(b)) = (self.ints(a), self.ints(b))
        {
            return self.whole_lanes(op, &a, &b, span);
        }
        let (a, b) = (self.tensor(a).with_type(a_type), self.tensor(b).with_type(b_type));
        let is_matrix = |ty: StanType| ty.arrays == 0 && ty.base == BaseType::Matrix;
        let is_vector = |ty: StanType| ty.arrays == 0 && ty.base.dimensions() > 0;
        let result = match op {
            BinaryOp::Add => self.add(&a, &b, span)?,
            BinaryOp::Subtract => self.sub(&a, &b, span)?,
            BinaryOp::Multiply if is_vector(a_type) && is_vector(b_type) => self.product(&a, &b, span)?,
            BinaryOp::Multiply | BinaryOp::ElementMultiply => self.mul(&a, &b, span)?,
            BinaryOp::Divide if is_matrix(b_type) && is_vector(a_type) && !a.laned && !b.laned => {
                self.right_divided(&a, &b, span)?
            }
            BinaryOp::Divide | BinaryOp::ElementDivide => self.div(&a, &b, span)?,
            BinaryOp::LeftDivide if a.laned || b.laned => return Err(Stop::Lanes),
            BinaryOp::LeftDivide => self.left_divided(&a, &b, span)?,
            BinaryOp::Power | BinaryOp::ElementPower => self.power(&a, &b, span)?,
            BinaryOp::Less | BinaryOp::GreaterOrEqual | BinaryOp::Greater | BinaryOp::LessOrEqual => {
                let (low, high) = if matches!(op, BinaryOp::Less | BinaryOp::GreaterOrEqual) { (a, b) } else { (b, a) };
                let less = self.apply(Op::Less, &[low, high], span)?;
                if matches!(op, BinaryOp::Less | BinaryOp::Greater) {
                    less
                } else {
                    self.sub(&Tensor::number(1.0), &less, span)?
                }
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let below = self.apply(Op::Less, &[a.clone(), b.clone()], span)?;
                let above = self.apply(Op::Less, &[b, a], span)?;
                let differ = self.add(&below, &above, span)?;
                if op == BinaryOp::NotEqual { differ } else { self.sub(&Tensor::number(1.0), &differ, span)? }
            }
            _ => return wrong(span, "this operator takes whole numbers that depend on no parameter"),
        };
        // Comparisons of data are whole numbers.
        if op.compares()
            && let Some(values) = result.known()
        {
            let values: Vec<i64> = values.iter().map(|&x| x as i64).collect();
            return Ok(Ints { dims: result.dims.clone(), laned: result.laned, values: values.into() }.into());
        }
        Ok(result.into())
    }

    fn whole_lanes(&self, op: BinaryOp, a: &Ints, b: &Ints, span: Span) -> Run<Value> {
        let laned = a.laned || b.laned;
        let dims = if a.dims.is_empty() { b.dims.clone() } else { a.dims.clone() };
        if !a.dims.is_empty() && !b.dims.is_empty() && a.dims != b.dims {
            return wrong(span, format!("sizes differ: {} and {}", sizes(&a.dims), sizes(&b.dims)));
        }
        let count: usize = dims.iter().product();
        let lanes = if laned { self.lane_count() } else { 1 };
        let at = |ints: &Ints, k: usize| {
            let place = match (ints.laned, ints.dims.is_empty()) {
                (false, true) => 0,
                (true, true) => k / count.max(1),
                (false, false) => k % count.max(1),
                (true, false) => k,
            };
            ints.values[place]
        };
        let values = (0..lanes * count).map(|k| whole(op, at(a, k), at(b, k), span)).collect::<Run<Vec<i64>>>()?;
        Ok(Ints { dims, laned, values: values.into() }.into())
    }

    /// Values of equal sizes, one after the other in a new first dimension.
    pub(crate) fn stacked(&mut self, values: &[Value], ty: StanType, span: Span) -> Run<Value> {
        let inner = values.first().map(|value| value.dims().to_vec()).unwrap_or_default();
        if let Some(other) = values.iter().find(|value| value.dims() != inner) {
            return wrong(span, format!("sizes differ: {} and {}", sizes(&inner), sizes(other.dims())));
        }
        let dims: Vec<usize> = std::iter::once(values.len()).chain(inner).collect();
        let laned = values.iter().any(Value::is_laned);
        let lanes = if laned { self.lane_count() } else { 1 };
        let count = self.room(&dims, span)?;
        self.room(&[count, lanes], span)?;
        if ty.is_int() {
            let all: Option<Vec<Ints>> = values.iter().map(|value| self.ints(value)).collect();
            let Some(all) = all else {
                return wrong(span, "whole numbers that depend on parameters cannot be kept in an array");
            };
            let mut numbers = Vec::new();
            for lane in 0..lanes {
                for ints in &all {
                    let (count, lane) = (ints.count(), if ints.laned { lane } else { 0 });
                    numbers.extend_from_slice(&ints.values[lane * count..(lane + 1) * count]);
                }
            }
            return Ok(Ints { dims, laned, values: numbers.into() }.into());
        }
        let all: Vec<Tensor> = values.iter().map(|value| self.tensor(value)).collect();
        let mut elements = Vec::new();
        for lane in 0..lanes {
            for tensor in &all {
                let (count, lane) = (tensor.count(), if tensor.laned { lane } else { 0 });
                elements.extend((lane * count..(lane + 1) * count).map(|k| tensor.elements.at(k)));
            }
        }
        Ok(Tensor::new(ty, dims, laned, super::nodes::elements_of(elements)).into())
    }

    /// Rows become columns.
    pub(crate) fn transpose(&mut self, a: &Tensor) -> Tensor {
        let ty = match a.ty.base {
            BaseType::Vector => StanType::ROW_VECTOR,
            BaseType::RowVector => StanType::VECTOR,
            _ => StanType::MATRIX,
        };
        let [rows, columns] = a.dims[..] else { return a.clone().with_type(ty) };
        let lanes = if a.laned { self.lane_count() } else { 1 };
        let count = rows * columns;
        let places = (0..lanes)
            .flat_map(|lane| {
                (0..count).map(move |k| (lane * count + (k % rows.max(1)) * columns + k / rows.max(1)) as u32)
            })
            .collect();
        let elements: Elements = self.pick(&a.elements, places);
        Tensor::new(ty, vec![columns, rows], a.laned, elements)
    }
}

/// An operator of whole numbers.
fn whole(op: BinaryOp, a: i64, b: i64, span: Span) -> Run<i64> {
    let truth = |condition: bool| Some(i64::from(condition));
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply | BinaryOp::ElementMultiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::IntegerDivide | BinaryOp::ElementDivide => a.checked_div(b),
        BinaryOp::Modulo => a.checked_rem(b),
        BinaryOp::Equal => truth(a == b),
        BinaryOp::NotEqual => truth(a != b),
        BinaryOp::Less => truth(a < b),
        BinaryOp::LessOrEqual => truth(a <= b),
        BinaryOp::Greater => truth(a > b),
        BinaryOp::GreaterOrEqual => truth(a >= b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
        _ => None,
    };
    match result {
        Some(result) => Ok(result),
        None => wrong(span, format!("{a} {} {b} is no whole number that can be kept", op.sign())),
    }
}

/// An operator of known reals.
fn real(op: BinaryOp, a: f64, b: f64) -> Value {
    let truth = |condition: bool| Value::Int(i64::from(condition));
    Value::Real(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply | BinaryOp::ElementMultiply => a * b,
        BinaryOp::Divide | BinaryOp::ElementDivide => a / b,
        BinaryOp::Power | BinaryOp::ElementPower => octopus_random::exact::pow(a, b),
        BinaryOp::Equal => return truth(a == b),
        BinaryOp::NotEqual => return truth(a != b),
        BinaryOp::Less => return truth(a < b),
        BinaryOp::LessOrEqual => return truth(a <= b),
        BinaryOp::Greater => return truth(a > b),
        BinaryOp::GreaterOrEqual => return truth(a >= b),
        BinaryOp::And => return truth(a != 0.0 && b != 0.0),
        BinaryOp::Or => return truth(a != 0.0 || b != 0.0),
        _ => f64::NAN,
    })
}
