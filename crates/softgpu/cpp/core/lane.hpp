// What a running kernel knows of itself. Kernels read it through `kernel_host.hpp`, the scheduler in `block.cpp` writes
// it. Everything here is plain data: kernels and scheduler are compiled separately.
#pragma once
#include <cstddef>
#include <cstdint>

#define OCTOPUS_EXPORT __attribute__((visibility("default")))

namespace octopus_softgpu {

struct Dim3 {
  unsigned x, y, z;
};

struct Block {
  Dim3 index;
  Dim3 block_dim;
  Dim3 grid_dim;
};

/// One thread of a block.
struct Lane {
  Dim3 thread;
  const Block* block;
};

/// The lane that this host thread is running; null outside of kernels.
/// The model saves a call per access. It takes 8 bytes of the loader's reserve for libraries opened late.
extern OCTOPUS_EXPORT thread_local Lane* current_lane __attribute__((tls_model("initial-exec")));

/// What the lanes of a warp do together.
enum class Exchange : uint8_t { Shuffle, Ballot, Sync };

/// Blocks the lane until all lanes of `mask` are in the same exchange. Returns what lane `source` brought (Shuffle), a
/// bit for each lane whose value is not zero (Ballot), or 0 (Sync).
OCTOPUS_EXPORT uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source);

/// Blocks the lane until all threads of the block are here.
OCTOPUS_EXPORT void block_barrier();

/// Lets the other lanes of the block run, then the other blocks. Comes back for the lane to look again whether what it
/// waits for has happened; does not come back once the launch has failed.
OCTOPUS_EXPORT void lane_sleeps();

/// Where a kernel library keeps the shared memory of the block that a host thread runs: in its thread-local block, of
/// which it has no other use. `anchor` returns some address in it; `dynamic` those of `extern __shared__` arrays.
struct SharedMemory {
  void* (*anchor)();
  unsigned dynamic_count;
  void* (*const* dynamic)();
};

/// Bytes reserved for each `extern __shared__` array: the most that any architecture offers, and a guard behind it.
constexpr size_t DYNAMIC_SHARED_MOST = 232448;
constexpr size_t DYNAMIC_SHARED_GUARD = 256;

/// A kernel compiled for the host, as its library describes it under the name `octopus_kernel_<name>`.
struct HostKernel {
  const char* name;
  /// Runs one lane; the parameters are as in cuLaunchKernel.
  void (*call)(void** parameters);
  unsigned parameter_count;
  const size_t* parameter_sizes;
  const SharedMemory* shared;
};

struct Launch {
  const HostKernel* kernel;
  void** parameters;
  Dim3 grid;
  Dim3 block;
  size_t dynamic_shared;
  /// Host threads to spread the blocks over; 0 for a number that suits the machine and the launch.
  unsigned threads;
  /// Whether all blocks run side by side and may wait for each other (`lane_sleeps`).
  bool together;
};

/// Blocks that can run side by side: each keeps its lanes' stacks while another runs.
constexpr uint64_t MOST_TOGETHER = 1024;

/// Runs all blocks to their end. Returns 0 or a CUresult (719 for lanes that wait for each other in vain, 700 for an
/// invalid address, 702 for a launch whose lanes sleep for longer than the setting `timeout_ms`), with the reason in
/// `message`.
OCTOPUS_EXPORT int run_grid(const Launch& launch, char* message, size_t message_size);

}  // namespace octopus_softgpu
