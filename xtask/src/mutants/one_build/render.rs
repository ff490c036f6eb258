//! The text of a file with all of its faults in it, each behind the question whether it is on.

use super::marks;
use super::sites::{Alternative, Field, FieldSite, Site, SiteKind};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

/// Returns `text` with the faults of `sites`, in the order that [`find`](super::sites::find) has them, but those in
/// `without`.
pub(super) fn render(text: &str, sites: &[Site], without: &BTreeSet<usize>) -> String {
    Renderer { text, without }.range(0..text.len(), sites)
}

struct Renderer<'a> {
    text: &'a str,
    without: &'a BTreeSet<usize>,
}

impl Renderer<'_> {
    /// Returns a piece of the text; all of `sites` are in it.
    fn range(&self, range: Range<usize>, sites: &[Site]) -> String {
        let mut written = String::new();
        let (mut at, mut rest) = (range.start, sites);
        while let Some((site, after)) = rest.split_first() {
            let inside = after.iter().take_while(|other| other.range.start < site.range.end).count();
            written += &self.text[at..site.range.start];
            written += &self.site(site, &after[..inside]);
            (at, rest) = (site.range.end, &after[inside..]);
        }
        written + &self.text[at..range.end]
    }

    fn site(&self, site: &Site, inner: &[Site]) -> String {
        let on: Vec<&Alternative> =
            site.alternatives.iter().filter(|alternative| !self.without.contains(&alternative.fault)).collect();
        let Some(first) = on.first() else { return self.range(site.range.clone(), inner) };
        let part = |range: &Range<usize>| self.part(range, inner);
        let value = |field: &Field| field.value.as_ref().map_or_else(|| field.name.clone(), part);
        // Operands are evaluated before the question, once; their names have a number that no other site has.
        let name = format!("__{}", site.alternatives[0].fault);
        let written = match &site.kind {
            SiteKind::Arithmetic { left, operator, right } => {
                let chosen = choice(&on, |other| format!("{name}l {other} {name}r"), operator);
                format!("(match ({}, {}) {{ ({name}l, {name}r) => {chosen} }})", part(left), part(right))
            }
            SiteKind::Comparison { left, operator, right } => {
                let chosen = choice(&on, |other| format!("*{name}l {other} *{name}r"), operator);
                format!("(match (&({}), &({})) {{ ({name}l, {name}r) => {chosen} }})", part(left), part(right))
            }
            SiteKind::Assignment { left, operator, right } => {
                let chosen = choice(&on, |other| format!("*{name}l {other} {name}r"), operator);
                // Of numbers the right side is evaluated first.
                let left = format!("let {name}l = &mut ({});", part(left));
                format!("(match ({}) {{ {name}r => {{ {left} {chosen} }} }})", part(right))
            }
            SiteKind::Unary { operator, operand } => {
                let chosen = choice(&on, |other| format!("{other}{name}"), operator);
                format!("(match ({}) {{ {name} => {chosen} }})", part(operand))
            }
            SiteKind::Logic { left, and, right } => logic(first.fault, *and, &part(left), &part(right)),
            SiteKind::Guard => format!("({})", choice_of(&on, str::to_owned, &part(&site.range))),
            SiteKind::ArmWithoutGuard => format!(" if !{}", asked(first.fault)),
            SiteKind::ArmWithGuard => format!("!{} && ({})", asked(first.fault), part(&site.range)),
            SiteKind::Field(FieldSite { field, base }) => {
                let of_base = format!("({base}).{}", field.name);
                format!("{}: ({})", field.name, choice_of(&on, |_| of_base.clone(), &value(field)))
            }
            SiteKind::Struct(made) => {
                let fields = made.fields.iter().map(|field| {
                    let of_field: Vec<&Alternative> = on.iter().copied().filter(|one| one.text == field.name).collect();
                    let chosen = choice_of(&of_field, |of_base| format!("{name}.{of_base}"), &value(field));
                    format!("{}: ({chosen}), ", field.name)
                });
                // The base is made before the fields, once.
                let fields: String = fields.collect();
                format!("(match ({}) {{ {name} => {} {{ {fields}..{name} }} }})", part(&made.base), made.path)
            }
            SiteKind::Entry => entry(&on),
            SiteKind::Value { before } => {
                format!("{before}({})", choice_of(&on, str::to_owned, &part(&site.range)))
            }
            SiteKind::Turned { receiver, rest } => {
                let chosen = choice_of(&on, |other| format!("{name}{other}"), &format!("{name}{}", part(rest)));
                format!("(match ({}) {{ {name} => {chosen} }})", part(receiver))
            }
            SiteKind::IteratorBody => iterator(&on, &part(&site.range)),
        };
        marks::site(on.iter().map(|alternative| alternative.fault), &written)
    }

    /// Returns a piece of a site; of the sites in that one, `inner`, some are in it.
    fn part(&self, range: &Range<usize>, inner: &[Site]) -> String {
        let within = |site: &&Site| range.start <= site.range.start && site.range.end <= range.end;
        // They are in order, so that those within stand together.
        let first = inner.iter().take_while(|site| !within(site)).count();
        let count = inner[first..].iter().take_while(within).count();
        self.range(range.clone(), &inner[first..first + count])
    }
}

/// Returns the question whether a fault is on.
fn asked(fault: usize) -> String {
    format!("::fault_switch::on({fault})")
}

/// Returns the expression that is `with` the text of the fault that is on, or with `usual`.
fn choice(on: &[&Alternative], with: impl Fn(&str) -> String, usual: &str) -> String {
    choice_of(on, &with, &with(usual))
}

/// Returns the expression that is `with` the text of the fault that is on, or `without`.
fn choice_of(on: &[&Alternative], with: impl Fn(&str) -> String, without: &str) -> String {
    let mut written = String::new();
    for Alternative { fault, text } in on {
        // Writing into a string does not fail.
        let _ = write!(written, "if {} {{{}}} else ", asked(*fault), marks::branch(*fault, &with(text)));
    }
    written + &format!("{{ {without} }}")
}

/// `a && b` is `a`, or `b` when `a` holds: with the fault, `b` when it does not, and the other way round.
fn logic(fault: usize, and: bool, left: &str, right: &str) -> String {
    let (unlike, on) = (if and { "!=" } else { "==" }, asked(fault));
    format!("({{ let __{fault} = {left}; if __{fault} {unlike} {on} {{ {right} }} else {{ __{fault} }} }})")
}

/// Returns the statements that leave a function at once.
fn entry(on: &[&Alternative]) -> String {
    let leave = |Alternative { fault, text }: &&Alternative| {
        format!(" if {} {{{}}}", asked(*fault), marks::branch(*fault, &format!("return {text};")))
    };
    on.iter().map(leave).collect()
}

/// Returns what is in a block that returns one of several iterators: those of the faults, or that of `body`.
fn iterator(on: &[&Alternative], body: &str) -> String {
    // The one after `others` that it is not.
    let last = |others: usize, value: &str| {
        format!("{}{value}{}", "::fault_switch::Either::Right(".repeat(others), ")".repeat(others))
    };
    let mut written = String::new();
    for (others, Alternative { fault, text }) in on.iter().enumerate() {
        let value = last(others, &format!("::fault_switch::Either::Left({text})"));
        let leave = marks::branch(*fault, &format!("return {value};"));
        // Writing into a string does not fail.
        let _ = write!(written, " if {} {{{leave}}}", asked(*fault));
    }
    // A closure: the body may leave at once, too.
    written + " " + &last(on.len(), &format!("(move || {{{body}}})()")) + " "
}

#[cfg(test)]
mod tests;
