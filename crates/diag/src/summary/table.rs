//! Summaries as a table of text: aligned columns, decimals, long variables shortened in the middle.

use crate::summary::Summary;
use crate::summary::digits::align_points;
use crate::summary::parameter::{Column, Numbers, ParameterSummary, TEXT, short};
use crate::text_table::{TableLook, TextColumn, text_table};
use std::fmt;

/// How many rows a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Every row.
    All,
    /// Shorten once there are more than this many: first each variable to its first and last elements,
    /// and if that is not enough, the table to its first and last rows. What is left out is counted.
    AtMost(usize),
}

impl Default for Rows {
    fn default() -> Self {
        Self::AtMost(40)
    }
}

/// Decimals of what is in a parameter's unit, as in `az.summary`; a small sd asks for more.
const LEAST_DECIMALS: usize = 3;

/// Elements shown of a variable that is shortened: the first and the last ones.
const FIRST: usize = 3;
const LAST: usize = 2;

impl Summary {
    /// Returns the table of `az.summary`: mean, sd, highest-density interval, standard errors, effective sample sizes
    /// and R-hat, one line for each row.
    pub fn to_text(&self, rows: Rows) -> String {
        let names: Vec<String> = TEXT.iter().flat_map(|column| self.names_of(column)).collect();
        let numbers = names.iter().map(|name| TextColumn::right(name));
        let columns: Vec<TextColumn<'_>> = std::iter::once(TextColumn::left("")).chain(numbers).collect();
        let shown = shown(&self.parameters, rows);
        let of_row = |shown: &Shown| if let Shown::Row(i) = shown { Some(&self.parameters[*i]) } else { None };
        let mut rows = lines(&shown.iter().filter_map(of_row).collect::<Vec<_>>()).into_iter();
        let lines = shown.into_iter().map(|shown| match shown {
            Shown::Row(_) => rows.next().unwrap_or_default(),
            Shown::Gap(count) => vec![format!("... {count} more")],
        });
        text_table(&columns, &lines.collect::<Vec<_>>(), TableLook::default())
    }

    /// Returns the name above a column's numbers, or the two above an interval's.
    fn names_of(&self, column: &Column) -> Vec<String> {
        let name = column.name;
        match column.numbers {
            Numbers::One(..) if name == "r_hat" && self.superchains.is_some() => vec!["nested_r_hat".to_owned()],
            Numbers::One(..) => vec![name.to_owned()],
            Numbers::Two(..) => {
                let low = 50.0 * (1.0 - self.prob);
                [low, 100.0 - low].map(|bound| format!("{name}_{}%", short(bound))).into()
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text(Rows::default()).trim_end())
    }
}

/// A row to show, or the number of rows left out.
#[derive(Debug, PartialEq)]
enum Shown {
    Row(usize),
    Gap(usize),
}

fn shown(parameters: &[ParameterSummary], rows: Rows) -> Vec<Shown> {
    let total = parameters.len();
    let Rows::AtMost(limit) = rows else { return (0..total).map(Shown::Row).collect() };
    if total <= limit {
        return (0..total).map(Shown::Row).collect();
    }
    let mut shown = Vec::new();
    let mut start = 0;
    for group in parameters.chunk_by(|a, b| a.variable() == b.variable()) {
        shorten(start, group.len(), FIRST, LAST, &mut shown);
        start += group.len();
    }
    if shown.iter().filter(|line| matches!(line, Shown::Row(_))).count() > limit {
        shown.clear();
        shorten(0, total, limit - limit / 2, limit / 2, &mut shown);
    }
    shown
}

/// Shows `count` rows from `start` on, or the first and last ones when that leaves out more than one.
fn shorten(start: usize, count: usize, first: usize, last: usize, shown: &mut Vec<Shown>) {
    if count <= first + last + 1 {
        shown.extend((start..start + count).map(Shown::Row));
        return;
    }
    shown.extend((start..start + first).map(Shown::Row));
    shown.push(Shown::Gap(count - first - last));
    shown.extend((start + count - last..start + count).map(Shown::Row));
}

/// Returns the cells of each line: the name, then the numbers.
fn lines(parameters: &[&ParameterSummary]) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = parameters.iter().map(|parameter| vec![parameter.name.clone()]).collect();
    for column in TEXT {
        let texts = column.texts(parameters, LEAST_DECIMALS);
        for i in 0..texts.first().map_or(0, Vec::len) {
            let mut texts: Vec<String> = texts.iter().map(|texts| texts[i].clone()).collect();
            align_points(&mut texts);
            lines.iter_mut().zip(texts).for_each(|(line, text)| line.push(text));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str) -> ParameterSummary {
        ParameterSummary {
            name: name.to_owned(),
            mean: 50.123_456,
            sd: 1.5e-5,
            hdi: [-1.0, 1234.5],
            eti: [0.0, 1.0],
            mcse_mean: 0.02,
            ess_bulk: 4321.6,
            ess_tail: 99.0,
            rhat: 1.0004,
            ..ParameterSummary::default()
        }
    }

    fn table(names: &[&str]) -> Summary {
        Summary {
            prob: 0.89,
            chains: 4,
            draws: 10,
            superchains: None,
            parameters: names.iter().map(|name| parameter(name)).collect(),
        }
    }

    #[test]
    fn columns_are_aligned() {
        let mut table = table(&["mu", "theta[\u{e9}t\u{e9}]"]);
        table.parameters[0].sd = 2.5;
        let header = "                  mean         sd    hdi_5.5%     hdi_94.5%  mcse_mean  mcse_sd  ess_bulk  ess_tail  r_hat";
        let mu = "mu          50.123      2.500      -1.000      1234.500          0.020      NaN      4322        99  1.000";
        let theta = "theta[\u{e9}t\u{e9}]  50.1234560  0.0000150  -1.0000000  1234.5000000      0.020      NaN      4322        99  1.000";
        assert_eq!(table.to_string(), [header, mu, theta].join("\n"));
    }

    #[test]
    fn nested_r_hat_is_called_so() {
        let text = Summary { superchains: Some(2), ..table(&["mu"]) }.to_string();
        let names: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
        let numbers = ["mean", "sd", "hdi_5.5%", "hdi_94.5%", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail"];
        assert_eq!((&names[..8], &names[8..]), (&numbers[..], &["nested_r_hat"][..]));
    }

    /// One row is not left out: the line that says so would take its place.
    #[test]
    fn two_rows_are_left_out_at_least() {
        let lines = |count| {
            let mut lines = Vec::new();
            shorten(0, count, 3, 2, &mut lines);
            lines
        };
        assert_eq!(lines(6), [0, 1, 2, 3, 4, 5].map(Shown::Row));
        let [first, second, third, last_but_one, last] = [0, 1, 2, 5, 6].map(Shown::Row);
        assert_eq!(lines(7), [first, second, third, Shown::Gap(2), last_but_one, last]);
    }

    #[test]
    fn as_many_rows_as_the_limit_are_shown() {
        let names = std::iter::once("mu".to_owned()).chain((0..100).map(|i| format!("z[{i}]")));
        let rows: Vec<ParameterSummary> = names.map(|name| parameter(&name)).collect();
        let [mu, z0, z1, z2, z98, z99] = [0, 1, 2, 3, 99, 100].map(Shown::Row);
        assert_eq!(shown(&rows, Rows::AtMost(6)), [mu, z0, z1, z2, Shown::Gap(95), z98, z99]);
    }

    #[test]
    fn long_variables_are_shortened_and_counted() {
        let names: Vec<String> =
            std::iter::once("mu".to_owned()).chain((0..100).map(|i| format!("z[{i}]"))).chain(["sd".into()]).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = table(&names).to_text(Rows::default());
        let firsts: Vec<&str> = text.lines().skip(1).map(|line| line.split("  ").next().unwrap_or_default()).collect();
        assert_eq!(firsts, ["mu", "z[0]", "z[1]", "z[2]", "... 95 more", "z[98]", "z[99]", "sd"]);
        assert_eq!(table(&names).to_text(Rows::All).lines().count(), 103);
    }

    #[test]
    fn many_variables_are_shortened_too() {
        let names: Vec<String> = (0..100).map(|i| format!("v{i}")).collect();
        let rows: Vec<ParameterSummary> = names.iter().map(|name| parameter(name)).collect();
        let lines = shown(&rows, Rows::AtMost(5));
        let expected = [0, 1, 2].map(Shown::Row).into_iter().chain([Shown::Gap(95)]).chain([98, 99].map(Shown::Row));
        assert_eq!(lines, expected.collect::<Vec<_>>());
    }

    #[test]
    fn forty_rows_are_shown_and_no_more() {
        assert_eq!(Rows::default(), Rows::AtMost(40));
        let rows = |count: usize| (0..count).map(|i| parameter(&format!("z[{i}]"))).collect::<Vec<_>>();
        assert_eq!(shown(&rows(40), Rows::default()).len(), 40);
        let [first, second, third, last_but_one, last] = [0, 1, 2, 39, 40].map(Shown::Row);
        let shortened = [first, second, third, Shown::Gap(36), last_but_one, last];
        assert_eq!(shown(&rows(41), Rows::default()), shortened);
        assert_eq!(shown(&rows(41), Rows::All).len(), 41);
    }
}
