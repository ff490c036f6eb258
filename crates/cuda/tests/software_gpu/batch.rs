//! Launches of many data sets: each leaves what launches of its own leave, to the bit.

mod data_sets;
mod outcome;
mod refusals;

use crate::scenario::{self, context};
use data_sets::DataSet;
use octopus_cuda::Stream;
use octopus_density::gpu::Precision;
use octopus_density::to_non_centered;
use octopus_softgpu::{Body, KernelSources, Lanes, SoftwareGpu, Variant};
use outcome::{Batched, alone};

/// Lanes as arrays, without sanitizers.
pub(crate) const FAST: (Variant, Lanes) = (Variant::Plain, Lanes::Arrays);

/// A test on a software GPU with these settings and units of the sampler's kernels.
pub(crate) fn with_units(
    path: &str,
    settings: &str,
    (variant, lanes): (Variant, Lanes),
    units: &[&str],
    body: impl FnOnce(),
) {
    let build = || SoftwareGpu::build_with(&KernelSources::of_workspace(), variant)?.with_sampler(lanes, units);
    scenario::run_on(build, path, settings, body);
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// All data sets in launches of many against each in launches of its own.
fn check(precision: Precision, shape: [u32; 2], sets: &[DataSet]) {
    let context = context();
    let expected = alone(&context, precision, shape, sets);
    context.reset_usage();
    let mut batched = Batched::new(&context, precision, shape, sets);
    let foretold = batched.foretold[0] + 2 * batched.foretold[1];
    assert_eq!(batched.batch.bytes() + batched.slots[0].bytes() + batched.slots[1].bytes(), foretold);

    let all: Vec<usize> = (0..sets.len()).collect();
    batched.restart(&all);
    let restarted = batched.batch.states(&all).unwrap();
    let launched = |item: usize, which: usize| sets[item].launches[which].chains as usize;
    for (item, states) in restarted.iter().enumerate() {
        assert_eq!(states, &expected[item].restarted, "data set {item} after a restart");
    }
    let before = context.usage().launches;
    for (item, found) in batched.run(0, &all, 0).iter().enumerate() {
        assert_eq!(found, &expected[item].launches[0], "data set {item}, first launch");
        assert_eq!(found.states.len(), launched(item, 0));
    }
    assert_eq!(context.usage().launches, before + 1, "however many data sets there are");

    // Some go on, and the others stay as they are; then those, in another order.
    let (odd, mut even): (Vec<usize>, Vec<usize>) = all.iter().partition(|&item| item % 2 == 1);
    even.reverse();
    for (items, at) in [(odd, 1), (even, 0)] {
        let found = batched.run(1, &items, at);
        for (item, found) in items.iter().zip(&found) {
            assert_eq!(found, &expected[*item].launches[1], "data set {item}, second launch");
        }
        let states = batched.batch.states(&all).unwrap();
        for item in all.iter().filter(|item| !items.contains(item) && at == 1) {
            assert_eq!(states[*item], expected[*item].launches[0].states, "data set {item} took no part");
        }
    }
    assert_eq!(context.usage().peak_device_bytes, foretold as u64);
    drop(batched);
    assert_eq!(context.usage().device_bytes, 0);
}

/// A test of one precision and shape, of hierarchical normals.
macro_rules! batches {
    ($name:ident, $way:expr, $precision:ident $lanes:literal x $rows:literal, $unit:literal, $body:expr) => {
        #[test]
        fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            let units = [concat!("nuts_", $unit), concat!("nuts_batch_", $unit)];
            with_units(name, "", $way, &units, || $body(Precision::$precision, [$lanes, $rows]));
        }
    };
}

batches!(one_three_and_forty, FAST, F64 32 x 1, "hierarchical_normal_f64_32x1", |precision, shape| {
    for count in [1, 3, 40] {
        check(precision, shape, &DataSet::normals(count, 1..=29));
    }
});

batches!(in_f32, FAST, F32 32 x 1, "hierarchical_normal_f32_32x1", |precision, shape| {
    check(precision, shape, &DataSet::normals(12, 1..=29));
});

batches!(in_mixed_precision, FAST, Mixed 32 x 1, "hierarchical_normal_mixed_32x1", |precision, shape| {
    check(precision, shape, &DataSet::normals(12, 1..=29));
});

batches!(by_a_block_each, FAST, F64 128 x 8, "hierarchical_normal_f64_128x8", |precision, shape| {
    // More rows than they need, for some.
    check(precision, shape, &DataSet::normals(3, 254..=600));
});

batches!(of_another_density, FAST, F64 32 x 1, "eight_schools_f64_32x1", |precision, shape| {
    check(precision, shape, &DataSet::schools(9));
});

/// The PTX itself: lanes that meet in shuffles and barriers.
#[test]
fn as_ptx() {
    let name = concat!(module_path!(), "::as_ptx");
    Body::run_as_ptx(name.split_once("::").map_or(name, |(_, test)| test), || {
        check(Precision::F64, [32, 1], &DataSet::normals(3, 1..=29));
        check(Precision::Mixed, [32, 1], &DataSet::normals(2, 1..=29));
        check(Precision::F64, [128, 8], &DataSet::normals(2, 254..=600));
    });
}

batches!(
    under_sanitizers,
    (Variant::Sanitized, Lanes::Arrays),
    F64 32 x 1,
    "hierarchical_normal_f64_32x1",
    |precision, shape| check(precision, shape, &DataSet::normals(3, 1..=29))
);

// Points are the draws in the sampler's coordinates, and gradients the CPU's there, also where chains adapt no step size
// of their own.
batches!(points_of_windows, FAST, F64 32 x 1, "hierarchical_normal_f64_32x1", |precision, shape| {
    let (context, sets) = (context(), DataSet::normals(12, 1..=29));
    let mut batched = Batched::new(&context, precision, shape, &sets);
    let all: Vec<usize> = (0..sets.len()).collect();
    batched.restart(&all);
    let launches = batched.launches(0, &all);
    let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut batched;
    kernels.run(stream, &launches, batch, slot).unwrap();
    slot.fetch(stream, true).unwrap();
    let mut without_adaptation = 0;
    for ((set, own), output) in sets.iter().zip(&launches).zip(slot.wait().unwrap()) {
        let (window, dim) = (output.window(), set.dim());
        for chain in 0..set.chains() {
            let (mut draws, mut points, mut gradients) = (Vec::new(), Vec::new(), Vec::new());
            output.draws(chain, &mut draws);
            output.points(chain, &mut points, &mut gradients);
            assert_eq!([points.len(), gradients.len()], [window.len() * dim; 2]);
            let draws = draws.chunks(dim).skip(window.start);
            for ((x, gradient), draw) in points.chunks(dim).zip(gradients.chunks(dim)).zip(draws) {
                let (mut natural, mut expected) = (x.to_vec(), vec![0.0; dim]);
                to_non_centered(set.density.hierarchies(), &[set.walks_in()], &mut natural);
                set.density.logp_grad_centered(&[set.walks_in()], x, &mut expected).unwrap();
                assert_eq!(bits(&natural), bits(draw));
                assert_eq!(bits(gradient), bits(&expected));
            }
            without_adaptation += if own.launch.tune == 0 { window.len() } else { 0 };
        }
    }
    assert!(without_adaptation > 0);
});

/// A launch's table of data sets is written anew only behind the launch that reads it, also from another stream.
#[test]
fn a_table_stays_until_it_is_read() {
    let name = concat!(module_path!(), "::a_table_stays_until_it_is_read");
    let units = ["nuts_hierarchical_normal_f64_32x1", "nuts_batch_hierarchical_normal_f64_32x1"];
    for late in ["late=4", "late=8", "late=12", "late=16"] {
        with_units(name, late, FAST, &units, || {
            let (context, sets) = (context(), DataSet::normals(6, 1..=29));
            let expected = alone(&context, Precision::F64, [32, 1], &sets);
            let mut batched = Batched::new(&context, Precision::F64, [32, 1], &sets);
            let all: Vec<usize> = (0..sets.len()).collect();
            batched.restart(&all);
            for half in [&all[..3], &all[3..]] {
                let launches = batched.launches(0, half);
                let Batched { kernels, batch, slots: [slot, _], .. } = &mut batched;
                kernels.run(&Stream::new(&context).unwrap(), &launches, batch, slot).unwrap();
            }
            for (item, states) in batched.batch.states(&all).unwrap().iter().enumerate() {
                assert_eq!(states, &expected[item].launches[0].states, "data set {item}");
            }
        });
    }
}
