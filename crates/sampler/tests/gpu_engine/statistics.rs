//! Every precision meets the exact posterior: means and standard deviations within 4 Monte Carlo standard errors, 5 for
//! the many z and mu_group, and with no more divergences than in f64.

use crate::monte_carlo::collect;
use crate::scenario::{model, on_gpu, on_software_gpu, prd};
use octopus_density::LogDensity;
use octopus_models::exact::{ExactPosterior, Quantity};
use octopus_models::{HierarchicalNormal, Likelihood};
use octopus_sampler::{GpuConfig, Precision, SamplerConfig};

fn check(groups: usize, balanced: bool, likelihood: Likelihood, draws: usize) {
    meets_the_exact_posterior(&model(groups, balanced, likelihood), &SamplerConfig { draws, ..prd() });
}

/// In every precision; the divergences of each.
pub(crate) fn meets_the_exact_posterior(model: &HierarchicalNormal, config: &SamplerConfig) -> Vec<usize> {
    let exact = ExactPosterior::compute(model.data(), model.prior()).expect("converges");
    let of = format!("{} groups, {:?}", model.data().groups(), model.likelihood());
    let mut divergences = Vec::new();
    for precision in Precision::ALL {
        let config = SamplerConfig { precision, ..config.clone() };
        let draws = collect(model.dim(), on_gpu(model, &config, &GpuConfig::default()).unwrap());
        divergences.push(draws.divergences());
        let moments = draws.moments(model.layout().width(), |x, out| model.expand(x, out));
        for (variable, range) in model.layout().ranges() {
            let factor = if variable.dims.is_empty() { 4.0 } else { 5.0 };
            for (index, [mean, sd]) in moments[range].iter().enumerate() {
                let expected = exact.moments(Quantity::named(&variable.name, index).expect("has an exact posterior"));
                let what = format!("{of}, {precision}, {}", variable.element_name(index));
                mean.check(&format!("{what} mean"), expected.mean, factor);
                sd.check(&format!("{what} sd"), expected.sd, factor);
            }
        }
    }
    eprintln!("{of}: divergences in f64, f32, mixed: {divergences:?}");
    assert!(divergences.iter().all(|count| *count <= divergences[0]), "{divergences:?}");
    divergences
}

on_software_gpu!(
    precisions_at_100_groups,
    "",
    &["nuts_hierarchical_normal_f64_32x4", "nuts_hierarchical_normal_f32_32x4", "nuts_hierarchical_normal_mixed_32x4"],
    {
        check(100, true, Likelihood::Collapsed, 2000);
        check(100, false, Likelihood::Pointwise, 2000);
    }
);

on_software_gpu!(
    precisions_at_500_groups,
    "",
    &[
        "nuts_hierarchical_normal_f64_128x4",
        "nuts_hierarchical_normal_f32_128x4",
        "nuts_hierarchical_normal_mixed_128x4"
    ],
    { check(500, true, Likelihood::Collapsed, 2000) }
);

on_software_gpu!(
    precisions_at_1000_groups,
    "",
    &[
        "nuts_hierarchical_normal_f64_128x8",
        "nuts_hierarchical_normal_f32_128x8",
        "nuts_hierarchical_normal_mixed_128x8"
    ],
    { check(1000, true, Likelihood::Collapsed, 1000) }
);
