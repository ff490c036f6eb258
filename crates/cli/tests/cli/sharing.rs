//! Work that several processes share over one folder: parts, claims and status. The whole is bit for bit what one process
//! finds, whatever the number of processes, their order, and how often they are killed.

use crate::support::{Answer, answer, fingerprints, octopus, program, run};
use octopus_random::{Purpose, Stream};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How many processes are killed at random for how many seconds: `64x600` in a long test, by hand.
const KILLS: &str = "OCTOPUS_CLAIM_KILLS";

fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn same(dir: &Path, one: &str, other: &str) {
    assert!(bytes(dir, one) == bytes(dir, other), "{one} differs from {other}");
}

/// Runs a command as the task of an array job.
fn as_task(dir: &Path, words: &str, variables: &[(&str, &str)]) -> Answer {
    let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    answer(octopus().args(words).envs(variables.iter().copied()))
}

/// Begins several processes of one command at once, and waits for all.
fn together(dir: &Path, words: &str, count: usize) {
    let children: Vec<Child> = (0..count).map(|_| begin(dir, words)).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}

fn begin(dir: &Path, words: &str) -> Child {
    let words = words.split_whitespace().map(|word| word.replace("{}", dir.to_str().unwrap()));
    Command::new(program()).args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn parts_of_a_sweep_are_the_sweep() {
    let dir = tempfile::tempdir().unwrap();
    let sweep = "sweep eight-schools --seeds 41 --draws 60 --tune 60 --chains 2 -q";
    run(dir.path(), &format!("{sweep} --out {{}}/whole.json"));
    let part = |rest: &str| run(dir.path(), &format!("{sweep} --keep {{}}/kept {rest}"));
    run(dir.path(), "status {}/kept").fails(3, &["nobody shares it"]);
    for (k, there) in [(3, 13), (1, 27)] {
        let found = part(&format!("--part {k}/3"));
        found.succeeds();
        assert!(found.stdout.contains(&format!("part {k}/3 is complete: {there} of 41 runs are there")), "{found:#?}");
    }
    let status = run(dir.path(), "status {}/kept");
    assert_eq!(status.code, Some(1), "{status:#?}");
    assert!(
        status.stdout.contains("part 2/3 has not begun") && status.stdout.contains("27 of 41 pieces"),
        "{status:#?}"
    );
    part("--part auto").fails(2, &["--part", "no task of an array job"]);
    let loud = format!("{} --keep {{}}/kept --part auto", sweep.replace("-q", ""));
    let task = [("JOB_COMPLETION_INDEX", "1"), ("OCTOPUS_PARTS", "3")];
    let both = [task[0], task[1], ("PBS_ARRAY_INDEX", "1")];
    as_task(dir.path(), &loud, &both).fails(2, &["JOB_COMPLETION_INDEX and PBS_ARRAY_INDEX are both set"]);

    // The whole finds the rest by itself, and says whose it was.
    fs::create_dir(dir.path().join("copy")).unwrap();
    for name in ["settings.json", "runs", "parts"] {
        let (from, to) = (dir.path().join("kept").join(name), dir.path().join("copy"));
        assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
    }
    // A killed process leaves a record that nobody changes any more.
    let record = dir.path().join("copy/parts/3-of-3.json");
    let killed = fs::read_to_string(&record).unwrap().replace("complete", "running");
    fs::write(&record, killed).unwrap();
    let status = run(dir.path(), "status {}/copy");
    assert!(status.code == Some(1) && status.stdout.contains("1 without a sign of life"), "{status:#?}");
    let rest = run(dir.path(), &format!("{} --keep {{}}/copy", sweep.replace("-q", "")));
    assert!(rest.stderr.contains("part 2/3: 14 runs are missing: it has not begun"), "{rest:#?}");
    same(dir.path(), "copy/sweep.json", "whole.json");

    as_task(dir.path(), &loud, &task).succeeds();
    run(dir.path(), "status {}/kept").succeeds();
    run(dir.path(), "status {}/kept --wait --json").succeeds();
    let whole = part("");
    assert!(matches!(whole.code, Some(0 | 1)), "{whole:#?}");
    same(dir.path(), "kept/sweep.json", "whole.json");
    assert!(!dir.path().join("kept/runs").exists());
    let told = run(dir.path(), "status {}/kept").stdout;
    assert!(told.contains("41 of 41 pieces done, and put together"), "{told}");

    // Other settings, and files that are damaged or disagree, are named.
    run(dir.path(), &format!("{} --keep {{}}/kept --part 1/3", sweep.replace("--tune 60", "--tune 61")))
        .fails(2, &["a sweep with other settings"]);
    let text = fs::read_to_string(dir.path().join("kept/runs.csv")).unwrap();
    fs::create_dir(dir.path().join("kept/runs")).unwrap();
    let line = text.lines().nth(5).unwrap();
    let (seed, _) = line.split_once(',').unwrap();
    let other =
        format!("{}\n{}\n", text.lines().next().unwrap(), line.replacen(&format!("{seed},"), &format!("{seed},9"), 1));
    fs::write(dir.path().join("kept/runs/part-7-of-9-00000.csv"), other).unwrap();
    fs::write(dir.path().join("kept/runs/part-8-of-9-00000.csv"), &text[..text.len() - 9]).unwrap();
    part("").fails(3, &["another outcome of number", "part-8-of-9-00000.csv", "remove these files"]);

    together(dir.path(), &format!("{sweep} --keep {{}}/claimed --claim --lease 2 --threads 1"), 3);
    run(dir.path(), "status {}/claimed").succeeds();
    run(dir.path(), &format!("{sweep} --keep {{}}/claimed"));
    same(dir.path(), "claimed/sweep.json", "whole.json");
    assert!(!dir.path().join("claimed/claims").exists());
}

#[test]
fn parts_of_a_calibration_are_the_calibration() {
    let dir = tempfile::tempdir().unwrap();
    let calibrate =
        "calibrate eight-schools --datasets 45 --draws 40 --tune 60 --chains 2 --device cpu -q --format svg";
    run(dir.path(), &format!("{calibrate} --out {{}}/whole"));
    for k in [2, 4, 1, 3] {
        run(dir.path(), &format!("{calibrate} --out {{}}/parts --part {k}/4")).succeeds();
    }
    together(dir.path(), &format!("{calibrate} --out {{}}/claimed --claim --lease 2 --threads 1"), 3);
    for folder in ["parts", "claimed"] {
        run(dir.path(), &format!("{calibrate} --out {{}}/{folder}"));
        for name in ["ranks.csv", "calibration.json", "settings.json"] {
            same(dir.path(), &format!("{folder}/{name}"), &format!("whole/{name}"));
        }
    }
    run(dir.path(), &format!("{calibrate} --out {{}}/parts --seed 7 --part 1/4"))
        .fails(2, &["--out", "other settings"]);
}

/// Tables of several data sets, from numbers that need no generator.
fn tables(dir: &Path, count: usize) {
    fs::create_dir(dir.join("in")).unwrap();
    for set in 0..count {
        let mut text = "city,y\n".to_owned();
        for (j, i) in (0..6).flat_map(|j| (0..5).map(move |i| (j, i))) {
            let y = 50.0 + ((j * 37 + set * 7) % 11) as f64 * 2.5 + ((i * 29 + j * 13 + set) % 17) as f64 * 0.7;
            writeln!(text, "c{j},{y}").unwrap();
        }
        fs::write(dir.join(format!("in/{set}.csv")), text).unwrap();
    }
}

/// One error names all that is wrong, and says whose part it was.
#[test]
fn what_parts_of_a_batch_have_left_is_told() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path(), 6);
    let batch =
        "sample hierarchical-normal --batch {}/in --group city --value y --draws 20 --tune 20 --chains 2 --device cpu";
    run(dir.path(), &format!("{batch} --out {{}}/out --part 1/3"));
    let rest = run(dir.path(), &format!("{batch} --out {{}}/out"));
    for words in ["part 2/3: 2 data sets are missing: it has not begun", "part 3/3: 2 data sets are missing"] {
        assert!(rest.stderr.contains(words), "{words}: {rest:#?}");
    }
    let other = batch.replace("--tune 20", "--tune 21");
    run(dir.path(), &format!("{other} --out {{}}/mixed --part 2/3"));
    run(dir.path(), &format!("{batch} --out {{}}/mixed --part 1/3"));
    let refused = run(dir.path(), &format!("{batch} --out {{}}/mixed"));
    refused.fails(2, &["2 runs cannot be taken up", "sets/1 holds a run of other settings", "sets/4 holds a run"]);
    fs::write(dir.path().join("mixed/sets/0/run.toml"), "torn").unwrap();
    let refused = run(dir.path(), &format!("{batch} --out {{}}/mixed"));
    refused.fails(3, &["3 runs cannot be taken up", "sets/0", "sets/1", "sets/4"]);
    // What is not of the batch is not moved by who claims.
    fs::create_dir_all(dir.path().join("claimed/sets/3")).unwrap();
    fs::write(dir.path().join("claimed/sets/3/thesis"), "years of work").unwrap();
    run(dir.path(), &format!("{batch} --out {{}}/claimed --claim")).fails(3, &["3 is not a run folder"]);
    assert_eq!(bytes(dir.path(), "claimed/sets/3/thesis"), b"years of work");
}

/// What was drawn when a process was asked to end goes on in another.
#[cfg(unix)]
#[test]
fn a_process_that_is_asked_to_end_hands_on_what_it_has_drawn() {
    let dir = tempfile::tempdir().unwrap();
    tables(dir.path(), 3);
    let claim = "sample hierarchical-normal --batch {}/in --group city --value y --draws 20000 --tune 500 --chains 2 \
                 --device cpu -q --threads 1 --out {}/out --claim --lease 60";
    let first = begin(dir.path(), claim);
    let begun = || {
        let folders = fs::read_dir(dir.path().join("out/drawing")).into_iter().flatten().flatten();
        folders
            .flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten())
            .any(|run| run.path().join("draws/part-00000.parquet").exists())
    };
    let start = Instant::now();
    while !begun() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap();
    assert_eq!(first.wait_with_output().unwrap().status.code(), Some(130));
    let handed_on: Vec<_> =
        fs::read_dir(dir.path().join("out/sets")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(handed_on.iter().any(|run| run.join("draws/part-00000.parquet").exists()), "{handed_on:?}");
    let records = |at: &Path| fs::read_to_string(at.join("run.toml")).unwrap();
    let created = |text: &str| text.lines().find(|line| line.starts_with("created")).unwrap().to_owned();
    let before: Vec<String> = handed_on.iter().map(|run| created(&records(run))).collect();
    run(dir.path(), claim).succeeds();
    let after: Vec<String> = handed_on.iter().map(|run| created(&records(run))).collect();
    assert_eq!(before, after, "it has gone on and not begun anew");
    let whole = claim.replace("--claim --lease 60", "").replace("{}/out", "{}/whole");
    run(dir.path(), &whole);
    run(dir.path(), &claim.replace("--claim --lease 60", ""));
    same(dir.path(), "out/summary.csv", "whole/summary.csv");
}

/// Processes claim the data sets of a batch, are killed at random, and others take over: no data set is lost, none is in
/// the summary twice, and all bits are those of one process.
#[test]
fn data_sets_are_claimed_by_processes_that_are_killed() {
    let asked = std::env::var(KILLS).unwrap_or_else(|_| "4x4".to_owned());
    let (processes, seconds) = asked.split_once('x').unwrap();
    let (processes, seconds): (usize, u64) = (processes.parse().unwrap(), seconds.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let sets = 6 * processes;
    tables(dir.path(), sets);
    let batch = "sample hierarchical-normal --batch {}/in --group city --value y --draws 4000 --tune 500 --chains 2 \
                 --device cpu -q --threads 1";
    run(dir.path(), &format!("{batch} --out {{}}/whole"));
    let whole: Vec<_> = (0..sets).map(|set| fingerprints(&dir.path().join(format!("whole/sets/{set}")))).collect();
    let mut random = Stream::new(3, 0, 0, Purpose::User);
    let (begin_all, mut killed, mut rounds) = (Instant::now(), 0, 0);
    while rounds == 0 || begin_all.elapsed() < Duration::from_secs(seconds) {
        rounds += 1;
        let claim = format!("{batch} --out {{}}/claimed --claim --lease 2");
        let mut children: Vec<Child> = (0..processes).map(|_| begin(dir.path(), &claim)).collect();
        // Somebody has completed the batch when a process ends by itself.
        let mut ended = false;
        while !ended {
            sleep(Duration::from_millis((random.uniform() * 400.0) as u64));
            let chosen = (random.uniform() * processes as f64) as usize % processes;
            // In the last rounds nobody is killed, so that each ends.
            if begin_all.elapsed() < Duration::from_secs(seconds) {
                children[chosen].kill().unwrap();
                killed += usize::from(!children[chosen].wait().unwrap().success());
                children[chosen] = begin(dir.path(), &claim);
            }
            ended = children.iter_mut().any(|child| child.try_wait().unwrap().is_some());
        }
        for child in children {
            let found = child.wait_with_output().unwrap();
            assert_eq!(found.status.code(), Some(0), "{}", String::from_utf8_lossy(&found.stderr));
        }
        let folders: Vec<_> = fs::read_dir(dir.path().join("claimed/sets")).unwrap().flatten().collect();
        assert_eq!(folders.len(), sets, "{folders:?}");
        let drawn = |set: usize| {
            fs::metadata(dir.path().join(format!("claimed/sets/{set}/run.toml"))).unwrap().modified().unwrap()
        };
        let before: Vec<_> = (0..sets).map(drawn).collect();
        let merged = run(dir.path(), &format!("{batch} --out {{}}/claimed"));
        assert!(matches!(merged.code, Some(0 | 1)), "{merged:#?}");
        assert_eq!((0..sets).map(drawn).collect::<Vec<_>>(), before, "nothing was left to be drawn");
        same(dir.path(), "claimed/summary.csv", "whole/summary.csv");
        for (set, expected) in whole.iter().enumerate() {
            assert_eq!(&fingerprints(&dir.path().join(format!("claimed/sets/{set}"))), expected, "{set}");
        }
        assert!(!dir.path().join("claimed/claims").exists() && !dir.path().join("claimed/drawing").exists());
        fs::remove_dir_all(dir.path().join("claimed")).unwrap();
    }
    eprintln!("{processes} processes, {killed} killed, {rounds} rounds of {sets} data sets");
    assert!(killed > 0);
}
