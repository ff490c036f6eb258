// Contexts: which exist, and which each thread has as its current one.
#include <algorithm>
#include <memory>

#include "driver.hpp"

using namespace octopus_softgpu;

namespace {

/// In these compute modes a context may not be had: for nobody, or since another process has one.
bool is_withheld(const Driver& driver, CUdevice device) {
  constexpr int PROHIBITED = 2, EXCLUSIVE_THREAD = 1, EXCLUSIVE_PROCESS = 3;
  const Settings& s = settings();
  if (s.mode == PROHIBITED) return true;
  if (s.mode == EXCLUSIVE_THREAD && contexts(driver.physical(device)) > 0) return true;
  return (s.mode == EXCLUSIVE_PROCESS || s.mode == EXCLUSIVE_THREAD) && s.processes > 0;
}

Context* create(Driver& driver, CUdevice device, bool primary, unsigned flags) {
  count_contexts(driver.physical(device), 1);
  auto context = std::make_unique<Context>();
  context->device = device;
  context->primary = primary;
  context->flags = flags;
  context->uses = 1;
  return driver.contexts.add(std::move(context));
}

bool lives(Driver& driver, const void* handle) {
  const Context* context = driver.contexts.find(handle);
  return context != nullptr && context->uses > 0;
}

CUresult destroy_primary(Driver& driver, std::unique_lock<std::mutex>& lock, CUdevice device) {
  const auto found = driver.primary.find(device);
  if (found == driver.primary.end()) return INVALID_CONTEXT;
  destroy_context(driver, lock, *found->second);
  driver.primary.erase(found);
  return SUCCESS;
}

/// The scheduling flags and the two others of CUctx_flags; of the scheduling flags at most one.
bool flags_are_valid(unsigned flags) {
  const unsigned scheduling = flags & 7;
  return (flags & ~0x1fu) == 0 && (scheduling & (scheduling - 1)) == 0;
}

constexpr int STACK_SIZE = 0, PRINTF_FIFO_SIZE = 1, MALLOC_HEAP_SIZE = 2;

}  // namespace

DRIVER_FUNCTION cuDevicePrimaryCtxRetain(Context** context, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (context == nullptr) return INVALID_VALUE;
    if (device_is_lost(driver.physical(device))) return LAUNCH_FAILED;
    Context*& primary = driver.primary[device];
    if (primary == nullptr) {
      if (is_withheld(driver, device)) {
        driver.primary.erase(device);
        return DEVICE_UNAVAILABLE;
      }
      primary = create(driver, device, true, driver.primary_flags[device]);
    } else {
      ++primary->uses;
    }
    *context = primary;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    const auto found = driver.primary.find(device);
    if (found == driver.primary.end()) return INVALID_CONTEXT;
    if (found->second->uses > 1) {
      --found->second->uses;
      return SUCCESS;
    }
    return destroy_primary(driver, lock, device);
  });
}

DRIVER_FUNCTION cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    destroy_primary(driver, lock, device);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (!flags_are_valid(flags)) return INVALID_VALUE;
    driver.primary_flags[device] = flags;
    const auto found = driver.primary.find(device);
    if (found != driver.primary.end()) found->second->flags = flags;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (flags == nullptr || active == nullptr) return INVALID_VALUE;
    *flags = driver.primary_flags[device];
    *active = driver.primary.count(device) != 0;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxCreate_v2(Context** context, unsigned flags, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (context == nullptr || !flags_are_valid(flags)) return INVALID_VALUE;
    if (is_withheld(driver, device)) return DEVICE_UNAVAILABLE;
    *context = create(driver, device, false, flags);
    context_stack().push_back(*context);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxDestroy_v2(Context* context) {
  return call(__func__, Needs::Init, LOCKED {
    if (!lives(driver, context) || context->primary) return INVALID_CONTEXT;
    destroy_context(driver, lock, *context);
    auto& stack = context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxPushCurrent_v2(Context* context) {
  return call(__func__, Needs::Init, LOCKED {
    if (!lives(driver, context)) return INVALID_CONTEXT;
    context_stack().push_back(context);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxPopCurrent_v2(Context** context) {
  return call(__func__, Needs::Init, LOCKED {
    auto& stack = context_stack();
    if (stack.empty()) return INVALID_CONTEXT;
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxSetCurrent(Context* context) {
  return call(__func__, Needs::Init, LOCKED {
    if (context != nullptr && !lives(driver, context)) return INVALID_CONTEXT;
    auto& stack = context_stack();
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxGetCurrent(Context** context) {
  return call(__func__, Needs::Init, LOCKED {
    if (context == nullptr) return INVALID_VALUE;
    *context = current_context();
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxGetDevice(CUdevice* device) {
  return call(__func__, Needs::Context, LOCKED {
    if (device == nullptr) return INVALID_VALUE;
    *device = current_context()->device;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxGetFlags(unsigned* flags) {
  return call(__func__, Needs::Context, LOCKED {
    if (flags == nullptr) return INVALID_VALUE;
    *flags = current_context()->flags;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxGetApiVersion(Context* context, unsigned* version) {
  return call(__func__, Needs::Init, LOCKED {
    if (context == nullptr) context = current_context();
    if (!lives(driver, context)) return INVALID_CONTEXT;
    if (version == nullptr) return INVALID_VALUE;
    *version = 3020;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxSynchronize() {
  return call_that_waits(__func__, LOCKED { return finish_all(driver, lock); });
}

DRIVER_FUNCTION cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call(__func__, Needs::Context, LOCKED {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxSetLimit(int limit, size_t value) {
  return call(__func__, Needs::Context, LOCKED {
    Context& context = *current_context();
    if (limit == STACK_SIZE) context.stack_limit = value;
    if (limit == MALLOC_HEAP_SIZE) context.heap_limit = value;
    return limit < 0 || limit > 6 ? INVALID_VALUE : SUCCESS;
  });
}

DRIVER_FUNCTION cuCtxGetLimit(size_t* value, int limit) {
  return call(__func__, Needs::Context, LOCKED {
    if (value == nullptr || limit < 0 || limit > 6) return INVALID_VALUE;
    const Context& context = *current_context();
    *value = limit == STACK_SIZE ? context.stack_limit : limit == MALLOC_HEAP_SIZE ? context.heap_limit : limit == PRINTF_FIFO_SIZE ? 1 << 20 : 0;
    return SUCCESS;
  });
}

// Preferences that a driver may follow or not; this one does not.
DRIVER_FUNCTION cuCtxSetCacheConfig(int config) {
  return call(__func__, Needs::Context, LOCKED { return config < 0 || config > 3 ? INVALID_VALUE : SUCCESS; });
}
DRIVER_FUNCTION cuCtxGetCacheConfig(int* config) {
  return call(__func__, Needs::Context, LOCKED {
    if (config == nullptr) return INVALID_VALUE;
    *config = 0;
    return SUCCESS;
  });
}
DRIVER_FUNCTION cuCtxSetSharedMemConfig(int config) {
  return call(__func__, Needs::Context, LOCKED { return config < 0 || config > 2 ? INVALID_VALUE : SUCCESS; });
}
DRIVER_FUNCTION cuCtxGetSharedMemConfig(int* config) {
  return call(__func__, Needs::Context, LOCKED {
    if (config == nullptr) return INVALID_VALUE;
    *config = 1;
    return SUCCESS;
  });
}
