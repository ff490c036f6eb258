//! New data of a sampled program: rows and groups that it predicts.

use super::binding::{of_binding, of_set, of_table_alone, shown};
use super::problem::{OBSERVATION, constant_data};
use super::table::{LabelledSize, of_table};
use super::{StanModel, StanProblem, StanSettings};
use crate::{BuildError, FileData, Model, ObservedVariable, Predictor, TableFile};
use octopus_bind::{BoundModel, Data, DataNumbers, DeclaredVariable, NewData};
use octopus_density::{Dim, Labels};
use octopus_random::Stream;
use octopus_stan::{ProgramBlock, StanProgram};
use octopus_trace::Dataset;
use std::path::Path;
use toml::Table;

/// A sampled program with new data.
pub(super) struct ProgramPredictor<'a> {
    problem: &'a StanProblem,
    new: NewData,
    data: Data,
    news: Vec<String>,
}

impl<'a> ProgramPredictor<'a> {
    /// Joins a sampled program with the data in a file and in `set`. What neither has is as it was.
    pub(super) fn new(problem: &'a StanProblem, file: Option<&Path>, set: &Table) -> Result<Self, BuildError> {
        let (program, before, labelled) = (&problem.program, problem.values(), &problem.labelled[..]);
        let set = of_set(set)?;
        let (given, labels) = match file {
            None => (Data::new("--set"), Vec::new()),
            Some(path) => read(problem, path, &set)?,
        };
        let declared = DeclaredVariable::in_block(program, ProgramBlock::Data);
        let mut counted: Vec<String> = declared.iter().filter_map(|one| one.counted_by(program)).collect();
        counted.extend(labelled.iter().map(|one| one.size.clone()));
        let mut data = before.clone().overlaid(given.clone()).overlaid(set.clone());
        for (size, last) in counts(program, &declared, &data) {
            if given.get(&size).is_none() && set.get(&size).is_none() {
                data = data.with_int(&size, last);
            }
        }
        let bound = BoundModel::new(program, before).map_err(|error| of_binding(&error))?;
        let new = NewData::new(program, &bound, &data, &counted).map_err(|error| of_binding(&error))?;
        let mut news = new_labels(labelled, &labels);
        news.extend(new.grown().map(|(name, new, all)| match new == all {
            true => format!("{name}: all {all} elements are new, and drawn from its distribution"),
            false => format!("{name}: {new} of {all} elements are new, and drawn from its distribution"),
        }));
        Ok(Self { problem, new, data, news })
    }
}

/// Reads the data in a file; labels have the numbers that they had.
fn read(problem: &StanProblem, path: &Path, set: &Data) -> Result<(Data, Vec<LabelledSize>), BuildError> {
    let program = &problem.program;
    let sampled = TableFile::in_settings(&problem.settings).filter(|file| !Data::is_file_name(&file.path));
    let file = TableFile { path: path.to_owned(), only: None, ..sampled.unwrap_or_else(|| TableFile::at(path)) };
    if Data::is_file_name(path) {
        of_table_alone(&TableFile::at(path))?;
        let data = Data::read(shown(path)).map_err(|error| BuildError::ProgramData(error.to_string()))?;
        return Ok((data, Vec::new()));
    }
    // What is drawn need not be there.
    let settings =
        StanSettings { data: Some(FileData { file: file.clone() }), ..StanSettings::read(&problem.settings)? };
    let mut columns = StanModel.columns(&crate::settings::write(&settings)?)?;
    let observed = problem.observed_names();
    columns.retain(|column| !observed.contains(&&*column.name) && set.get(&column.name).is_none());
    let named = |name: &String| columns.iter().any(|column| column.name == *name);
    let file = TableFile { columns: file.columns.into_iter().filter(|(name, _)| named(name)).collect(), ..file };
    let table = file.read(&columns)?;
    Ok(of_table(program, &table, &shown(path).display().to_string(), set, Some(&problem.labelled)))
}

/// The sizes that count numbers in the data, each with the largest: what it was, or more.
fn counts(program: &StanProgram, declared: &[DeclaredVariable], data: &Data) -> Vec<(String, i64)> {
    let mut counts: Vec<(String, i64)> = Vec::new();
    for one in declared {
        let (Some(size), Some(value)) = (one.counted_by(program), data.get(&one.name)) else { continue };
        let DataNumbers::Ints(values) = &value.numbers else { continue };
        let before = match data.get(&size).map(|value| &value.numbers) {
            Some(DataNumbers::Ints(values)) => values.first().copied(),
            _ => None,
        };
        let last = values.iter().copied().chain(before).max().unwrap_or(0);
        match counts.iter_mut().find(|(name, _)| *name == size) {
            Some((_, most)) => *most = last.max(*most),
            None => counts.push((size, last)),
        }
    }
    counts
}

/// The labels that were not there when the program was sampled.
fn new_labels(before: &[LabelledSize], now: &[LabelledSize]) -> Vec<String> {
    let of = |one: &LabelledSize| {
        let known = before.iter().find(|known| known.size == one.size).map_or(0, |known| known.labels.len());
        let new: Vec<String> = (known..one.labels.len()).map(|at| one.labels.text(at)).collect();
        (!new.is_empty()).then(|| format!("new in {}: {}", one.column, new.join(", ")))
    };
    now.iter().filter_map(of).collect()
}

impl Predictor for ProgramPredictor<'_> {
    fn variables(&self) -> Vec<ObservedVariable> {
        let all: Vec<(&str, usize)> =
            self.new.outcomes().map(|(name, dims)| (name, dims.iter().product::<usize>())).collect();
        let one = |&(name, count): &(&str, usize)| {
            let axis = if all.len() == 1 { OBSERVATION.to_owned() } else { format!("{name}_{OBSERVATION}") };
            let numbers = Dim { name: axis, labels: Labels::Integers((1..=count as i64).collect()) };
            ObservedVariable { name: name.to_owned(), numbers: numbers.clone(), terms: numbers }
        };
        all.iter().map(one).collect()
    }

    fn constant_data(&self) -> Dataset {
        let drawn: Vec<&str> = self.new.outcomes().map(|(name, _)| name).collect();
        constant_data(&self.data, |name| !drawn.contains(&name))
    }

    fn news(&self) -> Vec<String> {
        self.news.clone()
    }

    fn predict(&self, position: &[f64], random: &mut Stream) -> Result<Vec<f64>, String> {
        self.new.draw(self.problem.stan_density(), position, random)
    }
}
