#include "context_switch.hpp"

#if defined(__x86_64__) && !defined(OCTOPUS_SOFTGPU_UCONTEXT)
// Saves what a callee must keep (the floating-point control words are the same in all lanes), exchanges the stacks and
// returns on the new one.
asm(R"(
.text
.globl octopus_softgpu_switch
.hidden octopus_softgpu_switch
.type octopus_softgpu_switch, @function
octopus_softgpu_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size octopus_softgpu_switch, .-octopus_softgpu_switch
)");
#endif
