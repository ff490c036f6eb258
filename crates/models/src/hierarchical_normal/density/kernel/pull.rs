//! The likelihood's gradient: what the observations say about the groups' means, collapsed or pointwise.

use crate::HierarchicalNormal;
use crate::hierarchical_normal::density::observed::{BLOCK, Large, OCTET, Small, TILE_LANES};
use octopus_density::warp::{Terms, reduce_with_tail};
use pulp::{Simd, WithSimd};
use std::slice;

/// What the observations of a vector of groups say.
pub(super) struct Pull<V> {
    /// Sum of the residuals.
    pub(super) residual: V,
    /// Sum of their squares.
    pub(super) squares: V,
}

/// What the observations of the `at`-th vector of groups say about their means, relative to the origin;
/// lanes without a group say nothing.
pub(super) trait Data<S: Simd> {
    fn pull(&self, simd: S, at: usize, location: S::f64s) -> Pull<S::f64s>;
}

/// Counts and means as SIMD vectors.
pub(super) struct Collapsed<'a, S: Simd> {
    count: &'a [S::f64s],
    mean: &'a [S::f64s],
}

impl<'a, S: Simd> Collapsed<'a, S> {
    #[inline(always)]
    pub(super) fn new(model: &'a HierarchicalNormal) -> Self {
        let count = S::as_simd_f64s(&model.observed.count).0;
        Self { count, mean: &S::as_simd_f64s(&model.observed.mean).0[..count.len()] }
    }
}

impl<S: Simd> Data<S> for Collapsed<'_, S> {
    #[inline(always)]
    fn pull(&self, simd: S, at: usize, location: S::f64s) -> Pull<S::f64s> {
        let difference = simd.sub_f64s(self.mean[at], location);
        let residual = simd.mul_f64s(self.count[at], difference);
        Pull { residual, squares: simd.mul_f64s(residual, difference) }
    }
}

/// All observations as SIMD vectors.
pub(super) struct Pointwise<'a, S: Simd> {
    members: &'a [S::f64s],
    transposed: &'a [S::f64s],
    starts: &'a [usize],
    full: &'a [usize],
    large: &'a Large,
}

impl<'a, S: Simd> Pointwise<'a, S> {
    #[inline(always)]
    pub(super) fn new(model: &'a HierarchicalNormal) -> Self {
        let Small { members, transposed, starts, full } = &model.observed.small;
        let (members, transposed) = (S::as_simd_f64s(members).0, S::as_simd_f64s(transposed).0);
        Self { members, transposed, starts, full, large: &model.observed.large }
    }
}

impl<S: Simd> Data<S> for Pointwise<'_, S> {
    /// Each lane sums over its group's observations in order.
    #[inline(always)]
    fn pull(&self, simd: S, at: usize, location: S::f64s) -> Pull<S::f64s> {
        let zero = simd.splat_f64s(0.0);
        let per_row = BLOCK / S::F64_LANES;
        let (block, lane) = (at / per_row, at % per_row);
        let rows = &self.transposed[self.starts[block] * per_row..self.starts[block + 1] * per_row];
        let full = self.full[at * S::F64_LANES / OCTET];
        let (whole, ragged) = rows.split_at(full * per_row);
        let (mut residual, mut squares) = (zero, zero);
        for row in whole.chunks_exact(per_row) {
            let difference = simd.sub_f64s(row[lane], location);
            residual = simd.add_f64s(residual, difference);
            squares = simd.add_f64s(squares, simd.mul_f64s(difference, difference));
        }
        let members = self.members[at];
        let mut k = full as f64;
        for row in ragged.chunks_exact(per_row) {
            // Groups shorter than the block's longest end with zeros.
            let present = simd.less_than_f64s(simd.splat_f64s(k), members);
            let difference = simd.select_f64s(present, simd.sub_f64s(row[lane], location), zero);
            residual = simd.add_f64s(residual, difference);
            squares = simd.add_f64s(squares, simd.mul_f64s(difference, difference));
            k += 1.0;
        }
        if !self.large.tiles.is_empty() {
            let sums = with_large(simd, self.large, at, location, Pull { residual, squares });
            (residual, squares) = (sums.residual, sums.squares);
        }
        Pull { residual, squares }
    }
}

/// Puts the sums of large groups where the sums of their few observations in order would be.
///
/// Out of line, and by value: with all this in its body the loop over vectors of groups is too long to be unrolled, and
/// its sums are then kept on the stack and not in registers. A quarter of the time of a leapfrog of 500 small groups went
/// there, most of it to a sum that lay across the border of two pages of memory.
#[cold]
#[inline(never)]
fn with_large<S: Simd>(simd: S, large: &Large, at: usize, location: S::f64s, mut pull: Pull<S::f64s>) -> Pull<S::f64s> {
    let first = at * S::F64_LANES;
    if !large.any(first, first + S::F64_LANES) {
        return pull;
    }
    simd.vectorize(AddLarge {
        large,
        first: &large.first[first..],
        location: bytemuck::cast_slice(slice::from_ref(&location)),
        residual: bytemuck::cast_slice_mut(slice::from_mut(&mut pull.residual)),
        squares: bytemuck::cast_slice_mut(slice::from_mut(&mut pull.squares)),
    });
    pull
}

/// A vector of groups, lane by lane.
struct AddLarge<'a> {
    large: &'a Large,
    /// The first tile of each group, and the end.
    first: &'a [usize],
    location: &'a [f64],
    residual: &'a mut [f64],
    squares: &'a mut [f64],
}

impl WithSimd for AddLarge<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { large, first, location, residual, squares } = self;
        // Loops, since what is called through an iterator's closures is compiled for the lowest vector instructions.
        for lane in 0..S::F64_LANES.min(first.len() - 1) {
            let tiles = &large.tiles[first[lane]..first[lane + 1]];
            let Some((&tile, others)) = tiles.split_first() else { continue };
            let mut sums = tile_sums(simd, large.tile(tile), location[lane]);
            for &tile in others {
                let [sum, sum_squares] = tile_sums(simd, large.tile(tile), location[lane]);
                sums = [sums[0] + sum, sums[1] + sum_squares];
            }
            [residual[lane], squares[lane]] = sums;
        }
    }
}

/// Returns the sums over a tile of the residuals from `location`, and of their squares.
#[inline(always)]
fn tile_sums<S: Simd>(simd: S, values: &[f64], location: f64) -> [f64; 2] {
    let (values, tail) = S::as_simd_f64s(values);
    // Lanes beyond the end are to be zero: no location is taken from them.
    let locations = [location; 8];
    let mut terms = TileTerms {
        values,
        tail,
        location: simd.splat_f64s(location),
        location_tail: simd.partial_load_f64s(&locations[..tail.len()]),
    };
    reduce_with_tail(simd, TILE_LANES, values.len(), !tail.is_empty(), &mut terms)
}

struct TileTerms<'a, S: Simd> {
    values: &'a [S::f64s],
    tail: &'a [f64],
    location: S::f64s,
    location_tail: S::f64s,
}

impl<S: Simd> Terms<S, 2> for TileTerms<'_, S> {
    #[inline(always)]
    fn whole(&mut self, simd: S, at: usize) -> [S::f64s; 2] {
        let difference = simd.sub_f64s(self.values[at], self.location);
        [difference, simd.mul_f64s(difference, difference)]
    }

    #[inline(always)]
    fn tail(&mut self, simd: S) -> [S::f64s; 2] {
        let difference = simd.sub_f64s(simd.partial_load_f64s(self.tail), self.location_tail);
        [difference, simd.mul_f64s(difference, difference)]
    }
}
