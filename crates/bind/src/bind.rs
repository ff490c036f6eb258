//! A program and its data become a model.

use crate::data::Data;
use crate::declared::{bind_data, unused};
use crate::error::BindError;
use crate::interpreter::{Interpreter, Run, Stop, is_supported};
use crate::shape::rows_to_columns;
use crate::transform;
use crate::uses::{for_each_expression, for_each_statement};
use crate::value::Tensor;
use octopus_density::{Dim, Labels, Layout, Role, Variable};
use octopus_program::{Graph, NodeId, Op, Program, ProgramDensity, ProgramError, evaluate};
use octopus_stan::{Callee, Constraint, ExpressionKind, FunctionId, ProgramBlock, Span, Statement, StatementKind};
use std::collections::HashSet;

/// Numbers that each draw has: a parameter, a transformed parameter or a generated quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawQuantity {
    /// Its name in the program.
    pub name: String,
    /// The block of its declaration.
    pub block: ProgramBlock,
    /// Its sizes; none for a scalar.
    pub shape: Vec<usize>,
    /// The place of its first number in a draw.
    pub offset: usize,
}

impl DrawQuantity {
    /// Returns how many numbers it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns Stan's names of its numbers, the first index fastest: `beta[1]`, `L[2,1]`.
    pub fn labels(&self) -> Vec<String> {
        if self.shape.is_empty() {
            return vec![self.name.clone()];
        }
        let label = |mut place: usize| {
            let index: Vec<String> = self
                .shape
                .iter()
                .map(|&size| {
                    let at = place % size;
                    place /= size;
                    (at + 1).to_string()
                })
                .collect();
            format!("{}[{}]", self.name, index.join(","))
        };
        (0..self.len()).map(label).collect()
    }
}

/// How a program is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BindOptions {
    /// Whether loops are bound for all of their passes at once where that can be; otherwise pass by pass.
    pub vectorise_loops: bool,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { vectorise_loops: true }
    }
}

/// A Stan program with its data: a log density of unconstrained coordinates, and what each draw has.
#[derive(Clone, Debug)]
pub struct BoundModel {
    /// The log density.
    graph: Graph,
    target: NodeId,
    /// The same with what each draw has besides.
    whole: Graph,
    quantities: Vec<DrawQuantity>,
    /// The numbers of each quantity with the last index fastest.
    outputs: Vec<NodeId>,
    /// What is odd about the data or left out.
    pub warnings: Vec<String>,
}

impl BoundModel {
    /// Binds a program to its data.
    ///
    /// # Errors
    /// [`BindError::Data`] where data do not fit, [`BindError::Refused`] where the program asks for what is not supported, or
    /// is wrong with these data.
    pub fn new(program: &octopus_stan::StanProgram, data: &Data) -> Result<Self, BindError> {
        Self::with_options(program, data, BindOptions::default())
    }

    /// Binds a program to its data.
    ///
    /// # Errors
    /// As [`BoundModel::new`].
    pub fn with_options(
        program: &octopus_stan::StanProgram,
        data: &Data,
        options: BindOptions,
    ) -> Result<Self, BindError> {
        refuse_unsupported(program)?;
        let mut me = Interpreter::new(program);
        me.uses_lanes = options.vectorise_loops;
        let refused = |stop: Stop| {
            let (span, message) = match stop {
                Stop::Wrong(span, message) => (span, message),
                Stop::Lanes => {
                    (Span::default(), "sizes that differ over the passes of a loop are not supported here".into())
                }
            };
            BindError::Refused(vec![program.diagnostic(span, message, None)])
        };
        let mut problems = Vec::new();
        bind_data(&mut me, data, &mut problems).map_err(refused)?;
        if !problems.is_empty() {
            return Err(BindError::Data(problems));
        }
        let mut warnings = unused(&me, data);
        me.statements(&program.transformed_data).map_err(refused)?;
        let mut quantities = Vec::new();
        let mut outputs = Vec::new();
        for statement in &program.parameters {
            if let StatementKind::Declare(declaration) = &statement.kind {
                let value = transform::parameter(&mut me, declaration, statement.span).map_err(refused)?;
                me.values[declaration.variable.0] = Some(value);
            }
        }
        record(&mut me, &program.parameters, ProgramBlock::Parameters, &mut quantities, &mut outputs);
        me.statements(&program.transformed_parameters).map_err(refused)?;
        guard_bounds(&mut me).map_err(refused)?;
        let block = ProgramBlock::TransformedParameters;
        record(&mut me, &program.transformed_parameters, block, &mut quantities, &mut outputs);
        me.statements(&program.model).map_err(refused)?;
        let terms = me.graph.concat(&me.target);
        let target = me.graph.sum(terms);
        let graph = me.graph.clone();
        let generated = unsupported(program, &[&program.generated_quantities]);
        let ran: Run<()> = match generated.first() {
            Some((span, name)) => Err(Stop::Wrong(*span, format!("`{name}` is not supported yet"))),
            None => me.statements(&program.generated_quantities).map(|_| ()),
        };
        match ran {
            Ok(()) => {
                let block = ProgramBlock::GeneratedQuantities;
                record(&mut me, &program.generated_quantities, block, &mut quantities, &mut outputs);
            }
            Err(Stop::Wrong(span, message)) => {
                let place = program.place(span);
                warnings.push(format!(
                    "{}:{}:{}: generated quantities are left out: {message}",
                    place.file, place.line, place.column
                ));
            }
            Err(Stop::Lanes) => {
                warnings.push("generated quantities are left out: sizes differ over the passes of a loop".into())
            }
        }
        Ok(Self { graph, target, whole: me.graph, quantities, outputs, warnings })
    }

    /// Compiles the log density with its gradient.
    ///
    /// # Errors
    /// [`BindError::Program`] where the graph is wrong.
    pub fn compile(&self) -> Result<Program, BindError> {
        Ok(Program::compile(&self.graph, self.target)?)
    }

    /// Returns the number of unconstrained coordinates.
    pub fn dim(&self) -> usize {
        self.graph.dim()
    }

    /// Returns what each draw has, in order.
    pub fn quantities(&self) -> &[DrawQuantity] {
        &self.quantities
    }

    /// Returns the names of the numbers that each draw has.
    pub fn labels(&self) -> Vec<String> {
        self.quantities.iter().flat_map(DrawQuantity::labels).collect()
    }

    /// Returns the numbers of a draw at an unconstrained point, in the order of [`labels`](Self::labels).
    pub fn expand(&self, position: &[f64]) -> Vec<f64> {
        let values = evaluate(&self.whole, &self.outputs, position);
        let sized = self.quantities.iter().zip(values);
        let in_stans_order = sized.flat_map(|(quantity, values)| {
            let places = rows_to_columns(&quantity.shape);
            places.into_iter().map(|place| values.get(place).copied().unwrap_or(f64::NAN)).collect::<Vec<f64>>()
        });
        in_stans_order.collect()
    }

    /// Compiles the model for samplers: its draws have the quantities as variables, the last index fastest.
    ///
    /// # Errors
    /// [`BindError::Program`] where the graph is wrong.
    pub fn density(&self, name: &str) -> Result<ProgramDensity, BindError> {
        // Generated quantities belong to the whole graph, in which the log density is the same node.
        let with_all = self.density_of(name, &self.whole, |_| true);
        match with_all {
            // A wrong generated quantity must not harm the density.
            Err(_) => Ok(self.density_of(name, &self.graph, |block| block != ProgramBlock::GeneratedQuantities)?),
            Ok(density) => Ok(density),
        }
    }

    fn density_of(
        &self,
        name: &str,
        graph: &Graph,
        keeps: impl Fn(ProgramBlock) -> bool,
    ) -> Result<ProgramDensity, ProgramError> {
        let mut variables = Vec::new();
        let mut nodes = Vec::new();
        for (quantity, &node) in self.quantities.iter().zip(&self.outputs) {
            if quantity.is_empty() || !keeps(quantity.block) {
                continue;
            }
            let dim = |(k, &size): (usize, &usize)| Dim {
                name: format!("{}_dim_{k}", quantity.name),
                labels: Labels::Range(size),
            };
            let dims = quantity.shape.iter().enumerate().map(dim).collect();
            variables.push(Variable { name: quantity.name.clone(), dims, role: Role::Derived });
            nodes.push(node);
        }
        ProgramDensity::compile(name, graph, self.target, Layout { variables }, &nodes)
    }

    /// Returns the log density at an unconstrained point, evaluated plainly.
    pub fn log_density(&self, position: &[f64]) -> f64 {
        evaluate(&self.graph, &[self.target], position)[0][0]
    }
}

/// A transformed parameter that is outside of its bounds has no density, as in Stan.
fn guard_bounds(me: &mut Interpreter<'_>) -> Run<()> {
    let program = me.program;
    for statement in &program.transformed_parameters {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        let (lower, upper) = match &declaration.constraint {
            Constraint::Lower(lower) => (Some(lower), None),
            Constraint::Upper(upper) => (None, Some(upper)),
            Constraint::LowerUpper(lower, upper) => (Some(lower), Some(upper)),
            _ => continue,
        };
        let variable = &program.variables[declaration.variable.0];
        let Some(value) = me.values[declaration.variable.0].clone().filter(|value| value.count() > 0) else { continue };
        let value = me.tensor(&value);
        for (bound, is_lower) in lower.map(|bound| (bound, true)).into_iter().chain(upper.map(|bound| (bound, false))) {
            let limit = me.expression(bound)?;
            let limit = me.tensor(&limit);
            let pair = if is_lower { [value.clone(), limit] } else { [limit, value.clone()] };
            let outside = me.apply(Op::Less, &pair, bound.span)?;
            let inside = me.sub(&Tensor::number(1.0), &outside, bound.span)?;
            let place = program.place(variable.span);
            let side = if is_lower { "below its lower" } else { "above its upper" };
            let message = format!("{} is {side} bound ({}:{}:{})", variable.name, place.file, place.line, place.column);
            let node = me.node(&inside);
            me.graph.guard(node, &message);
        }
    }
    Ok(())
}

/// Keeps the variables that a block declares at its top.
fn record(
    me: &mut Interpreter<'_>,
    statements: &[Statement],
    block: ProgramBlock,
    quantities: &mut Vec<DrawQuantity>,
    outputs: &mut Vec<NodeId>,
) {
    for statement in statements {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        let Some(value) = me.values[declaration.variable.0].clone() else { continue };
        let name = me.program.variables[declaration.variable.0].name.clone();
        let shape = value.dims().to_vec();
        let offset = quantities.last().map_or(0, |last| last.offset + last.len());
        let tensor = me.tensor(&value);
        let node = me.node(&tensor);
        let node = if tensor.count() > 0 { me.graph.broadcast(node, tensor.count()) } else { node };
        outputs.push(node);
        quantities.push(DrawQuantity { name, block, shape, offset });
    }
}

/// Functions that the statements, and what they call, need and that are not there.
fn unsupported(program: &octopus_stan::StanProgram, blocks: &[&[Statement]]) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<&[Statement]> = blocks.to_vec();
    let mut seen: HashSet<FunctionId> = HashSet::new();
    while let Some(statements) = waiting.pop() {
        let mut calls = Vec::new();
        for_each_expression(statements, &mut |expression| {
            if let ExpressionKind::Call(call) = &expression.kind {
                calls.push(call);
            }
        });
        for_each_statement(statements, &mut |statement| match &statement.kind {
            StatementKind::Call(call) => calls.push(call),
            StatementKind::Tilde(tilde) => calls.push(&tilde.density),
            _ => {}
        });
        for call in calls {
            match call.callee {
                Callee::User(id) if seen.insert(id) => waiting.push(&program.functions[id.0].body),
                Callee::Math if !is_supported(&call.name) => found.push((call.span, call.name.clone())),
                _ => {}
            }
        }
    }
    found
}

fn refuse_unsupported(program: &octopus_stan::StanProgram) -> Result<(), BindError> {
    let blocks: [&[Statement]; 4] =
        [&program.transformed_data, &program.parameters, &program.transformed_parameters, &program.model];
    let found = unsupported(program, &blocks);
    if found.is_empty() {
        return Ok(());
    }
    let said = |(span, name): (Span, String)| {
        program.diagnostic(span, format!("the function `{name}` is not supported yet"), None)
    };
    Err(BindError::Refused(found.into_iter().map(said).collect()))
}
