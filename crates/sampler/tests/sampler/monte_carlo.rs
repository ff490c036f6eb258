//! Runs, and estimates from them with their Monte Carlo standard errors by batch means.

use octopus_density::LogDensity;
use octopus_sampler::{DrawStats, Phase, Sampler, SamplerConfig};

/// The draws of a run, warm-up left out.
pub(crate) struct Draws {
    dim: usize,
    /// For each chain, positions one after another.
    chains: Vec<Vec<f64>>,
    pub(crate) stats: Vec<DrawStats>,
}

pub(crate) fn run(density: &dyn LogDensity, config: SamplerConfig) -> Draws {
    collect(density.dim(), Sampler::new(density, config).expect("starts"))
}

/// What a sampler of `dim` coordinates gives.
pub(crate) fn collect(dim: usize, mut sampler: Sampler<'_>) -> Draws {
    let mut draws = Draws { dim, chains: vec![Vec::new(); sampler.config().chains], stats: Vec::new() };
    while let Some(block) = sampler.advance(usize::MAX).expect("runs") {
        if block.phase == Phase::Sampling {
            for (all, chain) in draws.chains.iter_mut().zip(block.chains) {
                all.extend(chain.positions);
                draws.stats.extend(chain.stats);
            }
        }
    }
    draws
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// Batches of all chains: the standard error has as many degrees of freedom, less 1. Of more chains each is a batch.
const BATCHES: usize = 100;

impl Draws {
    pub(crate) fn divergences(&self) -> usize {
        self.stats.iter().filter(|stats| stats.diverging).count()
    }

    /// The posterior mean of `f`, its standard error from the spread of batch means (Jones et al. 2006, JASA 101).
    pub(crate) fn mean(&self, f: impl Fn(&[f64]) -> f64) -> Estimate {
        self.moments(1, |x, out| out[0] = f(x))[0][0]
    }

    /// Mean and standard deviation of each of the `width` values that `expand` makes of a draw; the latter's
    /// standard error by the delta method.
    pub(crate) fn moments(&self, width: usize, expand: impl Fn(&[f64], &mut [f64])) -> Vec<[Estimate; 2]> {
        let mut values = vec![0.0; width];
        // For each batch the mean of every value, after `change`.
        let mut batches = |change: &dyn Fn(usize, f64) -> f64| -> Vec<Vec<f64>> {
            let mut means = Vec::new();
            let each = BATCHES.div_ceil(self.chains.len());
            for chain in &self.chains {
                let size = chain.len() / self.dim / each;
                for batch in chain.chunks_exact(size * self.dim) {
                    let mut sums = vec![0.0; width];
                    for draw in batch.chunks_exact(self.dim) {
                        expand(draw, &mut values);
                        for (i, (sum, &value)) in sums.iter_mut().zip(&values).enumerate() {
                            *sum += change(i, value);
                        }
                    }
                    sums.iter_mut().for_each(|sum| *sum /= size as f64);
                    means.push(sums);
                }
            }
            means
        };
        let first = batches(&|_, x| x);
        let means: Vec<Estimate> = (0..width).map(|i| Estimate::of(first.iter().map(|batch| batch[i]))).collect();
        let second = batches(&|i, x| (x - means[i].value) * (x - means[i].value));
        (0..width)
            .map(|i| {
                let variance = Estimate::of(second.iter().map(|batch| batch[i]));
                let sd = variance.value.sqrt();
                [means[i], Estimate { value: sd, error: variance.error / (2.0 * sd) }]
            })
            .collect()
    }
}

impl Estimate {
    /// From the means of equally long batches.
    fn of(batches: impl Iterator<Item = f64> + Clone) -> Self {
        let count = batches.clone().count() as f64;
        let value = batches.clone().sum::<f64>() / count;
        let variance = batches.map(|mean| (mean - value) * (mean - value)).sum::<f64>() / (count - 1.0);
        Self { value, error: (variance / count).sqrt() }
    }

    /// # Panics
    /// When `expected` lies more than `factor` standard errors away.
    pub(crate) fn check(&self, what: &str, expected: f64, factor: f64) {
        let z = (self.value - expected) / self.error;
        assert!(z.abs() < factor, "{what}: {} +- {}, not {expected} (z = {z:.2})", self.value, self.error);
    }
}
