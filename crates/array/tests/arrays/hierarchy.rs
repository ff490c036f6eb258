//! Layers that learn: the same bits on both devices, and NumPy's numbers.

use crate::numbers::all_bits;
use crate::software_gpu::{run, run_as_ptx};
use octopus_array::layers::{LayerConfig, LayerHierarchy};
use octopus_array::{Array, ArrayError, Scalar};
use octopus_device::{Device, with_device};

fn after<T: Scalar>(steps: usize, size: usize, device: Device) -> Vec<Vec<T>> {
    with_device(device, || {
        let config = LayerConfig::of_size(size);
        let mut hierarchy = LayerHierarchy::new(&config).unwrap();
        hierarchy.process(&config.signal().unwrap(), steps).unwrap();
        hierarchy.synchronize().unwrap();
        hierarchy.state().unwrap()
    })
}

fn both_devices_agree<T: Scalar>(steps: usize, size: usize) {
    let bits = |device| after::<T>(steps, size, device).iter().map(|array| all_bits(array)).collect::<Vec<_>>();
    assert_eq!(bits(Device::Cpu), bits(Device::Cuda(0)), "{steps} steps of size {size} in {}", T::SUFFIX);
}

#[test]
fn fifty_steps_give_the_same_bits_on_both_devices() {
    run("hierarchy::fifty_steps_give_the_same_bits_on_both_devices", "devices=1", || {
        both_devices_agree::<f64>(50, 10);
        both_devices_agree::<f32>(50, 10);
    });
}

#[test]
fn steps_as_ptx_give_the_same_bits() {
    run_as_ptx("hierarchy::steps_as_ptx_give_the_same_bits", || both_devices_agree::<f64>(5, 3));
}

/// `hierarchy.py` has written `hierarchy.json`: of each array its length, sum, norm and three elements.
#[test]
fn fifty_steps_are_those_of_numpy() {
    let expected: Vec<[f64; 6]> = serde_json::from_str(include_str!("hierarchy.json")).unwrap();
    let state = after::<f64>(50, 10, Device::Cpu);
    assert_eq!(state.len(), expected.len());
    for (at, (x, expected)) in state.iter().zip(&expected).enumerate() {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = [x.len() as f64, x.iter().sum(), norm, x[0], x[x.len() / 2], x[x.len() - 1]];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "array {at}: {found} {expected}");
        }
    }
    // In single precision the same, as far as its digits go.
    for (double, single) in state.iter().zip(after::<f32>(50, 10, Device::Cpu)) {
        assert!(double.iter().zip(single).all(|(a, b)| (a - f64::from(b)).abs() < 1e-4));
    }
}

/// A level of resolution r acts at every r-th step: after two steps the highest has learned once, after five twice.
#[test]
fn a_level_acts_at_its_own_steps_only() {
    let highest = |steps| after::<f64>(steps, 4, Device::Cpu).pop().unwrap();
    let lowest = |steps| after::<f64>(steps, 4, Device::Cpu).remove(1);
    assert_eq!(highest(1), highest(4));
    assert_ne!(highest(4), highest(5));
    assert_ne!(lowest(1), lowest(2));
}

/// Data of the user's own, whose rows are taken in turn, also by a second call; rows of another length are refused.
#[test]
fn rows_of_data_are_taken_in_turn() {
    let config = LayerConfig { inputs: 2, ..LayerConfig::of_size(3) };
    let rows = [[0.5, -1.0], [0.25, 0.75], [-0.5, 0.125]];
    let data = Array::from_rows(&rows).unwrap();
    let begin = || LayerHierarchy::<f64>::new(&config).unwrap();
    let (mut whole, mut parts, mut steps) = (begin(), begin(), begin());
    whole.process(&data, 7).unwrap();
    parts.process(&data, 4).unwrap();
    parts.process(&data, 3).unwrap();
    (0..7).for_each(|step| steps.step(&Array::from_slice(&rows[step % 3]).unwrap()).unwrap());
    assert_eq!(whole.state().unwrap(), parts.state().unwrap());
    assert_eq!(whole.state().unwrap(), steps.state().unwrap());
    assert_eq!(whole.shown().unwrap().to_host().unwrap().len(), 3 * 12);
    for wrong in [Array::zeros((2, 3)), Array::zeros((0, 2)), Array::zeros(2)] {
        assert!(matches!(whole.process(&wrong.unwrap(), 1), Err(ArrayError::Broadcast { .. })));
    }
}
