//! Run folders that are in the way, damaged, read-only or on a full disk.

use crate::support::{Answer, answer, fingerprints, octopus, program, run, tree};
use assert_cmd::Command;
use std::fs;
use std::path::Path;
use std::process::Stdio;

const SMALL: &str = "sample hierarchical-normal --groups 5 --draws 60 --tune 60 --device cpu --out {}/run";

#[test]
fn a_run_is_replaced_only_by_force() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    let before = fingerprints(&dir.path().join("run"));
    run(dir.path(), &format!("{SMALL} --seed 7")).fails(3, &["run", "exists and is not empty", "--out", "--force"]);
    assert_eq!(fingerprints(&dir.path().join("run")), before, "it is as it was");
    run(dir.path(), &format!("{SMALL} --seed 7 --force")).sampled();
    assert_ne!(fingerprints(&dir.path().join("run")), before);
}

#[test]
fn what_is_no_run_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("run")).unwrap();
    fs::write(dir.path().join("run/thesis.tex"), "years of work").unwrap();
    for force in ["", "--force"] {
        run(dir.path(), &format!("{SMALL} {force}")).fails(3, &["run", "not empty", "choose another --out"]);
        assert_eq!(tree(dir.path()), ["run", "run/thesis.tex"]);
    }
}

#[test]
fn what_is_no_run_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "resume {}").fails(3, &["not a run folder", "run.toml", "octopus sample"]);
    for command in ["diagnose {}", "export {} --to csv --out {}/x.csv", "plot {} --out {}/plots"] {
        run(dir.path(), command).fails(3, &["no trace", "run.toml", "give a run folder, a NetCDF file"]);
    }
    run(dir.path(), "diagnose {}/none.nc").fails(3, &["none.nc"]);
    fs::write(dir.path().join("text.nc"), "no NetCDF").unwrap();
    run(dir.path(), "diagnose {}/text.nc").fails(3, &["text.nc", "NetCDF"]);
    assert_eq!(tree(dir.path()), ["text.nc"]);
}

#[test]
fn a_truncated_part_is_named() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    let part = dir.path().join("run/draws/part-00000.parquet");
    let bytes = fs::read(&part).unwrap();
    for keep in [bytes.len() / 2, bytes.len() - 1, 3, 0] {
        fs::write(&part, &bytes[..keep]).unwrap();
        for command in ["diagnose {}/run", "export {}/run --to netcdf --out {}/x.nc"] {
            run(dir.path(), command).fails(3, &["draws/part-00000.parquet", "damaged", "--force"]);
        }
    }
    fs::remove_file(&part).unwrap();
    run(dir.path(), "diagnose {}/run").fails(3, &["draws/part-00000.parquet", "missing"]);
    assert!(!dir.path().join("x.nc").exists());
}

#[test]
fn a_damaged_record_is_named_with_its_field() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    let path = dir.path().join("run/run.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("draws = 60", "draws = \"sixty\"")).unwrap();
    run(dir.path(), "diagnose {}/run").fails(3, &["run.toml", "draws", "sixty"]);
}

#[test]
fn data_that_changed_are_not_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let table = dir.path().join("obs.csv");
    fs::write(&table, "g,y\na,1\na,2\nb,3\nb,5\n").unwrap();
    let words = "sample hierarchical-normal --data {}/obs.csv --group g --value y --draws 40 --tune 40 --out {}/run";
    run(dir.path(), words).sampled();
    let record = dir.path().join("run/run.toml");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("status = \"complete\"", "status = \"interrupted\"")).unwrap();
    // Other values; the same values in other groups; no file at all.
    for changed in ["g,y\na,1\na,2\nb,3\nb,6\n", "g,y\na,1\nb,2\nb,3\nb,5\n"] {
        fs::write(&table, changed).unwrap();
        run(dir.path(), "resume {}/run").fails(3, &["obs.csv", "not those of the run", "restore them"]);
    }
    fs::remove_file(&table).unwrap();
    run(dir.path(), "resume {}/run").fails(3, &["obs.csv", "No such file"]);
}

#[test]
fn a_complete_run_has_nothing_to_resume() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    let before = fingerprints(&dir.path().join("run"));
    let again = run(dir.path(), "resume {}/run");
    assert!(again.sampled().stdout.contains("complete"), "{again:?}");
    assert_eq!(fingerprints(&dir.path().join("run")), before);
}

/// Runs a script of `sh` in a mount namespace of its own, where it may mount; says aloud when it may not.
fn in_namespace(script: &str, dir: &Path) -> Option<Answer> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, program()]).arg(dir).output()
    };
    if !unshare("true").is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no mount namespace here (unshare -rm)");
        return None;
    }
    Some(answer(Command::new("unshare").args(["-rm", "sh", "-c", script, program()]).arg(dir)))
}

#[test]
fn a_read_only_folder() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o ro tmpfs \"$1\" && exec \"$0\" sample hierarchical-normal --out \"$1/run\"";
    let Some(found) = in_namespace(script, dir.path()) else { return };
    found.fails(3, &["/run", "Read-only file system", "choose a folder that you may write to"]);
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(dir.path().join("probe"), "").is_ok() {
        println!("SKIPPED: permissions do not bind this user (root)");
        return;
    }
    run(dir.path(), SMALL).fails(3, &["/run", "Permission denied", "choose a folder that you may write to"]);
    assert!(tree(dir.path()).is_empty());
}

#[test]
fn a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    // Room for the record, not for the draws; the script lists what is left.
    let script = "mount -t tmpfs -o size=120k tmpfs \"$1\" && \"$0\" sample hierarchical-normal --draws 2000 \
                  --tune 60 --max-seconds 1000 --device cpu --out \"$1/run\"; code=$?; find \"$1\" -type f; exit $code";
    let Some(found) = in_namespace(script, dir.path()) else { return };
    found.fails(3, &["/run/", "No space left on device", "free some space", "octopus resume"]);
    assert!(!found.stdout.lines().any(|file| file.ends_with(".tmp")), "nothing half-written: {}", found.stdout);
    assert!(!found.stdout.contains("part-"), "no part: {}", found.stdout);
}

#[test]
fn a_disk_that_is_too_small_is_known_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["sample", "validate"] {
        let more = if command == "sample" { "--draws 2000 --tune 60" } else { "--quick" };
        let script = format!(
            "mount -t tmpfs -o size=120k tmpfs \"$1\" && \"$0\" {command} hierarchical-normal {more} --device cpu --out \
             \"$1/run\"; code=$?; find \"$1\" -mindepth 1; exit $code"
        );
        let Some(found) = in_namespace(&script, dir.path()) else { return };
        found.fails(3, &["the run takes ", "0 MiB are free at ", "fewer --draws"]);
        assert_eq!(found.stdout, "", "nothing is left behind");
    }
}

/// A batch asks for the room of all data sets that are still to be drawn.
#[test]
fn a_disk_that_is_too_small_is_known_before_a_batch() {
    let dir = tempfile::tempdir().unwrap();
    let studies = dir.path().join("studies");
    fs::create_dir(&studies).unwrap();
    for name in ["a.csv", "b.csv"] {
        fs::write(studies.join(name), "city,sales\nx,1.5\nx,2.5\ny,3.5\ny,1.0\n").unwrap();
    }
    let script = "mkdir \"$1/small\" && mount -t tmpfs -o size=120k tmpfs \"$1/small\" && \"$0\" sample \
                  hierarchical-normal --batch \"$1/studies\" --group city --value sales --draws 2000 --tune 60 --device cpu \
                  --out \"$1/small/runs\"; code=$?; find \"$1/small\" -mindepth 1; exit $code";
    let Some(found) = in_namespace(script, dir.path()) else { return };
    found.fails(3, &["the run takes ", "0 MiB are free at ", "fewer --draws"]);
    assert_eq!(found.stdout, "", "nothing is left behind");
}

#[test]
fn a_full_disk_before_the_first_file() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=4k,nr_inodes=2 tmpfs \"$1\" && \"$0\" sample hierarchical-normal \
                  --draws 50 --max-seconds 1000 --device cpu --out \"$1/run\"; code=$?; find \"$1\" -mindepth 1; exit $code";
    let Some(found) = in_namespace(script, dir.path()) else { return };
    found.fails(3, &["/run", "No space left on device", "free some space"]);
    assert_eq!(found.stdout, "", "nothing is left behind");
}

#[test]
fn a_run_that_hit_a_limit_goes_on_later_to_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let words = "sample hierarchical-normal --groups 5 --draws 2000 --tune 60 --device cpu --out";
    let script = format!("trap '' XFSZ; ulimit -f 64; exec \"$0\" {words} \"$1/run\"");
    let found = answer(Command::new("sh").args(["-c", &script, program()]).arg(dir.path()));
    found.fails(3, &["/run/draws/part-", "File too large"]);
    assert!(tree(dir.path()).iter().all(|name| !name.contains("tmp")), "{:?}", tree(dir.path()));
    run(dir.path(), "resume {}/run").sampled();
    run(dir.path(), &format!("{words} {{}}/whole")).sampled();
    assert_eq!(fingerprints(&dir.path().join("run")), fingerprints(&dir.path().join("whole")));
}

#[test]
fn exports_do_not_overwrite_and_leave_nothing_half_written() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    for format in ["netcdf", "zarr", "zarr-v2", "parquet", "stan-csv", "csv"] {
        let export = format!("export {{}}/run --to {format} --out {{}}/{format}");
        run(dir.path(), &export).succeeds();
        run(dir.path(), &export).fails(3, &[format, "exists", "--force"]);
        run(dir.path(), &format!("{export} --force")).succeeds();
    }
    run(dir.path(), "export {}/run --to csv --out {}/new/folder/x.csv").succeeds();
    assert!(!tree(dir.path()).iter().any(|name| name.contains("tmp")), "{:?}", tree(dir.path()));
    // One line for each draw, and the header.
    let csv = fs::read_to_string(dir.path().join("csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 4 * 60);
    assert!(csv.starts_with("chain,draw,mu_pop,sigma_pop,sigma_obs,z[0]"), "{}", &csv[..80]);
    assert_eq!(octopus().args(["export", "--help"]).output().unwrap().status.code(), Some(0));
}

/// A run of a model that this program does not have: its draws are there, and what the model would add is not.
#[test]
fn a_run_of_a_model_that_nobody_knows() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), SMALL).sampled();
    run(dir.path(), "export {}/run --to netcdf --out {}/known.nc").succeeds();
    let record = dir.path().join("run/run.toml");
    let text = fs::read_to_string(&record).unwrap();
    let unknown = text.replacen("name = \"hierarchical-normal\"", "name = \"mine\"", 1);
    assert_ne!(unknown, text);
    fs::write(&record, unknown).unwrap();
    let plain = run(dir.path(), "export {}/run --to netcdf --out {}/plain.nc");
    assert!(plain.succeeds().stderr.contains("no observations in the file: "), "{}", plain.stderr);
    for option in ["--predictive 3", "--prior 3"] {
        let export = run(dir.path(), &format!("export {{}}/run --to netcdf --out {{}}/more.nc {option}"));
        export.fails(3, &["no model is called `mine`"]);
        assert!(!dir.path().join("more.nc").exists());
        let table = run(dir.path(), &format!("export {{}}/run --to csv --out {{}}/more.csv {option}"));
        table.fails(2, &[option, "csv holds draws alone", "netcdf"]);
    }
    // A table of draws has no room for observations, so that none are missed.
    let table = run(dir.path(), "export {}/run --to csv --out {}/draws.csv");
    assert!(!table.succeeds().stderr.contains("no observations"), "{}", table.stderr);
    // Pictures: what needs the model says why it is not there, and only where a run has lost its model.
    let all = run(dir.path(), "plot {}/run --format svg --out {}/all");
    assert!(all.succeeds().stderr.contains("the run's model cannot be made again: "), "{}", all.stderr);
    run(dir.path(), "plot {}/run --kind ppc --format svg --out {}/ppc").fails(3, &["no model is called `mine`"]);
    let of_file = run(dir.path(), "plot {}/plain.nc --format svg --out {}/file");
    assert!(!of_file.succeeds().stderr.contains("cannot be made again"), "{}", of_file.stderr);
    let of_file = run(dir.path(), "plot {}/plain.nc --kind ppc --format svg --out {}/file");
    of_file.fails(3, &["the trace has no group"]);
    assert!(!of_file.stderr.contains("does not tell its model"), "{}", of_file.stderr);
}

#[test]
fn a_reader_that_has_gone_is_no_error_and_a_full_device_is() {
    let list = |stdout: Stdio| {
        let mut command = std::process::Command::new(program());
        let child = command.args(["completions", "bash"]).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(list(writer.into()), (Some(0), String::new()));
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, stderr) = list(full.into());
    assert!(code == Some(3) && stderr.contains("cannot write to stdout"), "{code:?}: {stderr}");
}

/// Draws that a run has are worth more than the place where it is.
#[test]
fn an_unfinished_run_is_to_be_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let sample = "sample eight-schools --draws 20 --tune 20 --device cpu -q --out {}/run";
    run(dir.path(), sample).sampled();
    run(dir.path(), sample).fails(3, &["run exists and is not empty", "or replace the run in it with --force"]);
    let record = dir.path().join("run/run.toml");
    let text = fs::read_to_string(&record).unwrap();
    for status in ["running", "interrupted"] {
        fs::write(&record, text.replace("status = \"complete\"", &format!("status = \"{status}\""))).unwrap();
        run(dir.path(), sample).fails(3, &["its run is unfinished; go on with `octopus resume", "--force"]);
    }
}

/// What needs a model is asked of a run, which names it.
#[test]
fn a_file_has_no_predictions() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "sample eight-schools --draws 20 --tune 20 --device cpu -q --out {}/run").sampled();
    run(dir.path(), "export {}/run --to netcdf --out {}/run.nc").succeeds();
    for option in ["--predictive", "--prior"] {
        let words = format!("export {{}}/run.nc --to zarr --out {{}}/new {option} 5");
        run(dir.path(), &words).fails(2, &[option, "run.nc does not tell its model", "run folder"]);
    }
    let all = run(dir.path(), "export {}/run --to netcdf --out {}/all.nc --predictive 21");
    assert!(all.succeeds().stderr.contains("--predictive 21: each chain has 20 draws"), "{all:?}");
    let own = run(dir.path(), "export {}/run --to netcdf --out {}/own.nc --predictive 20");
    assert!(!own.succeeds().stderr.contains("each chain has"), "{own:?}");
}
