//! A trace written in a format is read again, and any format keeps what another held.

use crate::{
    FormatError, InverseMetric, StanMetric, detect_format, read_stan_csv, read_trace, write_netcdf, write_parquet,
    write_stan_csv, write_zarr, write_zarr_v2,
};
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Calendar, Dataset, Dates, Durations, InferenceData, Values};
use proptest::prelude::*;
use std::path::Path;

type Write = fn(&Path, &InferenceData, bool) -> Result<(), FormatError>;

/// The formats that keep everything.
const FORMATS: [(&str, Write, &str); 4] = [
    ("netcdf", write_netcdf, "netcdf"),
    ("zarr", write_zarr, "zarr"),
    ("zarr 2", write_zarr_v2, "zarr"),
    ("parquet", write_parquet, "parquet"),
];

fn labels(len: usize) -> BoxedStrategy<Option<Labels>> {
    prop_oneof![
        Just(None),
        Just(Some(Labels::Range(len))),
        // Beyond any range, so that the kind survives.
        prop::collection::vec(-1_000_000..-1i64, len).prop_map(|v| Some(Labels::Integers(v))),
        prop::collection::vec("[a-zäøß☃ .,:]{0,6}", len).prop_map(|v| Some(Labels::Strings(v))),
        prop::collection::vec(prop::num::f64::ANY, len).prop_map(|v| Some(Labels::Reals(v))),
        prop::collection::vec(prop::num::f32::ANY, len).prop_map(|v| Some(Labels::Singles(v))),
        prop::collection::vec(any::<bool>(), len).prop_map(|v| Some(Labels::Flags(v))),
        (0..6usize, times(len)).prop_map(|(calendar, v)| {
            const ALL: [Calendar; 6] = [
                Calendar::ProlepticGregorian,
                Calendar::Standard,
                Calendar::Julian,
                Calendar::NoLeap,
                Calendar::AllLeap,
                Calendar::Days360,
            ];
            Some(Labels::Dates(Dates::from_nanoseconds(ALL[calendar], &v).unwrap()))
        }),
        times(len).prop_map(|v| Some(Labels::Durations(Durations::from_nanoseconds(&v).unwrap()))),
    ]
    .boxed()
}

/// Points in time of all of history, in seconds, and one that is none.
fn times(len: usize) -> impl Strategy<Value = Vec<Option<i128>>> {
    let time = prop::option::weighted(0.9, -60_000_000_000..60_000_000_000i64);
    prop::collection::vec(time, len).prop_map(|v| v.into_iter().map(|t| Some(i128::from(t?) * 1_000_000_000)).collect())
}

fn values(len: usize) -> BoxedStrategy<Values> {
    prop_oneof![
        // Any bits, NaN with payload excepted: those compare equal to nothing.
        prop::collection::vec(prop::num::f64::ANY.prop_filter("NaN", |v| !v.is_nan()), len).prop_map(Values::F64),
        prop::collection::vec(any::<i64>(), len).prop_map(Values::I64),
        prop::collection::vec(any::<bool>(), len).prop_map(Values::Bool),
        prop::collection::vec("[a-z☃]{0,4}", len).prop_map(Values::Strings),
    ]
    .boxed()
}

fn attribute() -> impl Strategy<Value = Attribute> {
    let scalar = prop_oneof![
        "[ -~]{1,12}".prop_map(Attribute::Text),
        "[äß☃]{1,5}".prop_map(Attribute::Text),
        any::<i64>().prop_map(Attribute::I64),
        (-1e9..1e9f64).prop_map(Attribute::F64),
    ];
    let list = prop::collection::vec(any::<i64>().prop_map(Attribute::I64), 2..4).prop_map(Attribute::List);
    prop_oneof![3 => scalar, 1 => list]
}

fn dataset() -> impl Strategy<Value = Dataset> {
    let sizes = (1..4usize, 1..7usize, 1..4usize, 1..3usize);
    sizes.prop_flat_map(|(chains, draws, g, k)| {
        let axes = [("chain", chains), ("draw", draws), ("g", g), ("k", k)];
        let variable = move |ranks: std::ops::RangeInclusive<usize>| {
            ranks.prop_flat_map(move |rank| {
                let own = axes[..rank].to_vec();
                let len = own.iter().map(|(_, len)| len).product();
                values(len).prop_map(move |values| Array::new(own.clone(), values))
            })
        };
        let least = prop_oneof![Just(0usize), Just(2)];
        let variables =
            least.prop_flat_map(move |least| prop::collection::btree_map("v[a-z_]{0,5}", variable(least..=4), 0..4));
        let attrs = || prop::collection::btree_map("a[a-z_]{0,5}", attribute(), 0..3);
        let other = prop::option::of(variable(0..=3));
        let parts = (variables, variable(4..=4), labels(g), labels(k), attrs(), attrs(), other);
        parts.prop_map(move |(variables, full, gs, ks, attrs, own, other)| {
            let mut data = Dataset { attrs: attrs.into_iter().collect(), ..Dataset::default() };
            variables.into_iter().for_each(|(name, array)| data.insert(name, array));
            data.insert("full", full);
            for (name, labels) in [("g", gs), ("k", ks)] {
                data.coords.extend(labels.map(|labels| (name.to_owned(), labels)));
            }
            // NaN is equal to nothing.
            data.other_coords.extend(other.map(|array| ("other".to_owned(), array)));
            if !own.is_empty() {
                data.variable_attrs.insert("full".to_owned(), own.into_iter().collect());
            }
            data
        })
    })
}

proptest! {
    // Few cases: each writes and forces a hundred files to the disk.
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_format_keeps_what_the_others_held(posterior in dataset(), observed in dataset(), first in 0..4usize) {
        let mut data = InferenceData::default();
        data.insert("posterior", posterior);
        data.insert("observed_data", observed);
        let dir = tempfile::tempdir().unwrap();
        // Through all four, each writing what it read from the one before.
        let mut held = data.clone();
        for step in 0..4 {
            let (name, write, format) = FORMATS[(first + step) % 4];
            let path = dir.path().join(step.to_string());
            write(&path, &held, false).unwrap();
            prop_assert_eq!(detect_format(&path).unwrap().name(), format);
            held = read_trace(&[path]).unwrap();
            // IndexMap compares without regard to order, which HDF5 and folders do not keep.
            prop_assert_eq!(&held, &data, "{}", name);
        }
    }

    #[test]
    fn stan_keeps_numbers_and_statistics(
        chains in 1..4usize, draws in 1..5usize, shape in prop::collection::vec(1..4usize, 0..3), seed in any::<u64>(), warmup in any::<bool>(),
    ) {
        let mut state = seed;
        let mut number = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state ^ state >> 29);
            if value.is_nan() { 0.25 } else { value }
        };
        let mut data = InferenceData::default();
        for prefix in if warmup { &["", "warmup_"][..] } else { &[""] } {
            let mut array = |axes: &[(&str, usize)]| {
                let axes: Vec<_> = [("chain", chains), ("draw", draws)].iter().chain(axes).copied().collect();
                let len = axes.iter().map(|(_, len)| len).product();
                Array::new(axes, Values::F64((0..len).map(|_| number()).collect()))
            };
            let dims: Vec<String> = (0..shape.len()).map(|axis| format!("theta_dim_{axis}")).collect();
            let axes: Vec<_> = dims.iter().map(String::as_str).zip(shape.iter().copied()).collect();
            let (mut posterior, mut stats) = (Dataset::default(), Dataset::default());
            posterior.insert("mu", array(&[]));
            posterior.insert("theta", array(&axes));
            posterior.coords.extend(axes.iter().map(|(dim, len)| ((*dim).to_owned(), Labels::Range(*len))));
            stats.insert("lp", array(&[]));
            stats.insert("step_size", array(&[]));
            let count = chains * draws;
            stats.insert("n_steps", Array::new([("chain", chains), ("draw", draws)], Values::I64((0..count as i64).collect())));
            let flags = (0..count).map(|at| at % 3 == 0).collect();
            stats.insert("diverging", Array::new([("chain", chains), ("draw", draws)], Values::Bool(flags)));
            data.insert(format!("{prefix}posterior"), posterior);
            data.insert(format!("{prefix}sample_stats"), stats);
        }
        let metric = |chain: usize| StanMetric {
            step_size: Some(0.1 / (chain + 1) as f64),
            inverse: if chain == 0 {
                InverseMetric::Diagonal(vec![1.5, 1.0 / 3.0])
            } else {
                InverseMetric::Dense(vec![1.0, 0.1, 0.1, 2e-9])
            },
        };
        let metrics: Vec<StanMetric> = (0..chains).map(metric).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stan");
        write_stan_csv(&path, &data, &metrics, false).unwrap();
        prop_assert_eq!(detect_format(&path).unwrap().name(), "stan-csv");
        let mut read = read_stan_csv(&[path]).unwrap();
        read.data.groups.values_mut().for_each(|group| group.attrs.clear());
        prop_assert_eq!(&read.data, &data);
        prop_assert_eq!(read.metrics, metrics.into_iter().map(Some).collect::<Vec<_>>());
    }
}

#[test]
fn groups_of_unusual_shapes() {
    let dir = tempfile::tempdir().unwrap();
    let mut data = InferenceData::default();
    let mut labels_only = Dataset::default();
    labels_only.coords.insert("g".into(), Labels::Strings(vec!["x".into(), "y".into()]));
    data.insert("constant_data", labels_only);
    let mut scalars = Dataset::default();
    scalars.insert("a", Array::new([], Values::Strings(vec!["word".into()])));
    scalars.insert("b", Array::new([("n", 3)], Values::Bool(vec![true, false, true])));
    data.insert("observed_data", scalars);
    for (name, write, _) in FORMATS {
        let path = dir.path().join(name);
        write(&path, &data, false).unwrap();
        assert_eq!(read_trace(&[path]).unwrap(), data, "{name}");
    }
    // Without anything or without draws: all but NetCDF, whose writer makes no empty group and no dimension
    // of length 0.
    data.insert("sample_stats", Dataset::default());
    data.insert("prior", Dataset::default());
    data.groups["prior"].insert("c", Array::new([("chain", 2), ("draw", 0), ("g", 2)], Values::I64(vec![])));
    let empty = [Values::Strings(vec![]), Values::F64(vec![]), Values::I64(vec![]), Values::Bool(vec![])];
    for (name, values) in ["d", "e", "f", "h"].into_iter().zip(empty) {
        data.groups["prior"].insert(name, Array::new([("chain", 2), ("draw", 0), ("none", 0)], values));
    }
    data.insert("predictions", Dataset::default());
    let axes = [("chain", 2), ("draw", 1), ("none", 0)];
    data.groups["predictions"].insert("c", Array::new([axes[0], axes[1]], Values::F64(vec![0.5, 1.5])));
    data.groups["predictions"].insert("d", Array::new(axes, Values::F64(vec![])));
    for (name, write, _) in FORMATS.into_iter().skip(1) {
        let path = dir.path().join(name);
        write(&path, &data, true).unwrap();
        let read = read_trace(&[path]).unwrap();
        assert_eq!(read.groups.len(), data.groups.len(), "{name}");
        for group in ["prior", "predictions"] {
            assert_eq!(read.groups[group].variables, data.groups[group].variables, "{name}: {group}");
        }
    }
}
