//! The same bits whatever happens on the way: threads, checkpoints, Ctrl-C, kill -9.

use crate::support::{fingerprints, octopus, program, run};
use octopus_random::{Purpose, Stream};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Long enough to be hit, in warm-up and after it.
const LONG: &str = "sample hierarchical-normal --groups 500 --likelihood pointwise --draws 300 --tune 300 \
                    --keep-warmup --device cpu --quiet --json --checkpoint-every 20 --out";

fn long(dir: &Path, name: &str) -> Command {
    let mut command = Command::new(program());
    command.args(LONG.split_whitespace()).arg(dir.join(name)).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn status(run: &Path) -> Option<String> {
    let text = fs::read_to_string(run.join("run.toml")).ok()?;
    let line = text.lines().find(|line| line.starts_with("status"))?;
    Some(line.to_owned())
}

#[test]
fn threads_and_checkpoints_change_no_bit() {
    let dir = tempfile::tempdir().unwrap();
    let base = "sample hierarchical-normal --groups 20 --draws 150 --tune 150 --keep-warmup --device cpu --out {}/";
    run(dir.path(), &format!("{base}0 --threads 1")).sampled();
    let expected = fingerprints(&dir.path().join("0"));
    assert!(expected.keys().any(|name| name.starts_with("warmup_posterior/")), "warm-up is kept");
    for (name, options) in [
        ("1", "--threads 2"),
        ("2", "--threads 3 --checkpoint-every 1"),
        ("3", "--threads 1 --checkpoint-every 7"),
        ("4", "--checkpoint-every 100000"),
    ] {
        run(dir.path(), &format!("{base}{name} {options}")).sampled();
        assert_eq!(fingerprints(&dir.path().join(name)), expected, "{options}");
    }
    run(dir.path(), &format!("{base}other --seed 43")).sampled();
    let other = fingerprints(&dir.path().join("other"));
    assert!(
        expected
            .iter()
            .all(|(name, hash)| name.contains("diverging") || name.contains("max_treedepth") || other[name] != *hash)
    );
}

/// `OCTOPUS_TEST_KILLS` sets how often; the gate runs 20.
#[test]
fn kill_9_at_random_moments_and_resume() {
    let kills: u32 = std::env::var("OCTOPUS_TEST_KILLS").map_or(4, |text| text.parse().expect("a number of kills"));
    let dir = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    // 1 where so few draws fail a check; however the run was interrupted, it ends with the same.
    let code = long(dir.path(), "whole").status().unwrap().code();
    assert!(matches!(code, Some(0 | 1)), "{code:?}");
    // Other tests run beside: the first run may have been slower than those that follow.
    let mut whole = begin.elapsed();
    let expected = fingerprints(&dir.path().join("whole"));
    let mut moments = Stream::new(1, 0, 0, Purpose::User);
    let (mut hit, mut k) = (0, 0);
    while k < kills || (2 * hit < kills && k < 5 * kills) {
        let name = format!("run-{k}");
        let folder = dir.path().join(&name);
        // Twice: the resumed run is killed as well.
        let mut child = long(dir.path(), &name).spawn().unwrap();
        if kill_9(&mut child, whole.mul_f64(moments.uniform()), &folder) {
            hit += 1;
        } else {
            whole = whole.mul_f64(0.8);
        }
        if folder.join("run.toml").exists() {
            let resume = Command::new(program()).args(["resume", "--quiet"]).arg(&folder).stdout(Stdio::null()).spawn();
            kill_9(&mut resume.unwrap(), whole.mul_f64(0.5 * moments.uniform()), &folder);
            let threads = if k % 2 == 0 { "1" } else { "2" };
            let end =
                octopus().args(["resume", "--threads", threads, "--checkpoint-every", "33"]).arg(&folder).output();
            // Where the kill came after the last draw there is nothing left to resume, nor to judge.
            let end = end.unwrap();
            let ended = String::from_utf8_lossy(&end.stdout).contains("is complete");
            assert_eq!(end.status.code(), if ended { Some(0) } else { code });
        } else {
            // Killed before the first file: there is nothing to resume, and nothing in the way.
            assert_eq!(long(dir.path(), &name).status().unwrap().code(), code);
        }
        assert_eq!(fingerprints(&folder), expected, "kill {k}");
        fs::remove_dir_all(&folder).unwrap();
        k += 1;
    }
    assert!(2 * hit >= kills, "only {hit} of {k} kills hit a run");
}

/// Waits, kills, and says whether that was in the middle of the run.
fn kill_9(child: &mut Child, wait: Duration, folder: &Path) -> bool {
    sleep(wait);
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running && status(folder).is_some_and(|status| status.contains("running"))
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_draws_and_resume_gives_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(long(dir.path(), "whole").status().unwrap().code(), Some(0 | 1)));
    let folder = dir.path().join("run");
    let mut child = long(dir.path(), "run").stderr(Stdio::piped()).spawn().unwrap();
    wait_for_draws(&folder);
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let asked = Instant::now();
    let ended = child.wait().unwrap();
    assert!(signalled.success() && ended.code() == Some(130), "{ended:?}");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("octopus resume"), "{said}");
    assert_eq!(status(&folder).as_deref(), Some("status = \"interrupted\""));

    let partial = run(dir.path(), "diagnose {}/run --json");
    assert!(partial.stderr.contains("not complete"), "{partial:?}");
    assert!(partial.json()["parameters"].as_array().unwrap().len() == 1003);
    let resumed = run(dir.path(), "resume {}/run --quiet --json").sampled().json();
    assert_eq!(resumed["status"], "complete");
    assert_eq!(fingerprints(&folder), fingerprints(&dir.path().join("whole")));
}

#[test]
fn two_processes_never_write_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = long(dir.path(), "run").spawn().unwrap();
    let begin = Instant::now();
    while !dir.path().join("run/run.toml").exists() && begin.elapsed() < Duration::from_secs(120) {
        sleep(Duration::from_millis(2));
    }
    let second = run(dir.path(), "resume {}/run");
    let running = first.try_wait().unwrap().is_none();
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(running, "the run was too short for this test");
    second.fails(3, &["in use by another octopus process"]);
}

/// A command that does not listen for Ctrl-C ends at once, and leaves no half-written file.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_pictures_and_leaves_no_half_written_file() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample eight-schools --draws 200 --tune 200 --device cpu -q --out {}/run").sampled();
    let pictures = dir.path().join("pictures");
    let mut command = Command::new(program());
    command.args(["plot", "--format", "png,svg", "--out"]).arg(&pictures).arg(dir.path().join("run"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while !pictures.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(1));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code();
    // On a fast machine all pictures may be there.
    assert!(matches!(code, Some(130 | 0)), "{code:?}");
    let names = crate::support::tree(&pictures);
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
}

/// Both while the command waits for a reader of what it prints. An abort is what the allocator does where it gets no
/// memory: a command that failed, and none that was killed.
#[cfg(unix)]
#[test]
fn a_command_that_does_not_listen_ends_at_the_first_signal_with_its_code() {
    for (signal, code) in [("-INT", 130), ("-TERM", 130), ("-ABRT", 3)] {
        let mut command = Command::new(program());
        command.args(["random", "normal", "--n", "100000"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(10) {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

/// Where the system limits the size of files, the run says so and goes on later.
#[cfg(unix)]
#[test]
fn a_file_that_grows_beyond_its_limit_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let sample = "sample hierarchical-normal --draws 2000 --tune 100 --device cpu -q --out";
    let out = dir.path().join("run");
    let line = format!("ulimit -f 400; exec {} {sample} {}", program(), out.display());
    let ended = Command::new("sh").args(["-c", &line]).output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(3), "{told}");
    assert!(told.contains("File too large") && told.contains("octopus resume"), "{told}");
    run(dir.path(), "resume {}/run -q").sampled();
    run(dir.path(), &format!("{sample} {{}}/whole")).sampled();
    assert_eq!(fingerprints(&out), fingerprints(&dir.path().join("whole")));
}

/// What the chains need is compared with what the system gives this process, before any of it is asked for; a dry run
/// says so, and that the run would fail.
#[cfg(target_os = "linux")]
#[test]
fn a_run_beyond_the_memory_is_refused_before_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let limited = |chains: u32, more: &str| {
        let line = format!(
            "ulimit -v 4000000; exec {} sample hierarchical-normal --groups 100 --tune 2000 --draws 10 --device cpu -q \
             --chains {chains} {more}",
            program()
        );
        Command::new("sh").args(["-c", &line]).output().unwrap()
    };
    let out = format!("--out {}", dir.path().join("run").display());
    let refused = limited(100_000, &out);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{told}");
    assert!(told.contains("--chains 100000: the run takes at least ") && told.contains("fewer --chains"), "{told}");
    assert!(!dir.path().join("run").exists());
    let dry = limited(100_000, "--dry-run");
    assert_eq!(dry.status.code(), Some(3));
    let told = String::from_utf8_lossy(&dry.stdout);
    assert!(told.contains("on cpu: at least ") && told.contains("the run does not fit: --chains 100000: "), "{told}");
    let dry = limited(100_000, "--dry-run --json");
    assert_eq!(dry.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert!(json["fits"] == false && json["problems"][0].as_str().unwrap().contains("--chains 100000"), "{json}");
    let fits = limited(2, &format!("--dry-run --json {out}"));
    assert_eq!(fits.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&fits.stdout).unwrap();
    assert!(json["fits"] == true && json["problems"].as_array().unwrap().is_empty(), "{json}");
    assert!(matches!(limited(2, &out).status.code(), Some(0 | 1)));
}

/// No disk has room for so many draws.
#[test]
fn a_dry_run_that_does_not_fit_the_disk_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample hierarchical-normal --groups 1000 --draws 2000000000 --dry-run --device cpu --out {}/run";
    let answer = run(dir.path(), words);
    assert!(answer.code == Some(3) && answer.stdout.contains("the run does not fit: "), "{answer:#?}");
    assert!(answer.stdout.contains("MiB are free at "), "{answer:#?}");
    // A run that ends at its goal may make fewer.
    run(dir.path(), &format!("{words} --max-seconds 1")).succeeds();
}

/// `nohup` has a process ignore the end of its terminal; without it, that is as Ctrl-C.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_is_ignored_where_the_caller_says_so() {
    let dir = tempfile::tempdir().unwrap();
    // These tests may themselves run under `nohup`, which a shell cannot undo.
    for (name, start, goes_on) in
        [("nohup", "trap '' HUP; exec", true), ("plain", "exec env --default-signal=HUP", false)]
    {
        let out = dir.path().join(name);
        let line = format!("{start} {} {LONG} {}", program(), out.display());
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", &line]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_draws(&out);
        Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
        if goes_on {
            let code = child.wait().unwrap().code();
            assert!(matches!(code, Some(0 | 1)), "{code:?}");
            assert_eq!(status(&out).as_deref(), Some("status = \"complete\""));
        } else {
            assert_eq!(child.wait().unwrap().code(), Some(130));
            assert_eq!(status(&out).as_deref(), Some("status = \"interrupted\""));
        }
    }
}

/// Waits until draws proper are there: a part is on the disk.
fn wait_for_draws(run: &Path) {
    let begin = Instant::now();
    while !run.join("draws/part-00000.parquet").exists() && begin.elapsed() < Duration::from_secs(120) {
        sleep(Duration::from_millis(2));
    }
}
