//! Values of parameters, as files of starting values have them, become positions.

use crate::data::Data;
use crate::declared::value_of;
use crate::error::BindError;
use crate::interface::DeclaredVariable;
use crate::interpreter::{Interpreter, Run, Stop};
use crate::stan_density::{StanDensity, stream_at};
use crate::unconstrain::unconstrained;
use crate::value::Tensor;
use octopus_density::LogDensity;
use octopus_stan::{Declaration, ProgramBlock, Span, Statement, StatementKind};
use std::ops::Range;
use std::slice;

/// A position that was made of values of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StartingPoint {
    /// The unconstrained coordinates, the density's own.
    pub position: Vec<f64>,
    /// The parameters that had no value.
    pub missing: Vec<String>,
}

/// A pass over the parameters.
struct Pass {
    position: Vec<f64>,
    /// The coordinates of parameters without a value.
    free: Vec<Range<usize>>,
}

impl StanDensity {
    /// Returns the position of these values of parameters, which are as the program has them: constrained, with the sizes of
    /// their declarations. A parameter without a value keeps its coordinates in `otherwise`; the length of a unit vector's
    /// coordinates, which its value does not tell, is addressed by them.
    ///
    /// # Errors
    /// [`BindError::Data`] where the program has no such parameter, or a value has other sizes or is outside of its
    /// constraint or on its edge: a line for each, which names source, element, value and declaration.
    pub fn position_of(&self, values: &Data, otherwise: &[f64]) -> Result<StartingPoint, BindError> {
        let program = &self.normalised.program;
        let declared = DeclaredVariable::in_block(program, ProgramBlock::Parameters);
        let names: Vec<String> = declared.into_iter().map(|parameter| parameter.name).collect();
        let unknown = values.names().filter(|name| !names.iter().any(|own| own == name));
        let unknown: Vec<String> =
            unknown.map(|name| self.not_a_parameter(values.source_of(name), name, &names)).collect();
        if !unknown.is_empty() {
            return Err(BindError::Data(unknown));
        }
        let mut position = otherwise.to_vec();
        // Bounds, locations and scales may depend on other parameters, which may depend on others.
        for _ in 0..=names.len() {
            let mut problems = Vec::new();
            let pass = self.pass(values, &position, &mut problems).map_err(|stop| {
                let (span, message) = match stop {
                    Stop::Wrong(span, message) => (span, message),
                    Stop::Lanes => (Span::default(), "sizes differ over the passes of a loop".to_owned()),
                };
                BindError::Refused(vec![program.diagnostic(span, message, None)])
            })?;
            if !problems.is_empty() {
                return Err(BindError::Data(problems));
            }
            let Pass { position: mut next, free } = pass;
            for range in free {
                next[range.clone()].copy_from_slice(&otherwise[range]);
            }
            if next == position {
                break;
            }
            position = next;
        }
        let missing = names.into_iter().filter(|name| values.get(name).is_none()).collect();
        Ok(StartingPoint { position, missing })
    }

    fn not_a_parameter(&self, source: &str, name: &str, parameters: &[String]) -> String {
        let program = &self.normalised.program;
        let is_own = |block| DeclaredVariable::in_block(program, block).iter().any(|variable| variable.name == name);
        if [ProgramBlock::TransformedParameters, ProgramBlock::GeneratedQuantities].into_iter().any(is_own) {
            return format!("{source}: `{name}` is computed by the program, and no parameter: leave it out");
        }
        format!("{source}: the program has no parameter `{name}`: it has {}", parameters.join(", "))
    }

    /// Gives parameters their values, or where these lack those at a position, and returns the position that follows.
    fn pass(&self, values: &Data, position: &[f64], problems: &mut Vec<String>) -> Run<Pass> {
        let normalised = &self.normalised;
        let (known, mut random) = (self.known(position), stream_at(position));
        let mut me = Interpreter::on_draw(&normalised.program, normalised.values.clone(), stream_at(position));
        (me.uses_lanes, me.budget) = (normalised.uses_lanes, normalised.limits);
        let mut written = self.effects().map_or(position.to_vec(), |effects| effects.as_written(position));
        let (mut number, mut coordinate, mut free) = (0, 0, Vec::new());
        for (statement, declaration) in parameters(&normalised.program.parameters) {
            let variable = &normalised.program.variables[declaration.variable.0];
            let dims = me.sizes_of(declaration)?;
            let count: usize = dims.iter().product();
            let at_position = known[number..number + count].to_vec();
            number += count;
            let given = values.get(&variable.name);
            me.values[declaration.variable.0] = match given {
                Some(value) => {
                    let source = values.source_of(&variable.name);
                    let found = value_of(&mut me, declaration, statement, (source, value), true, problems)?;
                    // What follows may need it.
                    if found.is_none() {
                        return Ok(Pass { position: written, free });
                    }
                    found
                }
                None => Some(Tensor::data(variable.ty, dims, at_position).into()),
            };
            let own = unconstrained(&mut me, declaration, slice::from_mut(&mut random))?.concat();
            let range = coordinate..coordinate + own.len();
            coordinate = range.end;
            if given.is_none() {
                free.push(range);
                continue;
            }
            if own.iter().any(|x| !x.is_finite()) {
                problems.push(format!(
                    "{}: `{}` is on the edge of what its declaration allows, where no chain can start; it is declared {}",
                    values.source_of(&variable.name),
                    variable.name,
                    DeclaredVariable::of(&normalised.program, declaration).text()
                ));
            }
            written[range].copy_from_slice(&own);
        }
        Ok(Pass { position: self.effects().map_or(written.clone(), |effects| effects.natural_of(&written)), free })
    }
}

fn parameters(statements: &[Statement]) -> impl Iterator<Item = (&Statement, &Declaration)> {
    statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Declare(declaration) => Some((statement, declaration)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::BoundModel;
    use octopus_stan::StanProgram;

    const TEXT: &str = "data { int J; vector[J] y; } parameters { real mu; real<lower=0> tau; vector[J] theta;
            real<lower=mu, upper=mu + 2> b; simplex[3] p; matrix<lower=1>[2, 3] m; cov_matrix[2] s; }
        transformed parameters { real t2 = tau ^ 2; }
        model { mu ~ normal(0, 5); tau ~ normal(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, 1); }";

    fn density() -> StanDensity {
        let program = StanProgram::parse("m.stan", TEXT).unwrap();
        let data = Data::new("data").with_int("J", 2).with_reals("y", &[1.0, 3.0]);
        BoundModel::new(&program, &data).unwrap().density("m").unwrap()
    }

    fn at(text: &str) -> Result<StartingPoint, BindError> {
        let density = density();
        let otherwise: Vec<f64> = (0..density.dim()).map(|k| (k as f64 + 0.5).sin()).collect();
        density.position_of(&Data::json("starts.json", text).unwrap(), &otherwise)
    }

    /// What the density says of the position is what was given; `theta` is walked in non-centered, and `b` is bounded by
    /// another parameter.
    #[test]
    fn values_come_back_from_their_position() {
        let all = r#"{"mu": 1.5, "tau": 0.25, "theta": [1, 2.5], "b": 2.75, "p": [0.2, 0.5, 0.3],
            "m": [[1.5, 2, 3], [4, 5, 6]], "s": [[2, 0.5], [0.5, 1]]}"#;
        let StartingPoint { position, missing } = at(all).unwrap();
        assert!(missing.is_empty());
        let expected =
            [1.5, 0.25, 1.0, 2.5, 2.75, 0.2, 0.5, 0.3, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0, 0.5, 0.5, 1.0, 0.0625];
        for (found, expected) in density().known(&position).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
        assert!((position[2] - (1.0 - 1.5) / 0.25).abs() < 1e-12, "theta is non-centered: {}", position[2]);
    }

    #[test]
    fn parameters_without_a_value_keep_their_coordinates() {
        let density = density();
        let otherwise: Vec<f64> = (0..density.dim()).map(|k| (k as f64 + 0.5).sin()).collect();
        let StartingPoint { position, missing } = at(r#"{"tau": 4, "b": 1.5}"#).unwrap();
        assert_eq!(missing, ["mu", "theta", "p", "m", "s"]);
        for (k, (found, other)) in position.iter().zip(&otherwise).enumerate() {
            assert_eq!(found == other, ![1, 4].contains(&k), "{k}");
        }
        let known = density.known(&position);
        assert!((known[1] - 4.0).abs() < 1e-12 && (known[4] - 1.5).abs() < 1e-12);
        // The effects stand as far from where they are expected, in units of their scale.
        assert!((known[2] - (known[0] + 4.0 * otherwise[2])).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_element() {
        for (text, words) in [
            (r#"{"x": 1}"#, &["starts.json: the program has no parameter `x`", "mu, tau, theta"][..]),
            (r#"{"t2": 1}"#, &["`t2` is computed by the program"]),
            (r#"{"tau": -1}"#, &["`tau` is -1, but must be > 0", "real<lower=0>", "m.stan:1:"]),
            (r#"{"tau": 0}"#, &["`tau` is 0, but must be > 0"]),
            (r#"{"mu": 1, "b": 3}"#, &["`b` is 3, but must be < 3"]),
            (r#"{"theta": [1, 2, 3]}"#, &["`theta` has sizes [3], but [2] are needed"]),
            (r#"{"theta": [1, "NaN"]}"#, &["`theta[2]` is NaN"]),
            (r#"{"m": [[1.5, 2, 3], [4, 0.5, 6]]}"#, &["`m[2,2]` is 0.5, but must be > 1"]),
            (r#"{"p": [0.2, 0.5, 0.4]}"#, &["`p[1]` begins a vector that is no simplex: the sum is 1.1"]),
            (r#"{"p": [0, 0.5, 0.5]}"#, &["`p` is on the edge", "simplex[3]"]),
            (r#"{"s": [[1, 2], [2, 1]]}"#, &["`s[1,1]` begins a matrix that is not positive definite"]),
        ] {
            let error = at(text).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }
}
