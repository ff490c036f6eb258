//! Samples Stan programs with many seeds, in several coordinates of their effects, and prints a row for each.
//!
//! ```console
//! $ cargo run --release --example hierarchies -- LIST SEEDS [COORDINATES ...] [--only WORD]
//! ```
//!
//! LIST has a line for each program: a name, the program's file and its data's, with tabs between. COORDINATES are words of
//! `--parameterization`. Columns: seeds, runs with divergences, divergences, the largest R-hat (median and 90% over seeds), the
//! least bulk ESS (10% and median) of 4 chains of 1000 draws, gradients with warm-up, and the least ESS for each thousand
//! of them (median).

use octopus::density::{DrawAddress, LogDensity};
use octopus::diag::{Chains, ess_bulk, rhat};
use octopus::models::{Problem, StanProblem};
use octopus::sampler::{Parameterization, Phase, Sampler, SamplerConfig};
use octopus::stan::{Data, StanProgram};
use octopus::toml;

/// What one run was worth.
struct RunWorth {
    divergences: usize,
    rhat: f64,
    ess: f64,
    gradients: u64,
}

fn run(density: &dyn LogDensity, config: SamplerConfig) -> Result<RunWorth, Box<dyn std::error::Error>> {
    let (chains, draws) = (config.chains, config.draws);
    let width = density.layout().width();
    let mut values = vec![vec![0.0; chains * draws]; width];
    let (mut divergences, mut gradients) = (0, 0);
    let mut sampler = Sampler::new(density, config)?;
    let mut out = vec![0.0; width];
    while let Some(block) = sampler.advance(usize::MAX)? {
        gradients += block.leapfrogs();
        if block.phase != Phase::Sampling {
            continue;
        }
        for (number, chain) in block.chains.iter().enumerate() {
            divergences += chain.stats.iter().filter(|stats| stats.diverging).count();
            for (draw, position) in chain.positions.chunks_exact(density.dim()).enumerate() {
                let draw = block.first + draw;
                let address = DrawAddress { seed: 0, chain: number as u32, draw: draw as u32 };
                density.expand_draw(position, address, &mut out)?;
                values.iter_mut().zip(&out).for_each(|(values, x)| values[number * draws + draw] = *x);
            }
        }
    }
    let (mut worst, mut least) = (1.0_f64, f64::INFINITY);
    for values in &values {
        let own = Chains::new(values, chains, draws)?;
        let (rhat, ess) = (rhat(&own), ess_bulk(&own));
        if rhat.is_finite() && ess.is_finite() {
            (worst, least) = (worst.max(rhat), least.min(ess));
        }
    }
    Ok(RunWorth { divergences, rhat: worst, ess: least, gradients })
}

fn quantile(numbers: &[f64], share: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let only = words.iter().position(|word| word == "--only").and_then(|at| words.drain(at..).nth(1));
    let [list, seeds, coordinates @ ..] = &words[..] else { return Err("LIST SEEDS [COORDINATES ...]".into()) };
    let seeds: u64 = seeds.parse()?;
    println!(
        "| program | coordinates | seeds | runs with divergences | divergences | R-hat | R-hat 90% | ESS 10% | ESS | gradients | ESS / 1000 gradients |"
    );
    println!("|--|--|--|--|--|--|--|--|--|--|--|");
    for line in std::fs::read_to_string(list)?.lines() {
        let [name, program, data] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let problem = StanProgram::parse(program, &std::fs::read_to_string(program)?)
            .map_err(|error| error.to_string())
            .and_then(|program| {
                let text = std::fs::read_to_string(data).map_err(|error| error.to_string())?;
                let data = Data::json(data, &text).map_err(|error| error.to_string())?;
                StanProblem::bind(program, data).map_err(|error| error.to_string())
            });
        let problem = match problem {
            Ok(problem) => problem,
            Err(error) => {
                println!("| {name} | {} |", error.lines().next().unwrap_or_default());
                continue;
            }
        };
        let density = problem.density();
        for block in density.effects().map_or(&[][..], |effects| effects.blocks()) {
            eprintln!("{name}: {} {:?}: {}", block.coordinates.len(), block.written, block.label);
        }
        for word in coordinates {
            let parameterization: Parameterization = toml::Value::String(word.clone()).try_into()?;
            let runs: Vec<RunWorth> = (0..seeds)
                .filter_map(|seed| {
                    let config = SamplerConfig { seed, parameterization, ..SamplerConfig::default() };
                    run(density, SamplerConfig { chains: 4, tune: 1000, draws: 1000, ..config }).ok()
                })
                .collect();
            if runs.is_empty() {
                println!("| {name} | {parameterization:?} | 0 |");
                continue;
            }
            let of = |number: fn(&RunWorth) -> f64| runs.iter().map(number).collect::<Vec<f64>>();
            let (rhat, ess, gradients) = (of(|run| run.rhat), of(|run| run.ess), of(|run| run.gradients as f64));
            println!(
                "| {name} | {parameterization:?} | {} | {} | {} | {:.3} | {:.3} | {:.0} | {:.0} | {:.0} | {:.2} |",
                runs.len(),
                runs.iter().filter(|run| run.divergences > 0).count(),
                runs.iter().map(|run| run.divergences).sum::<usize>(),
                quantile(&rhat, 0.5),
                quantile(&rhat, 0.9),
                quantile(&ess, 0.1),
                quantile(&ess, 0.5),
                quantile(&gradients, 0.5),
                quantile(&of(|run| 1000.0 * run.ess / run.gradients as f64), 0.5),
            );
        }
    }
    Ok(())
}
