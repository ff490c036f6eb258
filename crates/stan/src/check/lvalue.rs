//! Assignments: what may be assigned to, and with what.

use super::Checker;
use super::declaration::{index_mentions, is_variable};
use super::expression::{argument, operator_signature, promoted};
use crate::message::Finding;
use crate::overload::{self, Match};
use crate::signatures::{self, Signature};
use crate::source::Span;
use crate::syntax::{Expr, Form, Name};
use crate::tree::{BinaryOp, Expression, ExpressionKind, Index, LValue, StatementKind, VariableId, VariableRole};
use crate::types::StanType;

impl Checker<'_> {
    /// `to = value`, or `to += value` and the like.
    pub(super) fn assignment(
        &mut self,
        to: &Expr,
        op: Option<BinaryOp>,
        value: &Expr,
        span: Span,
    ) -> Option<StatementKind> {
        let to = self.lvalue(to);
        let value = self.expression(value);
        let (to, value) = (to?, value?);
        let value = match op {
            None => self.assigned(&to, value, span)?,
            Some(op) => self.compound(&to, op, value)?,
        };
        Some(StatementKind::Assign { to, op, value })
    }

    fn assigned(&mut self, to: &LValue, value: Expression, span: Span) -> Option<Expression> {
        if !value.ty.becomes(to.ty) {
            return self.cannot_assign(to, &value, "=");
        }
        if to.indices.is_empty() && is_variable(&value, to.variable) {
            self.report(Finding::warning(span, "a variable is assigned to itself"));
        }
        Some(promoted(value, to.ty))
    }

    /// The result of a compound operator has the type of its left side. Scalars have no `.*=` and no `./=`.
    fn compound(&mut self, to: &LValue, op: BinaryOp, value: Expression) -> Option<Expression> {
        let kind = ExpressionKind::Variable(to.variable);
        let left = Expression { kind, ty: to.ty, is_data: false, span: to.span };
        let by_element = matches!(op, BinaryOp::ElementMultiply | BinaryOp::ElementDivide);
        // `a /= b` is no division by a matrix.
        let signature =
            if op == BinaryOp::Divide { divide(&left, &value) } else { operator_signature(op, &left, &value) };
        match signature {
            Some(signature) if signature.result == Some(to.ty) && !(by_element && to.ty.is_scalar()) => {
                Some(promoted(value, signature.arguments.get(1)?.ty))
            }
            _ => self.cannot_assign(to, &value, &format!("{}=", op.sign())),
        }
    }

    fn cannot_assign<T>(&mut self, to: &LValue, value: &Expression, sign: &str) -> Option<T> {
        let name = &self.variables[to.variable.0].variable.name;
        let what = if to.indices.is_empty() { format!("`{name}`") } else { format!("this element of `{name}`") };
        let message = format!("{what} is `{}`: `{sign}` cannot give it `{}`", to.ty, value.ty);
        let help = (to.ty == StanType::INT && value.ty == StanType::REAL)
            .then(|| "`to_int` makes data integers; a variable of reals is declared `real`".to_owned());
        self.refuse(Finding::meaning(value.span, message).label(format!("this is `{}`", value.ty)).help_if(help))
    }

    fn lvalue(&mut self, expr: &Expr) -> Option<LValue> {
        // The indices of all brackets, the outermost last.
        let mut brackets: Vec<&[Index<Expr>]> = Vec::new();
        let mut base = expr;
        while let Form::Index(of, indices) = &base.form {
            brackets.push(indices);
            base = of;
        }
        brackets.reverse();
        let Form::Name(text) = &base.form else { return None };
        let name = Name { text: text.clone(), span: base.span };
        let variable = self.assignable(&name)?;
        let is_known = self.variables[variable.0].is_known;
        let mut all = Vec::new();
        for indices in brackets {
            if indices.iter().any(|index| index_mentions(index, text)) {
                let message = format!("`{text}` is read in its own indices while it is assigned to");
                return self.refuse(Finding::meaning(expr.span, message).help("compute the index before"));
            }
            let is_first = all.iter().all(|index| matches!(index, Index::Single(_)));
            if !is_first {
                let finding = Finding::meaning(expr.span, "after a range of elements no further brackets can follow");
                return self.refuse(finding.help("write all indices in one pair of brackets: `x[1:2, 3]`"));
            }
            all.extend(self.indices(indices)?);
        }
        if !is_known {
            return None;
        }
        let ty = self.type_of_elements(self.variables[variable.0].variable.ty, &all, expr.span)?;
        Some(LValue { variable, indices: all, ty, span: expr.span })
    }

    /// A variable that may be assigned to here.
    fn assignable(&mut self, name: &Name) -> Option<VariableId> {
        let Some(id) = self.find(&name.text) else {
            if self.is_any_function(&name.text) {
                let message = format!("`{}` is a function: nothing can be assigned to it", name.text);
                return self.refuse(Finding::meaning(name.span, message));
            }
            return self.unknown_variable(name);
        };
        let why = match self.variables[id.0].variable.role {
            VariableRole::Global(block) if block == self.context.block => return Some(id),
            VariableRole::Local(_) => return Some(id),
            VariableRole::Global(block) => format!("it is of the block `{}`", block.name()),
            VariableRole::Argument => "it is an argument of the function".into(),
            VariableRole::Loop(_) => "it is the variable of a loop".into(),
        };
        let message = format!("`{}` cannot be assigned to: {why}", name.text);
        self.refuse(Finding::meaning(name.span, message).help("declare another variable for the new value"))
    }
}

/// The signature of a division by anything but a matrix.
fn divide(left: &Expression, right: &Expression) -> Option<Signature> {
    let signatures = signatures::of("divide").iter().map(|signature| ((), signature));
    match overload::choose(signatures, &[argument(left), argument(right)]) {
        Match::One((), signature) => Some(signature),
        Match::Several(_) | Match::None(_) => None,
    }
}
