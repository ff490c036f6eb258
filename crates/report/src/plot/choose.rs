//! Chooses the parameters that a picture shows when it has no room for all, and says so.

use std::collections::HashMap;

use octopus_trace::Dataset;

use super::palette::MUTED;
use super::panel::{MARGIN, SMALL, paragraph};
use super::scene::{Scene, Text};
use crate::draws::{self, ElementDraws};
use crate::estimate::smirnov;
use crate::format::count;
use crate::summary::{SummaryRow, by_worst_rhat};

/// Chooses at most `most` rows in the order of the model: the scalars (if too many, those with the worst R-hat), then
/// the elements of arrays with the worst R-hat, at most `elements` of them where there are scalars.
pub(super) fn choose(summary: &[SummaryRow], most: usize, elements: usize) -> Vec<&SummaryRow> {
    let (arrays, scalars): (Vec<&SummaryRow>, Vec<&SummaryRow>) = summary.iter().partition(|row| row.is_element());
    let mut chosen = worst(scalars, most);
    let room = if chosen.is_empty() { most } else { (most - chosen.len()).min(elements) };
    chosen.extend(worst(arrays, room));
    chosen
}

/// Returns the `count` rows with the worst R-hat, in the order of the model.
fn worst(mut rows: Vec<&SummaryRow>, count: usize) -> Vec<&SummaryRow> {
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| by_worst_rhat(a, b));
    sorted.truncate(count);
    rows.retain(|row| sorted.iter().any(|kept| kept.name == row.name));
    rows
}

/// Returns the draws of each chosen row, in the rows' order; a row without draws is left out.
pub(super) fn found<'a>(posterior: &'a Dataset, rows: &[&'a SummaryRow]) -> Vec<(ElementDraws<'a>, &'a SummaryRow)> {
    let mut elements: Vec<Option<ElementDraws>> = vec![None; rows.len()];
    for element in draws::elements(posterior) {
        if let Some(place) = rows.iter().position(|row| row.name == element.name) {
            elements[place] = Some(element);
        }
    }
    elements.into_iter().zip(rows).filter_map(|(element, row)| Some((element?, *row))).collect()
}

/// Chooses at most `most` rows in the order of the model for a picture of divergences: those whose values differ most
/// between the draws where transitions diverged and the others. Without divergences it takes those that [`choose`]
/// takes.
pub(super) fn related<'a>(
    posterior: &Dataset,
    summary: &'a [SummaryRow],
    diverging: &[bool],
    most: usize,
) -> Vec<&'a SummaryRow> {
    if summary.len() <= most || !diverging.contains(&true) {
        return choose(summary, most, most);
    }
    let rows: HashMap<&str, usize> = summary.iter().enumerate().map(|(i, row)| (row.name.as_str(), i)).collect();
    let mut distances: Vec<(f64, usize)> = draws::elements(posterior)
        .filter_map(|element| Some((rows.get(element.name.as_str()).copied()?, element)))
        .map(|(row, element)| (smirnov(&element.pooled(), diverging), row))
        .collect();
    distances.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    distances.truncate(most);
    let mut places: Vec<usize> = distances.into_iter().map(|(_, row)| row).collect();
    places.sort_unstable();
    places.into_iter().map(|row| &summary[row]).collect()
}

/// Says how the parameters of a picture of divergences were chosen; `None` when it shows all.
pub(super) fn related_words(shown: usize, of: usize, divergences: usize) -> Option<String> {
    if divergences == 0 {
        return words(shown, of);
    }
    let of = (shown < of).then(|| count(of as u64))?;
    let shown = count(shown as u64);
    Some(format!("{shown} of {of} parameters: those whose values differ most between divergent and other draws"))
}

/// Says how the parameters of a picture were chosen: `9 of 1,003 parameters: ...`; `None` when it shows all.
pub(super) fn words(shown: usize, of: usize) -> Option<String> {
    let of = (shown < of).then(|| count(of as u64))?;
    Some(format!("{} of {of} parameters: scalars first, then the elements with the worst R-hat", count(shown as u64)))
}

/// A second line below a picture's note; returns where the plots start.
pub(super) fn second_note(scene: &mut Scene, top: f64, words: Option<String>) -> f64 {
    match words {
        Some(words) => top + 32.0 + paragraph(scene, Text::new((MARGIN, top - 6.0), words, SMALL, MUTED)),
        None => top,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(rows: &[&'a SummaryRow]) -> Vec<&'a str> {
        rows.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn scalars_first_then_the_worst_elements() {
        let mut summary = vec![SummaryRow::with_rhat("mu_pop", 1.0), SummaryRow::with_rhat("sigma_pop", 1.0)];
        summary
            .extend((0..50).map(|j| SummaryRow::with_rhat(&format!("z[{j}]"), 1.0 + 0.001 * f64::from((j * 7) % 50))));
        summary.push(SummaryRow::with_rhat("sigma_obs", 1.2));
        summary.push(SummaryRow::with_rhat("mu_group[9]", f64::NAN));
        let chosen = choose(&summary, 6, 3);
        assert_eq!(names(&chosen), ["mu_pop", "sigma_pop", "sigma_obs", "z[7]", "z[14]", "mu_group[9]"]);
        assert_eq!(choose(&summary, 9, 2).len(), 5);
    }

    #[test]
    fn many_scalars_or_none() {
        let many: Vec<_> =
            (0..20).map(|j| SummaryRow::with_rhat(&format!("a{j}"), 1.0 + 0.01 * f64::from(j))).collect();
        assert_eq!(names(&choose(&many, 6, 3)), ["a14", "a15", "a16", "a17", "a18", "a19"]);
        let arrays: Vec<_> = (0..20).map(|j| SummaryRow::with_rhat(&format!("z[{j}]"), 1.0)).collect();
        assert_eq!(choose(&arrays, 6, 3).len(), 6);
        assert!(choose(&[], 6, 3).is_empty());
    }

    #[test]
    fn parameters_that_divergences_have_to_do_with() {
        use octopus_trace::{Array, Values};
        let diverging: Vec<bool> = (0..100).map(|i| i % 20 == 7).collect();
        let mut posterior = Dataset::default();
        let mut summary = Vec::new();
        for name in ["a", "b", "c", "d"] {
            // c is low where transitions diverge; the others do not care.
            let value = |i: usize| if name == "c" && diverging[i] { -50.0 } else { (i * 37 % 100) as f64 };
            let dims = vec!["chain".to_owned(), "draw".to_owned()];
            let array = Array { dims, shape: vec![2, 50], values: Values::F64((0..100).map(value).collect()) };
            posterior.variables.insert(name.into(), array);
            summary.push(SummaryRow::with_rhat(name, 1.0));
        }
        assert_eq!(names(&related(&posterior, &summary, &diverging, 1)), ["c"]);
        assert_eq!(related(&posterior, &summary, &diverging, 3).len(), 3);
        assert_eq!(names(&related(&posterior, &summary, &diverging, 9)), ["a", "b", "c", "d"]);
        assert_eq!(names(&related(&posterior, &summary, &[], 2)), ["a", "b"], "without divergences the worst R-hat");
        assert!(related_words(1, 4, 5).unwrap().contains("divergent") && related_words(4, 4, 5).is_none());
    }

    #[test]
    fn a_picture_of_all_says_nothing() {
        assert_eq!(words(9, 9), None);
        assert!(words(9, 1003).unwrap().starts_with("9 of 1,003 parameters"));
    }
}
