//! The workspace's own kernels: every entry of the committed PTX has its twin, with the same parameters.

use super::scenario::{Scenario, must_succeed};
use super::session::Parameter::{U32, U64};
use super::session::{Shape, allocate, function, launch, load, ready, to_device, to_host};
use crate::{KernelSources, Settings};

const PTX: &str = include_str!("../../../../kernels/ptx/octopus.ptx");

#[test]
fn every_entry_of_the_ptx_runs_here() {
    let name = concat!(module_path!(), "::every_entry_of_the_ptx_runs_here");
    let mut scenario = Scenario::new(name, Settings::new());
    scenario.kernels = KernelSources::of_workspace();
    must_succeed(scenario.run(|| {
        let driver = ready();
        let module = load(&driver, PTX).unwrap();
        let entries: Vec<&str> = PTX
            .lines()
            .filter_map(|line| line.strip_prefix(".visible .entry "))
            .map(|line| line.trim_end_matches('('))
            .collect();
        assert!(entries.len() >= 20 && entries.contains(&"matmul_f64"), "{entries:?}");
        let library = crate::ffi::Double::load(crate::SoftwareGpu::build().unwrap().kernels());
        for entry in &entries {
            assert!(function(&driver, module, entry).is_ok(), "{entry}");
            assert!(library.has(&format!("octopus_kernel_{entry}")), "{entry} has no twin");
        }

        let (m, k, n) = (37, 50, 19);
        let a: Vec<f64> = (0..m * k).map(|i| (i as f64 * 0.37).sin()).collect();
        let b: Vec<f64> = (0..k * n).map(|i| (i as f64 * 0.11).cos()).collect();
        let (x, y, z) = (to_device(&driver, &a), to_device(&driver, &b), allocate(&driver, 8 * m * n));
        let shape = Shape { grid: [n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1], block: [16, 16, 1], shared: 0 };
        let sizes = [U32(m as u32), U32(k as u32), U32(n as u32)];
        let parameters = [&[U64(x), U64(y), U64(z)], sizes.as_slice()].concat();
        let matmul = function(&driver, module, "matmul_f64").unwrap();
        assert_eq!(launch(&driver, matmul, shape, &parameters), 0);
        let found: Vec<f64> = to_host(&driver, z, m * n);
        for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let expected = (0..k).fold(0.0, |sum, l| sum + a[i * k + l] * b[l * n + j]);
            assert_eq!(found[i * n + j].to_bits(), expected.to_bits(), "{i} {j}");
        }
    }));
}
