//! Times of gradients on one core, beside hand-written Rust: `cargo run --release -p octopus-program --example speed`.

#[path = "../tests/programs/hand.rs"]
#[allow(dead_code, unused_imports, reason = "its models are timed here, its tests run elsewhere")]
mod hand;
#[path = "../tests/programs/kernel.rs"]
#[allow(dead_code, unused_imports, reason = "the models' file names it")]
mod kernel;
#[path = "../tests/programs/same.rs"]
#[allow(dead_code, reason = "the models' file names it")]
mod same;

use octopus_program::{Graph, NodeId, Program, VectorWidth};
use std::time::Instant;

/// The least nanoseconds a call of several tries.
fn time(mut call: impl FnMut() -> f64) -> f64 {
    let (mut best, mut calls) = (f64::INFINITY, 1);
    let mut total = 0.0;
    for _ in 0..12 {
        let start = Instant::now();
        for _ in 0..calls {
            total += call();
        }
        let taken = start.elapsed().as_secs_f64();
        best = best.min(taken / f64::from(calls));
        if taken < 0.02 {
            calls *= 4;
        }
    }
    assert!(total.is_finite());
    best * 1e9
}

fn gradient_time(graph: &Graph, target: NodeId, width: VectorWidth) -> (f64, f64, Program) {
    let start = Instant::now();
    let program = Program::compile(graph, target).expect("a program").with_threads(false).with_width(width);
    let made = start.elapsed().as_secs_f64();
    let position: Vec<f64> = (0..program.dim()).map(|k| ((k * 29) % 17) as f64 / 40.0 - 0.2).collect();
    let (mut workspace, mut gradient) = (program.workspace(), vec![0.0; program.dim()]);
    let ns = time(|| program.logp_grad(&mut workspace, &position, &mut gradient).expect("finite"));
    (ns, made, program)
}

fn main() {
    let y: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 101) / 50.0 - 1.0).collect();
    for (name, (graph, target)) in
        [("garch11", hand::garch(&y)), ("arma11", hand::arma(&y)), ("hmm", hand::hmm(&y)), ("schools", hand::schools())]
    {
        for width in VectorWidth::available() {
            let (ns, made, _) = gradient_time(&graph, target, width);
            println!("{name} {width:?}: {ns:.0} ns, made in {:.2} ms", 1e3 * made);
        }
    }
    for rows in [1_000, 10_000, 100_000] {
        let start = Instant::now();
        let (graph, target) = hand::logit(rows);
        let bound = start.elapsed().as_secs_f64();
        for width in VectorWidth::available() {
            let (ns, made, program) = gradient_time(&graph, target, width);
            println!(
                "logit {rows} {width:?}: {ns:.0} ns, {:.2} ns a row, bound in {:.1} ms, made in {:.2} ms, loops {:?}",
                ns / rows as f64,
                1e3 * bound,
                1e3 * made,
                program.loops()
            );
        }
    }
    let start = Instant::now();
    let (graph, target) = hand::logit(1_000_000);
    let program = Program::compile(&graph, target).expect("a program");
    println!("a million rows: bound, differentiated and packed in {:.2} s", start.elapsed().as_secs_f64());
    let (mut workspace, mut gradient) = (program.workspace(), vec![0.0; program.dim()]);
    let position = vec![0.1; program.dim()];
    let ns = time(|| program.logp_grad(&mut workspace, &position, &mut gradient).expect("finite"));
    println!("a million rows, all threads: {:.2} ms", 1e-6 * ns);
}
