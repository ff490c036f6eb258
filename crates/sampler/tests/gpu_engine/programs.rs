//! Stan programs on the GPU engine: their instructions, put into the generic kernels' text, give the CPU's bits.

use crate::scenario::{finish, on_gpu, short};
use octopus_models::{Problem, Registry, ShippedProgram};
use octopus_sampler::{GpuConfig, Sampler, SamplerConfig};
use std::sync::Arc;

/// A program that ships, on its own data.
fn shipped(name: &str) -> Arc<dyn Problem> {
    let settings = "".parse().expect("no settings");
    Registry::shipped().find(name).expect("ships").build(&settings, None).expect("is built")
}

/// A run whose warm-up learns metric and coordinates.
fn compare(name: &str, config: &SamplerConfig) {
    let problem = shipped(name);
    let expected = finish(&mut Sampler::new(problem.density(), config.clone()).unwrap(), usize::MAX);
    let found = finish(&mut on_gpu(problem.density(), config, &GpuConfig::default()).unwrap(), usize::MAX);
    found.assert_same(&expected, &format!("{name}, {config:?}"));
}

macro_rules! as_ptx {
    ($($test:ident $name:literal $tune:literal)*) => { $(
        #[test]
        fn $test() {
            crate::scenario::run_as_ptx(concat!(module_path!(), "::", stringify!($test)), || {
                compare($name, &SamplerConfig { chains: 2, tune: $tune, draws: 4, max_depth: 5, ..short() });
            });
        }
    )* };
}

as_ptx! {
    polynomial "polynomial" 60
    eight_schools "eight-schools-stan" 60
    funnel "funnel" 60
    poisson "poisson" 30
    beta_bernoulli "beta-bernoulli" 30
    meta_analysis "meta-analysis" 30
    logistic_hierarchy "logistic-hierarchy" 20
    negative_binomial "negative-binomial" 20
    hmm "hmm" 10
    state_space "state-space" 10
    garch "garch" 10
    gp_regression "gp-regression" 10
    ordinal "ordinal" 10
    mixture "mixture" 10
    item_response "item-response" 10
    radon "radon" 10
    survival "survival" 10
    hierarchical_normal "hierarchical-normal-stan" 40
}

/// A new program that ships is a line above.
#[test]
fn every_program_that_ships_is_run() {
    let here = include_str!("programs.rs");
    for program in ShippedProgram::all() {
        assert!(here.contains(&format!(" \"{}\" ", program.name)), "{}", program.name);
    }
}
