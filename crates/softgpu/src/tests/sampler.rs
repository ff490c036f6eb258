//! The sampler's kernels run here from their committed PTX and structures, and from their sources with lanes as fibers and as arrays, alike.

use super::scenario::{Scenario, must_succeed};
use super::session::{allocate, function, load, ready, to_device, to_host};
use crate::ffi::{Double, Handle};
use crate::{DeviceReport, Lanes, Settings, SoftwareGpu, Variant, sampler_units};
use std::ffi::c_void;
use std::path::Path;
use std::time::Instant;

/// The text of the committed PTX of a unit: gzip without name and time, as `cargo xtask ptx` writes it.
fn committed_ptx(unit: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../kernels/ptx/{unit}.ptx.gz"));
    let packed = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let bytes = miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A structure as C lays it out; the fields here need no padding but where it is written.
#[derive(Default)]
struct Structure(Vec<u8>);

impl Structure {
    fn words(mut self, words: &[u32]) -> Self {
        self.0.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        self
    }

    fn addresses(mut self, addresses: &[u64]) -> Self {
        self.0.extend(addresses.iter().flat_map(|address| address.to_ne_bytes()));
        self
    }

    fn reals(mut self, reals: &[f64]) -> Self {
        self.0.extend(reals.iter().flat_map(|real| real.to_ne_bytes()));
        self
    }
}

/// Which lanes a child is to run.
const WAY: &str = "OCTOPUS_SOFTGPU_LANES";
const CHAINS: usize = 6;
const ITERATIONS: usize = 16;
const TUNE: usize = 10;
const WINDOW: std::ops::Range<usize> = 5..9;
const MAX_DEPTH: usize = 4;
/// Bytes of `ChainState` and `Record` in f64.
const STATE: usize = 72;
const RECORD: usize = 64;

/// Chains of a hierarchical normal with `groups` groups, in `size` coordinates with the padding.
struct Chains {
    dim: usize,
    lanes: usize,
    data: Vec<u8>,
    launch: Vec<u8>,
    states: u64,
    draws: u64,
    records: u64,
    points: u64,
    end_states: u64,
    end_positions: u64,
}

impl Chains {
    fn new(driver: &Double, groups: usize, lanes: usize, rows: usize) -> Self {
        let (dim, size) = (groups + 3, lanes * rows);
        let padded = |value: &dyn Fn(usize) -> f64, count: usize| -> Vec<f64> {
            (0..size).map(|i| if i < count { value(i) } else { 0.0 }).collect()
        };
        let count = to_device(driver, &padded(&|_| 8.0, groups));
        let mean = to_device(driver, &padded(&|i| (i as f64 * 1.7).sin() * 3.0, groups));
        // All groups have the same count.
        let distinct = to_device(driver, &padded(&|_| 8.0, 1));
        let times = to_device(driver, &padded(&|_| groups as f64, 1));
        let [means, spreads] = [0.0, 4.5 * groups as f64].map(|value| to_device(driver, &padded(&|_| value, 1)));
        let scale = to_device(driver, &padded(&|_| 1.0, dim));
        let total = 8.0 * groups as f64;
        let data = Structure::default().words(&[groups as u32, 0]);
        // Prior of mu, scales of both sigmas, squares within groups, observations.
        let data = data.reals(&[0.0, 10.0, 5.0, 5.0, 7.0 * groups as f64, total]);
        // What only standardised coordinates ask for: the mean and the sum of the counts, center, prior, squares.
        let data = data.reals(&[8.0, total, 0.0, 0.01, 7.0 / 8.0, 0.5]).addresses(&[count, mean, 0, 0]);
        // The counts that there are, what is known of each, and padding.
        let data = data.addresses(&[distinct, times, means, spreads]).words(&[1, 0]);

        let state = Structure::default().reals(&[0.8, 0.0, 0.0, 0.0, 0.1_f64.ln(), 0.0, 0.1, 0.0]).words(&[0, 0]).0;
        let states = to_device(driver, &state.repeat(CHAINS));
        let workspaces = allocate(driver, 8 * CHAINS * (11 + 3 * MAX_DEPTH) * size);
        let draws = allocate(driver, 8 * CHAINS * ITERATIONS * dim);
        let records = allocate(driver, RECORD * CHAINS * ITERATIONS);
        let points = allocate(driver, 2 * 8 * CHAINS * ITERATIONS * dim);
        let end_states = allocate(driver, STATE * CHAINS);
        // Where a restart finds the chains' points.
        let starts: Vec<f64> = (0..CHAINS * dim).map(|i| 0.1 * (i as f64).sin()).collect();
        let end_positions = to_device(driver, &starts);
        let window = [WINDOW.start as u32, WINDOW.end as u32];
        let launch = Structure::default()
            .addresses(&[42])
            .words(&[0, CHAINS as u32, 0, ITERATIONS as u32, TUNE as u32, window[0], window[1], MAX_DEPTH as u32])
            .reals(&[1000.0, 0.8])
            // Centering: the density's own coordinates.
            .reals(&[0.0, 0.0])
            .words(&[0, 1])
            // Metric: of rank 0, and padding.
            .addresses(&[scale, 0, 0])
            .words(&[0, 0])
            .addresses(&[states, workspaces, draws, records, points, end_states, end_positions]);
        let (data, launch) = (data.0, launch.0);
        Self { dim, lanes, data, launch, states, draws, records, points, end_states, end_positions }
    }

    fn launch(&mut self, driver: &Double, kernel: Handle) {
        let blocks = (CHAINS * self.lanes).div_ceil(128) as u32;
        let mut pointers = [self.data.as_mut_ptr(), self.launch.as_mut_ptr()].map(<*mut u8>::cast::<c_void>);
        let none = std::ptr::null_mut();
        assert_eq!(driver.launch_kernel(kernel, blocks, 1, 1, 128, 1, 1, 0, 0, pointers.as_mut_ptr(), none), 0);
        assert_eq!(driver.synchronize(), 0);
    }
}

/// A restart and a run of the unit's kernels, in a process of its own; a fingerprint of all that they wrote.
fn fingerprint(name: &'static str, variant: Variant, lanes: Lanes, shape: [usize; 2], groups: usize) -> Option<String> {
    let unit = format!("nuts_hierarchical_normal_f64_{}x{}", shape[0], shape[1]);
    let file =
        std::env::temp_dir().join(format!("octopus-softgpu-{unit}-{variant:?}-{lanes:?}-{}", std::process::id()));
    let way = match (variant, lanes) {
        (Variant::Sanitized, _) => "sanitized",
        (Variant::Plain, Lanes::Ptx) => "ptx",
        (Variant::Plain, Lanes::Fibers) => "fibers",
        (Variant::Plain, Lanes::Arrays) => "arrays",
    };
    // The child comes here for each way and takes its own only.
    if std::env::var(WAY).is_ok_and(|own| own != way) {
        return None;
    }
    let mut scenario = Scenario::new(name, Settings::new().report(&file));
    scenario.variant = variant;
    scenario.variables = vec![(WAY, way)];
    scenario.sampler = Some((lanes, vec![unit.clone()]));
    let output = scenario.run(|| {
        let driver = ready();
        let start = Instant::now();
        let module = load(&driver, &committed_ptx(&unit)).unwrap();
        let loading = start.elapsed().as_secs_f64();
        let [restart, run] = ["nuts_restart", "nuts_run"]
            .map(|what| function(&driver, module, &unit.replacen("nuts", what, 1)).unwrap());
        let mut chains = Chains::new(&driver, groups, shape[0], shape[1]);
        chains.launch(&driver, restart);
        let start = Instant::now();
        chains.launch(&driver, run);
        let running = start.elapsed().as_secs_f64();

        let (dim, rows) = (chains.dim, CHAINS * ITERATIONS);
        let draws: Vec<f64> = to_host(&driver, chains.draws, rows * dim);
        assert!(draws.iter().all(|x| x.is_finite()));
        let points: Vec<f64> = to_host(&driver, chains.points, 2 * rows * dim);
        for (row, (point, draw)) in points.chunks(2 * dim).zip(draws.chunks(dim)).enumerate() {
            let inside = WINDOW.contains(&(row % ITERATIONS));
            assert!(point.iter().all(|x| x.is_finite() == inside), "iteration {}", row % ITERATIONS);
            assert!(!inside || &point[..dim] == draw, "iteration {}", row % ITERATIONS);
        }
        let states: Vec<u8> = to_host(&driver, chains.states, STATE * CHAINS);
        assert_eq!(to_host::<u8>(&driver, chains.end_states, STATE * CHAINS), states);
        // Without a centering these are the density's coordinates.
        let ends: Vec<f64> = to_host(&driver, chains.end_positions, CHAINS * dim);
        for (chain, end) in ends.chunks(dim).enumerate() {
            assert_eq!(end, &draws[((chain + 1) * ITERATIONS - 1) * dim..][..dim]);
        }
        // lp, acceptance rate, step size, ..., then the numbers of the tree: depth and leapfrog steps.
        let records: Vec<u64> = to_host(&driver, chains.records, rows * RECORD / 8);
        let records: Vec<&[u64]> = records.chunks(RECORD / 8).collect();
        assert!(records.iter().all(|record| (0.0..=1.0).contains(&f64::from_bits(record[1]))));
        let steps: u64 = records.iter().map(|record| record[6] >> 32).sum();
        assert!(steps > rows as u64, "{steps} leapfrog steps");
        // The chains have moved, each in its own way.
        let last = |chain: usize| &draws[((chain + 1) * ITERATIONS - 1) * dim..][..dim];
        assert!((1..CHAINS).all(|chain| last(chain) != last(0)));

        let words = draws.iter().map(|x| x.to_bits()).chain(records.concat()).chain(ends.iter().map(|x| x.to_bits()));
        let hash = words.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3));
        eprintln!("fingerprint {hash:016x} of {steps} leapfrog steps");
        let rate = steps as f64 / running;
        eprintln!("{unit}, {way}: PTX read in {loading:.3} s, run in {running:.3} s, {rate:.0} leapfrog steps/s");
    });
    let said = must_succeed(output)?;
    eprint!("{said}");
    let report = DeviceReport::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((report.len(), report[0].launches, report[0].allocations), (1, 2, 14));
    said.lines().find(|line| line.starts_with("fingerprint")).map(str::to_owned)
}

#[test]
fn a_warps_chains_give_the_same_bits_as_ptx_and_as_arrays() {
    let name = concat!(module_path!(), "::a_warps_chains_give_the_same_bits_as_ptx_and_as_arrays");
    same(name, (Variant::Plain, Lanes::Arrays), [32, 1], 10);
}

#[test]
fn a_blocks_chains_give_the_same_bits_as_ptx_and_as_arrays() {
    let name = concat!(module_path!(), "::a_blocks_chains_give_the_same_bits_as_ptx_and_as_arrays");
    same(name, (Variant::Plain, Lanes::Arrays), [128, 4], 300);
}

#[test]
fn arrays_of_the_largest_shape_fit_on_a_stack() {
    let name = concat!(module_path!(), "::arrays_of_the_largest_shape_fit_on_a_stack");
    fingerprint(name, Variant::Plain, Lanes::Arrays, [128, 8], 1000);
}

/// Buffers are as long as the kernels may want and no longer.
#[test]
fn sanitizers_find_nothing_in_a_warps_fibers() {
    let name = concat!(module_path!(), "::sanitizers_find_nothing_in_a_warps_fibers");
    same(name, (Variant::Sanitized, Lanes::Fibers), [32, 1], 10);
}

#[test]
fn sanitizers_find_nothing_in_a_blocks_fibers() {
    let name = concat!(module_path!(), "::sanitizers_find_nothing_in_a_blocks_fibers");
    same(name, (Variant::Sanitized, Lanes::Fibers), [128, 4], 300);
}

/// The PTX and the other way give the same bits.
fn same(name: &'static str, other: (Variant, Lanes), shape: [usize; 2], groups: usize) {
    let ways = [(Variant::Plain, Lanes::Ptx), other];
    if let [Some(ptx), Some(other)] = ways.map(|(variant, lanes)| fingerprint(name, variant, lanes, shape, groups)) {
        assert_eq!(ptx, other);
    }
}

#[test]
fn entries_of_every_precision_have_twins_with_the_same_structures() {
    let name = concat!(module_path!(), "::entries_of_every_precision_have_twins_with_the_same_structures");
    let units = ["f64", "f32", "mixed"].map(|precision| format!("nuts_hierarchical_normal_{precision}_32x1"));
    let mut scenario = Scenario::new(name, Settings::new());
    scenario.sampler = Some((Lanes::Arrays, units.to_vec()));
    must_succeed(scenario.run(|| {
        let driver = ready();
        for unit in &units {
            let module = load(&driver, &committed_ptx(unit)).unwrap();
            for what in ["nuts_run", "nuts_restart"] {
                // Sizes that differ would end this process.
                assert!(function(&driver, module, &unit.replacen("nuts", what, 1)).is_ok(), "{what} of {unit}");
            }
        }
    }));
}

#[test]
fn units_are_built_when_they_are_named() {
    let units: Vec<String> = sampler_units().unwrap().into_iter().map(|unit| unit.name).collect();
    let is_of_sampler = |unit: &String| ["nuts_", "hmc_"].iter().any(|sampler| unit.starts_with(sampler));
    assert!(units.len() >= 15 && units.iter().all(is_of_sampler), "{units:?}");
    let one = ["nuts_hierarchical_normal_f64_32x1"];
    let Some(gpu) = SoftwareGpu::for_test_with_sampler(Lanes::Arrays, &one) else { return };
    assert_eq!(gpu.libraries().len(), 3);
    let library = Double::load(&gpu.libraries()[1]);
    assert!(library.has("octopus_kernel_nuts_run_hierarchical_normal_f64_32x1"));
    assert!(library.has("octopus_kernel_nuts_restart_hierarchical_normal_f64_32x1"));
    let without = Double::load(gpu.kernels());
    assert!(!without.has("octopus_kernel_nuts_run_hierarchical_normal_f64_32x1"));
}

#[test]
fn a_unit_that_is_not_there_is_named() {
    let Some(gpu) = SoftwareGpu::for_test() else { return };
    let error = gpu.with_sampler(Lanes::Fibers, &["nuts_of_nothing"]).unwrap_err();
    assert!(!error.is_absence());
    assert_eq!(error.to_string(), "there is no unit nuts_of_nothing: kernels/nuts/units.toml has them");
}
