//! Costs on disk: kept, found, refused, and written by several processes at once.

use octopus_device::{
    CostsCache, CostsCacheError, CostsKey, CostsMiss, DeviceCosts, KernelCost, LinearCost, TransferCost,
};
use std::fs;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "OCTOPUS_COSTS_TEST_FOLDER";

fn key() -> CostsKey {
    CostsKey::new("GPU-00112233-4455-6677-8899-aabbccddeeff", "550.54.15")
}

/// Costs whose every number tells `mark`.
fn device_costs(mark: u32) -> DeviceCosts {
    let cost = LinearCost { fixed_seconds: f64::from(mark) * 1e-6, unit_seconds: f64::from(mark) * 0.1e-9 };
    DeviceCosts {
        key: key(),
        device_name: "NVIDIA RTX A6000".into(),
        measured_at: u64::from(mark),
        cpu_threads: 8,
        startup_seconds: 0.3,
        launch_seconds: 5e-6,
        transfer: TransferCost { upload: cost, download: cost },
        device_bytes_per_second: 6e11,
        kernels: (0..200).map(|i| (format!("kernel_{i}_f64"), KernelCost { cpu: cost, device: cost })).collect(),
    }
}

#[test]
fn what_is_stored_is_found_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CostsCache::in_folder(folder.path().join("made/on/demand"));
    assert!(matches!(cache.load(&key()), Err(CostsMiss::Missing { .. })));
    let path = cache.store(&device_costs(3)).unwrap();
    assert_eq!(cache.load(&key()).unwrap(), device_costs(3));
    cache.store(&device_costs(4)).unwrap();
    assert_eq!(cache.load(&key()).unwrap(), device_costs(4));
    // Nothing is left beside the file.
    let names: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(names, [path]);
}

#[test]
fn what_has_changed_makes_it_stale_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CostsCache::in_folder(folder.path());
    cache.store(&device_costs(1)).unwrap();
    let why = |key: CostsKey| cache.load(&key).unwrap_err().to_string();
    let driver = why(CostsKey { driver_version: "560.28.03".into(), ..key() });
    assert!(driver.ends_with(" are not used: its driver was 550.54.15, is 560.28.03"), "{driver}");
    let binary = why(CostsKey { binary: "9.9.9 release 0123".into(), ..key() });
    assert!(binary.contains("its program was ") && binary.ends_with(", is 9.9.9 release 0123"), "{binary}");
    // Another device has another file; one that was copied from it is not taken for its own.
    let other = CostsKey { device_uuid: "GPU-1".into(), ..key() };
    assert!(matches!(cache.load(&other), Err(CostsMiss::Missing { .. })));
    fs::copy(cache.path(&key().device_uuid), cache.path("GPU-1")).unwrap();
    assert!(why(other).contains("its device was GPU-00112233"));
}

#[test]
fn damage_is_noticed_whatever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CostsCache::in_folder(folder.path());
    let path = cache.store(&device_costs(1)).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let with = |text: &str| {
        fs::write(&path, text).unwrap();
        cache.load(&key()).unwrap_err()
    };
    let damaged = |text: &str| {
        let miss = with(text);
        assert!(matches!(miss, CostsMiss::Damaged { .. }), "{miss}");
        assert!(miss.to_string().contains("are not used: the file is damaged"), "{miss}");
    };
    // Cut off anywhere.
    for part in [0, 1, 20, good.len() / 2, good.len() - 3] {
        damaged(&good[..part]);
    }
    damaged("[]");
    damaged(&good.replace("\"cpu_threads\": 8", "\"cpu_threads\": 0"));
    damaged(&good.replace("\"startup_seconds\": 0.3", "\"startup_seconds\": -1"));
    damaged(&good.replace("\"launch_seconds\": 5e-6", "\"launch_seconds\": null").replace("0.000005", "null"));
    damaged(&good.replacen("\"unit_seconds\": 1e-10", "\"unit_seconds\": -1e-10", 1));
    let later = with("{\"schema\": 2, \"costs\": \"of a later program\"}");
    assert!(matches!(&later, CostsMiss::Stale { why, .. } if why == "its form was version 2, is 1"), "{later}");
    fs::write(&path, good).unwrap();
    assert!(cache.load(&key()).is_ok());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(cache.load(&key()), Err(CostsMiss::Unreadable { .. })));
}

#[test]
fn what_is_no_cost_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CostsCache::in_folder(folder.path());
    let wrong = DeviceCosts { launch_seconds: f64::NAN, ..device_costs(1) };
    let error = cache.store(&wrong).unwrap_err();
    assert_eq!(error.to_string(), "the costs are not kept: launch_seconds is NaN; measure again");
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn a_name_from_a_strange_driver_stays_in_the_folder() {
    let cache = CostsCache::in_folder("/caches");
    assert_eq!(cache.path("../../etc/passwd"), Path::new("/caches/______etc_passwd.json"));
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    fs::write(&file, "in the way").unwrap();
    let cache = CostsCache::in_folder(&file);
    let error = cache.store(&device_costs(1)).unwrap_err();
    assert!(matches!(error, CostsCacheError::Write { .. }), "{error}");
    assert!(error.to_string().contains("are not kept: cannot create the folder"), "{error}");
}

#[test]
fn stale_costs_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CostsCache::in_folder(folder.path());
    cache.store(&device_costs(5)).unwrap();
    let newer = CostsKey { driver_version: "560.28.03".into(), ..key() };
    let why = cache.load(&newer).unwrap_err().to_string();
    assert!(why.contains("550.54.15"), "{why}");
    cache.store(&DeviceCosts { key: newer.clone(), ..device_costs(6) }).unwrap();
    assert_eq!(cache.load(&newer).unwrap().measured_at, 6);
}

/// One of the processes of the test below; alone it does nothing.
#[test]
fn in_another_process() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let (cache, id) = (CostsCache::in_folder(&folder), std::process::id());
    for _ in 0..100 {
        cache.store(&device_costs(id)).unwrap();
        // Whoever wrote it, it is whole.
        let found = cache.load(&key()).unwrap();
        assert_eq!(found, device_costs(u32::try_from(found.measured_at).unwrap()));
    }
}

/// Runs so many processes with this folder at the same time; all must succeed.
fn processes(count: usize, folder: &Path) {
    let program = std::env::current_exe().unwrap();
    let start = || Command::new(&program).args(["in_another_process", "--exact"]).env(FOLDER, folder).spawn().unwrap();
    let children: Vec<_> = (0..count).map(|_| start()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn processes_that_write_at_once_leave_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    processes(3, folder.path());
    let cache = CostsCache::in_folder(folder.path());
    let last = cache.load(&key()).unwrap();
    assert_eq!(last, device_costs(u32::try_from(last.measured_at).unwrap()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "temporary files are left");
}
