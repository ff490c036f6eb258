//! Random programs: vectors of several lengths, all operations, gathers, sums, slices, scans, matrices.

use crate::same::{bits_agree, check};
use octopus_program::{Domain, Graph, Matrix, NodeId, Op, Program, ScanStep};
use proptest::prelude::*;

/// A number that a choice is taken from.
type Choice = u32;

/// A node within reach of the others: no overflow however deep the program is.
fn tame(graph: &mut Graph, node: NodeId) -> NodeId {
    let t = graph.constant(0.3);
    let t = graph.mul(t, node);
    graph.apply(Op::Tanh, &[t])
}

/// A value that an operand may be, from any value between -1 and 1.
fn into_domain(graph: &mut Graph, domain: Domain, node: NodeId) -> NodeId {
    let (scale, shift) = match domain {
        Domain::Real | Domain::Truth => return node,
        Domain::Positive => (0.5, 1.1),
        Domain::Unit => (0.4, 0.5),
        Domain::AboveMinusOne => (0.8, 0.0),
        Domain::BelowOne => (0.8, -0.1),
        Domain::Negative => (0.8, -1.1),
    };
    let (scale, shift) = (graph.constant(scale), graph.constant(shift));
    let scaled = graph.mul(scale, node);
    graph.add(scaled, shift)
}

/// Applies an operation to nodes, the operands brought into their domains.
fn operate(graph: &mut Graph, op: Op, choices: &[Choice], from: &[NodeId]) -> Option<NodeId> {
    let mut args: Vec<NodeId> = Vec::new();
    for (&choice, &domain) in choices.iter().zip(op.domains()) {
        let length = args.iter().map(|&arg| graph.len(arg)).max().unwrap_or(1);
        let fits = |&&node: &&NodeId| length == 1 || graph.len(node) == 1 || graph.len(node) == length;
        let fitting: Vec<NodeId> = from.iter().filter(fits).copied().collect();
        let node = fitting[choice as usize % fitting.len()];
        args.push(into_domain(graph, domain, node));
    }
    Some(graph.apply(op, &args))
}

fn build(lengths: [usize; 3], steps: &[[Choice; 5]]) -> (Graph, NodeId) {
    let mut graph = Graph::new();
    let mut nodes = Vec::new();
    for &length in &lengths {
        nodes.push(graph.parameter(length));
        let data: Vec<f64> = (0..length).map(|i| ((i * 7 + 3) % 11) as f64 / 11.0 - 0.4).collect();
        nodes.push(graph.column(data));
    }
    let scalar = graph.parameter(1);
    nodes.extend([scalar, graph.constant(0.7)]);
    for node in nodes.clone() {
        nodes.push(tame(&mut graph, node));
    }
    for [kind, which, a, b, c] in steps {
        let pick = |choice: &Choice| nodes[*choice as usize % nodes.len()];
        let (x, y) = (pick(a), pick(b));
        let made = match kind % 12 {
            0 => {
                let source = x;
                let index: Vec<u32> =
                    (0..lengths[*b as usize % 3]).map(|i| ((i as u32) * 5 + c) % graph.len(source) as u32).collect();
                graph.gather(source, index)
            }
            1 => {
                let sum = graph.sum(x);
                let rows = graph.constant(1.0 / graph.len(x) as f64);
                graph.mul(sum, rows)
            }
            2 => {
                let segments = 1 + *c as usize % 9;
                let index: Vec<u32> = (0..graph.len(x)).map(|i| ((i / 3) % segments) as u32).collect();
                graph.segment_sum(x, index, segments)
            }
            3 => {
                let start = *b as usize % graph.len(x);
                let length = 1 + *c as usize % (graph.len(x) - start);
                graph.slice(x, start, length)
            }
            4 if graph.len(x) + graph.len(y) < 100 => graph.concat(&[x, y]),
            5 => {
                let steps = graph.len(x);
                let start = graph.element(y, 0);
                let ops = [Op::MulAdd, Op::LogSumExp, Op::Sub, Op::AddPositive, Op::Sigmoid];
                let op = ops[*which as usize % ops.len()];
                let made = graph.scan(steps, &[start, scalar], &[x, scalar], |body, states, inputs| {
                    let all = [states, inputs].concat();
                    let first = operate(body, op, &[*a, *b, *c], &all).expect("scalars fit");
                    let next = tame(body, first);
                    let twice = body.mul(next, all[*c as usize % all.len()]);
                    let out = body.exp(twice);
                    ScanStep { next: vec![next, states[0]], outputs: vec![out, states[1]] }
                });
                made[*b as usize % 2]
            }
            6 => {
                let rows = 1 + *b as usize % 3;
                let columns = graph.len(x) / rows;
                if columns == 0 {
                    continue;
                }
                let matrix = graph.slice(x, 0, rows * columns);
                let matrix = Matrix::new(matrix, rows, columns);
                if c % 2 == 0 { graph.product(matrix, matrix.t()) } else { graph.product(matrix.t(), matrix) }
            }
            7 if graph.len(x) >= 4 => {
                // M M' + I has a Cholesky factor.
                let matrix = graph.slice(x, 0, 4);
                let matrix = tame(&mut graph, matrix);
                let matrix = Matrix::new(matrix, 2, 2);
                let product = graph.product(matrix, matrix.t());
                let identity = graph.column(vec![1.0, 0.0, 0.0, 1.0]);
                let positive = graph.add(product, identity);
                let factor = graph.cholesky(positive, 2);
                let other = graph.gather(x, vec![1, 0]);
                let solved = graph.solve(factor, other, 2, 1, c % 2 == 0);
                let diagonal = graph.diagonal(factor, 2);
                graph.mul(solved, diagonal)
            }
            8 if graph.len(x) >= 4 => {
                // M M' + diag(1, 9) has eigenvalues that are never near to each other.
                let matrix = graph.slice(x, 0, 4);
                let matrix = tame(&mut graph, matrix);
                let matrix = Matrix::new(matrix, 2, 2);
                let product = graph.product(matrix, matrix.t());
                let diagonal = graph.column(vec![1.0, 0.0, 0.0, 9.0]);
                let symmetric = graph.add(product, diagonal);
                let (vectors, values) = graph.eigendecompose_sym(symmetric, 2);
                if c % 2 == 0 { vectors } else { values }
            }
            _ => {
                let op = Op::ALL[*which as usize % Op::ALL.len()];
                // These have no slope.
                let has_slope = !matches!(op, Op::Trigamma | Op::Held);
                let made = has_slope.then(|| operate(&mut graph, op, &[*a, *b, *c], &nodes)).flatten();
                let Some(node) = made else { continue };
                node
            }
        };
        let made = tame(&mut graph, made);
        nodes.push(made);
    }
    let mut target = graph.constant(0.0);
    for node in nodes {
        let square = graph.square(node);
        let sum = graph.sum(square);
        target = graph.add(target, sum);
    }
    (graph, target)
}

fn position(dim: usize) -> Vec<f64> {
    (0..dim).map(|k| ((k * 37 + 11) % 101) as f64 / 60.0 - 0.83).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gradients_are_the_dual_numbers(
        lengths in [1..4_usize, 2..14_usize, 30..45_usize],
        steps in prop::collection::vec(any::<[Choice; 5]>(), 1..14),
    ) {
        let (graph, target) = build(lengths, &steps);
        let program = Program::compile(&graph, target).expect("a program without misuse");
        check(&program, &position(program.dim()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Long vectors: several tiles, and units that threads share.
    #[test]
    fn bits_of_long_programs_agree(
        lengths in [1..3_usize, 2_000..5_000_usize, 66_000..70_000_usize],
        steps in prop::collection::vec(any::<[Choice; 5]>(), 1..6),
    ) {
        // Products of a long vector with itself are large matrices.
        let steps: Vec<[Choice; 5]> = steps.into_iter().filter(|step| step[0] % 12 != 6).collect();
        let (graph, target) = build(lengths, &steps);
        let program = Program::compile(&graph, target).expect("a program without misuse");
        let position = position(program.dim());
        let mut gradient = vec![0.0; program.dim()];
        let value = program.logp_grad(&mut program.workspace(), &position, &mut gradient).expect("finite");
        bits_agree(&program, &position, value, &gradient);
    }
}

/// Products of all shapes: fewer numbers than lanes, tiles, sums of tiles, and factors that are stored transposed.
#[test]
fn bits_of_products_agree() {
    let shapes = [
        (3, 5, 2),
        (1, 8, 3),
        (4, 9, 1),
        (7, 25, 1),
        (2, 32, 9),
        (33, 40, 1),
        (3, 70, 8),
        (34, 45, 37),
        (9, 140, 13),
        (4, 161, 100),
        (2, 2100, 1),
        (5, 2055, 3),
        (5, 4099, 2),
    ];
    for (rows, inner, columns) in shapes {
        for transposed in 0..4 {
            let mut graph = Graph::new();
            let scale = graph.parameter(3);
            let numbers =
                |count: usize, turn: f64| (0..count).map(|k| (turn + 1.3 * k as f64).sin()).collect::<Vec<_>>();
            let mut factor = |count: usize, turn: f64| {
                let column = graph.column(numbers(count, turn));
                let scales = graph.gather(scale, (0..count as u32).map(|k| k % 3).collect::<Vec<_>>());
                graph.mul(column, scales)
            };
            let (a, b) = (factor(rows * inner, 0.2), factor(inner * columns, 1.4));
            let stored = |node, rows, columns, transposed| match transposed {
                true => Matrix::new(node, columns, rows).t(),
                false => Matrix::new(node, rows, columns),
            };
            let (a, b) = (stored(a, rows, inner, transposed & 1 == 1), stored(b, inner, columns, transposed & 2 == 2));
            let product = graph.product(a, b);
            let weights = graph.column(numbers(rows * columns, 2.2));
            let target = graph.dot(weights, product);
            check(&Program::compile(&graph, target).expect("a program"), &[0.7, -0.4, 1.2]);
        }
    }
}
