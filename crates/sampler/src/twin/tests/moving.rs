//! A run in any precision goes on wherever it is taken: what passes through the host loses nothing.

use crate::scenario::{Bits, STOPS, advance_to, context, finish, model, on_software_gpu, short};
use crate::twin::{resume, start};
use crate::{GpuConfig, Precision, Sampler, SamplerConfig};
use octopus_density::Likelihood;

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
            let expected = finish(&mut start(&model, config.clone()).unwrap(), usize::MAX);
            for first in 0..3 {
                let mut sampler = Sampler::on_gpu(&model, config.clone(), &context(), &gpu).unwrap();
                let mut bits = Bits::default();
                for (turn, stop) in STOPS.into_iter().enumerate() {
                    advance_to(&mut sampler, stop, &mut bits);
                    let state = sampler.checkpoint().unwrap();
                    sampler = match (first + turn) % 3 {
                        0 => Sampler::resume_on_gpu(&model, &state, &context(), &gpu).unwrap(),
                        1 => Sampler::resume_on_gpu(&model, &state, &context(), &in_turns).unwrap(),
                        _ => resume(&model, &state).unwrap(),
                    };
                }
                let rest = finish(&mut sampler, usize::MAX);
                bits.then(rest).assert_same(&expected, &format!("{precision}, {first}"));
            }
        }
    }
);
