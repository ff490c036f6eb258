//! Values with their places, divided among bins that fit the cache: of millions, what a bin does in any order costs
//! little, while reaching for one value here and another there waits for the memory each time.

/// So many values are worth dividing: fewer fit the cache together.
pub(crate) const MANY: usize = 1 << 18;

/// Values and places, bin after bin, each bin in the order of the items.
pub(crate) struct Spread {
    values: Vec<f64>,
    places: Vec<u32>,
    /// Where each bin ends.
    ends: Vec<usize>,
}

impl Spread {
    /// Divides `items` (bin, value and place) among `bins` bins; the items are gone through twice.
    pub(crate) fn new(bins: usize, items: impl ExactSizeIterator<Item = (usize, f64, u32)> + Clone) -> Self {
        let mut ends = vec![0; bins];
        items.clone().for_each(|(bin, ..)| ends[bin] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let (mut values, mut places) = (vec![0.0; items.len()], vec![0; items.len()]);
        for (bin, value, place) in items {
            values[ends[bin]] = value;
            places[ends[bin]] = place;
            ends[bin] += 1;
        }
        Self { values, places, ends }
    }

    /// Values and places of each bin.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (&[f64], &[u32])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| (&self.values[start..end], &self.places[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_keep_the_order() {
        let bins = [2, 0, 2, 3, 0, 2];
        let spread = Spread::new(5, (0u32..6).map(|i| (bins[i as usize], f64::from(10 * i), i)));
        let found: Vec<(&[f64], &[u32])> = spread.bins().collect();
        let none: (&[f64], &[u32]) = (&[], &[]);
        assert_eq!(
            found,
            [(&[10.0, 40.0][..], &[1, 4][..]), none, (&[0.0, 20.0, 50.0], &[0, 2, 5]), (&[30.0], &[3]), none,]
        );
    }
}
