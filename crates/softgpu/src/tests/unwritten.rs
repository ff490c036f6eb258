//! The driver knows which device memory has been written, and the interpreter, with its checks, which of it is read.

use super::scenario::{Scenario, must_succeed};
use super::session::Parameter::U64;
use super::session::{allocate, function, launch, load, ready, shape, to_device};
use crate::ffi::Double;
use crate::{Lanes, Settings};

/// Copies four bytes.
const COPIES: &str = ".version 8.4
.target sm_80
.address_size 64
.visible .entry copies(
	.param .u64 copies_param_0,
	.param .u64 copies_param_1
)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [copies_param_0];
	ld.param.u64 %rd2, [copies_param_1];
	ld.global.u32 %r1, [%rd1];
	st.global.u32 [%rd2], %r1;
	ret;
}
";

/// Whether a kernel may read the number behind 8 bytes of 16 that `make` has given.
fn may_be_read(name: &'static str, make: impl Fn(&Double) -> u64) -> Option<bool> {
    let scenario = Scenario::new(name, Settings::new().checked());
    let output = Scenario { sampler: Some((Lanes::Ptx, Vec::new())), ..scenario }.run(|| {
        let driver = ready();
        let module = load(&driver, COPIES).unwrap();
        let (from, to) = (make(&driver), allocate(&driver, 16));
        let parameters = [U64(from + 8), U64(to)];
        assert_eq!(launch(&driver, function(&driver, module, "copies").unwrap(), shape(1, 1), &parameters), 0);
        eprintln!("READ {}", driver.synchronize());
    });
    let told = must_succeed(output)?;
    assert_eq!(told.contains("READ 719"), told.contains("unwritten memory: global memory"), "{told}");
    assert!(told.contains("READ "), "{told}");
    Some(told.contains("READ 0"))
}

/// A test that what `make` gives may be read, or may not.
macro_rules! reads {
    ($($name:ident: $may:literal, $make:expr;)*) => { $(
        #[test]
        fn $name() {
            let name = concat!(module_path!(), "::", stringify!($name));
            assert_eq!(may_be_read(name, $make).unwrap_or($may), $may);
        }
    )* };
}

fn after(driver: &Double, address: u64, codes: &[i32]) -> u64 {
    assert!(codes.iter().all(|code| *code == 0), "{codes:?}");
    assert_eq!(driver.synchronize(), 0);
    address
}

reads! {
    new_memory_is_unwritten: false, |driver| allocate(driver, 16);
    copied_memory_is_written: true, |driver| to_device(driver, &[1.0_f64; 2]);
    filled_memory_is_written: true, |driver| {
        let address = allocate(driver, 16);
        after(driver, address, &[driver.fill(address, 0, 4)])
    };
    memory_beside_what_is_filled_is_unwritten: false, |driver| {
        let address = allocate(driver, 16);
        after(driver, address, &[driver.fill(address, 0, 2), driver.fill(address + 12, 0, 1)])
    };
    a_copy_of_unwritten_memory_is_unwritten: false, |driver| {
        let (from, to) = (allocate(driver, 32), to_device(driver, &[1.0_f64; 2]));
        after(driver, to, &[driver.fill(from, 0, 4), driver.copy(to, from + 8, 16)])
    };
    a_copy_of_written_memory_is_written: true, |driver| {
        let (from, to) = (allocate(driver, 32), allocate(driver, 16));
        after(driver, to, &[driver.fill(from, 0, 5), driver.copy(to, from + 8, 16)])
    };
    what_a_kernel_has_written_is_written: true, |driver| {
        let (from, to) = (to_device(driver, &[1.0_f64; 2]), allocate(driver, 16));
        let kernel = function(driver, load(driver, COPIES).unwrap(), "copies").unwrap();
        after(driver, to, &[launch(driver, kernel, shape(1, 1), &[U64(from), U64(to + 8)])])
    };
}
