//! The same bits from vectors of every width.

use super::*;
use crate::HierarchicalPrior;
use octopus_density::{GroupedData, Labels};
use octopus_random::{Purpose, Stream};
use pulp::{Scalar, Scalar128b};

/// One evaluation on the vector unit `simd`, as bits: the value and the gradient.
fn bits<S: Simd>(simd: S, model: &HierarchicalNormal, centering: Centering, position: &[f64]) -> Vec<u64> {
    let mut gradient = vec![f64::NAN; position.len()];
    let value = simd.vectorize(Evaluate { model, centering, position, gradient: &mut gradient });
    std::iter::once(value).chain(gradient).map(f64::to_bits).collect()
}

fn model(groups: usize, size: impl Fn(usize) -> usize, likelihood: Likelihood) -> HierarchicalNormal {
    let mut random = Stream::new(31, groups as u32, 0, Purpose::User);
    let group: Vec<usize> = (0..groups).flat_map(|j| std::iter::repeat_n(j, size(j))).collect();
    let values: Vec<f64> = group.iter().map(|_| 50.0 + 9.0 * random.normal()).collect();
    let data = GroupedData::new(Labels::Range(groups), &group, &values).expect("valid");
    HierarchicalNormal::new(data, HierarchicalPrior::default(), likelihood).expect("valid")
}

/// One lane stands for a plain loop, 2 for SSE2 and NEON; then the vector units that this machine has, and what run-time
/// dispatch picks. (Wider ones are not imitated: the compiler takes a minute for what only machines run that have them.)
#[test]
fn every_vector_unit_gives_the_same_bits() {
    for groups in [1, 2, 7, 31, 32, 33, 100, 253, 254, 500, 1000] {
        let mut random = Stream::new(37, groups as u32, 0, Purpose::User);
        let mut position: Vec<f64> = (0..groups).map(|_| 20.0 + 30.0 * random.uniform()).collect();
        position.extend([48.0 + random.normal(), 2.0 + 0.1 * random.normal(), 0.7 + 0.1 * random.normal()]);
        for likelihood in [Likelihood::Collapsed, Likelihood::Pointwise] {
            let mut models = vec![model(groups, |_| 10, likelihood), model(groups, |j| 2 + j * 7 % 30, likelihood)];
            if groups <= 33 {
                models.push(model(groups, |j| [300, 3, 4133, 256, 257, 4096][j % 6], likelihood));
            }
            for model in models {
                for centering in [Centering::NonCentered, Centering::Centered, Centering::Standardised] {
                    let expected = bits(Scalar, &model, centering, &position);
                    let same = |name: &str, found: Vec<u64>| {
                        assert_eq!(found, expected, "{name}, {groups} groups, {likelihood:?}, {centering:?}");
                    };
                    same("2 lanes", bits(Scalar128b, &model, centering, &position));
                    #[cfg(target_arch = "x86_64")]
                    {
                        if let Some(simd) = pulp::x86::V3::try_new() {
                            same("AVX2", bits(simd, &model, centering, &position));
                        }
                        if let Some(simd) = pulp::x86::V4::try_new() {
                            same("AVX-512", bits(simd, &model, centering, &position));
                        }
                    }
                    let mut gradient = vec![0.0; groups + 3];
                    let value = model.logp_grad_centered(&[centering], &position, &mut gradient).expect("finite");
                    same("dispatch", std::iter::once(value).chain(gradient).map(f64::to_bits).collect());
                }
            }
        }
    }
}
