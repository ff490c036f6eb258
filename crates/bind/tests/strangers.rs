//! Programs as other people write them: bound whole, with slopes that finite differences confirm, however loops are bound.
//!
//! They follow programs that are known in public (each file says which) in our own words; `strangers/simulate.py` made
//! their data. `OCTOPUS_STRANGERS_SAMPLED=1` samples each of them briefly, which takes a minute.

use octopus_bind::{BindOptions, BoundModel, Data};
use octopus_sampler::{Phase, Sampler, SamplerConfig};
use octopus_stan::StanProgram;
use std::path::PathBuf;

/// The programs with their names, in alphabetical order.
fn programs() -> Vec<(String, StanProgram, Data)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/strangers");
    let files = std::fs::read_dir(folder).expect("the folder can be read");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "stan"));
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let program = StanProgram::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let data = Data::read(path.with_extension("json")).unwrap_or_else(|error| panic!("{error}"));
        (name, program, data)
    };
    paths.into_iter().map(read).collect()
}

fn point(dim: usize, scale: f64) -> Vec<f64> {
    (0..dim).map(|k| scale * (0.7 + 1.3 * k as f64).sin()).collect()
}

/// The value, the slopes, and how far the slopes are from finite differences.
fn slopes(model: &BoundModel, x: &[f64]) -> Result<(f64, Vec<f64>, f64), String> {
    let program = model.compile().map_err(|error| error.to_string())?;
    let (mut workspace, mut x) = (program.workspace(), x.to_vec());
    let (mut gradient, mut unused) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let value = program.logp_grad(&mut workspace, &x, &mut gradient).map_err(|error| error.to_string())?;
    let mut worst = 0.0_f64;
    for k in 0..x.len() {
        let (at, h) = (x[k], 1e-4);
        let mut side = |step: f64| {
            x[k] = at + step;
            program.logp_grad(&mut workspace, &x, &mut unused).unwrap_or(f64::NAN)
        };
        let slope = (8.0 * (side(h) - side(-h)) - (side(2.0 * h) - side(-2.0 * h))) / (12.0 * h);
        x[k] = at;
        let error = (slope - gradient[k]).abs() / (1.0 + gradient[k].abs() + 1e-3 * value.abs());
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    Ok((value, gradient, worst))
}

fn tried(program: &StanProgram, data: &Data) -> Result<f64, String> {
    let model = BoundModel::new(program, data).map_err(|error| error.to_string())?;
    // Generated quantities that are left out are told of in a warning.
    if let Some(warning) = model.warnings.first() {
        return Err(format!("it has the warning: {warning}"));
    }
    let (x, one_by_one) = (point(model.dim(), 0.3), BindOptions { vectorise_loops: false, ..Default::default() });
    let (value, gradient, worst) = slopes(&model, &x)?;
    if worst > 1e-6 {
        return Err(format!("slopes are {worst:e} from finite differences"));
    }
    let plain = BoundModel::with_options(program, data, one_by_one).map_err(|error| error.to_string())?;
    let (same, same_gradient, _) = slopes(&plain, &x)?;
    let differs = |a: f64, b: f64| (a - b).abs() > 1e-9 * (1.0 + a.abs());
    if differs(value, same) || gradient.iter().zip(&same_gradient).any(|(&a, &b)| differs(a, b)) {
        return Err(format!("pass by pass the value is {same}, not {value}"));
    }
    Ok(value)
}

#[test]
fn programs_of_strangers_run() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, program, data) in programs() {
        count += 1;
        match tried(&program, &data) {
            Ok(value) => println!("good {name}: {value:.4}"),
            Err(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 20, "{count} programs");
}

#[test]
fn programs_of_strangers_are_sampled() {
    if std::env::var("OCTOPUS_STRANGERS_SAMPLED").is_err() {
        eprintln!("SKIPPED: OCTOPUS_STRANGERS_SAMPLED is not set");
        return;
    }
    let mut wrong = Vec::new();
    for (name, program, data) in programs() {
        let sampled = || -> Result<(usize, usize), String> {
            let model = BoundModel::new(&program, &data).map_err(|error| error.to_string())?;
            let density = model.density(&name).map_err(|error| error.to_string())?;
            let config = SamplerConfig { chains: 2, tune: 300, draws: 300, seed: 3, ..Default::default() };
            let mut sampler = Sampler::new(&density, config).map_err(|error| error.to_string())?;
            let mut counts = (0, 0);
            while let Some(block) = sampler.advance(100).map_err(|error| error.to_string())? {
                if block.phase == Phase::Sampling {
                    for x in block.chains.iter().flat_map(|chain| chain.positions.chunks(model.dim())) {
                        counts.0 += 1;
                        counts.1 += usize::from(model.expand(x).iter().all(|value| value.is_finite()));
                    }
                }
            }
            Ok(counts)
        };
        match sampled() {
            Ok((draws, finite)) => println!("{name}: {draws} draws, {finite} finite"),
            Err(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
