//! Samples a density of its own, and does with the draws what Octopus can do: diagnosis, predictive checks, LOO, pictures,
//! a file for ArviZ, a run folder, calibration. Then samples the same model as a Stan program.

mod exam;

use exam::{Exam, ExamSimulator};
use octopus::calibrate::{CalibrationSettings, Mover, judge, run};
use octopus::models::DensityProblem;
use octopus::report::{Format, write_figures};
use octopus::sampler::SamplerConfig;
use octopus::stan::{Data, StanProblem, StanProgram};
use octopus::{Picture, check_model, check_predictive};
use std::convert::Infallible;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

const STUDENTS: usize = 60;
const PASSED: usize = 48;

/// The model in Stan's language.
const PROGRAM: &str = "data { int N; array[N] int<lower=0, upper=1> passed; }
                       parameters { real<lower=0, upper=1> pass_rate; }
                       model { passed ~ bernoulli(pass_rate); }";

/// Samples the Stan program, and returns the mean of its rate if the draws are sound.
fn mean_of_stan_program(results: &[f64], config: SamplerConfig) -> Result<Option<f64>, Box<dyn Error>> {
    let results: Vec<i64> = results.iter().map(|&result| result as i64).collect();
    let data = Data::new("the exam").with_int("N", results.len() as i64).with_ints("passed", &results);
    let problem = StanProblem::bind(StanProgram::parse("exam.stan", PROGRAM)?, data)?;
    let diagnosis = octopus::sample(&problem, config)?.diagnose()?;
    let rate = diagnosis.summary.get("pass_rate").filter(|_| diagnosis.good());
    Ok(rate.map(|rate| rate.mean))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    octopus::log_to_stderr(octopus::tracing::Level::WARN);
    let out: PathBuf = std::env::args().nth(1).unwrap_or_else(|| "exam".to_owned()).into();
    std::fs::create_dir_all(&out)?;
    let results: Vec<f64> = (0..STUDENTS).map(|student| f64::from(u8::from(student < PASSED))).collect();
    let problem = DensityProblem::new(Exam::new(results.clone()), results.clone())?;

    // Is the density right? Its gradient against finite differences, its names, its numbers.
    let check = check_model(&problem, 1);
    println!("{check}\n");

    // Sample, in one call.
    let config = SamplerConfig { chains: 4, tune: 500, draws: 1000, seed: 1, ..SamplerConfig::default() };
    let trace = octopus::sample(&problem, config.clone())?;
    let diagnosis = trace.diagnose()?;
    println!("{diagnosis}\n");

    // The posterior is known: Beta(49, 13).
    let mean = diagnosis.summary.get("pass_rate").ok_or("the summary lacks pass_rate")?.mean;
    let exact = (PASSED + 1) as f64 / (STUDENTS + 2) as f64;
    println!("mean of pass_rate {mean:.3}, exactly {exact:.3}\n");

    // Would the model make such data, and how well does it predict?
    let replicated = trace.data.group("posterior_predictive").ok_or("there are no predictions")?;
    let replicates: Vec<Vec<f64>> =
        replicated.variables["y"].values.to_f64().chunks_exact(STUDENTS).map(<[f64]>::to_vec).collect();
    for statistic in check_predictive(&results, &replicates)? {
        println!("predicted {}: p-value {:.2}", statistic.name, statistic.p_value);
    }
    let loo = trace.loo()?;
    println!("\n{loo}\n");

    // Files: pictures, the trace for ArviZ, and a run folder, which can go on after a kill.
    let pictures = [Picture::Trace, Picture::Posterior, Picture::Ppc];
    let figures = pictures.into_iter().map(|picture| trace.picture(picture)).collect::<Result<Vec<_>, _>>()?;
    for file in write_figures(&out, &figures, &[Format::Png])? {
        println!("{}", file.display());
    }
    trace.save(out.join("exam.nc"))?;
    let folder = out.join("run");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let same = octopus::sample_to_folder(&problem, config.clone(), &folder)?;
    let same = same.data.groups["posterior"].variables == trace.data.groups["posterior"].variables;

    // Is the sampler right about the model? Ranks of true values over 50 data sets.
    let sampler = SamplerConfig { chains: 2, draws: 100, tune: 200, ..SamplerConfig::default() };
    let settings = CalibrationSettings { seed: 1, kept: 19, sampler };
    let (simulator, mut found) = (ExamSimulator::new(STUDENTS), Vec::new());
    run(&simulator, &settings, 0..50, Mover::Threads(2), &|| false, &mut |data_set| {
        found.push(data_set);
        Ok::<(), Infallible>(())
    })?;
    let calibrated = judge(&simulator, &settings, &mut found, 1e-3)?.calibrated;
    println!("calibrated over 50 data sets: {calibrated}");

    // The same model as a Stan program.
    let of_stan = mean_of_stan_program(&results, config)?;
    println!("mean of pass_rate by the Stan program: {of_stan:?}");
    let agrees = of_stan.is_some_and(|mean| (mean - exact).abs() < 0.01);

    let sound = agrees && check.good() && diagnosis.good() && !loo.doubtful() && calibrated && same && (mean - exact).abs() < 0.01;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
