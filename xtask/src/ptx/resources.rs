//! What each kernel uses of a GPU (registers, spills, shared memory), as NVIDIA's assembler tells, and its limits.
//!
//! The architectures that are assembled for stand here.

use super::manifest::Entry;
use crate::aligned::aligned;
use crate::run;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The machines to assemble for: A100, A6000 and the like, H100 and H200.
pub(super) const ARCHITECTURES: [&str; 3] = ["sm_80", "sm_86", "sm_90"];
/// The machines that the newest assembler is asked about: newer drivers have it, and it alone knows B200 and RTX PRO 6000.
pub(super) const NEWEST_ARCHITECTURES: [&str; 5] = ["sm_80", "sm_86", "sm_90", "sm_100", "sm_120"];

/// What a kernel uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Used {
    /// For each thread.
    pub(crate) registers: u32,
    /// Stores and loads together, for each thread.
    #[serde(default)]
    pub(crate) spill_bytes: u32,
    /// Local memory, for each thread.
    #[serde(default)]
    pub(crate) local_bytes: u32,
    /// Shared memory, for each block.
    #[serde(default)]
    pub(crate) shared_bytes: u32,
}

/// Assembles `ptx` for `architecture`; what the assembler tells of each kernel, for [`parse`].
///
/// # Errors
/// When the assembler cannot be started or refuses the PTX.
pub(super) fn assemble(ptxas: &Path, architecture: &str, ptx: &str) -> Result<String> {
    Ok(assemble_and(ptxas, architecture, ptx, &[], |_| Ok(()))?.0)
}

/// The same with further options; what `read` makes of the file of machine code is returned too.
///
/// # Errors
/// Those of [`assemble`] and of `read`.
pub(crate) fn assemble_and<T>(
    ptxas: &Path,
    architecture: &str,
    ptx: &str,
    options: &[&str],
    read: impl FnOnce(&Path) -> Result<T>,
) -> Result<(String, T)> {
    // Several are at work at the same time.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("octopus-ptx-{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let result = assemble_in(&folder, ptxas, architecture, ptx, options).and_then(|words| {
        let read = read(&folder.join(MACHINE_CODE))?;
        Ok((words, read))
    });
    // The folder lies where others clean up too.
    let _ = fs::remove_dir_all(&folder);
    result
}

/// The assembler's file.
const MACHINE_CODE: &str = "octopus.cubin";

fn assemble_in(folder: &Path, ptxas: &Path, architecture: &str, ptx: &str, options: &[&str]) -> Result<String> {
    let input = folder.join("octopus.ptx");
    fs::write(&input, ptx).context("cannot write the PTX for the assembler")?;
    let mut command = Command::new(ptxas);
    command.arg("-v").args(options).arg(format!("-arch={architecture}"));
    command.arg(&input).arg("-o").arg(folder.join(MACHINE_CODE));
    let told = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", ptxas.display()))?;
    let words = format!("{}{}", String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    if !told.status.success() {
        bail!("ptxas refuses the PTX for {architecture} (exit code {}):\n{words}", run::own_code(told.status));
    }
    Ok(words)
}

/// What each kernel uses, by name, of what `ptxas -v` tells.
///
/// # Errors
/// When a figure is missing.
pub(crate) fn parse(words: &str) -> Result<BTreeMap<String, Used>> {
    let mut all = BTreeMap::new();
    for part in words.split("Compiling entry function '").skip(1) {
        let (name, rest) = part.split_once('\'').context("ptxas names no function")?;
        let number = |unit: &str| -> Option<u32> {
            let at = rest.find(unit)?;
            rest[..at].split_whitespace().next_back()?.parse().ok()
        };
        let needed = |unit: &str| number(unit).with_context(|| format!("ptxas tells no{unit} of {name}: {rest}"));
        let used = Used {
            registers: needed(" registers")?,
            spill_bytes: needed(" bytes spill stores")? + needed(" bytes spill loads")?,
            local_bytes: needed(" bytes stack frame")?,
            // Left out where there is none.
            shared_bytes: number(" bytes smem").unwrap_or(0),
        };
        all.insert(name.to_owned(), used);
    }
    Ok(all)
}

/// Registers of all kernels for each architecture, by the pinned assembler and by the newest; spills, local and shared
/// memory where there are any.
pub(super) fn table(entries: &[Entry]) -> String {
    let newest = NEWEST_ARCHITECTURES.map(|architecture| format!("newest {architecture}"));
    let newest: Vec<&str> = newest.iter().map(String::as_str).collect();
    let columns = [&["registers"], &ARCHITECTURES[..], &newest, &["shared", "local", "spills"]].concat();
    let rows = entries.iter().map(|Entry { name, resources, newest, .. }| {
        let mut row = vec![name.clone()];
        let mut most = Used::default();
        let pinned = ARCHITECTURES.map(|architecture| resources.get(architecture));
        let newest = NEWEST_ARCHITECTURES.map(|architecture| newest.get(architecture));
        for used in pinned.into_iter().chain(newest) {
            row.push(used.map(|used| used.registers.to_string()).unwrap_or_default());
            let used = used.copied().unwrap_or_default();
            most.shared_bytes = most.shared_bytes.max(used.shared_bytes);
            most.local_bytes = most.local_bytes.max(used.local_bytes);
            most.spill_bytes = most.spill_bytes.max(used.spill_bytes);
        }
        row.extend([most.shared_bytes, most.local_bytes, most.spill_bytes].map(|bytes| bytes.to_string()));
        row
    });
    aligned(1, [columns.into_iter().map(str::to_owned).collect()].into_iter().chain(rows))
}

/// `kernels/limits.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    limit: Vec<Limit>,
}

#[derive(Clone, Debug, Deserialize)]
struct Limit {
    /// A name; `*` stands for any letters.
    entries: String,
    #[serde(flatten)]
    most: Used,
}

impl Limits {
    /// # Errors
    /// When the file cannot be read or is not understood.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not understood", path.display()))
    }

    /// A line for each kernel that uses more than it may, or that nobody has set a limit.
    pub(super) fn faults(&self, entries: &[Entry]) -> Vec<String> {
        let mut faults = Vec::new();
        for Entry { name, resources, newest, .. } in entries {
            let Some(Limit { most, .. }) = self.limit.iter().find(|limit| fits(&limit.entries, name)) else {
                faults.push(format!("{name} has no limit in {}", super::LIMITS));
                continue;
            };
            let by_newest = newest.iter().map(|(architecture, used)| (architecture, used, " by the newest ptxas"));
            let by_pinned = resources.iter().map(|(architecture, used)| (architecture, used, ""));
            for (architecture, used, by) in by_pinned.chain(by_newest) {
                for (what, used, most) in [
                    ("registers", used.registers, most.registers),
                    ("bytes of spills", used.spill_bytes, most.spill_bytes),
                    ("bytes of local memory", used.local_bytes, most.local_bytes),
                    ("bytes of shared memory", used.shared_bytes, most.shared_bytes),
                ] {
                    if used > most {
                        faults.push(format!("{name} uses {used} {what} on {architecture}{by}, the limit is {most}"));
                    }
                }
            }
        }
        faults
    }
}

/// Whether `name` is what `pattern` says, each `*` of which stands for any letters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((beginning, rest)) => name
            .strip_prefix(beginning)
            .is_some_and(|name| (0..=name.len()).any(|at| name.is_char_boundary(at) && fits(rest, &name[at..]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As ptxas 12.4.131 writes it, with the spills of another kernel.
    const TOLD: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'array_dot_f64' for 'sm_90'
ptxas info    : Function properties for array_dot_f64
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, 512 bytes smem
ptxas info    : Compiling entry function 'nuts_f64' for 'sm_86'
ptxas info    : Function properties for nuts_f64
    328 bytes stack frame, 656 bytes spill stores, 716 bytes spill loads
ptxas info    : Used 255 registers, 392 bytes cmem[0]
";

    fn entries() -> Vec<Entry> {
        let entry = |(name, used)| Entry {
            name,
            module: "m".into(),
            parameters: Vec::new(),
            kinds: Vec::new(),
            threads: 128,
            resources: [("sm_80".to_owned(), used)].into(),
            newest: BTreeMap::new(),
        };
        parse(TOLD).unwrap().into_iter().map(entry).collect()
    }

    fn limits(text: &str) -> Limits {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_ptxas_tells_is_read() {
        let all = parse(TOLD).unwrap();
        assert_eq!(all["array_dot_f64"], Used { registers: 22, shared_bytes: 512, ..Used::default() });
        let spilling = Used { registers: 255, spill_bytes: 656 + 716, local_bytes: 328, shared_bytes: 0 };
        assert_eq!(all["nuts_f64"], spilling);
        assert!(parse("Compiling entry function 'x' for 'sm_80'\n").is_err());
    }

    #[test]
    fn limits_are_held_for_each_kind() {
        let of = |text: &str| limits(text).faults(&entries());
        let fine = "[[limit]]\nentries = \"array_*\"\nregisters = 22\nshared_bytes = 512\n\
            [[limit]]\nentries = \"nuts_f64\"\nregisters = 255\nspill_bytes = 1372\nlocal_bytes = 328\n";
        assert_eq!(of(fine), [""; 0]);
        for (from, to, words) in [
            ("= 22", "= 21", "array_dot_f64 uses 22 registers on sm_80, the limit is 21"),
            ("= 512", "= 511", "array_dot_f64 uses 512 bytes of shared memory on sm_80, the limit is 511"),
            ("= 1372", "= 1371", "nuts_f64 uses 1372 bytes of spills on sm_80, the limit is 1371"),
            ("= 328", "= 327", "nuts_f64 uses 328 bytes of local memory on sm_80, the limit is 327"),
        ] {
            assert_eq!(of(&fine.replace(from, to)), [words]);
        }
        assert_eq!(of(&fine.replace("nuts_f64", "nuts_f32")), ["nuts_f64 has no limit in kernels/limits.toml"]);
    }

    #[test]
    fn limits_are_held_for_the_newest_assembler_too() {
        let mut entries = entries();
        let used = Used { registers: 20, spill_bytes: 4, shared_bytes: 512, ..Used::default() };
        entries[0].newest.insert("sm_120".to_owned(), used);
        let text = "[[limit]]\nentries = \"*\"\nregisters = 255\nshared_bytes = 512\n";
        let faults = limits(text).faults(&entries[..1]);
        assert_eq!(faults, ["array_dot_f64 uses 4 bytes of spills on sm_120 by the newest ptxas, the limit is 0"]);
    }

    #[test]
    fn a_star_stands_for_any_letters_wherever_it_is() {
        for (pattern, name, expected) in [
            ("nuts_run_*_f64_32x4", "nuts_run_eight_schools_f64_32x4", true),
            ("nuts_run_*_f64_32x4", "nuts_run_eight_schools_f32_32x4", false),
            ("nuts_*_f64_*", "nuts_run_a_f64_b_f64_32x4", true),
            ("nuts_*_f64_*", "nuts_run_f64", false),
            ("a*", "a", true),
            ("a", "ab", false),
            ("*b", "ab", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn the_first_pattern_that_fits_counts() {
        let text = "[[limit]]\nentries = \"array_dot_f64\"\nregisters = 1\n[[limit]]\nentries = \"*\"\nregisters = 255\n\
            spill_bytes = 9999\nlocal_bytes = 9999\n";
        let faults = limits(text).faults(&entries());
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("22 registers") && faults[1].contains("512 bytes of shared memory"));
    }

    #[test]
    fn the_table_has_a_line_for_each_kernel() {
        let table = table(&entries());
        assert_eq!(table.lines().count(), 3);
        assert!(table.lines().nth(2).unwrap().starts_with("nuts_f64"));
        assert!(table.contains("1372"));
    }
}
