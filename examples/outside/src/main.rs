//! Says whether a GPU of this machine is fit for use, and samples a density of its own on the CPU.

mod exam;

use octopus_density::LogDensity;
use octopus_device::{SystemProvider, verify};
use octopus_diag::{DiagnoseOptions, diagnose};
use octopus_sampler::{Block, Phase, Sampler, SamplerConfig};
use octopus_trace::{Array, Dataset, Values};
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let report = verify(&SystemProvider::new());
    println!("{report}\n");

    let density = exam::Exam::new(48, 60);
    let config = SamplerConfig { chains: 4, tune: 500, draws: 1000, seed: 1, ..SamplerConfig::default() };
    let mut sampler = Sampler::new(&density, config)?;
    let mut blocks = Vec::new();
    while let Some(block) = sampler.advance(usize::MAX)? {
        if block.phase == Phase::Sampling {
            blocks.push(block);
        }
    }
    let diagnosis = diagnose(&posterior(&density, &blocks), None, &DiagnoseOptions::default())?;
    println!("{diagnosis}");

    // The posterior is known: Beta(49, 13).
    let mean = diagnosis.summary.get("pass_rate").ok_or("the summary lacks pass_rate")?.mean;
    let exact = 49.0 / 62.0;
    println!("mean of pass_rate {mean:.3}, exactly {exact:.3}");
    let sound = diagnosis.good() && (mean - exact).abs() < 0.01;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Collects the draws of each variable, chains x draws.
fn posterior(density: &dyn LogDensity, blocks: &[Block]) -> Dataset {
    let layout = density.layout();
    let (chains, draws) = (blocks[0].chains.len(), blocks.iter().map(|block| block.draws).sum());
    let mut columns = vec![Vec::new(); layout.variables.len()];
    let mut values = vec![0.0; layout.width()];
    for chain in 0..chains {
        for position in blocks.iter().flat_map(|block| block.chains[chain].positions.chunks(density.dim())) {
            density.expand(position, &mut values);
            columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(*value));
        }
    }
    let mut posterior = Dataset::default();
    for (variable, column) in layout.variables.iter().zip(columns) {
        posterior.insert(&variable.name, Array::new([("chain", chains), ("draw", draws)], Values::F64(column)));
    }
    posterior
}
