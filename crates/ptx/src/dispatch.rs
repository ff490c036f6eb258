//! The interpreter, compiled for the widest vectors that this processor has: the same bits, in less time.

use crate::fault::LaunchFault;
use crate::warp::{LaunchState, Surroundings, TurnEnd, Warp};
use crate::watch::Watch;
use pulp::{Arch, NullaryFnOnce};

/// A turn of a warp.
struct Turn<'t, 'a, 'm, 's, W: Watch> {
    run: &'t mut LaunchState<'a, 'm, W>,
    around: &'t mut Surroundings<'s>,
    warp: &'t mut Warp<W::Notes>,
}

impl<W: Watch> NullaryFnOnce for Turn<'_, '_, '_, '_, W> {
    type Output = Result<TurnEnd, LaunchFault>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        self.run.turn(self.around, self.warp)
    }
}

/// Runs a warp: see [`LaunchState::turn`].
pub(crate) fn turn<W: Watch>(
    run: &mut LaunchState<'_, '_, W>,
    around: &mut Surroundings<'_>,
    warp: &mut Warp<W::Notes>,
) -> Result<TurnEnd, LaunchFault> {
    // What looks on takes more time than any instruction.
    if W::LOOKS { run.turn(around, warp) } else { Arch::new().dispatch(Turn { run, around, warp }) }
}
