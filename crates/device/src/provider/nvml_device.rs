//! One device, asked through NVML: clocks, throttle reasons, memory, ECC, processes.

use crate::architecture::multiprocessors;
use crate::environment::Root;
use crate::{ComputeMode, DeviceInfo, DeviceProcess, ProcessKind, Throttle, Version};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    Clock, ComputeMode as NvmlComputeMode, EccCounter, MemoryError, PerformanceState, TemperatureSensor,
};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use nvml_wrapper::{Device, Nvml};

/// Why the clocks are held down, NVML's words and ours.
const THROTTLES: [(ThrottleReasons, Throttle); 9] = [
    (ThrottleReasons::GPU_IDLE, Throttle::Idle),
    (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, Throttle::ApplicationClocks),
    (ThrottleReasons::SW_POWER_CAP, Throttle::PowerCap),
    (ThrottleReasons::SYNC_BOOST, Throttle::SyncBoost),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, Throttle::SoftwareThermal),
    (ThrottleReasons::HW_SLOWDOWN, Throttle::HardwareSlowdown),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, Throttle::HardwareThermal),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, Throttle::PowerBrake),
    (ThrottleReasons::DISPLAY_CLOCK_SETTING, Throttle::DisplayClocks),
];

/// The file system root in which processes are named; `None` in a container, whose own processes have other numbers
/// than NVML's.
pub(super) type Names<'a> = Option<Root<'a>>;

pub(super) fn device_info(nvml: &Nvml, index: u32, names: Names<'_>) -> DeviceInfo {
    match nvml.device_by_index(index) {
        Ok(device) => describe(&device, index, names),
        Err(error) => DeviceInfo { index, problem: Some(error.to_string()), ..DeviceInfo::default() },
    }
}

/// Every question is asked on its own: what a device does not support is `None` and spoils nothing else.
fn describe(device: &Device<'_>, index: u32, names: Names<'_>) -> DeviceInfo {
    let memory = device.memory_info();
    let watts = |milliwatts: u32| f64::from(milliwatts) / 1000.0;
    let compute_capability = device
        .cuda_compute_capability()
        .ok()
        .and_then(|cc| Some(Version { major: u32::try_from(cc.major).ok()?, minor: u32::try_from(cc.minor).ok()? }));
    let cuda_cores = device.num_cores().ok();
    let ecc = device.is_ecc_enabled().ok().map(|ecc| ecc.currently_enabled);
    DeviceInfo {
        index,
        name: device.name().ok(),
        uuid: device.uuid().ok(),
        memory_total: memory.as_ref().ok().map(|memory| memory.total),
        memory_free: memory.as_ref().ok().map(|memory| memory.free),
        compute_capability,
        pci_slot: device.pci_info().ok().map(|pci| pci.bus_id),
        cuda_cores,
        sm_count: compute_capability.zip(cuda_cores).and_then(|(cc, cores)| multiprocessors(cc, cores)),
        sm_clock_mhz: device.clock_info(Clock::SM).ok(),
        sm_clock_max_mhz: device.max_clock_info(Clock::SM).ok(),
        memory_clock_mhz: device.clock_info(Clock::Memory).ok(),
        memory_clock_max_mhz: device.max_clock_info(Clock::Memory).ok(),
        performance_state: device.performance_state().ok().and_then(performance_state),
        throttle: device.current_throttle_reasons().ok().map(throttle),
        utilization_percent: device.utilization_rates().ok().map(|rates| rates.gpu),
        power_watts: device.power_usage().ok().map(watts),
        power_limit_watts: device.enforced_power_limit().ok().map(watts),
        temperature_celsius: device.temperature(TemperatureSensor::Gpu).ok(),
        ecc,
        ecc_uncorrected: device.total_ecc_errors(MemoryError::Uncorrected, EccCounter::Volatile).ok(),
        pages_pending: device.are_pages_pending_retired().ok(),
        mig: device.mig_mode().ok().map(|mig| mig.current == 1),
        compute_mode: device.compute_mode().ok().map(|mode| match mode {
            NvmlComputeMode::Default => ComputeMode::Default,
            NvmlComputeMode::ExclusiveThread | NvmlComputeMode::ExclusiveProcess => ComputeMode::Exclusive,
            NvmlComputeMode::Prohibited => ComputeMode::Prohibited,
        }),
        persistence: device.is_in_persistent_mode().ok(),
        processes: processes(device, names),
        // A lost device still has a handle; memory is what every healthy one tells.
        problem: match memory {
            Err(
                error @ (NvmlError::GpuLost
                | NvmlError::IrqIssue
                | NvmlError::Unknown
                | NvmlError::ResetRequired
                | NvmlError::InsufficientPower),
            ) => Some(error.to_string()),
            _ => None,
        },
    }
}

fn performance_state(state: PerformanceState) -> Option<u8> {
    use PerformanceState as P;
    let order = [
        P::Zero,
        P::One,
        P::Two,
        P::Three,
        P::Four,
        P::Five,
        P::Six,
        P::Seven,
        P::Eight,
        P::Nine,
        P::Ten,
        P::Eleven,
        P::Twelve,
        P::Thirteen,
        P::Fourteen,
        P::Fifteen,
    ];
    order.iter().position(|&other| other == state).and_then(|number| u8::try_from(number).ok())
}

fn throttle(reasons: ThrottleReasons) -> Vec<Throttle> {
    THROTTLES.iter().filter(|(flag, _)| reasons.contains(*flag)).map(|(_, reason)| *reason).collect()
}

/// Asks for the other processes; `None` when neither list is told.
fn processes(device: &Device<'_>, names: Names<'_>) -> Option<Vec<DeviceProcess>> {
    let compute = device.running_compute_processes();
    let graphics = device.running_graphics_processes();
    if compute.is_err() && graphics.is_err() {
        return None;
    }
    Some(all_but(std::process::id(), compute.unwrap_or_default(), graphics.unwrap_or_default(), names))
}

/// Lists all processes but `own`. A process that computes and draws is listed once, as computing.
fn all_but(own: u32, compute: Vec<ProcessInfo>, graphics: Vec<ProcessInfo>, names: Names<'_>) -> Vec<DeviceProcess> {
    let of = |kind, list: Vec<ProcessInfo>| list.into_iter().zip([kind].into_iter().cycle());
    let mut processes: Vec<DeviceProcess> = Vec::new();
    for (info, kind) in of(ProcessKind::Compute, compute).chain(of(ProcessKind::Graphics, graphics)) {
        let known = processes.iter().any(|process| process.pid == info.pid);
        if known || info.pid == own {
            continue;
        }
        processes.push(DeviceProcess {
            pid: info.pid,
            name: names.and_then(|root| root.line(format!("/proc/{}/comm", info.pid))),
            memory: match info.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes),
                UsedGpuMemory::Unavailable => None,
            },
            kind,
        });
    }
    processes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_other_process_is_listed_once() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/7")).unwrap();
        std::fs::write(root.path().join("proc/7/comm"), "python3\n").unwrap();
        let told = |pid, used_gpu_memory| ProcessInfo {
            pid,
            used_gpu_memory,
            gpu_instance_id: None,
            compute_instance_id: None,
        };
        let (some, none) = (UsedGpuMemory::Used(3), UsedGpuMemory::Unavailable);
        let compute = vec![told(7, some.clone()), told(99, some.clone())];
        let graphics = vec![told(99, some.clone()), told(7, none.clone()), told(8, none)];
        let listed = all_but(99, compute, graphics, Some(Root(root.path())));
        let seven = DeviceProcess { pid: 7, name: Some("python3".into()), memory: Some(3), kind: ProcessKind::Compute };
        assert_eq!(listed, [seven, DeviceProcess { pid: 8, name: None, memory: None, kind: ProcessKind::Graphics }]);
    }

    #[test]
    fn states_and_reasons_keep_their_meaning() {
        assert_eq!(performance_state(PerformanceState::Zero), Some(0));
        assert_eq!(performance_state(PerformanceState::Eight), Some(8));
        assert_eq!(performance_state(PerformanceState::Fifteen), Some(15));
        assert_eq!(performance_state(PerformanceState::Unknown), None);
        assert_eq!(throttle(ThrottleReasons::NONE), []);
        assert_eq!(
            throttle(ThrottleReasons::HW_THERMAL_SLOWDOWN | ThrottleReasons::SW_POWER_CAP),
            [Throttle::PowerCap, Throttle::HardwareThermal]
        );
        assert!(THROTTLES.iter().fold(ThrottleReasons::empty(), |all, (flag, _)| all | *flag).is_all());
    }
}
