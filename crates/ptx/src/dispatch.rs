//! The interpreter, compiled for the widest vectors that this processor has: the same bits, in less time.
#![allow(unsafe_code)]

use crate::fault::Fault;
use crate::warp::{Run, Status, Surroundings, Warp};
use crate::watch::Watch;

/// Runs a warp: see [`Run::turn`].
pub(crate) fn turn<W: Watch>(
    run: &mut Run<'_, '_, W>,
    around: &mut Surroundings<'_>,
    warp: &mut Warp<W::Notes>,
) -> Result<Status, Fault> {
    // What looks on takes more time than any instruction.
    #[cfg(target_arch = "x86_64")]
    if !W::LOOKS {
        macro_rules! has {
            ($($feature:tt),+) => { $(is_x86_feature_detected!($feature))&&+ };
        }
        if has!("avx512f", "avx512dq", "avx512vl", "avx512bw", "popcnt", "bmi1", "bmi2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { with_avx512(run, around, warp) };
        }
        if has!("avx2", "popcnt", "bmi1", "bmi2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { with_avx2(run, around, warp) };
        }
    }
    run.turn(around, warp)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,popcnt,bmi1,bmi2")]
fn with_avx512<W: Watch>(
    run: &mut Run<'_, '_, W>,
    around: &mut Surroundings<'_>,
    warp: &mut Warp<W::Notes>,
) -> Result<Status, Fault> {
    run.turn(around, warp)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
fn with_avx2<W: Watch>(
    run: &mut Run<'_, '_, W>,
    around: &mut Surroundings<'_>,
    warp: &mut Warp<W::Notes>,
) -> Result<Status, Fault> {
    run.turn(around, warp)
}
