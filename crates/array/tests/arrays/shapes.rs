//! Shapes, and what is refused: every error says operation and shapes, in NumPy's words.

use octopus_array::{Array, ArrayError, ArrayShape};

type Answer = Result<Array<f64>, ArrayError>;

fn message(answer: Answer) -> String {
    answer.unwrap_err().to_string()
}

fn ones(shape: impl Into<ArrayShape>) -> Array<f64> {
    Array::full(shape, 1.0).unwrap()
}

#[test]
fn shapes_are_written_as_numpy_writes_them() {
    let shapes = [ones(3).shape(), ones((2, 4)).shape(), ones([5]).shape(), ones([0, 1]).shape()];
    assert_eq!(format!("{shapes:?}"), "[(3,), (2, 4), (5,), (0, 1)]");
    assert_eq!(shapes.map(ArrayShape::dimensions), [1, 2, 1, 2]);
    assert_eq!(shapes.map(ArrayShape::sides), [(1, 3), (2, 4), (1, 5), (0, 1)]);
}

/// The table of NumPy's rule, by all pairs of shapes: sides that are equal stay, and 1 becomes the other.
#[test]
fn arrays_are_broadcast_by_numpy_s_rule() {
    let shapes: [ArrayShape; 10] = [
        1.into(),
        3.into(),
        4.into(),
        (1, 1).into(),
        (1, 3).into(),
        (2, 1).into(),
        (2, 3).into(),
        (0, 3).into(),
        (3, 1).into(),
        (1, 0).into(),
    ];
    for left in shapes {
        for right in shapes {
            let side = |a: usize, b: usize| match (a, b) {
                _ if a == b => Some(a),
                (1, b) => Some(b),
                (a, 1) => Some(a),
                _ => None,
            };
            let ((rows, columns), (other_rows, other_columns)) = (left.sides(), right.sides());
            let expected = side(rows, other_rows).zip(side(columns, other_columns));
            let (x, y) = (ramp(left), ramp(right));
            let answer = x.sub(&y);
            let Some((rows, columns)) = expected else {
                let words = format!("sub: operands could not be broadcast together with shapes {left} {right}");
                assert_eq!(message(answer), words);
                assert!(Array::select(&x, &x, &y).is_err());
                continue;
            };
            let array = answer.unwrap();
            let is_vector = left.dimensions() + right.dimensions() == 2;
            let shape = if is_vector { columns.into() } else { ArrayShape::from((rows, columns)) };
            assert_eq!(array.shape(), shape, "{left} {right}");
            let element = |x: &Array<f64>, row: usize, column: usize| {
                let (rows, columns) = x.shape().sides();
                x.to_host().unwrap()[(row % rows) * columns + column % columns]
            };
            let places = || (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
            let plain: Vec<f64> = places().map(|(i, j)| element(&x, i, j) - element(&y, i, j)).collect();
            assert_eq!(array.to_host().unwrap(), plain, "{left} {right}");
            let chosen: Vec<f64> = places()
                .map(|(i, j)| if element(&y, i, j) == 0.0 { element(&x, i, j) } else { element(&y, i, j) })
                .collect();
            assert_eq!(Array::select(&y, &y, &x).unwrap().to_host().unwrap(), chosen, "{left} {right}");
        }
    }
}

/// Numbers of which no two differences are the same.
fn ramp(shape: ArrayShape) -> Array<f64> {
    let (rows, columns) = shape.sides();
    let numbers = (0..rows * columns).map(|i| (i * i) as f64 / 7.0 - (i % 2) as f64).collect::<Vec<_>>();
    Array::from_shape(shape, &numbers).unwrap()
}

#[test]
fn what_does_not_fit_is_told_with_its_shapes() {
    let (vector, matrix) = (ones(3), ones((2, 3)));
    let cases: [(Answer, &str); 15] = [
        (ones((3, 4)).add(&ones(5)), "add: operands could not be broadcast together with shapes (3, 4) (5,)"),
        (matrix.axpy(2.0, &vector), "axpy: operands could not be broadcast together with shapes (2, 3) (3,)"),
        (matrix.sum_axis(2), "sum_axis: axis 2 is out of bounds for array of dimension 2, with shape (2, 3)"),
        (vector.mean_axis(1), "mean_axis: axis 1 is out of bounds for array of dimension 1, with shape (3,)"),
        (vector.std_axis(7, 0), "std_axis: axis 7 is out of bounds for array of dimension 1, with shape (3,)"),
        (vector.norm_axis(1), "norm_axis: axis 1 is out of bounds for array of dimension 1, with shape (3,)"),
        (matrix.matmul(&ones(2)), "matmul: shapes (2, 3) and (2,) not aligned: 3 != 2"),
        (vector.matmul(&vector), "matmul: an array of 2 dimensions is needed, this one has shape (3,)"),
        (matrix.outer(&vector), "outer: an array of 1 dimensions is needed, this one has shape (2, 3)"),
        (matrix.slice(1..4, ..), "slice: 1..4 is not within axis 0 of an array of shape (2, 3)"),
        (matrix.slice(.., 2..=3), "slice: 2..4 is not within axis 1 of an array of shape (2, 3)"),
        (vector.slice(.., 4..), "slice: 4..3 is not within axis 0 of an array of shape (3,)"),
        (Array::concatenate(&[], 0), "concatenate: need at least one array to concatenate"),
        (
            Array::concatenate(&[&matrix, &ones((2, 4))], 0),
            "concatenate: all the input array dimensions except for the concatenation axis must match exactly, but \
             along axis 0 there are shapes (2, 3) and (2, 4)",
        ),
        (ones(6).reshape((4, 2)), "cannot reshape array of size 6 into shape (4, 2)"),
    ];
    for (answer, expected) in cases {
        assert_eq!(message(answer), expected);
    }
    assert_eq!(
        message(Array::concatenate(&[&vector], 1)),
        "concatenate: axis 1 is out of bounds for array of dimension 1, with shape (3,)"
    );
    assert!(matches!(Array::concatenate(&[&vector, &matrix], 0), Err(ArrayError::Concatenate { .. })));
    for (start, stop, step) in [(0.0, 1.0, 0.0), (0.0, f64::NAN, 1.0), (0.0, f64::INFINITY, 1.0), (1.0, 1.0, 0.0)] {
        assert!(matches!(Array::arange(start, stop, step), Err(ArrayError::Range { .. })), "{start} {stop} {step}");
    }
    assert!(matches!(Array::arange(0.0, 1e300, 1.0), Err(ArrayError::HostMemory { .. })));
    assert!(matches!(Array::<f64>::eye(usize::MAX), Err(ArrayError::TooLarge { .. })));
    assert!(matches!(Array::<f64>::zeros((usize::MAX, 2)), Err(ArrayError::TooLarge { .. })));
}

#[test]
fn arrays_without_elements_have_the_values_of_nothing() {
    let (flat, thin) = (ones((0, 3)), ones((3, 0)));
    let host = |answer: Answer| answer.unwrap().to_host().unwrap();
    assert_eq!(host(flat.sum_axis(0)), [0.0; 3]);
    assert!(host(flat.sum_axis(1)).is_empty());
    assert_eq!(host(thin.min_axis(1)), [f64::INFINITY; 3]);
    assert!(host(thin.max_axis(0)).is_empty());
    assert_eq!(host(flat.max_axis(0)), [f64::NEG_INFINITY; 3]);
    assert!(host(flat.mean_axis(0)).iter().all(|mean| mean.is_nan()));
    assert!(ones(0).mean().unwrap().is_nan() && ones(1).std(1).unwrap().is_nan());
    assert_eq!(ones(0).norm().unwrap(), 0.0);
    assert_eq!(thin.transpose().unwrap().shape().to_string(), "(0, 3)");
    assert_eq!(flat.add(&ones((1, 3))).unwrap().shape().to_string(), "(0, 3)");
    assert_eq!(Array::concatenate(&[&flat, &ones((1, 3))], 0).unwrap().shape().to_string(), "(1, 3)");
    assert_eq!(ones(3).slice(0..0, ..).unwrap().shape().to_string(), "(0,)");
    assert_eq!(thin.matmul(&flat).unwrap().to_host().unwrap(), [0.0; 9]);
    assert_eq!(Array::arange(1.0, 0.0, 1.0).unwrap().len(), 0);
    assert_eq!(Array::<f32>::eye(0).unwrap().shape().to_string(), "(0, 0)");
}

#[test]
fn what_leaves_special_values_as_they_are() {
    let x = Array::from(vec![f64::NAN, -0.0, -1.0, f64::INFINITY]);
    let relu = x.relu().unwrap().to_host().unwrap();
    assert!(relu[0].is_nan() && relu[1].to_bits() == (-0.0_f64).to_bits() && relu[2] == 0.0);
    let clipped = x.clip(-0.5, 2.0).unwrap().to_host().unwrap();
    assert!(clipped[0].is_nan() && clipped[1..] == [-0.0, -0.5, 2.0]);
    // The upper limit has the last word, as in NumPy.
    assert_eq!(Array::from(vec![0.0]).clip(3.0, 1.0).unwrap().to_host().unwrap(), [1.0]);
    assert_eq!(
        Array::from(vec![0.1_f64, 1e-50, 1e300]).to_f32().unwrap().to_host().unwrap(),
        [0.1, 0.0, f32::INFINITY]
    );
    assert_eq!(Array::from(vec![0.1_f32]).to_f64().unwrap().to_host().unwrap(), [f64::from(0.1_f32)]);
}
