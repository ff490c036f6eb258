//! What is wrong with a program, or odd about it: where, what was expected, and what to do.

use crate::source::{Place, Sources, Span};
use std::fmt;

/// What kind of thing a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagnosticKind {
    /// The text is not Stan.
    Syntax,
    /// The text is Stan but means nothing: a name, a type or a block is wrong.
    Meaning,
    /// It is Stan, and Octopus does not support it.
    Unsupported,
    /// It is allowed, and most likely not what was meant, or about to leave the language.
    Warning,
}

/// A message with its place and the line it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What it is about.
    pub kind: DiagnosticKind,
    /// Where it begins.
    pub place: Place,
    /// The piece of text.
    pub span: Span,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What stands beside the underlined text; may be empty.
    pub label: String,
    /// What to do, a line each.
    pub help: Vec<String>,
    /// The line, or the piece of a long one that is around the place, tabs made spaces.
    line: String,
    /// How many characters of it are before the place, and how many are underlined.
    underlined: (usize, usize),
    /// Where the file was included, the nearest first.
    included: Vec<Place>,
}

/// Characters of a line that are shown at the most, half of them before the place.
const SHOWN: usize = 160;

/// A message before its place has been looked up.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    kind: DiagnosticKind,
    span: Span,
    message: String,
    label: String,
    help: Vec<String>,
}

impl Finding {
    fn new(kind: DiagnosticKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, span, message: message.into(), label: String::new(), help: Vec::new() }
    }

    pub(crate) fn syntax(span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Syntax, span, message)
    }

    pub(crate) fn meaning(span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Meaning, span, message)
    }

    pub(crate) fn unsupported(span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Unsupported, span, message)
    }

    pub(crate) fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Warning, span, message)
    }

    /// Says something beside the underlined text.
    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Says what to do.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Says what to do if there is something.
    pub(crate) fn help_if(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.kind == DiagnosticKind::Warning
    }

    pub(crate) fn is_unsupported(&self) -> bool {
        self.kind == DiagnosticKind::Unsupported
    }

    /// Looks its place up.
    pub(crate) fn placed(self, sources: &Sources) -> Diagnostic {
        let place = sources.place(self.span);
        let before = place.column - 1;
        let skipped = before.saturating_sub(SHOWN / 2);
        let untab = |c: char| if c.is_control() { ' ' } else { c };
        let line: String = sources.line(self.span).chars().skip(skipped).take(SHOWN).map(untab).collect();
        let line = line.trim_end().to_owned();
        let room = line.chars().count().saturating_sub(before - skipped).max(1);
        let marked = sources.text(self.span).chars().take(SHOWN).take_while(|c| *c != '\n' && *c != '\r');
        let underlined = (before - skipped, marked.count().clamp(1, room));
        let mut included = Vec::new();
        let mut from = sources.file(self.span.file).and_then(|file| file.included_from);
        while let Some(span) = from {
            included.push(sources.place(span));
            from = sources.file(span.file).and_then(|file| file.included_from);
        }
        let Self { kind, span, message, label, help } = self;
        Diagnostic { kind, place, span, message, label, help, line, underlined, included }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = match self.kind {
            DiagnosticKind::Syntax | DiagnosticKind::Meaning => "error",
            DiagnosticKind::Unsupported => "not supported",
            DiagnosticKind::Warning => "warning",
        };
        let number = self.place.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(f, "{title}: {}", self.message)?;
        writeln!(f, "{margin}--> {}:{}:{}", self.place.file, self.place.line, self.place.column)?;
        for place in &self.included {
            writeln!(f, "{margin} included from {}:{}:{}", place.file, place.line, place.column)?;
        }
        let (before, width) = self.underlined;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.line)?;
        let carets = format!("{}{} {}", " ".repeat(before), "^".repeat(width), self.label);
        write!(f, "{margin} | {}", carets.trim_end())?;
        for help in &self.help {
            for (at, line) in help.lines().enumerate() {
                let sign = if at == 0 { "= " } else { "  " };
                write!(f, "\n{margin} {sign}{line}")?;
            }
        }
        Ok(())
    }
}

/// Why a program was not taken: every message that was found.
#[derive(Debug, thiserror::Error)]
pub enum StanError {
    /// The program's own file could not be read.
    #[error("cannot read the Stan program {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The text is wrong, or not supported.
    #[error("{}", rendered(.0))]
    Refused(Vec<Diagnostic>),
}

impl StanError {
    /// The messages in the order of the text; none if the file could not be read.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Unreadable { .. } => &[],
            Self::Refused(diagnostics) => diagnostics,
        }
    }

    /// Whether the program is good Stan, as far as could be seen, with something that Octopus does not support.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        !self.diagnostics().is_empty() && self.diagnostics().iter().all(|it| it.kind == DiagnosticKind::Unsupported)
    }
}

fn rendered(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(Diagnostic::to_string).collect::<Vec<_>>().join("\n\n")
}
