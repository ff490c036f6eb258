//! The places of a file that faults change, found by reading it as the compiler does.
//!
//! Not found are places where nothing can be asked when the program runs: constants, types, and functions that return
//! an `impl Trait` other than an iterator, where a value of another type would be a second one.

use super::list::{Genre, ListedFault, Position};
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Member, ReturnType, Signature};

/// A fault at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// The fault's number.
    pub(super) fault: usize,
    /// What stands there with it.
    pub(super) text: String,
}

/// What a place is, with the places of its pieces, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mutants) enum SiteKind {
    /// `left operator right`, both evaluated once, in this order.
    Arithmetic { left: Range<usize>, operator: String, right: Range<usize> },
    /// The same, and both are only looked at.
    Comparison { left: Range<usize>, operator: String, right: Range<usize> },
    /// `&&` or `||`: the right side is evaluated only when the left one does not decide.
    Logic { left: Range<usize>, and: bool, right: Range<usize> },
    /// `left operator right` where the operator ends with `=`.
    Assignment { left: Range<usize>, operator: String, right: Range<usize> },
    /// `-x` or `!x`.
    Unary { operator: String, operand: Range<usize> },
    /// A guard of a match arm.
    Guard,
    /// The end of the pattern of an arm without a guard, where one can be put.
    ArmWithoutGuard,
    /// The guard of an arm that faults leave out.
    ArmWithGuard,
    /// A field of a struct whose `..base` is a place.
    Field(FieldSite),
    /// A struct whose `..base` is a value that is made; the text of each fault is the name of the field that it leaves
    /// to the base.
    Struct(StructSite),
    /// The begin of a function's block.
    Entry,
    /// What is in the block of a function that returns `impl Iterator`: its value and that of a fault are of two types.
    IteratorBody,
    /// A value; with `before` the name of its field, where a variable of that name is meant.
    Value { before: String },
    /// A value of which something else is made: `.ceil()` instead of `.floor()`.
    Turned { receiver: Range<usize>, rest: Range<usize> },
}

/// A field of a struct whose `..base` is a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mutants) struct FieldSite {
    pub(super) field: Field,
    pub(super) base: String,
}

/// A struct whose `..base` is made there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mutants) struct StructSite {
    /// The struct's path.
    pub(super) path: String,
    pub(super) fields: Vec<Field>,
    pub(super) base: Range<usize>,
}

/// A field of a struct that is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::mutants) struct Field {
    pub(super) name: String,
    /// Where its value is; none where a variable of its name is meant.
    pub(super) value: Option<Range<usize>>,
}

/// One place of a file and the faults there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// What is replaced, in bytes; empty where something is put in.
    pub(super) range: Range<usize>,
    pub(super) kind: SiteKind,
    /// Never empty.
    pub(super) alternatives: Vec<Alternative>,
}

/// What was found of the faults of a file. Faults without a place are in neither list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Each before those inside it.
    pub(super) sites: Vec<Site>,
    /// Faults that are no program: `||` beside a `let`.
    pub(super) no_program: Vec<usize>,
}

/// Returns the places of the faults in `text`, which is that of the file with this `name`. Of two kinds of places in one
/// range only the one that cargo-mutants' faults are at, or the first, is there.
///
/// # Errors
/// When the text is no Rust.
pub(super) fn find(name: &str, text: &str, faults: &[(usize, &ListedFault)]) -> Result<Found> {
    let file = syn::parse_file(text).context("the file cannot be read as Rust")?;
    let mut known: HashMap<(Position, Genre), Vec<Alternative>> = HashMap::new();
    for &(fault, listed) in faults.iter().filter(|(_, listed)| listed.places.is_empty()) {
        let alternative = Alternative { fault, text: listed.replacement.clone() };
        known.entry((listed.span.start, listed.genre)).or_default().push(alternative);
    }
    let mut finder = Finder { text, known, sites: Vec::new(), no_program: Vec::new() };
    finder.visit_file(&file);
    for &(fault, listed) in faults {
        for place in listed.places.iter().filter(|place| place.file == name) {
            let alternative = Alternative { fault, text: place.text.clone() };
            match finder.sites.iter_mut().find(|site| site.range == place.range) {
                Some(site) if site.kind == place.kind => site.alternatives.push(alternative),
                Some(_) => {}
                None => finder.add(place.range.clone(), place.kind.clone(), vec![alternative]),
            }
        }
    }
    let mut sites: Vec<(usize, Site)> = finder.sites.into_iter().enumerate().collect();
    // Of sites with one range the later was found around the earlier: pieces are visited first.
    sites.sort_by_key(|(order, site)| {
        (site.range.start, !site.range.is_empty(), Reverse(site.range.end), Reverse(*order))
    });
    Ok(Found { sites: sites.into_iter().map(|(_, site)| site).collect(), no_program: finder.no_program })
}

struct Finder<'a> {
    text: &'a str,
    known: HashMap<(Position, Genre), Vec<Alternative>>,
    sites: Vec<Site>,
    no_program: Vec<usize>,
}

impl Finder<'_> {
    /// Takes the faults of a genre that begin where `item` begins.
    fn faults_at(&mut self, item: &impl Spanned, genre: Genre) -> Option<Vec<Alternative>> {
        let start = item.span().start();
        // The one counts columns from 0, the other from 1.
        self.known.remove(&(Position { line: start.line, column: start.column + 1 }, genre))
    }

    fn text_of(&self, item: &impl Spanned) -> String {
        self.text[range(item)].to_owned()
    }

    fn add(&mut self, range: Range<usize>, kind: SiteKind, alternatives: Vec<Alternative>) {
        self.sites.push(Site { range, kind, alternatives });
    }

    fn binary(&mut self, binary: &syn::ExprBinary) {
        let logic = matches!(binary.op, BinOp::And(_) | BinOp::Or(_));
        if logic && (has_let(&binary.left) || has_let(&binary.right)) {
            let faults = self.faults_at(&binary.op, Genre::BinaryOperator).unwrap_or_default();
            self.no_program.extend(faults.iter().filter(|other| other.text == "||").map(|other| other.fault));
            return;
        }
        let Some(alternatives) = self.faults_at(&binary.op, Genre::BinaryOperator) else { return };
        let (left, right) = (range(&binary.left), range(&binary.right));
        let whole = left.start..right.end;
        let operator = self.text_of(&binary.op);
        let kind = match binary.op {
            BinOp::And(_) | BinOp::Or(_) => {
                // The switch turns one into the other: there is no third.
                let [Alternative { text, .. }] = &*alternatives else { return };
                if !matches!(&**text, "&&" | "||") {
                    return;
                }
                SiteKind::Logic { left, and: operator == "&&", right }
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                SiteKind::Comparison { left, operator, right }
            }
            _ if operator.ends_with('=') => SiteKind::Assignment { left, operator, right },
            _ => SiteKind::Arithmetic { left, operator, right },
        };
        self.add(whole, kind, alternatives);
    }

    fn unary(&mut self, unary: &syn::ExprUnary) {
        let Some(alternatives) = self.faults_at(&unary.op, Genre::UnaryOperator) else { return };
        let (sign, operand) = (range(&unary.op), range(&unary.expr));
        let whole = sign.start..operand.end;
        self.add(whole, SiteKind::Unary { operator: self.text[sign].to_owned(), operand }, alternatives);
    }

    fn fields(&mut self, made: &syn::ExprStruct) {
        let Some(base) = &made.rest else { return };
        let base_is_place = matches!(**base, Expr::Path(_) | Expr::Field(_));
        let (mut fields, mut left_to_base) = (Vec::new(), Vec::new());
        for written in &made.fields {
            let name = match &written.member {
                Member::Named(name) => name.to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            let alternatives = self.faults_at(written, Genre::StructField).unwrap_or_default();
            let field = Field { name, value: written.colon_token.as_ref().map(|_| range(&written.expr)) };
            if base_is_place && !alternatives.is_empty() {
                let site = FieldSite { field, base: self.text_of(base) };
                self.add(range(written), SiteKind::Field(site), alternatives);
                continue;
            }
            left_to_base
                .extend(alternatives.into_iter().map(|other| Alternative { text: field.name.clone(), ..other }));
            fields.push(field);
        }
        if !left_to_base.is_empty() {
            let site = StructSite { path: self.text_of(&made.path), fields, base: range(base) };
            self.add(range(made), SiteKind::Struct(site), left_to_base);
        }
    }

    fn function(&mut self, signature: &Signature, block: &syn::Block) {
        let returned = match &signature.output {
            ReturnType::Type(_, returned) => &self.text[range(returned)],
            ReturnType::Default => "",
        };
        let iterator = returned.starts_with("impl ") && returned.contains("Iterator<");
        if returned.contains("impl ") && !iterator {
            return;
        }
        let Some(first) = block.stmts.first() else { return };
        let Some(alternatives) = self.faults_at(first, Genre::FnValue) else { return };
        let begin = block.brace_token.span.open().byte_range().end;
        if iterator {
            let end = block.brace_token.span.close().byte_range().start;
            self.add(begin..end, SiteKind::IteratorBody, alternatives);
        } else {
            self.add(begin..begin, SiteKind::Entry, alternatives);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    // What is evaluated when the program is compiled.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_expr_repeat(&mut self, repeated: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeated.expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.sig.constness.is_none() {
            self.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        visit::visit_expr(self, expression);
        match expression {
            Expr::Binary(binary) => self.binary(binary),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Struct(made) => self.fields(made),
            _ => {}
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        visit::visit_arm(self, arm);
        let guard = arm.guard.as_ref().map(|(_, guard)| guard);
        if guard.is_some_and(|guard| has_let(guard)) {
            return;
        }
        if let Some(guard) = guard
            && let Some(alternatives) = self.faults_at(guard, Genre::MatchArmGuard)
        {
            self.add(range(guard), SiteKind::Guard, alternatives);
        }
        let Some(alternatives) = self.faults_at(arm, Genre::MatchArm) else { return };
        match guard {
            Some(guard) => self.add(range(guard), SiteKind::ArmWithGuard, alternatives),
            None => {
                let end = range(&arm.pat).end;
                self.add(end..end, SiteKind::ArmWithoutGuard, alternatives);
            }
        }
    }
}

fn range(item: &impl Spanned) -> Range<usize> {
    item.span().byte_range()
}

/// Whether the condition takes a value apart: such a one is no expression of its own.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}
