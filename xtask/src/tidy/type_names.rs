//! A public type's name says what it is, and no other type of the workspace has it (unique names).

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
        for (line, name) in public_types(text) {
            if SAYING_NOTHING.contains(&name) {
                let message = format!("`{name}` leaves open what it is: name it for what it holds");
                complaints.push(Complaint::error(path, message).at(line));
            }
            if let Some(home) = homes.insert(name, path)
                && !SHARED.contains(&name)
            {
                let message = format!("`{name}` is also in {home}: one name for one thing");
                complaints.push(Complaint::error(path, message).at(line));
            }
        }
    }
    complaints
}

/// The public types of a file with their lines, those of its tests left out.
fn public_types(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    product.lines().enumerate().filter_map(|(at, line)| {
        let mut words = line.strip_prefix("pub ")?.split_whitespace();
        let kind = words.next()?;
        let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        KINDS.contains(&kind).then_some((at + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_home_and_says_what_it_is() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "pub struct Draws<'a> {}\npub enum Array {}\nstruct Part;\n"),
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
}
