//! What does not fit is refused with words, and harms nothing.

use super::data_sets::{DataSet, MAX_DEPTH, MOST_RANK};
use super::outcome::Batched;
use super::{FAST, with_units};
use crate::scenario::context;
use octopus_cuda::{
    CudaError, Float, NutsBatch, NutsBatchItem, NutsBatchKernels, NutsBatchLaunch, NutsBatchSlot, NutsCentering,
    NutsField, NutsFormat, NutsLaunch, NutsOutput, NutsRestart,
};
use octopus_density::gpu::Precision;

const UNITS: &[&str] = &["nuts_batch_hierarchical_normal_f64_32x1"];
const FORMAT: NutsFormat = NutsFormat { element: Float::F64, scalar: Float::F64, lanes: 32, rows: 1 };

/// Where the chains of each launch are after it.
fn end_positions(outputs: &[NutsOutput<'_>], launches: &[NutsBatchLaunch]) -> Vec<f64> {
    let mut positions = Vec::new();
    for (output, own) in outputs.iter().zip(launches) {
        (0..own.launch.chains as usize).for_each(|chain| output.end_position(chain, &mut positions));
    }
    positions
}

fn words<T>(result: Result<T, CudaError>) -> String {
    result.err().expect("refused").to_string()
}

#[test]
fn launches_that_do_not_fit() {
    let name = concat!(module_path!(), "::launches_that_do_not_fit");
    with_units(name, "", FAST, UNITS, || {
        let context = context();
        let sets = DataSet::normals(4, 1..=29);
        let mut batched = Batched::new(&context, Precision::F64, [32, 1], &sets);
        let all = [0, 1, 2, 3];
        batched.restart(&all);
        let states = batched.batch.states(&all).unwrap();
        let launched = context.usage().launches;
        let launches = batched.launches(0, &all);
        let change = |item: usize, change: &dyn Fn(&mut NutsBatchLaunch)| {
            let mut launches = launches.clone();
            change(&mut launches[item]);
            launches
        };
        let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut batched;
        let mut run = |launches: &[NutsBatchLaunch]| words(kernels.run(stream, launches, batch, slot));
        assert_eq!(
            run(&change(2, &|own| own.item = 1)),
            "data set 1 is asked for twice in one launch; launch it again afterwards"
        );
        assert_eq!(
            run(&change(2, &|own| own.item = 4)),
            "choosing data sets of a batch: elements 4..5 are not within the buffer's 4"
        );
        // Of 1, 4, 7 and 3 chains.
        assert_eq!(
            run(&change(1, &|own| own.launch.chains = 5)),
            "launching 5 chains of data set 1: the data set (chains) has 4 elements, 5 are needed"
        );
        let long = run(&change(0, &|own| own.launch.iterations = 10_000));
        assert!(long.starts_with("launching 4 data sets: the slot (bytes) has "), "{long}");
        let endless = run(&change(0, &|own| own.launch.iterations = u32::MAX));
        assert!(endless.starts_with("launching 4 data sets: the slot (bytes) has "), "{endless}");
        let points: Vec<&[f64]> = sets.iter().map(|set| set.points.as_slice()).collect();
        let mut restart =
            |points: &[&[f64]]| words(kernels.restart(stream, NutsRestart::Search, &launches, points, batch, slot));
        assert_eq!(
            restart(&points[..3]),
            "placing the chains' points: the list of data sets has 3 elements, 4 are needed"
        );
        let mut short = points.clone();
        short[3] = &short[3][1..];
        let (found, expected) = (short[3].len(), points[3].len());
        assert_eq!(
            restart(&short),
            format!("placing the chains' points: the list of a data set has {found} elements, {expected} are needed")
        );
        // Nothing of this was launched.
        assert_eq!(batched.batch.states(&all).unwrap(), states);
        assert_eq!(context.usage().launches, launched);
        // No launches are none.
        let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut batched;
        kernels.run(stream, &[], batch, slot).unwrap();
        slot.fetch(stream, true).unwrap();
        assert!(slot.wait().unwrap().is_empty());
        assert_eq!(context.usage().launches, launched);
    });
}

#[test]
fn parts_that_do_not_fit() {
    let name = concat!(module_path!(), "::parts_that_do_not_fit");
    with_units(name, "total_mb=64;free_mb=60", FAST, UNITS, || {
        let context = context();
        let sets = DataSet::normals(2, 1..=29);
        let mut batched = Batched::new(&context, Precision::F64, [32, 1], &sets);
        let batch = &mut batched.batch;
        assert_eq!((batch.len(), batch.is_empty()), (2, false));
        let (long, one) = (vec![1.0; 33], vec![1.0; 32]);
        assert_eq!(
            words(batch.set_metric(1, &long, &[], &[])),
            "copying to the device (32x1 of 64 and 64 bits): the metric's diagonal has 33 elements, 32 are needed"
        );
        assert_eq!(
            words(batch.set_metric(0, &one, &[&one, &one, &one, &one], &[0.0; 4])),
            "setting a metric of 4 directions: the metric has 4 elements, 3 are needed"
        );
        for result in [
            batch.set_centering(2, NutsCentering::default()),
            batch.set_metric(2, &[], &[], &[]),
            batch.set_states(&[(2, &[])]),
            batch.states(&[0, 2]).map(drop),
        ] {
            assert!(matches!(result, Err(CudaError::RangeOutside { start: 2, length: 2, .. })), "{result:?}");
        }
        let many = [sets[1].states[0]; 5];
        assert_eq!(
            words(batch.set_states(&[(0, &sets[0].states), (1, &many)])),
            "setting the states of data set 1: the data set (chains) has 4 elements, 5 are needed"
        );

        let new = |items: &[NutsBatchItem<'_>]| NutsBatch::new(&context, FORMAT, items, MAX_DEPTH, MOST_RANK);
        let item = |fields, dim| NutsBatchItem { fields, chains: 1, dim };
        assert_eq!(
            words(new(&[item(&[], 32), item(&[], 33)])),
            "making room for data set 1 in 32x1 of 64 and 64 bits: a vector has 32 elements, 33 are needed"
        );
        let kinds = [NutsField::Word(1), NutsField::Scalar(1.0)];
        assert_eq!(
            words(new(&[item(&kinds, 1), item(&kinds[..1], 1)])),
            "making room for data set 1 in 32x1 of 64 and 64 bits: the list of fields (kinds as in data set 0) has 1 \
             elements, 2 are needed"
        );
        let turned = [kinds[1], kinds[0]];
        assert!(new(&[item(&kinds, 1), item(&turned, 1)]).is_err());
        // More chains than the device has room for, and more than anything has.
        let fields = [];
        let crowd = |chains| [NutsBatchItem { fields: &fields, chains, dim: 1 }];
        let error = new(&crowd(20_000)).err().expect("refused");
        assert!(matches!(error, CudaError::OutOfMemory { .. }), "{error}");
        assert!(matches!(new(&crowd(usize::MAX)), Err(CudaError::TooLarge { .. })));
        let slot = NutsBatchSlot::new(&context, &batched.batch, 1 << 20);
        assert!(slot.err().expect("refused").is_out_of_memory());
        assert!(matches!(NutsBatchSlot::new(&context, &batched.batch, usize::MAX), Err(CudaError::TooLarge { .. })));
        assert_eq!(NutsBatch::bytes_for(FORMAT, &crowd(usize::MAX), MAX_DEPTH, MOST_RANK), None);

        // Kernels of another format, and data of another structure than theirs.
        let wide = NutsFormat { rows: 4, ..FORMAT };
        let density = &sets[0].density;
        let module = density.batch_modules().iter().find(|module| (module.lanes, module.rows) == (32, 1));
        let text = module.expect("compiled").ptx.text().unwrap();
        let load = |format| NutsBatchKernels::load(&context, &text, "hierarchical_normal_f64_32x1", format).unwrap();
        let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut batched;
        let error = words(load(wide).run(stream, &[], batch, slot));
        assert!(error.contains("format of the batch is 32x1 of 64 and 64 bits"), "{error}");
        let mut other = new(&[item(&kinds, 1)]).unwrap();
        let mut own = NutsBatchSlot::new(&context, &other, 1).unwrap();
        let launch = NutsLaunch { chains: 1, iterations: 1, ..sets[0].launches[0].clone() };
        let error = kernels.run(stream, &[NutsBatchLaunch { item: 0, launch }], &mut other, &mut own).unwrap_err();
        assert!(matches!(error, CudaError::KernelSignature { .. }), "{error}");
        let missing = NutsBatchKernels::load(&context, &text, "nothing", FORMAT).expect_err("refused");
        assert_eq!(missing, CudaError::KernelMissing { kernel: "nuts_run_batch_nothing".into() });
    });
}

/// A copy of the table or of the results that fails ends that launch only.
#[test]
fn copies_that_fail() {
    let name = concat!(module_path!(), "::copies_that_fail");
    // Each restart and run sends its table; the third is the second run's.
    with_units(name, "fail=cuMemcpyHtoDAsync_v2:1@3,cuMemcpyDtoHAsync_v2:1@2", FAST, UNITS, || {
        let context = context();
        let sets = DataSet::normals(3, 1..=29);
        let all = [0, 1, 2];
        let mut undisturbed = Batched::new(&context, Precision::F64, [32, 1], &sets);
        undisturbed.restart(&all);
        let expected = undisturbed.run(0, &all, 0);
        let launches = undisturbed.launches(1, &all);
        let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut undisturbed;
        assert_eq!(kernels.run(stream, &launches, batch, slot).unwrap_err().code().map(|code| code.0), Some(1));
        // The next finds everything as it was.
        let second = {
            kernels.run(stream, &launches, batch, slot).unwrap();
            assert_eq!(slot.fetch(stream, true).unwrap_err().code().map(|code| code.0), Some(1));
            assert!(matches!(slot.wait(), Err(CudaError::LengthMismatch { .. })));
            slot.fetch(stream, true).unwrap();
            end_positions(&slot.wait().unwrap(), &launches)
        };
        let mut again = Batched::new(&context, Precision::F64, [32, 1], &sets);
        again.restart(&all);
        assert_eq!(again.run(0, &all, 1), expected);
        let Batched { kernels, stream, batch, slots: [slot, _], .. } = &mut again;
        kernels.run(stream, &launches, batch, slot).unwrap();
        slot.fetch(stream, false).unwrap();
        assert_eq!(end_positions(&slot.wait().unwrap(), &launches), second);
    });
}
