//! Tables of Markdown from the sampler's JSON.

use serde_json::Value;
use std::fmt::Write as _;

/// A table: its head, and lines of as many columns.
pub(super) struct Table {
    text: String,
    columns: usize,
    pub(super) rows: usize,
}

impl Table {
    pub(super) fn new<const N: usize>(head: [&str; N]) -> Self {
        let text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
        Self { text, columns: N, rows: 0 }
    }

    pub(super) fn row(&mut self, cells: &[String]) {
        debug_assert_eq!(cells.len(), self.columns);
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
        self.rows += 1;
    }

    /// The table, or what is said when it has no line.
    pub(super) fn or(self, none: &str) -> String {
        if self.rows == 0 { format!("{none}\n") } else { self.text }
    }
}

/// A number of a file, of which none is as good as null.
pub(super) fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer).and_then(Value::as_f64)
}

/// A word of a file.
pub(super) fn word<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or("-")
}

/// Four digits, in powers of ten when large; a dash for none.
pub(super) fn show(number: Option<f64>) -> String {
    match number {
        None => "-".into(),
        Some(0.0) => "0".into(),
        Some(number) if number.abs() >= 1e5 || number.abs() < 1e-3 => format!("{number:.3e}"),
        Some(number) => {
            let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 6) as usize;
            format!("{number:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 0.51234, 15.0, 1234.56, 2.5e6, 1e-5].map(|number| show(Some(number)));
        assert_eq!(shown, ["0", "0.5123", "15.00", "1235", "2.500e6", "1.000e-5"]);
        assert_eq!(show(None), "-");
    }

    #[test]
    fn an_empty_table_says_so() {
        assert_eq!(Table::new(["a", "b"]).or("nothing"), "nothing\n");
        let mut table = Table::new(["a", "b"]);
        table.row(&["1".into(), "2".into()]);
        assert_eq!(table.or("nothing"), "| a | b |\n|---|---|\n| 1 | 2 |\n");
    }
}
