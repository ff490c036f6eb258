//! The simulator of a program: its own sampling statements draw parameters and data, or a second program does.

use super::axes::name_axes;
use super::table::LabelledSize;
use crate::{ModelError, Simulator};
use octopus_bind::{BindError, Data, GenerativeModel, SimulatorProgram, StanDensity};
use octopus_density::{Layout, LogDensity};
use octopus_random::Stream;
use octopus_stan::StanProgram;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Draws parameters and data of a program.
pub(super) struct ProgramSimulator {
    draws: DrawSource,
    layout: Layout,
}

enum DrawSource {
    /// By the sampling statements.
    Read(Box<GenerativeModel>),
    /// By a second program, which makes both at once: data wait here for their parameters, by the bits of these.
    Second { program: Box<SimulatorProgram>, waiting: Mutex<HashMap<Vec<u64>, Vec<f64>>> },
}

impl ProgramSimulator {
    /// Reads how a program's parameters and data are drawn. `data` give sizes and predictors.
    pub(super) fn new(program: &StanProgram, data: &Data, labelled: &[LabelledSize]) -> Result<Self, BindError> {
        let draws = DrawSource::Read(Box::new(GenerativeModel::new(program, data)?));
        Ok(Self::with(draws, program, labelled))
    }

    /// Lets a second program draw them.
    pub(super) fn by(
        program: &StanProgram,
        simulator: &StanProgram,
        data: &Data,
        labelled: &[LabelledSize],
    ) -> Result<Self, BindError> {
        let second = Box::new(SimulatorProgram::new(program, simulator, data)?);
        Ok(Self::with(DrawSource::Second { program: second, waiting: Mutex::default() }, program, labelled))
    }

    fn with(draws: DrawSource, program: &StanProgram, labelled: &[LabelledSize]) -> Self {
        let density = match &draws {
            DrawSource::Read(model) => model.density(),
            DrawSource::Second { program, .. } => program.density(),
        };
        let mut layout = density.layout().clone();
        name_axes(&mut layout.variables, program, labelled);
        Self { draws, layout }
    }
}

fn bits(position: &[f64]) -> Vec<u64> {
    position.iter().map(|x| x.to_bits()).collect()
}

impl Simulator for ProgramSimulator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn draw_parameters_of(&self, randoms: &mut [Stream]) -> Vec<Vec<f64>> {
        match &self.draws {
            DrawSource::Read(model) => {
                let lacking = |_| vec![f64::NAN; model.density().dim()];
                model.draw_parameters_of(randoms).into_iter().map(|draw| draw.unwrap_or_else(lacking)).collect()
            }
            DrawSource::Second { .. } => randoms.iter_mut().map(|random| self.draw_parameters(random)).collect(),
        }
    }

    /// What cannot be drawn is NaN, and [`simulate`](Self::simulate) says so.
    fn draw_parameters(&self, random: &mut Stream) -> Vec<f64> {
        match &self.draws {
            DrawSource::Read(model) => {
                model.draw_parameters(random).unwrap_or_else(|_| vec![f64::NAN; model.density().dim()])
            }
            DrawSource::Second { program, waiting } => match program.draw(random) {
                Ok(draw) => {
                    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.insert(bits(&draw.position), draw.outcomes);
                    draw.position
                }
                Err(_) => vec![f64::NAN; program.density().dim()],
            },
        }
    }

    fn simulate(&self, position: &[f64], random: &mut Stream) -> Result<Box<dyn LogDensity>, ModelError> {
        let failed = |reason: String| ModelError::Simulation(reason);
        if position.iter().any(|x| x.is_nan()) {
            return Err(failed("no parameters could be drawn".to_owned()));
        }
        let made: Result<StanDensity, BindError> = match &self.draws {
            DrawSource::Read(model) => model.with_outcomes(&model.replicate(position, random).map_err(failed)?),
            DrawSource::Second { program, waiting } => {
                let outcomes = waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&bits(position));
                let outcomes =
                    outcomes.ok_or_else(|| failed("the second program draws parameters with data".to_owned()))?;
                program.with_outcomes(&outcomes)
            }
        };
        Ok(Box::new(made.map_err(|error| failed(error.to_string()))?))
    }
}
