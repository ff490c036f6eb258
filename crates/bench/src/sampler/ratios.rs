//! The ratios of GPU to CPU: how much faster the GPU is, and from how many chains on it pays (break-even).

use super::cell::{SamplerCell, Where};
use crate::json::null_is_nan;
use octopus_models::Likelihood;
use octopus_sampler::Precision;
use serde::{Deserialize, Serialize};

/// The number of chains from which on the GPU does more leapfrogs a second than the CPU at its best number of chains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BreakEven {
    pub(crate) groups: usize,
    pub(crate) likelihood: Likelihood,
    pub(crate) precision: Precision,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) cpu_leapfrogs_per_second: f64,
    /// The number of chains, interpolated in logarithms between two measured numbers; `None` when the GPU never gets
    /// there.
    pub(crate) chains: Option<f64>,
}

/// A ratio that tells how much faster the GPU is: the CPU's time over the GPU's, or the GPU's rate over the CPU's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) groups: usize,
    pub(crate) likelihood: Likelihood,
    /// The kind of ratio. `a` compares the PRD's run of 4 chains in f64 on both sides. `b` compares effective draws a
    /// second of the worst quantity, each side with its best number of chains and precision, over converged runs only.
    pub(crate) kind: char,
    pub(crate) cpu: RatioSide,
    pub(crate) gpu: RatioSide,
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) ratio: f64,
}

/// One side of a ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RatioSide {
    pub(crate) chains: usize,
    pub(crate) precision: Precision,
    /// The figure of the side: seconds for `a`, effective draws a second for `b`.
    #[serde(deserialize_with = "null_is_nan")]
    pub(crate) figure: f64,
}

pub(super) fn break_even(cells: &[SamplerCell]) -> Vec<BreakEven> {
    let mut found = Vec::new();
    for (groups, likelihood) in sizes(cells) {
        let of = |place| cells.iter().filter(move |cell| is(cell, place, groups, likelihood));
        let best = of(Where::Cpu).map(|cell| cell.leapfrogs_per_second).fold(0.0, f64::max);
        if best <= 0.0 {
            continue;
        }
        for precision in Precision::ALL {
            let own = of(Where::Gpu).filter(|cell| cell.precision == precision && cell.leapfrogs_per_second > 0.0);
            let mut points: Vec<(f64, f64)> = own.map(|cell| (cell.chains as f64, cell.leapfrogs_per_second)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if !points.is_empty() {
                let chains = crossing(&points, best);
                found.push(BreakEven { groups, likelihood, precision, cpu_leapfrogs_per_second: best, chains });
            }
        }
    }
    found
}

/// Returns the number of chains at which the rate first reaches `level`.
fn crossing(points: &[(f64, f64)], level: f64) -> Option<f64> {
    let at = points.iter().position(|(_, rate)| *rate >= level)?;
    let (chains, rate) = points[at];
    let Some((before, slower)) = at.checked_sub(1).map(|at| points[at]) else { return Some(chains) };
    let share = (level / slower).ln() / (rate / slower).ln();
    Some(before * (chains / before).powf(share))
}

pub(super) fn ratios(cells: &[SamplerCell]) -> Vec<Ratio> {
    let sizes = sizes(cells);
    let both = |(groups, likelihood): &(usize, Likelihood)| {
        let of = |place| cells.iter().filter(move |cell| is(cell, place, *groups, *likelihood));
        let prd = |place| {
            // The short run of a small plan does not count.
            let whole = |cell: &&SamplerCell| cell.finished() && (cell.tune, cell.draws) == (1000, 2000);
            let mut cells = of(place).filter(|cell| cell.chains == 4 && cell.precision == Precision::F64).filter(whole);
            cells.next().map(|cell| side(cell, cell.seconds()))
        };
        let best = |place| {
            let rated = of(place).filter_map(|cell| Some(side(cell, cell.min_ess_per_second?)));
            rated.max_by(|a, b| a.figure.total_cmp(&b.figure))
        };
        let ratio = |kind, cpu: Option<RatioSide>, gpu: Option<RatioSide>| {
            let (cpu, gpu) = cpu.zip(gpu)?;
            let ratio = if kind == 'a' { cpu.figure / gpu.figure } else { gpu.figure / cpu.figure };
            Some(Ratio { groups: *groups, likelihood: *likelihood, kind, ratio, cpu, gpu })
        };
        [ratio('a', prd(Where::Cpu), prd(Where::Gpu)), ratio('b', best(Where::Cpu), best(Where::Gpu))]
    };
    sizes.iter().flat_map(both).flatten().collect()
}

fn side(cell: &SamplerCell, figure: f64) -> RatioSide {
    RatioSide { chains: cell.chains, precision: cell.precision, figure }
}

fn is(cell: &SamplerCell, place: Where, groups: usize, likelihood: Likelihood) -> bool {
    (cell.place, cell.groups, cell.likelihood) == (place, groups, likelihood)
}

/// Returns sizes and likelihoods in ascending order, collapsed first.
fn sizes(cells: &[SamplerCell]) -> Vec<(usize, Likelihood)> {
    let mut sizes: Vec<_> = cells.iter().map(|cell| (cell.groups, cell.likelihood)).collect();
    sizes.sort_by_key(|(groups, likelihood)| (*groups, *likelihood == Likelihood::Pointwise));
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::cell::CellPlan;

    fn cell(
        place: Where,
        chains: usize,
        precision: Precision,
        leapfrogs: f64,
        seconds: f64,
        ess: Option<f64>,
    ) -> SamplerCell {
        let mut cell = CellPlan::new(place, 100, Likelihood::Collapsed, precision, chains).empty_for_test();
        cell.draws = cell.planned_draws;
        (cell.leapfrogs_per_second, cell.sampling_seconds, cell.min_ess_per_second) = (leapfrogs, seconds, ess);
        cell
    }

    #[test]
    fn ratios_and_break_even_follow_from_the_cells() {
        use Precision::{F32, F64};
        use Where::{Cpu, Gpu};
        let cells = [
            cell(Cpu, 4, F64, 1e6, 2.0, Some(100.0)),
            cell(Cpu, 64, F64, 4e6, 3.0, Some(400.0)),
            cell(Gpu, 1, F64, 1e6, 9.0, None),
            cell(Gpu, 4, F64, 1e6, 4.0, Some(50.0)),
            cell(Gpu, 64, F64, 16e6, 1.0, Some(600.0)),
            cell(Gpu, 64, F32, 3e6, 1.0, Some(2000.0)),
        ];
        let [a, b] = &ratios(&cells)[..] else { panic!("{:?}", ratios(&cells)) };
        assert_eq!((a.kind, a.ratio, b.kind, b.ratio), ('a', 0.5, 'b', 5.0));
        assert_eq!((b.gpu.precision, b.cpu.chains), (F32, 64));
        let [f64, f32] = &break_even(&cells)[..] else { panic!("{:?}", break_even(&cells)) };
        // The rate grows from 1 to 16 million leapfrogs between 4 and 64 chains: it is 4 million in the middle of the
        // logarithms.
        assert!((f64.chains.unwrap() - 16.0).abs() < 1e-9 && f64.precision == F64, "{f64:?}");
        assert_eq!((f32.chains, f32.precision), (None, F32));
    }

    #[test]
    fn unfinished_and_lone_runs_make_no_ratio() {
        let mut slow = cell(Where::Gpu, 4, Precision::F64, 1e6, 4.0, None);
        slow.draws -= 1;
        let cpu = cell(Where::Cpu, 4, Precision::F64, 1e6, 2.0, Some(1.0));
        assert_eq!(ratios(&[slow, cpu.clone()]), []);
        assert_eq!(ratios(std::slice::from_ref(&cpu)), []);
        assert_eq!(break_even(&[cpu]), []);
    }
}
