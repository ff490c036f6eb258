//! Eight schools against the model as its definition reads, and its exact posterior against other ways to it.

mod density;
mod observations;
mod posterior;
mod reference;

#[path = "../hierarchical/number.rs"]
mod number;
