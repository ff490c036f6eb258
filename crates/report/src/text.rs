//! Tables in plain text: columns, wrapped lines, headings, and the symbols of the terminal (Unicode or ASCII).

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

    pub(crate) fn rule(self) -> char {
        match self {
            Self::Unicode => '─',
            Self::Ascii => '-',
        }
    }
}

/// A heading of a column: its words, where cells stand, and the width from which they are wrapped.
#[derive(Clone, Copy, Debug)]
pub struct TextColumn<'a> {
    name: &'a str,
    right: bool,
    most: usize,
}

impl<'a> TextColumn<'a> {
    /// Makes a column of words, wrapped from `most` characters on.
    pub fn left(name: &'a str, most: usize) -> Self {
        Self { name, right: false, most }
    }

    /// Makes a column of numbers.
    pub fn right(name: &'a str) -> Self {
        Self { name, right: true, most: 60 }
    }
}

/// Writes `rows` under `columns`, aligned, each line indented by two.
pub fn text_table(columns: &[TextColumn<'_>], rows: &[Vec<String>], charset: Charset) -> String {
    let wrapped: Vec<Vec<Vec<String>>> = rows
        .iter()
        .map(|row| row.iter().zip(columns).map(|(cell, column)| wrap(cell, column.most)).collect())
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(i, column)| {
            let cells = wrapped.iter().filter_map(|row| row.get(i)).flatten().map(|line| line.chars().count());
            cells.fold(column.name.chars().count(), usize::max)
        })
        .collect();
    let mut text = String::new();
    let mut line = |cells: &dyn Fn(usize) -> String| {
        let mut line = String::new();
        for (i, (column, width)) in columns.iter().zip(&widths).enumerate() {
            let cell = cells(i);
            let pad = " ".repeat(width - cell.chars().count());
            line += "  ";
            line += &if column.right { pad + &cell } else { cell + &pad };
        }
        text += line.trim_end();
        text.push('\n');
    };
    line(&|i| columns[i].name.to_owned());
    line(&|i| charset.rule().to_string().repeat(widths[i]));
    for row in &wrapped {
        let height = row.iter().map(Vec::len).max().unwrap_or(0);
        for at in 0..height {
            line(&|i| row.get(i).and_then(|cell| cell.get(at)).cloned().unwrap_or_default());
        }
    }
    text
}

/// Lines of at most `most` characters, broken between words; a longer word stays whole.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.len() - 1;
        if lines[line].is_empty() {
            lines[line] = word.to_owned();
        } else if lines[line].chars().count() + 1 + word.chars().count() <= most {
            lines[line] = format!("{} {word}", lines[line]);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A heading with a rule below.
pub(crate) fn heading(words: &str, charset: Charset) -> String {
    format!("{words}\n{}\n", charset.rule().to_string().repeat(words.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_and_wraps() {
        let columns = [TextColumn::left("name", 10), TextColumn::right("value")];
        let rows = [vec!["mu".to_owned(), "1.5".to_owned()], vec!["a name in four words".to_owned(), "10".to_owned()]];
        let text = text_table(&columns, &rows, Charset::Ascii);
        insta::assert_snapshot!(text, @r"
          name        value
          ----------  -----
          mu            1.5
          a name in      10
          four words
        ");
        assert!(text.is_ascii());
        assert!(text_table(&columns, &rows, Charset::Unicode).contains('─'));
    }

    #[test]
    fn locales() {
        let of = |locales: &[&str]| Charset::from_locale(locales.iter().map(|&l| l.to_owned()));
        assert_eq!(of(&["en_US.UTF-8"]), Charset::Unicode);
        assert_eq!(of(&["", "de_DE.utf8"]), Charset::Unicode);
        assert_eq!(of(&["C", "en_US.UTF-8"]), Charset::Ascii);
        assert_eq!(of(&[]), Charset::Ascii);
    }
}
