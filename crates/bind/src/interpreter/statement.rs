//! Statements.

use super::lanes::LanesOutcome;
use super::random::PassStreams;
use super::{Flow, Interpreter, Run, Stop, wrong};
use crate::value::{Element, Elements, Ints, Tensor, Value};
use octopus_program::Op;
use octopus_stan::{Declaration, Expression, Index, Printable, Span, StanType, Statement, StatementKind, VariableId};

/// Pieces that a loop is split into where a branch on data goes another way.
const MOST_PIECES: usize = 8;

impl Interpreter<'_> {
    /// Runs statements one after the other.
    pub(crate) fn statements(&mut self, statements: &[Statement]) -> Run<Flow> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::On => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::On)
    }

    pub(crate) fn statement(&mut self, statement: &Statement) -> Run<Flow> {
        self.step(statement.span)?;
        let flow = self.deeper(statement.span, |me| me.statement_inside(statement))?;
        // Statements within this one have left theirs already.
        self.term_spans.resize(self.target.len(), statement.span);
        self.guard_spans.resize(self.graph.guard_count(), statement.span);
        Ok(flow)
    }

    fn statement_inside(&mut self, statement: &Statement) -> Run<Flow> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Declare(declaration) => self.declare(declaration)?,
            StatementKind::Assign { to, op, value } => self.assign(to, *op, value, span)?,
            StatementKind::Target(value) | StatementKind::Jacobian(value) => self.increment(value, span)?,
            StatementKind::Tilde(tilde) => self.tilde(tilde, span)?,
            StatementKind::Call(call) => {
                self.call(call, None, span)?;
            }
            StatementKind::If { condition, then, otherwise } => {
                if only_rejects(then) && self.is_guarded(condition, then)? {
                    return self.statements(otherwise);
                }
                if let Some(flow) = self.both_branches(condition, then, otherwise)? {
                    return Ok(flow);
                }
                let chosen = if self.truth(condition)? { then } else { otherwise };
                return self.statements(chosen);
            }
            StatementKind::While { condition, body } => {
                while self.truth(condition)? {
                    self.step(span)?;
                    match self.statements(body)? {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Return(value) => return Ok(Flow::Return(value)),
                    }
                }
            }
            StatementKind::For { variable, from, to, body } => {
                let (from, to) = (self.whole_number(from)?, self.whole_number(to)?);
                return self.for_loop(*variable, from, to, body, span);
            }
            StatementKind::ForEach { variable, over, body } => return self.for_each(*variable, over, body, span),
            StatementKind::Block(body) | StatementKind::Profile { body, .. } => return self.statements(body),
            StatementKind::Return(value) => {
                let value = match value {
                    Some(value) => self.expression(value)?,
                    None => Value::Void,
                };
                return Ok(Flow::Return(value));
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Continue => return Ok(Flow::Continue),
            StatementKind::Print(_) => {}
            StatementKind::Reject(parts) | StatementKind::FatalError(parts) => {
                if self.lanes.is_some() {
                    return Err(Stop::Lanes);
                }
                let words = self.words(parts);
                return wrong(
                    span,
                    if self.is_on_draw { words } else { format!("the program rejects its data: {words}") },
                );
            }
        }
        Ok(Flow::On)
    }

    /// What a message of the program says; values that depend on parameters are left out.
    fn words(&mut self, parts: &[Printable]) -> String {
        let part = |part: &Printable| match part {
            Printable::Text(text) => text.clone(),
            Printable::Value(value) => match self.expression(value) {
                Ok(Value::Int(x)) => x.to_string(),
                Ok(Value::Real(x)) => x.to_string(),
                _ => "..".into(),
            },
        };
        parts.iter().map(part).collect()
    }

    fn for_loop(&mut self, variable: VariableId, from: i64, to: i64, body: &[Statement], span: Span) -> Run<Flow> {
        // A long loop in lanes of a short one: better the other way round, unless it cannot be.
        let around = self.lanes.as_ref().map_or(1, |lanes| lanes.all);
        let is_long = to.saturating_sub(from) > 16 && to.saturating_sub(from) > around as i64;
        if self.lanes.is_some() && is_long && !self.is_one_by_one(span) {
            return Err(Stop::Lanes);
        }
        let streams = self.pass_streams();
        let first = from;
        let streams_from = |from: i64| streams.as_ref().map(|streams| streams.after((from - first) as u64));
        let (mut from, mut pieces) = (from, 0);
        let mut to_here = to;
        while from <= to {
            match self.loop_in_lanes(variable, (from, to_here), body, span, streams_from(from).as_ref()) {
                LanesOutcome::Bound if to_here == to => return Ok(Flow::On),
                LanesOutcome::Bound => (from, to_here) = (to_here + 1, to),
                LanesOutcome::Split(at) if pieces < MOST_PIECES => {
                    pieces += 1;
                    to_here = from + at as i64 - 1;
                    continue;
                }
                _ if to_here < to => {
                    let numbers = (from..=to_here).map(Value::Int);
                    match self.passes(streams_from(from), numbers, variable, body, span)? {
                        Some(flow) => return Ok(flow),
                        None => (from, to_here) = (to_here + 1, to),
                    }
                }
                _ => break,
            }
        }
        let numbers = (from..=to).map(Value::Int);
        Ok(self.passes(streams_from(from), numbers, variable, body, span)?.unwrap_or(Flow::On))
    }

    /// Runs a loop pass by pass; returns how it ends, unless the next pass would come.
    fn passes(
        &mut self,
        streams: Option<PassStreams>,
        values: impl Iterator<Item = Value>,
        variable: VariableId,
        body: &[Statement],
        span: Span,
    ) -> Run<Option<Flow>> {
        let outside = self.random.clone();
        let mut end = None;
        for (number, value) in values.enumerate() {
            self.step(span)?;
            if let Some(streams) = &streams {
                self.random = Some(streams.pass(number as u64));
            }
            self.values[variable.0] = Some(value);
            match self.statements(body)? {
                Flow::On | Flow::Continue => {}
                Flow::Break => {
                    end = Some(Flow::On);
                    break;
                }
                Flow::Return(value) => {
                    end = Some(Flow::Return(value));
                    break;
                }
            }
        }
        self.random = outside;
        Ok(end)
    }

    fn for_each(&mut self, variable: VariableId, over: &Expression, body: &[Statement], span: Span) -> Run<Flow> {
        let all = self.expression(over)?;
        let dims = all.dims().to_vec();
        let ty = self.program.variables[variable.0].ty;
        let is_matrix = over.ty.arrays == 0 && dims.len() == 2;
        let count = if is_matrix { dims[0] * dims[1] } else { dims.first().copied().unwrap_or(0) };
        let mut elements = Vec::with_capacity(count);
        for k in 0..count {
            let places = if is_matrix { vec![k % dims[0], k / dims[0]] } else { vec![k] };
            elements.push(self.element_at(&all, &places, ty)?);
        }
        let streams = self.pass_streams();
        Ok(self.passes(streams, elements.into_iter(), variable, body, span)?.unwrap_or(Flow::On))
    }

    /// The element, or sub-container, at the first indices, counted from 0.
    pub(crate) fn element_at(&mut self, all: &Value, at: &[usize], ty: StanType) -> Run<Value> {
        let dims = all.dims().to_vec();
        let rest: usize = dims[at.len()..].iter().product();
        let first = at.iter().zip(&dims).fold(0, |before, (&k, &size)| before * size + k) * rest;
        let (laned, count) = (all.is_laned(), all.count());
        let lanes = if laned { self.lane_count() } else { 1 };
        let places: Vec<u32> =
            (0..lanes).flat_map(|lane| (0..rest).map(move |k| (lane * count + first + k) as u32)).collect();
        let dims = dims[at.len()..].to_vec();
        Ok(self.taken(all, super::index::Places { dims, laned, places }, ty))
    }

    /// A variable begins: with its value, or with none that means something.
    pub(crate) fn declare(&mut self, declaration: &Declaration) -> Run<()> {
        let id = declaration.variable;
        let ty = self.program.variables[id.0].ty;
        let dims = self.sizes_of(declaration)?;
        let before = self.values[id.0].as_ref().map_or(0, Value::count);
        self.hold(before, dims.iter().product(), self.program.variables[id.0].span)?;
        let value = match &declaration.value {
            Some(value) => {
                let span = value.span;
                let value = self.expression(value)?;
                let is_function_local = declaration.sizes.is_empty() && ty.dimensions() > 0;
                if !is_function_local && value.dims() != dims {
                    return wrong(
                        span,
                        format!("a value of sizes {:?} is given to a variable of sizes {dims:?}", value.dims()),
                    );
                }
                match value {
                    Value::Reals(tensor) => tensor.with_type(ty).into(),
                    Value::Int(_) | Value::Ints(_) if !ty.is_int() => self.tensor(&value).with_type(ty).into(),
                    other => other,
                }
            }
            None => nothing(ty, dims),
        };
        self.values[id.0] = Some(value);
        Ok(())
    }

    /// The sizes of a declaration, not below 0 and not endless.
    pub(crate) fn sizes_of(&mut self, declaration: &Declaration) -> Run<Vec<usize>> {
        let mut sizes = Vec::with_capacity(declaration.sizes.len());
        for size in &declaration.sizes {
            let number = self.whole_number(size)?;
            match usize::try_from(number) {
                Ok(number) => sizes.push(number),
                Err(_) => return wrong(size.span, format!("a size is {number}; it must not be below 0")),
            }
        }
        if let Some(first) = declaration.sizes.first() {
            self.room(&sizes, first.span)?;
        }
        Ok(sizes)
    }

    /// A variable's elements, without a copy of the whole.
    pub(crate) fn element_of(&mut self, id: VariableId, indices: &[Index], ty: StanType, span: Span) -> Run<Value> {
        if let Some(at) = self.place_of(id, indices, span)? {
            return Ok(match &self.values[id.0] {
                Some(Value::Ints(ints)) => Value::Int(ints.values[at]),
                Some(Value::Reals(tensor)) => match tensor.elements.at(at) {
                    Element::Known(x) => Value::Real(x),
                    element => Tensor::new(ty, Vec::new(), false, Elements::Mixed(vec![element].into())).into(),
                },
                _ => return wrong(span, "it has no elements"),
            });
        }
        let Some(value) = self.values[id.0].clone() else { return wrong(span, "it has no value yet") };
        if self.outer_of(id).is_some() {
            let dims = value.dims().to_vec();
            let selections = self.selections(&dims, indices, span)?;
            let places = self.places(&dims, value.is_laned(), &selections, span)?;
            if self.carried_reads().is_some()
                && let Some(value) = self.carried_elements(id, &places, ty)?
            {
                return Ok(value);
            }
            self.note_elements_read(id, &places.places, places.laned)?;
        }
        self.indexed(&value, indices, ty, span)
    }

    /// Makes `if (condition) reject(...)` a guard, where the condition depends on parameters: points at which the program
    /// rejects have no density.
    fn is_guarded(&mut self, condition: &Expression, then: &[Statement]) -> Run<bool> {
        let value = self.expression(condition)?;
        let Value::Reals(tensor) = &value else { return Ok(false) };
        if self.truth_of(&value).is_some() || tensor.known().is_some() {
            return Ok(false);
        }
        if self.lanes.is_some() {
            return Err(Stop::Lanes);
        }
        if !self.rejections_guard {
            return wrong(condition.span, "whether it rejects is known on a draw only");
        }
        let parts = then.iter().find_map(|statement| match &statement.kind {
            StatementKind::Reject(parts) | StatementKind::FatalError(parts) => Some(parts.as_slice()),
            _ => None,
        });
        let words = self.words(parts.unwrap_or_default());
        let place = self.program.place(condition.span);
        let message = format!("the program rejects: {words} ({}:{}:{})", place.file, place.line, place.column);
        let holds =
            self.apply(Op::Select, &[tensor.clone(), Tensor::number(0.0), Tensor::number(1.0)], condition.span)?;
        let node = self.node(&holds);
        self.graph.guard(node, &message);
        Ok(true)
    }

    fn is_one_by_one(&self, span: Span) -> bool {
        self.one_by_one.contains(&span)
    }
}

/// Whether statements reject and print, and do nothing else.
fn only_rejects(statements: &[Statement]) -> bool {
    let is_one = |statement: &Statement| match &statement.kind {
        StatementKind::Block(body) => only_rejects(body),
        kind => matches!(kind, StatementKind::Reject(_) | StatementKind::FatalError(_) | StatementKind::Print(_)),
    };
    let is_silent = |statement: &Statement| matches!(statement.kind, StatementKind::Print(_));
    statements.iter().all(is_one) && !statements.iter().all(is_silent)
}

/// A variable that has no value yet: NaN, as in Stan, and the least integer.
fn nothing(ty: StanType, dims: Vec<usize>) -> Value {
    let count = dims.iter().product();
    if ty.is_int() {
        Ints { dims, laned: false, values: vec![i64::from(i32::MIN); count].into() }.into()
    } else {
        Tensor::new(ty, dims, false, Elements::Data(vec![f64::NAN; count].into())).into()
    }
}
