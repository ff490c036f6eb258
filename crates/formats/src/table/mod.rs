//! A CSV table of draws: one line for each draw of each chain, as spreadsheets and the tables of pandas and R hold them.

mod read;
mod write;

pub use read::read_csv;
pub use write::write_csv;

use crate::csv_text::header_of;
use crate::draw_table::index_columns;
use crate::{FormatError, TraceFormat, WriteTrace};
use octopus_trace::InferenceData;
use std::path::Path;

/// A table with columns that number chains and draws; of Octopus, or of any other program.
#[derive(Debug)]
pub(crate) struct CsvTable;

impl TraceFormat for CsvTable {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "One line for each draw"
    }

    fn kind(&self) -> &'static str {
        "CSV table of draws"
    }

    fn has_file(&self, beginning: &[u8]) -> bool {
        header_of(beginning).is_some_and(|names| index_columns(&names).is_some())
    }

    fn read(&self, path: &Path) -> Result<InferenceData, FormatError> {
        read_csv(path)
    }

    fn writer(&self) -> Option<WriteTrace> {
        Some(write_csv)
    }

    fn holds_draws_only(&self) -> bool {
        true
    }
}
