//! Variables of the layout and replicated observations, both from the kernels of `kernels/nuts/expand.cuh`.

use crate::harness::{Job, Task, assert_same};
use crate::models::{model, random};
use crate::program::{Precision, Way};
use octopus_density::Centering;
use octopus_density::gpu::GpuDensity;
use octopus_models::{EightSchools, Likelihood};
use octopus_random::{Purpose, Stream};
use octopus_sampler::{Adaptation, MetricEstimate};

const SEED: u64 = 0xfedc_ba98_7654_3210;
const FIRST_CHAIN: u32 = 3;
const FIRST_DRAW: u32 = 500;

/// More rows than two blocks have warps.
const CHAINS: usize = 3;
const DRAWS: usize = 7;
const PICKS: [u32; 4] = [0, 2, 3, 6];

/// Draws in natural coordinates, chain after chain.
fn draws(model: &impl GpuDensity) -> Vec<Vec<f64>> {
    let (effects, mut random) = (model.hierarchies()[0].z.len(), random(8));
    let natural = |_| {
        let mut x: Vec<f64> = (0..effects).map(|_| random.normal()).collect();
        x.extend((effects..model.dim()).map(|_| 2.0 + random.normal()));
        x
    };
    (0..CHAINS * DRAWS).map(natural).collect()
}

fn job(precision: Precision, task: Task, model: &impl GpuDensity) -> Job {
    let metric = MetricEstimate { diagonal: vec![1.0; model.dim()], ..MetricEstimate::default() };
    let centerings = vec![Centering::NonCentered];
    Job::in_precision(precision, task, model, &Adaptation { centerings, metric, ..Adaptation::default() })
}

/// One row for each draw, and for each pick of each chain.
struct Expanded {
    variables: Vec<Vec<f64>>,
    replicates: Vec<Vec<f64>>,
}

/// What the kernels give; `None` without a compiler.
fn in_kernels(precision: Precision, way: Way, model: &impl GpuDensity) -> Option<Expanded> {
    let draws = draws(model).concat();
    let mut expand = job(precision, Task::Expand, model);
    let mut answer = expand.reals(&draws).ask(way)?;
    let variables = (0..CHAINS * DRAWS).map(|_| answer.reals(model.layout().width())).collect();
    answer.end();
    let mut predict = job(precision, Task::Predict, model);
    predict.fields(&model.observation_data()).integer(SEED).integer(FIRST_CHAIN.into());
    predict.integer(CHAINS as u64).integer(DRAWS as u64).integer(FIRST_DRAW.into());
    predict.integer(PICKS.len() as u64);
    PICKS.iter().for_each(|&pick| _ = predict.integer(pick.into()));
    let mut answer = predict.reals(&draws).ask(way)?;
    let replicates = (0..CHAINS * PICKS.len()).map(|_| answer.reals(model.observations())).collect();
    answer.end();
    Some(Expanded { variables, replicates })
}

/// What the CPU gives.
fn on_cpu(model: &impl GpuDensity) -> Expanded {
    let draws = draws(model);
    let expand = |x: &Vec<f64>| {
        let mut out = vec![f64::NAN; model.layout().width()];
        model.expand(x, &mut out);
        out
    };
    let predict = |(chain, pick): (usize, u32)| {
        let (number, draw) = (FIRST_CHAIN + chain as u32, FIRST_DRAW + pick);
        let mut out = vec![f64::NAN; model.observations()];
        let mut random = Stream::new(SEED, number, draw, Purpose::Predictive);
        model.predict(&draws[chain * DRAWS + pick as usize], &mut random, &mut out);
        out
    };
    let picked = (0..CHAINS).flat_map(|chain| PICKS.map(|pick| (chain, pick)));
    Expanded { variables: draws.iter().map(expand).collect(), replicates: picked.map(predict).collect() }
}

fn compare(way: Way, name: &str, model: &impl GpuDensity) {
    let Some(theirs) = in_kernels(Precision::F64, way, model) else { return };
    let ours = on_cpu(model);
    assert_same(&format!("{name}, variables"), &ours.variables.concat(), &theirs.variables.concat());
    assert_same(&format!("{name}, replicates"), &ours.replicates.concat(), &theirs.replicates.concat());
}

#[test]
fn expansions_of_the_hierarchical_normal_have_the_same_bits() {
    for groups in [1, 10, 33, 100, 257] {
        for balanced in [true, false] {
            let model = model(groups, balanced, Likelihood::Collapsed);
            compare(Way::Arrays, &format!("{groups} groups"), &model);
        }
    }
}

#[test]
fn expansions_of_eight_schools_have_the_same_bits() {
    compare(Way::Arrays, "Rubin's schools", &EightSchools::rubin());
    compare(Way::Arrays, "one school", &EightSchools::new(&[3.0], &[2.0]).unwrap());
    compare(Way::Sanitized, "many schools", &EightSchools::new(&[1.5; 65], &[2.5; 65]).unwrap());
}

#[test]
fn expansions_on_fibers_have_the_same_bits() {
    compare(Way::Fibers, "100 groups", &model(100, false, Likelihood::Collapsed));
    compare(Way::Fibers, "Rubin's schools", &EightSchools::rubin());
}

/// In f32, alone or with scalars in f64, values differ from those in f64 by what rounding makes of them: sums of a
/// location and a few standard deviations, each off by some units of 6e-8 in the last place; normal numbers come from
/// 23 of the 52 bits, so that one far in the tail may be off by more.
#[test]
fn expansions_in_lower_precision_are_close() {
    let model = model(33, false, Likelihood::Collapsed);
    let exact = on_cpu(&model);
    let scale = |row: &[f64]| row.iter().fold(1.0f64, |a, x| a.max(x.abs()));
    for precision in [Precision::F32, Precision::Mixed] {
        let Some(rounded) = in_kernels(precision, Way::Sanitized, &model) else { return };
        let mut differ = 0;
        for (ours, theirs) in exact.variables.iter().zip(&rounded.variables) {
            for (x, y) in ours.iter().zip(theirs) {
                assert!((x - y).abs() < 1e-6 * scale(ours), "{precision}: {x}, {y}");
                differ += usize::from(x != y);
            }
        }
        assert!(differ > 0, "{precision} computes in f64");
        for (row, (ours, theirs)) in exact.replicates.iter().zip(&rounded.replicates).enumerate() {
            let draw = row / PICKS.len() * DRAWS + PICKS[row % PICKS.len()] as usize;
            for (x, y) in ours.iter().zip(theirs) {
                assert!((x - y).abs() < 1e-4 * scale(&exact.variables[draw]), "{precision}: {x}, {y}");
            }
        }
    }
}
