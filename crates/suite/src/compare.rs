//! Two folders of results beside each other: what became faster or slower for sure.

use crate::SuiteError;
use crate::results::SuiteResults;
use crate::row::SuiteRow;
use crate::summary::MedianInterval;
use serde::Serialize;

/// A change of this share is one that counts on a CPU.
const SHARE: f64 = 0.1;

/// A framework in a case, then and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedCase {
    /// The name of the case.
    pub case: String,
    /// The framework.
    pub framework: String,
    /// The median of the seconds then.
    pub then: f64,
    /// The median of the seconds now.
    pub now: f64,
    /// The seconds now over those of then: the ratio of the medians, with the ends of its interval.
    pub ratio: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether it is slower for sure: the interval leaves out 1, and the ratio is above 1.1.
    pub slower: bool,
    /// Whether it is faster for sure: the interval leaves out 1, and the ratio is below 1 / 1.1.
    pub faster: bool,
}

/// Compares results with earlier ones: each framework in each case that both have times of that count.
///
/// # Errors
/// When they are of machines that differ, unless `force` says that this does not matter.
pub fn compare(then: &SuiteResults, now: &SuiteResults, force: bool) -> Result<Vec<ComparedCase>, SuiteError> {
    let (before, after) = (&then.metadata.machine_id, &now.metadata.machine_id);
    if before != after && !force {
        let what = format!(
            "its machine is {after}, and that of {} is {before}: times of two machines tell nothing of a \
                            program; compare them with --force",
            then.folder.display()
        );
        return Err(SuiteError::file(&now.folder, what));
    }
    let seconds = |results: &SuiteResults, case: &str, framework: &str| -> Vec<f64> {
        let own = |row: &&SuiteRow| row.case == case && row.framework == framework && row.counts();
        results.rows.iter().filter(own).filter_map(|row| row.seconds).collect()
    };
    Ok(now
        .summary()
        .into_iter()
        .filter_map(|line| {
            let (old, new) = (seconds(then, &line.case, &line.framework), seconds(now, &line.case, &line.framework));
            let ratio = MedianInterval::of_ratio(&new, &old)?;
            let certain = ratio.excludes(1.0);
            Some(ComparedCase {
                then: MedianInterval::of(&old)?.median,
                now: MedianInterval::of(&new)?.median,
                ratio: ratio.median,
                low: ratio.low,
                high: ratio.high,
                slower: certain && ratio.median > 1.0 + SHARE,
                faster: certain && ratio.median < 1.0 / (1.0 + SHARE),
                case: line.case,
                framework: line.framework,
            })
        })
        .collect())
}
