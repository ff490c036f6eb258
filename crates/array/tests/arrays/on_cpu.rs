//! The CPU's operations against plain loops, written as the definition says them, and against sums that are
//! exact.

use crate::numbers::{LENGTHS, all_bits, bits, numbers, positive};
use octopus_array::{Array, ArrayError, Scalar, cpu};
use octopus_cuda::MatrixShape;
use octopus_device::Device;

/// Reduces as the definition says, without strips or chunks of rows: each lane's elements are collected, then joined.
fn by_definition<T: Scalar>(x: &[T], empty: T, join: impl Fn(T, T) -> T + Copy) -> T {
    let chunk = |x: &[T]| {
        let lanes = if x.len() <= 256 { 32 } else { 128 };
        let mut values: Vec<T> =
            (0..lanes).map(|lane| x.iter().copied().skip(lane).step_by(lanes).reduce(join).unwrap_or(empty)).collect();
        while values.len() > 1 {
            let upper = values.split_off(values.len() / 2);
            values = values.into_iter().zip(upper).map(|(a, b)| join(a, b)).collect();
        }
        values[0]
    };
    let mut x = x.to_vec();
    while x.len() > 1 {
        x = x.chunks(16_384).map(chunk).collect();
    }
    // One element alone is still joined with the empty lanes; joining it again changes nothing.
    x.first().map_or(empty, |&value| join(value, empty))
}

fn least<T: Scalar>(a: T, b: T) -> T {
    if a.to_f64().is_nan() || b.to_f64().is_nan() {
        T::from_f64(f64::NAN)
    } else if b < a {
        b
    } else {
        a
    }
}

fn greatest<T: Scalar>(a: T, b: T) -> T {
    if a.to_f64().is_nan() || b.to_f64().is_nan() {
        T::from_f64(f64::NAN)
    } else if b > a {
        b
    } else {
        a
    }
}

fn reductions_follow_the_definition_in<T: Scalar>() {
    for length in LENGTHS {
        let (x, y) = (numbers::<T>(length, 1), numbers::<T>(length, 2));
        let products: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| x * y).collect();
        let add = |a, b| a + b;
        assert_eq!(bits(cpu::sum(&x)), bits(by_definition(&x, T::ZERO, add)), "sum of {length}");
        let dot = cpu::dot(&x, &y).unwrap();
        assert_eq!(bits(dot), bits(by_definition(&products, T::ZERO, add)), "dot of {length}");
        assert_eq!(bits(cpu::min(&x)), bits(by_definition(&x, T::INFINITY, least)), "min of {length}");
        assert_eq!(bits(cpu::max(&x)), bits(by_definition(&x, T::NEG_INFINITY, greatest)), "max of {length}");
        // Every place can hold the extreme and every place can hold the NaN.
        for place in (0..length).step_by((length / 97).max(1)) {
            let mut one = x.clone();
            one[place] = T::from_f64(1e9);
            assert_eq!(cpu::max(&one).to_f64(), 1e9);
            one[place] = T::from_f64(-1e9);
            assert_eq!(cpu::min(&one).to_f64(), -1e9);
            one[place] = T::from_f64(f64::NAN);
            assert!(cpu::min(&one).to_f64().is_nan() && cpu::max(&one).to_f64().is_nan(), "{place} of {length}");
        }
    }
}

#[test]
fn reductions_follow_the_definition() {
    reductions_follow_the_definition_in::<f32>();
    reductions_follow_the_definition_in::<f64>();
}

/// Zeros of both signs are equal, and the first in the order of the reduction is taken.
#[test]
fn of_zeros_the_first_is_the_extreme() {
    for length in LENGTHS {
        for signs in numbers::<f64>(8, 5).into_iter().map(f64::to_bits) {
            let x: Vec<f64> = (0..length).map(|i| if (signs >> (i % 51)) & 1 == 0 { 0.0 } else { -0.0 }).collect();
            assert_eq!(bits(cpu::min(&x)), bits(by_definition(&x, f64::INFINITY, least)), "min of {length}");
            assert_eq!(bits(cpu::max(&x)), bits(by_definition(&x, f64::NEG_INFINITY, greatest)), "max of {length}");
        }
    }
}

#[test]
fn nothing_and_zeros_have_the_values_of_the_definition() {
    assert_eq!(cpu::sum::<f64>(&[]).to_bits(), 0.0_f64.to_bits());
    assert_eq!(cpu::dot::<f32>(&[], &[]).unwrap().to_bits(), 0.0_f32.to_bits());
    assert_eq!((cpu::min::<f64>(&[]), cpu::max::<f64>(&[])), (f64::INFINITY, f64::NEG_INFINITY));
    // Below 32 elements there are empty lanes, whose +0 makes -0 positive; where all lanes hold -0 it stays.
    assert_eq!(cpu::sum(&[-0.0_f64; 31]).to_bits(), 0.0_f64.to_bits());
    assert_eq!(cpu::sum(&[-0.0_f64; 32]).to_bits(), (-0.0_f64).to_bits());
    assert_eq!(cpu::sum(&[-0.0_f32; 300]).to_bits(), (-0.0_f32).to_bits());
}

/// A sum without rounding, in integers: every number is a multiple of 2^-40 below 2^20.
#[test]
fn sums_are_near_the_exact_ones() {
    for length in LENGTHS {
        let grid = |x: f64| (x * 2_f64.powi(20)).round() / 2_f64.powi(20);
        let x: Vec<f64> = numbers::<f64>(length, 3).into_iter().map(grid).collect();
        let y: Vec<f64> = numbers::<f64>(length, 4).into_iter().map(grid).collect();
        let whole = |x: f64| (x * 2_f64.powi(20)) as i128;
        let exact_sum: i128 = x.iter().map(|&x| whole(x)).sum();
        let exact_dot: i128 = x.iter().zip(&y).map(|(&x, &y)| whole(x) * whole(y)).sum();
        let size_sum: f64 = x.iter().map(|x| x.abs()).sum();
        let size_dot: f64 = x.iter().zip(&y).map(|(x, y)| (x * y).abs()).sum();
        // Each element meets at most 128 + 7 + 4 roundings; the bound is that of Higham, 2002, section 4.2.
        let bound = 140.0 * f64::EPSILON;
        let sum_error = (cpu::sum(&x) - exact_sum as f64 / 2_f64.powi(20)).abs();
        let dot_error = (cpu::dot(&x, &y).unwrap() - exact_dot as f64 / 2_f64.powi(40)).abs();
        assert!(sum_error <= bound * size_sum, "sum of {length}: {sum_error:e}");
        assert!(dot_error <= bound * size_dot, "dot of {length}: {dot_error:e}");
    }
}

/// Values of NumPy 2.4.6: `np.exp`, `np.log`, `np.sqrt` of these numbers, and `np.dot`.
#[test]
fn elementary_operations_agree_with_numpy() {
    let x = [0.1, 0.5, 1.0, 2.5, 100.0];
    let y = [3.0, -2.0, 0.25, 8.0, -0.5];
    let near = |got: &[f64], expected: &[f64]| {
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs(), "{got} {expected}");
        }
    };
    let mut out = [0.0; 5];
    cpu::exp(&x, &mut out).unwrap();
    near(
        &out,
        &[
            1.105_170_918_075_647_7,
            1.648_721_270_700_128_2,
            std::f64::consts::E,
            12.182_493_960_703_473,
            2.688_117_141_816_135_6e43,
        ],
    );
    cpu::ln(&x, &mut out).unwrap();
    near(
        &out,
        &[-std::f64::consts::LN_10, -std::f64::consts::LN_2, 0.0, 0.916_290_731_874_155_1, 4.605_170_185_988_092],
    );
    cpu::sqrt(&x, &mut out).unwrap();
    near(&out, &[0.316_227_766_016_837_94, std::f64::consts::FRAC_1_SQRT_2, 1.0, 1.581_138_830_084_189_8, 10.0]);
    cpu::axpy(2.0, &x, &y, &mut out).unwrap();
    assert_eq!(out, [3.2, -1.0, 2.25, 13.0, 199.5]);
    cpu::div(&x, &y, &mut out).unwrap();
    assert_eq!(out, [0.1 / 3.0, -0.25, 4.0, 0.3125, -200.0]);
    assert_eq!((cpu::min(&y), cpu::max(&y)), (-2.0, 8.0));
    near(&[cpu::dot(&x, &y).unwrap()], &[-30.45]);
}

#[test]
fn single_precision_is_the_nearest_of_double_within_an_ulp_or_two() {
    let x = positive::<f32>(5000, 7);
    let mut out = vec![0.0_f32; x.len()];
    cpu::ln(&x, &mut out).unwrap();
    for (x, got) in x.iter().zip(&out) {
        let exact = f64::from(*x).ln();
        assert!((f64::from(*got) - exact).abs() <= 2.0 * f64::from(f32::EPSILON) * exact.abs().max(0.1), "ln {x}");
    }
    let small: Vec<f32> = x.iter().map(|x| x.ln() * 8.0).collect();
    cpu::exp(&small, &mut out).unwrap();
    for (x, got) in small.iter().zip(&out) {
        let exact = f64::from(*x).exp();
        if (1e-37..1e38).contains(&exact) {
            assert!((f64::from(*got) / exact - 1.0).abs() <= 2.0 * f64::from(f32::EPSILON), "exp {x}: {got} {exact}");
        }
    }
}

fn products_are_those_of_three_loops_in<T: Scalar>() {
    let sides = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33];
    let shapes = sides.into_iter().flat_map(|m| sides.into_iter().flat_map(move |k| sides.map(|n| (m, k, n))));
    // Beyond the panels' depth, with remainders on all sides.
    for (m, k, n) in shapes.chain([(3, 255, 9), (5, 256, 8), (2, 257, 17), (31, 600, 21)]) {
        let (a, b) = (numbers::<T>(m * k, 5), numbers::<T>(k * n, 6));
        let mut plain = vec![T::ZERO; m * n];
        for i in 0..m {
            for j in 0..n {
                for l in 0..k {
                    plain[i * n + j] = plain[i * n + j] + a[i * k + l] * b[l * n + j];
                }
            }
        }
        let mut c = vec![T::from_f64(f64::NAN); m * n];
        cpu::matmul(MatrixShape { m, k, n }, &a, &b, &mut c).unwrap();
        assert_eq!(all_bits(&c), all_bits(&plain), "{m} x {k} times {k} x {n}");
    }
}

#[test]
fn products_are_those_of_three_loops() {
    products_are_those_of_three_loops_in::<f32>();
    products_are_those_of_three_loops_in::<f64>();
}

#[test]
fn what_does_not_fit_together_is_an_error_that_says_so() {
    let (two, three) = (Array::from(vec![1.0, 2.0]), Array::from(vec![1.0, 2.0, 3.0]));
    let message = |result: Result<Array<f64>, ArrayError>| result.unwrap_err().to_string();
    let shapes = "operands could not be broadcast together with shapes (2,) (3,)";
    assert_eq!(message(two.add(&three)), format!("add: {shapes}"));
    assert_eq!(message(two.axpy(1.0, &three)), format!("axpy: {shapes}"));
    assert_eq!(two.dot(&three).unwrap_err().to_string(), format!("dot: {shapes}"));
    assert_eq!(
        Array::from_shape((2, 3), &[1.0; 5]).unwrap_err().to_string(),
        "cannot reshape array of size 5 into shape (2, 3)"
    );
    assert!(Array::from_shape((usize::MAX, usize::MAX), &[1.0; 1]).is_err());
    let wide = Array::from_shape((2, 3), &[1.0; 6]).unwrap();
    assert_eq!(message(wide.matmul(&wide)), "matmul: shapes (2, 3) and (2, 3) not aligned: 3 != 2");
    assert_eq!(message(wide.matmul(&two)), "matmul: shapes (2, 3) and (2,) not aligned: 3 != 2");
    let shape = MatrixShape { m: usize::MAX, k: 2, n: 1 };
    assert!(matches!(cpu::matmul::<f64>(shape, &[], &[], &mut []), Err(ArrayError::TooLarge { .. })));
}

#[test]
fn slices_of_other_lengths_are_refused() {
    type Unary = fn(&[f64], &mut [f64]) -> Result<(), ArrayError>;
    type Binary = fn(&[f64], &[f64], &mut [f64]) -> Result<(), ArrayError>;
    let unary: [(&str, Unary); 4] =
        [("exp", cpu::exp), ("ln", cpu::ln), ("sqrt", cpu::sqrt), ("scale", |x, out| cpu::scale(1.0, x, out))];
    let binary: [(&str, Binary); 5] = [
        ("add", cpu::add),
        ("sub", cpu::sub),
        ("mul", cpu::mul),
        ("div", cpu::div),
        ("axpy", |x, y, out| cpu::axpy(1.0, x, y, out)),
    ];
    let lengths = "one array has 2 elements and the other 3; they must have the same number";
    for (name, operation) in unary {
        let error = operation(&[1.0; 2], &mut [0.0; 3]).unwrap_err();
        assert_eq!(error.to_string(), format!("{name}: {lengths}"));
    }
    for (name, operation) in binary {
        for (second, out) in [(3, 2), (2, 3)] {
            let error = operation(&[1.0; 2], &vec![1.0; second], &mut vec![0.0; out]).unwrap_err();
            assert_eq!(error.to_string(), format!("{name}: {lengths}"));
        }
    }
    assert_eq!(cpu::dot(&[1.0; 2], &[1.0; 3]).unwrap_err().to_string(), format!("dot: {lengths}"));
    // Of 2 x 3 times 3 x 2, each matrix in turn lacks an element.
    let shape = MatrixShape { m: 2, k: 3, n: 2 };
    for (a, b, c) in [(5, 6, 4), (6, 5, 4), (6, 6, 3)] {
        let error = cpu::matmul(shape, &vec![1.0; a], &vec![1.0; b], &mut vec![0.0; c]).unwrap_err();
        assert!(matches!(error, ArrayError::Length { operation: "matmul", .. }), "{error}");
    }
}

#[test]
fn a_matrix_keeps_its_elements_and_their_shape() {
    let a = Array::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
    let b = Array::from(vec![1.0, 0.0, -1.0]).reshape((3, 1)).unwrap();
    let c = a.to_device(Device::Cpu).unwrap().matmul(&b).unwrap();
    assert_eq!((c.shape().sides(), c.device(), c.to_host().unwrap()), ((2, 1), Device::Cpu, vec![-2.0, -2.0]));
    assert_eq!(c.reshape(2).unwrap().shape().to_string(), "(2,)");
}

#[test]
fn an_array_is_shown_by_its_kind_length_and_device() {
    let array = Array::from(vec![1.0_f32, 2.0]);
    array.synchronize().unwrap();
    assert_eq!(format!("{array:?}"), "Array<f32>((2,) on cpu)");
    assert!(Array::<f32>::from(vec![]).is_empty() && !array.is_empty());
}

#[test]
fn more_than_memory_holds_is_an_error() {
    let error = Array::<f64>::full(usize::MAX, 1.0).unwrap_err();
    assert!(matches!(error, ArrayError::HostMemory { .. }), "{error}");
    let tall = Array::<f64>::from(vec![]).reshape((1 << 40, 0)).unwrap();
    let wide = Array::<f64>::from(vec![]).reshape((0, 1 << 20)).unwrap();
    let error = tall.matmul(&wide).unwrap_err();
    assert!(error.to_string().contains("memory"), "{error}");
}

#[test]
fn arrays_do_what_the_slices_do() {
    let (x, y) = (numbers::<f64>(1000, 8), positive::<f64>(1000, 9));
    let (a, b) = (Array::from_slice(&x).unwrap(), Array::from(y.clone()));
    assert_eq!((a.device(), a.len(), a.is_empty()), (Device::Cpu, 1000, false));
    let twin = |operation: &dyn Fn(&mut [f64]) -> Result<(), ArrayError>| {
        let mut out = vec![0.0; x.len()];
        operation(&mut out).unwrap();
        all_bits(&out)
    };
    let host = |array: Result<Array<f64>, ArrayError>| all_bits(&array.unwrap().to_host().unwrap());
    assert_eq!(host(a.add(&b)), twin(&|out| cpu::add(&x, &y, out)));
    assert_eq!(host(a.sub(&b)), twin(&|out| cpu::sub(&x, &y, out)));
    assert_eq!(host(a.mul(&b)), twin(&|out| cpu::mul(&x, &y, out)));
    assert_eq!(host(a.div(&b)), twin(&|out| cpu::div(&x, &y, out)));
    assert_eq!(host(a.scale(1.5)), twin(&|out| cpu::scale(1.5, &x, out)));
    assert_eq!(host(a.axpy(1.5, &b)), twin(&|out| cpu::axpy(1.5, &x, &y, out)));
    assert_eq!(host(a.exp()), twin(&|out| cpu::exp(&x, out)));
    assert_eq!(host(b.ln()), twin(&|out| cpu::ln(&y, out)));
    assert_eq!(host(b.sqrt()), twin(&|out| cpu::sqrt(&y, out)));
    assert_eq!(bits(a.sum().unwrap()), bits(cpu::sum(&x)));
    assert_eq!((a.min().unwrap(), a.max().unwrap()), (cpu::min(&x), cpu::max(&x)));
    // The definitions themselves, at one place.
    assert_eq!(a.sub(&b).unwrap().to_host().unwrap()[17], x[17] - y[17]);
    assert_eq!(a.div(&b).unwrap().to_host().unwrap()[17], x[17] / y[17]);
    assert_eq!(a.axpy(1.5, &b).unwrap().to_host().unwrap()[17], 1.5 * x[17] + y[17]);
}

#[test]
fn without_a_driver_the_error_names_device_and_remedy() {
    if octopus_cuda::driver_start().is_ok() {
        eprintln!("SKIPPED: this machine has a CUDA driver");
        return;
    }
    let error = Array::from_slice(&[1.0]).unwrap().to_device(Device::Cuda(0)).unwrap_err();
    assert!(error.cuda().is_some() && error.to_string().starts_with("cuda:0: "), "{error}");
    let error = octopus_device::with_device(Device::Cuda(3), || Array::from_slice(&[1.0])).unwrap_err();
    assert!(error.to_string().starts_with("cuda:3: "), "{error}");
    assert_eq!(Device::current(), Device::Cpu);
}

/// Memory goes from array to array with what it holds, and here that is NaN.
#[test]
fn numbers_of_arrays_that_are_gone_do_not_show() {
    let x =
        |rows: usize, columns: usize| Array::from_shape((rows, columns), &numbers::<f64>(rows * columns, 31)).unwrap();
    let (tall, wide, square) = (x(10_000, 2), x(2, 10_000), x(100, 100));
    let column = x(10_000, 1);
    let row = wide.slice(..1, ..).unwrap().reshape(10_000).unwrap();
    let spread = octopus_random::Normal::new(0.0, 1.0).unwrap();
    type Operation<'a> = Box<dyn Fn() -> Array<f64> + 'a>;
    let operations: Vec<(&str, Operation)> = vec![
        ("zeros", Box::new(|| Array::zeros(10_000).unwrap())),
        ("full", Box::new(|| Array::full((100, 100), 1.5).unwrap())),
        ("eye", Box::new(|| Array::eye(100).unwrap())),
        ("arange", Box::new(|| Array::arange(0.0, 1e4, 1.0).unwrap())),
        ("copy", Box::new(|| square.to_device(Device::Cpu).unwrap())),
        ("add", Box::new(|| square.add(&square).unwrap())),
        ("ln", Box::new(|| square.ln().unwrap())),
        ("exp", Box::new(|| row.exp().unwrap())),
        ("broadcast", Box::new(|| wide.add(&row).unwrap())),
        ("select", Box::new(|| Array::select(&wide, &row, &wide).unwrap())),
        ("sum_axis 0", Box::new(|| wide.sum_axis(0).unwrap())),
        ("sum_axis 1", Box::new(|| tall.sum_axis(1).unwrap())),
        ("std_axis 0", Box::new(|| wide.std_axis(0, 0).unwrap())),
        ("std_axis 1", Box::new(|| tall.std_axis(1, 0).unwrap())),
        ("matmul", Box::new(|| square.matmul(&square).unwrap())),
        ("matmul without k", Box::new(|| x(100, 0).matmul(&x(0, 100)).unwrap())),
        ("sum_axis of nothing", Box::new(|| x(0, 10_000).sum_axis(0).unwrap())),
        ("transpose", Box::new(|| tall.transpose().unwrap())),
        ("slice", Box::new(|| tall.slice(.., ..1).unwrap())),
        ("concatenate 0", Box::new(|| Array::concatenate(&[&column, &column], 0).unwrap())),
        ("concatenate 1", Box::new(|| Array::concatenate(&[&column, &column], 1).unwrap())),
        ("to_f64", Box::new(|| square.to_f32().unwrap().to_f64().unwrap())),
        ("drawn", Box::new(|| Array::drawn(&spread, octopus_random::Key::new(1), 10_000).unwrap())),
    ];
    for (name, operation) in operations {
        cpu::trim();
        let fresh = operation();
        let (length, expected) = (fresh.len(), all_bits(&fresh.to_host().unwrap()));
        drop(fresh);
        // As much as any step in between needs.
        drop([(); 4].map(|()| Array::full(length, f64::NAN).unwrap()));
        assert_eq!(all_bits(&operation().to_host().unwrap()), expected, "{name}");
    }
}
