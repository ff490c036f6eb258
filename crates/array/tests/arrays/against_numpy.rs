//! Operations of arrays against NumPy's: shapes to the letter, numbers to a few units in the last place.
//!
//! `against_numpy.py` has written `against_numpy.json`, with the same inputs.

use octopus_array::{Array, ArrayError};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct NumpyArray {
    shape: Vec<usize>,
    values: Vec<f64>,
}

type Answer = Result<Array<f64>, ArrayError>;

/// The operations, by the names that the script gives them.
fn answers() -> Result<Vec<(&'static str, Array<f64>)>, ArrayError> {
    let ramp = |length: usize, first: f64, step: f64, offset: f64| -> Vec<f64> {
        (0..length).map(|i| (i as f64 + first) * step + offset).collect()
    };
    let a = Array::from_shape((3, 4), &ramp(12, -6.0, 0.375, 0.0625))?;
    let b = Array::from_slice(&[0.5, -1.25, 2.0, 4.0])?;
    let c = Array::from_rows(&[[2.0], [-0.5], [0.125]])?;
    let d = Array::from_shape((4, 2), &ramp(8, 0.0, 0.25, -0.75))?;
    let waves = || (0..1000).map(|i| (f64::from(i).sin() * 1e6).round_ties_even() / 1e6).collect::<Vec<_>>();
    let long = Array::from(waves());
    let tall = Array::from(waves()).reshape((200, 5))?;
    let wide = Array::from(waves()).reshape((2, 500))?;
    let one = |value: Result<f64, ArrayError>| -> Answer { Array::from_slice(&[value?]) };
    Ok(vec![
        ("add_row", a.add(&b)?),
        ("sub_column", a.sub(&c)?),
        ("mul_row_column", b.mul(&c)?),
        ("div_column_row", c.div(&b)?),
        ("add_one_element", a.add(&Array::from_slice(&[3.5])?)?),
        ("div_one_by_one", Array::full((1, 1), 3.5)?.div(&a)?),
        ("where", Array::select(&a.relu()?, &a, &c)?),
        ("where_row", {
            let condition = Array::from_slice(&[1.0, 0.0, f64::NAN, -2.0])?;
            Array::select(&condition, &a, &Array::full(1, 9.0)?)?
        }),
        ("clip", a.clip(-0.5, 1.0)?),
        ("tanh", a.tanh()?),
        ("sigmoid", a.sigmoid()?),
        ("relu", a.relu()?),
        ("abs", a.abs()?),
        ("sum_0", a.sum_axis(0)?),
        ("sum_1", a.sum_axis(1)?),
        ("mean_0", tall.mean_axis(0)?),
        ("mean_1", wide.mean_axis(1)?),
        ("std_0", tall.std_axis(0, 0)?),
        ("std_1_ddof", wide.std_axis(1, 1)?),
        ("norm_0", tall.norm_axis(0)?),
        ("norm_1", wide.norm_axis(1)?),
        ("min_0", tall.min_axis(0)?),
        ("max_1", wide.max_axis(1)?),
        ("mean", one(long.mean())?),
        ("std", one(long.std(0))?),
        ("std_ddof", one(long.std(1))?),
        ("norm", one(long.norm())?),
        ("matmul", a.matmul(&d)?),
        ("vector_matmul", b.matmul(&d)?),
        ("matmul_vector", a.matmul(&b)?),
        ("outer", b.outer(&d.slice(..1, ..)?.reshape(2)?)?),
        ("transpose", a.transpose()?),
        ("slice", a.slice(1..3, 1..)?),
        ("concatenate_0", Array::concatenate(&[&a, &a.slice(..1, ..)?], 0)?),
        ("concatenate_1", Array::concatenate(&[&a, &c], 1)?),
        ("arange", Array::arange(1.0, 3.1, 0.3)?),
        ("arange_down", Array::arange(2.0, -1.0, -0.75)?),
        ("eye", Array::eye(3)?),
    ])
}

#[test]
fn operations_agree_with_numpy() {
    let mut expected: BTreeMap<String, NumpyArray> = serde_json::from_str(include_str!("against_numpy.json")).unwrap();
    for (name, array) in answers().unwrap() {
        let numpy = expected.remove(name).unwrap_or_else(|| panic!("the script has no {name}"));
        let shape = match numpy.shape[..] {
            [length] => length.into(),
            [rows, columns] => (rows, columns).into(),
            _ => panic!("{name}: {:?}", numpy.shape),
        };
        assert_eq!(array.shape(), shape, "{name}");
        for (got, expected) in array.to_host().unwrap().iter().zip(&numpy.values) {
            // A mean of waves is small beside them: sums of a thousand numbers of size 1 are held to 1e-15 of that.
            let tolerance = 8.0 * f64::EPSILON * expected.abs().max(0.1);
            assert!((got - expected).abs() <= tolerance, "{name}: {got} {expected}");
        }
    }
    assert!(expected.is_empty(), "the script has more: {:?}", expected.keys());
}
