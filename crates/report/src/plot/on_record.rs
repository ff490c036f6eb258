//! Pictures of unit tests are on record, so that a change of drawing is noticed where each shape of a picture is drawn.
//!
//! After a change that is meant, look at the gallery (`tests/pictures`), then `PICTURES=accept cargo nextest run
//! --release -p octopus-report --lib` puts the pictures of the tests on record.

use super::scene::Scene;
use super::svg::svg;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

thread_local! {
    /// The number of pictures that this test has drawn.
    static DRAWN: Cell<usize> = const { Cell::new(0) };
}

/// Returns the begin of the SHA-256 of `bytes`, in hexadecimal digits.
pub(crate) fn begin_of_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares the picture, in all its widths, with the record of this place in the running test; returns the difference.
///
/// The record is a file for each test, a line for each picture: the begin of the SHA-256 of the SVG of each width.
pub(crate) fn changed(widths: &[&Scene]) -> Option<String> {
    let thread = std::thread::current();
    let test = thread.name().filter(|name| name.contains("::"))?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plot/drawn").join(test.replace("::", "-") + ".txt");
    let at = DRAWN.replace(DRAWN.get() + 1);
    let hashes: Vec<String> = widths.iter().map(|scene| begin_of_hash(svg(scene).as_bytes())).collect();
    let hash = hashes.join(" ");
    let record = fs::read_to_string(&file).unwrap_or_default();
    if std::env::var_os("PICTURES").is_some_and(|word| word == "accept") {
        let mut kept = record.lines().take(at).fold(String::new(), |kept, line| kept + line + "\n");
        let _ = writeln!(kept, "{hash}");
        fs::write(&file, kept).unwrap();
        return None;
    }
    let drawn = record.lines().nth(at);
    (drawn != Some(hash.as_str())).then(|| {
        format!(
            "picture {at} of {test} is {hash}, on record is {drawn:?}: look at it, then accept it with PICTURES=accept"
        )
    })
}
