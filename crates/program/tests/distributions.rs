//! Every distribution against scipy, its slopes against dual numbers, its domains, and a model built by functions.

use octopus_density::{LogDensity, Role, Transform};
use octopus_program::{Distribution, Dual, Graph, NodeId, Program, ProgramBuilder, ProgramError, Support};
use std::collections::HashMap;

/// The arguments and the log density of a point.
type Point = (Vec<f64>, f64);

fn table() -> HashMap<String, Vec<Point>> {
    let mut rows: HashMap<String, Vec<Point>> = HashMap::new();
    for line in include_str!("data/distributions.csv").lines() {
        let mut fields = line.split(',');
        let name = fields.next().expect("a name");
        let mut numbers: Vec<f64> = fields.map(|x| x.parse().expect("a number")).collect();
        let value = numbers.pop().expect("a value");
        rows.entry(name.into()).or_default().push((numbers, value));
    }
    rows
}

/// The log density with all arguments that may be parameters as such.
fn program(distribution: Distribution, args: &[f64]) -> (Program, Vec<f64>) {
    let mut m = Graph::new();
    let mut position = Vec::new();
    let mut node = |(&x, argument): (&f64, &octopus_program::Argument)| {
        if argument.is_data {
            m.constant(x)
        } else {
            position.push(x);
            m.parameter(1)
        }
    };
    let nodes: Vec<NodeId> = args.iter().zip(distribution.arguments()).map(&mut node).collect();
    let target = m.log_density(distribution, &nodes);
    (Program::compile(&m, target).expect("a program"), position)
}

#[test]
fn distributions_are_scipys() {
    let table = table();
    for &distribution in Distribution::ALL {
        let points = &table[distribution.name()];
        let mut offsets = Vec::new();
        for (args, expected) in points {
            let (program, position) = program(distribution, args);
            let mut gradient = vec![0.0; program.dim()];
            let value = program.logp_grad(&mut program.workspace(), &position, &mut gradient);
            let value = value.unwrap_or_else(|error| panic!("{distribution:?}: {error}"));
            offsets.push(value - expected);
            for k in 0..position.len() {
                let along = |j: usize| Dual { value: position[j], slope: f64::from(u8::from(j == k)) };
                let moved: Vec<Dual> = (0..position.len()).map(along).collect();
                let slope = program.plain(&moved).0.slope;
                assert!((slope - gradient[k]).abs() < 1e-12 * slope.abs().max(1.0), "{distribution:?} {k}");
            }
        }
        // Constants are left out, the same at all points.
        let differs = |offset: &f64| (offset - offsets[0]).abs() > 2e-14 * offsets[0].abs().max(10.0);
        assert!(!offsets.iter().any(differs), "{distribution:?}: {offsets:?}");
    }
}

#[test]
fn arguments_outside_their_domain_are_named() {
    let mut m = ProgramBuilder::new();
    let mu = m.parameter("mu");
    let y = m.data(vec![1.0, 2.0]);
    let sd = m.data(vec![1.0, -2.0]);
    m.normal(y, mu, sd);
    let error = m.finish("wrong").expect_err("a negative deviation");
    assert_eq!(error.to_string(), "normal: sd is -2 at element 1, counted from 0; it must be above 0");

    let mut m = ProgramBuilder::new();
    let low = m.parameter("low");
    m.uniform(1.0, low, 2.0);
    assert!(matches!(m.finish("wrong"), Err(ProgramError::NeedsData { argument: "low", .. })));

    // A parameter outside is a bad point, not a broken model.
    let mut m = ProgramBuilder::new();
    let sd = m.parameter("sd");
    m.normal(1.0, 0.0, sd);
    let density = m.finish("guarded").expect("a program");
    assert!(density.logp_grad(&[-1.0], &mut [0.0]).expect_err("below 0").is_recoverable());
    let own = density.program().logp_grad(&mut density.program().workspace(), &[-1.0], &mut [0.0]);
    assert_eq!(own.expect_err("below 0").to_string(), "normal: sd must be above 0");
}

#[test]
fn misuse_is_the_first_error() {
    let mut m = ProgramBuilder::new();
    let (a, b) = (m.vector("a", 3), m.vector("b", 4));
    m.normal(a, b, 1.0);
    let error = m.finish("wrong").expect_err("lengths differ");
    assert!(error.to_string().contains("vectors of 3 and 4 elements"), "{error}");
    let mut m = ProgramBuilder::new();
    let a = m.vector("a", 3);
    m.graph.gather(a, vec![0, 3]);
    let error = m.finish("wrong").expect_err("no fourth element");
    assert_eq!(error.to_string(), "gather: index 3 at row 1; the vector has 3 elements, counted from 0");
}

#[test]
fn bounds_have_their_jacobians() {
    let mut m = ProgramBuilder::new();
    let a = m.declare("a", None, Support::Above(2.0));
    let b = m.declare("b", None, Support::Below(-1.0));
    let c = m.declare("c", Some(2), Support::Between(1.0, 4.0));
    let d = m.affine("d", None, 3.0, 2.0);
    let e = m.positive("e");
    for x in [a, b, c, d, e] {
        m.normal(x, 0.0, 1.0);
    }
    let density = m.finish("bounds").expect("a program");
    let x = [0.3, -0.4, 1.2, -0.7, 0.9, 0.1];
    let mut values = [0.0; 6];
    density.expand(&x, &mut values);
    let between = |x: f64| 1.0 + 3.0 / (1.0 + f64::exp(-x));
    let expected = [2.0 + f64::exp(0.3), -1.0 - f64::exp(-0.4), between(1.2), between(-0.7), 4.8, f64::exp(0.1)];
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-14 * expected.abs(), "{value} {expected}");
    }
    let slope = |x: f64| f64::ln((between(x) - 1.0) * (4.0 - between(x)) / 3.0);
    let jacobian = 0.3 - 0.4 + slope(1.2) + slope(-0.7) + 2f64.ln() + 0.1;
    let prior: f64 = expected.iter().map(|x| -0.5 * x * x).sum();
    let value = density.logp_grad(&x, &mut [0.0; 6]).expect("finite");
    assert!((value - jacobian - prior).abs() < 1e-13 * value.abs(), "{value} {}", jacobian + prior);
    let roles: Vec<Role> = density.layout().variables.iter().map(|variable| variable.role).collect();
    assert_eq!(roles[4], Role::Parameter { offset: 5, transform: Transform::Exp });
    assert_eq!(roles[0], Role::Derived);
}

#[test]
fn the_sampler_runs_a_model_built_by_functions() {
    let mut m = ProgramBuilder::new();
    let mu = m.parameter("mu");
    let sigma = m.positive("sigma");
    let y = m.data((0..40).map(|i| f64::from(i % 5)).collect::<Vec<_>>());
    m.normal(mu, 0.0, 10.0);
    m.exponential(sigma, 1.0);
    m.normal(y, mu, sigma);
    let density = m.finish("normal").expect("a program");
    let config = octopus_sampler::SamplerConfig { chains: 2, tune: 200, draws: 400, seed: 3, ..Default::default() };
    let mut sampler = octopus_sampler::Sampler::new(&density, config).expect("a good start");
    let mut draws = Vec::new();
    while let Some(block) = sampler.advance(usize::MAX).expect("no broken density") {
        if block.phase == octopus_sampler::Phase::Sampling {
            draws.extend(block.chains.iter().flat_map(|chain| chain.positions.chunks(2).map(|x| x[0])));
        }
    }
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    assert!(draws.len() == 800 && (mean - 2.0).abs() < 0.1, "{mean}");
}
