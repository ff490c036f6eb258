//! A conversion funnel from its table to predictions: what the priors say, draws and whether they are sound, whether the
//! true values are found, whether the model makes such data, and what a new campaign will do.
//!
//! `funnel` does all this; `funnel recover 200` samples 200 other data sets of known parameters; `funnel simulate 7` makes
//! the table anew, from draw 7 of the prior.

mod simulated;

use octopus::diag::{ParameterSummary, summary};
use octopus::models::{Model, Problem, StanModel};
use octopus::report::{Format, write_figures};
use octopus::sampler::SamplerConfig;
use octopus::toml::{Table, Value};
use octopus::{Material, Picture, Trace, check_predictive};
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// The stages of the funnel: who may go on, and who does.
const STAGES: [(&str, &str); 3] = [("sends", "opens"), ("opens", "clicks"), ("clicks", "conversions")];

/// What has true values.
const PARAMETERS: [&str; 4] = ["typical", "spread", "correlation", "level"];

/// The share of the draws in an interval.
const INSIDE: f64 = 0.9;

/// Binds a program to the table; `set` has data that take the place of the table's.
fn bind(program: &str, set: Table) -> Fallible<Arc<dyn Problem>> {
    let mut settings: Table = "data.file.path = 'campaigns.csv'".parse()?;
    settings.insert("program".to_owned(), program.into());
    settings.insert("set".to_owned(), set.into());
    Ok(StanModel.read_and_build(&settings, None)?)
}

/// The funnel, with a campaign of 20000 messages to predict.
fn funnel(mut set: Table) -> Fallible<Arc<dyn Problem>> {
    set.insert("new_sends".to_owned(), Value::Integer(20_000));
    bind("funnel.stan", set)
}

/// What the priors make of the table's sends.
fn prior() -> Fallible<Trace> {
    Ok(octopus::sample(&*bind("prior.stan", Table::new())?, config(1))?)
}

/// The settings of `octopus sample --seed SEED`, which has the same draws.
fn config(seed: u64) -> SamplerConfig {
    SamplerConfig { seed, tune: 1000, draws: 2000, target_accept: 0.95, ..SamplerConfig::default() }
}

/// The elements of a variable in each draw, chain after chain.
fn draws(trace: &Trace, name: &str) -> Fallible<Vec<Vec<f64>>> {
    let array = trace.posterior()?.get(name).ok_or_else(|| format!("the trace has no {name}"))?;
    Ok(array.values.to_f64().chunks_exact(array.elements(2)).map(<[f64]>::to_vec).collect())
}

/// The rows of the table: names of columns, then a row for each campaign.
fn rows() -> Fallible<Vec<Vec<String>>> {
    let text = std::fs::read_to_string("campaigns.csv")?;
    Ok(text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

/// The numbers of a column.
fn column(name: &str) -> Fallible<Vec<f64>> {
    let rows = rows()?;
    let at = rows[0].iter().position(|one| one == name).ok_or_else(|| format!("campaigns.csv has no {name}"))?;
    Ok(rows[1..].iter().map(|row| row[at].parse()).collect::<Result<_, _>>()?)
}

/// The share of each campaign's people who go on at a stage; NaN where nobody came so far.
fn rates(of: &[f64], on: &[f64]) -> Vec<f64> {
    on.iter().zip(of).map(|(on, of)| on / of).collect()
}

/// These shares in the table.
fn rates_seen((of, on): (&str, &str)) -> Fallible<Vec<f64>> {
    Ok(rates(&column(of)?, &column(on)?))
}

/// These shares in each draw of the whole funnel.
fn rates_again(trace: &Trace, (of, on): (&str, &str)) -> Fallible<Vec<Vec<f64>>> {
    let on = draws(trace, &format!("{on}_again"))?;
    let of = match of {
        "sends" => vec![column(of)?; on.len()],
        _ => draws(trace, &format!("{of}_again"))?,
    };
    Ok(of.iter().zip(&on).map(|(of, on)| rates(of, on)).collect())
}

/// The values below which 5, 50 and 95 % lie.
fn quantiles(mut values: Vec<f64>) -> [f64; 3] {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    [0.05, 0.5, 0.95].map(|share| values[(share * (values.len() - 1) as f64).round() as usize])
}

/// Quantiles of shares, in per cent.
fn percents(rates: Vec<f64>) -> String {
    quantiles(rates).map(|rate| format!("{:6.2}", 100.0 * rate)).join(" ")
}

/// The variable of an element: `level` of `level[spring, 1]`.
fn variable(element: &str) -> &str {
    element.split_once('[').map_or(element, |(variable, _)| variable)
}

/// The summaries of a variable's elements.
fn elements<'a>(parameters: &'a [ParameterSummary], name: &str) -> impl Iterator<Item = &'a ParameterSummary> {
    parameters.iter().filter(move |one| variable(&one.name) == name)
}

/// Compares the table's rates with those of whole funnels that the fitted model makes; returns whether none is odd.
fn check_stages(trace: &Trace) -> Fallible<bool> {
    let mut good = true;
    for stage in STAGES {
        let (seen, again) = (rates_seen(stage)?, rates_again(trace, stage)?);
        // A campaign that nobody came so far in, in the table or once again, has no rate.
        let kept: Vec<usize> =
            (0..seen.len()).filter(|&at| seen[at].is_finite() && again.iter().all(|one| one[at].is_finite())).collect();
        let of_kept = |rates: &Vec<f64>| kept.iter().map(|&at| rates[at]).collect::<Vec<f64>>();
        let checks = check_predictive(&of_kept(&seen), &again.iter().map(of_kept).collect::<Vec<_>>())?;
        let words: Vec<String> = checks.iter().map(|one| format!("{} {:.2}", one.name, one.p_value)).collect();
        println!("  {:12} {}   ({} campaigns)", stage.1, words.join("  "), kept.len());
        good &= checks.iter().all(|one| (0.005..0.995).contains(&one.p_value));
    }
    Ok(good)
}

/// Samples the campaigns of the table, and judges; returns whether everything is sound.
fn analyse() -> Fallible<bool> {
    println!("Campaigns' rates in per cent (5, 50, 95 %) by the priors, and in the table");
    let prior = prior()?;
    for stage in STAGES {
        let by_prior = rates_again(&prior, stage)?.concat();
        println!("  {:12} {}   {}", stage.1, percents(by_prior), percents(rates_seen(stage)?));
    }

    let problem = funnel(Table::new())?;
    let mut trace = octopus::sample(&*problem, config(1))?;
    let diagnosis = trace.diagnose()?;
    println!("\n{diagnosis}\n\nTrue values in 90 % intervals");

    let found = summary(trace.posterior()?, INSIDE)?.parameters;
    let (truth, mut inside, mut all) = (simulated::truth()?, 0, 0);
    for one in PARAMETERS.into_iter().flat_map(|name| elements(&found, name)) {
        let true_value = *truth.get(&one.name).ok_or_else(|| format!("truth.csv has no {}", one.name))?;
        let [low, high] = one.eti;
        let hit = (low..=high).contains(&true_value);
        (inside, all) = (inside + usize::from(hit), all + 1);
        if !one.name.starts_with("level") {
            println!("  {:18} {true_value:5.2} in {low:5.2} to {high:5.2}{}", one.name, if hit { "" } else { ": not" });
        }
    }
    println!(
        "  {inside} of {all}, with the campaigns' levels\n\nDoes the model make such rates? p-values of campaigns'"
    );
    let good = check_stages(&trace)?;

    println!("\nA new campaign of 20000 messages (5, 50, 95 %)");
    for name in ["new_opens", "new_clicks", "new_conversions"] {
        let [low, middle, high] = quantiles(draws(&trace, name)?.concat());
        println!("  {name:16} {low:6} {middle:6} {high:6}");
    }

    // For ArviZ, with the draws of the prior beside those of the posterior.
    trace.data.insert("prior", prior.posterior()?.clone());
    let shown = ["typical", "spread", "correlation"].map(str::to_owned);
    let material = Material::new(&trace, Some(&*problem), &shown)?;
    let pictures = [Picture::Trace, Picture::Prior, Picture::Forest];
    let figures = pictures.into_iter().map(|one| one.figure(&material)).collect::<Result<Vec<_>, _>>()?;
    std::fs::create_dir_all("report")?;
    let files = write_figures(Path::new("report"), &figures, &[Format::Png])?;
    trace.save("report/funnel.nc")?;
    println!("\nreport/ has funnel.nc and {} pictures", files.len());
    Ok(diagnosis.good() && good && 10 * inside >= 8 * all)
}

fn main() -> Fallible<ExitCode> {
    octopus::log_to_stderr(octopus::tracing::Level::WARN);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sound = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => analyse()?,
        ["recover", count] => simulated::recover(count.parse()?)?,
        ["simulate", draw] => simulated::simulate(draw.parse()?)?,
        _ => return Err("funnel, funnel recover COUNT or funnel simulate DRAW".into()),
    };
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
