//! Shrinkage: how far a hierarchical model pulls the groups' raw means towards each other.
//!
//! The classes of groups by their numbers of observations, which have a colour each, stand here.

mod draw;
mod shade;

use std::collections::HashMap;

use super::axis::{extent, widened};
use crate::summary::SummaryRow;

/// The data of a plot of shrinkage.
#[derive(Clone, Debug)]
pub struct ShrinkagePlot {
    /// The variable of the groups, e.g. `mu_group`.
    pub name: String,
    /// Each group.
    pub groups: Vec<ShrunkGroup>,
    /// The posterior mean of what the groups are pulled to, e.g. `mu_pop`.
    pub grand_mean: Option<f64>,
}

/// One group and how it was pulled.
#[derive(Clone, Debug, PartialEq)]
pub struct ShrunkGroup {
    /// The group's name.
    pub label: String,
    /// The mean of the group's observations.
    pub raw: f64,
    /// The posterior mean of the group.
    pub mean: f64,
    /// The posterior's 89% highest-density interval.
    pub hdi89: (f64, f64),
    /// The number of the group's observations.
    pub size: usize,
}

impl ShrinkagePlot {
    /// Takes the elements of the variable `name` in `summary`, in order, beside the means of their observations:
    /// observation `i` belongs to the group `group_of[i]`. Groups without observations or without a row are left out.
    pub fn from_summary(
        name: &str,
        summary: &[SummaryRow],
        observed: &[f64],
        group_of: &[usize],
        grand_mean: Option<f64>,
    ) -> Self {
        let mut sums: HashMap<usize, (f64, usize)> = HashMap::new();
        for (&y, &group) in observed.iter().zip(group_of) {
            let sum = sums.entry(group).or_default();
            *sum = (sum.0 + y, sum.1 + 1);
        }
        let rows = summary
            .iter()
            .filter(|row| row.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']')));
        let groups = rows.enumerate().filter_map(|(group, row)| {
            let &(sum, size) = sums.get(&group)?;
            let label = row.name[name.len() + 1..row.name.len() - 1].to_owned();
            Some(ShrunkGroup { label, raw: sum / size as f64, mean: row.mean, hdi89: row.hdi.into(), size })
        });
        Self { name: name.to_owned(), groups: groups.collect(), grand_mean }
    }

    /// Groups that have a place in the picture.
    fn shown(&self) -> Vec<&ShrunkGroup> {
        self.groups.iter().filter(|group| group.raw.is_finite() && group.mean.is_finite()).collect()
    }

    /// Up to three classes of sizes, each with its largest size: thirds of the sizes that occur.
    fn classes(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.shown().iter().map(|group| group.size).collect();
        sizes.sort_unstable();
        let Some(&last) = sizes.last() else { return Vec::new() };
        let mut ends = vec![sizes[(sizes.len() - 1) / 3], sizes[2 * (sizes.len() - 1) / 3], last];
        ends.dedup();
        ends
    }

    /// Raw means, and posterior means with their intervals, on one scale.
    fn range(&self, intervals: bool) -> (f64, f64) {
        let ends = self.shown().into_iter().flat_map(|group| {
            let (low, high) = if intervals { group.hdi89 } else { (f64::NAN, f64::NAN) };
            [group.raw, group.mean, low, high]
        });
        widened(extent(ends.chain(self.grand_mean)).unwrap_or((0.0, 1.0)), 0.04)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plot;
    use super::super::flaws;
    use super::*;

    fn plot(n: usize) -> ShrinkagePlot {
        let group = |i: usize| {
            let raw = 50.0 + 20.0 * (((i * 7919) % 1009) as f64 / 1009.0 - 0.5);
            let size = 2 + i % 17;
            let mean = 50.0 + (raw - 50.0) * size as f64 / (size as f64 + 4.0);
            ShrunkGroup { label: i.to_string(), raw, mean, hdi89: (mean - 2.0, mean + 2.0), size }
        };
        ShrinkagePlot { name: "mu_group".to_owned(), groups: (0..n).map(group).collect(), grand_mean: Some(50.0) }
    }

    #[test]
    fn raw_means_stand_beside_the_rows_of_their_groups() {
        let row = |name: &str, mean: f64| {
            let mut row = SummaryRow::with_rhat(name, 1.0);
            row.mean = mean;
            row
        };
        let rows = [
            row("mu", 3.0),
            row("mu_group_sd]", 9.0),
            row("mu_group[berlin]", 4.0),
            row("mu_group[none]", 5.0),
            row("mu_group[rome]", 6.0),
        ];
        let plot = ShrinkagePlot::from_summary("mu_group", &rows, &[1.0, 10.0, 2.0], &[0, 2, 0], Some(3.0));
        let found: Vec<_> = plot.groups.iter().map(|g| (g.label.as_str(), g.raw, g.mean, g.size)).collect();
        assert_eq!(found, [("berlin", 1.5, 4.0, 2), ("rome", 10.0, 6.0, 1)]);
    }

    #[test]
    fn sizes_fall_into_thirds() {
        assert_eq!(plot(300).classes(), [7, 13, 18]);
        let mut equal = plot(5);
        equal.groups.iter_mut().for_each(|group| group.size = 10);
        assert_eq!(equal.classes(), [10]);
    }

    #[test]
    fn from_one_to_ten_thousand_groups_and_odd_values() {
        // Twelve groups are named at most, 1500 are points.
        for n in [1, 3, 12, 13, 100, 1003, 1500, 1501, 10_000] {
            let plot = plot(n);
            assert_eq!(flaws(&plot), [""; 0], "{n}");
            if n == 10_000 {
                let svg = plot.svg().unwrap();
                assert!(svg.len() < 600_000, "{}", svg.len());
            }
        }
        let mut odd = plot(4);
        odd.name = "a very long name of a variable ".repeat(6);
        odd.grand_mean = Some(1e9);
        odd.groups[0].raw = f64::NAN;
        odd.groups[1].hdi89 = (f64::NAN, f64::INFINITY);
        odd.groups[3].hdi89 = (f64::NAN, 50.0);
        odd.groups[2].label = "a very long name of a group ".repeat(9);
        let constant = ShrunkGroup { raw: 5.0, mean: 5.0, hdi89: (5.0, 5.0), ..plot(1).groups[0].clone() };
        let constant = ShrinkagePlot { groups: vec![constant; 7], grand_mean: None, ..plot(1) };
        for plot in [odd, constant] {
            assert_eq!(flaws(&plot), [""; 0]);
        }
        let empty = ShrinkagePlot { groups: vec![], ..plot(1) };
        assert!(empty.png().unwrap_err().to_string().contains("group"));
    }
}
