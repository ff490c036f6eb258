//! The model of eight schools and its settings: effects with known standard errors around a common mean.

mod density;
mod exact;
mod problem;
mod simulator;

pub use density::EightSchools;
pub use exact::SchoolsPosterior;
pub use problem::EightSchoolsProblem;
pub use simulator::SchoolsSimulator;

use crate::{BuildError, CalibrationTest, Model, Problem, Simulated, settings};
use octopus_formats::observations::DataTable;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use toml::Table;

/// The model `eight-schools`, with Rubin's data, or with effects and standard errors of your own in the settings
/// `data.y` and `data.sigma`.
#[derive(Clone, Copy, Debug)]
pub struct EightSchoolsModel;

/// The settings of a posterior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SchoolsSettings {
    /// The effects with their standard errors; `None` stands for Rubin's.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<SchoolsData>,
}

/// Effects with their standard errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchoolsData {
    /// The measured effect of each school.
    y: Vec<f64>,
    /// The standard error of each effect.
    sigma: Vec<f64>,
}

/// Geweke's test takes standard errors so many times Rubin's.
const GEWEKE_ERRORS: f64 = 10.0;

/// The settings of a calibration; there are none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoSettings {}

impl Model for EightSchoolsModel {
    fn name(&self) -> &'static str {
        "eight-schools"
    }

    fn about(&self) -> &'static str {
        "effects with known standard errors about a common mean"
    }

    fn build(&self, settings: &Table, _table: Option<DataTable>) -> Result<Arc<dyn Problem>, BuildError> {
        Ok(Arc::new(EightSchoolsProblem::new(settings::read(settings)?)?))
    }

    fn simulator(&self, settings: &Table, test: CalibrationTest) -> Result<Option<Simulated>, BuildError> {
        let NoSettings {} = settings::read(settings)?;
        let (times, description) = match test {
            CalibrationTest::Ranks => (1.0, self.name().to_owned()),
            // Where tau is far above the standard errors, effects and data hold each other in place: a sequence that
            // begins there stays.
            CalibrationTest::Geweke => {
                let times = GEWEKE_ERRORS;
                (times, format!("{}, standard errors {times} times as large", self.name()))
            }
        };
        let simulator = Box::new(SchoolsSimulator::rubin_with_errors(times));
        Ok(Some(Simulated { simulator, settings: Table::new(), description, geweke_steps: 1000 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_random::{Purpose, Stream};

    /// The first standard error of Rubin's is 15, and ten times that for Geweke's test.
    #[test]
    fn simulators_have_rubins_errors_or_ten_times_these() {
        for (test, error, description) in [
            (CalibrationTest::Ranks, 15.0, "eight-schools"),
            (CalibrationTest::Geweke, 150.0, "eight-schools, standard errors 10 times as large"),
        ] {
            let made = EightSchoolsModel.simulator(&Table::new(), test).unwrap().unwrap();
            assert_eq!((made.description.as_str(), made.geweke_steps), (description, 1000));
            let mut random = Stream::new(1, 0, 0, Purpose::User);
            let position = made.simulator.draw_parameters(&mut random);
            let density = made.simulator.simulate(&position, &mut random).unwrap();
            let information = density.hierarchies()[0].information.clone().unwrap();
            assert_eq!((density.dim(), information.precision()[0]), (10, 1.0 / (error * error)));
        }
    }
}
