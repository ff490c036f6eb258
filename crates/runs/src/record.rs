//! The record `run.toml`: what was run, on which data, with which settings, and how it ended.
//!
//! The version of its schema stands here.

use crate::timestamp::now_utc;
use crate::{Init, RunError};
use octopus_density::Layout;
use octopus_sampler::SamplerConfig;
use octopus_trace::DataRecord;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The schema that this program writes. It also reads all earlier schemas.
///
/// Schema 2 added the device's reason and usage, 3 chain strategies and runs that end at a goal, 4 why a strategy was
/// chosen, 5 how the cells of a table are read and what was left out of it.
pub const RECORD_SCHEMA: u32 = 5;

/// The name under which [`adaptation`](RunRecord::adaptation) has what a population tells of itself.
pub(crate) const POPULATION: &str = "population";

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The run is sampling, or was killed while sampling.
    Running,
    /// The run was stopped in good order and can be resumed.
    Interrupted,
    /// All draws are there.
    Complete,
}

/// The model and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// The model's name.
    pub name: String,
    /// All settings that are needed to build the model again, e.g. priors and the form of the likelihood.
    #[serde(default)]
    pub settings: toml::Table,
}

/// Wall-clock times in seconds, over all sessions of a resumed run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Time spent in warm-up.
    pub warmup_s: f64,
    /// Time spent on the draws after warm-up.
    pub sampling_s: f64,
}

/// The goal at which a run ends before its last draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Goal {
    /// The bulk and tail effective sample size that every parameter must reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_ess: Option<f64>,
    /// The R-hat that every parameter must be below; nested R-hat where chains began in superchains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_rhat: Option<f64>,
    /// Seconds of warm-up and sampling after which the run ends as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
}

/// What ended a run that had a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// All targets were met.
    Target,
    /// All draws were drawn.
    Draws,
    /// The time was up.
    Time,
}

/// How a run with a goal ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// What ended the run.
    pub by: EndedBy,
    /// The number of draws of each chain.
    pub draws: usize,
    /// The finding that was last, or still is, short of its target, e.g. `tail-ESS of sigma_pop: 812 of 1000 at 512
    /// draws`; `None` if nothing was short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

/// One Parquet file of draws, as it was when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartRecord {
    /// The file's path within the run folder, e.g. `draws/part-00000.parquet`.
    pub file: String,
    /// The number of rows: the draws of all chains.
    pub rows: usize,
    /// The CRC-32 (IEEE) of the file's bytes.
    pub crc32: u32,
}

/// The record of one run: the whole contents of `run.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// The version of this record's form.
    pub schema: u32,
    /// When the run began (RFC 3339, UTC).
    pub created: String,
    /// The version of Octopus that began the run.
    pub octopus: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// How far the run came.
    pub status: RunStatus,
    /// The device that sampled, e.g. `cpu`, or several together, e.g. `cuda:0,1`.
    pub device: String,
    /// Why that device was chosen, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device_reason: String,
    /// Why these chains were chosen, in one line; empty where the user asked for them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub strategy_reason: String,
    /// Whether warm-up draws are kept.
    pub keep_warmup: bool,
    /// The model.
    pub model: ModelRecord,
    /// The model's data; `None` for a model without observations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataRecord>,
    /// The sampler's settings.
    #[serde(with = "config_form")]
    pub sampler: SamplerConfig,
    /// How its chains started.
    #[serde(default, skip_serializing_if = "Init::is_default")]
    pub init: Init,
    /// When the run is to end before its last draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// How a run with a goal ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The wall-clock times.
    #[serde(default)]
    pub timing: Timing,
    /// What warm-up found: metric, rank, coordinates, step sizes; empty before warm-up ends. Of a sampler without warm-up
    /// [what its population tells](Self::population).
    #[serde(default)]
    pub adaptation: toml::Table,
    /// What the last session used of its device: memory, kernels, copies. For several devices it is a list `devices` of
    /// such tables. Empty before the session ends.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    pub usage: toml::Table,
    /// The files of draws; filled when the run is complete or interrupted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRecord>,
    /// The variables of a draw.
    pub layout: Layout,
}

impl RunRecord {
    /// Makes the record of a run that begins now, on the CPU, without data.
    pub fn new(model: ModelRecord, sampler: SamplerConfig, layout: Layout) -> Self {
        Self {
            schema: RECORD_SCHEMA,
            created: now_utc(),
            octopus: env!("CARGO_PKG_VERSION").to_owned(),
            command: Vec::new(),
            status: RunStatus::Running,
            device: "cpu".to_owned(),
            device_reason: String::new(),
            strategy_reason: String::new(),
            keep_warmup: false,
            model,
            data: None,
            sampler,
            init: Init::default(),
            goal: None,
            ending: None,
            timing: Timing::default(),
            adaptation: toml::Table::new(),
            usage: toml::Table::new(),
            parts: Vec::new(),
            layout,
        }
    }

    /// Returns what the run's population tells of itself: `particles`, `evaluations`, `log_evidence`, `standard_error`, `ess`,
    /// `pareto_k` where there is one, and `doubt`, why draws and evidence cannot be relied on. `None` where chains moved.
    pub fn population(&self) -> Option<&toml::Table> {
        self.adaptation.get(POPULATION)?.as_table()
    }

    /// Parses the text of `path`.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, RunError> {
        let fail = |field: String, message: String| RunError::Record { path: path.to_owned(), field, message };
        let table: toml::Table =
            toml::from_str(text).map_err(|error| fail(".".into(), error.to_string().trim_end().to_owned()))?;
        // A later schema may have other fields: say that first.
        match table.get("schema") {
            Some(toml::Value::Integer(found)) if *found > i64::from(RECORD_SCHEMA) => {
                let (path, found) = (path.to_owned(), *found);
                return Err(RunError::RecordTooNew { path, found, supported: RECORD_SCHEMA });
            }
            _ => {}
        }
        let record: Self = serde_path_to_error::deserialize(toml::Value::Table(table))
            .map_err(|error| fail(error.path().to_string(), error.inner().message().to_owned()))?;
        record.sampler.validate().map_err(|error| fail(format!("sampler.{}", error.field), error.to_string()))?;
        Ok(record)
    }

    /// Returns the text of the record.
    pub(crate) fn render(&self, path: &Path) -> Result<String, RunError> {
        toml::to_string(self).map_err(|error| RunError::Encode { path: path.to_owned(), what: error.to_string() })
    }
}

/// [`SamplerConfig`] in TOML, whose integers end at 2^63: a larger seed is written as text.
mod config_form {
    use octopus_sampler::SamplerConfig;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(config: &SamplerConfig, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = toml::Table::try_from(SamplerConfig { seed: 0, ..config.clone() }).map_err(S::Error::custom)?;
        let seed = i64::try_from(config.seed)
            .map_or_else(|_| toml::Value::String(config.seed.to_string()), toml::Value::Integer);
        table.insert("seed".into(), seed);
        table.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SamplerConfig, D::Error> {
        let mut table = toml::Table::deserialize(deserializer)?;
        let big = match table.get("seed") {
            Some(toml::Value::String(text)) => {
                Some(text.parse().map_err(|_| D::Error::custom(format!("seed = {text:?}: not a whole number")))?)
            }
            _ => None,
        };
        if big.is_some() {
            table.remove("seed");
        }
        let mut config: SamplerConfig = serde_path_to_error::deserialize(toml::Value::Table(table))
            .map_err(|error| D::Error::custom(format!("`{}`: {}", error.path(), error.inner().message())))?;
        config.seed = big.unwrap_or(config.seed);
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_density::{Dim, Labels, Role, Transform, Variable};

    fn record() -> RunRecord {
        let group = Dim { name: "group".into(), labels: Labels::Strings(vec!["a \"b\"".into(), "ü".into()]) };
        let layout = Layout {
            variables: vec![
                Variable {
                    name: "mu".into(),
                    dims: vec![],
                    role: Role::Parameter { offset: 0, transform: Transform::Identity },
                },
                Variable { name: "mu_group".into(), dims: vec![group], role: Role::Derived },
            ],
        };
        let settings = toml::toml! { likelihood = "collapsed"
        mu_pop = [50.0, 20.0] };
        let model = ModelRecord { name: "hierarchical-normal".into(), settings };
        let mut record = RunRecord::new(model, SamplerConfig { seed: u64::MAX, ..Default::default() }, layout);
        record.goal = Some(Goal { target_ess: Some(400.0), ..Goal::default() });
        record.ending = Some(Ending { by: EndedBy::Time, draws: 3, last: Some("bulk-ESS of x: 3 of 400".into()) });
        record.data = Some(DataRecord {
            source: "x.csv".into(),
            sha256: "00".into(),
            observations: 3,
            groups: 2,
            ..DataRecord::default()
        });
        record.command = vec!["octopus".into(), "sample".into()];
        record.adaptation = toml::toml! { rank = 2
        step_sizes = [0.1, 0.2] };
        record.parts = vec![PartRecord { file: "draws/part-00000.parquet".into(), rows: 8, crc32: u32::MAX }];
        record
    }

    #[test]
    fn round_trip() {
        let record = record();
        assert!(!record.keep_warmup, "unless it is asked for");
        let text = record.render(Path::new("run.toml")).unwrap();
        assert_eq!(RunRecord::parse(&text, Path::new("run.toml")).unwrap(), record, "{text}");
    }

    #[test]
    fn errors_name_file_and_field() {
        let path = Path::new("runs/a/run.toml");
        let text = record().render(path).unwrap();
        let check = |from: &str, to: &str, expected: &[&str]| {
            assert!(text.contains(from), "{from} not in {text}");
            let message = RunRecord::parse(&text.replace(from, to), path).unwrap_err().to_string();
            for word in expected {
                assert!(message.contains(word), "{word:?} not in: {message}");
            }
        };
        check("draws = 1000", "draws = \"many\"", &["runs/a/run.toml", "draws", "many"]);
        check("draws = 1000", "draws = 0", &["sampler.draws", "at least 1"]);
        check("draws = 1000", "drawz = 1000", &["sampler", "drawz"]);
        check("status = \"running\"", "status = \"asleep\"", &["`status`", "asleep", "interrupted"]);
        check("status = \"running\"", "", &["status", "missing"]);
        check("device = \"cpu\"", "device = \"cpu\"\ncolour = 1", &["colour"]);
        check("observations = 3", "observations = -3", &["`data.observations`", "-3"]);
        check("schema = 5", "schema = 6", &["schema 6", "newer octopus"]);
        check("schema = 5", "schema = [", &["runs/a/run.toml", "line 2"]);
        check("seed = \"18446744073709551615\"", "seed = \"forty-two\"", &["sampler", "forty-two"]);
    }
}
