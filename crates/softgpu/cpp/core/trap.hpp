// Signals that a kernel causes (an invalid address, a stack overflow, an integer division by zero) end the kernel and
// not the process, as on a GPU.
#pragma once
#include <setjmp.h>

namespace octopus_softgpu {

/// Where a host thread goes on when its kernel was interrupted: `if (sigsetjmp(trap.back, 1) == 0) { trap.arm(); ...
/// }`.
struct Trap {
  sigjmp_buf back;
  int signal = 0;
  void* address = nullptr;

  Trap();
  ~Trap() { disarm(); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;
  void arm();
  void disarm();
};

}  // namespace octopus_softgpu
