//! Chooses the draws of a data set that the truth is ranked among.
//!
//! The truth must be one of several independent draws from the posterior, so kept draws are far apart. With a few long
//! chains they are evenly spaced along the chains, one after the other (Talts et al. 2018, algorithm 2). Many short
//! chains have few draws each, and these are much alike. Their chains are independent, except for what chains that
//! began together remember. So each chain gives at most one draw, and the chains are chosen evenly over the
//! superchains. The draw is in turn each of a chain's draws, not always the last: users of a run also use the first
//! draws, nearest to the common point, and these must be draws from the posterior too.

use crate::CalibrationSettings;

/// Returns the kept draws, as chain and draw.
pub(crate) fn kept(settings: &CalibrationSettings) -> impl Iterator<Item = (usize, usize)> {
    let CalibrationSettings { kept, sampler, .. } = settings;
    let (kept, chains, draws) = (*kept, sampler.chains, sampler.draws);
    let one_of_each = sampler.nested().is_some() && kept <= chains;
    (0..kept).map(move |k| {
        if one_of_each {
            return (even(k, kept, chains), k % draws);
        }
        let place = even(k, kept, chains * draws);
        (place / draws, place % draws)
    })
}

/// Returns the middle of share `k` when `all` places are divided into `shares`.
fn even(k: usize, shares: usize, all: usize) -> usize {
    (2 * k + 1) * all / (2 * shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::{SamplerConfig, Strategy};

    fn kept_by(strategy: Strategy, chains: usize, draws: usize, kept: usize) -> Vec<(usize, usize)> {
        let sampler = SamplerConfig { strategy, chains, draws, ..Default::default() };
        super::kept(&CalibrationSettings { seed: 0, kept, sampler }).collect()
    }

    #[test]
    fn long_chains_are_thinned_evenly() {
        assert_eq!(kept_by(Strategy::FourLong, 8, 200, 4), [(1, 0), (3, 0), (5, 0), (7, 0)]);
        assert_eq!(kept_by(Strategy::FourLong, 1, 5, 5), [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]);
        let places: Vec<usize> = kept_by(Strategy::FourLong, 8, 200, 99).iter().map(|(c, d)| 200 * c + d).collect();
        assert!(places.windows(2).all(|pair| (16..=17).contains(&(pair[1] - pair[0]))));
    }

    #[test]
    fn short_chains_give_one_draw_each_and_all_iterations_alike() {
        for kept in [63, 64, 31] {
            let places = kept_by(Strategy::ManyShort, 64, 8, kept);
            assert!(places.windows(2).all(|pair| pair[0].0 < pair[1].0), "{places:?}");
            for draw in 0..8 {
                let of_draw = places.iter().filter(|place| place.1 == draw).count();
                assert!((kept / 8..=kept.div_ceil(8)).contains(&of_draw), "{places:?}");
            }
            let superchains: std::collections::BTreeSet<usize> = places.iter().map(|place| place.0 / 4).collect();
            assert_eq!(superchains.len(), 16, "every superchain");
        }
        // More than there are chains: evenly of all draws.
        assert_eq!(kept_by(Strategy::ManyShort, 4, 2, 8).last(), Some(&(3, 1)));
    }
}
