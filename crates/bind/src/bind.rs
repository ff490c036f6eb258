//! A program and its data become a model.

use crate::data::Data;
use crate::declared::{bind_data, unused};
use crate::error::BindError;
use crate::generated::{GeneratedBlock, SizedVariable, for_each_bound};
use crate::generative::{Obstacle, ReadObservations, likelihood, observations};
use crate::interpreter::{Budget, Interpreter, RandomStreams, Run, Stop, is_supported};
use crate::normalised::NormalisedProgram;
use crate::observations::TraceGroups;
use crate::shape::rows_to_columns;
use crate::stan_density::{DensityParts, StanDensity, stream_at};
use crate::transform;
use crate::uses::calls_in;
use crate::value::{Tensor, Value};
use octopus_density::{Dim, Labels, Layout, Role, Variable};
use octopus_program::{
    Graph, NodeId, NormalStatement, Op, Program, ProgramDensity, ProgramError, TargetTerms, evaluate,
};
use octopus_random::{Purpose, Stream};
use octopus_stan::{Callee, Diagnostic, FunctionId, ProgramBlock, Span, Statement, StatementKind, VariableId};
use std::collections::HashSet;
use std::sync::Arc;

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
    /// Statements, passes of loops, operations and 16 elements of containers that are computed, at the most: more is an
    /// error, so that no program runs for ever. The default takes seconds.
    pub most_steps: u64,
    /// Elements that all variables have together, at the most.
    pub most_elements: usize,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self { vectorise_loops: true, most_steps: 100_000_000, most_elements: 1 << 26 }
    }
}

/// A Stan program with its data: a log density of unconstrained coordinates, and what each draw has.
#[derive(Clone, Debug)]
pub struct BoundModel {
    /// The log density.
    graph: Graph,
    target: NodeId,
    /// Its terms, and those that are normal distributions.
    terms: Vec<NodeId>,
    normals: Vec<NormalStatement>,
    /// The same with what each draw has besides.
    whole: Graph,
    quantities: Vec<DrawQuantity>,
    /// The numbers of the quantities that are compiled, which come first, with the last index fastest.
    outputs: Vec<NodeId>,
    /// How many bounds of compiled generated quantities do not hold.
    violations: Option<NodeId>,
    /// Generated quantities that are computed draw by draw.
    pub(crate) block: Option<GeneratedBlock>,
    groups: TraceGroups,
    /// What the sampling statements say of the observations, where generated quantities say nothing.
    pub(crate) read: Option<ReadObservations>,
    /// The statement in which log likelihoods cannot be told apart.
    unread: Option<Diagnostic>,
    normalised: Arc<NormalisedProgram>,
    /// What is odd about the data or left out.
    pub warnings: Vec<String>,
}

impl BoundModel {
    /// Binds a program to its data. Random numbers in `transformed data` are the same in every run.
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
        Ok(Self::bound(program, data, options, &[])?.0)
    }

    /// Binds a program to its data, some of which take the place of what the program makes of them; returns all data, too.
    pub(crate) fn bound(
        program: &octopus_stan::StanProgram,
        data: &Data,
        options: BindOptions,
        replaced: &[(VariableId, Value)],
    ) -> Result<(Self, Vec<Option<Value>>), BindError> {
        refuse_unsupported(program)?;
        let reading = likelihood(program);
        // The same program, with variables for log likelihoods.
        let extended = reading.as_ref().map_or(program, |reading| &reading.program);
        let mut me = Interpreter::new(extended);
        me.uses_lanes = options.vectorise_loops;
        me.budget = Budget::of(options);
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
        give_data(&mut me, data, &[], &mut problems).map_err(refused)?;
        if !problems.is_empty() {
            return Err(BindError::Data(problems));
        }
        let mut warnings = unused(&me, data);
        for (id, value) in replaced {
            me.values[id.0] = Some(value.clone());
        }
        // Numbers, not nodes: other graphs read them, too.
        let values: Vec<Option<Value>> =
            me.values.iter().map(|value| value.clone().map(|value| me.settled(value))).collect();
        let normalised = Arc::new(NormalisedProgram::new(&me, program, &values));
        let mut quantities = Vec::new();
        let mut outputs = Vec::new();
        run_parameters(&mut me).map_err(refused)?;
        let mut known = record(&mut me, &program.parameters, ProgramBlock::Parameters, &mut quantities, &mut outputs);
        me.statements(&program.transformed_parameters).map_err(refused)?;
        guard_bounds(&mut me).map_err(refused)?;
        let block = ProgramBlock::TransformedParameters;
        known.extend(record(&mut me, &program.transformed_parameters, block, &mut quantities, &mut outputs));
        me.statements(&program.model).map_err(refused)?;
        let terms = me.graph.concat(&me.target);
        let target = me.graph.sum(terms);
        let graph = me.graph.clone();
        let (all_terms, normals) = (me.target.clone(), me.normals.clone());
        me.rejections_guard = false;
        let lacking = unsupported(program, &[&program.generated_quantities]);
        let mut left_out = |span: Span, message: &str| {
            let place = program.place(span);
            warnings.push(format!(
                "{}:{}:{}: generated quantities are left out: {message}",
                place.file, place.line, place.column
            ));
        };
        let (mut violations, mut generated) = (None, None);
        let block = ProgramBlock::GeneratedQuantities;
        let in_graph =
            (lacking.is_empty() && !draws_random(&program.generated_quantities)).then(|| compiled_quantities(&mut me));
        if let Some((span, name)) = lacking.first() {
            left_out(*span, &format!("`{name}` is not supported yet"));
        } else if let Some(Ok(node)) = in_graph {
            violations = node;
            record(&mut me, &program.generated_quantities, block, &mut quantities, &mut outputs);
        } else {
            // The graph keeps what the attempt has left in it, and nobody asks for that.
            match GeneratedBlock::new(&mut me, values.clone(), known.clone()) {
                Ok(made) => {
                    for variable in &made.quantities {
                        let name = program.variables[variable.id.0].name.clone();
                        let offset = quantities.last().map_or(0, |last: &DrawQuantity| last.offset + last.len());
                        quantities.push(DrawQuantity { name, block, shape: variable.dims.clone(), offset });
                    }
                    generated = Some(made);
                }
                Err(Stop::Wrong(span, message)) => left_out(span, &message),
                Err(Stop::Lanes) => left_out(Span::default(), "sizes differ over the passes of a loop"),
            }
        }
        let mut groups = TraceGroups::find(program, &values, &quantities, &mut warnings);
        let (mut unread, mut read) = (None, None);
        if groups.log_likelihood.is_none() || groups.replicates.is_empty() {
            let before = me.graph.clone();
            let mut found = reading
                .as_ref()
                .map_err(Obstacle::clone)
                .and_then(|reading| observations(&mut me, program, reading, &values[..program.variables.len()], known));
            if let (Some(fault), None) = (me.graph.fault(), before.fault()) {
                found = Err(Obstacle::new(Span::default(), fault.to_string()));
            }
            match found {
                Ok(all) => read = groups.complete(all, &mut warnings),
                Err(obstacle) => {
                    // What the attempt has left must not harm the density.
                    me.graph = before;
                    unread = Some(obstacle.diagnostic(program, TELL));
                }
            }
        }
        // Conditions of generated quantities are none of the density.
        me.graph.keep_guards(graph.guard_count());
        let block = generated;
        let model = Self {
            graph,
            target,
            terms: all_terms,
            normals,
            whole: me.graph,
            quantities,
            outputs,
            violations,
            block,
            groups,
            read,
            unread,
            normalised,
            warnings,
        };
        Ok((model, values))
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

    /// Returns the data that the log likelihoods and the replicated data are of, if it is known which they are.
    pub fn observed(&self) -> &[crate::ObservedData] {
        &self.groups.observed
    }

    /// Returns the statement in which log likelihoods cannot be told apart, where there are none for that reason.
    pub fn unread(&self) -> Option<&Diagnostic> {
        self.unread.as_ref()
    }

    /// Returns the numbers of a draw at an unconstrained point, in the order of [`labels`](Self::labels). Random numbers
    /// come from a stream addressed by the point.
    pub fn expand(&self, position: &[f64]) -> Vec<f64> {
        let mut all: Vec<f64> = evaluate(&self.whole, &self.outputs, position).concat();
        if let Some(block) = &self.block {
            let mut own = vec![0.0; block.width()];
            // What fails is NaN.
            let _ = block.run(&all, stream_at(position), &mut own);
            all.extend(own);
        }
        let in_stans_order = self.quantities.iter().flat_map(|quantity| {
            let places = rows_to_columns(&quantity.shape);
            places.into_iter().map(|place| all.get(quantity.offset + place).copied().unwrap_or(f64::NAN))
        });
        in_stans_order.collect()
    }

    /// Compiles the model for samplers: its draws have the quantities as variables, the last index fastest.
    ///
    /// # Errors
    /// [`BindError::Program`] where the graph is wrong.
    pub fn density(&self, name: &str) -> Result<StanDensity, BindError> {
        // Generated quantities belong to the whole graph, in which the log density is the same node.
        let with_all = self.density_of(name, &self.whole, true);
        match with_all {
            // A wrong generated quantity must not harm the density.
            Err(_) => Ok(self.density_of(name, &self.graph, false)?),
            Ok(density) => Ok(density),
        }
    }

    fn density_of(&self, name: &str, graph: &Graph, with_generated: bool) -> Result<StanDensity, ProgramError> {
        let groups = if with_generated { self.groups.clone() } else { TraceGroups::default() };
        let mut nodes = Vec::new();
        let (mut all, mut variables, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        let mut generated = 0..0;
        let mut width = 0;
        for (k, quantity) in self.quantities.iter().enumerate() {
            let is_generated = quantity.block == ProgramBlock::GeneratedQuantities;
            if quantity.is_empty() || (is_generated && !with_generated) {
                continue;
            }
            let variable = variable_of(quantity);
            let place = quantity.offset..quantity.offset + quantity.len();
            if let Some(&node) = self.outputs.get(k) {
                nodes.push(node);
                all.push(variable.clone());
                width = place.end;
                if is_generated {
                    generated = if generated.is_empty() { place.clone() } else { generated.start..place.end };
                }
            }
            let is_in_a_group = groups.log_likelihood.as_ref() == Some(&place)
                || groups.replicates.iter().any(|own| own.place == place);
            if !is_in_a_group {
                variables.push(variable);
                kept.push(place);
            }
        }
        let mut bounds = 0..0;
        if let (true, Some(node)) = (with_generated, self.violations) {
            nodes.push(node);
            all.push(Variable { name: "violations".into(), dims: Vec::new(), role: Role::Derived });
            bounds = width..width + 1;
        }
        let compiled = {
            let target = TargetTerms { terms: &self.terms, statements: &self.normals };
            ProgramDensity::compile(name, graph, target, Layout { variables: all }, &nodes)?
        };
        let block = if with_generated { self.block.clone() } else { None };
        let layout = Layout { variables };
        let replicate = self.read.as_ref().and_then(|read| read.replicate.clone());
        let (mut terms, mut likelihood) = (None, None);
        if let Some(node) = self.read.as_ref().and_then(|read| read.terms).filter(|_| with_generated) {
            let mut graph = self.whole.clone();
            let nothing = graph.constant(0.0);
            let sum = graph.sum(node);
            let sum = graph.with_fewer_rows(sum);
            let of = |node: NodeId| {
                let target = TargetTerms { terms: &[nothing], statements: &[] };
                ProgramDensity::compile(name, &graph, target, terms_layout(graph.len(node)), &[node])
            };
            (terms, likelihood) = (Some(of(node)?), Some(of(sum)?));
        }
        Ok(StanDensity::new(DensityParts {
            compiled,
            block,
            layout,
            kept,
            bounds,
            generated,
            groups,
            terms,
            likelihood,
            replicate,
            normalised: Arc::clone(&self.normalised),
        }))
    }

    /// Returns the log density at an unconstrained point, evaluated plainly.
    pub fn log_density(&self, position: &[f64]) -> f64 {
        evaluate(&self.graph, &[self.target], position)[0][0]
    }
}

/// Gives the data their values, and what is computed of them before there are parameters, unless some are at fault.
pub(crate) fn give_data(
    me: &mut Interpreter<'_>,
    data: &Data,
    drawn: &[VariableId],
    problems: &mut Vec<String>,
) -> Run<()> {
    bind_data(me, data, drawn, problems)?;
    if problems.is_empty() {
        // Data that are simulated are the same in every run.
        me.random = Some(RandomStreams::one(Stream::new(0, 0, 0, Purpose::User)));
        me.statements(&me.program.transformed_data)?;
        me.random = None;
    }
    Ok(())
}

/// Makes the parameters of new coordinates.
fn run_parameters(me: &mut Interpreter<'_>) -> Run<()> {
    for statement in &me.program.parameters {
        if let StatementKind::Declare(declaration) = &statement.kind {
            me.room_for_parameter(declaration)?;
            let value = transform::parameter(me, declaration, statement.span)?;
            me.values[declaration.variable.0] = Some(value);
        }
    }
    Ok(())
}

/// Runs everything that the log density is made of, given the data.
pub(crate) fn run_density(me: &mut Interpreter<'_>) -> Run<()> {
    run_parameters(me)?;
    me.statements(&me.program.transformed_parameters)?;
    me.statements(&me.program.model)?;
    Ok(())
}

/// What to do where log likelihoods cannot be told apart.
const TELL: &str = "write `log_lik` and `y_rep` in the block `generated quantities`";

/// The layout of log likelihoods.
fn terms_layout(count: usize) -> Layout {
    let dims = vec![Dim { name: "term".into(), labels: Labels::Range(count) }];
    Layout { variables: vec![Variable { name: "terms".into(), dims, role: Role::Derived }] }
}

/// A quantity as a variable of the trace.
fn variable_of(quantity: &DrawQuantity) -> Variable {
    let dim = |(k, &size): (usize, &usize)| Dim { name: format!("{}_dim_{k}", quantity.name), labels: from_one(size) };
    let dims = quantity.shape.iter().enumerate().map(dim).collect();
    Variable { name: quantity.name.clone(), dims, role: Role::Derived }
}

/// A transformed parameter that is outside of its bounds has no density, as in Stan.
pub(crate) fn guard_bounds(me: &mut Interpreter<'_>) -> Run<()> {
    for (inside, message) in conditions(me, &me.program.transformed_parameters)? {
        me.graph.guard(inside, &message);
    }
    Ok(())
}

/// Adds generated quantities to the graph, if it can hold them; returns how many of their bounds do not hold.
fn compiled_quantities(me: &mut Interpreter<'_>) -> Run<Option<NodeId>> {
    me.statements(&me.program.generated_quantities)?;
    let conditions = conditions(me, &me.program.generated_quantities)?;
    let mut violations = Vec::new();
    for (inside, _) in conditions {
        let one = me.graph.constant(1.0);
        let outside = me.graph.sub(one, inside);
        violations.push(me.graph.sum(outside));
    }
    if violations.is_empty() {
        return Ok(None);
    }
    let violations = me.graph.concat(&violations);
    Ok(Some(me.graph.sum(violations)))
}

/// For each bound of a block's variables whether it holds, element by element, with what to say where it does not.
fn conditions(me: &mut Interpreter<'_>, statements: &[Statement]) -> Run<Vec<(NodeId, String)>> {
    let program = me.program;
    let mut conditions = Vec::new();
    for_each_bound(statements, |declaration, bound, is_lower| {
        let variable = &program.variables[declaration.variable.0];
        let value = me.values[declaration.variable.0].clone().filter(|value| value.count() > 0);
        let Some(value) = value else { return Ok(()) };
        let value = me.tensor(&value);
        let limit = me.expression(bound)?;
        let limit = me.tensor(&limit);
        let pair = if is_lower { [value, limit] } else { [limit, value] };
        let outside = me.apply(Op::Less, &pair, bound.span)?;
        let inside = me.sub(&Tensor::number(1.0), &outside, bound.span)?;
        let place = program.place(variable.span);
        let side = if is_lower { "below its lower" } else { "above its upper" };
        let message = format!("{} is {side} bound ({}:{}:{})", variable.name, place.file, place.line, place.column);
        conditions.push((me.node(&inside), message));
        Ok(())
    })?;
    Ok(conditions)
}

/// Keeps the variables that a block declares at its top, and returns them.
fn record(
    me: &mut Interpreter<'_>,
    statements: &[Statement],
    block: ProgramBlock,
    quantities: &mut Vec<DrawQuantity>,
    outputs: &mut Vec<NodeId>,
) -> Vec<SizedVariable> {
    let mut recorded = Vec::new();
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
        let ty = me.program.variables[declaration.variable.0].ty;
        recorded.push(SizedVariable { id: declaration.variable, ty, dims: shape.clone() });
        quantities.push(DrawQuantity { name, block, shape, offset });
    }
    recorded
}

/// Whether statements draw random numbers: what does so has a name that says so.
fn draws_random(statements: &[Statement]) -> bool {
    calls_in(statements).iter().any(|call| call.name.ends_with("_rng"))
}

/// Stan counts elements from 1.
fn from_one(size: usize) -> Labels {
    Labels::Integers((1..=size as i64).collect())
}

/// Functions that the statements, and what they call, need and that are not there.
fn unsupported(program: &octopus_stan::StanProgram, blocks: &[&[Statement]]) -> Vec<(Span, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<&[Statement]> = blocks.to_vec();
    let mut seen: HashSet<FunctionId> = HashSet::new();
    while let Some(statements) = waiting.pop() {
        for call in calls_in(statements) {
            match call.callee {
                Callee::User(id) | Callee::Solver(id) if seen.insert(id) => waiting.push(&program.functions[id.0].body),
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
