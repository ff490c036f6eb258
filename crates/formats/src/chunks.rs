//! How arrays are cut into chunks for compression: their shape and number of values.

/// Chunks hold about this many values: large enough to compress well, small enough to read in part.
const VALUES: usize = 1 << 19;

/// Returns the shape of a chunk: 1 along the leading axes, all of the trailing ones, and a part of one axis between
/// them, so that the values of each chunk lie together in row-major order.
pub(crate) fn chunk_shape(shape: &[usize]) -> Vec<usize> {
    let mut chunk = shape.to_vec();
    // Of one index of the axes before.
    let mut values: usize = shape.iter().product();
    for len in &mut chunk {
        if values <= VALUES {
            break;
        }
        values /= *len;
        *len = (VALUES / values).clamp(1, *len);
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_runs_of_values() {
        for (shape, expected) in [
            (vec![], vec![]),
            (vec![4, 2000], vec![4, 2000]),
            (vec![4, 2000, 100], vec![2, 2000, 100]),
            (vec![4, 100_000, 1000], vec![1, 524, 1000]),
            (vec![2, 2, 10_000_000], vec![1, 1, 524_288]),
        ] {
            assert_eq!(chunk_shape(&shape), expected);
        }
    }
}
