//! Pictures of convergence: how chains agree, mix, and diverge.

use octopus_diag::{DEFAULT_PROB, summary};
use octopus_report::{
    AutocorrPlot, ChainRankPlot, ConvergencePlot, EnergyPlot, EssEvolutionPlot, EssRegionsPlot, Figure, PairPlot,
    ParallelPlot, SummaryRow, TracePlot,
};
use octopus_trace::{Array, Dataset, Values};

use crate::sample::{Normals, Sample, Shape};

/// A run's posterior and statistics of its draws.
type Run = (Dataset, Dataset);

/// A run's name, and what makes it.
type NamedRun = (&'static str, fn() -> Run);

/// Good and bad runs.
pub(crate) const RUNS: [NamedRun; 6] = [
    ("good", || good(2, 4, 2000)),
    ("1003", || good(500, 4, 1000)),
    ("64-chains", || good(8, 64, 500)),
    ("one-chain", || good(1, 1, 1000)),
    ("funnel", || funnel(8, 4, 1000)),
    ("funnel-100", || funnel(100, 4, 1000)),
];

/// Every picture of convergence.
pub(crate) fn of_run((posterior, stats): Run) -> Vec<Figure> {
    let parameters = summary(&posterior, DEFAULT_PROB).unwrap().parameters;
    let rows: Vec<_> = parameters.into_iter().map(|summary| SummaryRow { summary, truth: None }).collect();
    vec![
        Figure::new(TracePlot::from_posterior(&posterior, Some(&stats), &rows)),
        Figure::new(ChainRankPlot::from_posterior(&posterior, &rows)),
        Figure::new(EnergyPlot::from_sample_stats(&stats)),
        Figure::new(AutocorrPlot::from_posterior(&posterior, &rows)),
        Figure::new(EssEvolutionPlot::from_posterior(&posterior, &rows)),
        Figure::new(EssRegionsPlot::quantiles(&posterior, &rows)),
        Figure::new(ConvergencePlot::from_posterior(&posterior, &rows, None).unwrap()),
        Figure::new(PairPlot::from_posterior(&posterior, Some(&stats), &rows)),
        Figure::new(ParallelPlot::from_posterior(&posterior, Some(&stats), &rows)),
    ]
}

fn good(groups: usize, chains: usize, draws: usize) -> Run {
    let sample = Sample::new(Shape { groups, chains, draws, truth: true, divergences: false });
    (sample.posterior, stats(chains, draws, 0.0, &[]))
}

/// Energies, sticky as `memory` says, and flags.
fn stats(chains: usize, draws: usize, memory: f64, divergent: &[usize]) -> Dataset {
    let mut normals = Normals::new(11);
    let mut energies = Vec::new();
    for _ in 0..chains {
        let mut state = normals.next();
        for _ in 0..draws {
            state = memory * state + (1.0 - memory * memory).sqrt() * normals.next();
            energies.push(1043.0 + 7.0 * state + 0.4 * state * state);
        }
    }
    let flags = (0..chains * draws).map(|draw| divergent.binary_search(&draw).is_ok()).collect();
    let mut stats = Dataset::default();
    stats.variables.insert("energy".into(), array(&[chains, draws], Values::F64(energies)));
    stats.variables.insert("diverging".into(), array(&[chains, draws], Values::Bool(flags)));
    stats
}

fn array(shape: &[usize], values: Values) -> Array {
    let dims = ["chain", "draw", "school"][..shape.len()].iter().map(|&dim| dim.to_owned()).collect();
    Array { dims, shape: shape.to_vec(), values }
}

/// Schools with a funnel that is hard to sample: chains stick where `tau` is small, and diverge on the way there.
fn funnel(schools: usize, chains: usize, draws: usize) -> (Dataset, Dataset) {
    let mut normals = Normals::new(7);
    let (mut mu, mut tau, mut theta) = (Vec::new(), Vec::new(), Vec::new());
    let mut divergent = Vec::new();
    for chain in 0..chains {
        let mut log_tau = normals.next();
        for draw in 0..draws {
            log_tau = 0.98 * log_tau + 0.2 * (1.1 + 0.1 * chain as f64) * normals.next();
            mu.push(4.4 + 3.3 * normals.next());
            tau.push((1.1 + 0.9 * log_tau).exp());
            for _ in 0..schools {
                theta.push(mu[mu.len() - 1] + tau[tau.len() - 1] * normals.next());
            }
            if log_tau < -0.8 && normals.next() > 1.2 {
                divergent.push(chain * draws + draw);
            }
        }
    }
    let mut posterior = Dataset::default();
    posterior.variables.insert("mu".into(), array(&[chains, draws], Values::F64(mu)));
    posterior.variables.insert("tau".into(), array(&[chains, draws], Values::F64(tau)));
    posterior.variables.insert("theta".into(), array(&[chains, draws, schools], Values::F64(theta)));
    (posterior, stats(chains, draws, 0.97, &divergent))
}
