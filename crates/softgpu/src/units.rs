//! The units of the sampler's kernels, as a table and one template for each kind of them.
//!
//! Units of one kind differ by a few words: density, precision, shape, blocks that are meant to fit. `units.toml` in
//! `kernels/nuts` has these words, and the templates in `kernels/nuts/units` have the rest, with `@...@` where a word
//! belongs. The texts are made here for both compilers: for NVIDIA's (`cargo xtask ptx`) and for the software GPU's.

use crate::unavailable::{Unavailable, at};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// The table and the folder of templates, below the kernels' folder.
const TABLE: &str = "nuts/units.toml";
const FOLDER: &str = "nuts/units";

/// A unit of the sampler's kernels: what becomes one PTX, and one library of the software GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerUnit {
    /// The unit's name, such as `nuts_hierarchical_normal_f64_32x4`: density, precision and shape.
    pub name: String,
    /// The source in CUDA C++.
    pub text: String,
}

/// Returns all units of the sampler's kernels, in alphabetical order.
///
/// # Errors
/// When the table or a template in the workspace's folder of kernels cannot be read or is not understood.
pub fn sampler_units() -> Result<Vec<SamplerUnit>, Unavailable> {
    sampler_units_in(&crate::kernels::folder())
}

/// Returns all units as [`sampler_units`] does, of another folder of kernels.
///
/// # Errors
/// When the table or a template cannot be read or is not understood.
pub fn sampler_units_in(kernels: &Path) -> Result<Vec<SamplerUnit>, Unavailable> {
    let path = kernels.join(TABLE);
    let table: Table =
        toml::from_str(&read(&path)?).map_err(|error| Unavailable::Units { path, reason: error.to_string() })?;
    let folder = kernels.join(FOLDER);
    let mut all = written_out(&folder)?;
    for (kind, name, units) in table.kinds() {
        let path = folder.join(format!("{kind}.cu.in"));
        let template = read(&path)?;
        let wrong = |reason: String| Unavailable::Units { path: path.clone(), reason };
        for words in units {
            let text = fill(&template, &words).map_err(wrong)?;
            match all.entry(fill(name, &words).map_err(wrong)?) {
                Entry::Vacant(place) => _ = place.insert(text),
                Entry::Occupied(there) => return Err(wrong(format!("there is a file {}.cu, too", there.key()))),
            }
        }
    }
    Ok(all.into_iter().map(|(name, text)| SamplerUnit { name, text }).collect())
}

/// The units that are like no others, by name: each is a file.
fn written_out(folder: &Path) -> Result<BTreeMap<String, String>, Unavailable> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "cu")
            && let Some(name) = path.file_stem()
        {
            all.insert(name.to_string_lossy().into_owned(), read(&path)?);
        }
    }
    Ok(all)
}

/// A text with plain line ends.
fn read(path: &Path) -> Result<String, Unavailable> {
    Ok(std::fs::read_to_string(path).map_err(at(path))?.replace("\r\n", "\n"))
}

/// `units.toml`. By density, precision and shape it has the blocks of 128 threads that a multiprocessor is meant to hold.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    chains: Shapes,
    teams: Shapes,
    batches: Shapes,
    hmc: Shapes,
    programs: Shapes,
}

type Shapes = BTreeMap<String, BTreeMap<Precision, BTreeMap<Shape, u32>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Precision {
    F64,
    F32,
    Mixed,
}

impl Precision {
    /// The name, the type `R` of vectors' elements and the type `T` of what a chain has only one of.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::F64 => ("f64", "double", "double"),
            Self::F32 => ("f32", "float", "float"),
            Self::Mixed => ("mixed", "float", "double"),
        }
    }
}

/// The lanes that carry a chain and the rows of a vector, such as `32x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Shape {
    lanes: u32,
    rows: u32,
}

impl TryFrom<String> for Shape {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let numbers = text.split_once('x').and_then(|(lanes, rows)| Some((lanes.parse().ok()?, rows.parse().ok()?)));
        numbers
            .map(|(lanes, rows)| Self { lanes, rows })
            .filter(|Self { lanes, rows }| format!("{lanes}x{rows}") == text)
            .ok_or_else(|| format!("{text:?} is no shape, such as 32x4"))
    }
}

/// What one unit puts into a template: each word with the name of its places.
type Words = Vec<(&'static str, String)>;

impl Table {
    /// The kinds of units: the name of the template, the form of the units' names, and the words of each unit.
    fn kinds(self) -> [(&'static str, &'static str, Vec<Words>); 5] {
        [
            ("chains", "nuts_@density@_@precision@_@lanes@x@rows@", shaped(self.chains)),
            ("teams", "nuts_@density@_@precision@_@lanes@x@rows@_team", shaped(self.teams)),
            ("batches", "nuts_batch_@density@_@precision@_@lanes@x@rows@", shaped(self.batches)),
            ("hmc", "hmc_@density@_@precision@_@lanes@x@rows@", shaped(self.hmc)),
            ("programs", "nuts_@density@_@precision@_@lanes@x@rows@", shaped(self.programs)),
        ]
    }
}

/// The words of units of one density, precision and shape.
fn shaped(densities: Shapes) -> Vec<Words> {
    let mut all = Vec::new();
    for (density, precisions) in densities {
        for (precision, shapes) in precisions {
            for (Shape { lanes, rows }, blocks) in shapes {
                let mut words = common(&density, precision);
                let numbers = [("lanes", lanes), ("rows", rows), ("coordinates", lanes * rows), ("blocks", blocks)];
                words.extend(numbers.map(|(name, number)| (name, number.to_string())));
                all.push(words);
            }
        }
    }
    all
}

/// The words that units of all kinds have. `eight_schools` is `EightSchools` in names of C++.
fn common(density: &str, precision: Precision) -> Words {
    let capital = |word: &str| word.get(..1).map(|first| first.to_uppercase() + &word[1..]).unwrap_or_default();
    let structure = density.split('_').map(capital).collect();
    let (name, vectors, scalars) = precision.words();
    let words = [("precision", name), ("R", vectors), ("T", scalars)].map(|(name, word)| (name, word.to_owned()));
    [("density", density.to_owned()), ("Density", structure)].into_iter().chain(words).collect()
}

/// Puts the words, one after the other, into their places: `@density@` is where the word called `density` belongs.
fn fill(template: &str, words: &Words) -> Result<String, String> {
    let put = |text: String, (name, word): &(&str, String)| text.replace(&format!("@{name}@"), word);
    let text = words.iter().fold(template.to_owned(), put);
    match text.split('@').nth(1) {
        Some(name) => Err(format!("there is no word for @{name}@")),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of kernels with this table and one small template for all kinds.
    fn kernels(table: &str, template: &str) -> tempfile::TempDir {
        let kernels = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = kernels.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(TABLE, table);
        for kind in ["chains", "teams", "batches", "hmc", "programs"] {
            put(&format!("{FOLDER}/{kind}.cu.in"), template);
        }
        put(&format!("{FOLDER}/nuts_windows.cu"), "by hand\r\n");
        kernels
    }

    /// The table of one density, with these chains in f64.
    fn table(chains: &str) -> String {
        format!("teams = {{}}\nbatches = {{}}\nhmc = {{}}\nprograms = {{}}\n[chains.two_words]\nf64 = {{ {chains} }}\n")
    }

    #[test]
    fn a_word_in_the_table_is_a_unit() {
        let table = table("32x1 = 5, 128x8 = 3");
        let template = "@density@ @Density@<@R@, @T@> @precision@ @lanes@ @rows@ @coordinates@ @blocks@\r\n";
        let units = sampler_units_in(kernels(&table, template).path()).unwrap();
        let unit = |name: &str, text: &str| SamplerUnit { name: name.into(), text: text.into() };
        let expected = [
            unit("nuts_two_words_f64_128x8", "two_words TwoWords<double, double> f64 128 8 1024 3\n"),
            unit("nuts_two_words_f64_32x1", "two_words TwoWords<double, double> f64 32 1 32 5\n"),
            unit("nuts_windows", "by hand\n"),
        ];
        assert_eq!(units, expected);
    }

    #[test]
    fn what_is_wrong_in_table_or_templates_is_told() {
        let error = |table: &str, template: &str| {
            let error = sampler_units_in(kernels(table, template).path()).unwrap_err();
            assert!(!error.is_absence());
            error.to_string()
        };
        for wrong in ["32", "032x1", "32x", "x"] {
            let shape = error(&table(&format!("{wrong} = 5")), "");
            assert!(shape.contains("units.toml"), "{shape}");
            assert!(shape.contains(&format!("\"{wrong}\" is no shape, such as 32x4")), "{shape}");
        }
        let precision = error(&table("32x1 = 5").replace("f64", "f16"), "");
        assert!(precision.contains("f16"), "{precision}");
        let word = error(&table("32x1 = 5"), "@rows@ @row@");
        assert!(word.contains("chains.cu.in") && word.contains("there is no word for @row@"), "{word}");
    }

    #[test]
    fn a_unit_is_in_the_table_or_a_file_and_not_both() {
        let kernels = kernels(&table("32x1 = 5"), "");
        std::fs::write(kernels.path().join(FOLDER).join("nuts_two_words_f64_32x1.cu"), "").unwrap();
        let error = sampler_units_in(kernels.path()).unwrap_err().to_string();
        assert!(error.contains("there is a file nuts_two_words_f64_32x1.cu, too"), "{error}");
    }
}
