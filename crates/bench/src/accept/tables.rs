//! Tables of Markdown for the acceptance report, and how their numbers are printed.

use std::fmt::Display;

/// Returns a table with the columns `a | b | c`, or what is said when it has no line.
pub(super) fn table<const N: usize>(head: &str, rows: impl IntoIterator<Item = [String; N]>, none: &str) -> String {
    let rows: String = rows.into_iter().map(|cells| format!("| {} |\n", cells.join(" | "))).collect();
    if rows.is_empty() {
        return format!("{none}\n");
    }
    debug_assert_eq!(head.split(" | ").count(), N);
    format!("| {head} |\n|{}\n{rows}", "---|".repeat(N))
}

/// Returns a text in which the columns of tables stand one below the other, as a terminal shows them.
pub(super) fn aligned(text: &str) -> String {
    let is_row = |line: &str| line.starts_with('|');
    let lines: Vec<&str> = text.lines().collect();
    let blocks = lines.chunk_by(|a, b| is_row(a) == is_row(b));
    let block = |lines: &[&str]| -> Vec<String> {
        if !is_row(lines[0]) {
            return lines.iter().map(|line| (*line).to_owned()).collect();
        }
        let rows: Vec<Vec<&str>> =
            lines.iter().map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect();
        let width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let padded = |row: &Vec<&str>| {
            let cell = |(column, cell): (usize, &&str)| format!("{cell:<width$}", width = width(column).unwrap_or(0));
            row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        // The rule below the head says nothing there.
        rows.iter().filter(|row| !row.iter().all(|cell| cell.trim_matches('-').is_empty())).map(padded).collect()
    };
    blocks.flat_map(block).collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns four digits of a number, in powers of ten when it is large or small; a dash for none, and for what is none.
pub(super) fn show(number: impl Into<Option<f64>>) -> String {
    match number.into().filter(|number| number.is_finite()) {
        None => "-".into(),
        Some(0.0) => "0".into(),
        Some(number) if number.abs() >= 1e5 || number.abs() < 1e-3 => format!("{number:.3e}"),
        Some(number) => {
            let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 6) as usize;
            format!("{number:.digits$}")
        }
    }
}

/// Returns seconds in milliseconds.
pub(super) fn show_ms(seconds: impl Into<Option<f64>>) -> String {
    show(seconds.into().map(|seconds| seconds * 1e3))
}

/// Returns four decimals of R-hat, which one chain has not.
pub(super) fn show_rhat(rhat: impl Into<Option<f64>>) -> String {
    or_dash(rhat.into().filter(|rhat| rhat.is_finite()).map(|rhat| format!("{rhat:.4}")))
}

/// Returns what there is, or a dash.
pub(super) fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".into(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [0.0, 0.51234, 15.0, 1234.56, 2.5e6, 1e-5].map(show);
        assert_eq!(shown, ["0", "0.5123", "15.00", "1235", "2.500e6", "1.000e-5"]);
        assert_eq!([show(None), show(f64::NAN)], ["-", "-"]);
    }

    #[test]
    fn columns_are_aligned_for_a_terminal() {
        let rows = [["1".to_owned(), "two".to_owned()], ["100".to_owned(), "3".to_owned()]];
        let text = format!("\n## Head\n\n{}end", table("a | b", rows, ""));
        assert_eq!(aligned(&text), "\n## Head\n\na    b\n1    two\n100  3\nend\n");
    }

    #[test]
    fn an_empty_table_says_so() {
        assert_eq!(table::<2>("a | b", [], "nothing"), "nothing\n");
        let row = ["1".into(), "2".into()];
        assert_eq!(table("a | b", [row], "nothing"), "| a | b |\n|---|---|\n| 1 | 2 |\n");
    }
}
