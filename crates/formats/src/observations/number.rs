//! Numbers as people write them: decimal marks, missing values, and thousands separators, which are refused.

use super::{CellProblem, ColumnKind};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The mark before the decimals of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecimalMark {
    /// `1.5`
    #[default]
    #[serde(rename = ".")]
    Point,
    /// `1,5`
    #[serde(rename = ",")]
    Comma,
}

impl DecimalMark {
    fn symbol(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

impl fmt::Display for DecimalMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.symbol())
    }
}

/// The words that pandas reads as missing values; R writes `NA`, PostgreSQL and Polars may write `null`.
const MISSING: [&str; 18] = [
    "-1.#IND", "1.#QNAN", "1.#IND", "-1.#QNAN", "#N/A N/A", "#N/A", "N/A", "n/a", "NA", "<NA>", "#NA", "NULL", "null",
    "NaN", "-NaN", "nan", "-nan", "None",
];

/// Returns whether programs write this word where a value is missing.
pub fn is_missing_word(word: &str) -> bool {
    MISSING.contains(&word)
}

/// The separators that people put between thousands, besides decimal marks: spaces of four kinds, apostrophes, and what
/// programs of numbers take.
const BETWEEN_THOUSANDS: [char; 7] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}', '_'];

/// Returns a finite number.
pub(super) fn number(cell: &str, decimal: DecimalMark) -> Result<f64, CellProblem> {
    if cell.is_empty() {
        return Err(CellProblem::Empty);
    }
    let has_other = decimal == DecimalMark::Comma && cell.contains('.');
    let written = if decimal == DecimalMark::Comma { cell.replace(',', ".") } else { String::new() };
    let text = if decimal == DecimalMark::Comma { written.as_str() } else { cell };
    let parsed = if has_other { None } else { text.parse::<f64>().ok() };
    match parsed {
        Some(value) if value.is_finite() => Ok(value),
        Some(value) => Err(CellProblem::NotFinite { value }),
        None => Err(not_a_number(cell, decimal)),
    }
}

/// Returns a whole number; one with decimals that are 0, such as `3.0`, is whole.
pub(super) fn integer(cell: &str, decimal: DecimalMark) -> Result<i64, CellProblem> {
    match cell.parse() {
        Ok(value) => Ok(value),
        Err(_) => whole(number(cell, decimal)?).ok_or_else(|| CellProblem::NotWhole { value: cell.to_owned() }),
    }
}

/// Returns the value as a whole number, if it is one of those that reals tell from their neighbours.
pub(super) fn whole(value: f64) -> Option<i64> {
    const MOST: f64 = (1_i64 << 53) as f64;
    (value.fract() == 0.0 && value.abs() <= MOST).then_some(value as i64)
}

/// Returns the kind of a column by the text of its cells. What is missing says nothing; `007` is a label.
pub(super) fn kind<'a>(cells: impl Iterator<Item = &'a str>, decimal: DecimalMark) -> Option<ColumnKind> {
    cells.map(str::trim).filter_map(|cell| kind_of_cell(cell, decimal)).reduce(wider)
}

/// Returns the kind of one cell; `None` where it is missing.
pub(super) fn kind_of_cell(cell: &str, decimal: DecimalMark) -> Option<ColumnKind> {
    if cell.is_empty() || is_missing_word(cell) {
        return None;
    }
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let is_code = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some(match number(cell, decimal) {
        _ if is_code => ColumnKind::Label,
        Ok(_) if cell.parse::<i64>().is_ok() => ColumnKind::Integer,
        Ok(_) | Err(CellProblem::NotFinite { .. }) => ColumnKind::Real,
        Err(_) => ColumnKind::Label,
    })
}

/// Returns the kind that holds cells of both kinds.
pub(super) fn wider(one: ColumnKind, other: ColumnKind) -> ColumnKind {
    match (one, other) {
        (ColumnKind::Label, _) | (_, ColumnKind::Label) => ColumnKind::Label,
        (ColumnKind::Real, _) | (_, ColumnKind::Real) => ColumnKind::Real,
        _ => ColumnKind::Integer,
    }
}

/// Says why a cell is no number.
fn not_a_number(cell: &str, decimal: DecimalMark) -> CellProblem {
    let value = cell.to_owned();
    if is_missing_word(cell) {
        return CellProblem::MissingWord { value };
    }
    let marks = |mark: DecimalMark| cell.matches(mark.symbol()).count();
    let other = decimal.other();
    // One mark of the other kind may be a decimal mark. Several cannot, nor can one that stands before a decimal mark.
    if marks(decimal) == 0 && marks(other) == 1 && is_number(cell, other) {
        return CellProblem::OtherMark { value, mark: other, thousands: three_digits_follow(cell, other) };
    }
    let separators = [other.symbol(), decimal.symbol()].into_iter().chain(BETWEEN_THOUSANDS);
    match separators.into_iter().find(|&separator| is_grouped(cell, separator)) {
        Some(separator) => CellProblem::Thousands { value, separator },
        None => CellProblem::Text { value },
    }
}

/// Returns whether the text is a finite number with this decimal mark.
fn is_number(text: &str, mark: DecimalMark) -> bool {
    (mark == DecimalMark::Point || !text.contains('.'))
        && text.replace(mark.symbol(), ".").parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns whether exactly three digits follow the mark, as after a thousands separator.
fn three_digits_follow(cell: &str, mark: DecimalMark) -> bool {
    let rest = cell.rsplit(mark.symbol()).next().unwrap_or_default();
    rest.len() == 3 && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether the text is a number whose digits before the decimal mark stand in groups with this separator between
/// them: of three, or as in India, the last of three and those before it of two.
fn is_grouped(cell: &str, separator: char) -> bool {
    let is_mark = |char: char| [',', '.'].contains(&char) && char != separator;
    let (whole, decimals) = cell.split_once(is_mark).unwrap_or((cell, ""));
    let groups: Vec<&str> = whole.strip_prefix(['+', '-']).unwrap_or(whole).split(separator).collect();
    let [first, middle @ .., last] = &groups[..] else { return false };
    let are_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let in_groups_of = |most: usize| {
        (1..=most).contains(&first.len()) && middle.iter().all(|group| group.len() == most) && last.len() == 3
    };
    let is_plain = !decimals.contains(separator) && is_number(&format!("0.{decimals}"), DecimalMark::Point);
    are_digits && is_plain && (in_groups_of(3) || in_groups_of(2) && !middle.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cell: &str, decimal: DecimalMark) -> String {
        number(cell, decimal).unwrap_err().to_string()
    }

    #[test]
    fn numbers_have_the_mark_that_was_given() {
        use DecimalMark::{Comma, Point};
        for (cell, mark, value) in [
            ("1.5", Point, 1.5),
            ("-1e-3", Point, -1e-3),
            ("+7", Point, 7.0),
            ("1,5", Comma, 1.5),
            ("-1234,25e2", Comma, -123_425.0),
            ("12", Comma, 12.0),
            (",5", Comma, 0.5),
        ] {
            assert_eq!(number(cell, mark), Ok(value), "{cell}");
        }
        assert!(told("1,5", Point).contains("--decimal ,") && !told("1,5", Point).contains("thousands"));
        // It may be either.
        assert!(told("1,500", Point).contains("--decimal ,") && told("1,500", Point).contains("thousands"));
        assert!(told("1.5", Comma).contains("`1.5` has a decimal point"), "{}", told("1.5", Comma));
        assert!(told("1.500", Comma).contains("thousands"), "{}", told("1.500", Comma));
    }

    #[test]
    fn whole_numbers_are_told_from_others() {
        use DecimalMark::{Comma, Point};
        for (cell, mark, value) in [
            ("3", Point, 3),
            ("+7", Point, 7),
            ("-0", Point, 0),
            ("3.0", Point, 3),
            ("3,0", Comma, 3),
            ("-2e3", Point, -2000),
            ("9007199254740992.0", Point, 1 << 53),
            ("9223372036854775807", Point, i64::MAX),
            ("-9223372036854775808", Point, i64::MIN),
        ] {
            assert_eq!(integer(cell, mark), Ok(value), "{cell}");
        }
        for cell in ["2.5", "9223372036854775808", "1e16", "-1e300", "9007199254740994.0"] {
            let told = integer(cell, Point).unwrap_err().to_string();
            assert!(told.starts_with(&format!("`{cell}` is no whole number")), "{told}");
        }
        for cell in ["", "NA", "NaN"] {
            assert!(integer(cell, Point).unwrap_err().is_missing(), "{cell:?}");
        }
        assert!(integer("x", Point).unwrap_err().to_string().contains("`x` is not a number"));
        assert!(integer("1,5", Point).unwrap_err().to_string().contains("--decimal ,"));
    }

    #[test]
    fn the_kind_of_a_column_holds_all_its_cells() {
        use ColumnKind::{Integer, Label, Real};
        for (cells, expected) in [
            (&["1", " -2 ", "NA", ""][..], Some(Integer)),
            (&["1", "2.5"], Some(Real)),
            (&["2.5", "1"], Some(Real)),
            (&["1", "1e400"], Some(Real)),
            (&["18446744073709551616"], Some(Real)),
            (&["1", "x", "2.5"], Some(Label)),
            (&["2.5", "1,5"], Some(Label)),
            (&["007"], Some(Label)),
            (&["0", "-0", "0.5"], Some(Real)),
            (&["NA", "", "null"], None),
        ] {
            assert_eq!(kind(cells.iter().copied(), DecimalMark::Point), expected, "{cells:?}");
        }
        assert_eq!(kind(["1,5"].into_iter(), DecimalMark::Comma), Some(Real));
    }

    #[test]
    fn thousands_separators_are_named() {
        use DecimalMark::{Comma, Point};
        for (cell, separator) in [
            ("1.234,5", "`.`"),
            ("1,234.5", "`,`"),
            ("-1,234,567", "`,`"),
            ("1.234.567", "`.`"),
            ("1 234", "` `"),
            ("1 234,5", "` `"),
            ("1 234.5", "` `"),
            ("1\u{a0}234", "`\u{a0}`"),
            ("1\u{202f}234,5", "`\u{202f}`"),
            ("1'234.5", "`'`"),
            ("+1'234'567", "`'`"),
            ("1_234", "`_`"),
            ("12_345,5e3", "`_`"),
            ("12,34,567", "`,`"),
            ("-1,23,45,678.9", "`,`"),
            ("12.34.567,5", "`.`"),
            ("12 34 567", "` `"),
        ] {
            for mark in [Point, Comma] {
                let message = told(cell, mark);
                assert!(message.contains("between thousands") && message.contains(separator), "{cell}: {message}");
            }
        }
        // Without what stands between them the digits would be another number than is meant.
        for cell in [
            "two",
            "1,x",
            "1-2",
            "12:30",
            "2020-01-31",
            "1,2,3",
            "1.2.3",
            "a b",
            "-",
            "1,23.5",
            "1 2 3",
            "1 23",
            "1'23",
            "1_2",
            "12 345 67",
            "1234 567",
            "1 234 5678",
            "31 01 2020",
            "123,45,678",
            "1,23,4567",
            "--1 234",
            "1  234",
            "1 234.5.6",
            "1 234,567,8",
            "1 234.x",
            " 234",
            "_1",
            "1_",
        ] {
            for mark in [Point, Comma] {
                let message = told(cell, mark);
                assert!(message.contains("is not a number; correct it"), "{cell}: {message}");
            }
        }
    }

    #[test]
    fn missing_values_are_words_that_programs_write() {
        for word in ["NA", "null", "N/A", "nan", "-NaN"] {
            let problem = number(word, DecimalMark::Point).unwrap_err();
            assert!(problem.is_missing() && problem.to_string().contains("--drop-missing"), "{word}: {problem}");
        }
        for word in ["inf", "-inf", "1e999", "x", "?", "na"] {
            assert!(!number(word, DecimalMark::Point).unwrap_err().is_missing(), "{word}");
        }
    }
}
