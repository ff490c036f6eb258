//! Why a program has no density at a point: statements whose terms, and parameters whose slopes, are not finite.

use crate::bind::guard_bounds;
use crate::interpreter::{Interpreter, Run};
use crate::normalised::NormalisedProgram;
use crate::transform;
use octopus_program::{NodeId, Program, evaluate};
use octopus_stan::{Span, StanProgram, StatementKind};
use std::ops::Range;

/// Statements, or parameters, that are named at the most.
const SHOWN: usize = 3;
/// Terms whose slopes are computed one by one, at the most.
const MOST_TERMS: usize = 256;

/// Coordinates of a parameter, with its name.
struct NamedCoordinates {
    name: String,
    range: Range<usize>,
    /// Whether it is a list, and has as many coordinates as elements.
    is_list: bool,
}

impl NormalisedProgram {
    /// What keeps log density and slopes from being finite at a position, in the coordinates in which the program is written:
    /// sentences, of which there are none where nothing does.
    pub(crate) fn faults(&self, position: &[f64]) -> Vec<String> {
        let mut me = Interpreter::new(&self.program);
        me.values.clone_from(&self.values);
        (me.uses_lanes, me.budget) = (self.uses_lanes, self.limits);
        // The same statements had a density when they were bound.
        found(&mut me, position).unwrap_or_default()
    }
}

fn found(me: &mut Interpreter<'_>, position: &[f64]) -> Run<Vec<String>> {
    let program = me.program;
    let parameters = named_parameters(me)?;
    me.statements(&program.transformed_parameters)?;
    guard_bounds(me)?;
    me.statements(&program.model)?;
    let violated = violated_guards(me, position);
    if !violated.is_empty() {
        return Ok(at_most(violated, "conditions do not hold"));
    }
    let values = evaluate(&me.graph, &me.target, position);
    let terms: Vec<(NodeId, Span)> = me.target.iter().copied().zip(me.term_spans.iter().copied()).collect();
    let of_term = |((_, span), value): (&(NodeId, Span), &Vec<f64>)| {
        let value = value.first().copied().filter(|value| !value.is_finite())?;
        Some((*span, format!("the term of {} is {value}", quoted(program, *span))))
    };
    let mut said: Vec<(Span, String)> = terms.iter().zip(&values).filter_map(of_term).collect();
    if said.is_empty() {
        let has_fault = |(node, _): &&(NodeId, Span)| {
            slopes_of(me, *node, position).is_some_and(|slopes| slopes.iter().any(|x| !x.is_finite()))
        };
        let steep = terms.iter().take(MOST_TERMS).filter(has_fault);
        let told = |span| format!("the term of {} has a slope that is not finite", quoted(program, span));
        said = steep.map(|(_, span)| (*span, told(*span))).collect();
    }
    let said = said.into_iter().map(|(span, said)| said + &values_in(me, span, position)).collect();
    let mut told = at_most(said, "terms are not finite");
    let whole = me.graph.concat(&me.target);
    let whole = me.graph.sum(whole);
    let slopes = slopes_of(me, whole, position).unwrap_or_default();
    told.extend(at_most(steep_parameters(&parameters, &slopes), "slopes are not finite"));
    Ok(told)
}

/// Gives the parameters their coordinates, and returns which these are.
fn named_parameters(me: &mut Interpreter<'_>) -> Run<Vec<NamedCoordinates>> {
    let program = me.program;
    let mut named = Vec::new();
    for statement in &program.parameters {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        let (name, first) = (program.variables[declaration.variable.0].name.clone(), me.graph.dim());
        let value = transform::parameter(me, declaration, statement.span)?;
        let range = first..me.graph.dim();
        let is_list = value.dims().len() == 1 && value.count() == range.len();
        named.push(NamedCoordinates { name, range, is_list });
        me.values[declaration.variable.0] = Some(value);
        me.term_spans.resize(me.target.len(), statement.span);
    }
    Ok(named)
}

/// The messages of conditions that do not hold, with the statements that ask for them.
fn violated_guards(me: &mut Interpreter<'_>, position: &[f64]) -> Vec<String> {
    let guards: Vec<(NodeId, String)> = me.graph.guards().map(|(node, message)| (node, message.to_owned())).collect();
    let nodes: Vec<NodeId> = guards.iter().map(|(node, _)| *node).collect();
    let counts = evaluate(&me.graph, &nodes, position);
    let said = |(number, (count, (_, message))): (usize, (Vec<f64>, (NodeId, String)))| {
        count.first().filter(|count| **count != 0.0)?;
        Some(match me.guard_spans.get(number).copied() {
            // Some messages have their place.
            Some(span) if !message.ends_with(')') => {
                format!("{message}, in {}{}", quoted(me.program, span), values_in(me, span, position))
            }
            _ => message,
        })
    };
    counts.into_iter().zip(guards).enumerate().filter_map(said).collect()
}

/// The slopes of a scalar of the graph, whether or not it is finite; `None` where there is no program for it.
fn slopes_of(me: &Interpreter<'_>, target: NodeId, position: &[f64]) -> Option<Vec<f64>> {
    let program = Program::compile(&me.graph, target).ok()?;
    let mut slopes = vec![0.0; program.dim()];
    // Where the value is none, the slopes are written all the same.
    let _ = program.logp_grad(&mut program.workspace(), position, &mut slopes);
    Some(slopes)
}

fn steep_parameters(parameters: &[NamedCoordinates], gradient: &[f64]) -> Vec<String> {
    let of_parameter = |parameter: &NamedCoordinates| {
        let own = &gradient[parameter.range.clone()];
        let (place, slope) = own.iter().enumerate().find(|(_, slope)| !slope.is_finite())?;
        let element = if parameter.is_list { format!("[{}]", place + 1) } else { String::new() };
        Some(format!("the slope by `{}{element}` is {slope}", parameter.name))
    };
    parameters.iter().filter_map(of_parameter).collect()
}

/// The values of the numbers that a statement names, of parameters and of what is computed from them.
fn values_in(me: &mut Interpreter<'_>, span: Span, position: &[f64]) -> String {
    let program = me.program;
    let text = program.text(span);
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut found = Vec::new();
    for statement in program.parameters.iter().chain(&program.transformed_parameters) {
        let StatementKind::Declare(declaration) = &statement.kind else { continue };
        let name = program.variables[declaration.variable.0].name.as_str();
        let Some(value) = me.values[declaration.variable.0].clone().filter(|value| value.dims().is_empty()) else {
            continue;
        };
        if words.contains(&name) && found.len() < SHOWN {
            let tensor = me.tensor(&value);
            let node = me.node(&tensor);
            let value = evaluate(&me.graph, &[node], position).concat();
            found.extend(value.first().map(|value| format!("{name} = {value}")));
        }
    }
    if found.is_empty() { String::new() } else { format!(", where {}", found.join(", ")) }
}

/// A statement with its place.
fn quoted(program: &StanProgram, span: Span) -> String {
    let place = program.place(span);
    let words: Vec<&str> = program.text(span).split_whitespace().collect();
    format!("`{}` ({}:{}:{})", words.join(" ").trim_end_matches(';'), place.file, place.line, place.column)
}

fn at_most(mut said: Vec<String>, what: &str) -> Vec<String> {
    let more = said.len().saturating_sub(SHOWN);
    said.truncate(SHOWN);
    said.extend((more > 0).then(|| format!("and {more} more {what}")));
    said
}

#[cfg(test)]
mod tests {
    use crate::bind::BoundModel;
    use crate::data::Data;
    use octopus_density::LogDensity;
    use octopus_stan::StanProgram;

    fn faults(text: &str, position: &[f64]) -> Vec<String> {
        let program = StanProgram::parse("m.stan", text).unwrap();
        let density = BoundModel::new(&program, &Data::new("none")).unwrap().density("m").unwrap();
        density.faults(position)
    }

    #[test]
    fn statements_and_parameters_are_named() {
        let text = "parameters { real a; vector[2] b;\n real<lower=0> c; }\nmodel { a ~ normal(0, 1);\n\
                    for (k in 1:2) { target += log(b[k]);\n b[k] ~ exponential(c); } }";
        let good = [0.5, 1.0, 2.0, 0.0];
        assert!(faults(text, &good).is_empty());
        // The logarithm and the exponential distribution have no negative numbers.
        let bad = faults(text, &[0.5, 1.0, -2.0, 0.0]);
        assert_eq!(bad, ["exponential: y must be 0 or above, in `b[k] ~ exponential(c)` (m.stan:5:2), where c = 1"]);
        let bad = faults(&text.replace("exponential(c)", "normal(0, c)"), &[0.5, 1.0, -2.0, 0.0]);
        assert!(bad.iter().any(|said| said == "the term of `target += log(b[k])` (m.stan:4:18) is NaN"), "{bad:?}");
        assert!(bad.iter().all(|said| !said.contains("normal(0, 1)")), "{bad:?}");
        // e^1000 is no number of f64.
        let far = faults(text, &[0.5, 1.0, 2.0, 1000.0]);
        assert!(far.iter().any(|said| said.contains("exponential(c)")), "{far:?}");
    }

    /// e^708 is a number of f64, and 708 times as much is none.
    #[test]
    fn a_slope_alone_is_named_with_its_statement() {
        let text = "parameters { vector[3] b; }\nmodel { b ~ normal(0, 1);\n target += -exp(exp(b[2])); }";
        let found = faults(text, &[1.0, 6.563, 1.0]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "the term of `target += -exp(exp(b[2]))` (m.stan:3:2) has a slope that is not finite");
        assert!(found[1].starts_with("the slope by `b[2]` is "), "{found:?}");
    }

    #[test]
    fn a_condition_that_does_not_hold_is_told() {
        let text =
            "parameters { real a; }\ntransformed parameters { real<lower=0> b = a; }\nmodel { b ~ normal(0, 1); }";
        let found = faults(text, &[-1.0]);
        assert!(found.len() == 1 && found[0].starts_with("b is below its lower bound (m.stan:2:"), "{found:?}");
    }
}
