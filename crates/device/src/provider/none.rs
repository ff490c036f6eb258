//! A machine that has nothing.

use super::Provider;
use crate::{DriverFacts, DriverFailure, Environment, NvmlFacts, NvmlFailure};

/// Answers for a machine without NVIDIA hardware or software: for builds and runs that must not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProvider;

impl Provider for NoProvider {
    fn name(&self) -> &str {
        "none"
    }

    fn nvml(&self) -> Result<NvmlFacts, NvmlFailure> {
        Err(NvmlFailure::LibraryMissing { library: "NVML".into(), detail: "this provider never looks".into() })
    }

    fn driver(&self) -> Result<DriverFacts, DriverFailure> {
        Err(DriverFailure::LibraryMissing { library: "libcuda".into(), detail: "this provider never looks".into() })
    }

    fn environment(&self) -> Environment {
        Environment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_looks() {
        assert_eq!((NoProvider.name(), NoProvider.driver_devices()), ("none", Vec::new()));
        assert!(NoProvider.nvml().is_err() && NoProvider.driver().is_err());
    }
}
