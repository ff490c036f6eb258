//! Densities derived by hand.

use crate::same::{check, differences_agree};
use octopus_program::{Graph, NodeId, Op, Program, ScanStep};

/// The log density of a normal distribution up to a constant of data, summed.
fn normal(graph: &mut Graph, x: NodeId, mean: NodeId, sd: NodeId) -> NodeId {
    let distance = graph.sub(x, mean);
    let z = graph.div(distance, sd);
    let square = graph.square(z);
    let half = graph.constant(0.5);
    let energy = graph.mul(half, square);
    let log_sd = graph.ln(sd);
    let term = graph.add(energy, log_sd);
    let rows = graph.len(x).max(graph.len(mean));
    let term = graph.broadcast(term, rows);
    let sum = graph.sum(term);
    graph.neg(sum)
}

/// The observed effects and their standard errors.
const SCHOOLS: [[f64; 8]; 2] =
    [[28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]];

/// Eight schools: z, mu and the logarithm of tau.
pub(crate) fn schools() -> (Graph, NodeId) {
    let [y, sigma] = SCHOOLS;
    let mut m = Graph::new();
    let (z, mu, log_tau) = (m.parameter(8), m.parameter(1), m.parameter(1));
    let (zero, one, five) = (m.constant(0.0), m.constant(1.0), m.constant(5.0));
    let tau = m.exp(log_tau);
    let scaled = m.mul(tau, z);
    let theta = m.add(mu, scaled);
    let (y_node, sigma_node) = (m.column(y.to_vec()), m.column(sigma.to_vec()));
    let terms =
        [normal(&mut m, z, zero, one), normal(&mut m, y_node, theta, sigma_node), normal(&mut m, mu, zero, five)];
    let ratio = m.div(tau, five);
    let square = m.square(ratio);
    let cauchy = m.apply(Op::Ln1p, &[square]);
    let mut target = m.sub(log_tau, cauchy);
    for term in terms {
        target = m.add(target, term);
    }
    (m, target)
}

#[test]
fn eight_schools() {
    let ([y, sigma], (m, target)) = (SCHOOLS, schools());
    let program = Program::compile(&m, target).expect("a program");
    let x = [0.3, -0.2, 1.1, 0.5, -0.7, 0.1, 0.9, -1.3, 4.2, 0.8];
    let (value, gradient) = check(&program, &x);
    let tau = f64::exp(x[9]);
    let mut logp = x[9] - (tau / 5.0).powi(2).ln_1p() - 0.5 * (x[8] / 5.0).powi(2) - 5f64.ln();
    let mut slopes = [0.0; 10];
    slopes[8] = -x[8] / 25.0;
    slopes[9] = 1.0 - 2.0 * tau * tau / 25.0 / (1.0 + tau * tau / 25.0);
    for j in 0..8 {
        let r = (y[j] - x[8] - tau * x[j]) / sigma[j];
        logp -= 0.5 * x[j] * x[j] + 0.5 * r * r + sigma[j].ln();
        slopes[j] = r / sigma[j] * tau - x[j];
        slopes[8] += r / sigma[j];
        slopes[9] += r / sigma[j] * tau * x[j];
    }
    assert!((value - logp).abs() < 1e-12 * logp.abs(), "{value} {logp}");
    for (found, slope) in gradient.iter().zip(slopes) {
        assert!((found - slope).abs() < 1e-12 * slope.abs().max(1.0), "{found} {slope}");
    }
}

/// The hierarchical logistic regression of `rows` rows, 5 columns and 100 groups.
pub(crate) fn logit(rows: usize) -> (Graph, NodeId) {
    let mut m = Graph::new();
    let (alpha, beta, log_tau, z) = (m.parameter(1), m.parameter(5), m.parameter(1), m.parameter(100));
    let noise = |i: usize, k: usize| ((i * 7919 + k * 104_729 + 13) % 1009) as f64 / 504.0 - 1.0;
    let group: Vec<u32> = (0..rows).map(|i| (i * 31 % 100) as u32).collect();
    let y: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(noise(i, 9) > 0.1))).collect();
    let tau = m.exp(log_tau);
    let of_group = m.gather(z, group);
    let effect = m.mul(tau, of_group);
    let mut linear = alpha;
    for k in 0..5 {
        let column = m.column((0..rows).map(|i| noise(i, k)).collect::<Vec<_>>());
        let slope = m.element(beta, k);
        let term = m.mul(column, slope);
        linear = m.add(linear, term);
    }
    let eta = m.add(linear, effect);
    let y = m.column(y);
    let product = m.mul(y, eta);
    let softplus = m.apply(Op::Softplus, &[eta]);
    let log_likelihood = m.sub(product, softplus);
    let mut target = m.sum(log_likelihood);
    let (zero, one, two, five) = (m.constant(0.0), m.constant(1.0), m.constant(2.0), m.constant(5.0));
    for (x, sd) in [(alpha, five), (beta, two), (tau, one), (z, one)] {
        let prior = normal(&mut m, x, zero, sd);
        target = m.add(target, prior);
    }
    let target = m.add(target, log_tau);
    (m, target)
}

#[test]
fn hierarchical_logit_is_one_loop_over_its_rows() {
    let (m, target) = logit(3000);
    let program = Program::compile(&m, target).expect("a program");
    let position: Vec<f64> = (0..107).map(|k| ((k * 29) % 17) as f64 / 12.0 - 0.7).collect();
    let (_, gradient) = check(&program, &position);
    differences_agree(&program, &position, &gradient, 1e-6);
    let long: Vec<_> = program.loops().into_iter().filter(|&(rows, _)| rows == 3000).collect();
    assert_eq!(long.len(), 1, "{}", program.describe());
    assert!(long[0].1 <= 25, "{}", program.describe());
}

#[test]
fn garch11() {
    let y: Vec<f64> = (0..200).map(|i| ((i * 37 % 101) as f64 / 50.0 - 1.0) * (1.0 + (i % 7) as f64 / 5.0)).collect();
    let (m, target) = garch(&y);
    let program = Program::compile(&m, target).expect("a program");
    let x = [0.1, -0.7, -1.2, -0.4];
    let (value, gradient) = check(&program, &x);
    differences_agree(&program, &x, &gradient, 1e-7);
    let [mu, w, a, b] = [x[0], x[1].exp(), x[2].exp(), x[3].exp()];
    let (mut logp, mut sigma) = (0.0, 1.5);
    for t in 0..200 {
        if t > 0 {
            sigma = f64::sqrt(w + a * (y[t - 1] - mu).powi(2) + b * sigma * sigma);
        }
        logp -= 0.5 * ((y[t] - mu) / sigma).powi(2) + sigma.ln();
    }
    assert!((value - logp).abs() < 1e-12 * logp.abs(), "{value} {logp}");
}

/// The garch(1,1) of y, with the first deviation 1.5; logarithms of the three coefficients are parameters.
pub(crate) fn garch(y: &[f64]) -> (Graph, NodeId) {
    let mut m = Graph::new();
    let [mu, log_w, log_a, log_b] = [0; 4].map(|_| m.parameter(1));
    let (w, a, b) = (m.exp(log_w), m.exp(log_a), m.exp(log_b));
    let y_node = m.column(y.to_vec());
    let start = m.constant(1.5);
    let sigmas = m.scan(y.len(), &[start], &[y_node, mu, w, a, b], |body, states, inputs| {
        let [y, mu, w, a, b] = inputs[..] else { unreachable!() };
        let distance = body.sub(y, mu);
        let square = body.square(distance);
        let own = body.mul(a, square);
        let own = body.add(w, own);
        let variance = body.square(states[0]);
        let carried = body.mul(b, variance);
        let sum = body.add(own, carried);
        let next = body.apply(Op::Sqrt, &[sum]);
        ScanStep { next: vec![next], outputs: vec![states[0]] }
    });
    let target = normal(&mut m, y_node, mu, sigmas[0]);
    (m, target)
}

/// The arma(1,1) of y; mu, phi, theta and the logarithm of sigma are parameters.
pub(crate) fn arma(y: &[f64]) -> (Graph, NodeId) {
    let mut m = Graph::new();
    let [mu, phi, theta, log_sigma] = [0; 4].map(|_| m.parameter(1));
    let sigma = m.exp(log_sigma);
    let y_node = m.column(y.to_vec());
    let before = m.column([&[0.0], &y[..y.len() - 1]].concat());
    let zero = m.constant(0.0);
    let errors = m.scan(y.len(), &[zero], &[y_node, before, mu, phi, theta], |body, states, inputs| {
        let [y, before, mu, phi, theta] = inputs[..] else { unreachable!() };
        let own = body.mul(phi, before);
        let moved = body.mul(theta, states[0]);
        let mean = body.add(mu, own);
        let mean = body.add(mean, moved);
        let error = body.sub(y, mean);
        ScanStep { next: vec![error], outputs: vec![error] }
    });
    let target = normal(&mut m, errors[0], zero, sigma);
    (m, target)
}

#[test]
fn arma11() {
    let y: Vec<f64> = (0..200).map(|i| (i * 37 % 101) as f64 / 50.0 - 1.0).collect();
    let (m, target) = arma(&y);
    let program = Program::compile(&m, target).expect("a program");
    let x = [0.1, 0.4, -0.3, 0.2];
    let (value, gradient) = check(&program, &x);
    differences_agree(&program, &x, &gradient, 1e-7);
    let (mut logp, mut error, mut before) = (0.0, 0.0, 0.0);
    for &y in &y {
        error = y - (x[0] + x[1] * before + x[2] * error);
        before = y;
        logp -= 0.5 * (error / x[3].exp()).powi(2) + x[3];
    }
    assert!((value - logp).abs() < 1e-12 * logp.abs(), "{value} {logp}");
}

/// A hidden Markov chain with two normal states: two logits of staying, two means, the logarithm of the deviation.
pub(crate) fn hmm(y: &[f64]) -> (Graph, NodeId) {
    let mut m = Graph::new();
    let stay = [m.parameter(1), m.parameter(1)];
    let mean = [m.parameter(1), m.parameter(1)];
    let log_sigma = m.parameter(1);
    let sigma = m.exp(log_sigma);
    // ln p(stay) and ln p(leave)
    let log_stay = stay.map(|s| {
        let minus = m.neg(s);
        let softplus = m.apply(Op::Softplus, &[minus]);
        m.neg(softplus)
    });
    let log_leave = stay.map(|s| {
        let softplus = m.apply(Op::Softplus, &[s]);
        m.neg(softplus)
    });
    let y_node = m.column(y.to_vec());
    let half = m.constant(0.5);
    let emission = mean.map(|mean| {
        let distance = m.sub(y_node, mean);
        let z = m.div(distance, sigma);
        let square = m.square(z);
        let energy = m.mul(half, square);
        let energy = m.add(energy, log_sigma);
        m.neg(energy)
    });
    let start = m.constant(-std::f64::consts::LN_2);
    let inputs = [emission[0], emission[1], log_stay[0], log_stay[1], log_leave[0], log_leave[1]];
    let forward = m.scan(y.len(), &[start, start], &inputs, |body, states, inputs| {
        let [e0, e1, s0, s1, l0, l1] = inputs[..] else { unreachable!() };
        let own = [body.add(states[0], e0), body.add(states[1], e1)];
        let (a, b) = (body.add(own[0], s0), body.add(own[1], l1));
        let first = body.apply(Op::LogSumExp, &[a, b]);
        let (a, b) = (body.add(own[0], l0), body.add(own[1], s1));
        let second = body.apply(Op::LogSumExp, &[a, b]);
        ScanStep { next: vec![first, second], outputs: vec![first, second] }
    });
    let last = [0, 1].map(|k| m.element(forward[k], y.len() - 1));
    let target = m.apply(Op::LogSumExp, &last);
    (m, target)
}

#[test]
fn hidden_markov_chain() {
    let y: Vec<f64> = (0..200).map(|i| (i * 37 % 101) as f64 / 50.0 - 1.0 + f64::from(u8::from(i % 40 > 20))).collect();
    let (m, target) = hmm(&y);
    let program = Program::compile(&m, target).expect("a program");
    let x = [1.3, 0.9, -0.5, 0.8, -0.3];
    let (value, gradient) = check(&program, &x);
    differences_agree(&program, &x, &gradient, 1e-7);
    let stay = [0, 1].map(|k| 1.0 / (1.0 + f64::exp(-x[k])));
    let (mut alpha, mut logp) = ([0.5, 0.5], 0.0);
    for &y in &y {
        let own = [0, 1].map(|k| alpha[k] * (-0.5 * ((y - x[2 + k]) / x[4].exp()).powi(2) - x[4]).exp());
        alpha = [own[0] * stay[0] + own[1] * (1.0 - stay[1]), own[0] * (1.0 - stay[0]) + own[1] * stay[1]];
        let sum = alpha[0] + alpha[1];
        logp += sum.ln();
        alpha = alpha.map(|a| a / sum);
    }
    assert!((value - logp).abs() < 1e-11 * logp.abs(), "{value} {logp}");
}

/// What was forgotten leaves no trace: the sum of two forgotten numbers was an old node.
#[test]
fn numbers_after_a_rewind_are_their_own() {
    let mut m = Graph::new();
    let five = m.constant(5.0);
    let mark = m.mark();
    let (two, three) = (m.constant(2.0), m.constant(3.0));
    assert_eq!(m.add(two, three), five);
    m.rewind(&mark);
    let (seven, eight) = (m.constant(7.0), m.constant(8.0));
    let sum = m.add(seven, eight);
    assert_eq!(m.known(sum), Some(vec![15.0]));
}
