//! The text of a comparison.

use super::{ComparedTrace, TraceComparison};
use octopus_diag::{ParameterDifference, TextColumn, moments_as_text, text_table};
use octopus_report::{Charset, count, rate, seconds, significant};

/// The most parameters in a table. Of more parameters, only those that differ most in standard errors are shown.
const MOST: usize = 20;

impl TraceComparison {
    /// Returns the comparison as text: tables, checks, advice and a verdict. With `all` the table has every parameter,
    /// else the 20 that differ most in standard errors.
    pub fn to_text(&self, all: bool) -> String {
        let charset = Charset::from_environment();
        let mut text = String::new();
        for (letter, side) in ["A", "B"].into_iter().zip(&self.runs) {
            text += &format!(
                "{letter}  {}: {} chains of {} draws\n",
                side.name,
                count(side.chains as u64),
                count(side.draws as u64)
            );
        }
        text += &self.parameters_text(all, charset);
        text += &self.speed_text(charset);
        text += &self.settings_text(charset);
        text.push('\n');
        for check in &self.checks {
            text += &format!("{check}\n");
        }
        let mut said: Vec<&str> = Vec::new();
        for advice in self.checks.iter().filter_map(|check| check.advice.as_deref()) {
            if !said.contains(&advice) {
                text += &format!("-> {advice}\n");
                said.push(advice);
            }
        }
        let verdict = match (self.same, self.by_chance) {
            (true, _) => "the same posterior, as far as these draws can tell",
            (false, true) => "not within the limits; chance alone may have made the difference",
            (false, false) => "they differ",
        };
        text + verdict + "\n"
    }

    fn parameters_text(&self, all: bool, charset: Charset) -> String {
        let columns = [
            TextColumn::wrapped("", 40),
            TextColumn::right("mean A"),
            TextColumn::right("mean B"),
            TextColumn::right("apart"),
            TextColumn::right("z"),
            TextColumn::right("sd A"),
            TextColumn::right("sd B"),
            TextColumn::right("apart"),
            TextColumn::right("z"),
            TextColumn::right("5% z"),
            TextColumn::right("50% z"),
            TextColumn::right("95% z"),
            TextColumn::right("Wasserstein/sd"),
        ];
        let mut shown: Vec<&ParameterDifference> = self.posterior.parameters.iter().collect();
        let mut note = String::new();
        if !all && shown.len() > MOST {
            let size = |p: &ParameterDifference| if p.worst_z().is_nan() { f64::INFINITY } else { p.worst_z().abs() };
            shown.sort_by(|a, b| size(b).total_cmp(&size(a)));
            note = format!(
                "... the {MOST} of {} parameters that differ most in standard errors; --all shows all\n",
                shown.len()
            );
            shown.truncate(MOST);
        }
        let share = |share: f64| format!("{:.2} %", 100.0 * share);
        let z = |z: f64| if z.is_nan() { String::new() } else { format!("{z:.1}") };
        let moments = moments_as_text(&shown.iter().map(|p| (p.mean, p.sd)).collect::<Vec<_>>());
        let rows: Vec<Vec<String>> = shown
            .into_iter()
            .zip(moments)
            .map(|(p, [[mean_a, mean_b], [sd_a, sd_b]])| {
                vec![
                    p.name.clone(),
                    mean_a,
                    mean_b,
                    share(p.relative_mean),
                    z(p.z_mean),
                    sd_a,
                    sd_b,
                    share(p.relative_sd),
                    z(p.z_sd),
                    z(p.z_quantiles[0]),
                    z(p.z_quantiles[1]),
                    z(p.z_quantiles[2]),
                    significant(p.wasserstein_sds(), 2),
                ]
            })
            .collect();
        format!("\n{}{note}", text_table(&columns, &rows, charset.table()))
    }

    fn speed_text(&self, charset: Charset) -> String {
        let columns =
            [TextColumn::left(""), TextColumn::right("A"), TextColumn::right("B"), TextColumn::right("B over A")];
        type Figure = (&'static str, fn(&ComparedTrace) -> Option<f64>, fn(f64) -> String);
        let figures: [Figure; 5] = [
            ("warm-up and sampling", |side| side.speed.seconds, seconds),
            ("smallest bulk-ESS", |side| side.speed.min_ess_bulk, rate),
            ("smallest bulk-ESS each second", |side| side.speed.min_ess_per_s, rate),
            ("gradients of the draws", |side| side.speed.gradients.map(|n| n as f64), |v| count(v as u64)),
            (
                "smallest bulk-ESS of 1000 gradients",
                |side| side.speed.min_ess_per_1000_gradients,
                |v| significant(v, 3),
            ),
        ];
        let rows: Vec<Vec<String>> = figures
            .into_iter()
            .map(|(what, of, show)| {
                let [a, b] = [0, 1].map(|i| of(&self.runs[i]));
                let cell = |value: Option<f64>| value.map_or("not told".to_owned(), show);
                let ratio = match (a, b) {
                    (Some(a), Some(b)) if a > 0.0 => significant(b / a, 3),
                    _ => String::new(),
                };
                vec![what.to_owned(), cell(a), cell(b), ratio]
            })
            .collect();
        format!("\n{}", text_table(&columns, &rows, charset.table()))
    }

    fn settings_text(&self, charset: Charset) -> String {
        if self.settings.is_empty() {
            return "\nno setting differs\n".into();
        }
        let columns =
            [TextColumn::left("settings that differ"), TextColumn::wrapped("A", 40), TextColumn::wrapped("B", 40)];
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
        let rows: Vec<Vec<String>> = self
            .settings
            .iter()
            .map(|setting| vec![setting.name.clone(), cell(&setting.values[0]), cell(&setting.values[1])])
            .collect();
        format!("\n{}", text_table(&columns, &rows, charset.table()))
    }
}
