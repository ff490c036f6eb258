//! What ptxas makes of a module: each kernel's registers and spills, and its machine code with lines of PTX.

use super::arch::Architecture;
use super::sass::{Listing, listings};
use crate::ptx::resources::{Used, assemble_and, parse};
use crate::ptx::tools::Tools;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// The pinned assembler and the newest one.
pub(super) struct Assemblers<'a>(pub(super) &'a Tools);

/// A module for one architecture.
pub(super) struct MachineCode {
    /// By the names of the kernels.
    pub(super) used: BTreeMap<String, Used>,
    pub(super) listings: BTreeMap<String, Listing>,
}

impl Assemblers<'_> {
    /// The assembler for an architecture and its version: the pinned one where it knows it, unless the newest is asked for.
    pub(super) fn of(&self, architecture: &Architecture, always_newest: bool) -> (&Path, &str) {
        match architecture.is_in_pinned && !always_newest {
            true => (&self.0.ptxas, &self.0.ptxas_version),
            false => (&self.0.newest.ptxas, &self.0.newest.ptxas_version),
        }
    }

    /// Assembles a module's PTX and takes the result apart.
    ///
    /// # Errors
    /// When a program cannot be started or refuses what it is given, or its answer is not understood.
    pub(super) fn assemble(&self, ptxas: &Path, architecture: &str, ptx: &str) -> Result<MachineCode> {
        let (told, text) =
            assemble_and(ptxas, architecture, ptx, &["-lineinfo"], |file| disassemble(&self.0.newest.nvdisasm, file))?;
        Ok(MachineCode { used: parse(&told)?, listings: listings(&text)? })
    }
}

/// The listing of a file of machine code.
fn disassemble(nvdisasm: &Path, file: &Path) -> Result<String> {
    let mut command = Command::new(nvdisasm);
    let told = command.args(["-gp", "-hex"]).arg(file).stdin(Stdio::null()).output();
    let told = told.with_context(|| format!("cannot start {}", nvdisasm.display()))?;
    if !told.status.success() {
        bail!("nvdisasm refuses the machine code: {}", String::from_utf8_lossy(&told.stderr).trim());
    }
    String::from_utf8(told.stdout).context("nvdisasm's listing is no text")
}
