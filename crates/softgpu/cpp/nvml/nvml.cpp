#include "nvml.hpp"

#include <atomic>
#include <cstdio>

namespace octopus_softgpu {

namespace {
constexpr int MOST_DEVICES = 64;
std::atomic<int> users{0};

Device* devices() {
  static Device* const devices = [] {
    static Device made[MOST_DEVICES];
    for (int i = 0; i < MOST_DEVICES; ++i) made[i].number = i;
    return made;
  }();
  return devices;
}
}  // namespace

Device* device(unsigned number) { return number < static_cast<unsigned>(settings().devices) ? devices() + number : nullptr; }

bool is_device(const Device* handle) { return handle >= devices() && handle < devices() + settings().devices; }

bool change_users(int change) {
  if (users + change < 0) return false;
  users += change;
  return true;
}

nvmlReturn_t admit(const char* name, bool needs_init) {
  static const bool checked = (check_fault_names("nvml", reinterpret_cast<const void*>(&admit)), true);
  (void)checked;
  if (const int code = nvml_fault(name)) return code;
  return needs_init && users == 0 ? UNINITIALIZED : SUCCESS;
}

nvmlReturn_t put_text(char* out, unsigned length, const std::string& text) {
  if (out == nullptr) return INVALID_ARGUMENT;
  if (length <= text.size()) return INSUFFICIENT_SIZE;
  snprintf(out, length, "%s", text.c_str());
  return SUCCESS;
}

}  // namespace octopus_softgpu

using namespace octopus_softgpu;

namespace {

nvmlReturn_t init(const char* name) {
  const nvmlReturn_t code = admit(name, false);
  if (code == SUCCESS) change_users(1);
  trace(name, code);
  return code;
}

}  // namespace

NVML_FUNCTION nvmlInit_v2() { return init(__func__); }
NVML_FUNCTION nvmlInitWithFlags(unsigned) { return init(__func__); }

NVML_FUNCTION nvmlShutdown() {
  return call(__func__, [] { return change_users(-1) ? SUCCESS : UNINITIALIZED; });
}

extern "C" OCTOPUS_EXPORT const char* nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
    case 0: return "Success";
    case 1: return "Uninitialized";
    case 2: return "Invalid Argument";
    case 3: return "Not Supported";
    case 4: return "Insufficient Permissions";
    case 6: return "Not Found";
    case 7: return "Insufficient Size";
    case 9: return "Driver Not Loaded";
    case 15: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
  }
}

NVML_FUNCTION nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return call(__func__, [&] { return put_text(text, length, settings().version); });
}

NVML_FUNCTION nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  const int driver = settings().driver;
  return call(__func__, [&] { return put_text(text, length, std::to_string(driver / 1000) + "." + settings().version); });
}

NVML_FUNCTION nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return call(__func__, [&]() -> nvmlReturn_t {
    if (version == nullptr) return INVALID_ARGUMENT;
    *version = settings().driver;
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlSystemGetProcessName(unsigned, char* text, unsigned length) {
  return call(__func__, [&] { return put_text(text, length, "another-program"); });
}

// CUDA_VISIBLE_DEVICES hides nothing from NVML.
NVML_FUNCTION nvmlDeviceGetCount_v2(unsigned* count) {
  return call(__func__, [&]() -> nvmlReturn_t {
    if (count == nullptr) return INVALID_ARGUMENT;
    *count = static_cast<unsigned>(settings().devices);
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** handle) {
  return call(__func__, [&]() -> nvmlReturn_t {
    if (handle == nullptr || device(index) == nullptr) return INVALID_ARGUMENT;
    *handle = device(index);
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetHandleByUUID(const char* uuid, Device** handle) {
  return call(__func__, [&]() -> nvmlReturn_t {
    if (handle == nullptr || uuid == nullptr) return INVALID_ARGUMENT;
    for (unsigned i = 0; device(i) != nullptr; ++i) {
      if (device_uuid_text(static_cast<int>(i)) != uuid) continue;
      *handle = device(i);
      return SUCCESS;
    }
    return NOT_FOUND;
  });
}
