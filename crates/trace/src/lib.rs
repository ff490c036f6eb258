//! The data model: the meaning of numbers, draws in memory, and grouped observations. It knows no file, no sampler and
//! no statistic.
//!
//! | you have | use |
//! |--|--|
//! | a model's variables: names, dimensions, labels, transforms | [`Layout`], [`Variable`], [`Dim`], [`Labels`] |
//! | labels that are dates or durations | [`Dates`], [`Durations`], [`Calendar`], [`TimeUnit`] |
//! | names and labels of others, for people | [`shown`], [`harmless`] |
//! | draws, statistics of the sampler, observations | [`InferenceData`], [`Dataset`], [`Array`] |
//! | observations that belong to groups | [`GroupedData`] |
//! | where data come from, and their hash | [`DataRecord`] |
//!
//! Groups have ArviZ's names: `posterior`, `sample_stats`, `log_likelihood`, `observed_data`, ... An array of draws has the
//! shape chains x draws x the variable's own dimensions.
//!
//! ```
//! use octopus_trace::{Array, Dataset, InferenceData, Values};
//!
//! let mut posterior = Dataset::default();
//! posterior.insert("mu", Array::new([("chain", 2), ("draw", 3)], Values::F64(vec![0.1, 0.2, 0.3, 0.2, 0.1, 0.4])));
//! let mut data = InferenceData::default();
//! data.insert("posterior", posterior);
//! let mu = &data.groups["posterior"].variables["mu"];
//! assert_eq!((mu.chains(), mu.draws()), (2, 3));
//! ```
#![forbid(unsafe_code)]

mod data_record;
mod grouped;
mod labels;
mod layout;
mod model;
mod shown;
mod statistics;
mod time;

pub use data_record::{DataRecord, LeftOut};
pub use grouped::{DataError, GroupedData};
pub use labels::Labels;
pub use layout::{Dim, Layout, Role, Transform, Variable};
pub use model::{Array, Attribute, Dataset, InferenceData, Values};
pub use shown::{harmless, shown};
pub use statistics::{DrawStatistic, STATISTICS, StatisticKind, statistic_named};
pub use time::{Calendar, Dates, Durations, TimeUnit};
