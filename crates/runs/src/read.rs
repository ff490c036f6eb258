//! Reads a run folder: finished, interrupted, or still growing.
//!
//! A part that is missing or damaged is reported here, with what to do.

use crate::RunError;
use crate::columns::{CHAIN, DRAW, UNCONSTRAINED};
use crate::draws::Draws;
use crate::writer::{crc32, read_checkpoint};
use crate::{PartRecord, RunRecord, RunStatus, folder};
use indexmap::IndexMap;
use octopus_files::read_regular;
use octopus_formats::{FormatError, decode_columns};
use octopus_sampler::{Phase, ReadStatistic};
use octopus_trace::{InferenceData, Values};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The columns of a part: values, and how many each row has where it is a list.
type PartColumns = IndexMap<String, (Values, Option<usize>)>;

/// A run folder, open for reading.
#[derive(Clone, Debug)]
pub struct RunFolder {
    dir: PathBuf,
    record: RunRecord,
}

impl RunFolder {
    /// Opens the run in `dir`.
    ///
    /// # Errors
    /// When `dir` holds no run or its `run.toml` is damaged.
    pub fn open(dir: &Path) -> Result<Self, RunError> {
        Ok(Self { dir: dir.to_owned(), record: folder::read_record(dir)? })
    }

    /// Returns whether `dir` looks like a run folder, without reading it.
    pub fn is_run(dir: &Path) -> bool {
        folder::is_run(dir)
    }

    /// Returns the run's record, as it was when the folder was opened.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Returns all draws written so far: the groups `posterior`, `unconstrained_posterior` and `sample_stats`, and
    /// `warmup_posterior`, `warmup_unconstrained_posterior` and `warmup_sample_stats` where warm-up is kept. Arrays are
    /// `chain x draw x` the variable's own dimensions.
    ///
    /// # Errors
    /// When no draw is there yet, or a part is missing, damaged or does not fit the others.
    pub fn read(&self) -> Result<InferenceData, RunError> {
        self.read_phases(&[Phase::Sampling, Phase::Warmup], true)
    }

    /// Returns the groups `posterior` and `sample_stats` of [`read`](Self::read), which are all that a diagnosis takes.
    ///
    /// # Errors
    /// As [`read`](Self::read); draws of warm-up are none.
    pub fn read_posterior(&self) -> Result<InferenceData, RunError> {
        self.read_phases(&[Phase::Sampling], false)
    }

    fn read_phases(&self, phases: &[Phase], positions: bool) -> Result<InferenceData, RunError> {
        let mut data = InferenceData::default();
        for &phase in phases {
            if let Some(draws) = self.read_phase(phase, positions)? {
                draws.add_groups(&self.record, phase, &mut data);
            }
        }
        if !positions {
            data.groups.shift_remove("unconstrained_posterior");
        }
        if data.groups.is_empty() {
            return Err(RunError::NoDraws { path: self.dir.clone() });
        }
        Ok(data)
    }

    /// Returns the draws of one phase in chain-major order, with the positions if they are wanted; `None` where there are
    /// none.
    fn read_phase(&self, phase: Phase, positions: bool) -> Result<Option<Draws>, RunError> {
        let parts = self.parts(phase)?;
        let table = |(path, part): &(PathBuf, Option<PartRecord>)| {
            let bytes = match part {
                Some(part) => verified_bytes(&self.dir, part, self.fix(true))?,
                None => read_regular(path).map_err(RunError::io("read", path))?,
            };
            let damaged = |what: String| self.damaged(path, part.is_some(), what);
            let is_wanted = |name: &str| positions || name != UNCONSTRAINED;
            octopus_files::decode(|| decode_columns(bytes.into(), is_wanted).map_err(damaged), damaged)
        };
        // The first part that is wrong is named, whichever thread is the first to find one.
        let tables: Vec<Result<PartColumns, RunError>> = parts.par_iter().map(table).collect();
        let tables = tables.into_iter().collect::<Result<Vec<_>, _>>()?;
        assemble(self, phase, &parts.iter().map(|(path, _)| path).zip(tables).collect::<Vec<_>>())
    }

    /// Returns advice for a part that is missing or damaged.
    fn fix(&self, listed: bool) -> &'static str {
        match (self.record.status, listed) {
            (RunStatus::Complete, _) | (_, true) => "restore the file from a copy, or make the run again with --force",
            _ => "it is later than the last checkpoint: `octopus resume` on this folder draws it again",
        }
    }

    /// Returns the parts of a phase in order, with what is known of each: those that `run.toml` or the checkpoint
    /// lists, then those that a running or killed writer has added since.
    fn parts(&self, phase: Phase) -> Result<Vec<(PathBuf, Option<PartRecord>)>, RunError> {
        let prefix = folder::phase_folder(phase);
        let mut listed = self.record.parts.clone();
        if listed.is_empty() {
            // A damaged checkpoint stops `resume`, not the reading of what was drawn.
            listed = read_checkpoint(&self.dir).ok().flatten().map(|(manifest, _)| manifest.parts).unwrap_or_default();
        }
        let closed = !self.record.parts.is_empty();
        listed.retain(|part| part.file.starts_with(prefix));
        let mut parts: Vec<_> = listed.into_iter().map(|part| (self.dir.join(&part.file), Some(part))).collect();
        if !closed {
            let listed = parts.len();
            for number in folder::part_numbers(&self.dir, phase)?.into_iter().filter(|&number| number >= listed) {
                let expected = self.dir.join(folder::part_file(phase, parts.len()));
                if number != parts.len() {
                    return Err(RunError::MissingPart { path: expected, fix: self.fix(false).to_owned() });
                }
                parts.push((expected, None));
            }
        }
        Ok(parts)
    }

    fn damaged(&self, path: &Path, listed: bool, what: impl ToString) -> RunError {
        RunError::DamagedPart { path: path.to_owned(), what: what.to_string(), fix: self.fix(listed).to_owned() }
    }
}

/// Returns the bytes of a listed part, if they are those that were written.
pub(crate) fn verified_bytes(dir: &Path, part: &PartRecord, fix: &str) -> Result<Vec<u8>, RunError> {
    let path = dir.join(&part.file);
    let bytes = match read_regular(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(RunError::MissingPart { path, fix: fix.to_owned() });
        }
        Err(error) => return Err(RunError::io("read", &path)(error)),
    };
    if crc32(&bytes) != part.crc32 {
        let what = "its checksum is not that of the file that was written (cut short or changed)".to_owned();
        return Err(RunError::DamagedPart { path, what, fix: fix.to_owned() });
    }
    Ok(bytes)
}

/// Puts each row where its chain and draw belong. Every place must be filled exactly once.
fn assemble(run: &RunFolder, phase: Phase, tables: &[(&PathBuf, PartColumns)]) -> Result<Option<Draws>, RunError> {
    if tables.is_empty() {
        return Ok(None);
    }
    let chains = run.record.sampler.chains;
    let (sources, draws) = sources(run, phase, tables, chains)?;
    let gather = Gather { run, tables, sources: &sources };
    let mut variables = Vec::new();
    for variable in &run.record.layout.variables {
        let width = if variable.dims.is_empty() { None } else { Some(variable.len()) };
        variables.push(if width == Some(0) { Vec::new() } else { gather.reals(&variable.name, width)? });
    }
    let dim = tables[0].1.get(UNCONSTRAINED).and_then(|(_, width)| *width).unwrap_or(0);
    let positions = if dim > 0 { gather.reals(UNCONSTRAINED, Some(dim))? } else { Vec::new() };
    let stats = run.record.sampler.algorithm.statistics();
    let stats = stats.map(|(name, read)| Ok((name, gather.stat(name, read)?))).collect::<Result<_, RunError>>()?;
    Ok(Some(Draws { chains, draws, variables, positions, dim, stats }))
}

/// Where a draw is: the table, and the row in it.
type Source = (usize, usize);

/// Returns where each draw is, chain after chain, and the number of draws of each chain.
fn sources(
    run: &RunFolder,
    phase: Phase,
    tables: &[(&PathBuf, PartColumns)],
    chains: usize,
) -> Result<(Vec<Source>, usize), RunError> {
    let integers = |path: &Path, table: &PartColumns, name: &str| match table.get(name) {
        Some((Values::I64(values), None)) => Ok(values.clone()),
        _ => Err(run.damaged(path, true, no_column(name))),
    };
    let mut rows = Vec::with_capacity(tables.len());
    let mut counts = vec![0usize; chains];
    for (path, table) in tables {
        let (chain, draw) = (integers(path, table, CHAIN)?, integers(path, table, DRAW)?);
        for &chain in &chain {
            match usize::try_from(chain).ok().and_then(|chain| counts.get_mut(chain)) {
                Some(count) => *count += 1,
                None => return Err(run.damaged(path, true, format!("it has a chain {chain} of {chains}"))),
            }
        }
        rows.push((*path, chain, draw));
    }
    if counts.iter().any(|&count| count != counts[0]) {
        let path = run.dir.join(folder::phase_folder(phase));
        return Err(FormatError::UnequalChains { path, counts, fix: run.fix(true).to_owned() }.into());
    }
    let draws = counts.first().copied().unwrap_or(0);
    const NONE: Source = (usize::MAX, usize::MAX);
    let mut sources = vec![NONE; chains * draws];
    for (table, (path, chain, draw)) in rows.into_iter().enumerate() {
        for (row, (&chain, &draw)) in chain.iter().zip(&draw).enumerate() {
            let place = usize::try_from(draw).ok().filter(|&at| at < draws).map(|at| chain as usize * draws + at);
            match place {
                Some(place) if sources[place] == NONE => sources[place] = (table, row),
                _ => {
                    let what = format!("draw {draw} of chain {chain} is out of order or there twice");
                    return Err(run.damaged(path, true, what));
                }
            }
        }
    }
    Ok((sources, draws))
}

fn no_column(name: &str) -> String {
    format!("its column `{name}` is absent or has another type than the run's")
}

/// Gathers one column of all tables in chain-major order.
struct Gather<'a> {
    run: &'a RunFolder,
    tables: &'a [(&'a PathBuf, PartColumns)],
    sources: &'a [Source],
}

impl Gather<'_> {
    /// Gathers the values of each row; `read` gives those of a column of the right type. `width` is the length of its
    /// lists, `None` of plain values.
    fn gather<T: Copy + Default + Send + Sync>(
        &self,
        name: &str,
        width: Option<usize>,
        read: impl Fn(&Values) -> Option<&[T]>,
    ) -> Result<Vec<T>, RunError> {
        /// Rows that a thread takes together.
        const ROWS: usize = 4096;
        let each = width.unwrap_or(1);
        let mut columns = Vec::with_capacity(self.tables.len());
        for (path, table) in self.tables {
            let rows = table.get(CHAIN).map_or(0, |(chains, _)| chains.len());
            let column = table.get(name).filter(|(_, found)| *found == width);
            let values = column.and_then(|(values, _)| read(values)).filter(|values| values.len() == rows * each);
            columns.push(values.ok_or_else(|| self.run.damaged(path, true, no_column(name)))?);
        }
        let mut out = vec![T::default(); self.sources.len() * each];
        out.par_chunks_mut(ROWS * each).zip(self.sources.par_chunks(ROWS)).for_each(|(out, sources)| {
            for (out, &(table, row)) in out.chunks_exact_mut(each).zip(sources) {
                out.copy_from_slice(&columns[table][row * each..][..each]);
            }
        });
        Ok(out)
    }

    /// Returns a column of numbers, or of lists of `width` numbers.
    fn reals(&self, name: &str, width: Option<usize>) -> Result<Vec<f64>, RunError> {
        self.gather(name, width, |values| if let Values::F64(values) = values { Some(&values[..]) } else { None })
    }

    fn stat(&self, name: &str, read: ReadStatistic) -> Result<Values, RunError> {
        Ok(match read {
            ReadStatistic::Real(_) => Values::F64(self.reals(name, None)?),
            ReadStatistic::Count(_) => Values::I64(self.gather(name, None, |values| match values {
                Values::I64(values) => Some(&values[..]),
                _ => None,
            })?),
            ReadStatistic::Flag(_) => Values::Bool(self.gather(name, None, |values| match values {
                Values::Bool(values) => Some(&values[..]),
                _ => None,
            })?),
        })
    }
}
