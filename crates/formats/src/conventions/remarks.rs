//! What readers of NetCDF and Zarr have to say of a file, gathered while they read it.

use octopus_trace::shown;
use std::path::Path;

/// What is left out of a file or kept in another form, each with its place.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// What has a type for which a trace has no place, with a clause that says so.
    of_other_types: Vec<String>,
    /// Variables of no group.
    outside: Vec<String>,
    /// Unsigned integers beyond those of a trace, which are kept as text.
    as_text: Vec<String>,
}

impl Remarks {
    /// Remarks that the variable `name` of `group` is left out, for its type: `what` is a clause that says so.
    pub(crate) fn of_other_type(&mut self, group: &str, name: &str, what: &str) {
        self.of_other_types.push(format!("{} ({what})", place(group, name)));
    }

    /// Remarks that a variable is left out, since it is in no group.
    pub(crate) fn outside(&mut self, name: &str) {
        self.outside.push(shown(name).into_owned());
    }

    /// Remarks that the labels along the dimension `name` are kept as text.
    pub(super) fn labels_as_text(&mut self, group: &str, name: &str) {
        self.as_text.push(format!("the labels {}", place(group, name)));
    }

    /// Remarks that an attribute is kept as text; `name` is the variable that has it, or empty.
    pub(crate) fn attribute_as_text(&mut self, group: &str, name: &str, attribute: &str) {
        self.as_text.push(match place(group, name).as_str() {
            "" => format!("the attribute {}", shown(attribute)),
            place => format!("the attribute {} of {place}", shown(attribute)),
        });
    }

    /// Returns a sentence of each kind of remark, for the user.
    pub(crate) fn into_notes(self, path: &Path) -> Vec<String> {
        let note = |places: Vec<String>, what: &str| {
            (!places.is_empty()).then(|| format!("{}: {what}: {}", path.display(), places.join(", ")))
        };
        [
            note(self.of_other_types, "left out, since a trace holds numbers, flags and words only"),
            note(self.outside, "left out, since they are in no group such as `posterior`"),
            note(self.as_text, "kept as text, since they have integers beyond 2^63 - 1"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Returns the place of a variable in its file; `group` is empty at the root, `name` for the group itself.
fn place(group: &str, name: &str) -> String {
    let parts = [group, name].into_iter().filter(|part| !part.is_empty());
    parts.map(|part| shown(part).into_owned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_named_once_for_each_kind() {
        assert_eq!(Remarks::default().into_notes(Path::new("a.nc")), Vec::<String>::new());
        let mut remarks = Remarks::default();
        remarks.of_other_type("posterior", "z", "complex numbers");
        remarks.of_other_type("", "\u{1b}", "records of a, b");
        remarks.labels_as_text("posterior", "k");
        remarks.attribute_as_text("", "", "a");
        remarks.attribute_as_text("posterior", "", "b");
        remarks.attribute_as_text("posterior", "mu", "c");
        remarks.outside("x");
        let notes = remarks.into_notes(Path::new("a.nc"));
        let ends = [
            r"words only: posterior/z (complex numbers), \u{1b} (records of a, b)",
            "such as `posterior`: x",
            "2^63 - 1: the labels posterior/k, the attribute a, the attribute b of posterior, \
             the attribute c of posterior/mu",
        ];
        assert_eq!(notes.len(), ends.len());
        for (note, end) in notes.iter().zip(ends) {
            assert!(note.starts_with("a.nc: ") && note.ends_with(end), "{note}");
        }
    }
}
