// Functions: what is known of them, how many fit, and their launch.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "driver.hpp"
#include "interpreter.hpp"
#include "report.hpp"

namespace octopus_softgpu {

Function* Driver::function(const void* handle) {
  Function* found = nullptr;
  modules.any([&](Module& module) {
    for (auto& [name, function] : module.functions) {
      if (function.get() == handle) found = function.get();
    }
    return found != nullptr;
  });
  return found;
}

}  // namespace octopus_softgpu

using namespace octopus_softgpu;

namespace {

// CUfunction_attribute
enum {
  MAX_THREADS_PER_BLOCK = 0,
  SHARED_SIZE_BYTES = 1,
  CONST_SIZE_BYTES = 2,
  LOCAL_SIZE_BYTES = 3,
  NUM_REGS = 4,
  PTX_VERSION = 5,
  BINARY_VERSION = 6,
  CACHE_MODE_CA = 7,
  MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/// How many blocks of this shape one multiprocessor holds.
int blocks_per_sm(const Function& function, int threads, size_t dynamic) {
  const Architecture& a = architecture();
  if (threads <= 0 || threads > function.entry->most_threads) return 0;
  const int whole = round_up(threads, 32);
  const int by_threads = a.threads_per_sm / whole;
  const int by_registers = REGISTERS_PER_SM / (round_up(function.entry->registers, REGISTER_UNIT) * whole);
  const uint64_t reserved = settings().cc_major >= 8 ? 1024 : 0;
  const uint64_t shared = static_cast<uint64_t>(function.entry->static_shared) + dynamic + reserved;
  const int by_shared = shared == 0 ? a.blocks_per_sm : static_cast<int>(std::min<uint64_t>(a.shared_per_sm / shared, 1024));
  return std::min({a.blocks_per_sm, by_threads, by_registers, by_shared});
}

using SharedPerBlock = size_t (*)(int threads);

CUresult potential(Driver& driver, int* grid, int* block, Function* handle, SharedPerBlock per_block, size_t dynamic, int limit) {
  const Function* function = driver.function(handle);
  if (function == nullptr) return INVALID_HANDLE;
  if (grid == nullptr || block == nullptr) return INVALID_VALUE;
  int best = 0;
  const int most = limit > 0 ? std::min(limit, function->entry->most_threads) : function->entry->most_threads;
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    const int blocks = blocks_per_sm(*function, threads, per_block != nullptr ? per_block(threads) : dynamic);
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * settings().sms;
  }
  return best == 0 ? INVALID_VALUE : SUCCESS;
}

/// 0 if the device could run this shape.
CUresult check_shape(const Function& function, Dim3 grid, Dim3 block, unsigned dynamic) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > static_cast<uint64_t>(function.entry->most_threads) || block.z > 64) return INVALID_VALUE;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return INVALID_VALUE;
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) return INVALID_VALUE;
  return dynamic > static_cast<unsigned>(function.dynamic_shared_most) ? INVALID_VALUE : SUCCESS;
}

/// A launch's parameters as the driver keeps them: copies, each where any type may lie. The caller's need not be aligned.
class Parameters {
 public:
  Parameters(const PtxEntry& entry, void* const* given) {
    size_t units = 0;
    for (const size_t size : entry.parameter_sizes) units += in_units(size);
    bytes_.resize(units);
    for (size_t at = 0, i = 0; i < entry.parameter_sizes.size(); at += in_units(entry.parameter_sizes[i++])) {
      pointers_.push_back(&bytes_[at]);
      memcpy(pointers_[i], given[i], entry.parameter_sizes[i]);
    }
  }
  /// Only moved: the pointers are into the bytes.
  Parameters(Parameters&&) = default;
  void** pointers() { return pointers_.data(); }

 private:
  struct alignas(16) Unit {
    char bytes[16];
  };
  static size_t in_units(size_t size) { return (size + sizeof(Unit) - 1) / sizeof(Unit); }
  std::vector<Unit> bytes_;
  std::vector<void*> pointers_;
};

std::string shape(const Function& function, Dim3 g, Dim3 b, unsigned dynamic) {
  char text[160];
  snprintf(text, sizeof text, " grid %u,%u,%u block %u,%u,%u shared %u", g.x, g.y, g.z, b.x, b.y, b.z, dynamic);
  return function.entry->name + text;
}

/// 0 if all blocks of this shape can run side by side.
CUresult check_together(const Function& function, Dim3 grid, Dim3 block, unsigned dynamic) {
  if (!has_cooperative_launch()) return NOT_SUPPORTED;
  const uint64_t blocks = uint64_t{grid.x} * grid.y * grid.z;
  const int fit = blocks_per_sm(function, static_cast<int>(block.x * block.y * block.z), dynamic);
  if (blocks > static_cast<uint64_t>(fit) * static_cast<uint64_t>(settings().sms)) return COOPERATIVE_LAUNCH_TOO_LARGE;
  if (blocks <= MOST_TOGETHER) return SUCCESS;
  fprintf(stderr, "octopus software GPU: a cooperative launch of kernel %s has %llu blocks, and here %llu at most run side by side\n",
          function.entry->name.c_str(), static_cast<unsigned long long>(blocks), static_cast<unsigned long long>(MOST_TOGETHER));
  return NOT_SUPPORTED;
}

/// Where all memory lies: for each an address, a number of bytes, and where it is noted which of them have been written.
std::vector<uint64_t> addresses(const Driver& driver) {
  std::vector<uint64_t> triples;
  for (const auto& [address, allocation] : driver.allocations) {
    const auto& written = allocation.written;
    triples.insert(triples.end(), {address, allocation.size, written.empty() ? 0 : reinterpret_cast<uint64_t>(written.data())});
  }
  return triples;
}

/// A launch with all that it needs when it is done, which may be later than the call.
struct Launched {
  std::string kernel;
  const HostKernel* host;
  /// The module's text lives on until the launch has ended.
  std::shared_ptr<void> interpreted;
  Parameters parameters;
  Dim3 grid, block;
  unsigned dynamic;
  bool together;
};

/// Whether a launch that began then lasts longer than a display's watchdog allows.
bool took_too_long(Clock::time_point begun) {
  const unsigned limit = settings().watchdog_ms;
  return limit > 0 && Clock::now() - begun > std::chrono::milliseconds(limit);
}

/// Does the launch. A failure is told to the calls that follow, as by a GPU that runs while the launch returns.
void run(const Driver& driver, Launched& launched, std::unique_lock<std::mutex>& lock) {
  auto& [kernel, host, interpreted, parameters, grid, block, dynamic, together] = launched;
  const Interpreted as_text = {interpreted.get(), kernel.c_str(), parameters.pointers(), grid, block, dynamic, together,
                               interpreted == nullptr ? std::vector<uint64_t>() : addresses(driver)};
  const Launch as_host_code = {host, parameters.pointers(), grid, block, dynamic, settings().threads, together};
  // Other threads may ask the driver meanwhile; a second launch may run beside this one, as on a GPU.
  lock.unlock();
  char message[4096];
  const Clock::time_point begun = Clock::now();
  const int code = interpreted != nullptr ? run_interpreted(as_text, message, sizeof message)
                                          : run_grid(as_host_code, message, sizeof message);
  if (code != SUCCESS) break_device(code, message);
  if (took_too_long(begun)) break_device(LAUNCH_TIMEOUT, kernel + ": the watchdog ends it (setting watchdog_ms)");
}

struct How {
  const char* name;
  /// All blocks side by side.
  bool together;
};

CUresult launch(How how, Function* handle, Dim3 grid, Dim3 block, unsigned dynamic, void* stream, void** parameters) {
  return call(how.name, Needs::Context, LOCKED {
    const Function* function = driver.function(handle);
    if (function == nullptr || function->module->context != current_context()) return INVALID_HANDLE;
    if (tracing()) details() = shape(*function, grid, block, dynamic);
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (const CUresult code = check_shape(*function, grid, block, dynamic)) return code;
    if (const CUresult code = how.together ? check_together(*function, grid, block, dynamic) : SUCCESS) return code;
    if (parameters == nullptr && !function->entry->parameter_sizes.empty()) return INVALID_VALUE;
    const std::shared_ptr<void> interpreted = function->module->interpreted;
    if (interpreted == nullptr && function->host == nullptr) {
      fprintf(stderr, "octopus software GPU: kernel %s has no host-compiled twin (setting kernels)\n", function->entry->name.c_str());
      return NOT_SUPPORTED;
    }
    const auto launched = std::make_shared<Launched>(
        Launched{function->entry->name, function->host, interpreted, Parameters(*function->entry, parameters), grid, block, dynamic, how.together});
    count_launch(driver.physical(current_context()->device));
    current_context()->hangs |= launch_hangs();
    if (current_context()->hangs) return SUCCESS;
    submit(driver, lock, stream, [&driver, launched, module = function->module](std::unique_lock<std::mutex>& lock) {
      if (driver.modules.find(module) == nullptr) {
        break_device(LAUNCH_FAILED, launched->kernel + ": its module was unloaded before it ran");
      } else {
        run(driver, *launched, lock);
      }
    });
    return SUCCESS;
  });
}

}  // namespace

DRIVER_FUNCTION cuFuncGetAttribute(int* value, int attribute, Function* handle) {
  return call(__func__, Needs::Context, LOCKED {
    const Function* function = driver.function(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (value == nullptr) return INVALID_VALUE;
    switch (attribute) {
      case MAX_THREADS_PER_BLOCK: *value = function->entry->most_threads; return SUCCESS;
      case SHARED_SIZE_BYTES: *value = function->entry->static_shared; return SUCCESS;
      case CONST_SIZE_BYTES: case LOCAL_SIZE_BYTES: case CACHE_MODE_CA: *value = 0; return SUCCESS;
      case NUM_REGS: *value = function->entry->registers; return SUCCESS;
      case PTX_VERSION: *value = function->module->ptx.version; return SUCCESS;
      case BINARY_VERSION: *value = settings().cc_major * 10 + settings().cc_minor; return SUCCESS;
      case MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = function->dynamic_shared_most; return SUCCESS;
      case PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; return SUCCESS;
      default: return INVALID_VALUE;
    }
  });
}

DRIVER_FUNCTION cuFuncSetAttribute(Function* handle, int attribute, int value) {
  return call(__func__, Needs::Context, LOCKED {
    Function* function = driver.function(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (attribute == PREFERRED_SHARED_MEMORY_CARVEOUT) return value < -1 || value > 100 ? INVALID_VALUE : SUCCESS;
    const int most = architecture().shared_per_block_opt_in - function->entry->static_shared;
    if (attribute != MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > most) return INVALID_VALUE;
    function->dynamic_shared_most = value;
    return SUCCESS;
  });
}

// Preferences that a driver may follow or not; this one does not.
DRIVER_FUNCTION cuFuncSetCacheConfig(Function* function, int config) {
  return call(__func__, Needs::Context, LOCKED {
    if (driver.function(function) == nullptr) return INVALID_HANDLE;
    return config < 0 || config > 3 ? INVALID_VALUE : SUCCESS;
  });
}
DRIVER_FUNCTION cuFuncSetSharedMemConfig(Function* function, int config) {
  return call(__func__, Needs::Context, LOCKED {
    if (driver.function(function) == nullptr) return INVALID_HANDLE;
    return config < 0 || config > 2 ? INVALID_VALUE : SUCCESS;
  });
}

DRIVER_FUNCTION cuFuncGetModule(Module** module, Function* handle) {
  return call(__func__, Needs::Context, LOCKED {
    const Function* function = driver.function(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (module == nullptr) return INVALID_VALUE;
    *module = function->module;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* handle, int threads, size_t dynamic) {
  return call(__func__, Needs::Context, LOCKED {
    const Function* function = driver.function(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (blocks == nullptr || threads <= 0) return INVALID_VALUE;
    *blocks = blocks_per_sm(*function, threads, dynamic);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* function, SharedPerBlock per_block, size_t dynamic, int limit) {
  return call(__func__, Needs::Context, LOCKED { return potential(driver, grid, block, function, per_block, dynamic, limit); });
}

DRIVER_FUNCTION cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, Function* handle, int blocks, int threads) {
  return call(__func__, Needs::Context, LOCKED {
    const Function* function = driver.function(handle);
    if (function == nullptr) return INVALID_HANDLE;
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return INVALID_VALUE;
    const int each = architecture().shared_per_sm / blocks - (settings().cc_major >= 8 ? 1024 : 0);
    const int most = std::min(each, architecture().shared_per_block_opt_in) - function->entry->static_shared;
    *bytes = static_cast<size_t>(std::max(0, most));
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned dynamic, void* stream, void** parameters,
                               void** extra) {
  // Parameters in one buffer: nothing here uses them, and silence would be wrong.
  if (extra != nullptr) return call(__func__, Needs::Context, LOCKED { return NOT_SUPPORTED; });
  return launch({__func__, false}, function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic, stream, parameters);
}

DRIVER_FUNCTION cuLaunchCooperativeKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic,
                                          void* stream, void** parameters) {
  return launch({__func__, true}, function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic, stream, parameters);
}
