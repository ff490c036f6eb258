//! Are hierarchies what they are declared to be? That is `theta_j = location + scale z_j` with `z_j ~ N(0, 1)`, and
//! data that measure `theta_j` as the information says.

use super::{CheckBudget, failed, passed, skipped};
use octopus_density::{DensityEffects, EffectCoordinates, Hierarchy, LogDensity, check_gradient, coordinate_name};
use octopus_diag::{Check, counted};
use octopus_report::significant;

/// What the slopes by location and scale leave unexplained, as a share of their terms, is rounding up to here.
const UNEXPLAINED: f64 = 1e-7;
/// Information may differ from the likelihood's curvature by this factor where data are not normal.
const FACTOR: f64 = 4.0;
/// Measured effects may lie this far from where the likelihood is greatest, in units of their standard errors.
const AWAY: f64 = 2.0;

/// Coordinates are in range, and each belongs to one block.
pub(super) fn declared(density: &dyn LogDensity) -> Check {
    let (id, blocks, dim) = ("hierarchies", density.hierarchies(), density.dim());
    if let Some(effects) = density.effects() {
        let found: Vec<String> = effects.blocks().iter().map(ToString::to_string).collect();
        return passed(id, format!("found: {}", found.join("; ")));
    }
    let advice = "mend the Hierarchy that the density returns";
    if blocks.is_empty() {
        let message = "no hierarchy is declared: effects of groups are sampled as the model writes them (in Rust, \
                       LogDensity::hierarchies tells of them)";
        return skipped(id, message.to_owned());
    }
    let mut owner = vec![None; dim];
    for (number, Hierarchy { location, log_scale, z, information }) in blocks.iter().enumerate() {
        if *location >= dim || *log_scale >= dim || z.end > dim || z.is_empty() {
            let message = format!(
                "block {number} has location {location}, log_scale {log_scale} and z {z:?}; coordinates go from 0 to {dim} \
                 (excluded), and z is not empty"
            );
            return failed(id, message, advice);
        }
        let noise = information.as_ref().and_then(|information| information.log_noise());
        if let Some(noise) = noise.filter(|&noise| noise >= dim) {
            return failed(id, format!("the noise of block {number} is coordinate {noise} of {dim}"), advice);
        }
        for at in [*location, *log_scale].into_iter().chain(z.clone()).chain(noise) {
            if let Some(other) = owner[at].replace(number) {
                let name = coordinate_name(density.layout(), at);
                let message = format!("{name} has two places in the blocks {other} and {number}; it may have one");
                return failed(id, message, advice);
            }
        }
        let given = information.as_ref().map(|information| information.mean().len());
        if let Some(given) = given.filter(|&given| given != z.len()) {
            let message = format!("block {number} has information about {given} effects, and {} are expected", z.len());
            return failed(id, message, advice);
        }
    }
    let effects = blocks.iter().map(|block| block.z.len()).sum();
    let informed = blocks.iter().filter(|block| block.is_informed()).count();
    let blocks = counted(blocks.len(), "block");
    passed(id, format!("{blocks} of {}; {informed} with information about them", counted(effects, "effect")))
}

/// In coordinates that warm-up might learn, the value is that of the density and the Jacobian, the gradient is right, and the
/// way there is that back.
pub(super) fn walked(density: &dyn LogDensity, effects: &dyn DensityEffects, points: &[Vec<f64>]) -> Check {
    let id = "coordinates";
    let count = effects.blocks().iter().map(|block| block.coordinates.len()).sum();
    let mut own = EffectCoordinates { links: vec![1.0; count], ..EffectCoordinates::natural(count) };
    own.tops.iter_mut().enumerate().for_each(|(j, top)| *top = (j as f64).sin());
    own.precisions.iter_mut().enumerate().for_each(|(j, precision)| *precision = (j as f64).cos().exp());
    let advice = "this is a fault of the program's rewriting: run with --parameterization as-written, and tell us";
    let budget = CheckBudget::new(density);
    let walked = budget.counted(|x, gradient| effects.logp_grad_in(&own, x, gradient));
    for (turn, x) in budget.items(points) {
        budget.count(2, 0);
        let mut natural = x.clone();
        let jacobian = effects.make_natural(&own, &mut natural);
        let mut gradient = vec![0.0; x.len()];
        let (Ok(found), Ok(expected)) =
            (effects.logp_grad_in(&own, x, &mut gradient), density.logp_grad(&natural, &mut gradient.clone()))
        else {
            continue;
        };
        effects.take_natural(&own, &mut natural);
        let expected = expected + jacobian;
        let away = natural.iter().zip(x).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
        if (found - expected).abs() > UNEXPLAINED * (1.0 + found.abs()) || away > UNEXPLAINED {
            let message = format!("in learned coordinates the log density is {found}; expected {expected}");
            return failed(id, message, advice);
        }
        if let Ok(check) = check_gradient(&walked, x, turn as u64)
            && let Some(wrong) = check.wrong.first()
        {
            return failed(id, format!("in learned coordinates the slope by {} is wrong", wrong.coordinate), advice);
        }
    }
    passed(id, "learned coordinates have the same log density, Jacobian included".to_owned())
}

/// The slopes of a block at a point.
struct BlockSlopes {
    /// What is left of the slopes by location and scale without the effects; other effects must not change it.
    rest: [f64; 2],
    /// How large the terms are of which this is a sum.
    size: [f64; 2],
}

fn block_slopes(density: &dyn LogDensity, block: &Hierarchy, x: &[f64]) -> Option<BlockSlopes> {
    let mut gradient = vec![0.0; x.len()];
    density.logp_grad(x, &mut gradient).ok()?;
    let scale = x[block.log_scale].exp();
    let mut rest = [gradient[block.location], gradient[block.log_scale]];
    let mut size = rest.map(f64::abs);
    for i in block.z.clone() {
        // The slope of the likelihood by theta is pull / scale.
        let pull = gradient[i] + x[i];
        rest[0] -= pull / scale;
        rest[1] -= x[i] * pull;
        size[0] += (gradient[i].abs() + x[i].abs()) / scale;
        size[1] += (gradient[i].abs() + x[i].abs()) * x[i].abs();
    }
    Some(BlockSlopes { rest, size })
}

/// With scalars as they are, the slopes by location and scale follow from those by the effects.
pub(super) fn effects(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let id = "effects";
    let mut compared = 0;
    for (number, block) in density.hierarchies().iter().enumerate() {
        for (x, other) in points.iter().zip(points.iter().cycle().skip(1)) {
            let mut moved = x.clone();
            moved[block.z.clone()].copy_from_slice(&other[block.z.clone()]);
            let [Some(one), Some(two)] = [x, &moved].map(|x| block_slopes(density, block, x)) else { continue };
            for (k, at) in [block.location, block.log_scale].into_iter().enumerate() {
                let away = (one.rest[k] - two.rest[k]).abs();
                if away > UNEXPLAINED * (one.size[k] + two.size[k]) {
                    let name = coordinate_name(density.layout(), at);
                    let message = format!(
                        "block {number} is not theta = location + scale z with z ~ N(0, 1): without the effects' part the \
                         slope by {name} is {} and with other z {}; the same is expected",
                        significant(one.rest[k], 6),
                        significant(two.rest[k], 6)
                    );
                    let advice = "declare location, log_scale and z of effects that the density has in this form only, or \
                                  mend their prior";
                    return failed(id, message, advice);
                }
            }
            compared += 1;
        }
    }
    if compared == 0 {
        return skipped(id, "the density has no value where effects are exchanged".to_owned());
    }
    passed(id, format!("slopes by locations and scales follow from theta = location + scale z, at {compared} points"))
}

/// Where the information says that an effect lies, the likelihood is greatest, and as wide as it says.
pub(super) fn information(density: &dyn LogDensity, points: &[Vec<f64>]) -> Check {
    let id = "information";
    let advice = "mean, precision, origin and noise of Information say how the data measure theta (docs/models.md)";
    let informed = density.hierarchies().iter().filter(|block| block.is_informed());
    let (mut effects, mut least, mut most) = (0, f64::INFINITY, 0.0_f64);
    for block in informed {
        // Scales near 0 leave nothing of an effect but rounding.
        let mut order: Vec<&Vec<f64>> = points.iter().collect();
        order.sort_by(|a, b| a[block.log_scale].total_cmp(&b[block.log_scale]));
        let x = order[order.len() / 2];
        let Some(found) = curvatures(density, block, x) else { continue };
        for Curvature { effect, ratio, away } in found {
            let name = coordinate_name(density.layout(), block.z.start + effect);
            if !(1.0 / FACTOR..=FACTOR).contains(&ratio) {
                let message = format!(
                    "the likelihood's curvature at the effect of {name} is {} times its precision; {} to {FACTOR} is expected",
                    significant(ratio, 3),
                    1.0 / FACTOR
                );
                return Check { observed: Some(ratio), threshold: Some(1.0), ..failed(id, message, advice) };
            }
            if away.abs() > AWAY {
                let message = format!(
                    "the likelihood of the effect of {name} is greatest {} standard errors from its mean; at most {AWAY} is \
                     expected",
                    significant(away, 3)
                );
                return Check { observed: Some(away), threshold: Some(0.0), ..failed(id, message, advice) };
            }
            (effects, least, most) = (effects + 1, least.min(ratio), most.max(ratio));
        }
    }
    if effects == 0 {
        let message = "the density gives no information about effects: the sampler learns it in warm-up, or walks in \
                       non-centered coordinates where it has kernels";
        return skipped(id, message.to_owned());
    }
    let [least, most] = [least, most].map(|ratio| significant(ratio, 3));
    let about = counted(effects, "effect");
    passed(
        id,
        format!(
            "the likelihood's curvature is {least} to {most} times the precision of {about}; 0.25 to 4 is expected"
        ),
    )
}

/// What the likelihood says of an effect, beside the information.
struct Curvature {
    effect: usize,
    /// The curvature over the precision.
    ratio: f64,
    /// How far the likelihood's top is from the measured effect, in standard errors.
    away: f64,
}

/// Looks at the slopes a standard error below and above the measured effects; `None` where the density has none there.
fn curvatures(density: &dyn LogDensity, block: &Hierarchy, x: &[f64]) -> Option<Vec<Curvature>> {
    let information = block.information.as_ref()?;
    let noise = information.log_noise().map_or(1.0, |noise| x[noise].exp());
    let (location, scale) = (x[block.location], x[block.log_scale].exp());
    let measured: Vec<(f64, f64)> = information
        .mean()
        .iter()
        .zip(information.precision())
        .map(|(&mean, &p)| (information.origin() + mean, p))
        .collect();
    let pulls = |side: f64| {
        let mut at = x.to_vec();
        for (z, &(mean, precision)) in at[block.z.clone()].iter_mut().zip(&measured) {
            let width = if precision > 0.0 { noise / precision.sqrt() } else { 0.0 };
            *z = (mean + side * width - location) / scale;
        }
        let mut gradient = vec![0.0; at.len()];
        density.logp_grad(&at, &mut gradient).ok()?;
        Some(block.z.clone().map(|i| (gradient[i] + at[i]) / scale).collect::<Vec<f64>>())
    };
    let (below, above) = (pulls(-1.0)?, pulls(1.0)?);
    let one = |(effect, &(_, precision)): (usize, &(f64, f64))| {
        // A slope of 1 / width at a distance of one width.
        let width = noise / precision.sqrt();
        let fall = 0.5 * width * (below[effect] - above[effect]);
        let middle = 0.5 * width * (below[effect] + above[effect]);
        (precision > 0.0).then(|| Curvature { effect, ratio: fall, away: middle / fall })
    };
    Some(measured.iter().enumerate().filter_map(one).collect())
}
