//! Foreign decoders kept from taking the process down.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// No variable may claim more than this: a damaged header must not ask for all the memory there is.
pub(crate) const MAX_VARIABLE_BYTES: usize = 8 << 30;

/// Runs a decoder of a library on bytes that may be damaged. The parquet crate still panics on some of
/// them (negative offsets, impossible lengths): that is a finding about the file, not the end of a program.
/// Nothing that `work` touched may be used after a failure.
pub(crate) fn decode<T, E>(work: impl FnOnce() -> Result<T, E>, damaged: impl FnOnce(String) -> E) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(damaged(text.unwrap_or_else(|| "its contents are impossible".to_owned())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(decode(|| Ok::<_, String>(1), |text| text), Ok(1));
        assert_eq!(decode(|| Err::<(), _>("told".to_owned()), |text| text), Err("told".into()));
        let bad = -1;
        assert_eq!(decode(|| -> Result<(), String> { panic!("start {bad}") }, |text| text), Err("start -1".into()));
        assert_eq!(decode(|| -> Result<(), String> { panic!("plain") }, |text| text), Err("plain".into()));
    }
}
