//! Columns of row-major matrices: draws are stored one after the other, and estimators read one quantity at a time.

use pulp::{Arch, Simd, WithSimd};

/// Rows and columns that are transposed at once, in registers: this number of values of a column fills a cache line.
const SIDE: usize = 8;

/// Values of all columns that are gathered together.
const TOGETHER: usize = 1 << 18;

/// Returns how many neighbouring ones of `width` columns of `rows` values to gather together: whole cache lines of each
/// row are read, unless the columns are so long that they would take much memory, or so few that threads would have
/// nothing to do.
pub(crate) fn block(rows: usize, width: usize) -> usize {
    let threads = rayon::current_num_threads();
    let share = if width < 2 * SIDE * threads {
        width.div_ceil(threads)
    } else {
        width.div_ceil(16 * threads).next_multiple_of(SIDE)
    };
    (TOGETHER / rows.max(1)).clamp(1, 32).min(share.max(1))
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
    Arch::new().dispatch(Gather { values, width, first, count, real, out });
}

struct Gather<'a, T, F> {
    values: &'a [T],
    width: usize,
    first: usize,
    count: usize,
    real: F,
    out: &'a mut [f64],
}

impl<T: Copy, F: Fn(T) -> f64> WithSimd for Gather<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { values, width, first, count, real, out } = self;
        let rows = values.len() / width;
        let square = |lines: &[&[T]; SIDE], k: usize| -> [[f64; SIDE]; SIDE] {
            std::array::from_fn(|row| {
                let part: &[T] = &lines[row][k..k + SIDE];
                std::array::from_fn(|column| real(part[column]))
            })
        };
        let whole = count - count % SIDE;
        let tiles = values.chunks_exact(SIDE * width);
        let rest = tiles.remainder();
        for (tile, part) in tiles.enumerate() {
            let start = tile * SIDE;
            let lines: [&[T]; SIDE] =
                std::array::from_fn(|row| &part[row * width + first..row * width + first + count]);
            for k in (0..whole).step_by(SIDE) {
                let square = square(&lines, k);
                for column in 0..SIDE {
                    let line: [f64; SIDE] = std::array::from_fn(|row| square[row][column]);
                    out[(k + column) * rows + start..][..SIDE].copy_from_slice(&line);
                }
            }
            for k in whole..count {
                let line: [f64; SIDE] = std::array::from_fn(|row| real(lines[row][k]));
                out[k * rows + start..][..SIDE].copy_from_slice(&line);
            }
        }
        for (row, line) in (rows - rest.len() / width..).zip(rest.chunks_exact(width)) {
            for k in 0..count {
                out[k * rows + row] = real(line[first + k]);
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
        assert_eq!((block(100, 1 << 20), block(8000, 1 << 20), block(4_000_000, 1 << 20)), (32, 32, 1));
        assert_eq!((block(100, 0), block(100, 1)), (1, 1));
    }

    /// Each of four threads has a share of 63 columns; 64 and more are divided into whole cache lines, 16 parts for each.
    #[test]
    fn few_columns_are_shared_among_threads() {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        assert_eq!(threads.install(|| [63, 64, 1024].map(|width| block(100, width))), [16, 8, 16]);
    }

    /// Whole squares, columns that are left over, and rows that are, wherever they begin.
    #[test]
    fn squares_and_what_is_left_are_transposed() {
        for (rows, width, first, count) in
            [(8, 8, 0, 8), (19, 40, 3, 33), (24, 21, 5, 16), (7, 30, 1, 20), (33, 9, 0, 9)]
        {
            let value = |row: usize, column: usize| (1000 * row + column) as f64;
            let values: Vec<f64> = (0..rows * width).map(|k| value(k / width, k % width)).collect();
            let mut out = vec![f64::NAN; rows * count];
            gather(&values, width, first, count, |v| v, &mut out);
            for (k, found) in out.iter().enumerate() {
                assert_eq!(*found, value(k % rows, first + k / rows), "{rows} x {width}: {k}");
            }
        }
    }

    /// 2^18 values together: 32 columns of 8192, 4 of 52,429, one of any more.
    #[test]
    fn long_columns_are_gathered_in_smaller_blocks() {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let of = |rows: usize, width: usize| threads.install(|| block(rows, width));
        let blocks = [1, 8192, 8193, 52_429, 100_000, 1 << 18, 1 << 19].map(|rows| of(rows, 1 << 20));
        assert_eq!(blocks, [32, 32, 31, 4, 2, 1, 1]);
        assert_eq!([1024, 1025, 1100].map(|width| of(100, width)), [16, 24, 24]);
        assert_eq!((of(0, 10), of(100, 0), of(100, 1)), (3, 1, 1));
    }
}
