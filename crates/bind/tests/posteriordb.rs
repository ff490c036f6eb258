//! posteriordb's programs with their data: bound, a finite value, a gradient that finite differences confirm.
//!
//! `OCTOPUS_POSTERIORDB_LIST` names a file whose lines have a name, a program and its data, parted by tabs, and
//! `OCTOPUS_POSTERIORDB_MEANS` the folder of the reference draws' means; without them the tests are skipped. Run them in the
//! profile `release`, since they take minutes.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_density::LogDensity;
use octopus_sampler::{Phase, Sampler, SamplerConfig};
use octopus_stan::StanProgram;
use std::time::Instant;

/// A point near 0 that no symmetry makes special.
fn point(dim: usize) -> Vec<f64> {
    (0..dim).map(|k| 0.3 * (0.7 + 1.3 * k as f64).sin()).collect()
}

/// The seconds that a gradient takes: the best of some batches, since the machine may be busy.
fn seconds_each(mut run: impl FnMut(&mut [f64]), dim: usize) -> f64 {
    let mut gradient = vec![0.0; dim];
    let started = Instant::now();
    run(&mut gradient);
    let first = started.elapsed().as_secs_f64();
    let batch = ((0.003 / first) as usize).clamp(1, 1000);
    let of_batch = |_| {
        let started = Instant::now();
        (0..batch).for_each(|_| run(&mut gradient));
        started.elapsed().as_secs_f64() / batch as f64
    };
    (0..20).map(of_batch).fold(first, f64::min)
}

fn tried(program: &str, data: &str) -> Result<String, String> {
    let started = Instant::now();
    let said = |error: &dyn std::fmt::Display| error.to_string().lines().next().unwrap_or("").to_owned();
    let program = StanProgram::read(program).map_err(|error| format!("unread  {}", said(&error)))?;
    let data = Data::read(data).map_err(|error| format!("nodata  {}", said(&error)))?;
    let model = BoundModel::new(&program, &data).map_err(|error| format!("unbound {}", said(&error)))?;
    let bound = started.elapsed();
    let compiled = model.compile().map_err(|error| format!("uncompiled {}", said(&error)))?;
    let made = started.elapsed();
    let (dim, mut workspace) = (model.dim(), compiled.workspace());
    let mut best: Option<(f64, f64)> = None;
    for (scale, turn) in [(1.0, 1.0), (0.3, 1.0), (0.0, 1.0), (1.0, -1.0), (1.0, 0.0), (3.0, 1.0)] {
        // Further out only where there is no value nearer.
        if scale > 1.0 && best.is_some() {
            continue;
        }
        let sign = |k: usize| if k.is_multiple_of(2) { turn } else { 1.0 };
        let mut x: Vec<f64> = point(dim).into_iter().enumerate().map(|(k, x)| x * scale * sign(k)).collect();
        let mut gradient = vec![0.0; dim];
        let Ok(value) = compiled.logp_grad(&mut workspace, &x, &mut gradient) else { continue };
        let mut worst = 0.0_f64;
        let mut unused = vec![0.0; dim];
        for k in (0..dim).step_by((dim / 20).max(1)) {
            let (at, h) = (x[k], 1e-5);
            let mut side = |step: f64| {
                x[k] = at + step;
                compiled.logp_grad(&mut workspace, &x, &mut unused).unwrap_or(f64::NAN)
            };
            let slope = (8.0 * (side(h) - side(-h)) - (side(2.0 * h) - side(-2.0 * h))) / (12.0 * h);
            x[k] = at;
            let error = (slope - gradient[k]).abs() / (1.0 + gradient[k].abs() + 1e-6 * value.abs());
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
        if best.is_none_or(|(error, _)| worst < error) {
            best = Some((worst, value));
        }
    }
    let Some((error, value)) = best else { return Err("infinite no finite value at the points tried".into()) };
    let each = seconds_each(
        |gradient| {
            let _ = compiled.logp_grad(&mut workspace, &point(dim), gradient);
        },
        dim,
    );
    let loops = compiled.loops();
    let line = format!(
        "dim {dim} value {value:.6} slope error {error:.1e} bound {:.3} s compiled {:.3} s gradient {:.3} us, {} loops, {} instructions",
        bound.as_secs_f64(),
        (made - bound).as_secs_f64(),
        each * 1e6,
        loops.len(),
        loops.iter().map(|l| l.1).sum::<usize>()
    );
    if error < 1e-4 { Ok(line) } else { Err(format!("slope   {line}")) }
}

/// A variable of the environment, whose absence is said aloud.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    if value.is_none() {
        eprintln!("SKIPPED: {name} is not set");
    }
    value
}

#[test]
fn posteriordb_runs() {
    let Some(list) = variable("OCTOPUS_POSTERIORDB_LIST") else { return };
    let only = std::env::var("OCTOPUS_POSTERIORDB_ONLY").unwrap_or_default();
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let (mut all, mut good, mut seen) = (0, 0, std::collections::HashSet::new());
    for line in list.lines() {
        let [name, program, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if !name.contains(&only) || !seen.insert(program) {
            continue;
        }
        all += 1;
        match tried(program, data) {
            Ok(line) => {
                good += 1;
                println!("good {name}: {line}");
            }
            Err(reason) => println!("BAD  {name}: {reason}"),
        }
    }
    println!("{good} of {all} programs run");
    assert!(good >= 115 || !only.is_empty(), "{good} of {all} programs run");
}

/// The largest difference of value and slopes between loops at once and pass by pass, relative to the largest; none
/// where there are no values.
fn difference(program: &str, data: &str) -> Option<f64> {
    let (program, data) = (StanProgram::read(program).ok()?, Data::read(data).ok()?);
    let evaluated = |vectorise_loops| {
        let options = BindOptions { vectorise_loops, ..BindOptions::default() };
        let model = BoundModel::with_options(&program, &data, options).ok()?;
        let compiled = model.compile().ok()?;
        let mut numbers = vec![0.0; model.dim()];
        let value = compiled.logp_grad(&mut compiled.workspace(), &point(model.dim()), &mut numbers).ok()?;
        numbers.push(value);
        Some(numbers)
    };
    let (at_once, one_by_one) = (evaluated(true)?, evaluated(false)?);
    let size = one_by_one.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    let difference = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() / size };
    Some(at_once.iter().zip(&one_by_one).map(difference).fold(0.0, f64::max))
}

#[test]
fn posteriordb_is_the_same_pass_by_pass() {
    let Some(list) = variable("OCTOPUS_POSTERIORDB_LIST") else { return };
    let only = std::env::var("OCTOPUS_POSTERIORDB_ONLY").unwrap_or_default();
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let (mut seen, mut far_ones) = (std::collections::HashSet::new(), Vec::new());
    for line in list.lines() {
        let [name, program, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if !name.contains(&only) || !seen.insert(program) {
            continue;
        }
        let found = difference(program, data);
        println!("{name}: {}", found.map_or("no values".to_owned(), |found| format!("{found:.1e}")));
        if found.is_some_and(|found| found.is_nan() || found > 1e-11) {
            far_ones.push(name.to_owned());
        }
    }
    assert!(far_ones.is_empty(), "loops at once differ from pass by pass: {far_ones:?}");
}

/// The largest distance of a sampled mean from a reference, in standard deviations, with the name.
fn distance(program: &str, data: &str, reference: &str) -> Option<(f64, String)> {
    let model = BoundModel::new(&StanProgram::read(program).ok()?, &Data::read(data).ok()?).ok()?;
    let reference: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(reference).ok()?).ok()?;
    let density = model.density("model").ok()?;
    let config = SamplerConfig { chains: 4, tune: 500, draws: 500, seed: 5, ..Default::default() };
    let mut sampler = Sampler::new(&density, config).ok()?;
    let labels = model.labels();
    let (mut sums, mut squares, mut count) = (vec![0.0; labels.len()], vec![0.0; labels.len()], 0.0);
    while let Ok(Some(block)) = sampler.advance(250) {
        if block.phase != Phase::Sampling {
            continue;
        }
        for x in block.chains.iter().flat_map(|chain| chain.positions.chunks(model.dim())) {
            let x = density.effects().map_or_else(|| x.to_vec(), |effects| effects.as_written(x));
            for ((sum, square), value) in sums.iter_mut().zip(&mut squares).zip(model.expand(&x)) {
                *sum += value;
                *square += value * value;
            }
            count += 1.0;
        }
    }
    let (names, means) = (reference["names"].as_array()?, reference["mean_value"].as_array()?);
    let mut worst = (0.0, String::new());
    for (name, mean) in names.iter().zip(means) {
        let Some(k) = labels.iter().position(|label| Some(label.as_str()) == name.as_str()) else { continue };
        let found = sums[k] / count;
        let sd = (squares[k] / count - found * found).max(0.0).sqrt();
        let far = (found - mean.as_f64()?).abs() / sd;
        if sd > 0.0 && far.is_finite() && far >= worst.0 {
            worst = (far, labels[k].clone());
        }
    }
    (count > 0.0 && !worst.1.is_empty()).then_some(worst)
}

/// Sampled means against posteriordb's reference draws; `OCTOPUS_POSTERIORDB_MEANS` names their folder.
#[test]
fn posteriordb_has_its_reference_means() {
    let (Some(list), Some(means)) = (variable("OCTOPUS_POSTERIORDB_LIST"), variable("OCTOPUS_POSTERIORDB_MEANS"))
    else {
        return;
    };
    let only = std::env::var("OCTOPUS_POSTERIORDB_ONLY").unwrap_or_default();
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let mut far_ones = Vec::new();
    for line in list.lines() {
        let [name, program, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let reference = format!("{means}/{name}.json");
        if !name.contains(&only) || !std::path::Path::new(&reference).exists() {
            continue;
        }
        match distance(program, data, &reference) {
            Some((far, label)) => {
                println!("{name}: {far:.3} sd ({label})");
                if far > 0.25 {
                    far_ones.push(name.to_owned());
                }
            }
            None => println!("{name}: no draws, or no variable of the reference"),
        }
    }
    assert!(far_ones.is_empty(), "means are far from the reference: {far_ones:?}");
}
