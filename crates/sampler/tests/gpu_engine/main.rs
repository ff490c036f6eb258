//! Whole runs of the GPU engine on the software GPU: the same front, buffers, launches and streams as on a device.

mod batch;
mod bits;
mod devices;
mod eight_schools;
mod fallback;
mod late;
mod many_short;
mod memory;
#[path = "../sampler/monte_carlo.rs"]
#[allow(dead_code, reason = "other tests use the rest of it")]
mod monte_carlo;
mod moving;
mod populations;
mod programs;
mod refusals;
mod scenario;
mod statistics;
mod teams;
mod trajectories;
mod watchdog;
