//! Orders of a container's elements: Octopus has the last index fastest, Stan's output the first one.

/// Returns, for each element in the order of the last index fastest, its place in the order of the first index fastest.
pub(crate) fn columns_to_rows(shape: &[usize]) -> Vec<usize> {
    let count: usize = shape.iter().product();
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &size in shape {
        strides.push(stride);
        stride *= size;
    }
    let mut places = Vec::with_capacity(count);
    let mut index = vec![0; shape.len()];
    for _ in 0..count {
        places.push(index.iter().zip(&strides).map(|(i, stride)| i * stride).sum());
        for (i, &size) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < size {
                break;
            }
            *i = 0;
        }
    }
    places
}

/// Returns, for each element in the order of the first index fastest, its place in the order of the last index fastest.
pub(crate) fn rows_to_columns(shape: &[usize]) -> Vec<usize> {
    let places = columns_to_rows(shape);
    let mut inverse = vec![0; places.len()];
    for (row, column) in places.into_iter().enumerate() {
        inverse[column] = row;
    }
    inverse
}
