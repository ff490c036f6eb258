//! The result of a calibration as text: a line for each quantity or moment, warnings, and the verdict.

use octopus_calibrate::{Geweke, Judgement, Moment, RankedQuantity, SelfCheck};
use octopus_diag::{TableLook, TextColumn, text_table};

/// Returns the result of the ranks as text: a line for each quantity, warnings, and the verdict.
pub(crate) fn ranks_text(judgement: &Judgement, checks: &[SelfCheck], model: &str) -> String {
    let columns = [
        TextColumn::left("quantity"),
        TextColumn::right("ECDF p"),
        TextColumn::right("chi-square p"),
        TextColumn::left("ranks"),
    ];
    let row = |quantity: &RankedQuantity| {
        let word = if quantity.uniform { "uniform" } else { "NOT UNIFORM" };
        [quantity.name.clone(), p(quantity.ecdf_p), p(quantity.chi_square_p), word.to_owned()]
    };
    let rows: Vec<_> = judgement.quantities.iter().map(row).collect();
    let mut text = text_table(&columns, &rows, TableLook::default());
    if let Some(chains) = judgement.independence {
        let word = if chains.independent {
            "independent"
        } else {
            "NOT INDEPENDENT, they share random numbers or all still drift"
        };
        text +=
            &format!("chains: {word} (correlation {:.2e}, t {:.2}, p {})\n", chains.correlation, chains.t, p(chains.p));
    }
    if let Some(superchains) = judgement.together {
        text += &format!(
            "chains that began together: correlation {:.2e} of their draws (t {:.2})\n",
            superchains.correlation, superchains.t
        );
    }
    text += &checks_text(checks);
    let nested = if judgement.together.is_some() { "nested " } else { "" };
    let Judgement { data_sets, kept, median_ess, low_ess, high_rhat, rhat_limit, far_apart, far_apart_allowed, .. } =
        judgement;
    let Judgement { diverging, divergences, .. } = judgement;
    text += &format!(
        "{data_sets} data sets of {model}: {kept} draws kept of each, median of the smallest ESS {median_ess:.0}\n"
    );
    text += &format!(
        "{high_rhat} data sets with {nested}R-hat above {rhat_limit:.2}, {diverging} with divergences ({divergences} in all)\n"
    );
    if far_apart > far_apart_allowed {
        text += &format!(
            "FAIL: chains did not arrive on {far_apart} data sets, at most {far_apart_allowed} are allowed; ranks of such runs say \
             nothing\n"
        );
    }
    if judgement.not_finite > 0 {
        text += &format!(
            "FAIL: correlations of chains, or effective sample sizes, are not finite on {} data sets: their draws do not move, \
             or are too large for sums; look at --init-radius, --max-depth and the prior's scales\n",
            judgement.not_finite
        );
    }
    if *high_rhat > 0 {
        text += &format!(
            "WARN: chains disagree on {high_rhat} data sets, far apart on {far_apart}: raise --tune and --draws, and see whether \
             the ranks stay as they are\n"
        );
    }
    if *diverging > 0 {
        text += &format!(
            "WARN: runs diverged on {diverging} data sets: their draws miss a region; raise --target-accept\n"
        );
    }
    if *low_ess > 0 {
        text += &format!(
            "{low_ess} data sets have fewer effective draws than the {kept} that are kept: their ranks are less even than \
             they should be; raise --draws or lower --kept\n"
        );
    }
    if let Some(why) = &judgement.first_failure {
        text += &format!("{} data sets FAILED, the first: {why}\n", judgement.failed);
    }
    text + &verdict(judgement.calibrated, checks, judgement.false_alarm)
}

/// Returns the result of Geweke's test as text: a line for each moment, warnings, and the verdict.
pub(crate) fn geweke_text(geweke: &Geweke, checks: &[SelfCheck], model: &str) -> String {
    let numbers = ["prior", "sampler", "z", "p", "ESS"].map(TextColumn::right);
    let columns = [&[TextColumn::left("moment")], &numbers[..], &[TextColumn::left("")]].concat();
    let row = |moment: &Moment| {
        [
            moment.name.clone(),
            format!("{:.4}", moment.prior),
            format!("{:.4}", moment.sampler),
            format!("{:.2}", moment.z),
            p(moment.p),
            format!("{:.0}", moment.ess),
            if moment.agrees { "" } else { "DIFFERS" }.to_owned(),
        ]
    };
    let rows: Vec<_> = geweke.moments.iter().map(row).collect();
    let mut text = text_table(&columns, &rows, TableLook::default());
    text += &checks_text(checks);
    let Geweke { sequences, steps, divergences, least_ess, wanted_ess, .. } = geweke;
    text += &format!("{model}: {sequences} sequences of {steps} steps, {divergences} divergences\n");
    let agree = geweke.moments.iter().all(|moment| moment.agrees) && !checks.iter().any(SelfCheck::failed);
    if agree && !geweke.decided {
        return text
            + &format!(
                "NOT DECIDED: {least_ess:.0} effective draws are too few for a fault to show, {wanted_ess:.0} are wanted; \
                 raise --steps, or take fewer observations, which say less about the parameters"
            );
    }
    text + &verdict(agree, checks, geweke.false_alarm)
}

fn checks_text(checks: &[SelfCheck]) -> String {
    let line = |check: &SelfCheck| {
        let word = match (check.skipped, check.passed) {
            (true, _) => "SKIPPED",
            (false, true) => "passed",
            (false, false) => "FAILED",
        };
        format!("self-check, {}: {word} ({})\n", check.name, check.detail)
    };
    checks.iter().map(line).collect()
}

fn verdict(calibrated: bool, checks: &[SelfCheck], false_alarm: f64) -> String {
    let word = if calibrated && !checks.iter().any(SelfCheck::failed) { "calibrated" } else { "MISCALIBRATED" };
    format!("{word} (false alarms over all tests together: {false_alarm} at most)")
}

fn p(value: f64) -> String {
    if value >= 0.001 { format!("{value:.3}") } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::tests::judged;
    use octopus_calibrate::Independence;

    fn checked(passed: bool) -> [SelfCheck; 1] {
        [SelfCheck { name: "orbits", passed, skipped: false, detail: "8 cases".to_owned() }]
    }

    #[test]
    fn each_finding_of_ranks_is_told_and_no_other() {
        const CALIBRATED: &str = "\ncalibrated (false alarms over all tests together: 0.001 at most)";
        let text = |judgement: &Judgement| ranks_text(judgement, &checked(true), "eight-schools");
        let plain = text(&judged());
        assert!(plain.ends_with(CALIBRATED), "{plain}");
        assert!(
            plain.contains("self-check, orbits: passed (8 cases)\n50 data sets of eight-schools: 99 draws"),
            "{plain}"
        );
        let dependent = Independence { correlation: 0.5, t: 9.0, p: 1e-9, adjusted_p: 1e-8, independent: false };
        let other = |change: &dyn Fn(&mut Judgement), words: &str| {
            let mut judgement = judged();
            change(&mut judgement);
            let found = text(&judgement);
            assert!(found.contains(words) && !plain.contains(words), "{words}: {found}");
        };
        other(&|of| of.far_apart = 3, "FAIL: chains did not arrive on 3 data sets, at most 2");
        other(&|of| of.not_finite = 1, "are not finite on 1 data sets");
        other(&|of| of.high_rhat = 1, "WARN: chains disagree on 1 data sets, far apart on 2");
        other(&|of| of.diverging = 1, "WARN: runs diverged on 1 data sets");
        other(&|of| of.low_ess = 1, "1 data sets have fewer effective draws than the 99");
        other(
            &|of| (of.failed, of.first_failure) = (4, Some("torn".to_owned())),
            "4 data sets FAILED, the first: torn",
        );
        other(&|of| of.quantities[0].uniform = false, "NOT UNIFORM");
        other(&|of| of.independence = Some(dependent), "NOT INDEPENDENT");
        other(&|of| of.calibrated = false, "\nMISCALIBRATED (false alarms");
        // Where nothing was found, no word warns.
        for words in ["FAIL", "WARN", "fewer effective", "NOT ", "chains: "] {
            assert!(!plain.contains(words), "{words}: {plain}");
        }
    }

    #[test]
    fn ranks_or_moments_with_a_failed_check_are_miscalibrated() {
        assert!(ranks_text(&judged(), &checked(false), "m").contains("self-check, orbits: FAILED (8 cases)\n"));
        for (calibrated, passed, word) in
            [(true, true, "calibrated ("), (true, false, "MISCALIBRATED ("), (false, true, "MISCALIBRATED (")]
        {
            assert!(verdict(calibrated, &checked(passed), 0.25).starts_with(word), "{calibrated} {passed}");
        }
        let moment = Moment {
            name: "mu^2".to_owned(),
            prior: 25.0,
            sampler: 24.5,
            error: 1.0,
            z: -0.5,
            p: 0.625,
            adjusted_p: 1.0,
            ess: 30.0,
            agrees: true,
        };
        let text = |agrees, passed, decided| {
            let geweke = Geweke {
                calibrated: agrees && decided,
                decided,
                false_alarm: 0.001,
                sequences: 8,
                steps: 40,
                independent_draws: 1000,
                limit: 5.0,
                moments: vec![Moment { agrees, ..moment.clone() }],
                least_ess: 30.0,
                wanted_ess: 400.0,
                divergences: 2,
            };
            geweke_text(&geweke, &checked(passed), "m")
        };
        for (agrees, passed, decided, words) in [
            (true, true, true, "\ncalibrated ("),
            (true, true, false, "\nNOT DECIDED: 30 effective draws are too few for a fault to show, 400 are wanted"),
            (true, false, true, "\nMISCALIBRATED ("),
            (true, false, false, "\nMISCALIBRATED ("),
            (false, true, true, "\nMISCALIBRATED ("),
            (false, true, false, "\nMISCALIBRATED ("),
        ] {
            let found = text(agrees, passed, decided);
            assert!(found.contains(words), "{words}: {found}");
            assert!(found.contains("\nm: 8 sequences of 40 steps, 2 divergences\n"), "{found}");
            assert_eq!(found.contains("DIFFERS"), !agrees, "{found}");
        }
    }

    #[test]
    fn small_probabilities_have_their_digits() {
        let found = [0.5, 0.0015, 0.001, 0.0009, 0.0006, 2e-17].map(p);
        assert_eq!(found, ["0.500", "0.002", "0.001", "9.0e-4", "6.0e-4", "2.0e-17"]);
    }
}
