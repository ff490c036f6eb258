//! The kernels of this program: one function each, with the reason why its launch is sound.
//!
//! Threads of a block, blocks of a grid and tiles of the matrix product stand here, too.
//!
//! Every function checks the lengths that its reason rests on.

use super::launch::Launch;
use super::module::{RawFunction, RawModule};
use super::stream::RawStream;
use crate::kernels::{
    AxisReduction, Binary, BroadcastOperand, CHUNK, COLUMN_PART, DrawRange, DrawnFrom, MatrixShape, NumberStream,
    Numbers, Reduction, Unary, WindowPlace, WithScalar,
};
use crate::{CudaError, DeviceBuffer, Real, Stored};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Threads of a block of the kernels that go through arrays: they are compiled for at most this number.
const ARRAY_THREADS: u32 = 256;
/// Times that kernels going through arrays fill a device, at the most.
const WAVES: u32 = 4;
/// Threads of the block that reduces one chunk: set in kernels/src/reduce.cu.
const CHUNK_THREADS: u32 = 128;
/// Rows and columns of the tile of a matrix product that one block computes: set in kernels/src/matmul.cu.
const TILE: u32 = 16;
/// Columns and rows of a matrix that a block of [`ARRAY_THREADS`] goes through at a time: set in octopus/grid.cuh.
const BLOCK_COLUMNS: usize = 32;
const BLOCK_ROWS: usize = 8;
/// Elements of a row up to which a warp has the row and a block four of them: set in kernels/src/reduce.cu.
const NARROW_ROW: usize = 256;
const ROWS_OF_BLOCK: usize = 4;
/// The most blocks of a grid in its second dimension.
const MOST_ROWS_OF_BLOCKS: u32 = 65_535;

/// The kernels, looked up.
pub(crate) struct KernelSet {
    functions: BTreeMap<String, RawFunction>,
    /// The most blocks that kernels going through arrays are launched with.
    most_blocks: u32,
}

impl KernelSet {
    /// Looks up every kernel that the module's PTX declares.
    pub(crate) fn find(module: &Arc<RawModule>, multiprocessors: u32) -> Result<Self, CudaError> {
        let find = |name: &str| RawFunction::find(module, name).map(|function| (name.to_owned(), function));
        let functions = module.kernel_names().map(find).collect::<Result<_, _>>()?;
        // 8 blocks of 256 threads fill a multiprocessor; some more even out the ends.
        Ok(Self { functions, most_blocks: multiprocessors.clamp(1, 4096) * 8 * WAVES })
    }

    fn function(&self, stem: &str, suffix: &str) -> Result<&RawFunction, CudaError> {
        let name = format!("{stem}_{suffix}");
        self.functions.get(&name).ok_or(CudaError::KernelMissing { kernel: name })
    }

    /// Returns the grid of a kernel that goes through `length` elements by any number of threads.
    fn array_blocks(&self, length: usize) -> [u32; 3] {
        let blocks = length.div_ceil(ARRAY_THREADS as usize).max(1);
        [u32::try_from(blocks).unwrap_or(u32::MAX).min(self.most_blocks), 1, 1]
    }

    /// Returns the grid of a kernel that goes through a matrix by any grid of blocks.
    fn matrix_blocks(&self, (rows, columns): (usize, usize)) -> [u32; 3] {
        let most = self.most_blocks;
        let blocks = |count: usize, most: u32| u32::try_from(count.max(1)).unwrap_or(u32::MAX).min(most.max(1));
        let x = blocks(columns.div_ceil(BLOCK_COLUMNS), most);
        [x, blocks(rows.div_ceil(BLOCK_ROWS), (most / x).min(MOST_ROWS_OF_BLOCKS)), 1]
    }

    pub(crate) fn fill<T: Real>(
        &self,
        stream: &RawStream,
        value: T,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("array_fill", T::SUFFIX)?, out.len());
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(value).value(length as u64);
        // SAFETY: array_fill writes out[0..n], and n is the length of `out`.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn unary<T: Stored>(
        &self,
        kernel: Unary,
        stream: &RawStream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(kernel.stem(), T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).output(out).value(length as u64);
        // SAFETY: these kernels read x[0..n] and write out[0..n], and n is the length of both (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn binary<T: Real>(
        &self,
        kernel: Binary,
        stream: &RawStream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(kernel.stem(), T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        same_length(function, "y", length, y)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).input(y).output(out).value(length as u64);
        // SAFETY: these kernels read x[0..n] and y[0..n] and write out[0..n], and n is the length of all (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn scalar<T: Real>(
        &self,
        kernel: WithScalar,
        stream: &RawStream,
        a: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(kernel.stem(), T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.value(a).input(x).output(out).value(length as u64);
        // SAFETY: these kernels read x[0..n] and write out[0..n], and n is the length of both (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn clip<T: Real>(
        &self,
        stream: &RawStream,
        low: T,
        high: T,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("array_clip", T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.value(low).value(high).input(x).output(out).value(length as u64);
        // SAFETY: array_clip reads x[0..n] and writes out[0..n], and n is the length of both (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn cast<T: Stored, U: Stored>(
        &self,
        stream: &RawStream,
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<U>,
    ) -> Result<(), CudaError> {
        // No two of these types have one name.
        let stem =
            if T::SUFFIX == U::SUFFIX { Unary::Copy.stem().to_owned() } else { format!("array_to_{}", U::SUFFIX) };
        let (function, length) = (self.function(&stem, T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).output(out).value(length as u64);
        // SAFETY: conversions read x[0..n] and write out[0..n], n is the length of both (checked), and their types are
        // those of the kernel, whose name has the one and the other.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn arange<T: Real>(
        &self,
        stream: &RawStream,
        start: T,
        step: T,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("array_arange", T::SUFFIX)?, out.len());
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.value(start).value(step).output(out).value(length as u64);
        // SAFETY: array_arange writes out[0..n], and n is the length of `out`.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn eye<T: Real>(
        &self,
        stream: &RawStream,
        side: usize,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function("array_eye", T::SUFFIX)?;
        same_length(function, "out", elements(function, (side, side))?, out)?;
        let launch = Launch::new(function, self.matrix_blocks((side, side)), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(side as u64);
        // SAFETY: array_eye writes out[0..side*side], which is the length of `out` (checked).
        unsafe { launch.on(stream) }
    }

    /// Kernels that broadcast their operands: each is followed by its distances.
    pub(crate) fn broadcast<T: Real>(
        &self,
        stem: &str,
        stream: &RawStream,
        (rows, columns): (usize, usize),
        operands: &[BroadcastOperand<'_, T>],
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function(stem, T::SUFFIX)?;
        same_length(function, "out", elements(function, (rows, columns))?, out)?;
        for operand in operands {
            within(function, "an operand", (rows, columns), operand.elements, 0, (operand.row, operand.column))?;
        }
        let launch = Launch::new(function, self.matrix_blocks((rows, columns)), [ARRAY_THREADS, 1, 1]);
        let launch = operands.iter().fold(launch, |launch, operand| launch.input(operand.elements));
        let launch = launch.output(out).value(rows as u64).value(columns as u64);
        let distances = operands.iter().flat_map(|operand| [operand.row as u64, operand.column as u64]);
        let launch = distances.fold(launch, Launch::value);
        // SAFETY: these kernels write out[0..rows*columns], which is the length of `out` (checked), and read of each
        // operand the elements i row + j column for i < rows and j < columns, which it has (checked).
        unsafe { launch.on(stream) }
    }

    /// One pass of a reduction of each row.
    pub(crate) fn reduce_rows<T: Real>(
        &self,
        kernel: AxisReduction,
        stream: &RawStream,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function(kernel.stems()[0], T::SUFFIX)?;
        same_length(function, "x", elements(function, (rows, columns))?, x)?;
        let parts = elements(function, (rows, columns.div_ceil(CHUNK).max(1)))?;
        same_length(function, "partial", parts, partial)?;
        if rows == 0 {
            return stream.session().healthy();
        }
        let blocks = if columns <= NARROW_ROW { rows.div_ceil(ROWS_OF_BLOCK) } else { parts };
        // More blocks than fit are refused by the launch.
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        let launch = Launch::new(function, [blocks, 1, 1], [CHUNK_THREADS, 1, 1]);
        let launch = launch.input(x).output(partial).value(rows as u64).value(columns as u64);
        // SAFETY: up to 256 columns, block b reads the rows 4b to 4b + 3 of x[0..rows*columns], as far as there are so
        // many, and writes their elements of `partial`; above, block b reads a chunk of one row and writes partial[b].
        // The lengths of both buffers are those (checked).
        unsafe { launch.on(stream) }
    }

    /// One pass of a reduction of each column.
    pub(crate) fn reduce_columns<T: Real>(
        &self,
        kernel: AxisReduction,
        stream: &RawStream,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function(kernel.stems()[1], T::SUFFIX)?;
        same_length(function, "x", elements(function, (rows, columns))?, x)?;
        let parts = elements(function, (rows.div_ceil(COLUMN_PART).max(1), columns))?;
        same_length(function, "partial", parts, partial)?;
        let launch = Launch::new(function, self.array_blocks(parts), [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).output(partial).value(rows as u64).value(columns as u64);
        // SAFETY: these kernels read x[0..rows*columns] and write an element of `partial` for each column of each 64
        // rows, at least one; these are the lengths of both buffers (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn transpose<T: Stored>(
        &self,
        stream: &RawStream,
        (rows, columns): (usize, usize),
        x: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function("array_transpose", T::SUFFIX)?;
        let length = elements(function, (rows, columns))?;
        same_length(function, "x", length, x)?;
        same_length(function, "out", length, out)?;
        // Tiles have as many columns as a block goes through, and four times its rows.
        let blocks = self.matrix_blocks((rows.div_ceil(4), columns));
        let launch = Launch::new(function, blocks, [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).output(out).value(rows as u64).value(columns as u64);
        // SAFETY: array_transpose reads x[0..rows*columns] and writes as many elements of `out`, which are the lengths of
        // both (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn window<T: Stored>(
        &self,
        stream: &RawStream,
        (rows, columns): (usize, usize),
        (x, from): (&DeviceBuffer<T>, WindowPlace),
        (out, to): (&mut DeviceBuffer<T>, WindowPlace),
    ) -> Result<(), CudaError> {
        let function = self.function("array_window", T::SUFFIX)?;
        within(function, "x", (rows, columns), x, from.first, (from.row, 1))?;
        within(function, "out", (rows, columns), out, to.first, (to.row, 1))?;
        let launch = Launch::new(function, self.matrix_blocks((rows, columns)), [ARRAY_THREADS, 1, 1]);
        let launch = launch.input(x).output(out).value(rows as u64).value(columns as u64);
        let launch = launch.value(from.first as u64).value(from.row as u64).value(to.first as u64).value(to.row as u64);
        // SAFETY: array_window reads and writes the elements first + i row + j for i < rows and j < columns, which both
        // buffers have (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn axpy<T: Real>(
        &self,
        stream: &RawStream,
        a: T,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        out: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("array_axpy", T::SUFFIX)?, out.len());
        same_length(function, "x", length, x)?;
        same_length(function, "y", length, y)?;
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.value(a).input(x).input(y).output(out).value(length as u64);
        // SAFETY: array_axpy reads x[0..n] and y[0..n] and writes out[0..n], and n is the length of all (checked).
        unsafe { launch.on(stream) }
    }

    /// One pass of a reduction: chunk c of `x` into `partial[c]`.
    pub(crate) fn reduce<T: Real>(
        &self,
        kernel: Reduction,
        stream: &RawStream,
        x: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(kernel.stem(), T::SUFFIX)?, x.len());
        let blocks = chunks(function, length, partial)?;
        let launch = Launch::new(function, [blocks, 1, 1], [CHUNK_THREADS, 1, 1]);
        let launch = launch.input(x).output(partial).value(length as u64);
        // SAFETY: block c reads the elements of x[0..n] in its chunk and writes partial[c]; n is the length of x, and
        // there are as many blocks as `partial` has elements (checked).
        unsafe { launch.on(stream) }
    }

    /// The first pass of a dot product: chunk c of the products into `partial[c]`.
    pub(crate) fn dot<T: Real>(
        &self,
        stream: &RawStream,
        x: &DeviceBuffer<T>,
        y: &DeviceBuffer<T>,
        partial: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("array_dot", T::SUFFIX)?, x.len());
        same_length(function, "y", length, y)?;
        let blocks = chunks(function, length, partial)?;
        let launch = Launch::new(function, [blocks, 1, 1], [CHUNK_THREADS, 1, 1]);
        let launch = launch.input(x).input(y).output(partial).value(length as u64);
        // SAFETY: block c reads the elements of x[0..n] and y[0..n] in its chunk and writes partial[c]; n is the length
        // of x and y, and there are as many blocks as `partial` has elements (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn matmul<T: Real>(
        &self,
        stream: &RawStream,
        shape: MatrixShape,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T>,
    ) -> Result<(), CudaError> {
        let function = self.function("matmul", T::SUFFIX)?;
        let side = |name: &str, value: usize| {
            let detail = format!("{name} is {value}, the most is {}", u32::MAX - TILE);
            let fits = u32::try_from(value).ok().filter(|side| *side <= u32::MAX - TILE);
            fits.ok_or_else(|| CudaError::LaunchShape { kernel: function.name().to_owned(), detail })
        };
        let (m, k, n) = (side("m", shape.m)?, side("k", shape.k)?, side("n", shape.n)?);
        // Two factors below 2^32 fit 64 bits.
        same_length(function, "a", shape.m * shape.k, a)?;
        same_length(function, "b", shape.k * shape.n, b)?;
        same_length(function, "c", shape.m * shape.n, c)?;
        if m == 0 || n == 0 {
            return stream.session().healthy();
        }
        let launch = Launch::new(function, [n.div_ceil(TILE), m.div_ceil(TILE), 1], [TILE, TILE, 1]);
        let launch = launch.input(a).input(b).output(c).value(m).value(k).value(n);
        // SAFETY: matmul reads a[0..m*k] and b[0..k*n] and writes c[0..m*n], which are the buffers' lengths (checked);
        // indices beyond the matrices' edges are left out by the kernel.
        unsafe { launch.on(stream) }
    }

    pub(crate) fn random(
        &self,
        kernel: Numbers,
        stream: &RawStream,
        numbers: NumberStream,
        out: &mut DeviceBuffer<f64>,
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(kernel.stem(), f64::SUFFIX)?, out.len());
        let launch = Launch::new(function, self.array_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(numbers.seed).value(numbers.chain).value(numbers.iteration);
        let launch = launch.value(numbers.purpose).value(length as u64);
        // SAFETY: these kernels write out[0..n], and n is the length of `out`.
        unsafe { launch.on(stream) }
    }
}

impl KernelSet {
    /// Returns the grid of a kernel whose threads should have many elements each: as many as a device holds at once.
    fn resident_blocks(&self, length: usize) -> [u32; 3] {
        let [blocks, ..] = self.array_blocks(length);
        [blocks.min(self.most_blocks / WAVES), 1, 1]
    }

    pub(crate) fn draw<T: Real>(
        &self,
        distribution: DrawnFrom,
        stream: &RawStream,
        [first, second, third]: [T; 3],
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function(distribution.stem(), T::SUFFIX)?, out.len());
        has_flag(function, refused)?;
        let launch = Launch::new(function, self.resident_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(range.key).value(range.first).value(length as u64);
        let launch = launch.value(first).value(second).value(third).value(range.most_turns).output(refused);
        // SAFETY: these kernels write out[0..n] and refused[0]; n is the length of `out`, and `refused` is not empty
        // (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn draw_von_mises_each<T: Real>(
        &self,
        stream: &RawStream,
        [loc, concentration]: [BroadcastOperand<'_, T>; 2],
        columns: usize,
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        let (function, length) = (self.function("draw_von_mises_each", T::SUFFIX)?, out.len());
        has_flag(function, refused)?;
        let refusal = |detail: String| CudaError::LaunchShape { kernel: function.name().to_owned(), detail };
        if columns == 0 {
            return Err(refusal("rows of 0 columns".to_owned()));
        }
        // The last draw's row is the last of all; where there is none, no element is read.
        let end = range.first.checked_add(length as u64);
        let end = end.ok_or_else(|| refusal(format!("{length} draws from number {} on", range.first)))?;
        let rows = end.saturating_sub(1) / columns as u64;
        for (name, parameter) in [("loc", &loc), ("concentration", &concentration)] {
            let end = rows.checked_mul(parameter.row as u64);
            let end = end.and_then(|rows| rows.checked_add((columns as u64 - 1).checked_mul(parameter.column as u64)?));
            if length > 0 && end.is_none_or(|end| end >= parameter.elements.len() as u64) {
                let (row, column, values) = (parameter.row, parameter.column, parameter.elements.len());
                return Err(refusal(format!(
                    "{name}: {values} elements end before row {rows} by steps of {row} and {column}"
                )));
            }
        }
        let launch = Launch::new(function, self.resident_blocks(length), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(range.key).value(range.first).value(length as u64);
        let launch = launch.input(loc.elements).value(loc.row as u64).value(loc.column as u64);
        let launch = launch.input(concentration.elements);
        let launch = launch.value(concentration.row as u64).value(concentration.column as u64);
        let launch = launch.value(columns as u64).value(range.most_turns).output(refused);
        // SAFETY: the kernel writes out[0..n] and refused[0]; n is the length of `out`, and `refused` is not empty
        // (checked). It reads one element of each parameter for each draw, of which the last is there (checked).
        unsafe { launch.on(stream) }
    }

    pub(crate) fn draw_von_mises_fisher<T: Real>(
        &self,
        stream: &RawStream,
        (direction, concentration): (&DeviceBuffer<T>, T),
        range: DrawRange,
        (refused, out): (&mut DeviceBuffer<u32>, &mut DeviceBuffer<T>),
    ) -> Result<(), CudaError> {
        let (function, dimensions) = (self.function("draw_von_mises_fisher", T::SUFFIX)?, direction.len());
        has_flag(function, refused)?;
        let narrow = u32::try_from(dimensions).ok().filter(|dimensions| *dimensions >= 2);
        let (Some(narrow), true) = (narrow, out.len().is_multiple_of(dimensions.max(1))) else {
            let detail = format!("{} numbers in rows of {dimensions}", out.len());
            return Err(CudaError::LaunchShape { kernel: function.name().to_owned(), detail });
        };
        let rows = out.len() / dimensions;
        let launch = Launch::new(function, self.resident_blocks(rows), [ARRAY_THREADS, 1, 1]);
        let launch = launch.output(out).value(range.key).value(range.first).value(rows as u64);
        let launch = launch.input(direction).value(narrow).value(concentration);
        let launch = launch.value(range.most_turns).output(refused);
        // SAFETY: the kernel writes `rows` rows of as many numbers as `direction` has to `out`, which is as long (checked),
        // and refused[0], which is there (checked). It reads those rows and all of `direction`.
        unsafe { launch.on(stream) }
    }
}

/// Checks that there is a place for a draw that is always refused.
fn has_flag(function: &RawFunction, refused: &DeviceBuffer<u32>) -> Result<(), CudaError> {
    if !refused.is_empty() {
        return Ok(());
    }
    let operation = function.name().to_owned();
    Err(CudaError::LengthMismatch { operation, what: "refused", expected: 1, found: 0 })
}

fn same_length<T: Stored>(
    function: &RawFunction,
    what: &'static str,
    expected: usize,
    buffer: &DeviceBuffer<T>,
) -> Result<(), CudaError> {
    let found = buffer.len();
    if found == expected {
        return Ok(());
    }
    Err(CudaError::LengthMismatch { operation: function.name().to_owned(), what, expected, found })
}

/// Returns the number of elements of a matrix.
fn elements(function: &RawFunction, (rows, columns): (usize, usize)) -> Result<usize, CudaError> {
    rows.checked_mul(columns).ok_or_else(|| CudaError::LaunchShape {
        kernel: function.name().to_owned(),
        detail: format!("{rows} x {columns} elements are more than any memory holds"),
    })
}

/// Checks that a buffer has the elements first + i row + j column for i < rows and j < columns.
fn within<T: Stored>(
    function: &RawFunction,
    what: &'static str,
    (rows, columns): (usize, usize),
    buffer: &DeviceBuffer<T>,
    first: usize,
    (row, column): (usize, usize),
) -> Result<(), CudaError> {
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let far = |count: usize, distance: usize| (count - 1).checked_mul(distance);
    let sum = |a: Option<usize>, b: Option<usize>| a?.checked_add(b?);
    let last = sum(Some(first), sum(far(rows, row), far(columns, column)));
    if last.is_some_and(|last| last < buffer.len()) {
        return Ok(());
    }
    let (operation, found) = (function.name().to_owned(), buffer.len());
    Err(CudaError::LengthMismatch { operation, what, expected: last.unwrap_or(usize::MAX).saturating_add(1), found })
}

/// Returns the blocks of a reduction of `length` elements, for each of which `partial` must have an element.
fn chunks<T: Real>(function: &RawFunction, length: usize, partial: &DeviceBuffer<T>) -> Result<u32, CudaError> {
    let chunks = length.div_ceil(CHUNK).max(1);
    same_length(function, "partial", chunks, partial)?;
    // More blocks than fit are refused by the launch.
    Ok(u32::try_from(chunks).unwrap_or(u32::MAX))
}
