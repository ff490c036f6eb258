//! The quantities that are ranked: parameters, what is derived from them, and what depends on the data.
//!
//! Three elements of each array are ranked; log likelihood and log density are ranked, too.

use octopus_density::{DensityError, Layout, LogDensity, Role, Transform};

/// Computes numbers from a position and its density. Ranks of parameters alone do not see an error that leaves the
/// prior as it is, such as a likelihood that is ignored; ranks of the log likelihood and the log density do (Modrak et
/// al. 2023).
#[derive(Clone, Debug)]
pub(crate) struct Quantities {
    pub(crate) names: Vec<String>,
    /// The places of the quantities in an expanded draw.
    places: Vec<usize>,
    width: usize,
}

/// Buffers for one evaluation.
#[derive(Debug)]
pub(crate) struct DensityScratch {
    expanded: Vec<f64>,
    pointwise: Vec<f64>,
    gradient: Vec<f64>,
}

/// The last two of all quantities.
const OF_DATA: [&str; 2] = ["log likelihood", "log density"];

/// Returns the first, the middle and the last of an array's elements: groups differ in size, and all others are like
/// them.
fn chosen(len: usize) -> Vec<usize> {
    let mut chosen = vec![0, len / 2, len.saturating_sub(1)];
    chosen.dedup();
    chosen.retain(|&i| i < len);
    chosen
}

impl Quantities {
    /// Takes all scalars, three elements of each array, the log likelihood, and the log density.
    pub(crate) fn of(layout: &Layout) -> Self {
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (variable, range) in layout.ranges() {
            for i in chosen(variable.len()) {
                names.push(variable.element_name(i));
                places.push(range.start + i);
            }
        }
        names.extend(OF_DATA.map(str::to_owned));
        Self { names, places, width: layout.width() }
    }

    pub(crate) fn scratch(&self, density: &dyn LogDensity) -> DensityScratch {
        DensityScratch {
            expanded: vec![0.0; self.width],
            pointwise: vec![0.0; density.observations()],
            gradient: vec![0.0; density.dim()],
        }
    }

    /// Evaluates all quantities at `position`.
    pub(crate) fn evaluate(
        &self,
        density: &dyn LogDensity,
        position: &[f64],
        scratch: &mut DensityScratch,
    ) -> Result<Vec<f64>, DensityError> {
        density.expand(position, &mut scratch.expanded);
        let mut values: Vec<f64> = self.places.iter().map(|&place| scratch.expanded[place]).collect();
        values.extend(of_data(density, position, scratch)?);
        Ok(values)
    }
}

fn of_data(density: &dyn LogDensity, position: &[f64], scratch: &mut DensityScratch) -> Result<[f64; 2], DensityError> {
    density.log_likelihood(position, &mut scratch.pointwise);
    let log_density = density.logp_grad(position, &mut scratch.gradient)?;
    Ok([scratch.pointwise.iter().sum(), log_density])
}

/// Computes the numbers whose means and squares are compared: unconstrained coordinates, which have moments where the
/// variables may have none (tau of eight schools has no mean), and nothing derived.
#[derive(Clone, Debug)]
pub(crate) struct Coordinates {
    pub(crate) names: Vec<String>,
    places: Vec<usize>,
}

impl Coordinates {
    pub(crate) fn of(layout: &Layout) -> Self {
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for variable in &layout.variables {
            let Role::Parameter { offset, transform } = variable.role else { continue };
            for i in chosen(variable.len()) {
                let name = variable.element_name(i);
                names.push(match transform {
                    Transform::Identity => name,
                    Transform::Exp => format!("log {name}"),
                });
                places.push(offset + i);
            }
        }
        names.extend(OF_DATA.map(str::to_owned));
        Self { names, places }
    }

    pub(crate) fn scratch(&self, density: &dyn LogDensity) -> DensityScratch {
        DensityScratch {
            expanded: Vec::new(),
            pointwise: vec![0.0; density.observations()],
            gradient: vec![0.0; density.dim()],
        }
    }

    /// Evaluates all coordinates, the log likelihood and the log density at `position`.
    pub(crate) fn evaluate(
        &self,
        density: &dyn LogDensity,
        position: &[f64],
        scratch: &mut DensityScratch,
    ) -> Result<Vec<f64>, DensityError> {
        let mut values: Vec<f64> = self.places.iter().map(|&place| position[place]).collect();
        values.extend(of_data(density, position, scratch)?);
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;

    #[test]
    fn quantities_are_the_numbers_of_their_names() {
        let model = EightSchools::rubin();
        let position = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 4.0, 2.0];
        let quantities = Quantities::of(model.layout());
        assert_eq!(
            quantities.names,
            [
                "mu",
                "tau",
                "theta[A]",
                "theta[E]",
                "theta[H]",
                "theta_trans[A]",
                "theta_trans[E]",
                "theta_trans[H]",
                "log likelihood",
                "log density"
            ]
        );
        let found = quantities.evaluate(&model, &position, &mut quantities.scratch(&model)).unwrap();
        let tau = 2f64.exp();
        let expected = [4.0, tau, 4.0 + 0.1 * tau, 4.0 + 0.5 * tau, 4.0 + 0.8 * tau, 0.1, 0.5, 0.8];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let coordinates = Coordinates::of(model.layout());
        assert_eq!(coordinates.names[..3], ["mu", "log tau", "theta_trans[A]"]);
        let same = coordinates.evaluate(&model, &position, &mut coordinates.scratch(&model)).unwrap();
        assert_eq!((same[1], &same[5..]), (2.0, &found[8..]));
    }

    #[test]
    fn few_elements_are_all_chosen() {
        assert_eq!(
            (chosen(1), chosen(2), chosen(3), chosen(100)),
            (vec![0], vec![0, 1], vec![0, 1, 2], vec![0, 50, 99])
        );
        assert!(chosen(0).is_empty());
    }
}
