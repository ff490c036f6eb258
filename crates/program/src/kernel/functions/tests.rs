//! Tests: each function's statements, run by the interpreter of PTX, against the function itself.

use super::*;
use octopus_ptx::{Allocation, Launch, LaunchShape, Module, Order};
use std::time::Duration;

/// The functions with text, with those places beside which their formulas change.
const FUNCTIONS: [(Op, &[f64]); 16] = [
    (Op::Exp, &[-708.0, 709.0]),
    (Op::Ln, &[1.0, 2.0, f64::MIN_POSITIVE]),
    (Op::Tanh, &[0.17, 10.0, 20.0]),
    (Op::NormalQuantile, &[0.075, 0.5, 0.925, 1.0, 1.388_794_386_496_402e-11]),
    (Op::Ln1p, &[-1.0, 1e-17, -1e-17]),
    (Op::ExpM1, &[1e-17, -60.0, 709.79, 710.0, 720.0]),
    (Op::Pow, &[]),
    (Op::LnGamma, &[0.5, 1.5, 2.5, 2.5e305, -1e-20, -4_503_599_627_370_496.0]),
    (Op::Digamma, &[5.6e-309, 1.461_632_144_968_362_2, 1.5]),
    (Op::Trigamma, &[1e-154, -1e-154]),
    (Op::Phi, &[8.3, -38.5, 40.0]),
    (Op::LnPhi, &[8.3, -38.5, 40.0, -1e154, 1e300]),
    (Op::LnPhiSlope, &[-1e17, 8.3, 38.5, 1e300]),
    (Op::Sin, &[1e6, 35_184_372_088_832.0]),
    (Op::Cos, &[1e6, 35_184_372_088_832.0]),
    (Op::Atan, &[0.3, 0.8, 1.25, 10.0 / 3.0, 1e20]),
];

/// `x` with the three numbers on either side of it.
fn around(x: f64) -> impl Iterator<Item = f64> {
    (-3i64..=3).map(move |step| f64::from_bits(x.to_bits().wrapping_add_signed(step)))
}

/// A fraction of 1 that depends on `i` only.
fn fraction(i: u64) -> f64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1u64 << 53) as f64
}

/// Every sign and exponent (zeros, numbers below the normal range, infinities and NaN are among them) with these mantissas.
fn exponents(mantissas: &[u64]) -> Vec<f64> {
    let all = |top: u64| mantissas.iter().map(move |mantissa| f64::from_bits(top << 52 | mantissa));
    (0..1 << 12).flat_map(all).collect()
}

/// Points for a function of one number: all exponents, all ranges that matter, integers and multiples of parts of pi and of
/// ln 2 with their neighbours, and `borders` with theirs.
fn points(borders: &[f64]) -> Vec<f64> {
    let mut all = exponents(&[0, 1, 0x000b_504f_333f_9de6, (1 << 52) - 1]);
    for reach in [1.0, 5.0, 45.0, 800.0, 1e6, 4e13] {
        all.extend((0..4000).map(|i| reach * (2.0 * fraction(i) - 1.0)));
    }
    all.extend((0..2000).map(|i| 1.0 - 0.5f64.powf(50.0 * fraction(i))));
    for part in [0.5, std::f64::consts::FRAC_PI_4, 0.5 * std::f64::consts::LN_2] {
        all.extend((-350..350).flat_map(|k| around(part * f64::from(k))));
    }
    all.extend(borders.iter().flat_map(|border| around(*border)));
    all
}

/// Pairs for a power: every exponent beside some, all signs, integers even and odd, and powers that are numbers.
fn pairs() -> (Vec<f64>, Vec<f64>) {
    let bases = exponents(&[0, 0x000b_504f_333f_9de6]);
    let special = exponents(&[0, 1]);
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (i, x) in bases.iter().enumerate() {
        all.extend(special.iter().skip(i % 997).step_by(997).map(|y| (*x, *y)));
        all.extend([-3.0, -2.5, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 7.0].map(|y| (*x, y)));
    }
    let edges = [0.0, 1.0, 2.0, 3.0, 0.5, 5e-324, 4_503_599_627_370_497.0, 1e300, f64::INFINITY, f64::NAN];
    let signed: Vec<f64> = edges.into_iter().flat_map(|x| [x, -x]).collect();
    all.extend(signed.iter().flat_map(|x| signed.iter().map(|y| (*x, *y))));
    all.extend((0..20_000).map(|i| (3.0 * fraction(i), 1400.0 * fraction(i + 1_000_000) - 700.0)));
    all.into_iter().unzip()
}

/// Puts `statements` into a kernel: they find their operands in `%first` and `%second` and leave numbers in `%value` and
/// `%first`.
fn module(statements: &str) -> Module {
    let text = format!(
        ".version 8.4
.target sm_80
.address_size 64
.visible .entry k(
\t.param .u64 k_param_0,
\t.param .u64 k_param_1,
\t.param .u64 k_param_2
)
{{
.reg .b32 %thread, %block;
.reg .b64 %operands, %seconds, %results, %offset;
.reg .f64 %first, %second, %value;
ld.param.u64 %operands, [k_param_0];
ld.param.u64 %seconds, [k_param_1];
ld.param.u64 %results, [k_param_2];
mov.u32 %thread, %tid.x;
mov.u32 %block, %ctaid.x;
mad.lo.s32 %thread, %block, 32, %thread;
mul.wide.u32 %offset, %thread, 8;
add.s64 %operands, %operands, %offset;
add.s64 %seconds, %seconds, %offset;
shl.b64 %offset, %offset, 1;
add.s64 %results, %results, %offset;
ld.global.f64 %first, [%operands];
ld.global.f64 %second, [%seconds];
{statements}st.global.f64 [%results], %value;
st.global.f64 [%results+8], %first;
ret;
}}
"
    );
    Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a module's kernel for each pair of operands, and returns its two numbers for each.
fn run(module: &Module, first: &[f64], second: &[f64]) -> Vec<[f64; 2]> {
    let blocks = first.len().div_ceil(32);
    let padded = |numbers: &[f64]| {
        let padding = std::iter::repeat_n(1.0, 32 * blocks - numbers.len());
        numbers.iter().copied().chain(padding).flat_map(f64::to_ne_bytes).collect::<Vec<u8>>()
    };
    let mut memory = [padded(first), padded(second), vec![0; 2 * 8 * 32 * blocks]];
    let mut allocations = Vec::new();
    for (number, memory) in memory.iter_mut().enumerate() {
        allocations.push(Allocation { address: (number as u64 + 1) << 32, memory, written: None });
    }
    let parameters: Vec<u8> = allocations.iter().flat_map(|allocation| allocation.address.to_ne_bytes()).collect();
    let launch = Launch {
        shape: LaunchShape { grid: [blocks as u32, 1, 1], block: [32, 1, 1] },
        parameters: &parameters,
        dynamic_shared: 0,
        together: false,
        allocations,
        order: Order::LockStep,
        checked: true,
        patience: Duration::from_secs(60),
        most_joins: u64::MAX,
    };
    let outcome = module.entry("k").unwrap().run(launch);
    assert_eq!(outcome.fault, None);
    let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().unwrap());
    memory[2].chunks_exact(16).take(first.len()).map(|both| [number(&both[..8]), number(&both[8..])]).collect()
}

/// Whether two numbers are the same; of a NaN only that it is one is promised.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn every_function_has_the_bits_of_the_interpreter() {
    for (function, borders) in FUNCTIONS {
        let (first, second) = if function == Op::Pow {
            pairs()
        } else {
            let points = points(borders);
            (points.clone(), vec![0.0; points.len()])
        };
        let operands = &["%first", "%second"][..function.arity()];
        let mut statements = String::new();
        // Twice, the second time to the register of its own operand.
        assert!(inline(function, operands, "%value", "a", &mut statements));
        assert!(inline(function, operands, "%first", "b", &mut statements));
        let module = module(&statements);
        assert_eq!(module.entry("k").unwrap().unset_registers(), [""; 0], "{}", function.name());
        for ((x, y), [value, again]) in first.iter().zip(&second).zip(run(&module, &first, &second)) {
            let expected = function.value([*x, *y, 0.0]);
            let is_same = same(value, expected) && same(again, expected);
            assert!(is_same, "{}({x:e}, {y:e}): {value:e} and {again:e}, not {expected:e}", function.name());
        }
    }
}

#[test]
fn operands_may_be_numbers() {
    for (function, x) in FUNCTIONS.map(|(function, _)| (function, 0.3)) {
        let number = |x: f64| format!("0d{:016X}", x.to_bits());
        let operands = [number(x), number(-1.5)];
        let operands: Vec<&str> = operands.iter().map(String::as_str).take(function.arity()).collect();
        let mut statements = String::new();
        assert!(inline(function, &operands, "%value", "a", &mut statements));
        let [value, _] = run(&module(&statements), &[0.0], &[0.0])[0];
        assert!(same(value, function.value([x, -1.5, 0.0])), "{}: {value:e}", function.name());
    }
}

/// What the templates rely on: a function ends once, at its end, stores once on each way there, and reads nothing else.
#[test]
fn an_entry_has_the_form_that_is_expected() {
    let text = TEXT.text().unwrap();
    let entries: Vec<&str> = text.split(".visible .entry ").skip(1).collect();
    assert_eq!(entries.len(), FUNCTIONS.len());
    assert_eq!(TEMPLATES.len(), FUNCTIONS.len());
    for entry in entries {
        let name = entry.split('(').next().unwrap();
        let body = entry.rsplit_once('}').unwrap().0.split_once('{').unwrap().1;
        let body: Vec<&str> = body.lines().map(str::trim).collect();
        let statements: Vec<&&str> = body.iter().filter(|line| line.ends_with(';')).collect();
        assert_eq!(statements.iter().filter(|line| line.starts_with("ret")).count(), 1, "{name}");
        assert_eq!(**statements[statements.len() - 1], *"ret;", "{name}");
        let template = &TEMPLATES[name.strip_prefix(BEGINNING).unwrap()];
        for word in ["ret", ".param", "ld.", "st.", "cvta", "call", "[", ".local", ".shared"] {
            assert!(!template.contains(word), "{name}: {word}");
        }
        assert_eq!(template.matches(RESULT).count(), 1, "{name}");
        // A statement or a label has a line of its own.
        assert!(body.iter().all(|line| line.is_empty() || line.ends_with([';', ':'])), "{name}");
    }
}

#[test]
fn other_operations_have_no_text() {
    let functions = FUNCTIONS.map(|(function, _)| function);
    for op in Op::ALL.iter().filter(|op| !functions.contains(op)) {
        let mut text = String::new();
        assert!(!inline(*op, &["%first", "%second", "%third"][..op.arity()], "%value", "a", &mut text));
        assert_eq!(text, "");
    }
}

#[test]
fn names_have_the_site() {
    let lines = [
        (".reg .f64 \t%fd<40>;", ".reg .f64 \t%fd_{site}_<40>;"),
        ("@%p2 bra \t$L__BB3_2;", "@%p_{site}_2 bra \t$L_{site}___BB3_2;"),
        ("$L__BB3_2:", "$L_{site}___BB3_2:"),
        ("ld.param.u64 \t%rd3, [program_function_pow_param_1];", "mov.b64 %rd_{site}_3, {second};"),
        ("st.global.f64 \t[%rd2], %fd39;", "mov.f64 {result}, %fd_{site}_39;"),
    ];
    for (line, expected) in lines {
        assert_eq!(statement(line, 2).unwrap(), expected);
    }
    assert_eq!(statement("ld.param.u64 \t%rd1, [program_function_pow_param_2];", 2), None);
}
