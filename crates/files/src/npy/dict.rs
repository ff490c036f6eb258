//! The dictionary of a header: the few Python literals that describe an array of numbers.

/// A dictionary's entries, their values as they are written.
pub(super) struct Entries<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Entries<'a> {
    /// Splits `{'key': value, ...}`, whatever the values are.
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let damaged = || "its header is no dictionary: it is damaged".to_owned();
        let inside = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(damaged)?;
        let entries = pieces(inside).into_iter().filter(|piece| !piece.trim().is_empty()).map(|piece| {
            let (key, value) = piece.split_once(':')?;
            Some((quoted(key.trim())?, value.trim()))
        });
        entries.collect::<Option<_>>().map(Self).ok_or_else(damaged)
    }

    /// Returns the value of a key that must be there.
    pub(super) fn get(&self, wanted: &str) -> Result<&'a str, String> {
        let found = self.0.iter().find(|(key, _)| *key == wanted);
        found.map(|&(_, value)| value).ok_or_else(|| format!("its header has no '{wanted}': it is damaged"))
    }
}

/// Splits at the commas that no bracket and no quotation encloses.
fn pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut begin, mut found) = (0usize, None, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) => quote = (letter != open).then_some(open),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found
}

/// Returns what is between quotation marks.
pub(super) fn quoted(text: &str) -> Option<&str> {
    let of = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    of('\'').or_else(|| of('"'))
}

/// Returns the lengths that a tuple holds, and nothing for another value.
pub(super) fn lengths(text: &str) -> Option<Vec<u64>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    // Python 2 wrote an `L` after long integers.
    inside.split(',').map(|length| length.trim().trim_end_matches('L').parse().ok()).collect()
}

/// Returns the tuple as Python writes it.
pub(super) fn tuple(lengths: &[u64]) -> String {
    match lengths {
        [one] => format!("({one},)"),
        _ => format!("({})", lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}
