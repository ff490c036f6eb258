//! Finds the container that this process runs in, as far as can be seen from inside.

use super::root::Root;
use std::fs;

/// Returns the container's name, e.g. `docker`; `None` outside of containers.
pub(crate) fn container(root: Root<'_>, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if root.at("/.dockerenv").exists() {
        return Some("docker".into());
    }
    if root.at("/run/.containerenv").exists() {
        return Some("podman".into());
    }
    if variable("SINGULARITY_CONTAINER").is_some() || variable("APPTAINER_CONTAINER").is_some() {
        return Some("apptainer".into());
    }
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".into());
    }
    // systemd's convention, which LXC and systemd-nspawn follow too.
    let told = variable("container").filter(|name| !name.is_empty()).or_else(|| root.line("/run/systemd/container"));
    // Control groups of version 1 carry the runtime in their path; those of version 2 show `/` only.
    told.or_else(|| {
        let groups = fs::read_to_string(root.at("/proc/1/cgroup")).unwrap_or_default();
        [("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"), ("lxc", "lxc")]
            .into_iter()
            .find_map(|(mark, name)| groups.contains(mark).then(|| name.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{tree, unset};
    use super::*;

    fn seen(files: &[(&str, &str)]) -> Option<String> {
        let folder = tree(files);
        container(Root(folder.path()), &unset)
    }

    #[test]
    fn marks_in_files_are_recognised() {
        assert_eq!(seen(&[]), None);
        assert_eq!(seen(&[("proc/1/cgroup", "0::/init.scope\n")]), None);
        for (path, text, name) in [
            (".dockerenv", "", "docker"),
            ("run/.containerenv", "", "podman"),
            ("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
            ("proc/1/cgroup", "5:devices:/docker/0123abcd\n", "docker"),
            ("proc/1/cgroup", "5:devices:/kubepods/burstable/pod1\n", "kubernetes"),
        ] {
            assert_eq!(seen(&[(path, text)]).as_deref(), Some(name), "{path}");
        }
    }

    #[test]
    fn marks_in_variables_are_recognised() {
        let folder = tree(&[]);
        for (variable, value, name) in [
            ("APPTAINER_CONTAINER", "/images/x.sif", Some("apptainer")),
            ("SINGULARITY_CONTAINER", "/images/x.sif", Some("apptainer")),
            ("KUBERNETES_SERVICE_HOST", "10.0.0.1", Some("kubernetes")),
            ("container", "lxc", Some("lxc")),
            ("container", "", None),
        ] {
            let answer = |asked: &str| (asked == variable).then(|| value.to_owned());
            assert_eq!(container(Root(folder.path()), &answer).as_deref(), name, "{variable}");
        }
    }
}
