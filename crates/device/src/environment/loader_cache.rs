//! The loader's cache, `/etc/ld.so.cache`: which files it knows by which name.
//!
//! Read here rather than asked of `ldconfig -p`: the program lies in `/sbin`, which users often do not
//! have in their path, and starting it costs more than all checks together.
//!
//! Format: glibc, `sysdeps/generic/dl-cache.h`. The present form starts with `glibc-ld.so.cache1.1`; older
//! systems put the form of libc5 before it. All numbers are in the machine's byte order.

const OLD_MAGIC: &[u8] = b"ld.so-1.7.0\0";
const OLD_ENTRY: usize = 12;
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const HEADER: usize = 48;
const ENTRY: usize = 24;

/// Returns the paths of every library called `soname`, in the cache's order. A file that is damaged or of a form that
/// is not known has none.
pub(super) fn paths(cache: &[u8], soname: &str) -> Vec<String> {
    let Some(table) = table(cache) else { return Vec::new() };
    let Some(count) = number(table, MAGIC.len()) else { return Vec::new() };
    (0..count)
        .map_while(|i| {
            let entry = HEADER.checked_add(i.checked_mul(ENTRY)?)?;
            // Offset 0 holds flags, which tell the architecture; the files themselves are asked for theirs.
            Some((text(table, number(table, entry + 4)?)?, text(table, number(table, entry + 8)?)?))
        })
        .filter(|(name, _)| *name == soname.as_bytes())
        .map(|(_, path)| String::from_utf8_lossy(path).into_owned())
        .collect()
}

/// Returns the part in the present form, from which its offsets count.
fn table(cache: &[u8]) -> Option<&[u8]> {
    let table = if cache.starts_with(OLD_MAGIC) {
        let end = OLD_MAGIC.len() + 4 + number(cache, OLD_MAGIC.len())?.checked_mul(OLD_ENTRY)?;
        cache.get(end.next_multiple_of(8)..)?
    } else {
        cache
    };
    table.starts_with(MAGIC).then_some(table)
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_ne_bytes(bytes.try_into().ok()?)).ok()
}

/// Returns the bytes from `at` to the next zero.
fn text(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    Some(&rest[..rest.iter().position(|&byte| byte == 0)?])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a cache in the present form with these entries.
    pub(in crate::environment) fn cache(entries: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut strings: Vec<u8> = Vec::new();
        let word = |bytes: &mut Vec<u8>, n: usize| bytes.extend(u32::try_from(n).unwrap().to_ne_bytes());
        word(&mut bytes, entries.len());
        bytes.resize(HEADER, 0);
        let start = HEADER + entries.len() * ENTRY;
        for (name, path) in entries {
            word(&mut bytes, 0x303);
            for part in [name, path] {
                word(&mut bytes, start + strings.len());
                strings.extend(part.bytes().chain([0]));
            }
            bytes.extend([0; 12]);
        }
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn both_forms_are_read() {
        let entries = [
            ("libc.so.6", "/lib/libc.so.6"),
            ("libcuda.so.1", "/usr/lib/libcuda.so.1"),
            ("libcuda.so.1", "/opt/compat/libcuda.so.1"),
        ];
        let new = cache(&entries);
        let expected = ["/usr/lib/libcuda.so.1", "/opt/compat/libcuda.so.1"];
        assert_eq!(paths(&new, "libcuda.so.1"), expected);
        assert_eq!(paths(&new, "libcuda.so"), Vec::<String>::new());
        let mut old = OLD_MAGIC.to_vec();
        old.extend(1_u32.to_ne_bytes());
        old.extend([7; OLD_ENTRY]);
        old.resize(old.len().next_multiple_of(8), 0);
        old.extend(&new);
        assert_eq!(paths(&old, "libcuda.so.1"), expected);
    }

    #[test]
    fn damage_is_no_panic() {
        let whole = cache(&[("libcuda.so.1", "/usr/lib/libcuda.so.1"), ("b", "/b")]);
        for length in 0..whole.len() {
            let _ = paths(&whole[..length], "libcuda.so.1");
            let mut broken = whole.clone();
            broken[length] ^= 0xff;
            let _ = paths(&broken, "libcuda.so.1");
        }
        assert_eq!(paths(b"something else altogether", "libcuda.so.1"), Vec::<String>::new());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn this_machines_cache_knows_the_c_library() {
        let Ok(bytes) = std::fs::read("/etc/ld.so.cache") else {
            eprintln!("SKIPPED: this machine has no /etc/ld.so.cache");
            return;
        };
        let found = paths(&bytes, "libc.so.6");
        assert!(found.iter().any(|path| std::path::Path::new(path).exists()), "{found:?}");
    }
}
