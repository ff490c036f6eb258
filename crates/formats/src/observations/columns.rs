//! The columns that are read from a table: their names, and the kinds of their values.

use super::ObservationsError;
use std::fmt;
use std::path::Path;

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Finite real numbers.
    Real,
    /// Whole numbers of 64 bits; `3.0` is one.
    Integer,
    /// Labels: text, and all that is read as text.
    Label,
}

impl fmt::Display for ColumnKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Real => "real numbers",
            Self::Integer => "whole numbers",
            Self::Label => "labels",
        })
    }
}

/// A column that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// The reader's name for it, by which [`DataTable`](super::DataTable) has it.
    pub name: String,
    /// Its name in the file.
    pub column: String,
    /// The kind of its values; `None` for the kind that is found.
    pub kind: Option<ColumnKind>,
}

/// Which columns of a table are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableColumns {
    /// All columns, in the order of the file, with the kinds that are found.
    All,
    /// These columns, in this order.
    These(Vec<TableColumn>),
}

impl TableColumns {
    /// The two columns of grouped observations.
    pub(super) fn groups_and_values(group: &str, value: &str) -> Self {
        let column = |name: &str, column: &str, kind| TableColumn {
            name: name.to_owned(),
            column: column.to_owned(),
            kind: Some(kind),
        };
        Self::These(vec![column(GROUPS, group, ColumnKind::Label), column(VALUES, value, ColumnKind::Real)])
    }
}

/// The names of the two columns of grouped observations.
pub(super) const GROUPS: &str = "groups";
pub(super) const VALUES: &str = "values";

/// All that is read of a table: columns, and the column that divides it into data sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) columns: &'a TableColumns,
    pub(super) set: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// Checks that no column is to be two things.
    pub(super) fn check(self, path: &Path) -> Result<(), ObservationsError> {
        let set = self.set.map(|set| (set, "data sets"));
        let all: Vec<(&str, &str)> =
            self.these().iter().map(|one| (one.column.as_str(), one.name.as_str())).chain(set).collect();
        for (at, (column, first)) in all.iter().enumerate() {
            if let Some((_, second)) = all[at + 1..].iter().find(|(other, _)| other == column) {
                return Err(ObservationsError::SameColumn {
                    path: path.to_owned(),
                    column: (*column).to_owned(),
                    first: (*first).to_owned(),
                    second: (*second).to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Returns the columns that are asked for by name; none where all are read.
    fn these(self) -> &'a [TableColumn] {
        match self.columns {
            TableColumns::All => &[],
            TableColumns::These(columns) => columns,
        }
    }

    /// Returns whether a header has all columns that are asked for by name, if there are any.
    pub(super) fn are_in<'b>(self, header: impl Iterator<Item = &'b str> + Clone) -> bool {
        let these = self.these();
        !these.is_empty() && these.iter().all(|one| header.clone().any(|name| name == one.column))
    }

    /// Returns the columns to read of a table that has those of `header`.
    pub(super) fn among(self, header: &[String]) -> Vec<TableColumn> {
        let found = |column: &String| TableColumn { name: column.clone(), column: column.clone(), kind: None };
        match self.columns {
            TableColumns::All => header.iter().filter(|column| Some(column.as_str()) != self.set).map(found).collect(),
            TableColumns::These(columns) => columns.clone(),
        }
    }

    /// Returns the index of column `wanted` in `header`.
    ///
    /// # Errors
    /// When it is not there, or twice.
    pub(super) fn find(self, path: &Path, header: &[String], wanted: &str) -> Result<usize, ObservationsError> {
        let mut found = header.iter().enumerate().filter(|(_, name)| *name == wanted).map(|(index, _)| index);
        match (found.next(), found.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => {
                Err(ObservationsError::ColumnTwice { path: path.to_owned(), column: wanted.to_owned() })
            }
            (None, _) => {
                let is_asked = |name: &str| self.set == Some(name) || self.these().iter().any(|one| one.column == name);
                let nearest = nearest(wanted, header.iter().filter(|name| !is_asked(name)));
                let (path, column, existing) = (path.to_owned(), wanted.to_owned(), header.to_vec());
                Err(ObservationsError::NoColumn { path, column, existing, nearest })
            }
        }
    }
}

/// Returns the name that is most like the one that is wanted, if any is.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a String>) -> Option<String> {
    let distance = |name: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted.to_lowercase());
    let letters = |name: &str| name.chars().count();
    // Two names of one letter each are near in their number of changes, and have nothing in common.
    let near = |name: &&String| {
        let changes = distance(name);
        changes <= letters(wanted).div_ceil(2) && changes < letters(wanted).max(letters(name))
    };
    names.filter(near).min_by_key(distance).cloned()
}
