//! The checks of a diagnosis: each a small function from numbers to a verdict with its reason and advice.
//!
//! They are about draws that are not finite, constants, R-hat, effective sample sizes, E-BFMI, divergences, stuck
//! chains, chains that are copies, step sizes and tree depth.

use crate::diagnosis::by_chance::RhatByChance;
use crate::diagnosis::stuck::StuckChain;
use crate::diagnosis::{CoordinatesInUse, SettingsInUse};
use crate::summary::Summary;
use crate::summary::parameter::{ParameterSummary, fixed_elements};
use serde::Serialize;
use std::fmt;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// The draws pass the check.
    Pass,
    /// The finding is worth a look; the draws can be used.
    Warn,
    /// The draws should not be used as they are.
    Fail,
    /// The trace does not hold what the check needs.
    Skipped,
}

impl fmt::Display for CheckStatus {
    /// `PASS`, `WARN`, `FAIL` or `SKIPPED`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Fail => "FAIL",
            Self::Skipped => "SKIPPED",
        })
    }
}

/// One check with what it saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// `finite`, `constant`, `stuck`, `copies`, `rhat`, `ess_bulk`, `ess_tail`, `bfmi`, `divergences`, `step_size` or `tree_depth`.
    pub id: &'static str,
    /// The outcome.
    pub status: CheckStatus,
    /// The number judged: the worst over parameters or chains, or a count.
    pub observed: Option<f64>,
    /// The number it is compared with.
    pub threshold: Option<f64>,
    /// One sentence: what was found, where.
    pub message: String,
    /// Advice for this finding; `None` when there is nothing to do.
    pub advice: Option<String>,
}

impl fmt::Display for Check {
    /// One line: outcome, id and message, aligned in columns.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:<7}  {:<11}  {}", self.status, self.id, self.message)
    }
}

impl Check {
    fn new(id: &'static str, status: CheckStatus, message: String) -> Self {
        Self { id, status, observed: None, threshold: None, message, advice: None }
    }

    fn skipped(id: &'static str, message: String, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..Self::new(id, CheckStatus::Skipped, message) }
    }

    /// What cannot be judged has not passed.
    fn failed(id: &'static str, message: String, advice: &str) -> Self {
        Self { advice: Some(advice.to_owned()), ..Self::new(id, CheckStatus::Fail, message) }
    }

    /// Pass when `good`, else `status` with `advice`.
    fn judge(mut self, good: bool, status: CheckStatus, advice: &str) -> Self {
        if !good {
            self.status = status;
            self.advice = Some(advice.to_owned());
        }
        self
    }
}

/// Returns advice for chains that mix slowly, without recommending settings that are in use already.
fn of_slow_chains(settings: Option<&SettingsInUse>) -> String {
    let (coordinates, low_rank) =
        settings.map_or((CoordinatesInUse::Plain, false), |settings| (settings.coordinates, settings.low_rank_metric));
    let metric = if low_rank { "" } else { "use a low-rank metric (--metric auto), and " };
    let options = match (coordinates, low_rank) {
        (CoordinatesInUse::NoHierarchy, _) => {
            return format!(
                "{metric}tune and draw longer, or reparameterise; the model declares no hierarchy, so no coordinates adapt: a \
                 Stan program declares one by `theta ~ normal(mu, tau)`, a model in Rust by LogDensity::hierarchies"
            );
        }
        (CoordinatesInUse::NoInformation, _) => {
            return format!(
                "{metric}tune and draw longer; the effects were sampled non-centered, because the model gives no information \
                 about them and warm-up learned none (in Rust, LogDensity::hierarchies gives it)"
            );
        }
        (CoordinatesInUse::Adaptive, true) => {
            return "adaptive coordinates and the low-rank metric are in use already: tune and draw longer, look for a chain \
                    that is stuck, or give scales that the data say little about tighter priors"
                .to_owned();
        }
        (CoordinatesInUse::Plain, false) => {
            "let the coordinates of the groups adapt and use a low-rank metric (--parameterization adaptive \
             --metric auto)"
        }
        (CoordinatesInUse::Plain, true) => "let the coordinates of the groups adapt (--parameterization adaptive)",
        (CoordinatesInUse::Adaptive, false) => "use a low-rank metric (--metric auto)",
    };
    format!("in a hierarchical model {options}; otherwise tune and draw longer, or reparameterise")
}

/// No draw is NaN or infinite.
pub(crate) fn finite_draws(summary: &Summary) -> Check {
    let (bad, first) = named(summary, |p| p.not_finite > 0);
    let count: usize = summary.parameters.iter().map(|p| p.not_finite).sum();
    let message = match first {
        None => "all draws are finite".to_owned(),
        Some(name) => format!("{count} draws of {bad} parameters are NaN or infinite, the first parameter is {name}"),
    };
    Check { observed: Some(count as f64), threshold: Some(0.0), ..Check::new("finite", CheckStatus::Pass, message) }
        .judge(
            count == 0,
            CheckStatus::Fail,
            "look for overflow, division by zero or the logarithm of a negative number in the model",
        )
}

/// Every parameter moves. Zeros and ones of an array that moves elsewhere are meant, as those of a factor of a correlation
/// matrix; other constants may be meant, so this only warns.
pub(crate) fn constant(summary: &Summary) -> Check {
    let is_meant = fixed_elements(&summary.parameters);
    let (count, first) = named(summary, |p| p.constant && !is_meant(p));
    let message = match (first, named(summary, |p| p.constant)) {
        (Some(name), _) => format!("{count} parameters have the same value in all draws, the first is {name}"),
        (None, (_, None)) => "every parameter varies".to_owned(),
        (None, (meant, Some(name))) => {
            format!("every parameter varies, but for {meant} zeros or ones in arrays that vary, the first is {name}")
        }
    };
    Check { observed: Some(count as f64), threshold: Some(0.0), ..Check::new("constant", CheckStatus::Pass, message) }.judge(
        count == 0,
        CheckStatus::Warn,
        "if the parameter is not fixed by the model, the chains are stuck: check the starting points and the step size",
    )
}

fn named(summary: &Summary, f: impl Fn(&ParameterSummary) -> bool) -> (usize, Option<&str>) {
    let mut found = summary.parameters.iter().filter(|p| f(p)).map(|p| p.name.as_str());
    let first = found.next();
    (usize::from(first.is_some()) + found.count(), first)
}

/// The largest R-hat is below `limit`, which is that of one parameter: the largest of many may be above it by as much as
/// chance explains.
pub(crate) fn rhat(summary: &Summary, limit: f64, settings: Option<&SettingsInUse>) -> Check {
    if let Some(check) = too_short("rhat", summary) {
        return check;
    }
    if summary.chains < 2 {
        let message = "one chain alone cannot show that it has converged".to_owned();
        return Check::failed("rhat", message, "run at least 2 chains, better 4");
    }
    let Some(worst) = summary.worst_rhat() else {
        return Check::failed("rhat", "no parameter has an R-hat".to_owned(), "see the checks finite and constant");
    };
    let (kind, who) = match summary.superchains {
        // Well mixed superchains of few draws are above 1, too.
        Some(_) => {
            ("nested R-hat", "draw more of each chain; if that changes little, those that began at different points")
        }
        None => ("R-hat", "the chains"),
    };
    let mut message = format!("largest {kind} {:.4} ({}), limit {limit}", worst.rhat, worst.name);
    let mut threshold = limit;
    let judged = summary.parameters.iter().map(|p| p.rhat).filter(|rhat| !rhat.is_nan());
    let parameters = judged.clone().count();
    if parameters > 1 && worst.rhat >= limit {
        let by_chance = RhatByChance::of(summary, limit);
        let (of_many, largest) = by_chance.limit_of_all(judged.clone());
        threshold = of_many;
        let which = if largest == 1 { "largest".to_owned() } else { format!("{largest} largest") };
        let above = judged.filter(|&rhat| rhat >= limit).count();
        message += &format!(
            " for one parameter and {threshold:.4} for the {which} of {parameters}; at or above {limit}: {above}, by \
             chance {:.1}",
            by_chance.expected(parameters)
        );
    }
    Check { observed: Some(worst.rhat), threshold: Some(threshold), ..Check::new("rhat", CheckStatus::Pass, message) }
        .judge(
            worst.rhat < threshold,
            CheckStatus::Fail,
            &format!("{who} disagree about {}: {}", worst.name, of_slow_chains(settings)),
        )
}

/// The smallest bulk effective sample size is at least `limit`.
pub(crate) fn ess_bulk(summary: &Summary, limit: f64, settings: Option<&SettingsInUse>) -> Check {
    let worst = summary.worst_ess_bulk().map(|p| (p.name.as_str(), p.ess_bulk));
    ess(("ess_bulk", "bulk"), summary, worst, limit, settings)
}

/// The smallest tail effective sample size is at least `limit`.
pub(crate) fn ess_tail(summary: &Summary, limit: f64, settings: Option<&SettingsInUse>) -> Check {
    let worst = summary.worst_ess_tail().map(|p| (p.name.as_str(), p.ess_tail));
    ess(("ess_tail", "tail"), summary, worst, limit, settings)
}

fn ess(
    (id, kind): (&'static str, &str),
    summary: &Summary,
    worst: Option<(&str, f64)>,
    limit: f64,
    settings: Option<&SettingsInUse>,
) -> Check {
    if let Some(check) = too_short(id, summary) {
        return check;
    }
    let Some((name, ess)) = worst else {
        return Check::skipped(id, "no parameter has an effective sample size".to_owned(), "see the check finite");
    };
    let total = summary.chains * summary.draws;
    let message = format!("smallest {kind}-ESS {ess:.0} of {total} draws ({name}), at least {limit:.0} wanted");
    Check { observed: Some(ess), threshold: Some(limit), ..Check::new(id, CheckStatus::Pass, message) }.judge(
        ess >= limit,
        CheckStatus::Fail,
        &format!("{name} moves too slowly: {}", of_slow_chains(settings)),
    )
}

/// Diagnostics need four draws of each chain.
fn too_short(id: &'static str, summary: &Summary) -> Option<Check> {
    (summary.draws < 4 && summary.superchains.is_none()).then(|| {
        let message = format!("{} draws of each chain are too few: at least 4 are needed", summary.draws);
        Check::failed(id, message, "draw more, 1000 of each chain say")
    })
}

/// The smallest E-BFMI over chains is at least `limit`; `bfmi` is none where the trace has no energy.
pub(crate) fn bfmi(bfmi: Option<&[f64]>, chains: usize, limit: f64) -> Check {
    let advice = "sample_stats needs the variable `energy`";
    let Some(bfmi) = bfmi else { return Check::skipped("bfmi", "the trace has no energy".to_owned(), advice) };
    let worst = bfmi.iter().copied().enumerate().filter(|(_, v)| !v.is_nan()).min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((chain, worst)) = worst else {
        return Check::skipped("bfmi", "the energy is constant or not finite".to_owned(), advice);
    };
    let undefined = bfmi.iter().filter(|v| v.is_nan()).count();
    let message = if bfmi.len() < chains {
        format!("E-BFMI {worst:.3} of all chains together, at least {limit} wanted")
    } else if undefined > 0 {
        let of = format!("{undefined} of {chains} chains have none, as their energy is constant or not finite");
        format!("smallest E-BFMI {worst:.3} (chain {chain}), at least {limit} wanted; {of}")
    } else {
        format!("smallest E-BFMI {worst:.3} (chain {chain}), at least {limit} wanted")
    };
    let judged =
        Check { observed: Some(worst), threshold: Some(limit), ..Check::new("bfmi", CheckStatus::Pass, message) };
    if worst >= limit {
        return judged.judge(
            undefined == 0,
            CheckStatus::Warn,
            "look at the chains without an E-BFMI: were they cut, or stuck?",
        );
    }
    judged.judge(
        false,
        CheckStatus::Fail,
        "the energy moves too slowly, tails may be missed: reparameterise the heavy-tailed parameters, usually scales",
    )
}

/// No transition diverged.
pub(crate) fn divergences(count: Option<u64>, total: usize, settings: Option<&SettingsInUse>) -> Check {
    /// A target of the acceptance rate that is hardly ever worth raising.
    const HIGH: f64 = 0.99;
    let Some(count) = count else {
        let message = "the trace does not say which transitions diverged".to_owned();
        return Check::skipped("divergences", message, "sample_stats needs the variable `diverging`");
    };
    let message = format!("{count} of {total} transitions diverged");
    let cure = match settings.map(|settings| settings.target_accept) {
        Some(target) if target >= HIGH => "reparameterise, or give scales tighter priors".to_owned(),
        Some(target) => format!("raise target_accept (it is {target}; up to {HIGH}), or reparameterise"),
        None => "raise target_accept (0.95, 0.99), or reparameterise".to_owned(),
    };
    Check {
        observed: Some(count as f64),
        threshold: Some(0.0),
        ..Check::new("divergences", CheckStatus::Pass, message)
    }
    .judge(count == 0, CheckStatus::Fail, &format!("the draws miss a region of high curvature: {cure}"))
}

/// Every chain moves; `steps` are their step sizes, where they are known.
pub(crate) fn stuck(stuck: &[StuckChain], steps: Option<&[f64]>, chains: usize) -> Check {
    let message = match stuck {
        [] if chains < 2 => "one chain cannot be compared with another".to_owned(),
        [] => "every chain moves".to_owned(),
        [first, others @ ..] => {
            let StuckChain { chain, name, since, constant, .. } = first;
            let what = if *constant { "has one value of" } else { "hardly moves in" };
            let step = steps.and_then(|steps| steps.get(*chain));
            let step = step.map_or_else(String::new, |step| format!(", step size {step:.1e}"));
            let more = if others.is_empty() { String::new() } else { format!("; so do {} more chains", others.len()) };
            format!("chain {chain} {what} {name} from draw {since} on{step}{more}")
        }
    };
    let observed = Some(stuck.len() as f64);
    Check { observed, threshold: Some(0.0), ..Check::new("stuck", CheckStatus::Pass, message) }.judge(
        stuck.is_empty(),
        CheckStatus::Fail,
        "a chain was lost: its draws are none of the posterior's; sample again with another seed or a smaller init_radius, \
         and report it if that happens more than once",
    )
}

/// No chain is a copy of another: `copies` are groups of chains with the same draws, in order.
pub(crate) fn copies(copies: &[Vec<usize>], chains: usize) -> Check {
    let group = |group: &Vec<usize>| {
        let numbers: Vec<String> = group.iter().map(ToString::to_string).collect();
        format!("chains {} are equal to the last bit", numbers.join(", "))
    };
    let extra: usize = copies.iter().map(|group| group.len() - 1).sum();
    let message = match copies {
        [] if chains < 2 => "one chain cannot be compared with another".to_owned(),
        [] => "every chain has draws of its own".to_owned(),
        groups => {
            let words: Vec<String> = groups.iter().take(3).map(group).collect();
            let more = groups.len().saturating_sub(3);
            let more = if more > 0 { format!("; so are {more} more groups") } else { String::new() };
            format!("{}{more}", words.join("; "))
        }
    };
    let observed = Some(extra as f64);
    Check { observed, threshold: Some(0.0), ..Check::new("copies", CheckStatus::Pass, message) }.judge(
        copies.is_empty(),
        CheckStatus::Fail,
        "the same draws count more than once, and R-hat and effective sample sizes mean nothing: give each file once, and \
         sample each chain with random numbers of its own",
    )
}

/// No chain's step size is so small that it cannot get anywhere.
pub(crate) fn step_size(steps: Option<&[f64]>) -> Check {
    const LEAST: f64 = 1e-8;
    let Some(steps) = steps else {
        let message = "the trace does not tell step sizes".to_owned();
        return Check::skipped("step_size", message, "sample_stats needs the variable `step_size`");
    };
    let smallest = steps.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let Some((chain, smallest)) = smallest else {
        return Check::skipped("step_size", "there are no chains".to_owned(), "sample at least one chain");
    };
    let message = format!("smallest step size {smallest:.2e} (chain {chain}), at least {LEAST:e} wanted");
    Check { observed: Some(smallest), threshold: Some(LEAST), ..Check::new("step_size", CheckStatus::Pass, message) }.judge(
        smallest >= LEAST,
        CheckStatus::Fail,
        "a chain that moves by so little explores nothing: look for coordinates of very different scales, or for a chain that \
         began where the density is extremely steep (init_radius)",
    )
}

/// No trajectory was cut at the depth limit. That costs time, not correctness, so this only warns.
pub(crate) fn tree_depth(count: Option<u64>, total: usize, settings: Option<&SettingsInUse>) -> Check {
    let Some(count) = count else {
        let message = "the trace does not say which trajectories reached the depth limit".to_owned();
        return Check::skipped("tree_depth", message, "sample_stats needs the variable `reached_max_treedepth`");
    };
    let message = format!("{count} of {total} trajectories reached the depth limit");
    Check { observed: Some(count as f64), threshold: Some(0.0), ..Check::new("tree_depth", CheckStatus::Pass, message) }.judge(
        count == 0,
        CheckStatus::Warn,
        if settings.is_some_and(|settings| settings.low_rank_metric) {
            "the posterior is long and narrow for this metric: rescale the parameters, or raise max_depth"
        } else {
            "the posterior is long and narrow for this metric: use --metric auto, rescale the parameters, or raise max_depth"
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chains of so many draws of `a`, `b` and `c`, some of which are not finite.
    fn summary(draws: usize) -> Summary {
        let parameter = |(name, not_finite): (&str, usize)| ParameterSummary {
            name: name.to_owned(),
            rhat: 1.25,
            ess_bulk: 40.0,
            not_finite,
            ..ParameterSummary::default()
        };
        let parameters = [("a", 0), ("b", 2), ("c", 1)].map(parameter).into();
        Summary { prob: 0.89, chains: 2, draws, superchains: None, parameters }
    }

    /// The first parameter alone.
    fn one(summary: &Summary) -> Summary {
        Summary { parameters: summary.parameters[..1].to_vec(), ..summary.clone() }
    }

    /// The limit for many is said beside that for one, with what chance does.
    #[test]
    fn the_limit_of_many_parameters_is_said() {
        let mut many = summary(500);
        many.parameters = vec![ParameterSummary { rhat: 1.0, ess_bulk: 900.0, ..many.parameters[0].clone() }; 1000];
        many.parameters[7].rhat = 1.0111;
        let found = rhat(&many, 1.01, None);
        let threshold = found.threshold.unwrap();
        assert!(found.status == CheckStatus::Pass && threshold > 1.0111 && threshold < 1.03, "{found:?}");
        let words = ["limit 1.01 for one parameter and ", " for the largest of 1000; at or above 1.01: 1, by chance "];
        assert!(words.iter().all(|words| found.message.contains(words)), "{found}");
        many.parameters.iter_mut().take(500).for_each(|p| p.rhat = 1.0111);
        let found = rhat(&many, 1.01, None);
        assert!(found.status == CheckStatus::Fail && found.threshold.unwrap() <= 1.0111, "{found:?}");
        assert!(found.message.contains(" largest of 1000; at or above 1.01: 500, by chance"), "{found}");
    }

    #[test]
    fn messages_tell_numbers_and_names() {
        for (found, message) in [
            (finite_draws(&summary(500)), "3 draws of 2 parameters are NaN or infinite, the first parameter is b"),
            (ess_bulk(&summary(500), 100.0, None), "smallest bulk-ESS 40 of 1000 draws (a), at least 100 wanted"),
            (bfmi(Some(&[0.5, 0.4]), 2, 0.3), "smallest E-BFMI 0.400 (chain 1), at least 0.3 wanted"),
            (bfmi(Some(&[0.5]), 2, 0.3), "E-BFMI 0.500 of all chains together, at least 0.3 wanted"),
            (stuck(&[], None, 1), "one chain cannot be compared with another"),
            (stuck(&[], None, 2), "every chain moves"),
            (copies(&[], 1), "one chain cannot be compared with another"),
            (copies(&[], 2), "every chain has draws of its own"),
            (copies(&[vec![0, 2]], 4), "chains 0, 2 are equal to the last bit"),
        ] {
            assert_eq!(found.message, message);
        }
    }

    #[test]
    fn a_check_tells_what_it_found_and_its_limit() {
        for (found, observed, threshold) in [
            (finite_draws(&summary(500)), 3.0, 0.0),
            (constant(&summary(500)), 0.0, 0.0),
            (rhat(&one(&summary(500)), 1.01, None), 1.25, 1.01),
            (ess_bulk(&summary(500), 100.0, None), 40.0, 100.0),
            (bfmi(Some(&[0.5, 0.4]), 2, 0.3), 0.4, 0.3),
            (divergences(Some(7), 100, None), 7.0, 0.0),
            (stuck(&[], None, 2), 0.0, 0.0),
            (copies(&[vec![0, 1, 2], vec![3, 5]], 6), 3.0, 0.0),
            (step_size(Some(&[0.5, 0.25])), 0.25, 1e-8),
            (tree_depth(Some(9), 100, None), 9.0, 0.0),
        ] {
            assert_eq!((found.observed, found.threshold), (Some(observed), Some(threshold)), "{}", found.id);
        }
    }

    #[test]
    fn rhat_is_judged_from_four_draws_on_and_is_below_its_limit() {
        let of = |draws: usize, limit: f64| {
            let found = rhat(&summary(draws), limit, None);
            (found.status, found.observed)
        };
        assert_eq!(of(4, 1.26), (CheckStatus::Pass, Some(1.25)));
        assert_eq!(of(4, 1.25), (CheckStatus::Fail, Some(1.25)));
        assert_eq!(of(3, 1.26), (CheckStatus::Fail, None));
    }

    #[test]
    fn three_groups_of_copies_are_named_and_the_others_counted() {
        let groups: Vec<Vec<usize>> = (0..6).map(|k| vec![2 * k, 2 * k + 1]).collect();
        let named = "chains 0, 1 are equal to the last bit; chains 2, 3 are equal to the last bit; chains 4, 5 are equal to \
                     the last bit";
        for (count, more) in [(3, ""), (4, "; so are 1 more groups"), (5, "; so are 2 more groups")] {
            assert_eq!(copies(&groups[..count], 12).message, format!("{named}{more}"));
        }
    }

    /// Pass of nothing, and the verdict on the first finding.
    #[test]
    fn one_finding_decides() {
        let counted = |count: usize| {
            let mut found = summary(500);
            found.parameters.iter_mut().for_each(|p| (p.not_finite, p.constant) = (0, false));
            found.parameters.iter_mut().take(count).for_each(|p| (p.not_finite, p.constant) = (1, true));
            found
        };
        let of = |count: usize| {
            [
                finite_draws(&counted(count)),
                constant(&counted(count)),
                divergences(Some(count as u64), 100, None),
                tree_depth(Some(count as u64), 100, None),
                copies(&vec![vec![0, 1]; count], 4),
            ]
        };
        use CheckStatus::{Fail, Pass, Warn};
        assert!(
            of(0).iter().all(|check| check.status == Pass && check.observed == Some(0.0) && check.advice.is_none())
        );
        assert_eq!(of(1).map(|check| check.status), [Fail, Warn, Fail, Warn, Fail]);
        assert!(of(1).iter().all(|check| check.observed == Some(1.0) && check.threshold == Some(0.0)));
        assert!(of(1).iter().all(|check| check.advice.as_ref().is_some_and(|advice| !advice.is_empty())));
    }

    /// The zero and the one of a factor of a correlation matrix; a number that is 0 by itself, and another value, may be stuck.
    #[test]
    fn zeros_and_ones_in_arrays_that_vary_are_meant() {
        let row = |(name, mean, constant): (&str, f64, bool)| ParameterSummary {
            name: name.to_owned(),
            mean,
            constant,
            ..ParameterSummary::default()
        };
        let of = |rows: &[(&str, f64, bool)]| {
            let found = constant(&Summary { parameters: rows.iter().map(|&one| row(one)).collect(), ..summary(500) });
            (found.status, found.observed, found.message)
        };
        let factor = [("L[1, 1]", 1.0, true), ("L[1, 2]", 0.0, true), ("L[2, 1]", 0.3, false), ("tau", 0.5, false)];
        let (status, observed, message) = of(&factor);
        assert_eq!((status, observed), (CheckStatus::Pass, Some(0.0)));
        assert!(message.ends_with("but for 2 zeros or ones in arrays that vary, the first is L[1, 1]"), "{message}");
        for stuck in [("b", 0.0, true), ("L[2, 2]", 0.5, true), ("l[1]", 1.0, true)] {
            let (status, observed, message) = of(&[&factor[..], &[stuck]].concat());
            assert_eq!((status, observed), (CheckStatus::Warn, Some(1.0)), "{message}");
            assert!(message.ends_with(stuck.0), "{message}");
        }
    }

    #[test]
    fn chains_without_an_e_bfmi_are_counted() {
        let message = |check: &Check| check.message.clone();
        let found = bfmi(Some(&[0.5, f64::NAN]), 2, 0.3);
        let of = "; 1 of 2 chains have none, as their energy is constant or not finite";
        assert_eq!(message(&found), format!("smallest E-BFMI 0.500 (chain 0), at least 0.3 wanted{of}"));
        assert_eq!(found.status, CheckStatus::Warn);
        assert_eq!(bfmi(Some(&[0.5, 0.3]), 2, 0.3).status, CheckStatus::Pass);
        let found = bfmi(Some(&[f64::NAN, 0.2]), 2, 0.3);
        assert_eq!((found.status, found.observed), (CheckStatus::Fail, Some(0.2)));
        assert_eq!(bfmi(Some(&[f64::NAN; 2]), 2, 0.3).status, CheckStatus::Skipped);
    }

    #[test]
    fn a_high_target_is_not_raised() {
        let cure = |target_accept| {
            let settings =
                SettingsInUse { coordinates: CoordinatesInUse::Plain, low_rank_metric: false, target_accept };
            divergences(Some(1), 10, Some(&settings)).advice.unwrap_or_default()
        };
        assert!(
            cure(0.98).ends_with("raise target_accept (it is 0.98; up to 0.99), or reparameterise"),
            "{}",
            cure(0.98)
        );
        for target in [0.99, 0.995] {
            assert!(cure(target).ends_with(": reparameterise, or give scales tighter priors"), "{}", cure(target));
        }
    }

    /// Advice recommends nothing that is in use.
    #[test]
    fn checks_of_chains_know_the_settings() {
        let settings =
            SettingsInUse { coordinates: CoordinatesInUse::Adaptive, low_rank_metric: true, target_accept: 0.9 };
        let mut slow = summary(500);
        slow.parameters.iter_mut().for_each(|p| p.ess_tail = 30.0);
        type Judge = fn(&Summary, f64, Option<&SettingsInUse>) -> Check;
        for (check, limit) in [(rhat as Judge, 1.01), (ess_bulk, 100.0), (ess_tail, 100.0)] {
            let (plain, known) = (check(&slow, limit, None), check(&slow, limit, Some(&settings)));
            assert!(plain.advice.as_ref().is_some_and(|text| text.contains("--metric auto")), "{plain:?}");
            assert!(known.advice.as_ref().is_some_and(|text| text.contains("are in use already")), "{known:?}");
        }
        let found = ess_tail(&slow, 100.0, None);
        assert_eq!(found.message, "smallest tail-ESS 30 of 1000 draws (a), at least 100 wanted");
    }

    /// The larger R-hat of two parameters has the limit of a maximum of two; a single one has its own.
    #[test]
    fn two_parameters_are_many() {
        let two = Summary { parameters: summary(500).parameters[..2].to_vec(), ..summary(500) };
        let found = rhat(&two, 1.01, None);
        assert!(found.message.contains(" for one parameter and ") && found.threshold > Some(1.01), "{found:?}");
        assert_eq!(rhat(&one(&two), 1.01, None).message, "largest R-hat 1.2500 (a), limit 1.01");
        let alone = Summary { chains: 1, ..two.clone() };
        assert_eq!(rhat(&alone, 1.01, None).message, "one chain alone cannot show that it has converged");
    }
}
