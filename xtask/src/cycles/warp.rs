//! A warp on its way through a kernel's blocks.

use super::arch::SCHEDULERS;
use super::control::SCOREBOARDS;
use super::schedule::Cause;

/// A warp under way.
pub(super) struct Warp {
    /// The number of its scheduler.
    pub(super) scheduler: usize,
    /// The blocks that it goes through.
    pub(super) path: Vec<usize>,
    /// Its place in the path, and in the block there.
    pub(super) at: (usize, usize),
    /// Until when each scoreboard is taken, and by what.
    pub(super) scoreboards: [(u64, Cause); SCOREBOARDS],
}

/// Multiples of these, modulo 1, are spread evenly, and those of one are no function of the other's: warps and blocks begin at
/// phases of their own, the same in every run.
const OF_WARPS: f64 = 0.618_033_988_749_895;
const OF_BLOCKS: f64 = 0.754_877_666_246_693;

impl Warp {
    /// Sends a warp through blocks that a leapfrog step leads through so often each, for so many steps.
    pub(super) fn new(number: u32, rates: &[f64], steps: u32) -> Self {
        let phase = |i: usize| (f64::from(number) * OF_WARPS + i as f64 * OF_BLOCKS).fract();
        let mut due: Vec<f64> = (0..rates.len()).map(phase).collect();
        let mut path = Vec::new();
        for _ in 0..steps {
            for (block, (due, rate)) in due.iter_mut().zip(rates).enumerate() {
                *due += rate;
                while *due >= 1.0 {
                    *due -= 1.0;
                    path.push(block);
                }
            }
        }
        // Warps are not in the same place at the same time.
        let turned = (f64::from(number) * OF_WARPS).fract() * path.len() as f64;
        path.rotate_left(turned as usize);
        Self {
            scheduler: (number % SCHEDULERS) as usize,
            path,
            at: (0, 0),
            scoreboards: [(0, Cause::Stall); SCOREBOARDS],
        }
    }

    /// Goes to the next instruction; false when there is none.
    pub(super) fn go_on(&mut self, instructions_of_block: usize) -> bool {
        self.at.1 += 1;
        if self.at.1 == instructions_of_block {
            self.at = (self.at.0 + 1, 0);
        }
        self.at.0 < self.path.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_each_block_as_often_as_it_is_executed() {
        for number in 0..40 {
            let path = Warp::new(number, &[1.0, 0.25, 2.5], 200).path;
            let counts = [0, 1, 2].map(|block| path.iter().filter(|there| **there == block).count());
            assert!(
                counts.iter().zip([200, 50, 500]).all(|(count, expected)| count.abs_diff(expected) <= 1),
                "{counts:?}"
            );
        }
    }

    #[test]
    fn warps_begin_at_places_of_their_own_and_share_the_schedulers() {
        let [first, second] = [0, 1].map(|number| Warp::new(number, &[1.0, 1.0, 1.0, 1.0, 1.0], 3));
        assert_eq!((first.scheduler, second.scheduler, Warp::new(6, &[1.0], 1).scheduler), (0, 1, 2));
        assert_eq!(first.path[..3], [0, 1, 2]);
        // 0.618 of 15 blocks later.
        assert_eq!(second.path[..3], [4, 0, 1]);
    }

    #[test]
    fn a_warp_goes_from_instruction_to_instruction_and_block_to_block() {
        let mut warp = Warp::new(0, &[1.0, 1.0], 1);
        assert!(warp.go_on(2) && warp.at == (0, 1));
        assert!(warp.go_on(2) && warp.at == (1, 0));
        assert!(!warp.go_on(1));
    }
}
