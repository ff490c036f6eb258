//! Whole runs: every draw, every statistic, and what warm-up learns.

use super::reach::Place::{
    DeepestTree, Divergence, Downhill, EqualPrecisions, Left, LongTrajectory, LowRank, NoValue, SeveralPrecisions,
    ThirdDirection,
};
use super::reach::{Place, Reached};
use super::table::{self, Case};
use crate::scenario::{context, finish, finish_watched, on_software_gpu};
use crate::twin::{Modelled, begin};
use crate::{GpuConfig, Precision, Sampler, SamplerConfig};
use octopus_density::gpu::GpuDensity;
use octopus_sampler::{Backend, Begin};

/// The same runs on the twin, on the software GPU and, in f64, on the CPU engine; together those of each precision come
/// to all of `places`.
fn compare<D: Modelled + GpuDensity>(cases: &[Case<D>], places: &[Place]) {
    for precision in Precision::ALL {
        let mut reached = Reached::new(precision);
        for (model, config) in cases {
            let config = SamplerConfig { precision, ..config.clone() };
            let what = format!("{} coordinates, {config:?}", model.dim());
            let mut twin = begin(model, Begin::Anew(config.clone())).unwrap();
            let effects = &model.hierarchies()[0];
            let expected =
                finish_watched(&mut twin, usize::MAX, |block, adaptation| reached.watch(block, effects, adaptation));
            let mut gpu =
                Sampler::begin(model, Begin::Anew(config.clone()), Backend::gpu(&context(), &GpuConfig::default()))
                    .unwrap();
            finish(&mut gpu, usize::MAX).assert_same(&expected, &format!("GPU, {what}"));
            if precision == Precision::F64 {
                let mut cpu = Sampler::new(model, config).unwrap();
                finish(&mut cpu, usize::MAX).assert_same(&expected, &format!("CPU, {what}"));
            }
        }
        reached.assert_all(places, &precision.to_string());
    }
}

/// The kernels of a density of a shape, in every precision.
macro_rules! units {
    ($density:literal, $shape:literal) => {
        &[
            concat!("nuts_", $density, "_f64_", $shape),
            concat!("nuts_", $density, "_f32_", $shape),
            concat!("nuts_", $density, "_mixed_", $shape),
        ]
    };
}

on_software_gpu!(the_prd_run, "", units!("hierarchical_normal", "32x4"), {
    compare(&table::the_prd_run(), &[LongTrajectory, Left, EqualPrecisions]);
});

on_software_gpu!(a_hundred_groups, "", units!("hierarchical_normal", "32x4"), {
    let places = [LongTrajectory, Left, Divergence, Downhill, EqualPrecisions, SeveralPrecisions];
    compare(&table::a_hundred_groups(), &places);
});

on_software_gpu!(five_hundred_groups, "", units!("hierarchical_normal", "128x4"), {
    compare(&table::five_hundred_groups(), &[LongTrajectory, EqualPrecisions, SeveralPrecisions]);
});

on_software_gpu!(a_thousand_groups, "", units!("hierarchical_normal", "128x8"), {
    compare(&table::a_thousand_groups(), &[LongTrajectory, EqualPrecisions, SeveralPrecisions]);
});

on_software_gpu!(every_parameterization_and_metric, "", units!("hierarchical_normal", "32x1"), {
    compare(&table::every_parameterization_and_metric(), &[LongTrajectory, Left, SeveralPrecisions]);
});

on_software_gpu!(few_groups_of_the_same_size, "", units!("hierarchical_normal", "32x1"), {
    compare(&table::few_groups(), &[EqualPrecisions]);
});

on_software_gpu!(trajectories_that_end_for_every_reason, "", units!("hierarchical_normal", "32x1"), {
    compare(&table::narrow_limits(), &[Divergence, DeepestTree, NoValue]);
});

on_software_gpu!(soft_directions, "", units!("hierarchical_normal", "32x1"), {
    compare(&table::soft_directions(), &[LongTrajectory, LowRank, ThirdDirection]);
});

on_software_gpu!(eight_schools, "", units!("eight_schools", "32x1"), {
    compare(&table::eight_schools(), &[LongTrajectory, Left, SeveralPrecisions]);
});

// Blocks share the evaluations of such a chain.
on_software_gpu!(large_groups, "", units!("hierarchical_normal", "32x8_team"), {
    compare(&table::large_groups(), &[LongTrajectory]);
});
