//! Densities that fail and settings that cannot be used.

use crate::densities::{Breaking, Wall};
use octopus_density::DensityError;
use octopus_sampler::{Sampler, SamplerConfig, SamplerError, WindowConfig};

/// A broken density stops the run with its own message, the chain and the iteration.
#[test]
fn a_broken_density_stops_the_run() {
    let mut stopped_late = 0;
    for calls in [0, 1, 3, 20, 500, 3000] {
        let density = Breaking::after(calls);
        let config = SamplerConfig { draws: 500, tune: 100, chains: 2, ..Default::default() };
        let result = Sampler::new(&density, config).and_then(|mut sampler| {
            while sampler.advance(25)?.is_some() {}
            Ok(())
        });
        let error = result.expect_err("the density breaks");
        let SamplerError::Density { chain, iteration, source } = &error else { panic!("{error:?}") };
        assert!(*chain < 2 && *iteration < 600);
        assert_eq!(*source, DensityError::Broken(Breaking::MESSAGE.into()));
        assert!(error.to_string().contains(Breaking::MESSAGE) && error.to_string().contains("chain"), "{error}");
        stopped_late += u32::from(*iteration > 0);
    }
    assert!(stopped_late >= 2);
}

#[test]
fn a_density_without_support_has_no_starting_point() {
    let density = Wall::new(2, -1e9);
    let error = Sampler::new(&density, SamplerConfig::default()).map(|_| ()).expect_err("nowhere to start");
    let SamplerError::Init { last, .. } = &error else { panic!("{error:?}") };
    assert!(last.is_recoverable());
    assert!(error.to_string().contains("init_radius"), "{error}");
}

#[test]
fn settings_out_of_range_are_named() {
    let density = Wall::new(2, 1.0);
    let plain = SamplerConfig::default;
    let endless = WindowConfig { base_window: usize::MAX, ..Default::default() };
    for (field, config) in [
        ("draws", SamplerConfig { draws: 0, ..plain() }),
        ("draws", SamplerConfig { draws: usize::MAX, ..plain() }),
        ("tune", SamplerConfig { tune: usize::MAX, ..plain() }),
        ("draws + tune", SamplerConfig { draws: 1 << 30, tune: 1 << 30, ..plain() }),
        ("windows.base_window", SamplerConfig { windows: endless, ..plain() }),
        ("chains", SamplerConfig { chains: 0, ..plain() }),
        ("chains", SamplerConfig { chains: 1 << 31, ..plain() }),
        ("target_accept", SamplerConfig { target_accept: 1.0, ..plain() }),
        ("target_accept", SamplerConfig { target_accept: f64::NAN, ..plain() }),
        ("max_depth", SamplerConfig { max_depth: 0, ..plain() }),
        ("max_depth", SamplerConfig { max_depth: 21, ..plain() }),
        ("max_energy_error", SamplerConfig { max_energy_error: -1.0, ..plain() }),
        ("max_energy_error", SamplerConfig { max_energy_error: f64::INFINITY, ..plain() }),
        ("init_radius", SamplerConfig { init_radius: f64::INFINITY, ..plain() }),
    ] {
        let error = Sampler::new(&density, config).map(|_| ()).expect_err("out of range");
        assert!(matches!(&error, SamplerError::Config(config) if config.field == field), "{error:?}");
    }
}

/// Short warm-ups, or none, are allowed; so is a single draw.
#[test]
fn the_shortest_runs() {
    let density = Wall::new(2, 5.0);
    for (tune, draws) in [(0, 1), (1, 1), (19, 3), (20, 3), (21, 1), (80, 2)] {
        let config = SamplerConfig { tune, draws, chains: 1, ..Default::default() };
        let mut sampler = Sampler::new(&density, config).expect("starts");
        let mut seen = 0;
        while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
            seen += block.draws;
            assert_eq!(block.chains.len(), 1);
            assert_eq!(block.chains[0].stats.len(), block.draws);
            assert_eq!(block.chains[0].positions.len(), 2 * block.draws);
        }
        assert_eq!(seen, tune + draws);
        assert_eq!(sampler.done(), tune + draws);
        assert!(sampler.advance(1).expect("over").is_none());
    }
}
