//! From a choice to a device: on machines as scripted, and on the software GPU.

mod software_gpu;

use octopus_device::{
    Accelerators, CostsMiss, Device, DeviceChoice, DeviceReason, NoProvider, Probe, ScriptedProvider, SystemProvider,
    Work, resolve,
};

fn missing(_: u32) -> Result<octopus_device::DeviceCosts, CostsMiss> {
    Err(CostsMiss::Missing { path: "costs.json".into() })
}

fn choice(text: &str) -> DeviceChoice {
    text.parse().unwrap()
}

#[cfg(feature = "cuda")]
#[test]
fn a_machine_without_anything_has_the_cpu() {
    let accelerators = Accelerators::of(&Probe::new(&NoProvider));
    let selection = resolve(choice("auto"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(selection.device, Device::Cpu);
    let why = selection.why.to_string();
    assert!(why.contains("no NVIDIA device on this machine"), "{why}");
    let error = resolve(choice("cuda"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no NVIDIA device on this machine") && text.contains("docs/setup.md"), "{text}");
    assert_eq!(error.exit_code(), 4);
}

#[test]
fn the_cpu_is_had_when_asked_for_whatever_the_machine() {
    for accelerators in
        [Accelerators::of(&Probe::new(&ScriptedProvider::healthy())), Accelerators::of(&Probe::new(&NoProvider))]
    {
        let selection = resolve(choice("cpu"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
        assert_eq!((selection.device, selection.why), (Device::Cpu, DeviceReason::AskedFor));
    }
}

#[cfg(feature = "cuda")]
#[test]
fn a_healthy_machine_has_its_device_and_no_other() {
    let accelerators = Accelerators::of(&Probe::new(&ScriptedProvider::healthy()));
    assert_eq!(accelerators, Accelerators { devices: 1, unusable: None });
    let first = resolve(choice("cuda"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!((first.device, first.notes.len()), (Device::Cuda(0), 0));
    let error = resolve(choice("cuda:7"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err().to_string();
    assert!(error.contains("cuda:7") && error.contains("1 CUDA device,"), "{error}");
}

#[cfg(feature = "cuda")]
#[test]
fn an_old_driver_is_used_only_when_asked_for() {
    let mut provider = ScriptedProvider::healthy();
    let old = octopus_device::Version { major: 12, minor: 2 };
    provider.driver.as_mut().unwrap().cuda_version = Some(old);
    provider.nvml.as_mut().unwrap().cuda_version = Some(old);
    let accelerators = Accelerators::of(&Probe::new(&provider));
    let automatic = resolve(choice("auto"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(automatic.device, Device::Cpu);
    assert!(automatic.why.to_string().contains("12.2"), "{}", automatic.why);
    let asked = resolve(choice("cuda:0"), &accelerators, &Work::new("a run"), &mut missing).unwrap();
    assert_eq!(asked.device, Device::Cuda(0));
    assert!(asked.notes[0].contains("12.2"), "{:?}", asked.notes);
}

#[test]
fn hidden_devices_are_not_there() {
    software_gpu::run("hidden_devices_are_not_there", "devices=2;fail=cuInit:100", || {
        let accelerators = Accelerators::of(&Probe::new(&SystemProvider::new()));
        assert_eq!(accelerators.devices, 0);
        let error = resolve(choice("cuda:1"), &accelerators, &Work::new("a run"), &mut missing).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("--device cuda:1: no CUDA device can be used: "), "{text}");
        assert!(text.contains("100"), "{text}");
    });
}
