//! Labels and names as words for people: of bounded length, and without what a terminal or a page would obey.
//!
//! Data keep their names and labels as they are; files of other programs may hold anything in them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The most characters of a name or a label that are shown.
const LONGEST: usize = 80;
/// How many characters of a longer one are shown before the mark that stands for it.
const KEPT: usize = 60;

/// Returns a name or a label as it is shown to people.
///
/// What a terminal, a page or a picture would obey (control characters, overrides of the direction of writing) is
/// written as an escape, e.g. `\u{1b}`. More than 80 characters become 60 with `…#` and a number that is computed
/// from the whole text: different texts stay different, and equal ones equal.
///
/// ```
/// assert_eq!(octopus_trace::shown("são paulo"), "são paulo");
/// assert_eq!(octopus_trace::shown("a\u{1b}[2J"), r"a\u{1b}[2J");
/// assert_eq!(octopus_trace::shown(&"x".repeat(5000)).chars().count(), 74);
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return escaped(text, is_obeyed);
    }
    if text.chars().nth(LONGEST).is_none() {
        return escaped(text, is_obeyed);
    }
    let kept: String = text.chars().take(KEPT).collect();
    Cow::Owned(format!("{}…#{:012x}", escaped(&kept, is_obeyed), hash(text)))
}

/// Returns a text of several lines, e.g. an error, without what a terminal, a page or a picture would obey: see
/// [`shown`]. Ends of lines and tabs stay.
pub fn harmless(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_obeyed(c) && c != '\n' && c != '\t')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            // Writing to text in memory cannot fail.
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Whether a character is obeyed rather than drawn: controls, separators of lines, overrides and isolates of the
/// direction of writing, and what is no character, which XML forbids.
fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || u32::from(c) & 0xfffe == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}')
}

/// FNV-1a, folded to 48 bits: of a hundred thousand long labels with one beginning, two are mixed up with a probability
/// below 0.002%.
fn hash(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash >> 48) ^ (hash & 0xffff_ffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_obeyed_is_escaped() {
        for (text, expected) in [
            ("plain", "plain"),
            ("β[1] ✓ עברית 日本", "β[1] ✓ עברית 日本"),
            ("a\u{0}b", r"a\u{0}b"),
            ("a\tb\nc", r"a\tb\nc"),
            ("\u{1b}[31m", r"\u{1b}[31m"),
            ("\u{7f}\u{80}\u{9b}2J\u{9f}", r"\u{7f}\u{80}\u{9b}2J\u{9f}"),
            ("\u{202a}\u{202e}\u{2066}\u{2069}", r"\u{202a}\u{202e}\u{2066}\u{2069}"),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
            ("\u{fffe}\u{ffff}\u{1ffff}\u{fdd0}", r"\u{fffe}\u{ffff}\u{1ffff}\u{fdd0}"),
            ("\u{fffd}\u{2065}\u{206a}", "\u{fffd}\u{2065}\u{206a}"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(harmless("error:\n\tthe \u{9b}label\r"), "error:\n\tthe \\u{9b}label\\r");
    }

    #[test]
    fn long_texts_are_cut_and_stay_different() {
        let long = |len: usize, last: char| "ä".repeat(len - 1) + &last.to_string();
        assert_eq!(shown(&long(80, 'a')), long(80, 'a'));
        let (one, other) = (long(81, 'a'), long(81, 'b'));
        assert_eq!(shown(&one).chars().count(), KEPT + 2 + 12);
        assert!(shown(&one).starts_with(&"ä".repeat(60)) && shown(&one) != shown(&other));
        assert_eq!(shown(&one), shown(&one.clone()));
        // Escapes make no text longer than its place for long.
        assert!(shown(&"\u{202e}".repeat(20_000)).len() <= KEPT * 8 + 16);
    }
}
