//! Dates and durations by the CF conventions: `units = "days since 2020-01-01"` with a `calendar`, as xarray and
//! cftime understand them.

use indexmap::IndexMap;
use octopus_trace::{Attribute, Calendar, Dates, Durations, Labels, TimeUnit};

/// The attribute with the unit, and of dates with the day from which they are counted.
const UNITS: &str = "units";
/// The attribute with the calendar of dates.
const CALENDAR: &str = "calendar";
/// The attribute by which xarray knows a duration from any number of days.
const DTYPE: &str = "dtype";
/// How the type begins that is in it.
const DURATION: &str = "timedelta64";

/// What numbers mean that are times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeAxis {
    /// The calendar of dates, and the nanoseconds from 1 January 1970 at which they begin; none of durations.
    dates: Option<(Calendar, i128)>,
    unit: i128,
    /// Whether xarray leaves real numbers of such units to NumPy, and not to cftime, as far as NumPy has their dates.
    is_numpys: bool,
}

impl TimeAxis {
    /// Takes what makes numbers times out of a variable's attributes; `None`, and nothing taken, if they are none.
    pub(super) fn take(attrs: &mut IndexMap<String, Attribute>) -> Option<Self> {
        let text = |name: &str| match attrs.get(name) {
            Some(Attribute::Text(text)) => Some(text.trim()),
            _ => None,
        };
        let units = text(UNITS)?;
        let axis = match units.split_once(" since ") {
            Some((unit, from)) => {
                let calendar = Calendar::named(text(CALENDAR).unwrap_or("standard"))?;
                let (from, name) = (moment(calendar, from.trim())?, unit.trim());
                let is_numpys =
                    matches!(calendar, Calendar::ProlepticGregorian | Calendar::Standard) && is_whole_name(name);
                Self { dates: Some((calendar, from)), unit: unit_of(name, calendar)?, is_numpys }
            }
            None => {
                let unit = TimeUnit::ALL.into_iter().find(|unit| unit.name() == units)?;
                text(DTYPE)?.starts_with(DURATION).then_some(Self {
                    dates: None,
                    unit: unit.nanoseconds().into(),
                    is_numpys: true,
                })?
            }
        };
        let taken = if axis.dates.is_some() { [UNITS, CALENDAR] } else { [UNITS, DTYPE] };
        attrs.retain(|name, _| !taken.contains(&name.as_str()));
        Some(axis)
    }

    /// Returns the labels that whole counts of units are; `None` when they are beyond what can be counted.
    pub(super) fn of_whole(&self, counts: impl Iterator<Item = Option<i128>>) -> Option<Labels> {
        let from = self.dates.map_or(0, |(_, from)| from);
        let time = |count: Option<i128>| -> Option<Option<i128>> {
            count.map(|count| count.checked_mul(self.unit)?.checked_add(from)).map_or(Some(None), |time| time.map(Some))
        };
        self.of_nanoseconds(&counts.map(time).collect::<Option<Vec<_>>>()?)
    }

    /// Returns the labels that real counts of units are, to the digits of xarray; `None` when they are beyond what can be
    /// counted. Some are stored in `single` precision.
    pub(super) fn of_reals(&self, counts: &[f64], single: bool) -> Option<Labels> {
        if counts.iter().any(|count| count.abs() > 1e18) {
            return None;
        }
        let times = match self.dates {
            None => self.durations(counts, single),
            Some((_, from)) => {
                let is_numpys = self.is_numpys && counts.iter().all(|&count| self.is_in_numpys_range(count, from));
                let time = |count: f64| from + if is_numpys { self.numpys(count) } else { self.cftimes(count) };
                counts.iter().map(|&count| (!count.is_nan()).then(|| time(count))).collect()
            }
        };
        self.of_nanoseconds(&times)
    }

    fn of_nanoseconds(&self, times: &[Option<i128>]) -> Option<Labels> {
        match self.dates {
            Some((calendar, _)) => Dates::from_nanoseconds(calendar, times).map(Labels::Dates),
            None => Durations::from_nanoseconds(times).map(Labels::Durations),
        }
    }

    /// Whether a date, and the one from which it is counted, are within the 64 bits of NumPy's nanoseconds.
    fn is_in_numpys_range(&self, count: f64, from: i128) -> bool {
        [from, from + count as i128 * self.unit].into_iter().all(|time| i64::try_from(time).is_ok())
    }

    /// NumPy multiplies in double precision, whose rounding hides that 0.1 is none, and cuts off the rest.
    fn numpys(&self, count: f64) -> i128 {
        (count * self.unit as f64) as i128
    }

    /// cftime rounds to microseconds; of seconds and longer units, what it would round to one microsecond beside a whole
    /// second becomes that second.
    fn cftimes(&self, count: f64) -> i128 {
        let part = (count.fract() * self.unit as f64).round() as i128;
        let time = count.trunc() as i128 * self.unit + part;
        let (below, nearest) = (time.div_euclid(1000), (time + 500).div_euclid(1000));
        let is_long = self.unit >= TimeUnit::Seconds.nanoseconds().into();
        1000 * match nearest.rem_euclid(1_000_000) {
            1 if is_long => below,
            999_999 if is_long => -(-time).div_euclid(1000),
            _ => nearest,
        }
    }

    /// xarray counts in the longest unit in which all durations are whole, each a thousandth of the one before, from
    /// seconds down to nanoseconds, where it cuts off the rest. Counts of longer units come to double precision first.
    fn durations(&self, counts: &[f64], single: bool) -> Vec<Option<i128>> {
        let mut unit = self.unit.min(TimeUnit::Seconds.nanoseconds().into());
        let scale = (self.unit / unit) as f64;
        let single = single && unit == self.unit;
        let rounded = |value: f64| if single { f64::from(value as f32) } else { value };
        let mut counts: Vec<f64> = counts.iter().map(|count| count * scale).collect();
        while unit > 1 && counts.iter().any(|count| count.fract().abs() > 0.0) {
            counts.iter_mut().for_each(|count| *count = rounded(*count * 1000.0));
            unit /= 1000;
        }
        counts.into_iter().map(|count| (!count.is_nan()).then_some(count as i128 * unit)).collect()
    }
}

/// Returns the attributes of dates that are counted in `unit` from 1 January 1970.
pub(crate) fn date_attributes(unit: TimeUnit, calendar: Calendar) -> [(&'static str, Attribute); 2] {
    let units = format!("{} since 1970-01-01", unit.name());
    [(UNITS, units.into()), (CALENDAR, calendar.name().into())]
}

/// Returns the attributes of durations that are counted in `unit`, and which NumPy is to count in `numpy`.
pub(crate) fn duration_attributes(unit: TimeUnit, numpy: &str) -> [(&'static str, Attribute); 2] {
    [(UNITS, unit.name().into()), (DTYPE, format!("{DURATION}[{numpy}]").into())]
}

/// Returns the attributes of labels that are times.
pub(super) fn attributes_of(labels: &Labels) -> Vec<(&'static str, Attribute)> {
    let (mut attributes, counts) = match labels {
        Labels::Dates(dates) => (date_attributes(dates.unit(), dates.calendar()).to_vec(), dates.counts()),
        Labels::Durations(durations) => {
            let unit = durations.unit();
            // In nanoseconds where NumPy can count them, as older versions of xarray have no others.
            let is_short = |count: &i64| *count == i64::MIN || count.checked_mul(unit.nanoseconds()).is_some();
            let numpy = match unit {
                _ if durations.counts().iter().all(is_short) => "ns",
                TimeUnit::Nanoseconds => "ns",
                TimeUnit::Microseconds => "us",
                TimeUnit::Milliseconds => "ms",
                _ => "s",
            };
            (duration_attributes(unit, numpy).to_vec(), durations.counts())
        }
        _ => return Vec::new(),
    };
    if counts.contains(&i64::MIN) {
        attributes.push(("_FillValue", Attribute::I64(i64::MIN)));
    }
    attributes
}

/// Whether a unit has the name that NumPy's users write out, `days` or `day`, and none of cftime's short ones.
fn is_whole_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TimeUnit::ALL.into_iter().any(|unit| unit.name() == name || unit.name().trim_end_matches('s') == name)
}

/// Returns the nanoseconds of a unit under any of cftime's names for it.
fn unit_of(name: &str, calendar: Calendar) -> Option<i128> {
    let unit = match name.to_ascii_lowercase().as_str() {
        "days" | "day" | "d" => TimeUnit::Days,
        "hours" | "hour" | "hr" | "hrs" | "h" => TimeUnit::Hours,
        "minutes" | "minute" | "min" | "mins" => TimeUnit::Minutes,
        "seconds" | "second" | "sec" | "secs" | "s" => TimeUnit::Seconds,
        "milliseconds" | "millisecond" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => TimeUnit::Milliseconds,
        "microseconds" | "microsecond" | "microsec" | "microsecs" => TimeUnit::Microseconds,
        "nanoseconds" | "nanosecond" => TimeUnit::Nanoseconds,
        // Months have a length in this calendar alone.
        "months" | "month" if calendar == Calendar::Days360 => {
            return Some(30 * i128::from(TimeUnit::Days.nanoseconds()));
        }
        _ => return None,
    };
    Some(unit.nanoseconds().into())
}

/// Returns the nanoseconds from 1 January 1970 to a date, and a time of day with a time zone if it has them:
/// `2000-1-1`, `2000-01-01T06:30:00.5Z`, `2000-01-01 6:00 -2:30`.
fn moment(calendar: Calendar, text: &str) -> Option<i128> {
    let (date, rest) = text.split_at(text.find(['T', 't', ' ']).unwrap_or(text.len()));
    let (negative, digits) = date.strip_prefix('-').map_or((false, date), |digits| (true, digits));
    let mut parts = digits.split('-').map(|part| part.parse::<u32>().ok().map(i64::from));
    let year = parts.next()??;
    let (month, day) = (parts.next().unwrap_or(Some(1))?, parts.next().unwrap_or(Some(1))?);
    if parts.next().is_some() {
        return None;
    }
    let days = calendar.days_of(if negative { -year } else { year }, month, day)?;
    let of_day = time_of_day(rest.trim_start_matches(['T', 't', ' ']))?;
    Some(i128::from(days) * i128::from(TimeUnit::Days.nanoseconds()) + of_day)
}

/// Returns the nanoseconds since midnight in UTC.
fn time_of_day(text: &str) -> Option<i128> {
    const SECOND: i128 = 1_000_000_000;
    let zone_at = text.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(text.len());
    let (time, zone) = text.split_at(zone_at);
    let parts: Vec<&str> = time.split(':').collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let (last, fraction) = part(2).split_once('.').unwrap_or((part(2), ""));
    let whole = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u32>().ok() };
    let (hours, minutes, seconds) = (whole(part(0))?, whole(part(1))?, whole(last)?);
    if hours > 24 || minutes > 59 || seconds > 60 || parts.len() > 3 {
        return None;
    }
    let fraction: i128 = format!("{:0<9}", fraction.get(..9).unwrap_or(fraction)).parse().ok()?;
    let offset = zone_offset(zone.trim())?;
    Some((i128::from(hours) * 3600 + i128::from(minutes) * 60 + i128::from(seconds) - offset) * SECOND + fraction)
}

/// Returns the seconds that a time zone is before UTC: of `Z`, `UTC`, `+02:00`, `-0230`, `+2`.
fn zone_offset(zone: &str) -> Option<i128> {
    if ["", "Z", "z", "UTC", "GMT"].contains(&zone) {
        return Some(0);
    }
    let (sign, digits) =
        zone.strip_prefix('-').map(|rest| (-1, rest)).or(zone.strip_prefix('+').map(|rest| (1, rest)))?;
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    Some(sign * (i128::from(hours) * 3600 + i128::from(minutes) * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(units: &str, calendar: Option<&str>, dtype: Option<&str>, counts: &[f64]) -> Option<Vec<String>> {
        let attrs = [(UNITS, Some(units)), (CALENDAR, calendar), (DTYPE, dtype), ("long_name", Some("time"))];
        let given = attrs.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Attribute::from(text?))));
        let mut attrs: IndexMap<String, Attribute> = given.collect();
        let all = attrs.clone();
        let Some(axis) = TimeAxis::take(&mut attrs) else {
            assert_eq!(attrs, all);
            return None;
        };
        assert_eq!(attrs.keys().collect::<Vec<_>>(), ["long_name"]);
        let labels = axis.of_reals(counts, false)?;
        if counts.iter().all(|count| count.fract() == 0.0) {
            assert_eq!(axis.of_whole(counts.iter().map(|&count| Some(count as i128))), Some(labels.clone()));
        }
        Some((0..labels.len()).map(|at| labels.text(at)).collect())
    }

    /// What xarray 2026.9 (with cftime 1.6) makes of the same numbers and attributes.
    #[test]
    fn dates_of_every_calendar_and_unit() {
        for (units, calendar, counts, expected) in [
            ("days since 2020-01-01 00:00:00", Some("proleptic_gregorian"), [0.0, 30.0], ["2020-01-01", "2020-01-31"]),
            ("days since 2000-02-28", None, [0.0, 2.0], ["2000-02-28", "2000-03-01"]),
            ("days since 2000-02-28", Some("noleap"), [0.0, 2.0], ["2000-02-28", "2000-03-02"]),
            ("days since 2000-02-28", Some("360_day"), [0.0, 2.0], ["2000-02-28", "2000-02-30"]),
            ("days since 2001-02-28", Some("all_leap"), [0.0, 1.0], ["2001-02-28", "2001-02-29"]),
            ("days since 1900-02-28", Some("julian"), [0.0, 1.0], ["1900-02-28", "1900-02-29"]),
            ("days since 1582-10-04", Some("standard"), [0.0, 1.0], ["1582-10-04", "1582-10-15"]),
            ("days since 850-01-01", None, [0.0, 1.0], ["0850-01-01", "0850-01-02"]),
            ("months since 2000-01-01", Some("360_day"), [0.0, 13.0], ["2000-01-01", "2001-02-01"]),
            ("days since 2000", None, [0.0, 1.0], ["2000-01-01", "2000-01-02"]),
            ("hours since 2000-01-01", Some("noleap"), [1.5, 2.0], ["2000-01-01T01:30:00", "2000-01-01T02:00:00"]),
            ("days since 2000-1-1 6:00 +02:00", None, [0.0, 1.0], ["2000-01-01T04:00:00", "2000-01-02T04:00:00"]),
            ("seconds since 1970-01-01T00:00:00Z", None, [0.0, 86400.0], ["1970-01-01", "1970-01-02"]),
            ("msecs since 2000-01-01", None, [0.0, 1.0], ["2000-01-01T00:00:00.000", "2000-01-01T00:00:00.001"]),
            ("days since 2000-01-01", None, [0.25, 1.0 / 3.0], ["2000-01-01T06:00:00", "2000-01-01T08:00:00"]),
        ] {
            let found = texts(units, calendar, None, &counts);
            assert_eq!(found, Some(expected.map(str::to_owned).to_vec()), "{units}, {calendar:?}");
        }
    }

    /// What `xarray.decode_cf` and `decode_cf_timedelta` of xarray 2025.6 (NumPy 2) make of the same numbers.
    #[test]
    fn fractions_are_cut_where_xarray_cuts_them() {
        let nanoseconds = |units: &str, calendar: Option<&str>, counts: &[f64]| -> Vec<i128> {
            let attrs = [(UNITS, Some(units)), (CALENDAR, calendar), (DTYPE, Some("timedelta64[ns]"))];
            let given = attrs.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Attribute::from(text?))));
            let labels = TimeAxis::take(&mut given.collect()).unwrap().of_reals(counts, false);
            let (unit, counts) = match labels.unwrap() {
                Labels::Dates(dates) => (dates.unit(), dates.counts().to_vec()),
                Labels::Durations(durations) => (durations.unit(), durations.counts().to_vec()),
                other => panic!("{other:?}"),
            };
            counts.into_iter().map(|count| i128::from(count) * i128::from(unit.nanoseconds())).collect()
        };
        let (second, hour): (i128, i128) = (1_000_000_000, 3_600_000_000_000);
        for (units, calendar, counts, expected) in [
            (
                "seconds since 1970-01-01",
                None,
                [0.1, 1_577_836_800.3],
                [second / 10, 1_577_836_800 * second + 3 * second / 10],
            ),
            ("days since 1970-01-01", None, [0.1, 1.0 / 3.0], [144 * hour / 60, 8 * hour]),
            ("day since 1970-01-01", None, [-0.1, -1.0 / 3.0], [-144 * hour / 60, -8 * hour]),
            ("milliseconds since 1970-01-01", None, [0.0001, 0.0018], [100, 1800]),
            // cftime's: a short name, a calendar of its own, a date that NumPy has not.
            ("msecs since 1970-01-01", None, [0.0001, 0.0018], [0, 2000]),
            ("milliseconds since 1970-01-01", Some("noleap"), [0.0001, 0.0018], [0, 2000]),
            ("days since 1970-01-01", None, [1e-11, 1e6], [0, 24_000_000 * hour]),
            ("nanoseconds since 1970-01-01", None, [0.7, 2.5], [0, 2]),
            // The last dates that NumPy has, whose whole days it looks at.
            (
                "days since 1970-01-01",
                None,
                [106_751.123456789, -106_751.123456789],
                [9_223_297_066_666_569_728, -9_223_297_066_666_569_728],
            ),
            (
                "days since 1970-01-01",
                None,
                [106_751.623456789, -106_751.623456789],
                [9_223_340_266_666_569_728, -9_223_340_266_666_569_728],
            ),
            // To the next microsecond, and beside a whole second to that.
            ("milliseconds since 1970-01-01", Some("noleap"), [0.0015, 0.002499], [2000, 2000]),
            ("milliseconds since 1970-01-01", Some("noleap"), [0.0004992, -0.0014], [0, -1000]),
            ("seconds since 1970-01-01", Some("noleap"), [5.0000006, 4.9999994], [5 * second, 5 * second]),
            (
                "seconds since 1970-01-01",
                Some("noleap"),
                [5.5000006, -4.9999994],
                [5 * second + 500_001_000, -5 * second],
            ),
            ("seconds", None, [0.1, -1.0 / 3.0], [second / 10, -333_333_333]),
            ("seconds", None, [1.1, 2.675], [1_100_000_000, 2_675_000_000]),
            ("milliseconds", None, [0.1, 2.7], [100_000, 2_700_000]),
            ("nanoseconds", None, [0.9, 2.7], [0, 2]),
            ("hours", None, [1.5, 0.1], [hour * 3 / 2, hour / 10]),
        ] {
            assert_eq!(nanoseconds(units, calendar, &counts), expected, "{units}, {calendar:?}");
        }
        let single = |units: &str, counts: [f32; 2]| {
            let mut attrs =
                [(UNITS, units), (DTYPE, "timedelta64[ns]")].map(|(name, text)| (name.to_owned(), text.into())).into();
            TimeAxis::take(&mut attrs).unwrap().of_reals(&counts.map(f64::from), true)
        };
        let durations = |times: [i128; 2]| Durations::from_nanoseconds(&times.map(Some)).map(Labels::Durations);
        assert_eq!(single("seconds", [0.1, 0.7]), durations([100_000_000, 700_000_000]));
        assert_eq!(single("hours", [0.1, 0.7]), durations([360_000_005_364, 2_519_999_957_084]));
    }

    #[test]
    fn what_is_no_time_keeps_its_attributes() {
        for (units, calendar) in [
            ("kg", None),
            ("days", None),
            ("months since 2000-01-01", None),
            ("days since yesterday", None),
            ("days since 2000-02-30", None),
            ("days since 2000-01-01 25:00", None),
            ("days since 2000-01-01 6:00 CEST", None),
            ("days since 2000-01-01", Some("lunar")),
        ] {
            assert_eq!(texts(units, calendar, None, &[0.0]), None, "{units}");
        }
        assert_eq!(texts("kg", None, Some("timedelta64[ns]"), &[0.0]), None);
        assert_eq!(texts("days since 2000-01-01", None, None, &[1e19]), None);
    }

    #[test]
    fn durations_are_marked_by_their_type() {
        let found = texts("days", None, Some("timedelta64[ns]"), &[1.0, 2.0]);
        assert_eq!(found, Some(vec!["1 days".to_owned(), "2 days".to_owned()]));
        assert_eq!(texts("hours", None, Some("timedelta64[s]"), &[1.5]), Some(vec!["90 minutes".to_owned()]));
    }

    #[test]
    fn times_come_back_from_their_attributes() {
        let day = 86_400_000_000_000;
        let dates = |calendar, times: &[Option<i128>]| Labels::Dates(Dates::from_nanoseconds(calendar, times).unwrap());
        let durations = |times: &[Option<i128>]| Labels::Durations(Durations::from_nanoseconds(times).unwrap());
        for (labels, unit) in [
            (dates(Calendar::ProlepticGregorian, &[Some(0), Some(day)]), "days since 1970-01-01"),
            (dates(Calendar::Days360, &[Some(1)]), "nanoseconds since 1970-01-01"),
            (dates(Calendar::Standard, &[Some(-200_000 * day)]), "days since 1970-01-01"),
            (durations(&[Some(3 * day), None]), "days"),
            (durations(&[Some(200_000 * day + 1_000_000)]), "milliseconds"),
        ] {
            let mut attrs: IndexMap<String, Attribute> =
                attributes_of(&labels).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(attrs[UNITS], Attribute::from(unit));
            let has_gap = attrs.shift_remove("_FillValue").is_some();
            let axis = TimeAxis::take(&mut attrs).unwrap();
            let (Labels::Dates(_) | Labels::Durations(_)) = &labels else { unreachable!() };
            let octopus_trace::Values::I64(counts) = super::super::label_values(&labels) else { unreachable!() };
            assert_eq!(has_gap, counts.contains(&i64::MIN));
            let counts = counts.into_iter().map(|count| (count != i64::MIN).then_some(count.into()));
            assert_eq!(axis.of_whole(counts), Some(labels));
            assert!(attrs.is_empty());
        }
        assert_eq!(attributes_of(&Labels::Range(2)), []);
        let long = durations(&[Some(200_000 * day)]);
        assert_eq!(attributes_of(&long)[1].1, Attribute::from("timedelta64[s]"));
    }

    #[test]
    fn a_time_of_day_has_its_parts_and_its_zone() {
        const SECOND: i128 = 1_000_000_000;
        let clock = |hours: i128, minutes: i128, seconds: i128| Some((3600 * hours + 60 * minutes + seconds) * SECOND);
        for (text, expected) in [
            ("", clock(0, 0, 0)),
            ("6", clock(6, 0, 0)),
            ("6:30", clock(6, 30, 0)),
            ("6:30:15", clock(6, 30, 15)),
            ("6:30:15.25", clock(6, 30, 15).map(|time| time + SECOND / 4)),
            ("0:0:0.0000000019", Some(1)),
            // The ends of a day and of a minute with a second more.
            ("24:00", clock(24, 0, 0)),
            ("23:59:60", clock(24, 0, 0)),
            ("25", None),
            ("0:60", None),
            ("0:0:61", None),
            ("0:0:0:0", None),
            ("6Z", clock(6, 0, 0)),
            ("6 UTC", clock(6, 0, 0)),
            ("6 +2", clock(4, 0, 0)),
            ("6+02", clock(4, 0, 0)),
            ("6+02:30", clock(3, 30, 0)),
            ("6-0230", clock(8, 30, 0)),
            ("6-123", clock(7, 23, 0)),
            ("6-11", clock(17, 0, 0)),
            ("6*2", None),
        ] {
            assert_eq!(time_of_day(text), expected, "{text}");
        }
        let day = 86_400 * SECOND;
        for (text, days) in [("1971", 365), ("1971-3", 365 + 59), ("1970-01-03", 2), ("1969-12-31T24", 0)] {
            assert_eq!(moment(Calendar::Standard, text), Some(days * day), "{text}");
        }
    }

    #[test]
    fn counts_end_where_their_nanoseconds_are_many() {
        assert!(texts("nanoseconds", None, Some("timedelta64[ns]"), &[1e18]).is_some());
        assert_eq!(texts("nanoseconds", None, Some("timedelta64[ns]"), &[1.000001e18]), None);
    }
}
