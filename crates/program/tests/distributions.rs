//! Every distribution against scipy, its slopes against dual numbers and differences, its domains, and a model built by
//! functions.

use octopus_density::{LogDensity, Role, Transform};
use octopus_program::{
    Distribution, Dual, Graph, JointDistribution, Matrix, Must, NodeId, Program, ProgramBuilder, ProgramError, Support,
    Tail, Value,
};
use std::collections::HashMap;

/// The arguments and the value at a point.
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

/// The nodes of arguments, of which those that may be parameters are, and where these are.
fn nodes(m: &mut Graph, distribution: &Distribution, args: &[f64]) -> (Vec<NodeId>, Vec<f64>) {
    let mut position = Vec::new();
    let node = |(&x, argument): (&f64, &octopus_program::Argument)| {
        if argument.is_data {
            m.constant(x)
        } else {
            position.push(x);
            m.parameter(1)
        }
    };
    (args.iter().zip(distribution.arguments).map(node).collect(), position)
}

/// The value of a target at a point, held to `expected`, and its slopes, to dual numbers and differences.
fn check(m: &Graph, target: NodeId, position: &[f64], expected: f64, what: &str) {
    let program = Program::compile(m, target).expect("a program");
    let mut gradient = vec![0.0; program.dim()];
    let value = program.logp_grad(&mut program.workspace(), position, &mut gradient);
    if expected == f64::NEG_INFINITY {
        assert_eq!(program.plain(position).0, expected, "{what}");
        assert!(value.is_err() || position.is_empty(), "{what}");
        return;
    }
    let value = value.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{what}: {value}, not {expected}");
    for k in 0..position.len() {
        let along = |j: usize| Dual { value: position[j], slope: f64::from(u8::from(j == k)) };
        let moved: Vec<Dual> = (0..position.len()).map(along).collect();
        let slope = program.plain(&moved).0.slope;
        assert!((slope - gradient[k]).abs() < 1e-10 * slope.abs().max(1.0), "{what} {k}: {slope} {}", gradient[k]);
        let step = 1e-5 * position[k].abs().max(1e-9);
        let at = |x: f64| {
            let mut moved = position.to_vec();
            moved[k] += x;
            program.plain(&moved).0
        };
        let slope = (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
        let bound = 1e-6 * slope.abs().max(1.0) + 1e-14 * value.abs().max(1.0) / step;
        assert!((slope - gradient[k]).abs() < bound, "{what} {k}: {slope} by differences, {}", gradient[k]);
    }
}

#[test]
fn distributions_are_scipys() {
    let table = table();
    for distribution in Distribution::all() {
        let points = table.get(distribution.name).unwrap_or_else(|| panic!("{distribution:?} has no reference values"));
        assert!(points.len() >= 3, "{distribution:?} has {} reference values", points.len());
        for (args, expected) in points {
            let mut m = Graph::new();
            let (args_as_nodes, position) = nodes(&mut m, distribution, args);
            let terms = m.density_terms(distribution, &args_as_nodes).expect("terms");
            let target = m.total(&terms);
            check(&m, target, &position, *expected, &format!("{distribution:?} {args:?}"));
            // What a statement leaves out are constants.
            let kept = m.log_density(distribution, &args_as_nodes);
            let constant = m.sub(target, kept);
            let terms_left_out = octopus_program::evaluate(&m, &[constant], &position)[0][0];
            let elsewhere: Vec<f64> = position.iter().map(|x| 0.99 * x + 0.004).collect();
            let there = octopus_program::evaluate(&m, &[constant], &elsewhere)[0][0];
            let same = (terms_left_out - there).abs() < 1e-11 * there.abs().max(1.0);
            assert!(same || !there.is_finite() || !terms_left_out.is_finite(), "{distribution:?} {args:?}");
        }
    }
}

#[test]
fn tails_are_scipys() {
    let table = table();
    let mut by_counts: Vec<&str> = Vec::new();
    for distribution in Distribution::all().filter(|distribution| distribution.has_tails()) {
        for (suffix, tail) in [("lcdf", Tail::Below), ("lccdf", Tail::Above)] {
            let name = format!("{}_{suffix}", distribution.name);
            let points = table.get(&name).unwrap_or_else(|| panic!("{name} has no reference values"));
            for (args, expected) in points {
                let mut m = Graph::new();
                let (args_as_nodes, position) = nodes(&mut m, distribution, args);
                let what = format!("{name} {args:?}");
                match m.log_tail(distribution, tail, &args_as_nodes) {
                    Ok(log) => check(&m, log, &position, *expected, &what),
                    Err(error) => assert!(matches!(error, ProgramError::Tail { .. }), "{error}"),
                }
                // All arguments are data, or all but the bound. The probability may be 1 less the other side's sum,
                // which keeps no digits far out.
                let mut m = Graph::new();
                let known: Vec<NodeId> = args.iter().map(|&x| m.constant(x)).collect();
                let log = m.log_tail(distribution, tail, &known).expect("a logarithm");
                check(&m, log, &[], *expected, &what);
                if !distribution.is_of_counts() && *expected > -7.0 {
                    let bound = m.parameter(1);
                    let some: Vec<NodeId> = std::iter::once(bound).chain(known[1..].iter().copied()).collect();
                    if let Ok(log) = m.log_tail(distribution, tail, &some) {
                        by_counts.push(distribution.name);
                        check(&m, log, &args[..1], *expected, &what);
                    }
                }
            }
        }
    }
    for name in ["gamma", "inv_gamma", "chi_square", "inv_chi_square", "scaled_inv_chi_square", "beta"] {
        assert!(by_counts.contains(&name), "{name} has no whole shape among its reference values");
    }
}

/// A number of rows and columns, with the elements.
type Elements = (usize, usize, Vec<f64>);

fn joint_table() -> HashMap<String, Vec<(Vec<Elements>, f64)>> {
    let mut rows: HashMap<String, Vec<(Vec<Elements>, f64)>> = HashMap::new();
    for line in include_str!("data/joint_distributions.txt").lines() {
        let mut fields: Vec<&str> = line.split(';').collect();
        let value: f64 = fields.pop().and_then(|x| x.parse().ok()).expect("a value");
        let matrix = |field: &&str| {
            let (sizes, elements) = field.split_once(':').expect("sizes");
            let (rows, columns) = sizes.split_once('x').expect("rows x columns");
            let elements = elements.split(' ').map(|x| x.parse().expect("a number")).collect();
            (rows.parse().expect("rows"), columns.parse().expect("columns"), elements)
        };
        rows.entry(fields[0].into()).or_default().push((fields[1..].iter().map(matrix).collect(), value));
    }
    rows
}

#[test]
fn distributions_of_vectors_and_matrices_are_scipys() {
    let table = joint_table();
    for distribution in JointDistribution::all() {
        let name = distribution.name;
        let points = table.get(name).unwrap_or_else(|| panic!("{name} has no reference values"));
        for (args, expected) in points {
            let mut m = Graph::new();
            let mut position = Vec::new();
            let mut matrices = Vec::new();
            for ((rows, columns, elements), argument) in args.iter().zip(distribution.arguments) {
                let node = if matches!(argument.must, Must::Whole | Must::Count) {
                    m.column(elements.clone())
                } else {
                    position.extend(elements);
                    m.parameter(elements.len())
                };
                matrices.push(Matrix::new(node, *rows, *columns));
            }
            let terms = m.joint_density_terms(distribution, &matrices, false).expect("terms");
            let target = m.total(&terms);
            check(&m, target, &position, *expected, name);
            // The terms of each variate have the same sum.
            let rows = args.iter().zip(distribution.arguments);
            let rows = rows.filter(|(_, argument)| argument.shape != octopus_program::JointShape::Square);
            let rows = rows.map(|(arg, _)| arg.0).max().unwrap_or(1);
            let terms = m.joint_density_terms(distribution, &matrices, true).expect("terms");
            let target = m.total(&terms);
            let sum = m.sum_of_rows(target, rows);
            check(&m, sum, &position, *expected, name);
        }
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
    assert_eq!(error.to_string(), "normal: sigma is -2 at element 2, counted from 1; it must be above 0");

    let mut m = ProgramBuilder::new();
    let trials = m.parameter("trials");
    m.binomial(1.0, trials, 0.5);
    assert!(matches!(m.finish("wrong"), Err(ProgramError::NeedsData { argument: "trials", .. })));

    let mut m = ProgramBuilder::new();
    m.observe("norml", &[1.0.into()]);
    assert_eq!(m.finish("wrong").expect_err("no such name").to_string(), "there is no distribution `norml`");

    // A parameter outside is a bad point, not a broken model.
    let mut m = ProgramBuilder::new();
    let sd = m.parameter("sd");
    m.normal(1.0, 0.0, sd);
    let density = m.finish("guarded").expect("a program");
    assert!(density.logp_grad(&[-1.0], &mut [0.0]).expect_err("below 0").is_recoverable());
    let own = density.program().logp_grad(&mut density.program().workspace(), &[-1.0], &mut [0.0]);
    assert_eq!(own.expect_err("below 0").to_string(), "normal: sigma must be above 0");
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
    let is_derived = |variable: &octopus_density::Variable| variable.role == Role::Derived;
    assert!(
        density.layout().variables.iter().all(is_derived),
        "a layout says of all coordinates whose they are, or of none"
    );
}

#[test]
fn a_layout_tells_the_coordinates_of_parameters_where_all_are_known() {
    let roles = |is_hierarchy: bool| -> Vec<Role> {
        let mut m = ProgramBuilder::new();
        let (a, b) = (m.vector("a", 3), m.positive("b"));
        m.normal(a, 0.0, if is_hierarchy { b.into() } else { Value::from(2.0) });
        m.derived("c", a + b);
        let density = m.finish("known").expect("a program");
        assert_eq!(density.effects().is_some(), is_hierarchy);
        density.layout().variables.iter().map(|variable| variable.role).collect()
    };
    let parameter = |offset, transform| Role::Parameter { offset, transform };
    assert_eq!(roles(false), [parameter(0, Transform::Identity), parameter(3, Transform::Exp), Role::Derived]);
    // Effects of a hierarchy are made of their coordinates.
    assert_eq!(roles(true), [Role::Derived; 3]);
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

/// Whether a guard refuses the probability of a model with two coordinates, both of them 8.
fn is_guarded(make: impl Fn(&mut ProgramBuilder) -> NodeId) -> bool {
    let mut m = ProgramBuilder::new();
    let p = make(&mut m);
    m.bernoulli(1.0, p);
    let density = m.finish("guards").expect("a program");
    let own = density.program().logp_grad(&mut density.program().workspace(), &[8.0, 8.0], &mut [0.0; 2]);
    matches!(own, Err(error) if error.to_string() == "bernoulli: theta must be between 0 and 1")
}

#[test]
fn a_probability_that_may_be_above_one_is_guarded_and_a_mean_of_probabilities_is_not() {
    let shares = |m: &mut ProgramBuilder| ["a", "b"].map(|name| m.declare(name, None, Support::Between(0.0, 1.0)));
    let weighted = |m: &mut ProgramBuilder, first: f64, second: f64| {
        let [a, b] = shares(m);
        let (first, second) = (m.graph.constant(first), m.graph.constant(second));
        let (a, b) = (m.graph.mul(first, a), m.graph.mul(second, b));
        m.graph.add(a, b)
    };
    assert!(is_guarded(|m| weighted(m, 1.0, 0.5)));
    assert!(!is_guarded(|m| weighted(m, 0.25, 0.75)));
    assert!(is_guarded(|m| {
        let _ = m.parameter("other");
        m.positive("p")
    }));
}
