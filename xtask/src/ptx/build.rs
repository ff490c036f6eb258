//! All modules compiled and assembled, several at a time.

use super::cache::Cache;
use super::manifest::{Compiler, Entry, Manifest, Text};
use super::sources::{Module, Sources, sha256};
use super::tools::{self, NewestTools, Tools};
use super::{OPTIONS, listing, resources, signature};
use crate::ffi::{Nvrtc, Unit};
use anyhow::{Context, Result, bail};
use rayon::prelude::*;

/// What the compiler and the assembler make of the sources.
pub(super) struct Built {
    /// Each module with its PTX, in the manifest's order.
    pub(super) texts: Vec<(Module, String)>,
    pub(super) manifest: Manifest,
}

/// One module's part of it.
struct Part {
    ptx: String,
    entries: Vec<Entry>,
}

/// Compiles and assembles every module; answers that `cache` has are taken from there, and those of ptxas from `known`, if
/// it is given, where the text is the same.
///
/// # Errors
/// When the compiler is of another release, or it, the assembler or this program refuses a module.
pub(super) fn build(sources: &Sources, tools: &Tools, cache: &Cache, known: Option<&Manifest>) -> Result<Built> {
    let nvrtc = Nvrtc::open(&tools.nvrtc)?;
    let (major, minor) = nvrtc.version()?;
    if (major, minor) != tools::RELEASE {
        let (wanted_major, wanted_minor) = tools::RELEASE;
        bail!("{} is NVRTC {major}.{minor}, not {wanted_major}.{wanted_minor}", tools.nvrtc.display());
    }
    let modules = sources.modules();
    let known = known.filter(|Manifest { compiler, .. }| {
        (&compiler.ptxas, &compiler.newest_ptxas) == (&tools.ptxas_version, &tools.newest.ptxas_version)
    });
    let parts = modules.par_iter().map(|module| {
        part(sources, module, &nvrtc, tools, cache, known).with_context(|| format!("the module {}", module.name))
    });
    let parts = parts.collect::<Result<Vec<Part>>>()?;
    let mut texts: Vec<(Module, String)> = Vec::new();
    let mut entries = Vec::new();
    for (module, part) in modules.into_iter().zip(parts) {
        texts.push((module, part.ptx));
        entries.extend(part.entries);
    }
    let nvrtc = texts.first().map(|(_, ptx)| listing::compiler(ptx)).context("no modules")??;
    let text = |(module, ptx): &(Module, String)| Text {
        name: module.name.clone(),
        file: module.file(),
        ptx: sha256(ptx.as_bytes()),
    };
    let manifest = Manifest {
        compiler: Compiler {
            nvrtc,
            ptxas: tools.ptxas_version.clone(),
            newest_ptxas: tools.newest.ptxas_version.clone(),
            options: OPTIONS.map(str::to_owned).to_vec(),
        },
        sources: sources.hash(),
        modules: texts.iter().map(text).collect(),
        entries,
    };
    Ok(Built { texts, manifest })
}

/// NVRTC may be called from several threads, for programs of their own (its manual, "Thread Safety").
fn part(
    sources: &Sources,
    module: &Module,
    nvrtc: &Nvrtc,
    tools: &Tools,
    cache: &Cache,
    known: Option<&Manifest>,
) -> Result<Part> {
    let ptx = compile(sources, module, nvrtc, &tools.nvrtc_identity, cache, &[])?;
    let mut entries = entries(sources, module, &ptx)?;
    if let Some(known) = known.filter(|known| known.has(&module.name, &sha256(ptx.as_bytes()))) {
        for entry in &mut entries {
            let written = known.entries.iter().find(|written| written.name == entry.name);
            entry.resources = written.map(|written| written.resources.clone()).unwrap_or_default();
            entry.newest = written.map(|written| written.newest.clone()).unwrap_or_default();
        }
        return Ok(Part { ptx, entries });
    }
    let NewestTools { ptxas: newest, ptxas_version: newest_version, .. } = &tools.newest;
    let pinned = resources::ARCHITECTURES.map(|name| (&tools.ptxas, &tools.ptxas_version, name));
    let newest = resources::NEWEST_ARCHITECTURES.map(|name| (newest, newest_version, name));
    let jobs = [&pinned[..], &newest[..]].concat();
    let told = jobs.par_iter().map(|(ptxas, version, architecture)| {
        let inputs = ["ptxas", version, architecture, &ptx];
        cache.get(&inputs, || resources::assemble(ptxas, architecture, &ptx))
    });
    let told = told.collect::<Result<Vec<String>>>()?;
    for (i, (told, (_, _, architecture))) in told.iter().zip(jobs).enumerate() {
        let used = resources::parse(told)?;
        for Entry { name, resources, newest, .. } in &mut entries {
            let used = used.get(name).with_context(|| format!("ptxas says nothing of {name}"))?;
            let resources = if i < pinned.len() { resources } else { newest };
            resources.insert(architecture.to_owned(), *used);
        }
    }
    Ok(Part { ptx, entries })
}

/// Compiles a module with these options more than [`OPTIONS`].
///
/// # Errors
/// When a file is missing or the compiler refuses the module.
pub(super) fn compile(
    sources: &Sources,
    module: &Module,
    nvrtc: &Nvrtc,
    nvrtc_identity: &str,
    cache: &Cache,
    more: &[&str],
) -> Result<String> {
    let headers: Vec<(&str, &str)> = sources.headers(module)?.into_iter().collect();
    let unit = Unit { name: &format!("{}.cu", module.name), text: sources.unit(module)?, headers: &headers };
    let options = [&OPTIONS[..], more].concat();
    let mut inputs = vec!["nvrtc", nvrtc_identity, unit.name, unit.text];
    inputs.extend(&options);
    inputs.extend(headers.iter().flat_map(|(name, text)| [name, text]));
    cache.get(&inputs, || nvrtc.compile(&unit, &options))
}

/// The kernels of a module's PTX with their declarations.
///
/// # Errors
/// When PTX and sources disagree, a unit's name is none, or a module of one density has other entries than its two.
pub(super) fn entries(sources: &Sources, module: &Module, ptx: &str) -> Result<Vec<Entry>> {
    let entries = signature::join(&module.name, sources.signatures(module)?, listing::entries(ptx)?)?;
    if module.is_sampler() && sampler_of(&module.name).is_none() {
        bail!("{} is not {}_...", module.unit, SAMPLERS.join("_... or "));
    }
    if let Some(two) = entries_of_density(&module.name) {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        if names != two {
            bail!("{} has the entries {names:?}, not {} and {}", module.unit, two[0], two[1]);
        }
    }
    Ok(entries)
}

/// The samplers that have kernels, as names of units and entries begin.
const SAMPLERS: [&str; 2] = ["nuts", "hmc"];

/// The sampler of a module's name, and the rest of the name.
fn sampler_of(module: &str) -> Option<(&str, &str)> {
    module.split_once('_').filter(|(sampler, _)| SAMPLERS.contains(sampler))
}

/// What a module of one density must hold, by its name; `None` for those that serve all densities.
fn entries_of_density(module: &str) -> Option<[String; 2]> {
    const SHARED: [&str; 1] = ["windows"];
    let (sampler, rest) = sampler_of(module).filter(|(_, rest)| !SHARED.contains(rest))?;
    // Of a batch the names have the word: `nuts_batch_x` holds `nuts_run_batch_x`.
    Some(["restart", "run"].map(|what| format!("{sampler}_{what}_{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_name_says_what_it_holds() {
        let two = |module| entries_of_density(module).map(|names| names.join(" "));
        assert_eq!(two("nuts_x_f64_32x1").as_deref(), Some("nuts_restart_x_f64_32x1 nuts_run_x_f64_32x1"));
        assert_eq!(two("hmc_x_f64_32x1").as_deref(), Some("hmc_restart_x_f64_32x1 hmc_run_x_f64_32x1"));
        assert_eq!(
            two("nuts_batch_x_f32_32x1").as_deref(),
            Some("nuts_restart_batch_x_f32_32x1 nuts_run_batch_x_f32_32x1")
        );
        assert_eq!((two("nuts_windows"), two("octopus")), (None, None));
    }
}
