//! What stands for a number with a fault: twice it, half of it, and for an integer one more and one less.

use syn::visit::{self, Visit};
use syn::{Expr, Lit, UnOp};

const INTEGERS: [&str; 12] = ["usize", "u64", "u32", "u16", "u8", "u128", "isize", "i64", "i32", "i16", "i8", "i128"];

/// A number that is written out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Float {
        text: String,
        zero: bool,
    },
    Integer {
        value: u128,
        negative: bool,
        /// Its type, where it is written.
        suffix: String,
    },
}

impl Number {
    /// Returns the number that an expression is, with its sign.
    pub(super) fn of(expression: &Expr) -> Option<Self> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) if number.suffix().starts_with('f') => {
                    Some(Self::Float { text: number.to_string(), zero: number.base10_digits() == "0" })
                }
                Lit::Int(number) => {
                    let value = number.base10_parse().ok()?;
                    Some(Self::Integer { value, negative: false, suffix: number.suffix().to_owned() })
                }
                Lit::Float(number) => {
                    let zero = number.base10_parse::<f64>().is_ok_and(|value| value == 0.0);
                    Some(Self::Float { text: number.to_string(), zero })
                }
                _ => None,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match Self::of(&unary.expr)? {
                Self::Float { text, zero } => Some(Self::Float { text: format!("-{text}"), zero }),
                Self::Integer { value, suffix, .. } => Some(Self::Integer { value, negative: true, suffix }),
            },
            _ => None,
        }
    }

    /// Returns what stands there with each fault.
    pub(super) fn alternatives(&self) -> Vec<String> {
        match self {
            Self::Float { zero: true, .. } => vec!["1.0".to_owned()],
            Self::Float { text, .. } => scaled(text).to_vec(),
            Self::Integer { value, negative, suffix } => {
                let mut others: Vec<u128> = Vec::new();
                for other in [value.saturating_mul(2), value / 2, value.saturating_add(1), value.saturating_sub(1)] {
                    if other != *value && !others.contains(&other) {
                        others.push(other);
                    }
                }
                let sign = if *negative { "-" } else { "" };
                others.into_iter().map(|other| format!("{sign}{other}{suffix}")).collect()
            }
        }
    }
}

/// Returns twice and half of a float.
pub(super) fn scaled(float: &str) -> [String; 2] {
    [format!("2.0 * {float}"), format!("0.5 * {float}")]
}

/// Returns twice and half of an integer, one more and one less.
pub(super) fn moved(integer: &str) -> [String; 4] {
    [format!("2 * {integer}"), format!("{integer} / 2"), format!("{integer} + 1"), format!("{integer} - 1")]
}

/// Returns whether a type is one of floats.
pub(super) fn is_float(name: &str) -> bool {
    name == "f64" || name == "f32"
}

/// Returns whether a type is one of integers.
pub(super) fn is_integer(name: &str) -> bool {
    INTEGERS.contains(&name)
}

/// Returns whether a number with a point stands in an expression.
pub(super) fn has_float(expression: &Expr) -> bool {
    struct Finder(bool);
    impl<'a> Visit<'a> for Finder {
        fn visit_lit_float(&mut self, _: &'a syn::LitFloat) {
            self.0 = true;
        }
    }
    let mut finder = Finder(false);
    visit::visit_expr(&mut finder, expression);
    finder.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_doubled_halved_and_moved() {
        let of = |text: &str| Number::of(&syn::parse_str(text).unwrap()).map(|number| number.alternatives());
        let texts = |text: &str| of(text).unwrap();
        assert_eq!(texts("0.3"), ["2.0 * 0.3", "0.5 * 0.3"]);
        assert_eq!(texts("-1e-5_f32"), ["2.0 * -1e-5_f32", "0.5 * -1e-5_f32"]);
        assert_eq!(texts("0.0"), ["1.0"]);
        assert_eq!(texts("40"), ["80", "20", "41", "39"]);
        assert_eq!(texts("2u64"), ["4u64", "1u64", "3u64"]);
        assert_eq!((texts("1"), texts("0")), (vec!["2".to_owned(), "0".to_owned()], vec!["1".to_owned()]));
        assert_eq!(texts("-3"), ["-6", "-1", "-4", "-2"]);
        assert_eq!(of("\"2\""), None);
        assert!(has_float(&syn::parse_str("f(1) / 16.0").unwrap()));
    }
}
