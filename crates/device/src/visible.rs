//! `CUDA_VISIBLE_DEVICES`: which devices a list shows to this process.

use crate::DeviceInfo;

/// The meaning of a list of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Visible {
    /// These positions in NVML's list, in the order asked for.
    Devices(Vec<usize>),
    /// Well-formed, but it cannot be told from here which devices are meant.
    Unknown,
    /// CUDA hides devices because of it, for this reason.
    Refused(String),
}

/// CUDA reads the list up to its first invalid entry and shows none of the rest. Indices count NVML's
/// devices only where both count alike: by PCI bus, or among devices of one kind.
///
/// Source: CUDA C++ Programming Guide, "CUDA Environment Variables".
pub(crate) fn visible(list: &str, devices: &[DeviceInfo], order: Option<&str>) -> Visible {
    if list.trim().is_empty() {
        return Visible::Refused("an empty list hides every device".into());
    }
    let same_count = order == Some("PCI_BUS_ID") || devices.windows(2).all(|pair| pair[0].name == pair[1].name);
    let (mut seen, mut shown, mut known) = (Vec::new(), Vec::new(), !devices.is_empty());
    for entry in list.split(',').map(str::trim) {
        if entry.starts_with("MIG-") {
            // Instances have names of their own, which are not listed here.
            known = false;
        } else if entry.starts_with("GPU-") {
            let of_entry = |device: &DeviceInfo| device.uuid.as_deref().is_some_and(|uuid| uuid.starts_with(entry));
            match devices.iter().position(of_entry) {
                Some(position) => shown.push(position),
                None if devices.is_empty() => known = false,
                None => return Visible::Refused(format!("no device has a UUID that starts with {entry}")),
            }
        } else {
            match entry.parse::<i64>() {
                Err(_) => {
                    let words = format!("{entry:?} is neither an index nor a UUID: it hides all from there on");
                    return Visible::Refused(words);
                }
                Ok(index) if index < 0 => {
                    return Visible::Refused(format!("{index} hides all devices from there on"));
                }
                Ok(index) => match usize::try_from(index).ok().filter(|&index| index < devices.len()) {
                    Some(position) => {
                        known &= same_count;
                        shown.push(position);
                    }
                    None if devices.is_empty() => known = false,
                    None => {
                        let count = devices.len();
                        let words = format!("there is no device {index}: the machine has {count}, counted from 0");
                        return Visible::Refused(words);
                    }
                },
            }
        }
        if seen.contains(&entry) {
            return Visible::Refused(format!("{entry} is listed twice, which CUDA refuses"));
        }
        seen.push(entry);
    }
    if known { Visible::Devices(shown) } else { Visible::Unknown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(names: &[&str]) -> Vec<DeviceInfo> {
        names
            .iter()
            .enumerate()
            .map(|(i, name)| DeviceInfo {
                name: Some((*name).into()),
                uuid: Some(format!("GPU-{i}{i}{i}{i}")),
                ..DeviceInfo::default()
            })
            .collect()
    }

    #[test]
    fn devices_are_shown_in_the_order_asked_for() {
        let alike = devices(&["A", "A", "A"]);
        assert_eq!(visible("2,0", &alike, None), Visible::Devices(vec![2, 0]));
        assert_eq!(visible("GPU-11", &alike, None), Visible::Devices(vec![1]));
    }

    #[test]
    fn indices_of_unlike_devices_mean_the_fastest_first_unless_told_otherwise() {
        let unlike = devices(&["A", "B"]);
        assert_eq!(visible("1", &unlike, None), Visible::Unknown);
        assert_eq!(visible("1", &unlike, Some("FASTEST_FIRST")), Visible::Unknown);
        assert_eq!(visible("1", &unlike, Some("PCI_BUS_ID")), Visible::Devices(vec![1]));
        assert_eq!(visible("GPU-0", &unlike, None), Visible::Devices(vec![0]));
    }

    #[test]
    fn what_nvml_does_not_list_is_unknown() {
        assert_eq!(visible("7,GPU-ffff", &[], None), Visible::Unknown);
        assert_eq!(visible("MIG-1d2e", &devices(&["A"]), None), Visible::Unknown);
        assert!(matches!(visible("none", &[], None), Visible::Refused(_)));
    }
}
