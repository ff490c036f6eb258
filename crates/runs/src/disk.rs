//! The disk space that a run takes, and that there is.

use crate::RunError;
use octopus_density::LogDensity;
use octopus_sampler::{ReadStatistic, SamplerConfig};
use std::path::Path;

/// Returns the bytes that a run folder takes once all draws are drawn, up to a few kilobytes of records and checkpoint:
/// draws are written as they are, without compression.
pub fn bytes_on_disk(density: &dyn LogDensity, config: &SamplerConfig, keep_warmup: bool) -> u64 {
    let bits = |(_, read)| if matches!(read, ReadStatistic::Flag(_)) { 1 } else { 64 };
    let stats: usize = config.algorithm.statistics().map(bits).sum();
    // The numbers of chain and draw, the values of the model's variables, and the coordinates.
    let row = 8 + 8 * (density.layout().width() + density.dim()) + stats.div_ceil(8);
    let draws = config.draws.saturating_add(if keep_warmup { config.tune } else { 0 });
    (row as u64).saturating_mul(config.chains as u64).saturating_mul(draws as u64)
}

/// Returns the bytes that this user can still write at `path`, which need not be there yet; `None` where the system does
/// not tell.
#[cfg(unix)]
pub fn free_space(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    let there = path.ancestors().find(|folder| folder.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the bytes that this user can still write at `path`: nobody tells here.
#[cfg(not(unix))]
pub fn free_space(_: &Path) -> Option<u64> {
    None
}

/// Checks that a run of so many bytes fits the disk that `path` is on, before anything is computed.
///
/// # Errors
/// [`RunError::DiskTooSmall`] when there is less room than that.
pub fn check_disk(path: &Path, bytes: u64) -> Result<(), RunError> {
    fits(path, bytes, free_space(path))
}

/// Checks that so many bytes fit what is `free`, where that is known.
fn fits(path: &Path, bytes: u64, free: Option<u64>) -> Result<(), RunError> {
    match free {
        Some(free) if free < bytes => Err(RunError::DiskTooSmall { path: path.to_owned(), bytes, free }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checkpoints, CreateOptions, ModelRecord, RunRecord, RunWriter, Session, drive};
    use octopus_models::synthetic::HierarchicalSpec;
    use octopus_models::{HierarchicalNormal, HierarchicalPrior, Likelihood};
    use octopus_sampler::Sampler;
    use octopus_sampler::Strategy;

    #[test]
    fn what_fills_the_disk_to_the_last_byte_fits() {
        let room = |bytes, free| fits(Path::new("here"), bytes, free);
        assert!(room(10, Some(10)).is_ok() && room(u64::MAX, None).is_ok());
        let error = room(11, Some(10)).unwrap_err();
        assert!(matches!(error, RunError::DiskTooSmall { bytes: 11, free: 10, .. }), "{error}");
        assert!(error.to_string().contains("here"), "{error}");
    }

    #[test]
    fn a_run_takes_what_was_foretold() {
        let data = HierarchicalSpec { groups: 20, ..HierarchicalSpec::default() }.generate().unwrap().data;
        let density = HierarchicalNormal::new(data, HierarchicalPrior::default(), Likelihood::Collapsed).unwrap();
        let config = SamplerConfig {
            chains: 3,
            draws: 4000,
            tune: 1000,
            strategy: Strategy::FourLong,
            ..SamplerConfig::default()
        };
        let pool = crate::pool(Some(1)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        for keep_warmup in [false, true] {
            let model = ModelRecord { name: "hierarchical-normal".into(), settings: toml::Table::new() };
            let record = RunRecord::new(model, config.clone(), LogDensity::layout(&density).clone());
            let options = CreateOptions { force: true, keep_warmup };
            let writer = RunWriter::create(dir.path(), record, options).unwrap();
            let session = Session { pool: &pool, checkpoints: Checkpoints::ByTime, observer: &mut () };
            let density: &dyn LogDensity = &density;
            drive(Sampler::new(density, config.clone()).unwrap(), density, writer, session).unwrap();
            let parts = |folder: &str| -> u64 {
                let Ok(entries) = std::fs::read_dir(dir.path().join(folder)) else { return 0 };
                entries.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
            };
            let (found, foretold) = (parts("draws") + parts("warmup"), bytes_on_disk(density, &config, keep_warmup));
            assert!(found.abs_diff(foretold) < foretold / 50, "{found} bytes, {foretold} foretold");
        }
        let endless = SamplerConfig { chains: usize::MAX, draws: usize::MAX, ..config.clone() };
        assert_eq!(bytes_on_disk(&density, &endless, true), u64::MAX);
        // One chain of so many draws and one more would be none.
        let endless = SamplerConfig { chains: 1, tune: 1, ..endless };
        assert_eq!(bytes_on_disk(&density, &endless, true), u64::MAX);
        let bytes = |draws, tune, kept| bytes_on_disk(&density, &SamplerConfig { draws, tune, ..config.clone() }, kept);
        assert_eq!(bytes(0, 1000, false), 0);
        assert_eq!((bytes(20, 5, false), bytes(15, 5, true)), (2 * bytes(10, 5, false), bytes(20, 5, false)));
    }

    /// Two numbers of 32 bits, eight elements of variables and four coordinates, nine statistics of 64 bits, and two flags.
    #[test]
    fn a_row_takes_its_columns_and_a_byte_of_flags() {
        let row = 2 * 4 + 8 * (8 + 4) + 9 * 8 + 1;
        let config = SamplerConfig { chains: 3, draws: 10, tune: 7, ..SamplerConfig::default() };
        for (keep_warmup, draws) in [(false, 10), (true, 17)] {
            assert_eq!(bytes_on_disk(&crate::tests::Toy::new(2), &config, keep_warmup), 3 * draws * row);
        }
    }

    #[test]
    fn free_space_is_that_of_the_folder_that_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let here = free_space(dir.path()).unwrap();
        let below = free_space(&dir.path().join("none/such")).unwrap();
        assert!(here > 0 && here.abs_diff(below) < here / 10, "{here}, {below}");
        assert!(free_space(Path::new("relative")).is_some());
        assert!(check_disk(dir.path(), 0).is_ok());
        let error = check_disk(&dir.path().join("run"), u64::MAX).unwrap_err().to_string();
        assert!(error.contains("run takes 17592186044416 MiB") && error.contains("fewer --draws"), "{error}");
        if Path::new("/proc/self").exists() {
            assert_eq!(free_space(Path::new("/proc/self")), Some(0));
        }
    }
}
