use super::forward::{FUNCTIONS, answer};
use super::{Last, choose, last, name};
use crate::{CudaError, DriverCode, driver_start};
use cust::sys::{self, CUresult};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::path::Path;

#[test]
fn all_353_functions_of_cust_raw_are_defined() {
    let names: BTreeSet<&str> = FUNCTIONS.iter().copied().collect();
    assert_eq!((FUNCTIONS.len(), names.len()), (351, 351), "with the two of describe.rs they are 353");
    assert!(names.contains("cuLaunchKernel") && !names.contains("cuGetErrorString"));
}

#[test]
fn a_code_that_the_enum_lacks_becomes_999_and_its_number_is_kept() {
    for code in [226, 721, 810, 916, 12345, u32::MAX] {
        assert_eq!(answer(Last::Answered(code)), CUresult::CUDA_ERROR_UNKNOWN, "{code}");
        assert_eq!(last(), Last::Answered(code));
    }
    for (code, listed) in [
        (0, CUresult::CUDA_SUCCESS),
        (222, CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
        (700, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS),
    ] {
        assert_eq!(answer(Last::Answered(code)), listed);
    }
}

#[test]
fn threads_keep_their_own_codes() {
    let _ = answer(Last::Answered(700));
    std::thread::spawn(|| assert_eq!(last(), Last::Answered(0))).join().expect("the thread asserts only");
    assert_eq!(last(), Last::Answered(700));
}

/// One test, since a process opens one library.
#[test]
fn without_a_library_everything_answers_and_nothing_panics() {
    choose(Path::new("/no/such/libcuda.so.1")).expect("nothing was opened yet");
    let error = driver_start().expect_err("there is no library");
    let CudaError::LibraryMissing { library, detail } = &error else { panic!("{error:?}") };
    assert_eq!((library.as_str(), name()), ("/no/such/libcuda.so.1", "/no/such/libcuda.so.1"));
    assert!(detail.contains("cannot open shared object file"), "{detail}");
    assert!(error.is_absence() && !error.is_sticky());

    // SAFETY: nothing is called behind it, there is no library.
    let result = unsafe { sys::cuInit(0) };
    assert_eq!((result, last()), (CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Last::NoLibrary));
    // cust's own Display asks the driver, and would panic here if the shim did not answer.
    assert!(cust::error::CudaError::NoDevice.to_string().contains("CUDA_ERROR_NO_DEVICE"));
    let mut text: *const c_char = std::ptr::null();
    // SAFETY: the pointer is to a live local.
    assert_eq!(unsafe { sys::cuGetErrorName(CUresult::CUDA_ERROR_UNKNOWN, &raw mut text) }, CUresult::CUDA_SUCCESS);
    // SAFETY: the call succeeded, so it is a string that lives for ever.
    assert_eq!(unsafe { CStr::from_ptr(text) }, DriverCode::UNKNOWN.c_name().expect("known"));

    let late = choose(Path::new("/another")).expect_err("a library was asked for already");
    assert!(matches!(late, CudaError::LibraryChosenTooLate { .. }), "{late}");
}
