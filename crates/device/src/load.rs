//! What a device is doing at a moment: how busy it is, its memory, clocks, temperature and power.

use crate::nvml::gibibytes;
use crate::{DeviceInfo, Throttle};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a device was doing at a moment; a field is `None` where the device does not tell it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceLoad {
    /// NVML's index of the device.
    pub index: u32,
    /// Share of the last moment in which a kernel ran, in percent.
    pub utilization_percent: Option<u32>,
    /// Allocated memory in bytes, of all programs together.
    pub memory_used: Option<u64>,
    /// Installed memory in bytes.
    pub memory_total: Option<u64>,
    /// Clock of the streaming multiprocessors in MHz.
    pub sm_clock_mhz: Option<u32>,
    /// Clock of the memory in MHz.
    pub memory_clock_mhz: Option<u32>,
    /// Temperature of the chip in degrees Celsius.
    pub temperature_celsius: Option<u32>,
    /// Power draw in watts.
    pub power_watts: Option<f64>,
    /// Power limit in watts.
    pub power_limit_watts: Option<f64>,
    /// What holds the clocks down; empty when there is nothing.
    pub throttle: Option<Vec<Throttle>>,
}

impl DeviceLoad {
    /// The names of the columns of [`Display`](fmt::Display).
    pub const HEADING: &str =
        "GPU  busy            memory     SM, MHz  memory, MHz   chip          power  held down by";

    /// Returns the load that a look at the device found.
    #[must_use]
    pub fn of(info: &DeviceInfo) -> Self {
        Self {
            index: info.index,
            utilization_percent: info.utilization_percent,
            memory_used: info.memory_total.zip(info.memory_free).map(|(total, free)| total.saturating_sub(free)),
            memory_total: info.memory_total,
            sm_clock_mhz: info.sm_clock_mhz,
            memory_clock_mhz: info.memory_clock_mhz,
            temperature_celsius: info.temperature_celsius,
            power_watts: info.power_watts,
            power_limit_watts: info.power_limit_watts,
            throttle: info.throttle.clone(),
        }
    }
}

impl fmt::Display for DeviceLoad {
    /// One line under [`DeviceLoad::HEADING`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn told<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
            value.map_or_else(|| "-".to_owned(), words)
        }
        let mhz = |clock: Option<u32>| told(clock, |mhz| mhz.to_string());
        let used = told(self.memory_used.zip(self.memory_total), |(used, total)| {
            format!("{} of {} GiB", gibibytes(used), gibibytes(total))
        });
        let power = told(self.power_watts, |watts| {
            format!("{watts:.0}{} W", self.power_limit_watts.map_or(String::new(), |limit| format!(" of {limit:.0}")))
        });
        let held = told(self.throttle.as_ref(), |reasons| {
            let words: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
        });
        write!(
            f,
            "{:>3} {:>5} {:>17} {:>11} {:>12} {:>6} {:>14}  {held}",
            self.index,
            told(self.utilization_percent, |share| format!("{share} %")),
            used,
            mhz(self.sm_clock_mhz),
            mhz(self.memory_clock_mhz),
            told(self.temperature_celsius, |celsius| format!("{celsius} °C")),
            power,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_under_its_heading() {
        let info = DeviceInfo {
            index: 1,
            utilization_percent: Some(97),
            memory_total: Some(48 << 30),
            memory_free: Some(35 << 30),
            sm_clock_mhz: Some(1800),
            memory_clock_mhz: Some(8001),
            temperature_celsius: Some(71),
            power_watts: Some(290.4),
            power_limit_watts: Some(300.0),
            throttle: Some(vec![Throttle::PowerCap, Throttle::SoftwareThermal]),
            ..DeviceInfo::default()
        };
        let table = format!("{}\n{}\n", DeviceLoad::HEADING, DeviceLoad::of(&info));
        let expected = concat!(
            "GPU  busy            memory     SM, MHz  memory, MHz   chip          power  held down by\n",
            "  1  97 %  13.0 of 48.0 GiB        1800         8001  71 °C   290 of 300 W  power limit, temperature (driver)\n",
        );
        assert_eq!(table, expected);
        let nothing = DeviceLoad::of(&DeviceInfo::default()).to_string();
        assert_eq!(nothing.split_whitespace().collect::<Vec<_>>(), ["0", "-", "-", "-", "-", "-", "-", "-"]);
        let free = DeviceInfo { throttle: Some(Vec::new()), ..DeviceInfo::default() };
        assert!(DeviceLoad::of(&free).to_string().ends_with("nothing"));
    }
}
