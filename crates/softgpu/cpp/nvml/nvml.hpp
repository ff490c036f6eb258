// The way into each NVML function of the double.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/faults.hpp"
#include "../core/lane.hpp"
#include "../core/machine.hpp"
#include "../core/settings.hpp"

using nvmlReturn_t = int;

#define NVML_FUNCTION extern "C" OCTOPUS_EXPORT nvmlReturn_t

namespace octopus_softgpu {

// The nvmlReturn_t values that this double gives by itself. (Faults may give any.)
enum : nvmlReturn_t {
  SUCCESS = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  INSUFFICIENT_SIZE = 7,
  GPU_IS_LOST = 15,
};

/// What a handle points at.
struct Device {
  int number;
};

/// The handle of device `number`; null if there is none.
Device* device(unsigned number);

/// Counts and traces the call, lets faults happen, and refuses before nvmlInit and for a handle that is none.
nvmlReturn_t admit(const char* name, bool needs_init);
bool is_device(const Device* handle);
/// Counts nvmlInit and nvmlShutdown; false if there are more of the latter.
bool change_users(int change);

template <class F> nvmlReturn_t call(const char* name, F work) {
  nvmlReturn_t code = admit(name, true);
  if (code == SUCCESS) code = work();
  trace(name, code);
  return code;
}

template <class F> nvmlReturn_t ask(const char* name, const Device* handle, const void* out, F work) {
  return call(name, [&]() -> nvmlReturn_t {
    if (!is_device(handle) || out == nullptr) return INVALID_ARGUMENT;
    if (device_is_lost(handle->number)) return GPU_IS_LOST;
    return work(handle->number);
  });
}

/// Answers with one value.
template <class T, class V> nvmlReturn_t answer(const char* name, const Device* handle, T* out, V value) {
  return ask(name, handle, out, [&](int) {
    *out = static_cast<T>(value);
    return SUCCESS;
  });
}

nvmlReturn_t put_text(char* out, unsigned length, const std::string& text);

}  // namespace octopus_softgpu
