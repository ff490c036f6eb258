//! The plan of all measurements of `octopus device sampler`, most important first.
//!
//! Here stand the sizes, likelihoods, precisions and numbers of chains that are measured, and the time of each.

use super::batch::BatchPlan;
use super::cell::{CellPlan, Where};
use super::goal::GoalPlan;
use super::launch::LaunchPlan;
use super::start::StartPlan;
use super::team::TeamPlan;
use octopus_models::Likelihood::{self, Collapsed, Pointwise};
use octopus_sampler::Precision;
use std::time::Duration;

/// The most coordinates of all chains together; with more, the windows of warm-up do not fit in a host's memory.
const MOST_COORDINATES: usize = 20_000_000;

/// The planned measurements.
pub(super) struct Plan {
    pub(super) starts: Vec<StartPlan>,
    pub(super) cells: Vec<CellPlan>,
    pub(super) launches: Vec<LaunchPlan>,
    pub(super) goals: Vec<GoalPlan>,
    pub(super) batches: Vec<BatchPlan>,
    pub(super) teams: Vec<TeamPlan>,
    /// The time after which a cell is ended with what it has.
    pub(super) cell_time: Duration,
}

impl Plan {
    /// Returns the plan for a GPU.
    pub(super) fn full() -> Self {
        let chains = [1, 4, 64, 1024, 4096, 16_384, 65_536];
        let mut cells = Vec::new();
        // The PRD's size comes first in all forms, then the other sizes.
        for groups in [100, 1000, 500, 10] {
            for likelihood in [Collapsed, Pointwise] {
                cells.extend(gpu(groups, likelihood, Precision::F64, &chains));
                cells.extend(
                    [4, 64, 1024].map(|chains| CellPlan::new(Where::Cpu, groups, likelihood, Precision::F64, chains)),
                );
            }
            for precision in [Precision::F32, Precision::Mixed] {
                cells.extend(gpu(groups, Collapsed, precision, &chains));
            }
        }
        for groups in [100, 1000, 500, 10] {
            for precision in [Precision::F32, Precision::Mixed] {
                cells.extend(gpu(groups, Pointwise, precision, &[1, 4096]));
            }
        }
        let starts = [(100, Precision::F64), (100, Precision::F32), (1000, Precision::F64)];
        Self {
            starts: starts.into_iter().flat_map(|(groups, precision)| StartPlan::both(groups, precision)).collect(),
            cells,
            launches: vec![LaunchPlan::new(10, Precision::F64, 2000), LaunchPlan::new(100, Precision::F64, 2000)],
            goals: GoalPlan::all(),
            batches: BatchPlan::all(),
            teams: teams(),
            cell_time: Duration::from_secs(1),
        }
    }

    /// Returns a plan that is just enough to run every line of the code, for the software GPU and to try a machine.
    pub(super) fn small() -> Self {
        let mut cells = Vec::new();
        for groups in [10, 100] {
            for likelihood in [Collapsed, Pointwise] {
                cells.extend(gpu(groups, likelihood, Precision::F64, &[1, 4, 16]));
                cells.push(CellPlan::new(Where::Cpu, groups, likelihood, Precision::F64, 4));
            }
            cells.extend(gpu(groups, Collapsed, Precision::F32, &[1]));
            cells.extend(gpu(groups, Collapsed, Precision::Mixed, &[1]));
        }
        Self {
            starts: StartPlan::both(10, Precision::F64).into(),
            cells: cells.into_iter().map(|cell| CellPlan { short: true, ..cell }).collect(),
            launches: vec![LaunchPlan::new(10, Precision::F64, 200)],
            goals: GoalPlan::small(),
            batches: BatchPlan::small(),
            teams: vec![TeamPlan {
                groups: 10,
                per_group: 3000,
                precision: Precision::F64,
                chains: 2,
                blocks: vec![Some(1), Some(3), None],
                iterations: 10,
            }],
            cell_time: Duration::from_secs(1),
        }
    }
}

/// Returns plans with 100 groups of 257 to 10^5 observations. With 257, the fewest that blocks share, a leapfrog is hardly
/// more than the question and the wait for its answers. The more observations there are, the more blocks are needed to be
/// done in time.
fn teams() -> Vec<TeamPlan> {
    let sizes =
        [(257, 40, &[1, 4, 16][..]), (1_000, 40, &[1, 4, 16, 64]), (10_000, 20, &[16, 64]), (100_000, 8, &[64])];
    let of = |(per_group, iterations, blocks): (usize, usize, &[usize])| {
        let blocks: Vec<Option<usize>> = blocks.iter().copied().map(Some).chain([None]).collect();
        [(Precision::F64, 1), (Precision::F64, 4), (Precision::F32, 1), (Precision::Mixed, 1)].map(
            |(precision, chains)| TeamPlan {
                groups: 100,
                per_group,
                precision,
                chains,
                blocks: blocks.clone(),
                iterations,
            },
        )
    };
    sizes.into_iter().flat_map(of).collect()
}

fn gpu(groups: usize, likelihood: Likelihood, precision: Precision, chains: &[usize]) -> Vec<CellPlan> {
    let fits = |chains: &&usize| *chains * (groups + 3) <= MOST_COORDINATES;
    chains.iter().filter(fits).map(|&chains| CellPlan::new(Where::Gpu, groups, likelihood, precision, chains)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn nothing_is_measured_twice_and_the_prd_s_run_comes_first() {
        for plan in [Plan::full(), Plan::small()] {
            let names: BTreeSet<String> = plan.cells.iter().map(CellPlan::name).collect();
            assert_eq!(names.len(), plan.cells.len());
        }
        let full = Plan::full();
        assert_eq!((full.cells[0].groups, full.cells[0].chains), (100, 1));
        for precision in Precision::ALL {
            for groups in [10, 100, 500, 1000] {
                for likelihood in [Collapsed, Pointwise] {
                    let alone = |cell: &&CellPlan| {
                        (cell.groups, cell.likelihood, cell.precision, cell.chains)
                            == (groups, likelihood, precision, 1)
                    };
                    assert_eq!(full.cells.iter().filter(alone).count(), 1, "{groups} {precision}");
                }
            }
        }
        let most = full.cells.iter().map(|cell| cell.chains * (cell.groups + 3)).max();
        assert!(most.unwrap() <= MOST_COORDINATES && full.cells.iter().any(|cell| cell.chains == 65_536));
    }
}
