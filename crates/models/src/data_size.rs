//! How large the data of a model are, before they are made or read.

use crate::TableFile;
use octopus_formats::observations;

/// The bytes of an observation while a model is built: its value, its group and their copies, of which the model, its
/// simulator and the fingerprint of the groups have one each.
const OBSERVATION: u64 = 56;
/// The bytes of a group beside its observations: its effect in the vectors of the density, its size and its label.
const GROUP: u64 = 192;
/// The bytes of a cell that has been read from a table and is not yet sorted, in a list that has doubled when it was full.
const CELL: u64 = 16;
/// The columns of a table of grouped observations, the fewest that are reckoned with.
const COLUMNS: u64 = 2;

/// What the data of a model take of the memory, foretold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSize {
    /// What they are, e.g. `10000 observations in 100 groups`.
    pub what: String,
    /// The bytes of memory that the model takes with them while it is built.
    pub bytes: u64,
    /// What makes them smaller, as advice.
    pub advice: &'static str,
}

impl DataSize {
    /// Returns that of made-up data.
    pub fn of_groups(groups: usize, observations: usize) -> Self {
        let (of_groups, of_all) =
            (GROUP.saturating_mul(groups as u64), OBSERVATION.saturating_mul(observations as u64));
        Self {
            what: format!("a model of {observations} observations in {groups} groups"),
            bytes: of_groups.saturating_add(of_all),
            advice: "ask for fewer groups, or for fewer observations in each",
        }
    }

    /// Returns that of a table of which so many columns are read, at least two; `None` where the table does not tell its
    /// size.
    pub fn of_table(table: &TableFile, columns: usize) -> Option<Self> {
        let size = observations::table_size(&table.path)?;
        let columns = (columns as u64).max(COLUMNS);
        let reading = size.text.saturating_add(CELL.saturating_mul(columns).saturating_mul(size.rows));
        // More columns than two take as much in the model as while they are read.
        let row = OBSERVATION.saturating_add(CELL.saturating_mul(columns - COLUMNS));
        Some(Self {
            what: format!("a model of the about {} rows of {}", size.rows, table.path.display()),
            bytes: reading.max(row.saturating_mul(size.rows)),
            advice: "give a table of fewer rows, or more memory",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_data_than_can_be_counted_are_very_many() {
        assert_eq!(DataSize::of_groups(2, 10).bytes, 2 * GROUP + 10 * OBSERVATION);
        assert_eq!(DataSize::of_groups(usize::MAX, usize::MAX).bytes, u64::MAX);
    }

    /// Rows of few letters take their room in the model, and those of many letters while they are read.
    #[test]
    fn data_take_what_their_rows_take() {
        assert_eq!(DataSize::of_groups(2, 10).bytes, 2 * 192 + 10 * 56);
        let dir = tempfile::tempdir().unwrap();
        let of = |label: &str, columns: usize| {
            let path = dir.path().join(format!("{}.csv", label.len()));
            std::fs::write(&path, format!("g,y\n{}", format!("{label},1\n").repeat(1000))).unwrap();
            let settings = format!("[data.file]\npath = {path:?}").parse().unwrap();
            let table = TableFile::in_settings(&settings).unwrap();
            let size = observations::table_size(&table.path).unwrap();
            (DataSize::of_table(&table, columns).unwrap().bytes, size.rows, size.text)
        };
        for few in [0, 2] {
            let (bytes, rows, _) = of("a", few);
            assert_eq!(bytes, 56 * rows);
        }
        let (bytes, rows, _) = of("a", 5);
        assert_eq!(bytes, (56 + 3 * 16) * rows);
        let (bytes, rows, text) = of(&"a".repeat(60), 2);
        assert_eq!(bytes, text + 32 * rows);
    }
}
