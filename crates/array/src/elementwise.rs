//! Element-wise operations on arrays (add, axpy, exp, tanh, clip, select, ...) with broadcasting: one twin on each side.

use crate::cpu::SliceOperand;
use crate::storage::{Pair, Storage, on_host_by_rows, on_whole_host};
use crate::{Array, ArrayError, ArrayShape, Scalar, cpu};
use octopus_cuda::{Arithmetic, BroadcastOperand, CudaError, DeviceBuffer, Kernels, Stream};

impl<T: Scalar> Array<T> {
    /// Computes `self[i] + other[i]`, broadcast.
    ///
    /// # Errors
    /// When shapes cannot be broadcast together, devices differ, memory does not suffice, or the device fails.
    pub fn add(&self, other: &Self) -> Result<Self, ArrayError> {
        self.arithmetic("add", Arithmetic::Add, other, cpu::add, Kernels::add)
    }

    /// Computes `self[i] - other[i]`, broadcast.
    ///
    /// # Errors
    /// When shapes cannot be broadcast together, devices differ, memory does not suffice, or the device fails.
    pub fn sub(&self, other: &Self) -> Result<Self, ArrayError> {
        self.arithmetic("sub", Arithmetic::Sub, other, cpu::sub, Kernels::sub)
    }

    /// Computes `self[i] * other[i]`, broadcast.
    ///
    /// # Errors
    /// When shapes cannot be broadcast together, devices differ, memory does not suffice, or the device fails.
    pub fn mul(&self, other: &Self) -> Result<Self, ArrayError> {
        self.arithmetic("mul", Arithmetic::Mul, other, cpu::mul, Kernels::mul)
    }

    /// Computes `self[i] / other[i]`, broadcast.
    ///
    /// # Errors
    /// When shapes cannot be broadcast together, devices differ, memory does not suffice, or the device fails.
    pub fn div(&self, other: &Self) -> Result<Self, ArrayError> {
        self.arithmetic("div", Arithmetic::Div, other, cpu::div, Kernels::div)
    }

    /// Computes `a * self[i]`.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn scale(&self, a: T) -> Result<Self, ArrayError> {
        self.unary(|x, out| cpu::scale(a, x, out), |kernels, stream, x, out| kernels.scale(stream, a, x, out))
    }

    /// Computes `a * self[i] + other[i]`, rounded after the product and after the sum.
    ///
    /// # Errors
    /// When shapes or devices differ, memory does not suffice, or the device fails.
    pub fn axpy(&self, a: T, other: &Self) -> Result<Self, ArrayError> {
        self.binary(
            "axpy",
            other,
            |x, y, out| cpu::axpy(a, x, y, out),
            |kernels, stream, x, y, out| kernels.axpy(stream, a, x, y, out),
        )
    }

    /// Computes e to the power of each element: 0 below -708 (`f32`: -87), infinity above 709 (88).
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn exp(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::exp, Kernels::exp)
    }

    /// Computes the natural logarithm of each element: minus infinity at 0 and below the normal range, NaN for negative
    /// numbers.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn ln(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::ln, Kernels::ln)
    }

    /// Computes the square root of each element, correctly rounded.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn sqrt(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::sqrt, Kernels::sqrt)
    }

    /// Computes the hyperbolic tangent of each element, within 2.5 units in the last place.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn tanh(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::tanh, Kernels::tanh)
    }

    /// Computes `1 / (1 + exp(-self[i]))`, within 2.5 units in the last place; 0 below -708 (`f32`: -87).
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn sigmoid(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::sigmoid, Kernels::sigmoid)
    }

    /// Computes 0 where an element is below 0, else the element: a NaN stays, and so does -0.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn relu(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::relu, Kernels::relu)
    }

    /// Computes the absolute value of each element.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn abs(&self) -> Result<Self, ArrayError> {
        self.unary(cpu::abs, Kernels::abs)
    }

    /// Computes `self[i] + a`.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn add_scalar(&self, a: T) -> Result<Self, ArrayError> {
        self.unary(|x, out| cpu::add_scalar(a, x, out), |kernels, stream, x, out| kernels.add_scalar(stream, a, x, out))
    }

    /// Computes `self[i] / a`.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn div_scalar(&self, a: T) -> Result<Self, ArrayError> {
        self.unary(|x, out| cpu::div_scalar(a, x, out), |kernels, stream, x, out| kernels.div_scalar(stream, a, x, out))
    }

    /// Raises elements below `low` to it, then lowers elements above `high` to that; a NaN stays.
    ///
    /// # Errors
    /// When memory does not suffice, or the device fails.
    pub fn clip(&self, low: T, high: T) -> Result<Self, ArrayError> {
        self.unary(
            |x, out| cpu::clip(low, high, x, out),
            |kernels, stream, x, out| kernels.clip(stream, low, high, x, out),
        )
    }

    /// Takes `x` where `condition` is not 0 (a NaN is not) and `y` elsewhere, all three broadcast: NumPy's `where`, which is a
    /// word of Rust's.
    ///
    /// # Errors
    /// When shapes cannot be broadcast together, devices differ, memory does not suffice, or the device fails.
    #[doc(alias = "where")]
    pub fn select(condition: &Self, x: &Self, y: &Self) -> Result<Self, ArrayError> {
        const NAME: &str = "select";
        let shape = condition.shape.broadcast(x.shape, NAME)?.broadcast(y.shape, NAME)?;
        let sides = loop_sides(shape);
        match (condition.beside(NAME, x)?, condition.beside(NAME, y)?) {
            (Pair::Cuda(engine, of_condition, of_x), Pair::Cuda(_, _, of_y)) => {
                let operand = |array: &Self, elements| on_device(array.shape, shape, elements);
                let operands = [operand(x, of_x), operand(y, of_y)];
                Self::made_on(engine, shape, |out| {
                    engine.kernels().select(engine.stream(), sides, operand(condition, of_condition), operands, out)
                })
            }
            (Pair::Host(of_condition, of_x), Pair::Host(_, of_y)) => {
                let operand = |array: &Self, elements| on_cpu(array.shape, shape, elements);
                let operands = [operand(condition, of_condition), operand(x, of_x), operand(y, of_y)];
                on_host_by_rows(in_loop(sides), |rows, out| {
                    let [condition, x, y] = operands.map(|operand| operand.below(rows.start));
                    cpu::select((rows.len(), sides.1), condition, [x, y], out)
                })?
                .reshape(shape)
            }
            // Two pairs with a common operand are on one device.
            _ => Err(ArrayError::Devices { operation: NAME, left: x.device(), right: y.device() }),
        }
    }

    fn unary(
        &self,
        on_cpu: impl Fn(&[T], &mut [T]) -> Result<(), ArrayError>,
        on_device: impl FnOnce(&Kernels, &Stream, &DeviceBuffer<T>, &mut DeviceBuffer<T>) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        match &self.storage {
            Storage::Host(x) => on_whole_host(self.shape, |out| on_cpu(x, out)),
            Storage::Cuda(buffer) => {
                let engine = buffer.engine();
                Self::made_on(engine, self.shape, |out| on_device(engine.kernels(), engine.stream(), buffer, out))
            }
        }
    }

    /// An operation of two arrays: of one shape by the plain loop, of others broadcast.
    fn arithmetic(
        &self,
        name: &'static str,
        operation: Arithmetic,
        other: &Self,
        plain_on_cpu: impl Fn(&[T], &[T], &mut [T]) -> Result<(), ArrayError>,
        plain_on_device: impl FnOnce(
            &Kernels,
            &Stream,
            &DeviceBuffer<T>,
            &DeviceBuffer<T>,
            &mut DeviceBuffer<T>,
        ) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        if self.shape == other.shape {
            return self.binary(name, other, plain_on_cpu, plain_on_device);
        }
        self.broadcast_as(name, operation, self.shape, other, other.shape)
    }

    /// An operation of two arrays that are broadcast as if they had these shapes.
    pub(crate) fn broadcast_as(
        &self,
        name: &'static str,
        operation: Arithmetic,
        own_shape: ArrayShape,
        other: &Self,
        other_shape: ArrayShape,
    ) -> Result<Self, ArrayError> {
        let shape = own_shape.broadcast(other_shape, name)?;
        let sides = loop_sides(shape);
        match self.beside(name, other)? {
            Pair::Host(x, y) => {
                let (x, y) = (on_cpu(own_shape, shape, x), on_cpu(other_shape, shape, y));
                on_host_by_rows(in_loop(sides), |rows, out| {
                    let (x, y) = (x.below(rows.start), y.below(rows.start));
                    cpu::broadcast(operation, (rows.len(), sides.1), x, y, out)
                })?
                .reshape(shape)
            }
            Pair::Cuda(engine, x, y) => {
                let (x, y) = (on_device(own_shape, shape, x), on_device(other_shape, shape, y));
                Self::made_on(engine, shape, |out| {
                    engine.kernels().broadcast(engine.stream(), operation, sides, x, y, out)
                })
            }
        }
    }

    fn binary(
        &self,
        operation: &'static str,
        other: &Self,
        on_cpu: impl Fn(&[T], &[T], &mut [T]) -> Result<(), ArrayError>,
        on_device: impl FnOnce(
            &Kernels,
            &Stream,
            &DeviceBuffer<T>,
            &DeviceBuffer<T>,
            &mut DeviceBuffer<T>,
        ) -> Result<(), CudaError>,
    ) -> Result<Self, ArrayError> {
        match self.with(operation, other)? {
            Pair::Host(x, y) => on_whole_host(self.shape, |out| on_cpu(x, y, out)),
            Pair::Cuda(engine, x, y) => {
                Self::made_on(engine, self.shape, |out| on_device(engine.kernels(), engine.stream(), x, y, out))
            }
        }
    }

    /// Pairs both operands, once they are known to be of one shape and on one device.
    pub(crate) fn with<'a>(&'a self, operation: &'static str, other: &'a Self) -> Result<Pair<'a, T>, ArrayError> {
        let pair = self.beside(operation, other)?;
        let (left, right) = (self.shape, other.shape);
        if left == right { Ok(pair) } else { Err(ArrayError::Broadcast { operation, left, right }) }
    }
}

/// Rows and columns of the loop over a broadcast array: a single column is gone through as one row.
pub(crate) fn loop_sides(shape: ArrayShape) -> (usize, usize) {
    match shape.sides() {
        (rows, 1) => (1, rows),
        sides => sides,
    }
}

fn in_loop((rows, columns): (usize, usize)) -> ArrayShape {
    ArrayShape::Matrix(rows, columns)
}

/// How far the next row and the next column of an operand are in the loop over the result.
fn distances(operand: ArrayShape, result: ArrayShape) -> (usize, usize) {
    let (row, column) = operand.distances();
    if result.sides().1 == 1 { (0, row) } else { (row, column) }
}

fn on_cpu<T>(operand: ArrayShape, result: ArrayShape, elements: &[T]) -> SliceOperand<'_, T> {
    let (row, column) = distances(operand, result);
    SliceOperand { elements, row, column }
}

/// An operand on a device as the loop over the result goes through it.
pub(crate) fn on_device<T: Scalar>(
    operand: ArrayShape,
    result: ArrayShape,
    elements: &DeviceBuffer<T>,
) -> BroadcastOperand<'_, T> {
    let (row, column) = distances(operand, result);
    BroadcastOperand { elements, row, column }
}
