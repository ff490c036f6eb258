//! The model on a GPU: `kernels/nuts/hierarchical_normal.cuh`.

use super::{HierarchicalNormal, Likelihood};
use crate::gpu::{ExpansionModule, GpuDensity, KernelField, KernelModule, modules};

impl GpuDensity for HierarchicalNormal {
    fn kernel_name(&self) -> &str {
        "hierarchical_normal"
    }

    fn kernel_modules(&self) -> &[KernelModule] {
        modules::HIERARCHICAL_NORMAL
    }

    /// `HierarchicalNormalData`.
    fn kernel_data(&self) -> Vec<KernelField<'_>> {
        let (packed, prior) = (self.packed(), self.prior());
        // Groups and rows of observations are counted in u32 by the kernels: 2^32 rows would be a terabyte.
        let starts = packed.starts.iter().map(|&row| row as u32).collect();
        vec![
            KernelField::Word(self.data().groups() as u32),
            KernelField::Word(u32::from(self.likelihood() == Likelihood::Pointwise)),
            KernelField::Scalar(prior.mu_mean),
            KernelField::Scalar(prior.mu_sd),
            KernelField::Scalar(prior.sigma_pop_scale),
            KernelField::Scalar(prior.sigma_obs_scale),
            KernelField::Scalar(packed.within),
            KernelField::Scalar(packed.total),
            KernelField::PerCoordinate(packed.count.into()),
            KernelField::PerCoordinate(packed.mean.into()),
            KernelField::Reals(packed.transposed.into()),
            KernelField::Words(starts),
        ]
    }

    fn expansion_modules(&self) -> &[ExpansionModule] {
        modules::EXPAND_HIERARCHICAL_NORMAL
    }

    /// `HierarchicalNormalObservations`.
    fn observation_data(&self) -> Vec<KernelField<'_>> {
        let groups: Vec<u32> = self.data().group_index().into_iter().map(|j| j as u32).collect();
        vec![KernelField::Word(groups.len() as u32), KernelField::Words(groups.into())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupedData, HierarchicalPrior, Labels};

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
                KernelField::PerCoordinate(row(&[2.0, 1.0]).into()),
                KernelField::PerCoordinate(row(&[-0.5, 12.0]).into()),
                KernelField::Reals([row(&[-2.0, 12.0]), row(&[1.0, 0.0])].concat().into()),
                KernelField::Words(vec![0, 2].into()),
            ];
            assert_eq!(model.kernel_data(), expected);
            let observations = [KernelField::Word(3), KernelField::Words(vec![0, 0, 1].into())];
            assert_eq!(model.observation_data(), observations);
        }
    }
}
