//! What a leapfrog step costs: short runs of NUTS on the model of phase 0, timed after their warm-up, on one thread of
//! the processor and on the device.
//!
//! On the device a single chain tells how long the chains wait for each other's slowest part, and many chains tell
//! what each of them costs once the device is full.

use crate::place::Place;
use crate::work::{MEASURED_GROUPS, kernel_name};
use crate::{output, run};
use anyhow::Result;
use octopus_density::gpu::Precision;
use octopus_density::synthetic::HierarchicalSpec;
use octopus_density::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_device::{Calibration, Device, KernelCost, LinearCost};
use octopus_sampler::{Phase, SamplerConfig};
use rayon::ThreadPool;
use std::time::Instant;

/// What is timed.
pub(super) struct Runs {
    /// Groups of the models.
    groups: Vec<usize>,
    /// The run that stands for a single chain.
    single: SamplerConfig,
    /// The run that fills the device.
    many: SamplerConfig,
}

impl Default for Runs {
    /// One chain of 300 draws, and 4096 of 20: enough for every multiprocessor that there is.
    fn default() -> Self {
        let config = |chains, tune, draws| SamplerConfig { chains, tune, draws, seed: 42, ..SamplerConfig::default() };
        Self { groups: MEASURED_GROUPS.into(), single: config(1, 150, 300), many: config(4096, 60, 20) }
    }
}

impl Runs {
    /// The software GPU's times say nothing: enough to run the code.
    pub(super) fn of_the_double() -> Self {
        let runs = Self::default();
        Self {
            groups: vec![MEASURED_GROUPS[0]],
            single: SamplerConfig { tune: 20, draws: 20, ..runs.single },
            many: SamplerConfig { chains: 4, tune: 20, draws: 5, ..runs.many },
        }
    }

    /// Times them all and records the costs.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(super) fn record(&self, calibration: &mut Calibration, device: Device, quiet: bool) -> Result<()> {
        let (gpu, one, all) = (Place::open(device)?, run::pool(Some(1))?, run::pool(None)?);
        for &groups in &self.groups {
            if !quiet {
                output::note(format!("leapfrog steps of {groups} groups"));
            }
            let data = HierarchicalSpec { groups, ..HierarchicalSpec::default() }.generate()?.data;
            for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
                let model = HierarchicalNormal::new(data.clone(), HierarchicalPrior::default(), likelihood)?;
                // The processor computes in f64, whatever was asked of the device.
                let cpu = seconds_a_step(&model, &self.single, &Place::Cpu, &one)?;
                for precision in [Precision::F64, Precision::F32] {
                    let on_gpu = |config: &SamplerConfig| {
                        let config = SamplerConfig { precision, ..config.clone() };
                        seconds_a_step(&model, &config, &gpu, &all)
                    };
                    let (single, many) = (on_gpu(&self.single)?, on_gpu(&self.many)?);
                    let cost = KernelCost {
                        cpu: LinearCost { fixed_seconds: 0.0, unit_seconds: cpu },
                        device: LinearCost { fixed_seconds: (single - many).max(0.0), unit_seconds: many },
                    };
                    calibration.record(kernel_name(&model, precision), cost);
                }
            }
        }
        Ok(())
    }
}

/// Seconds of a draw's leapfrog step of one chain, of all the run's draws and chains.
fn seconds_a_step(model: &HierarchicalNormal, config: &SamplerConfig, place: &Place, pool: &ThreadPool) -> Result<f64> {
    pool.install(|| {
        let mut sampler = place.start(model, config, &mut |step| output::warn(step.to_string()))?;
        let (mut steps, mut begin) = (0, Instant::now());
        while let Some(block) = sampler.advance(usize::MAX)? {
            match block.phase {
                Phase::Warmup => begin = Instant::now(),
                Phase::Sampling => {
                    let stats = block.chains.iter().flat_map(|chain| &chain.stats);
                    steps += stats.map(|stats| u64::from(stats.n_steps)).sum::<u64>();
                }
            }
        }
        Ok(begin.elapsed().as_secs_f64() / steps.max(1) as f64)
    })
}
