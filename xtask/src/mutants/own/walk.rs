//! Reads a file as the compiler does and plants a fault at each number, rounding and setting.
//!
//! Values that decide nothing are left alone (a plain index, how much memory is taken at first and the zeros that fill
//! it, words of messages and errors), and so are values of compile time: patterns, lengths of arrays,
//! constants. Those have their faults where they are used.

use super::constants::{ByName, Constant, name_of};
use super::numbers::Number;
use super::sources::{Source, is_of_tests};
use super::types::{Kind, Types, kind_of};
use crate::mutants::one_build::{Genre, ListedFault, Place, Position, SiteKind, Span};
use std::collections::HashMap;
use std::ops::Range;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, FnArg, Lit, Member, Pat, Token};

/// Returns all faults of `sources`, file by file.
pub(super) fn all(sources: &[Source]) -> Vec<ListedFault> {
    let types = Types::of(sources);
    let constants = super::constants::find(sources);
    let mut planter = Planter { faults: Vec::new(), first: Vec::new() };
    for constant in &constants {
        planter.first.push(planter.faults.len());
        let name = constant.name.to_string();
        for text in constant.texts(&name) {
            planter.add(constant.source, constant.name.span(), Genre::Number, &name, &text, "");
        }
    }
    let by_name = ByName::new(&constants);
    for source in sources {
        let (function, locals) = (String::new(), HashMap::new());
        let mut walk = Walk {
            source,
            types: &types,
            constants: &constants,
            by_name: &by_name,
            planter: &mut planter,
            owner: None,
            function,
            locals,
            compiled: false,
        };
        walk.visit_file(&source.syntax);
    }
    planter.faults.sort_by(|a, b| (&a.file, a.span.start.line).cmp(&(&b.file, b.span.start.line)));
    planter.faults
}

/// Keeps the faults.
struct Planter {
    faults: Vec<ListedFault>,
    /// The first fault of each constant.
    first: Vec<usize>,
}

impl Planter {
    fn add(
        &mut self,
        source: &Source,
        at: proc_macro2::Span,
        genre: Genre,
        original: &str,
        text: &str,
        function: &str,
    ) -> &mut ListedFault {
        let start = Position { line: at.start().line, column: at.start().column + 1 };
        let Position { line, column } = start;
        let within = if function.is_empty() { String::new() } else { format!(" in {function}") };
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (original, text) = (words(original), words(text));
        self.faults.push(ListedFault {
            name: format!("{}:{line}:{column}: replace {original} with {text}{within}", source.path),
            file: source.path.clone(),
            package: source.package.clone(),
            genre,
            replacement: text,
            span: Span { start },
            places: Vec::new(),
        });
        let last = self.faults.len() - 1;
        &mut self.faults[last]
    }
}

struct Walk<'a, 'b> {
    source: &'a Source,
    types: &'b Types,
    constants: &'b [Constant<'a>],
    by_name: &'b ByName<'a, 'b>,
    planter: &'b mut Planter,
    /// What `Self` means.
    owner: Option<String>,
    /// The name of the function.
    function: String,
    /// What its variables are made of.
    locals: HashMap<String, Kind>,
    /// Whether this may be computed when the program is compiled: its faults have no place.
    compiled: bool,
}

impl<'a> Walk<'a, '_> {
    fn text(&self, item: &impl Spanned) -> &'a str {
        &self.source.text[item.span().byte_range()]
    }

    /// Plants a fault that begins at `at`.
    fn plant(
        &mut self,
        at: proc_macro2::Span,
        genre: Genre,
        original: &str,
        text: &str,
        range: Range<usize>,
        kind: SiteKind,
    ) {
        let fault = self.planter.add(self.source, at, genre, original, text, &self.function);
        if !self.compiled {
            fault.places.push(Place { file: self.source.path.clone(), range, kind, text: text.to_owned() });
        }
    }

    /// Plants faults that stand for a whole expression.
    fn replace(&mut self, expression: &Expr, genre: Genre, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            let kind = SiteKind::Value { before: String::new() };
            let original = self.text(expression);
            self.plant(expression.span(), genre, original, &text, expression.span().byte_range(), kind);
        }
    }

    /// Plants faults that leave `receiver` as it is and change what is done with it.
    fn turn(&mut self, whole: &Expr, at: proc_macro2::Span, receiver: &Expr, texts: &[String]) {
        let (range, receiver) = (whole.span().byte_range(), receiver.span().byte_range());
        let rest = receiver.end..range.end;
        let original = self.source.text[rest.clone()].trim();
        for text in texts {
            let kind = SiteKind::Turned { receiver: receiver.clone(), rest: rest.clone() };
            self.plant(at, Genre::Rounding, original, text, range.clone(), kind);
        }
    }

    fn method(&mut self, whole: &Expr, call: &syn::ExprMethodCall) {
        let argument = call.args.first().map_or("", |argument| self.text(argument));
        let name = call.method.to_string();
        let turned: Vec<String> = match &*name {
            "floor" => vec![".ceil()".to_owned(), ".round()".to_owned()],
            "ceil" => vec![".floor()".to_owned(), ".round()".to_owned()],
            "round" | "round_ties_even" => vec![".floor()".to_owned(), ".ceil()".to_owned()],
            "trunc" => vec![".round()".to_owned(), ".ceil()".to_owned()],
            "div_ceil" => vec![format!(" / ({argument})")],
            _ => return,
        };
        if call.args.len() == usize::from(!argument.is_empty()) {
            self.turn(whole, call.method.span(), &call.receiver, &turned);
        }
    }

    fn division(&mut self, whole: &Expr, binary: &syn::ExprBinary) {
        let kind = self.types.kind(&binary.left, &self.locals).or_else(|| self.types.kind(&binary.right, &self.locals));
        if matches!(binary.op, BinOp::Div(_)) && kind != Some(Kind::Float) {
            let text = format!(".div_ceil({})", self.text(&binary.right));
            self.turn(whole, binary.op.span(), &binary.left, &[text]);
        }
    }

    /// A float that is cut to an integer.
    fn cast(&mut self, whole: &Expr, cast: &syn::ExprCast) {
        let to = self.text(&cast.ty);
        let is_rounded = matches!(&*cast.expr, Expr::MethodCall(call)
            if ["floor", "ceil", "round", "trunc"].contains(&&*call.method.to_string()));
        let from = self.types.kind(&cast.expr, &self.locals);
        if kind_of(to) == Some(Kind::Integer) && from == Some(Kind::Float) && !is_rounded {
            let texts = ["round", "ceil"].map(|method| format!(".{method}() as {to}"));
            self.turn(whole, cast.as_token.span(), &cast.expr, &texts);
        }
    }

    /// Plants the defaults of a value of type `declared` that is passed on.
    fn setting(&mut self, value: &Expr, declared: &str) {
        if let Some(flipped) = flipped(value) {
            return self.replace(value, Genre::Setting, [flipped.to_owned()]);
        }
        let of_numbers = kind_of(declared).is_some() && !declared.starts_with("Option<");
        if passes_on(value) && (!of_numbers || has_field(value)) {
            let texts = self.types.defaults_of(declared).iter().map(|&text| text.to_owned());
            self.replace(value, Genre::Setting, texts);
        }
    }

    fn fields(&mut self, made: &syn::ExprStruct) {
        let path: Vec<String> = made.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let own = |name: &String| if name == "Self" { self.owner.clone() } else { Some(name.clone()) };
        let names: Vec<String> = path.iter().filter_map(own).collect();
        let Some(last) = names.last() else { return };
        // What an error says is words.
        if names.iter().any(|name| name.ends_with("Error")) {
            return;
        }
        let variant = names.iter().rev().nth(1).map(|owner| format!("{owner}::{last}")).unwrap_or_default();
        let with_default = self.types.has_default(last) && self.function != "default";
        let default = format!("{}::default()", self.text(&made.path));
        for field in &made.fields {
            let Member::Named(name) = &field.member else { continue };
            let name = name.to_string();
            let declared = self.types.field(last, &name).or_else(|| self.types.field(&variant, &name));
            let declared = declared.unwrap_or_default();
            if flipped(&field.expr).is_some() {
                self.setting(&field.expr, declared);
            } else if field.colon_token.is_none() || (with_default && passes_on(&field.expr)) {
                let texts: Vec<String> = match with_default {
                    true => vec![format!("{default}.{name}")],
                    false if kind_of(declared).is_some() && !declared.starts_with("Option<") => Vec::new(),
                    false => self.types.defaults_of(declared).iter().map(|&text| text.to_owned()).collect(),
                };
                let before = if field.colon_token.is_none() { format!("{name}: ") } else { String::new() };
                for text in texts {
                    let (range, kind) = (field.expr.span().byte_range(), SiteKind::Value { before: before.clone() });
                    self.plant(field.span(), Genre::Setting, self.text(field), &text, range, kind);
                }
            } else {
                self.setting(&field.expr, declared);
            }
        }
        if let Some(base) = made.rest.as_deref().filter(|base| with_default && passes_on(base)) {
            self.replace(base, Genre::Setting, [default]);
        }
    }

    fn arguments(&mut self, function: &str, arguments: &Punctuated<Expr, Token![,]>) {
        for (number, argument) in arguments.iter().enumerate() {
            let of_field = || match argument {
                Expr::Field(syn::ExprField { member: Member::Named(name), .. }) => {
                    self.types.any_field(&name.to_string())
                }
                _ => None,
            };
            let declared =
                self.types.parameter(function, arguments.len(), number).or_else(of_field).unwrap_or_default();
            if flipped(argument).is_some() || declared == "bool" || declared.starts_with("Option<") {
                self.setting(argument, declared);
            }
        }
    }

    fn assignment(&mut self, assignment: &syn::ExprAssign) {
        if let Expr::Field(syn::ExprField { member: Member::Named(name), .. }) = &*assignment.left {
            let declared = self.types.any_field(&name.to_string()).unwrap_or_default();
            self.setting(&assignment.right, declared);
        }
    }

    fn constant(&mut self, expression: &Expr, path: &syn::ExprPath) {
        let at = path.span().byte_range();
        let meant = self.by_name.meant(&path.path, self.source, at.start, self.owner.as_deref());
        let Some(number) = meant.filter(|_| !self.compiled) else { return };
        let first = self.planter.first[number];
        for (fault, text) in (first..).zip(self.constants[number].texts(self.text(expression))) {
            let (file, kind) = (self.source.path.clone(), SiteKind::Value { before: String::new() });
            self.planter.faults[fault].places.push(Place { file, range: at.clone(), kind, text });
        }
    }

    fn local(&mut self, pattern: &Pat, kind: Option<Kind>) {
        match (pattern, kind) {
            (Pat::Ident(name), Some(kind)) => {
                self.locals.insert(name.ident.to_string(), kind);
            }
            (Pat::Ident(name), None) => {
                self.locals.remove(&name.ident.to_string());
            }
            (Pat::Reference(inner), _) => self.local(&inner.pat, kind),
            _ => {}
        }
    }

    fn in_function(&mut self, signature: &syn::Signature, walk: impl FnOnce(&mut Self)) {
        let (function, locals) = (self.function.clone(), self.locals.clone());
        let compiled = self.compiled;
        self.function = signature.ident.to_string();
        self.compiled |= signature.constness.is_some();
        for argument in &signature.inputs {
            if let FnArg::Typed(typed) = argument {
                self.local(&typed.pat, kind_of(self.text(&typed.ty)));
            }
        }
        walk(self);
        (self.function, self.locals, self.compiled) = (function, locals, compiled);
    }
}

/// Returns the other of two truths that are written out.
fn flipped(value: &Expr) -> Option<&'static str> {
    match value {
        Expr::Lit(syn::ExprLit { lit: Lit::Bool(truth), .. }) => Some(if truth.value { "false" } else { "true" }),
        _ => None,
    }
}

/// Returns whether an expression is a variable or field as it is, or a copy of it.
fn passes_on(value: &Expr) -> bool {
    const COPIES: [&str; 8] = ["clone", "cloned", "copied", "to_owned", "as_ref", "as_deref", "to_vec", "to_string"];
    match value {
        Expr::Path(path) => {
            let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
            name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && name != "self"
        }
        Expr::Field(field) => matches!(&*field.base, Expr::Path(_)) || passes_on(&field.base),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && passes_on(&unary.expr),
        Expr::MethodCall(call) => {
            call.args.is_empty() && COPIES.contains(&&*call.method.to_string()) && passes_on(&call.receiver)
        }
        _ => false,
    }
}

/// Returns whether an expression is 0, written out.
fn is_zero(value: &Expr) -> bool {
    matches!(Number::of(value), Some(Number::Float { zero: true, .. } | Number::Integer { value: 0, .. }))
}

fn has_field(value: &Expr) -> bool {
    match value {
        Expr::Field(_) => true,
        Expr::Unary(unary) => has_field(&unary.expr),
        Expr::MethodCall(call) => has_field(&call.receiver),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Walk<'_, '_> {
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_variant(&mut self, _: &'ast syn::Variant) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_expr_repeat(&mut self, repeated: &'ast syn::ExprRepeat) {
        if !is_zero(&repeated.expr) {
            self.visit_expr(&repeated.expr);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // What a value looks like in words.
        let words = |(_, path, _): &(_, syn::Path, _)| {
            path.segments.last().is_some_and(|last| last.ident == "Display" || last.ident == "Debug")
        };
        if !is_of_tests(&item.attrs) && !item.trait_.as_ref().is_some_and(words) {
            self.owner = name_of(&item.self_ty);
            visit::visit_item_impl(self, item);
            self.owner = None;
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_of_tests(&item.attrs) {
            self.in_function(&item.sig, |walk| visit::visit_item_fn(walk, item));
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_of_tests(&item.attrs) {
            self.in_function(&item.sig, |walk| visit::visit_impl_item_fn(walk, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.in_function(&item.sig, |walk| visit::visit_trait_item_fn(walk, item));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let (pattern, declared) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, kind_of(self.text(&typed.ty))),
            pattern => (pattern, None),
        };
        let value = local.init.as_ref().and_then(|init| self.types.kind(&init.expr, &self.locals));
        self.local(pattern, declared.or(value));
    }

    fn visit_expr_for_loop(&mut self, looped: &'ast syn::ExprForLoop) {
        self.local(&looped.pat, self.types.kind(&looped.expr, &self.locals));
        visit::visit_expr_for_loop(self, looped);
    }

    fn visit_macro(&mut self, invoked: &'ast syn::Macro) {
        // No other macro computes with its numbers.
        if invoked.path.is_ident("vec") {
            let list = Punctuated::<Expr, Token![,]>::parse_terminated;
            let repeated = |input: syn::parse::ParseStream<'_>| {
                let (value, _, count) = (input.parse::<Expr>()?, input.parse::<Token![;]>()?, input.parse::<Expr>()?);
                Ok([value, count])
            };
            let values: Vec<Expr> = match invoked.parse_body_with(repeated) {
                Ok([value, count]) if is_zero(&value) => vec![count],
                Ok(both) => both.into(),
                Err(_) => invoked.parse_body_with(list).into_iter().flatten().collect(),
            };
            for value in values {
                Visit::visit_expr(&mut *self, &value);
            }
        }
    }

    fn visit_expr_index(&mut self, indexed: &'ast syn::ExprIndex) {
        self.visit_expr(&indexed.expr);
        if !matches!(&*indexed.index, Expr::Lit(_)) {
            self.visit_expr(&indexed.index);
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        let of_memory = |name: &syn::Ident| name == "with_capacity" || name == "reserve";
        match expression {
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func
                    && let Some(last) = path.path.segments.last()
                {
                    if of_memory(&last.ident) {
                        return;
                    }
                    self.arguments(&last.ident.to_string(), &call.args);
                }
                // Not the function itself.
                return call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::MethodCall(call) => {
                if of_memory(&call.method) {
                    return self.visit_expr(&call.receiver);
                }
                self.arguments(&call.method.to_string(), &call.args);
                self.method(expression, call);
            }
            Expr::Binary(binary) => self.division(expression, binary),
            Expr::Cast(cast) => self.cast(expression, cast),
            Expr::Struct(made) => self.fields(made),
            Expr::Assign(assignment) => self.assignment(assignment),
            Expr::Path(path) => self.constant(expression, path),
            Expr::Lit(_) => {
                if let Some(number) = Number::of(expression) {
                    self.replace(expression, Genre::Number, number.alternatives());
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expression);
    }
}

#[cfg(test)]
mod tests;
