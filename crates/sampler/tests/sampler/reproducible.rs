//! The same bits for any number of threads and any way of asking for the draws.

use octopus_density::LogDensity;
use octopus_models::synthetic::HierarchicalSpec;
use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
use octopus_sampler::{Block, Sampler, SamplerConfig, Strategy, WindowConfig};
use proptest::prelude::*;
use std::sync::LazyLock;

pub(crate) fn model(groups: usize) -> HierarchicalNormal {
    let data = HierarchicalSpec { groups, ..Default::default() }.unbalanced().expect("valid").data;
    HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed).expect("valid")
}

/// A run with several windows.
pub(crate) fn config() -> SamplerConfig {
    let windows = WindowConfig { init_buffer: 10, base_window: 10, term_buffer: 20 };
    let strategy = Strategy::FourLong;
    SamplerConfig {
        draws: 60,
        tune: 160,
        chains: 3,
        seed: 9,
        target_accept: 0.9,
        strategy,
        windows,
        ..Default::default()
    }
}

/// Everything that a run returns, as bits: for each chain one line for each draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bits {
    chains: Vec<Vec<Vec<u64>>>,
}

impl Bits {
    /// Chains that join later have empty lines until then.
    pub(crate) fn add(&mut self, block: &Block) {
        let before = self.chains.first().map_or(0, Vec::len);
        self.chains.resize(block.chains.len(), vec![Vec::new(); before]);
        for (lines, chain) in self.chains.iter_mut().zip(&block.chains) {
            let dim = chain.positions.len() / chain.stats.len();
            for (position, s) in chain.positions.chunks_exact(dim).zip(&chain.stats) {
                let mut line: Vec<u64> = position.iter().map(|x| x.to_bits()).collect();
                line.extend(
                    [s.lp, s.acceptance_rate, s.step_size, s.energy, s.energy_error, s.max_energy_error]
                        .map(f64::to_bits),
                );
                line.extend([u64::from(s.tree_depth), u64::from(s.n_steps), s.index_in_trajectory as u64]);
                line.extend([u64::from(s.diverging), u64::from(s.reached_max_treedepth)]);
                lines.push(line);
            }
        }
    }

    /// The draws from iteration `done` on.
    pub(crate) fn after(&self, done: usize) -> Self {
        Self { chains: self.chains.iter().map(|lines| lines[done..].to_vec()).collect() }
    }

    pub(crate) fn draws(&self) -> usize {
        self.chains[0].len()
    }

    pub(crate) fn chain(&self, c: usize) -> &[Vec<u64>] {
        &self.chains[c]
    }
}

/// The rest of a run, asking for `limit(k)` iterations at the `k`-th time.
pub(crate) fn finish(sampler: &mut Sampler<'_>, mut limit: impl FnMut() -> usize) -> Bits {
    let mut bits = Bits::default();
    while let Some(block) = sampler.advance(limit()).expect("runs") {
        bits.add(&block);
    }
    bits
}

pub(crate) fn whole(density: &dyn LogDensity, config: SamplerConfig) -> Bits {
    finish(&mut Sampler::new(density, config).expect("starts"), || usize::MAX)
}

#[test]
fn any_number_of_threads() {
    for groups in [20, 260] {
        let model = model(groups);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| whole(&model, config()))
        };
        let one = on(1);
        assert_eq!(one.draws(), 220);
        assert!(one == on(2), "{groups} groups: 2 threads differ from 1");
        assert!(one == on(5), "{groups} groups: 5 threads differ from 1");
    }
}

/// Chains differ from each other and from those of another seed: no random number is shared.
#[test]
fn chains_and_seeds_are_distinct() {
    let model = model(5);
    // Starting points at the center, so that only the transitions' random numbers can tell chains apart.
    let config = SamplerConfig { init_radius: 0.0, ..config() };
    let (a, b) = (whole(&model, config.clone()), whole(&model, SamplerConfig { seed: 10, ..config }));
    for c in 0..3 {
        for d in 0..c {
            let same = a.chain(c).iter().zip(a.chain(d)).filter(|(c, d)| c == d).count();
            assert_eq!(same, 0, "chains {c} and {d}");
        }
        let same = a.chain(c).iter().zip(b.chain(c)).filter(|(a, b)| a == b).count();
        assert_eq!(same, 0, "chain {c} of two seeds");
    }
}

/// The chains of a shorter run begin those of a longer one.
#[test]
fn more_draws_are_a_continuation() {
    let model = model(20);
    let (short, long) = (whole(&model, config()), whole(&model, SamplerConfig { draws: 100, ..config() }));
    for c in 0..3 {
        assert!(short.chain(c) == &long.chain(c)[..220]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_way_of_asking(limits in proptest::collection::vec(0usize..70, 1..8)) {
        static MODEL: LazyLock<HierarchicalNormal> = LazyLock::new(|| model(20));
        static WHOLE: LazyLock<Bits> = LazyLock::new(|| whole(&*MODEL, config()));
        let mut asked = limits.iter().cycle();
        let mut sampler = Sampler::new(&*MODEL, config()).expect("starts");
        let bits = finish(&mut sampler, || *asked.next().expect("endless"));
        prop_assert!(bits == *WHOLE, "limits {limits:?} change the draws");
    }
}
