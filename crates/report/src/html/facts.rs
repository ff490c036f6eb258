//! Names and values, side by side.

use maud::{Markup, html};

/// Facts in two columns.
pub(super) fn table(facts: &[(String, String)]) -> Markup {
    html! {
        table.facts { tbody { @for (name, value) in facts { tr { th scope="row" { (name) } td { (value) } } } } }
    }
}
