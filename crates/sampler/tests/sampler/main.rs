//! The sampler as its users see it: whole runs against distributions with known answers, the same bits whatever
//! the machine does, calibration, and what happens when a density fails.

mod algorithms;
mod batch;
mod calibration;
mod densities;
mod effects;
mod eight_schools;
mod failures;
mod hierarchical;
mod known;
mod learned;
mod many_short;
mod monte_carlo;
mod population;
mod reproducible;
mod resume;
mod starts;
mod warm_up;
