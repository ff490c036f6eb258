//! Lists of the compiled kernels of a density, and those of Octopus's own: what `kernels/ptx` has for them.

use super::{ExpansionModule, KernelModule};

/// Lists the [`KernelModule`](crate::gpu::KernelModule)s of one density, by precision and shape; those for teams stand
/// after `;`. The files are beside each other: `<beginning>_<precision>_<lanes>x<rows>.ptx.gz`, with `_team` after the
/// rows of those for teams. Like any path of `include_bytes!`, the beginning is relative to the file that has the list.
///
/// ```text
/// static MODULES: &[KernelModule] = kernel_modules!("../../ptx/nuts_my_model":
///     F64 "f64" { 32 x 1 32 x 4; 32 x 4 }
///     F32 "f32" { 32 x 1 32 x 4 }
/// );
/// ```
#[macro_export]
macro_rules! kernel_modules {
    ($beginning:literal: $($precision:ident $name:literal { $($lanes:literal x $rows:literal)* $(; $wide:literal x $long:literal)* })*) => {
        &[$(
            $($crate::kernel_modules!(@ $beginning, $precision, $name, $lanes, $rows, false, ""),)*
            $($crate::kernel_modules!(@ $beginning, $precision, $name, $wide, $long, true, "_team"),)*
        )*]
    };
    (@ $beginning:literal, $precision:ident, $name:literal, $lanes:literal, $rows:literal, $team:literal, $ending:literal) => {
        $crate::gpu::KernelModule {
            precision: $crate::gpu::Precision::$precision,
            lanes: $lanes,
            rows: $rows,
            team: $team,
            ptx: $crate::gpu::KernelText::Gzip(include_bytes!(concat!(
                $beginning, "_", $name, "_", $lanes, "x", $rows, $ending, ".ptx.gz"
            ))),
        }
    };
}

/// Lists the [`ExpansionModule`](crate::gpu::ExpansionModule)s of one density, one for each precision, of the files
/// `<beginning>_<precision>.ptx.gz`; the path is relative to the file that has the list.
///
/// ```text
/// static EXPANSIONS: &[ExpansionModule] = expansion_modules!("../../ptx/nuts_expand_my_model": F64 "f64" F32 "f32");
/// ```
#[macro_export]
macro_rules! expansion_modules {
    ($beginning:literal: $($precision:ident $name:literal)*) => {
        &[$($crate::gpu::ExpansionModule {
            precision: $crate::gpu::Precision::$precision,
            ptx: $crate::gpu::KernelText::Gzip(include_bytes!(concat!($beginning, "_", $name, ".ptx.gz"))),
        }),*]
    };
}

/// The kernels of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = kernel_modules!("../../../../kernels/ptx/nuts_hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8; 32 x 8; 128 x 8 }
);

/// The kernels of [`EightSchools`](crate::EightSchools).
pub(crate) static EIGHT_SCHOOLS: &[KernelModule] = kernel_modules!("../../../../kernels/ptx/nuts_eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// The kernels for many [`HierarchicalNormal`](crate::HierarchicalNormal)s in one launch. (Rows beyond those that are
/// needed change no bits: 128x8 serves what 128x4 would.)
pub(crate) static BATCH_HIERARCHICAL_NORMAL: &[KernelModule] = kernel_modules!("../../../../kernels/ptx/nuts_batch_hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 8 }
);

/// The kernels for many [`EightSchools`](crate::EightSchools) in one launch.
pub(crate) static BATCH_EIGHT_SCHOOLS: &[KernelModule] = kernel_modules!("../../../../kernels/ptx/nuts_batch_eight_schools":
    F64 "f64" { 32 x 1 }
    F32 "f32" { 32 x 1 }
    Mixed "mixed" { 32 x 1 }
);

/// The modules that expand draws of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static EXPAND_HIERARCHICAL_NORMAL: &[ExpansionModule] =
    expansion_modules!("../../../../kernels/ptx/nuts_expand_hierarchical_normal": F64 "f64" F32 "f32" Mixed "mixed");

/// The modules that expand draws of [`EightSchools`](crate::EightSchools).
pub(crate) static EXPAND_EIGHT_SCHOOLS: &[ExpansionModule] =
    expansion_modules!("../../../../kernels/ptx/nuts_expand_eight_schools": F64 "f64" F32 "f32" Mixed "mixed");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::KernelText;
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
