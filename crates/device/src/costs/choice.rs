//! The choice between CPU and GPU by predicted time: whichever would be done first.

use super::{DeviceCosts, DeviceReason, LinearCost, Work, WorkStep};
use crate::Device;
use std::fmt;

/// Predicted times of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The time on the processor, with as many threads as the work has parts for.
    pub cpu_seconds: f64,
    /// The time on the device, copies and start-up included.
    pub device_seconds: f64,
}

/// A device with what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The one that would be done first; the processor where nothing is known.
    pub device: Device,
    /// The predicted times; `None` where a kernel of the work was never measured.
    pub predicted: Option<Prediction>,
    /// Why.
    pub why: DeviceReason,
}

/// Compares the predicted times of `work` on the processor and on the CUDA device `ordinal`; see [`Work::predict`]. Equal
/// times go to the processor.
#[must_use]
pub fn choose(work: &Work, device_costs: &DeviceCosts, ordinal: u32) -> Choice {
    let Some(prediction) = work.predict(device_costs) else {
        let unknown = work.steps.iter().find(|step| !device_costs.kernels.contains_key(&step.kernel));
        let why = DeviceReason::UnknownKernel(unknown.map_or("it", |step| &step.kernel).to_owned());
        return Choice { device: Device::Cpu, predicted: None, why };
    };
    let device = if prediction.device_seconds < prediction.cpu_seconds { Device::Cuda(ordinal) } else { Device::Cpu };
    let why = DeviceReason::Faster { predicted: prediction, ordinal };
    Choice { device, predicted: Some(prediction), why }
}

impl Work {
    /// Returns the times of the work by measured costs; `None` where a kernel of it was never measured.
    ///
    /// The device adds its start-up (unless the process has used it before) and all copies.
    #[must_use]
    pub fn predict(&self, device_costs: &DeviceCosts) -> Option<Prediction> {
        let cost = |kernel: &str| device_costs.kernels.get(kernel);
        let cpu_seconds = self.cpu_seconds(device_costs.cpu_threads, |kernel| Some(cost(kernel)?.cpu))?;
        let copies = |cost: &LinearCost, (count, bytes): (u64, u64)| cost.seconds(count as f64, bytes as f64);
        let mut device_seconds = copies(&device_costs.transfer.upload, self.uploads);
        device_seconds += copies(&device_costs.transfer.download, self.downloads);
        for step in &self.steps {
            device_seconds += cost(&step.kernel)?.device.seconds(step.launches as f64, step.units);
        }
        if !self.device_started {
            device_seconds += device_costs.startup_seconds;
        }
        Some(Prediction { cpu_seconds, device_seconds })
    }

    /// Returns the time on `threads` threads of the processor, where one thread has these costs; `None` where a cost is
    /// unknown.
    ///
    /// The parts of a step share the threads evenly: parts that do not divide by the threads leave some idle, so the time
    /// is that of the thread with the most parts.
    pub fn cpu_seconds(&self, threads: u32, cost: impl Fn(&str) -> Option<LinearCost>) -> Option<f64> {
        let seconds = |step: &WorkStep| {
            let all = cost(&step.kernel)?.seconds(step.launches as f64, step.units);
            Some(all * share(step.cpu_parts, threads))
        };
        self.steps.iter().map(seconds).sum()
    }
}

/// Returns the share of all parts that the busiest thread does.
fn share(parts: u32, threads: u32) -> f64 {
    let parts = parts.max(1);
    f64::from(parts.div_ceil(threads.clamp(1, parts))) / f64::from(parts)
}

/// Seconds in the unit that fits, to two or three digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seconds(pub f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            seconds if seconds >= 1.0 => (seconds, "s"),
            seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
            seconds => (seconds * 1e6, "us"),
        };
        let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
        write!(f, "{value:.decimals$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::{CostsKey, KernelCost, TransferCost};

    /// Returns a device 100 times faster per unit, with 10 us a launch, 12 GB/s both ways and 0.25 s to start.
    fn device_costs() -> DeviceCosts {
        let copy = LinearCost { fixed_seconds: 10e-6, unit_seconds: 1.0 / 12e9 };
        let cost = KernelCost {
            cpu: LinearCost { fixed_seconds: 0.0, unit_seconds: 1e-9 },
            device: LinearCost { fixed_seconds: 10e-6, unit_seconds: 1e-11 },
        };
        DeviceCosts {
            key: CostsKey::new("GPU-0", "550.54.15"),
            device_name: "NVIDIA RTX A6000".into(),
            measured_at: 0,
            cpu_threads: 8,
            startup_seconds: 0.25,
            launch_seconds: 10e-6,
            transfer: TransferCost { upload: copy, download: copy },
            device_bytes_per_second: 600e9,
            kernels: [("matmul_f64".to_owned(), cost)].into(),
        }
    }

    fn product(side: f64) -> Work {
        let bytes = (8.0 * side * side) as u64;
        Work::new(format!("a product of {side} x {side}"))
            .step("matmul_f64", 1, side * side * side)
            .upload(2, 2 * bytes)
            .download(1, bytes)
    }

    #[test]
    fn small_work_stays_on_the_cpu_and_large_work_does_not() {
        let small = choose(&product(100.0), &device_costs(), 1);
        assert_eq!(small.device, Device::Cpu);
        assert_eq!(small.why.to_string(), "predicted 1.00 ms on the CPU and 250 ms on cuda:1");
        let large = choose(&product(2000.0), &device_costs(), 1);
        assert_eq!(large.device, Device::Cuda(1));
        // 8e9 units at 1e-9; 10 us + 8e9 at 1e-11, 96 MB at 12 GB/s, three copies of 10 us, and 0.25 s.
        assert_eq!(large.why.to_string(), "predicted 8.00 s on the CPU and 338 ms on cuda:1");
        let predicted = large.predicted.unwrap();
        assert!((predicted.device_seconds - (10e-6 + 0.08 + 0.008 + 30e-6 + 0.25)).abs() < 1e-12, "{predicted:?}");
    }

    #[test]
    fn a_device_that_is_no_faster_is_not_taken() {
        let mut costs = device_costs();
        costs.startup_seconds = 0.0;
        let cost = costs.kernels.get_mut("matmul_f64").unwrap();
        cost.device = cost.cpu;
        let choice = choose(&Work::new("a product").step("matmul_f64", 1, 1e9), &costs, 0);
        let predicted = choice.predicted.unwrap();
        assert_eq!((predicted.cpu_seconds, choice.device), (predicted.device_seconds, Device::Cpu));
    }

    #[test]
    fn a_started_device_is_worth_it_for_less() {
        let work = product(400.0);
        assert_eq!(choose(&work, &device_costs(), 0).device, Device::Cpu);
        assert_eq!(choose(&work.on_started_device(), &device_costs(), 0).device, Device::Cuda(0));
    }

    #[test]
    fn parts_share_the_threads_and_the_busiest_counts() {
        assert_eq!(share(0, 8), 1.0);
        assert_eq!(share(1, 8), 1.0);
        assert_eq!(share(4, 8), 0.25);
        assert_eq!(share(8, 8), 0.125);
        assert_eq!(share(9, 8), 2.0 / 9.0);
        let alone = choose(&product(800.0), &device_costs(), 0);
        let shared = choose(&product(800.0).in_parts(8), &device_costs(), 0);
        assert_eq!((alone.device, shared.device), (Device::Cuda(0), Device::Cpu));
    }

    #[test]
    fn what_was_never_measured_is_said() {
        let choice = choose(&product(5000.0).step("leapfrog_f64", 1, 1e12), &device_costs(), 0);
        assert_eq!((choice.device, choice.predicted), (Device::Cpu, None));
        let why = choice.why.to_string();
        assert!(why.contains("leapfrog_f64") && why.contains("device measure"));
    }

    #[test]
    fn times_are_shown_in_the_unit_that_fits() {
        let shown = |seconds| Seconds(seconds).to_string();
        assert_eq!([shown(0.0), shown(3.21e-6), shown(0.0456)], ["0.00 us", "3.21 us", "45.6 ms"]);
        assert_eq!([shown(1.0), shown(99.94), shown(1234.0)], ["1.00 s", "99.9 s", "1234 s"]);
        assert_eq!([shown(1e-3), shown(10.0), shown(100.0)], ["1.00 ms", "10.0 s", "100 s"]);
    }
}
