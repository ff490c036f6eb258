//! Loading PTX, functions and their attributes, streams and events.

use super::scenario::scenario;
use super::session::{EXERCISES, exercise, function, load, ptx, ready};
use crate::Settings;
use crate::ffi::{Double, Handle};
use std::ffi::{CString, c_void};

scenario!(functions_are_those_of_the_ptx, Settings::new(), || {
    let driver = ready();
    let module = load(&driver, &ptx("8.4", "sm_80", &EXERCISES[..2])).unwrap();
    assert!(function(&driver, module, "warp_sum").is_ok());
    // It exists on the host, but this module does not have it.
    assert_eq!(function(&driver, module, "shuffles"), Err(500));
    assert_eq!(function(&driver, 0xbad, "warp_sum"), Err(400));
    assert_eq!((driver.unload_module(module), driver.unload_module(module)), (0, 400));
});

scenario!(an_old_driver_refuses_new_ptx, Settings::new().driver(12_020), || {
    let driver = ready();
    assert_eq!(load(&driver, &ptx("8.4", "sm_80", EXERCISES)), Err(222));
    assert!(load(&driver, &ptx("8.2", "sm_80", EXERCISES)).is_ok());
});

scenario!(a_new_driver_takes_old_ptx, Settings::new().driver(13_000), || {
    let driver = ready();
    assert!(load(&driver, &ptx("8.4", "sm_80", EXERCISES)).is_ok());
    assert!(load(&driver, &ptx("9.0", "sm_80", EXERCISES)).is_ok());
    assert_eq!(load(&driver, &ptx("9.1", "sm_80", EXERCISES)), Err(222));
});

scenario!(a_target_above_the_device_is_refused, Settings::new().compute_capability(7, 0), || {
    let driver = ready();
    assert_eq!(load(&driver, &ptx("8.4", "sm_80", EXERCISES)), Err(218));
    assert!(load(&driver, &ptx("8.4", "sm_70", EXERCISES)).is_ok());
});

scenario!(what_is_no_ptx_is_refused, Settings::new(), || {
    let driver = ready();
    let good = ptx("8.4", "sm_80", EXERCISES);
    assert!(load(&driver, &good).is_ok());
    for garbage in ["", "hello", ".version 8.4", ".version 8.4\n.target\n", &good[..good.len() - 4], &good[10..]] {
        let text = &garbage[..garbage.len().min(30)];
        // The beginning is cut off within the comment: what is left has no comment sign on its first line.
        assert_eq!(load(&driver, garbage), Err(218), "{text:?}");
    }
    assert_eq!(load(&driver, "\u{7f}ELF and so on"), Err(209));
});

/// The compiler's words, for a buffer of this size.
fn log_of(driver: &Double, text: &str, size: usize) -> (i32, String, usize) {
    let image = CString::new(text).unwrap();
    let mut buffer = vec![b'?'; size];
    // CU_JIT_ERROR_LOG_BUFFER and its size, the size being the pointer's value.
    let mut options = [5, 6];
    let mut values = [buffer.as_mut_ptr().cast::<c_void>(), size as *mut c_void];
    let mut module: Handle = 0;
    let code = driver.load_module(&mut module, image.as_ptr(), 2, options.as_mut_ptr(), values.as_mut_ptr());
    let written = values[1] as usize;
    (code, String::from_utf8(buffer[..written].to_vec()).unwrap(), written)
}

scenario!(the_compilers_log_is_given, Settings::new().driver(12_000), || {
    let driver = ready();
    let (code, log, _) = log_of(&driver, &ptx("8.4", "sm_80", EXERCISES), 512);
    assert_eq!(code, 222);
    assert!(log.contains("Unsupported .version 8.4; current version is '8.0'"), "{log}");
    let (code, log, written) = log_of(&driver, "nonsense", 16);
    // The last byte is the end of the text.
    assert_eq!((code, written, log.as_str()), (218, 15, "ptxas applicati"));
    assert_eq!(log_of(&driver, &ptx("8.0", "sm_80", EXERCISES), 16), (0, String::new(), 0));
});

const BOUNDED: &str = ".version 8.4\n.target sm_80\n.address_size 64\n\
    .shared .align 8 .b8 everybodys[100];\n\
    .visible .entry bounded(\n .param .u64 bounded_param_0,\n .param .align 8 .b8 bounded_param_1[24]\n)\n\
    .maxntid 16, 8, 2\n.minnctapersm 2\n{\n .reg .b32 %r<3>;\n // demoted variable\n \
    .shared .align 4 .b8 _ZZ7boundedE4rows[1024];\n mov.u32 %r1, everybodys;\n mov.u32 %r2, everybodys;\n {\n ret;\n }\n}\n\
    .visible .entry free()\n{\n ret;\n}\n";

scenario!(attributes_come_from_the_ptx, Settings::new(), || {
    let driver = ready();
    let module = load(&driver, BOUNDED).unwrap();
    let attribute = |function, number| {
        let mut value = -1;
        (driver.function_attribute(&mut value, number, function), value)
    };
    let bounded = function(&driver, module, "bounded").unwrap();
    assert_eq!(attribute(bounded, 0), (0, 256));
    assert_eq!(attribute(bounded, 1), (0, 1124));
    assert_eq!(attribute(bounded, 4), (0, 128), "65,536 registers for two blocks of 256 threads");
    assert_eq!(attribute(bounded, 5), (0, 84));
    assert_eq!(attribute(bounded, 6), (0, 86));
    assert_eq!(attribute(bounded, 99), (1, -1));
    let free = function(&driver, module, "free").unwrap();
    assert_eq!((attribute(free, 0), attribute(free, 1), attribute(free, 4)), ((0, 1024), (0, 0), (0, 32)));
    assert_eq!(attribute(module, 0).0, 400);
});

scenario!(occupancy_has_the_architectures_limits, Settings::new().compute_capability(8, 6), || {
    let driver = ready();
    let function = exercise(&driver, "nothing");
    let blocks = |threads, dynamic| {
        let mut blocks = -1;
        assert_eq!(driver.occupancy(&mut blocks, function, threads, dynamic), 0);
        blocks
    };
    // 1536 threads and 16 blocks a multiprocessor, 100 KiB of shared memory of which each block costs one.
    assert_eq!((blocks(256, 0), blocks(1024, 0), blocks(32, 0)), (6, 1, 16));
    assert_eq!((blocks(128, 48 << 10), blocks(2048, 0)), (2, 0));
});

scenario!(as_many_blocks_fit_as_a_kernel_was_compiled_for, Settings::new().compute_capability(8, 6), || {
    let driver = ready();
    for (least, expected) in [(1, 2), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (8, 8), (12, 12)] {
        let text =
            BOUNDED.replace("16, 8, 2", "128, 1, 1").replace(".minnctapersm 2", &format!(".minnctapersm {least}"));
        let module = load(&driver, &text).unwrap();
        let bounded = function(&driver, module, "bounded").unwrap();
        let mut blocks = -1;
        assert_eq!(driver.occupancy(&mut blocks, bounded, 128, 0), 0);
        assert_eq!(blocks, expected, "compiled for {least}: at most 255 registers leave room for two");
    }
});

scenario!(a_kernel_has_no_more_registers_than_it_was_limited_to, Settings::new(), || {
    let driver = ready();
    for (bounds, expected) in
        [(".maxnreg 40", 40), (".maxnreg 96\n.minnctapersm 2", 96), (".minnctapersm 8\n.maxnreg 96", 32)]
    {
        let module = load(&driver, &BOUNDED.replace(".minnctapersm 2", bounds)).unwrap();
        let mut registers = -1;
        assert_eq!(driver.function_attribute(&mut registers, 4, function(&driver, module, "bounded").unwrap()), 0);
        assert_eq!(registers, expected, "{bounds}");
    }
});

scenario!(streams_and_events, Settings::new(), || {
    let driver = ready();
    let mut stream = 0;
    assert_eq!((driver.create_stream(&mut stream, 1, 0), driver.create_stream(&mut 0, 8, 0)), (0, 1));
    let (mut start, mut end, mut untimed) = (0, 0, 0);
    assert_eq!((driver.create_event(&mut start, 0), driver.create_event(&mut end, 0)), (0, 0));
    assert_eq!(driver.create_event(&mut untimed, 2), 0);
    let mut time = -1.0;
    // An event that was not recorded has no time.
    assert_eq!(driver.elapsed(&mut time, start, end), 400);
    assert_eq!((driver.record(start, stream), driver.wait_event(0, start, 0)), (0, 0));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!((driver.record(end, stream), driver.record(untimed, 0), driver.synchronize_event(end)), (0, 0, 0));
    assert_eq!(driver.elapsed(&mut time, start, end), 0);
    assert!((20.0..2_000.0).contains(&time), "{time}");
    assert_eq!(driver.elapsed(&mut time, start, untimed), 400);
    assert_eq!((driver.synchronize_stream(stream), driver.destroy_stream(stream)), (0, 0));
    assert_eq!((driver.synchronize_stream(stream), driver.record(start, stream)), (400, 400));
    assert_eq!((driver.destroy_event(start), driver.destroy_event(start)), (0, 400));
});
