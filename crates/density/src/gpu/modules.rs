//! The compiled kernels of Octopus's own densities: the one list of what `kernels/ptx` has for them.

use super::{KernelModule, KernelText, Precision};

/// The modules of one density, by precision and shape.
macro_rules! modules {
    ($density:literal: $($precision:ident $name:literal { $($lanes:literal x $rows:literal)* })*) => {
        &[$($(KernelModule {
            precision: Precision::$precision,
            lanes: $lanes,
            rows: $rows,
            ptx: KernelText::Gzip(include_bytes!(concat!(
                "../../../../kernels/ptx/nuts_", $density, "_", $name, "_", $lanes, "x", $rows, ".ptx.gz"
            ))),
        }),*),*]
    };
}

/// Of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = modules!("hierarchical_normal":
    F64 "f64" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8 }
    F32 "f32" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8 }
    Mixed "mixed" { 32 x 1 32 x 4 32 x 8 128 x 4 128 x 8 }
);
