//! Bessel functions and circular distributions against mpmath (tests/data/make_von_mises.py) and against themselves.

mod properties;
mod table;
