//! Operations on matrices.

use super::KernelRefusal;
use super::emitter::Emitter;
use crate::matrix::MatrixOp;
use crate::plan::View;

impl Emitter<'_> {
    pub(super) fn matrix(&mut self, op: MatrixOp, _args: [View; 2], _out: u32) -> Result<(), KernelRefusal> {
        Err(KernelRefusal::Operation(format!("{op:?}")))
    }
}
