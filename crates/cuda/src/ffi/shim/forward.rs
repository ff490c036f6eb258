//! One function of C for each of the driver's, its signature checked against `cust_raw`.

// The driver's own names; the number and kinds of arguments are the driver's too.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::missing_safety_doc, missing_docs)]

use super::library;
use core::ffi::{CStr, c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use cust_raw::*;
use std::cell::Cell;

/// `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`: there is no library.
pub(super) const NO_LIBRARY: u32 = 303;
/// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`: the library has no such function.
pub(super) const NO_SYMBOL: u32 = 302;

/// The result of the last call on this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ffi) enum Last {
    /// The driver answered with this code, which Rust may have seen as 999.
    Answered(u32),
    /// The library could not be opened.
    NoLibrary,
    /// The library lacks this function.
    NoSymbol(&'static str),
}

thread_local!(static LAST: Cell<Last> = const { Cell::new(Last::Answered(0)) });

/// Returns the result of the last call on this thread.
pub(in crate::ffi) fn last() -> Last {
    LAST.get()
}

/// Marks a function that the library was found to lack.
static LACKING: u8 = 0;

fn lacking() -> *mut c_void {
    (&raw const LACKING).cast_mut().cast()
}

/// Returns the driver's function of this name, looked up once and kept in `slot`.
pub(super) fn resolve(slot: &AtomicPtr<c_void>, name: &'static CStr) -> Result<*mut c_void, Last> {
    // Acquire and release order the code behind the address before its use; a race of two look-ups stores the
    // same address twice.
    let known = slot.load(Ordering::Acquire);
    let symbol = || Last::NoSymbol(name.to_str().unwrap_or_default());
    if known == lacking() {
        return Err(symbol());
    }
    if !known.is_null() {
        return Ok(known);
    }
    let library = library::opened().map_err(|_| Last::NoLibrary)?;
    // SAFETY: the symbol is taken as a bare address here; whoever makes a function of it answers for the signature.
    let found = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
    let address = found.map_or(ptr::null_mut(), |address| *address);
    if address.is_null() {
        slot.store(lacking(), Ordering::Release);
        return Err(symbol());
    }
    slot.store(address, Ordering::Release);
    Ok(address)
}

/// Keeps what happened and makes of it a result that Rust's enum lists.
pub(super) fn answer(last: Last) -> CUresult {
    LAST.set(last);
    let code = match last {
        Last::Answered(code) => code,
        Last::NoLibrary => NO_LIBRARY,
        Last::NoSymbol(_) => NO_SYMBOL,
    };
    if !LISTED_CODES.contains(&code) {
        return CUresult::CUDA_ERROR_UNKNOWN;
    }
    // SAFETY: `CUresult` is `repr(i32)` and lists this code, by the line above: LISTED_CODES are its own.
    unsafe { transmute::<u32, CUresult>(code) }
}

macro_rules! forward {
    ($(fn $name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(
            // SAFETY of `no_mangle`: the program is not linked to libcuda, so this is the only symbol of this name;
            // its signature is that of the declaration it stands for (checked below).
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $kind),*) -> CUresult {
                static SLOT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
                match resolve(&SLOT, NAME) {
                    Ok(address) => {
                        // SAFETY: the address is that of the driver's function of this name, whose signature is
                        // cust_raw's (checked below) but for the result: an `int` in C, taken as `u32` because it
                        // may be a code that the Rust enum does not list. The library is never closed.
                        let function: unsafe extern "C" fn($($kind),*) -> u32 = unsafe { transmute(address) };
                        // SAFETY: the caller keeps the contract of the driver's function, whose arguments these are.
                        answer(Last::Answered(unsafe { function($($argument),*) }))
                    }
                    Err(missing) => answer(missing),
                }
            }
            // The signature above must be the one that cust_raw declares and cust calls.
            const _: unsafe extern "C" fn($($kind),*) -> CUresult = cust_raw::$name;
        )*

        /// Every function that this module forwards.
        #[cfg(test)]
        pub(super) const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];
    };
}

include!("functions.rs");
