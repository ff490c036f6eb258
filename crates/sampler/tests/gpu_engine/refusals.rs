//! What cannot run on a GPU says so, and a device that fails stops the run with its own words.

use crate::scenario::{Kernels, Otherwise, context, model, on_gpu, on_software_gpu, short};
use octopus_models::Likelihood;
use octopus_sampler::{Backend, BatchSampler, Begin, DataSet, GpuConfig, GpuNote, Precision, Sampler};
use octopus_sampler::{SamplerConfig, SamplerError};

on_software_gpu!(
    too_many_coordinates_and_missing_memory,
    "total_mb=64;free_mb=60",
    &["nuts_hierarchical_normal_f64_32x1"],
    {
        let large = model(1100, true, Likelihood::Collapsed);
        let error = on_gpu(&large, &short(), &GpuConfig::default()).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no GPU kernel for 'hierarchical-normal' with 1103 coordinates in f64: those that are compiled hold at most \
         1024 coordinates; use the CPU, or another precision"
        );
        let small = model(8, true, Likelihood::Collapsed);
        let config = SamplerConfig { chains: 20_000, draws: 1, tune: 1, ..short() };
        let mut sampler = on_gpu(&small, &config, &GpuConfig::default()).unwrap();
        let notes = sampler.take_notes();
        let GpuNote::Turns { device: 0, from: 20_000, to: 10_000, cause } = &notes[0] else { panic!("{notes:?}") };
        assert!(cause.is_out_of_memory(), "{cause}");
        sampler.advance(1).unwrap();
        drop(sampler);
        // In turns from the first they fit.
        let turns = GpuConfig { chains_at_once: 1000, slot_bytes: 1 << 18, ..GpuConfig::default() };
        let mut sampler = on_gpu(&small, &config, &turns).unwrap();
        assert_eq!(sampler.take_notes(), []);
        sampler.advance(1).unwrap();
    }
);

on_software_gpu!(a_device_that_is_lost_ends_the_run, "lost=400", &["nuts_hierarchical_normal_f64_32x1"], {
    let model = model(8, true, Likelihood::Collapsed);
    let mut sampler = on_gpu(&model, &short(), &GpuConfig::default()).unwrap();
    let error = loop {
        match sampler.advance(1) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the device was not lost"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SamplerError::Device(_)), "{error}");
});

on_software_gpu!(a_density_without_kernels_is_for_the_cpu, "", &["nuts_hierarchical_normal_f64_32x1"], {
    let bare = Otherwise { inner: model(8, true, Likelihood::Collapsed), kernels: Kernels::None };
    let (context, gpu) = (context(), GpuConfig::default());
    let refused = |error: SamplerError| {
        assert!(matches!(error, SamplerError::NoKernel { .. }), "{error}");
        let expected = "no GPU kernel for 'otherwise' with 11 coordinates in f64: none is compiled for it; use the CPU";
        assert!(error.to_string().starts_with(expected), "{error}");
    };
    let begin = || Begin::Anew(short());
    refused(Sampler::begin(&bare, begin(), Backend::gpu(&context, &gpu)).map(|_| ()).unwrap_err());
    let mut batch =
        BatchSampler::begin(&[DataSet { density: &bare, begin: begin() }], 1, Backend::gpu(&context, &gpu)).unwrap();
    refused(batch.advance(1).unwrap().expect("its error").remove(0).block.unwrap_err());
    assert!(Sampler::begin(&bare, begin(), Backend::Cpu).unwrap().advance(1).unwrap().is_some());
});

#[test]
fn the_cpu_computes_in_f64() {
    let model = model(8, true, Likelihood::Collapsed);
    let config = SamplerConfig { precision: Precision::Mixed, ..short() };
    let error = Sampler::new(&model, config).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "precision = mixed: the CPU computes in f64; other precisions need a GPU");
}
