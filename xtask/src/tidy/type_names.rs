//! A type's name says what it is, and a public type's is unique: no other public type of the workspace has it.

use super::{Complaint, Tree};
use std::collections::BTreeMap;

/// Names that more than one crate has, each the field's word for its own thing: numbers with named dimensions and
/// numbers on a device; what the driver calls a device and what a user chooses; random numbers and work in order.
const SHARED: [&str; 3] = ["Array", "Device", "Stream"];

/// Names that leave open what they are of.
const SAYING_NOTHING: [&str; 10] =
    ["Part", "Seats", "Berth", "Walk", "Standing", "Begun", "Moved", "Left", "Wanted", "Chosen"];

/// Crates that only tests use: nobody's interface.
const TEST_SUPPORT: [&str; 2] = ["crates/ptx/", "crates/softgpu/"];

const KINDS: [&str; 4] = ["struct", "enum", "trait", "type"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
    for (path, text) in tree.rust() {
        if !path.starts_with("crates/") || !path.contains("/src/") || TEST_SUPPORT.iter().any(|of| path.starts_with(of))
        {
            continue;
        }
        for (line, name, is_public) in types(text) {
            if SAYING_NOTHING.contains(&name) {
                let message = format!("`{name}` leaves open what it is: name it for what it holds");
                complaints.push(Complaint::error(path, message).at(line));
            }
            if is_public
                && let Some(home) = homes.insert(name, path)
                && !SHARED.contains(&name)
            {
                let message = format!("`{name}` is also in {home}: one name for one thing");
                complaints.push(Complaint::error(path, message).at(line));
            }
        }
    }
    complaints
}

/// The types of a file with their lines and whether they are public, but for types of its tests.
fn types(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    product.lines().enumerate().filter_map(|(at, line)| {
        let item = line.trim_start();
        let within = item.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, item)| item);
        let mut words = within.or(item.strip_prefix("pub ")).unwrap_or(item).split_whitespace();
        let kind = words.next()?;
        let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        KINDS.contains(&kind).then_some((at + 1, name, line.starts_with("pub ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_home_and_says_what_it_is() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "pub struct Draws<'a> {}\npub enum Array {}\nstruct Parts;\n"),
            ("crates/b/src/x.rs", "use a;\npub trait Draws: Sized {}\npub struct Array;\npub type Walk = u8;\n"),
            ("crates/b/src/y.rs", "#[cfg(test)]\nmod tests {\npub struct Draws;\n}\n"),
            ("crates/b/tests/y.rs", "pub struct Draws;\n"),
            ("xtask/src/main.rs", "pub struct Draws;\n"),
        ]);
        let found: Vec<String> = check(&tree).iter().map(Complaint::to_string).collect();
        assert_eq!(
            found,
            [
                "error: crates/b/src/x.rs:2: `Draws` is also in crates/a/src/lib.rs: one name for one thing",
                "error: crates/b/src/x.rs:4: `Walk` leaves open what it is: name it for what it holds",
            ]
        );
    }

    #[test]
    fn a_name_that_says_nothing_is_refused_of_private_types_too() {
        for (line, is_refused) in [
            ("struct Part<'a> {", true),
            ("    enum Left {", true),
            ("pub(crate) struct Chosen<T>(T);", true),
            ("pub(in crate::a) trait Moved {", true),
            ("struct Parts;", false),
            ("let part = Part { a };", false),
            ("// struct Part;", false),
        ] {
            let found = check(&Tree::of(&[("crates/a/src/lib.rs", line)]));
            assert_eq!(found.len(), usize::from(is_refused), "{line}");
        }
        // Two private types may share a name.
        let files = [("crates/a/src/lib.rs", "struct Draws;"), ("crates/b/src/lib.rs", "pub(crate) struct Draws;")];
        assert_eq!(check(&Tree::of(&files)), []);
    }
}
