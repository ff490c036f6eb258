//! The two functions that describe a code. They succeed even without a driver.
//!
//! `cust`'s `Display` of an error asks `cuGetErrorString` and fails when that fails, which makes `to_string` panic:
//! exactly where there is no driver, and for codes that the driver does not know.

// The driver's own names.
#![allow(non_snake_case)]

use super::forward::resolve;
use crate::DriverCode;
use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use cust_raw::CUresult;

type Describe = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;

/// # Safety
/// `text` is null or may be written to.
unsafe fn describe(slot: &AtomicPtr<c_void>, name: &'static CStr, code: u32, text: *mut *const c_char) -> CUresult {
    if text.is_null() {
        return CUresult::CUDA_ERROR_INVALID_VALUE;
    }
    let mut answer: *const c_char = ptr::null();
    if let Ok(address) = resolve(slot, name) {
        // SAFETY: cuGetErrorString and cuGetErrorName have this signature in cuda.h, `CUresult` being an `int`.
        let function: Describe = unsafe { transmute(address) };
        // SAFETY: the pointer is to a live local; any code is allowed. What it gives is a string of the driver's
        // own, which lives as long as the library: for ever.
        if unsafe { function(code, &raw mut answer) } != 0 {
            answer = ptr::null();
        }
    }
    if answer.is_null() {
        answer = DriverCode(code).c_name().unwrap_or(c"a code that this program does not know").as_ptr();
    }
    // SAFETY: not null (above), so by this function's contract it may be written to.
    unsafe { *text = answer };
    CUresult::CUDA_SUCCESS
}

// SAFETY of `no_mangle`, here and below: as in `forward`.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(error: CUresult, text: *mut *const c_char) -> CUresult {
    static SLOT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: the caller keeps the contract of cuGetErrorString: `text` may be written to.
    unsafe { describe(&SLOT, c"cuGetErrorString", error as u32, text) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(error: CUresult, text: *mut *const c_char) -> CUresult {
    static SLOT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: the caller keeps the contract of cuGetErrorName: `text` may be written to.
    unsafe { describe(&SLOT, c"cuGetErrorName", error as u32, text) }
}

const _: [unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult; 2] =
    [cust_raw::cuGetErrorString, cust_raw::cuGetErrorName];
