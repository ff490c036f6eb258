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
    let agree = geweke.moments.iter().all(|moment| moment.agrees) && checks.iter().all(|check| check.passed);
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
        let word = if check.passed { "passed" } else { "FAILED" };
        format!("self-check, {}: {word} ({})\n", check.name, check.detail)
    };
    checks.iter().map(line).collect()
}

fn verdict(calibrated: bool, checks: &[SelfCheck], false_alarm: f64) -> String {
    let word = if calibrated && checks.iter().all(|check| check.passed) { "calibrated" } else { "MISCALIBRATED" };
    format!("{word} (false alarms over all tests together: {false_alarm} at most)")
}

fn p(value: f64) -> String {
    if value >= 0.001 { format!("{value:.3}") } else { format!("{value:.1e}") }
}
