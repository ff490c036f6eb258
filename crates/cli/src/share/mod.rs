//! Work that several processes or machines share over one folder: parts, claims, and what each process says of itself.
//!
//! No piece's outcome depends on who finds it, when, or how often; so parts and claims only save work, and the whole is
//! put together by the pieces' numbers.

mod claims;
mod kept;
mod outcomes;
mod part;
mod work;
mod worker;

pub(crate) use claims::{CLAIMS, Claims, clear};
pub(crate) use kept::{KeptFolder, KeptKind};
pub(crate) use outcomes::{OutcomeTable, Outcomes};
pub(crate) use part::{PARTS, WorkPart};
pub(crate) use work::{SharedWork, WAIT, left_by_parts, tell_share};
pub(crate) use worker::{BEAT, RECORDS, WHOLE, Worker, WorkerRecord, WorkerState, read_records};
