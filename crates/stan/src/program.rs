//! A whole program: read, parsed and checked.

use crate::check;
use crate::include::{Includes, MOST_BYTES, text_of};
use crate::lexer;
use crate::message::{Diagnostic, Finding, StanError};
use crate::parser;
use crate::source::{Place, Sources, Span};
use crate::tree::{ProgramBlock, StanFunction, StanVariable, Statement};
use std::path::Path;

/// A Stan program whose names and types are right.
///
/// The blocks have statements in the order of the text; declarations are statements. Blocks that the program lacks are
/// empty. Sizes are not known: they depend on data. Who walks the tree may call itself: statements nest at most 200
/// deep, and expressions at most 500.
#[derive(Clone, Debug)]
pub struct StanProgram {
    /// Every variable that is declared anywhere, in the order of the text.
    pub variables: Vec<StanVariable>,
    /// Every function of the program.
    pub functions: Vec<StanFunction>,
    /// `data`: declarations.
    pub data: Vec<Statement>,
    /// `transformed data`.
    pub transformed_data: Vec<Statement>,
    /// `parameters`: declarations.
    pub parameters: Vec<Statement>,
    /// `transformed parameters`.
    pub transformed_parameters: Vec<Statement>,
    /// `model`.
    pub model: Vec<Statement>,
    /// `generated quantities`.
    pub generated_quantities: Vec<Statement>,
    /// What is allowed and most likely not meant, or about to leave the language.
    pub warnings: Vec<Diagnostic>,
    sources: Sources,
}

/// What the checker makes.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) variables: Vec<StanVariable>,
    pub(crate) functions: Vec<StanFunction>,
    /// By the block's number.
    blocks: [Vec<Statement>; 7],
}

impl Parts {
    pub(crate) fn block_mut(&mut self, block: ProgramBlock) -> &mut Vec<Statement> {
        &mut self.blocks[block as usize]
    }
}

impl StanProgram {
    /// Reads a program and all that it includes.
    ///
    /// # Errors
    /// The file cannot be read, or the program is wrong or not supported: all that is found is listed with its places.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, StanError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let unreadable = |reason: String| StanError::Unreadable { path: path.display().to_string(), reason };
        let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
        if length > MOST_BYTES as u64 {
            return Err(unreadable(format!("it has {length} bytes, {MOST_BYTES} are the most")));
        }
        let text = text_of(path).map_err(|error| unreadable(error.to_string()))?;
        Self::made(name, text, Some(path))
    }

    /// Takes a program from a text; `name` stands in messages. It includes nothing.
    ///
    /// # Errors
    /// The program is wrong or not supported: all that is found is listed with its places.
    pub fn parse(name: &str, text: &str) -> Result<Self, StanError> {
        if text.len() > MOST_BYTES {
            let reason = format!("it has {} bytes, {MOST_BYTES} are the most", text.len());
            return Err(StanError::Unreadable { path: name.to_owned(), reason });
        }
        Self::made(name.to_owned(), text.to_owned(), None)
    }

    fn made(name: String, text: String, path: Option<&Path>) -> Result<Self, StanError> {
        let mut sources = Sources::default();
        let mut includes = Includes::of(path, text.len());
        sources.add(name, text, None);
        let tokens = match lexer::tokens(&mut sources, &mut includes) {
            Ok(tokens) => tokens,
            Err(finding) => return Err(refused(vec![finding], &sources)),
        };
        let (tree, mut findings) = parser::parse(&sources, &tokens);
        // Errors of syntax leave statements out: what is said of the rest would be wrong.
        if findings.iter().any(|finding| !finding.is_unsupported()) {
            return Err(refused(findings, &sources));
        }
        let (parts, found) = check::check(&sources, &tree);
        findings.extend(found);
        if findings.iter().any(|finding| !finding.is_warning()) {
            return Err(refused(findings, &sources));
        }
        let warnings = placed(findings, &sources);
        let Parts { variables, functions, blocks } = parts;
        let [_, data, transformed_data, parameters, transformed_parameters, model, generated_quantities] = blocks;
        Ok(Self {
            variables,
            functions,
            data,
            transformed_data,
            parameters,
            transformed_parameters,
            model,
            generated_quantities,
            warnings,
            sources,
        })
    }

    /// The statements of a block; functions have theirs in [`StanProgram::functions`].
    #[must_use]
    pub fn block(&self, block: ProgramBlock) -> &[Statement] {
        match block {
            ProgramBlock::Functions => &[],
            ProgramBlock::Data => &self.data,
            ProgramBlock::TransformedData => &self.transformed_data,
            ProgramBlock::Parameters => &self.parameters,
            ProgramBlock::TransformedParameters => &self.transformed_parameters,
            ProgramBlock::Model => &self.model,
            ProgramBlock::GeneratedQuantities => &self.generated_quantities,
        }
    }

    /// The names and texts of its files: first its own, then each that it includes, in the order of the `#include`s.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.sources.files().iter().map(|file| (file.name.as_str(), file.text.as_str()))
    }

    /// File, line and column of a piece of the program.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        self.sources.place(span)
    }

    /// The text of a piece of the program.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.sources.text(span)
    }

    /// A message of one's own about a piece of the program, such as what the data lack, with its line.
    #[must_use]
    pub fn diagnostic(&self, span: Span, message: impl Into<String>, help: Option<String>) -> Diagnostic {
        Finding::meaning(span, message).help_if(help).placed(&self.sources)
    }
}

/// The messages in the order of the text.
fn placed(findings: Vec<Finding>, sources: &Sources) -> Vec<Diagnostic> {
    let mut placed: Vec<Diagnostic> = findings.into_iter().map(|finding| finding.placed(sources)).collect();
    placed.sort_by_key(|diagnostic| (diagnostic.span.file, diagnostic.span.start));
    placed
}

/// The errors; warnings can wait until there are none.
fn refused(findings: Vec<Finding>, sources: &Sources) -> StanError {
    StanError::Refused(placed(findings.into_iter().filter(|finding| !finding.is_warning()).collect(), sources))
}
