//! Numbers with names. A constant is computed when the program is compiled, so its faults stand where it is used.

use super::numbers::{self, Number};
use super::sources::{Source, is_of_tests};
use std::collections::HashMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Ident, Member, Type};

/// Of a longer table only the first, the middle and the last number are changed.
const WHOLE_TABLE: usize = 16;
/// What stands for the constant in the text of a fault.
const HERE: &str = "{}";

/// A constant that faults can change.
pub(super) struct Constant<'a> {
    pub(super) source: &'a Source,
    pub(super) name: &'a Ident,
    /// The type that it belongs to.
    owner: Option<String>,
    /// Where it is known by its name, in bytes.
    scope: Range<usize>,
    /// What stands in its place with each fault, with [`HERE`] for the constant itself.
    texts: Vec<String>,
}

impl Constant<'_> {
    /// Returns what stands at a use of the constant with each of its faults; `used` is how it is named there.
    pub(super) fn texts<'a>(&'a self, used: &'a str) -> impl Iterator<Item = String> + 'a {
        self.texts.iter().map(move |text| text.replace(HERE, used))
    }
}

/// Finds the constants of all files.
pub(super) fn find(sources: &[Source]) -> Vec<Constant<'_>> {
    let mut constants = Vec::new();
    for source in sources {
        let mut finder = Finder { source, constants: &mut constants, owner: None, scope: 0..source.text.len() };
        finder.visit_file(&source.syntax);
    }
    constants
}

struct Finder<'a, 'b> {
    source: &'a Source,
    constants: &'b mut Vec<Constant<'a>>,
    owner: Option<String>,
    scope: Range<usize>,
}

impl<'a> Finder<'a, '_> {
    fn add(&mut self, name: &'a Ident, declared: &Type, value: &Expr) {
        let declared = &self.source.text[declared.span().byte_range()];
        let texts = texts(declared, value);
        if !texts.is_empty() {
            let (owner, scope) = (self.owner.clone(), self.scope.clone());
            self.constants.push(Constant { source: self.source, name, owner, scope, texts });
        }
    }
}

impl<'a> Visit<'a> for Finder<'a, '_> {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        if !is_of_tests(&item.attrs) {
            self.owner = name_of(&item.self_ty);
            visit::visit_item_impl(self, item);
            self.owner = None;
        }
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        let (scope, owner) = (self.scope.clone(), self.owner.take());
        self.scope = block.span().byte_range();
        visit::visit_block(self, block);
        (self.scope, self.owner) = (scope, owner);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        if !is_of_tests(&item.attrs) {
            self.add(&item.ident, &item.ty, &item.expr);
        }
    }

    fn visit_impl_item_const(&mut self, item: &'a syn::ImplItemConst) {
        self.add(&item.ident, &item.ty, &item.expr);
    }
}

/// Returns the last name of a type's path.
pub(super) fn name_of(named: &Type) -> Option<String> {
    match named {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(inner) => name_of(&inner.elem),
        _ => None,
    }
}

/// Returns what stands for a constant of the type `declared` with each of its faults.
fn texts(declared: &str, value: &Expr) -> Vec<String> {
    match value {
        _ if declared == "bool" => vec![format!("!{HERE}")],
        Expr::Tuple(_) | Expr::Array(_) | Expr::Struct(_) => {
            let mut pieces = Vec::new();
            collect(value, "it", &mut pieces);
            let changed = |(piece, text): (String, String)| format!("{{ let mut it = {HERE}; {piece} = {text}; it }}");
            pieces.into_iter().map(changed).collect()
        }
        Expr::Lit(_) | Expr::Unary(_) if Number::of(value).is_some() => {
            Number::of(value).map(|number| number.alternatives()).unwrap_or_default()
        }
        _ if numbers::is_float(declared) => numbers::scaled(HERE).to_vec(),
        _ if numbers::is_integer(declared) => numbers::moved(HERE).to_vec(),
        _ if declared.ends_with("Duration") => vec![format!("2 * {HERE}"), format!("{HERE} / 2")],
        _ => Vec::new(),
    }
}

/// Collects the numbers of a value that has several: how each is reached, and what stands there with each fault.
fn collect(value: &Expr, reached: &str, pieces: &mut Vec<(String, String)>) {
    match value {
        Expr::Tuple(tuple) => {
            for (number, value) in tuple.elems.iter().enumerate() {
                collect(value, &format!("{reached}.{number}"), pieces);
            }
        }
        Expr::Array(array) => {
            let last = array.elems.len().saturating_sub(1);
            let chosen = |number: &usize| last < WHOLE_TABLE || [0, last / 2, last].contains(number);
            for (number, value) in array.elems.iter().enumerate().filter(|(number, _)| chosen(number)) {
                collect(value, &format!("{reached}[{number}]"), pieces);
            }
        }
        Expr::Struct(made) => {
            for field in &made.fields {
                if let Member::Named(name) = &field.member {
                    collect(&field.expr, &format!("{reached}.{name}"), pieces);
                }
            }
        }
        other => {
            let texts = match Number::of(other) {
                Some(number) => number.alternatives(),
                None if numbers::has_float(other) => numbers::scaled(reached).to_vec(),
                None => Vec::new(),
            };
            pieces.extend(texts.into_iter().map(|text| (reached.to_owned(), text)));
        }
    }
}

/// The constants by their names.
pub(super) struct ByName<'a, 'b> {
    constants: &'b [Constant<'a>],
    numbers: HashMap<String, Vec<usize>>,
}

impl<'a, 'b> ByName<'a, 'b> {
    pub(super) fn new(constants: &'b [Constant<'a>]) -> Self {
        let mut numbers: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, constant) in constants.iter().enumerate() {
            numbers.entry(constant.name.to_string()).or_default().push(number);
        }
        Self { constants, numbers }
    }

    /// Returns the number of the constant that a path at `at` in `source` means; nothing where that is not clear. `owner`
    /// is what `Self` means there.
    pub(super) fn meant(&self, path: &syn::Path, source: &Source, at: usize, owner: Option<&str>) -> Option<usize> {
        let (last, before) = (path.segments.last()?, path.segments.iter().rev().nth(1));
        let known = self.numbers.get(&last.ident.to_string())?;
        let before = before.map(|segment| segment.ident.to_string());
        let named = match before.as_deref() {
            Some("Self") => owner.map(str::to_owned),
            before => before.map(str::to_owned),
        };
        let one = |is: &dyn Fn(&Constant<'_>) -> bool| {
            let mut found = known.iter().copied().filter(|&number| is(&self.constants[number]));
            found.next().filter(|_| found.next().is_none())
        };
        let here = |constant: &Constant<'_>| std::ptr::eq(constant.source, source);
        let free = |constant: &Constant<'_>| constant.owner.is_none();
        if let Some(named) = named.filter(|named| !["super", "crate", "self"].contains(&&**named)) {
            let of_type = |constant: &Constant<'_>| constant.owner.as_ref() == Some(&named);
            let of_module =
                |constant: &Constant<'_>| free(constant) && constant.source.path.ends_with(&format!("/{named}.rs"));
            return one(&|constant| here(constant) && of_type(constant))
                .or_else(|| one(&of_type))
                .or_else(|| one(&of_module));
        }
        let around = |constant: &Constant<'_>| here(constant) && free(constant) && constant.scope.contains(&at);
        let nearest = known.iter().copied().filter(|&number| around(&self.constants[number]));
        let nearest = nearest.min_by_key(|&number| self.constants[number].scope.len());
        let of_crate = |constant: &Constant<'_>| {
            free(constant) && constant.scope.start == 0 && constant.source.package == source.package
        };
        nearest.or_else(|| one(&of_crate)).or_else(|| one(&|constant| free(constant) && constant.scope.start == 0))
    }
}
