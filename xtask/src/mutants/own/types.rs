//! What can be known of types by reading alone: of the fields of structs and of the parameters of functions, as no two
//! types of the workspace share a name, and of an expression whether it is an integer.

use super::constants::name_of;
use super::numbers::{is_float, is_integer};
use super::sources::Source;
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Fields, FnArg, Lit, Member, ReturnType, Signature, Type};

/// What an expression is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Float,
}

/// Methods whose value is an integer, and those whose value is a float, whatever they are called on.
const OF_INTEGERS: [&str; 10] = [
    "len",
    "count",
    "div_ceil",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "rem_euclid",
    "saturating_sub",
    "wrapping_add",
    "as_nanos",
];
const OF_FLOATS: [&str; 14] = [
    "sqrt",
    "ln",
    "exp",
    "powi",
    "powf",
    "floor",
    "ceil",
    "round",
    "ln_1p",
    "exp_m1",
    "as_secs_f64",
    "recip",
    "cos",
    "sin",
];

/// The types of all files.
#[derive(Default)]
pub(super) struct Types {
    /// By struct, or enum and variant, and field.
    fields: HashMap<(String, String), String>,
    /// Those of all fields of a name.
    named: HashMap<String, HashSet<String>>,
    /// The parameters of functions, by name and number of parameters; none where functions differ.
    parameters: HashMap<(String, usize), Vec<Option<String>>>,
    /// What functions of a name return.
    returned: HashMap<String, HashSet<String>>,
    constants: HashMap<String, HashSet<String>>,
    /// Types that have a default.
    defaults: HashSet<String>,
}

impl Types {
    pub(super) fn of(sources: &[Source]) -> Self {
        let mut types = Self::default();
        for source in sources {
            Collector { source, types: &mut types }.visit_file(&source.syntax);
        }
        types
    }

    /// Returns the type of a field of a struct.
    pub(super) fn field(&self, owner: &str, field: &str) -> Option<&str> {
        self.fields.get(&(owner.to_owned(), field.to_owned())).map(String::as_str)
    }

    /// Returns the type of the fields of this name, if all have the same.
    pub(super) fn any_field(&self, field: &str) -> Option<&str> {
        only(self.named.get(field)?)
    }

    /// Returns the type of a parameter of the functions of this name, if all have the same.
    pub(super) fn parameter(&self, function: &str, parameters: usize, number: usize) -> Option<&str> {
        self.parameters.get(&(function.to_owned(), parameters))?.get(number)?.as_deref()
    }

    /// Returns whether a type has a default.
    pub(super) fn has_default(&self, name: &str) -> bool {
        self.defaults.contains(name)
    }

    /// Returns what stands for a value of a type when its default does.
    pub(super) fn defaults_of(&self, declared: &str) -> &'static [&'static str] {
        let standard = ["String", "Vec<", "BTreeMap<", "HashMap<", "BTreeSet<", "HashSet<", "PathBuf", "Duration"];
        match declared {
            "bool" => &["false", "true"],
            option if option.starts_with("Option<") => &["None"],
            other if is_integer(other) || is_float(other) || self.has_default(other) => &["Default::default()"],
            other if standard.iter().any(|begin| other.starts_with(begin)) => &["Default::default()"],
            _ => &[],
        }
    }

    /// Returns what an expression is made of; `locals` are the variables there.
    pub(super) fn kind(&self, expression: &Expr, locals: &HashMap<String, Kind>) -> Option<Kind> {
        let kind = |inner: &Expr| self.kind(inner, locals);
        let of_set = |set: Option<&HashSet<String>>| set.and_then(|set| unanimous(set.iter().map(|one| kind_of(one))));
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(_) => Some(Kind::Integer),
                Lit::Float(_) => Some(Kind::Float),
                _ => None,
            },
            Expr::Paren(inner) => kind(&inner.expr),
            Expr::Reference(inner) => kind(&inner.expr),
            Expr::Unary(inner) => kind(&inner.expr),
            Expr::Index(inner) => kind(&inner.expr),
            Expr::Try(inner) => kind(&inner.expr),
            Expr::Range(range) => range.end.as_deref().or(range.start.as_deref()).and_then(kind),
            Expr::Cast(cast) => match &*cast.ty {
                Type::Path(path) => path.path.get_ident().and_then(|name| kind_of(&name.to_string())),
                _ => None,
            },
            Expr::Binary(binary) => match binary.op {
                BinOp::Shl(_) | BinOp::Shr(_) | BinOp::Rem(_) if kind(&binary.left).is_none() => Some(Kind::Integer),
                _ => kind(&binary.left).or_else(|| kind(&binary.right)),
            },
            Expr::Field(field) => match &field.member {
                Member::Named(name) => of_set(self.named.get(&name.to_string())),
                Member::Unnamed(_) => kind(&field.base),
            },
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                match &*name {
                    known if OF_INTEGERS.contains(&known) => Some(Kind::Integer),
                    known if OF_FLOATS.contains(&known) => Some(Kind::Float),
                    _ => of_set(self.returned.get(&name)).or_else(|| kind(&call.receiver)),
                }
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let segments = &path.path.segments;
                    let first = segments.first().and_then(|first| kind_of(&first.ident.to_string()));
                    first.or_else(|| of_set(self.returned.get(&segments.last()?.ident.to_string())))
                }
                _ => None,
            },
            Expr::Path(path) => {
                let last = path.path.segments.last()?.ident.to_string();
                let first = path.path.segments.first().and_then(|first| kind_of(&first.ident.to_string()));
                locals.get(&last).copied().or(first).or_else(|| of_set(self.constants.get(&last)))
            }
            _ => None,
        }
    }
}

/// Returns what a type is made of: numbers of one kind only.
pub(super) fn kind_of(declared: &str) -> Option<Kind> {
    let words = declared.split(|c: char| !c.is_ascii_alphanumeric());
    unanimous(words.filter_map(|word| {
        let kind = if is_float(word) { Some(Kind::Float) } else { is_integer(word).then_some(Kind::Integer) };
        kind.map(Some)
    }))
}

fn unanimous(mut kinds: impl Iterator<Item = Option<Kind>>) -> Option<Kind> {
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

fn only(set: &HashSet<String>) -> Option<&str> {
    set.iter().next().filter(|_| set.len() == 1).map(String::as_str)
}

struct Collector<'a, 'b> {
    source: &'a Source,
    types: &'b mut Types,
}

impl Collector<'_, '_> {
    fn text(&self, item: &impl Spanned) -> String {
        self.source.text[item.span().byte_range()].to_owned()
    }

    fn fields(&mut self, owner: &str, fields: &Fields) {
        for field in fields {
            if let Some(name) = &field.ident {
                let declared = self.text(&field.ty);
                self.types.named.entry(name.to_string()).or_default().insert(declared.clone());
                self.types.fields.insert((owner.to_owned(), name.to_string()), declared);
            }
        }
    }

    fn derived(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        let derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
        if derives.into_iter().any(|derive| self.text(derive).contains("Default")) {
            self.types.defaults.insert(name.to_string());
        }
    }

    fn function(&mut self, signature: &Signature) {
        let of = |argument: &FnArg| match argument {
            FnArg::Typed(typed) => Some(self.text(&typed.ty)),
            FnArg::Receiver(_) => None,
        };
        let parameters: Vec<Option<String>> = signature.inputs.iter().filter_map(of).map(Some).collect();
        let name = signature.ident.to_string();
        if let ReturnType::Type(_, returned) = &signature.output {
            let returned = self.text(returned);
            self.types.returned.entry(name.clone()).or_default().insert(returned);
        }
        let key = (name, parameters.len());
        let known = self.types.parameters.entry(key).or_insert_with(|| parameters.clone());
        for (known, new) in known.iter_mut().zip(parameters) {
            if *known != new {
                *known = None;
            }
        }
    }
}

impl<'a> Visit<'a> for Collector<'_, '_> {
    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.fields(&item.ident.to_string(), &item.fields);
        self.derived(&item.ident, &item.attrs);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        for variant in &item.variants {
            self.fields(&format!("{}::{}", item.ident, variant.ident), &variant.fields);
        }
        self.derived(&item.ident, &item.attrs);
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let of_default = item.trait_.as_ref().is_some_and(|(_, path, _)| path.is_ident("Default"));
        if let Some(name) = name_of(&item.self_ty).filter(|_| of_default) {
            self.types.defaults.insert(name);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'a Signature) {
        self.function(signature);
    }

    fn visit_item_const(&mut self, item: &'a syn::ItemConst) {
        let declared = self.text(&item.ty);
        self.types.constants.entry(item.ident.to_string()).or_default().insert(declared);
    }
}
