//! The compiled kernels of Octopus's own densities: the one list of what `kernels/ptx` has for them.

use super::{ExpansionModule, KernelModule, KernelText, Precision};

/// A file of `kernels/ptx`, in the program.
macro_rules! packed {
    ($name:literal) => {
        KernelText::Gzip(include_bytes!(concat!("../../../../kernels/ptx/", $name, ".ptx.gz")))
    };
}

const fn module(precision: Precision, lanes: u32, rows: u32, ptx: KernelText) -> KernelModule {
    KernelModule { precision, lanes, rows, ptx }
}

const fn expansion(precision: Precision, ptx: KernelText) -> ExpansionModule {
    ExpansionModule { precision, ptx }
}

/// Of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = &[
    module(Precision::F64, 32, 1, packed!("nuts_hierarchical_normal_f64_32x1")),
    module(Precision::F64, 32, 4, packed!("nuts_hierarchical_normal_f64_32x4")),
    module(Precision::F64, 32, 8, packed!("nuts_hierarchical_normal_f64_32x8")),
    module(Precision::F64, 128, 4, packed!("nuts_hierarchical_normal_f64_128x4")),
    module(Precision::F64, 128, 8, packed!("nuts_hierarchical_normal_f64_128x8")),
    module(Precision::F32, 32, 1, packed!("nuts_hierarchical_normal_f32_32x1")),
    module(Precision::F32, 32, 4, packed!("nuts_hierarchical_normal_f32_32x4")),
    module(Precision::F32, 32, 8, packed!("nuts_hierarchical_normal_f32_32x8")),
    module(Precision::F32, 128, 4, packed!("nuts_hierarchical_normal_f32_128x4")),
    module(Precision::F32, 128, 8, packed!("nuts_hierarchical_normal_f32_128x8")),
    module(Precision::Mixed, 32, 1, packed!("nuts_hierarchical_normal_mixed_32x1")),
    module(Precision::Mixed, 32, 4, packed!("nuts_hierarchical_normal_mixed_32x4")),
    module(Precision::Mixed, 32, 8, packed!("nuts_hierarchical_normal_mixed_32x8")),
    module(Precision::Mixed, 128, 4, packed!("nuts_hierarchical_normal_mixed_128x4")),
    module(Precision::Mixed, 128, 8, packed!("nuts_hierarchical_normal_mixed_128x8")),
];

/// Of [`EightSchools`](crate::EightSchools).
pub(crate) static EIGHT_SCHOOLS: &[KernelModule] = &[
    module(Precision::F64, 32, 1, packed!("nuts_eight_schools_f64_32x1")),
    module(Precision::F32, 32, 1, packed!("nuts_eight_schools_f32_32x1")),
    module(Precision::Mixed, 32, 1, packed!("nuts_eight_schools_mixed_32x1")),
];

/// What expands draws of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static EXPAND_HIERARCHICAL_NORMAL: &[ExpansionModule] = &[
    expansion(Precision::F64, packed!("nuts_expand_hierarchical_normal_f64")),
    expansion(Precision::F32, packed!("nuts_expand_hierarchical_normal_f32")),
    expansion(Precision::Mixed, packed!("nuts_expand_hierarchical_normal_mixed")),
];

/// What expands draws of [`EightSchools`](crate::EightSchools).
pub(crate) static EXPAND_EIGHT_SCHOOLS: &[ExpansionModule] = &[
    expansion(Precision::F64, packed!("nuts_expand_eight_schools_f64")),
    expansion(Precision::F32, packed!("nuts_expand_eight_schools_f32")),
    expansion(Precision::Mixed, packed!("nuts_expand_eight_schools_mixed")),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    /// The file that each module is to be of, with the module's text and the names of its two entries.
    fn listed() -> BTreeMap<String, (KernelText, [String; 2])> {
        let mut all = BTreeMap::new();
        for (density, modules) in [("hierarchical_normal", HIERARCHICAL_NORMAL), ("eight_schools", EIGHT_SCHOOLS)] {
            for module in modules {
                let entries = ["restart", "run"].map(|what| module.entry(what, density));
                let file = format!("nuts_{density}_{}_{}x{}.ptx.gz", module.precision, module.lanes, module.rows);
                assert!(all.insert(file, (module.ptx, entries)).is_none(), "listed twice: {module:?}");
            }
        }
        let expansions = [("hierarchical_normal", EXPAND_HIERARCHICAL_NORMAL), ("eight_schools", EXPAND_EIGHT_SCHOOLS)];
        for (density, modules) in expansions {
            for module in modules {
                let entries = ["expand", "predict"].map(|what| module.entry(what, density));
                let file = format!("nuts_expand_{density}_{}.ptx.gz", module.precision);
                assert!(all.insert(file, (module.ptx, entries)).is_none(), "listed twice: {module:?}");
            }
        }
        all
    }

    /// Nothing that is compiled is forgotten here, and every module is of the file that its numbers say.
    #[test]
    fn the_lists_have_every_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/ptx");
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with("nuts_") && name.ends_with(".ptx.gz") {
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
        let listed = listed();
        assert_eq!(listed.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
        for (name, (text, _)) in listed {
            let KernelText::Gzip(bytes) = text else { panic!("{name} is not packed") };
            assert!(bytes == files[&name], "{name} is another file");
        }
    }

    #[test]
    fn every_text_declares_its_two_entries() {
        for (name, (text, entries)) in listed() {
            let text = text.text().unwrap();
            let mut found: Vec<&str> = text
                .lines()
                .filter_map(|line| line.strip_prefix(".visible .entry "))
                .map(|declaration| declaration.trim_end_matches('('))
                .collect();
            found.sort_unstable();
            assert_eq!(found, entries, "{name}");
        }
    }
}
