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
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use octopus_sampler::{Backend, Begin, Starts};

/// The same runs on the twin, on the software GPU and, in f64, on the CPU engine; together those of each precision come
/// to all of `places`.
fn compare<D: Modelled + GpuDensity>(cases: &[Case<D>], places: &[Place]) {
    compare_from(cases, places, Begin::Anew);
}

/// The same of runs that begin as `begun` says.
fn compare_from<D: Modelled + GpuDensity>(cases: &[Case<D>], places: &[Place], begun: impl Fn(SamplerConfig) -> Begin) {
    for precision in Precision::ALL {
        let mut reached = Reached::new(precision);
        for (model, config) in cases {
            let config = SamplerConfig { precision, ..config.clone() };
            let what = format!("{} coordinates, {config:?}", model.dim());
            let mut twin = begin(model, begun(config.clone())).unwrap();
            let effects = &model.hierarchies()[0];
            let expected =
                finish_watched(&mut twin, usize::MAX, |block, adaptation| reached.watch(block, effects, adaptation));
            let mut gpu =
                Sampler::begin(model, begun(config.clone()), Backend::gpu(&context(), &GpuConfig::default())).unwrap();
            finish(&mut gpu, usize::MAX).assert_same(&expected, &format!("GPU, {what}"));
            if precision == Precision::F64 {
                let mut cpu = Sampler::begin(model, begun(config), Backend::Cpu).unwrap();
                finish(&mut cpu, usize::MAX).assert_same(&expected, &format!("CPU, {what}"));
            }
        }
        reached.assert_all(places, &precision.to_string());
    }
}

/// The same of runs whose effects start 30 deviations off: chains that choose their starts themselves do not start so far.
fn compare_far_off(cases: &[Case], places: &[Place]) {
    let dim = cases[0].0.dim();
    let mut far = vec![0.0; dim];
    far[cases[0].0.hierarchies()[0].z.clone()].fill(30.0);
    compare_from(cases, places, |config| Begin::At(config, Starts::Points(vec![far.clone()])));
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
    let places = [LongTrajectory, Left, Divergence, EqualPrecisions, SeveralPrecisions];
    compare(&table::a_hundred_groups(), &places);
    compare_far_off(&[table::a_few_draws_of_a_hundred_groups()], &[Downhill]);
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
    compare(&table::narrow_limits(), &[Divergence, DeepestTree]);
    compare_far_off(&table::centered_effects(), &[NoValue]);
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
