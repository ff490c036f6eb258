//! Stan programs on the GPU engine: their instructions, put into the generic kernels' text, give the CPU's bits.

use crate::scenario::{context, finish, on_gpu, short};
use octopus_density::LogDensity;
use octopus_density::gpu::GpuDensity;
use octopus_models::{Problem, Registry, ShippedProgram};
use octopus_sampler::{
    GpuConfig, GpuMemory, GpuNote, Parameterization, Precision, Sampler, SamplerConfig, SamplerError,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A program that ships, on its own data.
fn shipped(name: &str) -> Arc<dyn Problem> {
    let settings = "".parse().expect("no settings");
    Registry::shipped().find(name).expect("ships").build(&settings, None).expect("is built")
}

/// A run whose warm-up learns metric and coordinates.
fn compare(name: &str, config: &SamplerConfig) {
    compare_on(shipped(name).density(), config, &GpuConfig::default(), &format!("{name}, {config:?}"));
}

fn compare_on(density: &dyn LogDensity, config: &SamplerConfig, gpu: &GpuConfig, what: &str) {
    let expected = finish(&mut Sampler::new(density, config.clone()).unwrap(), usize::MAX);
    let found = finish(&mut on_gpu(density, config, gpu).unwrap(), usize::MAX);
    found.assert_same(&expected, what);
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

/// A program with so many effects, in a file that lives as long as it.
fn effects(count: usize) -> Arc<dyn Problem> {
    const TEXT: &str = "data { int N; } parameters { vector[N] z; real m; real<lower=0> s; }
                        model { m ~ normal(0, 2); s ~ exponential(1); z ~ normal(m, s); target += -0.1 * sum(z .^ 2); }";
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("effects.stan");
    std::fs::write(&program, TEXT).expect("is written");
    let settings = format!("program = {program:?}\nset.N = {count}").parse().expect("settings");
    Registry::shipped().find("stan").expect("is a model").build(&settings, None).expect("is built")
}

/// Chains that blocks carry: 128 threads and 4 or 8 rows.
#[test]
fn programs_of_many_coordinates() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::programs_of_many_coordinates"), || {
        for count in [40, 200, 300, 1000] {
            let problem = effects(count);
            let config = SamplerConfig { chains: 2, tune: 25, draws: 2, max_depth: 4, ..short() };
            compare_on(problem.density(), &config, &GpuConfig::default(), &format!("{count} effects"));
        }
    });
}

/// Effects about means that are made of data and tables: the way back to their own coordinates reads data of its own, which
/// come after the log density's.
#[test]
fn effects_about_means_of_data() {
    const TEXT: &str = "data { int N; array[N] int g; vector[N] u; vector[N] y; vector[N] e; }
        parameters { vector[N] z; vector[3] m; real b; real<lower=0> s; }
        model { y ~ normal(z, e); m ~ normal(0, 2); b ~ normal(0, 1); s ~ exponential(1); z ~ normal(m[g] + b * u, s); }";
    const DATA: &str = r#"{ "N": 5, "g": [3, 1, 2, 3, 1], "u": [0.3, -1.1, 0.8, 1.7, -0.4],
        "y": [1.2, -0.7, 2.5, 0.4, 1.9], "e": [0.5, 1.5, 0.9, 2.1, 0.7] }"#;
    crate::scenario::run_as_ptx(concat!(module_path!(), "::effects_about_means_of_data"), || {
        let folder = tempfile::tempdir().expect("a folder");
        let (program, data) = (folder.path().join("means.stan"), folder.path().join("means.json"));
        std::fs::write(&program, TEXT).expect("is written");
        std::fs::write(&data, DATA).expect("is written");
        let settings = format!("program = {program:?}\ndata.file.path = {data:?}").parse().expect("settings");
        let problem = Registry::shipped().find("stan").expect("is a model").build(&settings, None).expect("is built");
        assert!(problem.density().effects().is_some(), "effects have coordinates of their own");
        // Centered effects are told apart from their means in every draw.
        for parameterization in [Parameterization::Adaptive, Parameterization::Centered] {
            let config = SamplerConfig { chains: 2, tune: 30, draws: 4, max_depth: 5, parameterization, ..short() };
            compare_on(problem.density(), &config, &GpuConfig::default(), &format!("{config:?}"));
        }
    });
}

/// Chains that take turns, and launches of few iterations.
#[test]
fn any_way_of_launching_a_program() {
    crate::scenario::run_as_ptx(concat!(module_path!(), "::any_way_of_launching_a_program"), || {
        let problem = shipped("eight-schools-stan");
        let config = SamplerConfig { chains: 5, tune: 30, draws: 3, max_depth: 4, ..short() };
        for (chains_at_once, most_iterations) in [(2, 7), (5, 1), (1, 64)] {
            let gpu = GpuConfig { chains_at_once, most_iterations, ..GpuConfig::default() };
            compare_on(problem.density(), &config, &gpu, &format!("{gpu:?}"));
        }
    });
}

/// A launch that is several kernels, one after the other: all use the same memory of their chains.
#[test]
fn kernels_of_few_chains_share_their_memory() {
    let watched = ["watchdog_ms=2000;sms=1;threads=1".to_owned()];
    crate::scenario::run_as_ptx_with(
        concat!(module_path!(), "::kernels_of_few_chains_share_their_memory"),
        &watched,
        || {
            let problem = shipped("eight-schools-stan");
            let config = SamplerConfig { chains: 40, tune: 4, draws: 2, max_depth: 3, ..short() };
            let gpu = GpuConfig { kernel_time: Duration::from_nanos(1), ..GpuConfig::default() };
            let context = context();
            compare_on(problem.density(), &config, &gpu, "few chains at a time");
            // Four warps side by side: ten kernels for each of six iterations.
            let launches = context.usage().launches;
            assert!(launches > 60, "{launches} kernels");
        },
    );
}

#[test]
fn a_program_takes_the_memory_that_was_foretold() {
    crate::scenario::run_checked(concat!(module_path!(), "::a_program_takes_the_memory_that_was_foretold"), || {
        for (name, chains) in [("eight-schools-stan", 3), ("hmm", 1), ("poisson", 20)] {
            let problem = shipped(name);
            let config = SamplerConfig { chains, tune: 12, draws: 2, max_depth: 3, ..short() };
            let (gpu, context) = (GpuConfig::default(), context());
            context.reset_usage();
            finish(&mut on_gpu(problem.density(), &config, &gpu).unwrap(), usize::MAX);
            let foretold = GpuMemory::of_run(problem.density(), &config, &gpu).unwrap();
            assert_eq!(foretold.total(), context.usage().peak_device_bytes, "{name}: {foretold:?}");
            assert_eq!(context.usage().device_bytes, 0, "all is given back");
        }
    });
}

/// A device that is lost on the way leaves the rest to the CPU, to the same draws.
#[test]
fn a_program_goes_on_on_the_cpu() {
    let lost = [30, 60, 90, 120].map(|call| format!("lost={call}"));
    crate::scenario::run_as_ptx_with(concat!(module_path!(), "::a_program_goes_on_on_the_cpu"), &lost, || {
        let problem = shipped("eight-schools-stan");
        let config = SamplerConfig { chains: 2, tune: 60, draws: 20, max_depth: 4, ..short() };
        let gpu = GpuConfig { cpu_fallback: true, most_iterations: 5, ..GpuConfig::default() };
        let mut sampler = on_gpu(problem.density(), &config, &gpu).unwrap();
        let found = finish(&mut sampler, usize::MAX);
        let expected = finish(&mut Sampler::new(problem.density(), config.clone()).unwrap(), usize::MAX);
        found.assert_same(&expected, "after the loss");
        let left = |note: &GpuNote| matches!(note, GpuNote::LeftToCpu { .. });
        assert!(sampler.take_notes().iter().any(left), "no device was lost");
    });
}

#[test]
fn what_programs_have_no_kernels_for_is_refused_by_name() {
    crate::scenario::run_checked(
        concat!(module_path!(), "::what_programs_have_no_kernels_for_is_refused_by_name"),
        || {
            let (problem, large) = (shipped("poisson"), effects(1100));
            let told = |problem: &Arc<dyn Problem>, config: SamplerConfig| {
                on_gpu(problem.density(), &config, &GpuConfig::default()).err().expect("is refused").to_string()
            };
            let f32 = told(&problem, SamplerConfig { precision: Precision::F32, ..short() });
            assert!(f32.contains("none is compiled in this precision"), "{f32}");
            let large = told(&large, short());
            assert!(large.contains("with 1102 coordinates") && large.contains("at most 1024 coordinates"), "{large}");
        },
    );
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
