//! The data sets of a batch that a process claims (`--claim`), some at a time.
//!
//! Each is drawn in a folder of the process, `drawing/PROCESS/NAME`, and gets its place in `sets` when it is complete, by
//! one rename: no two processes ever write to one folder, even where one takes another for gone that is only slow. A
//! process that is asked to end puts back what it has drawn, and the next one goes on there.

use super::draw::BatchSession;
use super::sets::{Set, SetState, take_up};
use crate::config::RunConfig;
use crate::share::{Claims, WAIT, Worker};
use anyhow::{Context, Result};
use octopus_files::folder_of;
use octopus_runs::{RunFolder, RunStatus};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder, in the batch's, of what processes are drawing.
pub(super) const DRAWING: &str = "drawing";
/// The most chains that a device moves at once, and the share of the data sets that are left of which others get none.
const CHAINS_AT_ONCE: usize = 4096;
const SHARE: usize = 8;

/// Draws what can be claimed until nothing is left; returns whether the process was asked to end before.
///
/// # Errors
/// When the device fails, or a folder cannot be written or holds another run.
pub(super) fn draw(
    sets: &mut [Set],
    session: &mut BatchSession<'_>,
    config: &RunConfig,
    (out, worker): (&Path, &Worker),
    claims: &mut Claims,
) -> Result<bool> {
    let own = out.join(DRAWING).join(worker.name());
    let is_cpu = session.place.is_cpu();
    let threads = session.prepared.pool.current_num_threads();
    loop {
        for set in sets.iter_mut().filter(|set| !set.state.has_ended()) {
            if let Some(why) = claims.failure(set.number) {
                set.state = SetState::Failed(why);
            } else if is_complete(set)? {
                take_up(std::slice::from_mut(set), false, false, &config.init)?;
            }
        }
        let left = sets.iter().filter(|set| !set.state.has_ended()).count();
        worker.are_done(sets.len() - left);
        if left == 0 || session.interrupt.asked() {
            // Nothing is in it any more.
            let _ = fs::remove_dir(&own);
            return Ok(left > 0);
        }
        let of_device = (CHAINS_AT_ONCE / config.sampler.chains).min(left.div_ceil(SHARE)).max(1);
        let most = if is_cpu { threads } else { of_device };
        let mut taken = Vec::new();
        for number in claims.order(sets.len()) {
            if taken.len() == most {
                break;
            }
            if !sets[number].state.has_ended() && claims.take(number)? {
                taken.push(number);
            }
        }
        if taken.is_empty() {
            std::thread::sleep(WAIT);
            continue;
        }
        // Only the claimed ones are open to the session.
        let places: Vec<(usize, PathBuf)> = taken.iter().map(|&number| (number, sets[number].dir.clone())).collect();
        let mut claimed: Vec<Set> = Vec::new();
        for &(number, ref place) in &places {
            let mut set = sets[number].to_draw();
            set.check_begun(&config.init)?;
            set.dir = take_out(place, &own)?;
            claimed.push(set);
        }
        take_up(&mut claimed, false, false, &config.init)?;
        session.draw(&mut claimed)?;
        for (set, (number, place)) in claimed.into_iter().zip(places) {
            put_back(&set, &place)?;
            if let SetState::Failed(why) = &set.state {
                claims.fail(number, why)?;
            }
        }
    }
}

/// Whether a data set's run in its place is complete. What is no run of these settings is an error of who takes it up.
fn is_complete(set: &Set) -> Result<bool> {
    Ok(RunFolder::is_run(&set.dir) && RunFolder::open(&set.dir)?.record().status == RunStatus::Complete)
}

/// Takes a run that was begun out of its place into a process's own folder, and returns where it is there.
fn take_out(place: &Path, own: &Path) -> Result<PathBuf> {
    let to = own.join(place.file_name().unwrap_or_default());
    fs::create_dir_all(own).with_context(|| format!("cannot create the folder {}", own.display()))?;
    match fs::rename(place, &to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot move {} to {}", place.display(), to.display()))
        }
        _ => Ok(to),
    }
}

/// Gives a run its place, or removes it where another process has given it the same draws.
fn put_back(set: &Set, place: &Path) -> Result<()> {
    let failed = || format!("cannot move {} to {}", set.dir.display(), place.display());
    fs::create_dir_all(folder_of(place)).with_context(failed)?;
    match fs::rename(&set.dir, place) {
        Ok(()) => Ok(()),
        // It was stopped before its first draw.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(_) if place.exists() => fs::remove_dir_all(&set.dir).with_context(failed),
        Err(error) => Err(error).with_context(failed),
    }
}
