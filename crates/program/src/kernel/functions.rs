//! Functions such as e^x as statements of PTX, with the bits of [`octopus_random::exact`].
//!
//! `kernels/src/program_functions.cu` has an entry for each, from which NVIDIA's compiler made PTX with parameters and a
//! store. Here the parameters become moves from registers, and the store a move to one.

use crate::operation::Op;
use octopus_density::gpu::KernelText;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The entries' PTX.
const TEXT: KernelText = KernelText::Gzip(include_bytes!("../../../../kernels/ptx/program_functions.ptx.gz"));

/// How the names of entries begin; the rest is the operation's name.
const BEGINNING: &str = "program_function_";

/// Places in a template: what makes its registers and labels unlike others, and the registers of operands and result.
const SITE: &str = "{site}";
const OPERANDS: [&str; 2] = ["{first}", "{second}"];
const RESULT: &str = "{result}";

/// The statements of each function, by the operation's name.
static TEMPLATES: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    // Bytes that are damaged have no function.
    let text = TEXT.text().unwrap_or_default();
    text.split(".visible .entry ").skip(1).filter_map(template).collect()
});

/// Appends the statements that write the value of a function to the register `result`, which may be one of the operands.
///
/// They stand in braces. Their registers and labels have `site` in their names: a word that no other part of the text has.
/// Operands are registers of f64, or numbers as PTX writes them.
///
/// Returns whether the operation is such a function; of another one nothing is appended.
pub(crate) fn inline(function: Op, operands: &[&str], result: &str, site: &str, text: &mut String) -> bool {
    let Some(template) = TEMPLATES.get(function.name()) else { return false };
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let places = OPERANDS.into_iter().zip(operands.iter().copied()).chain([(SITE, site), (RESULT, result)]);
        let found = places.into_iter().find_map(|(place, word)| Some((word, after.strip_prefix(&place[1..])?)));
        let (word, after) = found.unwrap_or(("{", after));
        text.push_str(word);
        rest = after;
    }
    text.push_str(rest);
    true
}

/// Makes the template of an entry, whose text begins with its name.
fn template(entry: &str) -> Option<(String, String)> {
    let (head, rest) = entry.split_once('{')?;
    let name = head.split('(').next()?.strip_prefix(BEGINNING)?;
    let body = rest.rsplit_once('}')?.0;
    let arity = head.matches(".param").count().checked_sub(1)?;
    let mut whole = String::from("{\n");
    for line in body.lines().filter_map(|line| statement(line.trim(), arity)) {
        whole.push_str(&line);
        whole.push('\n');
    }
    whole.push_str("}\n");
    Some((name.to_owned(), whole))
}

/// Makes the template's line of a line of an entry; nothing of what only has to do with parameters, and of the end.
fn statement(line: &str, arity: usize) -> Option<String> {
    let (opcode, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let operands = operands.trim();
    match opcode {
        "" | "ret;" | "cvta.to.global.u64" => None,
        "ld.param.f64" | "ld.param.u64" => {
            let (to, parameter) = operands.split_once(',')?;
            let number: usize = parameter.rsplit_once('_')?.1.trim_end_matches("];").parse().ok()?;
            // The last parameter is where the result is stored.
            let operand = OPERANDS.get(number).filter(|_| number < arity)?;
            Some(format!("{} {}, {operand};", move_of(opcode), renamed(to)))
        }
        "st.global.f64" | "st.global.u64" => {
            Some(format!("{} {RESULT}, {}", move_of(opcode), renamed(operands.split_once(',')?.1.trim())))
        }
        _ => Some(renamed(line)),
    }
}

/// The move that stands for a load or a store: the compiler takes a number that it needs as bits as an integer.
fn move_of(access: &str) -> &'static str {
    if access.ends_with(".f64") { "mov.f64" } else { "mov.b64" }
}

/// Puts the site's place into the names of registers and labels, behind their first letters: `%fd_{site}_12` for `%fd12`.
fn renamed(line: &str) -> String {
    let mut new = String::with_capacity(2 * line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['%', '$']) {
        let letters = rest[at + 1..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |end| at + 1 + end);
        new.push_str(&rest[..letters]);
        new.extend(["_", SITE, "_"]);
        rest = &rest[letters..];
    }
    new.push_str(rest);
    new
}

#[cfg(test)]
mod tests;
