//! The random number generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011).
//!
//! It is a block cipher on 128-bit counters with a 64-bit key.

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Returns the ten-round bijection: four random words for each (counter, key).
#[inline(always)]
pub fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let product0 = u64::from(MULTIPLIER[0]) * u64::from(c0);
        let product1 = u64::from(MULTIPLIER[1]) * u64::from(c2);
        c0 = (product1 >> 32) as u32 ^ c1 ^ k0;
        c1 = product1 as u32;
        c2 = (product0 >> 32) as u32 ^ c3 ^ k1;
        c3 = product0 as u32;
        k0 = k0.wrapping_add(WEYL[0]);
        k1 = k1.wrapping_add(WEYL[1]);
    }
    [c0, c1, c2, c3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that ship with Random123 (kat_vectors, philox4x32 10).
    #[test]
    fn known_answers() {
        let cases = [
            ([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
            (
                [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
                [0xa4093822, 0x299f31d0],
                [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox4x32_10(counter, key), expected);
        }
    }
}
