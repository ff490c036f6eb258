//! The compiled kernels of Octopus's own densities: the one list of what `kernels/ptx` has for them.

use super::KernelModule;

/// Of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = &[];

/// Of [`EightSchools`](crate::EightSchools).
pub(crate) static EIGHT_SCHOOLS: &[KernelModule] = &[];
