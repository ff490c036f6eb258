//! Run folders: one folder for one run, readable while it grows.

mod checkpoint;
mod columns;
mod folder;
mod part;
mod read;
mod record;
mod writer;

pub(crate) use columns::STATISTICS;
pub use read::RunFolder;
pub use record::{
    DataRecord, EndedBy, Ending, Goal, ModelRecord, PartRecord, RECORD_SCHEMA, RunRecord, Status, Timing,
};
pub use writer::{CreateOptions, Resumed, RunWriter};

#[cfg(test)]
pub(crate) mod tests;
