//! The files of CmdStan (RStan and PyStan 2 write such, too): one CSV for each chain, and the metric as JSON. Formats:
//! CmdStan's guide, "Stan CSV file format" and "Metric file".

mod columns;
mod file;
mod metric;
mod read;
mod write;

pub(crate) use columns::{in_type_of_statistic, name_in_stan, statistic_name, statistics};
pub use metric::{InverseMetric, StanMetric};
pub use read::{StanCsv, read_stan_csv};
pub use write::write_stan_csv;

use crate::listing::files_ending;
use crate::registry::of_file;
use crate::{FormatError, TraceFormat, WriteTrace};
use file::looks_like_stan;
use octopus_trace::InferenceData;
use std::path::Path;

/// CSV files of CmdStan, one for each chain, or a folder of them.
#[derive(Debug)]
pub(crate) struct StanFiles;

impl TraceFormat for StanFiles {
    fn name(&self) -> &'static str {
        "stan-csv"
    }

    fn about(&self) -> &'static str {
        "A folder of CmdStan's CSV files, one for each chain: `arviz.from_cmdstan`, posterior, stansummary"
    }

    fn kind(&self) -> &'static str {
        "CSV of CmdStan"
    }

    fn has_file(&self, beginning: &[u8]) -> bool {
        looks_like_stan(beginning)
    }

    fn has_folder(&self, folder: &Path) -> Result<bool, FormatError> {
        for file in files_ending(folder, "csv")?.iter().filter(|file| file.is_file()) {
            if of_file(file)?.is_ok_and(|format| format.name() == self.name()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        Ok(read_stan_csv(&[path.to_owned()])?.data)
    }

    fn writer(&self) -> Option<WriteTrace> {
        // The metric of a run is that of its own coordinates, in which Stan would not sample.
        Some(|path, data, overwrite| write_stan_csv(path, data, &[], overwrite))
    }

    fn may_replace(&self, path: &Path) -> bool {
        write::is_ours(path)
    }

    fn holds_draws_only(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
