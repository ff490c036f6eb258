// What a device is: its names, its place, its modes.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "nvml.hpp"

using namespace octopus_softgpu;

namespace {

/// nvmlPciInfo_t
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

/// nvmlProcessInfo_t, version 2 (used by the functions _v3)
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};

constexpr unsigned NO_INSTANCE = 0xffffffffu;
constexpr unsigned long long PROCESS_MEMORY = 300ull << 20;

bool has_mig_setting() { return settings().mig >= 0 || architecture().has_mig; }

}  // namespace

NVML_FUNCTION nvmlDeviceGetName(Device* handle, char* text, unsigned length) {
  return ask(__func__, handle, text, [&](int) { return put_text(text, length, DEVICE_NAME); });
}

NVML_FUNCTION nvmlDeviceGetUUID(Device* handle, char* text, unsigned length) {
  return ask(__func__, handle, text, [&](int number) { return put_text(text, length, device_uuid_text(number)); });
}

NVML_FUNCTION nvmlDeviceGetIndex(Device* handle, unsigned* index) {
  return ask(__func__, handle, index, [&](int number) {
    *index = static_cast<unsigned>(number);
    return SUCCESS;
  });
}
NVML_FUNCTION nvmlDeviceGetMinorNumber(Device* handle, unsigned* minor) {
  return ask(__func__, handle, minor, [&](int number) {
    *minor = static_cast<unsigned>(number);
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetPciInfo_v3(Device* handle, PciInfo* info) {
  return ask(__func__, handle, info, [&](int number) {
    memset(info, 0, sizeof *info);
    info->domain = PCI_DOMAIN;
    info->bus = pci_bus(number);
    info->pci_device_id = 0x223010de;
    snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%04X:%02X:00.0", info->domain & 0xffff, info->bus & 0xff);
    snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:00.0", info->domain, info->bus & 0xff);
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetCudaComputeCapability(Device* handle, int* major, int* minor) {
  return ask(__func__, handle, major, [&](int) -> nvmlReturn_t {
    if (minor == nullptr) return INVALID_ARGUMENT;
    *major = settings().cc_major;
    *minor = settings().cc_minor;
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetNumGpuCores(Device* handle, unsigned* cores) {
  return answer(__func__, handle, cores, settings().sms * architecture().cores_per_sm);
}

NVML_FUNCTION nvmlDeviceGetBrand(Device* handle, int* brand) {
  constexpr int UNKNOWN = 0;
  return answer(__func__, handle, brand, UNKNOWN);
}

/// NVML_DEVICE_ARCH_MAXWELL is 3, and so on.
NVML_FUNCTION nvmlDeviceGetArchitecture(Device* handle, unsigned* out) {
  const int cc = settings().cc_major * 10 + settings().cc_minor;
  const int known = cc >= 100 ? 10 : cc >= 90 ? 9 : cc >= 89 ? 8 : cc >= 80 ? 7 : cc >= 75 ? 6 : cc >= 70 ? 5 : cc >= 60 ? 4 : cc >= 50 ? 3 : 2;
  return answer(__func__, handle, out, known);
}

NVML_FUNCTION nvmlDeviceGetMemoryBusWidth(Device* handle, unsigned* bits) { return answer(__func__, handle, bits, 384); }
NVML_FUNCTION nvmlDeviceGetMaxPcieLinkGeneration(Device* handle, unsigned* out) { return answer(__func__, handle, out, 4); }
NVML_FUNCTION nvmlDeviceGetCurrPcieLinkGeneration(Device* handle, unsigned* out) { return answer(__func__, handle, out, 4); }
NVML_FUNCTION nvmlDeviceGetMaxPcieLinkWidth(Device* handle, unsigned* out) { return answer(__func__, handle, out, 16); }
NVML_FUNCTION nvmlDeviceGetCurrPcieLinkWidth(Device* handle, unsigned* out) { return answer(__func__, handle, out, 16); }

NVML_FUNCTION nvmlDeviceGetMigMode(Device* handle, unsigned* current, unsigned* pending) {
  return ask(__func__, handle, current, [&](int) -> nvmlReturn_t {
    if (!has_mig_setting()) return NOT_SUPPORTED;
    if (pending == nullptr) return INVALID_ARGUMENT;
    *current = *pending = settings().mig == 1;
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceIsMigDeviceHandle(Device* handle, unsigned* is) { return answer(__func__, handle, is, 0); }
NVML_FUNCTION nvmlDeviceGetMaxMigDeviceCount(Device* handle, unsigned* count) {
  return answer(__func__, handle, count, has_mig_setting() ? 7 : 0);
}

NVML_FUNCTION nvmlDeviceGetComputeMode(Device* handle, int* mode) { return answer(__func__, handle, mode, settings().mode); }
NVML_FUNCTION nvmlDeviceGetPersistenceMode(Device* handle, int* mode) { return answer(__func__, handle, mode, 1); }

NVML_FUNCTION nvmlDeviceGetEccMode(Device* handle, int* current, int* pending) {
  return ask(__func__, handle, current, [&](int) -> nvmlReturn_t {
    if (pending == nullptr) return INVALID_ARGUMENT;
    *current = *pending = static_cast<int>(settings().ecc);
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetTotalEccErrors(Device* handle, int, int, unsigned long long* count) {
  return ask(__func__, handle, count, [&](int) -> nvmlReturn_t {
    if (settings().ecc == 0) return NOT_SUPPORTED;
    *count = 0;
    return SUCCESS;
  });
}

/// Other programs (the setting `processes`); the process that asks is not among them.
NVML_FUNCTION nvmlDeviceGetComputeRunningProcesses_v3(Device* handle, unsigned* count, ProcessInfo* out) {
  return ask(__func__, handle, count, [&](int) -> nvmlReturn_t {
    const unsigned running = settings().processes, room = *count;
    *count = running;
    if (running > room) return INSUFFICIENT_SIZE;
    if (running > 0 && out == nullptr) return INVALID_ARGUMENT;
    for (unsigned i = 0; i < running; ++i) out[i] = {4001 + i, PROCESS_MEMORY, NO_INSTANCE, NO_INSTANCE};
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetGraphicsRunningProcesses_v3(Device* handle, unsigned* count, ProcessInfo*) {
  return answer(__func__, handle, count, 0);
}
