//! The hierarchical normal on a GPU: its kernels (units), and the fields that its `.cuh` reads.
//!
//! From how many observations on a team of blocks shares an evaluation stands here.

use super::observed::{BLOCK, Tile};
use super::{HierarchicalNormal, Likelihood};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule, TeamWork};
use octopus_density::{Kinds, kernel_modules};

/// The kernels of one data set.
static MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/nuts_hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
);

/// The kernels for many data sets in one launch. (Rows beyond those that are needed change no bits: 128x8 serves what
/// 128x4 would.)
static BATCH_MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/nuts_batch_hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 8 }
);

/// The kernels of one data set for trajectories of a given length.
static TRAJECTORY_MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/hmc_hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8 }
);

/// The number of observations from which on several blocks share an evaluation that reads them all. Waiting for each
/// other costs the blocks a few microseconds, in which one block reads about this many.
const SHARED_FROM: usize = 1 << 15;

impl HierarchicalNormal {
    /// Returns whether kernels sum the observations as a team: groups that need tiles are summed in no other way.
    fn by_team(&self) -> bool {
        let many = !self.observed.large.tiles.is_empty() || self.data().values().len() >= SHARED_FROM;
        many && self.likelihood() == Likelihood::Pointwise
    }
}

impl GpuDensity for HierarchicalNormal {
    fn kernel_name(&self) -> &str {
        "hierarchical_normal"
    }

    fn form(&self) -> &str {
        match self.likelihood() {
            Likelihood::Collapsed => "",
            Likelihood::Pointwise => "pointwise",
        }
    }

    fn kernel_modules(&self) -> &[KernelModule] {
        MODULES
    }

    fn batch_modules(&self) -> &[KernelModule] {
        BATCH_MODULES
    }

    fn trajectory_modules(&self) -> &[KernelModule] {
        TRAJECTORY_MODULES
    }

    /// `HierarchicalNormalData`.
    fn kernel_data(&self) -> Vec<KernelField<'_>> {
        let (observed, prior) = (&self.observed, self.prior());
        let Kinds { precision, times, mean, spread } = self.information.kinds();
        let population = self.information.population();
        let [typical, total, center, location_prior] = population.kernel_fields();
        // Groups, tiles and rows of observations are counted in u32 by the kernels: 2^32 rows would be a terabyte.
        let starts = observed.small.starts.iter().map(|&row| row as u32).collect();
        vec![
            KernelField::Word(self.data().groups() as u32),
            KernelField::Word(u32::from(self.likelihood() == Likelihood::Pointwise)),
            KernelField::Scalar(prior.mu_mean),
            KernelField::Scalar(prior.mu_sd),
            KernelField::Scalar(prior.sigma_pop_scale),
            KernelField::Scalar(prior.sigma_obs_scale),
            KernelField::Scalar(observed.within),
            KernelField::Scalar(observed.total),
            typical,
            total,
            center,
            location_prior,
            KernelField::Scalar(population.within),
            KernelField::Scalar(population.between),
            KernelField::PerCoordinate((&*observed.count).into()),
            KernelField::PerCoordinate((&*observed.mean).into()),
            KernelField::Reals(observed.small.rows().into()),
            KernelField::Words(starts),
            KernelField::PerCoordinate(precision.into()),
            KernelField::PerCoordinate(times.into()),
            KernelField::PerCoordinate(mean.into()),
            KernelField::PerCoordinate(spread.into()),
            KernelField::Word(precision.len() as u32),
        ]
    }

    /// A task is a block of groups of which some are small, a tile, or a group of several tiles, whose answers it adds. There
    /// is an answer of two sums for each group and one for each tile.
    fn team_work(&self) -> Option<TeamWork> {
        let (blocks, tiles) = (self.data().groups().div_ceil(BLOCK), self.observed.large.tiles.len());
        let tasks = self.observed.small.blocks().count() + tiles + self.observed.large.of_several_tiles().count();
        self.by_team().then_some(TeamWork { tasks, answers: 2 * (BLOCK * blocks + tiles) })
    }

    /// `HierarchicalNormalTiles`.
    fn team_data(&self) -> Vec<KernelField<'_>> {
        let large = &self.observed.large;
        let words = |of: fn(&Tile) -> usize| large.tiles.iter().map(|tile| of(tile) as u32).collect();
        let first = large.first.iter().map(|&tile| tile as u32).collect();
        let blocks: Vec<u32> = self.observed.small.blocks().map(|block| block as u32).collect();
        let joins: Vec<u32> = large.of_several_tiles().map(|group| group as u32).collect();
        vec![
            KernelField::PerCoordinate((&*self.observed.small.members).into()),
            KernelField::Word(blocks.len() as u32),
            KernelField::Word(large.tiles.len() as u32),
            KernelField::Word(joins.len() as u32),
            KernelField::Words(blocks.into()),
            KernelField::Words(joins.into()),
            KernelField::Words(first),
            KernelField::Words(words(|tile| tile.group)),
            KernelField::Words(words(|tile| tile.row)),
            KernelField::Words(words(|tile| tile.len)),
            KernelField::Reals(large.rows().into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HierarchicalPrior;
    use octopus_density::{GroupedData, Labels};

    /// Two groups, by hand: 48 and 51, 62, about a prior mean of 50.
    #[test]
    fn fields_are_those_of_the_struct_in_its_order() {
        let data = GroupedData::new(Labels::Range(2), &[0, 0, 1], &[48.0, 51.0, 62.0]).unwrap();
        let prior = HierarchicalPrior { mu_mean: 50.0, mu_sd: 20.0, sigma_pop_scale: 15.0, sigma_obs_scale: 5.0 };
        for (likelihood, pointwise) in [(Likelihood::Collapsed, 0), (Likelihood::Pointwise, 1)] {
            let model = HierarchicalNormal::new(data.clone(), prior, likelihood).unwrap();
            let row = |values: &[f64]| {
                let mut row = vec![0.0; 32];
                row[..values.len()].copy_from_slice(values);
                row
            };
            let center = (-1.0 + 12.0) / 3.0;
            let away = [-0.5 - center, 12.0 - center];
            let expected = [
                KernelField::Word(2),
                KernelField::Word(pointwise),
                KernelField::Scalar(50.0),
                KernelField::Scalar(20.0),
                KernelField::Scalar(15.0),
                KernelField::Scalar(5.0),
                // (48 - 49.5)^2 + (51 - 49.5)^2
                KernelField::Scalar(4.5),
                KernelField::Scalar(3.0),
                // Precisions, the center and 1 / variance of the prior, squares within and between groups.
                KernelField::Scalar(1.5),
                KernelField::Scalar(3.0),
                KernelField::Scalar(center),
                KernelField::Scalar(1.0 / 400.0),
                KernelField::Scalar(4.5 / 3.0),
                KernelField::Scalar((2.0 * away[0] * away[0] + away[1] * away[1]) / 3.0),
                KernelField::PerCoordinate(row(&[2.0, 1.0]).into()),
                KernelField::PerCoordinate(row(&[-0.5, 12.0]).into()),
                KernelField::Reals([row(&[-2.0, 12.0]), row(&[1.0, 0.0])].concat().into()),
                KernelField::Words(vec![0, 2].into()),
                KernelField::PerCoordinate(vec![1.0, 2.0].into()),
                KernelField::PerCoordinate(vec![1.0, 1.0].into()),
                KernelField::PerCoordinate(vec![12.0, -0.5].into()),
                KernelField::PerCoordinate(vec![0.0, 0.0].into()),
                KernelField::Word(2),
            ];
            assert_eq!(model.kernel_data(), expected);
        }
    }

    /// One group of 2049 observations beside a small one: two tiles, of which the second begins at row 64, and which a task
    /// joins. Then 32 large groups of one tile before a small one, which is in the second block.
    #[test]
    fn large_groups_are_a_teams_work() {
        let sizes = [1, 2049];
        let group: Vec<usize> = (0..2).flat_map(|j| std::iter::repeat_n(j, sizes[j])).collect();
        let data = GroupedData::new(Labels::Range(2), &group, &[51.0; 2050]).unwrap();
        let prior = HierarchicalPrior::default();
        let collapsed = HierarchicalNormal::new(data.clone(), prior, Likelihood::Collapsed).unwrap();
        assert_eq!(collapsed.team_work(), None);
        let pointwise = HierarchicalNormal::new(data, prior, Likelihood::Pointwise).unwrap();
        assert_eq!(pointwise.team_work(), Some(TeamWork { tasks: 4, answers: 2 * (32 + 2) }));
        let mut members = vec![0.0; 32];
        members[0] = 1.0;
        let mut values = vec![1.0; 2049];
        values.resize(65 * 32, 0.0);
        let expected = [
            KernelField::PerCoordinate(members.into()),
            KernelField::Word(1),
            KernelField::Word(2),
            KernelField::Word(1),
            KernelField::Words(vec![0].into()),
            KernelField::Words(vec![1].into()),
            KernelField::Words(vec![0, 0, 2].into()),
            KernelField::Words(vec![1, 1].into()),
            KernelField::Words(vec![0, 64].into()),
            KernelField::Words(vec![2048, 1].into()),
            KernelField::Reals(values.into()),
        ];
        assert_eq!(pointwise.team_data(), expected);

        let group: Vec<usize> = (0..33).flat_map(|j| std::iter::repeat_n(j, if j < 32 { 257 } else { 1 })).collect();
        let data = GroupedData::new(Labels::Range(33), &group, &vec![51.0; group.len()]).unwrap();
        let pointwise = HierarchicalNormal::new(data, prior, Likelihood::Pointwise).unwrap();
        assert_eq!(pointwise.team_work(), Some(TeamWork { tasks: 1 + 32, answers: 2 * (64 + 32) }));
        let fields = pointwise.team_data();
        let expected = [1, 32, 0].map(KernelField::Word);
        assert_eq!(fields[1..4], expected);
        assert_eq!(fields[4..6], [vec![1], vec![]].map(|words| KernelField::Words(words.into())));
    }

    /// From 32,768 observations on also small groups are shared.
    #[test]
    fn many_small_groups_are_a_teams_work() {
        let model = |each: usize| {
            let group: Vec<usize> = (0..256).flat_map(|j| std::iter::repeat_n(j, each)).collect();
            let data = GroupedData::new(Labels::Range(256), &group, &vec![50.0; group.len()]).unwrap();
            HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).unwrap()
        };
        assert_eq!(model(127).team_work(), None);
        assert_eq!(model(128).team_work(), Some(TeamWork { tasks: 8, answers: 512 }));
    }

    #[test]
    fn small_groups_are_a_teams_work_from_32768_observations_on() {
        let is_shared = |count: usize| {
            let group: Vec<usize> = (0..count).map(|row| row / 256).collect();
            let data = GroupedData::new(Labels::Range(128), &group, &vec![51.0; count]).unwrap();
            let model = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Pointwise).unwrap();
            model.team_work().is_some()
        };
        assert_eq!((is_shared(32_767), is_shared(32_768)), (false, true));
    }
}
