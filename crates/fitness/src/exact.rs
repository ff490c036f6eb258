//! Every kernel on fixed inputs, on the device and on the processor, as hashes to compare and to record.

use crate::inputs::{SEED, numbers, numbers_with_corners};
use half::f16;
use octopus_array::cpu::{self, SliceOperand};
use octopus_array::{ArrayElement, ArrayError, DrawSource, Engine, Scalar};
use octopus_cuda::{
    Arithmetic, AxisReduction, BroadcastOperand, COLUMN_PART, Context, CudaError, DeviceBuffer, DrawRange, Kernels,
    MatrixShape, NumberStream, Stream, WindowPlace,
};
use octopus_device::DeviceIdentity;
use octopus_random::distribution::MOST_TURNS;
use octopus_random::exact::normal_quantile;
use octopus_random::{
    Beta, Draw, Exponential, Gamma, Key, Normal, ParameterError, Purpose, StudentT, Uniform, VonMises, VonMisesFisher,
    WrappedNormal,
};
use serde::{Deserialize, Serialize};

/// The amount that is computed. `Full` contains all of `Small`, so that one record serves both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExactSize {
    /// Little enough for tools that slow kernels down a hundredfold.
    Small,
    /// Several chunks and blocks of everything.
    Full,
}

/// One kernel's result on fixed inputs.
///
/// Hashes are FNV-1a of 64 bits over the results' bits as f64, little-endian; every NaN counts as the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExactRow {
    /// The kernel's name, e.g. `array_exp_f64`.
    pub name: String,
    /// The size: elements of the input, or draws; of a matrix product the middle side `k`, of `m = k + 5` and `n = max(k - 3, 1)`;
    /// of what goes by rows and columns the columns, of `n + 5` rows.
    pub n: usize,
    /// The hash of the device's result.
    pub hash: String,
    /// The hash of the processor's.
    pub cpu: String,
}

/// The results of all kernels on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactReport {
    /// The device.
    pub device: DeviceIdentity,
    /// One row for each kernel and size.
    pub rows: Vec<ExactRow>,
}

impl ExactRow {
    /// Returns whether device and processor agree.
    #[must_use]
    pub fn equal(&self) -> bool {
        self.hash == self.cpu
    }
}

/// Runs every kernel on a device (by the driver's number) and on the processor.
///
/// # Errors
/// When there is no such device, or it fails.
pub fn exact_kernels(device: u32, size: ExactSize) -> Result<ExactReport, CudaError> {
    let identity = DeviceIdentity::read(device)?;
    let engine = Engine::of(device)?;
    let rows = Exactness::new(engine.kernels(), engine.stream()).run(size)?;
    Ok(ExactReport { device: identity, rows })
}

/// The kernels, and the results that they have given so far.
pub(crate) struct Exactness<'a> {
    kernels: &'a Kernels,
    stream: &'a Stream,
    rows: Vec<ExactRow>,
}

/// The factor of `scale` and `axpy`, which no binary fraction equals.
const FACTOR: f64 = -1.7;

impl<'a> Exactness<'a> {
    pub(crate) fn new(kernels: &'a Kernels, stream: &'a Stream) -> Self {
        Self { kernels, stream, rows: Vec::new() }
    }

    pub(crate) fn run(mut self, size: ExactSize) -> Result<Vec<ExactRow>, CudaError> {
        // Around warps (32), narrow and wide reductions (256), blocks (256), chunks (16384) and tiles (16).
        let with = |small: &[usize], more: &[usize]| {
            let more = if size == ExactSize::Full { more } else { &[] };
            [small, more].concat()
        };
        for n in with(&[1, 257], &[100_003]) {
            self.elementwise::<f32>(n)?;
            self.elementwise::<f64>(n)?;
            self.conversions::<f16>(n)?;
            self.conversions::<f32>(n)?;
            self.conversions::<f64>(n)?;
            self.random(n)?;
            self.draws::<f32>(n)?;
            self.draws::<f64>(n)?;
        }
        for n in with(&[0, 31, 257, 16_385], &[33, 256, 16_384, 100_003]) {
            self.reductions::<f32>(n)?;
            self.reductions::<f64>(n)?;
        }
        for k in with(&[1, 37], &[300]) {
            self.places::<f16>(k)?;
            self.places::<f32>(k)?;
            self.places::<f64>(k)?;
            self.matrices::<f32>(k)?;
            self.matrices::<f64>(k)?;
        }
        for k in with(&[1, 16, 37], &[130]) {
            self.matmul::<f32>(k)?;
            self.matmul::<f64>(k)?;
        }
        Ok(self.rows)
    }

    fn context(&self) -> &'a Context {
        self.stream.context()
    }

    fn row<T: ArrayElement>(&mut self, stem: &str, n: usize, device: &[T], processor: &[T]) {
        self.named(format!("{stem}_{}", T::SUFFIX), n, device, processor);
    }

    fn named<T: ArrayElement>(&mut self, name: String, n: usize, device: &[T], processor: &[T]) {
        self.rows.push(ExactRow { name, n, hash: hash(device), cpu: hash(processor) });
    }

    /// One kernel that writes an array of `n` elements, and its twin.
    fn array<T: ArrayElement>(
        &mut self,
        (stem, n): (&str, usize),
        launch: impl FnOnce(&Kernels, &Stream, &mut DeviceBuffer<T>) -> Result<(), CudaError>,
        twin: impl FnOnce(&mut [T]) -> Result<(), ArrayError>,
    ) -> Result<(), CudaError> {
        self.matrix((stem, n, n), launch, twin)
    }

    /// One kernel that writes `length` elements, of size `n`, and its twin.
    fn matrix<T: ArrayElement>(
        &mut self,
        (stem, n, length): (&str, usize, usize),
        launch: impl FnOnce(&Kernels, &Stream, &mut DeviceBuffer<T>) -> Result<(), CudaError>,
        twin: impl FnOnce(&mut [T]) -> Result<(), ArrayError>,
    ) -> Result<(), CudaError> {
        let mut out = DeviceBuffer::zeroed(self.context(), length)?;
        launch(self.kernels, self.stream, &mut out)?;
        let mut expected = vec![T::ZERO; length];
        of_twin(twin(&mut expected))?;
        self.row(stem, n, &out.to_vec()?, &expected);
        Ok(())
    }

    fn elementwise<T: Scalar>(&mut self, n: usize) -> Result<(), CudaError> {
        let (x, y) = (numbers_with_corners::<T>(n, 0), numbers::<T>(n, 1));
        let (on_x, on_y) =
            (DeviceBuffer::from_slice(self.context(), &x)?, DeviceBuffer::from_slice(self.context(), &y)?);
        let a = T::from_f64(FACTOR);
        let (u, v) = (&on_x, &on_y);
        self.array(("array_fill", n), |k, s, out| k.fill(s, a, out), written(&vec![a; n]))?;
        self.array(("array_add", n), |k, s, out| k.add(s, u, v, out), |out| cpu::add(&x, &y, out))?;
        self.array(("array_sub", n), |k, s, out| k.sub(s, u, v, out), |out| cpu::sub(&x, &y, out))?;
        self.array(("array_mul", n), |k, s, out| k.mul(s, u, v, out), |out| cpu::mul(&x, &y, out))?;
        self.array(("array_div", n), |k, s, out| k.div(s, u, v, out), |out| cpu::div(&x, &y, out))?;
        self.array(("array_scale", n), |k, s, out| k.scale(s, a, u, out), |out| cpu::scale(a, &x, out))?;
        self.array(("array_axpy", n), |k, s, out| k.axpy(s, a, u, v, out), |out| cpu::axpy(a, &x, &y, out))?;
        self.array(("array_exp", n), |k, s, out| k.exp(s, u, out), |out| cpu::exp(&x, out))?;
        self.array(("array_ln", n), |k, s, out| k.ln(s, u, out), |out| cpu::ln(&x, out))?;
        self.array(("array_sqrt", n), |k, s, out| k.sqrt(s, u, out), |out| cpu::sqrt(&x, out))?;
        self.array(("array_tanh", n), |k, s, out| k.tanh(s, u, out), |out| cpu::tanh(&x, out))?;
        self.array(("array_sigmoid", n), |k, s, out| k.sigmoid(s, u, out), |out| cpu::sigmoid(&x, out))?;
        self.array(("array_relu", n), |k, s, out| k.relu(s, u, out), |out| cpu::relu(&x, out))?;
        self.array(("array_abs", n), |k, s, out| k.abs(s, u, out), |out| cpu::abs(&x, out))?;
        self.array(("array_add_scalar", n), |k, s, out| k.add_scalar(s, a, u, out), |out| cpu::add_scalar(a, &x, out))?;
        self.array(("array_div_scalar", n), |k, s, out| k.div_scalar(s, a, u, out), |out| cpu::div_scalar(a, &x, out))?;
        let limits = (T::from_f64(-0.7), T::ONE);
        self.array(
            ("array_clip", n),
            |k, s, out| k.clip(s, limits.0, limits.1, u, out),
            |out| cpu::clip(limits.0, limits.1, &x, out),
        )?;
        self.array(
            ("array_arange", n),
            |k, s, out| k.arange(s, T::ONE, a, out),
            |out| {
                cpu::arange(T::ONE, a, 0, out);
                Ok(())
            },
        )
    }

    /// A copy of `n` numbers, and their conversions to the other types; a kernel's name ends in the type that it reads.
    fn conversions<T: ArrayElement>(&mut self, n: usize) -> Result<(), CudaError> {
        let x = numbers_with_corners::<T>(n, 0);
        let on_x = DeviceBuffer::from_slice(self.context(), &x)?;
        self.array(("array_copy", n), |k, s, out| k.copy(s, &on_x, out), written(&x))?;
        self.conversion(&x, &on_x, cpu::to_f16)?;
        self.conversion(&x, &on_x, cpu::to_f32)?;
        self.conversion(&x, &on_x, cpu::to_f64)
    }

    fn conversion<T: ArrayElement, U: ArrayElement>(
        &mut self,
        x: &[T],
        on_x: &DeviceBuffer<T>,
        twin: impl FnOnce(&[T], &mut [U]) -> Result<(), ArrayError>,
    ) -> Result<(), CudaError> {
        if T::SUFFIX == U::SUFFIX {
            return Ok(());
        }
        let mut expected = vec![U::ZERO; x.len()];
        of_twin(twin(x, &mut expected))?;
        let mut out = DeviceBuffer::zeroed(self.context(), x.len())?;
        self.kernels.cast(self.stream, on_x, &mut out)?;
        self.named(format!("array_to_{}_{}", U::SUFFIX, T::SUFFIX), x.len(), &out.to_vec()?, &expected);
        Ok(())
    }

    /// The same elements in other places, of a matrix of `k + 5` x `k`.
    fn places<T: ArrayElement>(&mut self, k: usize) -> Result<(), CudaError> {
        let sides @ (rows, columns) = (k + 5, k);
        let x = numbers_with_corners::<T>(rows * columns, 0);
        let on_x = DeviceBuffer::from_slice(self.context(), &x)?;
        self.matrix(
            ("array_transpose", k, rows * columns),
            |kernels, s, out| kernels.transpose(s, sides, &on_x, out),
            |out| cpu::transpose(sides, &x, out),
        )?;
        let (from, to) = (WindowPlace { first: columns, row: columns }, WindowPlace { first: 1, row: columns + 1 });
        let window = (rows - 1, columns);
        self.matrix(
            ("array_window", k, rows * (columns + 1)),
            |kernels, s, out| kernels.window(s, window, (&on_x, from), (out, to)),
            |out| cpu::window(window, (&x, from), (out, to)),
        )
    }

    /// What goes by rows and columns, on a matrix of `k + 5` x `k`.
    fn matrices<T: Scalar>(&mut self, k: usize) -> Result<(), CudaError> {
        let sides @ (rows, columns) = (k + 5, k);
        let (x, y) = (numbers_with_corners::<T>(rows * columns, 0), numbers::<T>(columns, 1));
        let on_x = DeviceBuffer::from_slice(self.context(), &x)?;
        let on_y = DeviceBuffer::from_slice(self.context(), &y)?;
        let (u, v) = (
            BroadcastOperand { elements: &on_x, row: columns, column: 1 },
            BroadcastOperand { elements: &on_y, row: 0, column: 1 },
        );
        let (of_x, of_y) = (
            SliceOperand { elements: &x[..], row: columns, column: 1 },
            SliceOperand { elements: &y[..], row: 0, column: 1 },
        );
        for (stem, operation) in [
            ("array_broadcast_add", Arithmetic::Add),
            ("array_broadcast_sub", Arithmetic::Sub),
            ("array_broadcast_mul", Arithmetic::Mul),
            ("array_broadcast_div", Arithmetic::Div),
        ] {
            self.matrix(
                (stem, k, rows * columns),
                |kernels, s, out| kernels.broadcast(s, operation, sides, u, v, out),
                |out| cpu::broadcast(operation, sides, of_x, of_y, out),
            )?;
        }
        self.matrix(
            ("array_select", k, rows * columns),
            |kernels, s, out| kernels.select(s, sides, v, [u, v], out),
            |out| cpu::select(sides, of_y, [of_x, of_y], out),
        )?;
        self.matrix(
            ("array_eye", k, k * k),
            |kernels, s, out| kernels.eye(s, k, out),
            |out: &mut [T]| cpu::eye(k, out),
        )?;
        for (names, reduction) in [
            (["rows_sum", "columns_sum"], AxisReduction::Sum),
            (["rows_min", "columns_min"], AxisReduction::Min),
            (["rows_max", "columns_max"], AxisReduction::Max),
        ] {
            self.matrix(
                (names[0], k, rows),
                |kernels, s, out| kernels.reduce_rows(s, reduction, sides, &on_x, out),
                |out| cpu::reduce_rows(reduction, sides, &x, out),
            )?;
            // A first pass for each 64 rows, and a second for what they gave.
            let groups = rows.div_ceil(COLUMN_PART);
            let mut partial = DeviceBuffer::zeroed(self.context(), groups * columns)?;
            self.kernels.reduce_columns(self.stream, reduction, sides, &on_x, &mut partial)?;
            self.matrix(
                (names[1], k, columns),
                |kernels, s, out| kernels.reduce_columns(s, reduction, (groups, columns), &partial, out),
                |out| cpu::reduce_columns(reduction, sides, &x, out),
            )?;
        }
        Ok(())
    }

    fn reductions<T: Scalar>(&mut self, n: usize) -> Result<(), CudaError> {
        let (x, y) = (numbers::<T>(n, 0), numbers::<T>(n, 1));
        let (on_x, on_y) =
            (DeviceBuffer::from_slice(self.context(), &x)?, DeviceBuffer::from_slice(self.context(), &y)?);
        let (kernels, stream) = (self.kernels, self.stream);
        self.row("array_sum", n, &[kernels.sum(stream, &on_x)?], &[cpu::sum(&x)]);
        self.row("array_min", n, &[kernels.min(stream, &on_x)?], &[cpu::min(&x)]);
        self.row("array_max", n, &[kernels.max(stream, &on_x)?], &[cpu::max(&x)]);
        self.row("array_dot", n, &[kernels.dot(stream, &on_x, &on_y)?], &[of_twin(cpu::dot(&x, &y))?]);
        Ok(())
    }

    fn matmul<T: Scalar>(&mut self, k: usize) -> Result<(), CudaError> {
        let shape = shape_around(k);
        let (a, b) = (numbers::<T>(shape.m * k, 0), numbers::<T>(k * shape.n, 1));
        let (on_a, on_b) =
            (DeviceBuffer::from_slice(self.context(), &a)?, DeviceBuffer::from_slice(self.context(), &b)?);
        let mut on_c = DeviceBuffer::zeroed(self.context(), shape.m * shape.n)?;
        self.kernels.matmul(self.stream, shape, &on_a, &on_b, &mut on_c)?;
        let mut c = vec![T::ZERO; shape.m * shape.n];
        of_twin(cpu::matmul(shape, &a, &b, &mut c))?;
        self.row("matmul", k, &on_c.to_vec()?, &c);
        Ok(())
    }

    fn random(&mut self, n: usize) -> Result<(), CudaError> {
        let address = NumberStream { seed: SEED, chain: 3, iteration: 5, purpose: Purpose::User as u32 };
        let twin = octopus_random::Stream::new(SEED, address.chain, address.iteration, Purpose::User);
        let uniform: Vec<f64> = (0..n as u64).map(|i| twin.uniform_at(i)).collect();
        let normal: Vec<f64> = uniform.iter().map(|&u| normal_quantile(u)).collect();
        self.array(("random_uniform", n), |k, s, out| k.random_uniform(s, address, out), written(&uniform))?;
        self.array(("random_normal", n), |k, s, out| k.random_normal(s, address, out), written(&normal))
    }
}

impl Exactness<'_> {
    /// Draws of each distribution, for which a half is a parameter that turns all of its corners.
    fn draws<T: Scalar>(&mut self, n: usize) -> Result<(), CudaError> {
        let number = |value: f64| T::from_f64(value);
        let (zero, half, three) = (number(0.0), number(0.5), number(3.0));
        self.drawn("draw_uniform", n, Uniform::new(half, three))?;
        self.drawn("draw_normal", n, Normal::new(half, three))?;
        self.drawn("draw_exponential", n, Exponential::new(three))?;
        self.drawn("draw_gamma", n, Gamma::new(half, three))?;
        self.drawn("draw_beta", n, Beta::new(half, three))?;
        self.drawn("draw_student_t", n, StudentT::new(three, half, three))?;
        self.drawn("draw_von_mises", n, VonMises::new(three, three))?;
        let direction = [half, three, zero, half, -three, half];
        self.drawn("draw_von_mises_fisher", n, VonMisesFisher::new(&direction, three))?;
        self.drawn("draw_wrapped_normal", n, WrappedNormal::new(half, three))?;
        // A direction for each of three columns, and the same concentration for all.
        let (locs, concentration) = ([zero, half, three], [three]);
        let context = self.context();
        let on_device = |values: &[T]| DeviceBuffer::from_slice(context, values);
        let (on_locs, on_concentration) = (on_device(&locs)?, on_device(&concentration)?);
        let parameters = [
            BroadcastOperand { elements: &on_locs, row: 0, column: 1 },
            BroadcastOperand { elements: &on_concentration, row: 0, column: 0 },
        ];
        let each = |out: &mut [T]| {
            for (i, out) in out.iter_mut().enumerate() {
                let own = VonMises::new(locs[i % 3], three).map(|own| own.draw(Key::new(SEED), i as u64));
                *out = own.ok().and_then(Result::ok).unwrap_or(number(f64::NAN));
            }
            Ok(())
        };
        let mut refused = DeviceBuffer::zeroed(self.context(), 1)?;
        let flag = &mut refused;
        self.array(
            ("draw_von_mises_each", n),
            |k, s, out| k.draw_von_mises_each(s, parameters, 3, RANGE, (flag, out)),
            each,
        )
    }

    fn drawn<T: Scalar, D: Draw<T>>(
        &mut self,
        stem: &str,
        n: usize,
        distribution: Result<D, ParameterError>,
    ) -> Result<(), CudaError> {
        let problem = |detail: String| CudaError::LaunchShape { kernel: stem.to_owned(), detail };
        let distribution = distribution.map_err(|error| problem(error.to_string()))?;
        let mut expected = vec![T::ZERO; n * distribution.dimensions()];
        distribution.fill(Key::new(SEED), 0, &mut expected).map_err(|error| problem(error.to_string()))?;
        let source = DrawSource::new(self.context(), &distribution)?;
        let mut refused = DeviceBuffer::zeroed(self.context(), 1)?;
        let flag = &mut refused;
        self.matrix((stem, n, expected.len()), |k, s, out| source.fill(k, s, RANGE, (flag, out)), written(&expected))
    }
}

/// The draws that are compared.
const RANGE: DrawRange = DrawRange { key: SEED, first: 0, most_turns: MOST_TURNS };

/// Returns the shape of the matrix product of middle side `k`, as [`ExactRow::n`] says.
fn shape_around(k: usize) -> MatrixShape {
    MatrixShape { m: k + 5, k, n: k.saturating_sub(3).max(1) }
}

/// Returns the twin of a kernel whose result is known.
fn written<T: ArrayElement>(values: &[T]) -> impl FnOnce(&mut [T]) -> Result<(), ArrayError> {
    |out| {
        out.copy_from_slice(values);
        Ok(())
    }
}

/// Returns a twin's result as a device's: it can only fail by a length, which is this program's mistake.
pub(crate) fn of_twin<T>(result: Result<T, ArrayError>) -> Result<T, CudaError> {
    result.map_err(|error| match error {
        ArrayError::Cuda { source, .. } => source,
        other => CudaError::LaunchShape { kernel: "on the CPU".into(), detail: other.to_string() },
    })
}

/// FNV-1a over the bits as f64, which holds f32 exactly.
fn hash<T: ArrayElement>(values: &[T]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for value in values {
        let value = value.into_double();
        let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_turns_signs() {
        assert_eq!(FACTOR.signum(), -1.0);
    }

    #[test]
    fn products_are_of_three_different_sides() {
        let sides = [1, 4, 37].map(shape_around).map(|shape| (shape.m, shape.k, shape.n));
        assert_eq!(sides, [(6, 1, 1), (9, 4, 1), (42, 37, 34)]);
    }

    #[test]
    fn the_hash_sees_every_bit_but_those_of_a_nan() {
        // FNV-1a of nothing, and of the eight bytes of 1.0, as published for the function.
        assert_eq!(hash::<f64>(&[]), "cbf29ce484222325");
        assert_ne!(hash(&[0.0]), hash(&[-0.0]));
        assert_ne!(hash(&[1.0]), hash(&[f64::from_bits(1.0_f64.to_bits() + 1)]));
        assert_eq!(hash(&[f64::NAN]), hash(&[-f64::NAN]));
        assert_eq!(hash(&[1.5_f32, -2.0]), hash(&[1.5_f64, -2.0]));
    }
}
