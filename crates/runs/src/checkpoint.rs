//! The file `state/checkpoint.bin`: the sampler's state, and the parts of draws that belong to it.
//!
//! The file is a sequence of: magic (8 bytes), version (u32), length of the manifest (u32), length of the state (u64),
//! SHA-256 of manifest and state (32 bytes), manifest (JSON), state. All integers are little-endian.

use crate::PartRecord;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"OCTOCKPT";
const VERSION: u32 = 1;

/// The parts on disk when the checkpoint was taken; other parts in the folder were written later and are void.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) parts: Vec<PartRecord>,
}

/// Returns the bytes of a checkpoint.
pub(crate) fn encode(manifest: &Manifest, state: &[u8]) -> Result<Vec<u8>, String> {
    let manifest = serde_json::to_vec(manifest).map_err(|error| error.to_string())?;
    let manifest_len = u32::try_from(manifest.len()).map_err(|_| "the list of parts is too long".to_owned())?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&manifest_len.to_le_bytes());
    bytes.extend_from_slice(&(state.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&Sha256::new().chain_update(&manifest).chain_update(state).finalize());
    bytes.extend_from_slice(&manifest);
    bytes.extend_from_slice(state);
    Ok(bytes)
}

/// Takes a checkpoint apart; says what is wrong with a damaged one.
pub(crate) fn decode(bytes: &[u8]) -> Result<(Manifest, Vec<u8>), String> {
    let (magic, rest) = bytes.split_first_chunk::<8>().ok_or("it is too short")?;
    if magic != MAGIC {
        return Err("it does not begin as a checkpoint".into());
    }
    let (version, rest) = rest.split_first_chunk::<4>().ok_or("it is too short")?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(format!("it has version {version}, this octopus reads {VERSION}"));
    }
    let (manifest_len, rest) = rest.split_first_chunk::<4>().ok_or("it is too short")?;
    let (state_len, rest) = rest.split_first_chunk::<8>().ok_or("it is too short")?;
    let (checksum, payload) = rest.split_first_chunk::<32>().ok_or("it is too short")?;
    let manifest_len = u64::from(u32::from_le_bytes(*manifest_len));
    let expected = manifest_len.checked_add(u64::from_le_bytes(*state_len));
    if expected != Some(payload.len() as u64) {
        return Err(format!("it holds {} bytes where its header says otherwise", payload.len()));
    }
    if Sha256::digest(payload).as_slice() != checksum {
        return Err("its checksum does not match its contents".into());
    }
    let (manifest, state) = payload.split_at(manifest_len as usize);
    let manifest = serde_json::from_slice(manifest).map_err(|error| format!("its list of parts: {error}"))?;
    Ok((manifest, state.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Manifest, Vec<u8>) {
        let part = PartRecord { file: "draws/part-00000.parquet".into(), rows: 40, crc32: 7 };
        (Manifest { parts: vec![part] }, (0..=255).collect())
    }

    #[test]
    fn round_trip() {
        let (manifest, state) = example();
        assert_eq!(decode(&encode(&manifest, &state).unwrap()), Ok((manifest, state)));
        let empty = Manifest::default();
        assert_eq!(decode(&encode(&empty, &[]).unwrap()), Ok((empty, vec![])));
    }

    /// Checkpoints are read by later versions. The checksum is `sha256sum`'s.
    #[test]
    fn a_checkpoint_is_written_as_it_always_was() {
        let bytes = encode(&Manifest::default(), b"state").unwrap();
        assert_eq!(bytes[..24], *b"OCTOCKPT\x01\0\0\0\x0c\0\0\0\x05\0\0\0\0\0\0\0");
        let checksum: String = bytes[24..56].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(checksum, "e726b0d4dad55b97bbb6b229a6d44b9fd87a8d65b2227ac230681f030ef8a262");
        assert_eq!(bytes[56..], *b"{\"parts\":[]}state");
    }

    #[test]
    fn any_cut_and_any_flipped_bit_is_found() {
        let (manifest, state) = example();
        let good = encode(&manifest, &state).unwrap();
        for len in 0..good.len() {
            assert!(decode(&good[..len]).is_err(), "cut at {len}");
        }
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&bad).is_err(), "bit {bit}");
        }
    }
}
