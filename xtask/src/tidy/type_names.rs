//! A type's name says what it is. A public type's is unique: no other public type of the workspace has it. A private
//! type's stands at most twice: a reader who looks for it must not go through many of one name.

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
    let mut private: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
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
            if is_public || is_of_tests(path) {
                continue;
            }
            let places = private.entry(name).or_default();
            if let [first, second, ..] = places[..] {
                let message = format!("`{name}` stands in {first} and {second} already: name it for what it holds");
                complaints.push(Complaint::error(path, message).at(line));
            }
            places.push(path);
        }
    }
    complaints
}

/// Whether a file holds nothing but tests.
fn is_of_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

/// The types of a file with their lines and whether they are public, but for types of its tests. A `type` that is
/// indented belongs to a trait, which has named it.
fn types(text: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    product.lines().enumerate().filter_map(|(at, line)| {
        let item = line.trim_start();
        let within = item.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, item)| item);
        let mut words = within.or(item.strip_prefix("pub ")).unwrap_or(item).split_whitespace();
        let kind = words.next()?;
        let is_associated = kind == "type" && line.starts_with(' ');
        let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        (KINDS.contains(&kind) && !is_associated).then_some((at + 1, name, line.starts_with("pub ")))
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
            ("type Left = u8;", true),
            ("    type Left = u8;", false),
            ("let part = Part { a };", false),
            ("// struct Part;", false),
        ] {
            let found = check(&Tree::of(&[("crates/a/src/lib.rs", line)]));
            assert_eq!(found.len(), usize::from(is_refused), "{line}");
        }
    }

    #[test]
    fn a_private_name_is_refused_in_its_third_place() {
        let mut files = vec![
            ("crates/a/src/lib.rs", "struct State;"),
            ("crates/b/src/lib.rs", "pub(crate) enum State {}"),
            // Public types, associated types, types of tests and types of crates that are not shipped do not count.
            ("crates/c/src/lib.rs", "pub trait State {}\n    type State = u8;\n"),
            ("crates/c/src/x.rs", "#[cfg(test)]\nmod tests {\n    struct State;\n}\n"),
            ("crates/c/src/x/tests.rs", "struct State;"),
            ("crates/c/src/x/tests/y.rs", "struct State;"),
            ("crates/c/tests/z.rs", "struct State;"),
            ("crates/ptx/src/lib.rs", "struct State;"),
            ("xtask/src/main.rs", "struct State;"),
        ];
        assert_eq!(check(&Tree::of(&files)), []);
        let further = [
            ("crates/d/src/lib.rs", "use a;\nfn f() {\n    struct State;\n}\n"),
            ("crates/e/src/lib.rs", "type State = u8;"),
        ];
        files.extend(further);
        let found: Vec<String> = check(&Tree::of(&files)).iter().map(Complaint::to_string).collect();
        let refused =
            "`State` stands in crates/a/src/lib.rs and crates/b/src/lib.rs already: name it for what it holds";
        assert_eq!(
            found,
            [format!("error: crates/d/src/lib.rs:3: {refused}"), format!("error: crates/e/src/lib.rs:1: {refused}"),]
        );
    }
}
