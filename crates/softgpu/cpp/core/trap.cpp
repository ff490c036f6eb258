#include "trap.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <initializer_list>
#include <mutex>

#include "lane.hpp"

namespace octopus_softgpu {

namespace {

#if !defined(__SANITIZE_ADDRESS__)

constexpr size_t SIGNAL_STACK = 64 << 10;

thread_local Trap* armed = nullptr;
struct sigaction before[NSIG];

void caught(int number, siginfo_t* info, void* context) {
  Trap* trap = armed;
  if (trap != nullptr && current_lane != nullptr) {
    armed = nullptr;
    trap->signal = number;
    trap->address = info->si_addr;
    siglongjmp(trap->back, 1);
  }
  // Not ours: as if we were not here.
  const struct sigaction& old = before[number];
  if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(number, info, context);
  if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(number);
  sigaction(number, &old, nullptr);
}

void install() {
  struct sigaction action = {};
  action.sa_sigaction = caught;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE}) sigaction(number, &action, &before[number]);
}

/// A kernel that overflows its stack leaves none to handle the signal on.
void have_signal_stack() {
  thread_local struct Space {
    void* memory = nullptr;
    ~Space() {
      if (memory == nullptr) return;
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
      munmap(memory, SIGNAL_STACK);
    }
  } space;
  stack_t now = {};
  sigaltstack(nullptr, &now);
  if (!(now.ss_flags & SS_DISABLE)) return;
  void* memory = mmap(nullptr, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  space.memory = memory;
  stack_t own = {};
  own.ss_sp = memory;
  own.ss_size = SIGNAL_STACK;
  sigaltstack(&own, nullptr);
}

#endif

}  // namespace

#if defined(__SANITIZE_ADDRESS__)

// The sanitizer's own report says more.
Trap::Trap() = default;
void Trap::arm() {}
void Trap::disarm() {}

#else

Trap::Trap() {
  static std::once_flag once;
  std::call_once(once, install);
  have_signal_stack();
}

void Trap::arm() { armed = this; }
void Trap::disarm() { armed = nullptr; }

#endif

}  // namespace octopus_softgpu
