//! The committed modules, as they are.

use octopus_ptx::Module;
use std::path::{Path, PathBuf};

/// Each module's file and text.
fn modules() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/ptx");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx" || extension == "gz"));
    texts
        .map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let is_packed = path.extension().is_some_and(|extension| extension == "gz");
            // gzip's head has 10 bytes here, and its end 8.
            let unpacked = |bytes: &[u8]| miniz_oxide::inflate::decompress_to_vec(&bytes[10..bytes.len() - 8]).unwrap();
            let bytes = if is_packed { unpacked(&bytes) } else { bytes };
            (path, String::from_utf8(bytes).unwrap())
        })
        .collect()
}

/// The text with the value of a program where a program's own instructions are to be.
fn with_programs(text: &str) -> String {
    let line = |line: &str| match line.trim().strip_prefix("// OCTOPUS_PROGRAM ") {
        Some(words) => match words.split_whitespace().nth(1) {
            Some(value) => format!("mov.f64 {value}, 0d0000000000000000;"),
            None => line.to_owned(),
        },
        None => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_module_is_understood_and_no_register_is_read_unset() {
    let modules = modules();
    let mut entries = 0;
    for (path, text) in &modules {
        let text = &with_programs(text);
        let module = Module::parse(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for entry in module.entries() {
            assert_eq!(entry.unset_registers(), [""; 0], "{} in {}", entry.name(), path.display());
            entries += 1;
        }
        assert_eq!(module.entries().count(), text.matches(".visible .entry").count(), "{}", path.display());
    }
    assert!(modules.len() >= 41 && entries >= 190, "{} modules with {entries} entries", modules.len());
}
