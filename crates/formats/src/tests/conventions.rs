//! Dimensions by name, labels of every type, coordinates and attributes: what xarray writes is read as xarray reads it,
//! and every format keeps it.

use super::programs::assert_values;
use super::{data_file, json, unpack};
use crate::{
    FormatError, read_netcdf, read_parquet, read_trace, read_zarr, write_csv, write_netcdf, write_parquet, write_zarr,
    write_zarr_v2,
};
use netcdf_writer::{NcAttrValue, NcFileBuilder, NcWriteFormat, NcWriteOptions};
use octopus_trace::{Array, Attribute, Calendar, Dataset, Dates, Durations, InferenceData, Labels, Values};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn check_array(array: &Array, expected: &Value, place: &str) {
    assert_eq!(json!(array.dims), expected["dims"], "{place}");
    assert_eq!(json!(array.shape), expected["shape"], "{place}");
    assert_values(&array.values, expected["values"].as_array().unwrap(), place);
}

fn check(data: &InferenceData, described: &Value, place: &str) {
    for group in ["posterior", "sample_stats"] {
        let (dataset, expected) = (&data.groups[group], &described[group]);
        let part = |name: &str| expected[name].as_object().unwrap();
        assert_eq!(dataset.variables.len(), part("variables").len(), "{place}: {group}");
        for (name, expected) in part("variables") {
            check_array(&dataset.variables[name], expected, &format!("{place}: {group}: {name}"));
        }
        for (name, expected) in part("others") {
            check_array(&dataset.other_coords[name], expected, &format!("{place}: {group}: {name}"));
        }
        for (name, expected) in part("coords") {
            let labels = &dataset.coords[name];
            let texts: Vec<String> = (0..labels.len()).map(|at| labels.text(at)).collect();
            assert_eq!(&json!(texts), expected, "{place}: {group}: {name}");
        }
        for (name, expected) in part("attrs") {
            for (attr, expected) in expected.as_object().unwrap() {
                let expected = match expected.as_str() {
                    Some(text) => Attribute::from(text),
                    None => Attribute::List(vec![Attribute::I64(1), Attribute::I64(2)]),
                };
                assert_eq!(dataset.variable_attrs[name][attr], expected, "{place}: {group}: {name}: {attr}");
            }
        }
    }
    let posterior = &data.groups["posterior"];
    // A date that labels no dimension is the number that it is stored as, and says so.
    assert!(posterior.other_coords.contains_key("began") && posterior.other_coords.len() == 5, "{place}");
    let Attribute::Text(units) = &posterior.variable_attrs["began"]["units"] else { panic!("{place}") };
    assert!(units.contains(" since "), "{place}: {units}");
    assert_eq!(posterior.variable_attrs.len(), 4, "{place}: {:?}", posterior.variable_attrs);
    let Labels::Dates(dates) = &posterior.coords["model_day"] else { panic!("{place}") };
    assert_eq!(dates.calendar(), Calendar::Days360);
    assert_eq!(posterior.element_name("of_day", 2, 1), "of_day[2020-02-29]");
}

type Write = fn(&Path, &InferenceData, bool) -> Result<(), FormatError>;
const WRITERS: [(&str, Write); 4] =
    [("netcdf", write_netcdf), ("zarr", write_zarr), ("zarr 2", write_zarr_v2), ("parquet", write_parquet)];

#[test]
fn what_xarray_writes_is_read_as_xarray_reads_it_and_kept() {
    let described = json("conventions/xarray.json");
    let dir = tempfile::tempdir().unwrap();
    let mut traces = vec![("netcdf", read_netcdf(&data_file("conventions/xarray.nc")).unwrap())];
    for version in ["zarr_v2", "zarr_v3"] {
        let store = dir.path().join(version);
        unpack(&format!("conventions/xarray_{}.zarr.json", &version[5..]), &store);
        traces.push((version, read_zarr(&store).unwrap()));
    }
    for (program, data) in &traces {
        let own = if *program == "netcdf" { &described } else { &described[*program] };
        check(data, own, program);
        for (format, write) in WRITERS {
            let path = dir.path().join(format!("{program} to {format}"));
            write(&path, data, false).unwrap();
            let read = read_trace(&[path]).unwrap();
            check(&read, own, &format!("{program} as {format}"));
            for (name, group) in &read.groups {
                let (again, first) = (format!("{group:?}"), format!("{:?}", data.groups[name]));
                assert_eq!(again.len(), first.len(), "{program} as {format}: {name}");
            }
        }
    }
    let table = dir.path().join("a.csv");
    let mut data = traces.remove(0).1;
    data.groups.shift_remove("sample_stats");
    write_csv(&table, &data, false).unwrap();
    let text = fs::read_to_string(&table).unwrap();
    for name in ["of_day[2020-01-31]", "of_model_day[2020-02-30]", "of_lag[30 days]", "of_dose[0.25]", "of_flag[true]"]
    {
        assert!(text.lines().next().unwrap().contains(name), "{name}: {text}");
    }
    assert!(text.lines().nth(1).unwrap().starts_with("1,0,"), "{text}");
}

/// The inputs that strangers' programs wrote, and their right values.
#[test]
fn inputs_of_the_shared_cases() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases");
    if !cases.is_dir() {
        eprintln!("SKIPPED: no folder shared/cases beside the repository");
        return;
    }
    let posterior = |name: &str| read_netcdf(&cases.join(name)).unwrap().groups.shift_remove("posterior").unwrap();
    let names = |data: &Dataset| -> Vec<String> { (0..3).map(|at| data.element_name("theta", 2, at)).collect() };
    let days = ["theta[2020-01-01]", "theta[2020-01-02]", "theta[2020-01-03]"];
    assert_eq!(names(&posterior("dates.nc")), days);
    assert_eq!(names(&posterior("float_labels.nc")), ["theta[0.1]", "theta[0.25]", "theta[1.5]"]);
    assert_eq!(posterior("units.nc").variable_attrs["mu"]["units"], Attribute::from("kg"));
    assert_eq!(names(&posterior("element_chain_draw.nc")), ["theta[a]", "theta[b]", "theta[c]"]);
    assert_eq!(posterior("draw_chain.nc").variables["theta"].shape, [4, 100, 3]);
    assert_eq!(posterior("draw_chain.nc").variables["theta"].dims, ["chain", "draw", "k"]);
    let scalar = posterior("scalar_coordinate.nc");
    assert!(scalar.variables.len() == 2 && scalar.other_coords["run"].values == Values::I64(vec![7]));
    let mu = posterior("unsigned.nc").variables["mu"].values.to_f64();
    let mean = mu.iter().sum::<f64>() / mu.len() as f64;
    assert_eq!(format!("{mean:.2}"), "107.34");
}

/// Builds a file as netcdf4-python does, with the axes of each variable in the order of its name.
fn in_order(order: [&str; 3]) -> InferenceData {
    let sizes = [("chain", 2), ("draw", 3), ("k", 2)];
    let size = |name: &str| sizes.iter().find(|(dim, _)| *dim == name).unwrap().1;
    let mut file = NcFileBuilder::new();
    for group in ["posterior", "sample_stats", "log_likelihood", "warmup_posterior", "posterior_predictive"] {
        let dims = order.map(|dim| file.add_dimension_path(format!("{group}/{dim}"), size(dim) as u64).unwrap());
        let theta = file.add_variable_path::<f64>(format!("{group}/theta"), &dims).unwrap();
        let [a, b, c] = order.map(size);
        let mut values = Vec::new();
        for index in (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| [i, j, k]))) {
            let at = |name: &str| index[order.iter().position(|dim| *dim == name).unwrap()];
            values.push((100 * at("chain") + 10 * at("draw") + at("k")) as f64);
        }
        file.write_variable(theta, &values).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    fs::write(&path, file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1).unwrap();
    read_netcdf(&path).unwrap()
}

#[test]
fn chains_and_draws_have_names_in_every_group() {
    let expected: Vec<f64> = [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121].map(f64::from).to_vec();
    for order in [
        ["chain", "draw", "k"],
        ["chain", "k", "draw"],
        ["draw", "chain", "k"],
        ["draw", "k", "chain"],
        ["k", "chain", "draw"],
        ["k", "draw", "chain"],
    ] {
        for (group, dataset) in in_order(order).groups {
            let theta = &dataset.variables["theta"];
            assert_eq!((theta.chains(), theta.draws()), (2, 3), "{group}: {order:?}");
            assert_eq!(theta.values, Values::F64(expected.clone()), "{group}: {order:?}");
        }
    }
}

#[test]
fn what_has_no_values_is_left_out_of_netcdf_alone() {
    let mut posterior = Dataset::default();
    posterior.insert("mu", Array::new([("chain", 1), ("draw", 2)], Values::F64(vec![0.5, 1.5])));
    posterior.insert("empty", Array::new([("chain", 1), ("draw", 2), ("none", 0)], Values::F64(vec![])));
    posterior.coords.insert("none".into(), Labels::Strings(vec![]));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    let dir = tempfile::tempdir().unwrap();
    for (format, write) in WRITERS {
        let path = dir.path().join(format);
        write(&path, &data, false).unwrap();
        let read = read_trace(&[path]).unwrap();
        let has = read.groups["posterior"].variables.contains_key("empty");
        assert_eq!(has, format != "netcdf", "{format}");
        assert_eq!(read.groups["posterior"].variables["mu"], data.groups["posterior"].variables["mu"], "{format}");
    }
}

/// In a table of draws, labels of rows are columns of their own type.
#[test]
fn labels_of_rows_are_typed_columns_of_parquet() {
    let day = 86_400_000_000_000;
    let dates = |calendar, times: &[i128]| {
        let times: Vec<Option<i128>> = times.iter().copied().map(Some).collect();
        Labels::Dates(Dates::from_nanoseconds(calendar, &times).unwrap())
    };
    let gregorian = |times: &[i128]| dates(Calendar::ProlepticGregorian, times);
    let durations = |times: &[i128]| {
        let times: Vec<Option<i128>> = times.iter().copied().map(Some).collect();
        Labels::Durations(Durations::from_nanoseconds(&times).unwrap())
    };
    for (labels, logical) in [
        (gregorian(&[0, day]), "Date"),
        (gregorian(&[0, day / 24]), "Timestamp"),
        (gregorian(&[0, 1_000]), "Timestamp"),
        (gregorian(&[0, 1]), "Timestamp"),
        // One of them is no time.
        (Labels::Dates(Dates::from_nanoseconds(Calendar::ProlepticGregorian, &[Some(1), None]).unwrap()), "Timestamp"),
        (dates(Calendar::Days360, &[0, day]), "String"),
        (durations(&[day, 2 * day]), ""),
        (durations(&[1, 2_000]), ""),
        (Labels::Reals(vec![0.5, f64::NAN]), ""),
        (Labels::Flags(vec![true, false]), ""),
    ] {
        let mut observed = Dataset::default();
        observed.insert("y", Array::new([("obs", 2)], Values::F64(vec![0.5, 1.5])));
        observed.coords.insert("obs".into(), labels.clone());
        observed.other_coords.insert("w".into(), Array::new([("obs", 2)], Values::F64(vec![f64::INFINITY, 0.1])));
        let mut data = InferenceData::default();
        data.insert("observed_data", observed);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_parquet(&path, &data, false).unwrap();
        assert_eq!(read_parquet(&path).unwrap(), data, "{labels:?}");
        use parquet::file::reader::{FileReader, SerializedFileReader};
        let file = fs::File::open(path.join("observed_data.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let column = reader.metadata().file_metadata().schema_descr().column(0);
        assert_eq!(column.name(), "obs");
        let found = column.logical_type_ref().map(|found| format!("{found:?}")).unwrap_or_default();
        assert!(found.starts_with(logical) && found.is_empty() == logical.is_empty(), "{labels:?}: {found}");
    }
}

/// A file of some kilobytes whose header asks for gigabytes.
#[test]
fn sizes_are_believed_as_far_as_bytes_can_fill_them() {
    let told = |len: usize, chunk: usize| {
        let mut file = NcFileBuilder::new();
        let x = file.add_dimension_path("posterior/x", len as u64).unwrap();
        let variable = file.add_variable_path::<f64>("posterior/v", &[x]).unwrap();
        file.set_variable_chunking(variable, vec![chunk as u64]).unwrap();
        file.set_variable_deflate(variable, Some(1), true).unwrap();
        file.add_variable_attribute(variable, "long_name", NcAttrValue::Chars("v".into())).unwrap();
        file.write_variable(variable, &vec![0.0; len]).unwrap();
        let mut bytes = file.to_vec(NcWriteOptions { format: NcWriteFormat::Nc4 }).unwrap().1;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        fs::write(&path, &bytes).unwrap();
        assert!(read_netcdf(&path).is_ok());
        // The length, wherever it stands, becomes 2^31: 16 GiB.
        let (old, new) = ((len as u64).to_le_bytes(), (1u64 << 31).to_le_bytes());
        let mut changed = 0;
        for at in 0..bytes.len() - 8 {
            if bytes[at..at + 8] == old {
                bytes[at..at + 8].copy_from_slice(&new);
                changed += 1;
            }
        }
        assert!(changed > 0);
        fs::write(&path, &bytes).unwrap();
        read_netcdf(&path).unwrap_err().to_string()
    };
    let message = told(4097, 4097);
    assert!(message.contains("a.nc"), "{message}");
}
