//! The evidence of models whose evidence is known: by quadrature, and in closed form.

use octopus::Trace;
use octopus::models::exact::{ExactPosterior, SchoolsPosterior};
use octopus::models::{
    DensityProblem, EightSchools, HierarchicalNormal, HierarchicalPrior, Likelihood, Problem, Registry,
    synthetic::HierarchicalSpec,
};
use octopus::sampler::SamplerConfig;
use toml::Table;

fn sampled(problem: &dyn Problem, seed: u64, draws: usize) -> Trace {
    octopus::sample(problem, SamplerConfig { draws, tune: 500, seed, ..SamplerConfig::default() }).unwrap()
}

fn hierarchical(groups: usize) -> (Box<dyn Problem>, f64) {
    let spec = HierarchicalSpec { groups, ..HierarchicalSpec::default() };
    let data = spec.generate().unwrap().data;
    let prior = HierarchicalPrior::default();
    let truth = ExactPosterior::compute(&data, &prior).unwrap().log_marginal_likelihood;
    let density = HierarchicalNormal::new(data.clone(), prior, Likelihood::Collapsed).unwrap();
    (Box::new(DensityProblem::new(density, data.values().to_vec()).unwrap()), truth)
}

fn schools() -> (Box<dyn Problem>, f64) {
    let model = EightSchools::rubin();
    let truth = SchoolsPosterior::compute(&model).log_marginal_likelihood;
    (Box::new(DensityProblem::new(model.clone(), model.y().to_vec()).unwrap()), truth)
}

fn all() -> Vec<(String, std::sync::Arc<dyn Problem>, f64)> {
    let mut all: Vec<(String, std::sync::Arc<dyn Problem>, f64)> = Vec::new();
    for groups in [5, 20, 100, 300, 1000] {
        let (problem, truth) = hierarchical(groups);
        all.push((format!("hierarchical {groups}"), problem.into(), truth));
    }
    let (problem, truth) = schools();
    all.push(("schools".into(), problem.into(), truth));
    let hundred = hierarchical(100).1;
    for (name, truth) in [
        ("polynomial", 78.102772576292),
        ("hierarchical-normal-stan", hundred),
        ("eight-schools-stan", truth),
        ("negative-binomial", -167.546316615),
        ("survival", -160.088789956),
        ("poisson", -92.252800092),
        ("ordinal", -113.894612127 + 6_f64.ln()),
        ("beta-bernoulli", -138.772925822),
        ("gp-regression", 14.090118733 - 12.5 * (2.0 * std::f64::consts::PI).ln()),
        ("mixture", -230.6886),
        ("logistic-hierarchy", -122.052160117),
        ("garch", -236.240505047),
        ("state-space", -59.736660250),
        ("hmm", -134.347427345),
    ] {
        let problem = Registry::shipped().find(name).unwrap().build(&Table::new(), None).unwrap();
        all.push((name.into(), problem, truth));
    }
    all
}

#[test]
#[ignore = "an experiment"]
fn try_it() {
    for (name, problem, truth) in all() {
        println!("{name} {:?} {:?}", problem.density().log_constant(), problem.prior_obstacle());
        for seed in 0..2 {
            let trace = sampled(&*problem, seed, 1000);
            let found = trace.evidence(&*problem, 1000, 0).unwrap();
            println!(
                "{name} {seed} truth {truth:.4} found {:.4} off {:.4} se {:.4} overlap {:.3} ess {:.0} {:?}",
                found.log_evidence,
                found.log_evidence - truth,
                found.standard_error,
                found.overlap(),
                found.ess(),
                found.doubt(),
            );
        }
    }
}
