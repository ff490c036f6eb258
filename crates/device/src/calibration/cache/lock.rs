//! One measurement at a time.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// A measurement takes seconds; who has not finished by then is stuck.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(20);

/// A lock of the operating system on a file beside the calibration. It is released when it is dropped, and by the
/// system when the process ends, however it ends.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock.
    ///
    /// # Errors
    /// When the lock cannot be had, in words: the file cannot be made, the file system has no locks, or another
    /// program has held it for too long.
    pub(super) fn take(path: &Path) -> Result<Self, String> {
        let no_lock = |why: String| {
            format!("{} is not locked ({why}); another program may be measuring at the same time", path.display())
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| no_lock(error.to_string()))?;
        }
        let file = File::options().create(true).append(true).open(path).map_err(|error| no_lock(error.to_string()))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(no_lock(format!("held by another program for {} s", PATIENCE.as_secs())));
                }
                Err(TryLockError::Error(error)) => return Err(no_lock(error.to_string())),
            }
        }
    }
}
