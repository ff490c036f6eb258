//! The criteria of the verdict (P0.1 to Q.2), row by row: their words and thresholds.

/// One row of the requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// `P0.3`; guides, reports and tests speak of it by this name.
    pub id: &'static str,
    /// `P0` must, `P1` should, `P2` may, `Q` quality of the result.
    pub priority: &'static str,
    /// The requirement, in words.
    pub criterion: &'static str,
    /// The condition for which the criterion is met.
    pub threshold: &'static str,
    /// Whether it can only be judged with a GPU.
    pub wants_gpu: bool,
}

const fn row(
    id: &'static str,
    priority: &'static str,
    criterion: &'static str,
    threshold: &'static str,
    wants_gpu: bool,
) -> Criterion {
    Criterion { id, priority, criterion, threshold, wants_gpu }
}

/// The rows that the PRD asks of its own problem alone: how many times as fast a GPU must be there, and that other
/// samplers are compared.
const PRDS_ALONE: [&str; 3] = ["P1.1", "P2.1", "P2.3"];

/// The row of the speed-up, which has no limit for another model.
const SPEEDUP: &str = "P0.4";

/// Returns the rows that are judged, in order: all of the PRD's problem, and of another those that can be asked of any.
pub(super) fn asked(other_model: bool) -> Vec<Criterion> {
    let mut rows = CRITERIA.to_vec();
    if other_model {
        rows.retain(|row| !PRDS_ALONE.contains(&row.id));
        rows.iter_mut().filter(|row| row.id == SPEEDUP).for_each(|row| row.threshold = "told, no limit");
    }
    rows
}

/// All rows, in order.
const CRITERIA: [Criterion; 15] = [
    row("P0.1", "P0", "GPU detected", "a usable GPU", true),
    row("P0.2", "P0", "Model samples on the GPU without errors", "no error", true),
    row("P0.3", "P0", "All parameters converged", "R-hat < 1.01, bulk and tail ESS > 400", false),
    row("P0.4", "P0", "GPU speed-up, whole device", ">= 3x", true),
    row("P0.5", "P0", "All deliverables made and documented", "every one", false),
    row("P1.1", "P1", "GPU speed-up, whole device", ">= 5x", true),
    row("P1.2", "P1", "GPU memory profile", "peak within 10 % of what was foretold", true),
    row("P1.3", "P1", "CPU and GPU posteriors match", "RMSE and means within 5 %, sds within 10 %", true),
    row("P1.4", "P1", "Timings repeat", "vary < 10 %", false),
    row("P2.1", "P2", "GPU speed-up, whole device", ">= 8x", true),
    row("P2.2", "P2", "Chain strategies compared", "at least 2", false),
    row("P2.3", "P2", "Alternative samplers compared", "at least 2", false),
    row("P2.4", "P2", "Visual dashboard", "a page with pictures", false),
    row("Q.1", "Q", "True values of the scalars recovered", "inside their 89% HDI", false),
    row("Q.2", "Q", "Posterior predictive check", "each p-value in 0.01 to 0.99", false),
];
