//! Everything above the driver, against the software GPU. Each test is a process of its own, since a process has one
//! driver library and one set of faults. Without g++ the tests say SKIPPED.
#![cfg(feature = "cuda")]

mod batch;
mod buffers;
mod calls;
mod devices;
mod faults;
mod kernels;
mod late;
mod lost_context;
mod numbers;
mod order_and_time;
mod scenario;
mod threads;
mod timeline;
mod transfers;
