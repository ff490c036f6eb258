//! Ranks that ought to be uniform: simulation-based calibration and its tests.
//!
//! How a true value is ranked among draws, ties included, is decided here.
//!
//! Where parameters come from the prior, data from the parameters and draws from the posterior of the data, the rank of
//! the true value among `L` independent draws takes each of its `L + 1` values with the same probability (Talts,
//! Betancourt, Simpson, Vehtari and Gelman 2018, arXiv:1804.06788, theorem 1), and so does the rank of any function of
//! parameters and data (Modrak, Moon, Kim, Buerkner, Huurre, Faltejskova, Gelman and Vehtari 2023, Bayesian Analysis).

mod band;
mod binomial;
mod multiple;
mod uniformity;

pub use band::EcdfBand;
pub use multiple::{MeanTest, holm, mean_zero, student_limit};
pub use uniformity::{ChiSquare, EcdfTest, RankCounts};

/// Returns the rank of `truth` among `draws`, 0 to `draws.len()`: how many lie below. Draws equal to it go below or
/// above so that each rank that they allow is equally likely, by `tie`, a uniform number in [0, 1): discrete quantities
/// then have uniform ranks too. `None` when a number is NaN.
#[must_use]
pub fn rank(truth: f64, draws: &[f64], tie: f64) -> Option<usize> {
    if truth.is_nan() || draws.iter().any(|draw| draw.is_nan()) {
        return None;
    }
    let below = draws.iter().filter(|&&draw| draw < truth).count();
    let equal = draws.iter().filter(|&&draw| draw == truth).count();
    Some(below + ((tie * (equal + 1) as f64) as usize).min(equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_what_lies_below() {
        let draws = [3.0, 1.0, 2.0];
        for (truth, expected) in [(0.5, 0), (1.5, 1), (2.5, 2), (9.0, 3)] {
            assert_eq!(rank(truth, &draws, 0.99), Some(expected));
        }
        assert_eq!(rank(f64::NAN, &draws, 0.5), None);
        assert_eq!(rank(1.0, &[f64::NAN], 0.5), None);
        assert_eq!(rank(f64::INFINITY, &draws, 0.5), Some(3));
    }

    /// One below, two equal: ranks 1, 2 and 3, each for a third of the ties.
    #[test]
    fn ties_share_their_ranks_evenly() {
        let mut counts = [0; 5];
        for k in 0..300 {
            let tie = (f64::from(k) + 0.5) / 300.0;
            counts[rank(2.0, &[2.0, 1.0, 2.0, 5.0], tie).unwrap()] += 1;
        }
        assert_eq!(counts, [0, 100, 100, 100, 0]);
        assert_eq!(rank(2.0, &[2.0, 2.0], 1.0), Some(2), "also for a tie at the very end");
    }
}
