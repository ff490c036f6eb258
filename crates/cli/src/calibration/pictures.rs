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
    // Leaving the shade is an alarm, so its level is that of a single test when the false alarm is shared by all tests.
    let tests = 2 * judgement.quantities.len() + usize::from(judgement.independence.is_some());
    let coverage = 1.0 - judgement.false_alarm / tests as f64;
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
