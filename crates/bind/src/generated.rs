//! Generated quantities that are computed draw by draw: their statements run once for each draw, with its parameters known.
//!
//! So they may draw random numbers, branch on parameters and loop as long as a parameter says. An error in them, a `reject`
//! or a quantity outside of its bounds leaves that draw without generated quantities, as in Stan. `print` says nothing.

use crate::interpreter::{Budget, Flow, Interpreter, Run, Stop, wrong};
use crate::value::{Elements, Tensor, Value};
use octopus_random::Stream;
use octopus_stan::{Constraint, Declaration, Expression, StanProgram, StanType, Statement, StatementKind, VariableId};

/// A variable with its sizes.
#[derive(Clone, Debug)]
pub(crate) struct SizedVariable {
    pub(crate) id: VariableId,
    pub(crate) ty: StanType,
    pub(crate) dims: Vec<usize>,
}

impl SizedVariable {
    pub(crate) fn len(&self) -> usize {
        self.dims.iter().product()
    }
}

/// Why a draw has no generated quantities.
#[derive(Clone, Debug)]
pub(crate) struct BlockFailure {
    /// What is wrong, with its place in the program.
    pub(crate) reason: String,
    /// Whether the block had not come to its end after the steps that it may take.
    pub(crate) is_endless: bool,
}

/// The block `generated quantities`, ready to run on draws.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedBlock {
    program: StanProgram,
    /// Data and transformed data, by the variable's number.
    values: Vec<Option<Value>>,
    /// Parameters and transformed parameters, in the order of their numbers.
    known: Vec<SizedVariable>,
    /// The quantities, in their order.
    pub(crate) quantities: Vec<SizedVariable>,
    /// Declarations whose bounds must hold in the end.
    bounded: Vec<Statement>,
    uses_lanes: bool,
    limits: Budget,
}

impl GeneratedBlock {
    /// Prepares the block. `me` knows the data; `values` are the ones before parameters got theirs.
    pub(crate) fn new(me: &mut Interpreter<'_>, values: Vec<Option<Value>>, known: Vec<SizedVariable>) -> Run<Self> {
        let program = me.program;
        let mut quantities = Vec::new();
        for statement in &program.generated_quantities {
            if let StatementKind::Declare(declaration) = &statement.kind {
                let id = declaration.variable;
                quantities.push(SizedVariable { id, ty: program.variables[id.0].ty, dims: me.sizes_of(declaration)? });
            }
        }
        let bounded = program.generated_quantities.clone();
        Ok(Self { bounded, ..Self::of_statements(me, program.clone(), values, known, quantities) })
    }

    /// A block whose statements are `program`'s generated quantities, and which gives the values that `quantities` have then.
    pub(crate) fn of_statements(
        me: &Interpreter<'_>,
        program: StanProgram,
        values: Vec<Option<Value>>,
        known: Vec<SizedVariable>,
        quantities: Vec<SizedVariable>,
    ) -> Self {
        let (uses_lanes, limits) = (me.uses_lanes, me.budget.renewed());
        Self { program, values, known, quantities, bounded: Vec::new(), uses_lanes, limits }
    }

    /// The same, whose values obey the bounds of these declarations, or are none.
    pub(crate) fn within(self, bounded: Vec<Statement>) -> Self {
        Self { bounded, ..self }
    }

    /// Numbers of all quantities.
    pub(crate) fn width(&self) -> usize {
        self.quantities.iter().map(SizedVariable::len).sum()
    }

    /// Runs the block on a draw with these parameters and transformed parameters, and writes the quantities; NaN where the
    /// block fails, with the reason. All numbers have the last index fastest.
    pub(crate) fn run(&self, known: &[f64], random: Stream, out: &mut [f64]) -> Result<(), BlockFailure> {
        let mut me = Interpreter::on_draw(&self.program, self.values.clone(), random);
        me.uses_lanes = self.uses_lanes;
        me.budget = self.limits;
        let result = self.ran(&mut me, known, out);
        result.map_err(|stop| {
            out.fill(f64::NAN);
            let reason = match stop {
                Stop::Wrong(span, message) => {
                    let place = self.program.place(span);
                    format!("{}:{}:{}: {message}", place.file, place.line, place.column)
                }
                Stop::Lanes => "sizes that differ over the passes of a loop are not supported here".into(),
            };
            BlockFailure { reason, is_endless: me.budget.is_spent() }
        })
    }

    fn ran(&self, me: &mut Interpreter<'_>, known: &[f64], out: &mut [f64]) -> Run<()> {
        let mut rest = known;
        for variable in &self.known {
            let (own, after) = rest.split_at(variable.len().min(rest.len()));
            let tensor = Tensor::new(variable.ty, variable.dims.clone(), false, Elements::Data(own.into()));
            me.values[variable.id.0] = Some(tensor.into());
            rest = after;
        }
        match me.statements(&self.program.generated_quantities)? {
            Flow::On | Flow::Return(_) | Flow::Break | Flow::Continue => {}
        }
        demand_bounds(me, &self.bounded)?;
        let mut from = 0;
        for variable in &self.quantities {
            let Some(value) = me.values[variable.id.0].take() else { continue };
            let out = &mut out[from..from + variable.len()];
            from += variable.len();
            match value.numbers() {
                Some(values) => out.iter_mut().zip(values).for_each(|(out, x)| *out = x),
                None => out.fill(f64::NAN),
            }
        }
        Ok(())
    }
}

/// Demands, in a run on a draw, that declared variables obey their bounds.
pub(crate) fn demand_bounds(me: &mut Interpreter<'_>, statements: &[Statement]) -> Run<()> {
    let program = me.program;
    for_each_bound(statements, |declaration, bound, is_lower| {
        let value = me.values[declaration.variable.0].clone();
        let (Some(value), limit) = (value, me.expression(bound)?) else { return Ok(()) };
        let (value, limit) = (me.tensor(&value), me.tensor(&limit));
        let (Some(values), Some(limits)) = (value.known(), limit.known()) else { return Ok(()) };
        let at = |place: usize| limits.get(if limits.len() == 1 { 0 } else { place }).copied().unwrap_or(f64::NAN);
        let is_outside = |(place, &x): (usize, &f64)| if is_lower { x < at(place) } else { x > at(place) };
        match values.iter().enumerate().find(|&element| is_outside(element)) {
            None => Ok(()),
            Some((place, x)) => {
                let (name, side) = (
                    &program.variables[declaration.variable.0].name,
                    if is_lower { "below its lower bound" } else { "above its upper bound" },
                );
                wrong(bound.span, format!("{name} is {x}, {side} {}", at(place)))
            }
        }
    })
}

/// Visits the bounds of the variables that a block declares at its top: each bound, and whether it is the lower one.
pub(crate) fn for_each_bound<'a>(
    statements: &'a [Statement],
    mut visit: impl FnMut(&'a Declaration, &'a Expression, bool) -> Run<()>,
) -> Run<()> {
    for statement in statements {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        let (lower, upper) = match &declaration.constraint {
            Constraint::Lower(lower) => (Some(lower), None),
            Constraint::Upper(upper) => (None, Some(upper)),
            Constraint::LowerUpper(lower, upper) => (Some(lower), Some(upper)),
            _ => continue,
        };
        if let Some(lower) = lower {
            visit(declaration, lower, true)?;
        }
        if let Some(upper) = upper {
            visit(declaration, upper, false)?;
        }
    }
    Ok(())
}
