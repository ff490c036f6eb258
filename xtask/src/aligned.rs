//! Lines of cells, aligned by `comfy-table`. The product's own tables come from `octopus-diag`, which no task knows.

use comfy_table::{CellAlignment, Table, presets::NOTHING};

/// Returns rows as aligned lines: their first `words` cells stand to the left, the others, which are numbers, to the
/// right.
pub(crate) fn aligned(words: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).add_rows(rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        column.set_cell_alignment(if i < words { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.trim_fmt()
}
