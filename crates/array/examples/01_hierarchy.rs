//! How many steps a second a hierarchy of learning layers does, on the CPU and on a GPU, by size.
//!
//! ```console
//! $ cargo run --release -p octopus-array --example 01_hierarchy
//! $ cargo run --release -p octopus-array --example 01_hierarchy -- 10 100     # these sizes only
//! $ cargo run --release -p octopus-array --example 01_hierarchy -- --picture target/hierarchy
//! ```
//!
//! The last one draws steps a second against size, for each device, into `target/hierarchy.png`.
//!
//! The same program runs on both devices, and gives the same bits. For each size a few steps are timed on each device, and
//! the faster one does the work: small layers stay on the CPU by themselves.

use octopus_array::ArrayError;
use octopus_array::layers::{LayerConfig, LayerHierarchy};
use octopus_device::{Device, with_device};
use octopus_report::{Format, ScalingMeasure, ScalingPlot, ScalingSeries, render};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The sizes of the table: units a column of the lowest level, the highest having four times as many.
const SIZES: [usize; 6] = [10, 50, 100, 200, 500, 1000];
/// The steps that are timed at most, and the time after which no more are begun.
const MOST_STEPS: usize = 2000;
const MOST_TIME: Duration = Duration::from_millis(1500);
/// The steps between two looks at the clock.
const ROUND: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut sizes, mut picture) = (Vec::<usize>::new(), None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--picture" => picture = Some(PathBuf::from(words.next().ok_or("--picture needs a file, without .png")?)),
            size => sizes.push(size.parse().map_err(|_| format!("{size} is no size"))?),
        }
    }
    let gpu = match with_device(Device::Cuda(0), || LayerHierarchy::<f64>::new(&LayerConfig::of_size(10))) {
        Ok(_) => Some(Device::Cuda(0)),
        Err(error) => {
            println!("on the CPU alone: {error}");
            None
        }
    };
    if sizes.is_empty() {
        for (steps, device) in [1000, 10_000].into_iter().flat_map(|steps| devices(gpu).map(move |on| (steps, on))) {
            let seconds = seconds_of(10, device, steps, Duration::MAX)?.1;
            println!("10 x 20 x 40, {steps} steps on {device}: {seconds:.3} s, {:.0} steps/s", steps as f64 / seconds);
        }
    }
    println!("{:>18}{:>14}{:>14}{:>10}{:>10}", "units a column", "CPU steps/s", "GPU steps/s", "speed-up", "chosen");
    let mut rates: Vec<(Device, usize, f64)> = Vec::new();
    for &size in if sizes.is_empty() { &SIZES[..] } else { &sizes[..] } {
        let rate = |device| {
            let (steps, seconds) = seconds_of(size, device, MOST_STEPS, MOST_TIME)?;
            Ok::<f64, ArrayError>(steps as f64 / seconds)
        };
        let (on_cpu, on_gpu, chosen) = (rate(Device::Cpu)?, gpu.map(rate).transpose()?, faster(size, gpu)?);
        rates.push((Device::Cpu, size, on_cpu));
        rates.extend(gpu.zip(on_gpu).map(|(gpu, rate)| (gpu, size, rate)));
        let units = LayerConfig::of_size(size).units.iter().map(ToString::to_string).collect::<Vec<_>>();
        let words = |rate: Option<f64>, decimals| rate.map_or("none".to_owned(), |rate| format!("{rate:.decimals$}"));
        let (speedup, on_gpu) = (words(on_gpu.map(|rate| rate / on_cpu), 2), words(on_gpu, 1));
        println!("{:>18}{on_cpu:>14.1}{on_gpu:>14}{speedup:>10}{:>10}", units.join(" x "), chosen.to_string());
    }
    if let Some(stem) = picture {
        let series = |device: Device| ScalingSeries {
            name: if device == Device::Cpu { "CPU, one thread".into() } else { device.to_string() },
            points: rates
                .iter()
                .filter(|(on, ..)| *on == device)
                .map(|(_, size, rate)| (*size as f64, *rate))
                .collect(),
        };
        let plot = ScalingPlot {
            title: String::new(),
            along: "units a column".into(),
            measured: ScalingMeasure::PerSecond("steps"),
            series: devices(gpu).map(series).collect(),
        };
        for file in render(&plot, &stem, &[Format::Png])? {
            println!("{}", file.display());
        }
    }
    Ok(())
}

/// The CPU, and the GPU where there is one.
fn devices(gpu: Option<Device>) -> impl Iterator<Item = Device> {
    std::iter::once(Device::Cpu).chain(gpu)
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
        let config = LayerConfig::of_size(size);
        let (mut hierarchy, data) = (LayerHierarchy::<f64>::new(&config)?, config.signal()?);
        let row = |row: usize| data.slice(row..=row, ..)?.reshape(config.inputs);
        let rows = (0..data.shape().sides().0).map(row).collect::<Result<Vec<_>, _>>()?;
        // The first steps fetch memory, which the others then have.
        hierarchy.process(&data, ROUND)?;
        hierarchy.synchronize()?;
        let begun = Instant::now();
        let mut done = 0;
        while done < steps && begun.elapsed() < most {
            // Rounds of the resolutions.
            (done..done + ROUND).try_for_each(|step| hierarchy.step(&rows[(ROUND + step) % rows.len()]))?;
            done += ROUND;
        }
        hierarchy.synchronize()?;
        Ok((done, begun.elapsed().as_secs_f64()))
    })
}
