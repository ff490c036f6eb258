//! The look of plain text: its symbols (Unicode or ASCII), headings, and tables with their rule.

use octopus_diag::TableLook;

/// The symbols that a terminal or a file can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// Any.
    Unicode,
    /// Only ASCII.
    Ascii,
}

impl Charset {
    /// Returns the symbols that the locale of the environment (`LC_ALL`, else `LC_CTYPE`, else `LANG`) promises.
    pub fn from_environment() -> Self {
        Self::from_locale(["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(|name| std::env::var(name).ok()))
    }

    /// Returns the symbols that the first locale promises that is set; without one, those of the C locale.
    pub(crate) fn from_locale(mut locales: impl Iterator<Item = String>) -> Self {
        let utf8 = |locale: String| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        };
        if locales.find(|locale| !locale.is_empty()).is_some_and(utf8) { Self::Unicode } else { Self::Ascii }
    }

    /// Returns the look of tables: indented, with a rule below the names.
    pub fn table(self) -> TableLook {
        TableLook { rule: Some(self.rule()), ..ROWS }
    }

    pub(crate) fn rule(self) -> char {
        match self {
            Self::Unicode => '─',
            Self::Ascii => '-',
        }
    }
}

/// The look of rows that have no names above them, as indented as those of a table.
pub(crate) const ROWS: TableLook = TableLook { indent: 2, rule: None };

/// A heading with a rule below.
pub(crate) fn heading(words: &str, charset: Charset) -> String {
    format!("{words}\n{}\n", charset.rule().to_string().repeat(words.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales() {
        let of = |locales: &[&str]| Charset::from_locale(locales.iter().map(|&l| l.to_owned()));
        assert_eq!(of(&["en_US.UTF-8"]), Charset::Unicode);
        assert_eq!(of(&["", "de_DE.utf8"]), Charset::Unicode);
        assert_eq!(of(&["C", "en_US.UTF-8"]), Charset::Ascii);
        assert_eq!(of(&[]), Charset::Ascii);
    }
}
