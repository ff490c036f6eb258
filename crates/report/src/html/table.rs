//! Tables that the page's script sorts and filters; without it they are tables.
//!
//! From how many rows on a table has a box to filter it stands here.

use maud::{Markup, PreEscaped, html};

/// The number of rows from which on a table can be filtered.
const FILTERED: usize = 8;

/// The heading of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Column<'a> {
    pub(super) name: &'a str,
    /// `draws`, `s`; empty where cells have their units or there is none.
    pub(super) unit: &'a str,
    /// The meaning of the column, shown to readers who point at the heading.
    pub(super) title: &'a str,
    /// The name by which the script knows it.
    pub(super) key: Option<&'a str>,
}

impl<'a> Column<'a> {
    pub(super) fn named(name: &'a str) -> Self {
        Self { name, ..Self::default() }
    }
}

/// A choice of rows: its words, and what a row must hold, as a CSS selector (empty: all rows).
pub(super) type Choice<'a> = (&'a str, &'a str);

/// The way a table looks and can be filtered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'a> {
    /// The contents of the table, for readers who do not see it: `parameters`.
    pub(super) label: &'a str,
    pub(super) id: Option<&'a str>,
    pub(super) columns: &'a [Column<'a>],
    /// The columns that hold numbers, which are set right and sorted by value.
    pub(super) numbers: &'a [bool],
    /// Whether only the first cell is filtered, not all of a row's words.
    pub(super) by_name: bool,
    pub(super) choices: &'a [Choice<'a>],
    /// A frame with its own scroll bar, for tables longer than a page.
    pub(super) framed: bool,
}

impl Table<'_> {
    /// The table with `rows` elements `tr` in `body`.
    pub(super) fn markup(&self, rows: usize, body: &Markup) -> Markup {
        let right: Vec<String> = (1..).zip(self.numbers).filter(|(_, n)| **n).map(|(i, _)| format!("r{i}")).collect();
        let frame = if self.framed { "wide framed" } else { "wide" };
        html! {
            div.table {
                @if rows >= FILTERED {
                    div.tools hidden {
                        input type="search" placeholder=(if self.by_name { "filter by name" } else { "filter" })
                            aria-label={ "filter " (self.label) } data-name[self.by_name];
                        @if !self.choices.is_empty() {
                            select aria-label={ "which " (self.label) } {
                                @for (words, selector) in self.choices { option value=(selector) { (words) } }
                            }
                        }
                        span.muted role="status" { (rows) " of " (rows) }
                    }
                }
                div class=(frame) {
                    table id=[self.id] class=(right.join(" ")) aria-label=(self.label) {
                        thead { tr {
                            @for column in self.columns {
                                @let title = Some(column.title).filter(|title| !title.is_empty());
                                th scope="col" title=[title] data-key=[column.key] {
                                    (column.name)
                                    @if !column.unit.is_empty() { " " small { (column.unit) } }
                                }
                            }
                        } }
                        tbody { (body) }
                    }
                }
            }
        }
    }
}

/// A table of words, with what is a number found out.
pub(super) fn of_words(label: &str, columns: &[Column<'_>], rows: &[Vec<String>], choices: &[Choice<'_>]) -> Markup {
    let numbers: Vec<bool> = (0..columns.len())
        .map(|column| {
            let cells = || rows.iter().filter_map(|row| row.get(column));
            cells().all(|cell| is_number(cell)) && cells().any(|cell| cell.contains(|c: char| c.is_ascii_digit()))
        })
        .collect();
    let body = html! {
        @for row in rows { tr { @for cell in row { @if cell == "-" { td.none { (cell) } } @else { td { (breakable(cell)) } } } } }
    };
    let table = Table { label, id: None, columns, numbers: &numbers, by_name: false, choices, framed: rows.len() > 30 };
    table.markup(rows.len(), &body)
}

/// Units that may follow a number; durations and bytes may have two, ranges a word between.
const UNITS: [&str; 15] = ["us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "%", "x", "to", "MCSE", "sd"];

/// Returns whether a cell is a number, with its unit perhaps, or has none where one could be.
fn is_number(cell: &str) -> bool {
    let words: Vec<&str> = cell.split_whitespace().collect();
    let number = |word: &str| {
        let bare = word.trim_start_matches('(').trim_end_matches([')', '%', 'x']);
        bare.replace(',', "").parse::<f64>().is_ok()
    };
    match words.split_first() {
        None => true,
        Some((&("-" | "NaN"), rest)) => rest.iter().all(|word| number(word)),
        Some((first, rest)) => number(first) && rest.iter().all(|word| number(word) || UNITS.contains(word)),
    }
}

/// Returns the cell with places where a long word may go on in the next line.
fn breakable(cell: &str) -> Markup {
    let escaped = html! { (cell) }.into_string();
    if cell.split_whitespace().all(|word| word.len() <= 24) {
        return PreEscaped(escaped);
    }
    PreEscaped(escaped.replace('_', "_<wbr>").replace('/', "/<wbr>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_more_than_thirty_rows_has_a_frame() {
        let framed = |rows: usize| {
            let rows: Vec<Vec<String>> = (0..rows).map(|row| vec![row.to_string()]).collect();
            let column = Column { name: "row", unit: "", title: "", key: None };
            of_words("rows", &[column], &rows, &[]).into_string().contains("wide framed")
        };
        assert_eq!([1, 30, 31].map(framed), [false, false, true]);
    }

    #[test]
    fn numbers_have_units_and_words_do_not() {
        for cell in [
            "1",
            "-0.5",
            "1,234",
            "3.1 %",
            "3.1x",
            "62.0 ms",
            "5 min 20 s",
            "15 s to 30 s",
            "2.9 % (5)",
            "- (1)",
            "-",
            "",
            "NaN",
            "1.2e-7",
            "inf",
            "0.41 MCSE",
        ] {
            assert!(is_number(cell), "{cell}");
        }
        for cell in ["2 threads, collapsed", "CPU", "SKIPPED (no GPU)", "mu_pop", "3 of 3", "yes"] {
            assert!(!is_number(cell), "{cell}");
        }
    }

    #[test]
    fn columns_of_numbers_are_set_right_and_long_tables_can_be_filtered() {
        let columns = ["what", "time", "passes"].map(Column::named);
        let row =
            |i: usize| vec![format!("run {i}"), if i == 1 { "-".to_owned() } else { format!("{i} ms") }, "yes".into()];
        let short = of_words("runs", &columns, &[row(0), row(1)], &[]).into_string();
        assert!(short.contains("class=\"r2\"") && short.contains("<td class=\"none\">-</td>"), "{short}");
        assert!(!short.contains("type=\"search\""), "{short}");
        let rows: Vec<_> = (0..FILTERED).map(row).collect();
        let long = of_words("runs", &columns, &rows, &[("all", "")]).into_string();
        assert!(long.contains("type=\"search\"") && long.contains("8 of 8") && long.contains("<option"), "{long}");
    }
}
