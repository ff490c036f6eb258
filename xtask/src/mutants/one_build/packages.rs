//! The packages of the workspace and what they depend on: which of them faults can reach, and with what features they
//! are all built.

use super::suite::WITHOUT;
use crate::run::{self, cargo};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of a package without a test, written into a copy of the workspace.
///
/// Cargo builds what others have made with the features that the chosen packages want: with one package chosen, 40 to 60
/// of them anew. This package wants what all of them want, so whoever chooses it too has everything as in a build of
/// the workspace.
pub(super) const EVERY_FEATURE: &str = "every-feature";

/// The packages of a workspace, but for xtask, which no trial builds.
#[derive(Debug, Deserialize)]
pub(super) struct Packages {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    /// `dev` and `build`; nothing for what the package itself needs.
    kind: Option<String>,
    /// The folder of one that is in the workspace.
    path: Option<PathBuf>,
    features: Vec<String>,
    uses_default_features: bool,
}

impl Packages {
    /// Asks cargo about the workspace at `root`.
    ///
    /// # Errors
    /// When it does not tell.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut metadata = cargo(root, &["metadata", "--no-deps", "--offline", "--format-version=1"]);
        let mut packages: Self = serde_json::from_str(&run::output(&mut metadata)?)
            .context("cargo's list of packages is not of the form that is known here")?;
        packages.packages.retain(|package| !["xtask", EVERY_FEATURE].contains(&&*package.name));
        Ok(packages)
    }

    /// Returns the packages in which faults of the packages with these `names` can be noticed: those, and what depends
    /// on them, if only for its tests.
    pub(super) fn above(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut above = names.clone();
        loop {
            let reached = |dependency: &Dependency| {
                above.contains(&dependency.name) && dependency.path.is_some() && dependency.kind.is_none()
            };
            let reached_by_tests = |package: &Package, dependency: &Dependency| {
                above.contains(&dependency.name) && dependency.path.is_some() && !WITHOUT.contains(&&*package.name)
            };
            let more = self.packages.iter().filter(|package| !above.contains(&package.name));
            let more = more.filter(|package| {
                package.dependencies.iter().any(|one| reached(one) || reached_by_tests(package, one))
            });
            let more: Vec<String> = more.map(|package| package.name.clone()).collect();
            if more.is_empty() {
                return above;
            }
            above.extend(more);
        }
    }

    /// Returns the folders of the packages with these `names`, from the workspace's folder.
    pub(super) fn folders<'a>(&'a self, names: &'a BTreeSet<String>) -> impl Iterator<Item = &'a Path> {
        let chosen = self.packages.iter().filter(|package| names.contains(&package.name));
        chosen.filter_map(|package| self.folder(package))
    }

    fn folder<'a>(&self, package: &'a Package) -> Option<&'a Path> {
        package.manifest_path.parent()?.strip_prefix(&self.workspace_root).ok()
    }

    /// Writes [`EVERY_FEATURE`] among the crates of the copy of the workspace at `source`.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub(super) fn write_every_feature(&self, source: &Path) -> Result<()> {
        let folder = source.join("crates").join(EVERY_FEATURE);
        let failed = || format!("cannot write the package {}", folder.display());
        fs::create_dir_all(folder.join("src")).with_context(failed)?;
        fs::write(folder.join("src/lib.rs"), "").with_context(failed)?;
        fs::write(folder.join("Cargo.toml"), self.every_feature()).with_context(failed)
    }

    /// The manifest: the packages with what they need of others, and beside them what their tests need.
    fn every_feature(&self) -> String {
        let mut text = format!(
            "[package]\nname = \"{EVERY_FEATURE}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[lib]\n\
             test = false\ndoctest = false\n\n[dependencies]\n"
        );
        // Writing into a string does not fail.
        for package in &self.packages {
            let folder = Path::new("../..").join(self.folder(package).unwrap_or(&package.manifest_path));
            let _ = writeln!(text, "{} = {{ path = {:?} }}", package.name, folder.display().to_string());
        }
        // Cargo takes each once, whoever wants it.
        let mut of_tests: BTreeMap<(&str, &str), (bool, BTreeSet<&str>)> = BTreeMap::new();
        for one in self.packages.iter().flat_map(|package| &package.dependencies) {
            if one.kind.as_deref() == Some("dev") && one.path.is_none() {
                let (default, features) = of_tests.entry((&one.name, &one.req)).or_default();
                *default |= one.uses_default_features;
                features.extend(one.features.iter().map(String::as_str));
            }
        }
        for (number, ((name, req), (default, features))) in of_tests.into_iter().enumerate() {
            // Two versions of one are told apart by a name that is not theirs.
            let _ = writeln!(
                text,
                "of-tests-{number} = {{ package = {name:?}, version = {req:?}, default-features = {default}, features = {:?} }}",
                Vec::from_iter(features)
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn packages(list: &[(&str, Vec<Value>)]) -> Packages {
        let package = |(name, dependencies): &(&str, Vec<Value>)| json!({ "name": name, "manifest_path": format!("/w/{name}/Cargo.toml"), "dependencies": dependencies });
        let packages: Vec<Value> = list.iter().map(package).collect();
        serde_json::from_value(json!({ "packages": packages, "workspace_root": "/w" })).unwrap()
    }

    /// A dependency in the workspace where it has a path.
    fn on(name: &str, kind: Option<&str>, path: Option<&str>) -> Value {
        json!({ "name": name, "req": "^1.2", "kind": kind, "path": path, "features": ["f"],
            "uses_default_features": false })
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn faults_reach_what_depends_on_their_package_if_only_for_its_tests() {
        let local = |name: &str, kind| on(name, kind, Some("/w"));
        let packages = packages(&[
            ("low", vec![]),
            ("high", vec![local("middle", None)]),
            ("middle", vec![local("low", None), on("serde", None, None)]),
            ("beside", vec![local("middle", Some("dev"))]),
            // Its tests are not asked, so that faults do not reach it.
            (WITHOUT[0], vec![local("low", Some("dev"))]),
            ("on-it", vec![local(WITHOUT[0], None)]),
        ]);
        assert_eq!(packages.above(&set(&["low"])), set(&["low", "middle", "high", "beside"]));
        assert_eq!(packages.above(&set(&["high"])), set(&["high"]));
        assert_eq!(packages.above(&set(&["serde"])), set(&["serde"]));
        assert_eq!(packages.folders(&set(&["low", "high"])).collect::<Vec<_>>(), [Path::new("low"), Path::new("high")]);
    }

    #[test]
    fn every_feature_wants_the_packages_and_what_their_tests_want() {
        let mut wanted_whole = on("insta", Some("dev"), None);
        wanted_whole["uses_default_features"] = json!(true);
        wanted_whole["features"] = json!(["g"]);
        let packages = packages(&[
            ("low", vec![on("serde", None, None), on("insta", Some("dev"), None)]),
            ("high", vec![on("low", None, Some("/w/low")), wanted_whole]),
        ]);
        let manifest: toml::Table = toml::from_str(&packages.every_feature()).unwrap();
        let wanted = json!({
            "low": { "path": "../../low" },
            "high": { "path": "../../high" },
            "of-tests-0": { "package": "insta", "version": "^1.2", "default-features": true, "features": ["f", "g"] },
        });
        assert_eq!(serde_json::to_value(&manifest["dependencies"]).unwrap(), wanted);
        // Nothing is built for it.
        assert_eq!(manifest["lib"]["test"].as_bool(), Some(false));
    }

    #[test]
    fn cargo_tells_the_packages_of_this_workspace() {
        let packages = Packages::read(&crate::place::root()).unwrap();
        assert_eq!(packages.above(&set(&["octopus-cli"])), set(&["octopus-cli"]));
        let of_diag = packages.above(&set(&["octopus-diag"]));
        assert!(of_diag.contains("octopus-report") && !of_diag.contains("octopus-trace"), "{of_diag:?}");
    }
}
