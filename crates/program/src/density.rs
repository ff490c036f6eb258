//! A program as a log density that samplers run.

use crate::error::ProgramError;
use crate::evaluate::Workspace;
use crate::graph::{Graph, NodeId};
use crate::program::{Program, Values};
use octopus_density::{DensityError, Layout, LogDensity};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, TryLockError};

/// The memory of an evaluation of the program, and of its variables.
type Workspaces = (Workspace, Workspace);

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
    places: Box<[WorkspacePlace]>,
}

impl ProgramDensity {
    /// Compiles a program whose variables, in the layout's order, are the nodes `values`.
    ///
    /// # Errors
    /// [`ProgramError`]: the first misuse of the graph.
    pub fn compile(
        name: &str,
        graph: &Graph,
        target: NodeId,
        layout: Layout,
        values: &[NodeId],
    ) -> Result<Self, ProgramError> {
        let program = Program::compile(graph, target)?;
        let values = Values::compile(graph, values);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let places = (0..PLACES_A_THREAD * threads).map(|_| WorkspacePlace::default()).collect();
        Ok(Self { name: name.into(), layout, program, values, places })
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn with_workspaces<T>(&self, work: impl FnOnce(&mut Workspaces) -> T) -> T {
        let fresh = || Box::new((self.program.workspace(), self.values.workspace()));
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
        self.with_workspaces(|own| Ok(self.program.logp_grad(&mut own.0, position, gradient)?))
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        self.with_workspaces(|own| self.values.write(&mut own.1, position, out));
    }

    fn name(&self) -> &str {
        &self.name
    }

    /// Slopes come from the table, whose rows are tested.
    fn has_tested_gradient(&self) -> bool {
        true
    }
}
