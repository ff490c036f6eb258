//! Statements, by the word that they begin with.

use super::{Parsed, Parser, words};
use crate::lexer::TokenKind;
use crate::message::Finding;
use crate::suggest::nearest;
use crate::syntax::{Act, Expr, Form, Item, Sampling, Stmt};
use crate::tree::{BinaryOp, ProgramBlock, Suffix, UnaryOp};

impl Parser<'_> {
    /// A statement at the top of a block.
    pub(super) fn block_statement(&mut self, block: ProgramBlock) -> Parsed<Stmt> {
        let start = self.token().span;
        let is_global = block != ProgramBlock::Model;
        if matches!(block, ProgramBlock::Data | ProgramBlock::Parameters) {
            if self.take_if(";") {
                return Ok(Stmt { act: Act::Nothing, span: start });
            }
            if self.is_declaration() {
                return self.declaration(true, false);
            }
            let message = format!("the block `{}` has declarations only, found {}", block.name(), self.found());
            let finding = Finding::syntax(start, message).label("expected a type");
            return self.report(if self.ahead(1).kind == TokenKind::Word {
                with_types(finding, self.word())
            } else {
                finding
            });
        }
        if self.is_declaration() { self.declaration(is_global, true) } else { self.deeper(Self::statement) }
    }

    /// A statement, or a declaration inside of a block.
    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        let start = self.token().span;
        if self.token().kind == TokenKind::Word {
            if self.is_declaration() {
                return self.declaration(false, true);
            }
            if let Some(act) = self.worded()? {
                return Ok(Stmt { act, span: self.since(start) });
            }
        }
        let act = if self.take_if(";") {
            Act::Nothing
        } else if self.is("{") && !self.is_array_variate() {
            self.take();
            Act::Block(self.inner_statements()?)
        } else {
            self.simple()?
        };
        Ok(Stmt { act, span: self.since(start) })
    }

    /// Whether the brace here begins an array with a distribution, `{a, b} ~ ...`, and no block.
    fn is_array_variate(&self) -> bool {
        let mut braces = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match self.text(*token) {
                "{" => braces += 1,
                "}" if braces == 1 => return self.tokens.get(at + 1).is_some_and(|next| self.text(*next) == "~"),
                "}" => braces -= 1,
                // Statements end so, and elements of arrays do not.
                ";" => return false,
                _ => {}
            }
        }
        false
    }

    fn inner_statements(&mut self) -> Parsed<Vec<Stmt>> {
        self.statements(|parser| parser.deeper(Self::statement))
    }

    /// A statement that begins with a word of the language, if one does.
    fn worded(&mut self) -> Parsed<Option<Act>> {
        let act = match self.word() {
            "if" => return self.condition().map(Some),
            "while" => {
                self.take();
                self.need("(", "after `while`")?;
                let condition = self.expression()?;
                self.need(")", "after the condition")?;
                return Ok(Some(Act::While(condition, Box::new(self.deeper(Self::statement)?))));
            }
            "for" => return self.counted().map(Some),
            "profile" => {
                self.take();
                self.need("(", "after `profile`")?;
                let name = self.quoted()?;
                self.need(")", "after the name of a profile")?;
                self.need("{", "after the head of a profile")?;
                return Ok(Some(Act::Profile(name, self.inner_statements()?)));
            }
            "target" if self.is_ahead(1, "+=") => {
                self.at += 2;
                Act::Target(self.expression()?)
            }
            "jacobian" if self.is_ahead(1, "+=") => {
                self.at += 2;
                Act::Jacobian(self.expression()?)
            }
            "break" => {
                self.take();
                Act::Break
            }
            "continue" => {
                self.take();
                Act::Continue
            }
            "return" => {
                self.take();
                Act::Return(self.optional_expression(&[";"])?)
            }
            "print" => Act::Print(self.items()?),
            "reject" => Act::Reject(self.items()?),
            "fatal_error" => Act::FatalError(self.items()?),
            "else" => {
                let finding = Finding::syntax(self.token().span, "`else` has no `if` before it");
                return self.report(finding.help("several statements after `if (...)` need braces"));
            }
            "target" => {
                let message = "`target` can only be added to";
                return self.report(Finding::syntax(self.token().span, message).help("write `target += ...;`"));
            }
            _ => return Ok(None),
        };
        self.need(";", "after the statement")?;
        Ok(Some(act))
    }

    fn condition(&mut self) -> Parsed<Act> {
        self.take();
        self.need("(", "after `if`")?;
        let condition = self.expression()?;
        self.need(")", "after the condition")?;
        let then = self.deeper(Self::statement)?;
        let otherwise = if self.take_if("else") { Some(Box::new(self.deeper(Self::statement)?)) } else { None };
        Ok(Act::If(condition, Box::new(then), otherwise))
    }

    fn counted(&mut self) -> Parsed<Act> {
        self.take();
        self.need("(", "after `for`")?;
        let name = self.name("the variable of the loop")?;
        self.need("in", "after the variable of a loop")?;
        let first = self.expression()?;
        let last = if self.take_if(":") { Some(self.expression()?) } else { None };
        self.need(")", "after what the loop runs over")?;
        let body = Box::new(self.deeper(Self::statement)?);
        Ok(match last {
            Some(last) => Act::For(name, Box::new((first, last)), body),
            None => Act::ForEach(name, first, body),
        })
    }

    fn quoted(&mut self) -> Parsed<String> {
        if self.token().kind != TokenKind::Text {
            return self.expected("a text in quotation marks");
        }
        let token = self.take();
        Ok(self.text(token).trim_matches('"').to_owned())
    }

    /// What is printed, in brackets.
    fn items(&mut self) -> Parsed<Vec<Item>> {
        self.take();
        self.need("(", "before what is printed")?;
        let mut items = Vec::new();
        loop {
            let is_text = self.token().kind == TokenKind::Text;
            items.push(if is_text { Item::Text(self.quoted()?) } else { Item::Value(self.expression()?) });
            if !self.take_if(",") {
                break;
            }
        }
        self.need(")", "after what is printed")?;
        Ok(items)
    }

    /// A statement that begins with an expression: an assignment, a distribution, a call.
    fn simple(&mut self) -> Parsed<Act> {
        let left = self.expression()?;
        if let Some(op) = self.assignment() {
            if !is_lvalue(&left) {
                let finding = Finding::syntax(left.span, "nothing can be assigned to this");
                return self.report(finding.help("a variable or elements of it, `x[1]`, can stand before `=`"));
            }
            self.take();
            let value = self.expression()?;
            self.need(";", "after the assignment")?;
            return Ok(Act::Assign(left, op, value));
        }
        if self.take_if("~") {
            return self.sampling(left);
        }
        match left.form {
            Form::Call(call) if !call.bar || call.arguments.len() == 1 => {
                self.need(";", "after the statement")?;
                Ok(Act::Call(call))
            }
            _ => self.no_statement(&left),
        }
    }

    /// The operator of an assignment, if one stands here; a plain `=` has none.
    fn assignment(&self) -> Option<Option<BinaryOp>> {
        if self.token().kind != TokenKind::Sign {
            return None;
        }
        Some(match self.word() {
            "=" => None,
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Subtract),
            "*=" => Some(BinaryOp::Multiply),
            "/=" => Some(BinaryOp::Divide),
            ".*=" => Some(BinaryOp::ElementMultiply),
            "./=" => Some(BinaryOp::ElementDivide),
            _ => return None,
        })
    }

    fn sampling(&mut self, variate: Expr) -> Parsed<Act> {
        let distribution = self.name("a distribution")?;
        let (call, _) = self.invocation(distribution)?;
        if call.bar && !Suffix::of(&call.name.text).has_bar() {
            let finding = Finding::syntax(self.since(call.name.span), "a distribution after `~` takes no bar");
            return self.report(finding.help("the variate stands before `~`, and commas part the arguments"));
        }
        let (mut lower, mut upper, mut truncation) = (None, None, None);
        if self.is("T") && self.is_ahead(1, "[") {
            let start = self.take().span;
            self.take();
            lower = self.optional_expression(&[","])?;
            self.need(",", "between the bounds of a truncation")?;
            upper = self.optional_expression(&["]"])?;
            self.need("]", "after the bounds of a truncation")?;
            truncation = Some(self.since(start));
        }
        self.need(";", "after the distribution")?;
        let (distribution, arguments) = (call.name, call.arguments);
        Ok(Act::Tilde(Box::new(Sampling { variate, distribution, arguments, lower, upper, truncation })))
    }

    /// An expression stands where a statement must.
    fn no_statement<T>(&mut self, left: &Expr) -> Parsed<T> {
        if let Some(name) = old_assignment(left) {
            let finding = Finding::syntax(left.span, "`<-` has left the language");
            return self.report(finding.help(format!("write `{name} = ...;`")));
        }
        let after = match left.form {
            Form::Name(_) | Form::Index(..) => "`=`, `~` or another part of a statement",
            _ => "`~` or another part of a statement",
        };
        if let Form::Name(name) = &left.form
            && self.token().kind == TokenKind::Word
        {
            let message = format!("expected a statement, found `{name}`, which is no type");
            let finding = with_types(Finding::syntax(left.span, message), name);
            return self.report(finding);
        }
        self.expected(after)
    }
}

/// Names the types, and the one that is near to `name`.
fn with_types(finding: Finding, name: &str) -> Finding {
    finding.help_if(nearest(name, words::TYPES)).help(
        "types are int, real, vector, row_vector, matrix, their constrained kinds such as simplex, and array[...] of them",
    )
}

/// Whether it is a variable or elements of one.
fn is_lvalue(expr: &Expr) -> bool {
    match &expr.form {
        Form::Name(_) | Form::Refused => true,
        Form::Index(of, _) => is_lvalue(of),
        _ => false,
    }
}

/// `x <- 1` is read as `x < -1`: the name of x.
fn old_assignment(expr: &Expr) -> Option<&str> {
    let Form::Binary(BinaryOp::Less, sides) = &expr.form else { return None };
    let mut leftmost = &sides.1;
    while let Form::Binary(_, inner) = &leftmost.form {
        leftmost = &inner.0;
    }
    let Form::Unary(UnaryOp::Negate, _) = leftmost.form else { return None };
    let mut place = &sides.0;
    while let Form::Index(of, _) = &place.form {
        place = of;
    }
    match &place.form {
        Form::Name(name) => Some(name),
        _ => None,
    }
}
