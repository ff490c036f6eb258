//! The evidence by the samplers that draw populations: how long each takes, and how far it is from the exact one.

use crate::error::BenchError;
use octopus_density::LogDensity;
use octopus_models::exact::Exact;
use octopus_report::Comparison;
use octopus_sampler::{Algorithm, PopulationFindings, Sampler, SamplerConfig, SamplerError, Strategy};
use rayon::ThreadPool;
use std::time::Instant;

/// What a sampler has found.
pub(super) struct MeasuredEvidence {
    sampler: &'static str,
    seconds: f64,
    /// The findings, or why there are none: some densities have too many coordinates.
    found: Result<PopulationFindings, String>,
    /// What the density leaves out; `None` where it is not known.
    log_constant: Option<f64>,
    /// The exact evidence, where it is known.
    exact: Option<f64>,
}

/// Lets each of them draw its population once, with the default settings of each and as many draws as the run has.
///
/// # Errors
/// When the density breaks.
pub(super) fn measure(
    base: &SamplerConfig,
    density: &dyn LogDensity,
    exact: Option<&dyn Exact>,
    pool: &ThreadPool,
) -> Result<Vec<MeasuredEvidence>, BenchError> {
    let exact = exact.and_then(Exact::log_evidence);
    let of = |algorithm: Algorithm| {
        let sampler = algorithm.name();
        // Populations have no warm-up, whose strategy the run may have chosen.
        let config = SamplerConfig { algorithm, strategy: Strategy::FourLong, ..base.clone() };
        let begin = Instant::now();
        let found = match pool.install(|| draw(density, config)) {
            Err(error @ SamplerError::Density { .. }) => return Err(BenchError::from(error)),
            Err(why) => Err(why.to_string()),
            Ok(found) => found.ok_or_else(|| "it has drawn nothing".to_owned()),
        };
        let seconds = begin.elapsed().as_secs_f64();
        Ok(MeasuredEvidence { sampler, seconds, found, log_constant: density.log_constant(), exact })
    };
    let populations = Algorithm::NAMES.iter().filter_map(|name| Algorithm::named(name));
    populations.filter(Algorithm::draws_population).map(of).collect()
}

fn draw(density: &dyn LogDensity, config: SamplerConfig) -> Result<Option<PopulationFindings>, SamplerError> {
    let mut sampler = Sampler::new(density, config)?;
    sampler.advance(1)?;
    Ok(sampler.population())
}

/// Returns the table of what was found.
pub(super) fn table(all: &[MeasuredEvidence]) -> Comparison {
    let row = |one: &MeasuredEvidence| {
        let dash = || "-".to_owned();
        let mut cells = vec![one.sampler.to_owned(), format!("{:.2}", one.seconds)];
        match &one.found {
            Ok(found) => {
                let evidence = one.log_constant.map(|constant| found.log_evidence + constant);
                let error = evidence.zip(one.exact).map(|(evidence, exact)| evidence - exact);
                cells.extend([
                    found.evaluations.to_string(),
                    evidence.map_or_else(dash, |evidence| format!("{evidence:.3}")),
                    format!("{:.3}", found.standard_error),
                    error.map_or_else(dash, |error| format!("{error:+.3}")),
                    format!("{:.0}", found.ess),
                    found.doubt.clone().unwrap_or_else(|| "yes".to_owned()),
                ]);
            }
            Err(why) => cells.extend([dash(), dash(), dash(), dash(), dash(), why.clone()]),
        }
        cells
    };
    Comparison::new(
        "Evidence",
        "The logarithm of the data's probability by the model, as the samplers find it that weigh particles and move no chain. \
         The error is the difference from the exact evidence, where that is known. Chains find it by bridge sampling: \
         `octopus evidence RUN`.",
        "sampler | wall s | gradients | log evidence | standard error | error | ESS of the weights | reliable",
        all.iter().map(row),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::EightSchools;
    use octopus_models::exact::SchoolsPosterior;

    /// Against quadrature, within five standard errors.
    #[test]
    fn populations_find_the_evidence() {
        let model = EightSchools::rubin();
        let exact = SchoolsPosterior::compute(&model);
        let pool = octopus_runs::pool(Some(1)).unwrap();
        let config = SamplerConfig { draws: 200, seed: 3, ..SamplerConfig::many_short(16) };
        let found = measure(&config, &model, Some(&exact), &pool).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.sampler).collect();
        assert_eq!(names, ["importance", "smc", "pathfinder"]);
        let table = table(&found);
        for row in &table.rows {
            let number = |at: usize| row[at].parse::<f64>().unwrap();
            let [evidence, standard_error, error] = [3, 4, 5].map(number);
            assert!((evidence - exact.log_marginal_likelihood).abs() < 5.0 * standard_error, "{row:?}");
            assert!((evidence - error - exact.log_marginal_likelihood).abs() < 0.002, "{row:?}");
            assert!(row.len() == table.columns.len() && standard_error < 0.1, "{row:?}");
        }
    }
}
