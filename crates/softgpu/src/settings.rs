//! Settings of the software GPU: its devices, memory, versions, and the faults that are put on its calls.

use std::fmt;
use std::path::Path;
use std::time::Duration;

/// The properties of the software machine and what goes wrong on it: the value of the environment variable
/// `OCTOPUS_SOFTGPU`.
///
/// Without any setting there is one sound device of compute capability 8.6 with 48 GB and a driver for CUDA 12.4. A
/// function or key that does not exist ends the program under test with exit code 97 and a message.
///
/// ```
/// use octopus_softgpu::Settings;
/// let settings = Settings::new().driver(11_040).fail("cuMemAlloc_v2", 2).at_call(3);
/// assert_eq!(settings.to_string(), "driver=11040;fail=cuMemAlloc_v2:2@3");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    keys: Vec<(&'static str, String)>,
    faults: Vec<String>,
}

impl Settings {
    /// Makes a sound machine with one device.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        match self.keys.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key, value)),
        }
        self
    }

    /// Sets the number of devices; with 0 it is a machine whose card is gone.
    pub fn devices(self, count: u32) -> Self {
        self.with("devices", count)
    }

    /// Sets the CUDA version of the driver as `cuDriverGetVersion` gives it: 12040 for 12.4.
    pub fn driver(self, version: u32) -> Self {
        self.with("driver", version)
    }

    /// Sets the driver's own version, like `550.90.07`.
    pub fn version(self, version: &str) -> Self {
        self.with("version", version)
    }

    /// Sets the compute capability of all devices.
    pub fn compute_capability(self, major: u32, minor: u32) -> Self {
        self.with("cc", format_args!("{major}.{minor}"))
    }

    /// Sets the number of multiprocessors of each device.
    pub fn multiprocessors(self, count: u32) -> Self {
        self.with("sms", count)
    }

    /// Sets the memory of each device, and what of it is free at the start, both in MiB.
    pub fn memory(self, total_mb: u64, free_mb: u64) -> Self {
        self.memory_of(&[(total_mb, free_mb)])
    }

    /// Sets the memory of each device in turn, and what of it is free at the start, both in MiB; further devices are
    /// like the last.
    pub fn memory_of(self, devices: &[(u64, u64)]) -> Self {
        let list = |values: Vec<String>| values.join(",");
        self.with("total_mb", list(devices.iter().map(|(total, _)| total.to_string()).collect()))
            .with("free_mb", list(devices.iter().map(|(_, free)| free.to_string()).collect()))
    }

    /// Sets the library of host-compiled kernels. `SoftwareGpu::command` sets it where it is not set, several with `:`
    /// between them: a kernel is looked for in one after the other.
    pub fn kernels(self, library: &Path) -> Self {
        self.with("kernels", library.display())
    }

    /// Has the interpreter ([`Lanes::Ptx`](crate::Lanes::Ptx)) split and order lanes, warps and blocks at random by this
    /// seed, in place of lock-step; 0 is lock-step.
    pub fn order(self, seed: u64) -> Self {
        self.with("order", seed)
    }

    /// Has the device do what is queued as late as it may, or, of three seeds of four, at random moments before that, in
    /// an order drawn by this seed among those that streams and events allow; 0: all work is done by the time its call
    /// returns. Page-locked memory that a copy writes is unwritten until then, and to free memory is not to wait. A
    /// program that forgets to wait has other numbers.
    pub fn late(self, seed: u64) -> Self {
        self.with("late", seed)
    }

    /// Has the interpreter look for races, for registers and shared memory that are read before they are written, and
    /// for barriers that threads miss: a launch with any of these fails with 719, and the message has them.
    pub fn checked(self) -> Self {
        self.with("checked", 1)
    }

    /// Has the interpreter write how often each instruction was done, a file for each kernel in this folder: lines of
    /// the PTX's line, its opcode, how often warps did it, and lanes of them.
    pub fn counts(self, folder: &Path) -> Self {
        self.with("counts", folder.display())
    }

    /// Has the interpreter write launches of each kernel into this folder, the first, second, fourth and so on, those of
    /// at most 16 MB: they can be run again without the program (`octopus_ptx::Recording`).
    pub fn record(self, folder: &Path) -> Self {
        self.with("record", folder.display())
    }

    /// Sets whether MIG is on. By default it is off on architectures that have it, and not supported on others.
    pub fn mig(self, on: bool) -> Self {
        self.with("mig", u8::from(on))
    }

    /// Sets the compute mode: 0 default, 1 exclusive by thread, 2 prohibited, 3 exclusive by process.
    pub fn compute_mode(self, mode: u32) -> Self {
        self.with("mode", mode)
    }

    /// Sets how many other processes compute on each device.
    pub fn processes(self, count: u32) -> Self {
        self.with("processes", count)
    }

    /// Loses all devices: from this driver call on (the first is 1; 0: from the start), every driver call gives 719 and
    /// every NVML call about a device gives 15.
    pub fn lost(self, call: u64) -> Self {
        self.with("lost", call)
    }

    /// Loses this device and no other: from this driver call in a context of the device on (the first is 1; 0: from the
    /// start), these calls and the request for a context give 719, and every NVML call about the device gives 15. The
    /// driver still tells what it knows of the device from its start.
    pub fn lost_device(mut self, device: u32, call: u64) -> Self {
        let one = format!("{device}:{call}");
        let old = self.keys.iter().position(|(name, _)| *name == "lost").map(|at| self.keys.remove(at).1);
        self.keys.push(("lost", old.map_or(one.clone(), |old| format!("{old},{one}"))));
        self
    }

    /// Makes the launch of this number (the first is 1) give `code`, and each driver call after it except the start and
    /// the questions about devices.
    pub fn sticky(self, code: u32, launch: u64) -> Self {
        self.with("sticky", format_args!("{code}@{launch}"))
    }

    /// Makes the launch of this number (the first is 1) one that never ends, nor does what comes after it in its context:
    /// `cuStreamQuery` gives 600, and so does `cuEventQuery` of what is recorded there later. A program that waits for it
    /// as the driver does would never go on; the double ends such a program with exit code 97 and a message.
    pub fn hang(self, launch: u64) -> Self {
        self.with("hang", launch)
    }

    /// Appends each call to this file: `name code details`.
    pub fn trace(self, file: &Path) -> Self {
        self.with("trace", file.display())
    }

    /// Appends what the program has used of each device to this file when it ends: see
    /// [`DeviceReport`](crate::DeviceReport).
    pub fn report(self, file: &Path) -> Self {
        self.with("report", file.display())
    }

    /// Sets the number of host threads that a launch is spread over. Without this they are the machine's, at most 8,
    /// and one for a launch whose blocks wait for each other: of several, on a machine that is busy, each waits long
    /// for the other's turn.
    pub fn threads(self, count: u32) -> Self {
        self.with("threads", count)
    }

    /// Sets how long a launch may last after a lane of it first slept (`__nanosleep`), to the millisecond. A launch
    /// that waits for something that never comes ends then, with 702. The default is a minute.
    pub fn timeout(self, limit: Duration) -> Self {
        self.with("timeout_ms", limit.as_millis())
    }

    /// Lets each device drive a display: its watchdog ends a launch that lasts longer, to the millisecond, with 702.
    /// Without this there is no watchdog.
    pub fn watchdog(self, limit: Duration) -> Self {
        self.with("watchdog_ms", limit.as_millis())
    }

    /// Sets the temperature in degrees Celsius.
    pub fn temperature(self, celsius: u32) -> Self {
        self.with("temperature", celsius)
    }

    /// Sets the power drawn at the moment in milliwatts; the limit is 300 W.
    pub fn power(self, milliwatts: u32) -> Self {
        self.with("power_mw", milliwatts)
    }

    /// Sets the multiprocessors' clock in MHz; the highest is 2100.
    pub fn clock(self, mhz: u32) -> Self {
        self.with("clock_mhz", mhz)
    }

    /// Sets how busy the device is, in per cent.
    pub fn utilisation(self, percent: u32) -> Self {
        self.with("utilisation", percent)
    }

    /// Sets why the clocks are throttled, as NVML's bits.
    pub fn throttle(self, reasons: u64) -> Self {
        self.with("throttle", reasons)
    }

    /// Sets whether ECC is on.
    pub fn ecc(self, on: bool) -> Self {
        self.with("ecc", u8::from(on))
    }

    /// Makes this function of the driver or of NVML give this code, at each call, or as [`Settings::at_call`] and
    /// [`Settings::from_call`] say after it.
    pub fn fail(mut self, function: &str, code: u32) -> Self {
        self.faults.push(format!("{function}:{code}"));
        self
    }

    /// Makes the last [`Settings::fail`] happen at this call only; the first is 1.
    pub fn at_call(mut self, call: u64) -> Self {
        if let Some(fault) = self.faults.last_mut() {
            *fault = format!("{fault}@{call}");
        }
        self
    }

    /// Makes the last [`Settings::fail`] happen from this call on; the first is 1.
    pub fn from_call(mut self, call: u64) -> Self {
        if let Some(fault) = self.faults.last_mut() {
            *fault = format!("{fault}@{call}+");
        }
        self
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.keys.iter().map(|(key, value)| format!("{key}={value}"));
        let faults = (!self.faults.is_empty()).then(|| format!("fail={}", self.faults.join(",")));
        f.write_str(&keys.chain(faults).collect::<Vec<_>>().join(";"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_the_double_reads_them() {
        let settings = Settings::new()
            .devices(2)
            .compute_capability(8, 6)
            .memory(48_685, 1_000)
            .sticky(700, 2)
            .timeout(Duration::from_millis(1_500))
            .order(7)
            .late(9)
            .checked()
            .counts(Path::new("/counts"))
            .record(Path::new("/record"))
            .fail("nvmlInit_v2", 18)
            .fail("cuMemAlloc_v2", 2)
            .from_call(3);
        let expected = "devices=2;cc=8.6;total_mb=48685;free_mb=1000;sticky=700@2;timeout_ms=1500;order=7;late=9;checked=1;counts=/counts;record=/record;fail=nvmlInit_v2:18,cuMemAlloc_v2:2@3+";
        assert_eq!(settings.to_string(), expected);
        assert_eq!(Settings::new().to_string(), "");
        let several = Settings::new().memory_of(&[(64, 60), (8, 2)]).lost_device(1, 40).lost_device(0, 0);
        assert_eq!(several.to_string(), "total_mb=64,8;free_mb=60,2;lost=1:40,0:0");
    }

    #[test]
    fn the_last_value_of_a_key_counts() {
        assert_eq!(Settings::new().devices(1).driver(12_040).devices(3).to_string(), "devices=3;driver=12040");
    }
}
