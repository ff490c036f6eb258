//! The files whose faults are ours to make: what the crates are built from, without their tests.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use syn::{Attribute, Item};

/// One file.
pub(super) struct Source {
    /// Its path from the workspace's folder.
    pub(super) path: String,
    /// The package, `octopus-runs`.
    pub(super) package: String,
    pub(super) text: String,
    pub(super) syntax: syn::File,
}

/// Reads the files of these `crates` of the workspace at `root`, in the order of their paths.
///
/// # Errors
/// When one cannot be read as Rust.
pub(super) fn read(root: &Path, crates: &[&str]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for name in crates {
        let folder = format!("crates/{name}/src");
        let mut paths = Vec::new();
        collect(root, &folder, &mut paths)?;
        paths.sort();
        let mut of_crate = Vec::new();
        for path in paths {
            let text = fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
            let syntax = syn::parse_file(&text).with_context(|| format!("{path} cannot be read as Rust"))?;
            of_crate.push(Source { path, package: format!("octopus-{name}"), text, syntax });
        }
        let tests: BTreeSet<String> = of_crate.iter().flat_map(modules_of_tests).collect();
        let is_test = |path: &str| {
            let inside =
                |module: &String| path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with(['/', '.']));
            tests.iter().any(inside)
        };
        sources.extend(of_crate.into_iter().filter(|source| !is_test(&source.path)));
    }
    Ok(sources)
}

fn collect(root: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(root.join(folder)).with_context(|| format!("cannot read {folder}"))? {
        let entry = entry.context("cannot read a folder's entry")?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(root, &path, paths)?;
        } else if path.ends_with(".rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Returns the paths, without `.rs`, of the modules that a file has for tests only.
fn modules_of_tests(source: &Source) -> Vec<String> {
    let stem = source.path.strip_suffix(".rs").unwrap_or(&source.path);
    let (parent, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let folder = if ["lib", "main", "mod"].contains(&name) { parent } else { stem };
    let of_tests = |item: &Item| match item {
        Item::Mod(module) if module.content.is_none() && is_of_tests(&module.attrs) => {
            Some(format!("{folder}/{}", module.ident))
        }
        _ => None,
    };
    source.syntax.items.iter().filter_map(of_tests).collect()
}

/// Returns whether what has these attributes is a test, or built for tests only.
pub(super) fn is_of_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = || attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"));
        attribute.path().is_ident("test") || (attribute.path().is_ident("cfg") && condition())
    })
}

/// Returns the lines that a diff without context says are new, with their files.
pub(super) fn changed_lines(diff: &str) -> Vec<(String, RangeInclusive<usize>)> {
    let mut changed = Vec::new();
    let mut file = String::new();
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("+++ ") {
            file = path.strip_prefix("b/").unwrap_or_default().to_owned();
        } else if let Some(new) = line.strip_prefix("@@ -").and_then(|rest| rest.split(['+', ' ']).nth(2)) {
            let (first, count) = new.split_once(',').unwrap_or((new, "1"));
            if let (Ok(first), Ok(count)) = (first.parse::<usize>(), count.parse::<usize>())
                && count > 0
            {
                changed.push((file.clone(), first..=first + count - 1));
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_lines_are_read_from_a_diff() {
        let diff = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +3,4 @@ fn f()\n+a\n@@ -9 +12 @@\n+b\n\
                    @@ -20,3 +30,0 @@\n-c\n--- a/y.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-d\n";
        assert_eq!(changed_lines(diff), [("x.rs".to_owned(), 3..=6), ("x.rs".to_owned(), 12..=12)]);
    }

    #[test]
    fn files_of_tests_are_left_out() {
        let root = std::env::temp_dir().join(format!("octopus-own-sources-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = root.join("crates/a/src").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("lib.rs", "mod b;\n#[cfg(test)]\nmod twin;\n");
        write("b.rs", "#[cfg(test)]\nmod tests;\n");
        for name in ["b/tests.rs", "b/tests/deep.rs", "twin.rs", "twins.rs"] {
            write(name, "");
        }
        let sources = read(&root, &["a"]).unwrap();
        let paths: Vec<&str> = sources.iter().map(|source| &*source.path).collect();
        assert_eq!(paths, ["crates/a/src/b.rs", "crates/a/src/lib.rs", "crates/a/src/twins.rs"]);
        fs::remove_dir_all(root).unwrap();
    }
}
