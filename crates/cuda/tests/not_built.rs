//! Without the feature `cuda`: the same functions, one answer, and no cust.

use std::process::Command;

#[cfg(not(feature = "cuda"))]
#[test]
fn every_entry_says_that_it_was_not_built() {
    use octopus_cuda::{CudaError, Device, driver_start, driver_version, set_driver_library};
    let answers = [
        driver_start().map(drop),
        driver_version().map(drop),
        set_driver_library("libcuda.so.1"),
        Device::all().map(drop),
        Device::get(0).map(drop),
    ];
    for answer in answers {
        let error = answer.unwrap_err();
        assert_eq!(error, CudaError::NotBuilt);
        assert!(error.is_absence());
        assert_eq!(
            error.to_string(),
            "this program was built without CUDA: build it with the feature `cuda`, or run on the CPU"
        );
    }
}

#[test]
fn without_the_feature_there_is_no_cust_among_the_dependencies() {
    let tree = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--package", "octopus-cuda"]);
        let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let names = ["cust ", "cust_raw ", "libloading ", "find_cuda_helper "];
    let with = tree(&[]);
    assert!(names.iter().all(|name| with.contains(name)), "{with}");
    let without = tree(&["--no-default-features"]);
    assert!(!names.iter().any(|name| without.contains(name)), "{without}");
}
