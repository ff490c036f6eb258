//! A program as a log density that samplers run.

use crate::effects::{NormalStatement, ProgramEffects, WithEffects};
use crate::error::ProgramError;
use crate::evaluate::Workspace;
use crate::gpu::ProgramKernels;
use crate::graph::{Graph, NodeId};
use crate::kernel::{KernelBody, KernelRefusal};
use crate::program::{Program, Values};
use octopus_density::gpu::GpuDensity;
use octopus_density::{
    Centering, DensityEffects, DensityError, EffectBlock, EffectCoordinates, Layout, LogDensity, Role, constant_between,
};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};

/// The memory of an evaluation.
#[derive(Debug)]
struct Workspaces {
    program: Workspace,
    values: Workspace,
    /// The coordinates with the inputs of a program with effects.
    position: Vec<f64>,
}

/// A place for workspaces, which is locked while they are used. Two places share no line of the cache.
#[derive(Debug, Default)]
#[repr(align(128))]
struct WorkspacePlace(Mutex<Option<Box<Workspaces>>>);

/// How often as many places as threads there are.
const PLACES_A_THREAD: usize = 2;

static THREADS_SEEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The thread's number among all that evaluated a program.
    static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
}

fn thread_number() -> usize {
    THREAD.with(|number| {
        number.get().unwrap_or_else(|| {
            let own = THREADS_SEEN.fetch_add(1, Ordering::Relaxed);
            number.set(Some(own));
            own
        })
    })
}

/// A compiled program with named variables. Workspaces are kept and used again, one for each thread at work.
#[derive(Debug)]
pub struct ProgramDensity {
    name: String,
    layout: Layout,
    program: Program,
    values: Values,
    effects: Option<ProgramEffects>,
    kernels: OnceLock<Result<ProgramKernels, KernelRefusal>>,
    places: Box<[WorkspacePlace]>,
    /// The target as it was written, where it is known what its terms leave out.
    written: Option<WrittenTarget>,
}

/// A target in the coordinates in which it was written.
#[derive(Debug)]
struct WrittenTarget {
    graph: Graph,
    terms: Vec<NodeId>,
    /// What its terms leave out.
    constant: f64,
}

/// A target as the sum of its terms.
#[derive(Clone, Copy, Debug)]
pub struct TargetTerms<'a> {
    /// Scalars whose sum is the log density.
    pub terms: &'a [NodeId],
    /// Terms that are statements of normal distributions: hierarchies are found among them.
    pub statements: &'a [NormalStatement],
}

impl ProgramDensity {
    /// Compiles a program whose variables, in the layout's order, are the nodes `values`. Effects of hierarchies have
    /// coordinates in units of their prior, however they are written: see [`LogDensity::effects`].
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph.
    pub fn compile(
        name: &str,
        graph: &Graph,
        target: TargetTerms<'_>,
        layout: Layout,
        values: &[NodeId],
    ) -> Result<Self, ProgramError> {
        let TargetTerms { terms, statements } = target;
        if let Some(error) = graph.fault() {
            return Err(error.clone());
        }
        let (program, values, effects) = match ProgramEffects::compile(graph, terms, statements, values)? {
            Some(WithEffects { effects, walked, values }) => (walked, values, Some(effects)),
            None => {
                let mut graph = graph.clone();
                let terms = graph.concat(terms);
                let target = graph.sum(terms);
                (Program::compile(&graph, target)?, Values::compile(&graph, values), None)
            }
        };
        let mut layout = layout;
        let is_centered = |block: &EffectBlock| block.written == Centering::Centered;
        if effects.as_ref().is_some_and(|effects| effects.blocks().iter().any(is_centered)) {
            // Their coordinates are effects in units of their prior, which are no variables.
            layout.variables.iter_mut().for_each(|variable| variable.role = Role::Derived);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let places = (0..PLACES_A_THREAD * threads).map(|_| WorkspacePlace::default()).collect();
        let kernels = OnceLock::new();
        Ok(Self { name: name.into(), layout, program, values, effects, kernels, places, written: None })
    }

    /// Adds the terms of the target as they were compiled, and the constant that they leave out.
    pub(crate) fn with_whole_target(self, graph: Graph, terms: Vec<NodeId>, constant: f64) -> Self {
        Self { written: Some(WrittenTarget { graph, terms, constant }), ..self }
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Writes the variables as PTX for chains of 32 or 128 threads: the outputs are what
    /// [`expand`](LogDensity::expand) gives.
    ///
    /// # Errors
    /// [`KernelRefusal`] where an operation has no text, or the program is too long.
    pub fn values_kernel(&self, lanes: u32) -> Result<KernelBody, KernelRefusal> {
        self.values.kernel(self.program.dim(), lanes)
    }

    pub(crate) fn program_effects(&self) -> Option<&ProgramEffects> {
        self.effects.as_ref()
    }

    /// Returns what the program has on a GPU, which is written once, when it is asked for.
    pub(crate) fn gpu(&self) -> Result<&ProgramKernels, &KernelRefusal> {
        self.kernels.get_or_init(|| ProgramKernels::new(self)).as_ref()
    }

    fn with_workspaces<T>(&self, work: impl FnOnce(&mut Workspaces) -> T) -> T {
        let fresh = || {
            let (program, values) = (self.program.workspace(), self.values.workspace());
            Box::new(Workspaces { program, values, position: Vec::new() })
        };
        let (before, from) = self.places.split_at(thread_number() % self.places.len());
        for WorkspacePlace(place) in from.iter().chain(before) {
            let mut own = match place.try_lock() {
                Ok(own) => own,
                // Whoever panicked left its workspaces in any state.
                Err(TryLockError::Poisoned(poisoned)) => {
                    let mut own = poisoned.into_inner();
                    *own = None;
                    place.clear_poison();
                    own
                }
                Err(TryLockError::WouldBlock) => continue,
            };
            return work(own.get_or_insert_with(fresh));
        }
        work(&mut fresh())
    }
}

impl LogDensity for ProgramDensity {
    fn dim(&self) -> usize {
        self.program.dim()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        self.with_workspaces(|Workspaces { program, position: whole, .. }| match &self.effects {
            None => Ok(self.program.logp_grad(program, position, gradient)?),
            Some(effects) => {
                effects.natural_position(position, whole);
                Ok(self.program.logp_grad(program, whole, gradient)?)
            }
        })
    }

    /// Returns what the statements of a [`ProgramBuilder`](crate::ProgramBuilder) leave out. A prior that a bound cuts off
    /// counts as it is written: half of a normal distribution integrates to a half.
    fn log_constant(&self) -> Option<f64> {
        let WrittenTarget { graph, terms, constant } = self.written.as_ref()?;
        // Coordinates of effects have constants of their own.
        if self.effects.is_none() {
            return Some(*constant);
        }
        let mut graph = graph.clone();
        let terms = graph.concat(terms);
        let target = graph.sum(terms);
        let whole = Program::compile(&graph, target).ok()?;
        let (mut workspace, mut slopes) = (whole.workspace(), vec![0.0; whole.dim()]);
        let between = constant_between(self, |position| whole.logp_grad(&mut workspace, position, &mut slopes).ok())?;
        Some(constant + between)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.with_workspaces(|Workspaces { values, position: whole, .. }| match &self.effects {
            None => self.values.write(values, position, out),
            Some(effects) => {
                effects.natural_position(position, whole);
                self.values.write(values, whole, out);
            }
        });
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn kernels(&self) -> Option<&dyn GpuDensity> {
        Some(self)
    }

    /// Slopes come from the table, whose rows are tested.
    fn has_tested_gradient(&self) -> bool {
        true
    }

    fn is_approximate(&self) -> bool {
        self.program.solves_equations()
    }

    fn operations(&self) -> usize {
        self.program.work()
    }

    fn effects(&self) -> Option<&dyn DensityEffects> {
        self.effects.as_ref().map(|_| self as &dyn DensityEffects)
    }
}

/// What a program without effects has of them.
const NONE: &str = "effects are asked of a program that has none";

impl DensityEffects for ProgramDensity {
    fn blocks(&self) -> &[EffectBlock] {
        self.effects.as_ref().map_or(&[], ProgramEffects::blocks)
    }

    fn logp_grad_in(&self, own: &EffectCoordinates, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let Some(effects) = &self.effects else { return Err(DensityError::Broken(NONE.into())) };
        self.with_workspaces(|Workspaces { program, position, .. }| {
            effects.position(own, x, position);
            Ok(self.program.logp_grad(program, position, gradient)?)
        })
    }

    fn make_natural(&self, own: &EffectCoordinates, x: &mut [f64]) -> f64 {
        self.effects.as_ref().map_or(0.0, |effects| effects.make_natural(own, x))
    }

    fn take_natural(&self, own: &EffectCoordinates, x: &mut [f64]) {
        if let Some(effects) = &self.effects {
            effects.take_natural(own, x);
        }
    }

    fn values(&self, natural: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.effects.as_ref().map_or_else(Default::default, |effects| effects.values(natural))
    }

    fn likelihood_grad(&self, position: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let Some(effects) = &self.effects else { return Err(DensityError::Broken(NONE.into())) };
        effects.likelihood_grad(position, gradient)
    }
}
