// Leaving one stack for another. On x86-64 by twelve instructions, elsewhere by ucontext, which makes two system calls
// per switch and is some twenty times slower.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// OCTOPUS_SOFTGPU_UCONTEXT lets x86-64 try what other processors do.
#if defined(__x86_64__) && !defined(OCTOPUS_SOFTGPU_UCONTEXT)

extern "C" void octopus_softgpu_switch(void** save, void* to);

namespace octopus_softgpu {
struct Registers {
  void* stack_pointer = nullptr;
  void prepare(char* bottom, size_t size, size_t colour, void (*entry)()) {
    uintptr_t top = (reinterpret_cast<uintptr_t>(bottom) + size - colour) & ~uintptr_t{63};
    // `entry` must begin as after a call: 8 bytes below a multiple of 16. Above its address lies a null return address.
    void** slots = reinterpret_cast<void**>(top) - 2;
    slots[0] = reinterpret_cast<void*>(entry);
    slots[1] = nullptr;
    stack_pointer = slots - 6;
  }
  void leave_for(Registers& to) { octopus_softgpu_switch(&stack_pointer, to.stack_pointer); }
  const char* hint() const { return static_cast<const char*>(stack_pointer); }
};
}  // namespace octopus_softgpu

#else
#include <ucontext.h>

namespace octopus_softgpu {
struct Registers {
  ucontext_t context;
  void prepare(char* bottom, size_t size, size_t colour, void (*entry)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = bottom;
    context.uc_stack.ss_size = size - colour;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
  }
  void leave_for(Registers& to) { swapcontext(&context, &to.context); }
  const char* hint() const { return reinterpret_cast<const char*>(&context); }
};
}  // namespace octopus_softgpu

#endif

namespace octopus_softgpu {

/// A place to come back to: registers and, for the address sanitizer, the bounds of the stack.
struct Place {
  Registers registers;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  size_t size = 0;
#endif

  void prepare(char* stack, size_t bytes, size_t colour, void (*entry)()) {
#if defined(__SANITIZE_ADDRESS__)
    // Frames that were abandoned on this stack have left their red zones.
    __asan_unpoison_memory_region(stack, bytes);
#endif
    is_on(stack, bytes);
    registers.prepare(stack, bytes, colour, entry);
  }

  /// Where the stack is that this place will be on.
  void is_on([[maybe_unused]] char* stack, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
    bottom = stack;
    size = bytes;
#endif
  }

  /// Goes to `to`; returns when somebody comes back here.
  void leave_for(Place& to) {
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, to.bottom, to.size);
    registers.leave_for(to.registers);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    registers.leave_for(to.registers);
#endif
  }

  /// Where the memory begins that coming back here reads first.
  const char* hint() const { return registers.hint(); }

  /// To be called first on a new stack: tells the sanitizer that we have arrived, and where the thread's own stack is.
  static void arrived([[maybe_unused]] Place& from) {
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (from.bottom == nullptr) {
      from.bottom = bottom;
      from.size = size;
    }
#endif
  }
};

}  // namespace octopus_softgpu
