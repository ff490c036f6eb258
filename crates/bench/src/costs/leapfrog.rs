//! The cost of a leapfrog step: short runs of NUTS on the model of phase 0 are timed after their warm-up, on one thread
//! of the processor and on the device.
//!
//! On the device a single chain tells how long the chains wait for each other's slowest part, and many chains tell
//! what each of them costs once the device is full.

use crate::error::BenchError;
use crate::model_of;
use octopus_density::gpu::Precision;
use octopus_device::{Device, DeviceCosts, KernelCost, LinearCost};
use octopus_models::Likelihood;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_runs::{MEASURED_GROUPS, MEASURED_OBSERVATIONS, Placement, kernel_name, seconds_a_step};
use octopus_sampler::{SamplerConfig, Strategy};

/// The runs that are timed.
pub(super) struct Runs {
    /// The numbers of groups of the models.
    groups: Vec<usize>,
    /// The numbers of observations of models with 100 groups, so many that blocks of the device share them.
    observations: Vec<usize>,
    own: RunPair,
    shared: RunPair,
}

/// The two runs on a device for each model.
struct RunPair {
    /// The run of a single chain.
    single: SamplerConfig,
    /// The run of many chains, which fill the device.
    many: SamplerConfig,
}

fn config(chains: usize, tune: usize, draws: usize) -> SamplerConfig {
    SamplerConfig { chains, tune, draws, seed: 42, strategy: Strategy::FourLong, ..SamplerConfig::default() }
}

impl Default for Runs {
    /// Returns the runs for a GPU: one chain of 300 draws, and 4096 chains of 20, which are enough for every
    /// multiprocessor of any device. Where blocks share a chain, 64 chains are enough, and a few short trajectories
    /// suffice, because steps are counted and not draws.
    fn default() -> Self {
        let short = |chains, tune, draws| SamplerConfig { max_depth: 5, ..config(chains, tune, draws) };
        Self {
            groups: MEASURED_GROUPS.into(),
            observations: MEASURED_OBSERVATIONS.into(),
            own: RunPair { single: config(1, 150, 300), many: config(4096, 60, 20) },
            shared: RunPair { single: short(1, 30, 30), many: short(64, 10, 5) },
        }
    }
}

impl Runs {
    /// Returns runs for the software GPU. They are just enough to run the code, since its times say nothing.
    pub(super) fn of_the_double() -> Self {
        let own = RunPair { single: config(1, 20, 20), many: config(4, 20, 5) };
        Self { groups: vec![MEASURED_GROUPS[0]], observations: Vec::new(), own, ..Self::default() }
    }

    /// Times all runs and records the costs.
    ///
    /// # Errors
    /// When the device or its memory fails.
    pub(super) fn record(
        &self,
        device_costs: &mut DeviceCosts,
        device: Device,
        say: &dyn Fn(String),
    ) -> Result<(), BenchError> {
        let place = Placement::open(&[device])?;
        for &groups in &self.groups {
            say(format!("leapfrog steps of {groups} groups"));
            let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
            for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
                self.own.record(device_costs, &place, &spec, likelihood)?;
            }
        }
        for &observations in &self.observations {
            say(format!("leapfrog steps of {observations} observations"));
            let spec = HierarchicalSpec { groups: 100, per_group: observations / 100, ..HierarchicalSpec::default() };
            self.shared.record(device_costs, &place, &spec, Likelihood::Pointwise)?;
        }
        Ok(())
    }
}

impl RunPair {
    fn record(
        &self,
        device_costs: &mut DeviceCosts,
        gpu: &Placement,
        spec: &HierarchicalSpec,
        likelihood: Likelihood,
    ) -> Result<(), BenchError> {
        let (one, all) = (octopus_runs::pool(Some(1))?, octopus_runs::pool(None)?);
        let model = model_of(spec.generate(), likelihood)?;
        // The processor computes in f64, whatever was asked of the device.
        let cpu = seconds_a_step(&model, &self.single, &Placement::Cpu, &one)?;
        for precision in [Precision::F64, Precision::F32] {
            let on_gpu = |config: &SamplerConfig| {
                let config = SamplerConfig { precision, ..config.clone() };
                seconds_a_step(&model, &config, gpu, &all)
            };
            let (single, many) = (on_gpu(&self.single)?, on_gpu(&self.many)?);
            let cost = KernelCost {
                cpu: LinearCost { fixed_seconds: 0.0, unit_seconds: cpu },
                device: LinearCost { fixed_seconds: (single - many).max(0.0), unit_seconds: many },
            };
            device_costs.record(kernel_name(&model, precision), cost);
        }
        Ok(())
    }
}
