//! Where the chains of a run start: what its model has to say of it.

use crate::TraceError;
use octopus_models::Problem;
use octopus_random::{Purpose, Stream};
use octopus_runs::Init;
use octopus_sampler::{Begin, SamplerConfig, Starts};

/// The most draws from the prior until one has a posterior density.
const TRIES: u32 = 100;

/// Returns the beginning of a run whose chains start by `init`. It depends on the model and the settings only.
///
/// # Errors
/// When chains are to start at draws from the prior, and the model cannot be drawn from or no draw has a density.
pub fn begin(problem: &dyn Problem, config: &SamplerConfig, init: Init) -> Result<Begin, TraceError> {
    Ok(match init {
        Init::Jitter => Begin::Anew(config.clone()),
        Init::Pathfinder => Begin::At(config.clone(), Starts::Pathfinder),
        Init::Prior => {
            // Only the chains of warm-up need a start: the others are copies of them.
            let points = (0..config.first_chains()).map(|chain| of_prior(problem, config.seed, chain as u32));
            Begin::At(config.clone(), Starts::Points(points.collect::<Result<_, _>>()?))
        }
    })
}

/// Returns the first draw from the prior where the density has a value.
fn of_prior(problem: &dyn Problem, seed: u64, chain: u32) -> Result<Vec<f64>, TraceError> {
    let density = problem.density();
    let Some(simulator) = problem.simulator() else {
        let why = problem.simulator_obstacle().unwrap_or_else(|| "the model does not draw from its prior".to_owned());
        return Err(TraceError::lacks(format!(
            "--init prior: the model cannot be drawn from: take --init pathfinder, or none. {why}"
        )));
    };
    let mut gradient = vec![0.0; density.dim()];
    for number in 0..TRIES {
        let point = simulator.draw_parameters(&mut Stream::new(seed, chain, number, Purpose::Prior));
        let is_point = point.len() == density.dim() && point.iter().all(|x| x.is_finite());
        if is_point
            && density.logp_grad(&point, &mut gradient).is_ok()
            && gradient.iter().all(|slope| slope.is_finite())
        {
            return Ok(point);
        }
    }
    let why = format!("--init prior: none of {TRIES} draws from the prior has a finite log density given the data");
    Err(TraceError::lacks(why))
}
