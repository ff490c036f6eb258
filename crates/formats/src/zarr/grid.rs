//! The grid of chunks of an array: the index of each, and the place of its values.

use octopus_trace::Values;

/// An array cut into chunks of one shape.
pub(super) struct Grid<'a> {
    shape: &'a [usize],
    chunk: &'a [usize],
    /// The number of chunks along each axis.
    pub(super) counts: Vec<usize>,
}

impl<'a> Grid<'a> {
    pub(super) fn new(shape: &'a [usize], chunk: &'a [usize]) -> Result<Self, String> {
        if shape.len() != chunk.len() || chunk.contains(&0) {
            return Err(format!("chunks of the shape {chunk:?} do not fit an array of the shape {shape:?}"));
        }
        Ok(Self { shape, chunk, counts: shape.iter().zip(chunk).map(|(&len, &part)| len.div_ceil(part)).collect() })
    }

    pub(super) fn has(&self, index: &[usize]) -> bool {
        index.iter().zip(&self.counts).all(|(at, count)| at < count)
    }

    /// Returns the index of the `number`-th chunk in row-major order.
    pub(super) fn index(&self, number: usize) -> Vec<usize> {
        unravel(number, &self.counts)
    }

    /// Copies the values of a chunk where they belong, as far as they lie in the array.
    pub(super) fn place(&self, target: &mut Values, chunk: &Values, index: &[usize]) -> Result<(), String> {
        match (target, chunk) {
            (Values::F64(target), Values::F64(chunk)) => self.copy(target, chunk, index),
            (Values::I64(target), Values::I64(chunk)) => self.copy(target, chunk, index),
            (Values::Bool(target), Values::Bool(chunk)) => self.copy(target, chunk, index),
            (Values::Strings(target), Values::Strings(chunk)) => self.copy(target, chunk, index),
            _ => return Err("its codecs give another type than its metadata".into()),
        }
        Ok(())
    }

    fn copy<T: Clone>(&self, target: &mut [T], chunk: &[T], index: &[usize]) {
        let first: Vec<usize> = index.iter().zip(self.chunk).map(|(&at, &part)| at * part).collect();
        let inside: Vec<usize> =
            first.iter().zip(self.shape).zip(self.chunk).map(|((&at, &len), &part)| part.min(len - at)).collect();
        let Some((&row, outer)) = inside.split_last() else {
            target.clone_from_slice(chunk);
            return;
        };
        for number in 0..outer.iter().product() {
            let at = unravel(number, outer);
            let (mut to, mut from) = (0, 0);
            for axis in 0..self.shape.len() {
                let within = at.get(axis).copied().unwrap_or(0);
                to = to * self.shape[axis] + first[axis] + within;
                from = from * self.chunk[axis] + within;
            }
            target[to..to + row].clone_from_slice(&chunk[from..from + row]);
        }
    }
}

/// Returns the index of the `number`-th element of a row-major array.
pub(super) fn unravel(number: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = number;
    let mut index = vec![0; shape.len()];
    for (axis, &len) in shape.iter().enumerate().rev() {
        index[axis] = rest % len;
        rest /= len;
    }
    index
}
