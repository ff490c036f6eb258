//! The data as the likelihood needs them: each group's moments, and every observation where vector code finds it.
//!
//! How large a group is before it is cut into tiles, and how large a tile is, stands here.

use octopus_density::GroupedData;
use octopus_density::warp::Buffer;

/// Observations of small groups are kept for blocks of this many groups, one row for each observation.
pub(super) const BLOCK: usize = 32;

/// As many groups as the widest vector has lanes.
pub(super) const OCTET: usize = 8;

/// The most observations of a group that its lane sums in their order. The lanes of a block go as far as its longest
/// group: beyond this, going through each group by itself is faster.
pub(super) const IN_ORDER: usize = 256;

/// Observations of a tile, in which a larger group is summed: element i of a tile belongs to lane i mod 32, each lane
/// adds in order, the lanes as the virtual warp's tree, and the tiles in order.
pub(super) const TILE: usize = 2048;

/// The lanes of a tile.
pub(super) const TILE_LANES: usize = 32;

/// The data relative to the prior's mean, so that nothing cancels.
#[derive(Clone, Debug)]
pub(super) struct Observed {
    /// Observations of each group; 0 in the padding.
    pub(super) count: Buffer,
    /// Mean of each group less the prior's mean.
    pub(super) mean: Buffer,
    /// Sum over groups of the squared deviations from the group's mean.
    pub(super) within: f64,
    /// The number of all observations.
    pub(super) total: f64,
    pub(super) small: Small,
    pub(super) large: Large,
}

/// Observations of groups of at most [`IN_ORDER`], transposed.
#[derive(Clone, Debug)]
pub(super) struct Small {
    /// Observations of each of these groups; 0 for the others and in the padding.
    pub(super) members: Buffer,
    /// Row `starts[b] + k` holds observation `k` of each group of block `b`.
    pub(super) transposed: Buffer,
    /// First row of each block of groups, and the end.
    pub(super) starts: Vec<usize>,
    /// For each [`OCTET`] of groups, the number of rows in which all of them have an observation.
    pub(super) full: Vec<usize>,
}

/// Observations of larger groups, in tiles.
#[derive(Clone, Debug)]
pub(super) struct Large {
    /// One group after another, zeros to the end of a row of [`TILE_LANES`].
    pub(super) values: Buffer,
    /// All tiles of all groups, one group after another.
    pub(super) tiles: Vec<Tile>,
    /// The first tile of each group, and the end; a small group has none.
    pub(super) first: Vec<usize>,
}

/// The place of a tile in the values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) group: usize,
    /// The first row of the tile in the values.
    pub(super) row: usize,
    pub(super) len: usize,
}

impl Observed {
    /// `data` less `origin`.
    pub(super) fn new(data: &GroupedData, origin: f64) -> Self {
        let dim = data.groups() + 3;
        let (mut count, mut mean) = (Buffer::zeros(dim), Buffer::zeros(dim));
        let mut within = 0.0;
        for j in 0..data.groups() {
            let values = data.group(j);
            count[j] = values.len() as f64;
            mean[j] = values.iter().map(|y| y - origin).sum::<f64>() / count[j];
            within += values.iter().map(|y| (y - origin - mean[j]).powi(2)).sum::<f64>();
        }
        let (small, large) = (Small::new(data, origin), Large::new(data, origin));
        Self { count, mean, within, total: data.values().len() as f64, small, large }
    }
}

impl Small {
    fn new(data: &GroupedData, origin: f64) -> Self {
        let groups = data.groups();
        let values = |j: usize| if data.group(j).len() <= IN_ORDER { data.group(j) } else { &[] };
        let mut starts = vec![0];
        for block in 0..groups.div_ceil(BLOCK) {
            let members = block * BLOCK..groups.min((block + 1) * BLOCK);
            let rows = members.map(|j| values(j).len()).max().unwrap_or(0);
            starts.push(starts[block] + rows);
        }
        let mut members = Buffer::zeros(groups + 3);
        let mut transposed = Buffer::zeros(starts[starts.len() - 1] * BLOCK);
        for j in 0..groups {
            members[j] = values(j).len() as f64;
            for (k, y) in values(j).iter().enumerate() {
                transposed[(starts[j / BLOCK] + k) * BLOCK + j % BLOCK] = y - origin;
            }
        }
        let least = |octet: &[f64]| octet.iter().fold(f64::INFINITY, |least, &count| least.min(count)) as usize;
        let full = members.chunks_exact(OCTET).take(groups.div_ceil(OCTET)).map(least).collect();
        Self { members, transposed, starts, full }
    }

    /// Returns all rows, without the buffer's padding.
    pub(super) fn rows(&self) -> &[f64] {
        &self.transposed[..self.starts[self.starts.len() - 1] * BLOCK]
    }

    /// Returns the blocks of groups that have any of these.
    pub(super) fn blocks(&self) -> impl Iterator<Item = usize> {
        (0..self.starts.len() - 1).filter(|&block| self.starts[block] < self.starts[block + 1])
    }
}

impl Large {
    fn new(data: &GroupedData, origin: f64) -> Self {
        let (mut tiles, mut first, mut rows) = (Vec::<Tile>::new(), vec![0], 0);
        for j in 0..data.groups() {
            let group = data.group(j);
            if group.len() > IN_ORDER {
                for (t, tile) in group.chunks(TILE).enumerate() {
                    tiles.push(Tile { group: j, row: rows + t * (TILE / TILE_LANES), len: tile.len() });
                }
                rows += group.len().div_ceil(TILE_LANES);
            }
            first.push(tiles.len());
        }
        let mut values = Buffer::zeros(rows * TILE_LANES);
        for (j, ends) in first.windows(2).enumerate() {
            let Some(tile) = tiles[ends[0]..ends[1]].first() else { continue };
            let places = &mut values[tile.row * TILE_LANES..];
            places.iter_mut().zip(data.group(j)).for_each(|(place, y)| *place = y - origin);
        }
        Self { values, tiles, first }
    }

    /// Returns whether a group from `begin` to before `end`, or to the last, is large.
    #[inline(always)]
    pub(super) fn any(&self, begin: usize, end: usize) -> bool {
        self.first[begin] < self.first[end.min(self.first.len() - 1)]
    }

    /// Returns the groups that have more than one tile.
    pub(super) fn of_several_tiles(&self) -> impl Iterator<Item = usize> {
        self.first.windows(2).enumerate().filter(|(_, ends)| ends[1] - ends[0] > 1).map(|(group, _)| group)
    }

    /// Returns the observations of a tile.
    pub(super) fn tile(&self, tile: Tile) -> &[f64] {
        &self.values[tile.row * TILE_LANES..][..tile.len]
    }

    /// Returns all rows, without the buffer's padding.
    pub(super) fn rows(&self) -> &[f64] {
        let end = self.tiles.last().map_or(0, |tile| tile.row + tile.len.div_ceil(TILE_LANES));
        &self.values[..end * TILE_LANES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Labels;

    /// Groups of these sizes, of the numbers 0, 1, 2, ...
    fn observed(sizes: &[usize]) -> Observed {
        let group: Vec<usize> = sizes.iter().enumerate().flat_map(|(j, &n)| std::iter::repeat_n(j, n)).collect();
        let values: Vec<f64> = (0..group.len()).map(|i| i as f64).collect();
        Observed::new(&GroupedData::new(Labels::Range(sizes.len()), &group, &values).expect("valid"), 0.0)
    }

    #[test]
    fn a_group_is_either_small_or_in_tiles() {
        let data = observed(&[3, IN_ORDER, IN_ORDER + 1, 2 * TILE + 1, 1]);
        assert_eq!(data.small.members[..6], [3.0, IN_ORDER as f64, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(data.count[..5], [3.0, IN_ORDER as f64, 257.0, 4097.0, 1.0]);
        assert_eq!(data.small.starts, [0, IN_ORDER]);
        assert_eq!(data.small.rows()[BLOCK * 2..][..5], [2.0, 5.0, 0.0, 0.0, 0.0]);
        assert_eq!(data.large.first, [0, 0, 0, 1, 4, 4]);
        assert_eq!(data.large.of_several_tiles().collect::<Vec<_>>(), [3]);
        assert_eq!(
            [(0, 2), (0, 3), (3, 4), (4, 8)].map(|(begin, end)| data.large.any(begin, end)),
            [false, true, true, false]
        );
        let begins: Vec<(usize, f64, usize)> = data
            .large
            .tiles
            .iter()
            .map(|&tile| (tile.group, data.large.tile(tile)[0], data.large.tile(tile).len()))
            .collect();
        let start = (3 + IN_ORDER) as f64;
        let next = start + 257.0;
        assert_eq!(begins, [(2, start, 257), (3, next, TILE), (3, next + 2048.0, TILE), (3, next + 4096.0, 1)]);
        // 257 and 4097 observations take 9 and 129 rows.
        assert_eq!(data.large.rows().len(), (9 + 129) * TILE_LANES);
    }

    #[test]
    fn no_large_group_takes_no_room() {
        let data = observed(&[10; 100]);
        assert!(data.large.tiles.is_empty() && data.large.rows().is_empty());
    }

    /// Counts and means are as long as the coordinates with their padding, as the kernels read them.
    #[test]
    fn counts_are_padded_as_coordinates_are() {
        use octopus_density::warp::padded;
        for groups in 27..=33 {
            let data = observed(&vec![2; groups]);
            let expected = padded(groups + 3);
            assert_eq!([data.count.len(), data.mean.len(), data.small.members.len()], [expected; 3], "{groups} groups");
        }
    }
}
