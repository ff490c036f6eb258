//! Times operations of arrays on one thread of the CPU: a line of JSON for each, with the median microseconds of a call.
//!
//! A word names the one operation that is timed. `benchmarks/peers/array_speed.py` runs it and puts NumPy's times beside.

use octopus_array::{Array, ArrayError};
use octopus_device::Device;
use octopus_fitness::{BenchmarkConfig, benchmark_device};

/// Elements of vectors, and sides of the matrices along whose axes is reduced: as many elements.
const ELEMENTS: usize = 1_000_000;
const SIDES: (usize, usize) = (1000, 1000);
/// The side of the matrices that are multiplied.
const PRODUCT: usize = 512;

type Operation<'a> = Box<dyn FnMut() -> Result<(), ArrayError> + 'a>;

fn ramp(length: usize, step: f64) -> Vec<f64> {
    (0..length).map(|i| (step * i as f64) % 1.0 + 1.5).collect()
}

fn main() -> Result<(), ArrayError> {
    // Copies, in memory that is the arrays' own, as NumPy's are in its own.
    let (x, y) = (Array::from_slice(&ramp(ELEMENTS, 0.37))?, Array::from_slice(&ramp(ELEMENTS, -0.725))?);
    let (x32, y32, x16) = (x.to_f32()?, y.to_f32()?, x.to_f16()?);
    let a = x.to_device(Device::Cpu)?.reshape(SIDES)?;
    let a32 = a.to_f32()?;
    let (row, column) = (a.slice(..1, ..)?.reshape(SIDES.1)?, a.slice(.., ..1)?);
    let square = |step| Array::from_shape((PRODUCT, PRODUCT), &ramp(PRODUCT * PRODUCT, step));
    let (left, right) = (square(0.37)?, square(-0.725)?);
    let short = row.slice(.., ..1000)?;
    let operations: Vec<(&str, Operation)> = vec![
        ("zeros", Box::new(|| Array::<f64>::zeros(ELEMENTS).map(drop))),
        ("add", Box::new(|| x.add(&y).map(drop))),
        ("add f32", Box::new(|| x32.add(&y32).map(drop))),
        ("div", Box::new(|| x.div(&y).map(drop))),
        ("scale", Box::new(|| x.scale(1.5).map(drop))),
        ("exp", Box::new(|| x.exp().map(drop))),
        ("exp f32", Box::new(|| x32.exp().map(drop))),
        ("ln", Box::new(|| x.ln().map(drop))),
        ("sqrt", Box::new(|| x.sqrt().map(drop))),
        ("tanh", Box::new(|| x.tanh().map(drop))),
        ("tanh f32", Box::new(|| x32.tanh().map(drop))),
        ("sigmoid", Box::new(|| x.sigmoid().map(drop))),
        ("relu", Box::new(|| x.relu().map(drop))),
        ("clip", Box::new(|| x.clip(1.6, 2.0).map(drop))),
        ("select", Box::new(|| Array::select(&x, &x, &y).map(drop))),
        ("add row", Box::new(|| a.add(&row).map(drop))),
        ("add column", Box::new(|| a.add(&column).map(drop))),
        ("outer", Box::new(|| row.outer(&row).map(drop))),
        ("transpose", Box::new(|| a.transpose().map(drop))),
        ("concatenate", Box::new(|| Array::concatenate(&[&a, &a], 1).map(drop))),
        ("to_f16 of f32", Box::new(|| x32.to_f16().map(drop))),
        ("to_f32 of f16", Box::new(|| x16.to_f32().map(drop))),
        ("sum", Box::new(|| x.sum().map(drop))),
        ("sum f32", Box::new(|| x32.sum().map(drop))),
        ("max", Box::new(|| x.max().map(drop))),
        ("dot", Box::new(|| x.dot(&y).map(drop))),
        ("norm", Box::new(|| x.norm().map(drop))),
        ("std", Box::new(|| x.std(0).map(drop))),
        ("sum axis 0", Box::new(|| a.sum_axis(0).map(drop))),
        ("sum axis 1", Box::new(|| a.sum_axis(1).map(drop))),
        ("sum axis 0 f32", Box::new(|| a32.sum_axis(0).map(drop))),
        ("sum axis 1 f32", Box::new(|| a32.sum_axis(1).map(drop))),
        ("max axis 0", Box::new(|| a.max_axis(0).map(drop))),
        ("max axis 1", Box::new(|| a.max_axis(1).map(drop))),
        ("std axis 0", Box::new(|| a.std_axis(0, 0).map(drop))),
        ("std axis 1", Box::new(|| a.std_axis(1, 0).map(drop))),
        ("matmul", Box::new(|| left.matmul(&right).map(drop))),
        ("add of 1000", Box::new(|| short.add(&short).map(drop))),
        ("tanh of 1000", Box::new(|| short.tanh().map(drop))),
        ("sum of 1000", Box::new(|| short.sum().map(drop))),
    ];
    let wanted = std::env::args().nth(1);
    for (name, mut operation) in operations {
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let timing = benchmark_device(Device::Cpu, &BenchmarkConfig::default(), &mut operation)?;
        println!("{{\"name\":\"{name}\",\"microseconds\":{:.3}}}", 1e6 * timing.median_seconds);
    }
    Ok(())
}
