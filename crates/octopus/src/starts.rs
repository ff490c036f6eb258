//! Where the chains of a run start, and the particles that it is given: what its model has to say of it.

mod run;
mod values;

use crate::TraceError;
use octopus_density::LogDensity;
use octopus_models::{Problem, Simulator};
use octopus_random::{Purpose, Stream};
use octopus_runs::Init;
use octopus_sampler::{Algorithm, Begin, ImportanceConfig, SamplerConfig, SamplerError, Starts, particles_of_prior};

/// The most draws from the prior until one has a posterior density.
const TRIES: u32 = 100;

/// Returns the beginning of a run whose chains start by `init`, or whose particles are draws from the prior. It depends on
/// the model, the settings and the file or run folder that `init` names only. Warnings of a run that does not fit go to the
/// log.
///
/// # Errors
/// When draws from the prior are wanted, and the model cannot be drawn from; when no such draw has a density, where a chain
/// is to start; when the model does not tell its likelihood, by which particles are weighted; when chains are to start at
/// values of a file, or draws of a run, that cannot be read or do not fit.
pub fn begin(problem: &dyn Problem, config: &SamplerConfig, init: &Init) -> Result<Begin, TraceError> {
    if let (Algorithm::Importance(settings), true) = (&config.algorithm, config.algorithm.takes_particles()) {
        return particles(problem, settings, config);
    }
    Ok(match init {
        Init::Jitter => Begin::Anew(config.clone()),
        Init::Pathfinder => Begin::At(config.clone(), Starts::Pathfinder),
        Init::Prior => {
            // Only the chains of warm-up need a start: the others are copies of them.
            let points = (0..config.first_chains()).map(|chain| of_prior(problem, config.seed, chain as u32));
            Begin::At(config.clone(), Starts::Points(points.collect::<Result<_, _>>()?))
        }
        Init::From(path) if path.is_dir() => {
            Begin::At(config.clone(), Starts::Warm(run::of_run(problem, config, path)?))
        }
        Init::From(path) => Begin::At(config.clone(), Starts::Points(values::of_file(problem, config, path)?)),
    })
}

/// Returns what draws from the model's prior, which `option` asks for; `instead` is what to take where nothing does.
fn simulator<'a>(problem: &'a dyn Problem, option: &str, instead: &str) -> Result<&'a dyn Simulator, TraceError> {
    problem.simulator().ok_or_else(|| {
        let why = problem.simulator_obstacle().unwrap_or_else(|| "the model does not draw from its prior".to_owned());
        TraceError::lacks(format!("{option}: the model cannot be drawn from: take {instead}. {why}"))
    })
}

/// Returns the beginning of importance sampling whose particles are draws from the prior.
fn particles(problem: &dyn Problem, settings: &ImportanceConfig, config: &SamplerConfig) -> Result<Begin, TraceError> {
    let simulator = simulator(problem, "--proposal prior", "--proposal mixture")?;
    let density = problem.density();
    if !density.has_log_likelihood() {
        let error = SamplerError::NoLikelihood { density: density.name().to_owned() };
        return Err(TraceError::lacks(format!("--proposal prior: {error}: take --proposal mixture")));
    }
    let points = particles_of_prior(|randoms| simulator.draw_parameters_of(randoms), settings.particles, config.seed);
    Ok(Begin::At(config.clone(), Starts::Points(points)))
}

/// Returns the first draw from the prior where the density has a value.
fn of_prior(problem: &dyn Problem, seed: u64, chain: u32) -> Result<Vec<f64>, TraceError> {
    let density = problem.density();
    let simulator = simulator(problem, "--init prior", "--init pathfinder, or none")?;
    for number in 0..TRIES {
        let point = simulator.draw_parameters(&mut Stream::new(seed, chain, number, Purpose::Prior));
        if has_density(density, &point) {
            return Ok(point);
        }
    }
    let why = format!("--init prior: none of {TRIES} draws from the prior has a finite log density given the data");
    Err(TraceError::lacks(why))
}

/// Returns whether log density and gradient are finite at a point.
fn has_density(density: &dyn LogDensity, point: &[f64]) -> bool {
    let mut gradient = vec![0.0; density.dim()];
    point.len() == density.dim()
        && point.iter().all(|x| x.is_finite())
        && density.logp_grad(point, &mut gradient).is_ok()
        && gradient.iter().all(|slope| slope.is_finite())
}
