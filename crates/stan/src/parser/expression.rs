//! Expressions: operators by precedence, then what they join.

use super::{Parsed, Parser, words};
use crate::lexer::TokenKind;
use crate::message::Finding;
use crate::refused;
use crate::source::Span;
use crate::syntax::{Expr, Form, Invocation, Name};
use crate::tree::{BinaryOp, Index, Suffix, UnaryOp};

/// The operators between two operands from the loosest to the tightest, all of them from left to right.
const LEVELS: [&[BinaryOp]; 7] = [
    &[BinaryOp::Or],
    &[BinaryOp::And],
    &[BinaryOp::Equal, BinaryOp::NotEqual],
    &[BinaryOp::Less, BinaryOp::LessOrEqual, BinaryOp::Greater, BinaryOp::GreaterOrEqual],
    &[BinaryOp::Add, BinaryOp::Subtract],
    &[BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Modulo, BinaryOp::ElementMultiply, BinaryOp::ElementDivide],
    &[BinaryOp::IntegerDivide, BinaryOp::LeftDivide],
];

/// The level of the first operators that bounds of types may have: `>` ends the bounds.
const ARITHMETIC: usize = 4;

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            if !parser.take_if("?") {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.need(":", "between the two values of `?`")?;
            let otherwise = parser.expression()?;
            let span = condition.span.to(otherwise.span);
            let heights = [condition.height, then.height, otherwise.height];
            parser.expr(Form::Conditional(Box::new((condition, then, otherwise))), span, heights)
        })
    }

    /// A bound, an offset or a multiplier: comparisons need brackets in it.
    pub(super) fn bound(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.binary(ARITHMETIC))
    }

    fn level_of_operator(&self) -> Option<(usize, BinaryOp)> {
        if self.token().kind != TokenKind::Sign {
            return None;
        }
        let sign = self.word();
        LEVELS
            .iter()
            .enumerate()
            .find_map(|(level, operators)| Some((level, *operators.iter().find(|operator| operator.sign() == sign)?)))
    }

    /// Operands joined by operators of this level and tighter ones.
    fn binary(&mut self, loosest: usize) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = self.level_of_operator().filter(|(level, _)| *level >= loosest) {
            self.take();
            let right = self.deeper(|parser| parser.binary(level + 1))?;
            let (span, heights) = (left.span.to(right.span), [left.height, right.height]);
            left = self.expr(Form::Binary(operator, Box::new((left, right))), span, heights)?;
        }
        Ok(left)
    }

    /// Operators before an operand bind tighter than all but powers.
    fn unary(&mut self) -> Parsed<Expr> {
        let operator = match self.token().kind {
            TokenKind::Sign => match self.word() {
                "-" => UnaryOp::Negate,
                "+" => UnaryOp::Plus,
                "!" => UnaryOp::Not,
                _ => return self.power(),
            },
            _ => return self.power(),
        };
        let start = self.take().span;
        let operand = self.deeper(Self::unary)?;
        let (span, height) = (start.to(operand.span), operand.height);
        self.expr(Form::Unary(operator, Box::new(operand)), span, [height])
    }

    /// Powers, from right to left.
    fn power(&mut self) -> Parsed<Expr> {
        let base = self.postfix()?;
        let operator = if self.is("^") {
            BinaryOp::Power
        } else if self.is(".^") {
            BinaryOp::ElementPower
        } else {
            return Ok(base);
        };
        self.take();
        let exponent = self.deeper(Self::unary)?;
        let (span, heights) = (base.span.to(exponent.span), [base.height, exponent.height]);
        self.expr(Form::Binary(operator, Box::new((base, exponent))), span, heights)
    }

    /// Indices and transposes behind an operand.
    fn postfix(&mut self) -> Parsed<Expr> {
        let mut operand = self.primary()?;
        // Indices follow only an operand that is not transposed.
        let mut is_transposed = false;
        loop {
            let start = operand.span;
            if self.is("'") {
                let span = start.to(self.take().span);
                let height = operand.height;
                operand = self.expr(Form::Unary(UnaryOp::Transpose, Box::new(operand)), span, [height])?;
                is_transposed = true;
            } else if self.is("[") && !is_transposed {
                self.take();
                let (indices, highest) = self.indices()?;
                let span = start.to(self.before());
                let height = operand.height.max(highest);
                operand = self.expr(Form::Index(Box::new(operand), indices), span, [height])?;
            } else if self.is_tuple_slot() && !is_transposed {
                let span = start.to(self.take().span);
                self.findings.push(refused::tuples(span));
                operand = self.expr(Form::Refused, span, [operand.height])?;
            } else {
                return Ok(operand);
            }
        }
    }

    /// Whether `.1` follows, a tuple's first slot.
    fn is_tuple_slot(&self) -> bool {
        let digits = self.word().strip_prefix('.');
        self.token().kind == TokenKind::Real
            && digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Indices behind their opening bracket, the closing one too; and the height of the highest.
    pub(super) fn indices(&mut self) -> Parsed<(Vec<Index<Expr>>, usize)> {
        let (mut indices, mut highest) = (Vec::new(), 0);
        loop {
            let index = if self.is(",") || self.is("]") {
                Index::All
            } else if self.take_if(":") {
                if self.is(",") || self.is("]") { Index::All } else { Index::UpTo(self.expression()?) }
            } else {
                let first = self.expression()?;
                if !self.take_if(":") {
                    Index::Single(first)
                } else if self.is(",") || self.is("]") {
                    Index::From(first)
                } else {
                    Index::Between(first, self.expression()?)
                }
            };
            highest = highest.max(match &index {
                Index::All => 0,
                Index::Single(a) | Index::Multiple(a) | Index::From(a) | Index::UpTo(a) => a.height,
                Index::Between(a, b) => a.height.max(b.height),
            });
            indices.push(index);
            if !self.take_if(",") {
                break;
            }
        }
        self.need("]", "after the indices")?;
        Ok((indices, highest))
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        match token.kind {
            TokenKind::Integer => {
                self.take();
                let digits = self.text(token).replace('_', "");
                let Ok(number) = digits.parse() else {
                    let finding = Finding::syntax(token.span, "this integer is too large");
                    let help = format!("the largest is {}; with `.0` behind it, it is a real", i32::MAX);
                    return self.report(finding.help(help));
                };
                self.expr(Form::Int(number), token.span, [])
            }
            TokenKind::Real => {
                self.take();
                // Rust reads all that the lexer takes for a real.
                let number = self.text(token).replace('_', "").parse().unwrap_or(f64::NAN);
                self.expr(Form::Real(number), token.span, [])
            }
            TokenKind::Imaginary => {
                self.take();
                self.findings.push(refused::complex(token.span));
                self.expr(Form::Refused, token.span, [])
            }
            TokenKind::Word if self.is("target") && self.is_ahead(1, "(") => {
                self.at += 2;
                let end = self.need(")", "after `target(`, which takes nothing")?;
                self.expr(Form::Target, token.span.to(end), [])
            }
            TokenKind::Word if words::is_kept(self.text(token)) => {
                let message = format!("expected an expression, found `{}`, a word of the language", self.text(token));
                self.report(Finding::syntax(token.span, message))
            }
            TokenKind::Word => {
                let name = self.name("a name")?;
                if self.is("(") {
                    let (call, highest) = self.invocation(name)?;
                    let span = token.span.to(self.before());
                    return self.expr(Form::Call(call), span, [highest]);
                }
                self.expr(Form::Name(name.text), token.span, [])
            }
            TokenKind::Sign if self.is("(") => self.brackets(),
            TokenKind::Sign if self.is("{") => {
                self.take();
                let (elements, highest) = self.list("}", "after the elements of an array")?;
                let span = token.span.to(self.before());
                if elements.is_empty() {
                    let finding = Finding::syntax(span, "an array in braces has at least one element");
                    return self.report(finding.help("declare the array with the size 0 and give it no value"));
                }
                self.expr(Form::Array(elements), span, [highest])
            }
            TokenKind::Sign if self.is("[") => {
                self.take();
                let (elements, highest) = self.list("]", "after the elements of a row")?;
                let span = token.span.to(self.before());
                self.expr(Form::Row(elements), span, [highest])
            }
            _ => self.expected("an expression"),
        }
    }

    fn brackets(&mut self) -> Parsed<Expr> {
        let start = self.take().span;
        let inner = self.expression()?;
        if self.take_if(",") {
            let (rest, highest) = self.list(")", "after the parts of a tuple")?;
            let span = start.to(self.before());
            drop(rest);
            self.findings.push(refused::tuples(span));
            return self.expr(Form::Refused, span, [inner.height, highest]);
        }
        let end = self.need(")", "after the expression in brackets")?;
        let height = inner.height;
        self.expr(Form::Paren(Box::new(inner)), start.to(end), [height])
    }

    /// Expressions up to a closing bracket, which is taken; and the height of the highest.
    fn list(&mut self, close: &str, after: &str) -> Parsed<(Vec<Expr>, usize)> {
        let mut elements: Vec<Expr> = Vec::new();
        while !self.is(close) {
            if !elements.is_empty() {
                self.need(",", &format!("or `{close}` {after}"))?;
            }
            elements.push(self.expression()?);
        }
        self.take();
        let highest = elements.iter().map(|element| element.height).max().unwrap_or(0);
        Ok((elements, highest))
    }

    /// A function's arguments, from the opening bracket on; and the height of the highest.
    pub(super) fn invocation(&mut self, name: Name) -> Parsed<(Invocation, usize)> {
        self.need("(", "after the name of a function")?;
        let mut arguments: Vec<Expr> = Vec::new();
        let mut bar = false;
        while !self.is(")") {
            if arguments.len() == 1 && self.take_if("|") {
                bar = true;
                if self.is(")") {
                    break;
                }
            } else if !arguments.is_empty() {
                self.need(",", "or `)` after an argument")?;
            }
            arguments.push(self.expression()?);
        }
        self.need(")", "after the arguments")?;
        // A variate alone has nothing behind which a bar could stand.
        bar |= arguments.len() == 1 && Suffix::of(&name.text).has_bar();
        let highest = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
        Ok((Invocation { name, arguments, bar }, highest))
    }

    pub(super) fn optional_expression(&mut self, ends: &[&str]) -> Parsed<Option<Expr>> {
        if ends.iter().any(|end| self.is(end)) { Ok(None) } else { self.expression().map(Some) }
    }

    /// From a place on to the token that has been taken last.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.before())
    }
}
