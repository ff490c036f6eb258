//! Where NVIDIA's compiler and assembler are: the user's own, or wheels with pinned hashes below the target folder.

use crate::{run, target};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// PTX of this release is what the oldest driver that Octopus supports takes.
pub(super) const RELEASE: (i32, i32) = (12, 4);
/// A folder of the user's own with the compiler's library.
const VARIABLE: &str = "NVRTC_LIBRARY_DIR";
/// What pip and uv install.
const REQUIREMENTS: &str = "kernels/tools/nvrtc.txt";
/// Written last: a folder without it, or with other requirements in it, is made anew.
const MARK: &str = "octopus-requirements.txt";
#[cfg(windows)]
const LIBRARY: &str = "nvrtc64_120_0.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libnvrtc.so.12";
const ASSEMBLER: &str = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };

/// The tools' files.
pub(super) struct Tools {
    pub(super) nvrtc: PathBuf,
    /// What tells one compiler's answers from another's: the library tells its release only.
    pub(super) nvrtc_identity: String,
    pub(super) ptxas: PathBuf,
    /// Such as 12.4.131.
    pub(super) ptxas_version: String,
}

/// The tools, installed if need be.
///
/// # Errors
/// With the command that installs them when they cannot be had.
pub(super) fn find(root: &Path) -> Result<Tools> {
    let own = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    if let Some(folder) = own {
        let nvrtc = folder.join(LIBRARY);
        if !nvrtc.is_file() {
            bail!("{VARIABLE} is {}, where there is no {LIBRARY}", folder.display());
        }
        // A toolkit has it in bin beside lib64; wheels in a folder of its own beside cuda_nvrtc/lib.
        let near = ["../bin", "../../bin", "../../cuda_nvcc/bin"].map(|path| folder.join(path).join(ASSEMBLER));
        let ptxas = near.into_iter().find(|path| path.is_file());
        let ptxas = match ptxas {
            Some(ptxas) => ptxas,
            None => installed(root)?.join("cuda_nvcc/bin").join(ASSEMBLER),
        };
        return tools(nvrtc, ptxas);
    }
    let wheels = installed(root)?;
    tools(
        wheels.join("cuda_nvrtc").join(if cfg!(windows) { "bin" } else { "lib" }).join(LIBRARY),
        wheels.join("cuda_nvcc/bin").join(ASSEMBLER),
    )
}

fn tools(nvrtc: PathBuf, ptxas: PathBuf) -> Result<Tools> {
    for file in [&nvrtc, &ptxas] {
        if !file.is_file() {
            bail!("{} is not there", file.display());
        }
    }
    let output = Command::new(&ptxas).arg("--version").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {}", ptxas.display()))?;
    let words = String::from_utf8_lossy(&output.stdout);
    let ptxas_version =
        version(&words).with_context(|| format!("{} --version does not tell: {words:?}", ptxas.display()))?.to_owned();
    let (major, minor) = RELEASE;
    if !ptxas_version.starts_with(&format!("{major}.{minor}.")) {
        bail!("{} is of {ptxas_version}, not of {major}.{minor}", ptxas.display());
    }
    let bytes = fs::metadata(&nvrtc).with_context(|| format!("cannot read {}", nvrtc.display()))?.len();
    Ok(Tools { nvrtc, nvrtc_identity: format!("{LIBRARY} of {bytes} bytes"), ptxas, ptxas_version })
}

/// `12.4.131` of `Cuda compilation tools, release 12.4, V12.4.131`.
fn version(words: &str) -> Option<&str> {
    words.split(", V").nth(1)?.split_whitespace().next()
}

/// The folder `nvidia` of the wheels below the target folder, installed by pip or uv if need be.
fn installed(root: &Path) -> Result<PathBuf> {
    let folder = target(root).join("nvrtc");
    let requirements = root.join(REQUIREMENTS);
    let wanted = fs::read_to_string(&requirements).with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    if fs::read_to_string(folder.join(MARK)).is_ok_and(|installed| installed == wanted) {
        return Ok(folder.join("nvidia"));
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let python = if cfg!(windows) { "python" } else { "python3" };
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]);
    let mut uv = Command::new("uv");
    uv.args(["pip", "install", "--quiet"]);
    for mut installer in [pip, uv] {
        installer.current_dir(root).args(["--no-deps", "--only-binary=:all:", "--require-hashes"]);
        installer.arg("--target").arg(&folder).args(["-r", REQUIREMENTS]);
        match run::status(&mut installer) {
            Ok(status) if status.success() => {
                #[cfg(unix)]
                make_executable(&folder.join("nvidia/cuda_nvcc/bin").join(ASSEMBLER))?;
                fs::write(folder.join(MARK), &wanted)
                    .with_context(|| format!("cannot write in {}", folder.display()))?;
                return Ok(folder.join("nvidia"));
            }
            Ok(status) => eprintln!("xtask: that failed ({status})"),
            Err(error) => eprintln!("xtask: {error:#}"),
        }
    }
    bail!(
        "no NVRTC {}.{}: install it where there is a network, by `{python} -m pip install --no-deps --only-binary=:all: \
         --require-hashes --target target/nvrtc -r {REQUIREMENTS}`, and set {VARIABLE} to the folder of {LIBRARY}",
        RELEASE.0,
        RELEASE.1
    )
}

/// Not every installer keeps the wheel's modes.
#[cfg(unix)]
fn make_executable(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("cannot make {} executable", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_tells_its_version() {
        let words =
            "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 12.4, V12.4.131\nBuild x";
        assert_eq!(version(words), Some("12.4.131"));
        assert_eq!(version("no such thing"), None);
    }

    #[test]
    fn the_requirements_are_pinned_by_version_and_hash() {
        let text = fs::read_to_string(crate::root().join(REQUIREMENTS)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            assert!(line.contains(&format!("=={}.{}.", RELEASE.0, RELEASE.1)), "{line}");
            let (_, hash) = line.split_once(" --hash=sha256:").unwrap();
            assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        }
    }
}
