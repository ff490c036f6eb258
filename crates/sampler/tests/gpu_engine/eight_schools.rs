//! Eight schools on the GPU engine: the CPU engine's bits in f64, and the exact posterior in every precision.

use crate::monte_carlo::collect;
use crate::scenario::{context, finish, on_software_gpu, short};
use octopus_density::LogDensity;
use octopus_models::EightSchools;
use octopus_models::exact::SchoolsPosterior;
use octopus_sampler::{Backend, Begin, GpuConfig, Parameterization, Precision, Sampler, SamplerConfig};

on_software_gpu!(runs_have_the_bits_of_the_cpu, "", &["nuts_eight_schools_f64_32x1"], {
    let model = EightSchools::rubin();
    for parameterization in [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive] {
        let config = SamplerConfig { parameterization, ..short() };
        let expected = finish(&mut Sampler::new(&model, config.clone()).unwrap(), usize::MAX);
        let mut found =
            Sampler::begin(&model, Begin::Anew(config), Backend::gpu(&context(), &GpuConfig::default())).unwrap();
        finish(&mut found, usize::MAX).assert_same(&expected, &format!("{parameterization:?}"));
    }
});

on_software_gpu!(
    every_precision_meets_the_exact_posterior,
    "",
    &["nuts_eight_schools_f64_32x1", "nuts_eight_schools_f32_32x1", "nuts_eight_schools_mixed_32x1"],
    {
        let model = EightSchools::rubin();
        let exact = SchoolsPosterior::compute(&model);
        let expected: Vec<_> = [exact.mu, exact.tau].into_iter().chain(exact.theta).chain(exact.theta_trans).collect();
        for precision in Precision::ALL {
            let config = SamplerConfig {
                precision,
                draws: 5000,
                tune: 1000,
                target_accept: 0.95,
                seed: 1,
                parameterization: Parameterization::NonCentered,
                ..Default::default()
            };
            let sampler =
                Sampler::begin(&model, Begin::Anew(config), Backend::gpu(&context(), &GpuConfig::default())).unwrap();
            let draws = collect(model.dim(), sampler);
            assert!(draws.divergences() <= 5, "{precision}: {}", draws.divergences());
            let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
            for (at, ([mean, sd], expected)) in moments.iter().zip(&expected).enumerate() {
                mean.check(&format!("{precision}, value {at}: mean"), expected.mean, 4.0);
                sd.check(&format!("{precision}, value {at}: sd"), expected.sd, 4.0);
            }
        }
    }
);
