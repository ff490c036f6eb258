//! Types and lists of other programs' columns, and ours in pyarrow.

use super::*;
use crate::parquet_files::stored::Stored;
use octopus_trace::{Calendar, Dates, Durations};

/// A file of pyarrow: `tests/data/make_parquet.py`.
fn of_pyarrow(name: &str) -> (Vec<String>, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let data = read_parquet(&path).unwrap();
    let variables = &data.posterior().unwrap().variables;
    let shown = |(name, array): (&String, &Array)| format!("{name} {:?} {:?}", &array.shape[2..], array.values);
    (variables.iter().map(shown).collect(), data.notes)
}

/// The values are those in the script.
#[test]
fn columns_of_every_type() {
    let (variables, notes) = of_pyarrow("types.parquet");
    assert_eq!(
        variables,
        [
            "int8 [] F64([1.0, 2.0, NaN, 100.0])",
            "int16 [] F64([1.0, 2.0, NaN, 100.0])",
            "uint8 [] F64([1.0, 2.0, NaN, 100.0])",
            "uint16 [] F64([1.0, 2.0, NaN, 100.0])",
            "uint32 [] I64([0, 1, 2, 4294967295])",
            // Beyond the integers of a trace.
            "uint64 [] F64([0.0, 1.0, 2.0, 9.223372036854776e18])",
            "int64 [] I64([0, -1, 2, 9223372036854775807])",
            "float [] F64([0.5, NaN, -2.0, 1.0000000150474662e30])",
            "half [] F64([0.5, NaN, -2.0, 1.0])",
            "bool [] F64([1.0, NaN, 0.0, 1.0])",
            "flags [] Bool([true, true, false, true])",
            "price [] F64([1.25, -0.5, NaN, -12345678.9])",
            "wide [] F64([1.5, -0.07, 0.0, -1e50])",
            "whole [] I64([5, 7, -1, 0])",
            "small [] F64([5.5, 7.0, -1.1, 0.0])",
            r#"text [] Strings(["a", "", "são", ""])"#,
            r#"large [] Strings(["a", "", "b", ""])"#,
            r#"view [] Strings(["a", "", "b", ""])"#,
            r#"city [] Strings(["oslo", "", "rome", "oslo"])"#,
            "level [] I64([7, 9, 7, 9])",
            "list [2] F64([1.0, 2.0, 3.0, NaN, 5.0, 6.0, 7.0, 8.0])",
            r#"large_list [2] Strings(["a", "b", "c", "", "", "f", "g", "h"])"#,
            "fixed_list [2] F64([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])",
            "required [2] F64([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])",
        ]
    );
    let left_out: Vec<&str> = notes
        .iter()
        .filter_map(|note| {
            let (_, column) = note.split_once(": column ")?;
            column.split_once(" is left out: it holds no numbers (its type is ").map(|(_, kind)| kind)
        })
        .collect();
    assert_eq!(
        left_out,
        [
            "Date32)",
            // pyarrow stores milliseconds in days, and seconds in milliseconds.
            "Date32)",
            "Timestamp(ms))",
            "Timestamp(ms))",
            "Timestamp(µs))",
            "Timestamp(ns))",
            "Timestamp(µs, \"+01:00\"))",
            "Timestamp(µs, \"Europe/Rome\"))",
            "Duration(s))",
            "Duration(µs))",
            "Time64(µs))",
            "Binary)",
            "FixedSizeBinary(2))",
            "List(Date32))",
            "List of lists or structures)",
            "Struct)",
            "Map)",
            "Null)",
        ]
    );
    assert!(notes.iter().any(|note| note.contains("types.parquet: column city holds text")), "{notes:?}");
}

/// Other encodings, pages of the second version, and no types of Arrow's.
#[test]
fn columns_of_other_encodings() {
    let (variables, notes) = of_pyarrow("old.parquet");
    assert_eq!(
        variables,
        [
            "x [] F64([0.5, 1.5, NaN, 3.5])",
            "n [] I64([1, 2, 3, 40])",
            r#"text [] Strings(["a", "", "são", ""])"#,
            "list [2] F64([1.0, 2.0, 3.0, NaN, 5.0, 6.0, 7.0, 8.0])",
        ]
    );
    assert!(notes[0].contains("column time is left out: it holds no numbers (its type is Timestamp(ns))"), "{notes:?}");
}

/// pyarrow is of `crates/runs/tests/arviz/requirements-zarr3.txt`.
#[test]
fn pyarrow_finds_our_types() {
    let Some(python) = std::env::var_os("OCTOPUS_PYTHON_ZARR3").filter(|python| !python.is_empty()) else {
        eprintln!("SKIPPED: no Python with pyarrow: set OCTOPUS_PYTHON_ZARR3");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let mut group = Dataset::default();
    let rows = [("day", 2), ("time", 1), ("length", 2), ("level", 1)];
    let lists = rows.into_iter().chain([("k", 3)]);
    group.insert("x", Array::new(lists, Values::F64(vec![0.5; 12])));
    group.insert("n", Array::new(rows, Values::I64(vec![7; 4])));
    group.insert("flag", Array::new(rows, Values::Bool(vec![true; 4])));
    group.insert("word", Array::new(rows, Values::Strings(vec!["å".into(); 4])));
    let dates =
        |times: &[Option<i128>]| Dates::from_nanoseconds(Calendar::ProlepticGregorian, times).map(Labels::Dates);
    let day = 86_400_000_000_000;
    group.coords.insert("day".into(), dates(&[Some(day), None]).unwrap());
    group.coords.insert("time".into(), dates(&[Some(1_000)]).unwrap());
    let lengths = Durations::from_nanoseconds(&[Some(day), Some(2 * day)]).unwrap();
    group.coords.insert("length".into(), Labels::Durations(lengths));
    group.coords.insert("level".into(), Labels::Singles(vec![0.5]));
    let mut data = InferenceData::default();
    data.insert("observed_data", group);
    write_parquet(&dir.path().join("t"), &data, false).unwrap();
    let script = "import sys, pyarrow.parquet as p; t = p.read_table(sys.argv[1]); \
        print([(f.name, str(f.type), f.nullable) for f in t.schema]); print(t.to_pylist()[2])";
    let mut command = std::process::Command::new(python);
    command.args(["-B", "-c", script]).arg(dir.path().join("t/observed_data.parquet"));
    let output = command.output().expect("OCTOPUS_PYTHON_ZARR3 cannot be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = "[('day', 'date32[day]', True), ('time', 'timestamp[us]', False), ('length', 'duration[ms]', False), \
        ('level', 'float', False), ('x', 'fixed_size_list<element: double not null>[3]', False), ('n', 'int64', False), \
        ('flag', 'bool', False), ('word', 'string', False)]\n{'day': None, 'time': datetime.datetime(1970, 1, 1, 0, 0, 0, 1), \
        'length': datetime.timedelta(days=1), 'level': 0.5, 'x': [0.5, 0.5, 0.5], 'n': 7, 'flag': True, 'word': 'å'}\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

/// The forms that the format's text has for lists, old ones too.
#[test]
fn lists_of_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    let read = |list: &str, values: &[i32], definition: &[i16], repetition: &[i16]| {
        let schema = format!("message m {{ required int32 chain; required int32 draw; {list} }}");
        let leaves = vec![
            (Stored::Int32(vec![0, 0]), &[][..], &[][..]),
            (Stored::Int32(vec![0, 1]), &[], &[]),
            (Stored::Int32(values.to_vec()), definition, repetition),
        ];
        fs::write(&path, raw(&schema, leaves)).unwrap();
        let data = read_parquet(&path).map_err(|error| error.to_string())?;
        let x = data.posterior().map(|posterior| &posterior.variables["x"]).ok_or(data.notes.concat())?;
        Ok::<_, String>(format!("{:?} {:?}", &x.shape[2..], x.values))
    };
    let pairs = Ok("[2] I64([1, 2, 3, 4])".to_owned());
    let (four, turns) = (&[1, 2, 3, 4][..], &[0, 1, 0, 1][..]);
    assert_eq!(read("repeated int32 x;", four, &[1; 4], turns), pairs);
    assert_eq!(read("required group x (LIST) { repeated int32 element; }", four, &[1; 4], turns), pairs);
    assert_eq!(read("optional group x (LIST) { repeated int32 array; }", four, &[2; 4], turns), pairs);
    let three = "optional group x (LIST) { repeated group list { optional int32 item; } }";
    assert_eq!(read(three, four, &[3; 4], turns), pairs);
    let with_null = Ok("[2] F64([1.0, NaN, 3.0, 4.0])".to_owned());
    assert_eq!(read(three, &[1, 3, 4], &[3, 2, 3, 3], turns), with_null);
    assert_eq!(read(three, &[], &[1, 1], &[0, 0]), Ok("[0] I64([])".to_owned()));
    for (values, definition, repetition, told) in [
        (&[1][..], &[3, 1][..], &[0, 0][..], "column x: its lists are not all of one length"),
        (&[1, 2, 3], &[3, 3, 3], &[0, 1, 0], "column x: its lists are not all of one length"),
        (&[1], &[3, 0], &[0, 0], "column x: 1 of its lists are null"),
    ] {
        let error = read(three, values, definition, repetition).unwrap_err();
        assert!(error.contains("a.parquet") && error.contains(told), "{error}");
    }
    for (list, kind) in [
        ("required group x (LIST) { repeated group array { required int32 y; } }", "List of lists or structures"),
        ("required group x (LIST) { repeated group x_tuple { required int32 y; } }", "List of lists or structures"),
        ("repeated group x { required int32 y; }", "Struct"),
        ("required group x (LIST) { repeated group list { repeated int32 y; } }", "List of lists or structures"),
    ] {
        let repetition = if list.contains("repeated int32") { &[0, 2, 0, 2] } else { turns };
        let definition = if list.contains("repeated int32") { &[2; 4] } else { &[1; 4] };
        let error = read(list, four, definition, repetition).unwrap_err();
        assert!(error.contains(&format!("(its type is {kind})")), "{error}");
    }
}
