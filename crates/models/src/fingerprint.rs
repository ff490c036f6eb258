//! The fingerprint of data, by which a run knows its own again.

use octopus_bind::{Data, DataNumbers};
use octopus_formats::observations::{ColumnValues, DataTable};
use octopus_trace::Labels;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of the values as little-endian f64, in hexadecimal: the fingerprint of a data set.
pub fn sha256(values: &[f64]) -> String {
    let mut hash = Sha256::new();
    for value in values {
        hash.update(value.to_le_bytes());
    }
    in_hexadecimal(hash)
}

/// Returns the SHA-256 of a table: of each column its name, its kind and its values, of labels their texts and numbers.
pub(crate) fn table_sha256(table: &DataTable) -> String {
    let mut hash = Sha256::new();
    for (name, column) in table.columns() {
        text(&mut hash, name);
        text(&mut hash, &column.kind().to_string());
        match column {
            ColumnValues::Real(values) => values.iter().for_each(|value| hash.update(value.to_le_bytes())),
            ColumnValues::Integer(values) => values.iter().for_each(|value| hash.update(value.to_le_bytes())),
            ColumnValues::Label(column) => {
                column.codes().iter().for_each(|code| hash.update(code.to_le_bytes()));
                (0..column.labels().len()).for_each(|at| text(&mut hash, &column.labels().text(at)));
            }
        }
    }
    in_hexadecimal(hash)
}

/// Returns the SHA-256 of texts: of each its length and its bytes.
pub(crate) fn texts_sha256<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    texts.for_each(|one| text(&mut hash, one));
    in_hexadecimal(hash)
}

/// Returns the SHA-256 of a program's data: of each variable its name, its sizes, its kind and its values; and of the
/// labels that numbers of the data stand for.
pub(crate) fn data_sha256<'a>(data: &Data, labels: impl Iterator<Item = &'a Labels>) -> String {
    let mut hash = Sha256::new();
    for (name, value) in data.names().filter_map(|name| Some((name, data.get(name)?))) {
        text(&mut hash, name);
        hash.update((value.shape.len() as u64).to_le_bytes());
        value.shape.iter().for_each(|&size| hash.update((size as u64).to_le_bytes()));
        match &value.numbers {
            DataNumbers::Ints(values) => {
                hash.update([0]);
                values.iter().for_each(|value| hash.update(value.to_le_bytes()));
            }
            DataNumbers::Reals(values) => {
                hash.update([1]);
                values.iter().for_each(|value| hash.update(value.to_le_bytes()));
            }
        }
    }
    for labels in labels {
        (0..labels.len()).for_each(|at| text(&mut hash, &labels.text(at)));
    }
    in_hexadecimal(hash)
}

fn text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
}

fn in_hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
