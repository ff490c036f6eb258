//! Where NVIDIA's compiler and assembler are: the user's own, or wheels with pinned hashes below the target folder.

use crate::place::target;
use crate::run;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// PTX of this release is what the oldest driver that Octopus supports takes.
pub(super) const RELEASE: (i32, i32) = (12, 4);
/// A folder of the user's own with the compiler's library.
const VARIABLE: &str = "NVRTC_LIBRARY_DIR";
/// The compiler and the assembler of that release.
const PINNED: Wheels =
    Wheels { requirements: "kernels/tools/nvrtc.txt", folder: "nvrtc", programs: &[PINNED_ASSEMBLER] };
const PINNED_ASSEMBLER: &str = "cuda_nvcc/bin/ptxas";
/// The newest assembler, and the disassembler for both.
const NEWEST: Wheels =
    Wheels { requirements: "kernels/tools/newest.txt", folder: "newest", programs: &[NEWEST_ASSEMBLER, DISASSEMBLER] };
const NEWEST_ASSEMBLER: &str = "cu13/bin/ptxas";
const DISASSEMBLER: &str = "cu13/bin/nvdisasm";
/// Written last: a folder without it, or with other requirements in it, is made anew.
const MARK: &str = "octopus-requirements.txt";
#[cfg(windows)]
const LIBRARY: &str = "nvrtc64_120_0.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libnvrtc.so.12";
const ASSEMBLER: &str = if cfg!(windows) { "ptxas.exe" } else { "ptxas" };

/// What pip and uv install.
struct Wheels {
    /// With versions and hashes, in the checkout.
    requirements: &'static str,
    /// Where they are installed, below the target folder.
    folder: &'static str,
    /// The programs in them, below the folder `nvidia` and without a system's ending.
    programs: &'static [&'static str],
}

impl Wheels {
    /// How pip installs them, without its own name.
    fn arguments(&self, target: &Path) -> Vec<std::ffi::OsString> {
        let words = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--target"].map(Into::into);
        words.into_iter().chain([target.into(), "-r".into(), self.requirements.into()]).collect()
    }
}

/// The newest assembler, and the disassembler for the machine code of both.
pub(crate) struct NewestTools {
    pub(crate) ptxas: PathBuf,
    /// Such as 13.5.37.
    pub(crate) ptxas_version: String,
    pub(crate) nvdisasm: PathBuf,
}

/// The newest tools, installed if need be.
///
/// # Errors
/// With the command that installs them when they cannot be had.
fn newest(root: &Path) -> Result<NewestTools> {
    let wheels = installed(root, &NEWEST)?;
    let ptxas = program(&wheels, NEWEST_ASSEMBLER);
    let ptxas_version = version_of(&ptxas)?;
    Ok(NewestTools { ptxas, ptxas_version, nvdisasm: program(&wheels, DISASSEMBLER) })
}

/// The tools' files.
pub(crate) struct Tools {
    pub(super) nvrtc: PathBuf,
    /// What tells one compiler's answers from another's: the library tells its release only.
    pub(super) nvrtc_identity: String,
    pub(crate) ptxas: PathBuf,
    /// Such as 12.4.131.
    pub(crate) ptxas_version: String,
    pub(crate) newest: NewestTools,
}

/// The tools, installed if need be.
///
/// # Errors
/// With the command that installs them when they cannot be had.
pub(crate) fn find(root: &Path) -> Result<Tools> {
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
            None => program(&installed(root, &PINNED)?, PINNED_ASSEMBLER),
        };
        return tools(root, nvrtc, ptxas);
    }
    let wheels = installed(root, &PINNED)?;
    tools(
        root,
        wheels.join("cuda_nvrtc").join(if cfg!(windows) { "bin" } else { "lib" }).join(LIBRARY),
        program(&wheels, PINNED_ASSEMBLER),
    )
}

/// A program of wheels that are installed.
fn program(wheels: &Path, name: &str) -> PathBuf {
    wheels.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn tools(root: &Path, nvrtc: PathBuf, ptxas: PathBuf) -> Result<Tools> {
    for file in [&nvrtc, &ptxas] {
        if !file.is_file() {
            bail!("{} is not there", file.display());
        }
    }
    let ptxas_version = version_of(&ptxas)?;
    let (major, minor) = RELEASE;
    if !ptxas_version.starts_with(&format!("{major}.{minor}.")) {
        bail!("{} is of {ptxas_version}, not of {major}.{minor}", ptxas.display());
    }
    let bytes = fs::metadata(&nvrtc).with_context(|| format!("cannot read {}", nvrtc.display()))?.len();
    let nvrtc_identity = format!("{LIBRARY} of {bytes} bytes");
    Ok(Tools { nvrtc, nvrtc_identity, ptxas, ptxas_version, newest: newest(root)? })
}

/// The version that a program of NVIDIA's tells.
fn version_of(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    let words = String::from_utf8_lossy(&output.stdout);
    let told = version(&words).with_context(|| format!("{} --version does not tell: {words:?}", program.display()))?;
    Ok(told.to_owned())
}

/// `12.4.131` of `Cuda compilation tools, release 12.4, V12.4.131`.
fn version(words: &str) -> Option<&str> {
    words.split(", V").nth(1)?.split_whitespace().next()
}

/// The folder `nvidia` of the wheels below the target folder, installed by pip or uv if need be.
fn installed(root: &Path, wheels: &Wheels) -> Result<PathBuf> {
    let folder = target(root).join(wheels.folder);
    let requirements = root.join(wheels.requirements);
    let wanted = fs::read_to_string(&requirements).with_context(|| format!("cannot read {}", wheels.requirements))?;
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
        installer.current_dir(root).args(wheels.arguments(&folder));
        match run::status(&mut installer) {
            Ok(status) if status.success() => {
                #[cfg(unix)]
                for name in wheels.programs {
                    make_executable(&program(&folder.join("nvidia"), name))?;
                }
                fs::write(folder.join(MARK), &wanted)
                    .with_context(|| format!("cannot write in {}", folder.display()))?;
                return Ok(folder.join("nvidia"));
            }
            Ok(status) => eprintln!("xtask: that failed ({status})"),
            Err(error) => eprintln!("xtask: {error:#}"),
        }
    }
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install"]).args(wheels.arguments(&Path::new("target").join(wheels.folder)));
    bail!(
        "{} cannot be installed: where there is a network `{}` does it; a compiler of one's own, {}.{}, is named by {VARIABLE}",
        wheels.requirements,
        run::show(&command),
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
        for (Wheels { requirements, .. }, release) in
            [(PINNED, format!("=={}.{}.", RELEASE.0, RELEASE.1)), (NEWEST, "==13.".into())]
        {
            let text = fs::read_to_string(crate::place::root().join(requirements)).unwrap();
            let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert_eq!(lines.len(), 2);
            for line in lines {
                assert!(line.contains(&release), "{line}");
                let (_, hash) = line.split_once(" --hash=sha256:").unwrap();
                assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            }
        }
    }
}
