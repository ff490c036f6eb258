//! Functions of the program: their declarations, overloads and bodies.

use super::{Checker, Context, DeclaredFunction, Within};
use crate::message::Finding;
use crate::refused;
use crate::signatures::{self, ArgumentType, Signature};
use crate::syntax::{Definition, Stmt};
use crate::tree::{FunctionId, ProgramBlock, StanFunction, Suffix, VariableRole};
use crate::types::StanType;

impl Checker<'_> {
    /// All functions: first their heads, so that each may call every other, then their bodies.
    pub(super) fn functions(&mut self, definitions: &[Definition]) {
        let ids: Vec<FunctionId> = definitions.iter().map(|definition| self.head(definition)).collect();
        for (definition, id) in definitions.iter().zip(ids) {
            if let Some(body) = &definition.body {
                self.function_body(definition, id, body);
            }
        }
        let bare: Vec<Finding> = self
            .functions
            .iter()
            .filter(|declared| !declared.is_defined)
            .map(|DeclaredFunction { function, .. }| {
                let message = format!("`{}` is declared and has no body", function.name);
                Finding::meaning(function.span, message).help("define it below its declaration, with the same types")
            })
            .collect();
        bare.into_iter().for_each(|finding| self.report(finding));
    }

    /// A function's name and types.
    fn head(&mut self, definition: &Definition) -> FunctionId {
        let Definition { name, result, arguments, body, .. } = definition;
        self.need_fair_name(name);
        let known = |unsized_type: crate::syntax::Unsized| unsized_type.0;
        let is_known = result.is_none_or(|it| known(it).is_some()) && arguments.iter().all(|it| known(it.ty).is_some());
        let argument = |ty: Option<StanType>, is_data| ArgumentType { ty: ty.unwrap_or(StanType::REAL), is_data };
        let signature = Signature {
            arguments: arguments.iter().map(|it| argument(known(it.ty), it.is_data)).collect(),
            result: result.map(|it| known(it).unwrap_or(StanType::REAL)),
        };
        let mut earlier = self.by_name.get(&name.text).cloned().unwrap_or_default();
        earlier.retain(|id| self.functions[id.0].is_known);
        if is_known {
            let declared = |id: &&FunctionId| {
                let other = &self.functions[id.0];
                other.function.signature == signature && !other.is_defined
            };
            if let Some(&id) = earlier.iter().find(declared) {
                if body.is_none() {
                    let message = format!("`{}{signature}` is declared already", name.text);
                    self.report(Finding::meaning(name.span, message));
                }
                let function = &mut self.functions[id.0];
                function.is_defined |= body.is_some();
                function.function.span = name.span;
                return id;
            }
            self.need_fair_density(definition, &signature);
        }
        let is_new = !is_known || self.need_new_signature(definition, &signature, &earlier);
        let id = FunctionId(self.functions.len());
        let function = StanFunction {
            name: name.text.clone(),
            signature,
            arguments: Vec::new(),
            body: Vec::new(),
            span: name.span,
        };
        self.functions.push(DeclaredFunction { function, is_known, is_defined: body.is_some() });
        // One that is there already would only make each call ambiguous.
        if is_new {
            self.by_name.entry(name.text.clone()).or_default().push(id);
        }
        id
    }

    /// Whether a function of this name and these types can be added; reports why not.
    fn need_new_signature(&mut self, definition: &Definition, signature: &Signature, earlier: &[FunctionId]) -> bool {
        let name = &definition.name;
        let types = |it: &Signature| it.arguments.iter().map(|argument| argument.ty).collect::<Vec<_>>();
        let (text, span) = (&name.text, name.span);
        if refused::is_special(text) {
            let finding = Finding::meaning(span, format!("`{text}` is a function of the math library"));
            self.report(finding.help("choose another name"));
        } else if Suffix::of(text).is_unnormalised() {
            let full = signatures::normalised(text);
            let finding = Finding::meaning(span, format!("`{text}` is made from `{full}` by leaving constants out"));
            self.report(finding.help(format!("define `{full}`")));
        } else if let Some(&id) =
            earlier.iter().find(|id| types(&self.functions[id.0].function.signature) == types(signature))
        {
            let other = &self.functions[id.0].function;
            let line = self.sources.place(other.span).line;
            let message = format!("there is a function `{text}{}` already, in line {line}", other.signature);
            self.report(Finding::meaning(span, message).help("overloads differ in what they take"));
        } else if signatures::of(text).iter().any(|other| types(other) == types(signature)) {
            let message = format!("the math library has a function `{text}` that takes the same");
            self.report(Finding::meaning(span, message).help("choose another name, or other types"));
        } else {
            return true;
        }
        false
    }

    /// Densities give reals, `_lpdf` is of reals and `_lpmf` of integers.
    fn need_fair_density(&mut self, definition: &Definition, signature: &Signature) {
        let name = &definition.name;
        let suffix = Suffix::of(&name.text);
        let first = signature.arguments.first().map(|argument| argument.ty);
        let message = match suffix {
            _ if suffix.has_bar() && signature.result != Some(StanType::REAL) => "gives `real`",
            Suffix::Density { .. } if first.is_none_or(StanType::is_int) => "takes a variate of reals first",
            Suffix::Mass { .. } if !first.is_some_and(StanType::is_int) => "takes a variate of integers first",
            _ => return,
        };
        let message = format!("`{}` is a distribution by its name: it {message}", name.text);
        let help = "the suffix `_lpdf` is for reals, `_lpmf` for integers";
        self.report(Finding::meaning(name.span, message).help(help));
    }

    fn function_body(&mut self, definition: &Definition, id: FunctionId, body: &[Stmt]) {
        let result = definition.result;
        let within = Within {
            suffix: Suffix::of(&definition.name.text),
            result: result.map(|it| it.0.unwrap_or(StanType::REAL)),
            is_known: result.is_none_or(|it| it.0.is_some()),
        };
        self.context = Context { function: Some(within), ..Context::of(ProgramBlock::Functions) };
        self.open_scope();
        let mut arguments = Vec::new();
        for argument in &definition.arguments {
            arguments.push(self.declare(&argument.name, argument.ty.0, VariableRole::Argument, argument.is_data));
        }
        self.open_scope();
        let (body, flow) = self.statements(body);
        self.close_scope();
        self.close_scope();
        if within.result.is_some() && flow != super::statement::Flow::Ends {
            let message = format!("`{}` can end without giving a value", definition.name.text);
            let finding = Finding::meaning(definition.name.span, message);
            self.report(finding.help("every path must come to a `return` with a value, a `reject` or a `fatal_error`"));
        }
        let function = &mut self.functions[id.0].function;
        function.arguments = arguments;
        function.body = body;
    }
}
