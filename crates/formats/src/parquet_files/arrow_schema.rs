//! The entry `ARROW:schema` of a file's metadata: Arrow's types of the columns, which are more than Parquet's.
//!
//! It is a message of Arrow's format for files (`Message.fbs` and `Schema.fbs` of apache/arrow) as FlatBuffers, in
//! base 64. We write lengths of lists and units of durations there for pyarrow, pandas and Polars, and read types of
//! times.

use super::encode::ParquetColumn;
use super::types::{ParquetType, letters};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use octopus_trace::TimeUnit;

/// The key of the entry.
pub(super) const KEY: &str = "ARROW:schema";

/// What is before a message: a mark, then the message's length.
const PREFIX: usize = 8;
/// The format's version 5, and the number of a message that is a schema.
const VERSION: u32 = 4;
const SCHEMA: u32 = 1;

// Slots of the tables.
const MESSAGE_HEADER: usize = 2;
const SCHEMA_FIELDS: usize = 1;
const FIELD_NAME: usize = 0;
const FIELD_TYPE_NUMBER: usize = 2;
const FIELD_TYPE: usize = 3;
const FIELD_CHILDREN: usize = 5;

// Numbers of the types.
const INT: u32 = 2;
const FLOATING_POINT: u32 = 3;
const BINARY: u32 = 4;
const UTF8: u32 = 5;
const BOOL: u32 = 6;
const DATE: u32 = 8;
const TIME: u32 = 9;
const TIMESTAMP: u32 = 10;
const LIST: u32 = 12;
const FIXED_SIZE_LIST: u32 = 16;
const DURATION: u32 = 18;
const LARGE_LIST: u32 = 21;

/// Units of time, in the format's order.
const UNITS: [TimeUnit; 4] = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds];

/// A slot of a table that is written.
enum Slot {
    /// The default.
    Absent,
    /// A number of at most 32 bits.
    Number(u32),
    /// A table, text or vector, which comes later.
    Later(Vec<u8>),
}

/// Returns slots one after the other, and then what they refer to: each has the distance from itself. `offset` bytes
/// come before them.
fn slots(mut bytes: Vec<u8>, slots: Vec<Slot>) -> Vec<u8> {
    let first = bytes.len();
    bytes.resize(first + 4 * slots.len(), 0);
    for (at, slot) in slots.into_iter().enumerate() {
        let place = first + 4 * at;
        let number = match slot {
            Slot::Absent => continue,
            Slot::Number(number) => number,
            Slot::Later(more) => {
                let distance = bytes.len() - place;
                bytes.extend(more);
                distance as u32
            }
        };
        bytes[place..place + 4].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// Returns a table: the distance back to the places of its slots, its slots, what they refer to, the places.
fn table(fields: Vec<Slot>) -> Vec<u8> {
    let present: Vec<bool> = fields.iter().map(|slot| !matches!(slot, Slot::Absent)).collect();
    let mut bytes = slots(vec![0; 4], fields);
    let places = bytes.len() as i32;
    bytes[..4].copy_from_slice(&(-places).to_le_bytes());
    let sizes = [4 + 2 * present.len(), 4 + 4 * present.len()];
    let places = present.iter().enumerate().map(|(at, &present)| if present { 4 + 4 * at } else { 0 });
    bytes.extend(sizes.into_iter().chain(places).flat_map(|number| (number as u16).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn vector(tables: Vec<Vec<u8>>) -> Slot {
    let len = (tables.len() as u32).to_le_bytes().to_vec();
    Slot::Later(slots(len, tables.into_iter().map(Slot::Later).collect()))
}

fn text(text: &str) -> Slot {
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    Slot::Later(bytes)
}

fn field(name: &str, is_nullable: bool, (number, kind): (u32, Vec<Slot>), children: Vec<Vec<u8>>) -> Vec<u8> {
    table(vec![
        text(name),
        Slot::Number(is_nullable.into()),
        Slot::Number(number),
        Slot::Later(table(kind)),
        Slot::Absent,
        vector(children),
    ])
}

/// Returns the number of a type and what its table has.
fn type_table(kind: &ParquetType) -> (u32, Vec<Slot>) {
    let number = |number: usize| Slot::Number(number as u32);
    let unit = |unit: &TimeUnit| number(UNITS.iter().position(|known| known == unit).unwrap_or(0));
    match kind {
        ParquetType::Boolean => (BOOL, vec![]),
        &ParquetType::Integer { bits, signed } => (INT, vec![number(bits.into()), number(signed.into())]),
        ParquetType::Real(bits) => (FLOATING_POINT, vec![number(usize::from(*bits) / 32)]),
        ParquetType::Text => (UTF8, vec![]),
        ParquetType::Date => (DATE, vec![number(0)]),
        ParquetType::DateInMilliseconds => (DATE, vec![number(1)]),
        ParquetType::Timestamp(of, zone) => (TIMESTAMP, vec![unit(of), zone.as_deref().map_or(Slot::Absent, text)]),
        ParquetType::Duration(of) => (DURATION, vec![unit(of)]),
        ParquetType::Bytes | ParquetType::Decimal { .. } | ParquetType::Other(_) => (BINARY, vec![]),
    }
}

/// Returns the entry's text for these columns.
pub(super) fn encoded(columns: &[ParquetColumn]) -> String {
    let fields = columns.iter().map(|column| {
        let own = type_table(&column.kind);
        match column.width {
            None => field(&column.name, column.is_nullable(), own, vec![]),
            Some(width) => {
                let element = field(super::ELEMENT, false, own, vec![]);
                let list = (FIXED_SIZE_LIST, vec![Slot::Number(width as u32)]);
                field(&column.name, false, list, vec![element])
            }
        }
    });
    let schema = table(vec![Slot::Absent, vector(fields.collect())]);
    let message = table(vec![Slot::Number(VERSION), Slot::Number(SCHEMA), Slot::Later(schema)]);
    let mut message = slots(Vec::new(), vec![Slot::Later(message)]);
    message.resize(message.len().next_multiple_of(PREFIX), 0);
    let prefix = [u32::MAX, message.len() as u32].map(u32::to_le_bytes).concat();
    STANDARD.encode([prefix, message].concat())
}

/// A table that is read. What is damaged is absent.
#[derive(Clone, Copy)]
struct FlatTable<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> FlatTable<'a> {
    fn root(bytes: &'a [u8]) -> Option<Self> {
        Self { bytes, at: 0 }.referred(0)
    }

    fn get<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn length(self, at: usize) -> Option<usize> {
        self.get(at).map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// Returns the table that is referred to at a place.
    fn referred(self, place: usize) -> Option<Self> {
        Some(Self { at: place.checked_add(self.length(place)?)?, ..self })
    }

    fn place(self, slot: usize) -> Option<usize> {
        let number = |at: usize| self.get(at).map(|bytes| usize::from(u16::from_le_bytes(bytes)));
        let back = i32::from_le_bytes(self.get(self.at)?);
        let places = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let entry = 4 + 2 * slot;
        let offset = number(places.checked_add(entry)?).filter(|&offset| offset > 0)?;
        (entry + 2 <= number(places)?).then_some(self.at + offset)
    }

    fn table(self, slot: usize) -> Option<Self> {
        self.referred(self.place(slot)?)
    }

    fn byte(self, slot: usize) -> Option<u8> {
        self.get(self.place(slot)?).map(|[byte]| byte)
    }

    fn text(self, slot: usize) -> Option<&'a str> {
        let start = self.table(slot)?.at;
        let bytes = self.bytes.get(start + 4..(start + 4).checked_add(self.length(start)?)?)?;
        std::str::from_utf8(bytes).ok()
    }

    fn tables(self, slot: usize) -> Option<impl Iterator<Item = Self>> {
        let start = self.table(slot)?.at;
        let len = self.length(start)?;
        Some((1..=len).map_while(move |at| self.referred(start + 4 * at)))
    }
}

/// Returns the columns' names, with the types of those that hold times, or lists of them; `None` of what is no such entry.
pub(super) fn times(text: &str) -> Option<Vec<(String, Option<ParquetType>)>> {
    let bytes = STANDARD.decode(text).ok()?;
    let message = if bytes.starts_with(&[0xff; 4]) { bytes.get(PREFIX..)? } else { &bytes };
    let fields = FlatTable::root(message)?.table(MESSAGE_HEADER)?.tables(SCHEMA_FIELDS)?;
    Some(fields.map(|field| (field.text(FIELD_NAME).unwrap_or_default().to_owned(), time_of(field))).collect())
}

/// Returns the type of a field if it holds times. The type of a dictionary's field is that of the values.
fn time_of(field: FlatTable<'_>) -> Option<ParquetType> {
    let number = |field: FlatTable<'_>| field.byte(FIELD_TYPE_NUMBER).map(u32::from);
    let field = match number(field)? {
        LIST | LARGE_LIST | FIXED_SIZE_LIST => field.tables(FIELD_CHILDREN)?.next()?,
        _ => field,
    };
    let kind = field.table(FIELD_TYPE)?;
    let unit = |default: u8| UNITS.get(usize::from(kind.byte(0).unwrap_or(default))).copied();
    Some(match number(field)? {
        TIMESTAMP => ParquetType::Timestamp(unit(0)?, kind.text(1).map(str::to_owned)),
        DURATION => ParquetType::Duration(unit(1)?),
        DATE if kind.byte(0).unwrap_or(1) == 1 => ParquetType::DateInMilliseconds,
        TIME => ParquetType::Other(format!("Time({})", letters(unit(1)?))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::sample::{durations, instants, integers, real_lists};
    use super::*;

    fn columns() -> Vec<ParquetColumn> {
        let named = |name: &str, column| ParquetColumn { name: name.to_owned(), ..column };
        vec![
            named("chain", integers(&[1])),
            named("ahead", instants(TimeUnit::Microseconds, Some("+01:00"), &[1])),
            named("säkunden", instants(TimeUnit::Seconds, None, &[1])),
            named("theta", real_lists(&[0.5, 1.5], 2)),
            named("days", durations(TimeUnit::Nanoseconds, &[1, 2]).in_lists(Some(2))),
            named(
                "",
                ParquetColumn::of("", ParquetType::DateInMilliseconds, super::super::stored::Stored::Int64(vec![0])),
            ),
        ]
    }

    #[test]
    fn types_of_times_come_back() {
        let found = times(&encoded(&columns())).unwrap();
        let expected = [
            ("chain", None),
            ("ahead", Some(ParquetType::Timestamp(TimeUnit::Microseconds, Some("+01:00".to_owned())))),
            ("säkunden", Some(ParquetType::Timestamp(TimeUnit::Seconds, None))),
            ("theta", None),
            ("days", Some(ParquetType::Duration(TimeUnit::Nanoseconds))),
            ("", Some(ParquetType::DateInMilliseconds)),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
    }

    #[test]
    fn damaged_entries_never_panic() {
        let good = STANDARD.decode(encoded(&columns())).unwrap();
        for at in 0..good.len() {
            _ = times(&STANDARD.encode(&good[..at]));
            for byte in [0, 1, 4, 0x7f, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                _ = times(&STANDARD.encode(bad));
            }
        }
        assert_eq!(times("no base 64"), None);
    }
}
