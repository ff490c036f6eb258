//! `octopus random`: the same draws whatever makes them, and files that nothing leaves half-written.

use crate::double::Double;
use crate::support::{Answer, program, run};
use octopus_files::{NpyHeader, NpyType, NpyValues, Overwrite, ResumableFile, read_npy};
use octopus_random::{Draw, Key, VonMises, VonMisesFisher};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, DoubleType, FixedLenByteArrayType, FloatType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The bytes of a file.
fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn refused(answer: &Answer, code: i32, words: &[&str]) {
    assert_eq!(answer.code, Some(code), "{}", answer.stderr);
    for word in words {
        assert!(answer.stderr.contains(word), "{word}: {}", answer.stderr);
    }
}

#[test]
fn draws_are_those_of_the_library_printed_or_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let line = "random von-mises --loc 0.5 --concentration 5 --n 300 --seed 7";
    let mut expected = vec![0.0; 300];
    VonMises::new(0.5, 5.0).unwrap().fill(Key::new(7), 0, &mut expected).unwrap();
    let printed = run(dir.path(), line);
    printed.succeeds();
    assert_eq!(printed.stdout.lines().map(|line| line.parse().unwrap()).collect::<Vec<f64>>(), expected);
    let json = run(dir.path(), &format!("{line} --json")).succeeds().json();
    assert_eq!(json["distribution"], "von-mises(loc=0.5, concentration=5)");
    assert_eq!(json["draws"].as_array().unwrap().len(), 300);
    let file = run(dir.path(), &format!("{line} --out {{}}/a.npy"));
    file.succeeds();
    assert!(file.stdout.ends_with("a.npy\n") && file.stderr.contains("300 draws"), "{}", file.stderr);
    let array = read_npy(&dir.path().join("a.npy")).unwrap();
    assert_eq!((array.shape, array.values), (vec![300], NpyValues::F8(expected)));
}

#[test]
fn unit_vectors_are_rows_printed_or_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let line = "random von-mises-fisher --direction -1,2,0.5 --concentration 5 --n 300 --seed 7";
    let mut expected = vec![0.0; 900];
    VonMisesFisher::new(&[-1.0, 2.0, 0.5], 5.0).unwrap().fill(Key::new(7), 0, &mut expected).unwrap();
    let printed = run(dir.path(), line).succeeds().stdout.clone();
    let rows: Vec<Vec<f64>> =
        printed.lines().map(|row| row.split(' ').map(|number| number.parse().unwrap()).collect()).collect();
    assert_eq!((rows.len(), rows.concat()), (300, expected.clone()));
    let json = run(dir.path(), &format!("{line} --json")).succeeds().json();
    assert_eq!(json["distribution"], "von-mises-fisher(direction=-1,2,0.5, concentration=5)");
    assert_eq!((json["draws"][7][2].as_f64(), json["draws"].as_array().unwrap().len()), (Some(expected[23]), 300));
    let file = run(dir.path(), &format!("{line} --out {{}}/a.npy"));
    assert!(file.succeeds().stderr.contains("300 draws"), "{}", file.stderr);
    let array = read_npy(&dir.path().join("a.npy")).unwrap();
    assert_eq!((array.shape, array.values), (vec![300, 3], NpyValues::F8(expected)));
    // Batches end where vectors do, and what is finished needs no more.
    let many = |words: &str| {
        let line = "random von-mises-fisher --direction 0,0,1,0,0,0,1 --concentration 5 --n 100000 --dtype float32";
        run(dir.path(), &format!("{line} {words}"))
    };
    many("--out {}/whole.npy").succeeds();
    many("--out {}/small.npy --memory 1MiB --threads 1").succeeds();
    assert!(bytes(dir.path(), "whole.npy") == bytes(dir.path(), "small.npy"));
    assert!(many("--out {}/whole.npy --resume").succeeds().stderr.contains("has all of its 100000 draws"));
    let answer = |words: &str| run(dir.path(), &format!("random {words} --n 3"));
    refused(&answer("von-mises-fisher --concentration 1"), 2, &["von-mises-fisher needs --direction"]);
    refused(&answer("von-mises-fisher --direction 0,1"), 2, &["von-mises-fisher needs --concentration"]);
    refused(&answer("normal --direction 0,1"), 2, &["--direction: normal has no such parameter"]);
    let bad = answer("von-mises-fisher --concentration 1 --direction 3");
    refused(&bad, 2, &["--direction: von Mises-Fisher: number of dimensions is 1; it must be from 2 to 65536"]);
    refused(&many(""), 2, &["--n 100000: more than 100000 numbers go into a file"]);
}

#[test]
fn a_hundred_thousand_numbers_are_printed() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), "random normal --n 100000").succeeds().stdout.lines().count(), 100_000);
}

/// In JSON a draw is a number, or a list of the numbers of a vector, be they two.
#[test]
fn draws_in_json_are_numbers_or_lists() {
    let dir = tempfile::tempdir().unwrap();
    let json =
        |words: &str| run(dir.path(), &format!("random {words} --n 4 --json")).succeeds().json()["draws"].clone();
    let numbers = json("normal");
    assert!(numbers.as_array().unwrap().iter().all(serde_json::Value::is_number), "{numbers}");
    let vectors = json("von-mises-fisher --direction 0,1 --concentration 2");
    let lengths = vectors.as_array().unwrap().iter().map(|draw| draw.as_array().map(Vec::len));
    assert!(lengths.into_iter().all(|length| length == Some(2)), "{vectors}");
    assert_eq!([numbers, vectors].map(|draws| draws.as_array().unwrap().len()), [4, 4]);
}

/// The draw that an earlier session has left is not made again, and said to be there.
#[test]
fn a_single_draw_that_is_there_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npy");
    for n in [0, 1] {
        let plan = NpyHeader::new(&path, NpyType::F8, &[3]).unwrap().plan();
        let description = "octopus random normal(loc=0, scale=1) --seed 42";
        let mut begun = ResumableFile::create(&path, plan, description, Overwrite::Replace).unwrap();
        begun.append(&[0.5_f64; 1][..n]).unwrap();
        begun.checkpoint().unwrap();
        drop(begun);
        let found = run(dir.path(), "random normal --n 3 --resume --out {}/a.npy");
        assert_eq!(found.succeeds().stderr.contains("1 of 3 draws are there already"), n == 1, "{found:#?}");
        assert_eq!(found.stderr.contains("are there already"), n == 1, "{found:#?}");
        let NpyValues::F8(draws) = read_npy(&path).unwrap().values else { panic!("other numbers") };
        assert_eq!((draws.len(), draws[0] == 0.5), (3, n == 1));
    }
}

/// Each parameter of each distribution moves its draws, and a distribution refuses those of others.
#[test]
fn parameters_are_those_of_their_distribution() {
    let dir = tempfile::tempdir().unwrap();
    let drawn = |words: &str| {
        let answer = run(dir.path(), &format!("random {words} --n 20 --dtype float32"));
        answer.succeeds();
        answer.stdout
    };
    for (line, others) in [
        ("uniform", &["--low -1", "--high 2"][..]),
        ("normal", &["--loc 1", "--scale 2"]),
        ("exponential", &["--scale 2"]),
        ("gamma --shape 2", &["--shape 3", "--scale 2"]),
        ("beta --a 2 --b 3", &["--a 3", "--b 2"]),
        ("student-t --df 4", &["--df 5", "--loc 1", "--scale 2"]),
        ("von-mises --concentration 2", &["--concentration 3", "--loc 1"]),
        ("von-mises-fisher --direction 0,1 --concentration 2", &["--direction 1,1", "--concentration 3"]),
        ("wrapped-normal", &["--loc 1", "--scale 2"]),
    ] {
        let plain = drawn(line);
        assert_eq!(plain.lines().count(), 20, "{line}");
        for other in others {
            let option = other.split(' ').next().unwrap();
            let kept: Vec<&str> = line.split(&format!(" {option} ")).collect();
            // The option's value in the line, if it is there, gives way.
            let rest = kept
                .get(1)
                .map_or(String::new(), |rest| rest.split_once(' ').map_or(String::new(), |r| format!(" {}", r.1)));
            assert_ne!(drawn(&format!("{}{rest} {other}", kept[0])), plain, "{line} {other}");
        }
    }
    let answer = |words: &str| run(dir.path(), &format!("random {words} --n 3"));
    refused(&answer("normal --df 3"), 2, &["--df 3: normal has no such parameter"]);
    refused(&answer("von-mises"), 2, &["von-mises needs --concentration"]);
    refused(&answer("von-mises --concentration -1"), 2, &["--concentration -1: it must be at least 0"]);
    refused(&answer("poisson"), 2, &["poisson", "von-mises"]);
}

/// With such parameters draws would be infinite or NaN: the option and its limit are named before anything is drawn.
#[test]
fn parameters_at_the_end_of_their_type_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (words, said) in [
        ("beta --a 1e-320 --b 1e-320", ["--a 1e-320", "at least 2.1"]),
        ("beta --a 1 --b 1e307", ["--b 1e307", "at most 1."]),
        ("beta --a 1e-38 --b 1 --dtype float32", ["--a 9.99", "at least 1.1"]),
        ("student-t --df 1e-320", ["--df 1e-320", "at least 5."]),
        ("student-t --df 0.01", ["--df 0.01", "at least 5."]),
        ("student-t --df 1 --scale 1e300", ["--scale 1e300", "at most"]),
        ("normal --scale 1e308", ["--scale 1e308", "at most 1."]),
        ("exponential --scale 1e307", ["--scale 1e307", "at most 4."]),
        ("gamma --shape 1e10 --scale 1e300", ["--scale 1e300", "at most 1."]),
    ] {
        let answer = run(dir.path(), &format!("random {words} --n 5 --out {{}}/x.npy"));
        answer.fails(2, &said);
        assert!(!dir.path().join("x.npy").exists());
    }
}

#[test]
fn types_threads_and_memory_change_no_draw() {
    let dir = tempfile::tempdir().unwrap();
    let line = |name: &str, words: &str| {
        let all = format!("random gamma --shape 0.5 --n 300000 --out {{}}/{name}.npy {words}");
        run(dir.path(), &all).succeeds();
        read_npy(&dir.path().join(format!("{name}.npy"))).unwrap().values
    };
    let whole = line("whole", "");
    assert_eq!(line("small", "--memory 1MiB --threads 1"), whole);
    assert_eq!(line("shared", "--memory 3MiB --threads 5"), whole);
    assert_ne!(line("other", "--seed 43"), whole);
    let (NpyValues::F4(single), NpyValues::F2(half)) =
        (line("single", "--dtype float32"), line("half", "--dtype float16"))
    else {
        panic!("the types are those asked for")
    };
    assert!(single.iter().zip(&half).all(|(single, bits)| half::f16::from_f32(*single).to_bits() == *bits));
}

/// Returns what a Parquet file has in its one column, after its name, and its entry `octopus`.
fn column<T: DataType>(path: &Path, name: &str) -> (Vec<T::T>, serde_json::Value) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata().unwrap();
    let ours = entries.iter().find(|entry| entry.key == "octopus").unwrap().value.as_ref().unwrap();
    let ours = serde_json::from_str(ours).unwrap();
    let columns: Vec<_> = file.schema_descr().columns().iter().map(|column| column.name()).collect();
    assert_eq!(columns, [name]);
    let mut draws = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).unwrap();
        let mut column = get_typed_column_reader::<T>(group.get_column_reader(0).unwrap());
        column.read_records(usize::MAX, None, None, &mut draws).unwrap();
    }
    (draws, ours)
}

#[test]
fn a_parquet_file_has_the_draws_of_numpys() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    // More than a row group of 2^20 draws.
    let line = |name: &str, words: &str| {
        let all = format!("random von-mises --concentration 5 --n 1.1e6 --seed 7 --out {{}}/{name} {words}");
        run(dir.path(), &all).succeeds();
    };
    for dtype in ["float64", "float32", "float16"] {
        line(&format!("{dtype}.npy"), &format!("--dtype {dtype}"));
        line(&format!("{dtype}.parquet"), &format!("--dtype {dtype} --memory 1MiB --threads 1"));
        let (npy, parquet) = (read_npy(&path(&format!("{dtype}.npy"))).unwrap(), path(&format!("{dtype}.parquet")));
        let said = match npy.values {
            NpyValues::F8(draws) => {
                let (found, said) = column::<DoubleType>(&parquet, "von_mises");
                assert!(found == draws);
                said
            }
            NpyValues::F4(draws) => {
                let (found, said) = column::<FloatType>(&parquet, "von_mises");
                assert!(found == draws);
                said
            }
            NpyValues::F2(bits) => {
                let (found, said) = column::<FixedLenByteArrayType>(&parquet, "von_mises");
                assert!(
                    found
                        .iter()
                        .map(|half| half.data().to_vec())
                        .eq(bits.iter().map(|bits| bits.to_le_bytes().to_vec()))
                );
                said
            }
        };
        let distribution = "von-mises(loc=0, concentration=5)";
        let expected = serde_json::json!({ "schema": 1, "command": "random", "distribution": distribution, "seed": 7 });
        assert_eq!(said, expected);
    }
    line("again.parquet", "--threads 2 --memory 64MiB");
    assert!(bytes(dir.path(), "again.parquet") == bytes(dir.path(), "float64.parquet"));
    // What is finished says what it is.
    let again = |words: &str| {
        let all = format!("random von-mises --concentration 5 --n 1.1e6 --out {{}}/again.parquet --resume {words}");
        run(dir.path(), &all)
    };
    assert!(again("--seed 7").succeeds().stderr.contains("has all of its 1100000 draws"));
    refused(&again("--seed 8"), 3, &["again.parquet", "another file"]);
    let named = |name: &str| run(dir.path(), &format!("random normal --n 3 --out {{}}/{name}"));
    for name in ["a.csv", "a", "parquet", "a.npy.gz"] {
        refused(&named(name), 2, &["--out", name, ".npy", ".parquet"]);
    }
    let many = run(dir.path(), "random normal --n 9e15 --out {}/many.parquet");
    refused(&many, 2, &["--n 9000000000000000", "many.parquet", "several files"]);
}

#[test]
fn a_file_is_replaced_only_by_force() {
    let dir = tempfile::tempdir().unwrap();
    let line = |words: &str| run(dir.path(), &format!("random normal --n 1000 --out {{}}/a.npy {words}"));
    refused(&line("--resume"), 3, &["a.npy", "nothing"]);
    line("").succeeds();
    let first = bytes(dir.path(), "a.npy");
    refused(&line("--seed 1"), 3, &["a.npy", "--force"]);
    assert_eq!(bytes(dir.path(), "a.npy"), first);
    line("--seed 1 --force").succeeds();
    assert_ne!(bytes(dir.path(), "a.npy"), first);
    // What is finished needs no more.
    assert!(line("--seed 1 --resume").succeeds().stderr.contains("has all of its 1000 draws"));
}

/// The draws of all parts, one after the other, are all draws; a part goes on with its own file.
#[test]
fn parts_of_the_draws_are_the_draws() {
    let dir = tempfile::tempdir().unwrap();
    let line = |words: &str| run(dir.path(), &format!("random gamma --shape 3 --n 1000 {words}"));
    line("--out {}/whole.npy").succeeds();
    let values = |name: &str| match read_npy(&dir.path().join(name)).unwrap().values {
        NpyValues::F8(values) => values,
        _ => unreachable!("float64 was asked for"),
    };
    let parts = [1, 2, 3].map(|part| {
        line(&format!("--out {{}}/draws.npy --part {part}/3")).succeeds();
        values(&format!("draws-{part}-of-3.npy"))
    });
    assert_eq!(parts.each_ref().map(Vec::len), [333, 333, 334]);
    assert_eq!(parts.concat(), values("whole.npy"));
    assert!(!dir.path().join("draws.npy").exists());
    assert!(line("--out {}/draws.npy --part 2/3 --resume").succeeds().stderr.contains("has all of its 333 draws"));
    fs::copy(dir.path().join("draws-1-of-3.npy"), dir.path().join("draws-2-of-3.npy")).unwrap();
    refused(&line("--out {}/draws.npy --part 2/3"), 3, &["draws-2-of-3.npy", "--force"]);
    line("--out {}/draws.parquet --part 2/3").succeeds();
    let (draws, metadata) = column::<DoubleType>(&dir.path().join("draws-2-of-3.parquet"), "gamma");
    assert_eq!((draws, metadata["first"].as_u64()), (parts[1].clone(), Some(333)));
    let none = run(dir.path(), "random normal --n 2 --out {}/few.npy --part 1/3");
    refused(&none, 2, &["--part 1/3", "2 draws leave none"]);
    refused(&line("--out {}/draws.npy --part 4/3"), 2, &["--part", "K/N"]);
}

/// Draws that take long enough to be hit: what they are of, its parameter, another one, and how many.
const LONG: [[&str; 4]; 2] = [
    ["student-t", "--df 3", "--df 4", "--n 1e8"],
    ["von-mises-fisher --direction 0,1,2", "--concentration 3", "--concentration 4", "--n 2e7"],
];

fn begun(dir: &Path, name: &str, line: &str) -> Child {
    let mut command = Command::new(program());
    let child = command.args(line.split_whitespace()).arg(dir.join(name)).stdout(Stdio::null()).stderr(Stdio::null());
    let child = child.spawn().unwrap();
    let (partial, begin) = (dir.join(format!("{name}.partial")), Instant::now());
    while fs::metadata(&partial).map_or(0, |file| file.len()) < 1 << 20 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no draws come");
        sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn what_was_interrupted_or_killed_goes_on_to_the_same_bytes() {
    for (kind, [of, own, other, n]) in [("npy", LONG[0]), ("parquet", LONG[0]), ("npy", LONG[1])] {
        let line = format!("random {of} {own} {n} --dtype float16 --threads 1 --quiet --memory 1MiB --out");
        let dir = tempfile::tempdir().unwrap();
        let (name, whole) = (format!("a.{kind}"), format!("whole.{kind}"));
        let (path, partial) = (dir.path().join(&name), format!("{name}.partial"));
        run(dir.path(), &format!("{line} {{}}/{whole}")).succeeds();
        let mut child = begun(dir.path(), &name, &line);
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupt.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(!path.exists(), "nothing half-written has the final name");
        let kept = fs::metadata(dir.path().join(&partial)).unwrap().len();
        assert!(kept > 1 << 20, "{kept}");
        // Other draws do not go on with it, and a new file does not replace it in silence.
        let again = |words: &str| {
            let words = format!("random {of} {n} --dtype float16 --quiet --out {{}}/{name} {words}");
            run(dir.path(), &words)
        };
        let named = |parameter: &str| parameter.trim_start_matches("--").replace(' ', "=");
        refused(&again(&format!("{own} --resume --seed 1")), 3, &["--seed 1", "--seed 42"]);
        refused(&again(&format!("{other} --resume")), 3, &[&named(other), &named(own)]);
        refused(&again(own), 3, &[&partial, "--resume"]);
        let mut command = Command::new(program());
        let mut resumed = command.args(line.split_whitespace()).arg(&path).arg("--resume").spawn().unwrap();
        sleep(Duration::from_millis(100));
        resumed.kill().unwrap();
        resumed.wait().unwrap();
        again(&format!("{own} --resume --threads 2 --memory 64MiB")).succeeds();
        assert!(bytes(dir.path(), &name) == bytes(dir.path(), &whole), "the same bytes");
        assert!(!dir.path().join(&partial).exists());
    }
}

#[test]
fn too_little_memory_is_told_before_a_file_is_begun() {
    let dir = tempfile::tempdir().unwrap();
    let line = "random normal --n 1e6 --out {}/a.npy --memory";
    refused(&run(dir.path(), &format!("{line} 1023KiB")), 2, &["--memory", "1 MiB"]);
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    run(dir.path(), &format!("{line} 1MiB")).succeeds();
}

/// One GPU and two make the CPU's file, and without memory none.
#[test]
fn gpus_make_the_same_file() {
    let Some(double) = Double::new() else { return };
    let dir = tempfile::tempdir().unwrap();
    let line = |name: &str, words: &str| {
        format!("random von-mises --concentration 1e4 --n 250000 --out {}/{name}.npy {words}", dir.path().display())
    };
    double.run(&mut double.octopus(""), &line("cpu", "")).succeeds();
    let one = double.run(&mut double.octopus(""), &line("one", "--device cuda --memory 1MiB"));
    one.succeeds();
    assert!(one.stderr.contains("on cuda:0"), "{}", one.stderr);
    double.run(&mut double.octopus("devices=2"), &line("two", "--device cuda:all --memory 2MiB")).succeeds();
    for name in ["one.npy", "two.npy"] {
        assert!(bytes(dir.path(), name) == bytes(dir.path(), "cpu.npy"), "{name}");
    }
    let little = double.run(&mut double.octopus("devices=2"), &line("little", "--device cuda:all --memory 1MiB"));
    refused(&little, 2, &["--memory", "at least 2097152 are needed"]);
    let full = double.run(&mut double.octopus("fail=cuMemAlloc_v2:2"), &line("full", "--device cuda"));
    refused(&full, 3, &["memory", "cuda:0"]);
    assert!(!dir.path().join("full.npy").exists());
    let absent = double.run(&mut double.octopus(""), &line("absent", "--device cuda:5"));
    refused(&absent, 4, &["cuda:5"]);
}
