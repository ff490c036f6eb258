//! Makes the rows of the verdict from what was measured, with one small function for each criterion.

use super::criteria::asked;
use super::{Criterion, Status, Verdict, VerdictRow};
use crate::format::{bytes, percent, rate, significant};
use crate::measured::Measured;
use crate::summary::{PredictiveStatistic, SummaryRow, by_worst_rhat};
use octopus_diag::limits;

/// A thing that phase 0 must deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deliverable {
    /// The file's name, e.g. `trace_plot.png`.
    pub name: String,
    /// Whether the file was made.
    pub made: bool,
}

/// Device memory of a run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryUse {
    /// The most memory that was held, in bytes.
    pub peak_bytes: u64,
    /// The memory that was foretold before the run, in bytes.
    pub foretold_bytes: u64,
    /// The part that each further chain adds, in bytes.
    pub per_chain_bytes: u64,
    /// The peak as a share of the device's memory.
    pub share: f64,
}

/// The differences of two posteriors of one model, each as a fraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosteriorMatch {
    /// Root mean square difference of the means over their root mean square.
    pub rmse: f64,
    /// The largest relative difference of a mean.
    pub means: f64,
    /// The largest relative difference of a standard deviation.
    pub sds: f64,
}

impl MemoryUse {
    /// The share of the foretold memory that the peak may be off by.
    pub const OFF: f64 = 0.10;

    /// Returns by how much the peak is off from the foretold memory, as a share of the latter.
    fn off(&self) -> f64 {
        (self.peak_bytes as f64 / self.foretold_bytes as f64 - 1.0).abs()
    }
}

impl PosteriorMatch {
    /// The largest relative difference of a mean, and of all means together, with which two posteriors match.
    pub const MEANS: f64 = 0.05;
    /// The largest relative difference of a standard deviation with which two posteriors match.
    pub const SDS: f64 = 0.10;
}

/// The engine whose repeated wall times vary most.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstVariation {
    /// The coefficient of variation of its wall times.
    pub variation: f64,
    /// The engine with its setting, e.g. `CPU, 2 threads`.
    pub engine: String,
}

/// Everything that the verdict is made from.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// Whether a GPU is required: if it is missing, that decides the outcome.
    pub require_gpu: bool,
    /// The GPU's name, or why there is none.
    pub gpu: Measured<String>,
    /// Whether that GPU is the software GPU of the tests, which proves nothing of a GPU.
    pub test_double: bool,
    /// The run of the model on the GPU: what it did in words, or the error it met.
    pub gpu_run: Measured<Result<String, String>>,
    /// The summary of every parameter.
    pub parameters: &'a [SummaryRow],
    /// Divergent transitions after warm-up.
    pub divergences: u64,
    /// Speed-up of the whole GPU over the whole CPU (min-ESS each second, warm-up included).
    pub speedup: Measured<f64>,
    /// The files that had to be made.
    pub deliverables: Measured<&'a [Deliverable]>,
    /// The device memory of the run on the GPU.
    pub gpu_memory: Measured<MemoryUse>,
    /// The posterior of the GPU against that of the CPU.
    pub posterior_match: Measured<PosteriorMatch>,
    /// The engine whose repeated wall times vary most.
    pub timing_variation: Measured<WorstVariation>,
    /// Chain strategies that were compared.
    pub strategies: &'a [String],
    /// Samplers that were compared.
    pub samplers: &'a [String],
    /// Whether the page was made.
    pub dashboard: bool,
    /// The exact posterior's 89% HDI of scalars by name, where it is known: a truth that it leaves out is no
    /// fault of the sampler.
    pub exact_hdi89: &'a [(String, (f64, f64))],
    /// The predictive check, or why there was none.
    pub predictive: Measured<&'a [PredictiveStatistic]>,
    /// Whether the problem is another than the PRD's: then rows that are about the PRD's own are left out, and the
    /// speed-up is told without a limit.
    pub other_model: bool,
}

/// Value, status and advice of one row.
struct Judged {
    value: String,
    status: Status,
    advice: Option<String>,
}

fn pass(value: impl Into<String>) -> Judged {
    Judged { value: value.into(), status: Status::Pass, advice: None }
}

fn warn(value: impl Into<String>, advice: impl Into<String>) -> Judged {
    Judged { value: value.into(), status: Status::Warn, advice: Some(advice.into()) }
}

fn fail(value: impl Into<String>, advice: impl Into<String>) -> Judged {
    Judged { value: value.into(), status: Status::Fail, advice: Some(advice.into()) }
}

fn skipped(reason: impl Into<String>) -> Judged {
    Judged { value: "not measured".to_owned(), status: Status::Skipped { reason: reason.into() }, advice: None }
}

impl Evidence<'_> {
    /// Judges every criterion.
    pub fn verdict(&self) -> Verdict {
        let row = |criterion: &Criterion| {
            let Judged { mut value, status, advice } = self.judge(criterion.id);
            let judged = !matches!(status, Status::Skipped { .. });
            if self.test_double && criterion.wants_gpu && judged && !value.contains("test double") {
                value += " (on a test double, which is no GPU)";
            }
            VerdictRow {
                id: criterion.id.to_owned(),
                priority: criterion.priority.to_owned(),
                criterion: criterion.criterion.to_owned(),
                threshold: criterion.threshold.to_owned(),
                value,
                wants_gpu: criterion.wants_gpu && (self.gpu.value().is_none() || self.test_double) && !judged,
                status,
                advice,
            }
        };
        Verdict::new(asked(self.other_model).iter().map(row).collect(), self.require_gpu)
    }

    fn judge(&self, id: &str) -> Judged {
        match id {
            "P0.1" => match &self.gpu {
                Measured::Value(name) => pass(name.as_str()),
                Measured::NotMeasured(reason) => skipped(reason.as_str()),
            },
            "P0.2" => match &self.gpu_run {
                Measured::Value(Ok(run)) => pass(run.as_str()),
                Measured::Value(Err(error)) => {
                    fail(error.as_str(), "run `octopus verify` and follow its advice for the first line that fails")
                }
                Measured::NotMeasured(reason) => skipped(reason.as_str()),
            },
            "P0.3" => self.convergence(),
            "P0.4" => self.speedup(if self.other_model { 0.0 } else { 3.0 }),
            "P1.1" => self.speedup(5.0),
            "P2.1" => self.speedup(8.0),
            "P0.5" => self.deliverables(),
            "P1.2" => self.memory(),
            "P1.3" => self.posterior_match(),
            "P1.4" => self.timings(),
            "P2.2" => compared(self.strategies, "this run compared no chain strategies"),
            "P2.3" => compared(self.samplers, "this run compared no samplers"),
            "P2.4" if self.dashboard => pass("index.html"),
            "P2.4" => fail("no page", "look for the error above that stopped index.html from being written"),
            "Q.1" => self.truths(),
            "Q.2" => self.predictive(),
            _ => skipped("nothing judges this row"),
        }
    }

    fn convergence(&self) -> Judged {
        if self.parameters.is_empty() {
            return skipped("nothing was sampled");
        }
        let Some(worst) = self.parameters.iter().min_by(|a, b| by_worst_rhat(a, b)) else {
            return skipped("nothing was sampled");
        };
        // NaN is less than any number here: a diagnostic that is not defined is no proof of convergence.
        let least = |of: fn(&SummaryRow) -> f64| {
            let key = |row: &&SummaryRow| if of(row).is_nan() { f64::NEG_INFINITY } else { of(row) };
            self.parameters.iter().min_by(|a, b| key(a).total_cmp(&key(b))).unwrap_or(worst)
        };
        let (bulk, tail) = (least(|row| row.ess_bulk), least(|row| row.ess_tail));
        let value = format!(
            "max R-hat {} ({}), min bulk ESS {} ({}), min tail ESS {} ({})",
            significant(worst.rhat, 4),
            worst.name,
            rate(bulk.ess_bulk),
            bulk.name,
            rate(tail.ess_tail),
            tail.name
        );
        if worst.rhat < limits::RHAT && bulk.ess_bulk > limits::ESS && tail.ess_tail > limits::ESS {
            return pass(value);
        }
        let advice = if self.divergences > 0 {
            format!(
                "{} transitions diverged: raise --target-accept (0.99), and sample with --parameterization adaptive",
                self.divergences
            )
        } else {
            "sample with --parameterization adaptive and --metric auto (the defaults), which see directions that a \
             diagonal metric cannot; if they were on, raise --draws and --tune"
                .to_owned()
        };
        fail(value, advice)
    }

    fn speedup(&self, least: f64) -> Judged {
        match &self.speedup {
            Measured::Value(ratio) if *ratio >= least => pass(format!("{}x", significant(*ratio, 3))),
            Measured::Value(ratio) => warn(
                format!("{}x", significant(*ratio, 3)),
                "a GPU pays with many chains or large data: see the table by problem size in benchmark_report.txt",
            ),
            Measured::NotMeasured(reason) => skipped(reason.as_str()),
        }
    }

    fn memory(&self) -> Judged {
        let memory = match &self.gpu_memory {
            Measured::Value(memory) => memory,
            Measured::NotMeasured(reason) => return skipped(reason.as_str()),
        };
        let value = format!(
            "peak {}, foretold {}; {} a chain, {} of the device",
            bytes(memory.peak_bytes),
            bytes(memory.foretold_bytes),
            bytes(memory.per_chain_bytes),
            percent(memory.share)
        );
        // NaN must not pass.
        if memory.off() <= MemoryUse::OFF {
            return pass(value);
        }
        fail(value, "`--dry-run` and `auto` trust what is foretold: report both numbers with the machine's name")
    }

    fn deliverables(&self) -> Judged {
        let deliverables = match &self.deliverables {
            Measured::Value(deliverables) => deliverables,
            Measured::NotMeasured(reason) => return skipped(reason.as_str()),
        };
        let missing: Vec<&str> = deliverables.iter().filter(|d| !d.made).map(|d| d.name.as_str()).collect();
        let all = deliverables.len();
        if missing.is_empty() && all > 0 {
            pass(format!("{all} of {all}"))
        } else {
            let value = format!("{} of {all}", all - missing.len());
            fail(value, format!("missing: {}; the messages above say why", missing.join(", ")))
        }
    }

    fn posterior_match(&self) -> Judged {
        match &self.posterior_match {
            Measured::Value(found) => {
                let value =
                    format!("RMSE {}, means {}, sds {}", percent(found.rmse), percent(found.means), percent(found.sds));
                let means = PosteriorMatch::MEANS;
                if found.rmse <= means && found.means <= means && found.sds <= PosteriorMatch::SDS {
                    pass(value)
                } else {
                    fail(value, "run `octopus verify`: its last check compares one kernel's results with the CPU's")
                }
            }
            Measured::NotMeasured(reason) => skipped(reason.as_str()),
        }
    }

    fn timings(&self) -> Judged {
        let WorstVariation { variation, engine } = match &self.timing_variation {
            Measured::Value(worst) => worst,
            Measured::NotMeasured(reason) => return skipped(reason.as_str()),
        };
        let value = format!("at most {} ({engine})", percent(*variation));
        if *variation < 0.10 {
            return pass(value);
        }
        // Other work on the machine makes timings vary: nothing is wrong with the draws.
        warn(value, "time again on an idle machine; a laptop on battery throttles")
    }

    fn truths(&self) -> Judged {
        let known: Vec<&SummaryRow> =
            self.parameters.iter().filter(|row| !row.is_element() && row.truth.is_some()).collect();
        if known.is_empty() {
            return skipped("the values that made these data are not known");
        }
        let outside: Vec<&SummaryRow> = known.iter().copied().filter(|row| row.truth_inside() == Some(false)).collect();
        let elements: Vec<f64> = self
            .parameters
            .iter()
            .filter(|row| row.is_element())
            .filter_map(|row| row.truth.map(|truth| (row.mean - truth).powi(2)))
            .collect();
        let mut value = match outside.len() {
            0 => format!("all {} inside", known.len()),
            out => format!("{} of {} inside", known.len() - out, known.len()),
        };
        if !elements.is_empty() {
            let rmse = (elements.iter().sum::<f64>() / elements.len() as f64).sqrt();
            value += &format!("; RMSE of the {} array means {}", elements.len(), significant(rmse, 3));
        }
        if outside.is_empty() {
            return pass(value);
        }
        let excused = |row: &SummaryRow| {
            let exact = self.exact_hdi89.iter().find(|(name, _)| *name == row.name);
            exact.zip(row.truth).is_some_and(|((_, (low, high)), truth)| truth < *low || truth > *high)
        };
        let names = |rows: &[&SummaryRow]| rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ");
        if outside.iter().all(|row| excused(row)) {
            let reason = format!(
                "with these data the exact posterior's own 89% HDI leaves out the truth of {}",
                names(&outside)
            );
            return Judged { value, status: Status::Skipped { reason }, advice: None };
        }
        let advice = format!(
            "{}: an 89% HDI misses the truth in 11 of 100 data sets; if another --seed does too, doubt the model",
            names(&outside)
        );
        fail(value, advice)
    }

    fn predictive(&self) -> Judged {
        let found = match &self.predictive {
            Measured::Value([]) => return skipped("no predictive draws were made"),
            Measured::Value(found) => found,
            Measured::NotMeasured(reason) => return skipped(reason.as_str()),
        };
        let values: Vec<String> =
            found.iter().map(|s| format!("{} p = {}", s.name, significant(s.p_value, 2))).collect();
        let value = values.join(", ");
        let odd: Vec<&str> =
            found.iter().filter(|s| !(0.01..=0.99).contains(&s.p_value)).map(|s| s.name.as_str()).collect();
        if odd.is_empty() {
            return pass(value);
        }
        let advice = format!("the model does not reproduce the data's {}: see ppc_plot.png", odd.join(" and "));
        fail(value, advice)
    }
}

fn compared(names: &[String], without: &str) -> Judged {
    match names.len() {
        0 | 1 => skipped(without),
        _ => pass(names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_diag::ParameterSummary;

    fn parameter(name: &str) -> SummaryRow {
        let summary = ParameterSummary {
            name: name.to_owned(),
            mean: 50.0,
            sd: 1.0,
            hdi: [48.0, 52.0],
            rhat: 1.002,
            ess_bulk: 3000.0,
            ess_tail: 2000.0,
            mcse_mean: 0.02,
            ..ParameterSummary::default()
        };
        SummaryRow { summary, truth: Some(49.0) }
    }

    const MEMORY: MemoryUse =
        MemoryUse { peak_bytes: 1 << 30, foretold_bytes: 1 << 30, per_chain_bytes: 1 << 20, share: 0.1 };

    fn varies(variation: f64) -> Measured<WorstVariation> {
        Measured::Value(WorstVariation { variation, engine: "CPU, 2 threads".to_owned() })
    }

    fn without_gpu(parameters: &[SummaryRow]) -> Evidence<'_> {
        Evidence {
            require_gpu: false,
            gpu: Measured::missing("no NVIDIA driver"),
            test_double: false,
            gpu_run: Measured::missing("no GPU"),
            parameters,
            divergences: 0,
            speedup: Measured::missing("no GPU"),
            deliverables: Measured::Value(&[]),
            gpu_memory: Measured::missing("no GPU"),
            posterior_match: Measured::missing("no GPU"),
            timing_variation: varies(0.02),
            strategies: &[],
            samplers: &[],
            dashboard: true,
            exact_hdi89: &[],
            predictive: Measured::Value(&[]),
            other_model: false,
        }
    }

    #[track_caller]
    fn check(evidence: &Evidence<'_>, id: &str, word: &str, says: &str) {
        let verdict = evidence.verdict();
        let row = verdict.rows.iter().find(|row| row.id == id).unwrap();
        assert_eq!(row.status.word(), word, "{row:?}");
        assert!(format!("{row:?}").contains(says), "{row:?}");
        assert_eq!(
            row.advice.is_some(),
            ["FAIL", "WARN"].contains(&word),
            "what is not met has advice, nothing else: {row:?}"
        );
    }

    #[test]
    fn only_what_a_test_double_did_is_said_to_be_of_one() {
        let parameters = [parameter("mu_pop")];
        let said = |test_double| {
            let gpu = Measured::Value("0: some device".to_owned());
            let verdict = Evidence { gpu, test_double, ..without_gpu(&parameters) }.verdict();
            let said = verdict.rows.into_iter().filter(|row| row.value.contains("on a test double"));
            said.map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!((said(true), said(false)), (vec!["P0.1".to_owned()], vec![]));
    }

    #[test]
    fn every_row_is_judged() {
        let parameters = [parameter("mu_pop")];
        let verdict = without_gpu(&parameters).verdict();
        assert_eq!(verdict.rows.len(), asked(false).len());
        assert!(!format!("{verdict:?}").contains("nothing judges"));
    }

    #[test]
    fn convergence() {
        let good = [parameter("mu_pop"), parameter("z[0]")];
        check(&without_gpu(&good), "P0.3", "PASS", "max R-hat 1.002");
        for (change, says) in [
            ((|row| row.rhat = 1.01) as fn(&mut SummaryRow), "max R-hat 1.010 (z[0])"),
            (|row| row.rhat = f64::NAN, "max R-hat NaN (z[0])"),
            (|row| row.ess_bulk = 400.0, "min bulk ESS 400 (z[0])"),
            (|row| row.ess_tail = f64::NAN, "min tail ESS NaN (z[0])"),
        ] {
            let mut bad = good.clone();
            change(&mut bad[1]);
            check(&without_gpu(&bad), "P0.3", "FAIL", says);
            check(&without_gpu(&bad), "P0.3", "FAIL", "--parameterization adaptive");
            check(&Evidence { divergences: 7, ..without_gpu(&bad) }, "P0.3", "FAIL", "7 transitions diverged");
        }
        check(&without_gpu(&[]), "P0.3", "SKIPPED", "nothing was sampled");
    }

    #[test]
    fn gpu_rows() {
        let parameters = [parameter("mu_pop")];
        let none = without_gpu(&parameters);
        for id in ["P0.1", "P0.2", "P0.4", "P1.1", "P1.2", "P1.3", "P2.1"] {
            check(&none, id, "SKIPPED", "wants_gpu: true");
        }
        assert_eq!(Evidence { require_gpu: true, ..none.clone() }.verdict().exit_code(), 4);
        let some = Evidence {
            require_gpu: true,
            gpu: Measured::Value("NVIDIA H200".to_owned()),
            gpu_run: Measured::Value(Err("out of memory".to_owned())),
            speedup: Measured::Value(5.0),
            gpu_memory: Measured::Value(MEMORY),
            posterior_match: Measured::Value(PosteriorMatch { rmse: 0.01, means: 0.02, sds: 0.2 }),
            ..none
        };
        check(&some, "P0.1", "PASS", "H200");
        check(&some, "P0.2", "FAIL", "out of memory");
        check(&some, "P0.4", "PASS", "5.00x");
        check(&some, "P1.1", "PASS", "5.00x");
        check(&some, "P2.1", "WARN", "many chains");
        check(&some, "P1.2", "PASS", "peak 1.00 GiB, foretold 1.00 GiB; 1.00 MiB a chain, 10 %");
        check(&some, "P1.3", "FAIL", "sds 20 %");
        assert_eq!(some.verdict().exit_code(), 1);
    }

    #[test]
    fn of_another_model_only_what_can_be_asked_of_any() {
        let parameters = [parameter("mu")];
        let other = Evidence { other_model: true, ..without_gpu(&parameters) };
        let verdict = other.verdict();
        let ids: Vec<&str> = verdict.rows.iter().map(|row| row.id.as_str()).collect();
        let expected = ["P0.1", "P0.2", "P0.3", "P0.4", "P0.5", "P1.2", "P1.3", "P1.4", "P2.2", "P2.4", "Q.1", "Q.2"];
        assert_eq!(ids, expected);
        check(&other, "P0.4", "SKIPPED", "no limit");
        // A GPU need not be faster for ten numbers.
        check(&Evidence { speedup: Measured::Value(0.4), ..other }, "P0.4", "PASS", "0.400x");
    }

    #[test]
    fn truths() {
        let mut parameters = [parameter("mu_pop"), parameter("mu_group[0]")];
        check(&without_gpu(&parameters), "Q.1", "PASS", "all 1 inside; RMSE of the 1 array means 1.00");
        parameters[1].truth = Some(99.0);
        // Of many elements some miss: only scalars count.
        check(&without_gpu(&parameters), "Q.1", "PASS", "all 1 inside");
        parameters[0].truth = Some(47.0);
        check(&without_gpu(&parameters), "Q.1", "FAIL", "0 of 1 inside");
        // The bounds belong to the exact interval.
        for (interval, word, says) in [
            ((48.1, 52.1), "SKIPPED", "leaves out the truth of mu_pop"),
            ((40.0, 46.9), "SKIPPED", "leaves out the truth of mu_pop"),
            ((46.0, 52.1), "FAIL", "mu_pop"),
            ((47.0, 52.1), "FAIL", "mu_pop"),
            ((40.0, 47.0), "FAIL", "mu_pop"),
        ] {
            let exact = [("mu_pop".to_owned(), interval)];
            check(&Evidence { exact_hdi89: &exact, ..without_gpu(&parameters) }, "Q.1", word, says);
        }
        parameters.iter_mut().for_each(|row| row.truth = None);
        check(&without_gpu(&parameters), "Q.1", "SKIPPED", "not known");
    }

    #[test]
    fn the_rest() {
        let parameters = [parameter("mu_pop")];
        let base = without_gpu(&parameters);
        check(&base, "P0.5", "FAIL", "0 of 0");
        let made = [
            Deliverable { name: "a.png".to_owned(), made: true },
            Deliverable { name: "b.png".to_owned(), made: false },
        ];
        check(&Evidence { deliverables: Measured::Value(&made[..1]), ..base.clone() }, "P0.5", "PASS", "1 of 1");
        check(&Evidence { deliverables: Measured::Value(&made), ..base.clone() }, "P0.5", "FAIL", "missing: b.png");
        check(&base, "P1.4", "PASS", "at most 2.0 % (CPU, 2 threads)");
        check(&Evidence { timing_variation: varies(0.1), ..base.clone() }, "P1.4", "WARN", "idle machine");
        check(
            &Evidence { timing_variation: Measured::missing("timed once"), ..base.clone() },
            "P1.4",
            "SKIPPED",
            "once",
        );
        let names = ["four-long".to_owned(), "many-short".to_owned()];
        check(&Evidence { strategies: &names, samplers: &names, ..base.clone() }, "P2.2", "PASS", "many-short");
        check(&base, "P2.3", "SKIPPED", "this run compared no samplers");
        check(&Evidence { dashboard: false, ..base.clone() }, "P2.4", "FAIL", "no page");
        check(&base, "Q.2", "SKIPPED", "no predictive draws");
        let none = Measured::missing("the model predicts nothing");
        check(&Evidence { predictive: none, ..base.clone() }, "Q.2", "SKIPPED", "predicts nothing");
        let statistic =
            |p_value| [PredictiveStatistic { name: "max".to_owned(), observed: 1.0, replicated: vec![], p_value }];
        check(
            &Evidence { predictive: Measured::Value(&statistic(0.4)), ..base.clone() },
            "Q.2",
            "PASS",
            "max p = 0.40",
        );
        check(
            &Evidence { predictive: Measured::Value(&statistic(0.0)), ..base.clone() },
            "Q.2",
            "FAIL",
            "the data's max",
        );
        check(&Evidence { predictive: Measured::Value(&statistic(f64::NAN)), ..base }, "Q.2", "FAIL", "NaN");
    }
}
