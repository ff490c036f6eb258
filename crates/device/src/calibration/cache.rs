//! Calibrations kept on disk, one file a device.
//!
//! A file under its final name is complete: it is written beside it and renamed. Two programs that write at the same
//! time both succeed, and the last one's file stays. What was measured on another driver or by another build is
//! ignored, and so is what cannot be read: a miss says why, and measuring again mends it.

mod folder;

use super::{Calibration, CalibrationKey};
use octopus_files::{FileError, write_file};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use thiserror::Error;

/// Version of the file's form.
const SCHEMA: u32 = 1;

/// A folder with calibrations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationCache {
    folder: PathBuf,
}

/// Why there is no calibration to use. None of it is an error: measuring answers all of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CalibrationMiss {
    /// The device was never measured.
    #[error("no calibration of this device yet ({}): `octopus device calibrate` makes one", .path.display())]
    Missing {
        /// The path where the calibration would be.
        path: PathBuf,
    },
    /// The calibration was measured on something else.
    #[error("the calibration in {} is ignored: {why}", .path.display())]
    Stale {
        /// The path of the calibration.
        path: PathBuf,
        /// The differences, in words.
        why: String,
    },
    /// The file is no calibration.
    #[error("the calibration in {} is ignored: the file is damaged ({why})", .path.display())]
    Damaged {
        /// The path of the calibration.
        path: PathBuf,
        /// What is wrong with the file, in words.
        why: String,
    },
    /// The device cannot be asked for its identity.
    #[error("no calibration: {why}")]
    NoDevice {
        /// The driver's words.
        why: String,
    },
    /// The file is there and cannot be read.
    #[error("the calibration in {} is ignored: it cannot be read ({why})", .path.display())]
    Unreadable {
        /// The path of the calibration.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
}

/// Why a calibration cannot be kept.
#[derive(Debug, Error)]
pub enum CalibrationCacheError {
    /// The system names no folder for caches.
    #[error("there is no cache folder: set XDG_CACHE_HOME to a folder, or HOME")]
    NoFolder,
    /// The calibration's numbers are no costs.
    #[error("the calibration is not kept: {why}; measure again")]
    Invalid {
        /// The number that is wrong, and its value.
        why: String,
    },
    /// The file cannot be written.
    #[error("the calibration is not kept: {0}; check the folder, or set XDG_CACHE_HOME to another")]
    Write(#[from] FileError),
}

/// The form of the file.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: u32,
    calibration: Calibration,
}

/// Only the version: what comes after it may have any form.
#[derive(Deserialize)]
struct Head {
    schema: u32,
}

impl CalibrationCache {
    /// Makes the cache of the user: `octopus/calibration` below `$XDG_CACHE_HOME`, else `~/.cache` (macOS
    /// `~/Library/Caches`, Windows `%LOCALAPPDATA%`).
    ///
    /// # Errors
    /// [`CalibrationCacheError::NoFolder`] when the environment names none.
    pub fn of_user() -> Result<Self, CalibrationCacheError> {
        let caches = folder::user_caches(|name| std::env::var_os(name)).ok_or(CalibrationCacheError::NoFolder)?;
        Ok(Self::in_folder(caches.join("octopus").join("calibration")))
    }

    /// Makes the cache in any folder; the folder is made when something is stored.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the file of a device.
    #[must_use]
    pub fn path(&self, device_uuid: &str) -> PathBuf {
        // A UUID is letters, digits and hyphens; a driver may say anything, and it must stay in the folder.
        let name: String =
            device_uuid.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        self.folder.join(format!("{name}.json"))
    }

    /// Returns the calibration for exactly this device, driver and binary.
    ///
    /// # Errors
    /// When there is no calibration to use; the error says why.
    pub fn load(&self, key: &CalibrationKey) -> Result<Calibration, CalibrationMiss> {
        let path = self.path(&key.device_uuid);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(CalibrationMiss::Missing { path }),
            Err(error) => return Err(CalibrationMiss::Unreadable { path, why: error.to_string() }),
        };
        let damaged = |why: String| CalibrationMiss::Damaged { path: path.clone(), why };
        let stale = |why: String| CalibrationMiss::Stale { path: path.clone(), why };
        let head: Head = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if head.schema != SCHEMA {
            return Err(stale(format!("its form was version {}, is {SCHEMA}", head.schema)));
        }
        let document: Document = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        let calibration = document.calibration;
        if let Some(why) = calibration.key.change_to(key) {
            return Err(stale(why));
        }
        match calibration.fault() {
            Some(why) => Err(damaged(why)),
            None => Ok(calibration),
        }
    }

    /// Returns the calibration for the CUDA device `ordinal`, its driver and this binary; `driver_version` is NVML's.
    ///
    /// # Errors
    /// When there is no calibration to use; the error says why.
    pub fn load_for_device(&self, ordinal: u32, driver_version: Option<&str>) -> Result<Calibration, CalibrationMiss> {
        let key = CalibrationKey::of_device(ordinal, driver_version);
        self.load(&key.map_err(|error| CalibrationMiss::NoDevice { why: error.to_string() })?)
    }

    /// Keeps a calibration in place of what was there for its device; its file is returned.
    ///
    /// # Errors
    /// When its numbers are no costs, or the file cannot be written.
    pub fn store(&self, calibration: &Calibration) -> Result<PathBuf, CalibrationCacheError> {
        if let Some(why) = calibration.fault() {
            return Err(CalibrationCacheError::Invalid { why });
        }
        let path = self.path(&calibration.key.device_uuid);
        let document = Document { schema: SCHEMA, calibration: calibration.clone() };
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|error| CalibrationCacheError::Invalid { why: error.to_string() })?;
        write_file(&path, &text)?;
        Ok(path)
    }
}
