//! The compiled kernels of Octopus's own densities: the one list of what `kernels/ptx` has for them.

use super::{ExpansionModule, KernelModule};

/// Of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static HIERARCHICAL_NORMAL: &[KernelModule] = &[];

/// Of [`EightSchools`](crate::EightSchools).
pub(crate) static EIGHT_SCHOOLS: &[KernelModule] = &[];

/// What expands draws of [`HierarchicalNormal`](crate::HierarchicalNormal).
pub(crate) static EXPAND_HIERARCHICAL_NORMAL: &[ExpansionModule] = &[];

/// What expands draws of [`EightSchools`](crate::EightSchools).
pub(crate) static EXPAND_EIGHT_SCHOOLS: &[ExpansionModule] = &[];
