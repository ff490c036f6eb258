//! The speed of a run, as far as its trace tells it.

use crate::Trace;
use octopus_trace::{Attribute, InferenceData};
use serde::Serialize;

/// The speed of sampling; each number is `None` where the trace does not tell it.
#[derive(Clone, Debug, Serialize)]
pub struct TraceSpeed {
    /// Wall-clock seconds of warm-up and sampling.
    pub seconds: Option<f64>,
    /// The smallest bulk effective sample size.
    pub min_ess_bulk: Option<f64>,
    /// The smallest bulk effective sample size divided by the seconds.
    pub min_ess_per_s: Option<f64>,
    /// The number of gradients computed for the draws, without those of warm-up.
    pub gradients: Option<u64>,
    /// The smallest bulk effective sample size for each thousand gradients.
    pub min_ess_per_1000_gradients: Option<f64>,
}

impl TraceSpeed {
    pub(super) fn new(trace: &Trace, min_ess_bulk: f64) -> Self {
        let timing = trace.record.as_ref().map(|record| record.timing.warmup_s + record.timing.sampling_s);
        let seconds = timing.or_else(|| told(&trace.data)).filter(|&seconds| seconds > 0.0);
        let gradients = gradients(&trace.data);
        let min_ess_bulk = (!min_ess_bulk.is_nan()).then_some(min_ess_bulk);
        let ratio = |unit: Option<f64>| Some(min_ess_bulk? / unit.filter(|&unit| unit > 0.0)?);
        Self {
            min_ess_per_s: ratio(seconds),
            min_ess_per_1000_gradients: ratio(gradients.map(|count| 1e-3 * count as f64)),
            seconds,
            min_ess_bulk,
            gradients,
        }
    }
}

/// Returns the seconds in ArviZ's attribute `sampling_time`, which PyMC writes.
fn told(data: &InferenceData) -> Option<f64> {
    ["posterior", "sample_stats"].iter().find_map(|group| match data.group(group)?.attrs.get("sampling_time")? {
        Attribute::F64(seconds) => Some(*seconds),
        Attribute::I64(seconds) => Some(*seconds as f64),
        _ => None,
    })
}

fn gradients(data: &InferenceData) -> Option<u64> {
    let stats = data.group("sample_stats")?;
    let (_, steps) = stats.statistic("n_steps").filter(|(_, array)| array.is_sampled())?;
    let total: f64 = steps.values.to_f64().iter().sum();
    (total.is_finite() && total >= 0.0).then_some(total as u64)
}
