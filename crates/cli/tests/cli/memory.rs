//! Commands refuse what does not fit the memory before they begin. The error says how much is needed, how much is there
//! and what to change. No command ends for want of memory as if it were killed.

use crate::support::{Answer, answer, program, run, tree};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Runs the program where it can have so many kibibytes of addresses; `{}` stands for `dir`.
#[track_caller]
fn limited(dir: &Path, kibibytes: u64, words: &str) -> Answer {
    let line = format!("ulimit -v {kibibytes}; exec {} {words}", program()).replace("{}", dir.to_str().unwrap());
    answer(assert_cmd::Command::new("sh").args(["-c", &line]))
}

/// Asserts that a command is refused for want of memory, by these words, and leaves nothing.
#[track_caller]
fn refused(kibibytes: u64, words: &str, said: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let answer = limited(dir.path(), kibibytes, words);
    let needed_and_there = ["MiB of memory on the CPU, and ", " MiB are there: "];
    answer.fails(3, &[needed_and_there.as_slice(), said].concat());
    assert!(tree(dir.path()).is_empty(), "{:?}", tree(dir.path()));
}

const LITTLE: u64 = 1_000_000;

#[cfg(target_os = "linux")]
#[test]
fn made_up_data_beyond_the_memory_are_refused() {
    let sample = "sample hierarchical-normal --device cpu";
    for more in ["--dry-run", "--out {}/run"] {
        let million = "--groups 1000000 --per-group 10";
        refused(300_000, &format!("{sample} {million} {more}"), &["10000000 observations in 1000000 groups", "fewer"]);
        let most = "--groups 10000 --per-group 100000";
        refused(2_000_000, &format!("{sample} {most} {more}"), &["1000000000 observations in 10000 groups"]);
    }
    refused(400_000, "check hierarchical-normal --groups 2000000", &["20000000 observations in 2000000 groups"]);
    let many = "check hierarchical-normal --groups 1500000 --per-group 1";
    refused(600_000, many, &["a check of 1500003 coordinates takes", "fewer groups"]);
    refused(LITTLE, "sweep hierarchical-normal --groups 3000000", &["30000000 observations"]);
    refused(LITTLE, "calibrate hierarchical-normal --groups 3000000 --out {}/c", &["30000000 observations"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_beyond_the_memory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "g,v\n".to_owned();
    (0..3_000_000).for_each(|row| writeln!(text, "g{},{}", row % 1000, row % 977).unwrap());
    fs::write(dir.path().join("big.csv"), text).unwrap();
    let words = "sample hierarchical-normal --data {}/big.csv --group g --value v --device cpu --dry-run";
    limited(dir.path(), 200_000, words).fails(3, &["rows of ", "big.csv takes at least ", "a table of fewer rows"]);
}

#[cfg(target_os = "linux")]
#[test]
fn sweeps_and_calibrations_beyond_the_memory_are_refused() {
    refused(LITTLE, "sweep eight-schools --seeds 2 --draws 2000000000 --tune 2", &["--draws 2000000000: ", "fewer"]);
    let short = "--draws 2 --tune 2 --device cpu --out {}/c";
    refused(
        LITTLE,
        &format!("calibrate eight-schools --datasets 3 --chains 3000000 {short}"),
        &["--chains 3000000 --draws 2: ", "fewer --chains"],
    );
    refused(
        LITTLE,
        "calibrate eight-schools --geweke --chains 2000000000 --sequences 8 --steps 8 --out {}/c",
        &["--sequences 8 --chains 2000000000: ", "fewer --chains"],
    );
    refused(
        12_000_000,
        "calibrate hierarchical-normal --datasets 1073741823 --device cpu --out {}/c",
        &["--datasets 1073741823: ", "fewer --datasets"],
    );
    for words in ["sweep hierarchical-normal --seeds 3", "calibrate hierarchical-normal --datasets 3 --out {}/c"] {
        refused(LITTLE, &format!("{words} --chains 2147483647"), &["--chains 2147483647"]);
    }
}

/// What a command needs by default is there.
#[cfg(target_os = "linux")]
#[test]
fn what_fits_the_memory_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let short = "--chains 2 --draws 20 --tune 50 --threads 2";
    for words in [
        format!("sweep eight-schools --seeds 2 {short}"),
        format!("calibrate eight-schools --datasets 3 {short} --kept 9 --device cpu --out {{}}/ranks"),
        "calibrate eight-schools --geweke --sequences 8 --steps 8 --threads 2 --out {}/geweke".to_owned(),
        "check hierarchical-normal --groups 100".to_owned(),
    ] {
        let answer = limited(dir.path(), LITTLE, &words);
        assert!(matches!(answer.code, Some(0 | 1)), "{words}: {answer:#?}");
    }
}

/// The dry run and the run end alike.
#[cfg(target_os = "linux")]
#[test]
fn a_run_without_memory_ends_as_its_dry_run() {
    for chains in ["100000", "3000000"] {
        let words = format!("sample eight-schools --device cpu --chains {chains} --out {{}}/run");
        refused(300_000, &words, &[&format!("--chains {chains}: the run takes"), "fewer --chains"]);
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(limited(dir.path(), 300_000, &format!("{words} --dry-run")).code, Some(3));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn exported_draws_beyond_the_memory_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample eight-schools --chains 2 --draws 10 --tune 20 --device cpu -q --out {}/run").sampled();
    for to in ["netcdf", "zarr"] {
        let export = format!("export {{}}/run --to {to} --out {{}}/x");
        let answer = limited(dir.path(), 12_000_000, &format!("{export} --prior 1000000000"));
        answer.fails(3, &["--prior 1000000000: making the draws takes at least ", "ask for fewer"]);
        for option in ["--prior", "--predictive"] {
            for many in ["99999999999", "18446744073709551615"] {
                let said = [format!("{many} is not in 0..")];
                run(dir.path(), &format!("{export} {option} {many}")).fails(2, &[option, &said[0]]);
            }
        }
        assert!(!dir.path().join("x").exists());
    }
}

/// What is packed does not tell its rows: that the memory is full shows while it is read.
#[cfg(target_os = "linux")]
#[test]
fn a_packed_table_beyond_the_memory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let packed = fs::File::create(dir.path().join("y.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    let rows = "a,1\n".repeat(1 << 20);
    std::io::Write::write_all(&mut packed, b"g,v\n").unwrap();
    (0..24).for_each(|_| std::io::Write::write_all(&mut packed, rows.as_bytes()).unwrap());
    packed.finish().unwrap();
    let words = "sample hierarchical-normal --data {}/y.csv.gz --group g --value v --device cpu --dry-run";
    for kibibytes in [150_000, 400_000] {
        limited(dir.path(), kibibytes, words).fails(3, &["memory"]);
    }
}
