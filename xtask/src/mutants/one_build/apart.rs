//! The packages that faults reach are built in the target folder of the workspace, beside the same packages without
//! faults. Neither must be taken for the other, and what faults do not reach is not built at all.

use super::packages::Packages;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The parts that a package above the faults is compiled in: any number that the profile has for no package sets it apart.
const UNITS: i64 = 2;
/// How long after 1970 the files were changed that are not to be built: long before any build.
const OLD: Duration = Duration::from_secs(1_000_000_000);

/// Sees to it that of the packages of the copy at `source` only those `above` the faults are built, and set apart from the
/// workspace's. The workspace itself must have been built.
///
/// Cargo tells what it builds apart by name, version and profile, not by the folder of the sources, and looks at how
/// old a file is to see whether it must be built. So those above have a profile of their own and files that are new;
/// the others, which are the same in the workspace, have files that are older than anything that was built.
///
/// # Errors
/// When a file cannot be read or written.
pub(super) fn set_apart(source: &Path, packages: &Packages, above: &BTreeSet<String>, profile: &str) -> Result<()> {
    set_times(source, SystemTime::UNIX_EPOCH + OLD)?;
    packages.folders(above).try_for_each(|folder| set_times(&source.join(folder), SystemTime::now()))?;
    let path = source.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let text = in_parts(&text, above, profile).with_context(|| format!("{} is not understood", path.display()))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the workspace's manifest in which each of the packages is compiled in [`UNITS`] parts.
fn in_parts(manifest: &str, packages: &BTreeSet<String>, profile: &str) -> Result<String> {
    let mut manifest: toml::Table = manifest.parse()?;
    for package in packages {
        let settings = ["profile", profile, "package", package].iter().try_fold(&mut manifest, |table, key| {
            let inner = table.entry(*key).or_insert_with(|| toml::Table::new().into());
            inner.as_table_mut().with_context(|| format!("{key} is no table"))
        })?;
        settings.insert("codegen-units".into(), UNITS.into());
    }
    Ok(toml::to_string(&manifest)?)
}

/// Sets when a file, or each file of a folder, was changed last.
fn set_times(path: &Path, time: SystemTime) -> Result<()> {
    let failed = || format!("cannot set the time of {}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(failed)? {
            set_times(&entry.with_context(failed)?.path(), time)?;
        }
        return Ok(());
    }
    File::options().write(true).open(path).and_then(|file| file.set_modified(time)).with_context(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{self, cargo};
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    /// Writes a workspace of a package and one that depends on it.
    fn write(root: &Path) {
        let write = |name: &str, text: &str| {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("Cargo.toml", "[workspace]\nmembers = [\"low\", \"high\"]\n");
        for (name, rest) in [("low", ""), ("high", "[dependencies]\nlow = { path = \"../low\" }\n")] {
            let manifest = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}");
            write(&format!("{name}/Cargo.toml"), &manifest);
            write(&format!("{name}/src/lib.rs"), "");
        }
    }

    /// Checks the workspace; returns the file of each package, and whether it was there already.
    fn check(root: &Path, target: &Path) -> BTreeMap<String, (PathBuf, bool)> {
        let mut check = cargo(root, &["check", "--release", "--message-format=json", "--offline"]);
        let text = run::output(check.env("CARGO_TARGET_DIR", target)).unwrap();
        let artifacts = text.lines().filter(|line| line.contains("compiler-artifact")).map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let file = value["filenames"][0].as_str().unwrap().into();
            (value["target"]["name"].as_str().unwrap().to_owned(), (file, value["fresh"].as_bool().unwrap()))
        });
        artifacts.collect()
    }

    #[test]
    fn packages_have_their_number_of_parts_beside_their_other_settings() {
        let manifest = "[profile.release.package.high]\nstrip = \"symbols\"\ncodegen-units = 16\n";
        let set = in_parts(manifest, &["high".to_owned(), "low".to_owned()].into(), "release").unwrap();
        let wanted = "[profile.release.package.high]\nstrip = \"symbols\"\ncodegen-units = 2\n\
                      [profile.release.package.low]\ncodegen-units = 2\n";
        assert_eq!(set.parse::<toml::Table>().unwrap(), wanted.parse().unwrap());
        assert!(in_parts("profile = 1", &["low".to_owned()].into(), "release").is_err());
    }

    #[test]
    fn packages_above_the_faults_are_built_apart_and_the_others_not_again() {
        let folder = std::env::temp_dir().join(format!("octopus-set-apart-{}", std::process::id()));
        let (root, copy, target) = (folder.join("root"), folder.join("copy"), folder.join("target"));
        write(&root);
        let workspace = check(&root, &target);
        // The copy is younger than what was built.
        write(&copy);
        set_apart(&copy, &Packages::read(&copy).unwrap(), &["high".to_owned()].into(), "release").unwrap();
        let apart = check(&copy, &target);
        assert_eq!(apart["low"], (workspace["low"].0.clone(), true));
        assert!(!apart["high"].1 && apart["high"].0 != workspace["high"].0);
        // Nor is the workspace's own built again.
        assert!(check(&root, &target).values().all(|(_, fresh)| *fresh));
        fs::remove_dir_all(folder).unwrap();
    }
}
