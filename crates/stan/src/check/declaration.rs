//! Declarations of variables: sizes, bounds and first values.

use super::Checker;
use super::expression::promoted;
use crate::message::Finding;
use crate::syntax::{Bounds, Declarations, Expr, Form, Name, NamedConstraint};
use crate::tree::{
    Constraint, Declaration, Expression, ExpressionKind, Index, ProgramBlock, Statement, StatementKind, VariableId,
    VariableRole,
};
use crate::types::{BaseType, StanType};

impl Checker<'_> {
    /// The variables of a declaration, each as a statement.
    pub(super) fn declarations(&mut self, declarations: &Declarations, out: &mut Vec<Statement>) {
        let Declarations { sized, names, is_global } = declarations;
        let arrays = u8::try_from(sized.arrays).unwrap_or(u8::MAX);
        let ty = sized.base.map(|base| StanType { base, arrays });
        self.context.in_sizes = *is_global;
        let sizes: Vec<_> = sized.sizes.iter().map(|size| self.int(size, "a size")).collect();
        self.context.in_sizes = false;
        let sizes: Option<Vec<Expression>> = sizes.into_iter().collect();
        let constraint = ty.and_then(|ty| self.constraint(&sized.constraint, ty, *is_global));
        let block = self.context.block;
        if let Some((name, _)) = names.first()
            && *is_global
            && ty.is_some_and(StanType::is_int)
            && matches!(block, ProgramBlock::Parameters | ProgramBlock::TransformedParameters)
        {
            let finding = Finding::meaning(name.span, format!("the block `{}` has no integers", block.name()));
            self.report(
                finding.help("sum discrete parameters out of the density, or compute them in `generated quantities`"),
            );
        }
        let role = if *is_global { VariableRole::Global(block) } else { VariableRole::Local(block) };
        for (name, value) in names {
            let variable = self.declare(name, ty, role, self.is_data_here());
            let first = match value {
                None => None,
                Some(value) => {
                    self.warn_of_itself(name, value);
                    let Some(first) = self.first_value(name, ty, value) else { continue };
                    Some(first)
                }
            };
            if let (Some(sizes), Some(constraint)) = (&sizes, &constraint) {
                let (sizes, constraint) = (sizes.clone(), constraint.clone());
                let kind = StatementKind::Declare(Declaration { variable, sizes, constraint, value: first });
                out.push(Statement { kind, span: name.span });
            }
        }
    }

    fn first_value(&mut self, name: &Name, ty: Option<StanType>, value: &Expr) -> Option<Expression> {
        let value = self.expression(value)?;
        let ty = ty?;
        if value.ty.becomes(ty) {
            return Some(promoted(value, ty));
        }
        let message = format!("`{}` is `{ty}` and cannot get `{}`", name.text, value.ty);
        self.refuse(Finding::meaning(value.span, message).label(format!("expected `{ty}`")))
    }

    fn warn_of_itself(&mut self, name: &Name, value: &Expr) {
        if mentions(value, &name.text) {
            let message = format!("the first value of `{}` uses `{}` itself", name.text, name.text);
            self.report(Finding::warning(name.span, message));
        }
    }

    fn constraint(&mut self, bounds: &Bounds, ty: StanType, is_global: bool) -> Option<Constraint> {
        Some(match bounds {
            Bounds::None => Constraint::None,
            Bounds::Named(named) => match named {
                NamedConstraint::Ordered => Constraint::Ordered,
                NamedConstraint::PositiveOrdered => Constraint::PositiveOrdered,
                NamedConstraint::Simplex => Constraint::Simplex,
                NamedConstraint::UnitVector => Constraint::UnitVector,
                NamedConstraint::SumToZero => Constraint::SumToZero,
                NamedConstraint::CholeskyCorr => Constraint::CholeskyCorr,
                NamedConstraint::CholeskyCov => Constraint::CholeskyCov,
                NamedConstraint::Corr => Constraint::Corr,
                NamedConstraint::Cov => Constraint::Cov,
                NamedConstraint::ColumnStochastic => Constraint::ColumnStochastic,
                NamedConstraint::RowStochastic => Constraint::RowStochastic,
            },
            Bounds::Range { lower, upper } => {
                let lower = self.bound(lower.as_ref(), ty, "a lower bound", is_global)?;
                let upper = self.bound(upper.as_ref(), ty, "an upper bound", is_global)?;
                match (lower, upper) {
                    (Some(lower), Some(upper)) => Constraint::LowerUpper(lower, upper),
                    (Some(lower), None) => Constraint::Lower(lower),
                    (None, Some(upper)) => Constraint::Upper(upper),
                    (None, None) => Constraint::None,
                }
            }
            Bounds::Affine { offset, multiplier } => Constraint::Affine {
                offset: self.bound(offset.as_ref(), ty, "an offset", false)?,
                multiplier: self.bound(multiplier.as_ref(), ty, "a multiplier", false)?,
            },
        })
    }

    /// A bound is a scalar or has the variable's type; integers have bounds of integers.
    fn bound(&mut self, bound: Option<&Expr>, ty: StanType, what: &str, of_ints: bool) -> Option<Option<Expression>> {
        let Some(expr) = bound else { return Some(None) };
        let bound = self.expression(expr)?;
        let is_real = ty.is_int() && !bound.ty.is_int() && of_ints && ty.arrays == 0;
        let fits = bound.ty.is_scalar() || bound.ty == ty;
        if !fits || is_real {
            let scalar = if ty.base == BaseType::Int { "int" } else { "real" };
            let wanted = if ty.is_scalar() { format!("`{scalar}`") } else { format!("`{scalar}` or `{ty}`") };
            let message = format!("{what} of `{ty}` must be {wanted}, found `{}`", bound.ty);
            return self.refuse(Finding::meaning(expr.span, message));
        }
        Some(Some(bound))
    }
}

/// Whether an expression names a variable.
pub(super) fn mentions(expr: &Expr, name: &str) -> bool {
    let within = |expr: &Expr| mentions(expr, name);
    match &expr.form {
        Form::Name(other) => other == name,
        Form::Int(_) | Form::Real(_) | Form::Target | Form::Refused => false,
        Form::Call(call) => call.arguments.iter().any(within),
        Form::Array(elements) | Form::Row(elements) => elements.iter().any(within),
        Form::Index(of, indices) => within(of) || indices.iter().any(|index| index_mentions(index, name)),
        Form::Unary(_, operand) | Form::Paren(operand) => within(operand),
        Form::Binary(_, sides) => within(&sides.0) || within(&sides.1),
        Form::Conditional(parts) => within(&parts.0) || within(&parts.1) || within(&parts.2),
    }
}

/// Whether an index names a variable.
pub(super) fn index_mentions(index: &Index<Expr>, name: &str) -> bool {
    match index {
        Index::All => false,
        Index::Single(a) | Index::Multiple(a) | Index::From(a) | Index::UpTo(a) => mentions(a, name),
        Index::Between(a, b) => mentions(a, name) || mentions(b, name),
    }
}

/// Whether an expression is this variable alone.
pub(super) fn is_variable(expression: &Expression, variable: VariableId) -> bool {
    expression.kind == ExpressionKind::Variable(variable)
}
