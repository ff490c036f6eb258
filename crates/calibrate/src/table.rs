//! The table `ranks.csv`, its columns, and how it is read back, so that a calibration can go on later.
//!
//! It has a line for each data set.

use crate::quantities::Quantities;
use crate::{CalibratedSet, Found};
use octopus_models::Simulator;
use thiserror::Error;

/// Columns after the ranks.
const REST: [&str; 7] = ["rhat", "ess", "correlation", "together", "divergences", "leapfrogs", "error"];

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file is no CSV, or has lines of different lengths.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// The columns are those of another model.
    #[error("its columns are {found:?}, not {expected:?}")]
    Columns {
        /// The columns of the file.
        found: Vec<String>,
        /// The columns that the model's table has.
        expected: Vec<String>,
    },
    /// A cell that must hold a number does not.
    #[error("line {line}, column `{column}`: {text:?} is not a number that can stand there")]
    Number {
        /// The line of the cell, from 1 on.
        line: usize,
        /// The name of the cell's column.
        column: String,
        /// The text of the cell.
        text: String,
    },
}

/// The columns of a model's table: `data_set`, the rank of each quantity, `rhat`, `ess`, `correlation`, `together`
/// (empty where there are no superchains), `divergences`, `leapfrogs`, and `error`, which is empty where there are
/// ranks.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<String>,
}

impl Table {
    /// Makes the table of a model.
    pub fn of(simulator: &dyn Simulator) -> Self {
        let quantities = Quantities::of(simulator.layout()).names;
        let columns = ["data_set".to_owned()].into_iter().chain(quantities).chain(REST.map(str::to_owned)).collect();
        Self { columns }
    }

    fn quantities(&self) -> usize {
        self.columns.len() - 1 - REST.len()
    }

    /// Writes data sets as CSV with a line of names.
    ///
    /// # Errors
    /// When a data set does not have one rank for each quantity.
    pub fn write(&self, data_sets: &[CalibratedSet]) -> Result<Vec<u8>, TableError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.columns)?;
        for CalibratedSet { number, outcome } in data_sets {
            let mut line = vec![number.to_string()];
            match outcome {
                Ok(found) => {
                    let Found { ranks, rhat, ess, correlation, together, divergences, leapfrogs } = found;
                    line.extend(ranks.iter().map(ToString::to_string));
                    line.extend([rhat, ess, correlation].map(ToString::to_string));
                    line.push(together.map(|together| together.to_string()).unwrap_or_default());
                    line.extend([divergences, leapfrogs].map(ToString::to_string));
                    line.push(String::new());
                }
                Err(why) => {
                    line.resize(self.columns.len() - 1, String::new());
                    line.push(why.clone());
                }
            }
            writer.write_record(&line)?;
        }
        writer.into_inner().map_err(|error| TableError::Csv(error.into_error().into()))
    }

    /// Reads data sets that [`write`](Self::write) has written: every number has its bits again.
    ///
    /// # Errors
    /// When the columns are others, or a cell that must hold a number does not.
    pub fn read(&self, bytes: &[u8]) -> Result<Vec<CalibratedSet>, TableError> {
        let mut reader = csv::Reader::from_reader(bytes);
        let found: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
        if found != self.columns {
            return Err(TableError::Columns { found, expected: self.columns.clone() });
        }
        let line = |(i, record): (usize, Result<csv::StringRecord, csv::Error>)| self.line(i + 2, &record?);
        reader.records().enumerate().map(line).collect()
    }

    fn line(&self, line: usize, record: &csv::StringRecord) -> Result<CalibratedSet, TableError> {
        let text = |column: usize| record.get(column).unwrap_or_default();
        let not = |column: usize| TableError::Number {
            line,
            column: self.columns[column].clone(),
            text: text(column).to_owned(),
        };
        let number = text(0).parse().map_err(|_| not(0))?;
        let rest = 1 + self.quantities();
        let why = text(rest + REST.len() - 1);
        if !why.is_empty() {
            return Ok(CalibratedSet { number, outcome: Err(why.to_owned()) });
        }
        let float = |column: usize| text(column).parse::<f64>().map_err(|_| not(column));
        let count = |column: usize| text(column).parse::<u64>().map_err(|_| not(column));
        let found = Found {
            ranks: (1..rest).map(|column| text(column).parse().map_err(|_| not(column))).collect::<Result<_, _>>()?,
            rhat: float(rest)?,
            ess: float(rest + 1)?,
            correlation: float(rest + 2)?,
            together: if text(rest + 3).is_empty() { None } else { Some(float(rest + 3)?) },
            divergences: count(rest + 4)?,
            leapfrogs: count(rest + 5)?,
        };
        Ok(CalibratedSet { number, outcome: Ok(found) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_models::SchoolsSimulator;

    fn some() -> Vec<CalibratedSet> {
        let found = |rank: usize| Found {
            ranks: (0..10).map(|q| q + rank).collect(),
            rhat: 1.0 + 1.0 / 3.0,
            ess: 0.1 + 0.2,
            correlation: -1.0 / 7.0,
            together: (rank > 0).then_some(1e-3 / 3.0),
            divergences: 3,
            leapfrogs: 12345,
        };
        vec![
            CalibratedSet { number: 4, outcome: Ok(found(0)) },
            CalibratedSet { number: 0, outcome: Err("chain 0: no \"start\", none".to_owned()) },
            CalibratedSet { number: 7, outcome: Ok(found(5)) },
        ]
    }

    #[test]
    fn tables_come_back_to_the_bit() {
        let table = Table::of(&SchoolsSimulator::rubin());
        let bytes = table.write(&some()).unwrap();
        assert_eq!(table.read(&bytes).unwrap(), some());
        assert!(table.read(&table.write(&[]).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn other_tables_are_refused_with_what_is_wrong() {
        let table = Table::of(&SchoolsSimulator::rubin());
        let text = String::from_utf8(table.write(&some()).unwrap()).unwrap();
        let message = |text: String| table.read(text.as_bytes()).unwrap_err().to_string();
        assert!(message(text.replace("tau", "kappa")).contains("kappa"));
        assert!(message(text.replace("12345", "many")).contains("line 2, column `leapfrogs`: \"many\""));
        assert!(message(text.replace("\n4,0", "\nfour,0")).contains("line 2, column `data_set`: \"four\""));
        assert!(table.read(&text.as_bytes()[..text.len() - 20]).is_err(), "half a line is no line");
    }
}
