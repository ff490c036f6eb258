//! Every package has the workspace's lints, or says why it has its own.

use super::manifest::entries;
use super::{Complaint, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let wanted = tree.text("Cargo.toml").map(workspace_lints).unwrap_or_default();
    tree.packages().flat_map(|(folder, manifest)| judge(folder, manifest, &wanted)).collect()
}

/// The lints of the workspace as (tool, lint).
fn workspace_lints(manifest: &str) -> Vec<(&str, &str)> {
    let lint = |section: &'static str| move |name: &str| name == section;
    let (rust, clippy) = (lint("workspace.lints.rust"), lint("workspace.lints.clippy"));
    entries(manifest)
        .into_iter()
        .filter_map(|entry| match entry.section {
            name if rust(name) => Some(("rust", entry.key)),
            name if clippy(name) => Some(("clippy", entry.key)),
            _ => None,
        })
        .collect()
}

fn judge(folder: &str, manifest: &str, wanted: &[(&str, &str)]) -> Vec<Complaint> {
    let path = format!("{folder}/Cargo.toml");
    let all = entries(manifest);
    if all.iter().any(|entry| entry.section == "lints" && entry.text.replace(' ', "") == "workspace=true") {
        return Vec::new();
    }
    if !manifest.lines().any(|line| line.trim_start().starts_with("# Own lints because ")) {
        let message = "lacks `[lints] workspace = true`; its own lints need a comment `# Own lints because ...`";
        return vec![Complaint::error(&path, message)];
    }
    wanted
        .iter()
        .filter(|(tool, lint)| !all.iter().any(|e| e.section.strip_prefix("lints.") == Some(tool) && e.key == *lint))
        .map(|(tool, lint)| Complaint::error(&path, format!("its own lints leave out the workspace's {tool} {lint}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n[workspace.lints.clippy]\ntodo = \"warn\"\n";

    fn messages(manifest: &str) -> Vec<String> {
        check(&Tree::of(&[("Cargo.toml", ROOT), ("crates/a/Cargo.toml", manifest)]))
            .into_iter()
            .map(|c| c.message)
            .collect()
    }

    #[test]
    fn the_workspaces_lints_are_fine() {
        assert_eq!(messages("[lints]\nworkspace = true"), [""; 0]);
        assert_eq!(messages("[lints]\nworkspace=true"), [""; 0]);
    }

    #[test]
    fn none_at_all_is_not() {
        assert!(messages("[package]\nname = \"a\"")[0].contains("lacks"));
        assert!(messages("[lints]\nworkspace = false")[0].contains("lacks"));
    }

    #[test]
    fn own_lints_need_a_reason_and_all_names() {
        let own = "[lints.rust]\nunsafe_code = \"deny\"\n[lints.clippy]\ntodo = \"warn\"\n";
        assert!(messages(own)[0].contains("Own lints because"));
        assert_eq!(messages(&format!("# Own lints because it calls C.\n{own}")), [""; 0]);
        let fewer = "# Own lints because it calls C.\n[lints.rust]\nunsafe_code = \"deny\"\n";
        assert_eq!(messages(fewer), ["its own lints leave out the workspace's clippy todo"]);
    }
}
