//! Columns of row-major matrices: draws are stored one after the other, and estimators read one quantity at a time.

/// Rows that are transposed at once: so many values of a column fill two cache lines.
const ROWS: usize = 16;

/// Values of all columns that are gathered together.
const TOGETHER: usize = 1 << 18;

/// How many neighbouring columns of `rows` values to gather together: whole cache lines of each row are read, unless the
/// columns are so long that they would take much memory.
pub(crate) fn block(rows: usize) -> usize {
    (TOGETHER / rows.max(1)).clamp(1, 32)
}

/// Writes the columns `first..first + count` of a matrix with rows of `width` values to `out`, one after the other.
pub(crate) fn gather<T: Copy>(
    values: &[T],
    width: usize,
    first: usize,
    count: usize,
    real: impl Fn(T) -> f64,
    out: &mut [f64],
) {
    let rows = values.len() / width;
    for (tile, part) in values.chunks(ROWS * width).enumerate() {
        let start = tile * ROWS;
        let cut = |row: usize| &part[row * width + first..row * width + first + count];
        if part.len() < ROWS * width {
            for row in 0..part.len() / width {
                cut(row).iter().enumerate().for_each(|(k, &value)| out[k * rows + start + row] = real(value));
            }
            continue;
        }
        // The rows cut to one known length: no index is left to check in the loop.
        let lines: [&[T]; ROWS] = std::array::from_fn(cut);
        for k in 0..count {
            let column = &mut out[k * rows + start..k * rows + start + ROWS];
            for (slot, line) in column.iter_mut().zip(&lines) {
                *slot = real(line[k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_every_length() {
        for rows in [1, 2, 15, 16, 17, 40] {
            let values: Vec<i32> = (0..rows * 7).collect();
            let mut out = vec![f64::NAN; 3 * rows as usize];
            gather(&values, 7, 2, 3, f64::from, &mut out);
            let expected: Vec<f64> = (2..5).flat_map(|k| (0..rows).map(move |i| f64::from(7 * i + k))).collect();
            assert_eq!(out, expected);
        }
        assert_eq!((block(100), block(8000), block(4_000_000)), (32, 32, 1));
    }
}
