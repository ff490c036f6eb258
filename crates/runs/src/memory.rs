//! The host's memory that work takes, and that there is: the one place that asks whether both fit.

use crate::RunError;
use octopus_device::HostInfo;

/// What work takes of the host's memory, foretold before any of it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryNeed {
    /// What takes it, by the options that say how much: `--chains 1000: the run`.
    pub what: String,
    /// The bytes that it takes at least.
    pub bytes: u64,
    /// What to do where there is less: `ask for fewer --chains`.
    pub advice: String,
}

impl MemoryNeed {
    /// Checks that the memory is there, before any of it is taken.
    ///
    /// # Errors
    /// [`RunError::MemoryTooSmall`] when this process can have less: of the machine, its container and its own limit
    /// (`ulimit -v`).
    pub fn check(&self) -> Result<(), RunError> {
        self.fits(HostInfo::read().memory_available)
    }

    /// Checks that it is `available`, where that is known.
    ///
    /// # Errors
    /// [`RunError::MemoryTooSmall`] when it is not.
    pub fn fits(&self, available: Option<u64>) -> Result<(), RunError> {
        match available {
            Some(available) if available < self.bytes => {
                Err(RunError::MemoryTooSmall { need: self.clone(), available })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_the_memory_to_the_last_byte_fits() {
        let need = MemoryNeed { what: "the run".into(), bytes: (5 << 20) + 1, advice: "ask for less".into() };
        assert!(need.fits(None).is_ok() && need.fits(Some(need.bytes)).is_ok());
        let error = need.fits(Some(need.bytes - 1)).unwrap_err().to_string();
        assert_eq!(error, "the run takes at least 6 MiB of memory on the CPU, and 5 MiB are there: ask for less");
    }

    #[test]
    fn no_machine_has_all_that_can_be_counted() {
        let need = |bytes| MemoryNeed { what: "it".into(), bytes, advice: String::new() };
        assert!(need(0).check().is_ok());
        if HostInfo::read().memory_available.is_some() {
            assert!(need(u64::MAX).check().is_err());
        }
    }
}
