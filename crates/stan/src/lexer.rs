//! Text to tokens, included files among them.

use crate::include::Includes;
use crate::message::Finding;
use crate::source::{Sources, Span};

/// What a token is; its text is found at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a word of the language.
    Word,
    /// A whole number.
    Integer,
    /// A number with a point or an exponent.
    Real,
    /// A number with `i` at its end.
    Imaginary,
    /// Text in quotation marks, these included.
    Text,
    /// An operator or a bracket.
    Sign,
    /// The end of the program.
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// Operators and brackets, a longer one before its own beginnings.
const SIGNS: [&str; 40] = [
    "%/%", ".*=", "./=", "||", "&&", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", ".*", "./", ".^", "{", "}", "(",
    ")", "[", "]", "<", ">", ",", ";", "|", "?", ":", "!", "-", "+", "^", "'", "*", "/", "%", "\\", "~", "=",
];

/// What some editors write at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// All tokens of a program, the last one [`TokenKind::End`].
pub(crate) fn tokens(sources: &mut Sources, includes: &mut Includes<'_>) -> Result<Vec<Token>, Finding> {
    let mut tokens = Vec::new();
    // Files that are being read, each with how far it is.
    let mut open = vec![(0, 0)];
    while let Some((file, at)) = open.pop() {
        let mut lexer = Lexer { text: &sources.files()[file as usize].text, file, at };
        loop {
            match lexer.next()? {
                Some(Piece::Token(token)) => tokens.push(token),
                Some(Piece::Include { name, span }) => {
                    let at = lexer.at;
                    let name = name.to_owned();
                    open.push((file, at));
                    if let Some(file) = includes.open(sources, &name, span, file)? {
                        open.push((file, 0));
                    }
                    break;
                }
                None => break,
            }
        }
    }
    let end = sources.files()[0].text.len() as u32;
    tokens.push(Token { kind: TokenKind::End, span: Span { file: 0, start: end, end } });
    Ok(tokens)
}

enum Piece<'a> {
    Token(Token),
    Include { name: &'a str, span: Span },
}

struct Lexer<'a> {
    text: &'a str,
    file: u32,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<Piece<'a>>, Finding> {
        self.skip_blanks()?;
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let kind = if first.is_ascii_alphabetic() {
            self.at += rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            TokenKind::Word
        } else if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            self.number()
        } else if first == '"' {
            let Some(length) = rest[1..].find(['"', '\n', '\r']).filter(|at| rest[1 + at..].starts_with('"')) else {
                return Err(Finding::syntax(self.span(start, start + 1), "a text in quotation marks ends on its line")
                    .help("write the closing `\"`"));
            };
            self.at += length + 2;
            TokenKind::Text
        } else if first == '#' {
            return self.include().map(Some);
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            TokenKind::Sign
        } else {
            let span = self.span(start, start + first.len_utf8());
            return Err(Finding::syntax(span, format!("the character {first:?} is not part of the language")));
        };
        Ok(Some(Piece::Token(Token { kind, span: self.span(start, self.at) })))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    /// Goes over white space and comments.
    fn skip_blanks(&mut self) -> Result<(), Finding> {
        loop {
            let rest = self.rest();
            let start = self.at;
            if rest.starts_with([' ', '\t', '\u{c}', '\n', '\r']) {
                self.at += 1;
            } else if start == 0 && rest.starts_with(BYTE_ORDER_MARK) {
                self.at += BYTE_ORDER_MARK.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if let Some(comment) = rest.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    return Err(Finding::syntax(self.span(start, start + 2), "this comment has no end")
                        .help("write `*/` where it ends"));
                };
                self.at += length + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn digits(&mut self) {
        // Digits may be grouped by single underscores.
        let rest = self.rest().as_bytes();
        let mut length = 0;
        while rest.get(length).is_some_and(u8::is_ascii_digit)
            || length > 0
                && rest.get(length) == Some(&b'_')
                && rest[length - 1] != b'_'
                && rest.get(length + 1).is_some_and(u8::is_ascii_digit)
        {
            length += 1;
        }
        self.at += length;
    }

    fn number(&mut self) -> TokenKind {
        let mut kind = TokenKind::Integer;
        self.digits();
        if self.rest().starts_with('.') {
            kind = TokenKind::Real;
            self.at += 1;
            self.digits();
        }
        let rest = self.rest();
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if signed.starts_with(|c: char| c.is_ascii_digit()) {
                kind = TokenKind::Real;
                self.at += rest.len() - signed.len();
                self.digits();
            }
        }
        let rest = self.rest();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if rest.starts_with('i') && !rest[1..].starts_with(is_word) {
            self.at += 1;
            kind = TokenKind::Imaginary;
        }
        kind
    }

    /// `#include name`, the name bare, in quotation marks or in angles.
    fn include(&mut self) -> Result<Piece<'a>, Finding> {
        let start = self.at;
        let rest = self.rest();
        let blank = |c: char| c == ' ' || c == '\t' || c == '\n' || c == '\r';
        let Some(after) = rest.strip_prefix("#include").filter(|after| after.starts_with(blank)) else {
            return Err(Finding::syntax(self.span(start, start + 1), "`#` begins no comment")
                .help("write `//` before a comment; comments with `#` have left the language"));
        };
        let target = after.trim_start_matches(blank);
        let before = rest.len() - target.len();
        let quoted = |open: char, close: char| {
            let inner = target.strip_prefix(open)?;
            let length = inner.find([close, '\n', '\r']).filter(|at| inner[*at..].starts_with(close))?;
            Some((&inner[..length], length + 2))
        };
        let bare = target.find(blank).unwrap_or(target.len());
        let (name, length) = quoted('"', '"').or_else(|| quoted('<', '>')).unwrap_or_else(|| (&target[..bare], bare));
        self.at += before + length;
        Ok(Piece::Include { name, span: self.span(start, self.at) })
    }
}
