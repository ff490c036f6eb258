//! Programs as PTX: the interpreter of PTX gives the bits of the CPU, with all its checks.

use octopus_program::{BodySite, KernelBody, KernelRefusal, Program};
use octopus_ptx::{Allocation, Launch, LaunchShape, Module, Order};
use std::time::Duration;

/// What a body gives at two places of one entry: values and outputs.
struct Given {
    values: [f64; 2],
    outputs: Vec<f64>,
}

/// The text of an entry of one block that has the body twice. Between the two the outputs and the value of the first are
/// copied to `out`, so that both are seen.
fn entry(body: &KernelBody, dim: usize, lanes: u32) -> String {
    let site = |number: u32| {
        body.at(&BodySite {
            constants: "%rd0",
            words: "%rd1",
            inputs: "%rd2",
            scratch: "%rd3",
            lane: "%r0",
            value: if number == 3 { "%fd0" } else { "%fd1" },
            number,
        })
    };
    let wait = if lanes == 32 { "bar.warp.sync -1;" } else { "bar.sync 0;" };
    // Every thread stores the values in its own place: all must have the same.
    format!(
        ".version 7.8
.target sm_80
.address_size 64
.visible .entry k(
.param .u64 k_param_0,
.param .u64 k_param_1,
.param .u64 k_param_2,
.param .u64 k_param_3,
.param .u64 k_param_4
)
{{
.reg .pred %p<2>;
.reg .b32 %r<4>;
.reg .b64 %rd<12>;
.reg .f64 %fd<4>;
ld.param.u64 %rd0, [k_param_0];
ld.param.u64 %rd1, [k_param_1];
ld.param.u64 %rd2, [k_param_2];
ld.param.u64 %rd3, [k_param_3];
ld.param.u64 %rd4, [k_param_4];
mov.u32 %r0, %tid.x;
{}
mul.wide.u32 %rd5, %r0, 8;
add.s64 %rd6, %rd4, %rd5;
st.global.f64 [%rd6+0], %fd0;
mov.u32 %r1, %r0;
setp.ge.u32 %p0, %r1, {outputs};
@%p0 bra $L_2;
$L_1:
mul.wide.u32 %rd7, %r1, 8;
add.s64 %rd8, %rd3, %rd7;
add.s64 %rd9, %rd4, %rd7;
ld.global.f64 %fd2, [%rd8+{first}];
st.global.f64 [%rd9+{copies}], %fd2;
add.s32 %r1, %r1, {lanes};
setp.lt.u32 %p0, %r1, {outputs};
@%p0 bra $L_1;
$L_2:
{wait}
{}
st.global.f64 [%rd6+{again}], %fd1;
ret;
}}
",
        site(3),
        site(4),
        outputs = body.outputs,
        first = 8 * dim,
        copies = 16 * lanes,
        again = 8 * lanes,
    )
}

/// Runs a body; `position` has the coordinates and the inputs.
fn run(body: &KernelBody, dim: usize, position: &[f64], lanes: u32, order: Order) -> Given {
    let module = Module::parse(&entry(body, dim, lanes)).unwrap_or_else(|error| panic!("{error}"));
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let mut scratch = position[..dim].to_vec();
    scratch.resize(body.scratch, f64::from_bits(0x7ff4_dead_beef_dead));
    let mut memory = [
        bytes(&body.constants),
        body.words.iter().flat_map(|word| word.to_ne_bytes()).collect(),
        bytes(&position[dim..]),
        bytes(&scratch),
        vec![0; 8 * (2 * lanes as usize + body.outputs)],
    ];
    // Of the chain's memory the coordinates are written.
    let mut written = vec![0_u32; body.scratch.div_ceil(16)];
    for word in 0..2 * dim {
        written[word / 32] |= 1 << (word % 32);
    }
    let mut allocations = Vec::new();
    let mut map = Some(&mut written[..]);
    for (number, memory) in memory.iter_mut().enumerate() {
        let written = if number == 3 { map.take() } else { None };
        allocations.push(Allocation { address: 0x7f00_0000_0000 + 0x1000_0000 * number as u64, memory, written });
    }
    let parameters: Vec<u8> = allocations.iter().flat_map(|allocation| allocation.address.to_ne_bytes()).collect();
    let launch = Launch {
        shape: LaunchShape { grid: [1, 1, 1], block: [lanes, 1, 1] },
        parameters: &parameters,
        dynamic_shared: 0,
        together: false,
        allocations,
        order,
        checked: true,
        patience: Duration::from_secs(60),
        most_joins: u64::MAX,
    };
    let entry = module.entry("k").expect("it is there");
    assert_eq!(entry.unset_registers(), [""; 0], "registers that are read before they are written");
    let outcome = entry.run(launch);
    assert_eq!(outcome.fault, None, "{}", body.at(&SITE));
    let out: Vec<f64> = memory[4].chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect();
    let scratch = memory[3].chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap()));
    let again: Vec<f64> = scratch.skip(dim).take(body.outputs).collect();
    let (of_threads, outputs) = out.split_at(2 * lanes as usize);
    let values = [0, 1].map(|site| {
        let of_site = &of_threads[site * lanes as usize..(site + 1) * lanes as usize];
        assert!(of_site.iter().all(|value| same(*value, of_site[0])), "threads have values of their own: {of_site:?}");
        of_site[0]
    });
    assert!(outputs.iter().zip(&again).all(|(a, b)| same(*a, *b)), "the second place has other outputs");
    Given { values, outputs: outputs.to_vec() }
}

const SITE: BodySite<'static> = BodySite {
    constants: "%constants",
    words: "%words",
    inputs: "%inputs",
    scratch: "%scratch",
    lane: "%lane",
    value: "%value",
    number: 1,
};

/// A NaN is a NaN, whichever.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Panics unless the kernels have the bits of [`Program::logp_grad`]. Returns why there is no kernel, if there is none.
pub(crate) fn kernels_agree(program: &Program, position: &[f64]) -> Option<KernelRefusal> {
    let mut gradient = vec![0.0; program.dim()];
    let expected = program.logp_grad(&mut program.workspace(), position, &mut gradient);
    for (lanes, order) in [(32, Order::LockStep), (128, Order::LockStep), (128, Order::Random(position.len() as u64))] {
        let body = match program.kernel(lanes) {
            Ok(body) => body,
            Err(refusal) => return Some(refusal),
        };
        let given = run(&body, program.dim(), position, lanes, order);
        for (site, value) in given.values.into_iter().enumerate() {
            let value_of_cpu = expected.as_ref().map_or(f64::NAN, |value| *value);
            assert!(same(value, value_of_cpu), "{lanes} lanes, place {site}: {value:e} is not {value_of_cpu:e}");
        }
        for (k, (slope, of_cpu)) in given.outputs.iter().zip(&gradient).enumerate() {
            let is_same = expected.is_err() || same(*slope, *of_cpu);
            assert!(is_same, "{lanes} lanes, slope {k}: {slope:e} is not {of_cpu:e}\n{}", body.at(&SITE));
        }
    }
    None
}
