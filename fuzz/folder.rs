//! A folder of small files in one string of bytes, for readers of folders: for each file a line with its name
//! and its length, then its bytes.

use std::fs;
use std::path::Path;

/// Writes the files below `folder`. What is no file (a name out of the folder, a number that is none) ends it.
pub(crate) fn unpack(mut bytes: &[u8], folder: &Path) {
    while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
        let line = std::str::from_utf8(&bytes[..end]).unwrap_or_default();
        let Some((name, len)) = line.rsplit_once(' ') else { return };
        let Ok(len) = len.parse::<usize>() else { return };
        let rest = &bytes[end + 1..];
        let len = len.min(rest.len());
        let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part.len() < 64;
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if name.bytes().all(known) && name.split('/').all(plain) && name.len() < 200 {
            let path = folder.join(name);
            let _ = path.parent().map(fs::create_dir_all);
            let _ = fs::write(path, &rest[..len]);
        }
        bytes = &rest[len..];
    }
}

/// The same from a folder: those files that `keep` names.
#[allow(dead_code)]
pub(crate) fn pack(root: &Path, keep: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut open = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut out = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
        if keep(&name) {
            let bytes = fs::read(&file).unwrap();
            out.extend(format!("{name} {}\n", bytes.len()).into_bytes());
            out.extend(bytes);
        }
    }
    out
}
