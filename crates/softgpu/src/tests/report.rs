//! The software GPU reports a program's resource use when it ends.

use super::scenario::{Scenario, must_succeed};
use super::session::{allocate, exercise, launch, ready, shape};
use crate::{DeviceReport, Settings};

#[test]
fn peaks_and_launches_are_reported() {
    let name = concat!(module_path!(), "::peaks_and_launches_are_reported");
    let file = std::env::temp_dir().join(format!("octopus-softgpu-report-{}", std::process::id()));
    let settings = Settings::new().devices(3).report(&file).fail("cuMemAlloc_v2", 2).at_call(4);
    let body = || {
        let driver = ready();
        let large = allocate(&driver, 1_000);
        let small = allocate(&driver, 24);
        assert_eq!(driver.free(large), 0);
        // Less than there was.
        let next = allocate(&driver, 300);
        assert_eq!(driver.allocate(&mut 0, 1 << 20), 2);
        let mut managed = 0;
        assert_eq!(driver.allocate_managed(&mut managed, 100, 1), 0);
        // Not on the device.
        assert_eq!(driver.allocate_pinned(&mut 0, 1 << 20), 0);
        assert_eq!((driver.free(small), driver.free(managed)), (0, 0));
        let nothing = exercise(&driver, "nothing");
        for threads in [1, 32, 2_000] {
            launch(&driver, nothing, shape(1, threads), &[]);
        }
        let mut context = 0;
        assert_eq!((driver.retain(&mut context, 2), driver.set_current(context)), (0, 0));
        allocate(&driver, 7);
        let _ = next;
    };
    if must_succeed(Scenario::new(name, settings).run(body)).is_none() {
        return;
    }
    let found = DeviceReport::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let first = DeviceReport {
        device: 0,
        peak_bytes: 1_024,
        peak_charged_bytes: 1_024 + 256,
        held_bytes: 300,
        allocations: 4,
        // The third has too many threads.
        launches: 2,
    };
    let last =
        DeviceReport { device: 2, peak_bytes: 7, peak_charged_bytes: 256, held_bytes: 7, allocations: 1, launches: 0 };
    assert_eq!(found, [first, last]);
}

#[test]
fn a_program_that_used_no_device_reports_nothing() {
    let file = std::env::temp_dir().join(format!("octopus-softgpu-no-report-{}", std::process::id()));
    assert!(DeviceReport::read(&file).unwrap_err().to_string().contains("octopus-softgpu-no-report"));
}
