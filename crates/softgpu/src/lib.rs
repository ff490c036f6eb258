//! A software GPU for tests: doubles of `libcuda.so.1` and `libnvidia-ml.so.1` that run kernels on the host.
//!
//! A program under test finds the doubles in place of NVIDIA's libraries and goes its usual way: it probes devices,
//! loads PTX, copies buffers, launches kernels and meets errors. The kernels that run are the PTX itself, by the
//! interpreter of `octopus-ptx` ([`Lanes::Ptx`]), or the same CUDA C++ sources, compiled by g++ and run lane by lane, with
//! shuffles, shared memory and barriers. The device calls itself `Octopus software GPU (test double)`, so that nothing
//! takes it for a GPU. It is no measure of speed.
//!
//! | Concept | What it is |
//! |---|---|
//! | [`SoftwareGpu`] | the built libraries; tells a [`Command`](std::process::Command) to use them |
//! | [`Settings`] | what the machine is like and which call fails with which code |
//! | [`KernelSources`] | which kernels are compiled; the workspace's own by default, without the sampler's |
//! | [`SoftwareGpu::with_sampler`] | adds the sampler's, as they are named |
//! | [`sampler_units`] | all units of the sampler's kernels: the texts that a table and templates give, for `xtask` too |
//! | [`Lanes`] | how these run: as PTX, lane by lane, or fast |
//! | [`Body`] | a test's body in a process of its own, on a software GPU or on a GPU of this machine |
//! | [`DeviceReport`] | what a program has used of a device: memory at the most, launches |
//! | [`Variant`] | plain, or with the sanitizers for addresses and undefined behaviour |
//! | [`Unavailable`] | why it cannot be made: tests are skipped only where there is no compiler |
//!
//! ```no_run
//! use octopus_softgpu::{Settings, SoftwareGpu};
//! use std::process::Command;
//!
//! // Says SKIPPED on standard error where there is no g++.
//! let Some(gpu) = SoftwareGpu::for_test() else { return };
//! // The third allocation fails: out of memory.
//! let settings = Settings::new().memory(8_192, 8_000).fail("cuMemAlloc_v2", 2).at_call(3);
//! let status = gpu.command(&mut Command::new("octopus"), &settings).arg("verify").status();
//! assert_eq!(status.unwrap().code(), Some(1));
//! ```
//!
//! # Blocks that wait for each other
//!
//! `cuLaunchCooperativeKernel` runs all blocks of a grid side by side, on one host thread unless [`Settings::threads`]
//! asks for more, which then have a share of neighbours each. A thread goes on to its next block as soon as no lane of
//! a block is ready. A lane that waits for what another one writes must call `__nanosleep` in its loop, as it should
//! on a GPU: that is where other lanes and other blocks come to their turn, and a loop without it never ends here.
//! `__threadfence` orders writes before the flag, here as there, and reads after the loop.
//!
//! - A grid of more blocks than the device's multiprocessors hold at once
//!   (`cuOccupancyMaxActiveBlocksPerMultiprocessor`, which takes a kernel to have as many registers as its launch bounds
//!   leave, and 32 without bounds) gives 720. Of the blocks that fit the double takes 1024 at most, and refuses more
//!   with 801 and a message: [`Settings::multiprocessors`] makes the device smaller.
//! - Threads that wait in the middle of a kernel keep their stacks, of which there are 24576: a launch that needs more
//!   fails with 719. With [`Lanes::Arrays`] two for each block suffice.
//! - When a block fails, threads that sleep leave the kernel, and each call after the launch gives the code of the
//!   failure.
//! - A launch of either kind whose lanes still sleep so long after the first of them slept ([`Settings::timeout`])
//!   ends with 702; the message names one. The double cannot tell a lane that waits from one that works between two
//!   sleeps: a launch that works for so long, and sleeps now and then, needs a longer limit.
//! - An ordinary launch takes its blocks one after the other on each host thread, so a block that waits for a later
//!   one ends with 702; on a GPU it might never end. `cuLaunchKernelEx` is not there.
//!
//! # Where it is stricter than a GPU, and where not
//!
//! - Device memory, pinned memory and shared memory are full of NaNs (0xFF in each byte) until they are written. Shared
//!   memory is fresh for each block.
//! - A copy or fill that leaves its allocation gives 1, freeing what is not allocated too.
//! - Lanes that wait for each other in vain (a lane that missed a shuffle or a barrier, or left the kernel before it,
//!   and none that sleeps), a shuffle that reads a lane outside of its mask, an invalid address, a write beyond
//!   dynamic shared memory: the launch succeeds and each call after it gives 719 or 700, as on a GPU; the reason is on
//!   standard error. A GPU may let a lane leave before a barrier; this does not.
//! - Addresses are the host's. A kernel that leaves one allocation for another is caught by [`Variant::Sanitized`]
//!   only, and a host that reads device memory is not caught.
//! - Streams do everything at once, in the order of the calls, so that a wait which the program forgets does not show.
//!   With [`Settings::late`] work is done when something waits for it, in any order that streams and events allow, and
//!   to free memory is not to wait.
//! - Blocks run beside each other on several threads, the lanes of a block in one fixed order: a race inside a block
//!   does not show. The interpreter has random orders and looks for races: [`Settings::order`], [`Settings::checked`].
//! - Not there: textures, graphs, arrays, external memory, the linker; globals of modules; `__match` and
//!   `__activemask`.

mod body;
mod cache;
mod compiler;
#[cfg(test)]
mod ffi;
mod gpu;
mod kernels;
mod report;
mod sampler;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod unavailable;
mod units;

pub use body::Body;
pub use compiler::Variant;
pub use gpu::SoftwareGpu;
pub use kernels::{KernelSources, KernelUnit};
pub use report::DeviceReport;
pub use sampler::Lanes;
pub use settings::Settings;
pub use unavailable::Unavailable;
pub use units::{SamplerUnit, sampler_units, sampler_units_in};
