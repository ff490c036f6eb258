//! Unsafe code has one door in a crate: its module `ffi`.

use super::{Complaint, Tree};

/// In pieces, lest this file complain about itself.
const ALLOWANCE: &str = concat!("allow(", "unsafe_code");

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    tree.rust()
        .filter(|(path, _)| !is_door(path))
        .flat_map(|(path, text)| {
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(ALLOWANCE));
            lines.map(move |(number, _)| {
                Complaint::error(path, "unsafe code is allowed in a crate's module `ffi` only").at(number + 1)
            })
        })
        .collect()
}

fn is_door(path: &str) -> bool {
    path.ends_with("/src/ffi.rs") || path.contains("/src/ffi/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_door_may_open() {
        let text = format!("//! Words.\n#![{ALLOWANCE})]\n");
        let at = |path: &str| check(&Tree::of(&[(path, &text)])).into_iter().map(|c| c.line).collect::<Vec<_>>();
        assert_eq!(at("crates/a/src/ffi.rs"), []);
        assert_eq!(at("crates/a/src/ffi/driver.rs"), []);
        assert_eq!(at("crates/a/src/lib.rs"), [Some(2)]);
        assert_eq!(at("crates/a/src/not_ffi.rs"), [Some(2)]);
    }
}
