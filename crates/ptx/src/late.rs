//! Relaxed stores on their way. In a random order a word reaches memory some turns after its store, and the words of one
//! store come one by one: who reads what another thread writes meanwhile may rely on nothing else.

use crate::global::GlobalMemory;
use crate::order::Turns;
use std::collections::HashMap;

/// A word that has been stored and has not come.
#[derive(Clone, Copy, Debug)]
struct LateWord {
    /// The block and the warp that have stored it, who see it at once.
    by: (u32, u32),
    address: u64,
    /// The first `width` bytes.
    value: [u8; 8],
    width: u8,
    /// The round of turns in which it comes.
    due: u64,
}

/// The words on their way, in the order of their stores.
#[derive(Debug, Default)]
pub(crate) struct LateWords {
    words: Vec<LateWord>,
    /// The rounds of turns so far.
    round: u64,
    /// When the last word to each place comes, or has come: words to one place come in their order.
    last: HashMap<u64, u64>,
}

/// A word comes within so many rounds.
const ROUNDS: u64 = 8;

/// What is at some places before a store, which takes it back from memory.
#[derive(Default)]
pub(crate) struct Before(Vec<(u64, [u8; 8])>);

impl LateWords {
    /// Reads what is at the places of a store, each `width` bytes; places that are not there are left to the store.
    pub(crate) fn before(global: &GlobalMemory<'_>, places: &[u64], width: u8) -> Before {
        Before(places.iter().filter_map(|address| Some((*address, read(global, *address, width)?))).collect())
    }

    /// Takes what a store has just written back from memory, to come later.
    pub(crate) fn take(
        &mut self,
        global: &mut GlobalMemory<'_>,
        turns: &mut Turns,
        before: &Before,
        by: (u32, u32),
        width: u8,
    ) {
        for (address, _) in &before.0 {
            let value = read(global, *address, width).unwrap_or_default();
            let last = self.last.entry(*address).or_default();
            *last = (self.round + 1 + turns.random() % ROUNDS).max(*last);
            self.words.push(LateWord { by, address: *address, value, width, due: *last });
        }
        for (address, value) in before.0.iter().rev() {
            write(global, *address, value, width);
        }
    }

    /// Lets the words come whose time it is, once in each round of turns.
    pub(crate) fn deliver_due(&mut self, global: &mut GlobalMemory<'_>) {
        self.round += 1;
        let round = self.round;
        self.deliver(global, |word| word.due <= round);
    }

    /// Lets the words come that a warp has stored itself to places that it now reaches.
    pub(crate) fn deliver_own(&mut self, global: &mut GlobalMemory<'_>, by: (u32, u32), places: &[u64]) {
        if self.words.iter().any(|word| word.by == by) {
            self.deliver(global, |word| word.by == by && places.contains(&word.address));
        }
    }

    /// Lets all words come, as at a kernel's end.
    pub(crate) fn deliver_all(&mut self, global: &mut GlobalMemory<'_>) {
        self.deliver(global, |_| true);
    }

    fn deliver(&mut self, global: &mut GlobalMemory<'_>, comes: impl Fn(&LateWord) -> bool) {
        self.words.retain(|word| {
            let comes = comes(word);
            if comes {
                write(global, word.address, &word.value, word.width);
            }
            !comes
        });
    }
}

fn read(global: &GlobalMemory<'_>, address: u64, width: u8) -> Option<[u8; 8]> {
    let bytes = global.bytes(address, address.checked_add(u64::from(width))?)?;
    let mut value = [0; 8];
    value[..bytes.len()].copy_from_slice(bytes);
    Some(value)
}

fn write(global: &mut GlobalMemory<'_>, address: u64, value: &[u8; 8], width: u8) {
    if let Some(bytes) = global.bytes_mut(address, address + u64::from(width)) {
        bytes.copy_from_slice(&value[..usize::from(width)]);
    }
}
