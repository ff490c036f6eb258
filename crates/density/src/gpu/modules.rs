//! The compiled kernels of Octopus's own densities: the one list of what `kernels/ptx` has for them.

use super::{ExpansionModule, KernelModule, KernelText, Precision};

/// The modules of one density, by precision and shape; for teams after `;`. The density's name stands after the beginning
/// of the files' names.
macro_rules! modules {
    ($density:literal: $($rest:tt)*) => { modules!("nuts_" $density: $($rest)*) };
    ($beginning:literal $density:literal: $($precision:ident $name:literal { $($lanes:literal x $rows:literal)* $(; $wide:literal x $long:literal)* })*) => {
        &[$(
            $(modules!(@ $beginning, $density, $precision, $name, $lanes, $rows, false, ""),)*
            $(modules!(@ $beginning, $density, $precision, $name, $wide, $long, true, "_team"),)*
        )*]
    };
    (@ $beginning:literal, $density:literal, $precision:ident, $name:literal, $lanes:literal, $rows:literal, $team:literal, $ending:literal) => {
        KernelModule {
            precision: Precision::$precision,
            lanes: $lanes,
            rows: $rows,
            team: $team,
            ptx: KernelText::Gzip(include_bytes!(concat!(
                "../../../../kernels/ptx/", $beginning, $density, "_", $name, "_", $lanes, "x", $rows, $ending, ".ptx.gz"
            ))),
        }
    };
}

/// The kernels of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = modules!("hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
);

/// The kernels of [`EightSchools`](crate::EightSchools).
pub(crate) static EIGHT_SCHOOLS: &[KernelModule] = modules!("eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// The kernels for many [`HierarchicalNormal`](crate::HierarchicalNormal)s in one launch. (Rows beyond those that are
/// needed change no bits: 128x8 serves what 128x4 would.)
pub(crate) static BATCH_HIERARCHICAL_NORMAL: &[KernelModule] = modules!("nuts_batch_" "hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 8 }
);

/// The kernels for many [`EightSchools`](crate::EightSchools) in one launch.
pub(crate) static BATCH_EIGHT_SCHOOLS: &[KernelModule] = modules!("nuts_batch_" "eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// Lists the modules that expand the draws of one density, one for each precision.
macro_rules! expansions {
    ($density:literal: $($precision:ident $name:literal)*) => {
        &[$(ExpansionModule {
            precision: Precision::$precision,
            ptx: KernelText::Gzip(include_bytes!(concat!(
                "../../../../kernels/ptx/nuts_expand_", $density, "_", $name, ".ptx.gz"
            ))),
        }),*]
    };
}

/// The modules that expand draws of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static EXPAND_HIERARCHICAL_NORMAL: &[ExpansionModule] =
    expansions!("hierarchical_normal": F64 "f64" F32 "f32" Mixed "mixed");

/// The modules that expand draws of [`EightSchools`](crate::EightSchools).
pub(crate) static EXPAND_EIGHT_SCHOOLS: &[ExpansionModule] =
    expansions!("eight_schools": F64 "f64" F32 "f32" Mixed "mixed");

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    /// Returns the file that each module is to be of, with the module's text and the names of its two entries.
    fn listed() -> BTreeMap<String, (KernelText, [String; 2])> {
        let mut all = BTreeMap::new();
        for (density, modules) in [("hierarchical_normal", HIERARCHICAL_NORMAL), ("eight_schools", EIGHT_SCHOOLS)] {
            for module in modules {
                let entries = ["restart", "run"].map(|what| module.entry(what, density));
                let file = format!("nuts_{density}_{}.ptx.gz", module.kernel());
                assert!(all.insert(file, (module.ptx, entries)).is_none(), "listed twice: {module:?}");
            }
        }
        let batches = [("hierarchical_normal", BATCH_HIERARCHICAL_NORMAL), ("eight_schools", BATCH_EIGHT_SCHOOLS)];
        for (density, modules) in batches {
            for module in modules {
                let entries = ["restart_batch", "run_batch"].map(|what| module.entry(what, density));
                let file = format!("nuts_batch_{density}_{}.ptx.gz", module.kernel());
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
            // Windows are the sampler's: they serve every density.
            if name.starts_with("nuts_") && name.ends_with(".ptx.gz") && name != "nuts_windows.ptx.gz" {
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
