//! Runs foreign decoders so that their panics on damaged bytes do not end the process.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// How many guards this thread is in.
    static GUARDS: Cell<usize> = const { Cell::new(0) };
}

/// Returns whether a panic of this thread would now become an error, in [`decode`]: then a program's panic hook need
/// not report it.
pub fn panics_become_errors() -> bool {
    GUARDS.get() > 0
}

/// Makes [`panics_become_errors`] true on this thread for as long as it lives: for threads of a pool that work for a
/// [`decode`] of the thread that waits for them, to which their panics are handed on.
pub fn guard_this_thread() {
    GUARDS.set(GUARDS.get() + 1);
}

/// Runs a decoder of a library on bytes that may be damaged. The parquet crate still panics on some of
/// them (negative offsets, impossible lengths): that is a finding about the file, not the end of a program.
/// Nothing that `work` touched may be used after a failure.
///
/// # Errors
/// When `work` fails, with its error, or panics, with the error that `damaged` makes of the panic's message.
pub fn decode<T, E>(work: impl FnOnce() -> Result<T, E>, damaged: impl FnOnce(String) -> E) -> Result<T, E> {
    GUARDS.set(GUARDS.get() + 1);
    let found = catch_unwind(AssertUnwindSafe(work));
    GUARDS.set(GUARDS.get() - 1);
    found.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let text = text.unwrap_or_else(|| "its contents are impossible".to_owned());
        Err(damaged(format!("it is damaged ({text}): copy or write it again")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let told = |found: Result<(), String>| found.unwrap_err();
        assert_eq!(decode(|| Ok::<_, String>(panics_become_errors()), |text| text), Ok(true));
        assert_eq!(decode(|| Err::<(), _>("told".to_owned()), |text| text), Err("told".into()));
        let bad = -1;
        assert!(told(decode(|| panic!("start {bad}"), |text| text)).contains("(start -1)"));
        assert!(told(decode(|| panic!("plain"), |text| text)).contains("(plain)"));
        assert!(!panics_become_errors());
        let worker = std::thread::spawn(|| (guard_this_thread(), panics_become_errors()));
        assert!(worker.join().unwrap().1 && !panics_become_errors());
    }
}
