//! Calls of the program's own functions and of the library's.

use super::library::{Arguments, Function, library};
use super::{Flow, Interpreter, Run, wrong};
use crate::value::{Tensor, Value};
use octopus_program::Op;
use octopus_stan::{Call, Callee, FunctionId, Span, StanType, Tilde};
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
                self.drops_constants = old && call.suffix.is_unnormalised();
                let result = self.own_function(id, values, span);
                self.drops_constants = old;
                result
            }
            Callee::Math => {
                let types = call.arguments.iter().map(|argument| argument.ty).collect();
                let drops = call.suffix.is_unnormalised() && self.drops_constants;
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

    fn own_function(&mut self, id: FunctionId, values: Vec<Value>, span: Span) -> Run<Value> {
        let program = self.program;
        let function = &program.functions[id.0];
        // Functions see their arguments and nothing else.
        let mut own = vec![None; self.values.len()];
        for (argument, value) in function.arguments.iter().zip(values) {
            own[argument.0] = Some(value);
        }
        let outside = std::mem::replace(&mut self.values, own);
        let flow = self.called(span, |me| me.statements(&function.body));
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
        }
        Ok(())
    }

    /// Takes away the logarithm of the probability between the bounds.
    fn truncation(&mut self, tilde: &Tilde, span: Span) -> Run<()> {
        let name = tilde.density.name.trim_end_matches("_lupdf").trim_end_matches("_lupmf").to_owned();
        let mut all = Vec::new();
        let mut types = Vec::new();
        for argument in &tilde.density.arguments {
            all.push(self.expression(argument)?);
            types.push(argument.ty);
        }
        let count = all.first().map_or(1, Value::count);
        let at = |me: &mut Self, bound: Value, function: &str| {
            let mut values = all.clone();
            values[0] = bound;
            let mut types = types.clone();
            types[0] = StanType::REAL;
            let arguments = Arguments { values, types, ty: StanType::REAL, drops: false, span };
            let value = me.library_function(&format!("{name}_{function}"), arguments)?;
            Ok(me.tensor(&value))
        };
        let lower = tilde.lower.as_ref().map(|bound| self.expression(bound)).transpose()?;
        let upper = tilde.upper.as_ref().map(|bound| self.expression(bound)).transpose()?;
        let log = match (lower, upper) {
            (Some(lower), None) => at(self, lower, "lccdf")?,
            (None, Some(upper)) => at(self, upper, "lcdf")?,
            (Some(lower), Some(upper)) => {
                let (below, above) = (at(self, lower, "lcdf")?, at(self, upper, "lcdf")?);
                // ln(e^above - e^below)
                let difference = self.sub(&below, &above, span)?;
                let ratio = self.apply(Op::Exp, &[difference], span)?;
                let rest = self.apply(Op::Ln1m, &[ratio], span)?;
                self.add(&above, &rest, span)?
            }
            (None, None) => return Ok(()),
        };
        // Parameters may be scalars while there are many variates.
        let factor = if log.is_scalar() { -(count as f64) } else { -1.0 };
        let scaled = self.mul(&log, &Tensor::number(factor), span)?;
        self.add_to_target(&scaled);
        Ok(())
    }
}
