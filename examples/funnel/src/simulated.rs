//! Data of which the true parameters are known: a draw of `prior.stan` has both.

use crate::{Fallible, INSIDE, PARAMETERS, config, draws, elements, funnel, prior, rows, variable};
use octopus::Trace;
use octopus::diag::{CheckStatus, summary};
use octopus::toml::{Table, Value};
use std::collections::HashMap;
use std::fs;

/// The columns that are simulated.
const COUNTS: [&str; 3] = ["opens", "clicks", "conversions"];

/// A data set whose parameters are known.
struct Simulated {
    /// The campaigns' counts, a column after the other.
    counts: Vec<Vec<f64>>,
    /// The parameters by name.
    truth: HashMap<String, f64>,
}

/// Draws of the prior.
struct Prior {
    trace: Trace,
    /// The names of each parameter's elements.
    names: Vec<Vec<String>>,
}

impl Prior {
    fn new() -> Fallible<Self> {
        let trace = prior()?;
        let all = summary(trace.posterior()?, INSIDE)?.parameters;
        let of = |name: &str| all.iter().map(|one| &one.name).filter(|one| variable(one) == name).cloned().collect();
        Ok(Self { names: PARAMETERS.map(of).to_vec(), trace })
    }

    fn len(&self) -> Fallible<usize> {
        Ok(draws(&self.trace, PARAMETERS[0])?.len())
    }

    fn one(&self, name: &str, draw: usize) -> Fallible<Vec<f64>> {
        Ok(draws(&self.trace, name)?.get(draw).ok_or("the prior has fewer draws")?.clone())
    }

    fn drawn(&self, draw: usize) -> Fallible<Simulated> {
        let counts = COUNTS.iter().map(|name| self.one(&format!("{name}_again"), draw)).collect::<Fallible<_>>()?;
        let mut truth = HashMap::new();
        for (name, elements) in PARAMETERS.iter().zip(&self.names) {
            truth.extend(elements.iter().cloned().zip(self.one(name, draw)?));
        }
        Ok(Simulated { counts, truth })
    }
}

/// Makes `campaigns.csv` anew from a draw of the prior, and writes this draw's parameters to `truth.csv`. Campaigns and their
/// sends stay as they are.
pub fn simulate(draw: usize) -> Fallible<bool> {
    let Simulated { counts, truth } = Prior::new()?.drawn(draw)?;
    let mut table = "campaign,sends,opens,clicks,conversions\n".to_owned();
    for (at, row) in rows()?.iter().skip(1).enumerate() {
        table += &format!("{},{},{},{},{}\n", row[0], row[1], counts[0][at], counts[1][at], counts[2][at]);
    }
    fs::write("campaigns.csv", table)?;
    let mut lines: Vec<String> = truth.iter().map(|(name, value)| format!("\"{name}\",{value:.4}\n")).collect();
    lines.sort();
    fs::write("truth.csv", format!("name,value\n{}", lines.concat()))?;
    Ok(true)
}

/// The true parameters of `campaigns.csv` by name.
pub fn truth() -> Fallible<HashMap<String, f64>> {
    let text = fs::read_to_string("truth.csv")?;
    let of_row = |row: &str| {
        let (name, value) = row.rsplit_once(',').ok_or("truth.csv: a row without a comma")?;
        Ok((name.trim_matches('"').to_owned(), value.parse()?))
    };
    text.lines().skip(1).map(of_row).collect()
}

/// Samples data sets that draws of the prior make, and counts how often 90 % intervals hold the true values; returns whether
/// all draws are sound.
pub fn recover(count: usize) -> Fallible<bool> {
    let prior = Prior::new()?;
    let every = prior.len()? / count.max(1);
    let (mut inside, mut all, mut unsound) = ([0_u32; 4], [0_u32; 4], 0);
    for set in 0..count {
        let Simulated { counts, truth } = prior.drawn(set * every)?;
        let whole = |column: &Vec<f64>| column.iter().map(|&count| Value::Integer(count as i64)).collect::<Vec<_>>();
        let data = COUNTS.iter().zip(&counts).map(|(name, column)| ((*name).to_owned(), whole(column).into()));
        let trace = octopus::sample(&*funnel(data.collect::<Table>())?, config(set as u64))?;
        let diagnosis = trace.diagnose()?;
        if !diagnosis.good() {
            unsound += 1;
            let failed = diagnosis.checks.iter().filter(|check| check.status == CheckStatus::Fail);
            failed.for_each(|check| println!("data set {set}: {}: {}", check.id, check.message));
        }
        let found = summary(trace.posterior()?, INSIDE)?.parameters;
        for (at, name) in PARAMETERS.into_iter().enumerate() {
            for one in elements(&found, name) {
                all[at] += 1;
                inside[at] += u32::from((one.eti[0]..=one.eti[1]).contains(&truth[&one.name]));
            }
        }
    }
    for (at, name) in PARAMETERS.into_iter().enumerate() {
        let share = 100.0 * f64::from(inside[at]) / f64::from(all[at]);
        println!("{name:12} {} of {} in 90 % intervals: {share:.1} %", inside[at], all[at]);
    }
    println!("{unsound} of {count} data sets with draws that are not sound");
    Ok(unsound == 0)
}
