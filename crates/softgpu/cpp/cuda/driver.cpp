#include "driver.hpp"

#include <cstdlib>

#include "report.hpp"

namespace octopus_softgpu {

namespace {

/// At the end of the process, what was never given back.
void report_leaks() {
  Driver& state = driver();
  std::unique_lock<std::mutex> lock(state.mutex, std::try_to_lock);
  if (!lock.owns_lock() || state.allocations.empty()) return;
  uint64_t bytes = 0;
  for (const auto& [address, allocation] : state.allocations) bytes += allocation.size;
  trace("leak", 0, std::to_string(state.allocations.size()) + " allocations, " + std::to_string(bytes) + " bytes");
}

}  // namespace

Driver& driver() {
  static Driver& driver = *[] {
    check_fault_names("cu", reinterpret_cast<const void*>(&admit));
    if (tracing()) atexit(report_leaks);
    report_at_the_end();
    Driver* made = new Driver;
    if (settings().late != 0) made->queue = std::make_unique<Queue>(settings().late);
    return made;
  }();
  return driver;
}

std::vector<Context*>& context_stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current_context() {
  auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}

std::string& details() {
  thread_local std::string details;
  return details;
}

CUresult admit(const char* name, Needs needs) {
  if (const int code = driver_fault(name)) return code;
  if (needs == Needs::Nothing) return SUCCESS;
  if (!driver().initialised) return NOT_INITIALIZED;
  if (needs == Needs::Init) return SUCCESS;
  const Context* context = current_context();
  if (context == nullptr) return INVALID_CONTEXT;
  if (context->uses == 0) return CONTEXT_IS_DESTROYED;
  return device_fault(driver().physical(context->device));
}

void expect_end(const char* function, bool never) {
  if (never) refuse(std::string(function) + " waits for a launch that never ends (setting hang)");
}

const Allocation* Driver::holds(CUdeviceptr address, size_t bytes) const {
  return const_cast<Driver*>(this)->find(address, bytes);
}

Allocation* Driver::find(CUdeviceptr address, size_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return nullptr;
  auto& [begin, allocation] = *std::prev(after);
  const uint64_t offset = address - begin;
  return offset <= allocation.size && bytes <= allocation.size - offset ? &allocation : nullptr;
}

}  // namespace octopus_softgpu
