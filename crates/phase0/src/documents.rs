//! The documents that phase 0 leaves beside its figures: the record of the verification of the machine (D1), and the guide
//! of this program's version (D4).

use crate::error::Phase0Error;
use crate::options::Phase0Options;
use crate::stages::Stages;
use octopus_files::write_file;

/// The record of the verification, as `octopus verify --json` prints it without its deep checks.
pub(super) const VERIFICATION: &str = "verification.json";

/// The pages of the guide, each with its text.
const GUIDE: [(&str, &str); 2] = [
    ("guide/setup.md", include_str!("../../../docs/setup.md")),
    ("guide/troubleshooting.md", include_str!("../../../docs/troubleshooting.md")),
];

/// Returns the files of all documents.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(VERIFICATION).chain(GUIDE.map(|(name, _)| name))
}

/// Writes all documents.
///
/// # Errors
/// When a file cannot be written.
pub(super) fn write(options: &Phase0Options<'_>, stages: &Stages) -> Result<(), Phase0Error> {
    let record = stages.machine.record();
    let documents = std::iter::once((VERIFICATION, record.as_str())).chain(GUIDE);
    for (name, text) in documents {
        write_file(&options.out.join(name), text.as_bytes())?;
    }
    Ok(())
}
