//! The numbers of one parameter, and the columns that show them as text, as JSON and in reports.
//!
//! A new column is a field of [`ParameterSummary`], which `element.rs` computes, and a [`Column`] in each of [`TEXT`],
//! [`JSON`] and [`REPORT`] that shall have it.

use crate::limits;
use crate::summary::digits::{UncertainNumber, number_column};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt;

/// The summary of one number of the posterior, over the draws of all chains. What is not defined is NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterSummary {
    /// The element's name, e.g. `mu_group[berlin]`.
    pub name: String,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, divisor `n - 1`.
    pub sd: f64,
    /// Highest-density interval.
    pub hdi: [f64; 2],
    /// Equal-tailed interval.
    pub eti: [f64; 2],
    /// Standard error of the mean.
    pub mcse_mean: f64,
    /// Standard error of the standard deviation.
    pub mcse_sd: f64,
    /// Bulk effective sample size, in draws.
    pub ess_bulk: f64,
    /// Tail effective sample size, in draws.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat; with superchains rank-normalised nested R-hat.
    pub rhat: f64,
    /// The number of draws that are NaN or infinite.
    pub not_finite: usize,
    /// Whether all draws have the same value.
    pub constant: bool,
}

impl Default for ParameterSummary {
    /// A parameter without a name, of which nothing is defined.
    fn default() -> Self {
        Self {
            name: String::new(),
            mean: f64::NAN,
            sd: f64::NAN,
            hdi: [f64::NAN; 2],
            eti: [f64::NAN; 2],
            mcse_mean: f64::NAN,
            mcse_sd: f64::NAN,
            ess_bulk: f64::NAN,
            ess_tail: f64::NAN,
            rhat: f64::NAN,
            not_finite: 0,
            constant: false,
        }
    }
}

impl ParameterSummary {
    /// Returns the name of the variable that the element belongs to.
    pub fn variable(&self) -> &str {
        self.name.split_once('[').map_or(&self.name, |(variable, _)| variable)
    }
}

/// Tells zeros and ones of arrays that move elsewhere, as the factor of a correlation matrix has them, from other parameters.
pub fn fixed_elements(parameters: &[ParameterSummary]) -> impl Fn(&ParameterSummary) -> bool {
    let moving: BTreeSet<&str> = parameters.iter().filter(|p| !p.constant).map(ParameterSummary::variable).collect();
    move |p| p.constant && [0.0, 1.0].contains(&p.mean) && moving.contains(p.variable())
}

/// Draws whose standard deviation is below this share of their mean differ by rounding alone.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The columns of a summary as text: those of `az.summary`, in its order.
pub const TEXT: &[Column] = &[MEAN, SD, HDI, MCSE_MEAN, MCSE_SD, ESS_BULK, ESS_TAIL, R_HAT];

/// The columns of a summary as JSON.
pub const JSON: &[Column] = &[MEAN, SD, HDI, ETI, MCSE_MEAN, MCSE_SD, ESS_BULK, ESS_TAIL, R_HAT];

/// The columns of a report, on its page and in its JSON; intervals hold [`DEFAULT_PROB`](crate::DEFAULT_PROB) there.
pub const REPORT: &[Column] = &[MEAN, SD, HDI, ETI, R_HAT, ESS_BULK, ESS_TAIL, MCSE_MEAN];

/// One column: what it holds of a parameter, its names, and how it is printed.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name in text, as in `az.summary`; bounds of an interval have their place after it, in percent (`hdi_5.5%`).
    pub name: &'static str,
    /// The name in the JSON of a summary, which is the same for intervals of any share of the draws.
    pub json: &'static str,
    /// The name by which the script of a report's page knows it.
    pub key: &'static str,
    /// The heading in a report.
    pub heading: &'static str,
    /// The meaning, which a report tells.
    pub meaning: &'static str,
    /// The numbers.
    pub numbers: Numbers,
    /// How the numbers are printed.
    pub print: Print,
    /// The limit that the numbers are held to, where there is one.
    pub limit: Option<Limit>,
}

/// Where a parameter has the numbers of a column.
#[derive(Clone, Copy, Debug)]
pub enum Numbers {
    /// One number: to read, and to write.
    One(fn(&ParameterSummary) -> f64, fn(&mut ParameterSummary) -> &mut f64),
    /// The two ends of an interval.
    Two(fn(&ParameterSummary) -> [f64; 2], fn(&mut ParameterSummary) -> &mut [f64; 2]),
}

/// What a parameter has in a column. As JSON a number, or a list of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// One number.
    One(f64),
    /// The two ends of an interval.
    Two([f64; 2]),
}

/// How the numbers of a column are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// In the parameter's unit: down to the third significant digit of its standard deviation.
    Value,
    /// As an error in the parameter's unit: with two significant digits.
    Error,
    /// As a ratio: with three decimals.
    Ratio,
    /// As a number of draws: whole.
    Draws,
}

/// What a number must keep to; NaN never does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// It must be below this.
    Below(f64),
    /// It must be above this.
    Above(f64),
}

/// Makes the column of a field, which it is named for, with one or two numbers.
macro_rules! column {
    ($count:ident $field:ident, $print:expr, $heading:expr, $meaning:expr) => {
        Column {
            name: stringify!($field),
            json: stringify!($field),
            key: stringify!($field),
            heading: $heading,
            meaning: $meaning,
            numbers: Numbers::$count(|p| p.$field, |p| &mut p.$field),
            print: $print,
            limit: None,
        }
    };
}

const MEAN: Column = column!(One mean, Print::Value, "mean", "posterior mean, in the parameter's own units");

const SD: Column = column!(One sd, Print::Value, "sd", "posterior standard deviation, in the parameter's own units");

const HDI: Column =
    column!(Two hdi, Print::Value, "89% HDI", "highest-density interval: the shortest with 89% of the draws");

const ETI: Column = column!(
    Two eti, Print::Value, "89% ETI", "equal-tailed interval: 5.5% of the draws lie below it and 5.5% above"
);

const MCSE_MEAN: Column = Column {
    key: "mcse",
    ..column!(
        One mcse_mean, Print::Error, "MCSE", "Monte Carlo standard error of the mean, in the parameter's own units"
    )
};

const MCSE_SD: Column = column!(
    One mcse_sd, Print::Error, "MCSE of sd", "Monte Carlo standard error of the sd, in the parameter's own units"
);

const ESS_BULK: Column = Column {
    key: "bulk",
    limit: Some(Limit::Above(limits::ESS)),
    ..column!(One ess_bulk, Print::Draws, "bulk ESS", "effective sample size of the bulk")
};

const ESS_TAIL: Column = Column {
    key: "tail",
    limit: Some(Limit::Above(limits::ESS)),
    ..column!(One ess_tail, Print::Draws, "tail ESS", "effective sample size of the tails")
};

const R_HAT: Column = Column {
    name: "r_hat",
    limit: Some(Limit::Below(limits::RHAT)),
    ..column!(One rhat, Print::Ratio, "R-hat", "rank-normalised split R-hat")
};

impl Column {
    /// Returns what a parameter has in this column.
    pub fn cell(&self, parameter: &ParameterSummary) -> Cell {
        match self.numbers {
            Numbers::One(get, _) => Cell::One(get(parameter)),
            Numbers::Two(get, _) => Cell::Two(get(parameter)),
        }
    }

    /// Returns what each of `rows` has in this column as text, one or two for each: in one notation, and those in the
    /// parameter's unit with at least `least` decimals.
    pub fn texts(&self, rows: &[&ParameterSummary], least: usize) -> Vec<Vec<String>> {
        let values = |row: &ParameterSummary| match self.cell(row) {
            Cell::One(value) => vec![value],
            Cell::Two(ends) => ends.to_vec(),
        };
        let measured = |row: &ParameterSummary, value: f64| {
            // What is computed to 1 in every draw is 1 within rounding, whose digits would be those of the whole column.
            let noise = if row.sd <= ROUNDING * row.mean.abs() { ROUNDING * row.mean.abs() } else { 0.0 };
            let shown = |value: f64| if value.abs() <= noise { 0.0 } else { value };
            match (self.print, shown(value)) {
                (Print::Error, value) => UncertainNumber { value, scale: value, digits: 2 },
                (_, value) => UncertainNumber { value, scale: shown(row.sd), digits: 3 },
            }
        };
        let numbers = rows.iter().flat_map(|row| values(row).into_iter().map(|value| measured(row, value)));
        let texts: Vec<String> = match self.print {
            Print::Value | Print::Error => number_column(&numbers.collect::<Vec<_>>(), least),
            Print::Ratio => numbers.map(|number| format!("{:.3}", number.value)).collect(),
            Print::Draws => numbers.map(|number| format!("{:.0}", number.value)).collect(),
        };
        texts.chunks(self.width()).map(<[String]>::to_vec).collect()
    }

    /// Returns how many numbers a parameter has in this column.
    fn width(&self) -> usize {
        match self.numbers {
            Numbers::One(..) => 1,
            Numbers::Two(..) => 2,
        }
    }

    /// Returns the name in JSON where the share `prob` that intervals hold is not written beside it: `hdi89`.
    pub fn json_name(&self, prob: f64) -> String {
        match self.numbers {
            Numbers::One(..) => self.json.to_owned(),
            Numbers::Two(..) => format!("{}{}", self.json, percent(prob)),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Two(ends) => ends.serialize(serializer),
        }
    }
}

impl Limit {
    /// Returns whether `value` keeps to the limit.
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::Below(limit) => value < limit,
            Self::Above(limit) => value > limit,
        }
    }
}

impl fmt::Display for Limit {
    /// `below 1.01`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(limit) => write!(f, "below {limit}"),
            Self::Above(limit) => write!(f, "above {limit}"),
        }
    }
}

/// Returns a probability in percent, without needless digits: `89`, `95.5`.
pub(crate) fn percent(prob: f64) -> String {
    short(100.0 * prob)
}

/// Up to six decimals, none of them a trailing zero.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The diagonal of a correlation matrix is 1 within rounding: it does not decide the notation of its column.
    #[test]
    fn rounding_is_shown_as_none() {
        let one = |name: &str, mean: f64, sd: f64| ParameterSummary {
            name: name.to_owned(),
            mean,
            sd,
            mcse_mean: sd / 90.0,
            ..ParameterSummary::default()
        };
        let texts = |column: &Column, rows: [ParameterSummary; 2]| column.texts(&rows.each_ref(), 3).concat();
        let of = |sd: f64| {
            let rows = || [one("R[1, 2]", 0.445, 0.217), one("R[2, 2]", 1.0, sd)];
            [&MEAN, &SD, &MCSE_MEAN].map(|column| texts(column, rows()))
        };
        assert_eq!(of(7.9e-17), [["0.445", "1.000"], ["0.217", "0.000"], ["0.0024", "0.000"]]);
        assert_eq!(of(1e-6)[1], ["0.217", "0.00000100"]);
        assert_eq!(of(1e-14)[1], ["2.17e-1", "1.00e-14"]);
    }

    #[test]
    fn percentages() {
        assert_eq!([percent(0.89), percent(0.955), percent(1.0), percent(0.94)], ["89", "95.5", "100", "94"]);
    }

    /// The names are read by other programs and by scripts of the page.
    #[test]
    fn columns_have_their_names_and_limits() {
        let names = |columns: &[Column]| columns.iter().map(|column| (column.name, column.key)).collect::<Vec<_>>();
        let mcse = [("mcse_mean", "mcse"), ("mcse_sd", "mcse_sd")];
        let rest = [("ess_bulk", "bulk"), ("ess_tail", "tail"), ("r_hat", "rhat")];
        assert_eq!(names(&TEXT[3..]), [mcse.as_slice(), &rest].concat());
        let limits = TEXT[5..].iter().map(|column| column.limit).collect::<Vec<_>>();
        let ess = Some(Limit::Above(400.0));
        assert_eq!(
            (&limits, TEXT[..5].iter().any(|column| column.limit.is_some())),
            (&vec![ess, ess, Some(Limit::Below(1.01))], false)
        );
    }

    #[test]
    fn a_limit_is_not_met_by_itself() {
        for (limit, met) in [(Limit::Below(400.0), [true, false, false]), (Limit::Above(400.0), [false, false, true])] {
            assert_eq!([399.0, 400.0, 401.0].map(|value| limit.is_met(value)), met, "{limit}");
            assert!(!limit.is_met(f64::NAN), "{limit}");
        }
    }

    #[test]
    fn of_a_parameter_without_draws_nothing_is_known() {
        let none = ParameterSummary::default();
        assert_eq!((none.not_finite, none.constant, none.name.as_str()), (0, false, ""));
        let all = JSON.iter().map(|column| column.cell(&none));
        assert!(all.into_iter().all(|cell| match cell {
            Cell::One(value) => value.is_nan(),
            Cell::Two(ends) => ends.iter().all(|end| end.is_nan()),
        }));
    }

    #[test]
    fn numbers_are_written_as_their_column_says() {
        let row = ParameterSummary {
            mean: 50.123_456,
            sd: 1.9,
            hdi: [48.0, 52.5],
            mcse_mean: 0.012_34,
            ess_bulk: 4321.6,
            rhat: 1.0004,
            ..ParameterSummary::default()
        };
        let texts = |column: Column| column.texts(&[&row], 0).concat();
        assert_eq!([texts(MEAN), texts(HDI)].concat(), ["50.12", "48.00", "52.50"]);
        assert_eq!([texts(MCSE_MEAN), texts(ESS_BULK), texts(R_HAT)].concat(), ["0.012", "4322", "1.000"]);
        assert_eq!((HDI.json_name(0.94), MEAN.json_name(0.94)), ("hdi94".to_owned(), "mean".to_owned()));
    }
}
