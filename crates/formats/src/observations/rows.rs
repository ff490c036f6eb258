//! The rows of a table while they are read: a wrong cell is refused, and a row that lacks a cell may be left out.

use super::labels::LabelIndex;
use super::table::{ColumnValues, DataTable, LabelColumn};
use super::{CellProblem, CellRules, ColumnKind, TableColumn};
use indexmap::IndexSet;
use octopus_trace::LeftOut;
use std::path::Path;

/// The cells of one row: those of the columns that are read by their numbers, in the order of [`Rows::columns`].
pub(super) trait RowCells {
    fn real(&self, column: usize) -> Result<f64, CellProblem>;
    fn integer(&self, column: usize) -> Result<i64, CellProblem>;
    /// The text of a cell; `None` where there is nothing.
    fn label(&self, column: usize) -> Option<&str>;
    /// The text of the data set's cell, where a column gives it.
    fn set(&self) -> Option<&str>;
}

/// The rows that have been read, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The columns, once a header has told which there are and of what kinds.
    pub(super) columns: Vec<(TableColumn, Cells)>,
    /// The number of rows that are kept.
    count: usize,
    /// The labels of the data sets, where a column gives them, and the data set of each row.
    pub(super) sets: LabelIndex,
    set: Vec<u32>,
    /// What was left out of each data set; of the only one where no column gives them.
    left_out: Vec<LeftOut>,
    /// The rows that were left out since they have no label of a data set.
    pub(super) without_set: usize,
    /// The lines of comments before the header.
    pub(super) comments: usize,
    /// What users should know of how the table was read, each said once.
    pub(super) notes: IndexSet<String>,
}

/// The cells of one column.
#[derive(Debug)]
pub(super) enum Cells {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Label(LabelIndex, Vec<u32>),
}

impl Cells {
    pub(super) fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Real => Self::Real(Vec::new()),
            ColumnKind::Integer => Self::Integer(Vec::new()),
            ColumnKind::Label => Self::Label(LabelIndex::default(), Vec::new()),
        }
    }

    pub(super) fn kind(&self) -> ColumnKind {
        match self {
            Self::Real(_) => ColumnKind::Real,
            Self::Integer(_) => ColumnKind::Integer,
            Self::Label(..) => ColumnKind::Label,
        }
    }

    /// Removes the cell of the row that follows these rows, if it has been taken, and its label if no other row has it.
    fn take_back(&mut self, rows: usize) {
        match self {
            Self::Real(values) => values.truncate(rows),
            Self::Integer(values) => values.truncate(rows),
            Self::Label(labels, codes) => {
                if codes.len() > rows {
                    codes.truncate(rows);
                    labels.take_back();
                }
            }
        }
    }

    fn into_column(self) -> ColumnValues {
        match self {
            Self::Real(values) => ColumnValues::Real(values),
            Self::Integer(values) => ColumnValues::Integer(values),
            Self::Label(labels, codes) => ColumnValues::Label(LabelColumn { labels: labels.into_labels(), codes }),
        }
    }

    /// Divides the cells into data sets, each with its own labels; `set` has the data set of each row.
    fn divide(self, set: &[u32], sets: usize) -> Vec<Self> {
        fn parts<T>(values: Vec<T>, set: &[u32], sets: usize, part: fn(Vec<T>) -> Cells) -> Vec<Cells> {
            let mut parts: Vec<Vec<T>> = (0..sets).map(|_| Vec::new()).collect();
            set.iter().zip(values).for_each(|(&set, value)| parts[set as usize].push(value));
            parts.into_iter().map(part).collect()
        }
        match self {
            Self::Real(values) => parts(values, set, sets, Cells::Real),
            Self::Integer(values) => parts(values, set, sets, Cells::Integer),
            Self::Label(all, codes) => {
                let mut parts: Vec<(LabelIndex, Vec<u32>)> = (0..sets).map(|_| Default::default()).collect();
                for (&set, code) in set.iter().zip(codes) {
                    let (labels, codes) = &mut parts[set as usize];
                    // A part has no more labels than the whole.
                    codes.push(labels.index(all.label(code as usize)) as u32);
                }
                parts.into_iter().map(|(labels, codes)| Self::Label(labels, codes)).collect()
            }
        }
    }
}

/// Adds a value, where there is room for it. What is packed does not tell its rows beforehand.
fn add<T>(values: &mut Vec<T>, value: T) -> Result<(), CellProblem> {
    values.try_reserve(1).map_err(|_| CellProblem::NoMemory)?;
    values.push(value);
    Ok(())
}

/// Returns the number of a label, a new one if it has not been seen.
fn code(labels: &mut LabelIndex, label: &str) -> Result<u32, CellProblem> {
    u32::try_from(labels.index(label)).map_err(|_| CellProblem::NoMemory)
}

impl Rows {
    /// Takes a row. What is wrong with it is returned with its column; a row that lacks a cell is left out where the rules
    /// say so.
    pub(super) fn push(
        &mut self,
        row: &impl RowCells,
        set_column: Option<&str>,
        rules: CellRules,
    ) -> Result<(), (String, CellProblem)> {
        let mut lacks_value = false;
        for (at, (asked, cells)) in self.columns.iter_mut().enumerate() {
            let taken = match cells {
                Cells::Real(values) => row.real(at).and_then(|value| add(values, value)),
                Cells::Integer(values) => row.integer(at).and_then(|value| add(values, value)),
                Cells::Label(..) => Ok(()),
            };
            match taken {
                Ok(()) => {}
                Err(problem) if rules.drop_missing && problem.is_missing() => lacks_value = true,
                Err(problem) => return Err((asked.column.clone(), problem)),
            }
        }
        let set = match (set_column, row.set().and_then(|cell| rules.label(cell))) {
            (None, _) => 0,
            (Some(column), Some(label)) => {
                code(&mut self.sets, label).map_err(|problem| (column.to_owned(), problem))?
            }
            (Some(_), None) if rules.drop_missing => {
                self.without_set += 1;
                self.leave_out();
                return Ok(());
            }
            (Some(column), None) => return Err((column.to_owned(), CellProblem::Empty)),
        };
        let of_set = set as usize;
        if self.left_out.len() <= of_set {
            self.left_out.resize(of_set + 1, LeftOut::default());
        }
        if lacks_value {
            self.left_out[of_set].without_value += 1;
            self.leave_out();
            return Ok(());
        }
        for (at, (asked, cells)) in self.columns.iter_mut().enumerate() {
            let Cells::Label(labels, codes) = cells else { continue };
            let label = row.label(at).and_then(|cell| rules.label(cell)).ok_or(CellProblem::Empty);
            match label.and_then(|label| code(labels, label)).and_then(|code| add(codes, code)) {
                Ok(()) => {}
                Err(CellProblem::Empty) if rules.drop_missing => {
                    self.left_out[of_set].without_group += 1;
                    self.leave_out();
                    return Ok(());
                }
                Err(problem) => return Err((asked.column.clone(), problem)),
            }
        }
        if let Some(column) = set_column {
            add(&mut self.set, set).map_err(|problem| (column.to_owned(), problem))?;
        }
        self.count += 1;
        Ok(())
    }

    /// Removes the cells of the row that is being taken: a row that is left out adds no label.
    fn leave_out(&mut self) {
        let rows = self.count;
        self.columns.iter_mut().for_each(|(_, cells)| cells.take_back(rows));
    }

    /// Returns what was left out of a data set.
    pub(super) fn left_out(&self, set: usize) -> LeftOut {
        LeftOut { comments: self.comments, ..self.left_out.get(set).copied().unwrap_or_default() }
    }

    /// Writes times as a whole column of them needs it, once all are known.
    pub(super) fn shorten_times(&mut self) {
        self.sets.shorten_times();
        for (_, cells) in &mut self.columns {
            if let Cells::Label(labels, _) = cells {
                labels.shorten_times();
            }
        }
    }

    /// Returns all rows as one table.
    pub(super) fn into_table(self, path: &Path) -> DataTable {
        let left_out = self.left_out(0);
        let columns = self.columns.into_iter().map(|(asked, cells)| (asked, cells.into_column())).collect();
        DataTable::of_rows(path, columns, self.count, left_out)
    }

    /// Returns a table for each data set, with its label.
    pub(super) fn into_tables(self, path: &Path) -> Vec<(String, DataTable)> {
        let sets = self.sets.all().count();
        let mut rows = vec![0; sets];
        self.set.iter().for_each(|&set| rows[set as usize] += 1);
        let mut columns: Vec<Vec<(TableColumn, ColumnValues)>> = (0..sets).map(|_| Vec::new()).collect();
        let left_out: Vec<LeftOut> = (0..sets).map(|set| self.left_out(set)).collect();
        for (asked, cells) in self.columns {
            for (columns, part) in columns.iter_mut().zip(cells.divide(&self.set, sets)) {
                columns.push((asked.clone(), part.into_column()));
            }
        }
        let facts = columns.into_iter().zip(rows).zip(left_out);
        let table = |((columns, rows), left_out)| DataTable::of_rows(path, columns, rows, left_out);
        self.sets.all().cloned().zip(facts.map(table)).collect()
    }
}
