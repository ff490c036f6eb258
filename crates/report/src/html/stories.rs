//! The stories' numbers for the page's script, as short as they can be: thousands of parameters have one each.

use std::collections::HashMap;
use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use super::parameters::ordered;
use crate::report::Report;
use crate::story::ParameterStory;
use crate::summary::SummaryRow;

/// A digit for each sixteenth of what is expected, up to four times as much.
const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// Returns a script element with JSON: `rows` has for each row of the table null or a list: of each chain the mean less
/// that of all, in ten-thousandths of the sd of all, and the sd in hundredths of it; bulk and tail effective sample
/// sizes by `draws`; a digit for each chain and bin of ranks; the autocorrelation time.
pub(super) fn data(report: &Report) -> Markup {
    let stories = &report.stories;
    let by_name: HashMap<&str, &ParameterStory> =
        stories.parameters.iter().map(|story| (story.name.as_str(), story)).collect();
    let total = report.convergence.chains * report.convergence.draws;
    let (together, draws) = (stories.chains_together, &stories.draws);
    let mut json = format!("{{\"together\":{together},\"total\":{total},\"draws\":{draws:?},\"rows\":[");
    for (i, row) in ordered(report).enumerate() {
        json.push_str(if i > 0 { ",\n" } else { "\n" });
        match by_name.get(row.name.as_str()) {
            Some(story) => add(&mut json, row, story),
            None => json.push_str("null"),
        }
    }
    json.push_str("]}");
    html! { script #stories type="application/json" { (PreEscaped(json)) } }
}

fn add(json: &mut String, row: &SummaryRow, story: &ParameterStory) {
    let of_sd = |value: f64| value / row.sd;
    json.push('[');
    list(json, story.means.iter().map(|mean| 1e4 * of_sd(mean - row.mean)));
    list(json, story.sds.iter().map(|&sd| 1e2 * of_sd(sd)));
    list(json, story.ess_bulk.iter().copied());
    list(json, story.ess_tail.iter().copied());
    json.push('"');
    for chain in &story.ranks {
        let expected = f64::from(chain.iter().sum::<u32>()) / chain.len() as f64;
        let digit = |&count: &u32| (16.0 * f64::from(count) / expected).round().min(63.0) as usize;
        json.extend(chain.iter().map(|count| char::from(DIGITS[digit(count)])));
    }
    json.push_str("\",");
    if story.autocorrelation_time.is_finite() {
        let _ = write!(json, "{:.2}]", story.autocorrelation_time);
    } else {
        json.push_str("null]");
    }
}

/// Whole numbers; what is none is null.
fn list(json: &mut String, values: impl Iterator<Item = f64>) {
    json.push('[');
    for (i, value) in values.enumerate() {
        if i > 0 {
            json.push(',');
        }
        // Beyond this nobody reads the digits, and the picture is off its scale anyway.
        if value.is_finite() && value.abs() < 1e9 {
            let _ = write!(json, "{}", value.round() as i64);
        } else {
            json.push_str("null");
        }
    }
    json.push_str("],");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, Shape, report};

    #[test]
    fn numbers_that_nobody_reads_are_null() {
        let mut json = String::new();
        list(&mut json, [2.4, -999_999_999.0, 1e9, f64::INFINITY, f64::NAN].into_iter());
        assert_eq!(json, "[2,-999999999,null,null,null],");
    }

    #[test]
    fn the_numbers_are_json_in_the_order_of_the_table() {
        let shape = Shape { groups: 2, chains: 2, draws: 80, truth: true, divergences: false };
        let mut report = report(&Sample::new(shape), shape);
        let named =
            |report: &Report, name: &str| report.stories.parameters.iter().position(|s| s.name == name).unwrap();
        let sigma_obs = named(&report, "sigma_obs");
        report.stories.parameters[sigma_obs].means[1] = f64::NAN;
        report.stories.parameters[sigma_obs].autocorrelation_time = f64::NAN;
        let z = named(&report, "z[1]");
        report.stories.parameters.remove(z);
        let text = data(&report).into_string();
        let json = text.split_once('>').unwrap().1.strip_suffix("</script>").unwrap();
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let names: Vec<&str> = ordered(&report).map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["mu_pop", "sigma_pop", "sigma_obs", "z[0]", "z[1]", "mu_group[0]", "mu_group[1]"]);
        assert_eq!(json["rows"].as_array().unwrap().len(), 7);
        assert!(json["rows"][4].is_null(), "no story, no numbers");
        assert!(json["rows"][2][0][1].is_null() && json["rows"][2][5].is_null());
        assert_eq!((&json["total"], &json["draws"][7]), (&160.into(), &80.into()));
        // Means of two equal chains lie on both sides of that of all; ranks of a chain add up to its share.
        let first = &json["rows"][0];
        assert!((first[0][0].as_i64().unwrap() + first[0][1].as_i64().unwrap()).abs() <= 2, "{first}");
        let digits = first[4].as_str().unwrap().as_bytes();
        assert_eq!(digits.len(), 40);
        let sum: usize = digits[..20].iter().map(|digit| DIGITS.iter().position(|d| d == digit).unwrap()).sum();
        assert_eq!(sum, 16 * 20, "four draws each are sixteenths exactly");
    }
}
