//! Declarations: types with sizes and constraints, and functions with types without.

use super::words::{TypeWord, type_word};
use super::{Parsed, Parser};
use crate::message::Finding;
use crate::refused;
use crate::source::Span;
use crate::syntax::Unsized;
use crate::syntax::{Act, ArgumentSyntax, Bounds, Declarations, Definition, Expr, Name, NamedConstraint, Sized, Stmt};
use crate::types::{BaseType, StanType};

/// Dimensions that an array has at the most.
const MOST_DIMENSIONS: usize = 64;

impl Parser<'_> {
    /// Whether a declaration of a variable begins here.
    pub(super) fn is_declaration(&self) -> bool {
        type_word(self.word()).is_some()
    }

    /// A declaration; constraints and values are allowed or not by its place.
    pub(super) fn declaration(&mut self, is_global: bool, with_value: bool) -> Parsed<Stmt> {
        let start = self.token().span;
        let sized = self.sized(is_global)?;
        let mut names = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            if self.is("[") {
                return self.old_array(start, &name);
            }
            let mut value = None;
            if self.is("=") {
                let equals = self.take().span;
                value = Some(self.expression()?);
                if !with_value {
                    let message = format!("`{}` gets its value from outside: it cannot be given one here", name.text);
                    let finding = Finding::syntax(equals, message);
                    self.findings.push(finding.help("values can be given in a transformed block"));
                }
            }
            names.push((name, value));
            if !self.take_if(",") {
                break;
            }
        }
        self.need(";", "after the declaration")?;
        Ok(Stmt { act: Act::Declare(Declarations { sized, names, is_global }), span: self.since(start) })
    }

    /// `real x[N]`, which has left the language.
    fn old_array<T>(&mut self, start: Span, name: &Name) -> Parsed<T> {
        let ty = self.sources.text(start.to(self.before())).trim_end_matches(&name.text).trim_end().to_owned();
        let bracket = self.take().span;
        let (sizes, _) = self.indices()?;
        let span = self.since(bracket);
        let inner = self.sources.text(span).trim_matches(['[', ']']).to_owned();
        drop(sizes);
        let finding = Finding::syntax(span, "the sizes of an array stand before its type");
        self.report(finding.help(format!("write `array[{inner}] {ty} {}`", name.text)))
    }

    /// A type with sizes.
    fn sized(&mut self, with_constraint: bool) -> Parsed<Sized> {
        let mut sizes = Vec::new();
        let start = self.token().span;
        if self.is("array") {
            self.take();
            self.need("[", "after `array`")?;
            sizes = self.sizes()?;
            if self.is("array") {
                let finding = Finding::syntax(self.token().span, "an array of arrays is one array of more dimensions");
                return self.report(finding.help("write all sizes in one pair of brackets: `array[M, N]`"));
            }
        }
        let arrays = sizes.len();
        if arrays > MOST_DIMENSIONS {
            let message = format!("an array has at most {MOST_DIMENSIONS} dimensions, this one has {arrays}");
            return self.report(Finding::syntax(self.since(start), message));
        }
        let token = self.token();
        let Some(word) = type_word(self.word()).filter(|word| *word != TypeWord::Array) else {
            return self.expected("a type");
        };
        self.take();
        let (base, mut constraint, sized_by) = match word {
            TypeWord::Plain(base) => (Some(base), Bounds::None, base.dimensions()),
            TypeWord::Constrained(base, named) => {
                let sized_by = match named {
                    NamedConstraint::CholeskyCorr | NamedConstraint::Corr | NamedConstraint::Cov => 1,
                    _ => base.dimensions(),
                };
                (Some(base), Bounds::Named(named), sized_by)
            }
            TypeWord::Tuple => {
                self.tuple_type(|parser| parser.sized(with_constraint).map(drop))?;
                return Ok(Sized { base: None, sizes: Vec::new(), arrays: 0, constraint: Bounds::None });
            }
            TypeWord::Complex(sized_by) => {
                self.findings.push(refused::complex(token.span));
                (None, Bounds::None, sized_by)
            }
            TypeWord::Array => return self.expected("a type"),
        };
        if self.is("<") {
            let bounds = self.bounds()?;
            match word {
                TypeWord::Plain(BaseType::Int) if matches!(bounds, Bounds::Affine { .. }) => {
                    let finding = Finding::syntax(self.since(token.span), "integers have no offset and no multiplier");
                    self.findings.push(finding);
                }
                TypeWord::Plain(_) => constraint = bounds,
                TypeWord::Complex(_) => {}
                _ => {
                    let message = format!("`{}` is a constraint already: it takes no bounds", self.text(token));
                    self.findings.push(Finding::syntax(self.since(token.span), message));
                }
            }
        }
        if !with_constraint && !matches!(constraint, Bounds::None) {
            let finding = Finding::syntax(self.since(token.span), "a variable inside of a block has no constraint");
            let plain = base.map_or("real", BaseType::name);
            self.findings.push(finding.help(format!("declare a plain `{plain}`, or check its value with `reject`")));
        }
        if sized_by > 0 {
            self.need("[", "after a type that has sizes")?;
            let mut own = self.sizes()?;
            let is_covariance = matches!(constraint, Bounds::Named(NamedConstraint::CholeskyCov));
            let is_square = base == Some(BaseType::Matrix) && (sized_by == 1 || is_covariance && own.len() == 1);
            if own.len() != sized_by && !is_square || is_square && own.len() != 1 {
                let message = format!("`{}` has {sized_by} sizes, found {}", self.text(token), own.len());
                return self.report(Finding::syntax(self.since(token.span), message.replace("1 sizes", "1 size")));
            }
            if is_square {
                own.extend(own.first().cloned());
            }
            sizes.extend(own);
        }
        Ok(Sized { base, sizes, arrays, constraint })
    }

    /// The parts of a tuple's type from its bracket on; it is not supported.
    fn tuple_type(&mut self, mut part: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let start = self.before();
        self.need("(", "after `tuple`")?;
        let known = self.findings.len();
        while !self.is(")") {
            self.deeper(&mut part)?;
            if !self.take_if(",") {
                break;
            }
        }
        self.need(")", "after the parts of a tuple")?;
        // One message for the whole type.
        self.findings.truncate(known);
        self.findings.push(refused::tuples(self.since(start)));
        Ok(())
    }

    /// Sizes behind their opening bracket, the closing one too.
    fn sizes(&mut self) -> Parsed<Vec<Expr>> {
        let mut sizes = Vec::new();
        loop {
            sizes.push(self.expression()?);
            if !self.take_if(",") {
                break;
            }
        }
        self.need("]", "after the sizes")?;
        Ok(sizes)
    }

    /// `<lower=a, upper=b>` or `<offset=a, multiplier=b>`.
    fn bounds(&mut self) -> Parsed<Bounds> {
        let start = self.take().span;
        let mut given: Vec<(&str, Expr)> = Vec::new();
        loop {
            let word = ["lower", "upper", "offset", "multiplier"].into_iter().find(|word| self.is(word));
            let Some(word) = word else { return self.expected("`lower`, `upper`, `offset` or `multiplier`") };
            self.take();
            self.need("=", &format!("after `{word}`"))?;
            given.push((word, self.bound()?));
            if !self.take_if(",") {
                break;
            }
        }
        self.need(">", "after the bounds")?;
        let mut take = |word: &str| Some(given.swap_remove(given.iter().position(|(name, _)| *name == word)?).1);
        let (lower, upper, offset, multiplier) = (take("lower"), take("upper"), take("offset"), take("multiplier"));
        if !given.is_empty() {
            return self.report(Finding::syntax(self.since(start), "each bound is given once"));
        }
        match (lower.is_some() || upper.is_some(), offset.is_some() || multiplier.is_some()) {
            (true, true) => {
                let finding =
                    Finding::syntax(self.since(start), "bounds and an offset or a multiplier exclude each other");
                self.report(finding)
            }
            (true, false) => Ok(Bounds::Range { lower, upper }),
            _ => Ok(Bounds::Affine { offset, multiplier }),
        }
    }

    /// A function, or its declaration alone.
    pub(super) fn definition(&mut self) -> Parsed<Definition> {
        let result =
            if self.take_if("void") { None } else { Some(self.unsized_type("the type that a function gives")?) };
        let name = self.name("the name of a function")?;
        self.need("(", "after the name of a function")?;
        let mut arguments: Vec<ArgumentSyntax> = Vec::new();
        while !self.is(")") {
            if !arguments.is_empty() {
                self.need(",", "or `)` after an argument")?;
            }
            let is_data = self.take_if("data");
            let ty = self.unsized_type("the type of an argument")?;
            arguments.push(ArgumentSyntax { name: self.name("the name of an argument")?, ty, is_data });
        }
        self.need(")", "after the arguments")?;
        if self.take_if(";") {
            return Ok(Definition { name, result, arguments, body: None });
        }
        self.need("{", "or `;` after the head of a function")?;
        let body = self.statements(|parser| parser.deeper(Self::statement))?;
        Ok(Definition { name, result, arguments, body: Some(body) })
    }

    fn unsized_type(&mut self, what: &str) -> Parsed<Unsized> {
        let mut arrays = 0;
        let start = self.token().span;
        if self.take_if("array") {
            self.need("[", "after `array`")?;
            arrays = 1;
            while self.take_if(",") {
                arrays += 1;
            }
            self.need("]", "after the commas of an array: an argument has no sizes")?;
        }
        let token = self.token();
        let Some(word) = type_word(self.word()) else { return self.expected(what) };
        self.take();
        let base = match word {
            TypeWord::Plain(base) => base,
            TypeWord::Constrained(base, _) => {
                let finding = Finding::syntax(token.span, "arguments and results of functions have no constraints");
                return self.report(finding.help(format!("write `{}`", base.name())));
            }
            TypeWord::Tuple => {
                self.tuple_type(|parser| parser.unsized_type("a type").map(drop))?;
                return Ok(Unsized(None));
            }
            TypeWord::Complex(_) => {
                self.findings.push(refused::complex(token.span));
                return Ok(Unsized(None));
            }
            TypeWord::Array => {
                let finding = Finding::syntax(token.span, "an array of arrays is one array of more dimensions");
                return self.report(finding.help("write `array[,]`"));
            }
        };
        if self.is("<") {
            return self
                .report(Finding::syntax(self.token().span, "arguments and results of functions have no bounds"));
        }
        if self.is("[") {
            let bracket = self.take().span;
            let mut commas = String::new();
            while self.take_if(",") {
                commas.push(',');
            }
            self.need("]", "after the commas of an array")?;
            let finding = Finding::syntax(self.since(bracket), "the brackets of an array stand before its type");
            return self.report(finding.help(format!("write `array[{commas}] {}`", base.name())));
        }
        if arrays > MOST_DIMENSIONS {
            let message = format!("an array has at most {MOST_DIMENSIONS} dimensions, this one has {arrays}");
            return self.report(Finding::syntax(self.since(start), message));
        }
        // The limit fits into a byte.
        let arrays = u8::try_from(arrays).unwrap_or(u8::MAX);
        Ok(Unsized(Some(StanType { base, arrays })))
    }
}
