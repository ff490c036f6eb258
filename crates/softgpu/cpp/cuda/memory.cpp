// Allocations: a register of all that live, and an account per device.
#include "memory.hpp"

#include <algorithm>
#include <cstring>

#include "../core/unwritten.hpp"
#include "report.hpp"

using namespace octopus_softgpu;

namespace {

/// The driver hands memory out in units of this size.
constexpr size_t UNIT = 256;

/// Bytes that a bit of `Allocation::written` tells of, and a word of them.
constexpr size_t BYTES_OF_BIT = 4, BYTES_OF_WORD = 32 * BYTES_OF_BIT;

CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult allocate(Driver& driver, CUdeviceptr* address, size_t bytes, Kind kind) {
  details() = std::to_string(bytes);
  if (address == nullptr || bytes == 0) return INVALID_VALUE;
  const Context* context = current_context();
  const bool on_device = kind == Kind::Device || kind == Kind::Managed;
  // No device has so much; and the sum below must not overflow.
  if (bytes > uint64_t{1} << 48) return OUT_OF_MEMORY;
  const uint64_t charged = on_device ? (bytes + UNIT - 1) / UNIT * UNIT : 0;
  const int device = driver.physical(context->device);
  if (!take_memory(device, charged)) return OUT_OF_MEMORY;
  size_t mapped = 0;
  void* memory = obtain(bytes, mapped);
  if (memory == nullptr) {
    return_memory(device, charged);
    return OUT_OF_MEMORY;
  }
  *address = address_of(memory);
  std::vector<uint32_t> written(on_device && settings().checked != 0 ? (bytes + BYTES_OF_WORD - 1) / BYTES_OF_WORD : 0);
  driver.allocations[*address] = {bytes, kind, context, charged, mapped, std::move(written)};
  if (on_device) count_memory(device, bytes, charged);
  return SUCCESS;
}

CUresult allocate_on_host(Driver& driver, void** pointer, size_t bytes) {
  if (pointer == nullptr) return INVALID_VALUE;
  CUdeviceptr address = 0;
  const CUresult code = allocate(driver, &address, bytes, Kind::Pinned);
  if (code == SUCCESS) *pointer = pointer_to(address);
  return code;
}

/// Frees what begins at this address, if it is of such a kind.
CUresult release(Driver& driver, CUdeviceptr address, std::initializer_list<Kind> kinds) {
  const auto found = driver.allocations.find(address);
  if (found == driver.allocations.end()) return INVALID_VALUE;
  if (std::find(kinds.begin(), kinds.end(), found->second.kind) == kinds.end()) return INVALID_VALUE;
  details() = std::to_string(found->second.size);
  forget(driver, found);
  return SUCCESS;
}

/// The most of a freed allocation that is filled: what is larger would take the memory that it never had.
constexpr size_t MOST_FILLED = 16 << 20;

/// Gives memory up, or, where queued work may still use it, fills it with what nobody has written: to free memory does
/// not wait for work.
void take_back(Driver& driver, CUdeviceptr address, const Allocation& allocation) {
  if (driver.queue == nullptr || driver.queue->is_idle(*allocation.context)) {
    give_up(pointer_to(address), allocation.mapped);
    return;
  }
  memset(pointer_to(address), UNWRITTEN, std::min(allocation.size, MOST_FILLED));
  driver.freed.push_back({allocation.context, pointer_to(address), allocation.mapped});
}

}  // namespace

namespace octopus_softgpu {

void Driver::note_written(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  if (settings().checked == 0 || bytes == 0) return;
  // What was freed meanwhile has nobody to ask for it.
  Allocation* target = find(to, bytes);
  if (target == nullptr || target->written.empty()) return;
  const Allocation* source = find(from, bytes);
  if (source != nullptr && source->written.empty()) source = nullptr;
  const auto offset = [&](CUdeviceptr address) { return address - std::prev(allocations.upper_bound(address))->first; };
  const size_t first = offset(to), first_of_source = source == nullptr ? 0 : offset(from);
  for (size_t bit = first / BYTES_OF_BIT; bit * BYTES_OF_BIT < first + bytes; ++bit) {
    const size_t same = (first_of_source + (bit * BYTES_OF_BIT > first ? bit * BYTES_OF_BIT - first : 0)) / BYTES_OF_BIT;
    const bool written = source == nullptr || (source->written[same / 32] >> same % 32 & 1) != 0;
    const uint32_t mask = uint32_t{1} << bit % 32;
    if (written) target->written[bit / 32] |= mask;
    else target->written[bit / 32] &= ~mask;
  }
}

void give_up_freed(Driver& driver) {
  const auto is_used = [&](const Freed& freed) { return !driver.queue->is_idle(*freed.context); };
  const auto unused = std::partition(driver.freed.begin(), driver.freed.end(), is_used);
  for (auto it = unused; it != driver.freed.end(); ++it) give_up(it->memory, it->mapped);
  driver.freed.erase(unused, driver.freed.end());
}

void forget(Driver& driver, std::map<CUdeviceptr, Allocation>::iterator it) {
  const Allocation& allocation = it->second;
  const int device = driver.physical(allocation.context->device);
  return_memory(device, allocation.charged);
  if (allocation.kind == Kind::Device || allocation.kind == Kind::Managed) count_return(device, allocation.size, allocation.charged);
  if (allocation.kind != Kind::Registered) take_back(driver, it->first, allocation);
  driver.allocations.erase(it);
}

void destroy_context(Driver& driver, std::unique_lock<std::mutex>& lock, Context& context) {
  if (driver.queue != nullptr) driver.queue->drop(lock, context);
  uint64_t count = 0, bytes = 0;
  for (auto it = driver.allocations.begin(); it != driver.allocations.end();) {
    const auto here = it++;
    if (here->second.context != &context) continue;
    ++count;
    bytes += here->second.size;
    forget(driver, here);
  }
  if (count > 0) trace("leak", 0, std::to_string(count) + " allocations, " + std::to_string(bytes) + " bytes, freed with their context");
  const auto of_context = [&](const auto& object) { return object.context == &context; };
  give_up_freed(driver);
  driver.modules.remove_if(of_context);
  driver.streams.remove_if(of_context);
  driver.events.remove_if(of_context);
  context.uses = 0;
  count_contexts(driver.physical(context.device), -1);
}

}  // namespace octopus_softgpu

DRIVER_FUNCTION cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call(__func__, Needs::Context, LOCKED {
    if (free == nullptr || total == nullptr) return INVALID_VALUE;
    *free = memory_free(driver.physical(current_context()->device));
    *total = memory_total(driver.physical(current_context()->device));
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call(__func__, Needs::Context, LOCKED { return allocate(driver, address, bytes, Kind::Device); });
}

DRIVER_FUNCTION cuMemAllocAsync(CUdeviceptr* address, size_t bytes, void* stream) {
  return call(__func__, Needs::Context, LOCKED {
    return is_stream(driver, stream) ? allocate(driver, address, bytes, Kind::Device) : INVALID_HANDLE;
  });
}

DRIVER_FUNCTION cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height, unsigned element) {
  return call(__func__, Needs::Context, LOCKED {
    if (pitch == nullptr || width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) return INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return allocate(driver, address, *pitch * height, Kind::Device);
  });
}

DRIVER_FUNCTION cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    constexpr unsigned GLOBAL = 1, HOST = 2;
    return flags == GLOBAL || flags == HOST ? allocate(driver, address, bytes, Kind::Managed) : INVALID_VALUE;
  });
}

DRIVER_FUNCTION cuMemFree_v2(CUdeviceptr address) {
  return call_that_waits(__func__, LOCKED { return release(driver, address, {Kind::Device, Kind::Managed}); });
}

DRIVER_FUNCTION cuMemFreeAsync(CUdeviceptr address, void* stream) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    if (const CUresult code = finish_stream(driver, lock, stream)) return code;
    return release(driver, address, {Kind::Device});
  });
}

DRIVER_FUNCTION cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return call(__func__, Needs::Context, LOCKED { return allocate_on_host(driver, pointer, bytes); });
}

DRIVER_FUNCTION cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED { return flags > 7 ? INVALID_VALUE : allocate_on_host(driver, pointer, bytes); });
}

DRIVER_FUNCTION cuMemFreeHost(void* pointer) {
  return call_that_waits(__func__, LOCKED { return release(driver, address_of(pointer), {Kind::Pinned}); });
}

DRIVER_FUNCTION cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    if (pointer == nullptr || bytes == 0 || flags > 15) return INVALID_VALUE;
    const CUdeviceptr address = address_of(pointer);
    const auto next = driver.allocations.lower_bound(address);
    const bool taken = next != driver.allocations.end() && next->first < address + bytes;
    if (taken || driver.holds(address, 1) != nullptr) return HOST_MEMORY_ALREADY_REGISTERED;
    driver.allocations[address] = {bytes, Kind::Registered, current_context(), 0, 0, {}};
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuMemHostUnregister(void* pointer) {
  return call(__func__, Needs::Context, LOCKED {
    return release(driver, address_of(pointer), {Kind::Registered}) == SUCCESS ? SUCCESS : HOST_MEMORY_NOT_REGISTERED;
  });
}

DRIVER_FUNCTION cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  return call(__func__, Needs::Context, LOCKED {
    const Allocation* allocation = driver.holds(address_of(pointer), 1);
    if (address == nullptr || flags != 0 || allocation == nullptr) return INVALID_VALUE;
    *address = address_of(pointer);
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return call(__func__, Needs::Context, LOCKED {
    if (flags == nullptr || driver.holds(address_of(pointer), 1) == nullptr) return INVALID_VALUE;
    *flags = 0;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return call(__func__, Needs::Context, LOCKED {
    const Allocation* allocation = driver.holds(address, 1);
    if (allocation == nullptr) return NOT_FOUND;
    if (base != nullptr) *base = std::prev(driver.allocations.upper_bound(address))->first;
    if (size != nullptr) *size = allocation->size;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuPointerGetAttribute(void* data, int attribute, CUdeviceptr address) {
  return call(__func__, Needs::Init, LOCKED {
    enum { CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
    const Allocation* allocation = driver.holds(address, 1);
    if (data == nullptr || allocation == nullptr) return INVALID_VALUE;
    const bool on_device = allocation->kind == Kind::Device || allocation->kind == Kind::Managed;
    switch (attribute) {
      case CONTEXT: *static_cast<const Context**>(data) = allocation->context; return SUCCESS;
      case MEMORY_TYPE: *static_cast<unsigned*>(data) = on_device ? 2 : 1; return SUCCESS;
      case DEVICE_POINTER: *static_cast<CUdeviceptr*>(data) = address; return SUCCESS;
      case HOST_POINTER:
        if (allocation->kind == Kind::Device) return INVALID_VALUE;
        *static_cast<void**>(data) = pointer_to(address);
        return SUCCESS;
      case IS_MANAGED: *static_cast<unsigned*>(data) = allocation->kind == Kind::Managed; return SUCCESS;
      case DEVICE_ORDINAL: *static_cast<int*>(data) = allocation->context->device; return SUCCESS;
      default: return INVALID_VALUE;
    }
  });
}

// Advice on managed memory: there is one memory only, but the range must exist.
DRIVER_FUNCTION cuMemAdvise(CUdeviceptr address, size_t bytes, int, CUdevice) {
  return call(__func__, Needs::Context, LOCKED {
    const Allocation* allocation = driver.holds(address, bytes);
    return allocation != nullptr && allocation->kind == Kind::Managed ? SUCCESS : INVALID_VALUE;
  });
}
DRIVER_FUNCTION cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice, void* stream) {
  return call(__func__, Needs::Context, LOCKED {
    if (!is_stream(driver, stream)) return INVALID_HANDLE;
    const Allocation* allocation = driver.holds(address, bytes);
    return allocation != nullptr && allocation->kind == Kind::Managed ? SUCCESS : INVALID_VALUE;
  });
}
