//! The current device of a thread, and the names of devices: `cpu`, `cuda:0`.

use octopus_cuda::{Context, CudaError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use thiserror::Error;

/// A place where arrays live and work is done.
///
/// **The current device** is a property of the thread: [`Device::current`] is the CPU in every new thread, until
/// [`Device::set`], [`Device::scope`] or [`with_device`] say otherwise *in that thread*. Nothing is inherited: a
/// closure that a thread pool (rayon's, for one) runs on another thread sees that thread's device, not the
/// caller's, and a worker that was set stays set for whatever job comes next. So hand the `Device` to the job and
/// open a scope inside it:
///
/// ```
/// use octopus_device::{Device, with_device};
///
/// let device = Device::Cuda(1);
/// let seen = std::thread::spawn(move || {
///     assert_eq!(Device::current(), Device::Cpu);
///     with_device(device, Device::current)
/// });
/// assert_eq!(seen.join().unwrap(), device);
/// ```
///
/// Setting a device asks nothing of the machine: whether `cuda:1` exists shows when the first array is made there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// The processor, and its memory.
    #[default]
    Cpu,
    /// A CUDA device by the driver's number, counted from 0 among those that `CUDA_VISIBLE_DEVICES` shows.
    Cuda(u32),
}

thread_local! {
    static CURRENT: Cell<Device> = const { Cell::new(Device::Cpu) };
}

impl Device {
    /// Returns the device of this thread.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.get()
    }

    /// Makes it the device of this thread, until told otherwise or until an enclosing scope ends; the one before
    /// is returned.
    pub fn set(self) -> Self {
        CURRENT.replace(self)
    }

    /// Makes it the device of this thread until the guard is dropped, at the end of a block or by a panic.
    ///
    /// The guard puts back what was current when it was made, whatever happened in between. Guards nest; they are to
    /// be dropped in the reverse order, which blocks do by themselves.
    ///
    /// ```
    /// use octopus_device::Device;
    ///
    /// {
    ///     let _scope = Device::Cuda(0).scope();
    ///     assert_eq!(Device::current(), Device::Cuda(0));
    /// }
    /// assert_eq!(Device::current(), Device::Cpu);
    /// ```
    #[must_use = "the device is put back as soon as the guard is dropped: name it, e.g. `let _scope = ...`"]
    pub fn scope(self) -> DeviceScope {
        DeviceScope { before: self.set(), of_this_thread: PhantomData }
    }

    /// Returns the device's context, made if this process has none yet; none for the CPU.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be used.
    pub fn context(self) -> Result<Option<Context>, CudaError> {
        match self {
            Self::Cpu => Ok(None),
            Self::Cuda(ordinal) => Context::primary(&octopus_cuda::Device::get(ordinal)?).map(Some),
        }
    }
}

/// Puts a thread's device back when it is dropped; made by [`Device::scope`]. It stays in its thread:
///
/// ```compile_fail,E0277
/// let scope = octopus_device::Device::Cuda(0).scope();
/// std::thread::spawn(move || drop(scope)); // would change the other thread's device
/// ```
#[derive(Debug)]
pub struct DeviceScope {
    before: Device,
    /// A guard that another thread dropped would change that thread's device: raw pointers are not `Send`.
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for DeviceScope {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// Runs `work` with `device` current, and puts back what was, also when `work` panics.
pub fn with_device<R>(device: Device, work: impl FnOnce() -> R) -> R {
    let _scope = device.scope();
    work()
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.pad("cpu"),
            Self::Cuda(ordinal) => f.pad(&format!("cuda:{ordinal}")),
        }
    }
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no device: `cpu`, `cuda` (the first), or `cuda:N` with N counted from 0")]
pub struct DeviceNameError {
    /// The text.
    pub text: String,
}

impl FromStr for Device {
    type Err = DeviceNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "cpu" => return Ok(Self::Cpu),
            "cuda" => return Ok(Self::Cuda(0)),
            _ => {}
        }
        // `parse` would take a sign too.
        let digits = text.strip_prefix("cuda:").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let ordinal = digits.and_then(|digits| digits.parse().ok());
        ordinal.map(Self::Cuda).ok_or_else(|| DeviceNameError { text: text.to_owned() })
    }
}

impl Serialize for Device {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Device {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for (text, device) in [("cpu", Device::Cpu), ("cuda:0", Device::Cuda(0)), ("cuda:17", Device::Cuda(17))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
            assert_eq!(serde_json::to_string(&device).unwrap(), format!("{text:?}"));
            assert_eq!(serde_json::from_str::<Device>(&format!("{text:?}")).unwrap(), device);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for text in ["", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:+1", "cuda:1 ", "cuda:4294967296", "cuda0"] {
            let error = text.parse::<Device>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("cuda:N"), "{error}");
        }
    }

    #[test]
    fn scopes_nest_and_set_lasts_to_their_end() {
        assert_eq!(Device::current(), Device::Cpu);
        {
            let _outer = Device::Cuda(0).scope();
            with_device(Device::Cuda(1), || {
                assert_eq!(Device::current(), Device::Cuda(1));
                assert_eq!(Device::Cpu.set(), Device::Cuda(1));
            });
            assert_eq!(Device::current(), Device::Cuda(0));
        }
        assert_eq!(Device::current(), Device::Cpu);
    }

    #[test]
    fn a_panic_puts_the_device_back() {
        Device::Cuda(3).set();
        let result = std::panic::catch_unwind(|| with_device(Device::Cuda(4), || panic!("on purpose")));
        assert!(result.is_err());
        assert_eq!(Device::current(), Device::Cuda(3));
        Device::Cpu.set();
    }
}
