//! The present time as text.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the present time in UTC to the second, e.g. `2026-11-21T08:15:00Z` (RFC 3339).
pub fn now_utc() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    format_utc(seconds)
}

/// Seconds since 1970 as a civil date, after H. Hinnant, "chrono-compatible low-level date algorithms".
fn format_utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the leap day is the last of its year; eras of 400 years repeat.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such texts are in the order of their times.
    #[test]
    fn now_is_between_before_and_after() {
        let clock = || format_utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
        let (before, now, after) = (clock(), now_utc(), clock());
        assert!(before <= now && now <= after, "{before}, {now}, {after}");
    }

    /// Counted on, day by day, past the longest period of the calendar.
    #[test]
    fn every_day_of_five_centuries() {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..500 * 366 {
            assert_eq!(format_utc(days * 86_400), format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = match month {
                2 => 28 + u64::from(is_leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    /// Each minute of a day, from its first second to its last.
    #[test]
    fn every_minute_of_a_day() {
        for minute in 0..24 * 60 {
            let begin = format!("2000-02-29T{:02}:{:02}:", minute / 60, minute % 60);
            for second in [0, 1, 30, 59] {
                assert_eq!(format_utc(951_782_400 + 60 * minute + second), format!("{begin}{second:02}Z"));
            }
        }
    }

    #[test]
    fn known_instants() {
        // From `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_234_567_890, "2009-02-13T23:31:30Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(format_utc(seconds), text);
        }
    }
}
