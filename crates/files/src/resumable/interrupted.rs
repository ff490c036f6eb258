//! Tests of files whose writers are interrupted, refused, or asked for something else.

use super::faulty::{FaultyGrowth, GrowingFault};
use super::*;
use crate::{GrowingStorage, NpyType};
use std::fs;
use std::path::{Path, PathBuf};

const WHAT: &str = "normal, seed 7";
const COUNT: u64 = 150;

/// A file that is nothing but its beginning and its numbers.
fn plain() -> FilePlan {
    FilePlan::plain("150 roots".into(), NpyType::F8, COUNT, b"a file of roots".to_vec())
}

/// A file whose numbers are in groups of so many, and one of the rest.
fn grouped(group: u64) -> FilePlan {
    FilePlan {
        group,
        before_group: b"a group ".to_vec(),
        before_rest: b"the rest".to_vec(),
        end: b" the end".to_vec(),
        ..plain()
    }
}

/// Plans of files whose checkpoints (after 74, 148 and 150 numbers) are at the ends of groups and within them; the last
/// has no rest.
fn plans() -> [FilePlan; 3] {
    [plain(), grouped(74), grouped(75)]
}

fn values(from: u64, to: u64) -> Vec<f64> {
    (from..to).map(|index| (index as f64).sqrt()).collect()
}

/// The bytes of the file of a plan that has these numbers.
fn file_of(plan: &FilePlan, values: &[f64]) -> Vec<u8> {
    let mut bytes = plan.start.clone();
    for group in values.chunks(plan.group as usize) {
        let whole = group.len() as u64 == plan.group;
        bytes.extend(if whole { &plan.before_group } else { &plan.before_rest });
        bytes.extend(group.iter().flat_map(|value| value.to_le_bytes()));
    }
    [bytes, plan.end.clone()].concat()
}

/// The bytes that the file must have in the end.
fn whole(plan: &FilePlan) -> Vec<u8> {
    file_of(plan, &values(0, COUNT))
}

fn create(
    storage: &FaultyGrowth,
    path: &Path,
    plan: &FilePlan,
    overwrite: Overwrite,
) -> Result<ResumableFile, ResumableError> {
    ResumableFile::create_on(Box::new(storage.clone()), path, plan.clone(), WHAT, overwrite)
}

/// Appends all that is missing, in pieces with checkpoints, and finishes; notes in `safe` what a checkpoint kept.
fn write_rest(mut writer: ResumableFile, safe: &mut u64) -> Result<(), ResumableError> {
    while writer.written() < writer.count() {
        for _ in 0..2 {
            let (from, to) = (writer.written(), writer.count().min(writer.written() + 37));
            writer.append(&values(from, to))?;
        }
        writer.checkpoint()?;
        *safe = writer.durable();
        assert_eq!(*safe, writer.written());
    }
    writer.finish()
}

/// A disk that does not fail.
fn good_disk() -> Box<dyn GrowingStorage> {
    Box::new(FaultyGrowth::new(GrowingFault::Kill, usize::MAX))
}

/// Goes on as a user does who runs the same command again and again with `--resume`, and returns where it began.
fn resume_and_finish(storage: Box<dyn GrowingStorage>, path: &Path, plan: &FilePlan) -> Result<u64, ResumableError> {
    let writer = match ResumableFile::resume_on(storage, path, plan.clone(), WHAT) {
        Ok(Resumption::Finished) => return Ok(COUNT),
        Ok(Resumption::Unfinished(writer)) => writer,
        Err(ResumableError::NothingToResume { .. }) => {
            ResumableFile::create_on(good_disk(), path, plan.clone(), WHAT, Overwrite::Refuse).unwrap()
        }
        Err(error) => return Err(error),
    };
    let begun = writer.written();
    write_rest(writer, &mut 0).map(|()| begun)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn is_whole(path: &Path, plan: &FilePlan) {
    assert!(fs::read(path).unwrap() == whole(plan));
    assert_eq!(names(path.parent().unwrap()), ["a.bin"]);
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.bin");
    (dir, path)
}

/// Begins a file, checkpoints 40 numbers, appends 10 more and drops the writer.
fn begun(path: &Path, plan: &FilePlan) {
    let mut writer = ResumableFile::create_on(good_disk(), path, plan.clone(), WHAT, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 40)).unwrap();
    writer.checkpoint().unwrap();
    writer.append(&values(40, 50)).unwrap();
}

fn resume(path: &Path, plan: &FilePlan) -> Result<Resumption<ResumableFile>, ResumableError> {
    ResumableFile::resume(path, plan.clone(), WHAT)
}

fn told<T>(result: Result<T, ResumableError>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn a_writer_that_ends_anywhere_resumes_to_the_same_bytes() {
    for plan in plans() {
        for fault in [GrowingFault::Kill, GrowingFault::PowerLoss, GrowingFault::Full, GrowingFault::Denied] {
            for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
                (0..).take_while(|&at| ends_at(at, fault, &plan, overwrite)).for_each(drop);
            }
        }
    }
}

/// Lets operation `at` fail, resumes, and returns whether there was such an operation.
fn ends_at(at: usize, fault: GrowingFault, plan: &FilePlan, overwrite: Overwrite) -> bool {
    // Another file of the same plan, which is not to be taken for the new one.
    let old = file_of(plan, &[0.0; COUNT as usize]);
    let (dir, path) = folder();
    if overwrite == Overwrite::Replace {
        fs::write(&path, &old).unwrap();
    }
    let storage = FaultyGrowth::new(fault, at);
    let mut safe = 0;
    let result = create(&storage, &path, plan, overwrite).and_then(|writer| write_rest(writer, &mut safe));
    if !storage.has_failed() {
        result.unwrap();
        is_whole(&path, plan);
        return false;
    }
    let named = fs::read(&path).ok();
    assert!(named.is_none_or(|found| found == old || found == whole(plan)), "{fault:?} at {at}");
    match result {
        // The record of a finished file could not be removed.
        Ok(()) => assert_eq!(fs::read(&path).unwrap(), whole(plan)),
        Err(error) => assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}"),
    }
    if overwrite == Overwrite::Replace && !record_path(&path).exists() && fs::read(&path).unwrap() == old {
        assert!(matches!(resume(&path, plan), Ok(Resumption::Finished)), "nothing was begun");
        return true;
    }
    let begun = resume_and_finish(good_disk(), &path, plan).unwrap();
    assert!(begun >= safe, "{fault:?} at {at}: {begun} of {safe}");
    is_whole(&path, plan);
    true
}

#[test]
fn resuming_may_be_interrupted_too() {
    for plan in plans() {
        for fault in [GrowingFault::Kill, GrowingFault::PowerLoss, GrowingFault::Full] {
            for at in 0.. {
                let (_dir, path) = folder();
                begun(&path, &plan);
                let storage = FaultyGrowth::new(fault, at);
                let result = resume_and_finish(Box::new(storage.clone()), &path, &plan);
                if !storage.has_failed() {
                    assert_eq!(result.unwrap(), 40);
                    break;
                }
                assert!(resume_and_finish(good_disk(), &path, &plan).unwrap() >= 40, "{fault:?} at {at}");
                is_whole(&path, &plan);
            }
        }
    }
}

#[test]
fn a_full_disk_keeps_the_last_checkpoint_and_says_so() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    let storage = FaultyGrowth::new(GrowingFault::Full, usize::MAX);
    let mut writer = create(&storage, &path, &plan, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 40)).unwrap();
    writer.checkpoint().unwrap();
    storage.fail_next();
    writer.append(&values(40, 60)).unwrap();
    let error = told(writer.checkpoint());
    assert!(error.contains("a.bin.partial") && error.contains("free some space"), "{error}");
    assert!(error.contains("40 of 150 numbers are safe there: resume"), "{error}");
    for error in [told(writer.append(&[0.0])), told(writer.checkpoint()), told(writer.finish())] {
        assert!(error.contains("a.bin is no longer written"), "{error}");
    }
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 40);
    is_whole(&path, &plan);
}

#[test]
fn what_is_there_is_refused_unless_it_is_to_be_replaced() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    let create = |overwrite| ResumableFile::create(&path, plan.clone(), WHAT, overwrite);
    begun(&path, &plan);
    assert!(!path.exists());
    let error = told(create(Overwrite::Refuse));
    assert!(error.contains("a.bin was begun") && error.contains("remove") && error.contains(".partial"), "{error}");
    let writer = create(Overwrite::Replace).unwrap();
    assert_eq!((writer.written(), writer.durable(), writer.count()), (0, 0, 150));
    let error = told(create(Overwrite::Replace));
    assert!(error.contains("another program is writing it"), "{error}");
    assert!(told(resume(&path, &plan)).contains("another program is writing it"));
    write_rest(writer, &mut 0).unwrap();
    is_whole(&path, &plan);
    assert!(told(create(Overwrite::Refuse)).contains("a.bin already exists: choose another name"));
    drop(create(Overwrite::Replace).unwrap());
    assert!(fs::read(&path).unwrap() == whole(&plan), "the old file stays until the new one is finished");
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 0);
    is_whole(&path, &plan);
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_folder_is_refused() {
    let (dir, plan) = (tempfile::tempdir().unwrap(), plain());
    let path = dir.path().join("x.npy");
    fs::write(&path, "old").unwrap();
    let mut mode = path.metadata().unwrap().permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o600);
    fs::set_permissions(&path, mode).unwrap();
    let mode = path.metadata().unwrap().permissions();
    let writer = ResumableFile::create(&path, plan.clone(), WHAT, Overwrite::Replace).unwrap();
    assert_eq!(unfinished_path(&path).metadata().unwrap().permissions(), mode);
    drop(writer);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    for overwrite in [Overwrite::Replace, Overwrite::Refuse] {
        let error = ResumableFile::create(&path, plan.clone(), WHAT, overwrite).unwrap_err();
        assert!(matches!(error, ResumableError::Folder { .. }), "{error}");
    }
    assert!(matches!(ResumableFile::resume(&path, plan, WHAT), Err(ResumableError::Folder { .. })));
}

#[test]
fn a_file_that_came_meanwhile_is_not_replaced() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    begun(&path, &plan);
    let Ok(Resumption::Unfinished(mut writer)) = resume(&path, &plan) else { panic!("it is unfinished") };
    writer.append(&values(40, 150)).unwrap();
    fs::write(&path, "of another").unwrap();
    assert!(told(writer.finish()).contains("a.bin already exists"));
    assert!(told(resume(&path, &plan)).contains("a.bin already exists"));
    assert_eq!(fs::read(&path).unwrap(), b"of another");
    fs::remove_file(&path).unwrap();
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 150);
    is_whole(&path, &plan);
}

#[test]
fn a_record_that_outlives_its_file_says_what_it_is() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    begun(&path, &plan);
    let record = fs::read_to_string(record_path(&path)).unwrap();
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 40);
    fs::write(record_path(&path), record.replace("\"durable\": 40", "\"durable\": 150")).unwrap();
    let error = told(ResumableFile::resume(&path, plan.clone(), "normal, seed 8"));
    assert!(error.contains("it is described as `normal, seed 7`"), "{error}");
    assert!(matches!(resume(&path, &plan), Ok(Resumption::Finished)));
    is_whole(&path, &plan);
}

#[test]
fn only_the_same_file_is_resumed() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    assert!(told(resume(&path, &plan)).contains("a.bin was not begun: there is nothing to resume"));
    begun(&path, &plan);
    let error = told(ResumableFile::resume(&path, plan.clone(), "normal, seed 8"));
    assert!(error.contains("`normal, seed 7`") && error.contains("`normal, seed 8`"), "{error}");
    let other = FilePlan { contents: "150 cubes".into(), ..plan.clone() };
    let error = told(resume(&path, &other));
    assert!(error.contains("a.bin.partial is another file: it is of 150 roots, and 150 cubes is asked for"), "{error}");
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 40);
    assert!(matches!(resume(&path, &plan), Ok(Resumption::Finished)));
    for other in [
        FilePlan { count: 149, ..plan.clone() },
        FilePlan { start: b"a file of cubes".to_vec(), ..plan.clone() },
        FilePlan { end: b" a stop!".to_vec(), ..plan.clone() },
    ] {
        let error = told(resume(&path, &other));
        assert!(error.contains("a.bin is another file, or damaged: 150 roots is asked for"), "{error}");
    }
    is_whole(&path, &plan);
    // Of a file with nothing after its numbers the length tells.
    let bytes = whole(&plain());
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    assert!(told(resume(&path, &plain())).contains("a.bin is another file, or damaged"));
    fs::write(&path, bytes).unwrap();
    assert!(matches!(resume(&path, &plain()), Ok(Resumption::Finished)));
}

/// What is then told, and what is done to the files.
type Damage = (&'static str, fn(&Path));

#[test]
fn what_is_damaged_is_not_resumed() {
    let damages: [Damage; 5] = [
        ("its record is gone", |path| fs::remove_file(record_path(path)).unwrap()),
        ("is damaged (", |path| fs::write(record_path(path), "{\"durable\": 40}").unwrap()),
        ("its record counts 151 numbers of 150", |path| {
            let record = fs::read_to_string(record_path(path)).unwrap();
            fs::write(record_path(path), record.replace("\"durable\": 40", "\"durable\": 151")).unwrap();
        }),
        ("it has 342 bytes, and its record promises 343", |path| {
            let bytes = fs::read(unfinished_path(path)).unwrap();
            fs::write(unfinished_path(path), &bytes[..342]).unwrap();
        }),
        ("with its format's beginning", |path| {
            let mut bytes = fs::read(unfinished_path(path)).unwrap();
            // Of the first group's beginning.
            bytes[20] ^= 1;
            fs::write(unfinished_path(path), bytes).unwrap();
        }),
    ];
    for (words, damage) in damages {
        let ((_dir, path), plan) = (folder(), grouped(60));
        begun(&path, &plan);
        damage(&path);
        let error = told(resume(&path, &plan));
        assert!(error.contains(words) && error.contains("remove it and begin anew"), "{error}");
        assert!(matches!(resume(&path, &plan), Err(ResumableError::Damaged { .. })));
    }
    // The data are gone, and the record stays.
    let ((_dir, path), plan) = (folder(), grouped(60));
    begun(&path, &plan);
    fs::remove_file(unfinished_path(&path)).unwrap();
    assert!(told(resume(&path, &plan)).contains("it has 0 bytes"));
    let storage = FaultyGrowth::new(GrowingFault::Kill, 99);
    assert_eq!(create(&storage, &path, &plan, Overwrite::Refuse).unwrap().written(), 0);
}

#[test]
fn numbers_that_do_not_belong_into_the_file_are_refused_and_harm_nothing() {
    let ((_dir, path), plan) = (folder(), grouped(60));
    let mut writer = ResumableFile::create(&path, plan.clone(), WHAT, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 149)).unwrap();
    assert!(told(writer.append(&[1.0f32])).contains("a.bin is of <f8, and numbers of <f4"));
    let error = told(writer.append(&[1.0, 2.0]));
    assert!(error.contains("a.bin has room for 150 numbers, of which 149 are written: 2 more"), "{error}");
    let error = told(writer.finish());
    assert!(error.contains("a.bin has 149 of 150 numbers: resume it"), "{error}");
    assert_eq!(resume_and_finish(good_disk(), &path, &plan).unwrap(), 149, "what was appended is kept");
    is_whole(&path, &plan);
}

#[test]
fn a_disk_without_room_is_told_before_anything_is_written() {
    let ((dir, path), plan) = (folder(), grouped(60));
    let size = 15 + 3 * 8 + 150 * 8 + 8;
    let error = told(create(&FaultyGrowth::with_room(size - 1), &path, &plan, Overwrite::Refuse));
    assert!(error.contains("a.bin takes 1 MiB more") && error.contains("free some space"), "{error}");
    assert_eq!(names(dir.path()).len(), 0);
    drop(create(&FaultyGrowth::with_room(size), &path, &plan, Overwrite::Refuse).unwrap());
    fs::remove_file(unfinished_path(&path)).unwrap();
    begun(&path, &plan);
    // 50 numbers are there, of which the last ten were only dropped into the file; their room is free again.
    let resume = |free| ResumableFile::resume_on(Box::new(FaultyGrowth::with_room(free)), &path, plan.clone(), WHAT);
    assert!(matches!(resume(823), Err(ResumableError::DiskTooSmall { bytes: 824, free: 823, .. })));
    assert!(resume(824).is_ok());
}
