//! Stan programs on the GPU engine: their instructions, put into the generic kernels' text, give the CPU's bits.

use crate::scenario::{finish, on_gpu, short};
use octopus_density::gpu::GpuDensity;
use octopus_models::{Problem, Registry, ShippedProgram};
use octopus_sampler::{GpuConfig, Sampler, SamplerConfig, SamplerError};
use std::collections::BTreeMap;
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

/// Programs of posteriordb: `OCTOPUS_POSTERIORDB_LIST` names a file whose lines have a name, a program and its data, parted by
/// tabs; without it nothing is run.
#[test]
fn posteriordb_as_ptx() {
    let Ok(list) = std::env::var("OCTOPUS_POSTERIORDB_LIST") else {
        eprintln!("SKIPPED: OCTOPUS_POSTERIORDB_LIST names no list of programs");
        return;
    };
    crate::scenario::run_checked(concat!(module_path!(), "::posteriordb_as_ptx"), || {
        let list = std::fs::read_to_string(&list).expect("the list can be read");
        let config = SamplerConfig { chains: 1, tune: 0, draws: 2, max_depth: 2, ..short() };
        let mut counts = BTreeMap::new();
        for line in list.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, program, data] = fields[..] else { panic!("three fields: {line}") };
            let found = one_of_posteriordb(program, data, &config);
            let kind = found.split(':').next().unwrap_or_default().to_owned();
            eprintln!("{name}: {found}");
            *counts.entry(kind).or_insert(0) += 1;
        }
        eprintln!("{counts:?}");
        assert!(!counts.contains_key("other bits"), "{counts:?}");
    });
}

/// What a short run gives on both engines.
fn one_of_posteriordb(program: &str, data: &str, config: &SamplerConfig) -> String {
    let settings = format!("program = {program:?}\ndata.file.path = {data:?}").parse().expect("settings");
    let problem = match Registry::shipped().find("stan").expect("is a model").build(&settings, None) {
        Ok(problem) => problem,
        Err(error) => return format!("not built: {}", error.to_string().lines().next().unwrap_or_default()),
    };
    let density = problem.density();
    if let Some(why) = density.kernels().and_then(GpuDensity::missing) {
        return format!("no kernel: {why}");
    }
    if density.dim() > 1024 {
        return format!("too many coordinates: {}", density.dim());
    }
    let run = |sampler: Result<Sampler<'_>, SamplerError>| match sampler {
        Ok(mut sampler) => Ok(finish(&mut sampler, usize::MAX)),
        Err(error) => Err(error.to_string()),
    };
    match (run(Sampler::new(density, config.clone())), run(on_gpu(density, config, &GpuConfig::default()))) {
        (Ok(expected), Ok(found)) if found == expected => "same bits".to_owned(),
        (Err(expected), Err(found)) if found == expected => format!("same error: {found}"),
        (Ok(_), Err(found)) => format!("other bits: {found}"),
        _ => "other bits".to_owned(),
    }
}
