//! A count in words.

/// Returns a count with what is counted, e.g. `1 chain`, `4 chains`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "data set")), ["0 data sets", "1 data set", "2 data sets"]);
    }
}
