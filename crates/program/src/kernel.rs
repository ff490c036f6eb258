//! A plan as PTX: the text of a body that computes it for one chain, carried by the threads of a warp or of a block.
//!
//! | module | what it writes |
//! |--|--|
//! | `text` | statements, registers, loops |
//! | `operations`, `functions` | operations on numbers |
//! | `emitter` | memory, barriers, scalars, joined vectors |
//! | `rows` | loops over rows with their sums |
//! | `segments` | sums by segment |
//! | `scan` | scans |
//! | `matrices` | products, Cholesky factors and triangular systems |
//! | `outputs` | what the body gives |
//!
//! Each thread has all scalars in registers, with the same bits. What threads read of each other lies in the chain's memory:
//! each place of it is written once, and a barrier is before the first step that reads it. Sums have the order of
//! [`order`](crate::order), so that all bits are the CPU's.

mod emitter;
mod functions;
mod matrices;
mod operations;
mod outputs;
mod rows;
mod scan;
mod segments;
mod text;

use crate::plan::{PackedProgram, RootPlace};
use emitter::Emitter;
pub(crate) use outputs::Slopes;
use std::hash::{Hash, Hasher};
use thiserror::Error;

/// Statements of the longest body: the driver's compiler takes its time for each.
const MOST_STATEMENTS: usize = 20_000;

/// Numbers of the longest memory: an address has an offset of 31 bits.
const MOST_NUMBERS: usize = (1 << 28) - 1;

/// Why a program has no body of PTX.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KernelRefusal {
    /// An operation has no text yet.
    #[error("the GPU has no kernel for {0} yet")]
    Operation(String),
    /// The body is too long.
    #[error("the program is {statements} statements of a GPU's code, and at most {MOST_STATEMENTS} are compiled")]
    Length {
        /// The statements that it would have.
        statements: usize,
    },
    /// It needs more memory than its addresses reach.
    #[error("the program needs {numbers} numbers at a time, and a GPU's kernel reaches {MOST_NUMBERS}")]
    Memory {
        /// The numbers, of one chain or of its data.
        numbers: usize,
    },
    /// There is no such number of threads.
    #[error("a chain has 32 or 128 threads, not {0}")]
    Lanes(u32),
}

/// The text of a body with the data that it reads.
#[derive(Clone, Debug)]
pub struct KernelBody {
    text: String,
    /// Data: 64-bit numbers.
    pub constants: Vec<f64>,
    /// Indexes and tables.
    pub words: Vec<u32>,
    /// Numbers of each chain's memory: coordinates, outputs, and what is the body's own.
    pub scratch: usize,
    /// Numbers that it gives, behind the coordinates.
    pub outputs: usize,
    /// The statements of its text.
    pub statements: usize,
}

/// The place where a body is inserted: names of registers that are set there.
#[derive(Clone, Copy, Debug)]
pub struct BodySite<'a> {
    /// The global address of [`KernelBody::constants`].
    pub constants: &'a str,
    /// The global address of [`KernelBody::words`].
    pub words: &'a str,
    /// The global address of the inputs: what stands behind the coordinates in a position.
    pub inputs: &'a str,
    /// The global address of the chain's memory.
    pub scratch: &'a str,
    /// The thread's number within the chain, of 32 bits.
    pub lane: &'a str,
    /// Where the body writes its value.
    pub value: &'a str,
    /// A number that no other place in the same entry has.
    pub number: u32,
}

impl KernelBody {
    /// Adds the text to a hash.
    pub(crate) fn hash_text(&self, hasher: &mut impl Hasher) {
        self.text.hash(hasher);
    }

    /// Returns the text for a place. Its registers and labels have the place's number.
    pub fn at(&self, site: &BodySite<'_>) -> String {
        let number = site.number.to_string();
        let mut pieces = self.text.split('~');
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let mut rest = piece.chars();
            whole.push_str(match rest.next() {
                Some('c') => site.constants,
                Some('w') => site.words,
                Some('i') => site.inputs,
                Some('s') => site.scratch,
                Some('l') => site.lane,
                Some('v') => site.value,
                _ => &number,
            });
            whole.push_str(rest.as_str());
        }
        whole
    }
}

/// Writes the body of a log density with its slopes.
pub(crate) fn density(
    plan: &PackedProgram,
    dim: usize,
    guards: usize,
    slopes: Slopes<'_>,
    lanes: u32,
) -> Result<KernelBody, KernelRefusal> {
    let mut emitter = Emitter::new(plan, dim, dim, lanes)?;
    emitter.place_slopes(slopes);
    emitter.steps()?;
    emitter.density(guards, slopes);
    emitter.finish()
}

/// Writes the body of values, of these lengths.
pub(crate) fn values(
    plan: &PackedProgram,
    dim: usize,
    lengths: &[usize],
    lanes: u32,
) -> Result<KernelBody, KernelRefusal> {
    let mut emitter = Emitter::new(plan, dim, lengths.iter().sum(), lanes)?;
    emitter.steps()?;
    emitter.values(lengths);
    emitter.finish()
}

/// Returns the length of a result.
fn root_length(root: RootPlace) -> usize {
    match root {
        RootPlace::Scalar(_) => 1,
        RootPlace::Vector(_, length) => length,
    }
}
