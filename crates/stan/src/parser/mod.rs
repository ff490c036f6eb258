//! Tokens to a tree: recursive descent, with precedence climbing for operators.

mod declaration;
mod expression;
mod statement;
mod words;

use crate::lexer::{Token, TokenKind};
use crate::message::Finding;
use crate::source::{Sources, Span};
use crate::syntax::{Expr, Form, Name, Stmt, Tree};
use crate::tree::ProgramBlock;

/// How deep brackets, operators and statements may nest: whoever walks the tree needs a stack of this height.
const MOST_NESTED: usize = 200;
/// How high an expression may be: long sums are high, and cost less stack than brackets.
const HIGHEST: usize = 500;
/// Errors of syntax that are reported: later ones are often consequences.
const MOST_ERRORS: usize = 10;

/// An error has been reported; the parser must find a place to go on from.
pub(crate) struct Stopped;

type Parsed<T> = Result<T, Stopped>;

/// Parses a program. Findings are errors of syntax, and things that are not supported.
pub(crate) fn parse(sources: &Sources, tokens: &[Token]) -> (Tree, Vec<Finding>) {
    let mut parser = Parser { sources, tokens, at: 0, findings: Vec::new(), nested: 0, is_over: false };
    let mut tree = Tree::default();
    // What stopped it has been reported.
    let _ = parser.program(&mut tree);
    (tree, parser.findings)
}

struct Parser<'a> {
    sources: &'a Sources,
    tokens: &'a [Token],
    at: usize,
    findings: Vec<Finding>,
    nested: usize,
    /// Whether going on makes no sense.
    is_over: bool,
}

impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> Token {
        let end = Token { kind: TokenKind::End, span: Span::default() };
        self.tokens.get(self.at + by).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn text(&self, token: Token) -> &'a str {
        self.sources.text(token.span)
    }

    fn word(&self) -> &'a str {
        self.text(self.token())
    }

    /// The place of the token that has been taken last.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.token().span, |token| token.span)
    }

    fn take(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    fn is(&self, text: &str) -> bool {
        matches!(self.token().kind, TokenKind::Word | TokenKind::Sign) && self.word() == text
    }

    fn is_ahead(&self, by: usize, text: &str) -> bool {
        let token = self.ahead(by);
        matches!(token.kind, TokenKind::Word | TokenKind::Sign) && self.text(token) == text
    }

    fn take_if(&mut self, text: &str) -> bool {
        let is = self.is(text);
        if is {
            self.at += 1;
        }
        is
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.token().kind {
            TokenKind::End => "the end of the program".into(),
            _ => format!("`{}`", self.word().chars().take(40).collect::<String>()),
        }
    }

    fn report<T>(&mut self, finding: Finding) -> Parsed<T> {
        self.findings.push(finding);
        Err(Stopped)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let finding = Finding::syntax(self.token().span, format!("expected {what}, found {}", self.found()));
        self.report(finding.label(format!("expected {what}")))
    }

    /// Takes a sign or a word; `after` says what it ends or parts.
    fn need(&mut self, text: &str, after: &str) -> Parsed<Span> {
        if self.is(text) {
            return Ok(self.take().span);
        }
        let what = format!("`{text}` {after}");
        // A semicolon is missing behind the last token, and what is on the next line is another statement.
        if text == ";" && self.token().kind != TokenKind::End {
            let last = self.before();
            let span = Span { start: last.end.saturating_sub(1).max(last.start), ..last };
            let message = format!("expected {what}, found {}", self.found());
            let stopped = self.report(Finding::syntax(span, message).label("expected `;` after this"));
            let between = Span { start: last.end, end: self.token().span.start, ..last };
            return if self.sources.text(between).contains('\n') { Ok(last) } else { stopped };
        }
        self.expected(&what)
    }

    /// A new name, or one that is used.
    fn name(&mut self, of: &str) -> Parsed<Name> {
        let token = self.token();
        if token.kind != TokenKind::Word {
            return self.expected(of);
        }
        let text = self.text(token);
        if words::is_kept(text) {
            let message = format!("expected {of}, found `{text}`, a word of the language");
            return self.report(Finding::syntax(token.span, message).help("choose another name"));
        }
        self.at += 1;
        Ok(Name { text: text.to_owned(), span: token.span })
    }

    /// Does something one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nested >= MOST_NESTED {
            return self.too_deep(self.token().span);
        }
        self.nested += 1;
        let result = parse(self);
        self.nested -= 1;
        result
    }

    fn too_deep<T>(&mut self, span: Span) -> Parsed<T> {
        self.is_over = true;
        self.report(
            Finding::syntax(span, "this is nested too deeply")
                .help(format!("{MOST_NESTED} levels, and {HIGHEST} operators in a row, are the most"))
                .help("name parts of the expression, or move them into a function"),
        )
    }

    /// Makes an expression of its parts, whose heights are given.
    fn expr(&mut self, form: Form, span: Span, heights: impl IntoIterator<Item = usize>) -> Parsed<Expr> {
        let height = 1 + heights.into_iter().max().unwrap_or(0);
        if height > HIGHEST { self.too_deep(span) } else { Ok(Expr { form, span, height }) }
    }

    fn program(&mut self, tree: &mut Tree) -> Parsed<()> {
        let mut last: Option<ProgramBlock> = None;
        while self.token().kind != TokenKind::End {
            let (block, span) = self.block_name()?;
            if let Some(before) = last.filter(|before| *before >= block) {
                let message = if before == block {
                    format!("there are two blocks `{}`", block.name())
                } else {
                    format!("the block `{}` comes before the block `{}`", block.name(), before.name())
                };
                let order = ProgramBlock::ALL.map(ProgramBlock::name).join(", ");
                self.findings.push(Finding::syntax(span, message).help(format!("the order of blocks is {order}")));
            }
            last = Some(block);
            self.need("{", "after the name of a block")?;
            if block == ProgramBlock::Functions {
                while !self.is("}") {
                    match self.definition() {
                        Ok(definition) => tree.functions.push(definition),
                        Err(Stopped) => self.recover()?,
                    }
                }
                self.need("}", "at the end of the functions")?;
            } else {
                let statements = self.statements(|parser| parser.block_statement(block))?;
                tree.blocks.push((block, statements));
            }
        }
        Ok(())
    }

    /// The name of a block, which may be two words.
    fn block_name(&mut self) -> Parsed<(ProgramBlock, Span)> {
        let first = self.token();
        let two = [("transformed", "data"), ("transformed", "parameters"), ("generated", "quantities")];
        if let Some((a, b)) = two.into_iter().find(|(a, b)| self.is(a) && self.is_ahead(1, b)) {
            self.at += 2;
            let block = ProgramBlock::ALL.into_iter().find(|block| block.name() == format!("{a} {b}"));
            return block.map(|block| (block, first.span.to(self.before()))).ok_or(Stopped);
        }
        if let Some(block) = ProgramBlock::ALL.into_iter().find(|block| self.is(block.name())) {
            self.at += 1;
            return Ok((block, first.span));
        }
        let names = ProgramBlock::ALL.map(ProgramBlock::name).join(", ");
        let message = format!("expected a block, found {}", self.found());
        self.report(Finding::syntax(first.span, message).help(format!("the blocks are {names}")))
    }

    /// Statements up to the brace that ends them, which is taken.
    fn statements(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<Stmt>) -> Parsed<Vec<Stmt>> {
        let mut statements = Vec::new();
        while !self.is("}") {
            if self.token().kind == TokenKind::End {
                return self.expected("`}` or a statement");
            }
            match one(self) {
                Ok(statement) => statements.push(statement),
                Err(Stopped) => self.recover()?,
            }
        }
        self.take();
        Ok(statements)
    }

    /// After an error: goes behind the statement that has it, or before the brace that ends the block.
    fn recover(&mut self) -> Parsed<()> {
        if self.is_over || self.findings.len() >= MOST_ERRORS {
            return Err(Stopped);
        }
        let mut braces = 0;
        while self.token().kind != TokenKind::End {
            if self.is("{") {
                braces += 1;
            } else if self.is("}") {
                if braces <= 1 {
                    self.at += braces;
                    return Ok(());
                }
                braces -= 1;
            } else if self.is(";") && braces == 0 {
                self.at += 1;
                return Ok(());
            }
            self.at += 1;
        }
        Err(Stopped)
    }
}
