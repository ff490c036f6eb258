//! Device memory is what is foretold, and does not grow with the draws.

use crate::scenario::{context, finish, model, on_gpu, on_software_gpu, short};
use octopus_models::Likelihood;
use octopus_sampler::{GpuConfig, GpuMemory, Precision, SamplerConfig};

const UNITS: &[&str] =
    &["nuts_hierarchical_normal_f64_32x1", "nuts_hierarchical_normal_f32_32x4", "nuts_hierarchical_normal_mixed_128x4"];

on_software_gpu!(a_run_takes_the_memory_that_was_foretold, "", UNITS, {
    for (groups, precision, chains, draws) in [
        (8, Precision::F64, 3, 50),
        (8, Precision::F64, 3, 2000),
        (100, Precision::F32, 40, 5),
        (500, Precision::Mixed, 2, 5),
    ] {
        let model = model(groups, false, Likelihood::Pointwise);
        let config = SamplerConfig { precision, chains, draws, tune: 30, ..short() };
        let gpu = GpuConfig { slot_bytes: 1 << 20, ..GpuConfig::default() };
        let context = context();
        context.reset_usage();
        finish(&mut on_gpu(&model, &config, &gpu).unwrap(), usize::MAX);
        let (foretold, peak) = (GpuMemory::of_run(&model, &config, &gpu).unwrap(), context.usage().peak_device_bytes);
        assert_eq!(foretold.total(), peak, "{groups} groups, {chains} chains, {draws} draws: {foretold:?}");
        assert_eq!(context.usage().device_bytes, 0, "all is given back");
    }
});
