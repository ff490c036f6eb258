//! The driver library: which file (`libcuda.so.1`, or the one in `OCTOPUS_LIBCUDA`), opened once and never closed.

use crate::CudaError;
use libloading::Library;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The library's name, which the loader looks for by its rules: `LD_LIBRARY_PATH`, then the folders it knows.
const DEFAULT_NAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Names another file, for machines with several drivers and for tests.
const VARIABLE: &str = "OCTOPUS_LIBCUDA";

/// The file to open, and whether it is too late to choose another.
enum Choice {
    /// The variable's, else the default.
    Nobody,
    /// The calling program's.
    File(PathBuf),
    /// The library of this name was opened.
    Made(String),
}

static CHOICE: Mutex<Choice> = Mutex::new(Choice::Nobody);

/// The file asked for and what came of it.
struct Attempt {
    name: String,
    opened: Result<Library, String>,
}

static ATTEMPT: OnceLock<Attempt> = OnceLock::new();

/// Chooses the file to open instead of the default and of the variable.
///
/// # Errors
/// When the library has been opened already: the driver cannot be changed in a running process.
pub(in crate::ffi) fn choose(path: &Path) -> Result<(), CudaError> {
    let mut choice = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Choice::Made(library) = &*choice {
        return Err(CudaError::LibraryChosenTooLate {
            library: library.clone(),
            asked: path.to_string_lossy().into_owned(),
        });
    }
    *choice = Choice::File(path.to_owned());
    Ok(())
}

/// Makes the choice: from here on [`choose`] is an error.
fn chosen() -> OsString {
    let mut choice = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match &*choice {
        Choice::File(path) => path.clone().into_os_string(),
        Choice::Made(name) => OsString::from(name),
        Choice::Nobody => {
            std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).unwrap_or_else(|| DEFAULT_NAME.into())
        }
    };
    *choice = Choice::Made(file.to_string_lossy().into_owned());
    file
}

fn attempt() -> &'static Attempt {
    ATTEMPT.get_or_init(|| {
        let file = chosen();
        // SAFETY: opening runs the library's initialisers. The file is the CUDA driver's own, installed by the
        // machine's administrator, or one that the user or the calling program names for exactly this purpose;
        // the driver's initialisers have no precondition.
        let opened = unsafe { Library::new(&file) };
        // It stays open in this static: the driver starts threads that live as long as the process, and closing
        // the library under them would crash.
        Attempt { name: file.to_string_lossy().into_owned(), opened: opened.map_err(|error| error.to_string()) }
    })
}

/// Returns the library, opened now if it was not; the loader's words when it cannot be.
pub(in crate::ffi) fn opened() -> Result<&'static Library, &'static str> {
    attempt().opened.as_ref().map_err(String::as_str)
}

/// Returns the file that was asked for.
pub(in crate::ffi) fn name() -> &'static str {
    &attempt().name
}
