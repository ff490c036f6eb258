//! Calls of the program's own functions and of the library's.

use super::library::{Arguments, Function, library};
use super::{Flow, Interpreter, Run, wrong};
use crate::value::Value;
use octopus_stan::{Call, Callee, Expression, ExpressionKind, FunctionId, Span, StanType, Suffix, Tilde};
use std::rc::Rc;

impl Interpreter<'_> {
    /// Calls a function; `ty` is the type of its result.
    pub(crate) fn call(&mut self, call: &Call, ty: Option<StanType>, span: Span) -> Run<Value> {
        let mut values = Vec::with_capacity(call.arguments.len());
        for (argument, wanted) in call.arguments.iter().zip(&call.signature.arguments) {
            let value = self.expression(argument)?;
            values.push(if wanted.ty.is_int() || !argument.ty.is_int() {
                value
            } else if let Value::Int(x) = value {
                Value::Real(x as f64)
            } else {
                self.tensor(&value).with_type(wanted.ty).into()
            });
        }
        match call.callee {
            Callee::User(id) => {
                let old = self.drops_constants;
                let passes_on = call.suffix.is_unnormalised() || call.suffix == Suffix::Target;
                self.drops_constants = old && passes_on;
                let result = self.own_function(id, values, span);
                self.drops_constants = old;
                result
            }
            Callee::Solver(id) => self.solved(id, call, &values, ty.unwrap_or(StanType::REAL), span),
            Callee::Math => {
                let types = call.arguments.iter().map(|argument| argument.ty).collect();
                let drops = call.suffix.is_unnormalised() && self.drops_constants && !self.keeps_constants;
                let arguments = Arguments { values, types, ty: ty.unwrap_or(StanType::REAL), drops, span };
                self.library_function(&call.name, arguments)
            }
        }
    }

    pub(crate) fn library_function(&mut self, name: &str, arguments: Arguments) -> Run<Value> {
        let function = match self.functions.get(name) {
            Some(known) => Some(known.clone()),
            None => library(name).map(|function| {
                let function: Rc<Function> = Rc::from(function);
                self.functions.insert(name.to_owned(), function.clone());
                function
            }),
        };
        match function {
            Some(function) => function(self, &arguments),
            None => wrong(arguments.span, format!("the function `{name}` is not supported yet")),
        }
    }

    pub(super) fn own_function(&mut self, id: FunctionId, values: Vec<Value>, span: Span) -> Run<Value> {
        let program = self.program;
        let function = &program.functions[id.0];
        // Functions see their arguments and nothing else.
        let mut own = vec![None; self.values.len()];
        for (argument, value) in function.arguments.iter().zip(values) {
            own[argument.0] = Some(value);
        }
        let passed = own.iter().flatten().map(Value::count).sum();
        let outside = std::mem::replace(&mut self.values, own);
        let returned = self.returned_count();
        let flow = self.called(span, |me| {
            me.hold(0, passed, span)?;
            let flow = me.statements(&function.body)?;
            me.with_returned(returned, flow, span)
        });
        self.values = outside;
        match flow? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::Void),
        }
    }

    /// `y ~ d(a)`, without the terms that depend on no parameter.
    pub(crate) fn tilde(&mut self, tilde: &Tilde, span: Span) -> Run<()> {
        let old = std::mem::replace(&mut self.drops_constants, true);
        let value = self.call(&tilde.density, Some(StanType::REAL), span);
        self.drops_constants = old;
        let value = value?;
        let value = self.tensor(&value);
        self.add_to_target(&value);
        if tilde.lower.is_some() || tilde.upper.is_some() {
            self.truncation(tilde, span)?;
        } else if is_normal(&tilde.density) {
            self.note_normal(span);
        }
        Ok(())
    }

    /// `target += value`
    pub(crate) fn increment(&mut self, value: &Expression, span: Span) -> Run<()> {
        let computed = self.expression(value)?;
        let computed = self.tensor(&computed);
        self.add_to_target(&computed);
        if let ExpressionKind::Call(call) = &value.kind
            && is_normal(call)
        {
            self.note_normal(span);
        }
        Ok(())
    }
}

/// Whether a call is the library's density of numbers that are normal, or whose logarithms are.
fn is_normal(call: &Call) -> bool {
    let name = call.name.strip_suffix("_lpdf").or_else(|| call.name.strip_suffix("_lupdf")).unwrap_or(&call.name);
    call.callee == Callee::Math
        && matches!(name, "normal" | "std_normal" | "lognormal" | "multi_normal" | "multi_normal_cholesky")
}
