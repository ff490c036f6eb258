//! Eight schools on a GPU: its kernels (units), and the fields that `kernels/nuts/eight_schools.cuh` reads.

use super::{EightSchools, MU_SD, TAU_SCALE};
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule};
use octopus_density::{Kinds, kernel_modules};

/// The kernels of one data set.
static MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/nuts_eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// The kernels for many data sets in one launch.
static BATCH_MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/nuts_batch_eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// The kernels of one data set for trajectories of a given length.
static TRAJECTORY_MODULES: &[KernelModule] = kernel_modules!("../../../../../kernels/ptx/hmc_eight_schools":
    F64 "f64" { 32 x 1 }
);

impl GpuDensity for EightSchools {
    fn kernel_name(&self) -> &str {
        "eight_schools"
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

    /// `EightSchoolsData`.
    fn kernel_data(&self) -> Vec<KernelField<'_>> {
        let Kinds { precision, times, mean, spread } = self.information.kinds();
        let [typical, total, center, prior] = self.information.population().kernel_fields();
        vec![
            KernelField::Word(self.schools() as u32),
            KernelField::Scalar(MU_SD),
            KernelField::Scalar(TAU_SCALE),
            typical,
            total,
            center,
            prior,
            KernelField::PerCoordinate(self.effect[..].into()),
            KernelField::PerCoordinate(self.precision[..].into()),
            KernelField::PerCoordinate(precision.into()),
            KernelField::PerCoordinate(times.into()),
            KernelField::PerCoordinate(mean.into()),
            KernelField::PerCoordinate(spread.into()),
            KernelField::Word(precision.len() as u32),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_struct_in_its_order() {
        let model = EightSchools::new(&[3.0, -1.0], &[2.0, 0.5]).unwrap();
        let row = |values: [f64; 2]| {
            let mut row = vec![0.0; 32];
            row[..2].copy_from_slice(&values);
            row
        };
        let expected = [
            KernelField::Word(2),
            KernelField::Scalar(5.0),
            KernelField::Scalar(5.0),
            // Precisions, the center and 1 / variance of the prior.
            KernelField::Scalar(4.25 / 2.0),
            KernelField::Scalar(4.25),
            KernelField::Scalar((0.25 * 3.0 - 4.0) / 4.25),
            KernelField::Scalar(1.0 / 25.0),
            KernelField::PerCoordinate(row([3.0, -1.0]).into()),
            KernelField::PerCoordinate(row([0.25, 4.0]).into()),
            KernelField::PerCoordinate(vec![0.25, 4.0].into()),
            KernelField::PerCoordinate(vec![1.0, 1.0].into()),
            KernelField::PerCoordinate(vec![3.0, -1.0].into()),
            KernelField::PerCoordinate(vec![0.0, 0.0].into()),
            KernelField::Word(2),
        ];
        assert_eq!(model.kernel_data(), expected);
    }
}
