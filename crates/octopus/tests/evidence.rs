//! The evidence of models whose evidence is known: by quadrature, and in closed form.

use octopus::models::exact::ExactPosterior;
use octopus::models::{
    DensityProblem, EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood, Problem,
    synthetic::HierarchicalSpec,
};
use octopus::sampler::SamplerConfig;

fn config(seed: u64, draws: usize) -> SamplerConfig {
    SamplerConfig { draws, tune: 500, seed, ..SamplerConfig::default() }
}

fn hierarchical(groups: usize, likelihood: Likelihood) -> (Box<dyn Problem>, f64) {
    let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
    let data = spec.generate().unwrap().data;
    let truth = ExactPosterior::compute(&data, &HierarchicalPrior::default()).unwrap().log_marginal_likelihood;
    let density = HierarchicalNormal::new(data.clone(), HierarchicalPrior::default(), likelihood).unwrap();
    (Box::new(DensityProblem::new(density, data.values().to_vec()).unwrap()), truth)
}

#[test]
#[ignore = "an experiment"]
fn try_it() {
    for groups in [5, 20, 100, 300] {
        let (problem, truth) = hierarchical(groups, Likelihood::Collapsed);
        for seed in 0..3 {
            let trace = octopus::sample(&*problem, config(seed, 1000)).unwrap();
            let found = trace.evidence(&*problem, 1000, 0).unwrap();
            println!(
                "{groups} {seed} truth {truth:.4} off {:.4}\n{found}\n{:?}",
                found.log_evidence - truth,
                found.halves
            );
        }
    }
    let schools = EightSchools::rubin();
    let problem = DensityProblem::new(schools.clone(), schools.y().to_vec()).unwrap();
    for seed in 0..3 {
        let trace = octopus::sample(&problem, config(seed, 1000)).unwrap();
        println!("schools {}", trace.evidence(&problem, 1000, 0).unwrap());
    }
}
