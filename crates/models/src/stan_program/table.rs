//! Columns of a table become data of a program: numbers as they are, sizes by the number of rows, labels by number.

use octopus_bind::{Data, DataNumbers, DataValue, DeclaredVariable};
use octopus_formats::observations::{ColumnValues, DataTable, LabelColumn};
use octopus_stan::{ProgramBlock, StanProgram, StanType};
use octopus_trace::Labels;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// A size of the program that is a number of labels, which then name the elements of what has this size.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LabelledSize {
    /// The `int` of the data.
    pub(super) size: String,
    /// The column of the labels.
    pub(super) column: String,
    /// The labels in the order of their numbers, from 1 on.
    pub(super) labels: Labels,
}

/// The columns whose labels one size counts.
struct Labelled<'a> {
    size: Option<String>,
    columns: Vec<(String, Cow<'a, LabelColumn>)>,
}

/// Returns the data that a table has for a program, but for those in `set`. Labels of columns that one size counts are
/// numbered together: behind those `known` of earlier data, if there are any, and all other whole numbers are numbers then.
pub(super) fn of_table(
    program: &StanProgram,
    table: &DataTable,
    source: &str,
    set: &Data,
    known: Option<&[LabelledSize]>,
) -> (Data, Vec<LabelledSize>) {
    let known_labels = |size: Option<&str>| known?.iter().find(|one| Some(one.size.as_str()) == size);
    let declared = DeclaredVariable::in_block(program, ProgramBlock::Data);
    let is_open = |data: &Data, name: &str| data.get(name).is_none() && set.get(name).is_none();
    let is_size = |name: &str| declared.iter().any(|one| one.name == name && one.ty == StanType::INT);
    let mut data = Data::new(source);
    let mut labelled: Vec<Labelled<'_>> = Vec::new();
    let mut highest: Vec<(String, i64)> = Vec::new();
    for variable in declared.iter().filter(|one| one.ty.dimensions() == 1 && set.get(&one.name).is_none()) {
        let name = &variable.name;
        let Ok(column) = table.column(name) else { continue };
        let size = variable.sizes.first().and_then(|size| size.variable.as_deref());
        if let Some(size) = size.filter(|size| is_size(size) && is_open(&data, size)) {
            data = data.with_int(size, table.rows() as i64);
        }
        let counted_by = variable.counted_by(program);
        let labels = match column {
            ColumnValues::Real(values) => {
                data = data.with_reals(name, values);
                continue;
            }
            ColumnValues::Label(labels) if variable.ty.is_int() => Cow::Borrowed(labels),
            ColumnValues::Integer(values) if known.is_some() => {
                match (known_labels(counted_by.as_deref()), table.labels(name)) {
                    (Some(_), Ok(labels)) => labels,
                    _ => {
                        data = data.with_ints(name, values);
                        continue;
                    }
                }
            }
            ColumnValues::Integer(values) => {
                let count = counted_by.as_deref().filter(|size| set.get(size).is_none());
                let numbers = count.filter(|_| variable.counts_from_one || variable.upper.is_none());
                match (numbers, numbered(values), table.labels(name)) {
                    // Other whole numbers are labels, such as postcodes.
                    (Some(_), None, Ok(labels)) => labels,
                    (size, last, _) => {
                        highest.extend(size.map(str::to_owned).zip(last));
                        data = data.with_ints(name, values);
                        continue;
                    }
                }
            }
            // The reader has refused labels where reals are declared.
            ColumnValues::Label(_) => continue,
        };
        match labelled.iter_mut().find(|group| group.size.is_some() && group.size == counted_by) {
            Some(group) => group.columns.push((name.clone(), labels)),
            None => labelled.push(Labelled { size: counted_by, columns: vec![(name.clone(), labels)] }),
        }
    }
    let mut sizes = Vec::new();
    for Labelled { size, columns } in labelled {
        let before = known_labels(size.as_deref()).map(|known| &known.labels);
        let (labels, codes) = together(&columns, before);
        for ((name, _), codes) in columns.iter().zip(codes) {
            let numbers = codes.into_iter().map(|code| i64::from(code) + 1).collect();
            data = data.with(name, DataValue { shape: vec![table.rows()], numbers: DataNumbers::Ints(numbers) });
        }
        let Some(size) = size else { continue };
        if is_open(&data, &size) {
            data = data.with_int(&size, labels.len() as i64);
        }
        let column = columns.into_iter().next().map(|(name, _)| name).unwrap_or_default();
        sizes.push(LabelledSize { size, column, labels });
    }
    for (size, last) in highest {
        if is_open(&data, &size) {
            data = data.with_int(&size, last);
        }
    }
    (data, sizes)
}

/// Returns the largest of numbers that are 1 to it, each at least once; `None` for others.
fn numbered(values: &[i64]) -> Option<i64> {
    let all: BTreeSet<i64> = values.iter().copied().collect();
    let last = all.len() as i64;
    (all.first() == Some(&1) && all.last() == Some(&last)).then_some(last)
}

/// Returns the labels of several columns behind those that are known `before`, each once in the order of their first
/// appearance, and the number of each row's in each column, from 0.
fn together(columns: &[(String, Cow<'_, LabelColumn>)], before: Option<&Labels>) -> (Labels, Vec<Vec<u32>>) {
    if let ([(_, only)], None) = (columns, before) {
        return (only.labels().clone(), vec![only.codes().to_vec()]);
    }
    let (mut all, mut numbers) = (Vec::new(), HashMap::new());
    let mut number = |label: String| {
        *numbers.entry(label).or_insert_with_key(|label| {
            all.push(label.clone());
            // Tables have fewer rows than this number can count.
            (all.len() - 1) as u32
        })
    };
    if let Some(before) = before {
        (0..before.len()).for_each(|at| {
            number(before.text(at));
        });
    }
    let codes = columns.iter().map(|(_, column)| {
        let labels = column.labels();
        let own: Vec<u32> = (0..labels.len()).map(|at| number(labels.text(at))).collect();
        column.codes().iter().map(|&code| own[code as usize]).collect()
    });
    let codes = codes.collect();
    let own = columns.iter().map(|(_, column)| column.labels());
    let are_whole = own.chain(before).all(|labels| matches!(labels, Labels::Integers(_)));
    let whole = are_whole.then(|| all.iter().map(|label| label.parse().ok()).collect::<Option<Vec<i64>>>()).flatten();
    (whole.map_or(Labels::Strings(all), Labels::Integers), codes)
}
