//! The costs that a choice of device needs and nobody has measured yet: they are measured in the first run that needs
//! them, in at most two seconds, and kept for the next.
//!
//! What is measured: the device's start, launches and copies ([`quick_costs`]), and the leapfrog step of the
//! model itself. How long a run must be to be worth it stands here. `octopus device measure` takes longer and measures more.

use crate::step_time::{cpu_step_seconds, short_step_seconds};
use crate::{Placement, RunError, kernel_name, pool};
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use octopus_device::{
    CostsCache, CostsCacheError, CostsMiss, Device, DeviceCosts, KernelCost, LinearCost, Seconds, Work,
};
use octopus_fitness::quick_costs;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// A run that the CPU is predicted to do in less time is not worth the measurement: a GPU takes a good part of it to
/// start.
const LEAST_CPU_SECONDS: f64 = 1.0;
/// Chains that fill any device.
const MANY: usize = 4096;
/// Chains that do where blocks share a chain's observations.
const MANY_SHARED: usize = 64;
/// Chains for the software GPU, whose times say nothing.
const MANY_OF_THE_DOUBLE: usize = 4;

/// Costs that were measured in this process.
#[derive(Debug, Default)]
pub(crate) struct FirstCosts {
    /// The costs of each device that was measured, by its number.
    pub(crate) measured: BTreeMap<u32, DeviceCosts>,
    /// What the user is told.
    pub(crate) notes: Vec<String>,
    /// The seconds that the CPU is predicted to take, where that is too little to measure for.
    pub(crate) short: Option<f64>,
}

/// What is asked of the machine.
pub(crate) trait CostSource {
    /// Returns the costs of a device as they are kept.
    ///
    /// # Errors
    /// When there are none to use.
    fn kept(&self, ordinal: u32) -> Result<DeviceCosts, CostsMiss>;

    /// Measures the cost of a step of one chain on one thread of the processor.
    ///
    /// # Errors
    /// When it cannot do the work.
    fn cpu_step(&self) -> Result<LinearCost, RunError>;

    /// Measures a device that has these costs so far, beside a processor with this cost of a step.
    ///
    /// # Errors
    /// When the device fails.
    fn measure(&self, ordinal: u32, so_far: Option<DeviceCosts>, cpu: LinearCost) -> Result<DeviceCosts, RunError>;

    /// Keeps costs for later runs, and returns their file.
    ///
    /// # Errors
    /// When the file cannot be written.
    fn keep(&self, costs: &DeviceCosts) -> Result<PathBuf, CostsCacheError>;
}

impl FirstCosts {
    /// Measures those of the `devices` whose costs of this work are unknown, and keeps what was measured. Nothing is
    /// measured for work that the processor with so many threads does soon.
    ///
    /// # Errors
    /// When the processor cannot do the work. A device that fails is noted.
    pub(crate) fn learn(
        &mut self,
        work: &Work,
        devices: &[u32],
        cpu_threads: u32,
        source: &dyn CostSource,
    ) -> Result<(), RunError> {
        let has = |costs: &DeviceCosts| work.steps.iter().all(|step| costs.kernels.contains_key(&step.kernel));
        let mut missing = Vec::new();
        for &device in devices {
            match self.measured.get(&device).cloned().map_or_else(|| source.kept(device), Ok) {
                Ok(costs) if has(&costs) => {}
                Ok(costs) => missing.push((device, Some(costs))),
                // A device that does not tell who it is cannot be measured.
                Err(CostsMiss::NoDevice { .. }) => {}
                Err(_) => missing.push((device, None)),
            }
        }
        self.short = None;
        if missing.is_empty() {
            return Ok(());
        }
        let cpu = source.cpu_step()?;
        let on_cpu = work.cpu_seconds(cpu_threads, |_| Some(cpu));
        self.short = on_cpu.filter(|seconds| *seconds < LEAST_CPU_SECONDS);
        if self.short.is_some() {
            return Ok(());
        }
        for (device, costs) in missing {
            let _span = tracing::debug_span!("measure costs", device).entered();
            let clock = Instant::now();
            match source.measure(device, costs, cpu) {
                Ok(costs) => {
                    let took = Seconds(clock.elapsed().as_secs_f64());
                    self.notes.push(match source.keep(&costs) {
                        Ok(file) => format!("cuda:{device} was measured in {took}, once: kept in {}", file.display()),
                        Err(why) => format!("cuda:{device} was measured in {took}, and {why}"),
                    });
                    self.measured.insert(device, costs);
                }
                Err(why) => self.notes.push(format!("cuda:{device} cannot be measured: {why}; see `octopus verify`")),
            }
        }
        Ok(())
    }
}

/// This machine, for runs of one model.
pub(crate) struct ThisMachine<'a> {
    /// The driver's version, as NVML tells it.
    pub(crate) driver_version: Option<&'a str>,
    pub(crate) model: &'a dyn LogDensity,
}

impl CostSource for ThisMachine<'_> {
    fn kept(&self, ordinal: u32) -> Result<DeviceCosts, CostsMiss> {
        kept_costs(ordinal, self.driver_version)
    }

    fn cpu_step(&self) -> Result<LinearCost, RunError> {
        Ok(LinearCost { fixed_seconds: 0.0, unit_seconds: cpu_step_seconds(self.model)? })
    }

    fn measure(&self, ordinal: u32, so_far: Option<DeviceCosts>, cpu: LinearCost) -> Result<DeviceCosts, RunError> {
        let mut costs = match so_far {
            Some(costs) => costs,
            None => quick_costs(ordinal, self.driver_version)?,
        };
        let many = many_chains(costs.is_test_double(), self.model);
        let (place, threads) = (Placement::open(&[Device::Cuda(ordinal)])?, pool(None)?);
        let on_gpu = |chains| short_step_seconds(self.model, chains, &place, &threads);
        let (single, full) = (on_gpu(1)?, on_gpu(many)?);
        costs.record(kernel_name(self.model, Precision::F64), KernelCost { cpu, device: step_cost(single, full) });
        Ok(costs)
    }

    fn keep(&self, costs: &DeviceCosts) -> Result<PathBuf, CostsCacheError> {
        CostsCache::of_user()?.store(costs)
    }
}

/// Returns how many chains fill a GPU for the measurement.
fn many_chains(is_test_double: bool, model: &dyn LogDensity) -> usize {
    match model.kernels() {
        _ if is_test_double => MANY_OF_THE_DOUBLE,
        Some(kernels) if kernels.team_work().is_some() => MANY_SHARED,
        _ => MANY,
    }
}

/// Returns the cost of a leapfrog step from the seconds that each takes a lone chain, and each of many: what the lone one
/// waits longer is fixed.
fn step_cost(single: f64, full: f64) -> LinearCost {
    LinearCost { fixed_seconds: (single - full).max(0.0), unit_seconds: full }
}

/// Returns the costs of a device that the user's cache holds.
///
/// # Errors
/// When there are none for this device, driver and program.
pub(crate) fn kept_costs(ordinal: u32, driver_version: Option<&str>) -> Result<DeviceCosts, CostsMiss> {
    match CostsCache::of_user() {
        Ok(cache) => cache.load_for_device(ordinal, driver_version),
        Err(error) => Err(CostsMiss::Missing { path: error.to_string().into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{CostsKey, TransferCost};
    use std::cell::RefCell;

    #[test]
    fn what_a_lone_chain_waits_longer_is_fixed() {
        assert_eq!(step_cost(5.0, 2.0), LinearCost { fixed_seconds: 3.0, unit_seconds: 2.0 });
        assert_eq!(step_cost(1.0, 2.0), LinearCost { fixed_seconds: 0.0, unit_seconds: 2.0 });
    }

    #[test]
    fn a_step_on_this_processor_costs_its_time_alone() {
        let model = octopus_models::EightSchools::rubin();
        let machine = ThisMachine { driver_version: None, model: &model };
        let LinearCost { fixed_seconds, unit_seconds } = machine.cpu_step().unwrap();
        assert!(fixed_seconds == 0.0 && (1e-9..0.1).contains(&unit_seconds), "{fixed_seconds} s + {unit_seconds} s");
    }

    #[test]
    fn few_chains_are_measured_of_what_has_teams_and_of_the_double() {
        let registry = octopus_models::Registry::shipped();
        let many = |name: &str, settings: &str, is_double| {
            let problem = registry.find(name).unwrap().build(&settings.parse().unwrap(), None).unwrap();
            many_chains(is_double, problem.density())
        };
        let teams = "likelihood = \"pointwise\"\n[data.synthetic]\ngroups = 2\nper_group = 3000";
        assert_eq!(many("hierarchical-normal", teams, false), 64);
        assert_eq!(many("eight-schools", "", false), 4096);
        assert_eq!([many("hierarchical-normal", teams, true), many("eight-schools", "", true)], [4, 4]);
    }

    /// A machine with two GPUs: it tells what it was asked.
    struct Scripted {
        kept: BTreeMap<u32, DeviceCosts>,
        cpu_seconds: f64,
        measured: RefCell<Vec<(u32, bool)>>,
    }

    impl CostSource for Scripted {
        fn kept(&self, ordinal: u32) -> Result<DeviceCosts, CostsMiss> {
            match ordinal {
                7 => Err(CostsMiss::NoDevice { why: "no such device".into() }),
                _ => self.kept.get(&ordinal).cloned().ok_or(CostsMiss::Missing { path: "c.json".into() }),
            }
        }

        /// The work are 1000 units on two threads.
        fn cpu_step(&self) -> Result<LinearCost, RunError> {
            Ok(LinearCost { fixed_seconds: 0.0, unit_seconds: self.cpu_seconds * 2.0 / 1e3 })
        }

        fn measure(&self, ordinal: u32, so_far: Option<DeviceCosts>, cpu: LinearCost) -> Result<DeviceCosts, RunError> {
            assert_eq!(cpu, self.cpu_step().unwrap());
            self.measured.borrow_mut().push((ordinal, so_far.is_some()));
            match ordinal {
                1 => Err(RunError::NoDevice("it is lost".into())),
                _ => Ok(costs(&["a", "step"])),
            }
        }

        fn keep(&self, costs: &DeviceCosts) -> Result<PathBuf, CostsCacheError> {
            if self.kept.is_empty() { Err(CostsCacheError::NoFolder) } else { Ok(costs.device_name.clone().into()) }
        }
    }

    fn costs(kernels: &[&str]) -> DeviceCosts {
        let none = LinearCost { fixed_seconds: 0.0, unit_seconds: 0.0 };
        let kernel = |name: &&str| ((*name).to_owned(), KernelCost { cpu: none, device: none });
        DeviceCosts {
            key: CostsKey::new("GPU-0", "550.54.15"),
            device_name: "a-gpu.json".into(),
            measured_at: 0,
            cpu_threads: 2,
            startup_seconds: 0.1,
            launch_seconds: 0.0,
            transfer: TransferCost { upload: none, download: none },
            device_bytes_per_second: 1e12,
            kernels: kernels.iter().map(kernel).collect(),
        }
    }

    fn learnt(kept: &[(u32, &[&str])], cpu_seconds: f64, devices: &[u32]) -> (FirstCosts, Vec<(u32, bool)>) {
        let kept = kept.iter().map(|(device, kernels)| (*device, costs(kernels))).collect();
        let machine = Scripted { kept, cpu_seconds, measured: RefCell::default() };
        let mut first = FirstCosts::default();
        let work = Work::new("a run").step("step", 10, 1e3).in_parts(2);
        first.learn(&work, devices, 2, &machine).unwrap();
        let measured = machine.measured.borrow().clone();
        // What this process has measured is not measured again.
        let again = first.notes.len();
        let others: Vec<u32> = devices.iter().copied().filter(|&device| device != 1).collect();
        first.learn(&work, &others, 2, &machine).unwrap();
        assert_eq!(first.notes.len(), again);
        (first, measured)
    }

    #[test]
    fn costs_that_are_unknown_are_measured_and_kept() {
        let (first, measured) = learnt(&[(0, &["a"]), (2, &["step"])], 2.0, &[0, 2, 7]);
        assert_eq!((measured, first.short), (vec![(0, true)], None));
        assert_eq!(first.measured.keys().collect::<Vec<_>>(), [&0]);
        let [note] = &first.notes[..] else { panic!("{:?}", first.notes) };
        assert!(note.starts_with("cuda:0 was measured in ") && note.ends_with(", once: kept in a-gpu.json"), "{note}");
    }

    #[test]
    fn costs_that_cannot_be_kept_serve_this_run() {
        let (first, measured) = learnt(&[], 2.0, &[0]);
        assert_eq!((measured, first.measured.len()), (vec![(0, false)], 1));
        assert!(first.notes[0].ends_with("there is no cache folder: set XDG_CACHE_HOME to a folder, or HOME"));
    }

    #[test]
    fn a_device_that_fails_is_noted() {
        let (first, measured) = learnt(&[], 9.0, &[1]);
        assert_eq!((measured, first.measured.len()), (vec![(1, false)], 0));
        assert!(first.notes[0].starts_with("cuda:1 cannot be measured: ") && first.notes[0].contains("it is lost"));
    }

    /// The limit is a second.
    #[test]
    fn nothing_is_measured_for_a_short_run() {
        for (seconds, short) in [(0.99, Some(0.99)), (1.0, None)] {
            let (first, measured) = learnt(&[], seconds, &[0]);
            assert_eq!((first.short, measured.is_empty()), (short, short.is_some()), "{seconds} s");
        }
        // Where all is known, the time of the processor is not asked for.
        assert_eq!(learnt(&[(0, &["step"])], 0.5, &[0]).0.short, None);
    }
}
