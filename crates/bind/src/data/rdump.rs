//! R's dump: assignments of numbers, `c(...)`, ranges, and `structure(c(...), .Dim = c(...))`, columns first.

use super::{DataNumbers, DataValue};
use crate::error::BindError;
use std::collections::BTreeMap;

struct Reader<'a> {
    source: &'a str,
    text: &'a str,
    at: usize,
}

/// Reads all variables of a text.
pub(super) fn read(source: &str, text: &str) -> Result<BTreeMap<String, DataValue>, BindError> {
    let mut reader = Reader { source, text, at: 0 };
    let mut values = BTreeMap::new();
    loop {
        reader.space();
        if reader.rest().is_empty() {
            return Ok(values);
        }
        let name = reader.name()?;
        if !reader.eat("<-") && !reader.eat("=") {
            return Err(reader.wrong("`<-` is missing behind the name"));
        }
        let value = reader.value()?;
        values.insert(name, value);
        reader.eat(";");
    }
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn wrong(&self, reason: &str) -> BindError {
        let line = self.text[..self.at].matches('\n').count() + 1;
        let shown: String = self.rest().chars().take(20).collect();
        BindError::Format { source_name: self.source.to_owned(), line, reason: format!("{reason}, before `{shown}`") }
    }

    /// Skips white space and comments.
    fn space(&mut self) {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('#') {
                return;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), BindError> {
        if self.eat(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}` is missing"))) }
    }

    fn name(&mut self) -> Result<String, BindError> {
        self.space();
        for quote in ['"', '`', '\''] {
            if self.rest().starts_with(quote) {
                let inside = &self.rest()[1..];
                let Some(end) = inside.find(quote) else { return Err(self.wrong("a quotation mark is missing")) };
                let name = inside[..end].to_owned();
                self.at += end + 2;
                return Ok(name);
            }
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.wrong("a name is missing"));
        }
        let name = self.rest()[..length].to_owned();
        self.at += length;
        Ok(name)
    }

    fn value(&mut self) -> Result<DataValue, BindError> {
        if self.eat("structure(") {
            let flat = self.value()?;
            self.expect(",")?;
            self.expect(".Dim")?;
            self.expect("=")?;
            let shape = self.value()?;
            self.expect(")")?;
            let DataNumbers::Ints(shape) = shape.numbers else { return Err(self.wrong("`.Dim` has whole numbers")) };
            let shape: Vec<usize> = shape.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
            let count = shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
            if count != Some(flat.numbers.len()) {
                return Err(self.wrong("`.Dim` does not fit the numbers"));
            }
            let numbers = match flat.numbers {
                DataNumbers::Ints(values) => DataNumbers::Ints(by_rows(&values, &shape)),
                DataNumbers::Reals(values) => DataNumbers::Reals(by_rows(&values, &shape)),
            };
            return Ok(DataValue { shape, numbers });
        }
        for (sign, whole) in [("integer(", true), ("double(", false), ("numeric(", false)] {
            if self.eat(sign) {
                let (count, _) = if self.eat(")") { (0.0, true) } else { self.number()? };
                if count > 0.0 {
                    self.expect(")")?;
                }
                let count = if (0.0..1e9).contains(&count) { count as usize } else { 0 };
                let numbers =
                    if whole { DataNumbers::Ints(vec![0; count]) } else { DataNumbers::Reals(vec![0.0; count]) };
                return Ok(DataValue { shape: vec![count], numbers });
            }
        }
        if self.eat("c(") {
            let mut values = Vec::new();
            if !self.eat(")") {
                loop {
                    self.range(&mut values)?;
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect(")")?;
            }
            return Ok(DataValue { shape: vec![values.len()], numbers: numbers(&values) });
        }
        let mut values = Vec::new();
        let is_range = self.range(&mut values)?;
        let shape = if is_range { vec![values.len()] } else { Vec::new() };
        Ok(DataValue { shape, numbers: numbers(&values) })
    }

    /// Reads `a` or `a:b`.
    fn range(&mut self, values: &mut Vec<(f64, bool)>) -> Result<bool, BindError> {
        let first = self.number()?;
        if !self.eat(":") {
            values.push(first);
            return Ok(false);
        }
        let last = self.number()?;
        let (from, to) = (first.0 as i64, last.0 as i64);
        if from.abs_diff(to) > 100_000_000 {
            return Err(self.wrong("the range is too long"));
        }
        if from <= to {
            values.extend((from..=to).map(|k| (k as f64, true)));
        } else {
            values.extend((to..=from).rev().map(|k| (k as f64, true)));
        }
        Ok(true)
    }

    /// Reads a number, and whether it is whole.
    fn number(&mut self) -> Result<(f64, bool), BindError> {
        self.space();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '+' | '-');
        let rest = self.rest();
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let text = rest[..length].to_owned();
        let bare = text.trim_end_matches('L');
        let special = match bare {
            "NA" | "NaN" => Some(f64::NAN),
            "Inf" => Some(f64::INFINITY),
            "-Inf" => Some(f64::NEG_INFINITY),
            "TRUE" => Some(1.0),
            "FALSE" => Some(0.0),
            _ => None,
        };
        let Some(value) = special.or_else(|| bare.parse().ok()) else { return Err(self.wrong("a number is missing")) };
        self.at += length;
        let whole =
            value.is_finite() && !bare.contains(['.', 'e', 'E']) || special.is_some_and(|x| x == 0.0 || x == 1.0);
        Ok((value, whole))
    }
}

fn numbers(values: &[(f64, bool)]) -> DataNumbers {
    if values.iter().all(|&(_, whole)| whole) {
        DataNumbers::Ints(values.iter().map(|&(x, _)| x as i64).collect())
    } else {
        DataNumbers::Reals(values.iter().map(|&(x, _)| x).collect())
    }
}

/// DataNumbers whose first index is fastest, in an order where the last one is.
fn by_rows<T: Copy>(values: &[T], shape: &[usize]) -> Vec<T> {
    crate::shape::columns_to_rows(shape).into_iter().map(|place| values[place]).collect()
}
