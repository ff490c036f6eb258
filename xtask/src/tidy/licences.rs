//! Both licences are there and every package is under them.

use super::manifest::entries;
use super::{Complaint, Tree};

/// Each licence's file and words that only it has.
const LICENCES: [(&str, &str); 2] = [
    ("LICENSE-MIT", "Permission is hereby granted, free of charge"),
    ("LICENSE-APACHE", "Licensed under the Apache License, Version 2.0"),
];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let texts = LICENCES.into_iter().filter_map(|(path, words)| match tree.text(path) {
        Some(text) if text.contains(words) => None,
        Some(_) => Some(Complaint::error(path, "is not the licence that its name says")),
        None => Some(Complaint::error(path, "is missing")),
    });
    let packages = tree.packages().filter_map(|(folder, manifest)| {
        let inherits = |text: &str| text.replace(' ', "") == "license.workspace=true";
        let licensed = entries(manifest).iter().any(|entry| entry.section == "package" && inherits(entry.text));
        (!licensed).then(|| Complaint::error(&format!("{folder}/Cargo.toml"), "lacks `license.workspace = true`"))
    });
    texts.chain(packages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_texts_and_every_package() {
        let [mit, apache] = LICENCES;
        let manifest = "[package]\nlicense.workspace = true";
        let good = [mit, apache, ("crates/a/Cargo.toml", manifest)];
        assert_eq!(check(&Tree::of(&good)), []);
        assert_eq!(check(&Tree::of(&[mit, ("LICENSE-APACHE", mit.1)])).len(), 1);
        assert_eq!(check(&Tree::of(&[])).len(), 2);
        let found = check(&Tree::of(&[mit, apache, ("xtask/Cargo.toml", "[package]\nlicense = \"GPL-3.0\"")]));
        assert_eq!((found.len(), found[0].path.as_str()), (1, "xtask/Cargo.toml"));
    }
}
