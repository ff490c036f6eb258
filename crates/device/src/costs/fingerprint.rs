//! A short name for a text (a hash, FNV-1a), the same in every run and on every machine.

/// FNV-1a with 64 bits (Fowler, Noll and Vo, IETF draft-eastlake-fnv). It tells versions of our own kernels apart;
/// it is no protection against somebody who wants two texts to look alike.
pub(super) fn fingerprint(text: &[u8]) -> String {
    let hash = text
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    /// The test vectors of the draft.
    #[test]
    fn it_is_fnv_1a() {
        assert_eq!(super::fingerprint(b""), "cbf29ce484222325");
        assert_eq!(super::fingerprint(b"a"), "af63dc4c8601ec8c");
        assert_eq!(super::fingerprint(b"foobar"), "85944171f73967e8");
    }
}
