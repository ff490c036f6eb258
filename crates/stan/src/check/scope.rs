//! Names of variables: which declaration they mean.

use super::{Checker, DeclaredVariable};
use crate::message::Finding;
use crate::suggest::nearest;
use crate::syntax::Name;
use crate::tree::{ProgramBlock, StanVariable, Suffix, VariableId, VariableRole};
use crate::types::StanType;
use std::collections::HashMap;

impl Checker<'_> {
    pub(super) fn open_scope(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// Does something in a scope of its own.
    pub(super) fn scoped<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        self.open_scope();
        let result = act(self);
        self.close_scope();
        result
    }

    pub(super) fn find(&self, name: &str) -> Option<VariableId> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// Declares a variable. No two that can be seen at once have one name.
    pub(super) fn declare(
        &mut self,
        name: &Name,
        ty: Option<StanType>,
        role: VariableRole,
        is_data: bool,
    ) -> VariableId {
        self.need_fair_name(name);
        if let Some(earlier) = self.find(&name.text) {
            let place = self.sources.place(self.variables[earlier.0].variable.span);
            let message = format!("there is a variable `{}` already", name.text);
            self.report(
                Finding::meaning(name.span, message).help(format!(
                    "it is declared in line {}, column {}; choose another name",
                    place.line, place.column
                )),
            );
        } else if Suffix::of(&name.text).is_unnormalised() {
            let message = format!("`{}` ends as a density without constants", name.text);
            self.report(Finding::meaning(name.span, message).help("choose another name"));
        }
        let variable = StanVariable {
            name: name.text.clone(),
            ty: ty.unwrap_or(StanType::REAL),
            role,
            is_data: is_data || ty.is_some_and(StanType::is_int),
            span: name.span,
        };
        let id = VariableId(self.variables.len());
        self.variables.push(DeclaredVariable { variable, is_known: ty.is_some() });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text.clone(), id);
        }
        id
    }

    /// Whether what is declared here never depends on parameters.
    pub(super) fn is_data_here(&self) -> bool {
        use ProgramBlock::{Data, GeneratedQuantities, TransformedData};
        matches!(self.context.block, Data | TransformedData | GeneratedQuantities)
    }

    /// Names that end with two underscores are kept for what programs are translated to.
    pub(super) fn need_fair_name(&mut self, name: &Name) {
        if name.text.ends_with("__") {
            let message = format!("the name `{}` ends with two underscores", name.text);
            self.report(Finding::meaning(name.span, message).help("such names are kept: choose another one"));
        }
    }

    /// Reports a name that no variable has.
    pub(super) fn unknown_variable<T>(&mut self, name: &Name) -> Option<T> {
        let Name { text, span } = name;
        if self.is_any_function(text) {
            let message = format!("`{text}` is a function, not a variable");
            return self.refuse(Finding::meaning(*span, message).help(format!("call it: `{text}(...)`")));
        }
        let help = if text == "lp__" || text == "log_density" {
            Some("the log density so far is `target()`".into())
        } else {
            nearest(text, self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str)))
        };
        self.refuse(
            Finding::meaning(*span, format!("there is no variable `{text}`")).label("not declared").help_if(help),
        )
    }
}
