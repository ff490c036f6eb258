//! A device in words: its line in `octopus device list`, and its facts in `octopus device info`.

use crate::DeviceInfo;
use crate::nvml::{gibibytes, memory_text};

impl DeviceInfo {
    /// Returns one line with what matters of what is known.
    pub fn line(&self) -> String {
        let mut parts = vec![self.label()];
        let mut add = |part: Option<String>| parts.extend(part);
        add(self.uuid.clone());
        add(self.compute_capability.map(|version| format!("compute capability {version}")));
        add(self.sm_count.map(|count| format!("{count} SMs")));
        add(self.memory_total.map(|total| match self.memory_free {
            Some(free) => format!("{} of {} GiB free", gibibytes(free), gibibytes(total)),
            None => format!("{} GiB", gibibytes(total)),
        }));
        add(now_of(self.sm_clock_mhz, self.sm_clock_max_mhz, "MHz"));
        add(now_of(self.power_watts.map(f64::round), self.power_limit_watts.map(f64::round), "W"));
        add(self.temperature_celsius.map(|degrees| format!("{degrees} C")));
        add(self.ecc.map(|on| format!("ECC {}", switch(on))));
        add(self.mig.map(|on| format!("MIG {}", switch(on))));
        add(self.persistence.map(|on| format!("persistence {}", switch(on))));
        parts.join(", ")
    }

    /// Returns all known facts, as pairs of a name and a value with its unit, in a fixed order.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let text = |text: &Option<String>| text.clone();
        let throttle = self.throttle.as_ref().map(|reasons| match &reasons[..] {
            [] => "nothing".to_owned(),
            reasons => reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        });
        let processes = self.processes.as_ref().map(|processes| match &processes[..] {
            [] => "none".to_owned(),
            processes => processes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        });
        [
            ("name", text(&self.name)),
            ("UUID", text(&self.uuid)),
            ("PCI slot", text(&self.pci_slot)),
            ("compute capability", self.compute_capability.map(|version| version.to_string())),
            ("multiprocessors", self.sm_count.map(|count| count.to_string())),
            ("CUDA cores", self.cuda_cores.map(|count| count.to_string())),
            ("memory", self.memory_total.map(memory_text)),
            ("memory free", self.memory_free.map(memory_text)),
            ("SM clock", now_of(self.sm_clock_mhz, self.sm_clock_max_mhz, "MHz")),
            ("memory clock", now_of(self.memory_clock_mhz, self.memory_clock_max_mhz, "MHz")),
            ("performance state", self.performance_state.map(|state| format!("P{state}"))),
            ("clocks held by", throttle),
            ("utilization", self.utilization_percent.map(|percent| format!("{percent} %"))),
            ("power", now_of(self.power_watts, self.power_limit_watts, "W")),
            ("temperature", self.temperature_celsius.map(|degrees| format!("{degrees} C"))),
            ("ECC", self.ecc.map(|on| switch(on).to_owned())),
            ("uncorrected memory errors", self.ecc_uncorrected.map(|count| count.to_string())),
            ("MIG", self.mig.map(|on| switch(on).to_owned())),
            ("compute mode", self.compute_mode.map(|mode| mode.to_string())),
            ("persistence", self.persistence.map(|on| switch(on).to_owned())),
            ("other processes", processes),
            ("problem", text(&self.problem)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

fn now_of<T: std::fmt::Display>(now: Option<T>, highest: Option<T>, unit: &str) -> Option<String> {
    let now = now?;
    Some(highest.map_or_else(|| format!("{now} {unit}"), |highest| format!("{now} of {highest} {unit}")))
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScriptedProvider;

    #[test]
    fn all_that_is_known_is_told_and_nothing_else() {
        let machine = ScriptedProvider::healthy();
        let facts = machine.nvml.unwrap().devices[0].facts();
        let names: Vec<&str> = facts.iter().map(|(name, _)| *name).collect();
        assert!(!names.contains(&"MIG") && !names.contains(&"problem"), "{names:?}");
        for pair in [
            ("multiprocessors", "84"),
            ("memory free", "47.0 GiB"),
            ("SM clock", "210 of 2100 MHz"),
            ("memory clock", "405 of 8001 MHz"),
            ("performance state", "P8"),
            ("clocks held by", "idle"),
            ("power", "24.5 of 300 W"),
            ("compute mode", "default"),
            ("other processes", "none"),
        ] {
            assert!(facts.contains(&(pair.0, pair.1.to_owned())), "{pair:?} not in {facts:?}");
        }
        assert_eq!(DeviceInfo::default().facts(), []);
        assert_eq!(DeviceInfo::default().line(), "0: unnamed device");
    }
}
