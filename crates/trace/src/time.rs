//! Points and lengths of time, in the calendars of the CF conventions, counted in whole units.

use serde::{Deserialize, Serialize};

/// What is no point or length of time, as NumPy stores it.
const NOT_A_TIME: i64 = i64::MIN;

/// The most days before or after 1 January 1970 that are a date: below 20 million years.
const MOST_DAYS: i64 = 7_000_000_000;

/// A calendar of the CF conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Calendar {
    /// Ours, extended to all years: that of NumPy and pandas.
    ProlepticGregorian,
    /// Ours, with Julian dates before 15 October 1582.
    Standard,
    /// A leap day every four years.
    Julian,
    /// No leap days.
    NoLeap,
    /// A leap day every year.
    AllLeap,
    /// Twelve months of 30 days.
    Days360,
}

impl Calendar {
    /// Returns the calendar that the CF conventions call `name`.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "proleptic_gregorian" => Self::ProlepticGregorian,
            "standard" | "gregorian" => Self::Standard,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    /// Returns what the CF conventions call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProlepticGregorian => "proleptic_gregorian",
            Self::Standard => "standard",
            Self::Julian => "julian",
            Self::NoLeap => "noleap",
            Self::AllLeap => "all_leap",
            Self::Days360 => "360_day",
        }
    }

    /// Returns the number of days from 1 January 1970 to a date; `None` if the calendar has no such date.
    pub fn days_of(self, year: i64, month: i64, day: i64) -> Option<i64> {
        // Four thousand times the age of writing: none of the sums below can overflow.
        if year.abs() > 20_000_000 || !(1..=12).contains(&month) || day < 1 {
            return None;
        }
        let days = self.day_number(year, month, day) - self.day_number(1970, 1, 1);
        // What is no date, 30 February, comes back as another one.
        (self.date_of(days) == (year, month, day)).then_some(days)
    }

    /// Returns the year, month and day that are `days` after 1 January 1970.
    pub fn date_of(self, days: i64) -> (i64, i64, i64) {
        let number = days + self.day_number(1970, 1, 1);
        match self {
            Self::ProlepticGregorian => gregorian(number),
            Self::Standard if number >= REFORM => gregorian(number),
            Self::Standard | Self::Julian => julian(number),
            Self::NoLeap => of_months(number, 365, &MONTHS),
            Self::AllLeap => of_months(number, 366, &LEAP_MONTHS),
            Self::Days360 => (number.div_euclid(360), number.rem_euclid(360) / 30 + 1, number.rem_euclid(30) + 1),
        }
    }

    /// Returns the number of a day, in an order that begins somewhere: for the first three calendars, at one day.
    fn day_number(self, year: i64, month: i64, day: i64) -> i64 {
        // Years that begin in March, so that a leap day is the last.
        let (from, since) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let of_year = (153 * since + 2) / 5 + day - 1;
        let gregorian = 365 * from + from.div_euclid(4) - from.div_euclid(100) + from.div_euclid(400) + of_year;
        let julian = 365 * from + from.div_euclid(4) + of_year - 2;
        let before = |months: &[i64; 12]| months[..month as usize - 1].iter().sum::<i64>() + day - 1;
        match self {
            Self::ProlepticGregorian => gregorian,
            Self::Standard if (year, month, day) >= (1582, 10, 15) => gregorian,
            Self::Standard | Self::Julian => julian,
            Self::NoLeap => 365 * year + before(&MONTHS),
            Self::AllLeap => 366 * year + before(&LEAP_MONTHS),
            Self::Days360 => 360 * year + 30 * (month - 1) + day - 1,
        }
    }
}

const MONTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LEAP_MONTHS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/// 15 October 1582, the first day of the Gregorian calendar.
const REFORM: i64 = 365 * 1582 + 395 - 15 + 3 + (153 * 7 + 2) / 5 + 14;

fn gregorian(number: i64) -> (i64, i64, i64) {
    // Hinnant, chrono-Compatible Low-Level Date Algorithms: cycles of 400 years.
    let (cycle, day) = (number.div_euclid(146_097), number.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    from_march(400 * cycle + year, day - (365 * year + year / 4 - year / 100))
}

fn julian(number: i64) -> (i64, i64, i64) {
    let (cycle, day) = ((number + 2).div_euclid(1461), (number + 2).rem_euclid(1461));
    let year = (day - day / 1460) / 365;
    from_march(4 * cycle + year, day - 365 * year)
}

/// Returns the date of a day of a year that begins in March.
fn from_march(year: i64, day: i64) -> (i64, i64, i64) {
    let since = (5 * day + 2) / 153;
    let month = if since < 10 { since + 3 } else { since - 9 };
    (if month > 2 { year } else { year + 1 }, month, day - (153 * since + 2) / 5 + 1)
}

fn of_months(number: i64, year: i64, months: &[i64; 12]) -> (i64, i64, i64) {
    let mut day = number.rem_euclid(year);
    let mut month = 0;
    while day >= months[month] {
        day -= months[month];
        month += 1;
    }
    (number.div_euclid(year), month as i64 + 1, day + 1)
}

/// A unit in which time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// 10^-9 of a second.
    Nanoseconds,
    /// 10^-6 of a second.
    Microseconds,
    /// 10^-3 of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes of 60 seconds.
    Minutes,
    /// Hours of 60 minutes.
    Hours,
    /// Days of 24 hours.
    Days,
}

impl TimeUnit {
    /// All units, the longest first.
    pub const ALL: [Self; 7] = [
        Self::Days,
        Self::Hours,
        Self::Minutes,
        Self::Seconds,
        Self::Milliseconds,
        Self::Microseconds,
        Self::Nanoseconds,
    ];

    /// Returns the unit's name in the CF conventions: `days`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Hours => "hours",
            Self::Minutes => "minutes",
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    /// Returns how many nanoseconds the unit has.
    pub fn nanoseconds(self) -> i64 {
        match self {
            Self::Days => 86_400_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        }
    }
}

/// Returns times in the longest unit in which all are whole, so that equal times are stored alike; `None` when some do
/// not fit.
fn in_longest_unit(times: &[Option<i128>]) -> Option<(TimeUnit, Vec<i64>)> {
    let is_whole = |unit: &TimeUnit| times.iter().flatten().all(|time| time % i128::from(unit.nanoseconds()) == 0);
    let unit = TimeUnit::ALL.into_iter().find(is_whole)?;
    let count = |time: &Option<i128>| match time {
        Some(time) => i64::try_from(time / i128::from(unit.nanoseconds())).ok().filter(|&count| count != NOT_A_TIME),
        None => Some(NOT_A_TIME),
    };
    Some((unit, times.iter().map(count).collect::<Option<_>>()?))
}

/// Points in time, counted in a unit from 1 January 1970 of their calendar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dates {
    calendar: Calendar,
    unit: TimeUnit,
    counts: Vec<i64>,
}

impl Dates {
    /// Makes dates from nanoseconds since 1 January 1970 in `calendar`; `None` for one is no date (NaT).
    ///
    /// Returns `None` when they do not fit into one unit and 64 bits, or are beyond the year 20,000,000.
    pub fn from_nanoseconds(calendar: Calendar, times: &[Option<i128>]) -> Option<Self> {
        let (unit, counts) = in_longest_unit(times)?;
        let mut dates = Self { calendar, unit, counts };
        let days = |at: usize| dates.day_and_rest(at).map(|(day, _)| day);
        if (0..dates.len()).any(|at| days(at).is_none() != times[at].is_none()) {
            return None;
        }
        // After the reform the two calendars are one.
        let reform = REFORM - Calendar::Standard.day_number(1970, 1, 1);
        if calendar == Calendar::Standard && (0..dates.len()).filter_map(days).all(|day| day >= reform) {
            dates.calendar = Calendar::ProlepticGregorian;
        }
        Some(dates)
    }

    /// Returns the calendar.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// Returns the unit of [`counts`](Self::counts): the longest in which all dates are whole.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// Returns how many units after 1 January 1970 each date is; the least i64 stands for what is no date.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Returns the number of dates.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there are no dates.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the day since 1 January 1970, and the nanoseconds of it.
    fn day_and_rest(&self, index: usize) -> Option<(i64, i64)> {
        let count = Some(self.counts[index]).filter(|&count| count != NOT_A_TIME)?;
        let (unit, day) = (i128::from(self.unit.nanoseconds()), i128::from(TimeUnit::Days.nanoseconds()));
        let time = i128::from(count) * unit;
        let rest = time.rem_euclid(day) as i64;
        // A damaged file may hold any number.
        i64::try_from(time.div_euclid(day)).ok().filter(|day| day.abs() <= MOST_DAYS).map(|day| (day, rest))
    }

    /// Returns a date as text: `2020-01-31`, or with as many digits of the time of day as the dates need,
    /// `2020-01-31T12:00:00`; `NaT` for what is no date.
    pub(crate) fn text(&self, index: usize) -> String {
        let Some((day, rest)) = self.day_and_rest(index) else { return "NaT".to_owned() };
        let (year, month, day) = self.calendar.date_of(day);
        let date = if year < 0 { format!("-{:04}", -year) } else { format!("{year:04}") };
        let date = format!("{date}-{month:02}-{day:02}");
        if self.unit == TimeUnit::Days {
            return date;
        }
        let (seconds, fraction) = (rest / 1_000_000_000, rest % 1_000_000_000);
        let time = format!("{date}T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        match self.unit {
            TimeUnit::Milliseconds => format!("{time}.{:03}", fraction / 1_000_000),
            TimeUnit::Microseconds => format!("{time}.{:06}", fraction / 1_000),
            TimeUnit::Nanoseconds => format!("{time}.{fraction:09}"),
            _ => time,
        }
    }
}

/// Lengths of time, counted in a unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durations {
    unit: TimeUnit,
    counts: Vec<i64>,
}

impl Durations {
    /// Makes durations from nanoseconds; `None` for one is no duration (NaT).
    ///
    /// Returns `None` when they do not fit into one unit and 64 bits.
    pub fn from_nanoseconds(times: &[Option<i128>]) -> Option<Self> {
        in_longest_unit(times).map(|(unit, counts)| Self { unit, counts })
    }

    /// Returns the unit of [`counts`](Self::counts): the longest in which all durations are whole.
    pub fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// Returns how many units each duration has; the least i64 stands for what is no duration.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Returns the number of durations.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns whether there are no durations.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns a duration as text: `3 days`; `NaT` for what is none.
    pub(crate) fn text(&self, index: usize) -> String {
        match self.counts[index] {
            NOT_A_TIME => "NaT".to_owned(),
            count => format!("{count} {}", self.unit.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i128 = 86_400_000_000_000;

    /// `cftime.datetime(...) - cftime.datetime(1970, 1, 1)` of cftime 1.6, in each calendar.
    #[test]
    fn days_of_every_calendar() {
        use Calendar::{AllLeap, Days360, Julian, NoLeap, ProlepticGregorian, Standard};
        for (calendar, date, days) in [
            (ProlepticGregorian, (1970, 1, 1), 0),
            (ProlepticGregorian, (2020, 2, 29), 18_321),
            (ProlepticGregorian, (1969, 12, 31), -1),
            (ProlepticGregorian, (1582, 10, 14), -141_428),
            (ProlepticGregorian, (1, 1, 1), -719_162),
            (ProlepticGregorian, (9999, 12, 31), 2_932_896),
            (Standard, (1582, 10, 15), -141_427),
            (Standard, (1582, 10, 4), -141_428),
            (Standard, (850, 1, 1), -409_067),
            (Standard, (2000, 3, 1), 11_017),
            (Julian, (2000, 3, 1), 11_017),
            (Julian, (1900, 2, 29), -25_509),
            (NoLeap, (2020, 3, 1), 18_309),
            (NoLeap, (1969, 12, 31), -1),
            (AllLeap, (2019, 2, 29), 17_993),
            (Days360, (2020, 2, 30), 18_059),
            (Days360, (1969, 12, 30), -1),
        ] {
            let (year, month, day) = date;
            assert_eq!(calendar.days_of(year, month, day), Some(days), "{calendar:?} {date:?}");
            assert_eq!(calendar.date_of(days), date, "{calendar:?} {days}");
        }
        for (calendar, (year, month, day)) in [
            (ProlepticGregorian, (1900, 2, 29)),
            (Standard, (1582, 10, 10)),
            (NoLeap, (2020, 2, 29)),
            (Days360, (2020, 1, 31)),
            (AllLeap, (2020, 2, 30)),
            (ProlepticGregorian, (2020, 13, 1)),
            (ProlepticGregorian, (2020, 1, 0)),
            (ProlepticGregorian, (i64::MAX, 1, 1)),
        ] {
            assert_eq!(calendar.days_of(year, month, day), None, "{calendar:?} {year}-{month}-{day}");
        }
    }

    #[test]
    fn every_day_is_a_date_and_every_date_a_day() {
        use Calendar::{AllLeap, Days360, Julian, NoLeap, ProlepticGregorian, Standard};
        for calendar in [ProlepticGregorian, Standard, Julian, NoLeap, AllLeap, Days360] {
            for days in (-800_000..800_000).step_by(37).chain(-141_440..-141_410) {
                let (year, month, day) = calendar.date_of(days);
                assert_eq!(calendar.days_of(year, month, day), Some(days), "{calendar:?} {days}");
            }
            assert_eq!(Calendar::named(calendar.name()), Some(calendar));
        }
        assert_eq!(Calendar::named("lunar"), None);
    }

    #[test]
    fn dates_show_as_much_as_they_need() {
        let texts = |times: &[i128]| {
            let times: Vec<Option<i128>> = times.iter().copied().map(Some).chain([None]).collect();
            let dates = Dates::from_nanoseconds(Calendar::ProlepticGregorian, &times).unwrap();
            (0..dates.len()).map(|at| dates.text(at)).collect::<Vec<_>>()
        };
        assert_eq!(texts(&[18_292 * DAY, -DAY]), ["2020-01-31", "1969-12-31", "NaT"]);
        assert_eq!(texts(&[DAY / 2, DAY]), ["1970-01-01T12:00:00", "1970-01-02T00:00:00", "NaT"]);
        assert_eq!(texts(&[-1_000_000]), ["1969-12-31T23:59:59.999", "NaT"]);
        assert_eq!(texts(&[1_000]), ["1970-01-01T00:00:00.000001", "NaT"]);
        assert_eq!(texts(&[1]), ["1970-01-01T00:00:00.000000001", "NaT"]);
        assert_eq!(texts(&[-720_000 * DAY]), ["-0002-09-16", "NaT"]);
        assert_eq!(Dates::from_nanoseconds(Calendar::Julian, &[Some(i128::MAX)]), None);
        assert_eq!(Dates::from_nanoseconds(Calendar::Julian, &[Some(8_000_000_000 * DAY)]), None);
    }

    #[test]
    fn equal_times_are_stored_alike() {
        let of = |calendar, day: i128| Dates::from_nanoseconds(calendar, &[Some(day * DAY)]).unwrap();
        assert_eq!(of(Calendar::Standard, 0), of(Calendar::ProlepticGregorian, 0));
        assert_eq!(of(Calendar::Standard, -141_427).calendar(), Calendar::ProlepticGregorian);
        assert_eq!(of(Calendar::Standard, -141_428).calendar(), Calendar::Standard);
        assert_ne!(of(Calendar::NoLeap, 0), of(Calendar::ProlepticGregorian, 0));
        assert_eq!((of(Calendar::NoLeap, 3).unit(), of(Calendar::NoLeap, 3).counts()), (TimeUnit::Days, &[3][..]));
    }

    #[test]
    fn durations_are_in_the_longest_unit() {
        let texts = |times: &[i128]| {
            let times: Vec<Option<i128>> = times.iter().copied().map(Some).chain([None]).collect();
            let durations = Durations::from_nanoseconds(&times).unwrap();
            (0..durations.len()).map(|at| durations.text(at)).collect::<Vec<_>>()
        };
        assert_eq!(texts(&[3 * DAY, -DAY]), ["3 days", "-1 days", "NaT"]);
        assert_eq!(texts(&[DAY / 24, DAY]), ["1 hours", "24 hours", "NaT"]);
        assert_eq!(texts(&[1_500_000_000]), ["1500 milliseconds", "NaT"]);
        assert_eq!(Durations::from_nanoseconds(&[Some(i128::from(i64::MIN))]), None);
        assert_eq!(Durations::from_nanoseconds(&[]).map(|none| none.len()), Some(0));
    }
}
