//! A run goes on wherever it is taken: after a checkpoint, on the other engine, with other launches.

use crate::scenario::{Bits, STOPS, advance_to, context, finish, model, on_gpu, on_software_gpu, short};
use octopus_models::Likelihood;
use octopus_sampler::{Backend, Begin, GpuConfig, Precision, Sampler, SamplerConfig, SamplerError};

on_software_gpu!(a_run_moves_between_cpu_and_gpu, "", &["nuts_hierarchical_normal_f64_32x4"], {
    let model = model(50, false, Likelihood::Collapsed);
    let gpu = GpuConfig { most_iterations: 9, chains_at_once: 2, ..GpuConfig::default() };
    let expected = finish(&mut Sampler::new(&model, short()).unwrap(), usize::MAX);
    let mut sampler = Sampler::new(&model, short()).unwrap();
    let mut bits = Bits::default();
    for (turn, stop) in STOPS.into_iter().enumerate() {
        advance_to(&mut sampler, stop, &mut bits);
        let state = sampler.checkpoint().unwrap();
        sampler = match turn % 3 {
            0 => Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &GpuConfig::default()))
                .unwrap(),
            1 => Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &gpu)).unwrap(),
            _ => Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::Cpu).unwrap(),
        };
    }
    bits.then(finish(&mut sampler, usize::MAX)).assert_same(&expected, "moved");
});

on_software_gpu!(
    other_precisions_resume_on_a_gpu_only,
    "",
    &["nuts_hierarchical_normal_f32_32x1", "nuts_hierarchical_normal_mixed_32x1"],
    {
        let model = model(8, true, Likelihood::Collapsed);
        for precision in [Precision::F32, Precision::Mixed] {
            let config = SamplerConfig { precision, ..short() };
            let expected = finish(&mut on_gpu(&model, &config, &GpuConfig::default()).unwrap(), usize::MAX);
            for stop in STOPS {
                let mut bits = Bits::default();
                let mut sampler = on_gpu(&model, &config, &GpuConfig::default()).unwrap();
                advance_to(&mut sampler, stop, &mut bits);
                let state = sampler.checkpoint().unwrap();
                let mut sampler =
                    Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &GpuConfig::default()))
                        .unwrap();
                bits.then(finish(&mut sampler, 17)).assert_same(&expected, &format!("{precision}, at {stop}"));
                let refused = Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::Cpu).map(|_| ());
                assert!(matches!(refused, Err(SamplerError::Config(_))), "{refused:?}");
            }
        }
    }
);

on_software_gpu!(a_checkpoint_of_other_data_is_refused, "", &["nuts_hierarchical_normal_f64_32x1"], {
    let (own, other) = (model(8, true, Likelihood::Collapsed), model(8, false, Likelihood::Collapsed));
    let mut sampler = on_gpu(&own, &short(), &GpuConfig::default()).unwrap();
    sampler.advance(30).unwrap();
    let state = sampler.checkpoint().unwrap();
    let refused =
        Sampler::begin(&other, Begin::GoOn(state.clone()), Backend::gpu(&context(), &GpuConfig::default())).map(|_| ());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("the data, the priors or the version of the density differ"), "{message}");
});
