//! Damage to some of a user's files: bytes, lengths, kinds, links.

use super::chance::Chance;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts that readers have fallen over.
const TEXTS: [&[u8]; 14] = [
    b"",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"nan",
    b"-inf",
    b"1e400",
    b"18446744073709551616",
    b"\r\n\r",
    b"\"",
    b"\x1b[31m",
    b"\xc2\x9b",
    b"\xe2\x80\xae",
    b"[[[[[[[[[[[[[[[[",
];

/// Damages nothing, or up to three files below `dir`; returns what was done, a line each.
pub(super) fn some(dir: &Path, chance: &mut Chance) -> Result<String> {
    let mut done = String::new();
    if chance.one_in(3) {
        return Ok(done);
    }
    for _ in 0..=chance.below(3) {
        let path = below(dir, chance)?;
        let what = one(&path, chance).with_context(|| format!("cannot damage {}", path.display()))?;
        writeln!(done, "{}: {what}", path.strip_prefix(dir).unwrap_or(&path).display())?;
    }
    Ok(done)
}

/// Chooses a name in `dir`, in a folder of that name one below it, and so on to a file: a Zarr store of a thousand files
/// counts as one.
fn below(dir: &Path, chance: &mut Chance) -> Result<PathBuf> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    if paths.is_empty() {
        return Ok(dir.to_owned());
    }
    let path = chance.one_of(&paths).clone();
    let is_folder = path.symlink_metadata().is_ok_and(|kind| kind.is_dir());
    if is_folder { below(&path, chance) } else { Ok(path) }
}

/// Damages one file, which an earlier damage may have taken.
fn one(path: &Path, chance: &mut Chance) -> Result<&'static str> {
    if !path.symlink_metadata().is_ok_and(|file| file.is_file()) {
        return Ok("was damaged before");
    }
    let mut bytes = fs::read(path)?;
    let at = chance.below(bytes.len() + 1);
    let what = match chance.below(12) {
        0 => {
            bytes.truncate(at);
            "cut"
        }
        1 => {
            let length = chance.below(64);
            bytes.drain(at..(at + length).min(bytes.len()));
            "bytes left out"
        }
        2 => {
            let copy = bytes[at..(at + 200).min(bytes.len())].to_vec();
            bytes.splice(at..at, copy);
            "bytes twice"
        }
        3..=5 => {
            bytes.splice(at..at, chance.one_of(&TEXTS).iter().copied());
            "a text put in"
        }
        6 => {
            fs::remove_file(path)?;
            return Ok("removed");
        }
        7 => {
            fs::remove_file(path)?;
            fs::create_dir(path)?;
            return Ok("a folder now");
        }
        8 => {
            fs::remove_file(path)?;
            let target = *chance.one_of(&["/dev/zero", "/dev/null", "absent", ".."]);
            symlink(target, path)?;
            return Ok("a link now, to /dev/zero, /dev/null, nothing or its folder");
        }
        9 => {
            fs::remove_file(path)?;
            Command::new("mkfifo").arg(path).status()?;
            return Ok("a FIFO now");
        }
        _ => {
            for _ in 0..=chance.below(8) {
                if !bytes.is_empty() {
                    let at = chance.below(bytes.len());
                    bytes[at] ^= 1 << chance.below(8);
                }
            }
            "bits turned"
        }
    };
    fs::write(path, bytes)?;
    Ok(what)
}
