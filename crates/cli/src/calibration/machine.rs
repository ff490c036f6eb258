//! The machine that samples a calibration's data sets, in batches: the CPU's threads, or a device.
//!
//! The most chains that a device moves at once, and the number of threads, are decided here.

use crate::args::MachineArgs;
use crate::exit::UsageError;
use crate::output;
use anyhow::Result;
use octopus_calibrate::{CalibrateError, CalibratedSet, CalibrationSettings, Mover, at_work_bytes, run};
use octopus_density::LogDensity;
use octopus_device::{DeviceChoice, DeviceRequest};
use octopus_diag::counted;
use octopus_models::Simulator;
use octopus_random::{Purpose, Stream};
use octopus_runs::{MemoryNeed, Placement, RunCost, RunError};
use octopus_sampler::SamplerConfig;

/// The most chains that a device moves at once. They are more than the largest device runs at a time, so that long
/// trajectories of a few leave no room idle; and so few that an interruption drops little.
const CHAINS_AT_ONCE: usize = 4096;

/// The place where data sets are sampled.
pub(crate) struct CalibrationMachine {
    place: Placement,
    threads: usize,
}

/// Makes some data set of a model, to see how large its data sets are.
///
/// # Errors
/// When the density does not take the data.
pub(crate) fn any_data_set(simulator: &dyn Simulator) -> Result<Box<dyn LogDensity>> {
    let mut random = Stream::new(0, 0, 0, Purpose::User);
    let position = simulator.draw_parameters(&mut random);
    Ok(simulator.simulate(&position, &mut random)?)
}

impl CalibrationMachine {
    /// Chooses the device that is asked for, or else the one that suits the work, and makes it ready. The notes on the
    /// choice are printed unless `quiet`.
    ///
    /// # Errors
    /// When the device cannot be opened, or cannot do the work.
    pub(crate) fn open(
        args: &MachineArgs,
        asked: DeviceRequest,
        density: &dyn LogDensity,
        cost: &RunCost,
        quiet: bool,
    ) -> Result<Self> {
        let mut machine = octopus_runs::DeviceInventory::look(asked);
        let mut device = machine.choose(Some(density), cost, args.no_fallback)?;
        let place = device.open()?;
        output::unless_quiet(quiet, &device.lines()).iter().for_each(output::note);
        Ok(Self { place, threads: threads(args) })
    }

    /// Checks that the host's memory holds the data sets that are sampled at once, which are like `density`.
    ///
    /// # Errors
    /// When it does not.
    pub(crate) fn check_memory(
        &self,
        density: &dyn LogDensity,
        settings: &CalibrationSettings,
        data_sets: u32,
    ) -> Result<(), RunError> {
        let SamplerConfig { chains, draws, .. } = settings.sampler;
        let on_cpu = self.place.is_cpu();
        let most = if on_cpu { self.threads } else { at_once(chains) };
        let at_work = most.min(data_sets as usize);
        MemoryNeed {
            what: format!("--chains {chains} --draws {draws}: sampling {} at once", counted(at_work, "data set")),
            bytes: at_work_bytes(density, settings, at_work, on_cpu),
            advice: "ask for fewer --chains, --draws or --threads, or a shorter --tune".to_owned(),
        }
        .check()
    }

    /// Samples data sets with [`run`] on this machine.
    ///
    /// # Errors
    /// When [`run`] fails.
    pub(crate) fn run(
        &self,
        simulator: &dyn Simulator,
        settings: &CalibrationSettings,
        numbers: impl Iterator<Item = u32> + Send,
        stop: &(dyn Fn() -> bool + Sync),
        keep: &mut dyn FnMut(CalibratedSet) -> Result<()>,
    ) -> Result<(), CalibrateError> {
        let Self { place, threads } = self;
        if place.is_cpu() {
            return run(simulator, settings, numbers, Mover::Threads(*threads), stop, keep);
        }
        let at_once = at_once(settings.sampler.chains);
        let mover = Mover::Batches { at_once, threads: *threads, begin: &mut |sets| place.batch(sets, at_once) };
        run(simulator, settings, numbers, mover, stop, keep)
    }
}

/// Returns the number of data sets of `chains` chains each that a device moves at once.
fn at_once(chains: usize) -> usize {
    (CHAINS_AT_ONCE / chains).max(1)
}

/// Returns the number of threads that is asked for, or else that of all threads.
pub(crate) fn threads(args: &MachineArgs) -> usize {
    args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// # Errors
/// When a GPU is asked for, although the work is done on the CPU only.
pub(crate) fn only_cpu(asked: &DeviceRequest) -> Result<(), UsageError> {
    match asked.choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Cuda(_) | DeviceChoice::Several(_) | DeviceChoice::All => {
            let what = "--geweke: its chains move one by one, on the CPU: `--device cpu`";
            Err(UsageError(what.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_sampler::GpuConfig;

    #[test]
    fn a_device_moves_so_many_data_sets_that_chains_are_not_too_many() {
        assert_eq!([1, 8, 3000, 4096, 5000].map(at_once), [4096, 512, 1, 1, 1]);
    }

    #[test]
    fn threads_are_those_asked_for_and_geweke_takes_no_gpu() {
        let all = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads(&MachineArgs::default()), all);
        assert_eq!(threads(&MachineArgs { threads: Some(all + 3), ..MachineArgs::default() }), all + 3);
        let on = |choice| only_cpu(&DeviceRequest { choice, ..DeviceRequest::default() });
        assert!(on(DeviceChoice::Cpu).is_ok() && on(DeviceChoice::Auto).is_ok());
        for device in ["cuda", "cuda:1", "cuda:0,1", "cuda:all"] {
            assert!(on(device.parse().unwrap()).is_err(), "{device}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_that_of_as_many_data_sets_as_are_under_way() {
        let density = any_data_set(&octopus_models::SchoolsSimulator::rubin()).unwrap();
        let mut cpu = octopus_runs::DeviceDecision {
            device: octopus_device::Device::Cpu,
            others: vec![],
            why: octopus_runs::DecisionReason::Short(0.5),
            since: vec![],
            notes: vec![],
            is_asked_for: false,
            falls_back: false,
        };
        let machine = CalibrationMachine { place: cpu.open().unwrap(), threads: 3 };
        let sampler = SamplerConfig { chains: 1 << 30, draws: 1 << 20, ..SamplerConfig::default() };
        let settings = CalibrationSettings { seed: 1, kept: 9, sampler };
        for (data_sets, at_work, words) in [(1, 1, "1 data set"), (2, 2, "2 data sets"), (50, 3, "3 data sets")] {
            let error = machine.check_memory(&*density, &settings, data_sets).unwrap_err();
            let RunError::MemoryTooSmall { need, .. } = error else { panic!("{error}") };
            assert_eq!(need.what, format!("--chains 1073741824 --draws 1048576: sampling {words} at once"));
            assert_eq!(need.bytes, at_work_bytes(&*density, &settings, at_work, true), "{data_sets}");
        }
        // The chains of a device are not in the host's memory, and it moves as many data sets at once as it may.
        let device = CalibrationMachine { place: Placement::Gpus(vec![], GpuConfig::default()), threads: 3 };
        let sampler = SamplerConfig { chains: 2048, draws: 1 << 40, ..settings.sampler.clone() };
        let on_device = CalibrationSettings { sampler, ..settings.clone() };
        for (data_sets, at_work) in [(1, 1), (50, 2)] {
            let error = device.check_memory(&*density, &on_device, data_sets).unwrap_err();
            let RunError::MemoryTooSmall { need, .. } = error else { panic!("{error}") };
            assert_eq!(need.bytes, at_work_bytes(&*density, &on_device, at_work, false), "{data_sets}");
            assert!(need.bytes < at_work_bytes(&*density, &on_device, at_work, true));
        }
        let small =
            CalibrationSettings { sampler: SamplerConfig { chains: 2, draws: 9, ..settings.sampler }, ..settings };
        assert!(machine.check_memory(&*density, &small, 50).is_ok());
    }
}
