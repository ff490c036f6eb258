//! Types of expressions.

use super::Checker;
use crate::message::Finding;
use crate::overload::{self, Match};
use crate::signatures::{self, ArgumentType, Signature};
use crate::source::Span;
use crate::syntax::{Expr, Form, Name};
use crate::tree::{BinaryOp, Expression, ExpressionKind, Index, ProgramBlock, UnaryOp, VariableRole};
use crate::types::{BaseType, StanType};

impl Checker<'_> {
    /// An expression with its type; `None` if something in it is wrong, which has been reported.
    pub(super) fn expression(&mut self, expr: &Expr) -> Option<Expression> {
        let span = expr.span;
        let made = |kind, ty, is_data| Some(Expression { kind, ty, is_data, span });
        match &expr.form {
            Form::Name(name) => self.variable(name, span),
            Form::Int(number) => made(ExpressionKind::Int(*number), StanType::INT, true),
            Form::Real(number) => made(ExpressionKind::Real(*number), StanType::REAL, true),
            Form::Target => {
                self.need_target(span, true);
                made(ExpressionKind::Target, StanType::REAL, self.is_data_here())
            }
            Form::Call(call) => {
                let call = self.value_of(call)?;
                let ty = call.signature.result?;
                let is_data = ty.is_int() || call.arguments.iter().all(|argument| argument.is_data);
                made(ExpressionKind::Call(call), ty, is_data)
            }
            Form::Array(elements) => self.array(elements, span),
            Form::Row(elements) => self.row(elements, span),
            Form::Index(of, indices) => self.indexed(of, indices, span),
            Form::Unary(operator, operand) => self.unary(*operator, operand, span),
            Form::Binary(..) => self.binary(expr),
            Form::Conditional(parts) => self.conditional(parts, span),
            Form::Paren(inner) => self.expression(inner),
            Form::Refused => None,
        }
    }

    /// All of some expressions; each is looked at, also after one that is wrong.
    pub(super) fn expressions(&mut self, all: &[Expr]) -> Option<Vec<Expression>> {
        let checked: Vec<_> = all.iter().map(|expr| self.expression(expr)).collect();
        checked.into_iter().collect()
    }

    /// An expression of a type that becomes `wanted`, made it.
    pub(super) fn of_type(&mut self, expr: &Expr, wanted: StanType, what: &str) -> Option<Expression> {
        let checked = self.expression(expr)?;
        if checked.ty.becomes(wanted) {
            return Some(promoted(checked, wanted));
        }
        let message = format!("{what} must be `{wanted}`, found `{}`", checked.ty);
        self.refuse(Finding::meaning(expr.span, message).label(format!("this is `{}`", checked.ty)))
    }

    pub(super) fn int(&mut self, expr: &Expr, what: &str) -> Option<Expression> {
        self.of_type(expr, StanType::INT, what)
    }

    fn variable(&mut self, name: &str, span: Span) -> Option<Expression> {
        let Some(id) = self.find(name) else {
            return self.unknown_variable(&Name { text: name.to_owned(), span });
        };
        let declared = &self.variables[id.0];
        if !declared.is_known {
            return None;
        }
        let (ty, role) = (declared.variable.ty, declared.variable.role);
        let is_data = declared.variable.is_data || self.context.block == ProgramBlock::GeneratedQuantities;
        if let VariableRole::Global(block) = role
            && self.context.in_sizes
            && !matches!(block, ProgramBlock::Data | ProgramBlock::TransformedData)
        {
            let message = format!("sizes depend on data only, and `{name}` is of the block `{}`", block.name());
            return self.refuse(Finding::meaning(span, message).help("compute the size in `transformed data`"));
        }
        Some(Expression { kind: ExpressionKind::Variable(id), ty, is_data, span })
    }

    fn array(&mut self, elements: &[Expr], span: Span) -> Option<Expression> {
        let elements = self.expressions(elements)?;
        let mut ty = elements.first()?.ty;
        for element in &elements {
            let Some(shared) = ty.shared_with(element.ty) else {
                let message = format!("the elements of an array have one type, found `{ty}` and `{}`", element.ty);
                return self.refuse(Finding::meaning(element.span, message));
            };
            ty = shared;
        }
        let Some(arrays) = ty.arrays.checked_add(1) else {
            return self.refuse(Finding::meaning(span, "this array has too many dimensions"));
        };
        let is_data = elements.iter().all(|element| element.is_data);
        let elements = elements.into_iter().map(|element| promoted(element, ty)).collect();
        Some(Expression { kind: ExpressionKind::Array(elements), ty: StanType { arrays, ..ty }, is_data, span })
    }

    fn row(&mut self, elements: &[Expr], span: Span) -> Option<Expression> {
        let elements = self.expressions(elements)?;
        let of_rows = elements.first().is_some_and(|first| first.ty == StanType::ROW_VECTOR);
        let (wanted, ty) =
            if of_rows { (StanType::ROW_VECTOR, StanType::MATRIX) } else { (StanType::REAL, StanType::ROW_VECTOR) };
        if let Some(wrong) = elements.iter().find(|element| !element.ty.becomes(wanted)) {
            let message = format!("brackets join reals to a row or rows to a matrix, found `{}`", wrong.ty);
            let finding = Finding::meaning(wrong.span, message).label(format!("expected `{wanted}`"));
            return self.refuse(finding.help("an array is written in braces: `{a, b}`"));
        }
        let is_data = elements.iter().all(|element| element.is_data);
        let elements = elements.into_iter().map(|element| promoted(element, wanted)).collect();
        Some(Expression { kind: ExpressionKind::Row(elements), ty, is_data, span })
    }

    fn indexed(&mut self, of: &Expr, indices: &[Index<Expr>], span: Span) -> Option<Expression> {
        let of = self.expression(of);
        let indices = self.indices(indices);
        let (of, indices) = (of?, indices?);
        let ty = self.type_of_elements(of.ty, &indices, span)?;
        let is_data = of.is_data;
        Some(Expression { kind: ExpressionKind::Index(Box::new(of), indices), ty, is_data, span })
    }

    pub(super) fn indices(&mut self, indices: &[Index<Expr>]) -> Option<Vec<Index>> {
        let checked: Vec<_> = indices.iter().map(|index| self.index(index)).collect();
        checked.into_iter().collect()
    }

    fn index(&mut self, index: &Index<Expr>) -> Option<Index> {
        let bound = "the bound of a range";
        Some(match index {
            Index::All => Index::All,
            Index::From(from) => Index::From(self.int(from, bound)?),
            Index::UpTo(to) => Index::UpTo(self.int(to, bound)?),
            Index::Between(from, to) => {
                let (from, to) = (self.int(from, bound), self.int(to, bound));
                Index::Between(from?, to?)
            }
            Index::Single(index) | Index::Multiple(index) => {
                let checked = self.expression(index)?;
                match checked.ty {
                    StanType::INT => Index::Single(checked),
                    StanType { base: BaseType::Int, arrays: 1 } => Index::Multiple(checked),
                    ty => {
                        let message = format!("an index is `int`, `array[] int` or a range, found `{ty}`");
                        return self.refuse(Finding::meaning(index.span, message));
                    }
                }
            }
        })
    }

    /// The type of what indices take out of a value.
    pub(super) fn type_of_elements(&mut self, of: StanType, indices: &[Index], span: Span) -> Option<StanType> {
        if indices.len() > of.dimensions() {
            let message = format!("`{of}` takes at most {}, found {}", count_of(of.dimensions()), indices.len());
            return self.refuse(Finding::meaning(span, message));
        }
        let is_single = |index: &Index| matches!(index, Index::Single(_));
        let (of_array, of_base) = indices.split_at(indices.len().min(usize::from(of.arrays)));
        // Single indices take dimensions away, fewer than there are.
        let arrays = of.arrays - of_array.iter().filter(|index| is_single(index)).count() as u8;
        let base = match (of.base, of_base) {
            (base, []) => base,
            (BaseType::Matrix, [one]) => {
                if is_single(one) {
                    BaseType::RowVector
                } else {
                    BaseType::Matrix
                }
            }
            (BaseType::Matrix, [row, column, ..]) => match (is_single(row), is_single(column)) {
                (true, true) => BaseType::Real,
                (true, false) => BaseType::RowVector,
                (false, true) => BaseType::Vector,
                (false, false) => BaseType::Matrix,
            },
            (base, [one, ..]) => {
                if is_single(one) {
                    BaseType::Real
                } else {
                    base
                }
            }
        };
        Some(StanType { base, arrays })
    }

    fn unary(&mut self, operator: UnaryOp, operand: &Expr, span: Span) -> Option<Expression> {
        let operand = self.expression(operand)?;
        let signatures = signatures::of(operator.function());
        let Match::One((), signature) = overload::choose(signatures.iter().map(|it| ((), it)), &[argument(&operand)])
        else {
            let message = format!("the operator `{}` does not take `{}`", operator.sign(), operand.ty);
            return self.refuse(Finding::meaning(span, message));
        };
        let (ty, is_data) = (signature.result?, operand.is_data);
        let operand = promoted(operand, signature.arguments.first()?.ty);
        Some(Expression { kind: ExpressionKind::Unary(operator, Box::new(operand)), ty, is_data, span })
    }

    /// An operator between operands. Long sums lean to the left: they are walked without a deep stack.
    fn binary(&mut self, expr: &Expr) -> Option<Expression> {
        let mut spine = Vec::new();
        let mut leftmost = expr;
        while let Form::Binary(operator, sides) = &leftmost.form {
            spine.push((*operator, leftmost.span, sides));
            leftmost = &sides.0;
        }
        let mut left = self.expression(leftmost);
        for (operator, span, sides) in spine.into_iter().rev() {
            let right = self.expression(&sides.1);
            left = left.zip(right).and_then(|(left, right)| self.join(operator, left, right, sides, span));
        }
        left
    }

    fn join(
        &mut self,
        operator: BinaryOp,
        left: Expression,
        right: Expression,
        sides: &(Expr, Expr),
        span: Span,
    ) -> Option<Expression> {
        let Some(signature) = operator_signature(operator, &left, &right) else {
            let message = format!("the operator `{}` does not take `{}` and `{}`", operator.sign(), left.ty, right.ty);
            let help = operator_help(operator, left.ty, right.ty);
            return self.refuse(Finding::meaning(span, message).help_if(help.map(str::to_owned)));
        };
        self.warn_of_operator(operator, &left, &right, sides, span);
        let [first, second] = signature.arguments.as_slice() else { return None };
        let is_data = left.is_data && right.is_data;
        let sides = (promoted(left, first.ty), promoted(right, second.ty));
        let kind = ExpressionKind::Binary(operator, Box::new(sides));
        Some(Expression { kind, ty: signature.result?, is_data, span })
    }

    fn warn_of_operator(
        &mut self,
        operator: BinaryOp,
        left: &Expression,
        right: &Expression,
        sides: &(Expr, Expr),
        span: Span,
    ) {
        let (a, b) = (self.sources.text(left.span), self.sources.text(right.span));
        if operator == BinaryOp::Divide && left.ty == StanType::INT && right.ty == StanType::INT {
            let finding = Finding::warning(span, "integers are divided, towards zero");
            let (a, b) = (shortened(a), shortened(b));
            self.report(finding.help(format!("write `{a} %/% {b}` if this is meant, else `{a} * 1.0 / {b}`")));
        } else if operator == BinaryOp::Power && left.ty.base == BaseType::Matrix && right.ty.is_scalar() {
            let finding = Finding::warning(span, "each element of the matrix is raised to the power");
            self.report(finding.help("write `.^` if this is meant, else `matrix_power`"));
        } else if let Form::Binary(inner, _) = &sides.0.form
            && operator.compares()
            && inner.compares()
        {
            let finding = Finding::warning(span, "the result of a comparison, 0 or 1, is compared");
            self.report(finding.help("write `a < b && b < c` to compare three values"));
        }
    }

    fn conditional(&mut self, (condition, then, otherwise): &(Expr, Expr, Expr), span: Span) -> Option<Expression> {
        let condition = self.int(condition, "the condition before `?`");
        let (then, otherwise) = (self.expression(then), self.expression(otherwise));
        let (condition, then, otherwise) = (condition?, then?, otherwise?);
        let Some(ty) = then.ty.shared_with(otherwise.ty) else {
            let message = format!("both values of `?` have one type, found `{}` and `{}`", then.ty, otherwise.ty);
            return self.refuse(Finding::meaning(span, message));
        };
        let is_data = condition.is_data && then.is_data && otherwise.is_data;
        let parts = (condition, promoted(then, ty), promoted(otherwise, ty));
        Some(Expression { kind: ExpressionKind::Conditional(Box::new(parts)), ty, is_data, span })
    }
}

/// What an expression is as an argument.
pub(super) fn argument(of: &Expression) -> ArgumentType {
    ArgumentType { ty: of.ty, is_data: of.is_data }
}

/// An expression with its integers made reals if `wanted` has reals.
pub(super) fn promoted(expression: Expression, wanted: StanType) -> Expression {
    if expression.ty == wanted {
        return expression;
    }
    let (is_data, span) = (expression.is_data, expression.span);
    Expression { kind: ExpressionKind::Promoted(Box::new(expression)), ty: wanted, is_data, span }
}

/// The signature that an operator has for its operands.
pub(super) fn operator_signature(operator: BinaryOp, left: &Expression, right: &Expression) -> Option<Signature> {
    let arguments = [argument(left), argument(right)];
    if operator == BinaryOp::IntegerDivide {
        let are_ints = arguments.iter().all(|argument| argument.ty == StanType::INT);
        return are_ints.then(|| Signature { arguments: arguments.to_vec(), result: Some(StanType::INT) });
    }
    operator.functions().iter().find_map(|function| {
        let signatures = signatures::of(function).iter().map(|signature| ((), signature));
        match overload::choose(signatures, &arguments) {
            Match::One((), signature) => Some(signature),
            Match::Several(_) | Match::None(_) => None,
        }
    })
}

fn operator_help(operator: BinaryOp, left: StanType, right: StanType) -> Option<&'static str> {
    let one_is_array = left.arrays > 0 || right.arrays > 0;
    match operator {
        BinaryOp::Multiply | BinaryOp::Divide if left == right && left.base.dimensions() == 1 && !one_is_array => {
            Some("element by element it is `.*` and `./`; a scalar product is `dot_product(a, b)`")
        }
        BinaryOp::Modulo | BinaryOp::IntegerDivide => Some("it takes integers; `fmod` takes reals, `to_int` data"),
        BinaryOp::Or | BinaryOp::And => Some("it takes integers, such as comparisons"),
        _ if one_is_array => Some("arrays have no arithmetic: declare a vector, or convert with `to_vector`"),
        _ => None,
    }
}

fn count_of(dimensions: usize) -> String {
    match dimensions {
        0 => "no index".into(),
        1 => "1 index".into(),
        more => format!("{more} indices"),
    }
}

/// The text of an operand for a message.
fn shortened(text: &str) -> &str {
    if text.len() > 40 || text.contains('\n') { "..." } else { text }
}
