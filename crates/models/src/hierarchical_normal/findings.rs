//! What users should know of their data before draws are made: what data cannot tell apart, and priors on another scale
//! than theirs.

use super::HierarchicalPrior;
use crate::ModelError;
use octopus_density::GroupedData;
use octopus_formats::observations::is_missing_word;

/// How many of a prior's standard deviations off what data alone show must lie to be a conflict, where it is known well.
const FAR: f64 = 5.0;
/// How much wider than the data a prior on their scale is.
const WIDER: f64 = 2.5;
/// The share of its size by which a value differs through rounding.
const ROUNDING: f64 = 1e-12;

/// Checks that the data have a posterior.
///
/// Let N values in J groups have a sum of squares of 0 within groups. With the groups' means integrated out, the
/// likelihood grows as sigma_obs^-(N - J) towards 0, while the half-normal prior is finite there: the integral diverges
/// where N > J. Of one value for each group, all equal, it grows as r^-(J - 1), r^2 = sigma_pop^2 + sigma_obs^2, over the
/// plane of both: it diverges from J = 3 on.
///
/// # Errors
/// [`ModelError::NoSpread`] where it diverges.
pub(super) fn check_spread(data: &GroupedData) -> Result<(), ModelError> {
    let (observations, groups) = (data.values().len(), data.groups());
    let is_constant = |values: &[f64]| values.iter().all(|value| value == &values[0]);
    if is_constant(data.values()) && (observations > groups || groups > 2) {
        let what = format!("every value is {}", data.values()[0]);
        return Err(ModelError::NoSpread { what, remedy: "check that --value names the column that was measured" });
    }
    if observations > groups && (0..groups).all(|group| is_constant(data.group(group))) {
        return Err(ModelError::NoSpread {
            what: "the values of each group are all the same".to_owned(),
            remedy: "if the table repeats a group's value, give one row for each group; else check --group and --value",
        });
    }
    Ok(())
}

/// Returns what a user should know of the data and the prior.
pub(super) fn of_data(data: &GroupedData, prior: &HierarchicalPrior) -> Vec<String> {
    let (observations, groups) = (data.values().len(), data.groups());
    let mut found = Vec::new();
    let mut say = |text: &str| found.push(text.to_owned());
    if observations == 1 {
        say(
            "there is one value only, which tells nothing of the scales sigma_pop and sigma_obs: their posteriors are \
             nearly their priors; give more rows",
        );
    } else if groups == 1 {
        say("there is one group only, which tells nothing of sigma_pop: its posterior is nearly its prior; check \
             --group, or give rows of more groups");
    } else if observations == groups {
        say("every group has one row, which tells the sum of the squares of sigma_pop and sigma_obs only: what each \
             has of it comes from the priors; check --group, give more rows of each group, or set --sigma-obs-scale \
             by what is known of the measurement");
    }
    let binary = data.values().iter().all(|&value| value == 0.0 || value == 1.0);
    if observations > 1 && binary {
        say(
            "all values are 0 or 1, which this model takes for measurements with normal errors: its groups' means are \
             shares, but it predicts values below 0 and above 1; use a model of binary data (docs/models.md shows how \
             to write one)",
        );
    }
    let scales = Scales::of(data);
    let size = data.values().iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if scales.within.is_some_and(|within| within < ROUNDING * size) {
        say("the values of each group differ by rounding only, which leaves sigma_obs next to nothing: if the table \
             repeats a group's value, give one row for each group; else check --value");
    }
    let mut labels = (0..groups).map(|group| data.labels().show(group));
    if let Some(label) = labels.find(|label| is_missing_word(label)) {
        found.push(format!(
            "a group is called `{label}`, as programs write where a value is missing: if it is missing, leave out such \
             rows with --drop-missing"
        ));
    }
    found.extend(conflict(&scales, prior, data));
    found
}

/// What the data alone show of the scales. `None` where they show nothing.
#[derive(Debug)]
struct Scales {
    observations: f64,
    groups: f64,
    /// The mean of the groups' means.
    mean: f64,
    /// The standard deviation of all values.
    all: Option<f64>,
    /// The standard deviation of the groups' means beyond what the values' own explains.
    between: Option<f64>,
    /// The standard deviation within groups, and of how many independent differences it is.
    within: Option<f64>,
}

impl Scales {
    fn of(data: &GroupedData) -> Self {
        let (observations, groups) = (data.values().len() as f64, data.groups() as f64);
        let group = |group: usize| data.group(group);
        let means: Vec<f64> = (0..data.groups()).map(|number| mean(group(number))).collect();
        let squares = |number: usize| group(number).iter().map(|value| (value - means[number]).powi(2)).sum::<f64>();
        let within = (observations > groups)
            .then(|| ((0..data.groups()).map(squares).sum::<f64>() / (observations - groups)).sqrt());
        let own = (0..data.groups()).map(|number| 1.0 / group(number).len() as f64).sum::<f64>() / groups;
        let between = deviation(&means).map(|all| (all * all - within.unwrap_or(0.0).powi(2) * own).max(0.0).sqrt());
        Self { observations, groups, mean: mean(&means), all: deviation(data.values()), between, within }
    }

    /// Returns whether all that is known are numbers: values may be so large that their squares are none.
    fn is_finite(&self) -> bool {
        self.mean.is_finite() && [self.all, self.between, self.within].into_iter().flatten().all(f64::is_finite)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation of several values.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Returns the sentence about priors where what the data alone show lies far outside of them.
fn conflict(scales: &Scales, prior: &HierarchicalPrior, data: &GroupedData) -> Option<String> {
    let Scales { observations, groups, mean, between, within, .. } = *scales;
    let HierarchicalPrior { mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale } = *prior;
    if !scales.is_finite() {
        return None;
    }
    // A standard deviation of few differences may be large by chance.
    let far = |found: f64, scale: f64, differences: f64| found > FAR * scale * (1.0 + 2.0 / differences.sqrt());
    let mut wrong = Vec::new();
    let of_mean = (mu_sd.powi(2) + sigma_pop_scale.powi(2) / groups + sigma_obs_scale.powi(2) / observations).sqrt();
    if (mean - mu_mean).abs() > FAR * of_mean {
        let (found, mu_mean, mu_sd) = (shown(mean, 3), shown(mu_mean, 3), shown(mu_sd, 3));
        wrong.push(format!("the groups' mean is {found}, and the prior of mu_pop is Normal({mu_mean}, {mu_sd})"));
    }
    let mut scale = |found: Option<f64>, what: &str, name: &str, scale: f64, differences: f64| {
        if let Some(found) = found.filter(|found| far(*found, scale, differences)) {
            let (found, scale) = (shown(found, 2), shown(scale, 3));
            wrong.push(format!("{what} vary by {found}, and the prior of {name} is HalfNormal({scale})"));
        }
    };
    if within.is_some() {
        scale(between, "the groups' means", "sigma_pop", sigma_pop_scale, groups - 1.0);
        scale(within, "values of a group", "sigma_obs", sigma_obs_scale, observations - groups);
    } else {
        let both = (sigma_pop_scale.powi(2) + sigma_obs_scale.powi(2)).sqrt();
        scale(between, "values", "sigma_pop and sigma_obs together", both, groups - 1.0);
    }
    let options = priors_of_data(data)?;
    (!wrong.is_empty()).then(|| {
        format!(
            "priors are on another scale than the data: {}; if the units are right, give priors on this scale, such as \
             `{options}`, or better what is known without these data",
            wrong.join("; ")
        )
    })
}

/// Returns the options of priors that are some times as wide as the data.
pub(super) fn priors_of_data(data: &GroupedData) -> Option<String> {
    let scales = Scales::of(data);
    let all = scales.all.filter(|all| *all > 0.0 && scales.is_finite())?;
    let wider = |scale: Option<f64>| shown(WIDER * scale.filter(|scale| *scale > ROUNDING * all).unwrap_or(all), 2);
    // The mean has as many digits as its prior's width has use for.
    let digits = (scales.mean.abs() / all).log10().max(0.0).ceil() as usize + 1;
    Some(format!(
        "--mu-mean {} --mu-sd {} --sigma-pop-scale {} --sigma-obs-scale {}",
        shown(scales.mean, digits),
        shown(WIDER * all, 2),
        wider(scales.between),
        wider(scales.within),
    ))
}

/// Returns a number with so many digits that count, as a command line takes it.
fn shown(value: f64, digits: usize) -> String {
    let rounded = format!("{value:.*e}", digits.clamp(1, 17) - 1);
    match rounded.parse::<f64>() {
        Ok(value) if value == 0.0 || (1e-4..1e9).contains(&value.abs()) => value.to_string(),
        Ok(value) => format!("{value:e}"),
        Err(_) => rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::Labels;

    fn data(groups: &[&[f64]]) -> GroupedData {
        let index: Vec<usize> = groups.iter().enumerate().flat_map(|(j, values)| vec![j; values.len()]).collect();
        GroupedData::new(Labels::Range(groups.len()), &index, &groups.concat()).unwrap()
    }

    fn found(groups: &[&[f64]]) -> String {
        of_data(&data(groups), &HierarchicalPrior::default()).join("\n")
    }

    #[test]
    fn what_data_cannot_tell_apart_is_said() {
        for (groups, words) in [
            (&[&[50.0][..]][..], "one value only"),
            (&[&[50.0, 51.0, 53.0]], "one group only"),
            (&[&[50.0], &[51.0], &[53.0]], "every group has one row"),
            (&[&[0.0, 1.0], &[1.0, 1.0]], "all values are 0 or 1"),
            (&[&[50.1, 50.1 + 1e-14], &[47.0, 47.0]], "differ by rounding only"),
        ] {
            let found = found(groups);
            assert!(found.starts_with(words) || found.contains(words), "{words}: {found}");
        }
        assert_eq!(found(&[&[50.0, 51.0], &[53.0, 47.0]]), "");
    }

    #[test]
    fn a_group_called_as_a_missing_value_is_said() {
        let labels = |name: &str| Labels::Strings(vec!["oslo".to_owned(), name.to_owned()]);
        let data = |name: &str| GroupedData::new(labels(name), &[0, 0, 1, 1], &[50.0, 51.0, 47.0, 49.0]).unwrap();
        let of = |name: &str| of_data(&data(name), &HierarchicalPrior::default());
        assert!(of("NA")[0].contains("`NA`") && of("NA")[0].contains("--drop-missing"), "{:?}", of("NA"));
        assert!(of("NAB").is_empty());
    }

    #[test]
    fn values_that_do_not_vary_have_no_posterior() {
        let refused = |groups: &[&[f64]]| check_spread(&data(groups)).map_err(|error| error.to_string());
        for constant in [&[&[5.0, 5.0][..], &[5.0]][..], &[&[5.0], &[5.0], &[5.0]], &[&[5.0, 5.0]]] {
            let told = refused(constant).unwrap_err();
            assert!(told.starts_with("every value is 5: ") && told.contains("--value"), "{told}");
        }
        assert!(refused(&[&[5.0, 5.0], &[7.0]]).unwrap_err().starts_with("the values of each group are all the same"));
        for proper in [&[&[5.0][..]][..], &[&[5.0], &[5.0]], &[&[5.0], &[5.0], &[6.0]], &[&[5.0, 5.0], &[7.0, 8.0]]] {
            assert_eq!(refused(proper), Ok(()));
        }
    }

    /// Data about 512, with 24 between and 5 within groups: the options are 2.5 times as wide.
    #[test]
    fn priors_on_another_scale_are_told_with_options() {
        let groups: Vec<[f64; 4]> =
            [-30.0, -10.0, 10.0, 30.0].map(|mean| [-6.0, -2.0, 2.0, 6.0].map(|value| 512.0 + mean + value)).to_vec();
        let groups: Vec<&[f64]> = groups.iter().map(<[f64; 4]>::as_slice).collect();
        let told = found(&groups);
        assert!(told.contains("the groups' mean is 512, and the prior of mu_pop is Normal(50, 20)"), "{told}");
        // Within: the root of 4 times 80 over 12, 5.16; between: that of 2000 / 3 less 26.7 / 4, 25.7; all: 23.6.
        let options = "--mu-mean 512 --mu-sd 59 --sigma-pop-scale 64 --sigma-obs-scale 13";
        assert!(told.contains(&format!("`{options}`")), "{told}");
        assert_eq!(priors_of_data(&data(&groups)).as_deref(), Some(options));
        let prior = HierarchicalPrior { mu_mean: 512.0, mu_sd: 60.0, sigma_pop_scale: 64.0, sigma_obs_scale: 13.0 };
        assert!(of_data(&data(&groups), &prior).is_empty());
        let narrow = HierarchicalPrior { sigma_obs_scale: 0.1, sigma_pop_scale: 0.5, ..prior };
        let told = of_data(&data(&groups), &narrow).join("\n");
        assert!(
            told.contains("of sigma_pop is HalfNormal(0.5)") && told.contains("sigma_obs is HalfNormal(0.1)"),
            "{told}"
        );
        assert!(!told.contains("mu_pop is"), "{told}");
        // What is near enough is no conflict.
        let near = HierarchicalPrior { mu_mean: 450.0, mu_sd: 20.0, ..prior };
        assert!(of_data(&data(&groups), &near).is_empty());
    }

    #[test]
    fn numbers_are_shown_as_options_take_them() {
        assert_eq!(shown(0.012345, 2), "0.012");
        assert_eq!(shown(1_000_123.4, 8), "1000123.4");
        assert_eq!(shown(-987.6, 2), "-990");
        assert_eq!(shown(1.249e300, 2), "1.2e300");
        assert_eq!(shown(0.0, 2), "0");
        assert_eq!(shown(3.2e-9, 1), "3e-9");
    }
}
