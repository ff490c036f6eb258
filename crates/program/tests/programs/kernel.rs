//! Programs as PTX: the interpreter of PTX gives the bits of the CPU, with all its checks.

use octopus_density::{Layout, LogDensity};
use octopus_program::{
    BodySite, Graph, KernelBody, KernelRefusal, Matrix, NodeId, Op, Program, ProgramDensity, ScanStep, TargetTerms,
};
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
    // The coordinates are all of the chain's memory that is written before the body.
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

/// Operations of the longest program that is run by all numbers of lanes and orders.
const MOST_WORK: usize = 10_000;

/// A NaN is a NaN, whichever.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Panics unless the kernels have the bits of [`Program::logp_grad`], or are refused for a reason that is known.
pub(crate) fn kernels_agree(program: &Program, position: &[f64]) {
    let known = ["the GPU has no kernel for eigenvectors of symmetric matrices yet", "statements of a GPU's code"];
    if let Some(refusal) = kernels_differ(program, position) {
        let text = refusal.to_string();
        assert!(known.iter().any(|known| text.contains(known)), "{text}");
    }
}

/// Panics unless the kernels have the bits of [`Program::logp_grad`]. Returns why there is no kernel, if there is none.
fn kernels_differ(program: &Program, position: &[f64]) -> Option<KernelRefusal> {
    let mut gradient = vec![0.0; program.dim()];
    let expected = program.logp_grad(&mut program.workspace(), position, &mut gradient);
    let all = [(32, Order::LockStep), (128, Order::LockStep), (128, Order::Random(position.len() as u64))];
    // The interpreter is slow: a long program is run with one of them only.
    let first = if program.work() > MOST_WORK { program.work() % 2 } else { 0 };
    let count = if program.work() > MOST_WORK { 1 } else { all.len() };
    for (lanes, order) in all.into_iter().skip(first).take(count) {
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

/// Numbers that are no pattern.
fn numbers(count: usize, turn: f64) -> Vec<f64> {
    (0..count).map(|k| (turn + 1.3 * k as f64).sin()).collect()
}

/// Panics unless there are kernels of the log density `target` with the CPU's bits.
fn check_target(graph: &Graph, target: NodeId, position: &[f64]) {
    let program = Program::compile(graph, target).expect("a program");
    assert_eq!(kernels_differ(&program, position), None);
}

/// Panics unless the kernels of values have the CPU's bits.
fn check_values(graph: &Graph, values: &[NodeId], position: &[f64]) {
    let mut graph = graph.clone();
    let target = graph.constant(0.0);
    let terms = TargetTerms { terms: &[target], statements: &[] };
    let density = ProgramDensity::compile("values", &graph, terms, Layout::default(), values).expect("a program");
    let mut expected = vec![0.0; values.iter().map(|&value| graph.len(value)).sum()];
    density.expand(position, &mut expected);
    for lanes in [32, 128] {
        let body = density.values_kernel(lanes).expect("a kernel");
        let given = run(&body, position.len(), position, lanes, Order::LockStep);
        for (k, (found, expected)) in given.outputs.iter().zip(&expected).enumerate() {
            assert!(same(*found, *expected), "{lanes} lanes, value {k}: {found:e} is not {expected:e}");
        }
        assert_eq!(given.outputs.len(), expected.len());
        let last = expected.last().copied().unwrap_or(0.0);
        assert!(given.values.iter().all(|value| same(*value, last)), "{:?} are not {last:e}", given.values);
    }
}

/// Each row of the table, of vectors and of scalars, with the numbers that make trouble.
#[test]
fn every_operation_has_the_bits_of_the_cpu() {
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.3, -0.7, 40.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 5e-324, 1e-310];
    let count = special.len();
    for &op in Op::ALL {
        let rows = count.pow(op.arity() as u32);
        let mut m = Graph::new();
        let (args, scalars): (Vec<NodeId>, Vec<NodeId>) =
            (0..op.arity()).map(|_| (m.parameter(rows), m.parameter(1))).unzip();
        let mut values = vec![m.apply(op, &args), m.apply(op, &scalars)];
        // A mixture: the first operand is the same for all rows.
        let mixed = [&scalars[..1], &args[1..]].concat();
        values.push(m.apply(op, &mixed));
        // Parameters are in the order in which they were made: each vector with its scalar.
        let mut position = Vec::new();
        for side in 0..op.arity() {
            position.extend((0..rows).map(|row| special[row / count.pow(side as u32) % count]));
            position.push(special[4 + side]);
        }
        check_values(&m, &values, &position);
    }
}

/// Sums have the CPU's order for each count of rows: below a warp's lanes, one tile, a few tiles, more tiles than are added in
/// order. Sums by segment have it with one lane and with 32, with sorted rows and others, in one span and in several.
#[test]
fn long_sums_have_the_order_of_the_cpu() {
    for rows in [2, 7, 8, 9, 31, 32, 33, 2047, 2048, 2049, 5000, 8 * 2048, 8 * 2048 + 1, 70_001] {
        for segments in [1, 3, rows / 2] {
            let mut m = Graph::new();
            let (x, scale) = (m.parameter(segments.max(1)), m.parameter(1));
            let data = m.column(numbers(rows, 0.4));
            let index = |k: usize| (if segments == 3 { k * 7 % 3 } else { k * segments / rows }) as u32;
            let at = m.gather(x, (0..rows).map(index).collect::<Vec<_>>());
            let product = m.mul(at, data);
            let moved = m.mul(product, scale);
            let square = m.square(moved);
            let of_segments = m.segment_sum(square, (0..rows).map(index).collect::<Vec<_>>(), segments.max(1));
            let weighted = m.mul(of_segments, x);
            let (sum, dot) = (m.sum(weighted), m.dot(moved, data));
            let both = m.add(sum, dot);
            let target = m.mul(both, scale);
            check_target(&m, target, &numbers(segments.max(1) + 1, 0.7));
        }
    }
}

/// No row is 0 and all are -0: what a sum begins with is seen.
#[test]
fn sums_of_negative_zeros_are_the_cpus() {
    for rows in [1, 2, 8, 9, 40, 3000] {
        let mut m = Graph::new();
        let x = m.parameter(rows);
        let (zero, size) = (m.constant(-0.0), m.apply(Op::Abs, &[x]));
        let zeros = m.mul(size, zero);
        let (sum, of_segments) = (m.sum(zeros), m.segment_sum(zeros, vec![0; rows], 1));
        let again = m.concat(&[zeros, zero, sum]);
        check_values(&m, &[zeros, sum, of_segments, again], &numbers(rows, 0.5));
    }
}

/// The log density of e^x with a guard and of the root of |x| has a value everywhere; what is wrong are the guard, the value,
/// or a slope alone.
#[test]
fn errors_are_not_numbers() {
    let program = |rows: usize| {
        let mut m = Graph::new();
        let x = m.parameter(rows);
        let least = m.constant(-3.0);
        let is_allowed = m.apply(Op::Less, &[least, x]);
        m.guard(is_allowed, "x is too small");
        let (e, size) = (m.exp(x), m.apply(Op::Abs, &[x]));
        let power = m.constant(0.01);
        let both = m.apply(Op::Pow, &[size, power]);
        let both = m.add(both, e);
        // A slope of its own place, which is a scalar.
        let scale = m.parameter(1);
        let both = m.mul(both, scale);
        let target = m.sum(both);
        Program::compile(&m, target).expect("a program")
    };
    // The power's slope is infinite at the least number.
    let cases =
        [(0.5, 1.0, true), (-3.5, 1.0, false), (710.0, 1.0, false), (5e-324, 1e9, false), (708.0, 1e300, false)];
    for rows in [1, 7, 50, 300, 5000] {
        let program = program(rows);
        for wrong in [0, rows - 1] {
            for (x, scale, is_right) in cases {
                let mut position = vec![0.7; rows + 1];
                (position[wrong], position[rows]) = (x, scale);
                assert_eq!(kernels_differ(&program, &position), None);
                let value = program.logp_grad(&mut program.workspace(), &position, &mut vec![0.0; rows + 1]);
                assert_eq!(value.is_ok(), is_right, "{x}, {scale}: {value:?}");
            }
        }
    }
}

/// A slope that is no number beside a value that is one, and a parameter that the target does not read.
#[test]
fn slopes_that_are_not_numbers_and_slopes_that_are_none() {
    let mut m = Graph::new();
    let x = m.parameter(1);
    m.parameter(40);
    let y = m.parameter(40);
    let (far, three) = (m.constant(800.0), m.constant(3.0));
    let scaled = m.mul(far, x);
    let large = m.exp(scaled);
    // Above its bound the slope is 0 times infinity.
    let bounded = m.apply(Op::Min, &[large, three]);
    let squares = m.square(y);
    let squares = m.sum(squares);
    let target = m.sub(bounded, squares);
    let program = Program::compile(&m, target).expect("a program");
    for (x, is_right) in [(1.0, false), (-1.0, true)] {
        let mut position = numbers(81, 0.4);
        position[0] = x;
        assert_eq!(kernels_differ(&program, &position), None);
        let value = program.logp_grad(&mut program.workspace(), &position, &mut vec![0.0; 81]);
        assert_eq!(value.is_ok(), is_right, "{x}: {value:?}");
    }
}

/// States that change places read each other as they were before the step.
#[test]
fn states_of_a_scan_change_places() {
    let mut m = Graph::new();
    let x = m.parameter(2);
    let steps = m.column(numbers(9, 0.2));
    let starts = [m.slice(x, 0, 1), m.slice(x, 1, 1)];
    let seen = m.scan(9, &starts, &[steps], |body, states, inputs| {
        let sum = body.add(states[0], inputs[0]);
        ScanStep { next: vec![states[1], sum], outputs: vec![states[0]] }
    });
    let squares = m.square(seen[0]);
    let target = m.sum(squares);
    check_target(&m, target, &[0.3, -1.2]);
}

/// Sums of a product with so many tiles that these have lanes.
#[test]
fn long_products_have_the_order_of_the_cpu() {
    for inner in [8 * 2048, 8 * 2048 + 1, 40 * 2048 + 77] {
        let mut m = Graph::new();
        let x = m.parameter(2);
        let mut factor = |turn: f64, k: usize| {
            let (data, scale) = (m.column(numbers(2 * inner, turn)), m.element(x, k));
            m.mul(data, scale)
        };
        let (a, b) = (factor(0.3, 0), factor(1.9, 1));
        let product = m.product(Matrix::new(a, 2, inner), Matrix::new(b, inner, 2));
        check_values(&m, &[product], &[0.7, -1.3]);
    }
}

/// A kernel is compiled once and found again by its text.
#[test]
fn a_program_has_one_text() {
    let kernel = || {
        let (graph, target) = crate::hand::logit(100);
        let body = Program::compile(&graph, target).expect("a program").kernel(32).expect("a kernel");
        (body.at(&SITE), body.constants, body.words)
    };
    let first = kernel();
    // Memory lies elsewhere each time.
    let taken: Vec<Vec<u8>> = (1..20).map(|k| vec![0; 8 * k]).collect();
    for _ in &taken {
        assert!(kernel() == first, "another text, or other data");
    }
}

#[test]
fn refusals_name_their_reason() {
    let mut m = Graph::new();
    let x = m.parameter(1);
    let program = Program::compile(&m, x).expect("a program");
    let text = program.kernel(64).expect_err("no such chain").to_string();
    assert_eq!(text, "a chain has 32 or 128 threads, not 64");
    let mut target = x;
    for k in 0..900 {
        let factor = m.constant(f64::from(k) * 0.01);
        let power = m.mul(target, factor);
        target = m.apply(Op::Tanh, &[power]);
    }
    let program = Program::compile(&m, target).expect("a program");
    let text = program.kernel(32).expect_err("it is long").to_string();
    assert!(text.ends_with("statements of a GPU's code, and at most 20000 are compiled"), "{text}");
    let mut m = Graph::new();
    let x = m.parameter(4);
    let (_, values) = m.eigendecompose_sym(x, 2);
    let target = m.sum(values);
    let program = Program::compile(&m, target).expect("a program");
    let text = program.kernel(32).expect_err("it has no kernel").to_string();
    assert_eq!(text, "the GPU has no kernel for eigenvectors of symmetric matrices yet");
}
