//! Tables in plain text: the one place that aligns columns. The crate `comfy-table` lays them out.

use comfy_table::{CellAlignment, ColumnConstraint, Table, Width, presets::NOTHING};

/// A column of a table: the name above it, the side on which its cells stand, and how wide it may become.
#[derive(Clone, Copy, Debug)]
pub struct TextColumn<'a> {
    name: &'a str,
    alignment: CellAlignment,
    most: u16,
}

impl<'a> TextColumn<'a> {
    /// Makes a column of words.
    pub const fn left(name: &'a str) -> Self {
        Self { name, alignment: CellAlignment::Left, most: u16::MAX }
    }

    /// Makes a column of words in lines of at most `most` characters, broken between words. A longer word stays whole.
    pub const fn wrapped(name: &'a str, most: u16) -> Self {
        Self { name, alignment: CellAlignment::Left, most }
    }

    /// Makes a column of numbers.
    pub const fn right(name: &'a str) -> Self {
        Self { name, alignment: CellAlignment::Right, most: u16::MAX }
    }

    /// Returns the width of this column, the `i`-th, whose longest line has `widest` characters: 0 without a word.
    fn width(&self, i: usize, widest: u16, rows: &[impl AsRef<[String]>]) -> u16 {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(i));
        let words = cells.flat_map(|cell| cell.split_whitespace()).chain([self.name]);
        let longest_word = words.map(|word| word.chars().count()).max().unwrap_or(0);
        match u16::try_from(longest_word).unwrap_or(u16::MAX) {
            0 => 0,
            longest_word => widest.min(self.most.max(longest_word)),
        }
    }
}

/// The look of a table; the default has neither indentation nor rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableLook {
    /// The number of spaces before each line.
    pub indent: u16,
    /// The character of the rule between names and rows.
    pub rule: Option<char>,
}

/// Returns `rows` below the names of `columns`, two spaces apart; each line ends with a newline.
///
/// There is no line of names where no column has one. A column without a word is left out, and a row may end early.
///
/// ```
/// use octopus_diag::{TableLook, TextColumn, text_table};
///
/// let columns = [TextColumn::left("name"), TextColumn::right("mean")];
/// let rows = [["mu", "1.50"], ["log tau", "-12.25"]].map(|row| row.map(str::to_owned));
/// let text = text_table(&columns, &rows, TableLook::default());
/// assert_eq!(text, "name       mean\nmu         1.50\nlog tau  -12.25\n");
/// ```
pub fn text_table(columns: &[TextColumn<'_>], rows: &[impl AsRef<[String]>], look: TableLook) -> String {
    let mut table = Table::new();
    if columns.iter().any(|column| !column.name.is_empty()) {
        table.set_header(columns.iter().map(|column| column.name));
    }
    table.load_style(NOTHING).add_rows(rows.iter().map(AsRef::as_ref));
    let longest_lines = columns.iter().zip(table.column_max_content_widths()).enumerate();
    let widths: Vec<u16> = longest_lines.map(|(i, (column, widest))| column.width(i, widest, rows)).collect();
    for (i, (laid_out, (column, &width))) in table.column_iter_mut().zip(columns.iter().zip(&widths)).enumerate() {
        let gap = if i == 0 { look.indent } else { 2 };
        laid_out.set_padding((gap, 0)).set_cell_alignment(column.alignment);
        laid_out.set_constraint(match width {
            0 => ColumnConstraint::Hidden,
            _ => ColumnConstraint::Absolute(Width::Fixed(width.saturating_add(gap))),
        });
    }
    if let Some(rule) = look.rule {
        let ruled = |(column, &width): (&TextColumn<'_>, &u16)| {
            format!("{}\n{}", column.name, rule.to_string().repeat(width.into()))
        };
        table.set_header(columns.iter().zip(&widths).map(ruled));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULED: TableLook = TableLook { indent: 2, rule: Some('-') };

    fn rows<const N: usize>(rows: &[[&str; N]]) -> Vec<[String; N]> {
        rows.iter().map(|row| row.map(str::to_owned)).collect()
    }

    #[test]
    fn aligns_and_wraps() {
        let columns = [TextColumn::wrapped("name", 10), TextColumn::right("value")];
        let text = text_table(&columns, &rows(&[["mu", "1.5"], ["a name in four words", "10"]]), RULED);
        let expected = "  name        value
  ----------  -----
  mu            1.5
  a name in      10
  four words
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_long_word_stays_whole() {
        let columns = [TextColumn::wrapped("file", 4), TextColumn::left("what")];
        let text = text_table(&columns, &rows(&[["in runs/one/run.toml", "a record"]]), TableLook::default());
        assert_eq!(text, "file               what\nin                 a record\nruns/one/run.toml\n");
    }

    #[test]
    fn without_names_there_are_only_rows() {
        let look = TableLook { indent: 2, rule: None };
        let text = text_table(&[TextColumn::left(""); 2], &rows(&[["d\u{e9}j\u{e0}", "1"], ["x", "two\nlines"]]), look);
        assert_eq!(text, "  d\u{e9}j\u{e0}  1\n  x     two\n        lines\n");
        assert_eq!(text_table(&[TextColumn::left("")], &rows::<1>(&[]), look), "");
    }

    #[test]
    fn a_column_without_a_word_is_left_out() {
        let columns = [TextColumn::left("a"), TextColumn::left(""), TextColumn::right("b")];
        assert_eq!(text_table(&columns, &rows(&[["1", "", "2"]]), RULED), "  a  b\n  -  -\n  1  2\n");
        assert_eq!(text_table(&columns, &rows(&[["1"]]), RULED), "  a  b\n  -  -\n  1\n");
    }
}
