//! May a command write to the paths that are given? One check of all its outputs, made before an input is read and
//! before anything is drawn, emptied or made.
//!
//! Which inputs and outputs each command has is in `outputs/places.rs`. Files are compared by what they are, so that
//! symlinks, hard links, `..` and relative paths hide nothing.

mod places;
mod signs;

use crate::exit::UsageError;
use anyhow::Result;
use octopus_files::Destination;
use octopus_formats::TraceFormat;
use octopus_runs::{CreateOptions, RunFolder, RunWriter};
use std::fs;
use std::path::{Component, Path, PathBuf};

pub(crate) use places::outputs_of;
use signs::Sign;

/// The inputs and outputs of a command.
#[derive(Default)]
pub(crate) struct Outputs {
    inputs: Vec<NamedPath>,
    /// Inputs that are folders of files, which together are one table.
    tables: Vec<NamedPath>,
    outputs: Vec<Output>,
    /// The first path that cannot be told a place.
    failed: Option<anyhow::Error>,
}

/// A path on the command line, or one that a file on the command line names.
#[derive(Debug)]
struct NamedPath {
    /// Who names it, e.g. `--data`.
    named_by: String,
    given: PathBuf,
    /// Where it is: absolute, without symlinks.
    at: PathBuf,
    /// The file's own number, which hard links share.
    number: Option<(u64, u64)>,
    /// A device or a FIFO, which nothing replaces.
    is_stream: bool,
}

struct Output {
    place: NamedPath,
    kind: OutputKind,
}

/// What is written to a place.
#[derive(Clone, Copy)]
pub(crate) enum OutputKind {
    /// A file that takes the place of an earlier one of its kind, by this sign, and of no other.
    Result(Sign),
    /// A file that is replaced with --force. Without it, who writes it refuses what is there.
    Forced,
    /// A trace in a format, which may be a folder; with --force.
    Trace(&'static dyn TraceFormat, bool),
    /// A run folder; with --force.
    Run(bool),
    /// A folder of several files of the command; the function tells those by their paths in it.
    Folder(fn(&Path) -> bool),
    /// Such a folder whose files of the command are replaced; the second function tells whether they are the command's,
    /// as they are nobody else's in a folder that it has written to.
    Owned(fn(&Path) -> bool, fn(&Path) -> bool),
    /// Such a folder that may lie below a run folder or a folder that is read: pictures and comparisons.
    Pictures(fn(&Path) -> bool),
    /// A file in a folder of pictures that takes the place of an earlier one, by this sign.
    BesidePictures(Sign),
}

/// What is in a run folder itself.
const OF_A_RUN: [&str; 5] = ["run.toml", "draws", "warmup", "state", ".lock"];

impl NamedPath {
    fn of(named_by: &str, given: &Path) -> Result<Self> {
        let destination = Destination::of(given).map_err(|error| UsageError(format!("{named_by}: {error}")))?;
        let at = whole(destination.path());
        let is_stream = matches!(destination, Destination::Stream(_));
        Ok(Self { named_by: named_by.to_owned(), given: given.to_owned(), number: number(&at), at, is_stream })
    }

    fn is(&self, other: &Self) -> bool {
        self.at == other.at || self.number.is_some() && self.number == other.number
    }

    /// Refuses this output.
    fn refuse(&self, why: impl std::fmt::Display) -> anyhow::Error {
        UsageError(format!("{} {}: {why}", self.named_by, self.given.display())).into()
    }
}

/// Returns a path without symlinks and `..`, of which only a beginning need be there.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, mut real)) = found else { return path };
    for part in path.strip_prefix(above).unwrap_or(Path::new("")).components() {
        match part {
            Component::ParentDir => _ = real.pop(),
            part => real.push(part),
        }
    }
    real
}

#[cfg(unix)]
fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn number(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether a file has more than one name (hard links).
#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|there| there.is_file() && there.nlink() > 1)
}

#[cfg(not(unix))]
fn has_other_names(_: &Path) -> bool {
    false
}

/// Whether the file of this number has a name in a folder or below it.
fn holds(folder: &Path, wanted: Option<(u64, u64)>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => holds(&entry.path(), wanted),
        Ok(kind) if kind.is_file() => number(&entry.path()) == wanted,
        _ => false,
    })
}

/// Returns the first file or folder right in `folder`, by its name, that a command owns.
fn first_that(folder: &Path, owns: fn(&Path) -> bool) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|entry| PathBuf::from(entry.file_name())).filter(|name| owns(name)).min()
}

impl Outputs {
    /// Adds a file or folder that is read.
    pub(crate) fn input(&mut self, named_by: &str, path: &Path) {
        // Who reads it says what is wrong with it.
        self.inputs.extend(NamedPath::of(named_by, path));
    }

    /// Adds a table that is read, which may be a folder of files.
    pub(crate) fn table(&mut self, named_by: &str, path: &Path) {
        self.input(named_by, path);
        self.tables.extend(NamedPath::of(named_by, path).into_iter().filter(|place| place.at.is_dir()));
    }

    /// Adds what is written.
    pub(crate) fn output(&mut self, option: &str, path: &Path, kind: OutputKind) {
        match NamedPath::of(option, path) {
            Ok(place) => self.outputs.push(Output { place, kind }),
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }

    /// Asks whether each output may be written.
    ///
    /// # Errors
    /// When it is an input or another output, lies in a run folder, or would replace what is not to be replaced.
    pub(crate) fn check(self) -> Result<()> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        for (number, output) in self.outputs.iter().enumerate() {
            // What flows into a device replaces nothing.
            if output.place.is_stream && matches!(output.kind, OutputKind::Result(_) | OutputKind::Trace(..)) {
                continue;
            }
            output.is_in_no_table(&self.tables)?;
            output.is_no_input(&self.inputs)?;
            output.is_in_no_run()?;
            for other in &self.outputs[..number] {
                output.is_apart_from(other)?;
            }
            output.may_replace()?;
        }
        Ok(())
    }
}

impl Output {
    fn is_no_input(&self, inputs: &[NamedPath]) -> Result<()> {
        let place = &self.place;
        for input in inputs.iter().filter(|input| !input.is_stream) {
            if place.is(input) {
                // Pictures may lie beside the files that they are of, but not under their names.
                if matches!(self.kind, OutputKind::Pictures(_)) && input.at.is_dir() {
                    continue;
                }
                return Err(place.refuse(format!("{} reads this; name another", input.named_by)));
            }
            if has_other_names(&place.at) && holds(&input.at, place.number) {
                let (by, folder) = (&input.named_by, input.given.display());
                return Err(place.refuse(format!("it is a file in {folder}, which {by} reads; name another")));
            }
            if place.at.starts_with(&input.at) && self.spoils(&input.at) {
                let (by, folder) = (&input.named_by, input.given.display());
                return Err(place.refuse(format!("it lies in {folder}, which {by} reads; name a place outside")));
            }
            if let Ok(inside) = input.at.strip_prefix(&place.at)
                && self.takes(inside)
            {
                let (by, given) = (&input.named_by, input.given.display());
                return Err(place.refuse(format!("{by} reads {given} in it, which would be replaced; name another")));
            }
        }
        Ok(())
    }

    /// Refuses a place in a folder of which every file is read, now or when somebody reads it again.
    fn is_in_no_table(&self, tables: &[NamedPath]) -> Result<()> {
        let Some(table) = tables.iter().find(|table| self.place.at.starts_with(&table.at)) else { return Ok(()) };
        let (by, folder) = (&table.named_by, table.given.display());
        Err(self.place.refuse(format!("it lies in {folder}, the table that {by} reads; name a place outside")))
    }

    /// Whether this output would change what is read in a folder around it.
    fn spoils(&self, folder: &Path) -> bool {
        let there = self.place.at.exists();
        match self.kind {
            OutputKind::Pictures(_)
            | OutputKind::BesidePictures(_)
            | OutputKind::Folder(_)
            | OutputKind::Owned(..)
            | OutputKind::Run(_) => false,
            // A file of a folder of data sets is a data set.
            OutputKind::Result(sign) => !(there && sign.is_on(&self.place.at)) && (there || !RunFolder::is_run(folder)),
            OutputKind::Forced | OutputKind::Trace(..) => there,
        }
    }

    /// Whether this output writes, replaces or removes what lies in it at this path.
    fn takes(&self, inside: &Path) -> bool {
        match self.kind {
            OutputKind::Result(_) | OutputKind::BesidePictures(_) | OutputKind::Forced => false,
            OutputKind::Trace(..) | OutputKind::Run(_) => true,
            OutputKind::Folder(owns) | OutputKind::Pictures(owns) | OutputKind::Owned(owns, _) => owns(inside),
        }
    }

    /// Refuses a place in a run folder: there, only the run itself writes, and pictures in folders of their own.
    fn is_in_no_run(&self) -> Result<()> {
        let is_own = matches!(self.kind, OutputKind::Run(_));
        for folder in self.place.at.ancestors().skip(usize::from(is_own)).filter(|folder| RunFolder::is_run(folder)) {
            let first = self.place.at.strip_prefix(folder).ok().and_then(|inside| inside.components().next());
            let is_free = first.is_some_and(|first| !OF_A_RUN.iter().any(|name| first.as_os_str() == *name));
            if matches!(self.kind, OutputKind::Pictures(_) | OutputKind::BesidePictures(_)) && is_free {
                continue;
            }
            let more = match self.kind {
                OutputKind::Pictures(_) => "a folder in it, such as its `plots`, or one beside it",
                _ => "a place beside it",
            };
            let run = folder.display();
            return Err(self.place.refuse(format!("{run} is a run folder, which its run alone writes; name {more}")));
        }
        Ok(())
    }

    fn is_apart_from(&self, other: &Self) -> Result<()> {
        let (place, by) = (&self.place, &other.place.named_by);
        if !place.is_stream && place.is(&other.place) {
            return Err(place.refuse(format!("{by} writes there too; name another")));
        }
        let inside =
            |one: &Self, folder: &Self| one.place.at.strip_prefix(&folder.place.at).is_ok_and(|at| folder.takes(at));
        if inside(self, other) || inside(other, self) {
            return Err(place.refuse(format!("it is where {by} writes files of its own; name another")));
        }
        let below = |one: &Self, file: &Self| file.is_a_file() && one.place.at.starts_with(&file.place.at);
        if below(self, other) || below(other, self) {
            return Err(place.refuse(format!("this and {by} would make one path a file and a folder; name another")));
        }
        Ok(())
    }

    /// Whether this output is a file whatever is written to it.
    fn is_a_file(&self) -> bool {
        matches!(self.kind, OutputKind::Result(_) | OutputKind::BesidePictures(_) | OutputKind::Forced)
    }

    /// Refuses to replace what is not to be replaced.
    fn may_replace(&self) -> Result<()> {
        let place = &self.place;
        match self.kind {
            OutputKind::Run(force) => {
                return Ok(RunWriter::may_create(&place.given, CreateOptions { force, ..CreateOptions::default() })?);
            }
            OutputKind::Trace(format, force) => return Ok(format.may_write(&place.at, force)?),
            OutputKind::Folder(_) | OutputKind::Pictures(_) | OutputKind::Owned(..)
                if place.at.exists() && !place.at.is_dir() =>
            {
                return Err(place.refuse("it is a file; name a folder"));
            }
            OutputKind::Owned(owns, is_ours) => {
                let Some(file) = first_that(&place.at, owns).filter(|_| !is_ours(&place.at)) else { return Ok(()) };
                let why =
                    format!("{} in it would be replaced, and is none of octopus'; name another folder", file.display());
                return Err(place.refuse(why));
            }
            OutputKind::Folder(_) | OutputKind::Pictures(_) => return Ok(()),
            OutputKind::Result(_) | OutputKind::BesidePictures(_) | OutputKind::Forced => {}
        }
        if place.at.is_dir() {
            return Err(place.refuse("it is a folder; name a file"));
        }
        if place.is_stream {
            return Err(place.refuse("it is no regular file; name another"));
        }
        match self.kind {
            OutputKind::Result(sign) | OutputKind::BesidePictures(sign)
                if place.at.exists() && !sign.is_on(&place.at) =>
            {
                Err(place
                    .refuse(format!("there is a file, and it is no earlier {sign}; name another, or move it away")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refused(inputs: &[&Path], outputs: &[(&Path, OutputKind)]) -> Option<String> {
        let mut asked = Outputs::default();
        inputs.iter().for_each(|path| asked.input("--in", path));
        outputs.iter().for_each(|(path, kind)| asked.output("--to", path, *kind));
        asked.check().err().map(|error| format!("{error:#}"))
    }

    #[test]
    fn files_are_what_they_are_whatever_they_are_called() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("below/deep")).unwrap();
        fs::write(at("data"), "x").unwrap();
        fs::hard_link(at("data"), at("hard")).unwrap();
        symlink(at("data"), at("soft")).unwrap();
        symlink(at("below"), at("folder")).unwrap();
        let data = at("data");
        for name in ["data", "hard", "soft", "below/../data", "folder/../data", "./data"] {
            let why = refused(&[&data], &[(&at(name), OutputKind::Forced)]);
            assert!(why.as_ref().is_some_and(|why| why.contains("--in reads this")), "{name}: {why:?}");
        }
        assert_eq!(refused(&[&data], &[(&at("other"), OutputKind::Forced)]), None);
        // Two outputs may be one file before it is there.
        let pairs = [("new", "new"), ("below/new", "folder/new"), ("none/../new", "new"), ("soft", "hard")];
        for (one, other) in pairs {
            let why = refused(&[], &[(&at(one), OutputKind::Forced), (&at(other), OutputKind::Forced)]).unwrap();
            assert!(why.contains("--to writes there too"), "{one}, {other}: {why}");
        }
        // What is a file has nothing in it.
        let (log, below) = ((&*at("new"), OutputKind::Result(Sign::Log)), (&*at("new/run"), OutputKind::Run(false)));
        for outputs in [[log, below], [below, log]] {
            let why = refused(&[], &outputs).unwrap();
            assert!(why.contains("one path a file and a folder"), "{why}");
        }
        let null = Path::new("/dev/null");
        assert_eq!(
            refused(&[null], &[(null, OutputKind::Result(Sign::Log)), (null, OutputKind::Result(Sign::Profile))]),
            None
        );
    }

    #[test]
    fn a_run_folder_is_its_run_s_but_for_pictures_in_folders_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("run/draws")).unwrap();
        fs::write(at("run/run.toml"), "").unwrap();
        let pictures = OutputKind::Pictures(|path| path.extension().is_some_and(|ending| ending == "png"));
        for (name, kind, allowed) in [
            ("run/run.toml", OutputKind::Forced, false),
            ("run/new", OutputKind::Forced, false),
            ("run/below/new", OutputKind::Result(Sign::Log), false),
            ("run/draws", pictures, false),
            ("run/draws/below", pictures, false),
            ("run", pictures, false),
            ("run/plots", pictures, true),
            ("run/plots", OutputKind::Folder(|_| true), false),
            ("run/below", OutputKind::Run(true), false),
            ("run", OutputKind::Run(true), true),
            ("run.nc", OutputKind::Forced, true),
        ] {
            let why = refused(&[], &[(&at(name), kind)]);
            assert_eq!(why.is_none(), allowed, "{name}: {why:?}");
        }
        // What a run is made of is not where it is made anew.
        let part = at("run/draws/part.parquet");
        fs::write(&part, "").unwrap();
        assert!(refused(&[&part], &[(&at("run"), OutputKind::Run(true))]).unwrap().contains("would be replaced"));
        assert!(
            refused(&[], &[(&at("run"), OutputKind::Run(true)), (&at("run/log"), OutputKind::Result(Sign::Log))])
                .is_some()
        );
    }

    #[test]
    fn only_what_has_its_sign_is_replaced_and_kinds_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("thesis"), "years of work").unwrap();
        fs::write(at("empty"), "").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let says = |name: &str, kind| refused(&[], &[(&at(name), kind)]).unwrap_or_default();
        assert!(says("thesis", OutputKind::Result(Sign::Log)).contains("no earlier log"));
        assert_eq!(says("empty", OutputKind::Result(Sign::Log)), "");
        assert!(says("folder", OutputKind::Forced).contains("it is a folder; name a file"));
        assert!(says("thesis", OutputKind::Folder(|_| true)).contains("it is a file; name a folder"));
        // A file in a folder of data sets would be one; one that is an earlier log stays one.
        let folder = at("folder");
        let log = (&*at("folder/log"), OutputKind::Result(Sign::Log));
        assert!(refused(&[&folder], &[log]).unwrap().contains("which --in reads"));
        fs::write(at("folder/there"), "data").unwrap();
        assert!(refused(&[&folder], &[(&at("folder/there"), OutputKind::Forced)]).unwrap().contains("--in reads"));
        assert_eq!(refused(&[&folder], &[(&at("folder/runs"), OutputKind::Run(false))]), None);
        assert_eq!(refused(&[&folder], &[(&folder, OutputKind::Pictures(|_| true))]), None);
        let data = at("folder/there");
        assert!(refused(&[&data], &[(&folder, OutputKind::Pictures(|_| true))]).unwrap().contains("would be replaced"));
    }

    /// Whether a file has another name is looked for in all of a folder that is read.
    #[test]
    fn a_name_of_a_file_in_a_folder_that_is_read_is_found_however_deep() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("read/below/deep")).unwrap();
        fs::write(at("read/below/deep/data"), "x").unwrap();
        fs::write(at("alone"), "x").unwrap();
        fs::hard_link(at("read/below/deep/data"), at("linked")).unwrap();
        let why = refused(&[&at("read")], &[(&at("linked"), OutputKind::Forced)]).unwrap();
        assert!(why.contains("it is a file in") && why.contains("which --in reads"), "{why}");
        assert_eq!(refused(&[&at("read")], &[(&at("alone"), OutputKind::Forced)]), None);
        // A second name outside the folder is no file in it, and a file with one name is told by its place.
        fs::hard_link(at("alone"), at("alone too")).unwrap();
        assert_eq!(refused(&[&at("read")], &[(&at("alone"), OutputKind::Forced)]), None);
        fs::write(at("read/log"), "{\"timestamp\":\"2026\",\"level\":\"INFO\",\"fields\":{}}\n").unwrap();
        assert_eq!(refused(&[&at("read")], &[(&at("read/log"), OutputKind::Result(Sign::Log))]), None);
    }

    #[test]
    fn a_trace_is_replaced_by_force_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.nc");
        let format = octopus_formats::FORMATS.into_iter().find(|format| format.name() == "netcdf").unwrap();
        let says = |force| refused(&[], &[(&path, OutputKind::Trace(format, force))]);
        assert_eq!((says(false), says(true)), (None, None));
        fs::write(&path, "there").unwrap();
        assert!(says(false).is_some_and(|why| why.contains("--force")) && says(true).is_none());
    }
}
