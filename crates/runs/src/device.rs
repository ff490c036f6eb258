//! The choice of the device that samples, with its reason, and when the CPU takes the place of a GPU (fallback).

use crate::first_costs::{FirstCosts, ThisMachine, kept_costs};
use crate::{Placement, RunCost, RunError};
use octopus_density::LogDensity;
use octopus_density::gpu::Precision;
use octopus_device::{
    Accelerators, CostsMiss, Device, DeviceChoice, DeviceCosts, DeviceMemory, DeviceReason, DeviceRequest, Overall,
    Probe, Seconds, Selection, SystemProvider, VerifyReport, device_names, resolve,
};
use std::fmt;

/// Why a run is on its device. Its text is a clause.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionReason {
    /// As the devices of the machine, their checks and their costs say.
    Machine(DeviceReason),
    /// The CPU is predicted to take so few seconds that no GPU is started.
    Short(f64),
    /// Only GPUs compute in this precision.
    OnlyGpus(Precision),
    /// No GPU can do the run: no kernel takes it, its memory is too small, or it cannot be opened.
    NotOnGpu(String),
}

impl fmt::Display for DecisionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(why) => write!(f, "{why}"),
            Self::Short(seconds) => {
                write!(f, "predicted to take {} there, too little to start a GPU for", Seconds(*seconds))
            }
            Self::OnlyGpus(precision) => write!(f, "only GPUs compute in {precision}"),
            Self::NotOnGpu(why) => f.write_str(why),
        }
    }
}

/// The decision on the device that samples.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceDecision {
    /// The device; of several devices, the first.
    pub device: Device,
    /// The further devices, if several were asked for.
    pub others: Vec<Device>,
    /// Why these devices.
    pub why: DecisionReason,
    /// What has happened to the devices since the choice: clauses that follow the reason in records.
    pub since: Vec<String>,
    /// What the user should know besides: what was measured, what could not be used, what to do about it.
    pub notes: Vec<String>,
    /// Whether the user named the device.
    pub is_asked_for: bool,
    /// Whether the CPU goes on with the work when the last GPU fails: it can, and the user did not forbid it.
    pub falls_back: bool,
}

impl DeviceDecision {
    /// Returns the name of the devices in records: `cpu`, `cuda:0`, `cuda:0,1`.
    pub fn name(&self) -> String {
        device_names(&self.devices())
    }

    /// Returns the reason for records, in one line: why these devices, and what became of them since.
    pub fn reason(&self) -> String {
        let Self { why, since, .. } = self;
        format!("{why}{}", since.concat())
    }

    /// Returns the lines for the user. A device that the user named, and that is there and sound, needs no line.
    pub fn lines(&self) -> Vec<String> {
        let chosen = (!self.is_asked_for).then(|| format!("device: {} ({})", self.name(), self.why));
        chosen.into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// Returns the CPU instead, where there is a reason against the GPU and the CPU can do the run.
    fn or_cpu(self, against: Option<String>) -> Self {
        match against {
            Some(reason) if self.falls_back => {
                let why = DecisionReason::NotOnGpu(reason);
                Self { device: Device::Cpu, others: vec![], why, notes: vec![], ..self }
            }
            _ => self,
        }
    }

    /// Returns for each GPU of the decision on which not even one chain fits the memory that is free why, as a clause.
    pub fn out_of_memory(&self, cost: &RunCost) -> Vec<String> {
        let of = |device: Device| if let Device::Cuda(ordinal) = device { out_of_memory(ordinal, cost) } else { None };
        self.devices().into_iter().filter_map(of).collect()
    }

    fn devices(&self) -> Vec<Device> {
        std::iter::once(self.device).chain(self.others.iter().copied()).collect()
    }

    /// Makes the devices ready. The CPU takes the place of a GPU that cannot be opened, where the user has not named
    /// the GPU; the decision is changed then.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when a device cannot be opened.
    pub fn open(&mut self) -> Result<Placement, RunError> {
        match Placement::open(&self.devices()) {
            Ok(place) if self.falls_back => Ok(place.with_cpu_fallback()),
            Err(RunError::NoDevice(why)) if self.falls_back && !self.is_asked_for => {
                *self = self.clone().or_cpu(Some(why));
                Ok(Placement::Cpu)
            }
            other => other,
        }
    }
}

/// The devices among which a choice is made.
pub struct DeviceInventory {
    asked: DeviceRequest,
    pub(crate) accelerators: Accelerators,
    driver_version: Option<String>,
    first: FirstCosts,
}

impl DeviceInventory {
    /// Looks for devices, as far as they matter for the device that is asked for.
    pub fn look(asked: DeviceRequest) -> Self {
        let _span = tracing::debug_span!("look for devices").entered();
        // Asking a driver takes time and starts the device, so it is asked only where the answer matters.
        let probe = (asked.choice != DeviceChoice::Cpu).then(|| Probe::new(&SystemProvider::new()));
        let accelerators = probe.as_ref().map_or(Accelerators { devices: 0, unusable: None }, Accelerators::of);
        let driver_version = probe.and_then(|probe| probe.nvml.ok()?.driver_version);
        Self { asked, accelerators, driver_version, first: FirstCosts::default() }
    }

    /// Returns the measured costs of a device.
    ///
    /// # Errors
    /// When the costs have not been measured with this driver, or their file is damaged.
    pub fn device_costs(&self, ordinal: u32) -> Result<DeviceCosts, CostsMiss> {
        match self.first.measured.get(&ordinal) {
            Some(measured) => Ok(measured.clone()),
            None => kept_costs(ordinal, self.driver_version.as_deref()),
        }
    }

    /// The numbers of the GPUs that no check speaks against.
    pub(crate) fn usable(&self) -> Vec<u32> {
        let Accelerators { devices, unusable } = &self.accelerators;
        (0..if unusable.is_none() { *devices } else { 0 }).collect()
    }

    /// Measures the costs of a run of `model` on all GPUs that may do it, where they are unknown, in at most two seconds
    /// each, once.
    fn learn(&mut self, model: &dyn LogDensity, cost: &RunCost) -> Result<(), RunError> {
        let usable = self.usable();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let Self { driver_version, first, .. } = self;
        let machine = ThisMachine { driver_version: driver_version.as_deref(), model };
        first.learn(&cost.work, &usable, u32::try_from(threads).unwrap_or(u32::MAX), &machine)
    }

    /// Returns whether both sides can do the run, and costs decide between them.
    fn decides_on(&self, cost: &RunCost) -> bool {
        self.asked.choice == DeviceChoice::Auto && cost.precision == Precision::F64 && cost.no_gpu.is_none()
    }

    /// Chooses the device for a run of `model` (for many data sets, that of the largest). Where costs decide that nobody
    /// has measured yet, they are measured first, in at most two seconds for each GPU, once; without a model they are not.
    ///
    /// # Errors
    /// [`RunError::NoDevice`] when a GPU is asked for and cannot be used, or with `no_fallback` when a GPU is there and
    /// fails its checks; [`RunError::CannotRun`] when the device cannot do the run.
    pub fn choose(
        &mut self,
        model: Option<&dyn LogDensity>,
        cost: &RunCost,
        no_fallback: bool,
    ) -> Result<DeviceDecision, RunError> {
        if let Some(model) = model.filter(|_| self.decides_on(cost)) {
            self.learn(model, cost)?;
        }
        let Self { asked: DeviceRequest { choice, note, .. }, accelerators, first, .. } = &*self;
        let known = Known { costs: &mut |ordinal| self.device_costs(ordinal), short: first.short };
        let mut sampling = decide(*choice, accelerators, cost, no_fallback, known).map_err(RunError::NoDevice)?;
        if !sampling.is_asked_for
            && let Device::Cuda(ordinal) = sampling.device
        {
            sampling = sampling.or_cpu(out_of_memory(ordinal, cost));
        }
        cost.fits(sampling.device)?;
        sampling.notes.splice(0..0, note.iter().chain(&first.notes).cloned());
        tracing::info!(device = %sampling.name(), "the device is chosen: {}", sampling.why);
        Ok(sampling)
    }
}

/// What is known of the devices when one is chosen.
struct Known<'a> {
    /// The measured costs of a device.
    costs: &'a mut dyn FnMut(u32) -> Result<DeviceCosts, CostsMiss>,
    /// The seconds that the CPU is predicted to take, where that is too little to measure a GPU for.
    short: Option<f64>,
}

/// Returns the reason why a run does not fit the free memory of a GPU, as a clause; `None` where it does or where the
/// GPU does not tell, as the run itself will show.
fn out_of_memory(ordinal: u32, cost: &RunCost) -> Option<String> {
    let memory = Device::Cuda(ordinal).context().ok()??.memory_info().ok()?;
    too_little_memory(ordinal, cost, DeviceMemory { free: memory.free, total: memory.total })
}

/// Returns the reason why a run does not fit a GPU with this memory, as a clause; `None` where it does.
fn too_little_memory(ordinal: u32, cost: &RunCost, memory: DeviceMemory) -> Option<String> {
    let plan = cost.memory_plan(memory)?;
    (plan.chains_at_once == 0).then(|| {
        let (needed, usable) = (plan.total_bytes.div_ceil(1 << 20), plan.memory.usable() >> 20);
        format!("not even one chain at a time fits cuda:{ordinal}, which needs {needed} MiB and has {usable} MiB")
    })
}

/// Decides on the device, or returns the reason why the device that is asked for cannot sample.
fn decide(
    choice: DeviceChoice,
    accelerators: &Accelerators,
    cost: &RunCost,
    no_fallback: bool,
    known: Known<'_>,
) -> Result<DeviceDecision, String> {
    if let (DeviceChoice::Auto, true, 1.., Some(unusable)) =
        (choice, no_fallback, accelerators.devices, &accelerators.unusable)
    {
        return Err(format!("--no-fallback: a GPU is there and cannot be used: {unusable}; or use --device cpu"));
    }
    let falls_back = !no_fallback && cost.precision == Precision::F64;
    if let (DeviceChoice::Auto, 1.., None) = (choice, accelerators.devices, &accelerators.unusable) {
        // Where only the CPU or only a GPU can do the run, costs do not matter.
        let only = match (&cost.no_gpu, cost.precision, known.short) {
            (Some(why), _, _) => Some((Device::Cpu, DecisionReason::NotOnGpu(why.clone()))),
            (None, Precision::F64, Some(seconds)) => Some((Device::Cpu, DecisionReason::Short(seconds))),
            (None, Precision::F64, None) => None,
            (None, precision, _) => Some((Device::Cuda(0), DecisionReason::OnlyGpus(precision))),
        };
        if let Some((device, why)) = only {
            let (others, since, notes) = (vec![], vec![], vec![]);
            return Ok(DeviceDecision { device, others, why, since, notes, is_asked_for: false, falls_back });
        }
    }
    let selection = resolve(choice, accelerators, &cost.work, known.costs).map_err(|error| match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => error.to_string(),
        DeviceChoice::Cuda(_) | DeviceChoice::Several(_) | DeviceChoice::All => {
            format!("{error}, and see `octopus verify`")
        }
    })?;
    let Selection { device, others, why, notes } = selection;
    let (why, is_asked_for) = (DecisionReason::Machine(why), choice != DeviceChoice::Auto);
    Ok(DeviceDecision { device, others, why, since: vec![], notes, is_asked_for, falls_back })
}

/// Returns the reason why no GPU samples on this machine, as a clause.
pub fn no_gpu(report: &VerifyReport) -> String {
    match report.overall {
        Overall::Absent => report.summary.split(';').next().unwrap_or_default().to_owned(),
        Overall::Broken | Overall::Fit => report.summary.clone(),
    }
}

/// Functions that read and write a [`DeviceChoice`] as text in files of settings, for `#[serde(with = ...)]`.
pub mod choice_text {
    use octopus_device::DeviceChoice;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes a choice.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(choice: &DeviceChoice, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(choice)
    }

    /// Reads a choice.
    ///
    /// # Errors
    /// When the text names no device.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<DeviceChoice, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_device::{MemoryAttempt, NoProvider, PlanPart, ScriptedProvider, Source, Work, verify};

    /// A driver that nobody asks for stays asleep.
    #[test]
    fn for_the_cpu_no_device_is_looked_for() {
        let asked = DeviceRequest { choice: DeviceChoice::Cpu, source: Source::Flag, note: None };
        let inventory = DeviceInventory::look(asked);
        assert_eq!((inventory.accelerators.devices, inventory.usable()), (0, vec![]));
    }

    fn inventory(choice: &str, accelerators: Accelerators, first: FirstCosts) -> DeviceInventory {
        let asked =
            DeviceRequest { choice: choice.parse().unwrap(), source: Source::Flag, note: Some("a note".into()) };
        DeviceInventory { asked, accelerators, driver_version: None, first }
    }

    #[test]
    fn what_is_known_and_forbidden_reaches_the_decision() {
        let choose = |choice, accelerators, short, no_fallback| {
            let first = FirstCosts { short, notes: vec!["it was measured".into()], ..FirstCosts::default() };
            inventory(choice, accelerators, first).choose(None, &cost(), no_fallback)
        };
        let error = choose("auto", broken(), None, true).unwrap_err().to_string();
        assert!(error.starts_with("--no-fallback: "), "{error}");
        let broken_one = choose("auto", broken(), None, false).unwrap();
        assert_eq!((broken_one.device, broken_one.falls_back), (Device::Cpu, true));
        let short = choose("auto", present(), Some(0.5), false).unwrap();
        assert!(short.falls_back && short.why == DecisionReason::Short(0.5), "{}", short.why);
        // What the user is told first was there first.
        assert_eq!(short.notes, ["a note", "it was measured"]);
        let notes = choose("cuda", broken(), None, false).unwrap().notes;
        assert_eq!((&notes[..2], notes.len()), (&["a note".to_owned(), "it was measured".to_owned()][..], 3));
        assert!(notes[2].contains("prohibited"), "{notes:?}");
    }

    /// 256 MiB are left alone.
    #[test]
    fn a_chain_that_does_not_fit_is_told_with_what_it_needs_and_what_there_is() {
        let parts = vec![PlanPart { name: "chains".into(), bytes: (3 << 20) + 1 }];
        let cost = RunCost { attempts: vec![MemoryAttempt { chains_at_once: 1, parts }], ..cost() };
        let told = |usable: u64| {
            let memory = DeviceMemory { free: (256 << 20) + usable, total: 1 << 30 };
            too_little_memory(2, &cost, memory)
        };
        assert_eq!(told((3 << 20) + 1), None);
        let little = "not even one chain at a time fits cuda:2, which needs 4 MiB and has 3 MiB";
        assert_eq!(told(3 << 20).as_deref(), Some(little));
        assert!(told((3 << 20) - 1).unwrap().ends_with("needs 4 MiB and has 2 MiB"));
    }

    fn absent() -> Accelerators {
        Accelerators::of(&Probe::new(&NoProvider))
    }

    fn present() -> Accelerators {
        Accelerators::of(&Probe::new(&ScriptedProvider::healthy()))
    }

    fn broken() -> Accelerators {
        let mut machine = ScriptedProvider::healthy();
        machine.nvml.as_mut().unwrap().devices[0].compute_mode = Some(octopus_device::ComputeMode::Prohibited);
        Accelerators::of(&Probe::new(&machine))
    }

    fn decided(choice: &str, accelerators: &Accelerators, no_fallback: bool) -> Result<DeviceDecision, String> {
        let mut none = |_| Err(CostsMiss::Missing { path: "c.json".into() });
        decide(choice.parse().unwrap(), accelerators, &cost(), no_fallback, Known { costs: &mut none, short: None })
    }

    #[test]
    fn the_cpu_takes_over_only_where_it_may() {
        let on_gpus = |falls_back| DeviceDecision {
            device: Device::Cuda(0),
            others: vec![Device::Cuda(1)],
            notes: vec!["two GPUs".to_owned()],
            falls_back,
            ..decided("cpu", &absent(), false).unwrap()
        };
        let taken = on_gpus(true).or_cpu(Some("no memory".to_owned()));
        assert_eq!((taken.name().as_str(), taken.reason().as_str(), taken.notes.len()), ("cpu", "no memory", 0));
        for kept in [on_gpus(false).or_cpu(Some("no memory".to_owned())), on_gpus(true).or_cpu(None)] {
            assert_eq!((kept.name().as_str(), kept.notes.len()), ("cuda:0,1", 1));
        }
    }

    fn cost() -> RunCost {
        RunCost {
            work: Work::new("a run"),
            no_gpu: None,
            precision: Precision::F64,
            attempts: vec![],
            host_bytes: 0,
            chains: 1,
        }
    }

    #[test]
    fn every_device_is_usable_unless_a_check_speaks_against_them() {
        let usable = |accelerators| {
            let asked = DeviceRequest { choice: DeviceChoice::Auto, source: Source::Default, note: None };
            let first = FirstCosts::default();
            DeviceInventory { asked, accelerators, driver_version: None, first }.usable()
        };
        assert_eq!(usable(Accelerators { devices: 3, ..present() }), [0, 1, 2]);
        assert!(usable(Accelerators { devices: 3, ..broken() }).is_empty());
    }

    #[test]
    fn auto_takes_the_only_device_that_can_do_the_run() {
        let mut none = |_| Err(CostsMiss::Missing { path: "c.json".into() });
        let mut of = |run, short| {
            let known = Known { costs: &mut none, short };
            decide(DeviceChoice::Auto, &present(), &run, false, known).unwrap()
        };
        let single = of(RunCost { precision: Precision::F32, ..cost() }, Some(0.5));
        assert_eq!((single.name().as_str(), single.reason().as_str()), ("cuda:0", "only GPUs compute in f32"));
        assert!(!single.falls_back, "the CPU has no such numbers");
        let large = of(RunCost { no_gpu: Some("too large".into()), ..cost() }, None);
        assert_eq!((large.name().as_str(), large.reason().as_str()), ("cpu", "too large"));
        assert_eq!(large.lines(), ["device: cpu (too large)"]);
        let short = of(cost(), Some(0.5));
        assert_eq!(short.lines(), ["device: cpu (predicted to take 500 ms there, too little to start a GPU for)"]);
        assert!(short.falls_back);
    }

    #[test]
    fn auto_is_the_cpu_where_no_gpu_was_measured_and_says_why() {
        for (accelerators, words) in [
            (absent(), "no NVIDIA device"),
            (present(), "no GPU's costs were measured on this machine"),
            (broken(), "a check of the GPU failed: "),
        ] {
            let sampling = decided("auto", &accelerators, false).unwrap();
            assert_eq!(sampling.name(), "cpu");
            assert!(sampling.reason().contains(words), "{sampling:?}");
            assert_eq!(sampling.lines()[0], format!("device: cpu ({})", sampling.reason()));
        }
        let asked = decided("cpu", &present(), true).unwrap();
        assert_eq!((asked.reason().as_str(), asked.lines().len()), ("asked for", 0));
    }

    #[test]
    fn cuda_is_taken_or_refused_with_what_to_do() {
        let asked = decided("cuda", &present(), false).unwrap();
        assert_eq!((asked.name().as_str(), asked.reason().as_str(), asked.lines().len()), ("cuda:0", "asked for", 0));
        assert!(asked.falls_back && !decided("cuda", &present(), true).unwrap().falls_back);
        let message = decided("cuda", &absent(), false).unwrap_err();
        assert!(message.contains("no NVIDIA device") && message.contains("octopus verify"), "{message}");
        assert!(decided("cuda:3", &present(), false).unwrap_err().contains("the last is cuda:0"));
        let two = decided("cuda:0,1", &Accelerators { devices: 2, ..present() }, false).unwrap();
        assert_eq!(
            (two.name().as_str(), two.others.clone(), two.reason().as_str()),
            ("cuda:0,1", vec![Device::Cuda(1)], "asked for")
        );
        // A GPU that fails its checks is used all the same where it is asked for: the user may know why.
        let notes = decided("cuda", &broken(), false).unwrap().notes;
        assert!(notes[0].contains("prohibited"), "{notes:?}");
    }

    #[test]
    fn without_fall_back_a_broken_gpu_is_the_end_and_an_absent_one_is_not() {
        let message = decided("auto", &broken(), true).unwrap_err();
        assert!(message.starts_with("--no-fallback: ") && message.contains("prohibited"), "{message}");
        assert!(decided("auto", &absent(), true).is_ok());
        assert!(decided("auto", &present(), true).is_ok());
    }

    #[test]
    fn an_absent_device_has_its_reason() {
        assert!(no_gpu(&verify(&NoProvider)).contains("no NVIDIA GPU"));
    }
}
