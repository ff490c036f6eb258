//! Solvers of differential equations: the right-hand side is bound once, as a program of the time, the states, and what
//! its arguments have of parameters.

use super::nodes::elements_of;
use super::{Flow, Interpreter, Run, Stop, wrong};
use crate::value::{Element, Elements, Tensor, Value};
use octopus_program::{Graph, NodeId, OdeMethod, OdeProblem, OdeSettings, OdeSystem};
use octopus_stan::{Call, FunctionId, OdeSolver, Span, StanType};
use std::collections::HashMap;

/// What a run knows while it binds a right-hand side.
#[derive(Debug, Default)]
pub(crate) struct RightHandSide {
    /// Values of `return` statements under conditions that depend on the time or the states: 0 or 1 each.
    pub(super) returned: Vec<(Tensor, Value)>,
}

/// A right-hand side, and the values that its parameters have.
struct BoundSide {
    system: OdeSystem,
    parameters: Vec<Element>,
}

impl Interpreter<'_> {
    /// The states that a solver gives for the function `id` of the program.
    pub(super) fn solved(
        &mut self,
        id: FunctionId,
        call: &Call,
        values: &[Value],
        ty: StanType,
        span: Span,
    ) -> Run<Value> {
        if self.lanes.is_some() {
            return Err(Stop::Lanes);
        }
        if self.right_hand_side.is_some() {
            return wrong(span, "a right-hand side cannot solve equations itself");
        }
        let (Some(solver), [initial, start, times, rest @ ..]) = (OdeSolver::named(&call.name), values) else {
            return wrong(span, "this is no solver");
        };
        let place = |argument: usize| call.arguments.get(argument).map_or(span, |argument| argument.span);
        // Tolerances stand before the function's own arguments, or, in old solvers, behind them.
        let (tolerances, arguments) = if solver.is_old {
            let (arguments, tolerances) = rest.split_at(rest.len().min(3));
            (tolerances, arguments)
        } else {
            rest.split_at(if solver.has_tolerances { rest.len().min(3) } else { 0 })
        };
        let mut settings = self.settings(solver, tolerances, |k| place(if solver.is_old { 6 + k } else { 3 + k }))?;
        let start = self.data_of(start, "the initial time", place(1))?.first().copied().unwrap_or(f64::NAN);
        let times = self.data_of(times, "the times", place(2))?;
        need_times(start, &times, place(2))?;
        let states = initial.count();
        if states == 0 {
            return wrong(place(0), "the initial state is empty; there must be at least one state");
        }
        let initial = self.tensor(initial);
        let varying: Vec<u32> =
            (0..states).filter(|&k| !self.is_known(initial.elements.at(k))).map(|k| k as u32).collect();
        if let Some(bad) = (0..states).filter_map(|k| self.number_of(initial.elements.at(k))).find(|x| !x.is_finite()) {
            return wrong(place(0), format!("an initial state is {bad}; it must be finite"));
        }
        let side = self.right_hand_side(id, states, arguments, span)?;
        let at = self.program.place(span);
        let name = format!("{} ({}:{}:{})", call.name, at.file, at.line, at.column);
        let (rows, dims) = (times.len(), vec![times.len(), states]);
        settings.most_work = self.budget.work_left(varying.is_empty() && side.parameters.is_empty());
        self.room(&[rows, states, 1 + varying.len() + side.parameters.len()], span)?;
        let (initial, parameters) = (self.node(&initial), self.node_of_elements(&side.parameters));
        let problem = OdeProblem { name, system: side.system, varying, start, times: times.into(), settings };
        let work = problem.work_of_a_step();
        let (found, steps) = self.graph.solve_ode(problem, initial, parameters);
        if let Some(steps) = steps {
            self.work((steps.abs() as usize).saturating_mul(work), span)?;
            if steps < 0.0 {
                let most = settings.most_steps;
                let message =
                    "the solution is not followed to its last time: a state is not finite, or it takes more than";
                return wrong(span, format!("{message} {most} steps between two times, or too much work"));
            }
        }
        Ok(Tensor::new(ty, dims, false, Elements::Whole(found)).into())
    }

    /// The method with the tolerances that are given, if any are.
    fn settings(&self, solver: OdeSolver, given: &[Value], place: impl Fn(usize) -> Span) -> Run<OdeSettings> {
        let mut settings = OdeSettings {
            method: if solver.is_stiff { OdeMethod::Stiff } else { OdeMethod::NonStiff },
            relative: solver.tolerance,
            absolute: solver.tolerance,
            most_steps: solver.most_steps,
            most_work: 0,
        };
        let names = ["the relative tolerance", "the absolute tolerance", "the number of steps"];
        for (k, (value, name)) in given.iter().zip(names).enumerate() {
            let number = self.data_of(value, name, place(k))?.first().copied().unwrap_or(f64::NAN);
            if !(number > 0.0 && number.is_finite()) {
                return wrong(place(k), format!("{name} is {number}; it must be above 0 and finite"));
            }
            match k {
                0 => settings.relative = number,
                1 => settings.absolute = number,
                _ => settings.most_steps = number as u64,
            }
        }
        Ok(settings)
    }

    /// Numbers that must not depend on parameters.
    fn data_of(&self, value: &Value, name: &str, span: Span) -> Run<Vec<f64>> {
        match self.settled(value.clone()).numbers() {
            Some(numbers) => Ok(numbers),
            None => wrong(
                span,
                format!(
                    "{name} must be data here: solutions have no slopes by it. Give it to the right-hand side, and solve in \
                     time that is shifted or scaled"
                ),
            ),
        }
    }

    fn is_known(&self, element: Element) -> bool {
        match element {
            Element::Known(_) => true,
            Element::Of(node, _) => !self.graph.depends_on_parameters(node),
        }
    }

    fn number_of(&self, element: Element) -> Option<f64> {
        match element {
            Element::Known(x) => Some(x),
            Element::Of(node, place) => self.graph.known(node)?.get(place as usize).copied(),
        }
    }

    /// Binds the function as a right-hand side: with the time and the states unknown, and the elements of its arguments
    /// that depend on parameters as parameters of its own.
    fn right_hand_side(&mut self, id: FunctionId, states: usize, arguments: &[Value], span: Span) -> Run<BoundSide> {
        let mut parameters: Vec<Element> = Vec::new();
        let mut numbers: HashMap<(NodeId, u32), usize> = HashMap::new();
        for value in arguments {
            let Value::Reals(tensor) = value else { continue };
            for k in 0..tensor.count() {
                let element = tensor.elements.at(k);
                if let Element::Of(node, place) = element
                    && self.number_of(element).is_none()
                {
                    numbers.entry((node, place)).or_insert_with(|| {
                        parameters.push(element);
                        parameters.len() - 1
                    });
                }
            }
        }
        let mut graph = Graph::new();
        let time = graph.parameter(1);
        let of_states: Vec<NodeId> = (0..states).map(|_| graph.parameter(1)).collect();
        let of_parameters: Vec<NodeId> = parameters.iter().map(|_| graph.parameter(1)).collect();
        let function = &self.program.functions[id.0];
        let state_type = function.signature.arguments.get(1).map_or(StanType::VECTOR, |argument| argument.ty);
        let state = elements_of(of_states.iter().map(|&node| Element::Of(node, 0)).collect());
        let mut given =
            vec![Tensor::scalar(time).into(), Value::Reals(Tensor::new(state_type, vec![states], false, state))];
        for value in arguments {
            let Value::Reals(tensor) = value else {
                given.push(value.clone());
                continue;
            };
            let elements = (0..tensor.count()).map(|k| {
                let element = tensor.elements.at(k);
                match (element, self.number_of(element)) {
                    (_, Some(x)) => Element::Known(x),
                    (Element::Of(node, place), None) => {
                        let own = numbers.get(&(node, place)).and_then(|&number| of_parameters.get(number));
                        own.map_or(Element::Known(f64::NAN), |&own| Element::Of(own, 0))
                    }
                    (known, None) => known,
                }
            });
            let elements = elements_of(elements.collect());
            given.push(Tensor { elements, ..tensor.clone() }.into());
        }
        // The run goes on in a graph of its own; what it draws, how its loops are bound and whether it is on a draw are
        // other matters there.
        let outside = std::mem::replace(&mut self.graph, graph);
        let (on_draw, lanes, guard) = (self.is_on_draw, self.uses_lanes, self.rejections_guard);
        (self.is_on_draw, self.uses_lanes, self.rejections_guard) = (false, false, true);
        self.right_hand_side = Some(RightHandSide::default());
        let found = self.own_function(id, given, span).and_then(|value| self.derivatives(&value, states, span));
        self.right_hand_side = None;
        (self.is_on_draw, self.uses_lanes, self.rejections_guard) = (on_draw, lanes, guard);
        let graph = std::mem::replace(&mut self.graph, outside);
        let derivatives = match found {
            Err(Stop::Lanes) => return wrong(span, "this right-hand side is not supported"),
            other => other?,
        };
        self.work(graph.node_count().saturating_mul(1 + states), span)?;
        match OdeSystem::compile(&graph, states, derivatives) {
            Ok(system) => Ok(BoundSide { system, parameters }),
            Err(error) => wrong(span, error.to_string()),
        }
    }

    /// What a right-hand side gives, NaN where it rejects.
    fn derivatives(&mut self, value: &Value, states: usize, span: Span) -> Run<NodeId> {
        if value.count() != states {
            let (found, word) = (value.count(), if states == 1 { "state" } else { "states" });
            return wrong(span, format!("the right-hand side gives {found} derivatives for {states} {word}"));
        }
        let tensor = self.tensor(value);
        let node = self.node(&tensor);
        Ok(self.graph.guarded(node))
    }

    /// Ends a call inside of a right-hand side: what was returned under conditions, first, goes before the rest.
    pub(super) fn with_returned(&mut self, first: usize, flow: Flow, span: Span) -> Run<Flow> {
        let Some(side) = &mut self.right_hand_side else { return Ok(flow) };
        let returned = side.returned.split_off(first.min(side.returned.len()));
        let Flow::Return(mut value) = flow else { return Ok(flow) };
        for (condition, earlier) in returned.into_iter().rev() {
            value = self.either(&condition, &earlier, &value, span)?;
        }
        Ok(Flow::Return(value))
    }

    /// How many values have been returned under conditions.
    pub(super) fn returned_count(&self) -> usize {
        self.right_hand_side.as_ref().map_or(0, |side| side.returned.len())
    }
}

/// Demands times in order, after the initial one.
fn need_times(start: f64, times: &[f64], span: Span) -> Run<()> {
    if !start.is_finite() || times.iter().any(|time| !time.is_finite()) {
        return wrong(span, "times and the initial time must be finite");
    }
    let Some(&first) = times.first() else {
        return wrong(span, "the times are empty; there must be at least one");
    };
    if first <= start {
        return wrong(span, format!("the first time is {first}; it must be above the initial time, {start}"));
    }
    match times.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(()),
        Some(k) => {
            let (place, before, after) = (k + 2, times[k], times[k + 1]);
            wrong(span, format!("times must be in order: time {place} is {after}, after {before}"))
        }
    }
}
