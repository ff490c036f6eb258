//! Numbers as people write them: decimal marks, missing values, and thousands separators, which are refused.

use super::CellProblem;
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

/// The separators that people put between thousands, besides the other decimal mark: spaces of three kinds, and
/// apostrophes.
const BETWEEN_THOUSANDS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '\'', '\u{2019}'];

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

/// Says why a cell is no number.
fn not_a_number(cell: &str, decimal: DecimalMark) -> CellProblem {
    let value = cell.to_owned();
    if is_missing_word(cell) {
        return CellProblem::MissingWord { value };
    }
    let (separators, bare): (Vec<char>, String) = (
        cell.chars().filter(|char| BETWEEN_THOUSANDS.contains(char)).collect(),
        cell.chars().filter(|char| !BETWEEN_THOUSANDS.contains(char)).collect(),
    );
    if let Some(&separator) = separators.first()
        && [decimal, decimal.other()].into_iter().any(|mark| is_number(&without(&bare, mark.other()), mark))
    {
        return CellProblem::Thousands { value, separator };
    }
    let marks = |mark: DecimalMark| cell.matches(mark.symbol()).count();
    let other = decimal.other();
    // One mark of the other kind may be a decimal mark. Several cannot, nor can one that stands before a decimal mark.
    if marks(decimal) == 0 && marks(other) == 1 && is_number(cell, other) {
        return CellProblem::OtherMark { value, mark: other, thousands: three_digits_follow(cell, other) };
    }
    let is_thousands = |separator: &DecimalMark| {
        is_number(&without(cell, *separator), separator.other()) && grouped_by(cell, *separator)
    };
    match [other, decimal].into_iter().find(is_thousands) {
        Some(separator) => CellProblem::Thousands { value, separator: separator.symbol() },
        None => CellProblem::Text { value },
    }
}

fn without(cell: &str, mark: DecimalMark) -> String {
    cell.chars().filter(|char| *char != mark.symbol()).collect()
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

/// Returns whether the digits before the decimal mark stand in groups of three with this separator between them.
fn grouped_by(cell: &str, separator: DecimalMark) -> bool {
    let (whole, decimals) = cell.split_once(separator.other().symbol()).unwrap_or((cell, ""));
    let groups: Vec<&str> = whole.trim_start_matches(['+', '-']).split(separator.symbol()).collect();
    let digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    let [first, rest @ ..] = &groups[..] else { return false };
    !decimals.contains(separator.symbol())
        && !rest.is_empty()
        && (1..=3).contains(&first.len())
        && rest.iter().all(|group| group.len() == 3)
        && groups.iter().all(digits)
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
        ] {
            for mark in [Point, Comma] {
                let message = told(cell, mark);
                assert!(message.contains("between thousands") && message.contains(separator), "{cell}: {message}");
            }
        }
        for cell in ["two", "1,x", "1-2", "12:30", "2020-01-31", "1,2,3", "1.2.3", "a b", "-", "1,23.5"] {
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
