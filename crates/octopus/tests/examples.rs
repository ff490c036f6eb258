//! The numbered examples run, in a folder of their own.

#[path = "../examples/07_calibrate.rs"]
mod calibrate;
#[path = "../examples/05_compare_models.rs"]
mod compare_models;
#[path = "../examples/04_own_density.rs"]
mod own_density;
#[path = "../examples/06_posterior_predictive.rs"]
mod posterior_predictive;
#[path = "../examples/03_program_in_rust.rs"]
mod program_in_rust;
#[path = "../examples/08_run_folder.rs"]
mod run_folder;
#[path = "../examples/01_shipped_model.rs"]
mod shipped_model;
#[path = "../examples/02_stan_program.rs"]
mod stan_program;

/// One test, since all write into the working folder.
#[test]
fn all_run() {
    let dir = tempfile::tempdir().unwrap();
    std::env::set_current_dir(dir.path()).unwrap();
    shipped_model::main().unwrap();
    stan_program::main().unwrap();
    program_in_rust::main().unwrap();
    own_density::main().unwrap();
    compare_models::main().unwrap();
    posterior_predictive::main().unwrap();
    calibrate::main().unwrap();
    run_folder::main().unwrap();
    assert!(dir.path().join("ppc_plot.png").exists());
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
}
