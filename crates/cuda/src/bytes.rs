//! Numbers of bytes as messages show them: KiB, MiB, GiB.

use std::fmt;

/// Displays e.g. `48.5 GiB`, and small numbers in full.
pub(crate) struct Bytes(pub(crate) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0..1024 => return write!(f, "{} bytes", self.0),
            1024..0x10_0000 => (1024.0, "KiB"),
            0x10_0000..0x4000_0000 => (1_048_576.0, "MiB"),
            _ => (1_073_741_824.0, "GiB"),
        };
        write!(f, "{:.1} {name}", self.0 as f64 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn units_change_at_powers_of_1024() {
        let shown = |bytes| Bytes(bytes).to_string();
        assert_eq!([shown(0), shown(1023), shown(1024)], ["0 bytes", "1023 bytes", "1.0 KiB"]);
        assert_eq!([shown(3 << 19), shown(5 << 30)], ["1.5 MiB", "5.0 GiB"]);
    }
}
