//! Round trips, and files that are not what they should be.

use super::*;
use crate::FormatError;
use octopus_trace::Labels;
use octopus_trace::{Array, Attribute, Dataset, InferenceData, Values};
use std::fs;

fn example() -> InferenceData {
    let mut posterior = Dataset::default();
    let mu = Values::F64((0..40).map(|i| f64::from(i).sin()).collect());
    posterior.insert("mu", Array::new([("chain", 2), ("draw", 20)], mu));
    posterior.insert("g_mu", Array::new([("chain", 2), ("draw", 20), ("g", 2)], Values::F64(vec![f64::NAN; 80])));
    posterior.coords.insert("g".into(), Labels::Strings(vec!["a".into(), "b".into()]));
    posterior.attrs.insert("created_at".into(), Attribute::from("now"));
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    data
}

#[test]
fn a_trace_that_contradicts_itself_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let refuse = |change: fn(&mut Dataset), words: &[&str]| {
        let mut data = example();
        change(&mut data.groups["posterior"]);
        let message = write_netcdf(&path, &data, false).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    };
    refuse(|data| _ = data.coords.insert("g".into(), Labels::Range(3)), &["posterior", "dimension g", "3 labels"]);
    refuse(|data| data.insert("g", Array::new([("g", 2)], Values::F64(vec![0.0; 2]))), &["`g` is both"]);
    refuse(|data| data.insert("a/b", Array::new([], Values::F64(vec![0.0]))), &["a/b"]);
}

#[test]
fn files_that_are_no_traces_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let refuse = |words: &[&str]| {
        let message = read_netcdf(&path).unwrap_err().to_string();
        assert!(message.contains("a.nc") && words.iter().all(|word| message.contains(word)), "{message}");
    };
    refuse(&["check the path"]);
    fs::write(&path, "chain,draw,mu\n").unwrap();
    refuse(&["not a whole NetCDF file"]);
    fs::write(&path, "").unwrap();
    refuse(&["not a whole NetCDF file"]);
    let mut flat = netcdf_writer::NcFileBuilder::new();
    let x = flat.add_dimension("x", 2).unwrap();
    let variable = flat.add_variable::<f64>("v", &[x]).unwrap();
    flat.write_variable(variable, &[1.0, 2.0]).unwrap();
    let options = netcdf_writer::NcWriteOptions { format: netcdf_writer::NcWriteFormat::Nc4 };
    fs::write(&path, flat.to_vec(options).unwrap().1).unwrap();
    refuse(&["no groups"]);
}

#[test]
fn damaged_files_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write_netcdf(&path, &example(), false).unwrap();
    let good = fs::read(&path).unwrap();
    for len in (0..good.len()).step_by(61) {
        fs::write(&path, &good[..len]).unwrap();
        assert!(matches!(read_netcdf(&path), Err(FormatError::Unreadable { .. })), "cut at {len}");
    }
    for byte in (0..good.len()).step_by(3) {
        let mut bad = good.clone();
        bad[byte] ^= 0xa5;
        fs::write(&path, &bad).unwrap();
        // Bytes of values or of padding may change without being noticed.
        let _ = read_netcdf(&path);
    }
}

/// `cargo test --profile tests -p octopus-trace time_of -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_of_a_prd_trace() {
    let n = 8000 * 100;
    let noise = |i: usize| ((i as f64 * 12.9898).sin() * 43758.5453).fract();
    let mut posterior = Dataset::default();
    for name in ["z", "mu_group"] {
        let values = Values::F64((0..n).map(noise).collect());
        posterior.insert(name, Array::new([("chain", 4), ("draw", 2000), ("group", 100)], values));
    }
    let mut data = InferenceData::default();
    data.insert("posterior", posterior);
    let dir = tempfile::tempdir().unwrap();
    let time = |name: &str, work: &dyn Fn()| {
        let start = std::time::Instant::now();
        work();
        eprintln!("{name}: {:?}", start.elapsed());
    };
    let path = dir.path().join("a.nc");
    time("write_netcdf", &|| write_netcdf(&path, &data, true).unwrap());
    eprintln!("{} bytes", fs::metadata(&path).unwrap().len());
    time("read_netcdf", &|| assert_eq!(read_netcdf(&path).unwrap(), data));
    time("write_zarr", &|| crate::write_zarr(&dir.path().join("a.zarr"), &data, true).unwrap());
    time("write_csv", &|| crate::write_csv(&dir.path().join("a.csv"), &data, true).unwrap());
}

#[test]
fn small_integers_are_flags_only_where_the_file_says_so() {
    let mut file = netcdf_writer::NcFileBuilder::new();
    let x = file.add_dimension_path("posterior/x", 2).unwrap();
    for (name, dtype) in [("posterior/count", "int8"), ("posterior/flag", "bool")] {
        let variable = file.add_variable_path::<i8>(name, &[x]).unwrap();
        file.add_variable_attribute(variable, "dtype", netcdf_writer::NcAttrValue::Chars(dtype.into())).unwrap();
        file.write_variable(variable, &[0i8, 2]).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let options = netcdf_writer::NcWriteOptions { format: netcdf_writer::NcWriteFormat::Nc4 };
    fs::write(&path, file.to_vec(options).unwrap().1).unwrap();
    let data = read_netcdf(&path).unwrap();
    let values = |name: &str| &data.posterior().unwrap().get(name).unwrap().values;
    assert_eq!(*values("count"), Values::I64(vec![0, 2]));
    assert_eq!(*values("flag"), Values::Bool(vec![false, true]));
}

#[test]
fn groups_that_hold_each_other_are_told() {
    // Found by the fuzzer: netcdf-reader follows such a circle until its stack is full.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/netcdf/group_that_holds_itself");
    let message = read_netcdf(path.as_ref()).unwrap_err().to_string();
    assert!(message.contains("hold each other"), "{message}");
}

fn read_built(file: &netcdf_writer::NcFileBuilder) -> Result<InferenceData, FormatError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let options = netcdf_writer::NcWriteOptions { format: netcdf_writer::NcWriteFormat::Nc4 };
    fs::write(&path, file.to_vec(options).unwrap().1).unwrap();
    read_netcdf(&path)
}

#[test]
fn enumerations_are_flags_or_refused() {
    use netcdf_writer::{NcEnumMember, NcIntegerValue, NcType};
    let read = |names: [&str; 2]| {
        let member = |(name, value): (&str, i8)| NcEnumMember { name: name.into(), value: NcIntegerValue::I8(value) };
        let members = names.into_iter().zip([0, 1]).map(member).collect();
        let mut file = netcdf_writer::NcFileBuilder::new();
        let x = file.add_dimension_path("posterior/x", 3).unwrap();
        let flags = NcType::Enum { base: Box::new(NcType::Byte), members };
        let variable = file.add_user_defined_variable_path("posterior/v", &[x], flags).unwrap();
        file.write_enum_variable(variable, &[0, 1, 1].map(NcIntegerValue::I8)).unwrap();
        read_built(&file)
    };
    // h5py's flags.
    let data = read(["FALSE", "TRUE"]).unwrap();
    assert_eq!(data.posterior().unwrap().get("v").unwrap().values, Values::Bool(vec![false, true, true]));
    let message = read(["RED", "BLUE"]).unwrap_err().to_string();
    assert!(message.contains("variable v: its type is an enumeration of"), "{message}");
}

/// As xarray understands the attributes, for which `valid_min` says nothing.
#[test]
fn attributes_tell_what_stored_numbers_stand_for() {
    type Case = (&'static [(&'static str, f64)], &'static str, &'static str);
    let cases: [Case; 7] = [
        (&[], "F64([-9.0, 4.0])", "I64([-9, 4])"),
        (&[("valid_min", 0.0)], "F64([-9.0, 4.0])", "I64([-9, 4])"),
        (&[("missing_value", f64::NAN)], "F64([-9.0, 4.0])", "I64([-9, 4])"),
        (&[("missing_value", -9.0)], "F64([NaN, 4.0])", "F64([NaN, 4.0])"),
        (&[("scale_factor", 0.5)], "F64([-4.5, 2.0])", "F64([-4.5, 2.0])"),
        (&[("add_offset", 1.0)], "F64([-8.0, 5.0])", "F64([-8.0, 5.0])"),
        (&[("missing_value", 4.0), ("scale_factor", 0.5)], "F64([-4.5, NaN])", "F64([-4.5, NaN])"),
    ];
    let mut file = netcdf_writer::NcFileBuilder::new();
    let x = file.add_dimension_path("posterior/x", 2).unwrap();
    for (at, (attributes, _, _)) in cases.iter().enumerate() {
        let real = file.add_variable_path::<f64>(format!("posterior/real_{at}"), &[x]).unwrap();
        let count = file.add_variable_path::<i16>(format!("posterior/count_{at}"), &[x]).unwrap();
        for &(name, value) in *attributes {
            for variable in [real, count] {
                let value = netcdf_writer::NcAttrValue::Doubles(vec![value]);
                file.add_variable_attribute(variable, name, value).unwrap();
            }
        }
        file.write_variable(real, &[-9.0, 4.0]).unwrap();
        file.write_variable(count, &[-9i16, 4]).unwrap();
    }
    let data = read_built(&file).unwrap();
    let shown = |name: String| format!("{:?}", data.posterior().unwrap().get(&name).unwrap().values);
    for (at, (attributes, real, count)) in cases.iter().enumerate() {
        assert_eq!(shown(format!("real_{at}")), *real, "{attributes:?}");
        assert_eq!(shown(format!("count_{at}")), *count, "{attributes:?}");
    }
}

/// Other programs write narrow integers, signed or not.
#[test]
fn integers_of_every_width_are_integers() {
    let mut file = netcdf_writer::NcFileBuilder::new();
    let x = file.add_dimension_path("posterior/x", 2).unwrap();
    macro_rules! write {
        ($($integer:ty),*) => {$(
            let variable = file.add_variable_path::<$integer>(concat!("posterior/", stringify!($integer)), &[x]).unwrap();
            file.write_variable(variable, &[<$integer>::MIN, 100]).unwrap();
        )*};
    }
    write!(i8, i16, i32, i64, u8, u16, u32, u64);
    let data = read_built(&file).unwrap();
    let least = [("i8", i8::MIN.into()), ("i16", i16::MIN.into()), ("i32", i32::MIN.into()), ("i64", i64::MIN)];
    for (name, least) in least.into_iter().chain(["u8", "u16", "u32", "u64"].map(|name| (name, 0))) {
        assert_eq!(data.posterior().unwrap().get(name).unwrap().values, Values::I64(vec![least, 100]), "{name}");
    }
}
