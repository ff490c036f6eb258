//! What a user is advised to do about an error of the CUDA driver, by its result code.

use crate::DriverCode;

/// One clause, to stand after the code.
pub(crate) fn advice(code: DriverCode) -> &'static str {
    match code.0 {
        2 => "free memory on the device, or use fewer chains or smaller batches",
        3 | 4 | 201 | 709 => "the driver is shutting down or was never started; start the program again",
        34 => "the toolkit's stub was found before the driver; remove its `stubs` folder from LD_LIBRARY_PATH",
        36 | 302 => "the driver is too old for this call; install one that supports CUDA 12.4 or newer",
        46 => "another process has the device, which is in exclusive compute mode; end it, or `nvidia-smi -c 0`",
        100 => "the driver finds no device; see `nvidia-smi`, and check that CUDA_VISIBLE_DEVICES hides none",
        101 => "there is no device of this number; see `octopus device list`",
        102 => "the device's licence (vGPU) is missing; ask who runs the machine",
        200 | 209 => "the kernels do not run on this device; they need compute capability 8.0 or newer",
        214 | 220 | 226 => {
            "the device's memory or links are faulty; reset it (`nvidia-smi -r`), and see its ECC counts"
        }
        218 => "the kernels' PTX is damaged; build the program again",
        221 => "libnvidia-ptxjitcompiler.so.1 is missing; install the whole NVIDIA driver, in containers too",
        222 => "the driver is older than the kernels; install one that supports CUDA 12.4 or newer",
        223 => "compiling for the device is switched off; unset CUDA_DISABLE_PTX_JIT",
        304 => "the operating system refused a call; see the kernel's log (`dmesg`) and the limits (`ulimit -a`)",
        701 => "the kernel needs more registers or shared memory than the device has; use a smaller problem",
        702 => {
            "a kernel ran longer than the display allows, or waited for what never came; use a device without a \
             display, and start the program again"
        }
        720 => "the device does not hold all blocks of this kernel at once; let fewer of them share the work",
        700 | 714..=718 | 721 => {
            "a kernel did something illegal, and the device is lost to this process; start the program again, and \
             please report it"
        }
        719 => "a kernel failed, or the device was lost; see `dmesg` for Xid, then start the program again",
        710 => "an assertion in a kernel failed, and the device is lost to this process; please report it",
        800 => "this user may not use the device; check the permissions of /dev/nvidia*, or the container's rights",
        801 => "this device or driver cannot do it; see `octopus verify`",
        802 => "the machine's fabric manager is not running; start nvidia-fabricmanager",
        803 => "the kernel module and the driver library are of different versions; reboot, or reinstall the driver",
        804 => "a forward-compatibility libcuda serves data-centre devices only; remove it from LD_LIBRARY_PATH",
        805..=810 => "the multi-process service (MPS) does not serve this process; see its log, or stop it",
        _ => "see `octopus verify`, and the kernel's log (`dmesg`) for Xid messages",
    }
}
