//! Versions as NVIDIA writes them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::fmt;

/// A version or compute capability `major.minor`; in JSON a string such as `"12.4"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// Before the dot.
    pub major: u32,
    /// After the dot.
    pub minor: u32,
}

impl Version {
    /// Decodes the integer that `cuDriverGetVersion` and NVML give: `1000 major + 10 minor`.
    ///
    /// `None` when it is not positive, which is how a missing driver shows itself.
    pub fn from_cuda(number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|&n| n > 0)?;
        Some(Self { major: number / 1000, minor: number % 1000 / 10 })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.split_once('.')
            .and_then(|(major, minor)| Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? }))
            .ok_or_else(|| D::Error::custom(format!("version {text:?}: expected major.minor, e.g. 12.4")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_numbers_become_versions() {
        assert_eq!(Version::from_cuda(12040), Some(Version { major: 12, minor: 4 }));
        assert_eq!(Version::from_cuda(11080), Some(Version { major: 11, minor: 8 }));
        assert_eq!(Version::from_cuda(13000), Some(Version { major: 13, minor: 0 }));
        assert_eq!(Version::from_cuda(0), None);
        assert_eq!(Version::from_cuda(-1), None);
    }

    #[test]
    fn order_is_numeric_and_json_is_text() {
        let (old, new) = (Version { major: 12, minor: 4 }, Version { major: 12, minor: 10 });
        assert!(old < new && new < Version { major: 13, minor: 0 });
        assert_eq!(serde_json::to_string(&new).unwrap(), r#""12.10""#);
        assert_eq!(serde_json::from_str::<Version>(r#""12.10""#).unwrap(), new);
        assert!(serde_json::from_str::<Version>(r#""twelve""#).unwrap_err().to_string().contains("major.minor"));
    }
}
