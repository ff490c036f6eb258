// The state of the driver's double and the way into each of its functions.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../core/faults.hpp"
#include "../core/lane.hpp"
#include "../core/machine.hpp"
#include "../core/settings.hpp"
#include "ptx.hpp"
#include "queue.hpp"

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;

#define DRIVER_FUNCTION extern "C" OCTOPUS_EXPORT CUresult

namespace octopus_softgpu {

// The CUresult values that this double gives by itself. (Faults may give any.)
enum : CUresult {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEVICE_UNAVAILABLE = 46,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  INVALID_PTX = 218,
  UNSUPPORTED_PTX_VERSION = 222,
  FILE_NOT_FOUND = 301,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  LAUNCH_TIMEOUT = 702,
  PRIMARY_CONTEXT_ACTIVE = 708,
  CONTEXT_IS_DESTROYED = 709,
  HOST_MEMORY_ALREADY_REGISTERED = 712,
  HOST_MEMORY_NOT_REGISTERED = 713,
  LAUNCH_FAILED = 719,
  COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  NOT_SUPPORTED = 801,
};

/// Owns what the program holds handles of: an unknown or stale handle is found out.
template <class T> class Handles {
 public:
  T* add(std::unique_ptr<T> object) {
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  T* find(const void* handle) {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second.get();
  }
  bool remove(const void* handle) { return objects_.erase(handle) == 1; }
  template <class F> void remove_if(F predicate) {
    for (auto it = objects_.begin(); it != objects_.end();) it = predicate(*it->second) ? objects_.erase(it) : std::next(it);
  }
  /// True as soon as `predicate` is true of one.
  template <class F> bool any(F predicate) {
    for (auto& [handle, object] : objects_) {
      if (predicate(*object)) return true;
    }
    return false;
  }

 private:
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

struct Context {
  /// The device's number among the visible ones.
  CUdevice device;
  bool primary;
  unsigned flags;
  /// Retains of a primary context; 0 once the context is destroyed.
  unsigned uses;
  size_t stack_limit = 1024;
  size_t heap_limit = 8 << 20;
  /// A launch in it never ends, so nothing does that comes later.
  bool hangs = false;
};

enum class Kind { Device, Managed, Pinned, Registered };

struct Allocation {
  size_t size;
  Kind kind;
  const Context* context;
  /// What the device's account was charged.
  uint64_t charged;
  /// The length of the mapping, or 0 for memory of malloc.
  size_t mapped;
  /// A bit for each four bytes, 1 where somebody has written any of them; empty where nobody asks (setting `checked`).
  std::vector<uint32_t> written;
};

struct Module;

struct Function {
  Module* module;
  const PtxEntry* entry;
  const HostKernel* host;
  int dynamic_shared_most;
};

struct Module {
  Context* context;
  Ptx ptx;
  /// The text as the interpreter has read it; null where host-compiled kernels run.
  std::shared_ptr<void> interpreted;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Stream {
  Context* context;
  unsigned flags;
  int priority;
  uint64_t number;
};

using Clock = std::chrono::steady_clock;

struct Event {
  Context* context;
  bool timed;
  bool recorded;
  /// Behind a launch that never ends.
  bool never;
  Clock::time_point at;
  /// The work that it was recorded behind.
  Queue::Number number;
};

/// Memory that the program has freed while work was queued: it stays until that is done, full of UNWRITTEN.
struct Freed {
  const Context* context;
  void* memory;
  size_t mapped;
};

struct Driver {
  std::mutex mutex;
  bool initialised = false;
  /// Visible device -> device of the machine.
  std::vector<int> devices;
  std::map<CUdevice, Context*> primary;
  std::map<CUdevice, unsigned> primary_flags;
  /// Contexts that were destroyed stay here, so that a thread that still has one as its current finds that out.
  Handles<Context> contexts;
  Handles<Module> modules;
  Handles<Stream> streams;
  Handles<Event> events;
  std::map<CUdeviceptr, Allocation> allocations;
  uint64_t next_stream = FIRST_OWN_STREAM;
  /// Null without the setting `late`.
  std::unique_ptr<Queue> queue;
  std::vector<Freed> freed;

  int physical(CUdevice device) const { return devices[static_cast<size_t>(device)]; }
  bool has(CUdevice device) const { return device >= 0 && static_cast<size_t>(device) < devices.size(); }
  /// The allocation that holds all of these bytes; null if none does.
  const Allocation* holds(CUdeviceptr address, size_t bytes) const;
  Function* function(const void* handle);
  /// Bytes have come to `to`: from `from`, if they were copied, else from the program.
  void note_written(CUdeviceptr to, CUdeviceptr from, size_t bytes);

 private:
  Allocation* find(CUdeviceptr address, size_t bytes);
};

Driver& driver();

/// From compute capability 6.0 on.
inline bool has_cooperative_launch() { return settings().cc_major >= 6; }

/// The contexts that this thread has pushed; the last is current.
std::vector<Context*>& context_stack();
/// The current context of this thread; null if there is none.
Context* current_context();

/// What a function cannot do without.
enum class Needs { Nothing, Init, Context };

/// Faults first, then what is needed: the code to return at once, or 0. Called with the driver's lock.
CUresult admit(const char* name, Needs needs);

/// Words for the trace about the call that this thread is in.
std::string& details();

/// The body of each driver function: counts and traces the call, lets faults happen, checks what is needed and does the
/// work with the driver locked. (`lock` may be given up in between.)
template <class F> CUresult call(const char* name, Needs needs, F work) {
  std::unique_lock<std::mutex> lock(driver().mutex);
  details().clear();
  CUresult code = admit(name, needs);
  if (code == SUCCESS) code = work(driver(), lock);
  trace(name, code, details());
  return code;
}

/// For calls that wait for the device: ends the program where it would wait for ever (setting `hang`).
void expect_end(const char* function, bool never);

/// Does work of a stream of the current context, or queues it there. The work reads the range of host memory.
void submit(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream, Work work, HostRange reads = {});

/// Does work of a stream of the current context, and before it all that it comes behind. The code that any of this has
/// broken the device with.
CUresult finish_at_once(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream, Work work);

// Waiting for what is queued in a stream or in the current context. Both give the code that it has broken the device with.
CUresult finish_stream(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream);
CUresult finish_all(Driver& driver, std::unique_lock<std::mutex>& lock);

/// As `call`, of a function that would not return behind a launch that never ends.
template <class F> CUresult call_that_waits(const char* name, F work) {
  return call(name, Needs::Context, [&](Driver& driver, std::unique_lock<std::mutex>& lock) -> CUresult {
    expect_end(name, current_context()->hangs);
    return work(driver, lock);
  });
}

#define LOCKED [&]([[maybe_unused]] ::octopus_softgpu::Driver & driver, [[maybe_unused]] std::unique_lock<std::mutex>& lock) -> CUresult

/// Ends a context: what is queued, its memory, modules, streams and events go with it, and what leaks is told to the trace.
void destroy_context(Driver& driver, std::unique_lock<std::mutex>& lock, Context& context);

/// A stream of the current context, the default stream included.
bool is_stream(Driver& driver, const void* handle);

}  // namespace octopus_softgpu
