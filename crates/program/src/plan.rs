//! What a program does at a point, step by step: scalars, loops over rows, scans and operations on matrices.

use crate::matrix::MatrixOp;
use crate::ode::OdeProblem;
use crate::operation::Op;
use std::sync::Arc;

/// A vector in memory: some vector, from an element on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) base: Base,
    pub(crate) start: u32,
}

/// The memory of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// Data.
    Column(u32),
    /// The unconstrained point.
    Position,
    /// A vector of the workspace.
    Slot(u32),
    /// The scalars of the workspace.
    Scalars,
}

/// Data of a plan.
#[derive(Clone, Debug)]
pub(crate) struct DataColumn {
    memory: Arc<[f64]>,
    start: usize,
    /// Numbers from there on; what stands behind them depends on where the memory is.
    length: usize,
}

impl DataColumn {
    /// Data where they are.
    pub(crate) fn new(memory: Arc<[f64]>) -> Self {
        Self { start: 0, length: memory.len(), memory }
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.memory[self.start..self.start + self.length]
    }

    /// A copy with so many numbers at least, that begins where a line of the cache does: a vector that is read from two
    /// lines takes twice as long.
    pub(crate) fn aligned(&self, length: usize) -> Self {
        let length = length.max(self.length);
        let mut memory: Arc<[f64]> = std::iter::repeat_n(0.0, length + LINE - 1).collect();
        let start = memory.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1);
        if let Some(copy) = Arc::get_mut(&mut memory) {
            let values = self.values();
            copy[start..start + values.len()].copy_from_slice(values);
        }
        Self { memory, start, length }
    }
}

/// Numbers of a line of the cache.
const LINE: usize = 8;

/// An operand of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A value of the loop itself.
    Register(u32),
    /// One of the workspace's scalars, for all rows.
    Scalar(u32),
    /// A vector, an element for each row.
    Vector(View),
    /// The place of an operand that there is not.
    None,
}

/// An instruction of a loop, over a block of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction {
    Map {
        op: Op,
        out: u32,
        args: [Operand; 3],
    },
    Gather {
        out: u32,
        source: View,
        length: u32,
        index: u32,
    },
    Store {
        from: Operand,
        store: u32,
    },
    /// Adds the rows to sum `sum` of the loop.
    Sum {
        sum: u32,
        values: Operand,
    },
    /// Adds products.
    Dot {
        sum: u32,
        a: Operand,
        b: Operand,
    },
    SegmentSum {
        sum: u32,
        values: Operand,
    },
    /// Adds products of columns and scalars to `from`, one after the other; they are in the loop's table.
    Columns {
        out: u32,
        from: Operand,
        first: u32,
        count: u32,
    },
    /// Adds products of columns and values; the columns with their sums are in the loop's table.
    Dots {
        values: Operand,
        first: u32,
        count: u32,
    },
}

/// A sum by segment of a loop.
#[derive(Clone, Debug)]
pub(crate) struct SegmentTable {
    /// The lane of each row.
    pub(crate) slots: Arc<[u32]>,
    pub(crate) segments: usize,
    pub(crate) lanes: usize,
    pub(crate) span: usize,
    /// Whether rows of a segment stand together mostly.
    pub(crate) in_runs: bool,
    /// Where its lanes begin in a unit's memory.
    pub(crate) offset: usize,
    pub(crate) slot: u32,
}

/// A loop over rows: everything of an index space that can be done together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loop {
    pub(crate) rows: usize,
    pub(crate) code: Vec<Instruction>,
    pub(crate) registers: usize,
    /// Columns with the scalars that they are multiplied by, or the sums that get their products.
    pub(crate) terms: Vec<(View, u32)>,
    /// The slots that are stored to.
    pub(crate) stores: Vec<u32>,
    /// The scalar that each sum goes to.
    pub(crate) sums: Vec<u32>,
    pub(crate) segment_sums: Vec<SegmentTable>,
    /// Rows that one thread does at a time.
    pub(crate) unit: usize,
    /// Lanes of the sums by segment of a unit.
    pub(crate) partial: usize,
    /// Whether its rows are so few that they are done in chunks.
    pub(crate) is_small: bool,
}

/// Operations on scalars, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ScalarInstruction {
    Map {
        op: Op,
        out: u32,
        args: [u32; 3],
    },
    /// An element of a vector.
    Element {
        out: u32,
        view: View,
    },
}

/// One operation on some registers, side by side: operands are any registers, results stand together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RegisterGroup {
    pub(crate) op: Op,
    pub(crate) out: u32,
    /// The first one's operands.
    pub(crate) args: [u32; 3],
    /// Where its operands begin in the scan's table, and how many it does at once.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A scan. Registers are the states, the inputs that are vectors, those that are scalars, constants, and results.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanStepPlan {
    pub(crate) steps: usize,
    pub(crate) reversed: bool,
    /// Scalars that are the first states.
    pub(crate) initial: Vec<u32>,
    pub(crate) vectors: Vec<View>,
    pub(crate) scalars: Vec<u32>,
    pub(crate) constants: Vec<f64>,
    pub(crate) code: Vec<RegisterGroup>,
    /// The operands of all groups.
    pub(crate) operands: Vec<[u32; 3]>,
    pub(crate) next: Vec<u32>,
    /// Whether a next state is another state, so that all have to be read before one is written.
    pub(crate) moves_states: bool,
    /// Registers and the slots that have their values of each step.
    pub(crate) outputs: Vec<(u32, u32)>,
    pub(crate) registers: usize,
}

/// A solution of differential equations.
#[derive(Clone, Debug)]
pub(crate) struct SolvePlan {
    pub(crate) problem: Arc<OdeProblem>,
    /// The first states, then the parameters.
    pub(crate) args: [View; 2],
    pub(crate) out: u32,
    /// The slot of the slopes, if they are read.
    pub(crate) slopes: Option<u32>,
    /// Its number among the solutions of the plan.
    pub(crate) number: usize,
}

/// A step of a plan.
#[derive(Clone, Debug)]
pub(crate) enum PlanStep {
    Scalars(Vec<ScalarInstruction>),
    Loop(Loop),
    Scan(ScanStepPlan),
    Solve(SolvePlan),
    Matrix { op: MatrixOp, args: [View; 2], lengths: [usize; 2], out: u32 },
    Concat { pieces: Vec<(View, usize)>, out: u32 },
}

/// A result that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RootPlace {
    Scalar(u32),
    Vector(View, usize),
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedProgram {
    pub(crate) dim: usize,
    /// Scalars at the beginning: constants have their values.
    pub(crate) scalars: Vec<f64>,
    /// Coordinates that are scalars.
    pub(crate) parameters: Vec<(u32, u32)>,
    /// The length of each slot.
    pub(crate) slots: Vec<usize>,
    pub(crate) columns: Vec<DataColumn>,
    pub(crate) indexes: Vec<Arc<[u32]>>,
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) roots: Vec<RootPlace>,
}
