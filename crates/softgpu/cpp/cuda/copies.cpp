// Copies and fills. Each device range must lie in one allocation, which finds errors that a GPU may not.
#include <cstring>
#include <memory>

#include "../core/unwritten.hpp"
#include "driver.hpp"

using namespace octopus_softgpu;

namespace {

using Lock = std::unique_lock<std::mutex>;

/// The default stream, in which a copy without a stream is done.
constexpr void* DEFAULT = nullptr;

void* memory(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

void note(size_t bytes) {
  if (tracing()) details() = std::to_string(bytes);
}

/// Whether the device reads and writes this memory of the host by itself.
bool is_pinned(const Driver& driver, CUdeviceptr address, size_t bytes) {
  const Allocation* allocation = driver.holds(address, bytes);
  return allocation != nullptr && (allocation->kind == Kind::Pinned || allocation->kind == Kind::Registered);
}

Work move(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return [=](Lock&) {
    memmove(memory(to), memory(from), bytes);
    driver().note_written(to, from, bytes);
  };
}

/// Where a copy is queued, and whether the program may use the host's side as soon as the call returns.
struct Place {
  void* stream;
  bool waits;
};
constexpr Place AT_ONCE = {DEFAULT, true};

/// What the device reads of page-locked memory it reads when it comes to it; other memory the driver has read when the
/// call returns, though the device may not have it yet.
CUresult upload(Driver& driver, Lock& lock, Place place, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (driver.queue == nullptr) {
    submit(driver, lock, place.stream, move(to, from, bytes));
    return SUCCESS;
  }
  const bool pinned = is_pinned(driver, from, bytes);
  if (pinned && place.waits) return finish_at_once(driver, lock, place.stream, move(to, from, bytes));
  if (pinned) {
    submit(driver, lock, place.stream, move(to, from, bytes), {from, bytes});
    return SUCCESS;
  }
  if (place.waits) {
    if (const CUresult code = finish_at_once(driver, lock, place.stream, [](Lock&) {})) return code;
  }
  const char* bytes_now = static_cast<const char*>(memory(from));
  const auto staged = std::make_shared<std::vector<char>>(bytes_now, bytes_now + bytes);
  submit(driver, lock, place.stream, [=](Lock&) {
    memcpy(memory(to), staged->data(), staged->size());
    octopus_softgpu::driver().note_written(to, 0, staged->size());
  });
  return SUCCESS;
}

/// Until a copy to page-locked memory is done nobody knows what is there.
CUresult download(Driver& driver, Lock& lock, Place place, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (place.waits || !is_pinned(driver, to, bytes)) return finish_at_once(driver, lock, place.stream, move(to, from, bytes));
  if (driver.queue != nullptr && !driver.queue->reads({to, bytes})) memset(memory(to), UNWRITTEN, bytes);
  submit(driver, lock, place.stream, move(to, from, bytes));
  return SUCCESS;
}

CUresult to_device(Driver& driver, Lock& lock, Place place, CUdeviceptr to, const void* from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (from == nullptr || driver.holds(to, bytes) == nullptr) return INVALID_VALUE;
  return upload(driver, lock, place, to, address_of(from), bytes);
}

CUresult to_host(Driver& driver, Lock& lock, Place place, void* to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (to == nullptr || driver.holds(from, bytes) == nullptr) return INVALID_VALUE;
  return download(driver, lock, place, address_of(to), from, bytes);
}

CUresult on_device(Driver& driver, Lock& lock, void* stream, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (driver.holds(to, bytes) == nullptr || driver.holds(from, bytes) == nullptr) return INVALID_VALUE;
  // The program does not wait for it.
  if (!current_context()->hangs) submit(driver, lock, stream, move(to, from, bytes));
  return SUCCESS;
}

/// By unified addresses: what no allocation of a device holds is host memory, but what begins in one must end in it.
CUresult anywhere(Driver& driver, Lock& lock, Place place, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  for (CUdeviceptr address : {to, from}) {
    if (address == 0) return INVALID_VALUE;
    if (driver.holds(address, 1) != nullptr && driver.holds(address, bytes) == nullptr) return INVALID_VALUE;
  }
  const auto is_on_device = [&](CUdeviceptr address) {
    return driver.holds(address, bytes) != nullptr && !is_pinned(driver, address, bytes);
  };
  const bool to_device = is_on_device(to), from_device = is_on_device(from);
  if (to_device && !from_device) return upload(driver, lock, place, to, from, bytes);
  if (from_device && !to_device) return download(driver, lock, place, to, from, bytes);
  if (!to_device) return finish_at_once(driver, lock, place.stream, move(to, from, bytes));
  submit(driver, lock, place.stream, move(to, from, bytes));
  return SUCCESS;
}

template <class T> CUresult fill(Driver& driver, Lock& lock, Place place, CUdeviceptr to, T value, size_t count) {
  note(count * sizeof value);
  if (count == 0) return SUCCESS;
  if (to % sizeof value != 0 || count > SIZE_MAX / sizeof value) return INVALID_VALUE;
  if (driver.holds(to, count * sizeof value) == nullptr) return INVALID_VALUE;
  if (current_context()->hangs) return SUCCESS;
  const Work work = [=](Lock&) {
    T* at = static_cast<T*>(memory(to));
    for (size_t i = 0; i < count; ++i) at[i] = value;
    octopus_softgpu::driver().note_written(to, 0, count * sizeof value);
  };
  // The program waits for it only where it can see the bytes.
  if (place.waits && is_pinned(driver, to, count * sizeof value)) return finish_at_once(driver, lock, place.stream, work);
  submit(driver, lock, place.stream, work);
  return SUCCESS;
}

/// `work` if the stream is one.
template <class F> CUresult on_stream(const char* function, void* stream, F work) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    // What comes behind a launch that never ends does not happen.
    return current_context()->hangs ? SUCCESS : work(driver, lock, Place{stream, false});
  });
}

/// CUDA_MEMCPY2D
struct Copy2D {
  struct Side {
    size_t x, y;
    unsigned type;
    void* host;
    CUdeviceptr device;
    void* array;
    size_t pitch;
  };
  Side from, to;
  size_t width, height;
};

/// The address of a side's first byte; 0 if the side is no memory that can hold the copy.
CUdeviceptr begin(Driver& driver, const Copy2D::Side& side, const Copy2D& copy) {
  constexpr unsigned HOST = 1, DEVICE = 2, UNIFIED = 4;
  if (side.pitch != 0 && side.pitch < side.x + copy.width) return 0;
  const size_t offset = side.y * side.pitch + side.x;
  if (side.type == HOST) return side.host == nullptr ? 0 : address_of(side.host) + offset;
  if (side.type != DEVICE && side.type != UNIFIED) return 0;
  const size_t bytes = (copy.height - 1) * side.pitch + copy.width;
  return driver.holds(side.device + offset, bytes) == nullptr ? 0 : side.device + offset;
}

CUresult copy_2d(Driver& driver, Lock& lock, Place place, const Copy2D* given) {
  if (given == nullptr) return INVALID_VALUE;
  const Copy2D copy = *given;
  if (copy.width == 0 || copy.height == 0) return SUCCESS;
  const CUdeviceptr from = begin(driver, copy.from, copy), to = begin(driver, copy.to, copy);
  if (from == 0 || to == 0) return INVALID_VALUE;
  const Work work = [=](Lock& lock) {
    for (size_t row = 0; row < copy.height; ++row) {
      move(to + row * copy.to.pitch, from + row * copy.from.pitch, copy.width)(lock);
    }
  };
  if (place.waits) return finish_at_once(driver, lock, place.stream, work);
  submit(driver, lock, place.stream, work);
  return SUCCESS;
}

}  // namespace

DRIVER_FUNCTION cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return anywhere(driver, lock, AT_ONCE, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return to_device(driver, lock, AT_ONCE, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return to_host(driver, lock, AT_ONCE, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return call(__func__, Needs::Context, LOCKED { return on_device(driver, lock, DEFAULT, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return anywhere(driver, lock, place, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return to_device(driver, lock, place, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return to_host(driver, lock, place, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return on_device(driver, lock, place.stream, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpy2D_v2(const Copy2D* copy) {
  return call_that_waits(__func__, LOCKED { return copy_2d(driver, lock, AT_ONCE, copy); });
}
DRIVER_FUNCTION cuMemcpy2DUnaligned_v2(const Copy2D* copy) {
  return call_that_waits(__func__, LOCKED { return copy_2d(driver, lock, AT_ONCE, copy); });
}
DRIVER_FUNCTION cuMemcpy2DAsync_v2(const Copy2D* copy, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return copy_2d(driver, lock, place, copy); });
}

DRIVER_FUNCTION cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, lock, AT_ONCE, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, lock, AT_ONCE, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, lock, AT_ONCE, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return fill(driver, lock, place, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return fill(driver, lock, place, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver, Lock& lock, Place place) { return fill(driver, lock, place, to, value, count); });
}
