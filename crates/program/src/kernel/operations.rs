//! What each primitive operation is in PTX.

use super::text::{BodyText, number};
use crate::operation::Op;

/// Adds an operation and returns the register of its result; nothing where it has no text yet. Operands are registers or
/// numbers.
pub(super) fn operate(text: &mut BodyText, op: Op, args: [&str; 3]) -> Option<String> {
    let [a, b, c] = args;
    let (zero, one) = (number(0.0), number(1.0));
    Some(match op {
        Op::Add => text.real("add.rn.f64", &[a, b]),
        Op::Sub => text.real("sub.rn.f64", &[a, b]),
        Op::Mul => text.real("mul.rn.f64", &[a, b]),
        Op::Div => text.real("div.rn.f64", &[a, b]),
        Op::Neg => text.real("neg.f64", &[a]),
        Op::Abs => text.real("abs.f64", &[a]),
        Op::Sqrt => text.real("sqrt.rn.f64", &[a]),
        Op::Sign => choose(text, "lt", [a, &zero], [&number(-1.0), &one]),
        Op::Max => choose(text, "lt", [b, a], [a, b]),
        Op::Min => choose(text, "lt", [a, b], [a, b]),
        Op::Less => choose(text, "lt", [a, b], [&one, &zero]),
        // A NaN is not 0.
        Op::Select => choose(text, "neu", [a, &zero], [b, c]),
        Op::MulAdd => {
            let product = text.real("mul.rn.f64", &[a, b]);
            text.real("add.rn.f64", &[&product, c])
        }
        Op::MulSub => {
            let product = text.real("mul.rn.f64", &[a, b]);
            text.real("sub.rn.f64", &[&product, c])
        }
        Op::SubMul => {
            let product = text.real("mul.rn.f64", &[a, b]);
            text.real("sub.rn.f64", &[c, &product])
        }
        Op::ExpMinusAbs => {
            let size = text.real("abs.f64", &[a]);
            let minus = text.real("neg.f64", &[&size]);
            return operate(text, Op::Exp, [&minus, "", ""]);
        }
        Op::AddPositive => {
            let positive = choose(text, "lt", [&zero, b], [b, &zero]);
            text.real("add.rn.f64", &[a, &positive])
        }
        Op::WhereNegative => choose(text, "lt", [b, &zero], [a, &one]),
        function => return text.function(function, &args[..function.arity()]),
    })
}

/// The first of two numbers where a comparison holds, else the second.
fn choose(text: &mut BodyText, compare: &str, [a, b]: [&str; 2], [yes, no]: [&str; 2]) -> String {
    let is = text.truth(&format!("setp.{compare}.f64"), &[a, b]);
    text.real("selp.f64", &[yes, no, &is])
}
