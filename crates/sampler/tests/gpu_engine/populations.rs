//! Importance sampling on the GPU engine: the particles, their weights and the evidence have the CPU's bits.

use crate::scenario::{context, contexts, model, on_gpu, on_software_gpu};
use crate::teams::{pointwise, ragged};
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use octopus_models::{EightSchools, Likelihood};
use octopus_sampler::{
    Algorithm, Backend, BatchSampler, Begin, DataSet, GpuConfig, GpuNote, ImportanceConfig, ImportanceProposal,
    Precision, Sampler, SamplerConfig, SamplerError,
};

/// A run of a few draws of this many particles.
fn run(particles: usize, proposal: ImportanceProposal) -> SamplerConfig {
    let algorithm = Algorithm::Importance(ImportanceConfig { particles, proposal, ..ImportanceConfig::default() });
    SamplerConfig { algorithm, draws: 40, tune: 0, chains: 3, seed: 7, ..SamplerConfig::default() }
}

/// The bits of all draws with their log densities and weights, and what the population tells of itself.
fn all(sampler: &mut Sampler<'_>) -> (Vec<u64>, String) {
    let mut bits = Vec::new();
    while let Some(block) = sampler.advance(17).expect("draws") {
        for chain in block.chains {
            let stats = chain.stats.iter().flat_map(|stats| [stats.lp, stats.log_weight]);
            bits.extend(chain.positions.iter().copied().chain(stats).map(f64::to_bits));
        }
    }
    (bits, format!("{:?}", sampler.population()))
}

/// Says where they differ first.
fn assert_same(found: &(Vec<u64>, String), expected: &(Vec<u64>, String), what: &str) {
    assert_eq!((found.0.len(), &found.1), (expected.0.len(), &expected.1), "{what}");
    assert_eq!(found.0.iter().zip(&expected.0).position(|(found, expected)| found != expected), None, "{what}");
}

fn compare(density: &dyn LogDensity, config: &SamplerConfig, gpu: &GpuConfig) {
    let expected = all(&mut Sampler::new(density, config.clone()).unwrap());
    let begin = Begin::Anew(config.clone());
    let found = all(&mut Sampler::begin(density, begin, Backend::gpu(&context(), gpu)).unwrap());
    assert_same(&found, &expected, &format!("{config:?}, {gpu:?}"));
}

// More particles than are evaluated at once, and devices of little memory, which take turns.
on_software_gpu!(particles_of_a_warp_have_the_bits_of_the_cpu, "", &["nuts_hierarchical_normal_f64_32x1"], {
    for (particles, proposal) in
        [(2049, ImportanceProposal::Mixture), (300, ImportanceProposal::Laplace), (2, ImportanceProposal::Mixture)]
    {
        compare(&model(10, false, Likelihood::Collapsed), &run(particles, proposal), &GpuConfig::default());
    }
    let turns = GpuConfig { chains_at_once: 100, slot_bytes: 1 << 16, ..GpuConfig::default() };
    compare(&model(10, false, Likelihood::Pointwise), &run(500, ImportanceProposal::Mixture), &turns);
});

on_software_gpu!(longer_vectors, "", &["nuts_hierarchical_normal_f64_32x4", "nuts_hierarchical_normal_f64_128x4"], {
    for groups in [60, 300] {
        let config = run(60, ImportanceProposal::Mixture);
        compare(&model(groups, false, Likelihood::Collapsed), &config, &GpuConfig::default());
    }
});

on_software_gpu!(schools, "", &["nuts_eight_schools_f64_32x1"], {
    compare(&EightSchools::rubin(), &run(1000, ImportanceProposal::Mixture), &GpuConfig::default());
});

on_software_gpu!(observations_that_blocks_share, "", &["nuts_hierarchical_normal_f64_32x8_team"], {
    let shared = pointwise(4, ragged);
    assert!(shared.team_work().is_some());
    compare(&shared, &run(40, ImportanceProposal::Laplace), &GpuConfig::default());
});

// Two devices, and the second one is lost.
on_software_gpu!(devices_share_the_particles, "devices=2;lost=1:60", &["nuts_hierarchical_normal_f64_32x1"], {
    let (model, config) = (model(10, false, Likelihood::Collapsed), run(3000, ImportanceProposal::Mixture));
    let expected = all(&mut Sampler::new(&model, config.clone()).unwrap());
    let (contexts, gpu) = (contexts(2), GpuConfig { chains_at_once: 64, ..GpuConfig::default() });
    let mut found = Sampler::begin(&model, Begin::Anew(config), Backend::Gpus(&contexts, &gpu)).unwrap();
    assert_same(&all(&mut found), &expected, "lost");
    let notes = found.take_notes();
    assert!(notes.iter().any(|note| matches!(note, GpuNote::GivenUp { device: 1, .. })), "{notes:?}");
});

on_software_gpu!(the_cpu_goes_on_when_the_device_is_lost, "lost=100", &["nuts_hierarchical_normal_f64_32x1"], {
    let (model, config) = (model(10, false, Likelihood::Collapsed), run(3000, ImportanceProposal::Mixture));
    let expected = all(&mut Sampler::new(&model, config.clone()).unwrap());
    let gpu = GpuConfig { cpu_fallback: true, chains_at_once: 64, ..GpuConfig::default() };
    let mut found = on_gpu(&model, &config, &gpu).unwrap();
    assert_eq!(found.take_notes(), [], "lost too early");
    assert_same(&all(&mut found), &expected, "lost");
    let notes = found.take_notes();
    assert!(notes.iter().any(|note| matches!(note, GpuNote::LeftToCpu { .. })), "{notes:?}");
});

// A run of one device goes on on the other side, to the same draws.
on_software_gpu!(runs_go_on, "", &["nuts_eight_schools_f64_32x1"], {
    let (model, config) = (EightSchools::rubin(), run(500, ImportanceProposal::Mixture));
    let (context, gpu) = (context(), GpuConfig::default());
    let expected = all(&mut Sampler::new(&model, config.clone()).unwrap());
    let mut begun = Sampler::begin(&model, Begin::Anew(config), Backend::gpu(&context, &gpu)).unwrap();
    let saved = begun.checkpoint().unwrap();
    for backend in [Backend::Cpu, Backend::gpu(&context, &gpu)] {
        let mut resumed = Sampler::begin(&model, Begin::GoOn(saved.clone()), backend).unwrap();
        assert_same(&all(&mut resumed), &expected, "resumed");
    }
});

on_software_gpu!(what_gpus_do_not_do_is_refused_by_name, "", &["nuts_hierarchical_normal_f64_32x1"], {
    let model = model(10, true, Likelihood::Collapsed);
    let refused = |config: SamplerConfig| match on_gpu(&model, &config, &GpuConfig::default()) {
        Err(error @ SamplerError::NoKernel { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    };
    let importance = run(100, ImportanceProposal::Mixture);
    for name in ["smc", "pathfinder"] {
        let told = refused(SamplerConfig { algorithm: Algorithm::named(name).unwrap(), ..importance.clone() });
        assert!(told.contains(&format!("the sampler {name} has no kernels")), "{told}");
    }
    let told = refused(run(100, ImportanceProposal::Prior));
    assert!(told.contains("the sampler importance with the prior for its proposal has no kernels"), "{told}");
    let told = refused(SamplerConfig { precision: Precision::F32, ..importance.clone() });
    assert!(told.contains("the sampler importance has none in this precision"), "{told}");
    let sets = [DataSet { density: &model, begin: Begin::Anew(importance) }];
    let mut batch = BatchSampler::begin(&sets, 1, Backend::gpu(&context(), &GpuConfig::default())).unwrap();
    let told = batch.advance(1).unwrap().unwrap().remove(0).block.unwrap_err().to_string();
    assert!(told.contains("the sampler importance has none for a batch"), "{told}");
});

/// The PTX itself.
#[test]
fn particles_as_ptx() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::particles_as_ptx"), || {
        for groups in [10, 100] {
            let config = run(20, ImportanceProposal::Laplace);
            compare(&model(groups, false, Likelihood::Collapsed), &config, &GpuConfig::default());
        }
    });
}
