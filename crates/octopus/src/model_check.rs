//! Is a model sound? Its layout, values, gradient, coordinates and hierarchies, at draws from its prior.
//!
//! Which checks there are, and at how many points, is decided here. What cannot be seen at points, such as a log-Jacobian
//! that value and gradient both lack, a calibration sees.

mod budget;
mod hierarchies;

use budget::{CheckBudget, FEWEST};
use octopus_density::{
    Centering, DensityError, DrawAddress, GradientCheck, Hierarchy, LogDensity, Role, Transform, check_gradient,
    coordinate_name, log_jacobian, to_centered, to_non_centered,
};
use octopus_diag::{Check, CheckStatus, counted};
use octopus_models::Problem;
use octopus_random::{Purpose, Stream};
use octopus_report::significant;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// The points at which a model is checked, and the tries to find one.
const POINTS: usize = 64;
const TRIES: usize = 4 * POINTS;
/// Numbers that the points have together.
const MOST_NUMBERS: usize = 1 << 24;
/// Coordinates of a point that a message shows.
const SHOWN: usize = 8;
/// Where a model does not draw from its prior, points lie this far from its density's center, in its units.
const RADIUS: f64 = 2.0;
/// Log densities that are computed in two ways agree to this share of themselves.
const SAME: f64 = 1e-9;

/// The checks of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelCheck {
    /// The name of its density.
    pub model: String,
    /// The number of unconstrained coordinates.
    pub coordinates: usize,
    /// The number of points at which it was checked.
    pub points: usize,
    /// Whether the points are draws from its prior; others lie around the density's center.
    pub from_prior: bool,
    /// The checks, in an order that a model's author mends them in.
    pub checks: Vec<Check>,
}

impl ModelCheck {
    /// Returns whether no check failed. Skipped checks do not count.
    pub fn good(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Fail)
    }
}

impl fmt::Display for ModelCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = if self.from_prior { "draws from its prior" } else { "places around its center" };
        writeln!(f, "{}: {} at {}, {from}", self.model, counted(self.coordinates, "coordinate"), self.points)?;
        for check in &self.checks {
            writeln!(f, "{check}")?;
            if let Some(advice) = &check.advice {
                writeln!(f, "-> {advice}")?;
            }
        }
        let warns = self.checks.iter().any(|check| check.status == CheckStatus::Warn);
        f.write_str(match (self.good(), warns) {
            (true, false) => "good: nothing is wrong at these points",
            (true, true) => "good, but for what is warned of",
            (false, _) => "BAD: the model is not sound",
        })
    }
}

/// Returns the bytes of memory that a check takes at least beside the model: its points, also in other coordinates, and the
/// gradients at one of them.
pub fn check_bytes(density: &dyn LogDensity) -> u64 {
    const OF_ONE: usize = 16;
    let vector = 8 * density.dim() as u64;
    vector.saturating_mul((2 * most_points(density) + OF_ONE) as u64)
}

/// Checks a model with its data at draws from its prior, or around its density's center where it does not draw from its
/// prior. The points depend on `seed` alone. Each check does as many operations as take about two seconds at the most, so
/// that large models are checked at fewer points. It counts them by [`LogDensity::operations`] and looks at no clock: a
/// model has the same report each time.
pub fn check_model(problem: &dyn Problem, seed: u64) -> ModelCheck {
    let density = problem.density();
    let from_prior = problem.simulator().is_some();
    let mut checks = vec![layout(density)];
    if checks[0].status == CheckStatus::Fail {
        checks.push(skipped("values", "the layout says where parameters are, and must be right first".to_owned()));
        return finish(density, 0, from_prior, checks);
    }
    let (values, points) = values(density, &|number| point(problem, seed, number));
    checks.push(values);
    if points.is_empty() {
        // Nothing else can be asked.
        return finish(density, 0, from_prior, checks);
    }
    let blocks = hierarchies::declared(density);
    let gradient = gradient(density, &points);
    let (sound, right) = (blocks.status != CheckStatus::Fail, gradient.status != CheckStatus::Fail);
    checks.extend([expansion(density, &points), gradient, blocks]);
    if sound && !density.hierarchies().is_empty() {
        checks.push(hierarchies::effects(density, &points));
        checks.push(if right {
            coordinates(density, &points)
        } else {
            skipped("coordinates", "other coordinates take the gradient, which must be right first".to_owned())
        });
        checks.push(hierarchies::information(density, &points));
    }
    checks.extend(density.effects().map(|effects| hierarchies::walked(density, effects, &points)));
    checks.push(likelihood(density, &points));
    finish(density, points.len(), from_prior, checks)
}

fn finish(density: &dyn LogDensity, points: usize, from_prior: bool, checks: Vec<Check>) -> ModelCheck {
    ModelCheck { model: density.name().to_owned(), coordinates: density.dim(), points, from_prior, checks }
}

fn point(problem: &dyn Problem, seed: u64, number: usize) -> Vec<f64> {
    let mut random = Stream::new(seed, 0, number as u32, Purpose::Prior);
    if let Some(simulator) = problem.simulator() {
        return simulator.draw_parameters(&mut random);
    }
    let density = problem.density();
    let center = density.center().unwrap_or_else(|| vec![0.0; density.dim()]);
    let scale = density.init_scale().unwrap_or_else(|| vec![1.0; density.dim()]);
    center.iter().zip(scale).map(|(center, scale)| center + scale * RADIUS * (2.0 * random.uniform() - 1.0)).collect()
}

fn most_points(density: &dyn LogDensity) -> usize {
    (MOST_NUMBERS / density.dim().max(1)).clamp(FEWEST, POINTS)
}

/// A point, or how it begins.
fn shown(x: &[f64]) -> String {
    match x.len().saturating_sub(SHOWN) {
        0 => format!("{x:?}"),
        more => format!("{:?} and {more} more", &x[..SHOWN]),
    }
}

fn passed(id: &'static str, message: String) -> Check {
    Check { id, status: CheckStatus::Pass, observed: None, threshold: None, message, advice: None }
}

fn skipped(id: &'static str, message: String) -> Check {
    Check { status: CheckStatus::Skipped, ..passed(id, message) }
}

fn failed(id: &'static str, message: String, advice: &str) -> Check {
    Check { status: CheckStatus::Fail, advice: Some(advice.to_owned()), ..passed(id, message) }
}

/// Points at which something is NaN.
#[derive(Default)]
struct NanPoints {
    count: usize,
    /// What is NaN at the first of them.
    first: Option<String>,
}

impl NanPoints {
    fn add(&mut self, what: String) {
        self.count += 1;
        self.first.get_or_insert(what);
    }

    /// Judges them: draws from a prior may be absurd, but most are not. `None` where there are none.
    fn judge(&self, id: &'static str, points: usize, advice: &str) -> Option<Check> {
        let message = format!("at {} of {}, the first: {}", self.count, counted(points, "point"), self.first.as_ref()?);
        let found = failed(id, message, advice);
        Some(if 2 * self.count > points { found } else { Check { status: CheckStatus::Warn, ..found } })
    }
}

/// Parameters occupy each coordinate once, and names differ.
fn layout(density: &dyn LogDensity) -> Check {
    let (id, layout) = ("layout", density.layout());
    let advice = "mend the Layout that the density returns, or its dim()";
    let mut names = BTreeSet::new();
    let mut used = vec![0_usize; density.dim()];
    for variable in &layout.variables {
        let name = &variable.name;
        if !names.insert(name) {
            return failed(id, format!("two variables are called `{name}`; names must differ"), advice);
        }
        let Role::Parameter { offset, .. } = variable.role else { continue };
        let Some(own) = used.get_mut(offset..offset + variable.len()) else {
            let (last, dim) = (offset + variable.len(), density.dim());
            let message = format!("`{name}` has the coordinates {offset} to {last} (excluded), and there are {dim}");
            return failed(id, message, advice);
        };
        own.iter_mut().for_each(|count| *count += 1);
    }
    if let Err(error) = octopus_runs::check_names(layout) {
        return failed(id, error.to_string(), "give it another name");
    }
    let names_none = layout.variables.iter().all(|variable| variable.role == Role::Derived);
    if names_none && density.dim() > 0 {
        let count = counted(layout.variables.len(), "variable");
        return passed(id, format!("{count} with distinct names; no variable is said to be a coordinate"));
    }
    if let Some(at) = used.iter().position(|&count| count != 1) {
        let of = if used[at] == 0 { "no parameter has" } else { "several parameters have" };
        return failed(id, format!("{of} coordinate {at}; each coordinate is one parameter's"), advice);
    }
    let (variables, coordinates) = (counted(layout.variables.len(), "variable"), counted(density.dim(), "coordinate"));
    passed(id, format!("{variables} with distinct names; each of {coordinates} is one parameter's"))
}

/// The log density and its gradient are finite at most points, and the same each time. Returns the points where they are.
fn values(density: &dyn LogDensity, draw: &dyn Fn(usize) -> Vec<f64>) -> (Check, Vec<Vec<f64>>) {
    let (id, dim) = ("values", density.dim());
    let (mut points, mut without) = (Vec::new(), 0);
    let budget = CheckBudget::new(density);
    for (_, x) in budget.items((0..TRIES).map(draw)) {
        if points.len() == most_points(density) {
            break;
        }
        budget.count(2, 1);
        if x.len() != dim {
            let message =
                format!("a draw from the prior has {} coordinates, and the density's dim() is {dim}", x.len());
            return (failed(id, message, "mend draw_parameters() of the simulator"), Vec::new());
        }
        let [mut gradient, mut again] = [vec![f64::NAN; dim], vec![f64::NAN; dim]];
        match (density.logp_grad(&x, &mut gradient), density.logp_grad(&x, &mut again)) {
            (Err(DensityError::Broken(why)), _) | (_, Err(DensityError::Broken(why))) => {
                let message = format!("the density failed at a point: {why}");
                return (failed(id, message, "return NotFinite where only the point is bad"), Vec::new());
            }
            (Err(_), _) | (_, Err(_)) => without += 1,
            (Ok(first), Ok(second)) => {
                let bits = |logp: f64, gradient: &[f64]| {
                    std::iter::once(logp).chain(gradient.iter().copied()).map(f64::to_bits).collect::<Vec<_>>()
                };
                let bad = gradient.iter().position(|slope| !slope.is_finite());
                let advice = "where there is no value, return DensityError::NotFinite instead of Ok";
                if !first.is_finite() {
                    return (failed(id, format!("the log density is {first} at {}", shown(&x)), advice), Vec::new());
                }
                if let Some(at) = bad {
                    let name = coordinate_name(density.layout(), at);
                    let (slope, at) = (gradient[at], shown(&x));
                    let message = format!("the log density is {first}, and its slope by {name} is {slope}, at {at}");
                    return (failed(id, message, advice), Vec::new());
                }
                if bits(first, &gradient) != bits(second, &again) {
                    let message = format!(
                        "asked twice at one point the log density is {first} and {second}, or its \
                                           gradient differs in bits"
                    );
                    let advice = "the same position must give the same bits: add numbers in one order, and draw none";
                    return (failed(id, message, advice), Vec::new());
                }
                points.push(x);
            }
        }
    }
    let asked = points.len() + without;
    let message =
        format!("log density and gradient are finite, and the same twice, at {} of {asked} points", points.len());
    let check = if points.len() < without.max(1) {
        failed(id, format!("{message}; at least half is expected"), "check the data, the priors and the transforms")
    } else {
        passed(id, message)
    };
    (check, points)
}

/// Variables are finite, and parameters are the coordinates through their transforms.
fn expansion(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let (id, layout) = ("variables", density.layout());
    let advice = "mend expand(), or the transform in the layout";
    let (budget, mut checked, mut nan) = (CheckBudget::new(density), 0, NanPoints::default());
    for (draw, x) in budget.items(points) {
        budget.count(0, 1);
        checked += 1;
        let mut found_nan = None;
        let mut out = vec![f64::NAN; layout.width()];
        let address = DrawAddress { seed: 0, chain: 0, draw: draw as u32 };
        if let Err(error) = density.expand_draw(x, address, &mut out) {
            return failed(id, error.to_string(), "let what is computed of each draw come to an end");
        }
        for (variable, range) in layout.ranges() {
            for (k, at) in range.enumerate() {
                let (name, found) = (|| variable.element_name(k), out[at]);
                let expected = match variable.role {
                    Role::Parameter { offset, transform: Transform::Identity } => x[offset + k],
                    Role::Parameter { offset, transform: Transform::Exp } => x[offset + k].exp(),
                    Role::Derived if !found.is_nan() => continue,
                    Role::Derived => {
                        found_nan.get_or_insert_with(|| format!("`{}` is NaN at {}", name(), shown(x)));
                        continue;
                    }
                };
                if (found - expected).abs() > SAME * expected.abs() || found.is_nan() {
                    let message = format!("expand writes {found} for `{}`; its coordinate says {expected}", name());
                    return failed(id, message, advice);
                }
            }
        }
        found_nan.into_iter().for_each(|what| nan.add(what));
    }
    let advice = "look at what it is computed from there: in Rust expand(), in Stan its statements";
    if let Some(found) = nan.judge(id, checked, advice) {
        return found;
    }
    passed(id, format!("parameters are their coordinates, transformed, and no variable is NaN, at {checked} points"))
}

/// The gradient is the derivative of the log density.
fn gradient(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let budget = CheckBudget::new(density);
    let of_density = budget.counted(|x, gradient| density.logp_grad(x, gradient));
    let found = |turn: usize, x: &Vec<f64>| check_gradient(&of_density, x, turn as u64);
    slopes("gradient", density, (points, &budget), "logp_grad", &found)
}

/// Compares a gradient with finite differences at the point of a number.
type AtPoint<'a> = dyn Fn(usize, &Vec<f64>) -> Result<GradientCheck, DensityError> + 'a;

/// Judges gradients that `check` compares with finite differences at each point.
fn slopes(
    id: &'static str,
    density: &dyn LogDensity,
    (points, budget): (&[Vec<f64>], &CheckBudget),
    function: &str,
    check: &AtPoint<'_>,
) -> Check {
    let (mut tried, mut unclear, mut largest) = (0, 0, 0.0_f64);
    for (turn, x) in budget.items(points) {
        let Ok(found) = check(turn, x) else { continue };
        if let Some(wrong) = found.wrong.first() {
            let name = coordinate_name(density.layout(), wrong.coordinate);
            if density.is_approximate() {
                let (found, numeric) = (significant(wrong.analytic, 5), significant(wrong.numeric, 5));
                let message = format!(
                    "the slope by {name} is {found}, and finite differences give {numeric}: they see errors of the \
                     differential equations' solution too, and tell with tighter tolerances"
                );
                return skipped(id, message);
            }
            let reason = wrong.likely_reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
            let message = format!(
                "the slope by {name} (coordinate {}) is {}; expected {} +- {:.1e} by finite differences{reason}",
                wrong.coordinate, wrong.analytic, wrong.numeric, wrong.error
            );
            let advice = format!("correct the derivative by {name} in {function}, or the log density there");
            return Check {
                observed: Some(wrong.analytic),
                threshold: Some(wrong.numeric),
                ..failed(id, message, &advice)
            };
        }
        (tried, unclear, largest) = (tried + found.tried, unclear + found.unclear, largest.max(found.largest));
    }
    let clear = tried - unclear;
    if clear == 0 {
        return skipped(
            id,
            match budget.is_left() {
                true => format!("finite differences can tell in none of {tried} directions"),
                false => "a gradient takes too many operations to compare it with differences: fewer data let them"
                    .to_owned(),
            },
        );
    }
    let largest = significant(largest, 2);
    passed(
        id,
        format!("{clear} of {tried} slopes are those of finite differences, the others cannot be told; to {largest}"),
    )
}

/// The value in other coordinates is that of the density and the Jacobian, and the gradient there is right.
fn coordinates(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let id = "coordinates";
    let blocks = density.hierarchies();
    for centering in [Centering::Centered, Centering::Standardised] {
        let all = vec![centering; blocks.len()];
        let moved: Vec<Vec<f64>> = points.iter().map(|x| in_coordinates(blocks, &all, x)).collect();
        let mut gradient = vec![0.0; density.dim()];
        for at in moved.iter().filter(|at| at.iter().all(|x| x.is_finite())) {
            let mut natural = at.clone();
            to_non_centered(blocks, &all, &mut natural);
            let (Ok(own), Ok(found)) = (
                density.logp_grad(&natural, &mut gradient.clone()),
                density.logp_grad_centered(&all, at, &mut gradient),
            ) else {
                continue;
            };
            let expected = own + log_jacobian(blocks, &all, at);
            // What cancels in the sum is as large as its terms.
            let size = own.abs().max(expected.abs()).max(1.0);
            if (found - expected).abs() > 1e3 * SAME * size {
                let message = format!("in {centering:?} coordinates the log density is {found}; expected {expected}");
                return failed(
                    id,
                    message,
                    "logp_grad_centered is wrong: leave it out, and the chain rule does the same",
                );
            }
        }
        let budget = CheckBudget::new(density);
        let of_density = budget.counted(|x, gradient| density.logp_grad_centered(&all, x, gradient));
        let found = |turn: usize, x: &Vec<f64>| check_gradient(&of_density, x, turn as u64);
        let check = slopes(id, density, (&moved, &budget), "logp_grad_centered", &found);
        if check.status == CheckStatus::Fail {
            let message = format!("in {centering:?} coordinates {}", check.message);
            return Check { message, ..check };
        }
    }
    passed(id, "centered and standardised coordinates have the same log density, Jacobian included".to_owned())
}

fn in_coordinates(blocks: &[Hierarchy], centerings: &[Centering], x: &[f64]) -> Vec<f64> {
    let mut at = x.to_vec();
    to_centered(blocks, centerings, &mut at);
    at
}

/// The pointwise log likelihood is finite.
fn likelihood(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let (id, count) = ("likelihood", density.observations());
    if count == 0 || !density.has_log_likelihood() {
        return skipped(
            id,
            "the density tells no pointwise log likelihood: LOO and predictive checks do without".to_owned(),
        );
    }
    let (budget, mut checked, mut nan) = (CheckBudget::new(density), 0, NanPoints::default());
    for (_, x) in budget.items(points) {
        budget.count(0, 1);
        checked += 1;
        let mut out = vec![f64::NAN; count];
        density.log_likelihood(x, &mut out);
        if let Some(at) = out.iter().position(|value| value.is_nan()) {
            nan.add(format!("the log likelihood of observation {at} is NaN, or was not written, at {}", shown(x)));
        }
    }
    let advice = "look at what it is computed from there: in Rust log_likelihood(), in Stan the sampling statements";
    if let Some(found) = nan.judge(id, checked, advice) {
        return found;
    }
    passed(id, format!("the log likelihoods of {} are numbers at {checked} points", counted(count, "observation")))
}

#[cfg(test)]
mod tests;
