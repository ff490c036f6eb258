//! JSON to be read: indented, but a list of numbers or words stays on one line, so that thousands of them stay short.

use std::io::{self, Write};

use octopus_files::WithInfinities;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

const INDENT: &[u8] = b"  ";

/// `value` as JSON text with a line break at its end.
///
/// # Errors
/// When `value` cannot be JSON.
pub(crate) fn text(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    WithInfinities(value).serialize(&mut Serializer::with_formatter(&mut bytes, Lines::default()))?;
    bytes.push(b'\n');
    // JSON is UTF-8.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// One entry for each open object or list: whether what it holds stands on lines of its own.
#[derive(Default)]
struct Lines {
    open: Vec<bool>,
    /// A value of a list comes next, which has its own line if it is an object or a list.
    of_list: bool,
}

impl Lines {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        self.open.iter().try_for_each(|_| out.write_all(INDENT))
    }

    fn begin<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        if std::mem::take(&mut self.of_list) {
            if let Some(lines) = self.open.last_mut() {
                *lines = true;
            }
            self.line(out)?;
        }
        self.open.push(false);
        out.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.of_list = false;
        if self.open.pop() == Some(true) {
            self.line(out)?;
        }
        out.write_all(bracket)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.of_list = true;
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if let Some(lines) = self.open.last_mut() {
            *lines = true;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_stay_on_a_line_and_the_rest_does_not() {
        let value = json!({"a": [1, 2.5, null], "b": {"c": [[1, 2], [3]], "d": [], "e": {}}, "f": [{"g": "x"}, 7]});
        let text = text(&value).unwrap();
        let expected = r#"{
  "a": [1,2.5,null],
  "b": {
    "c": [
      [1,2],
      [3]
    ],
    "d": [],
    "e": {}
  },
  "f": [
    {
      "g": "x"
    },7
  ]
}
"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
