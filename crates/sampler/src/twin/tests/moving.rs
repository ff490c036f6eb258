//! A run in any precision goes on wherever it is taken: what passes through the host loses nothing.

use crate::scenario::{Bits, STOPS, advance_to, context, finish, model, on_software_gpu, short};
use crate::twin::begin;
use crate::{GpuConfig, Precision, Sampler, SamplerConfig};
use octopus_models::Likelihood;
use octopus_sampler::{Backend, Begin};

on_software_gpu!(
    a_run_moves_between_twin_and_gpu,
    "",
    &["nuts_hierarchical_normal_f64_32x1", "nuts_hierarchical_normal_f32_32x1", "nuts_hierarchical_normal_mixed_32x1"],
    {
        let model = model(20, false, Likelihood::Collapsed);
        let (gpu, in_turns) =
            (GpuConfig::default(), GpuConfig { most_iterations: 9, chains_at_once: 2, ..Default::default() });
        for precision in Precision::ALL {
            let config = SamplerConfig { precision, ..short() };
            let expected = finish(&mut begin(&model, Begin::Anew(config.clone())).unwrap(), usize::MAX);
            for first in 0..3 {
                let mut sampler =
                    Sampler::begin(&model, Begin::Anew(config.clone()), Backend::gpu(&context(), &gpu)).unwrap();
                let mut bits = Bits::default();
                for (turn, stop) in STOPS.into_iter().enumerate() {
                    advance_to(&mut sampler, stop, &mut bits);
                    let state = sampler.checkpoint().unwrap();
                    sampler = match (first + turn) % 3 {
                        0 => {
                            Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &gpu)).unwrap()
                        }
                        1 => Sampler::begin(&model, Begin::GoOn(state.clone()), Backend::gpu(&context(), &in_turns))
                            .unwrap(),
                        _ => begin(&model, Begin::GoOn(state.clone())).unwrap(),
                    };
                }
                let rest = finish(&mut sampler, usize::MAX);
                bits.then(rest).assert_same(&expected, &format!("{precision}, {first}"));
            }
        }
    }
);
