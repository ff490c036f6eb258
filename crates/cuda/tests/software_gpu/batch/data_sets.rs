//! Data sets that differ in everything that they may differ in.

use octopus_cuda::{Float, NutsCentering, NutsChain, NutsField, NutsFormat, NutsLaunch};
use octopus_density::Centering;
use octopus_density::gpu::{GpuDensity, KernelField, KernelModule, Precision};
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood};

pub(super) const MAX_DEPTH: u32 = 5;
pub(super) const MOST_RANK: usize = 3;

/// A data set, where its chains begin, and what they do.
pub(super) struct DataSet {
    pub(super) density: Box<dyn GpuDensity>,
    pub(super) centering: NutsCentering,
    pub(super) scale: Vec<f64>,
    pub(super) directions: Vec<Vec<f64>>,
    pub(super) stretch: Vec<f64>,
    pub(super) states: Vec<NutsChain>,
    pub(super) points: Vec<f64>,
    /// Two launches after each other.
    pub(super) launches: [NutsLaunch; 2],
}

impl DataSet {
    pub(super) fn chains(&self) -> usize {
        self.states.len()
    }

    pub(super) fn dim(&self) -> usize {
        self.density.dim()
    }

    pub(super) fn directions(&self) -> Vec<&[f64]> {
        self.directions.iter().map(Vec::as_slice).collect()
    }

    /// The coordinates in which its chains walk, as the CPU knows them.
    pub(super) fn walks_in(&self) -> Centering {
        match self.centering {
            NutsCentering { standardised: true, .. } => Centering::Standardised,
            NutsCentering { lambda: 0.0, .. } => Centering::NonCentered,
            _ => Centering::Centered,
        }
    }

    /// Number `i`, of `chains` chains.
    fn new(i: usize, density: Box<dyn GpuDensity>, effects: usize, chains: usize) -> Self {
        let dim = density.dim();
        let wave = |k: usize, by: f64| ((k + 7 * i) as f64 * by).sin();
        let rank = i % (MOST_RANK + 1);
        let direction = |k: usize| {
            let raw: Vec<f64> = (0..dim).map(|j| wave(j + 31 * k, 0.7)).collect();
            let length = raw.iter().map(|x| x * x).sum::<f64>().sqrt();
            raw.into_iter().map(|x| x / length).collect()
        };
        let centering = match i % 3 {
            0 => NutsCentering::default(),
            1 => NutsCentering { lambda: 1.0, total: effects as f64, standardised: false },
            _ => NutsCentering { standardised: true, ..NutsCentering::default() },
        };
        let number = i as u32;
        let first = NutsLaunch {
            seed: 1000 + i as u64,
            first_chain: number % 4,
            chains: chains as u32,
            first_iteration: number % 7,
            iterations: 2 + number % 5,
            tune: if i % 4 == 1 { 0 } else { 3 + number % 6 },
            window: number % 7..number % 7 + number % 4,
            max_energy_error: 1000.0,
            target_accept: 0.7 + 0.05 * (i % 4) as f64,
        };
        let done = first.first_iteration + first.iterations;
        let second = NutsLaunch {
            first_iteration: done,
            iterations: 1 + number % 3,
            // Of fewer chains, where there are several.
            chains: first.chains - u32::from(chains > 1),
            window: done..done + u32::from(i % 5 == 2),
            ..first.clone()
        };
        let step = 0.05 + 0.01 * (i % 5) as f64;
        Self {
            centering,
            scale: (0..dim).map(|j| 1.0 + 0.3 * wave(j, 1.3)).collect(),
            directions: (0..rank).map(direction).collect(),
            stretch: (0..rank).map(|k| 0.5 + k as f64).collect(),
            states: vec![
                NutsChain::new([first.target_accept, (10.0 * step).ln(), 0.0, 0.0, step.ln(), 0.0], step);
                chains
            ],
            points: (0..chains * dim).map(|j| 0.2 * wave(j, 1.9)).collect(),
            launches: [first, second],
            density,
        }
    }

    /// Hierarchical normals with numbers of groups in `groups`.
    pub(super) fn normals(count: usize, groups: std::ops::RangeInclusive<usize>) -> Vec<Self> {
        let one = |i: usize| {
            let (first, last) = (*groups.start(), *groups.end());
            // The smallest and the largest are among them.
            let own = if i == 0 { last } else { first + (i - 1) * 5 % (last - first + 1) };
            let spec = HierarchicalSpec { groups: own, per_group: 4, seed: i as u32, ..Default::default() };
            let made = if i.is_multiple_of(2) { spec.generate() } else { spec.unbalanced() }.expect("valid");
            let likelihood = if i % 3 == 1 { Likelihood::Pointwise } else { Likelihood::Collapsed };
            let prior = HierarchicalPrior { mu_sd: 10.0 + i as f64, ..HierarchicalPrior::default() };
            let model = HierarchicalNormal::new(made.data, prior, likelihood).expect("valid");
            Self::new(i, Box::new(model), own, 1 + i * 3 % 7)
        };
        (0..count).map(one).collect()
    }

    pub(super) fn schools(count: usize) -> Vec<Self> {
        let one = |i: usize| {
            let schools = 2 + i * 3 % 9;
            let effect: Vec<f64> = (0..schools).map(|j| 10.0 * ((i + j) as f64).cos()).collect();
            let sigma: Vec<f64> = (0..schools).map(|j| 5.0 + ((i + 2 * j) % 7) as f64).collect();
            let model = EightSchools::new(&effect, &sigma).expect("valid");
            Self::new(i, Box::new(model), schools, 1 + i % 5)
        };
        (0..count).map(one).collect()
    }
}

/// The module of this precision and shape.
pub(super) fn module(modules: &[KernelModule], precision: Precision, shape: [u32; 2]) -> &KernelModule {
    let own = |module: &&KernelModule| module.precision == precision && [module.lanes, module.rows] == shape;
    modules.iter().filter(|module| !module.team).find(own).expect("compiled")
}

pub(super) fn format(module: &KernelModule) -> NutsFormat {
    let float = |bytes| if bytes == 4 { Float::F32 } else { Float::F64 };
    NutsFormat {
        element: float(module.precision.vector_bytes()),
        scalar: float(module.precision.scalar_bytes()),
        lanes: module.lanes,
        rows: module.rows,
    }
}

pub(super) fn given<'a>(fields: &'a [KernelField<'_>]) -> Vec<NutsField<'a>> {
    let one = |field: &'a KernelField<'_>| match field {
        KernelField::Word(word) => NutsField::Word(*word),
        KernelField::Scalar(scalar) => NutsField::Scalar(*scalar),
        KernelField::PerCoordinate(values) => NutsField::PerCoordinate(values),
        KernelField::Reals(values) => NutsField::Reals(values),
        KernelField::Words(words) => NutsField::Words(words),
    };
    fields.iter().map(one).collect()
}
