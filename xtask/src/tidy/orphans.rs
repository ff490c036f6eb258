//! Every Rust file is a part of some crate: one that nobody names is not compiled, and its tests never run.

use super::{Complaint, Tree};

/// Files that cargo or the compiler finds by themselves.
const ROOTS: [&str; 4] = ["lib.rs", "main.rs", "build.rs", "mod.rs"];
/// Folders of which every file is a crate of its own.
const FOLDERS: [&str; 5] = ["tests", "benches", "examples", "bin", "fuzz_targets"];

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let orphan = |path: &str| Complaint::error(path, "no `mod` names it, so it is not compiled: name it, or delete it");
    tree.rust().map(|(path, _)| path).filter(|path| !is_root(path) && !is_named(tree, path)).map(orphan).collect()
}

fn is_root(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (file, folder) = (parts.next().unwrap_or(path), parts.next());
    ROOTS.contains(&file) || folder.is_some_and(|folder| FOLDERS.contains(&folder))
}

fn is_named(tree: &Tree, path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let declaration = format!("mod {};", file.trim_end_matches(".rs"));
    let parents =
        [format!("{folder}.rs"), format!("{folder}/mod.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs")];
    let declares = |text: &str| text.lines().any(|line| line.trim_end().ends_with(&declaration));
    // `include!` and `#[path]` name the file itself.
    let (alone, below) = (format!("\"{file}\""), format!("/{file}\""));
    parents.iter().any(|parent| tree.text(parent).is_some_and(declares))
        || tree.rust().any(|(_, text)| text.contains(&alone) || text.contains(&below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_every_way_to_name_them() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "mod one;\npub(crate) mod two;\ninclude!(\"table.rs\");\n"),
            ("crates/a/src/one.rs", "#[cfg(test)]\nmod tests;\n"),
            ("crates/a/src/one/tests.rs", ""),
            ("crates/a/src/one/lost.rs", ""),
            ("crates/a/src/two.rs", "// mod lost; is said here\n"),
            ("crates/a/src/table.rs", ""),
            ("crates/a/tests/whole.rs", "#[path = \"parts/odd.rs\"]\nmod odd;\n"),
            ("crates/a/tests/parts/odd.rs", ""),
            ("crates/a/tests/many/main.rs", "mod part;\n"),
            ("crates/a/tests/many/part.rs", ""),
            ("crates/a/tests/many/apart.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|complaint| complaint.path).collect();
        assert_eq!(found, ["crates/a/src/one/lost.rs", "crates/a/tests/many/apart.rs"]);
    }
}
