//! The benchmark's tables: strategies, the GPU's runs, times to a target, sizes, repeats.

use super::case::Measurement;
use super::{Benchmarks, evidence, planned, speedup, target};
use octopus_report::{Comparison, EngineTimes};

impl Benchmarks {
    /// Returns the tables of strategies, samplers, the evidence, the choice of a strategy, times to a target, and sizes.
    pub fn tables(&self) -> Vec<Comparison> {
        let note = planned::against_best(&self.strategies).unwrap_or_default();
        let form = self.likelihood.map(|form| format!(", {form} likelihood")).unwrap_or_default();
        let note = format!("On all threads{form}; the median of three runs, with --quick one. {note}");
        let mut tables = vec![
            runs("Strategies and configurations", &note, &self.strategies, true),
            self.samplers_table(),
            evidence::table(&self.evidence),
            planned::table(&self.plans),
            target::table(&self.targets, self.gpu_figures().err().as_deref()),
            speedup::break_even(self),
        ];
        if !self.sizes.is_empty() {
            let note = "The same model and settings on the PRD's other sizes, and as --strategy auto chooses.";
            tables.push(runs("Sizes", note, &self.sizes, true));
        }
        tables
    }

    /// Returns the table of samplers, which names the one to use: the fastest of those whose runs pass.
    fn samplers_table(&self) -> Comparison {
        let speed = |m: &Measurement| m.run.result.value().map_or(0.0, EngineTimes::min_ess_per_s);
        let passing = self.samplers.iter().filter(|m| m.quality.converged() && m.divergences == 0);
        let advice = match passing.max_by(|a, b| speed(a).total_cmp(&speed(b))) {
            Some(best) => {
                format!("Use {}: of those that pass without a divergence it has the most ESS/s.", best.run.setting)
            }
            None => "None passes without a divergence: use nuts with more draws.".to_owned(),
        };
        let row = |m: &Measurement| {
            let draws = m.config.chains as f64 * m.config.draws as f64;
            vec![
                m.run.setting.clone(),
                m.config.target_accept.to_string(),
                m.run.result.value().map_or_else(|| "-".to_owned(), |times| format!("{:.3}", times.wall_s())),
                format!("{:.1}", m.leapfrogs_per_draw),
                format!("{:.0}", m.quality.min_ess_bulk),
                format!("{:.2}", 1000.0 * m.quality.min_ess_bulk / (m.leapfrogs_per_draw * draws)),
                format!("{:.0}", speed(m)),
                m.error.map_or_else(|| "-".to_owned(), |error| format!("{error:.4}")),
                format!("{:.4}", m.quality.max_rhat),
                m.divergences.to_string(),
                if m.quality.converged() { "yes" } else { "no" }.into(),
            ]
        };
        Comparison::new(
            "Samplers",
            format!(
                "The same chains and draws, each with the target of acceptance that suits it. ESS and R-hat are the worst \
                 of all parameters; the error is that of the means, in exact standard deviations (root mean square). {advice}"
            ),
            "sampler | target | wall s | gradients/draw | bulk ESS | ESS per 1000 gradients | ESS/s | error of means | R-hat \
             | divergences | passes",
            self.samplers.iter().map(row),
        )
    }

    /// Returns the table of the GPU's runs, where there is a GPU: the quality of the draws, and on a real one the times.
    pub fn gpu_table(&self) -> Option<Comparison> {
        let gpu = self.gpu.as_ref().ok()?;
        let note = if gpu.test_double {
            "On a test double: the draws are those of a GPU, and its speed says nothing."
        } else if self.prds {
            "Collapsed likelihood unless it says otherwise. Each is run once before it is timed."
        } else {
            "Each is run once before it is timed."
        };
        Some(runs("Runs on the GPU", note, gpu.all(), !gpu.test_double))
    }

    /// Returns the table that shows how the engines were timed.
    pub fn repeats_table(&self) -> Comparison {
        let row = |m: &Measurement| {
            let repeats = m.run.result.value().map(|times| times.repeats.as_slice()).unwrap_or_default();
            let shown: Vec<String> = repeats.iter().map(|repeat| format!("{:.4}", repeat.wall_s)).collect();
            vec![
                format!(
                    "{}, {}{}",
                    m.run.engine,
                    m.run.setting,
                    ["", " (timed again)", " (timed twice again)"][m.again.min(2)]
                ),
                m.batch.to_string(),
                shown.join("  "),
                m.variation().map_or_else(|| "-".to_owned(), |v| format!("{:.1}%", 100.0 * v)),
            ]
        };
        Comparison::new(
            "Repeats",
            "After one run to warm up. A repeat is a batch of runs and counts as their mean; the variation is \
             the standard deviation (n - 1) over the mean of the repeats, and P1.4 takes the worst. An engine whose \
             times vary by 10% or more is timed again with repeats of twice the length, at most twice (not with \
             --quick), and the last count.",
            "engine | runs a repeat | wall s of each repeat | variation",
            self.repeated().map(row),
        )
    }
}

/// Returns a table of runs with their times, if `timed`, and the quality of their draws.
fn runs<'a>(
    title: &str,
    note: &str,
    measurements: impl IntoIterator<Item = &'a Measurement>,
    timed: bool,
) -> Comparison {
    let row = |m: &Measurement| {
        let time = |digits: usize, f: fn(&EngineTimes) -> f64| match m.run.result.value() {
            Some(times) if timed => format!("{:.digits$}", f(times)),
            _ => "-".to_owned(),
        };
        let quality = &m.quality;
        vec![
            m.run.setting.clone(),
            m.run.groups.to_string(),
            time(3, EngineTimes::wall_s),
            format!("{:.1}", m.leapfrogs_per_draw),
            format!("{:.0}", quality.min_ess_bulk),
            format!("{:.0}", quality.min_ess_tail),
            format!("{:.4}", quality.max_rhat),
            m.divergences.to_string(),
            time(0, EngineTimes::min_ess_per_s),
            if quality.converged() { "yes" } else { "no" }.into(),
        ]
    };
    Comparison::new(
        title,
        format!("{note} R-hat and ESS are the worst of all parameters; a run passes as P0.3 does."),
        "configuration | groups | wall s | leapfrogs/draw | bulk ESS | tail ESS | R-hat | divergences | ESS/s | passes",
        measurements.into_iter().map(row),
    )
}
