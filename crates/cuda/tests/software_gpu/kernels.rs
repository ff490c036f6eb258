use crate::numbers::numbers;
use crate::scenario::{context, on_software_gpu};
use octopus_cuda::{
    Arithmetic, AxisReduction, BroadcastOperand, CudaError, DeviceBuffer, DrawRange, DrawnFrom, Kernels, MatrixShape,
    NumberStream, Stream, WindowPlace,
};
use octopus_random::{Purpose, exact};

/// The virtual warp's order, written from its definition: lane i mod L, a halving tree, chunks of 16384.
fn reduce(values: &[f64], empty: f64, join: fn(f64, f64) -> f64) -> f64 {
    let chunk = |chunk: &[f64]| {
        let width = if chunk.len() <= 256 { 32 } else { 128 };
        let mut lanes = vec![empty; width];
        for (i, value) in chunk.iter().enumerate() {
            lanes[i % width] = if i < width { *value } else { join(lanes[i % width], *value) };
        }
        let mut half = width / 2;
        while half > 0 {
            for lane in 0..half {
                lanes[lane] = join(lanes[lane], lanes[lane + half]);
            }
            half /= 2;
        }
        lanes[0]
    };
    let partial: Vec<f64> = values.chunks(16_384).map(chunk).collect();
    match partial.len() {
        0 => empty,
        1 => partial[0],
        _ => reduce(&partial, empty, join),
    }
}

fn lowest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

on_software_gpu!(element_by_element_the_bits_are_the_cpus, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    for length in [0, 1, 255, 256, 257, 5000] {
        let (a, b) = (numbers(length), numbers(length).iter().map(|value| value * 0.3 + 7.0).collect::<Vec<_>>());
        let [x, y] = [&a, &b].map(|values| DeviceBuffer::from_slice(&context, values).unwrap());
        let mut out = DeviceBuffer::zeroed(&context, length).unwrap();
        let mut check = |run: &dyn Fn(&mut DeviceBuffer<f64>) -> Result<(), CudaError>,
                         expected: &dyn Fn(f64, f64) -> f64| {
            run(&mut out).unwrap();
            let expected: Vec<f64> = a.iter().zip(&b).map(|(a, b)| expected(*a, *b)).collect();
            assert_eq!(bits(&out.to_vec().unwrap()), bits(&expected));
        };
        check(&|out| kernels.fill(&stream, 1.5, out), &|_, _| 1.5);
        check(&|out| kernels.copy(&stream, &x, out), &|a, _| a);
        check(&|out| kernels.add(&stream, &x, &y, out), &|a, b| a + b);
        check(&|out| kernels.sub(&stream, &x, &y, out), &|a, b| a - b);
        check(&|out| kernels.mul(&stream, &x, &y, out), &|a, b| a * b);
        check(&|out| kernels.div(&stream, &x, &y, out), &|a, b| a / b);
        check(&|out| kernels.scale(&stream, 0.1, &x, out), &|a, _| 0.1 * a);
        check(&|out| kernels.axpy(&stream, 0.1, &x, &y, out), &|a, b| 0.1 * a + b);
        check(&|out| kernels.exp(&stream, &x, out), &|a, _| exact::exp(a));
        kernels.mul(&stream, &x, &x, &mut out).unwrap();
        let squares = DeviceBuffer::from_slice(&context, &out.to_vec().unwrap()).unwrap();
        let mut out = DeviceBuffer::zeroed(&context, length).unwrap();
        kernels.ln(&stream, &squares, &mut out).unwrap();
        assert_eq!(bits(&out.to_vec().unwrap()), bits(&a.iter().map(|a| exact::ln(a * a)).collect::<Vec<_>>()));
        kernels.sqrt(&stream, &squares, &mut out).unwrap();
        assert_eq!(bits(&out.to_vec().unwrap()), bits(&a.iter().map(|a| (a * a).sqrt()).collect::<Vec<_>>()));
    }
});

on_software_gpu!(single_precision_is_its_own_kernel, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let values: Vec<f32> = (0..1000).map(|i| i as f32 * 0.1 - 3.0).collect();
    let x = DeviceBuffer::from_slice(&context, &values).unwrap();
    let mut out = DeviceBuffer::zeroed(&context, values.len()).unwrap();
    kernels.axpy(&stream, 0.3_f32, &x, &x, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), values.iter().map(|value| 0.3 * value + value).collect::<Vec<_>>());
    assert_eq!(kernels.max(&stream, &x).unwrap(), values[999]);
    assert_eq!(kernels.sum(&stream, &DeviceBuffer::from_slice(&context, &[0.5_f32, 0.25]).unwrap()).unwrap(), 0.75);
});

on_software_gpu!(reductions_have_the_virtual_warps_order, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    for length in [0, 1, 31, 32, 33, 256, 257, 1000, 16_384, 16_385, 40_000] {
        let values = numbers(length);
        let products: Vec<f64> = values.iter().map(|value| value * value).collect();
        let x = DeviceBuffer::from_slice(&context, &values).unwrap();
        let highest = |a: f64, b: f64| -lowest(-a, -b);
        let sum = |values: &[f64]| reduce(values, 0.0, |a, b| a + b).to_bits();
        assert_eq!(kernels.sum(&stream, &x).unwrap().to_bits(), sum(&values), "{length}");
        assert_eq!(kernels.dot(&stream, &x, &x).unwrap().to_bits(), sum(&products), "{length}");
        assert_eq!(kernels.min(&stream, &x).unwrap(), reduce(&values, f64::INFINITY, lowest), "{length}");
        assert_eq!(kernels.max(&stream, &x).unwrap(), reduce(&values, f64::NEG_INFINITY, highest), "{length}");
    }
    let mut values = numbers(300);
    values[299] = f64::NAN;
    let x = DeviceBuffer::from_slice(&context, &values).unwrap();
    assert!(kernels.min(&stream, &x).unwrap().is_nan() && kernels.max(&stream, &x).unwrap().is_nan());
});

on_software_gpu!(a_matrix_product_is_summed_in_order, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    for (m, k, n) in [(1, 1, 1), (16, 16, 16), (17, 5, 33), (40, 50, 3), (3, 0, 4), (0, 3, 4)] {
        let (a, b) = (numbers(m * k), numbers(k * n));
        let [x, y] = [&a, &b].map(|values| DeviceBuffer::from_slice(&context, values).unwrap());
        // What was there before does not matter.
        let mut c = DeviceBuffer::from_slice(&context, &vec![9.0; m * n]).unwrap();
        kernels.matmul(&stream, MatrixShape { m, k, n }, &x, &y, &mut c).unwrap();
        let element = |row: usize, column: usize| (0..k).fold(0.0, |sum, i| sum + a[row * k + i] * b[i * n + column]);
        let expected: Vec<f64> = (0..m * n).map(|at| element(at / n, at % n)).collect();
        assert_eq!(bits(&c.to_vec().unwrap()), bits(&expected), "{m} {k} {n}");
    }
    let x = DeviceBuffer::<f64>::zeroed(&context, 6).unwrap();
    let mut c = DeviceBuffer::<f64>::zeroed(&context, 4).unwrap();
    let error = kernels.matmul(&stream, MatrixShape { m: 2, k: 3, n: 3 }, &x, &x, &mut c).unwrap_err();
    assert_eq!(error.to_string(), "matmul_f64: b has 6 elements, 9 are needed");
    let wide = MatrixShape { m: usize::MAX, k: 2, n: 2 };
    assert!(matches!(kernels.matmul(&stream, wide, &x, &x, &mut c), Err(CudaError::LaunchShape { .. })));
});

// One element too few is refused for each operand and window, and nothing is launched.
on_software_gpu!(what_lies_beyond_a_buffer_is_refused, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let of = |length: usize| DeviceBuffer::<f64>::zeroed(&context, length).unwrap();
    let (exact, short, row, mut out) = (of(12), of(11), of(4), of(12));
    let whole = |elements| BroadcastOperand { elements, row: 4, column: 1 };
    let of_row = BroadcastOperand { elements: &row, row: 0, column: 1 };
    let mut broadcast = |x, y| kernels.broadcast(&stream, Arithmetic::Add, (3, 4), x, y, &mut out);
    broadcast(whole(&exact), of_row).unwrap();
    let error = broadcast(of_row, whole(&short)).unwrap_err();
    assert_eq!(error.to_string(), "array_broadcast_add_f64: an operand has 11 elements, 12 are needed");
    let endless = BroadcastOperand { elements: &row, row: usize::MAX, column: 1 };
    for x in [whole(&row), endless, BroadcastOperand { elements: &row, row: 0, column: 2 }] {
        assert!(matches!(broadcast(x, of_row), Err(CudaError::LengthMismatch { .. })), "{x:?}");
    }
    assert!(matches!(
        kernels.select(&stream, (3, 4), of_row, [whole(&exact), whole(&short)], &mut out),
        Err(CudaError::LengthMismatch { .. })
    ));
    let place = |first, row| WindowPlace { first, row };
    let mut target = of(6);
    let mut window = |sides, from, to| kernels.window(&stream, sides, (&exact, from), (&mut target, to));
    window((2, 3), place(5, 4), place(0, 3)).unwrap();
    window((0, 3), place(99, 4), place(99, 3)).unwrap();
    for (sides, from, to) in [
        ((2, 3), place(6, 4), place(0, 3)),
        ((2, 3), place(5, 4), place(1, 3)),
        ((2, 3), place(5, 4), place(0, 4)),
        ((3, 3), place(2, 4), place(0, 3)),
        ((2, 3), place(usize::MAX, 4), place(0, 3)),
    ] {
        assert!(matches!(window(sides, from, to), Err(CudaError::LengthMismatch { .. })), "{sides:?} {from:?} {to:?}");
    }
    let sum = AxisReduction::Sum;
    let (mut three, mut four) = (of(3), of(4));
    kernels.reduce_rows(&stream, sum, (3, 4), &exact, &mut three).unwrap();
    kernels.reduce_columns(&stream, sum, (3, 4), &exact, &mut four).unwrap();
    for result in [
        kernels.reduce_rows(&stream, sum, (3, 4), &exact, &mut four),
        kernels.reduce_rows(&stream, sum, (3, 4), &short, &mut three),
        kernels.reduce_columns(&stream, sum, (3, 4), &exact, &mut three),
        kernels.reduce_columns(&stream, sum, (65, 4), &exact, &mut four),
        kernels.eye(&stream, 2, &mut three),
        kernels.transpose(&stream, (3, 4), &exact, &mut three),
        kernels.clip(&stream, 0.0, 1.0, &exact, &mut three),
        kernels.add_scalar(&stream, 1.0, &exact, &mut three),
    ] {
        assert!(matches!(result, Err(CudaError::LengthMismatch { .. })), "{result:?}");
    }
    assert!(matches!(kernels.eye(&stream, usize::MAX, &mut three), Err(CudaError::LaunchShape { .. })));
});

on_software_gpu!(random_numbers_are_those_of_the_generator, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let expected = octopus_random::Stream::new(42, 3, 17, Purpose::Momentum);
    let address = NumberStream { seed: 42, chain: 3, iteration: 17, purpose: Purpose::Momentum as u32 };
    let mut out = DeviceBuffer::zeroed(&context, 999).unwrap();
    kernels.random_uniform(&stream, address, &mut out).unwrap();
    let uniform: Vec<f64> = (0..999).map(|i| expected.uniform_at(i)).collect();
    assert_eq!(bits(&out.to_vec().unwrap()), bits(&uniform));
    kernels.random_normal(&stream, address, &mut out).unwrap();
    let normal: Vec<f64> = uniform.iter().map(|u| exact::normal_quantile(*u)).collect();
    assert_eq!(bits(&out.to_vec().unwrap()), bits(&normal));
});

on_software_gpu!(lengths_that_differ_are_refused_before_anything_runs, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let [long, short] = [10, 9].map(|length| DeviceBuffer::<f64>::zeroed(&context, length).unwrap());
    let mut out = DeviceBuffer::zeroed(&context, 10).unwrap();
    let refused = [
        kernels.copy(&stream, &short, &mut out),
        kernels.exp(&stream, &short, &mut out),
        kernels.add(&stream, &long, &short, &mut out),
        kernels.scale(&stream, 1.0, &short, &mut out),
        kernels.axpy(&stream, 1.0, &short, &long, &mut out),
        kernels.dot(&stream, &long, &short).map(drop),
    ];
    for result in refused {
        assert!(matches!(result, Err(CudaError::LengthMismatch { .. })), "{result:?}");
    }
    let error = kernels.div(&stream, &long, &short, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "array_div_f64: y has 9 elements, 10 are needed");
    assert_eq!(context.usage().launches, 0);
});

on_software_gpu!(kernels_take_what_is_on_their_device_only, "devices=2", {
    let other = octopus_cuda::Context::primary(&octopus_cuda::Device::get(1).unwrap()).unwrap();
    let context = context();
    let kernels = Kernels::load(&context).unwrap();
    let (stream, foreign_stream) = (Stream::new(&context).unwrap(), Stream::new(&other).unwrap());
    let mut buffer = DeviceBuffer::<f64>::zeroed(&context, 4).unwrap();
    let mut foreign = DeviceBuffer::<f64>::zeroed(&other, 4).unwrap();
    let refused = [
        kernels.fill(&foreign_stream, 1.0, &mut buffer),
        kernels.fill(&stream, 1.0, &mut foreign),
        kernels.copy(&stream, &foreign, &mut buffer),
    ];
    for result in refused {
        assert!(matches!(result, Err(CudaError::ContextMismatch { .. })), "{result:?}");
    }
});

// A draw that is refused in its only turn is NaN, and told; with enough turns no draw is.
on_software_gpu!(a_draw_that_is_always_refused_is_told, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    for (most_turns, expected) in [(1, 1), (128, 0)] {
        let mut refused = DeviceBuffer::zeroed(&context, 1).unwrap();
        let mut out = DeviceBuffer::<f32>::zeroed(&context, 1000).unwrap();
        let range = DrawRange { key: 42, first: 5, most_turns };
        let distribution = (DrawnFrom::VonMises, [0.0, 5.0, 0.0]);
        kernels.draw(&stream, distribution, range, &mut refused, &mut out).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(refused.to_vec().unwrap(), [expected]);
        assert_eq!(out.to_vec().unwrap().iter().any(|draw| draw.is_nan()), expected == 1);
    }
});

// The same of vectors: all of its numbers are NaN. Rows that are not whole are refused.
on_software_gpu!(a_vector_that_is_always_refused_is_told, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let attempt = |direction: &[f64], most_turns, length, flags| {
        let direction = DeviceBuffer::from_slice(&context, direction).unwrap();
        let mut refused = DeviceBuffer::zeroed(&context, flags).unwrap();
        let mut out = DeviceBuffer::zeroed(&context, length).unwrap();
        let range = DrawRange { key: 42, first: 5, most_turns };
        kernels.draw_von_mises_fisher(&stream, (&direction, 5.0), range, &mut refused, &mut out)?;
        stream.synchronize()?;
        Ok::<_, CudaError>((refused.to_vec()?, out.to_vec()?))
    };
    let (refused, rows) = attempt(&[0.0, 0.0, 1.0], 1, 3000, 1).unwrap();
    assert_eq!(refused, [1]);
    let lost = rows.chunks(3).filter(|row| row[0].is_nan()).count();
    assert!((100..600).contains(&lost), "{lost}");
    assert!(rows.chunks(3).all(|row| row.iter().all(|x| x.is_nan() == row[0].is_nan())));
    let (refused, rows) = attempt(&[0.0, 0.0, 1.0], 128, 3000, 1).unwrap();
    assert!(refused == [0] && rows.iter().all(|x| x.is_finite()));
    for (direction, length, flags) in [(&[0.0, 1.0][..], 7, 1), (&[1.0], 4, 1), (&[], 4, 1), (&[0.0, 1.0], 4, 0)] {
        assert!(attempt(direction, 128, length, flags).is_err(), "{direction:?} {length} {flags}");
    }
});

on_software_gpu!(parameters_that_end_too_early_are_refused, "", {
    let context = context();
    let (kernels, stream) = (Kernels::load(&context).unwrap(), Stream::new(&context).unwrap());
    let values = DeviceBuffer::from_slice(&context, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let attempt = |row, column, columns, first, length, flags| {
        let mut refused = DeviceBuffer::zeroed(&context, flags).unwrap();
        let mut out = DeviceBuffer::<f64>::zeroed(&context, length).unwrap();
        let parameter = BroadcastOperand { elements: &values, row, column };
        let alone = BroadcastOperand { elements: &values, row: 0, column: 0 };
        let range = DrawRange { key: 1, first, most_turns: 128 };
        kernels.draw_von_mises_each(&stream, [alone, parameter], columns, range, (&mut refused, &mut out))
    };
    // Two rows of three, whole and not.
    assert_eq!(attempt(3, 1, 3, 0, 6, 1), Ok(()));
    assert!(attempt(3, 1, 3, 0, 7, 1).is_err());
    assert!(attempt(3, 1, 3, 1, 6, 1).is_err());
    assert!(attempt(3, 2, 3, 0, 6, 1).is_err());
    assert!(attempt(usize::MAX, 1, 3, 0, 6, 1).is_err());
    assert!(attempt(1, 0, 1, u64::MAX, 1, 1).is_err());
    assert!(attempt(3, 1, 0, 0, 6, 1).is_err());
    assert!(attempt(3, 1, 3, 0, 6, 0).is_err());
    // Six columns for all rows.
    assert_eq!(attempt(0, 1, 6, 1 << 40, 1000, 1), Ok(()));
    assert!(attempt(0, 1, 7, 0, 1000, 1).is_err());
});
