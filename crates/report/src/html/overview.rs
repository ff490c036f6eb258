//! The page's cards: the few numbers that a reader in a hurry looks for.

use maud::{Markup, html};

use crate::benchmark::{Benchmark, SpeedupDefinition};
use crate::format::{count, rate, seconds, significant};
use crate::measured::Measured;
use crate::report::Report;
use octopus_diag::limits;

/// A number with what it is, and whether it is as it should be, where that can be said.
struct Card {
    value: String,
    what: String,
    good: Option<bool>,
}

pub(super) fn content(report: &Report) -> Markup {
    html! {
        ul.cards {
            @for card in cards(report) {
                li.good[card.good == Some(true)].bad[card.good == Some(false)] { b { (card.value) } " " span { (card.what) } }
            }
        }
    }
}

fn cards(report: &Report) -> Vec<Card> {
    let card = |value: String, what: String, good| Card { value, what, good };
    let found = &report.convergence;
    let mut cards = Vec::new();
    if let Some(row) = report.worst_rhat() {
        let what =
            format!("largest R-hat of {} parameters (below {})", count(report.parameters.len() as u64), limits::RHAT);
        cards.push(card(significant(row.rhat, 4), what, Some(row.rhat < limits::RHAT)));
    }
    if let Some(row) = report.least(|row| row.ess_bulk.min(row.ess_tail)) {
        let (value, draws) = (row.ess_bulk.min(row.ess_tail), found.chains * found.draws);
        let why =
            if value > draws as f64 { "; more than the draws, since errors of successive draws cancel" } else { "" };
        let what = format!("smallest effective sample of {} draws (above {}){why}", count(draws as u64), limits::ESS);
        cards.push(card(rate(value), what, Some(value > limits::ESS)));
    }
    let what = if found.divergences == 1 { "divergent transition" } else { "divergent transitions" };
    cards.push(card(count(found.divergences), what.to_owned(), Some(found.divergences == 0)));
    let inside: Vec<bool> = report.parameters.iter().filter_map(|row| row.truth_inside()).collect();
    if !inside.is_empty() {
        let share =
            format!("{} of {}", count(inside.iter().filter(|&&is| is).count() as u64), count(inside.len() as u64));
        cards.push(card(share, "true values inside their 89% interval".to_owned(), None));
    }
    if let Some((wall, what)) = report.benchmark.as_ref().and_then(|benchmark| fastest(benchmark, report.data.groups)) {
        cards.push(card(seconds(wall), what, None));
    }
    cards.push(speedup(report));
    cards
}

/// Returns the shortest wall time on these data.
fn fastest(benchmark: &Benchmark, groups: usize) -> Option<(f64, String)> {
    let runs = benchmark.runs.iter().filter(|run| run.groups == groups);
    let timed = runs.filter_map(|run| Some((run.result.value()?.wall_s(), run)));
    let (wall, run) = timed.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let setting = if run.setting.is_empty() { String::new() } else { format!(", {}", run.setting) };
    Some((wall, format!("best wall time with warm-up: {}{setting}", run.engine)))
}

/// Returns the speed-up that decides, or that there is none.
fn speedup(report: &Report) -> Card {
    let speedups = report.benchmark.iter().flat_map(|benchmark| &benchmark.speedups);
    let ratio = speedups
        .filter(|speedup| speedup.definition == SpeedupDefinition::WholeDevice)
        .find_map(|speedup| speedup.ratio.value());
    match (ratio, &report.machine.gpu) {
        (Some(ratio), _) => Card {
            value: format!("{}x", significant(*ratio, 3)),
            what: "effective draws a second, whole GPU over all CPU cores".to_owned(),
            good: None,
        },
        (None, Measured::Value(name)) => Card {
            value: "SKIPPED".to_owned(),
            what: format!("speed-up of {name}: not measured in this run"),
            good: None,
        },
        (None, Measured::NotMeasured(reason)) => {
            Card { value: "SKIPPED".to_owned(), what: format!("speed-up of a GPU: {reason}"), good: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, Shape, benchmark, report};

    const SHAPE: Shape = Shape { groups: 2, chains: 2, draws: 80, truth: true, divergences: false };

    #[test]
    fn what_is_on_its_limit_is_not_good() {
        let sound = |rhat: f64, ess: f64| {
            let mut report = report(&Sample::new(SHAPE), SHAPE);
            for row in &mut report.parameters {
                (row.rhat, row.ess_bulk, row.ess_tail) = (rhat, ess, ess + 1.0);
            }
            let cards = cards(&report);
            (cards[0].good, cards[1].good)
        };
        assert_eq!(sound(limits::RHAT, limits::ESS), (Some(false), Some(false)));
        assert_eq!(sound(limits::RHAT - 1e-9, limits::ESS + 1e-9), (Some(true), Some(true)));
    }

    #[test]
    fn more_effective_draws_than_draws_are_explained() {
        let mut report = report(&Sample::new(SHAPE), SHAPE);
        (report.convergence.chains, report.convergence.draws) = (4, 1000);
        let mut what = |bulk: f64, tail: f64| {
            for row in &mut report.parameters {
                (row.ess_bulk, row.ess_tail) = (bulk, tail);
            }
            cards(&report)[1].what.clone()
        };
        let plain = "smallest effective sample of 4,000 draws (above 400)";
        assert_eq!(what(4000.0, 5000.0), plain);
        assert_eq!(what(9000.0, 3999.0), plain);
        assert_eq!(
            what(4001.0, 5000.0),
            format!("{plain}; more than the draws, since errors of successive draws cancel")
        );
    }

    #[test]
    fn the_speed_up_is_that_of_the_whole_device() {
        let mut report = report(&Sample::new(SHAPE), SHAPE);
        let mut all = benchmark(true);
        for speedup in &mut all.speedups {
            let ratio = if speedup.definition == SpeedupDefinition::WholeDevice { 7.0 } else { 3.0 };
            speedup.ratio = Measured::Value(ratio);
        }
        all.speedups.sort_by_key(|speedup| speedup.definition == SpeedupDefinition::WholeDevice);
        report.benchmark = Some(all);
        assert_eq!(speedup(&report).value, "7.00x");
    }
}
