//! What is wrong with data, or with a program once its data are known.

use octopus_program::ProgramError;
use octopus_stan::Diagnostic;
use std::fmt;
use thiserror::Error;

/// Why a program cannot be bound to data.
#[derive(Clone, Debug, Error)]
pub enum BindError {
    /// A file cannot be read.
    #[error("{path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's words.
        reason: String,
    },
    /// A text is not in its format.
    #[error("{source_name}{}: {reason}", if *line > 0 { format!(":{line}") } else { String::new() })]
    Format {
        /// The file, or another name of the text.
        source_name: String,
        /// The line, counted from 1; 0 where it is not known.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Data do not fit their declarations; each line names file, variable, index, value and what is wanted.
    #[error("{}", .0.join("\n"))]
    Data(Vec<String>),
    /// The program uses something that is not supported, or fails with these data.
    #[error("{}", Lines(.0))]
    Refused(Vec<Diagnostic>),
    /// The program that was made is wrong.
    #[error("{0}")]
    Program(#[from] ProgramError),
}

impl BindError {
    /// The error of a draw that failed, which names its place.
    pub(crate) fn simulation(reason: String) -> Self {
        Self::Data(vec![reason])
    }
}

struct Lines<'a>(&'a [Diagnostic]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, diagnostic) in self.0.iter().enumerate() {
            write!(f, "{}{diagnostic}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}
