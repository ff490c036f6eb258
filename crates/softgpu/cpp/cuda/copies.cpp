// Copies and fills. Each device range must lie in one allocation, which finds errors that a GPU may not.
#include <cstring>

#include "driver.hpp"

using namespace octopus_softgpu;

namespace {

void* memory(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

void note(size_t bytes) {
  if (tracing()) details() = std::to_string(bytes);
}

CUresult to_device(Driver& driver, CUdeviceptr to, const void* from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (from == nullptr || driver.holds(to, bytes) == nullptr) return INVALID_VALUE;
  memmove(memory(to), from, bytes);
  return SUCCESS;
}

CUresult to_host(Driver& driver, void* to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (to == nullptr || driver.holds(from, bytes) == nullptr) return INVALID_VALUE;
  memmove(to, memory(from), bytes);
  return SUCCESS;
}

CUresult on_device(Driver& driver, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  if (driver.holds(to, bytes) == nullptr || driver.holds(from, bytes) == nullptr) return INVALID_VALUE;
  // The program does not wait for it.
  if (current_context()->hangs) return SUCCESS;
  memmove(memory(to), memory(from), bytes);
  return SUCCESS;
}

/// By unified addresses: what no allocation holds is host memory, but what begins in one must end in it.
CUresult anywhere(Driver& driver, CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  note(bytes);
  if (bytes == 0) return SUCCESS;
  for (CUdeviceptr address : {to, from}) {
    if (address == 0) return INVALID_VALUE;
    if (driver.holds(address, 1) != nullptr && driver.holds(address, bytes) == nullptr) return INVALID_VALUE;
  }
  memmove(memory(to), memory(from), bytes);
  return SUCCESS;
}

template <class T> CUresult fill(Driver& driver, CUdeviceptr to, T value, size_t count) {
  note(count * sizeof value);
  if (count == 0) return SUCCESS;
  if (to % sizeof value != 0 || count > SIZE_MAX / sizeof value) return INVALID_VALUE;
  if (driver.holds(to, count * sizeof value) == nullptr) return INVALID_VALUE;
  if (current_context()->hangs) return SUCCESS;
  T* at = static_cast<T*>(memory(to));
  for (size_t i = 0; i < count; ++i) at[i] = value;
  return SUCCESS;
}

/// `work` if the stream is one.
template <class F> CUresult on_stream(const char* function, void* stream, F work) {
  return call(function, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    // What comes behind a launch that never ends does not happen.
    return current_context()->hangs ? SUCCESS : work(driver);
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
  if (side.type == HOST) return side.host == nullptr ? 0 : reinterpret_cast<CUdeviceptr>(side.host) + offset;
  if (side.type != DEVICE && side.type != UNIFIED) return 0;
  const size_t bytes = (copy.height - 1) * side.pitch + copy.width;
  return driver.holds(side.device + offset, bytes) == nullptr ? 0 : side.device + offset;
}

CUresult copy_2d(Driver& driver, const Copy2D* copy) {
  if (copy == nullptr) return INVALID_VALUE;
  if (copy->width == 0 || copy->height == 0) return SUCCESS;
  const CUdeviceptr from = begin(driver, copy->from, *copy), to = begin(driver, copy->to, *copy);
  if (from == 0 || to == 0) return INVALID_VALUE;
  for (size_t row = 0; row < copy->height; ++row) {
    memmove(memory(to + row * copy->to.pitch), memory(from + row * copy->from.pitch), copy->width);
  }
  return SUCCESS;
}

}  // namespace

DRIVER_FUNCTION cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return anywhere(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return to_device(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return call_that_waits(__func__, LOCKED { return to_host(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return call(__func__, Needs::Context, LOCKED { return on_device(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return anywhere(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return to_device(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return to_host(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return on_device(driver, to, from, bytes); });
}
DRIVER_FUNCTION cuMemcpy2D_v2(const Copy2D* copy) {
  return call_that_waits(__func__, LOCKED { return copy_2d(driver, copy); });
}
DRIVER_FUNCTION cuMemcpy2DUnaligned_v2(const Copy2D* copy) {
  return call_that_waits(__func__, LOCKED { return copy_2d(driver, copy); });
}
DRIVER_FUNCTION cuMemcpy2DAsync_v2(const Copy2D* copy, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return copy_2d(driver, copy); });
}

DRIVER_FUNCTION cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return call(__func__, Needs::Context, LOCKED { return fill(driver, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return fill(driver, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return fill(driver, to, value, count); });
}
DRIVER_FUNCTION cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, void* stream) {
  return on_stream(__func__, stream, [&](Driver& driver) { return fill(driver, to, value, count); });
}
