//! Several devices of one machine, such as `cuda:0,1`: how a list is read and named.

use crate::{Device, DeviceNameError};

/// CUDA devices by their numbers, each once; numbers are below 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSet(u64);

impl DeviceSet {
    /// Reads a list such as `cuda:0,1`, of at least two devices.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut set = 0_u64;
        for number in text.strip_prefix("cuda:")?.split(',') {
            // `parse` would take a sign too.
            let digits = number.bytes().all(|byte| byte.is_ascii_digit());
            let bit = 1_u64.checked_shl(number.parse().ok().filter(|_| digits)?)?;
            if set & bit != 0 {
                return None;
            }
            set |= bit;
        }
        (set.count_ones() > 1).then_some(Self(set))
    }

    /// Returns the devices, by their numbers.
    #[must_use]
    pub fn devices(self) -> Vec<Device> {
        (0..u64::BITS).filter(|&number| self.0 >> number & 1 == 1).map(Device::Cuda).collect()
    }
}

/// Returns the devices of a name that [`device_names`] gives.
///
/// # Errors
/// When it names none.
pub fn devices_named(name: &str) -> Result<Vec<Device>, DeviceNameError> {
    if !name.contains(',') {
        return Ok(vec![name.parse()?]);
    }
    DeviceSet::read(name).map(DeviceSet::devices).ok_or_else(|| DeviceNameError { text: name.to_owned() })
}

/// Returns the name of devices that work together, as `--device` takes it: `cpu`, `cuda:0`, `cuda:0,1`.
#[must_use]
pub fn device_names(devices: &[Device]) -> String {
    let mut name = devices.first().copied().unwrap_or_default().to_string();
    for device in devices.iter().skip(1) {
        name += &device.to_string().replacen("cuda:", ",", 1);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_their_name_back() {
        for name in ["cpu", "cuda:3", "cuda:0,1", "cuda:5,40,63"] {
            assert_eq!(device_names(&devices_named(name).unwrap()), name);
        }
        assert_eq!(devices_named("cuda:2,0").unwrap(), [Device::Cuda(0), Device::Cuda(2)]);
        assert_eq!(DeviceSet::read("cuda:0"), None);
        for name in ["", "cuda:1,1", "cpu,cuda:0", "cuda:0,64", "cuda:0,+1"] {
            assert!(devices_named(name).unwrap_err().to_string().contains("is no device"), "{name}");
        }
    }
}
