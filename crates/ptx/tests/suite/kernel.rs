//! Small kernels and their launches.

use octopus_ptx::{Allocation, Count, Launch, LaunchFault, LaunchOutcome, LaunchShape, Module, Order};
use std::time::Duration;

/// The text of a kernel `k` with the parameters `k_param_0` to `k_param_2`, three addresses, and registers of each
/// class: `%p`, `%rs`, `%r`, `%f`, `%rd` and `%fd`, 40 of each. `%r30` is the thread's number and `%rd30` to `%rd32` are
/// the addresses.
pub(crate) fn text(body: &str) -> String {
    format!(
        ".version 8.4
.target sm_80
.address_size 64
.visible .entry k(
\t.param .u64 k_param_0,
\t.param .u64 k_param_1,
\t.param .u64 k_param_2
)
.maxntid 1024, 1, 1
{{
\t.reg .pred %p<40>;
\t.reg .b16 %rs<40>;
\t.reg .b32 %r<40>;
\t.reg .f32 %f<40>;
\t.reg .b64 %rd<40>;
\t.reg .f64 %fd<40>;
\tmov.u32 %r30, %tid.x;
\tld.param.u64 %rd30, [k_param_0];
\tld.param.u64 %rd31, [k_param_1];
\tld.param.u64 %rd32, [k_param_2];
{body}
\tret;
}}
"
    )
}

/// The line of the body's first line.
pub(crate) const FIRST: u32 = 21;

/// The memory of a launch: three buffers.
pub(crate) type Buffers = [Vec<u64>; 3];

/// How a test launches its kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) together: bool,
    pub(crate) order: Order,
    pub(crate) checked: bool,
    pub(crate) patience: Duration,
    pub(crate) most_joins: u64,
    /// Nobody has written the third buffer.
    pub(crate) unwritten: bool,
}

/// One block of one warp, without checks.
pub(crate) const WARP: How = How {
    blocks: 1,
    threads: 32,
    together: false,
    order: Order::LockStep,
    checked: false,
    patience: Duration::from_secs(60),
    most_joins: u64::MAX,
    unwritten: false,
};

/// Runs the kernel of this body on the buffers.
pub(crate) fn launch(body: &str, how: How, buffers: &mut Buffers) -> LaunchOutcome {
    let module = Module::parse(&text(body)).expect("the text is right");
    let mut allocations = Vec::new();
    let mut memory =
        buffers.each_ref().map(|buffer| buffer.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>());
    let mut map = vec![0; buffers[2].len().div_ceil(16)];
    let mut map = how.unwritten.then_some(&mut *map);
    for (number, memory) in memory.iter_mut().enumerate() {
        // With room between them.
        let address = 0x7f00_0000_0000 + 0x100_0000 * number as u64;
        allocations.push(Allocation { address, memory, written: if number == 2 { map.take() } else { None } });
    }
    let parameters: Vec<u8> = allocations.iter().flat_map(|allocation| allocation.address.to_ne_bytes()).collect();
    let launch = Launch {
        shape: LaunchShape { grid: [how.blocks, 1, 1], block: [how.threads, 1, 1] },
        parameters: &parameters,
        dynamic_shared: 0,
        together: how.together,
        allocations,
        order: how.order,
        checked: how.checked,
        patience: how.patience,
        most_joins: how.most_joins,
    };
    let outcome = module.entry("k").expect("it has the entry").run(launch);
    for (buffer, memory) in buffers.iter_mut().zip(memory) {
        *buffer = memory.chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"))).collect();
    }
    outcome
}

/// Runs it on buffers of `words` numbers of 64 bits each, all 0; what is in the first afterwards.
pub(crate) fn run(body: &str, how: How, words: usize) -> Result<Vec<u64>, LaunchFault> {
    let mut buffers = [vec![0; words], vec![0; words], vec![0; words]];
    let outcome = launch(body, how, &mut buffers);
    let [first, ..] = buffers;
    outcome.fault.map_or(Ok(first), Err)
}

/// What the checks find.
pub(crate) fn findings(body: &str, how: How) -> Vec<String> {
    match run(body, How { checked: true, ..how }, 1024) {
        Ok(_) => Vec::new(),
        Err(LaunchFault::Findings(findings)) => findings,
        Err(fault) => panic!("{fault}"),
    }
}

/// How often warps have done each instruction of the body.
pub(crate) fn counts(body: &str, how: How) -> Vec<Count> {
    let mut buffers = [vec![0; 1024], vec![0; 1024], vec![0; 1024]];
    let outcome = launch(body, how, &mut buffers);
    assert_eq!(outcome.fault, None);
    outcome.counts[4..].to_vec()
}

/// Stores `%r0` of each thread of a block as a number of 64 bits in the first buffer.
pub(crate) const STORE: &str =
    "cvt.u64.u32 %rd33, %r0; mul.wide.u32 %rd34, %r30, 8; add.s64 %rd34, %rd30, %rd34; st.global.u64 [%rd34], %rd33;";
