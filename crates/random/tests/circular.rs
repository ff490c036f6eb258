//! Bessel functions and circular distributions against mpmath (tests/data/make_von_mises.py) and against themselves.

#[path = "circular/properties.rs"]
mod properties;
#[path = "circular/table.rs"]
mod table;
