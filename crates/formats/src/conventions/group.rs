//! The variables of a group as files store them, to a [`Dataset`] and back.
//!
//! Which of them are labels, which are other coordinates, and in which order their axes are, is decided here.

use super::labels::{label_values, labels_of};
use super::packing::{Packing, StorageType};
use super::remarks::Remarks;
use super::time::{TimeAxis, attributes_of};
use indexmap::IndexMap;
use octopus_trace::{Array, Attribute, Dataset, Labels, Values, shown};
use std::borrow::Cow;
use std::collections::HashSet;

/// The attribute with the names of the coordinates of a variable, or of a group, that label no dimension.
const COORDINATES: &str = "coordinates";

/// Attributes that the files' own machinery has: a variable may not bring its own.
const RESERVED: [&str; 8] = [
    "_FillValue",
    "_ARRAY_DIMENSIONS",
    "_NCProperties",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "CLASS",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
];

/// A variable as a file stores it.
#[derive(Debug)]
pub(crate) struct StoredVariable {
    pub(crate) name: String,
    /// The stored values, on their axes as they are in the file.
    pub(crate) array: Array,
    pub(crate) storage: StorageType,
    pub(crate) attrs: IndexMap<String, Attribute>,
    /// What the attributes, and the metadata of the format, say of stored numbers.
    pub(crate) packing: Packing,
}

/// Makes the group `group`, which has no name at the root, of its attributes and of what is stored in it. Axes come into
/// the order of a trace, chains and draws first.
///
/// # Errors
/// When lengths contradict each other; the error is a sentence that names the variable.
pub(crate) fn read_group(
    group: &str,
    mut attrs: IndexMap<String, Attribute>,
    stored: Vec<StoredVariable>,
    remarks: &mut Remarks,
) -> Result<Dataset, String> {
    let mut others = taken(&mut attrs);
    let mut dataset = Dataset { attrs, ..Dataset::default() };
    let mut variables = Vec::new();
    for mut variable in stored {
        others.extend(taken(&mut variable.attrs));
        variables.push(variable);
    }
    for StoredVariable { name, array, storage, mut attrs, packing } in variables {
        if array.dims.len() == 1 && array.dims[0] == name {
            let labels = labels(array.values, storage, &mut attrs, &packing, || remarks.labels_as_text(group, &name));
            dataset.coords.insert(name.clone(), labels);
        } else {
            let values = packing.unpacked(array.values, storage);
            let array = Array { values, ..array }.with_draws_first();
            let place = if others.contains(&name) { &mut dataset.other_coords } else { &mut dataset.variables };
            place.insert(name.clone(), array);
        }
        if !attrs.is_empty() {
            dataset.variable_attrs.insert(name, attrs);
        }
    }
    dataset.dimensions()?;
    Ok(dataset)
}

/// Gives a group the labels of the root along its dimensions, unless it has its own. So do xarray and NetCDF's dimensions
/// of an outer group.
pub(crate) fn inherit_labels(dataset: &mut Dataset, root: &Dataset) {
    for (dim, labels) in &root.coords {
        let arrays = dataset.variables.iter().chain(&dataset.other_coords);
        let is_own = dataset.coords.contains_key(dim) || arrays.clone().any(|(name, _)| name == dim);
        let mut lengths = arrays.flat_map(|(_, array)| array.dims.iter().zip(&array.shape));
        // A dimension of the same name but another length is the group's own.
        if is_own || !lengths.any(|(own, len)| own == dim && *len == labels.len()) {
            continue;
        }
        dataset.coords.insert(dim.clone(), labels.clone());
        if let Some(attrs) = root.variable_attrs.get(dim) {
            dataset.variable_attrs.insert(dim.clone(), attrs.clone());
        }
    }
}

/// Takes the names of coordinates out of attributes.
fn taken(attrs: &mut IndexMap<String, Attribute>) -> HashSet<String> {
    match attrs.shift_remove(COORDINATES) {
        Some(Attribute::Text(names)) => names.split_whitespace().map(str::to_owned).collect(),
        Some(other) => {
            attrs.insert(COORDINATES.to_owned(), other);
            HashSet::new()
        }
        None => HashSet::new(),
    }
}

/// Returns the labels that stored values are; of integers that only text can hold, `as_text` is called.
fn labels(
    values: Values,
    storage: StorageType,
    attrs: &mut IndexMap<String, Attribute>,
    packing: &Packing,
    as_text: impl FnOnce(),
) -> Labels {
    let before = attrs.clone();
    if let Some(axis) = TimeAxis::take(attrs) {
        // What is no time is the least integer, whether the file says so or not.
        let is_time = |count: &i128| *count != i64::MIN.into();
        let labels = match packing.whole(&values, storage) {
            Some(counts) => axis.of_whole(counts.into_iter().map(|count| count.filter(is_time))),
            None => axis.of_reals(&packing.unpacked(values.clone(), storage).to_f64(), packing.keeps_single(storage)),
        };
        if let Some(labels) = labels {
            return labels;
        }
        *attrs = before;
    }
    if let Some(digits) = digits_beyond(&values, storage, packing) {
        as_text();
        return Labels::Strings(digits);
    }
    match packing.unpacked(values, storage) {
        Values::F64(values) if packing.keeps_single(storage) => {
            Labels::Singles(values.into_iter().map(|value| value as f32).collect())
        }
        values => labels_of(values),
    }
}

/// Returns whole numbers as text if one is beyond those of a trace, and none is missing.
fn digits_beyond(values: &Values, storage: StorageType, packing: &Packing) -> Option<Vec<String>> {
    let counts: Vec<i128> = packing.whole(values, storage)?.into_iter().collect::<Option<_>>()?;
    let is_beyond = counts.iter().any(|&count| i64::try_from(count).is_err());
    is_beyond.then(|| counts.iter().map(i128::to_string).collect())
}

/// A variable as it is to be stored.
#[derive(Debug)]
pub(crate) struct WrittenVariable<'a> {
    pub(crate) name: &'a str,
    pub(crate) array: Cow<'a, Array>,
    /// Whether its real numbers have single precision.
    pub(crate) single: bool,
    pub(crate) attrs: IndexMap<String, Attribute>,
}

/// Returns the attributes of a group and its variables as files store them: labels, other coordinates, then variables.
pub(crate) fn written(dataset: &Dataset) -> (IndexMap<String, Attribute>, Vec<WrittenVariable<'_>>) {
    let attrs = |name: &str| {
        let own = dataset.variable_attrs.get(name).cloned().unwrap_or_default();
        own.into_iter().filter(|(name, _)| !RESERVED.contains(&name.as_str())).collect::<IndexMap<_, _>>()
    };
    let mut variables = Vec::new();
    for (name, labels) in &dataset.coords {
        let array = Array::new([(name.as_str(), labels.len())], label_values(labels));
        let mut attrs = attrs(name);
        attrs.extend(attributes_of(labels).into_iter().map(|(name, value)| (name.to_owned(), value)));
        let single = matches!(labels, Labels::Singles(_));
        variables.push(WrittenVariable { name, array: Cow::Owned(array), single, attrs });
    }
    for (name, array) in &dataset.other_coords {
        variables.push(WrittenVariable { name, array: Cow::Borrowed(array), single: false, attrs: attrs(name) });
    }
    // Each is named by the variables that have its dimensions, and by the group if there is none.
    let mut unnamed: Vec<&str> = Vec::new();
    for name in dataset.other_coords.keys() {
        if name.contains(char::is_whitespace) {
            let name = shown(name);
            tracing::warn!("the coordinate `{name}` has a space in its name: programs will take it for a variable");
        } else {
            unnamed.push(name);
        }
    }
    let nameable = unnamed.clone();
    for (name, array) in &dataset.variables {
        let mut attrs = attrs(name);
        let fits = |other: &&&str| dataset.other_coords[**other].dims.iter().all(|dim| array.dims.contains(dim));
        let own: Vec<&str> = nameable.iter().filter(fits).copied().collect();
        if !own.is_empty() {
            unnamed.retain(|other| !own.contains(other));
            attrs.insert(COORDINATES.to_owned(), own.join(" ").into());
        }
        variables.push(WrittenVariable { name, array: Cow::Borrowed(array), single: false, attrs });
    }
    let mut group = dataset.attrs.clone();
    if !unnamed.is_empty() {
        group.insert(COORDINATES.to_owned(), unnamed.join(" ").into());
    }
    (group, variables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use octopus_trace::Calendar;

    fn stored(name: &str, axes: &[(&str, usize)], values: Values, attrs: &[(&str, &str)]) -> StoredVariable {
        let mut attrs: IndexMap<String, Attribute> =
            attrs.iter().map(|&(name, text)| (name.to_owned(), Attribute::from(text))).collect();
        let packing = Packing::take(&mut attrs).unwrap();
        let storage = match values {
            Values::F64(_) => StorageType::Real { single: false },
            Values::I64(_) => StorageType::Integer { bits: 64, signed: true },
            _ => StorageType::Other,
        };
        StoredVariable { name: name.into(), array: Array::new(axes.iter().copied(), values), storage, attrs, packing }
    }

    fn read(attrs: IndexMap<String, Attribute>, stored: Vec<StoredVariable>) -> Result<Dataset, String> {
        read_group("posterior", attrs, stored, &mut Remarks::default())
    }

    fn example() -> Vec<StoredVariable> {
        let reals = |count: usize| Values::F64((0..count).map(|at| at as f64).collect());
        vec![
            stored("theta", &[("t", 3), ("draw", 2), ("chain", 1)], reals(6), &[("coordinates", "run season gone")]),
            stored("mu", &[("draw", 2), ("chain", 1)], reals(2), &[("units", "kg"), ("coordinates", "run")]),
            stored("run", &[], Values::I64(vec![7]), &[("long_name", "number of the run")]),
            stored("season", &[("t", 3)], Values::Strings(["a", "b", "a"].map(str::to_owned).into()), &[]),
            stored("block", &[("draw", 2), ("chain", 1)], Values::I64(vec![0, 1]), &[]),
            stored("lonely", &[("other", 1)], Values::I64(vec![5]), &[]),
            stored(
                "t",
                &[("t", 3)],
                Values::I64(vec![0, i64::MIN, 30]),
                &[("units", "days since 2020-01-01"), ("calendar", "standard"), ("long_name", "day")],
            ),
            stored("draw", &[("draw", 2)], Values::I64(vec![1, 2]), &[]),
        ]
    }

    #[test]
    fn coordinates_are_no_variables_and_axes_have_names() {
        let attrs = IndexMap::from([("coordinates".to_owned(), Attribute::from("block lonely"))]);
        let data = read(attrs, example()).unwrap();
        assert!(data.attrs.is_empty());
        assert_eq!(data.variables.keys().collect::<Vec<_>>(), ["theta", "mu"]);
        assert_eq!(data.variables["theta"].dims, ["chain", "draw", "t"]);
        assert_eq!(data.variables["theta"].values, Values::F64(vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0]));
        assert_eq!(data.other_coords.keys().collect::<Vec<_>>(), ["run", "season", "block", "lonely"]);
        assert_eq!(data.other_coords["block"].dims, ["chain", "draw"]);
        assert_eq!(data.element_name("theta", 2, 2), "theta[2020-01-31]");
        assert_eq!(data.element_name("theta", 2, 1), "theta[NaT]");
        assert_eq!(data.coords["draw"], Labels::Integers(vec![1, 2]));
        assert_eq!(data.variable_attrs.keys().collect::<Vec<_>>(), ["mu", "run", "t"]);
        let Labels::Dates(dates) = &data.coords["t"] else { panic!("{:?}", data.coords) };
        assert_eq!(dates.calendar(), Calendar::ProlepticGregorian);

        let (group, variables) = written(&data);
        assert!(variables.iter().all(|variable| !variable.single));
        assert_eq!(group["coordinates"], Attribute::from("lonely"));
        let attr = |name: &str, attr: &str| {
            variables.iter().find(|variable| variable.name == name).unwrap().attrs.get(attr).cloned()
        };
        assert_eq!(attr("theta", "coordinates"), Some("run season block".into()));
        assert_eq!(attr("mu", "coordinates"), Some("run block".into()));
        assert_eq!(attr("mu", "units"), Some("kg".into()));
        assert_eq!(attr("t", "units"), Some("days since 1970-01-01".into()));
        assert_eq!(attr("t", "long_name"), Some("day".into()));

        let again = variables.iter().map(|variable| {
            let mut attrs = variable.attrs.clone();
            let packing = Packing::take(&mut attrs).unwrap();
            let axes = variable.array.dims.iter().map(String::as_str).zip(variable.array.shape.iter().copied());
            let axes: Vec<_> = axes.collect();
            let found = stored(variable.name, &axes, variable.array.values.clone(), &[]);
            StoredVariable { attrs, packing, ..found }
        });
        assert_eq!(read(group, again.collect()).unwrap(), data);
    }

    #[test]
    fn numbers_that_are_no_times_keep_what_says_so() {
        let t = stored("t", &[("t", 1)], Values::F64(vec![1e300]), &[("units", "days since 2020-01-01")]);
        let data = read(IndexMap::new(), vec![t]).unwrap();
        assert_eq!(data.coords["t"], Labels::Reals(vec![1e300]));
        assert_eq!(data.variable_attrs["t"]["units"], Attribute::from("days since 2020-01-01"));
    }
    /// The type of the file decides, not the value.
    #[test]
    fn labels_have_the_precision_of_their_file() {
        let values = || Values::F64(vec![0.1f32.into(), 1_577_836_928.0]);
        let double = stored("t", &[("t", 2)], values(), &[]);
        let single =
            StoredVariable { storage: StorageType::Real { single: true }, ..stored("s", &[("s", 2)], values(), &[]) };
        let data = read(IndexMap::new(), vec![double, single]).unwrap();
        assert_eq!([data.coords["t"].text(0), data.coords["t"].text(1)], ["0.10000000149011612", "1577836928.0"]);
        assert_eq!([data.coords["s"].text(0), data.coords["s"].text(1)], ["0.1", "1577836900.0"]);
        let (_, variables) = written(&data);
        assert_eq!(variables.iter().map(|variable| variable.single).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn labels_of_long_unsigned_integers_keep_their_digits() {
        let storage = StorageType::Integer { bits: 64, signed: false };
        let labels = |values: &[i64], attrs: &[(&str, &str)], remarks: &mut Remarks| {
            let values = Values::I64(values.to_vec());
            let k = StoredVariable { storage, ..stored("k", &[("k", values.len())], values, attrs) };
            let mut data = read_group("posterior", IndexMap::new(), vec![k], remarks).unwrap();
            data.coords.shift_remove("k").unwrap()
        };
        let mut remarks = Remarks::default();
        let digits = ["0", "18446744073709551615", "3"].map(str::to_owned).to_vec();
        assert_eq!(labels(&[0, -1, 3], &[], &mut remarks), Labels::Strings(digits));
        let notes = remarks.into_notes("a.nc".as_ref());
        assert!(notes.len() == 1 && notes[0].ends_with("the labels posterior/k"), "{notes:?}");
        let mut remarks = Remarks::default();
        assert_eq!(labels(&[3, 5], &[], &mut remarks), Labels::Integers(vec![3, 5]));
        // One of them marks what is missing.
        let marked = labels(&[0, -1], &[("_FillValue", "18446744073709551615")], &mut remarks);
        assert_eq!(marked, Labels::Reals(vec![0.0, f64::NAN]));
        assert_eq!(remarks.into_notes("a.nc".as_ref()), Vec::<String>::new());
    }

    #[test]
    fn groups_inherit_the_labels_of_the_root_along_their_dimensions() {
        let words = |words: &[&str]| Values::Strings(words.iter().map(|&word| word.to_owned()).collect());
        let root = vec![
            stored("i", &[("i", 2)], words(&["p", "q"]), &[("long_name", "place")]),
            stored("own", &[("own", 2)], words(&["a", "b"]), &[]),
            stored("other", &[("other", 3)], words(&["a", "b", "c"]), &[]),
            stored("absent", &[("absent", 2)], words(&["a", "b"]), &[]),
            stored("v", &[("v", 2)], words(&["a", "b"]), &[]),
        ];
        let group = vec![
            stored("t", &[("i", 2), ("own", 2), ("other", 2)], Values::F64(vec![0.0; 8]), &[]),
            stored("own", &[("own", 2)], words(&["c", "d"]), &[]),
            stored("v", &[("i", 2), ("v", 2)], Values::F64(vec![0.0; 4]), &[]),
        ];
        let root = read(IndexMap::new(), root).unwrap();
        let mut data = read(IndexMap::new(), group).unwrap();
        inherit_labels(&mut data, &root);
        assert_eq!(data.coords.keys().collect::<Vec<_>>(), ["own", "i"]);
        assert_eq!(data.element_name("t", 0, 7), "t[q, d, 1]");
        assert_eq!(data.variable_attrs["i"]["long_name"], Attribute::from("place"));
    }
}
