//! All modules compiled and assembled, several at a time.

use super::cache::Cache;
use super::manifest::{Compiler, Entry, Manifest, Text};
use super::sources::{Module, Sources, sha256};
use super::tools::{self, Tools};
use super::{OPTIONS, listing, resources, signature};
use crate::ffi::{Nvrtc, Unit};
use anyhow::{Context, Result, bail};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Compiles and assembles every module; answers that `cache` has are taken from there.
///
/// # Errors
/// When the compiler is of another release, or it, the assembler or this program refuses a module.
pub(super) fn build(sources: &Sources, tools: &Tools, cache: &Cache) -> Result<Built> {
    let nvrtc = Nvrtc::open(&tools.nvrtc)?;
    let (major, minor) = nvrtc.version()?;
    if (major, minor) != tools::RELEASE {
        let (wanted_major, wanted_minor) = tools::RELEASE;
        bail!("{} is NVRTC {major}.{minor}, not {wanted_major}.{wanted_minor}", tools.nvrtc.display());
    }
    let modules = sources.modules();
    let parts = on_all_cores(&modules, |module| {
        part(sources, module, &nvrtc, tools, cache).with_context(|| format!("the module {}", module.name))
    })?;
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
        compiler: Compiler { nvrtc, ptxas: tools.ptxas_version.clone(), options: OPTIONS.map(str::to_owned).to_vec() },
        sources: sources.hash(),
        modules: texts.iter().map(text).collect(),
        entries,
    };
    Ok(Built { texts, manifest })
}

/// NVRTC may be called from several threads, for programs of their own (its manual, "Thread Safety").
fn part(sources: &Sources, module: &Module, nvrtc: &Nvrtc, tools: &Tools, cache: &Cache) -> Result<Part> {
    let headers: Vec<(&str, &str)> = sources.headers(module)?.into_iter().collect();
    let unit = Unit { name: &format!("{}.cu", module.name), text: sources.unit(module)?, headers: &headers };
    let mut inputs = vec!["nvrtc", &tools.nvrtc_identity, unit.name, unit.text];
    inputs.extend(OPTIONS);
    inputs.extend(headers.iter().flat_map(|(name, text)| [name, text]));
    let ptx = cache.get(&inputs, || nvrtc.compile(&unit, &OPTIONS))?;
    let mut entries = entries(sources, module, &ptx)?;
    let told = on_all_cores(&resources::ARCHITECTURES, |architecture| {
        let inputs = ["ptxas", &tools.ptxas_version, architecture, &ptx];
        cache.get(&inputs, || resources::assemble(&tools.ptxas, architecture, &ptx))
    })?;
    for (architecture, told) in resources::ARCHITECTURES.into_iter().zip(told) {
        let used = resources::parse(&told)?;
        for Entry { name, resources, .. } in &mut entries {
            let used = used.get(name).with_context(|| format!("ptxas says nothing of {name}"))?;
            resources.insert(architecture.to_owned(), *used);
        }
    }
    Ok(Part { ptx, entries })
}

/// The kernels of a module's PTX with their declarations.
///
/// # Errors
/// When PTX and sources disagree, or a module of the sampler has other entries than its two.
pub(super) fn entries(sources: &Sources, module: &Module, ptx: &str) -> Result<Vec<Entry>> {
    let entries = signature::join(&module.name, sources.signatures(module)?, listing::entries(ptx)?)?;
    // Windows serve every density.
    if module.is_sampler() && module.name != "nuts_windows" {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        let rest = module.name.strip_prefix("nuts_").with_context(|| format!("{} is not nuts_...", module.unit))?;
        // What expands draws is apart: it serves all shapes.
        let two = match rest.strip_prefix("expand_") {
            Some(rest) => [format!("nuts_expand_{rest}"), format!("nuts_predict_{rest}")],
            None => [format!("nuts_restart_{rest}"), format!("nuts_run_{rest}")],
        };
        if names != two {
            bail!("{} has the entries {names:?}, not {} and {}", module.unit, two[0], two[1]);
        }
    }
    Ok(entries)
}

/// `work` of each item, in the items' order; of several errors that of the first item.
fn on_all_cores<I: Sync, O: Send>(items: &[I], work: impl Fn(&I) -> Result<O> + Sync) -> Result<Vec<O>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let result = work(item);
                    if result.is_err() {
                        // What nobody has begun need not be done.
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_on_all_cores_keeps_the_order_and_the_first_error() {
        let items: Vec<u64> = (0..100).collect();
        assert_eq!(on_all_cores(&items, |item| Ok(item * 2)).unwrap()[99], 198);
        let fail = |item: &u64| if *item == 40 { bail!("forty") } else { Ok(*item) };
        assert_eq!(on_all_cores(&items, fail).unwrap_err().to_string(), "forty");
    }
}
