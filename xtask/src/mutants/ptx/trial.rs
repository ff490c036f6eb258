//! A small kernel for the tests of what the launches are asked.

use octopus_ptx::{Allocation, Launch, LaunchFault, LaunchShape, Module, Order};
use std::time::Duration;

/// Returns the kernel with these lines in it. Lane `i` of its warp has `i` in `%r1`, 3 in `%r2` and 0 in `%r3`; `%rd1` is the
/// address of 64 bytes.
pub(super) fn kernel(lines: &str) -> String {
    let registers = ".reg .pred %p<9>;\n\t.reg .b32 %r<19>;\n\t.reg .b64 %rd<9>;\n\t.reg .f64 %fd<9>;";
    let set = "ld.param.u64 \t%rd1, [k_param_0];\n\tmov.u32 \t%r1, %tid.x;\n\tmov.u32 \t%r2, 3;\n\tmov.u32 \t%r3, 0;\n\tmov.f64 \t%fd1, 0d4000000000000000;\n\tsetp.eq.s32 \t%p1, %r2, 3;";
    format!(".visible .entry k(\n\t.param .u64 k_param_0\n)\n{{\n\t{registers}\n\t{set}\n{lines}\n\tret;\n}}\n")
}

/// Returns the number of the line that is this one.
pub(super) fn line_of(text: &str, line: &str) -> usize {
    text.lines().position(|other| other == line).unwrap() + 1
}

/// Runs a kernel; returns what it leaves in its memory, of which byte 12 is 1 before, or nothing where it asked a question
/// that was answered with yes.
pub(super) fn left_by(text: &str) -> Option<Vec<u8>> {
    let module = Module::parse(text).unwrap();
    let (address, mut memory) = (1_u64 << 32, vec![0; 64]);
    memory[12] = 1;
    let outcome = module.entry("k").unwrap().run(Launch {
        shape: LaunchShape { grid: [1; 3], block: [32, 1, 1] },
        parameters: &address.to_ne_bytes(),
        dynamic_shared: 0,
        together: false,
        allocations: vec![Allocation { address, memory: &mut memory, written: None }],
        order: Order::LockStep,
        checked: false,
        patience: Duration::from_secs(1),
        most_joins: u64::MAX,
    });
    match outcome.fault {
        None => Some(memory),
        Some(LaunchFault::Address { address: 0, .. }) => None,
        Some(other) => panic!("{other}"),
    }
}
