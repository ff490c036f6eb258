//! Data, coordinates, metrics and points for the comparisons.

use octopus_density::{Centering, GroupedData, LogDensity};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_random::{Purpose, Stream};
use octopus_sampler::reference::snapshot;
use octopus_sampler::{Adaptation, MetricEstimate, MetricKind, Parameterization, Sampler, SamplerConfig};

/// Groups of the comparisons: one row of 32 lanes, the PRD's, the last of 32 lanes, the first of 128, the PRD's others.
pub(crate) const GROUPS: [usize; 8] = [10, 100, 253, 254, 256, 257, 500, 1000];

pub(crate) fn random(seed: u64) -> Stream {
    Stream::new(seed, 0, 0, Purpose::User)
}

pub(crate) fn data(groups: usize, balanced: bool) -> GroupedData {
    let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
    if balanced { spec.generate() } else { spec.unbalanced() }.unwrap().data
}

pub(crate) fn model(groups: usize, balanced: bool, likelihood: Likelihood) -> HierarchicalNormal {
    HierarchicalNormal::new(data(groups, balanced), HierarchicalPrior::default(), likelihood).unwrap()
}

pub(crate) const CENTERINGS: [Centering; 3] = [Centering::NonCentered, Centering::Centered, Centering::Standardised];

/// A centering with a metric of one everywhere.
pub(crate) fn adaptation(centering: Centering, dim: usize) -> Adaptation {
    let metric = MetricEstimate { diagonal: vec![1.0; dim], ..MetricEstimate::default() };
    Adaptation { centerings: vec![centering], metric, ..Adaptation::default() }
}

/// Chains in the posterior, with what they have learned on the way.
pub(crate) struct Settled {
    pub(crate) adaptation: Adaptation,
    /// Positions in the sampler's coordinates.
    pub(crate) starts: Vec<Vec<f64>>,
    pub(crate) step: f64,
}

/// Chains after a short warm-up; the metric then gets `rank` directions of its own making.
pub(crate) fn settle(
    model: &HierarchicalNormal,
    parameterization: Parameterization,
    rank: usize,
    chains: usize,
) -> Settled {
    let config = SamplerConfig {
        draws: 1,
        tune: 80,
        chains,
        seed: 5,
        parameterization,
        metric: MetricKind::Diag,
        ..SamplerConfig::default()
    };
    let mut sampler = Sampler::new(model, config).unwrap();
    while sampler.advance(usize::MAX).unwrap().is_some() {}
    let mut adaptation = sampler.adaptation().clone();
    let (dim, mut random) = (model.dim(), random(4));
    for k in 0..rank {
        let mut u: Vec<f64> = (0..dim).map(|_| random.normal()).collect();
        for earlier in &adaptation.metric.directions {
            let along: f64 = u.iter().zip(earlier).map(|(a, b)| a * b).sum();
            u.iter_mut().zip(earlier).for_each(|(u, e)| *u -= along * e);
        }
        let length = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        u.iter_mut().for_each(|u| *u /= length);
        adaptation.metric.directions.push(u);
        adaptation.metric.variances.push(1.0 + 3.0 / (k + 1) as f64);
    }
    let states = snapshot(&sampler);
    let step = states[0].step_size;
    Settled { adaptation, starts: states.into_iter().map(|state| state.x).collect(), step }
}

/// Chains that have learned nothing, `spread` wide.
pub(crate) fn remote(
    model: &HierarchicalNormal,
    parameterization: Parameterization,
    spread: f64,
    chains: usize,
) -> Settled {
    let centering = match parameterization {
        Parameterization::NonCentered | Parameterization::AsWritten => Centering::NonCentered,
        Parameterization::Centered => Centering::Centered,
        Parameterization::Adaptive => Centering::Standardised,
    };
    let mut random = random(12);
    let starts = (0..chains).map(|_| point(model, centering, spread, &mut random)).collect();
    Settled { adaptation: adaptation(centering, model.dim()), starts, step: 1.0 }
}

pub(crate) const PARAMETERIZATIONS: [Parameterization; 3] =
    [Parameterization::NonCentered, Parameterization::Centered, Parameterization::Adaptive];

/// A point near the typical set, `spread` wide, in the coordinates of `centering`.
pub(crate) fn point(model: &HierarchicalNormal, centering: Centering, spread: f64, random: &mut Stream) -> Vec<f64> {
    let groups = model.dim() - 3;
    let mut x: Vec<f64> = (0..groups).map(|_| spread * random.normal()).collect();
    x.extend([50.0 + 2.0 * spread * random.normal(), 2.0 + spread * random.normal(), 1.0 + spread * random.normal()]);
    octopus_density::to_centered(model.hierarchies(), &[centering], &mut x);
    x
}
