//! The same dependencies for everyone: `Cargo.lock` is there, and has crates of crates.io only.

use super::{Complaint, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(lock) = tree.text("Cargo.lock") else {
        return vec![Complaint::error("Cargo.lock", "is missing: commit it, the binary is built from it")];
    };
    // A source other than crates.io's index would not build elsewhere.
    let foreign = lock.lines().enumerate().filter(|(_, line)| {
        line.strip_prefix("source = ")
            .is_some_and(|source| source.trim_matches('"') != "registry+https://github.com/rust-lang/crates.io-index")
    });
    foreign
        .map(|(number, line)| Complaint::error("Cargo.lock", format!("{line}: only crates.io is used")).at(number + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_must_be_there_and_name_only_the_public_registry() {
        let package = |source: &str| format!("[[package]]\nname = \"a\"\nsource = \"{source}\"\n");
        let good = package("registry+https://github.com/rust-lang/crates.io-index");
        assert_eq!(check(&Tree::of(&[("Cargo.lock", &good)])), []);
        let bad = package("git+https://example.org/a#0123");
        assert_eq!(check(&Tree::of(&[("Cargo.lock", &bad)]))[0].line, Some(3));
        assert_eq!(check(&Tree::of(&[("Cargo.toml", "")])).len(), 1);
    }
}
