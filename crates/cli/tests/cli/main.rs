//! The command as its users meet it: every test starts the program.

mod as_given;
mod bad_input;
mod batch;
mod calibrate;
mod commands;
mod compare;
mod double;
mod exit_codes;
mod folders;
mod formats;
mod gpu_devices;
mod gpu_fallback;
mod gpu_faults;
mod gpu_sampler;
mod gpu_sampling;
mod kill;
mod limits;
mod logging;
mod loo;
mod options;
mod own_model;
mod settings;
mod software_gpu;
mod strategies;
mod support;
mod validate;
