//! The checks that run on a device, against the software GPU.

#[path = "../../device/tests/software_gpu/mod.rs"]
mod software_gpu;

use octopus_device::{Finding, FindingStatus};
use octopus_fitness::{FITNESS_IDS, FitnessConfig, fitness};
use software_gpu::run;

fn findings() -> Vec<Finding> {
    let findings = fitness(FitnessConfig { device: 0, small: true }, &mut || Ok("no run".into()));
    assert_eq!(findings.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>(), FITNESS_IDS);
    findings
}

/// Ids of the findings of one status.
fn ids(findings: &[Finding], status: FindingStatus) -> Vec<&str> {
    findings.iter().filter(|finding| finding.status == status).map(|finding| finding.id.as_str()).collect()
}

#[test]
fn a_sound_device_passes_all_that_runs_on_it() {
    run("a_sound_device_passes_all_that_runs_on_it", "devices=1", || {
        let findings = findings();
        assert_eq!(ids(&findings, FindingStatus::Pass), FITNESS_IDS, "{findings:#?}");
        for finding in findings.iter().filter(|finding| ["context", "bandwidth"].contains(&finding.id.as_str())) {
            assert!(finding.observed.contains("(a test double: no measurement of a GPU)"), "{finding:?}");
            // Copies of a few MiB take no tenth of a second.
            assert!(!finding.observed.contains(" 0.0 GB/s"), "{finding:?}");
        }
    });
}

#[test]
fn what_needs_no_kernel_goes_on_where_they_do_not_load() {
    run("what_needs_no_kernel_goes_on_where_they_do_not_load", "fail=cuModuleLoadDataEx:222", || {
        let findings = findings();
        assert_eq!(ids(&findings, FindingStatus::Fail), ["kernel-load"]);
        assert_eq!(ids(&findings, FindingStatus::Skip), ["matmul-f32", "matmul-f64", "exactness"]);
        assert_eq!(ids(&findings, FindingStatus::Pass), ["context", "memory", "bandwidth", "tiny-run"]);
    });
}

#[test]
fn one_allocation_that_fails_stops_one_check() {
    run("one_allocation_that_fails_stops_one_check", "fail=cuMemAlloc_v2:2@1", || {
        let findings = findings();
        assert_eq!(ids(&findings, FindingStatus::Fail), ["memory"]);
        assert!(ids(&findings, FindingStatus::Skip).is_empty());
    });
}

#[test]
fn without_a_context_the_tiny_run_goes_on() {
    run("without_a_context_the_tiny_run_goes_on", "fail=cuDevicePrimaryCtxRetain:46", || {
        let findings = findings();
        assert_eq!(
            (ids(&findings, FindingStatus::Fail), ids(&findings, FindingStatus::Pass)),
            (vec!["context"], vec!["tiny-run"])
        );
    });
}

#[test]
fn a_lost_device_is_left_alone() {
    run("a_lost_device_is_left_alone", "sticky=700@1", || {
        let findings = findings();
        assert_eq!(ids(&findings, FindingStatus::Fail), ["matmul-f32"]);
        assert_eq!(ids(&findings, FindingStatus::Skip), ["matmul-f64", "exactness"]);
        assert!(findings.iter().any(|finding| finding.observed == "the device was lost (see matmul-f32)"));
    });
}
