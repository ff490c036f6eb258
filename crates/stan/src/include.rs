//! `#include`: finds the file, and refuses circles and floods.

use crate::message::Finding;
use crate::source::{Sources, Span};
use std::path::{Path, PathBuf};

/// Bytes of all texts of a program together, at the most.
pub(crate) const MOST_BYTES: usize = 16 << 20;
/// Files that a program includes, at the most.
const MOST_FILES: usize = 1000;

/// Where included files are looked for, and how much has been read.
pub(crate) struct Includes<'a> {
    /// The folder of the program; without it nothing can be included.
    folder: Option<&'a Path>,
    bytes: usize,
    /// The path of each file that has been read, by its number.
    paths: Vec<PathBuf>,
}

impl<'a> Includes<'a> {
    /// For the program at `path`, whose text has been read; `None` for a text that is in no file.
    pub(crate) fn of(path: Option<&'a Path>, bytes: usize) -> Self {
        let folder = path.map(|path| path.parent().unwrap_or(Path::new("")));
        Self { folder, bytes, paths: vec![path.map_or_else(PathBuf::new, Path::to_path_buf)] }
    }

    /// Reads the file `name` that `from` includes; `None` when it is a second inclusion of a file of functions,
    /// which Stan leaves out.
    pub(crate) fn open(
        &mut self,
        sources: &mut Sources,
        name: &str,
        span: Span,
        from: u32,
    ) -> Result<Option<u32>, Finding> {
        let Some(folder) = self.folder else {
            return Err(Finding::syntax(span, format!("`{name}` cannot be included: this text is in no file"))
                .help("save the program as a file beside the one that it includes, and read it from there"));
        };
        if name.is_empty() {
            return Err(Finding::syntax(span, "`#include` needs the name of a file"));
        }
        let beside = self.paths.get(from as usize).and_then(|path| path.parent()).unwrap_or(folder);
        let places = [beside.join(name), folder.join(name)];
        let Some(path) = places.iter().find(|path| path.is_file()) else {
            return Err(Finding::syntax(span, format!("there is no file `{}`", places[0].display()))
                .help("a file that is included lies in the folder of the file that includes it"));
        };
        let mut above = Some(from);
        while let Some(file) = above {
            if self.paths.get(file as usize).is_some_and(|opened| opened == path) {
                return Err(Finding::syntax(span, format!("`{name}` includes itself")));
            }
            above = sources.file(file).and_then(|file| file.included_from).map(|span| span.file);
        }
        if path.extension().is_some_and(|extension| extension == "stanfunctions") && self.paths.contains(path) {
            return Ok(None);
        }
        let length = std::fs::metadata(path).map_or(0, |data| usize::try_from(data.len()).unwrap_or(usize::MAX));
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > MOST_BYTES || self.paths.len() > MOST_FILES {
            return Err(Finding::syntax(span, "the program with all that it includes is too long")
                .help(format!("{} MiB and {MOST_FILES} files are the most", MOST_BYTES >> 20)));
        }
        let text = text_of(path)
            .map_err(|error| Finding::syntax(span, format!("cannot read `{}`: {error}", path.display())))?;
        let file = sources.add(path.display().to_string(), text, Some(span));
        self.paths.push(path.clone());
        Ok(Some(file))
    }
}

/// A file's text. Old programs have comments that are not UTF-8: what cannot be read there is replaced.
pub(crate) fn text_of(path: &Path) -> std::io::Result<String> {
    let bytes = std::fs::read(path)?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
