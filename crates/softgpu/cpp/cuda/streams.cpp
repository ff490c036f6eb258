// Streams and events. Work is done at once and in the order of the calls, which is one of the orders that streams
// allow.
#include <memory>

#include "driver.hpp"

using namespace octopus_softgpu;

namespace {

Stream* find(Driver& driver, const void* handle) { return driver.streams.find(handle); }

CUresult create(Driver& driver, void** handle, unsigned flags, int priority) {
  constexpr unsigned NON_BLOCKING = 1;
  if (handle == nullptr || (flags & ~NON_BLOCKING) != 0) return INVALID_VALUE;
  // Priorities beyond the range are brought into it.
  priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *handle = driver.streams.add(std::make_unique<Stream>(Stream{current_context(), flags, priority}));
  return SUCCESS;
}

CUresult ask(const char* function, void* stream, void* out, void (*answer)(const Stream&, void*)) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (out == nullptr) return INVALID_VALUE;
    const Stream* found = find(driver, stream);
    answer(found != nullptr ? *found : Stream{current_context(), 0, 0}, out);
    return SUCCESS;
  });
}

/// `CUstreamCallback`, `CUhostFn`
using Callback = void (*)(void* stream, CUresult status, void* data);
using HostFunction = void (*)(void* data);

CUresult record(const char* function, Event* handle, void* stream) {
  return call(function, Needs::Context, LOCKED {
    Event* event = driver.events.find(handle);
    if (event == nullptr || !is_stream(driver, stream) || event->context != current_context()) return INVALID_HANDLE;
    event->recorded = true;
    event->never = current_context()->hangs;
    event->at = Clock::now();
    return SUCCESS;
  });
}

/// Whether an event has happened. What was recorded is done, unless a launch never ends, and what was not is no reason to
/// wait.
CUresult ask_event(const char* function, Event* handle, bool waits) {
  return call(function, Needs::Context, LOCKED {
    const Event* event = driver.events.find(handle);
    if (event == nullptr) return INVALID_HANDLE;
    if (waits) expect_end(function, event->never);
    return event->never ? NOT_READY : SUCCESS;
  });
}

/// Whether a stream has nothing to do.
CUresult ask_stream(const char* function, void* stream, bool waits) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (waits) expect_end(function, current_context()->hangs);
    return current_context()->hangs ? NOT_READY : SUCCESS;
  });
}

}  // namespace

namespace octopus_softgpu {

bool is_stream(Driver& driver, const void* handle) {
  // CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are 1 and 2.
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return true;
  const Stream* stream = find(driver, handle);
  return stream != nullptr && stream->context == current_context();
}

}  // namespace octopus_softgpu

DRIVER_FUNCTION cuStreamCreate(void** stream, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED { return create(driver, stream, flags, 0); });
}
DRIVER_FUNCTION cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return call(__func__, Needs::Context, LOCKED { return create(driver, stream, flags, priority); });
}
DRIVER_FUNCTION cuStreamDestroy_v2(void* stream) {
  return call(__func__, Needs::Context, LOCKED { return driver.streams.remove(stream) ? SUCCESS : INVALID_HANDLE; });
}
DRIVER_FUNCTION cuStreamSynchronize(void* stream) {
  return ask_stream(__func__, stream, true);
}
DRIVER_FUNCTION cuStreamQuery(void* stream) { return ask_stream(__func__, stream, false); }
DRIVER_FUNCTION cuStreamWaitEvent(void* stream, Event* event, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    if (flags > 1) return INVALID_VALUE;
    return is_stream(driver, stream) && driver.events.find(event) != nullptr ? SUCCESS : INVALID_HANDLE;
  });
}
DRIVER_FUNCTION cuStreamGetFlags(void* stream, unsigned* flags) {
  return ask(__func__, stream, flags, [](const Stream& s, void* out) { *static_cast<unsigned*>(out) = s.flags; });
}
DRIVER_FUNCTION cuStreamGetPriority(void* stream, int* priority) {
  return ask(__func__, stream, priority, [](const Stream& s, void* out) { *static_cast<int*>(out) = s.priority; });
}
DRIVER_FUNCTION cuStreamGetCtx(void* stream, Context** context) {
  return ask(__func__, stream, context, [](const Stream& s, void* out) { *static_cast<Context**>(out) = s.context; });
}

// Both run at once on this thread. The driver is unlocked meanwhile, though a callback may not call it.
DRIVER_FUNCTION cuStreamAddCallback(void* stream, Callback callback, void* data, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (callback == nullptr || flags != 0) return INVALID_VALUE;
    lock.unlock();
    callback(stream, SUCCESS, data);
    return SUCCESS;
  });
}
DRIVER_FUNCTION cuLaunchHostFunc(void* stream, HostFunction function, void* data) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (function == nullptr) return INVALID_VALUE;
    lock.unlock();
    function(data);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuEventCreate(Event** event, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    constexpr unsigned DISABLE_TIMING = 2, INTERPROCESS = 4;
    // Events for other processes cannot tell the time.
    if (event == nullptr || flags > 7 || (flags & (DISABLE_TIMING | INTERPROCESS)) == INTERPROCESS) return INVALID_VALUE;
    *event = driver.events.add(std::make_unique<Event>(Event{current_context(), (flags & DISABLE_TIMING) == 0, false, false, {}}));
    return SUCCESS;
  });
}
DRIVER_FUNCTION cuEventDestroy_v2(Event* event) {
  return call(__func__, Needs::Context, LOCKED { return driver.events.remove(event) ? SUCCESS : INVALID_HANDLE; });
}
DRIVER_FUNCTION cuEventRecord(Event* event, void* stream) { return record(__func__, event, stream); }
DRIVER_FUNCTION cuEventRecordWithFlags(Event* event, void* stream, unsigned) { return record(__func__, event, stream); }
DRIVER_FUNCTION cuEventQuery(Event* event) { return ask_event(__func__, event, false); }
DRIVER_FUNCTION cuEventSynchronize(Event* event) { return ask_event(__func__, event, true); }

DRIVER_FUNCTION cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  return call(__func__, Needs::Context, LOCKED {
    if (milliseconds == nullptr) return INVALID_VALUE;
    for (Event* handle : {start, end}) {
      const Event* event = driver.events.find(handle);
      if (event == nullptr || !event->timed || !event->recorded) return INVALID_HANDLE;
      if (event->never) return NOT_READY;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->at - start->at).count();
    return SUCCESS;
  });
}
