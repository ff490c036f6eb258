//! As much of a `Cargo.toml` as the checks need: which keys stand in which section.

/// One `key = value` line, or a section of its own such as `[dependencies.serde]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The section's name without brackets, e.g. `dev-dependencies`.
    pub(super) section: &'a str,
    /// The key's first word: of `serde.workspace = true` it is `serde`.
    pub(super) key: &'a str,
    /// The whole line.
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
}

/// All entries of a manifest.
pub(super) fn entries(manifest: &str) -> Vec<Entry<'_>> {
    let mut section = "";
    let mut entries = Vec::new();
    for (number, text) in manifest.lines().enumerate() {
        let (text, line) = (text.trim(), number + 1);
        if let Some(name) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim_matches(['[', ']']);
            if let Some((parent, key)) = section.rsplit_once('.').filter(|(parent, _)| is_dependencies(parent)) {
                entries.push(Entry { section: parent, key, text, line });
            }
        } else if let Some((left, _)) = text.split_once('=').filter(|_| !text.starts_with('#')) {
            let key = left.trim().split('.').next().unwrap_or_default().trim_matches('"');
            entries.push(Entry { section, key, text, line });
        }
    }
    entries
}

/// Whether a section lists dependencies, for whatever target.
fn is_dependencies(section: &str) -> bool {
    section.rsplit('.').next().is_some_and(|last| last.ends_with("dependencies"))
}

/// The Octopus crates that a manifest depends on, without their prefix.
pub(super) fn octopus_dependencies(manifest: &str) -> Vec<(Entry<'_>, &str)> {
    let ours = |entry: Entry<'_>| is_dependencies(entry.section);
    entries(manifest)
        .into_iter()
        .filter(|entry| ours(*entry))
        .filter_map(|entry| match entry.key {
            "octopus" => Some((entry, "octopus")),
            key => Some((entry, key.strip_prefix("octopus-")?)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
[package]
name = "octopus-x"

[dependencies]
# octopus-commented = "1"
octopus-a.workspace = true
octopus-b = { path = "../b", features = ["c"] }
serde = "1"

[dev-dependencies.octopus-d]
path = "../d"

[target.'cfg(unix)'.dependencies]
octopus-e = "1"

[[bin]]
name = "octopus"
"#;

    #[test]
    fn dependencies_are_found_in_every_way_of_writing_them() {
        let found: Vec<(&str, &str)> =
            octopus_dependencies(MANIFEST).into_iter().map(|(entry, name)| (entry.section, name)).collect();
        assert_eq!(
            found,
            [
                ("dependencies", "a"),
                ("dependencies", "b"),
                ("dev-dependencies", "d"),
                ("target.'cfg(unix)'.dependencies", "e"),
            ]
        );
    }

    #[test]
    fn entries_know_their_place() {
        let all = entries(MANIFEST);
        assert_eq!(all[0], Entry { section: "package", key: "name", text: "name = \"octopus-x\"", line: 3 });
        assert_eq!(all[all.len() - 1].section, "bin");
    }
}
