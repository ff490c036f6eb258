//! The text of a table: its encoding, and the lines as an editor counts them.

use super::ObservationsError;
use std::path::Path;

/// Returns the text of a file without its byte order mark.
///
/// # Errors
/// When the bytes are no UTF-8: line and column of the first that is not, and how to convert the file.
pub(super) fn decoded<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, ObservationsError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.contains(&0) {
        return Err(ObservationsError::NotATable { path: path.to_owned(), what: "it holds binary data".to_owned() });
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let before = String::from_utf8_lossy(&bytes[..at]);
        let (line, column) = (line(before.as_bytes(), at), column(&before));
        ObservationsError::NotUtf8 { path: path.to_owned(), line, column, byte: bytes[at] }
    })
}

/// Returns the line of a place, counted from 1: lines end with `\n`, `\r\n` or `\r`.
pub(super) fn line(text: &[u8], at: usize) -> u64 {
    let before = &text[..at.min(text.len())];
    let ends = |(index, byte): (usize, &u8)| match byte {
        b'\n' => index == 0 || before[index - 1] != b'\r',
        b'\r' => true,
        _ => false,
    };
    // A place between `\r` and its `\n` is on the line that they end.
    let split = before.last() == Some(&b'\r') && text.get(at) == Some(&b'\n');
    1 + before.iter().enumerate().filter(|&one| ends(one)).count() as u64 - u64::from(split)
}

/// Returns the column after this text, counted from 1 in characters.
fn column(before: &str) -> u64 {
    1 + before.chars().rev().take_while(|char| !['\n', '\r'].contains(char)).count() as u64
}

/// Returns the place of the first byte from `at` on that ends no line.
pub(super) fn skip_line_ends(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| [b'\n', b'\r'].contains(byte)).count()
}

/// A cell as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellPlace {
    /// Where it begins.
    pub(super) begin: usize,
    /// Whether a quote that it begins with is never closed.
    pub(super) is_open: bool,
}

/// Returns the place of cell number `wanted` of the row that begins at `begin`; of its last cell where it has fewer.
pub(super) fn cell(text: &[u8], begin: usize, wanted: usize, delimiter: u8) -> CellPlace {
    let mut at = begin;
    let mut number = 0;
    loop {
        let cell = at;
        let mut is_open = text.get(at) == Some(&b'"');
        if is_open {
            at += 1;
            while let Some(&byte) = text.get(at) {
                at += 1;
                if byte == b'"' {
                    if text.get(at) != Some(&b'"') {
                        is_open = false;
                        break;
                    }
                    at += 1;
                }
            }
        }
        while text.get(at).is_some_and(|byte| ![delimiter, b'\n', b'\r'].contains(byte)) {
            at += 1;
        }
        if number == wanted || text.get(at) != Some(&delimiter) {
            return CellPlace { begin: cell, is_open };
        }
        (at, number) = (at + 1, number + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_an_editor() {
        for (text, at, expected) in [
            ("a\nb\nc", 4, 3),
            ("a\r\nb\r\nc", 6, 3),
            ("a\rb\rc", 4, 3),
            ("a\r\n\r\nb", 5, 3),
            ("a\r\rb", 3, 3),
            ("a\n\nb", 3, 3),
            ("a\r\nb", 2, 1),
            ("a", 0, 1),
        ] {
            assert_eq!(line(text.as_bytes(), at), expected, "{text:?}");
        }
    }

    #[test]
    fn cells_are_found_within_quotes() {
        let text = b"h\n\"a,\n\"\"b\",c,\"d";
        assert_eq!(cell(text, 2, 0, b','), CellPlace { begin: 2, is_open: false });
        assert_eq!(cell(text, 2, 1, b','), CellPlace { begin: 11, is_open: false });
        assert_eq!(cell(text, 2, 2, b','), CellPlace { begin: 13, is_open: true });
        assert_eq!(cell(text, 2, 7, b','), CellPlace { begin: 13, is_open: true });
        // A comma after a quote that stands for itself is in the cell, too.
        assert_eq!(cell(b"\"a\"\",b\",c", 0, 1, b','), CellPlace { begin: 8, is_open: false });
        assert_eq!(cell(b"\"\",b", 0, 1, b','), CellPlace { begin: 3, is_open: false });
    }
}
