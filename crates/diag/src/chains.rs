//! The draws of one quantity: a borrowed `chains x draws` array, and its halves (split chains).
//!
//! When a statistic is NaN for want of draws or for a NaN among them is decided here (`valid`).

use crate::error::DiagError;

/// The draws of one scalar quantity, `chains x draws`, row-major: chain after chain.
///
/// Every estimator of this crate reads this view. Values may be NaN or infinite; what each estimator
/// makes of them is said there.
///
/// ```
/// use octopus_diag::Chains;
/// let values = [0.1, -0.3, 0.2, 0.0, 0.4, -0.1];
/// let chains = Chains::new(&values, 2, 3)?;
/// assert_eq!(chains.row(1), [0.0, 0.4, -0.1]);
/// # Ok::<(), octopus_diag::DiagError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chains<'a> {
    values: &'a [f64],
    chains: usize,
    draws: usize,
}

impl<'a> Chains<'a> {
    /// Views `values` as `chains` rows of `draws` values.
    ///
    /// # Errors
    /// [`DiagError::Empty`] without chains or draws, [`DiagError::Shape`] when `values` has another length
    /// than `chains * draws`.
    pub fn new(values: &'a [f64], chains: usize, draws: usize) -> Result<Self, DiagError> {
        if chains == 0 || draws == 0 {
            return Err(DiagError::Empty { chains, draws });
        }
        if chains.checked_mul(draws) != Some(values.len()) {
            return Err(DiagError::Shape { chains, draws, values: values.len() });
        }
        Ok(Self { values, chains, draws })
    }

    /// Copies one element out of draws that are `width` values wide: `source` is `chains x draws x width`,
    /// row-major, and `buffer` holds the copy (it is cleared first, so it can be used again and again).
    ///
    /// # Errors
    /// [`DiagError::Element`] when `element` is not below `width`, [`DiagError::Empty`] without chains or draws, and
    /// [`DiagError::Shape`] when `source` has another length than `chains * draws * width`.
    pub fn gather(
        source: &[f64],
        chains: usize,
        draws: usize,
        width: usize,
        element: usize,
        buffer: &'a mut Vec<f64>,
    ) -> Result<Self, DiagError> {
        if chains == 0 || draws == 0 {
            return Err(DiagError::Empty { chains, draws });
        }
        if element >= width {
            return Err(DiagError::Element { element, width });
        }
        let size = chains.checked_mul(draws).and_then(|n| n.checked_mul(width));
        if size != Some(source.len()) {
            return Err(DiagError::Shape { chains, draws: draws.saturating_mul(width), values: source.len() });
        }
        buffer.clear();
        buffer.extend(source.iter().skip(element).step_by(width));
        Self::new(buffer, chains, draws)
    }

    /// Copies chains of equal length, one row each; `buffer` holds the copy.
    ///
    /// # Errors
    /// [`DiagError::Unequal`] names the first chain whose length is not that of chain 0; [`DiagError::Empty`] without
    /// chains or draws.
    pub fn from_rows(rows: &[&[f64]], buffer: &'a mut Vec<f64>) -> Result<Self, DiagError> {
        let expected = rows.first().map_or(0, |row| row.len());
        if let Some((chain, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != expected) {
            return Err(DiagError::Unequal { chain, found: row.len(), expected });
        }
        Ok(Self::cut_to_shortest(rows, buffer)?.0)
    }

    /// Copies the first draws of chains of any lengths, as many of each as the shortest has, and tells how many draws were
    /// dropped in all; `buffer` holds the copy.
    ///
    /// # Errors
    /// [`DiagError::Empty`] without chains, or when one has no draw.
    pub fn cut_to_shortest(rows: &[&[f64]], buffer: &'a mut Vec<f64>) -> Result<(Self, usize), DiagError> {
        let draws = rows.iter().map(|row| row.len()).min().unwrap_or(0);
        buffer.clear();
        rows.iter().for_each(|row| buffer.extend_from_slice(&row[..draws]));
        let dropped = rows.iter().map(|row| row.len() - draws).sum();
        Ok((Self::new(buffer, rows.len(), draws)?, dropped))
    }

    /// Returns all values, chain after chain.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Returns the number of chains.
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// Returns the number of draws of each chain.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Returns the draws of chain `chain`.
    ///
    /// # Panics
    /// When there is no such chain.
    pub fn row(&self, chain: usize) -> &'a [f64] {
        &self.values[chain * self.draws..(chain + 1) * self.draws]
    }

    /// Returns all chains, in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'a, f64> {
        self.values.chunks_exact(self.draws)
    }

    /// Returns the same chains, each cut in two: `2 chains x (draws / 2)`. An odd chain loses its middle draw.
    /// Even chains are viewed in place; `buffer` is used only for odd ones.
    pub(crate) fn split<'b>(&self, buffer: &'b mut Vec<f64>) -> Chains<'b>
    where
        'a: 'b,
    {
        let half = self.draws / 2;
        if self.draws.is_multiple_of(2) {
            return Chains { values: self.values, chains: 2 * self.chains, draws: half };
        }
        buffer.clear();
        for row in self.rows() {
            buffer.extend_from_slice(&row[..half]);
            buffer.extend_from_slice(&row[half + 1..]);
        }
        Chains { values: buffer, chains: 2 * self.chains, draws: half }
    }

    /// Chains of the same shape with other values, as many as these have.
    pub(crate) fn with_values<'b>(&self, values: &'b [f64]) -> Chains<'b> {
        debug_assert_eq!(values.len(), self.values.len());
        Chains { values, chains: self.chains, draws: self.draws }
    }

    /// Returns whether there are at least 4 draws of each of `min_chains` chains and none is NaN: the condition under
    /// which ArviZ computes a diagnostic at all.
    pub(crate) fn valid(&self, min_chains: usize) -> bool {
        self.chains >= min_chains && self.draws >= 4 && !has_nan(self.values)
    }
}

/// Returns whether any value is NaN.
pub(crate) fn has_nan(values: &[f64]) -> bool {
    // Folding over whole blocks lets the compiler use vectors; `any` alone would test one by one.
    values.chunks(256).any(|block| block.iter().fold(false, |found, v| found | v.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked() {
        assert_eq!(Chains::new(&[], 0, 3), Err(DiagError::Empty { chains: 0, draws: 3 }));
        assert_eq!(Chains::new(&[1.0], 1, 2), Err(DiagError::Shape { chains: 1, draws: 2, values: 1 }));
        let error = Chains::new(&[1.0], usize::MAX, 2).unwrap_err();
        assert!(error.to_string().contains("1 were given"), "{error}");
    }

    #[test]
    fn gathers_one_element() {
        let source: Vec<f64> = (0..12).map(f64::from).collect();
        let mut buffer = vec![99.0];
        let chains = Chains::gather(&source, 2, 2, 3, 1, &mut buffer).unwrap();
        assert_eq!(chains.values(), [1.0, 4.0, 7.0, 10.0]);
        let mut buffer = Vec::new();
        assert_eq!(Chains::gather(&source, 2, 2, 3, 3, &mut buffer), Err(DiagError::Element { element: 3, width: 3 }));
        assert!(matches!(Chains::gather(&source, 2, 3, 3, 0, &mut buffer), Err(DiagError::Shape { .. })));
        for (chains, draws) in [(0, 2), (2, 0)] {
            let found = Chains::gather(&source, chains, draws, 3, 0, &mut buffer);
            assert_eq!(found, Err(DiagError::Empty { chains, draws }));
        }
    }

    #[test]
    fn unequal_rows_are_refused_or_cut() {
        let (long, short) = ([1.0, 2.0, 3.0], [4.0, 5.0]);
        let mut buffer = Vec::new();
        let error = Chains::from_rows(&[&long, &short], &mut buffer).unwrap_err();
        assert_eq!(error, DiagError::Unequal { chain: 1, found: 2, expected: 3 });
        let (chains, dropped) = Chains::cut_to_shortest(&[&long, &short, &long], &mut buffer).unwrap();
        assert_eq!((chains.values(), dropped), (&[1.0, 2.0, 4.0, 5.0, 1.0, 2.0][..], 2));
        let mut buffer = Vec::new();
        assert_eq!(Chains::from_rows(&[&short, &short], &mut buffer).unwrap().row(1), short);
        assert!(matches!(Chains::cut_to_shortest(&[&short, &[]], &mut buffer), Err(DiagError::Empty { .. })));
        assert!(matches!(Chains::from_rows(&[], &mut buffer), Err(DiagError::Empty { .. })));
    }

    #[test]
    fn odd_chains_lose_the_middle() {
        let values: Vec<f64> = (0..15).map(f64::from).collect();
        let mut buffer = Vec::new();
        let split = Chains::new(&values, 3, 5).unwrap().split(&mut buffer);
        assert_eq!(split.values(), [0.0, 1.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 10.0, 11.0, 13.0, 14.0]);
        assert_eq!((split.chains(), split.draws()), (6, 2));
        let split = Chains::new(&values[..12], 3, 4).unwrap().split(&mut buffer);
        assert_eq!((split.values(), split.chains(), split.draws()), (&values[..12], 6, 2));
    }

    #[test]
    fn nan_is_found_however_often_it_stands() {
        let nan = f64::NAN;
        assert!(has_nan(&[nan]) && has_nan(&[nan, 1.0, nan]) && has_nan(&[nan; 512]));
        assert!(!has_nan(&[]) && !has_nan(&[1.0, f64::INFINITY]));
    }

    #[test]
    fn without_chains_there_are_no_draws() {
        let none = Err(DiagError::Empty { chains: 0, draws: 0 });
        let mut buffer = Vec::new();
        assert_eq!(Chains::from_rows(&[], &mut buffer), none);
        assert_eq!(Chains::cut_to_shortest(&[], &mut buffer).map(|found| found.1), none.map(|_: Chains| 0));
    }
}
