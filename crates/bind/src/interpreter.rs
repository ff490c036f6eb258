//! Runs a program once with its data known: whole numbers, loops and branches are carried out, and what depends on
//! parameters becomes nodes of a graph.

mod arithmetic;
mod assign;
mod branch;
mod budget;
mod call;
mod carried;
mod classes;
mod density;
mod expression;
mod index;
mod lanes;
mod library;
mod matrix;
mod nodes;
mod ode;
mod random;
mod statement;
mod variate;

use crate::value::{Tensor, Value};
use lanes::LoopLanes;
use nodes::ColumnBits;
use octopus_program::{Graph, NodeId, NormalKind, NormalStatement};
use octopus_random::Stream;
use octopus_stan::{Span, StanProgram};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use budget::Budget;
pub(crate) use density::OF_PREDICTORS;
pub(crate) use library::is_supported;
pub(crate) use random::RandomStreams;

/// Why the run does not go on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something is wrong there.
    Wrong(Span, String),
    /// The passes of a loop cannot be bound all at once: they are bound one by one then.
    Lanes,
}

pub(crate) type Run<T> = Result<T, Stop>;

/// How a statement ends.
#[derive(Debug)]
pub(crate) enum Flow {
    On,
    Return(Value),
    Break,
    Continue,
}

/// The state of a run.
pub(crate) struct Interpreter<'a> {
    pub(crate) program: &'a StanProgram,
    pub(crate) graph: Graph,
    /// By the variable's number.
    pub(crate) values: Vec<Option<Value>>,
    /// Terms of the log density, scalars.
    pub(crate) target: Vec<NodeId>,
    /// The statement of each term.
    pub(crate) term_spans: Vec<Span>,
    /// The statement of each guard of the graph.
    pub(crate) guard_spans: Vec<Span>,
    /// Terms of it that are normal distributions.
    pub(crate) normals: Vec<NormalStatement>,
    /// The arguments of the last normal density, the variate, its location and its scale, and what it says of them.
    last_normal: Option<([NodeId; 3], NormalKind)>,
    /// Whether densities by the names `_lupdf` and `_lupmf` are without their constants: not in a function that was
    /// called as `_lpdf` or `_lpmf`.
    pub(crate) drops_constants: bool,
    /// Whether every density has all of its constants, whatever its name.
    pub(crate) keeps_constants: bool,
    /// The loop that is bound for all of its passes at once.
    lanes: Option<LoopLanes>,
    /// Loops that have to be bound pass by pass.
    one_by_one: HashSet<Span>,
    /// Whether loops may be bound for all of their passes at once.
    pub(crate) uses_lanes: bool,
    /// Whether a rejection that depends on parameters takes the density away; generated quantities have none.
    pub(crate) rejections_guard: bool,
    pub(crate) budget: Budget,
    calls: usize,
    /// Tables of indices by their content, so that equal ones are one.
    tables: HashSet<Arc<[u32]>>,
    columns: HashSet<ColumnBits>,
    /// Functions of the library that were called, by their names.
    functions: HashMap<String, Rc<library::Function>>,
    /// The right-hand side of differential equations that is bound.
    right_hand_side: Option<ode::RightHandSide>,
    /// Where random numbers come from, where they can be drawn.
    pub(crate) random: Option<RandomStreams>,
    /// The run is one draw's: parameters are known numbers, and so is every value.
    pub(crate) is_on_draw: bool,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(program: &'a StanProgram) -> Self {
        Self {
            program,
            graph: Graph::new(),
            values: vec![None; program.variables.len()],
            target: Vec::new(),
            term_spans: Vec::new(),
            guard_spans: Vec::new(),
            normals: Vec::new(),
            last_normal: None,
            drops_constants: true,
            keeps_constants: false,
            lanes: None,
            one_by_one: HashSet::new(),
            uses_lanes: true,
            rejections_guard: true,
            budget: Budget::default(),
            calls: 0,
            tables: HashSet::new(),
            columns: HashSet::new(),
            functions: HashMap::new(),
            right_hand_side: None,
            random: None,
            is_on_draw: false,
        }
    }

    /// Begins a run on one draw, from these values of variables.
    pub(crate) fn on_draw(program: &'a StanProgram, values: Vec<Option<Value>>, random: Stream) -> Self {
        Self { values, random: Some(RandomStreams::one(random)), is_on_draw: true, ..Self::new(program) }
    }

    /// Begins a run on many draws at once, from the same values of variables: each is a lane.
    pub(crate) fn on_draws(program: &'a StanProgram, values: Vec<Option<Value>>, randoms: Vec<Stream>) -> Self {
        let lanes = Some(LoopLanes::apart(randoms.len()));
        let random = Some(RandomStreams { each: randoms, is_laned: true });
        Self { values, random, lanes, is_on_draw: true, ..Self::new(program) }
    }

    /// Lanes of the loop that is bound; 1 outside.
    pub(crate) fn lane_count(&self) -> usize {
        self.lanes.as_ref().map_or(1, |lanes| lanes.count)
    }

    /// Notes that the last term of the target is the normal density that was computed last.
    pub(crate) fn note_normal(&mut self, span: Span) {
        if let (Some(([variate, location, scale], kind)), Some(term)) =
            (self.last_normal, self.target.len().checked_sub(1))
        {
            let place = self.program.place(span);
            let words: Vec<&str> = self.program.text(span).split_whitespace().collect();
            let text = words.join(" ");
            let label = format!("{} ({}:{})", text.trim_end_matches(';'), place.file, place.line);
            self.normals.push(NormalStatement { variate, location, scale, kind, term, label });
        }
    }

    /// Forgets terms of the target from this one on.
    pub(crate) fn forget_terms(&mut self, first: usize) {
        self.target.truncate(first);
        self.term_spans.truncate(first);
        self.forget_normals(first);
    }

    /// Forgets which terms from this one on are normal densities.
    pub(crate) fn forget_normals(&mut self, first: usize) {
        self.normals.retain(|normal| normal.term < first);
    }

    /// Adds all elements of all lanes to the log density.
    pub(crate) fn add_to_target(&mut self, value: &Tensor) {
        let rows = if self.lanes.is_some() && !value.laned { self.lane_count() } else { 1 };
        let node = self.node(value);
        let mut sum = self.graph.sum(node);
        if rows > 1 {
            let rows = self.graph.constant(rows as f64);
            sum = self.graph.mul(rows, sum);
        }
        self.target.push(sum);
    }
}

/// Ends the run.
pub(crate) fn wrong<T>(span: Span, message: impl Into<String>) -> Run<T> {
    Err(Stop::Wrong(span, message.into()))
}
