//! Tests of writers that are interrupted, refused, or asked for something else.

use super::faulty::{FaultyGrowth, GrowingFault};
use super::*;
use crate::GrowingStorage;
use std::fs;
use std::path::{Path, PathBuf};

const WHAT: &str = "normal, seed 7";
const SHAPE: [u64; 2] = [50, 3];

fn header() -> NpyHeader {
    NpyHeader::new(Path::new("a.npy"), NpyType::F8, &SHAPE).unwrap()
}

fn values(from: u64, to: u64) -> Vec<f64> {
    (from..to).map(|index| (index as f64).sqrt()).collect()
}

/// The bytes that the file must have in the end.
fn whole() -> Vec<u8> {
    let data = values(0, 150);
    [header().encode(), data.iter().flat_map(|value| value.to_le_bytes()).collect()].concat()
}

fn create(storage: &FaultyGrowth, path: &Path, overwrite: Overwrite) -> Result<NpyWriter, NpyError> {
    NpyWriter::create_on(Box::new(storage.clone()), path, header(), WHAT, overwrite)
}

/// Appends all that is missing, in uneven pieces with checkpoints, and finishes; notes in `safe` what a checkpoint kept.
fn write_rest(mut writer: NpyWriter, safe: &mut u64) -> Result<(), NpyError> {
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
fn resume_and_finish(storage: Box<dyn GrowingStorage>, path: &Path) -> Result<u64, NpyError> {
    let writer = match NpyWriter::resume_on(storage, path, header(), WHAT) {
        Ok(NpyResumed::Finished) => return Ok(150),
        Ok(NpyResumed::Unfinished(writer)) => writer,
        Err(NpyError::NothingToResume { .. }) => {
            NpyWriter::create_on(good_disk(), path, header(), WHAT, Overwrite::Refuse).unwrap()
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

fn is_whole(path: &Path) {
    assert!(fs::read(path).unwrap() == whole());
    assert_eq!(names(path.parent().unwrap()), ["a.npy"]);
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npy");
    (dir, path)
}

/// Begins an array, checkpoints 40 elements, appends 10 more and drops the writer.
fn begun(path: &Path) {
    let mut writer = NpyWriter::create_on(good_disk(), path, header(), WHAT, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 40)).unwrap();
    writer.checkpoint().unwrap();
    writer.append(&values(40, 50)).unwrap();
}

fn resume(path: &Path) -> Result<NpyResumed, NpyError> {
    NpyWriter::resume(path, NpyType::F8, &SHAPE, WHAT)
}

fn told<T>(result: Result<T, NpyError>) -> String {
    result.err().expect("it is refused").to_string()
}

#[test]
fn a_writer_that_ends_anywhere_resumes_to_the_same_bytes() {
    // Another array of the same type and shape, which is not to be taken for the new one.
    let old = [header().encode(), vec![0; 1200]].concat();
    for fault in [GrowingFault::Kill, GrowingFault::PowerLoss, GrowingFault::Full, GrowingFault::Denied] {
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            for at in 0.. {
                let (dir, path) = folder();
                if overwrite == Overwrite::Replace {
                    fs::write(&path, &old).unwrap();
                }
                let storage = FaultyGrowth::new(fault, at);
                let mut safe = 0;
                let result = create(&storage, &path, overwrite).and_then(|writer| write_rest(writer, &mut safe));
                if !storage.has_failed() {
                    result.unwrap();
                    is_whole(&path);
                    break;
                }
                let named = fs::read(&path).ok();
                assert!(named.is_none_or(|found| found == old || found == whole()), "{fault:?} at {at}");
                match result {
                    // The record of a finished array could not be removed.
                    Ok(()) => assert_eq!(fs::read(&path).unwrap(), whole()),
                    Err(error) => assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}"),
                }
                if overwrite == Overwrite::Replace && !record_path(&path).exists() && fs::read(&path).unwrap() == old {
                    assert!(matches!(resume(&path), Ok(NpyResumed::Finished)), "nothing was begun");
                    continue;
                }
                let begun = resume_and_finish(good_disk(), &path).unwrap();
                assert!(begun >= safe, "{fault:?} at {at}: {begun} of {safe}");
                is_whole(&path);
            }
        }
    }
}

#[test]
fn resuming_may_be_interrupted_too() {
    for fault in [GrowingFault::Kill, GrowingFault::PowerLoss, GrowingFault::Full] {
        for at in 0.. {
            let (_dir, path) = folder();
            begun(&path);
            let storage = FaultyGrowth::new(fault, at);
            let result = resume_and_finish(Box::new(storage.clone()), &path);
            if !storage.has_failed() {
                assert_eq!(result.unwrap(), 40);
                break;
            }
            assert!(resume_and_finish(good_disk(), &path).unwrap() >= 40, "{fault:?} at {at}");
            is_whole(&path);
        }
    }
}

#[test]
fn a_full_disk_keeps_the_last_checkpoint_and_says_so() {
    let (_dir, path) = folder();
    let storage = FaultyGrowth::new(GrowingFault::Full, usize::MAX);
    let mut writer = create(&storage, &path, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 40)).unwrap();
    writer.checkpoint().unwrap();
    storage.fail_next();
    writer.append(&values(40, 60)).unwrap();
    let error = told(writer.checkpoint());
    assert!(error.contains("a.npy.partial") && error.contains("free some space"), "{error}");
    assert!(error.contains("40 of 150 elements are safe there: resume"), "{error}");
    for error in [told(writer.append(&[0.0])), told(writer.checkpoint()), told(writer.finish())] {
        assert!(error.contains("a.npy is no longer written"), "{error}");
    }
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 40);
    is_whole(&path);
}

#[test]
fn what_is_there_is_refused_unless_it_is_to_be_replaced() {
    let (_dir, path) = folder();
    let create = |overwrite| NpyWriter::create(&path, NpyType::F8, &SHAPE, WHAT, overwrite);
    begun(&path);
    assert!(!path.exists());
    let error = told(create(Overwrite::Refuse));
    assert!(error.contains("a.npy was begun") && error.contains("remove") && error.contains(".partial"), "{error}");
    let writer = create(Overwrite::Replace).unwrap();
    assert_eq!((writer.written(), writer.durable(), writer.count()), (0, 0, 150));
    let error = told(create(Overwrite::Replace));
    assert!(error.contains("another program is writing it"), "{error}");
    assert!(told(resume(&path)).contains("another program is writing it"));
    write_rest(writer, &mut 0).unwrap();
    is_whole(&path);
    assert!(told(create(Overwrite::Refuse)).contains("a.npy already exists: choose another name"));
    drop(create(Overwrite::Replace).unwrap());
    assert!(fs::read(&path).unwrap() == whole(), "the old array stays until the new one is finished");
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 0);
    is_whole(&path);
}

#[test]
fn a_file_that_came_meanwhile_is_not_replaced() {
    let (_dir, path) = folder();
    begun(&path);
    let Ok(NpyResumed::Unfinished(mut writer)) = resume(&path) else { panic!("it is unfinished") };
    writer.append(&values(40, 150)).unwrap();
    fs::write(&path, "of another").unwrap();
    assert!(told(writer.finish()).contains("a.npy already exists"));
    assert!(told(resume(&path)).contains("a.npy already exists"));
    assert_eq!(fs::read(&path).unwrap(), b"of another");
    fs::remove_file(&path).unwrap();
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 150);
    is_whole(&path);
}

#[test]
fn a_record_that_outlives_its_array_says_what_it_is() {
    let (_dir, path) = folder();
    begun(&path);
    let record = fs::read_to_string(record_path(&path)).unwrap();
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 40);
    fs::write(record_path(&path), record.replace("\"durable\": 40", "\"durable\": 150")).unwrap();
    let error = told(NpyWriter::resume(&path, NpyType::F8, &SHAPE, "normal, seed 8"));
    assert!(error.contains("it is described as `normal, seed 7`"), "{error}");
    assert!(matches!(resume(&path), Ok(NpyResumed::Finished)));
    is_whole(&path);
}

#[test]
fn only_the_same_array_is_resumed() {
    let (_dir, path) = folder();
    assert!(told(resume(&path)).contains("a.npy was not begun: there is nothing to resume"));
    begun(&path);
    let error = told(NpyWriter::resume(&path, NpyType::F8, &SHAPE, "normal, seed 8"));
    assert!(error.contains("`normal, seed 7`") && error.contains("`normal, seed 8`"), "{error}");
    let error = told(NpyWriter::resume(&path, NpyType::F4, &SHAPE, WHAT));
    assert!(error.contains("it is of <f8 of shape (50, 3), and <f4 of shape (50, 3) is asked for"), "{error}");
    assert!(told(NpyWriter::resume(&path, NpyType::F8, &[150], WHAT)).contains("and <f8 of shape (150,) is asked for"));
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 40);
    assert!(matches!(resume(&path), Ok(NpyResumed::Finished)));
    let error = told(NpyWriter::resume(&path, NpyType::F8, &[3, 50], WHAT));
    assert!(error.contains("a.npy is another array: it is of <f8 of shape (50, 3)"), "{error}");
}

/// What is then told, and what is done to the files.
type Damage = (&'static str, fn(&Path));

#[test]
fn what_is_damaged_is_not_resumed() {
    let damages: [Damage; 5] = [
        ("its record is gone", |path| fs::remove_file(record_path(path)).unwrap()),
        ("is damaged (", |path| fs::write(record_path(path), "{\"durable\": 40}").unwrap()),
        ("no array that is written here", |path| {
            let record = fs::read_to_string(record_path(path)).unwrap();
            fs::write(record_path(path), record.replace("\"durable\": 40", "\"durable\": 151")).unwrap();
        }),
        ("it has 447 bytes, and its record promises 448", |path| {
            let bytes = fs::read(unfinished_path(path)).unwrap();
            fs::write(unfinished_path(path), &bytes[..128 + 319]).unwrap();
        }),
        ("with NumPy's header", |path| {
            let mut bytes = fs::read(unfinished_path(path)).unwrap();
            bytes[20] ^= 1;
            fs::write(unfinished_path(path), bytes).unwrap();
        }),
    ];
    for (words, damage) in damages {
        let (_dir, path) = folder();
        begun(&path);
        damage(&path);
        let error = told(resume(&path));
        assert!(error.contains(words) && error.contains("remove it and begin anew"), "{error}");
        assert!(matches!(resume(&path), Err(NpyError::Damaged { .. })));
    }
    // The data are gone, and the record stays.
    let (_dir, path) = folder();
    begun(&path);
    fs::remove_file(unfinished_path(&path)).unwrap();
    assert!(told(resume(&path)).contains("it has 0 bytes"));
    assert_eq!(create(&FaultyGrowth::new(GrowingFault::Kill, 99), &path, Overwrite::Refuse).unwrap().written(), 0);
}

#[test]
fn numbers_that_do_not_belong_into_the_array_are_refused_and_harm_nothing() {
    let (_dir, path) = folder();
    let mut writer = NpyWriter::create(&path, NpyType::F8, &SHAPE, WHAT, Overwrite::Refuse).unwrap();
    writer.append(&values(0, 149)).unwrap();
    assert!(told(writer.append(&[1.0f32])).contains("a.npy is of <f8, and numbers of <f4"));
    let error = told(writer.append(&[1.0, 2.0]));
    assert!(error.contains("a.npy has room for 150 elements, of which 149 are written: 2 more"), "{error}");
    let error = told(writer.finish());
    assert!(error.contains("a.npy has 149 of 150 elements: resume it"), "{error}");
    assert_eq!(resume_and_finish(good_disk(), &path).unwrap(), 149, "what was appended is kept");
    is_whole(&path);
}

#[test]
fn a_disk_without_room_is_told_before_anything_is_written() {
    let (dir, path) = folder();
    let size = 128 + 150 * 8;
    let error = told(create(&FaultyGrowth::with_room(size - 1), &path, Overwrite::Refuse));
    assert!(error.contains("a.npy takes 1 MiB more") && error.contains("free some space"), "{error}");
    assert_eq!(names(dir.path()).len(), 0);
    drop(create(&FaultyGrowth::with_room(size), &path, Overwrite::Refuse).unwrap());
    fs::remove_file(unfinished_path(&path)).unwrap();
    begun(&path);
    // 50 elements are there, of which the last ten were only dropped into the file; their room is free again.
    let resume = |free| NpyWriter::resume_on(Box::new(FaultyGrowth::with_room(free)), &path, header(), WHAT);
    assert!(matches!(resume(799), Err(NpyError::DiskTooSmall { bytes: 800, free: 799, .. })));
    assert!(resume(800).is_ok());
}

#[test]
fn empty_arrays_single_numbers_and_large_pieces() {
    let (_dir, path) = folder();
    for shape in [&[0][..], &[0, 3], &[3, 0]] {
        let mut writer = NpyWriter::create(&path, NpyType::F4, shape, WHAT, Overwrite::Replace).unwrap();
        writer.append::<f32>(&[]).unwrap();
        writer.finish().unwrap();
        assert_eq!(read_npy(&path).unwrap(), NpyArray { shape: shape.into(), values: NpyValues::F4(Vec::new()) });
    }
    let mut writer = NpyWriter::create(&path, NpyType::F2, &[], WHAT, Overwrite::Replace).unwrap();
    writer.append(&[0x3c00u16]).unwrap();
    writer.finish().unwrap();
    assert_eq!(read_npy(&path).unwrap(), NpyArray { shape: Vec::new(), values: NpyValues::F2(vec![0x3c00]) });
    // Pieces larger than the buffer, and smaller ones between them.
    let (count, sizes) = (1_000_000, [1, 200_000, 3, 499_996, 300_000]);
    let mut writer = NpyWriter::create(&path, NpyType::F8, &[count], WHAT, Overwrite::Replace).unwrap();
    for size in sizes {
        writer.append(&values(writer.written(), writer.written() + size)).unwrap();
    }
    writer.finish().unwrap();
    assert!(read_npy(&path).unwrap().values == NpyValues::F8(values(0, count)));
}
