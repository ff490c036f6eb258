//! The text of CSV files that other programs write: byte order marks, old encodings, headers with quotes, and the words
//! that are numbers.

use csv::{ByteRecord, ReaderBuilder};
use std::borrow::Cow;

/// Returns what comes after UTF-8's byte order mark, with which some editors begin a file.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Returns bytes as text: those that are no UTF-8 are taken for Latin-1, in which old systems write paths.
pub(crate) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// Returns the names of the columns of a file that begins so: those of its first line that is neither empty nor a
/// comment.
pub(crate) fn header_of(beginning: &[u8]) -> Option<Vec<String>> {
    let mut lines = without_mark(beginning).split(|&byte| byte == b'\n');
    lines.find(|line| !line.starts_with(b"#") && !line.trim_ascii().is_empty()).map(names_in)
}

/// Returns the names in a header. A comma between quotes is a part of a name: R and pandas write `"theta[1,2]"`.
pub(crate) fn names_in(header: &[u8]) -> Vec<String> {
    let mut record = ByteRecord::new();
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(header);
    // Bytes in memory can be read, and a first record cannot be of another length than those before it.
    let is_read = reader.read_byte_record(&mut record).is_ok();
    debug_assert!(is_read, "a header in memory");
    record.iter().map(|name| text_of(unquoted(name)).into_owned()).collect()
}

/// Returns a name without quotes that a space before them has kept.
fn unquoted(name: &[u8]) -> &[u8] {
    let name = name.trim_ascii();
    name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name)
}

/// Returns a cell as errors show it: short, and without control characters.
pub(crate) fn shown_cell(cell: &[u8]) -> String {
    text_of(cell).trim().chars().take(40).flat_map(char::escape_debug).collect()
}

/// Returns a number as C++ writes it; Windows has words of its own for what is not finite: `1.#INF`, `-nan(ind)`.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    let word = std::str::from_utf8(field).ok()?.trim();
    if let Ok(number) = word.parse() {
        return Some(number);
    }
    let (sign, word) = match word.strip_prefix('-') {
        Some(word) => (-1.0, word),
        None => (1.0, word.strip_prefix('+').unwrap_or(word)),
    };
    let word = word.to_ascii_lowercase();
    // Zeros may follow: as many digits as were asked for.
    let is = |name: &str| word.strip_prefix(name).is_some_and(|rest| rest.bytes().all(|digit| digit == b'0'));
    if is("1.#inf") {
        return Some(sign * f64::INFINITY);
    }
    let of_c = word.strip_prefix("nan(").is_some_and(|rest| rest.ends_with(')'));
    (of_c || ["1.#ind", "1.#qnan", "1.#snan", "1.#nan"].into_iter().any(is)).then_some(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_commas_of_names() {
        let names = names_in("mu, \"tau\" ,\"theta[1,2]\",\"say \"\"no\"\"\", \"\",größe\r".as_bytes());
        assert_eq!(names, ["mu", "tau", "theta[1,2]", "say \"no\"", "", "größe"]);
        assert_eq!(names_in(b""), [""; 0]);
        let header = header_of(b"\xEF\xBB\xBF# a, b\r\n\r\n\"x,1\",y\r\n1,2\r\n");
        assert_eq!(header, Some(vec!["x,1".to_owned(), "y".to_owned()]));
        assert_eq!(header_of(b"# only\n\n"), None);
    }
}
