//! Dates and times of Parquet as labels: the text that pandas writes into CSV. Lengths of time are written as in traces.

use octopus_trace::{Calendar, Durations, Labels, TimeUnit};

/// The digits of a second that instants are written with first.
const DIGITS: usize = 9;
/// The time of day of a date.
const MIDNIGHT: &str = " 00:00:00.000000000";
/// What the zone of Greenwich, which has no summer time of its own, is called.
const UTC: [&str; 7] = ["UTC", "Etc/UTC", "UCT", "Zulu", "Z", "GMT", "Etc/GMT"];
/// What follows the number of a length of time until it is [`in_longest_unit`].
const NANOSECONDS: &str = " nanoseconds";

/// Returns the seconds of a zone such as `+05:30`, `-03` or `UTC` before Greenwich; `None` of one that is a place's,
/// such as `Europe/Rome`, whose offsets change and are not known here.
pub(super) fn offset(zone: &str) -> Option<i32> {
    if UTC.contains(&zone) {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest.replace(':', "")),
        ("-", rest) => (-1, rest.replace(':', "")),
        _ => return None,
    };
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = digits.split_at(2);
    let (hours, minutes): (i32, i32) =
        (hours.parse().ok()?, if minutes.is_empty() { 0 } else { minutes.parse().ok()? });
    (hours < 24 && minutes < 60).then_some(sign * (3600 * hours + 60 * minutes))
}

/// Returns an offset as pandas writes it: `+05:30`.
fn shown(offset: i32) -> String {
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60);
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Returns the year, month and day that are `days` after 1 January 1970, as text; `None` beyond the years that other
/// programs write.
fn date(days: i64) -> Option<String> {
    const MOST: i64 = 95_000_000;
    if !(-MOST..=MOST).contains(&days) {
        return None;
    }
    let (year, month, day) = Calendar::ProlepticGregorian.date_of(days);
    let year = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+05}") };
    Some(format!("{year}-{month:02}-{day:02}"))
}

/// Returns days since 1 January 1970 as text, `2020-01-31`; `None` where a cell is null.
///
/// # Errors
/// When a day lies beyond those that can be written.
pub(super) fn days(days: Vec<Option<i64>>) -> Result<Vec<Option<String>>, String> {
    each(days, "day", date)
}

/// Returns the text of each that is not null; an error names the first row that has none.
fn each(
    counts: Vec<Option<i64>>,
    what: &str,
    text: impl Fn(i64) -> Option<String>,
) -> Result<Vec<Option<String>>, String> {
    let one = |(at, count): (usize, Option<i64>)| {
        let text =
            count.map(|count| text(count).ok_or_else(|| format!("row {} holds no {what} that can be written", at + 1)));
        text.transpose()
    };
    counts.into_iter().enumerate().map(one).collect()
}

/// Returns instants, counted in a unit from 1 January 1970, as text with all digits, to be [`shortened`]; `None` where a
/// cell is null. They are those of their zone where its [`offset`] is known, else those of UTC.
///
/// # Errors
/// When an instant lies beyond those that can be written.
pub(super) fn instants(
    counts: Vec<Option<i64>>,
    unit: TimeUnit,
    zone: Option<&str>,
) -> Result<Vec<Option<String>>, String> {
    let offset = zone.map(|zone| offset(zone).unwrap_or(0));
    let zone = offset.map(shown).unwrap_or_default();
    let (second, day) = (TimeUnit::Seconds.nanoseconds(), TimeUnit::Days.nanoseconds());
    let ahead = i128::from(offset.unwrap_or(0)) * i128::from(second);
    each(counts, "time", |count| {
        let time = i128::from(count) * i128::from(unit.nanoseconds()) + ahead;
        let date = date(i64::try_from(time.div_euclid(day.into())).ok()?)?;
        let rest = time.rem_euclid(day.into()) as i64;
        let (seconds, fraction) = (rest / second, rest % second);
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        Some(format!("{date} {hours:02}:{minutes:02}:{seconds:02}.{fraction:0DIGITS$}{zone}"))
    })
}

/// Returns lengths of time in nanoseconds, to be written [`in_longest_unit`]; `None` where a cell is null.
pub(super) fn durations(counts: Vec<Option<i64>>, unit: TimeUnit) -> Vec<Option<String>> {
    let text = |count: i64| format!("{}{NANOSECONDS}", i128::from(count) * i128::from(unit.nanoseconds()));
    counts.into_iter().map(|count| count.map(text)).collect()
}

/// Returns lengths of time in the longest unit in which all are whole, `3 days`; `None` where some labels are none, or
/// no unit has room for all.
pub(super) fn in_longest_unit<'a>(labels: impl Iterator<Item = &'a str>) -> Option<Vec<String>> {
    let nanoseconds = |label: &str| label.strip_suffix(NANOSECONDS)?.parse::<i128>().ok();
    let times: Vec<Option<i128>> = labels.map(|label| nanoseconds(label).map(Some)).collect::<Option<_>>()?;
    let labels = Labels::Durations(Durations::from_nanoseconds(&times)?);
    Some((0..labels.len()).map(|at| labels.text(at)).collect())
}

/// Returns instants without digits that are 0 in all of them: as dates, to the second, or with 3, 6 or 9 digits; `None`
/// where some labels are no instants.
pub(super) fn shortened<'a>(labels: impl Iterator<Item = &'a str> + Clone) -> Option<Vec<String>> {
    let parts = |label: &'a str| {
        let (whole, rest) = label.split_once('.')?;
        let (fraction, zone) = rest.split_at_checked(DIGITS)?;
        Some((whole, fraction, zone))
    };
    let all: Vec<(&str, &str, &str)> = labels.clone().map(parts).collect::<Option<_>>()?;
    if labels.clone().all(|label| label.ends_with(MIDNIGHT)) {
        return Some(labels.map(|label| label.trim_end_matches(MIDNIGHT).to_owned()).collect());
    }
    let used = all.iter().map(|(_, fraction, _)| fraction.trim_end_matches('0').len().next_multiple_of(3)).max()?;
    let short = |(whole, fraction, zone): &(&str, &str, &str)| {
        let digits = fraction.get(..used).filter(|digits| !digits.is_empty());
        format!("{whole}{}{zone}", digits.map(|digits| format!(".{digits}")).unwrap_or_default())
    };
    Some(all.iter().map(short).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_lose_the_digits_that_are_0_in_all() {
        let of = |labels: &[&str]| shortened(labels.iter().copied());
        let day = "2020-01-31 00:00:00.000000000";
        let second = "2020-01-31 12:34:56.000000000";
        let tenth = "2020-01-31 12:34:56.500000000";
        assert_eq!(of(&[day]), Some(vec!["2020-01-31".to_owned()]));
        assert_eq!(of(&[day, second]), Some(vec!["2020-01-31 00:00:00".to_owned(), "2020-01-31 12:34:56".to_owned()]));
        let with_digits = ["2020-01-31 00:00:00.000", "2020-01-31 12:34:56.500"].map(str::to_owned);
        assert_eq!(of(&[day, tenth]), Some(with_digits.to_vec()));
        assert_eq!(of(&["2020-01-31 12:34:56.000000001"]), Some(vec!["2020-01-31 12:34:56.000000001".to_owned()]));
        let in_zone = |instant: &str| format!("{instant}-03:30");
        assert_eq!(of(&[&in_zone(day)]), Some(vec!["2020-01-31 00:00:00-03:30".to_owned()]));
        assert_eq!(of(&[&in_zone(tenth)]), Some(vec!["2020-01-31 12:34:56.500-03:30".to_owned()]));
        assert_eq!(of(&[day, "oslo"]), None);
    }

    #[test]
    fn zones_that_never_change_have_an_offset() {
        for (zone, expected) in [
            ("UTC", Some(0)),
            ("Etc/UTC", Some(0)),
            ("+01:00", Some(3600)),
            ("-0330", Some(-12_600)),
            ("+14", Some(50_400)),
            ("Europe/Rome", None),
            ("+1", None),
            ("+23:59", Some(86_340)),
            ("+24:00", None),
            ("-00:59", Some(-3540)),
            ("+00:60", None),
            ("+25:00", None),
            ("+01:75", None),
            ("+\u{661}\u{662}", None),
            ("", None),
        ] {
            assert_eq!(offset(zone), expected, "{zone}");
        }
        assert_eq!(
            ["-03:30", "+00:15"].map(|zone| offset(zone).map(shown)),
            ["-03:30", "+00:15"].map(|s| Some(s.into()))
        );
    }

    #[test]
    fn lengths_of_time_are_in_the_longest_unit() {
        let of = |labels: &[&str]| in_longest_unit(labels.iter().copied());
        assert_eq!(of(&["86400000000000 nanoseconds"]), Some(vec!["1 days".to_owned()]));
        assert_eq!(
            of(&["-1500000000 nanoseconds", "0 nanoseconds"]),
            Some(vec!["-1500 milliseconds".to_owned(), "0 milliseconds".to_owned()])
        );
        assert_eq!(of(&["86400000000000 nanoseconds", "oslo"]), None);
        // Two that no unit has room for.
        let long = format!("{}{NANOSECONDS}", i128::from(i64::MAX) * 1_000_000_000);
        assert_eq!(of(&[&long, "1 nanoseconds"]), None);
    }

    #[test]
    fn every_unit_has_its_own_number_in_a_second() {
        // 1970-01-01 00:00:07, half an hour later where clocks are ahead.
        for (unit, second) in [
            (TimeUnit::Seconds, 1),
            (TimeUnit::Milliseconds, 1_000),
            (TimeUnit::Microseconds, 1_000_000),
            (TimeUnit::Nanoseconds, 1_000_000_000),
        ] {
            let counts = || vec![Some(7 * second), None];
            let text = "1970-01-01 00:30:07.000000000+00:30";
            assert_eq!(instants(counts(), unit, Some("+00:30")), Ok(vec![Some(text.to_owned()), None]), "{unit:?}");
            assert_eq!(durations(counts(), unit), [Some("7000000000 nanoseconds".to_owned()), None], "{unit:?}");
        }
        // Of a place whose offset is not known: in UTC.
        let of_rome = instants(vec![Some(7)], TimeUnit::Seconds, Some("Europe/Rome"));
        assert_eq!(of_rome, Ok(vec![Some("1970-01-01 00:00:07.000000000+00:00".to_owned())]));
    }

    /// As pandas and Python write them; years before the first and after 9999 as chrono does.
    #[test]
    fn days_of_any_year_are_written() {
        let of = |day: i64| days(vec![Some(day)]).map(|mut days| days.remove(0).unwrap_or_default());
        for (day, text) in [
            (18_292, "2020-01-31"),
            (-1, "1969-12-31"),
            (-719_162, "0001-01-01"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (-719_529, "-0001-12-31"),
        ] {
            assert_eq!(of(day).as_deref(), Ok(text));
        }
        assert!(of(i64::MAX).unwrap_err().contains("row 1 holds no day that can be written"));
    }
}
