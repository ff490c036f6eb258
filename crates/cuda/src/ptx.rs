//! Reads what a PTX text says of its kernels' parameters.
//!
//! The driver takes a launch's arguments as bare pointers, as many as the kernel has parameters: one too few and it
//! reads beyond them. So every launch is compared to the declaration first.

use crate::Element;
use std::collections::BTreeMap;
use std::fmt;

/// One parameter of a kernel, by how many bytes the driver reads for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// `.u`, `.s` or `.b`, with the number of bytes; addresses have 8.
    Integer(usize),
    /// `.f`, with the number of bytes.
    Float(usize),
    /// A structure by value, with the number of bytes.
    Structure(usize),
    /// A kind that this program does not know: nothing fits it.
    Other,
}

impl Parameter {
    /// Returns how a value of this type is passed.
    pub(crate) const fn of<T: Element>() -> Self {
        if T::IS_FLOAT { Self::Float(size_of::<T>()) } else { Self::Integer(size_of::<T>()) }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(bytes) => write!(f, "integer of {} bits", 8 * bytes),
            Self::Float(bytes) => write!(f, "float of {} bits", 8 * bytes),
            Self::Structure(bytes) => write!(f, "structure of {bytes} bytes"),
            Self::Other => f.write_str("an unknown kind"),
        }
    }
}

/// Returns a list of parameters as messages show it.
pub(crate) fn shown(parameters: &[Parameter]) -> String {
    parameters.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns the kernels of a PTX text and their parameters.
pub(crate) fn kernels(ptx: &str) -> BTreeMap<String, Vec<Parameter>> {
    let code: String =
        ptx.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join(" ");
    let mut kernels = BTreeMap::new();
    for declaration in code.split(".entry").skip(1) {
        let end = declaration.find(['{', ';']).unwrap_or(declaration.len());
        let (name, parameters) = match declaration[..end].split_once('(') {
            Some((name, rest)) => (name, rest.split(')').next().unwrap_or_default()),
            // A kernel without parameters may leave the parentheses out; directives may follow its name.
            None => (&declaration[..end], ""),
        };
        let Some(name) = name.split_whitespace().next() else { continue };
        let listed = parameters.split(',').filter(|text| text.contains(".param")).map(parameter).collect();
        kernels.insert(name.to_owned(), listed);
    }
    kernels
}

/// Parses a declaration such as `.param .u64 name`; an array (`.param .align 8 .b8 name[96]`) is a structure by value.
fn parameter(text: &str) -> Parameter {
    let (declared, count) = match text.split_once('[') {
        Some((declared, rest)) => (declared, rest.split_once(']').map(|(count, _)| count.trim())),
        None => (text, None),
    };
    let kind = declared.split_whitespace().find_map(|word| match word {
        ".u8" | ".s8" | ".b8" => Some(Parameter::Integer(1)),
        ".u16" | ".s16" | ".b16" => Some(Parameter::Integer(2)),
        ".u32" | ".s32" | ".b32" => Some(Parameter::Integer(4)),
        ".u64" | ".s64" | ".b64" => Some(Parameter::Integer(8)),
        ".f32" => Some(Parameter::Float(4)),
        ".f64" => Some(Parameter::Float(8)),
        _ => None,
    });
    match (kind, count) {
        (Some(kind), None) if !text.contains('[') => kind,
        (Some(Parameter::Integer(bytes) | Parameter::Float(bytes)), Some(count)) => {
            let size = count.parse().ok().and_then(|count: usize| count.checked_mul(bytes));
            size.map_or(Parameter::Other, Parameter::Structure)
        }
        _ => Parameter::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "
.version 8.4 // .entry not_this_one(
.visible .entry axpy(
    .param .f64 axpy_param_0,
    .param .u64 .ptr .global .align 8 axpy_param_1,
    .param .u32 axpy_param_2 // , .param .u32 gone
)
.maxntid 256, 1, 1
{ ret; }
.entry nothing { ret; }
.visible .entry empty()
{ ret; }
.weak .entry by_value(.param .align 8 .b8 by_value_param_0[64], .param .f32 x) { ret; }
.entry odd(.param .b32 words[6], .param .b8 open[, .param .b8 none[], .param .b64 many[18446744073709551615],
    .param .b128 wide) { ret; }
";

    #[test]
    fn declarations_are_read_in_every_form_that_compilers_write() {
        let kernels = kernels(PTX);
        assert_eq!(kernels.keys().collect::<Vec<_>>(), ["axpy", "by_value", "empty", "nothing", "odd"]);
        assert_eq!(kernels["axpy"], [Parameter::Float(8), Parameter::Integer(8), Parameter::Integer(4)]);
        assert_eq!(kernels["by_value"], [Parameter::Structure(64), Parameter::Float(4)]);
        // What is not understood fits nothing.
        let unknown = [Parameter::Other; 4];
        assert_eq!(kernels["odd"], [&[Parameter::Structure(24)][..], &unknown].concat());
        assert!(kernels["nothing"].is_empty() && kernels["empty"].is_empty());
    }

    #[test]
    fn text_that_is_no_ptx_has_no_kernels_and_does_no_harm() {
        for text in ["", ".entry", ".entry (", ".entry x(.param", "\u{fffd}.entry \u{fffd}(\u{fffd})"] {
            let _ = kernels(text);
        }
        assert!(kernels("entry x()").is_empty());
    }
}
