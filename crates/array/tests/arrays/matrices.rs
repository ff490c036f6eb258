//! Operations in two dimensions: the CPU against plain loops, and the software GPU against the CPU, bit for bit, with the
//! kernels compiled for the host and as PTX.

use crate::numbers::{all_bits, bits, numbers};
use crate::software_gpu::{run, run_as_ptx};
use octopus_array::{Array, ArrayError, ArrayShape, Scalar};
use octopus_device::{Device, with_device};

const GPU: Device = Device::Cuda(0);

fn matrix<T: Scalar>(shape: impl Into<ArrayShape>, seed: u64) -> Array<T> {
    let shape = shape.into();
    let (rows, columns) = shape.sides();
    Array::from_shape(shape, &numbers::<T>(rows * columns, seed)).unwrap()
}

/// Around warps, groups of rows, narrow and wide rows, and chunks.
const SIDES: [(usize, usize); 14] = [
    (1, 1),
    (3, 5),
    (5, 33),
    (64, 40),
    (65, 31),
    (127, 3),
    (129, 1),
    (2, 256),
    (3, 257),
    (1, 600),
    (4200, 2),
    (2, 16_385),
    (0, 3),
    (3, 0),
];

/// A column's numbers by the definition: groups of 64, one after the other, until one is left.
fn column_by_definition<T: Scalar>(mut x: Vec<T>, empty: T, join: impl Fn(T, T) -> T + Copy) -> T {
    while x.len() > 1 {
        x = x.chunks(64).filter_map(|group| group.iter().copied().reduce(join)).collect();
    }
    x.first().copied().unwrap_or(empty)
}

fn axes_follow_the_definition_in<T: Scalar>() {
    for (rows, columns) in SIDES {
        let x = matrix::<T>((rows, columns), 51);
        let host = x.to_host().unwrap();
        let by_rows = x.sum_axis(1).unwrap().to_host().unwrap();
        for (row, sum) in by_rows.iter().enumerate() {
            let alone = Array::from(host[row * columns..(row + 1) * columns].to_vec());
            assert_eq!(bits(*sum), bits(alone.sum().unwrap()), "row {row} of {rows} x {columns}");
        }
        let by_columns = x.sum_axis(0).unwrap().to_host().unwrap();
        let (least, most) = (x.min_axis(0).unwrap().to_host().unwrap(), x.max_axis(0).unwrap().to_host().unwrap());
        assert_eq!((by_rows.len(), by_columns.len()), (rows, columns));
        for column in 0..columns {
            let alone: Vec<T> = host.iter().skip(column).step_by(columns).copied().collect();
            let sum = column_by_definition(alone.clone(), T::ZERO, |a, b| a + b);
            assert_eq!(bits(by_columns[column]), bits(sum), "column {column} of {rows} x {columns}");
            let alone = Array::from(alone);
            assert_eq!(bits(least[column]), bits(alone.min().unwrap()));
            assert_eq!(bits(most[column]), bits(alone.max().unwrap()));
        }
    }
}

#[test]
fn reductions_along_axes_follow_the_definition() {
    axes_follow_the_definition_in::<f32>();
    axes_follow_the_definition_in::<f64>();
}

/// In all rows a NaN is found, along both axes.
#[test]
fn a_nan_is_the_extreme_of_its_row_and_of_its_column() {
    for place in 0..70 * 3 {
        let mut numbers = vec![1.0; 70 * 3];
        numbers[place] = f64::NAN;
        let x = Array::from_shape((70, 3), &numbers).unwrap();
        for (axis, nan) in [(0, place % 3), (1, place / 3)] {
            for extreme in [x.min_axis(axis), x.max_axis(axis)] {
                let extreme = extreme.unwrap().to_host().unwrap();
                assert!(extreme.iter().enumerate().all(|(at, x)| x.is_nan() == (at == nan)), "{place} {axis}");
            }
        }
    }
}

type Operation<T> = fn(&[Array<T>]) -> Result<Array<T>, ArrayError>;

/// What two matrices of one shape, a row and a column are put into.
fn operations<T: Scalar>() -> Vec<(&'static str, Operation<T>)> {
    vec![
        ("add a row", |v| v[0].add(&v[2])),
        ("sub a column", |v| v[0].sub(&v[3])),
        ("mul a column and a row", |v| v[3].mul(&v[2])),
        ("div a row by a column", |v| v[2].div(&v[3])),
        ("div", |v| v[0].div(&v[1])),
        ("select", |v| Array::select(&v[2].relu()?, &v[0], &v[3])),
        ("select of one shape", |v| Array::select(&v[0].relu()?, &v[0], &v[1])),
        ("tanh", |v| v[0].tanh()),
        ("sigmoid", |v| v[0].sigmoid()),
        ("relu", |v| v[0].relu()),
        ("abs", |v| v[0].abs()),
        ("clip", |v| v[0].clip(T::from_f64(-0.5), T::from_f64(30.0))),
        ("add_scalar", |v| v[0].add_scalar(T::from_f64(0.3))),
        ("div_scalar", |v| v[0].div_scalar(T::from_f64(0.3))),
        ("sum along columns", |v| v[0].sum_axis(0)),
        ("sum along rows", |v| v[0].sum_axis(1)),
        ("min along columns", |v| v[0].min_axis(0)),
        ("min along rows", |v| v[0].min_axis(1)),
        ("max along columns", |v| v[0].max_axis(0)),
        ("max along rows", |v| v[0].max_axis(1)),
        ("mean along columns", |v| v[0].mean_axis(0)),
        ("std along columns", |v| v[0].std_axis(0, 1)),
        ("std along rows", |v| v[0].std_axis(1, 0)),
        ("norm along columns", |v| v[0].norm_axis(0)),
        ("norm along rows", |v| v[0].norm_axis(1)),
        ("std of a vector", |v| v[2].std_axis(0, 0)),
        ("transpose", |v| v[0].transpose()),
        ("slice", |v| v[0].slice(v[0].shape().sides().0 / 3.., ..v[0].shape().sides().1.div_ceil(2))),
        ("concatenate below", |v| Array::concatenate(&[&v[0], &v[1], &v[0]], 0)),
        ("concatenate beside", |v| Array::concatenate(&[&v[0], &v[3], &v[1]], 1)),
        ("concatenate vectors", |v| Array::concatenate(&[&v[2], &v[2]], 0)),
        ("outer", |v| v[2].outer(&v[2].slice(.., ..v[2].len().min(9))?)),
        ("matmul of a vector", |v| v[0].matmul(&v[2])),
        ("reshape", |v| v[0].to_device(v[0].device())?.reshape(v[0].len())),
    ]
}

fn both_devices_agree_in<T: Scalar>(sides: &[(usize, usize)]) {
    for &(rows, columns) in sides {
        let cpu =
            [matrix::<T>((rows, columns), 61), matrix((rows, columns), 62), matrix(columns, 63), matrix((rows, 1), 64)];
        let gpu = cpu.each_ref().map(|array| array.to_device(GPU).unwrap());
        for (name, operation) in operations::<T>() {
            let (expected, got) = (operation(&cpu).unwrap(), operation(&gpu).unwrap());
            let what = format!("{name} in {}, {rows} x {columns}", T::SUFFIX);
            assert_eq!((got.device(), got.shape()), (GPU, expected.shape()), "{what}");
            assert_eq!(all_bits(&got.to_host().unwrap()), all_bits(&expected.to_host().unwrap()), "{what}");
        }
        let numbers =
            |array: &Array<T>| [array.mean().unwrap(), array.std(1).unwrap(), array.norm().unwrap()].map(bits);
        assert_eq!(numbers(&gpu[0]), numbers(&cpu[0]), "{rows} x {columns}");
    }
    // What is made from nothing.
    let made = |device| {
        with_device(device, || {
            let range = Array::<T>::arange(T::from_f64(0.1), T::from_f64(90.0), T::from_f64(0.3)).unwrap();
            let arrays = [Array::eye(37).unwrap(), Array::zeros((3, 41)).unwrap(), range];
            arrays.map(|array| (array.device() == device, array.shape(), all_bits(&array.to_host().unwrap())))
        })
    };
    assert_eq!(made(GPU), made(Device::Cpu));
}

fn conversions_agree() {
    let x = numbers::<f64>(3000, 71);
    let wild = x.iter().flat_map(|x| [*x, x * 1e-40, x * 1e38]).chain([f64::NAN, -0.0, 1e-320]).collect::<Vec<_>>();
    let (cpu, gpu) = (Array::from(wild.clone()), Array::on(GPU, &wild).unwrap());
    let (single, on_gpu) = (cpu.to_f32().unwrap(), gpu.to_f32().unwrap());
    assert_eq!(all_bits(&on_gpu.to_host().unwrap()), all_bits(&single.to_host().unwrap()));
    let double = on_gpu.to_f64().unwrap();
    assert_eq!(all_bits(&double.to_host().unwrap()), all_bits(&single.to_f64().unwrap().to_host().unwrap()));
}

#[test]
fn both_devices_give_the_same_bits() {
    run("matrices::both_devices_give_the_same_bits", "devices=1", || {
        both_devices_agree_in::<f32>(&SIDES);
        both_devices_agree_in::<f64>(&SIDES);
        conversions_agree();
    });
}

#[test]
fn the_ptx_gives_the_same_bits() {
    run_as_ptx("matrices::the_ptx_gives_the_same_bits", || {
        let sides = [(3, 5), (65, 31), (3, 257), (1, 40), (0, 3)];
        both_devices_agree_in::<f32>(&sides);
        both_devices_agree_in::<f64>(&sides);
        conversions_agree();
    });
}

/// Errors are the same on a device, and an operation of two devices is refused.
#[test]
fn what_does_not_fit_is_refused_on_a_device_too() {
    run("matrices::what_does_not_fit_is_refused_on_a_device_too", "devices=1", || {
        let x = matrix::<f64>((3, 4), 1).to_device(GPU).unwrap();
        let five = matrix::<f64>(5, 2).to_device(GPU).unwrap();
        let words = "add: operands could not be broadcast together with shapes (3, 4) (5,)";
        assert_eq!(x.add(&five).unwrap_err().to_string(), words);
        assert!(matches!(x.sum_axis(2), Err(ArrayError::Axis { .. })));
        assert!(matches!(x.slice(..4, ..), Err(ArrayError::Slice { .. })));
        let row = matrix::<f64>(4, 3);
        for error in [x.add(&row), row.mul(&x), Array::select(&x, &x, &row), Array::select(&row, &x, &x)] {
            assert!(matches!(error, Err(ArrayError::Devices { .. })));
        }
        assert!(matches!(Array::concatenate(&[&x, &matrix((3, 4), 1)], 0), Err(ArrayError::Devices { .. })));
        assert!(matches!(x.matmul(&row), Err(ArrayError::Devices { .. })));
    });
}

/// The fourth allocation and the first memory that is cleared would fail, and so would a wait.
#[test]
fn reductions_along_axes_ask_for_no_memory_and_no_wait_after_the_first() {
    let faults = "fail=cuMemAlloc_v2:2@9,cuMemFree_v2:700@1,cuMemsetD8_v2:700@1,cuStreamSynchronize:700@1";
    run("matrices::reductions_along_axes_ask_for_no_memory_and_no_wait_after_the_first", faults, || {
        let x = matrix::<f64>((130, 300), 5).to_device(GPU).unwrap();
        for _ in 0..20 {
            let row = x.sum_axis(0).unwrap();
            let centered = x.sub(&row).unwrap();
            drop(centered.max_axis(1).unwrap());
        }
    });
}
