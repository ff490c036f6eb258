//! The tests from outside, as one program.

mod arviz;
mod difference;
mod edges;
mod expected;
mod invariance;
mod limits;
mod live;
mod many;
mod predictive;
mod support;
mod trace;
