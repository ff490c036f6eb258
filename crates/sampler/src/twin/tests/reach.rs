//! Where a run has come: a comparison of runs that never come to a branch says nothing of it.

use crate::twin::real::TwinReal;
use crate::{Adaptation, Block, DrawStats, Phase, Precision};
use octopus_density::{Centering, Hierarchy};
use std::collections::BTreeSet;

/// Something that one precision may do otherwise than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A U-turn after 16 leaves or more, of which some are joined out of turn.
    LongTrajectory,
    /// A draw to the left of its start.
    Left,
    Divergence,
    /// The deepest tree that is allowed, without a U-turn.
    DeepestTree,
    /// A leaf at which the density has no value.
    NoValue,
    /// A trajectory down so far that weights need another reference.
    Downhill,
    /// Standardised effects of which the data say equally much.
    EqualPrecisions,
    /// Standardised effects with precisions of their own.
    SeveralPrecisions,
    LowRank,
    /// More directions than kernels sum together.
    ThirdDirection,
}

/// The places that the runs of a precision have come to.
pub(super) struct Reached {
    rescale: f64,
    places: BTreeSet<Place>,
}

impl Reached {
    pub(super) fn new(precision: Precision) -> Self {
        let rescale = if precision == Precision::F32 { f32::RESCALE.wide() } else { f64::RESCALE };
        Self { rescale, places: BTreeSet::new() }
    }

    /// Notes where a block of a run has come, the coordinates of `effects` and what is learned with it.
    pub(super) fn watch(&mut self, block: &Block, effects: &Hierarchy, adaptation: &Adaptation) {
        for stats in block.chains.iter().flat_map(|chain| &chain.stats) {
            self.note(stats, block.phase);
        }
        let (centering, directions) = (adaptation.centerings[0], adaptation.metric.directions.len());
        if let (Centering::Standardised, Some(information)) = (centering, &effects.information) {
            let precisions = information.precision();
            let equal = precisions.iter().all(|precision| precision == &precisions[0]);
            self.places.insert(if equal { Place::EqualPrecisions } else { Place::SeveralPrecisions });
        }
        self.places.extend((directions > 0).then_some(Place::LowRank));
        self.places.extend((directions > 2).then_some(Place::ThirdDirection));
    }

    fn note(&mut self, stats: &DrawStats, phase: Phase) {
        let turned = !stats.diverging && !stats.reached_max_treedepth;
        let places = [
            (Place::LongTrajectory, turned && stats.n_steps >= 16),
            (Place::Left, stats.index_in_trajectory < 0 && phase == Phase::Sampling),
            (Place::Divergence, stats.diverging),
            (Place::DeepestTree, stats.reached_max_treedepth),
            (Place::NoValue, stats.max_energy_error == f64::INFINITY),
            (Place::Downhill, stats.energy_error < -self.rescale),
        ];
        self.places.extend(places.into_iter().filter(|(_, here)| *here).map(|(place, _)| place));
    }

    #[track_caller]
    pub(super) fn assert_all(&self, expected: &[Place], what: &str) {
        let missing: Vec<&Place> = expected.iter().filter(|place| !self.places.contains(place)).collect();
        assert!(missing.is_empty(), "{what}: no run comes to {missing:?}, but to {:?}", self.places);
    }
}
