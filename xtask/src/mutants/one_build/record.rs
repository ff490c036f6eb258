//! The record keeps what became of the faults that were tried, in this call or before.

use super::journal::Journal;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// An outcome says how the trial of a fault ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// A test failed.
    Caught,
    /// A test did not end in its time.
    TimedOut,
    /// All tests that reach it passed.
    Missed,
    /// The tests that there was time for passed.
    OutOfTime,
    /// It was no program.
    NotCompiling,
}

/// What was tried with a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Tried {
    pub(super) fault: usize,
    /// Its name, for whoever reads the file.
    pub(super) name: String,
    pub(super) outcome: Outcome,
    /// The test that noticed.
    pub(super) noticed_by: Option<String>,
    /// How many tests were run.
    pub(super) tests: usize,
    /// How many reach it.
    pub(super) reached_by: usize,
    /// How many seconds there were for them.
    pub(super) budget: f64,
}

/// All that was tried.
pub(super) struct Record {
    journal: Journal<Tried>,
    tried: BTreeMap<usize, Tried>,
}

impl Record {
    /// Opens the record at `path`.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (journal, known) = Journal::<Tried>::open(path)?;
        Ok(Self { journal, tried: known.into_iter().map(|tried| (tried.fault, tried)).collect() })
    }

    /// Returns what was tried with a fault.
    pub(super) fn get(&self, fault: usize) -> Option<&Tried> {
        self.tried.get(&fault)
    }

    /// Returns all that was tried.
    pub(super) fn all(&self) -> impl Iterator<Item = &Tried> {
        self.tried.values()
    }

    /// Adds what was tried with a fault, on disk too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&mut self, tried: Tried) -> Result<()> {
        self.journal.add(&tried)?;
        self.tried.insert(tried.fault, tried);
        Ok(())
    }
}
