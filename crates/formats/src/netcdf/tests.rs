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

/// `cargo test --release -p octopus-trace time_of -- --ignored --nocapture`
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
fn enumerations_are_flags_or_left_out_with_a_note() {
    use netcdf_writer::{NcEnumMember, NcIntegerValue, NcType};
    let read = |names: [&str; 2]| {
        let member = |(name, value): (&str, i8)| NcEnumMember { name: name.into(), value: NcIntegerValue::I8(value) };
        let members = names.into_iter().zip([0, 1]).map(member).collect();
        let mut file = netcdf_writer::NcFileBuilder::new();
        let x = file.add_dimension_path("posterior/x", 3).unwrap();
        let flags = NcType::Enum { base: Box::new(NcType::Byte), members };
        let variable = file.add_user_defined_variable_path("posterior/v", &[x], flags).unwrap();
        let other = file.add_variable_path::<f64>("posterior/w", &[x]).unwrap();
        file.write_variable(other, &[0.5, 1.5, 2.5]).unwrap();
        file.write_enum_variable(variable, &[0, 1, 1].map(NcIntegerValue::I8)).unwrap();
        read_built(&file)
    };
    // h5py's flags.
    let data = read(["FALSE", "TRUE"]).unwrap();
    assert_eq!(data.posterior().unwrap().get("v").unwrap().values, Values::Bool(vec![false, true, true]));
    let data = read(["RED", "BLUE"]).unwrap();
    assert_eq!(data.posterior().unwrap().variables.keys().collect::<Vec<_>>(), ["w"]);
    let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
    assert!(
        note.contains("a.nc")
            && note.ends_with(
                "left out, since a trace holds numbers, flags and words only: posterior/v (an enumeration of RED, BLUE)"
            ),
        "{note}"
    );
}

#[test]
fn a_scale_that_is_no_number_is_refused() {
    let mut file = netcdf_writer::NcFileBuilder::new();
    let x = file.add_dimension_path("posterior/x", 2).unwrap();
    let variable = file.add_variable_path::<i16>("posterior/mu", &[x]).unwrap();
    file.add_variable_attribute(variable, "scale_factor", netcdf_writer::NcAttrValue::Chars("0.5".into())).unwrap();
    file.write_variable(variable, &[1i16, 2]).unwrap();
    let told = read_built(&file).unwrap_err().to_string();
    assert!(
        ["a.nc", "group posterior", "variable mu", "scale_factor", "`0.5`"].iter().all(|word| told.contains(word)),
        "{told}"
    );
}

/// As `xarray.DataTree.to_netcdf` writes them.
#[test]
fn labels_and_attributes_of_the_root_belong_to_every_group() {
    use netcdf_writer::NcAttrValue;
    let mut file = netcdf_writer::NcFileBuilder::new();
    let [draw, i, k] = [("draw", 2), ("i", 2), ("k", 2)].map(|(name, len)| file.add_dimension(name, len).unwrap());
    let words = file.add_string_variable_path("i", &[i]).unwrap();
    file.write_string_variable(words, &["p".to_owned(), "q".to_owned()]).unwrap();
    for (name, dims) in [("draw", vec![draw]), ("k", vec![k]), ("loose", vec![draw, k])] {
        let variable = file.add_variable_path::<i64>(name, &dims).unwrap();
        file.write_variable(variable, &[7i64, 8, 9, 10][..2 * dims.len()]).unwrap();
    }
    let t = file.add_variable_path::<f64>("posterior/t", &[draw, i]).unwrap();
    file.write_variable(t, &[0.0, 1.0, 2.0, 3.0]).unwrap();
    file.add_attribute("model", NcAttrValue::Chars("eight".into())).unwrap();
    file.add_attribute("n", NcAttrValue::UInt64s(vec![u64::MAX])).unwrap();
    let data = read_built(&file).unwrap();
    let posterior = data.posterior().unwrap();
    assert_eq!(posterior.element_name("t", 1, 1), "t[q]");
    assert_eq!(posterior.coords["draw"], Labels::Integers(vec![7, 8]));
    assert_eq!(posterior.coords.len(), 2);
    assert_eq!(data.attrs["model"], Attribute::from("eight"));
    assert_eq!(data.attrs["n"], Attribute::from("18446744073709551615"));
    let [outside, digits] = &data.notes[..] else { panic!("{:?}", data.notes) };
    assert!(outside.ends_with("in no group such as `posterior`: loose"), "{outside}");
    assert!(digits.ends_with("2^63 - 1: the attribute n"), "{digits}");
}

#[test]
fn integers_beyond_those_of_a_trace_keep_their_digits() {
    use netcdf_writer::NcAttrValue;
    let mut file = netcdf_writer::NcFileBuilder::new();
    let k = file.add_dimension_path("posterior/k", 2).unwrap();
    let labels = file.add_variable_path::<u64>("posterior/k", &[k]).unwrap();
    file.add_variable_attribute(labels, "valid_max", NcAttrValue::UInt64s(vec![1, u64::MAX])).unwrap();
    file.write_variable(labels, &[u64::MAX, 3]).unwrap();
    let missing = file.add_variable_path::<u64>("posterior/m", &[k]).unwrap();
    file.add_variable_attribute(missing, "_FillValue", NcAttrValue::UInt64s(vec![u64::MAX])).unwrap();
    file.write_variable(missing, &[u64::MAX, 3]).unwrap();
    let data = read_built(&file).unwrap();
    let posterior = data.posterior().unwrap();
    assert_eq!(posterior.coords["k"], Labels::Strings(vec!["18446744073709551615".into(), "3".into()]));
    let bounds = [Attribute::I64(1), Attribute::from("18446744073709551615")];
    assert_eq!(posterior.variable_attrs["k"]["valid_max"], Attribute::List(bounds.to_vec()));
    assert_eq!(format!("{:?}", posterior.variables["m"].values), "F64([NaN, 3.0])");
    // What marks missing values is no attribute that is kept.
    let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
    assert!(note.ends_with(": the attribute valid_max of posterior/k, the labels posterior/k"), "{note}");
}

/// HDF5 stores attributes with what they belong to, in 64 KiB at most.
#[test]
fn long_texts_are_written_and_long_lists_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let mut data = example();
    let text = |len: usize| Attribute::Text("x".repeat(len));
    data.attrs.insert("code".into(), text(66_000));
    let posterior = &mut data.groups["posterior"];
    let lists = [("short", 8_000), ("long", 8_001)];
    posterior
        .attrs
        .extend([63_999, 64_000, 64_001, 65_535, 65_536, 300_000].map(|len| (format!("of_{len}"), text(len))));
    let own = lists.map(|(name, len)| (name.to_owned(), Attribute::List(vec![Attribute::I64(7); len])));
    posterior.variable_attrs.insert("mu".into(), own.into_iter().chain([("code".to_owned(), text(70_000))]).collect());
    write_netcdf(&path, &data, false).unwrap();
    let read = read_netcdf(&path).unwrap();
    data.groups["posterior"].variable_attrs["mu"].shift_remove("long");
    assert_eq!(read.attrs, data.attrs);
    let (read, data) = (&read.groups["posterior"], &data.groups["posterior"]);
    assert_eq!((&read.attrs, &read.variable_attrs), (&data.attrs, &data.variable_attrs));
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

/// A file with numbers of several types, in chunks of which some reach beyond the array, and the numbers.
fn in_many_chunks() -> (Vec<u8>, Vec<(&'static str, Values)>) {
    let shape = [("chain", 4), ("draw", 510), ("x", 130)];
    let count = 4 * 510 * 130;
    let mixed = |at: usize| (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut file = netcdf_writer::NcFileBuilder::new();
    let dims = shape.map(|(name, len)| file.add_dimension_path(format!("posterior/{name}"), len).unwrap());
    macro_rules! write {
        ($name:literal, $number:ty, $of:expr) => {{
            let numbers: Vec<$number> = (0..count).map($of).collect();
            let variable = file.add_variable_path::<$number>(concat!("posterior/", $name), &dims).unwrap();
            file.set_variable_chunking(variable, vec![1, 97, 50]).unwrap();
            file.set_variable_deflate(variable, Some(1), $name != "plain").unwrap();
            file.write_variable(variable, &numbers).unwrap();
            numbers
        }};
    }
    let real = write!("real", f64, |at| (mixed(at) as f64).sin());
    let plain = write!("plain", f64, |at| if at % 1000 == 7 { f64::NEG_INFINITY } else { (at as f64).cos() });
    let single = write!("single", f32, |at| mixed(at) as f32);
    let int = write!("int", i32, |at| mixed(at) as i32);
    let long = write!("long", i64, |at| mixed(at) as i64);
    let values = vec![
        ("real", Values::F64(real)),
        ("plain", Values::F64(plain)),
        ("single", Values::F64(single.into_iter().map(f64::from).collect())),
        ("int", Values::I64(int.into_iter().map(i64::from).collect())),
        ("long", Values::I64(long)),
    ];
    let options = netcdf_writer::NcWriteOptions { format: netcdf_writer::NcWriteFormat::Nc4 };
    (file.to_vec(options).unwrap().1, values)
}

#[test]
fn large_variables_come_back_from_their_chunks() {
    let (bytes, values) = in_many_chunks();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    fs::write(&path, &bytes).unwrap();
    let data = read_netcdf(&path).unwrap();
    for (name, expected) in values {
        let array = data.posterior().unwrap().get(name).unwrap();
        assert_eq!(array.shape, [4, 510, 130]);
        assert!(array.values == expected, "{name}");
    }
    // Between the values of both ends of the file there is little but chunks.
    let mut told = 0;
    for place in 1..20 {
        let mut bad = bytes.clone();
        let at = place * bytes.len() / 20;
        bad[at..at + 64].fill(0xff);
        fs::write(&path, &bad).unwrap();
        told += usize::from(
            matches!(read_netcdf(&path), Err(FormatError::Unreadable { what, .. }) if what.contains("variable ")),
        );
        fs::write(&path, &bytes[..at]).unwrap();
        assert!(matches!(read_netcdf(&path), Err(FormatError::Unreadable { .. })), "cut at {at}");
    }
    assert!(told > 15, "{told}");
}
