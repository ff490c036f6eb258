//! Costs kept on disk, one file a device.
//!
//! A file under its final name is complete: it is written beside it and renamed. Two programs that write at the same
//! time both succeed, and the last one's file stays. What was measured on another driver or by another build is
//! ignored, and so is what cannot be read: a miss says why, and measuring again mends it.

mod folder;

use super::{CostsKey, DeviceCosts};
use octopus_files::{FileError, write_file};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use thiserror::Error;

/// Version of the file's form.
const SCHEMA: u32 = 1;

/// A folder with costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostsCache {
    folder: PathBuf,
}

/// Why there are no costs to use. None of these is an error: measuring is the answer to all of them.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CostsMiss {
    /// The device was never measured.
    #[error("no costs of this device yet ({}): `octopus device measure` measures them", .path.display())]
    Missing {
        /// The path where the costs would be.
        path: PathBuf,
    },
    /// The costs were measured on something else.
    #[error("the costs in {} are not used: {why}", .path.display())]
    Stale {
        /// The path of the costs.
        path: PathBuf,
        /// The differences, in words.
        why: String,
    },
    /// The file holds no costs.
    #[error("the costs in {} are not used: the file is damaged ({why})", .path.display())]
    Damaged {
        /// The path of the costs.
        path: PathBuf,
        /// What is wrong with the file, in words.
        why: String,
    },
    /// The device cannot be asked for its identity.
    #[error("no costs: {why}")]
    NoDevice {
        /// The driver's words.
        why: String,
    },
    /// The file is there and cannot be read.
    #[error("the costs in {} are not used: they cannot be read ({why})", .path.display())]
    Unreadable {
        /// The path of the costs.
        path: PathBuf,
        /// The system's words.
        why: String,
    },
}

/// Why costs cannot be kept.
#[derive(Debug, Error)]
pub enum CostsCacheError {
    /// The system names no folder for caches.
    #[error("there is no cache folder: set XDG_CACHE_HOME to a folder, or HOME")]
    NoFolder,
    /// A number among the costs is impossible.
    #[error("the costs are not kept: {why}; measure again")]
    Invalid {
        /// The number that is wrong, and its value.
        why: String,
    },
    /// The file cannot be written.
    #[error("the costs are not kept: {0}; check the folder, or set XDG_CACHE_HOME to another")]
    Write(#[from] FileError),
}

/// The form of the file.
#[derive(Serialize, Deserialize)]
struct Document {
    schema: u32,
    costs: DeviceCosts,
}

/// Only the version: what comes after it may have any form.
#[derive(Deserialize)]
struct Head {
    schema: u32,
}

impl CostsCache {
    /// Makes the cache of the user: `octopus/costs` below `$XDG_CACHE_HOME`, else `~/.cache` (macOS
    /// `~/Library/Caches`, Windows `%LOCALAPPDATA%`).
    ///
    /// # Errors
    /// [`CostsCacheError::NoFolder`] when the environment names none.
    pub fn of_user() -> Result<Self, CostsCacheError> {
        let caches = folder::user_caches(|name| std::env::var_os(name)).ok_or(CostsCacheError::NoFolder)?;
        Ok(Self::in_folder(caches.join("octopus").join("costs")))
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

    /// Returns the costs for exactly this device, driver and binary.
    ///
    /// # Errors
    /// When there are no costs to use; the error says why.
    pub fn load(&self, key: &CostsKey) -> Result<DeviceCosts, CostsMiss> {
        let path = self.path(&key.device_uuid);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(CostsMiss::Missing { path }),
            Err(error) => return Err(CostsMiss::Unreadable { path, why: error.to_string() }),
        };
        let damaged = |why: String| CostsMiss::Damaged { path: path.clone(), why };
        let stale = |why: String| CostsMiss::Stale { path: path.clone(), why };
        let head: Head = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if head.schema != SCHEMA {
            return Err(stale(format!("its form was version {}, is {SCHEMA}", head.schema)));
        }
        let document: Document = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        let device_costs = document.costs;
        if let Some(why) = device_costs.key.change_to(key) {
            return Err(stale(why));
        }
        match device_costs.fault() {
            Some(why) => Err(damaged(why)),
            None => Ok(device_costs),
        }
    }

    /// Returns the costs for the CUDA device `ordinal`, its driver and this binary; `driver_version` is NVML's.
    ///
    /// # Errors
    /// When there are no costs to use; the error says why.
    pub fn load_for_device(&self, ordinal: u32, driver_version: Option<&str>) -> Result<DeviceCosts, CostsMiss> {
        let key = CostsKey::of_device(ordinal, driver_version);
        self.load(&key.map_err(|error| CostsMiss::NoDevice { why: error.to_string() })?)
    }

    /// Keeps these costs in place of what was there for their device, and returns the file.
    ///
    /// # Errors
    /// When a number is impossible, or the file cannot be written.
    pub fn store(&self, device_costs: &DeviceCosts) -> Result<PathBuf, CostsCacheError> {
        if let Some(why) = device_costs.fault() {
            return Err(CostsCacheError::Invalid { why });
        }
        let path = self.path(&device_costs.key.device_uuid);
        let document = Document { schema: SCHEMA, costs: device_costs.clone() };
        let text = serde_json::to_vec_pretty(&document)
            .map_err(|error| CostsCacheError::Invalid { why: error.to_string() })?;
        write_file(&path, &text)?;
        Ok(path)
    }
}
