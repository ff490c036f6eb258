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
/// How much wider than the data a prior is that few data leave as wide as it is.
const MUCH_WIDER: f64 = 100.0;
/// The most differences that are few: see [`Beside::is_lost_in_prior`].
const FEW: f64 = 2.0;
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
    let (scales, size) = (Scales::of(data), size(data));
    let squares_fit = squares_fit(data);
    if squares_fit && scales.within.is_some_and(|within| within < ROUNDING * size) {
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
    if squares_fit {
        found.extend(of_priors(&scales, prior, data));
    } else {
        let unit = shown(10_f64.powf(size.log10().floor().max(-307.0)), 1);
        found.push(format!(
            "the largest value is {}, and no number holds the squares of such: no prior makes up for it; give the \
             values in another unit, such as divided by {unit}, and the priors too",
            shown(size, 3)
        ));
    }
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
    /// The standard deviation within groups.
    within: Option<f64>,
    /// The standard deviation of the groups' means that the values' own explains.
    noise: f64,
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
        let noise = within.unwrap_or(0.0) * own.sqrt();
        let between = deviation(&means).map(|all| (all * all - noise * noise).max(0.0).sqrt());
        Self { observations, groups, mean: mean(&means), all: deviation(data.values()), between, within, noise }
    }

    /// Returns what the data show of each scale beside its prior.
    fn beside(&self, prior: &HierarchicalPrior) -> Vec<Beside> {
        let HierarchicalPrior { sigma_pop_scale, sigma_obs_scale, .. } = *prior;
        let Self { observations, groups, between, within, noise, .. } = *self;
        let one = |found: Option<f64>, what, name, scale, differences| {
            found.map(|found| Beside { found, noise: 0.0, what, name, scale, differences })
        };
        if within.is_none() {
            let both = root_of_squares([sigma_pop_scale, sigma_obs_scale, 0.0]);
            return one(between, "values", "sigma_pop and sigma_obs together", both, groups - 1.0)
                .into_iter()
                .collect();
        }
        let of_means = one(between, "the groups' means", "sigma_pop", sigma_pop_scale, groups - 1.0);
        let of_values = one(within, "values of a group", "sigma_obs", sigma_obs_scale, observations - groups);
        of_means.map(|means| Beside { noise, ..means }).into_iter().chain(of_values).collect()
    }
}

/// What the data alone show of a scale, beside its prior.
#[derive(Clone, Copy, Debug)]
struct Beside {
    /// What varies.
    what: &'static str,
    /// The scale's name.
    name: &'static str,
    /// By how much it varies.
    found: f64,
    /// The standard deviation that it would have if the scale were 0.
    noise: f64,
    /// The scale of the half-normal prior.
    scale: f64,
    /// The number of independent differences that `found` comes from.
    differences: f64,
}

impl Beside {
    /// Returns whether what is found lies far outside of the prior.
    fn is_beyond(&self) -> bool {
        // A standard deviation of few differences may be large by chance.
        self.found > FAR * self.scale * (1.0 + 2.0 / self.differences.sqrt())
    }

    /// Returns whether the posterior is about as wide as a prior that is far too wide.
    ///
    /// The likelihood of d differences of size s falls as sigma^-d beyond s. With one or two differences and a flat prior,
    /// sigma has no mean, so the posterior's mean is as large as the prior allows. With more, the data decide, however
    /// wide the prior is.
    fn is_lost_in_prior(&self) -> bool {
        let few = (1.0..=FEW).contains(&self.differences);
        few && self.scale > MUCH_WIDER * self.found.max(self.noise)
    }

    /// Returns what is found and the prior in words.
    fn in_words(&self) -> String {
        let Self { what, name, found, noise, scale, .. } = *self;
        let (found, scale) = (shown(found.max(noise), 2), shown(scale, 3));
        format!("{what} vary by {found}, and the prior of {name} is HalfNormal({scale})")
    }
}

/// Returns the root of the sum of squares, each of which may be beyond all numbers.
fn root_of_squares(values: [f64; 3]) -> f64 {
    let most = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
    if most == 0.0 { 0.0 } else { most * values.iter().map(|value| (value / most).powi(2)).sum::<f64>().sqrt() }
}

/// Returns the largest distance of a value from 0.
fn size(data: &GroupedData) -> f64 {
    data.values().iter().fold(0.0_f64, |most, value| most.max(value.abs()))
}

/// Returns whether the sums of squares of the data's differences, of which the model is made, are numbers with all
/// their digits.
fn squares_fit(data: &GroupedData) -> bool {
    let size = size(data);
    let most = (2.0 * size).powi(2) * data.values().len() as f64;
    size == 0.0 || most.is_finite() && size.powi(2) >= f64::MIN_POSITIVE / f64::EPSILON
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

/// Returns what is to be said of priors and data that are far apart.
fn of_priors(scales: &Scales, prior: &HierarchicalPrior, data: &GroupedData) -> Vec<String> {
    let priors = match priors_of_data(data) {
        Some(options) => format!("priors on this scale, such as `{options}`,"),
        None => "priors on this scale,".to_owned(),
    };
    let beside = scales.beside(prior);
    let in_words = |is_so: fn(&Beside) -> bool| beside.iter().filter(move |one| is_so(one)).map(Beside::in_words);
    let beyond: Vec<String> = mean_beyond(scales, prior).into_iter().chain(in_words(Beside::is_beyond)).collect();
    let lost: Vec<String> = in_words(Beside::is_lost_in_prior).collect();
    let of_beyond = || {
        format!(
            "priors are on another scale than the data: {}; if the units are right, give {priors} or better what is \
             known without these data",
            beyond.join("; ")
        )
    };
    let of_lost = || {
        format!(
            "so few data leave what they tell to priors that are far wider: {}; its posterior mean is about as large as \
             the prior lets it be: give {priors} or better what is known without these data",
            lost.join("; ")
        )
    };
    let first = (!beyond.is_empty()).then(of_beyond);
    first.into_iter().chain((!lost.is_empty()).then(of_lost)).collect()
}

/// Returns the mean and its prior in words, where it lies far outside of it.
fn mean_beyond(scales: &Scales, prior: &HierarchicalPrior) -> Option<String> {
    let Scales { observations, groups, mean, .. } = *scales;
    let HierarchicalPrior { mu_mean, mu_sd, sigma_pop_scale, sigma_obs_scale } = *prior;
    let of_mean = root_of_squares([mu_sd, sigma_pop_scale / groups.sqrt(), sigma_obs_scale / observations.sqrt()]);
    ((mean - mu_mean).abs() > FAR * of_mean).then(|| {
        let (found, mu_mean, mu_sd) = (shown(mean, 3), shown(mu_mean, 3), shown(mu_sd, 3));
        format!("the groups' mean is {found}, and the prior of mu_pop is Normal({mu_mean}, {mu_sd})")
    })
}

/// Returns the options of priors that are some times as wide as the data.
pub(super) fn priors_of_data(data: &GroupedData) -> Option<String> {
    if !squares_fit(data) {
        return None;
    }
    let scales = Scales::of(data);
    let all = scales.all.filter(|all| *all > 0.0)?;
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

    /// Groups of six values about 50 that vary by `scale`, as their means do.
    fn about_50(groups: usize, scale: f64) -> GroupedData {
        let values: Vec<Vec<f64>> = (0..groups)
            .map(|j| (0..6).map(|i| 50.0 + scale * (f64::from(i) - 2.5 + [-1.0, 1.5, 0.2][j % 3])).collect())
            .collect();
        data(&values.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// Sampled under these priors, three groups have a posterior mean of sigma_pop ten times what their means vary by,
    /// and eight one as it should be.
    #[test]
    fn priors_far_wider_than_few_data_are_told() {
        let of = |data: &GroupedData| of_data(data, &HierarchicalPrior::default()).join("\n");
        for groups in [2, 3] {
            let told = of(&about_50(groups, 1e-6));
            assert!(told.starts_with("so few data leave") && told.contains("the prior of sigma_pop is"), "{told}");
            assert!(!told.contains("the prior of sigma_obs is") && told.contains("`--mu-mean 50"), "{told}");
            assert_eq!(of(&about_50(groups, 1.0)), "");
        }
        assert_eq!(of(&about_50(4, 1e-6)), "");
        // The groups' means are equal by chance: only the scale of the values tells anything.
        assert_eq!(of(&data(&[&[49.0, 51.0, 50.0, 50.0], &[48.0, 52.0, 50.0, 50.0]])), "");
        // Two repeated values tell sigma_obs.
        let told = of(&data(&[&[50.0], &[51.0], &[53.0], &[55.0, 55.0 + 1e-4], &[47.0, 47.0 + 1e-4]]));
        assert!(told.contains("the prior of sigma_obs is") && !told.contains("the prior of sigma_pop is"), "{told}");
        // One value of each group: both scales together.
        let told = of(&data(&[&[50.0], &[50.0 + 1e-6], &[50.0 - 1e-6]]));
        assert!(told.contains("the prior of sigma_pop and sigma_obs together is"), "{told}");
    }

    #[test]
    fn squares_beyond_all_numbers_are_told_and_hide_nothing() {
        for (scale, unit) in [(1e160, "1e160"), (6e160, "1e160"), (1e300, "1e300"), (1e-170, "1e-170")] {
            let told = found(&[&[1.1 * scale, 1.2 * scale, 1.4 * scale], &[1.5 * scale, 1.3 * scale, 1.0 * scale]]);
            assert!(told.contains(&format!("such as divided by {unit},")), "{told}");
        }
        assert!(found(&[&[1e308, -1e308], &[1e308, -1e308]]).contains("another unit"));
        assert!(found(&[&[1.1e100, 1.2e100, 1.4e100], &[1.5e100, 1e100]]).contains("`--mu-mean 1.2e100"));
        // A prior whose square is beyond all numbers, and one whose square is 0.
        let of = |mu_mean, mu_sd| {
            let prior = HierarchicalPrior { mu_mean, mu_sd, ..HierarchicalPrior::default() };
            of_data(&about_50(4, 1.0), &prior).join("\n")
        };
        assert!(of(1e300, 1e200).contains("the prior of mu_pop is Normal(1e300, 1e200)"), "{}", of(1e300, 1e200));
        assert_eq!(of(0.0, 1e200), "");
        let narrow =
            HierarchicalPrior { mu_mean: 0.0, mu_sd: 1e-200, sigma_pop_scale: 1e-200, sigma_obs_scale: 1e-200 };
        assert!(of_data(&about_50(4, 1.0), &narrow)[0].starts_with("priors are on another scale"));
    }

    /// There are no options on the scale of data that do not vary.
    #[test]
    fn one_value_far_from_its_prior_is_told() {
        let told = found(&[&[5000.0]]);
        assert!(told.contains("the groups' mean is 5000") && told.contains("give priors on this scale, or"), "{told}");
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

    /// By hand: means of 2 and 6, squares of 2 and 32 about them in 3 differences; the means vary by the root of 8, of
    /// which the values' own explain 34 / 3 times (1/2 + 1/3) / 2.
    #[test]
    fn scales_are_those_of_the_definition() {
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-13, "{found:?}, not {expected}");
        };
        let scales = Scales::of(&data(&[&[1.0, 3.0], &[2.0, 6.0, 10.0]]));
        assert_eq!((scales.observations, scales.groups, scales.mean), (5.0, 2.0, 4.0));
        near(scales.within, (34.0_f64 / 3.0).sqrt());
        near(Some(scales.noise), (34.0_f64 / 3.0 * 5.0 / 12.0).sqrt());
        near(scales.between, (8.0_f64 - 34.0 / 3.0 * 5.0 / 12.0).sqrt());
        // 1, 2, 3, 6 and 10 are 3.4, 2.4, 1.4, 1.6 and 5.6 from their mean.
        near(scales.all, (53.2_f64 / 4.0).sqrt());
        let single = Scales::of(&data(&[&[1.0], &[4.0]]));
        assert_eq!((single.within, single.noise), (None, 0.0));
        near(single.between, 4.5_f64.sqrt());
        let alike = Scales::of(&data(&[&[1.0, 3.0], &[3.0, 1.0]]));
        assert_eq!(alike.between, Some(0.0));
        near(Some(alike.noise), 1.0);
        let one = Scales::of(&data(&[&[5.0]]));
        assert_eq!((one.all, one.between, one.within), (None, None, None));

        let prior = HierarchicalPrior { mu_mean: 0.0, mu_sd: 1.0, sigma_pop_scale: 3.0, sigma_obs_scale: 4.0 };
        let of = |scales: &Scales| -> Vec<[f64; 4]> {
            let beside = scales.beside(&prior);
            beside.iter().map(|one| [one.found, one.noise, one.scale, one.differences]).collect()
        };
        let (between, within) = (scales.between.unwrap(), scales.within.unwrap());
        assert_eq!(of(&scales), [[between, scales.noise, 3.0, 1.0], [within, 0.0, 4.0, 3.0]]);
        assert_eq!(of(&single), [[single.between.unwrap(), 0.0, 5.0, 1.0]]);
    }

    /// Of a prior's scale of 1: five times is far, and with four differences twice as far; a hundred times is lost.
    #[test]
    fn scales_beside_their_priors_are_judged_by_their_differences() {
        let beside =
            |found, noise, scale, differences| Beside { what: "values", name: "s", found, noise, scale, differences };
        assert!(beside(10.1, 0.0, 1.0, 4.0).is_beyond() && !beside(9.9, 0.0, 1.0, 4.0).is_beyond());
        assert!(beside(12.1, 0.0, 2.0, 100.0).is_beyond() && !beside(11.9, 0.0, 2.0, 100.0).is_beyond());
        for differences in [1.0, 2.0] {
            assert!(beside(0.5, 1.0, 101.0, differences).is_lost_in_prior());
            assert!(!beside(1.0, 0.5, 99.0, differences).is_lost_in_prior());
        }
        assert!(!beside(1.0, 0.0, 1e3, 0.7).is_lost_in_prior() && !beside(1.0, 0.0, 1e3, 3.0).is_lost_in_prior());
        let words = "values vary by 1.2, and the prior of s is HalfNormal(2.35)";
        assert_eq!(beside(1.2345, 0.1, 2.3456, 3.0).in_words(), words);
        assert_eq!(beside(0.1, 1.2345, 2.3456, 3.0).in_words(), words);
    }

    #[test]
    fn means_beyond_their_prior_are_told_with_three_digits() {
        // 13 is the root of the squares of 3, 8 / 2 and 48 / 4: five times that is far.
        let prior = HierarchicalPrior { mu_mean: 0.0, mu_sd: 3.0, sigma_pop_scale: 8.0, sigma_obs_scale: 48.0 };
        let scales =
            |mean| Scales { observations: 16.0, groups: 4.0, mean, all: None, between: None, within: None, noise: 0.0 };
        assert!(mean_beyond(&scales(65.1), &prior).is_some() && mean_beyond(&scales(-64.9), &prior).is_none());
        let prior =
            HierarchicalPrior { mu_mean: 1.23456, mu_sd: 0.00123456, sigma_pop_scale: 1.0, sigma_obs_scale: 1.0 };
        let told = mean_beyond(&scales(-1234.56), &prior).unwrap();
        assert_eq!(told, "the groups' mean is -1230, and the prior of mu_pop is Normal(1.23, 0.00123)");
    }

    #[test]
    fn roots_of_squares_are_those_of_small_and_large_numbers() {
        for unit in [1.0, 1e-200, 1e200] {
            let found = root_of_squares([3.0 * unit, -4.0 * unit, 12.0 * unit]);
            assert!((found / unit - 13.0).abs() < 1e-13, "{found}");
        }
        assert_eq!((root_of_squares([0.0; 3]), root_of_squares([0.0, 1.0, 0.0])), (0.0, 1.0));
    }

    /// Four values: 16 squares of the largest are to be a number, and one square to have all its digits.
    #[test]
    fn the_range_of_squares_is_told_to_the_edge() {
        let fit = |size: f64| squares_fit(&data(&[&[size, -0.5 * size], &[0.25 * size, 0.1 * size]]));
        assert!(fit(3.3e153) && !fit(3.4e153) && fit(1.1e-146) && !fit(0.9e-146) && fit(0.0));
        let told = found(&[&[1.1e-310, 1.2e-310], &[1.5e-310, 1.0e-310]]);
        assert!(told.contains("the largest value is 1.5e-310,") && told.contains("divided by 1e-307,"), "{told}");
    }

    /// Pairs that differ by `within` times the root of 2, beside a largest value of 1.
    #[test]
    fn rounding_is_told_from_spread() {
        let pairs = |within: f64| {
            let off = within * 2_f64.sqrt();
            data(&[&[1.0, 1.0 - off], &[0.5, 0.5 + off]])
        };
        let says = |within| {
            of_data(&pairs(within), &HierarchicalPrior::default()).iter().any(|told| told.contains("rounding"))
        };
        assert!(says(0.75e-12) && !says(1.5e-12));
        // Of all values the standard deviation is the root of 1/12, 0.29.
        let options = |within| priors_of_data(&pairs(within)).unwrap();
        assert!(options(0.2e-12).ends_with("--sigma-obs-scale 0.72"), "{}", options(0.2e-12));
        assert!(options(0.4e-12).ends_with("--sigma-obs-scale 1e-12"), "{}", options(0.4e-12));
    }

    /// Means of 0.7 and 1.85 about 1.275; of all values the standard deviation is 0.74, so that the mean has two digits.
    #[test]
    fn options_have_as_many_digits_as_their_prior_has_use_for() {
        let found = priors_of_data(&data(&[&[0.4, 1.0], &[1.6, 2.1]])).unwrap();
        assert_eq!(found, "--mu-mean 1.3 --mu-sd 1.8 --sigma-pop-scale 1.9 --sigma-obs-scale 0.98");
        // A mean of 0.0123 is nothing beside a standard deviation of 13.
        let found = priors_of_data(&data(&[&[-10.0, 10.0], &[-11.0, 11.0492]])).unwrap();
        assert!(found.starts_with("--mu-mean 0.01 --mu-sd 30 "), "{found}");
        let found = priors_of_data(&data(&[&[512.34, 513.34], &[511.34, 512.34]])).unwrap();
        assert!(found.starts_with("--mu-mean 512.3 --mu-sd 2 "), "{found}");
    }

    #[test]
    fn numbers_change_their_form_at_a_ten_thousandth_and_a_thousand_million() {
        for (value, digits, expected) in [
            (1.5e-4, 2, "0.00015"),
            (0.7e-4, 2, "7e-5"),
            (0.7e9, 2, "700000000"),
            (1.5e9, 2, "1.5e9"),
            (0.1 + 0.2, 30, "0.30000000000000004"),
            (2.6, 0, "3"),
        ] {
            assert_eq!(shown(value, digits), expected);
        }
    }

    #[test]
    fn few_values_are_told_by_their_number() {
        let zeros = found(&[&[0.0]]);
        assert!(zeros.contains("one value only") && !zeros.contains("0 or 1"), "{zeros}");
        assert!(found(&[&[0.0, 1.0]]).contains("0 or 1") && !found(&[&[0.0, 0.5], &[1.0, 0.0]]).contains("0 or 1"));
        assert!(!found(&[&[1.0, 2.0], &[1.0, 2.0]]).contains("0 or 1"));
        let named = |first: &str, second: &str| {
            let labels = Labels::Strings(vec![first.to_owned(), second.to_owned()]);
            of_data(
                &GroupedData::new(labels, &[0, 0, 1, 1], &[50.0, 51.0, 47.0, 49.0]).unwrap(),
                &HierarchicalPrior::default(),
            )
        };
        assert_eq!((named("NA", "oslo").len(), named("oslo", "NA").len(), named("oslo", "rome").len()), (1, 1, 0));
    }
}
