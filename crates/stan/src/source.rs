//! The texts of a program, and places in them.

/// A piece of text of one file of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub(crate) file: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    /// From the beginning of this piece to the end of another; this piece alone if the other is in another file.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file == other.file { Self { end: self.end.max(other.end), ..self } } else { self }
    }
}

/// A place that people can find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name, as it was opened.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

/// One file's text.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    pub(crate) name: String,
    pub(crate) text: String,
    /// Where each line begins.
    lines: Vec<u32>,
    /// The `#include` that brought it in.
    pub(crate) included_from: Option<Span>,
}

/// The file that was read and all that it includes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    files: Vec<SourceText>,
}

impl Sources {
    pub(crate) fn add(&mut self, name: String, text: String, included_from: Option<Span>) -> u32 {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        self.files.push(SourceText { name, text, lines, included_from });
        (self.files.len() - 1) as u32
    }

    pub(crate) fn files(&self) -> &[SourceText] {
        &self.files
    }

    pub(crate) fn file(&self, file: u32) -> Option<&SourceText> {
        self.files.get(file as usize)
    }

    /// The text of a piece.
    pub(crate) fn text(&self, span: Span) -> &str {
        self.file(span.file).and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or_default()
    }

    pub(crate) fn place(&self, span: Span) -> Place {
        let Some(file) = self.file(span.file) else {
            return Place { file: String::new(), line: 1, column: 1 };
        };
        let (line, start) = file.line_of(span.start);
        let before = file.text.get(start..span.start as usize).unwrap_or_default();
        Place { file: file.name.clone(), line: line + 1, column: before.chars().count() + 1 }
    }

    /// The line in which a piece begins, without its end.
    pub(crate) fn line(&self, span: Span) -> &str {
        let Some(file) = self.file(span.file) else { return "" };
        let (line, start) = file.line_of(span.start);
        let end = file.lines.get(line + 1).map_or(file.text.len(), |&next| next as usize);
        file.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }
}

impl SourceText {
    /// The line of a byte, counted from 0, and where it begins.
    fn line_of(&self, at: u32) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= at).saturating_sub(1);
        (line, self.lines.get(line).map_or(0, |&start| start as usize))
    }
}
