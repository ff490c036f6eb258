//! Names of C++ functions as a compiler writes them (the Itanium ABI's mangling), made short: type and function, without
//! namespaces, template arguments and parameters.

/// Such as `Space::leapfrog` of `_ZNK7octopus4nuts5SpaceINS0_5ShapeI...E8leapfrogE...`; the text itself when it is no such name.
/// What is defined within a function, as lambdas are (`_ZZN...`), goes by the name of that function.
pub(super) fn short(name: &str) -> String {
    let names = match name.strip_prefix("_Z") {
        Some(rest) => names(rest.trim_start_matches('Z').as_bytes()),
        None => Vec::new(),
    };
    match names.as_slice() {
        [] => name.to_owned(),
        [only] => only.clone(),
        [.., kind, function] if kind.starts_with(|c: char| c.is_ascii_uppercase()) => format!("{kind}::{function}"),
        [.., function] => function.clone(),
    }
}

/// The parts of a name, the outermost first.
fn names(text: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(mut rest) = text.strip_prefix(b"N") else {
        // A function of no namespace.
        return source_name(text).map(|(name, _)| name).into_iter().collect();
    };
    // Of a constant object.
    rest = rest.strip_prefix(b"K").unwrap_or(rest);
    loop {
        match rest {
            [b'0'..=b'9', ..] => {
                let Some((name, after)) = source_name(rest) else { return names };
                names.push(name);
                rest = after;
            }
            [b'I', after @ ..] => rest = after_end(after),
            [b'C', b'1'..=b'3', after @ ..] => {
                let constructor = names.last().cloned().unwrap_or_default();
                names.push(constructor);
                rest = after;
            }
            _ => return names,
        }
    }
}

/// `leapfrog` of `8leapfrogE...`, and what follows.
fn source_name(text: &[u8]) -> Option<(String, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let length: usize = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
    let name = text.get(digits..digits + length)?;
    Some((String::from_utf8_lossy(name).into_owned(), &text[digits + length..]))
}

/// What follows the end of something whose beginning was read.
fn after_end(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = match rest {
            [] => return rest,
            [b'E', after @ ..] => return after,
            [b'0'..=b'9', ..] => source_name(rest).map_or(&[], |(_, after)| after),
            // A literal: its type is a letter here, its value has digits.
            [b'L', _, after @ ..] => {
                let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
                after[digits..].strip_prefix(b"E").unwrap_or(&after[digits..])
            }
            // A substitution: it ends in an underscore.
            [b'S' | b'T', after @ ..] => {
                let end = after.iter().position(|byte| *byte == b'_');
                &after[end.map_or(1.min(after.len()), |end| end + 1)..]
            }
            [b'N' | b'I' | b'X' | b'J' | b'Z' | b'F', after @ ..] => after_end(after),
            [_, after @ ..] => after,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened_to_type_and_function() {
        for (mangled, expected) in [
            ("_ZN7octopus3expEd", "exp"),
            ("_ZN7octopus4nuts13DualAveragingIdE4fromEdd", "DualAveraging::from"),
            (
                "_ZNK7octopus4nuts5SpaceINS0_5ShapeIddLi32ELi4EEENS0_18HierarchicalNormalEE8leapfrogEdRNS0_6VectorIdLi4EEES8_S8_Rd",
                "Space::leapfrog",
            ),
            (
                "_ZN7octopus4nuts10TransitionINS0_5ShapeIddLi32ELi4EEENS0_18HierarchicalNormalEE4Tree3addERKNS_6StreamERKNS0_6LimitsIdEEbdRb",
                "Tree::add",
            ),
            (
                "_ZN7octopus4nuts9run_chainINS0_5ShapeIddLi32ELi4EEENS0_18HierarchicalNormalEEEvRKNT0_IT_E4DataERKNS0_6LaunchINS6_1RENS6_1TEEEj",
                "run_chain",
            ),
            (
                "_ZN7octopus4nuts12StandardisedINS0_5ShapeIddLi32ELi4EEENS0_22HierarchicalNormalDataIddEEEC1ERKS5_RKNS0_8StandardIS3_EE",
                "Standardised::Standardised",
            ),
            (
                "_ZZN7octopus4nuts11standard_atINS0_5ShapeIddLi32ELi4EEENS0_22HierarchicalNormalDataIddEEEENS0_8StandardIT_EERKT0_jRKNS7_3VecEENKUldE_clEd",
                "standard_at",
            ),
            ("_Z5plaind", "plain"),
            ("nuts_run", "nuts_run"),
            ("_ZN9", "_ZN9"),
        ] {
            assert_eq!(short(mangled), expected);
        }
    }
}
