//! The compiled kernels of the models that ship are what `kernels/ptx` has.

use octopus_density::gpu::KernelText;
use octopus_models::{Problem, Registry};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use toml::Table;

/// Builds each model that is no program, with its defaults, and one program: all programs have the same modules.
fn problems() -> Vec<Arc<dyn Problem>> {
    let models = Registry::shipped().models().filter(|model| !model.is_program() || model.name() == "polynomial");
    models.map(|model| model.build(&Table::new(), None).unwrap()).collect()
}

/// Returns the file that each module is to be of, with the module's text and the names of its two entries.
fn listed() -> BTreeMap<String, (KernelText, [String; 2])> {
    let mut all = BTreeMap::new();
    for problem in problems() {
        let density = problem.density().kernels().expect("every model that ships has kernels");
        let name = density.kernel_name();
        let mut add = |file: String, text, entries| {
            assert!(all.insert(file.clone(), (text, entries)).is_none(), "listed twice: {file}");
        };
        for module in density.kernel_modules() {
            let entries = ["restart", "run"].map(|what| module.entry(what, name));
            add(format!("nuts_{name}_{}.ptx.gz", module.kernel()), module.ptx, entries);
        }
        for module in density.trajectory_modules() {
            let entries = ["restart", "run"].map(|what| module.entry(what, name).replacen("nuts", "hmc", 1));
            add(format!("hmc_{name}_{}.ptx.gz", module.kernel()), module.ptx, entries);
        }
        for module in density.batch_modules() {
            let entries = ["restart_batch", "run_batch"].map(|what| module.entry(what, name));
            add(format!("nuts_batch_{name}_{}.ptx.gz", module.kernel()), module.ptx, entries);
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
        let of_sampler = name.starts_with("nuts_") || name.starts_with("hmc_");
        if of_sampler && name.ends_with(".ptx.gz") && name != "nuts_windows.ptx.gz" {
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
