//! Data against their declarations: names, types, sizes and constraints.

use crate::constrained;
use crate::data::{Data, DataNumbers, DataValue};
use crate::interface::DeclaredVariable;
use crate::interpreter::{Interpreter, Run};
use crate::value::{Ints, Tensor, Value};
use octopus_stan::{BaseType, Constraint, Declaration, Expression, Statement, StatementKind, VariableId};

/// What a bound asks of a number.
type Asks = fn(f64, f64) -> bool;

/// Wrong values of one variable that are named.
const SHOWN: usize = 3;

/// Gives the data block its values, and adds each fault of the data to `problems`. Data that are `drawn` later have none.
pub(crate) fn bind_data(
    me: &mut Interpreter<'_>,
    data: &Data,
    drawn: &[VariableId],
    problems: &mut Vec<String>,
) -> Run<()> {
    let program = me.program;
    for statement in &program.data {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        // Sizes may need a variable that is missing: then nothing can be said of this one.
        let missing = sizes_missing(me, declaration);
        let name = &program.variables[declaration.variable.0].name;
        if drawn.contains(&declaration.variable) && !missing {
            me.declare(declaration)?;
            continue;
        }
        match data.get(name) {
            None => problems.push(format!(
                "{}: `{name}` is missing; it is {}: add it to the data (in commands: --set {name}=VALUE)",
                data.source(),
                words(me, statement)
            )),
            Some(_) if missing => {}
            Some(value) => {
                let found = value_of(me, declaration, statement, (data.source_of(name), value), false, problems)?;
                me.values[declaration.variable.0] = found;
            }
        }
    }
    Ok(())
}

/// The variables of the data that the program does not ask for.
pub(crate) fn unused(me: &Interpreter<'_>, data: &Data) -> Vec<String> {
    let is_asked = |name: &str| {
        me.program.data.iter().any(|statement| match &statement.kind {
            StatementKind::Declare(declaration) => me.program.variables[declaration.variable.0].name == name,
            _ => false,
        })
    };
    data.names()
        .filter(|name| !is_asked(name))
        .map(|name| format!("{}: the program has no data `{name}`", data.source_of(name)))
        .collect()
}

fn sizes_missing(me: &Interpreter<'_>, declaration: &Declaration) -> bool {
    let mut missing = false;
    let statement = Statement { kind: StatementKind::Declare(declaration.clone()), span: Default::default() };
    crate::uses::for_each_expression(std::slice::from_ref(&statement), &mut |expression: &Expression| {
        if let octopus_stan::ExpressionKind::Variable(id) = expression.kind {
            missing |= me.values[id.0].is_none();
        }
    });
    missing
}

/// `declared array[] int<lower=0> (model.stan:4:3)`
fn words(me: &Interpreter<'_>, statement: &Statement) -> String {
    let StatementKind::Declare(declaration) = &statement.kind else { return String::new() };
    let variable = &me.program.variables[declaration.variable.0];
    let place = me.program.place(variable.span);
    let whole = DeclaredVariable::of(me.program, declaration);
    format!("declared {} ({}:{}:{})", whole.text(), place.file, place.line, place.column)
}

/// A value with its source, held to its declaration; `None` where it does not fit, which is added to `problems`. Where chains
/// start, a value must be finite and `inside` of its bounds.
pub(crate) fn value_of(
    me: &mut Interpreter<'_>,
    declaration: &Declaration,
    statement: &Statement,
    (source, value): (&str, &DataValue),
    inside: bool,
    problems: &mut Vec<String>,
) -> Run<Option<Value>> {
    let variable = &me.program.variables[declaration.variable.0];
    let (name, ty) = (variable.name.clone(), variable.ty);
    let dims = me.sizes_of(declaration)?;
    let declared = words(me, statement);
    let count: usize = dims.iter().product();
    // One element stands for an array of one, and nothing for one without elements.
    let fits = value.shape == dims || count == value.numbers.len() && (count == 0 || value.shape.is_empty());
    if !fits {
        problems
            .push(format!("{source}: `{name}` has sizes {:?}, but {dims:?} are needed: it is {declared}", value.shape));
        return Ok(None);
    }
    let before = problems.len();
    let made = match (&value.numbers, ty.is_int()) {
        (DataNumbers::Ints(values), true) => {
            if let Some(place) = values.iter().position(|&x| i32::try_from(x).is_err()) {
                let (at, x) = (index(&name, &dims, place), values[place]);
                problems.push(format!("{source}: `{at}` is {x}, which is no integer of 32 bits; it is {declared}"));
            }
            Value::from(Ints { dims: dims.clone(), laned: false, values: values.clone().into() })
        }
        (DataNumbers::Ints(values), false) => {
            Tensor::data(ty, dims.clone(), values.iter().map(|&x| x as f64).collect()).into()
        }
        (DataNumbers::Reals(values), false) => Tensor::data(ty, dims.clone(), values.clone()).into(),
        (DataNumbers::Reals(values), true) if count == 0 && values.is_empty() => {
            Ints { dims: dims.clone(), laned: false, values: Vec::new().into() }.into()
        }
        (DataNumbers::Reals(values), true) => {
            let place = values.iter().position(|x| x.fract() != 0.0).unwrap_or(0);
            let (at, x) = (index(&name, &dims, place), values[place]);
            problems.push(format!("{source}: `{at}` is the real {x:?}, but `{name}` is {declared}"));
            return Ok(None);
        }
    };
    let reals = me.tensor(&made);
    let numbers = reals.known().unwrap_or_default().to_vec();
    if let Some(place) = numbers.iter().position(|x| inside && !x.is_finite()) {
        let (at, x) = (index(&name, &dims, place), numbers[place]);
        problems.push(format!("{source}: `{at}` is {x}, and no chain can start there; it is {declared}"));
        return Ok(None);
    }
    let (above, below): ((&str, Asks), (&str, Asks)) = match inside {
        true => ((">", |x, bound| x > bound), ("<", |x, bound| x < bound)),
        false => ((">=", |x, bound| x >= bound), ("<=", |x, bound| x <= bound)),
    };
    let mut check = |me: &mut Interpreter<'_>, bound: &Expression, (sign, asks): (&str, Asks)| -> Run<()> {
        let bound = me.expression(bound)?;
        let bound = me.tensor(&bound);
        let Some(bounds) = bound.known() else { return Ok(()) };
        let at = |place: usize| bounds.get(if bounds.len() == 1 { 0 } else { place }).copied().unwrap_or(f64::NAN);
        let wrong: Vec<usize> = (0..numbers.len()).filter(|&place| !asks(numbers[place], at(place))).collect();
        for &place in wrong.iter().take(SHOWN) {
            let (which, x, limit) = (index(&name, &dims, place), numbers[place], at(place));
            problems.push(format!("{source}: `{which}` is {x}, but must be {sign} {limit}: `{name}` is {declared}"));
        }
        if wrong.len() > SHOWN {
            problems.push(format!("{source}: and {} more of `{name}`", wrong.len() - SHOWN));
        }
        Ok(())
    };
    match &declaration.constraint {
        Constraint::Lower(lower) => check(me, lower, above)?,
        Constraint::Upper(upper) => check(me, upper, below)?,
        Constraint::LowerUpper(lower, upper) => {
            check(me, lower, above)?;
            check(me, upper, below)?;
        }
        constraint => {
            let inner = &dims[usize::from(ty.arrays)..];
            let (length, columns) = (inner.iter().product(), inner.get(1).copied().unwrap_or(1));
            for (copy, values) in numbers.chunks(usize::max(length, 1)).enumerate() {
                if let Some(reason) = constrained::fault(constraint, values, columns) {
                    problems
                        .push(format!("{source}: `{}` {reason}; it is {declared}", index(&name, &dims, copy * length)));
                }
            }
        }
    }
    Ok((problems.len() == before || ty.base == BaseType::Int).then_some(made))
}

/// `y[3]`, counted from 1.
fn index(name: &str, dims: &[usize], place: usize) -> String {
    if dims.is_empty() {
        return name.to_owned();
    }
    let mut rest = place;
    let mut at = vec![0; dims.len()];
    for (index, &size) in at.iter_mut().zip(dims).rev() {
        *index = rest % size.max(1) + 1;
        rest /= size.max(1);
    }
    let at: Vec<String> = at.iter().map(usize::to_string).collect();
    format!("{name}[{}]", at.join(","))
}
