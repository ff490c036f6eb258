//! What comes out of good programs: ids, types, signatures, promotions.

use octopus_stan::{
    BaseType, BinaryOp, Callee, Constraint, Expression, ExpressionKind, Index, StanProgram, StanType, Statement,
    StatementKind, Suffix, UnaryOp, VariableRole,
};
use std::path::Path;

fn program(name: &str) -> StanProgram {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    StanProgram::read(path).unwrap_or_else(|error| panic!("{error}"))
}

fn parsed(text: &str) -> StanProgram {
    StanProgram::parse("own.stan", text).unwrap_or_else(|error| panic!("{error}"))
}

/// The value of the only statement of a model, `target += value`.
fn value(expression: &str) -> Expression {
    let text = format!(
        "data {{ int i; int j; real a; real b; vector[2] v; matrix[2, 2] A; array[2, 3] matrix[2, 2] B; \
         array[2] int k; }} model {{ target += {expression}; }}"
    );
    match parsed(&text).model.remove(0).kind {
        StatementKind::Target(value) => value,
        other => panic!("{other:?}"),
    }
}

/// An expression with all of its brackets.
fn shown(of: &Expression) -> String {
    let inner = |expression: &Expression| shown(expression);
    match &of.kind {
        ExpressionKind::Variable(id) => ["i", "j", "a", "b", "v", "A", "B", "k"][id.0].into(),
        ExpressionKind::Int(number) => number.to_string(),
        ExpressionKind::Real(number) => format!("{number:?}"),
        ExpressionKind::Promoted(of) => format!("real<{}>", inner(of)),
        ExpressionKind::Unary(UnaryOp::Transpose, of) => format!("({}')", inner(of)),
        ExpressionKind::Unary(op, of) => format!("({}{})", op.sign(), inner(of)),
        ExpressionKind::Binary(op, sides) => format!("({} {} {})", inner(&sides.0), op.sign(), inner(&sides.1)),
        ExpressionKind::Conditional(parts) => {
            format!("({} ? {} : {})", inner(&parts.0), inner(&parts.1), inner(&parts.2))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_in_stan() {
    for (text, expected) in [
        ("a + b * a", "(a + (b * a))"),
        ("a - b - a", "((a - b) - a)"),
        ("-a ^ b ^ a", "(-(a ^ (b ^ a)))"),
        ("a ^ -b * a", "((a ^ (-b)) * a)"),
        ("!i == j", "((!i) == j)"),
        ("i || j && i", "(i || (j && i))"),
        ("i < j == j > i", "((i < j) == (j > i))"),
        ("i ? a : j ? b : a", "(i ? a : (j ? b : a))"),
        ("i * j %/% i", "(i * (j %/% i))"),
        ("A * v'' ", "(A * ((v')'))"),
        ("-v' * v", "((-(v')) * v)"),
        ("A .* A \\ A", "(A .* (A \\ A))"),
        ("(a + b) * a", "((a + b) * a)"),
    ] {
        assert_eq!(shown(&value(text)), expected, "{text}");
    }
}

#[test]
fn integers_become_reals_where_reals_are_asked_for() {
    assert_eq!(shown(&value("a + i")), "(a + real<i>)");
    assert_eq!(shown(&value("i + j")), "(i + j)");
    assert_eq!(shown(&value("i ? 1 : 2.5")), "(i ? real<1> : 2.5)");
    assert_eq!(value("i + j").ty, StanType::INT);
    let ExpressionKind::Call(call) = value("pow(a, k)").kind else { panic!("no call") };
    assert_eq!(call.signature.to_string(), "(real, array[] int) => array[] real");
}

#[test]
fn indices_take_dimensions_away() {
    for (text, base, arrays) in [
        ("B", BaseType::Matrix, 2),
        ("B[1]", BaseType::Matrix, 1),
        ("B[1, 2]", BaseType::Matrix, 0),
        ("B[1, 2, 1]", BaseType::RowVector, 0),
        ("B[1, 2, , 1]", BaseType::Vector, 0),
        ("B[1, 2, 1, 1]", BaseType::Real, 0),
        ("B[ : , 2, 1, 1]", BaseType::Real, 1),
        ("B[k, 2 : , 1, : 1]", BaseType::RowVector, 2),
        ("A[k]", BaseType::Matrix, 0),
        ("v[k]", BaseType::Vector, 0),
        ("v[k[1]]", BaseType::Real, 0),
        ("v[]", BaseType::Vector, 0),
    ] {
        assert_eq!(value(text).ty, StanType::array(base, arrays), "{text}");
    }
    let ExpressionKind::Index(_, indices) = value("B[k, 2 : , 1]").kind else { panic!("no index") };
    assert!(matches!(indices.as_slice(), [Index::Multiple(_), Index::From(_), Index::Single(_)]));
}

#[test]
fn a_hierarchy_is_whole() {
    let program = program("hierarchy.stan");
    let names: Vec<&str> = program.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["N", "J", "group", "x", "y", "z", "mu", "tau", "alpha", "beta", "log_lik", "y_rep", "n"]);
    assert!(matches!(program.variables[12].role, VariableRole::Loop(_)));
    assert!(program.variables[5].is_data && !program.variables[8].is_data && program.variables[10].is_data);
    let StatementKind::Declare(alpha) = &program.parameters[2].kind else { panic!("no declaration") };
    assert_eq!((alpha.variable.0, alpha.sizes.len()), (8, 1));
    let Constraint::Affine { offset: Some(offset), multiplier: Some(_) } = &alpha.constraint else {
        panic!("{alpha:?}")
    };
    assert!(matches!(offset.kind, ExpressionKind::Variable(id) if id.0 == 6));
    let StatementKind::Tilde(tau) = &program.model[1].kind else { panic!("no distribution") };
    assert_eq!(tau.density.name, "student_t_lupdf");
    assert_eq!(tau.density.suffix, Suffix::Density { unnormalised: true });
    assert!(tau.lower.is_some() && tau.upper.is_none());
    assert!(tau.density.arguments.iter().all(|argument| argument.ty == StanType::REAL), "{tau:?}");
    let StatementKind::Tilde(y) = &program.model[4].kind else { panic!("no distribution") };
    assert_eq!((y.density.name.as_str(), y.density.callee), ("bernoulli_logit_lupmf", Callee::Math));
    assert_eq!(y.density.signature.to_string(), "(array[] int, vector) => real");
    let place = program.place(program.model[4].span);
    assert_eq!((place.line, place.column, program.warnings.len()), (23, 3, 0));
}

#[test]
fn the_whole_language_is_read() {
    let program = program("language.stan");
    assert!(program.warnings.is_empty(), "{:?}", program.warnings);
    assert_eq!(program.functions.len(), 8);
    // A forward declaration and its definition are one function.
    let even = &program.functions[0];
    assert_eq!((even.name.as_str(), even.body.len(), even.arguments.len()), ("even", 1, 1));
    let StatementKind::Declare(covariance) = &program.parameters[5].kind else { panic!("no declaration") };
    assert_eq!(covariance.sizes.len(), 2);
    let StatementKind::Declare(correlation) = &program.parameters[6].kind else { panic!("no declaration") };
    assert_eq!((correlation.sizes.len(), &correlation.constraint), (2, &Constraint::Corr));
    assert_eq!(correlation.sizes[0], correlation.sizes[1]);
    let StatementKind::Assign { to, op, value } = &program.transformed_parameters[1].kind else {
        panic!("no assignment")
    };
    assert!(matches!(to.indices.as_slice(), [Index::Between(..)]) && *op == Some(BinaryOp::Add));
    let ExpressionKind::Call(half) = &value.kind else { panic!("no call") };
    let Callee::User(id) = half.callee else { panic!("not ours") };
    assert_eq!(program.functions[id.0].signature.to_string(), "(vector) => vector");
    let StatementKind::Tilde(pull) = &program.model[1].kind else { panic!("no distribution") };
    assert_eq!(pull.density.name, "pull_lupdf");
    assert!(matches!(pull.density.callee, Callee::User(_)));
}

#[test]
fn series_have_truncations_on_both_sides() {
    let program = program("series.stan");
    let StatementKind::Tilde(phi) = &program.model[2].kind else { panic!("no distribution") };
    assert!(phi.lower.is_some() && phi.upper.is_some());
    assert!(matches!(program.model.first().map(|it: &Statement| &it.kind), Some(StatementKind::Declare(_))));
}

#[test]
fn what_generated_quantities_compute_depends_on_no_parameter() {
    let text = "functions { real f(data real x) { return x; } } parameters { real mu; } \
                generated quantities { real a = f(mu); }";
    parsed(text);
    let in_model = text.replace("generated quantities { real a = f(mu); }", "model { target += f(mu); }");
    let error = StanProgram::parse("own.stan", &in_model).unwrap_err();
    assert!(error.to_string().contains("must not depend on parameters"), "{error}");
}
