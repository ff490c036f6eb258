//! What tells a file that an option has written from a user's.

use serde_json::{Deserializer, Value};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// What a file looks like that an option writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// A log: an object on each line.
    Log,
    /// A profile: a list of events.
    Profile,
    /// A result as JSON: an object with these fields.
    Json(&'static str, &'static [&'static str]),
    /// A text, by how it begins: a table by its header, a manual page by its first line.
    Text(&'static str, &'static str),
}

/// The beginning of each line of a log.
const LINE: &[u8] = b"{\"timestamp\":\"";
/// A longer line begins no log.
const LONGEST_LINE: u64 = 1 << 20;

impl Sign {
    /// Whether a file has this sign, or nothing in it.
    pub(super) fn is_on(self, path: &Path) -> bool {
        let Ok(file) = File::open(path) else { return false };
        match file.metadata() {
            Ok(there) if there.is_file() && there.len() == 0 => return true,
            Ok(there) if there.is_file() => {}
            _ => return false,
        }
        self.begins(BufReader::new(file)).unwrap_or(false)
    }

    fn begins(self, mut file: impl BufRead) -> std::io::Result<bool> {
        let has = |value: &Value, fields: &[&str]| fields.iter().all(|field| value.get(field).is_some());
        Ok(match self {
            Self::Log => {
                let mut line = Vec::new();
                file.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
                // A program that was killed has left half a line.
                let is_half = line.last() != Some(&b'\n') && (line.starts_with(LINE) || LINE.starts_with(&line));
                is_half
                    || serde_json::from_slice(&line)
                        .is_ok_and(|line: Value| has(&line, &["timestamp", "level", "fields"]))
            }
            Self::Profile => {
                let mut first = [0];
                file.read_exact(&mut first)?;
                let mut rest = String::new();
                file.by_ref().take(LONGEST_LINE).read_to_string(&mut rest).ok();
                // A profile may be long: its first event tells.
                let event = Deserializer::from_str(&rest).into_iter::<Value>().next();
                let is_event = event.is_some_and(|event| event.is_ok_and(|event| has(&event, &["ph", "pid"])));
                first == [b'['] && (rest.trim_start().starts_with(']') || is_event)
            }
            Self::Text(_, beginning) => {
                let mut begins = vec![0; beginning.len()];
                file.read_exact(&mut begins)?;
                begins == beginning.as_bytes()
            }
            Self::Json(_, fields) => {
                let mut text = Vec::new();
                file.read_to_end(&mut text)?;
                serde_json::from_slice(&text).is_ok_and(|value: Value| has(&value, fields))
            }
        })
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "log of octopus",
            Self::Profile => "profile of octopus",
            Self::Json(name, _) | Self::Text(name, _) => name,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_on_what_has_it() {
        let on = |sign: Sign, text: &str| sign.begins(text.as_bytes()).unwrap_or(false);
        let log = "{\"timestamp\":\"2026\",\"level\":\"INFO\",\"fields\":{}}\nhalf a li";
        assert!(on(Sign::Log, log));
        assert!(on(Sign::Log, "{\"timestamp\":\"20") && on(Sign::Log, "{\"time"));
        assert!(!on(Sign::Log, "{\"level\":\"INFO\"}\n") && !on(Sign::Log, "g,y\na,1\n"));
        for profile in ["[]\n", "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"a\"},\n{\"ph\":\"B\"", "[\n]"] {
            assert!(on(Sign::Profile, profile), "{profile}");
        }
        for other in ["[1, 2]", "{\"ph\": 1}", "[sampler]\ndraws = 3\n", "g,y\n", "[{\"ph\": 1}]"] {
            assert!(!on(Sign::Profile, other), "{other}");
        }
        let sweep = Sign::Json("result of a sweep", &["schema", "sweep"]);
        let table = Sign::Text("summary of a batch", "name,status,");
        assert!(on(table, "name,status,seed\n") && !on(table, "name,statu") && !on(table, "g,y\n"));
        assert!(on(sweep, "{\"schema\": 1, \"sweep\": {}}") && !on(sweep, "{\"schema\": 1}") && !on(sweep, "x"));
    }

    #[test]
    fn a_file_without_contents_is_nobody_s() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        assert!(!Sign::Log.is_on(&path) && !Sign::Log.is_on(dir.path()));
        std::fs::write(&path, "").unwrap();
        assert!(Sign::Log.is_on(&path));
        assert!(Sign::Json("result", &["schema"]).is_on(&path) && Sign::Text("table", "name,").is_on(&path));
        for mine in ["mine", "m", "\n"] {
            std::fs::write(&path, mine).unwrap();
            for sign in [Sign::Log, Sign::Profile, Sign::Json("result", &["schema"]), Sign::Text("table", "name,")] {
                assert!(!sign.is_on(&path), "{sign:?} on {mine:?}");
            }
        }
    }

    /// The end of the line is beside the mebibyte.
    #[test]
    fn a_line_of_a_mebibyte_may_begin_a_log_and_a_longer_one_does_not() {
        let line = |length: usize| {
            let (before, after) = ("{\"level\":\"INFO\",\"timestamp\":\"2026\",\"fields\":\"", "\"}\n");
            format!("{before}{}{after}", "x".repeat(length - before.len() - after.len()))
        };
        for (length, is_log) in [(100, true), ((1 << 20) + 1, true), ((1 << 20) + 2, false)] {
            let text = line(length);
            assert_eq!((text.len(), Sign::Log.begins(text.as_bytes()).unwrap()), (length, is_log));
        }
    }
}
