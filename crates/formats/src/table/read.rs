//! CSV tables of draws to InferenceData.
//!
//! Which cells are numbers, flags, words or nothing is decided here; what columns mean is of the
//! [`DrawTable`](crate::draw_table::DrawTable).

use crate::FormatError;
use crate::checked::memory_for;
use crate::csv_text::{number, shown_cell, text_of, without_mark};
use crate::draw_table::DrawTable;
use crate::observations::is_missing_word;
use csv::{ByteRecord, ReaderBuilder, Trim};
use indexmap::IndexMap;
use octopus_files::read_regular;
use octopus_trace::{InferenceData, Values};
use std::collections::HashSet;
use std::path::Path;

/// Reads a table with one line for each draw of each chain, in any order, as [`write_csv`](super::write_csv) writes it,
/// and ArviZ, CmdStanPy, PyStan 2 and R's posterior do: the columns `chain` and `draw`, `.chain` and `.iteration`,
/// `chain__` and `iter__`, or `chain` and `iteration` number them.
///
/// Statistics under ArviZ's names or Stan's go to `sample_stats`, all other columns to `posterior`, each a variable of its
/// own: `theta[1]` is no element of `theta`. Rows that PyStan 2 marks as warm-up go to `warmup_posterior`. Lines that
/// begin with `#` are comments. An empty cell, or a word such as `NA`, is NaN. The row numbers that pandas and R write are
/// left out; a note says of other columns what was made of them.
///
/// # Errors
/// When the file cannot be read, a line has other columns than the header, a column of numbers has a word, two columns
/// have one name, or a chain has not every draw once. The error names file, line and column.
pub fn read_csv(path: &Path) -> Result<InferenceData, FormatError> {
    let unreadable = |what: String| FormatError::Unreadable { path: path.to_owned(), what };
    let bytes = read_regular(path).map_err(FormatError::io("read", path))?;
    let table = parse(&bytes).map_err(unreadable)?;
    let mut data = InferenceData { notes: table.notes(path), ..InferenceData::default() };
    if !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") {
        data.notes.push(format!(
            "{}: its last line has no end: if the file was cut, its last number may be, too",
            path.display()
        ));
    }
    for (group, dataset) in table.groups().map_err(unreadable)? {
        data.insert(group, dataset);
    }
    Ok(data)
}

fn parse(bytes: &[u8]) -> Result<DrawTable, String> {
    // A number of one digit, with its comma, becomes eight bytes.
    memory_for(bytes.len().saturating_mul(size_of::<f64>() / 2))?;
    let text = without_mark(bytes);
    let mut reader = ReaderBuilder::new().comment(Some(b'#')).trim(Trim::All).flexible(true).from_reader(text);
    let damaged = |error: csv::Error| format!("it is no CSV table ({error})");
    let names: Vec<String> =
        reader.byte_headers().map_err(damaged)?.iter().map(|name| text_of(name).into_owned()).collect();
    let mut seen = HashSet::new();
    if let Some(name) = names.iter().find(|name| !name.is_empty() && !seen.insert(*name)) {
        return Err(format!("two of its columns have the name {name}: rename one"));
    }
    let mut columns: Vec<Option<Values>> = vec![None; names.len()];
    let (mut record, mut rows) = (ByteRecord::new(), 0);
    while reader.read_byte_record(&mut record).map_err(damaged)? {
        let in_line = |what: String| format!("line {}: {what}", record.position().map_or(0, csv::Position::line));
        if record.len() != names.len() {
            let (found, expected) = (record.len(), names.len());
            return Err(in_line(format!("it has {found} values, where the header names {expected} columns")));
        }
        for ((cell, column), name) in record.iter().zip(&mut columns).zip(&names) {
            if !push(column, cell) {
                let cell = shown_cell(cell);
                let what = format!("column {name}: `{cell}` is not of the kind of the values before it: correct it");
                return Err(in_line(what));
            }
        }
        rows += 1;
    }
    if rows == 0 {
        return Err("it has no rows, and so no draws".into());
    }
    let columns: IndexMap<_, _> =
        names.into_iter().zip(columns).filter_map(|(name, values)| Some((name, (values?, None)))).collect();
    Ok(DrawTable { columns, rows, ..DrawTable::default() })
}

/// What stands in a cell.
enum Cell {
    Whole(i64),
    /// A real number; NaN where there is none.
    Real(f64),
    Flag(bool),
    Word(String),
}

impl Cell {
    fn of(bytes: &[u8]) -> Self {
        let text = text_of(bytes);
        if text.is_empty() || is_missing_word(&text) {
            return Self::Real(f64::NAN);
        }
        if let Ok(whole) = text.parse() {
            return Self::Whole(whole);
        }
        if let Some(real) = number(bytes) {
            return Self::Real(real);
        }
        match &*text {
            "true" | "True" | "TRUE" => Self::Flag(true),
            "false" | "False" | "FALSE" => Self::Flag(false),
            _ => Self::Word(text.into_owned()),
        }
    }
}

/// Adds a cell to a column, if it is of the kind of those before it: numbers and cells without a value are all real
/// numbers where one of them is, and in a column of words all are words.
fn push(column: &mut Option<Values>, bytes: &[u8]) -> bool {
    let cell = Cell::of(bytes);
    match (column, cell) {
        (column @ None, cell) => {
            *column = Some(match cell {
                Cell::Whole(value) => Values::I64(vec![value]),
                Cell::Real(value) => Values::F64(vec![value]),
                Cell::Flag(flag) => Values::Bool(vec![flag]),
                Cell::Word(word) => Values::Strings(vec![word]),
            });
        }
        (Some(Values::Strings(words)), _) => words.push(text_of(bytes).into_owned()),
        (Some(Values::I64(values)), Cell::Whole(value)) => values.push(value),
        (Some(Values::Bool(flags)), Cell::Flag(flag)) => flags.push(flag),
        (Some(Values::F64(values)), Cell::Whole(value)) => values.push(value as f64),
        (Some(Values::F64(values)), Cell::Real(value)) => values.push(value),
        (Some(Values::F64(values)), Cell::Flag(flag)) => values.push(f64::from(u8::from(flag))),
        (Some(column @ Values::I64(_)), Cell::Real(value)) => *column = extended(column, value),
        (Some(column @ Values::Bool(_)), Cell::Real(value)) if value.is_nan() => *column = extended(column, value),
        // All before it had no value.
        (Some(column @ Values::F64(_)), Cell::Word(word)) if column.to_f64().iter().all(|value| value.is_nan()) => {
            let mut words = vec![String::new(); column.len()];
            words.push(word);
            *column = Values::Strings(words);
        }
        _ => return false,
    }
    true
}

/// Returns values as real numbers, with one more.
fn extended(values: &Values, value: f64) -> Values {
    let mut reals = values.to_f64();
    reals.push(value);
    Values::F64(reals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Labels;
    use std::fs;

    fn read(text: &str) -> InferenceData {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        fs::write(&path, text).unwrap();
        // As whoever gives it: it must be known for what it is.
        crate::read_trace(&[path]).unwrap()
    }

    fn names(data: &InferenceData, group: &str) -> Vec<String> {
        data.groups[group].variables.keys().cloned().collect()
    }

    /// Two chains of two draws, as CmdStanPy, PyStan 2, R's posterior and spreadsheets have them.
    #[test]
    fn chains_of_other_programs_are_no_parameters() {
        for (header, before) in [
            ("chain,draw", ["1,1", "1,2", "2,1", "2,2"]),
            (",chain__,iter__,draw__", ["0,1.0,1.0,1.0", "1,1.0,2.0,2.0", "2,2.0,1.0,3.0", "3,2.0,2.0,4.0"]),
            (".chain,.iteration,.draw", ["1,1,1", "1,2,2", "2,1,3", "2,2,4"]),
            ("\"\",\".chain\",\".iteration\"", ["\"1\",1,1", "\"2\",1,2", "\"3\",2,1", "\"4\",2,2"]),
            ("Unnamed: 0,iteration,chain", ["7,1,1", "7,2,1", "7,1,2", "7,2,2"]),
        ] {
            let row = |(at, before): (usize, &&str)| format!("{before},-{at}.5,{},7.0,{at},0.25\n", at % 2);
            let rows: Vec<String> = before.iter().enumerate().map(row).collect();
            // In any order.
            let rows = format!("{}{}{}{}", rows[2], rows[0], rows[3], rows[1]);
            let data = read(&format!("{header},lp__,divergent__,n_leapfrog__,mu,\"theta[1,2]\"\n{rows}"));
            assert_eq!(names(&data, "posterior"), ["mu", "theta[1,2]"], "{header}");
            let posterior = &data.groups["posterior"];
            assert_eq!(posterior.variables["mu"].shape, [2, 2], "{header}");
            assert_eq!(posterior.variables["mu"].values, Values::I64(vec![0, 1, 2, 3]), "{header}");
            assert_eq!(posterior.coords["chain"], Labels::Integers(vec![1, 2]), "{header}");
            assert_eq!(names(&data, "sample_stats"), ["lp", "diverging", "n_steps"], "{header}");
            let stats = &data.groups["sample_stats"].variables;
            assert_eq!(stats["lp"].values.to_f64(), [-0.5, -1.5, -2.5, -3.5], "{header}");
            assert_eq!(stats["diverging"].values, Values::Bool(vec![false, true, false, true]), "{header}");
            assert_eq!(stats["n_steps"].values, Values::I64(vec![7; 4]), "{header}");
            assert!(data.notes.is_empty(), "{header}: {:?}", data.notes);
        }
    }

    #[test]
    fn warm_up_of_pystan_is_no_draw() {
        let data = read("chain,draw,warmup,mu,lp__\n0,-1,1,9.5,-9\n0,0,0,0.5,-1\n0,1,0,1.5,-2\n");
        let mu = |group: &str| data.groups[group].variables["mu"].values.to_f64();
        assert_eq!((mu("posterior"), mu("warmup_posterior")), (vec![0.5, 1.5], vec![9.5]));
        assert_eq!(data.groups["warmup_sample_stats"].variables["lp"].values.to_f64(), [-9.0]);
        let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
        assert!(note.contains("a.csv: column warmup marks 1 of 3 rows"), "{note}");
        // No row is of warm-up: no note. A 2 is no flag: the column is a parameter.
        let data = read("chain,draw,warmup,mu\n0,0,0,1\n0,1,0,2\n");
        assert!(names(&data, "posterior") == ["mu"] && data.notes.is_empty(), "{data:?}");
        assert_eq!(names(&read("chain,draw,warmup,mu\n0,0,0,1\n0,1,2,2\n"), "posterior"), ["warmup", "mu"]);
    }

    #[test]
    fn cells_are_numbers_flags_or_words() {
        let data = read(
            "\u{feff}# made by hand\nchain,draw,a,b,c,d,e,f,g\r\n1,1, 1 ,1,TRUE,x,,NA,\r\n\r\n1,2,,2.5,false,7,y,True,\r\n",
        );
        let values = &data.groups["posterior"].variables;
        let shown: Vec<String> = values.iter().map(|(name, array)| format!("{name} {:?}", array.values)).collect();
        assert_eq!(
            shown,
            [
                "a F64([1.0, NaN])",
                "b F64([1.0, 2.5])",
                "c Bool([true, false])",
                "d Strings([\"x\", \"7\"])",
                "e Strings([\"\", \"y\"])",
                "f F64([NaN, 1.0])",
                "g F64([NaN, NaN])",
            ]
        );
        assert!(data.notes.len() == 2 && data.notes[0].contains("column d holds text"), "{:?}", data.notes);
        let data = read("chain,draw,n\n1,1,TRUE\n1,2,\n1,3,-1.#IND");
        assert_eq!(format!("{:?}", data.groups["posterior"].variables["n"].values), "F64([1.0, NaN, NaN])");
        let [note] = &data.notes[..] else { panic!("{:?}", data.notes) };
        assert!(note.contains("a.csv: its last line has no end"), "{note}");
    }

    #[test]
    fn damaged_tables_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.csv");
        for (text, words) in [
            ("chain,draw,mu\n", &["it has no rows"][..]),
            ("chain,draw,mu\n1,1,2\n1,2,x\u{1b}\n", &["line 3", "column mu", "`x\\u{1b}`"]),
            ("chain,draw,mu\n1,1,true\n1,2,0.5\n", &["line 3", "column mu", "`0.5`"]),
            ("# one\nchain,draw,mu\n1,1\n", &["line 3", "2 values", "3 columns"]),
            ("chain,draw,mu,mu\n1,1,2,3\n", &["two of its columns have the name mu"]),
            ("chain,draw,mu\n1,1,2\n1,1,3\n", &["2 rows for 1 chains"]),
            ("chain,draw,mu\n1.5,1,2\n", &["column chain", "whole numbers", "1.5"]),
            ("chain,draw,mu\n1,,2\n", &["column draw", "whole numbers", "NaN"]),
        ] {
            fs::write(&path, text).unwrap();
            let message = crate::read_trace(std::slice::from_ref(&path)).unwrap_err().to_string();
            assert!(message.contains("a.csv") && words.iter().all(|word| message.contains(word)), "{message}");
        }
    }

    /// R's posterior has the numbers of chains and draws behind all variables.
    #[test]
    fn chains_may_stand_behind_thousands_of_names() {
        let names: Vec<String> = (1..=9000).map(|at| format!("\"theta[{at}]\"")).collect();
        let values = vec!["0.5"; 9000].join(",");
        let text = format!("{},.chain,.iteration,.draw\n{values},1,1,1\n", names.join(","));
        assert_eq!(read(&text).groups["posterior"].variables.len(), 9000);
    }
}
