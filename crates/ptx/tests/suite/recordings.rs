//! Launches on record.

use crate::kernel::{STORE, text};
use octopus_ptx::{Module, Order, RecordedMemory, Recording, Replay};

const ADDRESS: u64 = 0x7f00_0000_0000;

/// A launch of a kernel that stores each thread's number, twice.
fn recording() -> (Module, Recording) {
    let module = Module::parse(&text(&format!("add.s32 %r0, %r30, %r30;\n{STORE}"))).unwrap();
    let after: Vec<u8> = (0..32_u64).flat_map(|thread| (2 * thread).to_ne_bytes()).collect();
    let recording = Recording {
        entry: "k".to_owned(),
        grid: [1, 1, 1],
        block: [32, 1, 1],
        parameters: [ADDRESS; 3].iter().flat_map(|address| address.to_ne_bytes()).collect(),
        dynamic_shared: 0,
        together: false,
        memory: vec![RecordedMemory { address: ADDRESS, before: vec![0; 256], after }],
    };
    (module, recording)
}

const PLAIN: Replay = Replay { order: Order::LockStep, checked: false, most_joins: u64::MAX };

#[test]
fn a_launch_runs_again_and_leaves_the_same() {
    let (module, mut recording) = recording();
    for replay in [PLAIN, Replay { order: Order::Random(3), ..PLAIN }, Replay { checked: true, ..PLAIN }] {
        let (outcome, same) = recording.replay(&module, replay).unwrap();
        assert!(same && outcome.fault.is_none(), "{replay:?}: {:?}", outcome.fault);
    }
    recording.memory[0].after[255] ^= 1;
    assert!(!recording.replay(&module, PLAIN).unwrap().1);
    recording.entry = "l".to_owned();
    assert!(recording.replay(&module, PLAIN).is_none());
}

#[test]
fn what_is_written_is_read() {
    let (_, recording) = recording();
    let path = std::env::temp_dir().join(format!("octopus-ptx-recording-{}", std::process::id()));
    recording.write(&path).unwrap();
    assert_eq!(Recording::read(&path).unwrap(), recording);
    std::fs::write(&path, [1, 2]).unwrap();
    assert!(Recording::read(&path).is_err());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_changed_launch_becomes_one_on_record() {
    let (module, mut recording) = recording();
    recording.memory[0].before[255] = 1;
    recording.memory[0].after = Vec::new();
    let (outcome, recorded) = recording.clone().record(&module, PLAIN).unwrap();
    assert_eq!(outcome.fault, None);
    assert_eq!(recorded.memory[0].before, recording.memory[0].before);
    assert!(recorded.replay(&module, PLAIN).unwrap().1);
    recording.entry = "l".to_owned();
    assert!(recording.record(&module, PLAIN).is_none());
}
