//! How many steps a second a hierarchy of learning layers does, on the CPU and on a GPU, by size.
//!
//! ```console
//! $ cargo run --release -p octopus-device --example 01_hierarchy
//! $ cargo run --release -p octopus-device --example 01_hierarchy -- 10 100     # these sizes only
//! ```
//!
//! The same program runs on both devices, and gives the same bits. For each size a few steps are timed on each device, and
//! the faster one does the work: small layers stay on the CPU by themselves.

mod network;

use network::{Hierarchy, HierarchyConfig};
use octopus_device::{ArrayError, Device, with_device};
use std::time::{Duration, Instant};

/// The sizes of the table: units a column of the lowest level, the highest having four times as many.
const SIZES: [usize; 5] = [10, 30, 100, 300, 1000];
/// The steps that are timed at most, and the time after which no more are begun.
const MOST_STEPS: usize = 2000;
const MOST_TIME: Duration = Duration::from_millis(1500);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes = std::env::args().skip(1).map(|word| word.parse()).collect::<Result<Vec<usize>, _>>()?;
    let gpu = match with_device(Device::Cuda(0), || Hierarchy::<f64>::new(&HierarchyConfig::of_size(10))) {
        Ok(_) => Some(Device::Cuda(0)),
        Err(error) => {
            println!("on the CPU alone: {error}");
            None
        }
    };
    if sizes.is_empty() {
        for steps in [1000, 10_000] {
            let device = faster(10, gpu)?;
            let seconds = seconds_of(10, device, steps, Duration::MAX)?.1;
            println!("10 x 20 x 40, {steps} steps on {device}: {seconds:.3} s, {:.0} steps/s", steps as f64 / seconds);
        }
    }
    println!("{:>18}{:>14}{:>14}{:>10}", "units a column", "CPU steps/s", "GPU steps/s", "chosen");
    for &size in if sizes.is_empty() { &SIZES[..] } else { &sizes[..] } {
        let rate = |device| {
            let (steps, seconds) = seconds_of(size, device, MOST_STEPS, MOST_TIME)?;
            Ok::<f64, ArrayError>(steps as f64 / seconds)
        };
        let on_gpu = gpu.map(rate).transpose()?.map_or_else(|| "none".to_owned(), |rate| format!("{rate:.1}"));
        let units = HierarchyConfig::of_size(size).units.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (on_cpu, chosen) = (rate(Device::Cpu)?, faster(size, gpu)?);
        println!("{:>18}{on_cpu:>14.1}{on_gpu:>14}{:>10}", units.join(" x "), chosen.to_string());
    }
    Ok(())
}

/// The device that does four steps sooner: each level acts in them, and the highest once.
fn faster(size: usize, gpu: Option<Device>) -> Result<Device, ArrayError> {
    let Some(gpu) = gpu else { return Ok(Device::Cpu) };
    let seconds = |device| seconds_of(size, device, 4, Duration::MAX).map(|(_, seconds)| seconds);
    Ok(if seconds(gpu)? < seconds(Device::Cpu)? { gpu } else { Device::Cpu })
}

/// The steps that were done on a device, and their seconds.
fn seconds_of(size: usize, device: Device, steps: usize, most: Duration) -> Result<(usize, f64), ArrayError> {
    with_device(device, || {
        let mut hierarchy = Hierarchy::<f64>::new(&HierarchyConfig::of_size(size))?;
        // The first steps fetch memory, which the others then have.
        (0..4).try_for_each(|_| hierarchy.step())?;
        hierarchy.synchronize()?;
        let begun = Instant::now();
        let mut done = 0;
        while done < steps && begun.elapsed() < most {
            // A round of the resolutions.
            (0..4).try_for_each(|_| hierarchy.step())?;
            done += 4;
        }
        hierarchy.synchronize()?;
        Ok((done, begun.elapsed().as_secs_f64()))
    })
}
