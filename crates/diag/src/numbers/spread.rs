//! Values with their places, divided among bins that fit the cache: of millions, what a bin does in any order costs
//! little, while reaching for one value here and another there waits for the memory each time.

use crate::numbers::order::Sorted;

/// The number of values from which on dividing them is worth it: fewer fit the cache together.
pub(crate) const MANY: usize = 1 << 18;

/// Values and places, bin after bin, each bin in the order of the items.
pub(crate) struct BinnedValues<'a> {
    storage: &'a mut Sorted,
    /// Where each bin ends.
    ends: Vec<usize>,
}

impl<'a> BinnedValues<'a> {
    /// Divides `items` (bin, value and place) among `bins` bins; the items are gone through twice.
    pub(crate) fn new(
        storage: &'a mut Sorted,
        bins: usize,
        items: impl ExactSizeIterator<Item = (usize, f64, u32)> + Clone,
    ) -> Self {
        let mut ends = vec![0; bins];
        items.clone().for_each(|(bin, ..)| ends[bin] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        storage.resize(items.len());
        let (values, places) = (storage.values.as_mut_slice(), storage.places.as_mut_slice());
        for (bin, value, place) in items {
            values[ends[bin]] = value;
            places[ends[bin]] = place;
            ends[bin] += 1;
        }
        Self { storage, ends }
    }

    /// Returns the most items of one bin.
    pub(crate) fn largest(&self) -> usize {
        self.ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end))).max().unwrap_or(0)
    }

    /// Gives `f` the values and places of one bin after the other, to put them in order.
    pub(crate) fn for_each_bin(&mut self, mut f: impl FnMut(&mut [f64], &mut [u32])) {
        let mut start = 0;
        for &end in &self.ends {
            f(&mut self.storage.values[start..end], &mut self.storage.places[start..end]);
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_keep_the_order() {
        let bins = [2, 0, 2, 3, 0, 2];
        let mut storage = Sorted::default();
        let mut spread =
            BinnedValues::new(&mut storage, 5, (0u32..6).map(|i| (bins[i as usize], f64::from(10 * i), i)));
        assert_eq!(spread.largest(), 3);
        let mut found = Vec::new();
        spread.for_each_bin(|values, places| found.push((values.to_vec(), places.to_vec())));
        let none = (vec![], vec![]);
        assert_eq!(
            found,
            [
                (vec![10.0, 40.0], vec![1, 4]),
                none.clone(),
                (vec![0.0, 20.0, 50.0], vec![0, 2, 5]),
                (vec![30.0], vec![3]),
                none
            ]
        );
    }

    #[test]
    fn the_first_bin_may_be_the_largest_or_empty_or_not_there() {
        let largest = |count: usize, bins: &[usize]| {
            BinnedValues::new(&mut Sorted::default(), count, bins.iter().map(|&bin| (bin, 0.5, 0))).largest()
        };
        assert_eq!([largest(2, &[0, 0, 1]), largest(2, &[1]), largest(0, &[])], [2, 1, 0]);
    }
}
