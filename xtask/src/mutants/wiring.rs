//! The faults of wiring: what an option reaches, what a limit is, and what an exit code says.

use super::faults::Fault;

const SETS: &str = "crates/cli/src/commands/batch/sets.rs";
const CONFIG: &str = "crates/cli/src/config.rs";
const DRIVE: &str = "crates/runs/src/drive.rs";
const OBSERVED: &str = "crates/octopus/src/observed.rs";
const LOO: &str = "crates/cli/src/commands/loo.rs";
const EVIDENCE: &str = "crates/report/src/verdict/evidence.rs";
const DIAGNOSIS: &str = "crates/diag/src/diagnosis.rs";
const SAMPLE: &str = "crates/cli/src/commands/sample.rs";
const SWEEP: &str = "crates/cli/src/commands/sweep.rs";

/// The settings of a data set of a batch.
const OF_SET: &str = "..config.sampler.clone() };";

pub(super) const WIRING: [Fault; 39] = [
    Fault {
        name: "wiring: a batch drops --target-accept",
        file: SETS,
        old: OF_SET,
        new: "target_accept: 0.95, ..config.sampler.clone() };",
    },
    Fault {
        name: "wiring: a batch drops --metric",
        file: SETS,
        old: OF_SET,
        new: "metric: Default::default(), ..config.sampler.clone() };",
    },
    Fault {
        name: "wiring: a batch drops --parameterization",
        file: SETS,
        old: OF_SET,
        new: "parameterization: Default::default(), ..config.sampler.clone() };",
    },
    Fault {
        name: "wiring: a batch drops --max-depth",
        file: SETS,
        old: OF_SET,
        new: "max_depth: 10, ..config.sampler.clone() };",
    },
    Fault {
        name: "wiring: --max-depth does not reach its setting",
        file: CONFIG,
        old: "set(&mut sampler.max_depth, args.max_depth);",
        new: "",
    },
    Fault {
        name: "wiring: --target-rhat does not reach its goal",
        file: CONFIG,
        old: "goal.target_rhat = args.target_rhat.or(goal.target_rhat);",
        new: "",
    },
    Fault {
        name: "wiring: data sets that have not converged end a batch with 0",
        file: "crates/cli/src/commands/batch/summary.rs",
        old: "self.fit == self.sets.len()",
        new: "self.fit + self.unfit == self.sets.len()",
    },
    Fault {
        name: "wiring: a resumed run forgets the recorded times",
        file: DRIVE,
        old: "let mut timing = writer.record().timing;",
        new: "let mut timing = Timing::default();",
    },
    Fault {
        name: "wiring: a batch that goes on forgets the recorded times",
        file: "crates/cli/src/commands/batch/draw.rs",
        old: "record.timing = writer.as_ref().map_or(record.timing, |writer| writer.record().timing);",
        new: "",
    },
    Fault {
        name: "wiring: --max-seconds does not count warm-up",
        file: DRIVE,
        old: "monitor.is_late(timing.warmup_s + timing.sampling_s)",
        new: "monitor.is_late(timing.sampling_s)",
    },
    Fault {
        name: "wiring: every chain has the same predictive noise",
        file: OBSERVED,
        old: "Stream::new(seed, chain as u32, draw as u32, Purpose::Predictive)",
        new: "Stream::new(seed, 0 * chain as u32, draw as u32, Purpose::Predictive)",
    },
    Fault {
        name: "wiring: every draw has the same predictive noise",
        file: OBSERVED,
        old: "Stream::new(seed, chain as u32, draw as u32, Purpose::Predictive)",
        new: "Stream::new(seed, chain as u32, 0 * draw as u32, Purpose::Predictive)",
    },
    Fault {
        name: "wiring: every seed has the same predictive noise",
        file: OBSERVED,
        old: "Stream::new(seed, chain as u32, draw as u32, Purpose::Predictive)",
        new: "Stream::new(0 * seed, chain as u32, draw as u32, Purpose::Predictive)",
    },
    Fault {
        name: "wiring: the relative efficiency is 1",
        file: "crates/octopus/src/likelihood.rs",
        old: "let whole = relative_eff(posterior)?;",
        new: "let whole = relative_eff(posterior)?.clamp(1.0, 1.0);",
    },
    Fault {
        name: "wiring: loo takes draws as independent",
        file: LOO,
        old: "loo(&judged.log_likelihood, judged.reff)?",
        new: "loo(&judged.log_likelihood, 1.0)?",
    },
    Fault {
        name: "wiring: --weights pseudo-bma gives stacking",
        file: LOO,
        old: "Weights::PseudoBma => WeightMethod::PseudoBma,",
        new: "Weights::PseudoBma => WeightMethod::Stacking,",
    },
    Fault {
        name: "wiring: P1.3 lets the RMSE be 50 %",
        file: EVIDENCE,
        old: "found.rmse <= 0.05",
        new: "found.rmse <= 0.5",
    },
    Fault {
        name: "wiring: P1.3 lets means be 50 % off",
        file: EVIDENCE,
        old: "found.means <= 0.05",
        new: "found.means <= 0.5",
    },
    Fault {
        name: "wiring: P1.3 lets sds be 11 % off",
        file: EVIDENCE,
        old: "found.sds <= 0.10",
        new: "found.sds <= 0.11",
    },
    Fault { name: "wiring: Q.2 has no upper limit", file: EVIDENCE, old: "(0.01..=0.99)", new: "(0.01..=1.0)" },
    Fault {
        name: "wiring: P0.4 wants twice the speed",
        file: EVIDENCE,
        old: "{ 0.0 } else { 3.0 }",
        new: "{ 0.0 } else { 2.0 }",
    },
    Fault {
        name: "wiring: P2.1 wants 7.5 times the speed",
        file: EVIDENCE,
        old: "\"P2.1\" => self.speedup(8.0)",
        new: "\"P2.1\" => self.speedup(7.5)",
    },
    Fault {
        name: "wiring: P1.4 lets times vary by 15 %",
        file: EVIDENCE,
        old: "*variation < 0.10",
        new: "*variation < 0.15",
    },
    Fault {
        name: "wiring: P0.3 lets R-hat be 1.02",
        file: EVIDENCE,
        old: "worst.rhat < limits::RHAT",
        new: "worst.rhat < limits::RHAT + 0.01",
    },
    Fault {
        name: "wiring: Q.3 lets draws be a fifth further off",
        file: "crates/phase0/src/compare.rs",
        old: "self.distance < self.limit",
        new: "self.distance < 1.2 * self.limit",
    },
    Fault {
        name: "wiring: the default limit of E-BFMI is 0.2",
        file: DIAGNOSIS,
        old: "min_bfmi: limits::BFMI",
        new: "min_bfmi: limits::BFMI - 0.1",
    },
    Fault {
        name: "wiring: the default limit of R-hat is 1.05",
        file: DIAGNOSIS,
        old: "max_rhat: limits::RHAT",
        new: "max_rhat: limits::RHAT + 0.04",
    },
    Fault {
        name: "wiring: the default limit of effective draws is a tenth lower",
        file: DIAGNOSIS,
        old: "limits::ESS_PER_CHAIN * summary.chains as f64",
        new: "0.9 * limits::ESS_PER_CHAIN * summary.chains as f64",
    },
    Fault {
        name: "wiring: the standard error of a difference is a tenth too small",
        file: "crates/diag/src/predictive/compare.rs",
        old: "dse: standard_error(&lacks),",
        new: "dse: 0.9 * standard_error(&lacks),",
    },
    Fault {
        name: "wiring: diagnose ends with 0 whatever it finds",
        file: "crates/cli/src/commands/diagnose.rs",
        old: "if diagnosis.good() { Exit::Fine } else { Exit::Bad }",
        new: "if diagnosis.good() { Exit::Fine } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: compare ends with 0 for other posteriors",
        file: "crates/cli/src/commands/compare.rs",
        old: "if comparison.same { Exit::Fine } else { Exit::Bad }",
        new: "if comparison.same { Exit::Fine } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: loo ends with 0 where it cannot be trusted",
        file: LOO,
        old: "if doubtful { Exit::Bad } else { Exit::Fine }",
        new: "if doubtful { Exit::Fine } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: sweep ends with 0 when chains were lost",
        file: SWEEP,
        old: "if good { Exit::Fine } else { Exit::Bad }",
        new: "if good { Exit::Fine } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: an interrupted sweep ends with 0",
        file: SWEEP,
        old: "return Ok(Exit::Interrupted);",
        new: "return Ok(Exit::Fine);",
    },
    Fault {
        name: "wiring: an interrupted run ends with 0",
        file: SAMPLE,
        old: "return Ok(Exit::Interrupted);",
        new: "return Ok(Exit::Fine);",
    },
    Fault {
        name: "wiring: a goal that was missed ends with 0",
        file: SAMPLE,
        old: "if reached { checked } else { Exit::Bad }",
        new: "if reached { checked } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: an interrupted batch ends with 0",
        file: "crates/cli/src/commands/batch.rs",
        old: "return Ok(Exit::Interrupted);",
        new: "return Ok(Exit::Fine);",
    },
    Fault {
        name: "wiring: calibrate ends with 0 whatever it finds",
        file: "crates/cli/src/commands/calibrate.rs",
        old: "if calibrated { Exit::Fine } else { Exit::Bad }",
        new: "if calibrated { Exit::Fine } else { Exit::Fine }",
    },
    Fault {
        name: "wiring: accept ends with 0 for bad results",
        file: "crates/cli/src/commands/device/accept.rs",
        old: "return Ok(Exit::Bad);",
        new: "return Ok(Exit::Fine);",
    },
];
