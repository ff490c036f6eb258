//! Diagnoses as JSON: the fields of their summary, and their own.

use super::Diagnosis;
use crate::summary::summary_fields;
use serde::ser::{Serialize, SerializeMap, Serializer};

impl Serialize for Diagnosis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        summary_fields(&self.summary, &mut map)?;
        map.serialize_entry("divergences", &self.divergences)?;
        map.serialize_entry("reached_max_treedepth", &self.reached_max_treedepth)?;
        map.serialize_entry("bfmi", &self.bfmi)?;
        map.serialize_entry("good", &self.usable())?;
        map.serialize_entry("checks", &self.checks)?;
        map.serialize_entry("advice", &self.advice())?;
        map.end()
    }
}
