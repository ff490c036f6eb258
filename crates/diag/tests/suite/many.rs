//! Many short chains of the sampler: fit for use on a target that chains cross, not on one in which they stay where they
//! began.

use octopus_density::{DensityError, Layout, LogDensity};
use octopus_diag::{CheckStatus, DiagnoseOptions, Diagnosis, diagnose};
use octopus_sampler::{Phase, Sampler, SamplerConfig, Strategy};
use octopus_trace::{Array, Dataset, Values};

/// Two normals of variance 1 around `x_0 = mode` and `x_0 = -mode`, in 3 dimensions.
struct Modes {
    layout: Layout,
    mode: f64,
}

impl LogDensity for Modes {
    fn dim(&self) -> usize {
        3
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn logp_grad(&self, x: &[f64], gradient: &mut [f64]) -> Result<f64, DensityError> {
        let along = self.mode * x[0];
        for (slope, x) in gradient.iter_mut().zip(x) {
            *slope = -x;
        }
        gradient[0] += self.mode * along.tanh();
        let square: f64 = x.iter().map(|x| x * x).sum();
        Ok(along.abs() + (-2.0 * along.abs()).exp().ln_1p() - 0.5 * square)
    }

    fn expand(&self, position: &[f64], out: &mut [f64]) {
        out.copy_from_slice(position);
    }

    fn name(&self) -> &str {
        "modes"
    }
}

fn diagnosis(mode: f64) -> Diagnosis {
    let density = Modes { layout: Layout::default(), mode };
    let config = SamplerConfig {
        strategy: Strategy::ManyShort,
        chains: 512,
        superchains: 64,
        draws: 32,
        tune: 200,
        seed: 3,
        ..SamplerConfig::default()
    };
    let mut sampler = Sampler::new(&density, config).unwrap();
    let mut values = Vec::new();
    while let Some(block) = sampler.advance(usize::MAX).unwrap() {
        if block.phase == Phase::Sampling {
            values = block.chains.iter().flat_map(|chain| chain.positions.iter().copied()).collect();
        }
    }
    let mut posterior = Dataset::default();
    posterior.insert("x", Array::new([("chain", 512), ("draw", 32), ("i", 3)], Values::F64(values)));
    let options = DiagnoseOptions { superchains: Some(64), ..DiagnoseOptions::default() };
    diagnose(&posterior, None, &options).unwrap()
}

#[test]
fn chains_that_cross_are_fit_for_use() {
    let found = diagnosis(0.5);
    assert!(found.usable(), "{found}");
    assert!(found.summary.min_ess_bulk() > 6000.0 && found.summary.min_ess_tail() > 4000.0, "{found}");
    assert!(found.to_text(octopus_diag::Rows::All).contains("512 chains of 32 draws in 64 superchains"));
}

/// Superchains stuck in two modes.
#[test]
fn chains_that_stay_are_caught() {
    let found = diagnosis(8.0);
    let rhat = found.checks.iter().find(|check| check.id == "rhat").unwrap();
    assert_eq!(rhat.status, CheckStatus::Fail);
    assert!(rhat.observed.unwrap() > 1.3 && rhat.message.contains("nested R-hat"), "{}", rhat.message);
    assert!(rhat.message.contains("x[0]"), "{}", rhat.message);
}
