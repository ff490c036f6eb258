//! What can be wrong with a module's text.

/// A text that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{statement}`: {reason}")]
pub struct PtxError {
    /// The line of the text, from 1.
    pub line: u32,
    /// What stands there, its opcode first.
    pub statement: String,
    /// What is wrong with it.
    pub reason: String,
}

impl PtxError {
    pub(crate) fn new(line: u32, statement: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { line, statement: statement.into(), reason: reason.into() }
    }
}
