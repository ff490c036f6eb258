//! Numbers as people read them (digits, rounding, units): one place, so that plots, text and page agree.

/// Formats `value` with about `digits` significant digits, never in a form longer than needed: `49.0`, `0.00123`,
/// `123456`, `1.2e-7`.
pub fn significant(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = digits.max(1);
    // Formatting first settles the exponent after rounding: 9.996 with three digits has exponent 1.
    let scientific = format!("{:.*e}", digits - 1, value);
    let exponent: i32 = scientific.rsplit('e').next().and_then(|e| e.parse().ok()).unwrap_or(0);
    if !(-4..9).contains(&exponent) {
        let (mantissa, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
        let mantissa =
            if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        return format!("{mantissa}e{exponent}");
    }
    let decimals = usize::try_from(i32::try_from(digits).unwrap_or(i32::MAX) - 1 - exponent).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// Returns a duration in seconds with its unit: `850 us`, `62 ms`, `4.1 s`, `5 min 20 s`, `2 h 5 min`.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() {
        return significant(value, 3);
    }
    if value < 0.0 {
        return format!("-{}", seconds(-value));
    }
    if value == 0.0 {
        "0 s".to_owned()
    } else if value < 0.9995e-3 {
        format!("{} us", significant(value * 1e6, 3))
    } else if value < 0.9995 {
        format!("{} ms", significant(value * 1e3, 3))
    } else if value < 119.5 {
        format!("{} s", significant(value, 3))
    } else if value < 7170.0 {
        let whole = value.round();
        match (whole / 60.0).floor() {
            minutes if whole % 60.0 == 0.0 => format!("{minutes} min"),
            minutes => format!("{minutes} min {} s", whole % 60.0),
        }
    } else {
        let minutes = (value / 60.0).round();
        format!("{} h {} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

/// Returns a round duration, without zeros that say nothing: `15 s`, `1.5 s`.
pub(crate) fn round_seconds(value: f64) -> String {
    let text = seconds(value);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Returns a whole number with a comma each three digits: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a rate or other large positive number: whole with commas from 1000 on, three digits below.
pub fn rate(value: f64) -> String {
    if value.is_finite() && (999.5..1e15).contains(&value) {
        count(value.round() as u64)
    } else {
        significant(value, 3)
    }
}

/// Returns a fraction in per cent: `4.2 %`.
pub fn percent(fraction: f64) -> String {
    format!("{} %", significant(fraction * 100.0, 2))
}

/// Returns a number of bytes in binary units: `15.6 GiB`.
pub(crate) fn bytes(value: u64) -> String {
    let mut amount = value as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if amount < 1023.5 {
            return format!("{} {unit}", significant(amount, 3));
        }
        amount /= 1024.0;
    }
    format!("{} TiB", significant(amount, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits() {
        for (value, digits, expected) in [
            (49.0123, 3, "49.0"),
            (9.996, 3, "10.0"),
            (0.001234, 3, "0.00123"),
            (-0.5, 2, "-0.50"),
            (123456.0, 3, "123456"),
            (1.25e-7, 2, "1.2e-7"),
            (3e12, 3, "3e12"),
            (0.0, 3, "0"),
            (f64::NAN, 3, "NaN"),
            (f64::INFINITY, 3, "inf"),
            (f64::NEG_INFINITY, 3, "-inf"),
        ] {
            assert_eq!(significant(value, digits), expected, "{value}");
        }
    }

    #[test]
    fn durations() {
        for (value, expected) in [
            (0.00085, "850 us"),
            (0.9995e-3, "0.999 ms"),
            (0.062, "62.0 ms"),
            (0.9995, "1.00 s"),
            (4.1, "4.10 s"),
            (60.0, "60.0 s"),
            (119.5, "2 min"),
            (120.0, "2 min"),
            (320.2, "5 min 20 s"),
            (7169.0, "119 min 29 s"),
            (7170.0, "2 h 0 min"),
            (7500.0, "2 h 5 min"),
            (0.0, "0 s"),
        ] {
            assert_eq!(seconds(value), expected);
        }
        assert_eq!(round_seconds(15.0), "15 s");
        assert_eq!(round_seconds(1.5), "1.5 s");
        assert_eq!(round_seconds(120.0), "2 min");
    }

    #[test]
    fn counts_rates_bytes() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(rate(999.6), "1,000");
        assert_eq!(rate(12.34), "12.3");
        assert_eq!(bytes(16_750_000_000), "15.6 GiB");
        // 1023.5 KiB.
        assert_eq!((bytes(1_048_064), bytes(1_048_063)), ("1.00 MiB".to_owned(), "1023 KiB".to_owned()));
        assert_eq!(percent(0.0421), "4.2 %");
    }
}
