//! The pictures of a calibration: rank histograms with their shade, distribution functions, Geweke's moments.

use octopus_calibrate::{Geweke, Judgement, RankedQuantity};
use octopus_diag::{DiagError, EcdfBand, RankCounts};
use octopus_report::{EcdfPanel, EcdfPlot, Figure, MomentRow, MomentsPlot, RankHeading, RankPanel, RankPlot};

/// The probability that a bin of a uniform quantity lies in the shade.
const BIN_COVERAGE: f64 = 0.99;

/// Returns the pictures of the ranks: distribution functions and histograms.
///
/// # Errors
/// Never for ranks that have been judged.
pub(crate) fn of_ranks(judgement: &Judgement) -> Result<[Figure; 2], DiagError> {
    let coverage = coverage(judgement);
    let (mut functions, mut histograms) = (Vec::new(), Vec::new());
    for quantity in &judgement.quantities {
        let ranks = RankCounts::from_counts(quantity.counts.clone())?;
        functions.push(function(quantity, &ranks, coverage)?);
        histograms.push(RankPanel {
            heading: heading(quantity, quantity.chi_square_p),
            counts: ranks.chi_square(quantity.bins)?.counts,
            expected: ranks.bin_interval(quantity.bins, BIN_COVERAGE),
        });
    }
    Ok([
        Figure::new(EcdfPlot { coverage, panels: functions }),
        Figure::new(RankPlot { coverage: BIN_COVERAGE, panels: histograms }),
    ])
}

/// Returns the probability that a uniform quantity stays in its shade. Leaving it is an alarm, so its level is that of
/// a single test when the false alarm is shared by all tests.
fn coverage(judgement: &Judgement) -> f64 {
    let tests = 2 * judgement.quantities.len() + usize::from(judgement.independence.is_some());
    1.0 - judgement.false_alarm / tests as f64
}

fn heading(quantity: &RankedQuantity, p_value: f64) -> RankHeading {
    RankHeading { name: quantity.name.clone(), p_value, uniform: quantity.uniform }
}

fn function(quantity: &RankedQuantity, ranks: &RankCounts, coverage: f64) -> Result<EcdfPanel, DiagError> {
    let (total, outcomes) = (ranks.total(), quantity.counts.len());
    let band = EcdfBand::new(total, outcomes, coverage)?;
    let less_uniform = |counts: &[u64]| -> Vec<f64> {
        let share = |(i, &n): (usize, &u64)| n as f64 / total as f64 - (i + 1) as f64 / outcomes as f64;
        counts.iter().enumerate().map(share).collect()
    };
    Ok(EcdfPanel {
        heading: heading(quantity, quantity.ecdf_p),
        difference: less_uniform(&ranks.cumulative()),
        lower: less_uniform(&band.lower),
        upper: less_uniform(&band.upper),
    })
}

/// Returns the picture of differences of moments. Moments beyond `limit` standard errors have failed.
pub(crate) fn of_moments(geweke: &Geweke) -> Figure {
    let rows = geweke
        .moments
        .iter()
        .map(|moment| MomentRow { name: moment.name.clone(), z: moment.z, agrees: moment.agrees })
        .collect();
    Figure::new(MomentsPlot { limit: geweke.limit, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::tests::judged;
    use octopus_calibrate::Independence;

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12)
    }

    /// Three quantities have two tests each, and chains one.
    #[test]
    fn the_shade_shares_the_false_alarm_among_all_tests() {
        let mut judgement = Judgement { false_alarm: 0.06, ..judged() };
        judgement.quantities = vec![judgement.quantities[0].clone(); 3];
        let alone = coverage(&judgement);
        judgement.independence =
            Some(Independence { correlation: 0.0, t: 0.0, p: 1.0, adjusted_p: 1.0, independent: true });
        judgement.false_alarm = 0.07;
        assert!(close(&[alone, coverage(&judgement)], &[0.99, 0.99]));
    }

    /// Of four ranks one, three and all are at or below the outcomes, where a third, two thirds and all are expected.
    #[test]
    fn a_function_is_the_difference_from_uniform_ranks_in_its_shade() {
        let quantity = RankedQuantity { counts: vec![1, 2, 1], ..judged().quantities[0].clone() };
        let ranks = RankCounts::from_counts(quantity.counts.clone()).unwrap();
        let panel = function(&quantity, &ranks, 0.99).unwrap();
        assert!(close(&panel.difference, &[-1.0 / 12.0, 1.0 / 12.0, 0.0]), "{:?}", panel.difference);
        let band = EcdfBand::new(4, 3, 0.99).unwrap();
        for (found, counts) in [(&panel.lower, &band.lower), (&panel.upper, &band.upper)] {
            let expected: Vec<f64> =
                counts.iter().zip([1.0, 2.0, 3.0]).map(|(&count, k)| count as f64 / 4.0 - k / 3.0).collect();
            assert!(close(found, &expected), "{found:?}");
        }
        let heading = of_ranks(&Judgement { quantities: vec![quantity], ..judged() });
        assert_eq!(heading.unwrap().map(|figure| figure.stem), ["rank_ecdf", "rank_histogram"]);
    }

    /// scipy.stats.binom.interval(0.99, 1000, 1 / 25) is 25 to 57.
    #[test]
    fn ninety_nine_bins_of_a_hundred_are_in_the_shade() {
        let quantity = RankedQuantity { counts: vec![10; 100], bins: 25, ..judged().quantities[0].clone() };
        let [_, histogram] = of_ranks(&Judgement { quantities: vec![quantity], ..judged() }).unwrap();
        let plot = format!("{:?}", histogram.plot);
        assert!(plot.contains("coverage: 0.99,") && plot.contains("expected: (25, 57)"), "{plot}");
        assert_eq!(plot.matches("40").count(), 25, "{plot}");
    }
}
