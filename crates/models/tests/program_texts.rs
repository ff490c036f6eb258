//! NVIDIA's assembler takes the texts of the programs that ship, with the programs' instructions in them, and spills
//! nothing.

use octopus_density::gpu::{GpuDensity, KernelModule};
use octopus_density::warp;
use octopus_models::{Registry, ShippedProgram};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// The assembler that `cargo xtask ptx` installs below the target folder, if it is there.
fn assembler() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let place = "nvrtc/nvidia/cuda_nvcc/bin/ptxas";
    own.ancestors().map(|folder| folder.join(place)).find(|path| path.is_file())
}

/// The kernels that hold so many coordinates.
fn module(density: &dyn GpuDensity) -> &KernelModule {
    let dim = density.dim();
    let holds = |module: &&KernelModule| {
        module.lanes as usize == warp::lanes(dim) && (module.lanes * module.rows) as usize >= dim
    };
    density.kernel_modules().iter().find(holds).expect("holds the coordinates")
}

#[test]
fn the_assembler_takes_the_programs_that_ship() {
    let Some(assembler) = assembler() else {
        eprintln!("SKIPPED: no ptxas below the target folder: `cargo xtask ptx --check` installs it");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for program in ShippedProgram::all() {
        let problem = Registry::shipped().find(program.name).unwrap().build(&toml::Table::new(), None).unwrap();
        let density = problem.density().kernels().expect("a program has kernels");
        assert_eq!(density.missing(), None, "{}", program.name);
        let text = density.kernel_text(module(density)).unwrap();
        let path = folder.path().join(format!("{}.ptx", program.name));
        fs::write(&path, &*text).unwrap();
        let begin = Instant::now();
        let output =
            Command::new(&assembler).args(["-v", "-arch=sm_80", "-o", "/dev/null"]).arg(&path).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: {told}", program.name);
        let spills: Vec<&str> = told.lines().filter(|line| line.contains("spill stores")).collect();
        assert!(spills.len() == 2 && spills.iter().all(|line| line.contains(" 0 bytes spill stores")), "{told}");
        let registers = told.lines().filter_map(|line| line.split_once("Used ")?.1.split(' ').next());
        let (lines, seconds) = (text.lines().count(), begin.elapsed().as_secs_f64());
        println!("{}: {lines} lines, {seconds:.1} s, registers {:?}", program.name, registers.collect::<Vec<_>>());
    }
}
