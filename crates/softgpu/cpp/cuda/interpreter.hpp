// The interpreter of PTX (crates/ptx), which runs a module's own text in place of host-compiled kernels.
#pragma once
#include <string>

#include "driver.hpp"

namespace octopus_softgpu {

/// Whether the settings name the interpreter's library.
bool interprets();

/// Reads a module's text; null, with the reason in `complaint`, for one that is not understood.
std::shared_ptr<void> interpret(const char* text, std::string& complaint);

/// What is run: see cuLaunchKernel.
struct Interpreted {
  void* module;
  const char* entry;
  void** parameters;
  Dim3 grid, block;
  unsigned dynamic_shared;
  bool together;
  /// For each an address, a number of bytes, and where it is noted which of them have been written, or 0.
  std::vector<uint64_t> allocations;
};

/// Runs a grid; 0, or the CUresult of the failure with its reason in `message`.
int run_interpreted(const Interpreted& what, char* message, size_t message_size);

}  // namespace octopus_softgpu
