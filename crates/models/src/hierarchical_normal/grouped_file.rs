//! The user's table of groups and values, as a setting of the hierarchical normal model.

use crate::table_file::is_point;
use crate::{BuildError, ModelColumn, RowFilter, TableFile};
use octopus_density::GroupedData;
use octopus_formats::observations::{ColumnKind, DataTable, DecimalMark};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const GROUP: &str = "group";
const VALUE: &str = "value";

/// A [table](TableFile) with a column of groups and a column of values: the setting `data.file`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "the table [data.file] with path, group and value, such as path = \"y.csv\", group = \"city\", value = \"y\""
)]
pub struct GroupedFile {
    /// The file.
    pub path: PathBuf,
    /// The column of group labels.
    pub group: String,
    /// The column of values.
    pub value: String,
    /// Whether rows without a group or a value are left out; else they are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_missing: bool,
    /// The mark before the decimals, `.` or `,`.
    #[serde(default, skip_serializing_if = "is_point")]
    pub decimal: DecimalMark,
    /// The rows that belong to the data set; `None` stands for all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<RowFilter>,
}

impl From<GroupedFile> for TableFile {
    fn from(file: GroupedFile) -> Self {
        let GroupedFile { path, group, value, drop_missing, decimal, only } = file;
        let columns = [(GROUP.to_owned(), group), (VALUE.to_owned(), value)].into();
        Self { path, columns, drop_missing, decimal, only }
    }
}

/// Returns the two columns.
pub(super) fn columns() -> Vec<ModelColumn> {
    let column = ModelColumn::named_by_user;
    vec![column(GROUP, ColumnKind::Label), column(VALUE, ColumnKind::Real)]
}

/// Sorts the rows of a table into groups.
///
/// # Errors
/// When the table is of other columns, or has no row.
pub(super) fn grouped(table: DataTable) -> Result<GroupedData, BuildError> {
    Ok(table.into_grouped(GROUP, VALUE)?)
}
