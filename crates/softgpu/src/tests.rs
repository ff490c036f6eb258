//! The doubles from a program's side: each scenario runs in a process of its own, since settings are read once.

mod bench;
mod devices;
mod faults;
mod kernels;
mod late;
mod launch;
mod memory;
mod modules;
mod nvml;
mod report;
mod sampler;
mod scenario;
mod session;
mod structures;
mod together;
mod unwritten;
mod workspace;
