//! Is the gradient the derivative of the log density? Central differences with several step sizes answer at one point.
//!
//! This module sets the limits between right and wrong: rounding, curvature, kinks, neighbours
//! without a value, and log densities that are computed in fewer digits must accuse no right gradient.

use crate::{DensityError, Layout, Role, Transform};
use octopus_random::{Purpose, Stream};

/// A function that returns a log density and writes its gradient, as [`LogDensity::logp_grad`](crate::LogDensity::logp_grad).
pub type ValueAndGradient<'a> = dyn Fn(&[f64], &mut [f64]) -> Result<f64, DensityError> + 'a;

/// The directions in which the gradient is tried at a point: with no more coordinates than these each one is tried
/// alone, with more they are tried in groups.
pub const DIRECTIONS: usize = 8;
/// The first step along a direction, in units of each coordinate, and the number of steps: each is a quarter of the one
/// before.
const FIRST: f64 = 0.1;
const STEPS: usize = 12;
/// A slope that differs by no more than this share of itself agrees at once.
const CLOSE: f64 = 1e-6;
/// A slope is wrong only if it differs by more than this share of itself: what is nearer may be computed in fewer digits,
/// and does a sampler no harm.
const WRONG: f64 = 1e-4;
/// A slope is wrong only if it differs by this many times the error of the finite differences.
const CERTAIN: f64 = 10.0;
/// The rounding errors of two log densities, in units of the last place.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// The most coordinates that are named.
const NAMED: usize = 4;

/// A slope that is not the derivative of the log density.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongSlope {
    /// The coordinate.
    pub coordinate: usize,
    /// What the gradient has there.
    pub analytic: f64,
    /// The derivative by finite differences.
    pub numeric: f64,
    /// How far `numeric` may be from the derivative.
    pub error: f64,
}

impl WrongSlope {
    /// Returns what the two numbers suggest, as a sentence about the slope; there may be nothing to suggest.
    pub fn likely_reason(&self) -> Option<&'static str> {
        let Self { analytic, numeric, error, .. } = *self;
        let near = |a: f64, b: f64| (a - b).abs() <= 2.0 * error + 1e-3 * b.abs();
        if analytic == 0.0 {
            return Some("it is missing from the gradient");
        }
        if near(numeric, 0.0) {
            return Some("the log density does not depend on this coordinate");
        }
        if near(analytic, -numeric) {
            return Some("its sign is flipped");
        }
        if near(analytic, 2.0 * numeric) || near(2.0 * analytic, numeric) {
            return Some("a factor 2 is in one of them only");
        }
        let away = (analytic - numeric).abs();
        (near(away, 1.0)).then_some("the log-Jacobian of a logarithm, whose slope is 1, may be in one of them only")
    }
}

/// What finite differences say of a gradient at one point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GradientCheck {
    /// Slopes that are wrong; at most four are named.
    pub wrong: Vec<WrongSlope>,
    /// The number of directions that were tried.
    pub tried: usize,
    /// The number of directions in which finite differences cannot tell: neighbours have no value, or rounding hides the
    /// slope.
    pub unclear: usize,
    /// The largest difference of a slope that agrees, as a share of the slope.
    pub largest: f64,
}

/// Compares the gradient at `x` with central differences in [`DIRECTIONS`] directions: along each coordinate, or along
/// groups of them where there are more. Groups and signs differ with `turn`, so that several points try the coordinates
/// in other combinations. It takes two evaluations for each direction where gradients are right and the density is
/// smooth, or four; and no random number.
///
/// A right gradient is not accused: a slope is wrong only if the differences of several step sizes agree with each
/// other, and not with the slope, by much more than their own error.
///
/// ```
/// use octopus_density::check_gradient;
///
/// // A standard normal; the second slope has the wrong sign.
/// let logp_grad = |x: &[f64], gradient: &mut [f64]| {
///     gradient.copy_from_slice(&[-x[0], x[1]]);
///     Ok(-0.5 * (x[0] * x[0] + x[1] * x[1]))
/// };
/// let found = check_gradient(&logp_grad, &[0.3, 1.5], 0)?;
/// let [wrong] = &found.wrong[..] else { panic!("{found:?}") };
/// assert_eq!((wrong.coordinate, wrong.analytic), (1, 1.5));
/// assert!((wrong.numeric + 1.5).abs() < 1e-6);
/// assert_eq!(wrong.likely_reason(), Some("its sign is flipped"));
/// # Ok::<(), octopus_density::DensityError>(())
/// ```
///
/// # Errors
/// When the density has no value at `x`, or is broken.
pub fn check_gradient(logp_grad: &ValueAndGradient<'_>, x: &[f64], turn: u64) -> Result<GradientCheck, DensityError> {
    let mut gradient = vec![0.0; x.len()];
    let logp = logp_grad(x, &mut gradient)?;
    let mut check = GradientCheck::default();
    if !logp.is_finite() || gradient.iter().any(|slope| !slope.is_finite()) {
        return Ok(check);
    }
    // Where chains start, slopes are about 1 / width^2 of a coordinate, as for the sampler's first metric.
    let unit = |slope: f64| if slope == 0.0 { 1.0 } else { (1.0 / slope.abs()).sqrt().clamp(1e-8, 1e3) };
    let probe = Probe { logp_grad, x, logp, gradient: &gradient };
    let groups = DIRECTIONS.min(x.len());
    for group in 0..groups {
        let member = |&i: &usize| (i as u64 + turn * (i / groups) as u64) % groups as u64 == group as u64;
        let steps = |i: usize| (i, probe_sign(i, turn) * unit(gradient[i]));
        let along: Vec<(usize, f64)> = (0..x.len()).filter(member).map(steps).collect();
        check.tried += 1;
        match probe.judge(&along)? {
            Judged::Agrees(share) => check.largest = check.largest.max(share),
            Judged::Unclear => check.unclear += 1,
            Judged::Differs { .. } => {
                let before = check.wrong.len();
                probe.name(&along, &mut check.wrong)?;
                check.unclear += usize::from(check.wrong.len() == before);
            }
        }
    }
    Ok(check)
}

/// Returns the name of a coordinate by the parameter that it belongs to, e.g. `log(tau)` or `theta[3]`.
pub fn coordinate_name(layout: &Layout, coordinate: usize) -> String {
    let named = layout.variables.iter().find_map(|variable| match variable.role {
        Role::Parameter { offset, transform } if (offset..offset + variable.len()).contains(&coordinate) => {
            let name = variable.element_name(coordinate - offset);
            Some(if transform == Transform::Exp { format!("log({name})") } else { name })
        }
        _ => None,
    });
    named.unwrap_or_else(|| format!("coordinate {coordinate}"))
}

/// Returns 1 or -1, the sign with which coordinate `i` is moved at the `turn`-th point where a density is looked at.
pub fn probe_sign(i: usize, turn: u64) -> f64 {
    let stream = Stream::new(turn, 0, 0, Purpose::Probe);
    if stream.uniform_at(i as u64) < 0.5 { 1.0 } else { -1.0 }
}

/// What is known of the point.
struct Probe<'a> {
    logp_grad: &'a ValueAndGradient<'a>,
    x: &'a [f64],
    logp: f64,
    gradient: &'a [f64],
}

/// What the differences along a direction say.
enum Judged {
    /// The slope is right, to this share of itself.
    Agrees(f64),
    Unclear,
    /// The numeric slope less the analytic one, in units of the direction, and the error of the numeric one.
    Differs {
        by: f64,
        error: f64,
    },
}

/// Both neighbours at one distance.
struct Pair {
    /// The distance.
    step: f64,
    /// The numeric slope less the analytic one.
    off: f64,
    /// The one-sided slopes less the analytic one.
    sides: [f64; 2],
    /// What the two sides differ by: curvature, or the noise of the log density.
    bend: f64,
    /// Rounding of the three log densities.
    rounding: f64,
    /// What the neighbours' log densities differ by.
    change: f64,
    /// Whether that is nothing.
    flat: bool,
}

impl Probe<'_> {
    /// Looks both ways at the distance `step`; `None` where a neighbour has no value or cannot be told from the point.
    fn pair(&self, along: &[(usize, f64)], step: f64) -> Result<Option<Pair>, DensityError> {
        let mut expected = [0.0; 2];
        let mut value = |side: usize| {
            let mut at = self.x.to_vec();
            for &(i, unit) in along {
                at[i] += [1.0, -1.0][side] * step * unit;
                // What was added is not what was asked for, where numbers are coarse.
                let moved = at[i] - self.x[i];
                if moved.abs() < 0.5 * (step * unit).abs() || !moved.is_finite() {
                    return Ok(None);
                }
                expected[side] += self.gradient[i] * moved;
            }
            match (self.logp_grad)(&at, &mut vec![0.0; at.len()]) {
                Ok(logp) => Ok(Some(logp).filter(|logp| logp.is_finite())),
                Err(error) if error.is_recoverable() => Ok(None),
                Err(error) => Err(error),
            }
        };
        let (Some(up), Some(down)) = (value(0)?, value(1)?) else { return Ok(None) };
        let values = [up, down, self.logp];
        let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        // A log density that is computed in 24 bits has their rounding.
        let is_short = values.iter().all(|&value| f64::from(value as f32) == value);
        let digits = if is_short { f64::from(f32::EPSILON) / f64::EPSILON } else { 1.0 };
        let pair = Pair {
            step,
            off: ((up - down) - (expected[0] - expected[1])) / (2.0 * step),
            sides: [(up - self.logp - expected[0]) / step, (self.logp - down + expected[1]) / step],
            bend: ((up - self.logp) - (self.logp - down)).abs(),
            rounding: ROUNDING * digits * largest,
            change: (up - down).abs(),
            flat: up == down,
        };
        Ok(Some(pair).filter(|pair| pair.off.is_finite() && pair.bend.is_finite()))
    }

    /// Compares the slope along the coordinates `along`, each with its unit, with finite differences.
    fn judge(&self, along: &[(usize, f64)]) -> Result<Judged, DensityError> {
        let slope: f64 = along.iter().map(|&(i, unit)| (self.gradient[i] * unit).abs()).sum();
        let first = FIRST / (along.len() as f64).sqrt();
        let mut pairs: Vec<Pair> = Vec::new();
        for k in 0..STEPS {
            let Some(pair) = self.pair(along, first * 0.25_f64.powi(k as i32))? else { continue };
            // At smaller distances rounding would excuse a wrong slope that larger ones have shown.
            let rounding = if pairs.len() < 2 { pair.rounding / pair.step } else { 0.0 };
            // Richardson: the error of central differences falls by 16.
            let better = pairs.last().map_or(pair.off, |last| pair.off + (pair.off - last.off) / 15.0);
            let least = pair.off.abs().min(better.abs());
            if least <= CLOSE * slope + rounding {
                return Ok(Judged::Agrees(if slope > 0.0 { least / slope } else { 0.0 }));
            }
            pairs.push(pair);
        }
        Ok(verdict(&pairs, slope))
    }

    /// Finds the coordinates that are wrong in a direction that is.
    fn name(&self, along: &[(usize, f64)], wrong: &mut Vec<WrongSlope>) -> Result<(), DensityError> {
        if wrong.len() >= NAMED {
            return Ok(());
        }
        let Judged::Differs { by, error } = self.judge(along)? else { return Ok(()) };
        if let &[(coordinate, unit)] = along {
            let analytic = self.gradient[coordinate];
            let numeric = analytic + by / unit;
            if (by / unit).abs() > WRONG * analytic.abs().max(numeric.abs()) {
                wrong.push(WrongSlope { coordinate, analytic, numeric, error: (error / unit).abs() });
            }
            return Ok(());
        }
        let (left, right) = along.split_at(along.len() / 2);
        self.name(left, wrong)?;
        self.name(right, wrong)
    }
}

/// Judges a slope that no pair of neighbours agrees with.
fn verdict(pairs: &[Pair], slope: f64) -> Judged {
    // A log density of few digits stands still at small distances. That tells nothing, unless it does so everywhere, but
    // that it has noise: what it last changed by.
    let still = pairs.iter().all(|pair| pair.flat);
    let stops = pairs.iter().any(|pair| pair.flat) && !still;
    let pairs: Vec<&Pair> = pairs.iter().filter(|pair| still || !pair.flat).collect();
    let nearest = &pairs[pairs.len().saturating_sub(3)..];
    // At the smallest distances curvature is gone, and what is left of it is noise.
    let of_pair = |pair: &Pair| pair.bend.max(pair.rounding).max(if stops { pair.change } else { 0.0 });
    let noise = nearest.iter().map(|pair| of_pair(pair)).fold(0.0, f64::max);
    let error = |at: usize| (pairs[at].off - pairs[at - 1].off).abs() + CERTAIN * noise / pairs[at].step;
    let Some(best) = (1..pairs.len()).min_by(|&a, &b| error(a).total_cmp(&error(b))) else { return Judged::Unclear };
    let (off, error) = (pairs[best].off, error(best));
    let certain = off.abs() > CERTAIN * error + 0.1 * WRONG * slope;
    // At a kink the slope may be that of one side, however near.
    let both = |pair: &&Pair| pair.sides.iter().all(|side| side * off > 0.0 && side.abs() > 0.5 * off.abs());
    let both_sides = pairs[best..].iter().any(both);
    // No distance may speak for the slope, and the smaller ones differ by their noise only.
    let alone = pairs.iter().all(|pair| pair.off.abs() > 0.1 * off.abs());
    let steady = pairs[best..].iter().all(|pair| (pair.off - off).abs() <= CERTAIN * (error + noise / pair.step));
    if certain && both_sides && alone && steady { Judged::Differs { by: off, error } } else { Judged::Unclear }
}

#[cfg(test)]
mod tests;
