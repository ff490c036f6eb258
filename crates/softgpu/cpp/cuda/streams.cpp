// Streams and events. Work is done at once and in the order of the calls, which is one of the orders that streams
// allow, or in any of them (setting `late`).
#include <memory>

#include "driver.hpp"
#include "memory.hpp"

using namespace octopus_softgpu;

namespace {

Stream* find(Driver& driver, const void* handle) { return driver.streams.find(handle); }

/// CU_STREAM_NON_BLOCKING
constexpr unsigned NON_BLOCKING = 1;

CUresult create(Driver& driver, void** handle, unsigned flags, int priority) {
  if (handle == nullptr || (flags & ~NON_BLOCKING) != 0) return INVALID_VALUE;
  // Priorities beyond the range are brought into it.
  priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *handle = driver.streams.add(std::make_unique<Stream>(Stream{current_context(), flags, priority, driver.next_stream++}));
  return SUCCESS;
}

CUresult ask(const char* function, void* stream, void* out, void (*answer)(const Stream&, void*)) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (out == nullptr) return INVALID_VALUE;
    const Stream* found = find(driver, stream);
    answer(found != nullptr ? *found : Stream{current_context(), 0, 0, DEFAULT_STREAM}, out);
    return SUCCESS;
  });
}

/// `CUstreamCallback`, `CUhostFn`
using Callback = void (*)(void* stream, CUresult status, void* data);
using HostFunction = void (*)(void* data);

StreamName stream_name(Driver& driver, const void* handle) {
  const uintptr_t special = reinterpret_cast<uintptr_t>(handle);
  // CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are 1 and 2.
  if (special <= 2) return {current_context(), special == 2 ? PER_THREAD_STREAM : DEFAULT_STREAM, true};
  const Stream* stream = driver.streams.find(handle);
  return {stream->context, stream->number, (stream->flags & NON_BLOCKING) == 0};
}

void go_on(Driver& driver, std::unique_lock<std::mutex>& lock) {
  driver.queue->go_on(lock);
  give_up_freed(driver);
}

CUresult finish(Driver& driver, std::unique_lock<std::mutex>& lock, const std::vector<Queue::Number>& wanted) {
  if (driver.queue == nullptr) return SUCCESS;
  driver.queue->finish(lock, wanted);
  give_up_freed(driver);
  return broken_by();
}

CUresult ask(Driver& driver, std::unique_lock<std::mutex>& lock, const std::vector<Queue::Number>& about) {
  if (driver.queue == nullptr) return SUCCESS;
  driver.queue->ask(lock, about);
  give_up_freed(driver);
  if (const CUresult code = broken_by()) return code;
  for (const Queue::Number number : about) {
    if (!driver.queue->is_done(number)) return NOT_READY;
  }
  return SUCCESS;
}

CUresult record(const char* function, Event* handle, void* stream) {
  return call(function, Needs::Context, LOCKED {
    Event* event = driver.events.find(handle);
    if (event == nullptr || !is_stream(driver, stream) || event->context != current_context()) return INVALID_HANDLE;
    event->recorded = true;
    event->never = current_context()->hangs;
    event->at = Clock::now();
    event->number = 0;
    if (event->never || driver.queue == nullptr) return SUCCESS;
    // The event may be recorded anew or destroyed before its work is done.
    const auto number = std::make_shared<Queue::Number>();
    *number = event->number = driver.queue->add(stream_name(driver, stream), 0, {}, [&driver, handle, number](auto&) {
      Event* passed = driver.events.find(handle);
      if (passed != nullptr && passed->number == *number) passed->at = Clock::now();
    });
    go_on(driver, lock);
    return SUCCESS;
  });
}

/// Whether an event has happened. What was never recorded is no reason to wait.
CUresult ask_event(const char* function, Event* handle, bool waits) {
  return call(function, Needs::Context, LOCKED {
    const Event* event = driver.events.find(handle);
    if (event == nullptr) return INVALID_HANDLE;
    if (waits) expect_end(function, event->never);
    if (event->never) return NOT_READY;
    return waits ? finish(driver, lock, {event->number}) : ask(driver, lock, {event->number});
  });
}

/// Whether a stream has nothing to do.
CUresult ask_stream(const char* function, void* stream, bool waits) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (waits) expect_end(function, current_context()->hangs);
    if (current_context()->hangs) return NOT_READY;
    if (waits) return finish_stream(driver, lock, stream);
    return driver.queue == nullptr ? SUCCESS : ask(driver, lock, driver.queue->of_stream(stream_name(driver, stream)));
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

void submit(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream, Work work, HostRange reads) {
  if (driver.queue == nullptr) {
    work(lock);
    return;
  }
  driver.queue->add(stream_name(driver, stream), 0, reads, std::move(work));
  go_on(driver, lock);
}

CUresult finish_at_once(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream, Work work) {
  if (driver.queue == nullptr) {
    work(lock);
    return SUCCESS;
  }
  return finish(driver, lock, {driver.queue->add(stream_name(driver, stream), 0, {}, std::move(work))});
}

CUresult finish_stream(Driver& driver, std::unique_lock<std::mutex>& lock, const void* stream) {
  if (driver.queue == nullptr) return SUCCESS;
  return finish(driver, lock, driver.queue->of_stream(stream_name(driver, stream)));
}

CUresult finish_all(Driver& driver, std::unique_lock<std::mutex>& lock) {
  return driver.queue == nullptr ? SUCCESS : finish(driver, lock, driver.queue->of_context(*current_context()));
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
    const Event* found = driver.events.find(event);
    if (!is_stream(driver, stream) || found == nullptr) return INVALID_HANDLE;
    if (driver.queue == nullptr) return SUCCESS;
    driver.queue->add(stream_name(driver, stream), found->number, {}, [](auto&) {});
    go_on(driver, lock);
    return SUCCESS;
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

// The driver is unlocked while these run, though a callback may not call it.
DRIVER_FUNCTION cuStreamAddCallback(void* stream, Callback callback, void* data, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (callback == nullptr || flags != 0) return INVALID_VALUE;
    submit(driver, lock, stream, [=](auto& lock) {
      lock.unlock();
      callback(stream, SUCCESS, data);
    });
    return SUCCESS;
  });
}
DRIVER_FUNCTION cuLaunchHostFunc(void* stream, HostFunction function, void* data) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (function == nullptr) return INVALID_VALUE;
    submit(driver, lock, stream, [=](auto& lock) {
      lock.unlock();
      function(data);
    });
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuEventCreate(Event** event, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    constexpr unsigned DISABLE_TIMING = 2, INTERPROCESS = 4;
    // Events for other processes cannot tell the time.
    if (event == nullptr || flags > 7 || (flags & (DISABLE_TIMING | INTERPROCESS)) == INTERPROCESS) return INVALID_VALUE;
    *event = driver.events.add(std::make_unique<Event>(Event{current_context(), (flags & DISABLE_TIMING) == 0, false, false, {}, 0}));
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
      if (event->never || (driver.queue != nullptr && !driver.queue->is_done(event->number))) return NOT_READY;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->at - start->at).count();
    return SUCCESS;
  });
}
