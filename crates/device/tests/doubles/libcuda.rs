//! A stand-in for the CUDA driver library with three functions. Its answers are fixed when it is built,
//! by the variables DOUBLE_VERSION, DOUBLE_INIT and DOUBLE_DEVICES.

#![crate_type = "cdylib"]

const fn number(text: &str) -> i32 {
    let bytes = text.as_bytes();
    let (mut value, mut at) = (0, 0);
    while at < bytes.len() {
        value = value * 10 + (bytes[at] - b'0') as i32;
        at += 1;
    }
    value
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> i32 {
    unsafe { *version = number(env!("DOUBLE_VERSION")) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: u32) -> i32 {
    if flags == 0 { number(env!("DOUBLE_INIT")) } else { 1 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> i32 {
    unsafe { *count = number(env!("DOUBLE_DEVICES")) };
    0
}
