//! Arrays of f16: conversions against the definition of rounding, and the kernels against the CPU, bit for bit.

use crate::numbers::{all_bits, numbers};
use crate::software_gpu::{run, run_as_ptx};
use half::f16;
use octopus_array::{Array, ArrayElement, ArrayError, cpu};
use octopus_device::Device;

const GPU: Device = Device::Cuda(0);

/// What the bits of a half mean (IEEE 754, 2008, section 3.4), written anew.
fn value_of(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Numbers around each half and around each middle of two, with the bits of the half that is the nearest; of a middle it
/// is the even one. What would be the half after the greatest stands for infinity.
fn around_halves(next: impl Fn(f64) -> [f64; 2]) -> Vec<(f64, u16)> {
    (0..0x7c00_u16)
        .flat_map(|below| {
            let (low, high) = (value_of(below), if below == 0x7bff { 65_536.0 } else { value_of(below + 1) });
            let middle = f64::midpoint(low, high);
            let even = below + (below & 1);
            let [before, after] = next(middle);
            [(low, below), (next(low)[1], below), (before, below), (middle, even), (after, below + 1)]
        })
        .chain([(1e30, 0x7c00), (f64::INFINITY, 0x7c00), (1e-30, 0), (1e-45, 0)])
        .flat_map(|(x, bits)| [(x, bits), (-x, bits | 0x8000)])
        .collect()
}

/// The neighbours of a number in f64, and in f32.
fn next_in_f64(x: f64) -> [f64; 2] {
    [x.next_down(), x.next_up()]
}

fn next_in_f32(x: f64) -> [f64; 2] {
    let x = x as f32;
    [x.next_down().into(), x.next_up().into()]
}

fn all_halves() -> Vec<f16> {
    (0..=u16::MAX).map(f16::from_bits).collect()
}

fn half_bits(values: &[f16]) -> Vec<u16> {
    values.iter().map(|half| half.to_bits()).collect()
}

#[test]
fn every_half_is_the_number_that_its_bits_mean() {
    let halves = Array::from(all_halves());
    let meant: Vec<f64> = (0..=u16::MAX).map(value_of).collect();
    assert_eq!(all_bits(&halves.to_f64().unwrap().to_host().unwrap()), all_bits(&meant));
    assert_eq!(all_bits(&halves.to_f32().unwrap().to_host().unwrap()), all_bits(&meant));
    // There and back, with payloads but for the bit that says that a NaN is quiet.
    let quiet: Vec<u16> =
        (0..=u16::MAX).map(|bits| if bits & 0x7fff > 0x7c00 { bits | 0x0200 } else { bits }).collect();
    assert_eq!(half_bits(&halves.to_f32().unwrap().to_f16().unwrap().to_host().unwrap()), quiet);
    assert_eq!(half_bits(&halves.to_f64().unwrap().to_f16().unwrap().to_host().unwrap()), quiet);
}

#[test]
fn numbers_become_the_nearest_half_and_ties_the_even_one() {
    let cases = around_halves(next_in_f64);
    let (x, expected): (Vec<f64>, Vec<u16>) = cases.into_iter().unzip();
    assert_eq!(half_bits(&Array::from(x).to_f16().unwrap().to_host().unwrap()), expected);
    let cases = around_halves(next_in_f32);
    let (x, expected): (Vec<f32>, Vec<u16>) = cases.into_iter().map(|(x, bits)| (x as f32, bits)).unzip();
    assert_eq!(half_bits(&Array::from(x).to_f16().unwrap().to_host().unwrap()), expected);
}

/// The crate `half` converts by the processor's instruction, where there is one.
#[test]
fn single_precision_becomes_the_half_of_another_implementation() {
    let x: Vec<f32> = (0..=u32::MAX).step_by(4093).map(f32::from_bits).collect();
    let mut halves = vec![f16::ZERO; x.len()];
    cpu::to_f16(&x, &mut halves).unwrap();
    for (x, half) in x.iter().zip(halves) {
        assert_eq!(half.to_bits(), f16::from_f32(*x).to_bits(), "{x:e}");
    }
}

/// The middle of two halves, and a little more: f32 has no digits for it, and by that way it would go to the even one.
#[test]
fn double_precision_is_rounded_once() {
    let x = Array::from(vec![1.0 + 2_f64.powi(-11) + 2_f64.powi(-40)]);
    assert_eq!(half_bits(&x.to_f16().unwrap().to_host().unwrap()), [0x3c01]);
    assert_eq!(half_bits(&x.to_f32().unwrap().to_f16().unwrap().to_host().unwrap()), [0x3c00]);
}

#[test]
fn halves_are_made_moved_cut_and_put_together() {
    let halves: Vec<f16> = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(f16::from_f32).into();
    let a = Array::from_shape((2, 3), &halves).unwrap();
    assert_eq!(format!("{a:?}"), "Array<f16>((2, 3) on cpu)");
    let numbers = |array: Result<Array<f16>, ArrayError>| array.unwrap().to_f32().unwrap().to_host().unwrap();
    assert_eq!(numbers(a.transpose()), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(numbers(a.slice(.., 1..)), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(numbers(Array::concatenate(&[&a, &a], 1)), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0]);
    assert_eq!(a.to_device(Device::Cpu).unwrap().reshape(6).unwrap().to_host().unwrap(), halves);
}

/// An operation on both devices: every bit of a half, and of a NaN in f32 and f64 that it is one.
fn same<T: ArrayElement, U: ArrayElement>(
    what: &str,
    x: &Array<T>,
    operation: impl Fn(&Array<T>) -> Result<Array<U>, ArrayError>,
) {
    let (on_cpu, on_gpu) = (operation(x).unwrap(), operation(&x.to_device(GPU).unwrap()).unwrap());
    assert_eq!((on_cpu.device(), on_gpu.device()), (Device::Cpu, GPU), "{what}");
    assert_eq!(on_cpu.shape(), on_gpu.shape(), "{what}");
    assert_eq!(all_bits(&on_cpu.to_host().unwrap()), all_bits(&on_gpu.to_host().unwrap()), "{what} of {}", T::SUFFIX);
}

fn places<T: ArrayElement>((rows, columns): (usize, usize)) {
    let a = Array::from(numbers::<T>(rows * columns, 41)).reshape((rows, columns)).unwrap();
    same("a copy", &a, |a| a.to_device(a.device()));
    same("transpose", &a, Array::transpose);
    same("slice", &a, |a| a.slice(rows / 3.., ..columns / 2));
    same("concatenate 0", &a, |a| Array::concatenate(&[a, a], 0));
    same("concatenate 1", &a, |a| Array::concatenate(&[a, a], 1));
    same("to_f16", &a, Array::to_f16);
    same("to_f32", &a, Array::to_f32);
    same("to_f64", &a, Array::to_f64);
}

#[test]
fn halves_on_a_gpu_have_the_cpu_s_bits() {
    run("halves::halves_on_a_gpu_have_the_cpu_s_bits", "devices=1", || {
        for sides in [(1, 1), (3, 5), (33, 65), (100, 31)] {
            places::<f16>(sides);
            places::<f32>(sides);
            places::<f64>(sides);
        }
        let halves = Array::from(all_halves());
        same("to_f32", &halves, Array::to_f32);
        same("to_f64", &halves, Array::to_f64);
        let wide: Vec<f64> = around_halves(next_in_f64).into_iter().map(|(x, _)| x).chain([f64::NAN]).collect();
        same("to_f16", &Array::from(wide), Array::to_f16);
        let single: Vec<f32> =
            around_halves(next_in_f32).into_iter().map(|(x, _)| x as f32).chain([f32::NAN]).collect();
        same("to_f16", &Array::from(single), Array::to_f16);
    });
}

#[test]
fn halves_as_ptx_have_the_cpu_s_bits() {
    run_as_ptx("halves::halves_as_ptx_have_the_cpu_s_bits", || {
        places::<f16>((5, 37));
        let halves: Vec<f16> = (0..=u16::MAX).step_by(97).map(f16::from_bits).collect();
        same("to_f32", &Array::from(halves.clone()), Array::to_f32);
        same("to_f64", &Array::from(halves), Array::to_f64);
        let thinned = |cases: Vec<(f64, u16)>| cases.into_iter().map(|(x, _)| x).step_by(499).collect::<Vec<_>>();
        same("to_f16", &Array::from(thinned(around_halves(next_in_f64))), Array::to_f16);
        let single: Vec<f32> = thinned(around_halves(next_in_f32)).into_iter().map(|x| x as f32).collect();
        same("to_f16", &Array::from(single), Array::to_f16);
    });
}
