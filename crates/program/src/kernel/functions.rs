//! Stand-in until the functions have their text.

use super::text::Text;
use crate::operation::Op;

pub(super) fn operate(_text: &mut Text, _function: Op, _arguments: &[&str]) -> Option<String> {
    None
}
