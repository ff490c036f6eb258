//! The machine around the accelerators, for the head of a report.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

/// Instruction sets worth naming, in the kernel's spelling, from narrow to wide.
const SIMD: [&str; 11] =
    ["sse2", "sse4_1", "sse4_2", "avx", "fma", "avx2", "avx512f", "avx512dq", "avx512vl", "asimd", "sve"];

/// CPU, memory and operating system; a field is `None` where the system does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// The processor's product name.
    pub cpu: Option<String>,
    /// The processor's architecture, e.g. `x86_64`.
    pub architecture: String,
    /// Physical cores of the machine.
    pub cores: Option<usize>,
    /// Threads that this process may run at once (affinity and container limits count).
    pub threads: usize,
    /// Installed memory in bytes.
    pub memory_total: Option<u64>,
    /// Memory in bytes that this process can still have: without swapping, within the limits of its container (cgroup)
    /// and its own (`ulimit -v`).
    pub memory_available: Option<u64>,
    /// The operating system's name, e.g. `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// SIMD instruction sets, narrow to wide, e.g. `sse2`, `avx2`, `avx512f`.
    pub simd: Vec<String>,
}

impl HostInfo {
    /// Reads this machine's.
    pub fn read() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::read_from(Path::new("/"), threads)
    }

    /// Returns the most memory that this process has held so far, in bytes, where the system tells it.
    pub fn peak_memory() -> Option<u64> {
        Self::peak_memory_of(std::process::id())
    }

    /// Returns the most memory that another process has held so far, in bytes, where the system tells it.
    pub fn peak_memory_of(process: u32) -> Option<u64> {
        field(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmHWM").and_then(kibibytes)
    }

    /// Reads the files of a Linux system under `root`.
    fn read_from(root: &Path, threads: usize) -> Self {
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        let (cpuinfo, meminfo, release) = (read("proc/cpuinfo"), read("proc/meminfo"), read("etc/os-release"));
        let kernel = read("proc/sys/kernel/osrelease").trim().to_owned();
        Self {
            cpu: field(&cpuinfo, "model name").map(str::to_owned),
            architecture: std::env::consts::ARCH.to_owned(),
            cores: cores(&cpuinfo),
            threads,
            memory_total: field(&meminfo, "MemTotal").and_then(kibibytes),
            memory_available: [
                field(&meminfo, "MemAvailable").and_then(kibibytes),
                left_to_the_container(&read),
                left_to_the_process(&read("proc/self/limits"), &read("proc/self/status")),
            ]
            .into_iter()
            .flatten()
            .min(),
            os: release
                .lines()
                .find_map(|line| line.strip_prefix("PRETTY_NAME="))
                .map_or_else(|| std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned()),
            kernel: (!kernel.is_empty()).then_some(kernel),
            simd: simd(&cpuinfo),
        }
    }
}

impl fmt::Display for HostInfo {
    /// One line: processor, cores, memory, system, widest SIMD.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cpu.as_deref().unwrap_or(&self.architecture))?;
        if let Some(cores) = self.cores {
            write!(f, ", {cores} {}", if cores == 1 { "core" } else { "cores" })?;
        }
        write!(f, ", {} {}", self.threads, if self.threads == 1 { "thread" } else { "threads" })?;
        if let Some(bytes) = self.memory_total {
            write!(f, ", {:.1} GiB", bytes as f64 / f64::from(1 << 30))?;
        }
        if let Some(widest) = self.simd.last() {
            write!(f, ", {widest}")?;
        }
        write!(f, "; {}", self.os)?;
        self.kernel.as_ref().map_or(Ok(()), |kernel| write!(f, ", kernel {kernel}"))
    }
}

/// Returns the bytes that the container may still take, by the files of cgroups, version 2 or 1; `None` without a limit.
fn left_to_the_container(read: &impl Fn(&str) -> String) -> Option<u64> {
    let number = |path: &str| read(path).trim().parse::<u64>().ok();
    let pairs = [
        ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    pairs.iter().find_map(|(most, taken)| Some(number(most)?.saturating_sub(number(taken)?)))
}

/// Returns the bytes that the process may still map, by its limit of addresses; `None` without a limit.
fn left_to_the_process(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let most: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(most.saturating_sub(field(status, "VmSize").and_then(kibibytes)?))
}

/// Returns the values of `name : value` lines.
fn fields<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    fields(text, name).next()
}

/// Distinct pairs of socket and core. `None` where the kernel does not number them, as on ARM.
fn cores(cpuinfo: &str) -> Option<usize> {
    let sockets = fields(cpuinfo, "physical id");
    let pairs: BTreeSet<(&str, &str)> = sockets.zip(fields(cpuinfo, "core id")).collect();
    (!pairs.is_empty()).then_some(pairs.len())
}

fn kibibytes(value: &str) -> Option<u64> {
    value.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn simd(cpuinfo: &str) -> Vec<String> {
    // x86 says `flags`, ARM says `Features`.
    let listed = field(cpuinfo, "flags").or_else(|| field(cpuinfo, "Features")).unwrap_or_default();
    let listed: BTreeSet<&str> = listed.split_whitespace().collect();
    SIMD.iter().filter(|name| listed.contains(**name)).map(|&name| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(number: usize, socket: usize, core: usize) -> String {
        format!(
            "processor\t: {number}\nmodel name\t: Example CPU @ 2.50GHz\nphysical id\t: {socket}\n\
             core id\t\t: {core}\nflags\t\t: fpu sse2 avx avx2 fma avx512f\n\n"
        )
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_peak_of_memory_is_of_this_process() {
        let held = vec![1_u8; 40 << 20];
        let peak = HostInfo::peak_memory().unwrap();
        assert!(peak > held.iter().map(|&byte| u64::from(byte)).sum(), "{peak}");
        assert!(Some(peak) < HostInfo::read().memory_total, "{peak}");
    }

    #[test]
    fn a_two_socket_machine_with_hyperthreads() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["proc/sys/kernel", "etc"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let cpuinfo: String = (0..8).map(|i| processor(i, i / 4, i / 2 % 2)).collect();
        fs::write(root.path().join("proc/cpuinfo"), cpuinfo).unwrap();
        fs::write(root.path().join("proc/meminfo"), "MemTotal:  2097152 kB\nMemAvailable:  1048576 kB\n").unwrap();
        fs::write(root.path().join("proc/sys/kernel/osrelease"), "6.1.0-18-amd64\n").unwrap();
        fs::write(root.path().join("etc/os-release"), "ID=x\nPRETTY_NAME=\"Example Linux 1\"\n").unwrap();
        let host = HostInfo::read_from(root.path(), 8);
        assert_eq!((host.cores, host.threads), (Some(4), 8));
        assert_eq!((host.memory_total, host.memory_available), (Some(2 << 30), Some(1 << 30)));
        assert_eq!(host.simd, ["sse2", "avx", "fma", "avx2", "avx512f"]);
        assert_eq!(
            host.to_string(),
            "Example CPU @ 2.50GHz, 4 cores, 8 threads, 2.0 GiB, avx512f; Example Linux 1, kernel 6.1.0-18-amd64"
        );
    }

    #[test]
    fn limits_of_container_and_process_count() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let left = || HostInfo::read_from(root.path(), 1).memory_available;
        write("proc/meminfo", "MemAvailable:  1000 kB\n");
        write("proc/self/status", "VmSize:\t     100 kB\nVmHWM: 50 kB\n");
        write("proc/self/limits", "Max address space         unlimited            unlimited            bytes\n");
        assert_eq!(left(), Some(1000 << 10));
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n");
        write("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
        assert_eq!(left(), Some(600_000));
        write("sys/fs/cgroup/memory.max", "max\n");
        assert_eq!(left(), Some(600_000), "no limit of version 2");
        write("sys/fs/cgroup/memory.max", "500000\n");
        write("sys/fs/cgroup/memory.current", "100000\n");
        assert_eq!(left(), Some(400_000));
        write(
            "proc/self/limits",
            "Limit  Soft\nMax address space         204800               204800               bytes\n",
        );
        assert_eq!(left(), Some(204_800 - (100 << 10)));
        write("sys/fs/cgroup/memory.current", "900000\n");
        assert_eq!(left(), Some(0));
    }

    #[test]
    fn a_system_without_these_files_still_has_a_line() {
        let root = tempfile::tempdir().unwrap();
        let host = HostInfo::read_from(root.path(), 1);
        assert_eq!(host.cpu, None);
        assert_eq!(host.memory_total, None);
        assert_eq!(host.to_string(), format!("{}, 1 thread; {}", std::env::consts::ARCH, std::env::consts::OS));
    }

    #[test]
    fn this_machine_has_threads_and_a_system() {
        let host = HostInfo::read();
        assert!(host.threads >= 1);
        assert!(!host.os.is_empty());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    fn the_kernels_list_agrees_with_the_processor() {
        let host = HostInfo::read();
        let has = |name: &str| host.simd.iter().any(|simd| simd == name);
        assert_eq!(has("sse2"), std::is_x86_feature_detected!("sse2"));
        assert_eq!(has("avx2"), std::is_x86_feature_detected!("avx2"));
        assert_eq!(has("avx512f"), std::is_x86_feature_detected!("avx512f"));
    }
}
