// Start of the driver, and questions about devices.
#include <cstdio>
#include <cstring>

#include "driver.hpp"

using namespace octopus_softgpu;

namespace {

/// CUdevice_attribute; each is 0 that is not listed.
int attribute(int number, int device) {
  const Settings& s = settings();
  const Architecture& a = architecture();
  switch (number) {
    case 1: return 1024;                       // MAX_THREADS_PER_BLOCK
    case 2: case 3: return 1024;               // MAX_BLOCK_DIM_X, Y
    case 4: return 64;                         // MAX_BLOCK_DIM_Z
    case 5: return 2147483647;                 // MAX_GRID_DIM_X
    case 6: case 7: return 65535;              // MAX_GRID_DIM_Y, Z
    case 8: return 49152;                      // MAX_SHARED_MEMORY_PER_BLOCK
    case 9: return 65536;                      // TOTAL_CONSTANT_MEMORY
    case 10: return 32;                        // WARP_SIZE
    case 11: return 2147483647;                // MAX_PITCH
    case 12: return 65536;                     // MAX_REGISTERS_PER_BLOCK
    case 13: return static_cast<int>(s.clock_mhz) * 1000;  // CLOCK_RATE in kHz
    case 14: return 512;                       // TEXTURE_ALIGNMENT
    case 15: return 1;                         // GPU_OVERLAP
    case 16: return s.sms;                     // MULTIPROCESSOR_COUNT
    case 17: return s.watchdog_ms > 0;         // KERNEL_EXEC_TIMEOUT
    case 19: return 1;                         // CAN_MAP_HOST_MEMORY
    case 20: return s.mode;                    // COMPUTE_MODE
    case 31: return 1;                         // CONCURRENT_KERNELS
    case 32: return static_cast<int>(s.ecc);   // ECC_ENABLED
    case 33: return static_cast<int>(pci_bus(device));     // PCI_BUS_ID
    case 34: return 0;                         // PCI_DEVICE_ID
    case 36: return 8001000;                   // MEMORY_CLOCK_RATE in kHz
    case 37: return 384;                       // GLOBAL_MEMORY_BUS_WIDTH
    case 38: return 6 << 20;                   // L2_CACHE_SIZE
    case 39: return a.threads_per_sm;          // MAX_THREADS_PER_MULTIPROCESSOR
    case 40: return 2;                         // ASYNC_ENGINE_COUNT
    case 41: return 1;                         // UNIFIED_ADDRESSING
    case 50: return static_cast<int>(PCI_DOMAIN);          // PCI_DOMAIN_ID
    case 75: return s.cc_major;                // COMPUTE_CAPABILITY_MAJOR
    case 76: return s.cc_minor;                // COMPUTE_CAPABILITY_MINOR
    case 78: return 1;                         // STREAM_PRIORITIES_SUPPORTED
    case 79: case 80: return 1;                // GLOBAL_L1, LOCAL_L1_CACHE_SUPPORTED
    case 81: return a.shared_per_sm;           // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    case 82: return 65536;                     // MAX_REGISTERS_PER_MULTIPROCESSOR
    case 83: return 1;                         // MANAGED_MEMORY
    case 87: return a.f32_to_f64;              // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    case 89: case 90: return 1;                // CONCURRENT_MANAGED_ACCESS, COMPUTE_PREEMPTION_SUPPORTED
    case 95: return has_cooperative_launch();  // COOPERATIVE_LAUNCH
    case 97: return a.shared_per_block_opt_in; // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    case 99: return 1;                         // HOST_REGISTER_SUPPORTED
    case 106: return a.blocks_per_sm;          // MAX_BLOCKS_PER_MULTIPROCESSOR
    case 111: return s.cc_major >= 8 ? 1024 : 0;           // RESERVED_SHARED_MEMORY_PER_BLOCK
    case 115: return 1;                        // MEMORY_POOLS_SUPPORTED
    default: return 0;
  }
}

std::string bus_id(int device) {
  char text[32];
  snprintf(text, sizeof text, "%04X:%02X:00.0", PCI_DOMAIN, pci_bus(device));
  return text;
}

CUresult uuid(const char* function, unsigned char* bytes, CUdevice device) {
  return call(function, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (bytes == nullptr) return INVALID_VALUE;
    const auto uuid = device_uuid(driver.physical(device));
    memcpy(bytes, uuid.data(), uuid.size());
    return SUCCESS;
  });
}

CUresult text_of(char* text, int length, const std::string& value) {
  if (text == nullptr || length <= 0) return INVALID_VALUE;
  snprintf(text, static_cast<size_t>(length), "%s", value.c_str());
  return SUCCESS;
}

}  // namespace

DRIVER_FUNCTION cuInit(unsigned flags) {
  return call(__func__, Needs::Nothing, LOCKED {
    if (flags != 0) return INVALID_VALUE;
    if (driver.initialised) return SUCCESS;
    driver.devices = visible_devices();
    if (driver.devices.empty()) return NO_DEVICE;
    driver.initialised = true;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDriverGetVersion(int* version) {
  return call(__func__, Needs::Nothing, LOCKED {
    if (version == nullptr) return INVALID_VALUE;
    *version = settings().driver;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceGetCount(int* count) {
  return call(__func__, Needs::Init, LOCKED {
    if (count == nullptr) return INVALID_VALUE;
    *count = static_cast<int>(driver.devices.size());
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceGet(CUdevice* device, int ordinal) {
  return call(__func__, Needs::Init, LOCKED {
    if (device == nullptr) return INVALID_VALUE;
    if (!driver.has(ordinal)) return INVALID_DEVICE;
    *device = ordinal;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceGetName(char* name, int length, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED { return driver.has(device) ? text_of(name, length, DEVICE_NAME) : INVALID_DEVICE; });
}

DRIVER_FUNCTION cuDeviceGetUuid(unsigned char* bytes, CUdevice device) { return uuid(__func__, bytes, device); }
DRIVER_FUNCTION cuDeviceGetUuid_v2(unsigned char* bytes, CUdevice device) { return uuid(__func__, bytes, device); }

DRIVER_FUNCTION cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (bytes == nullptr) return INVALID_VALUE;
    *bytes = memory_total(driver.physical(device));
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceGetAttribute(int* value, int number, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (value == nullptr || number <= 0 || number > 150) return INVALID_VALUE;
    *value = attribute(number, driver.physical(device));
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device)) return INVALID_DEVICE;
    if (major == nullptr || minor == nullptr) return INVALID_VALUE;
    *major = settings().cc_major;
    *minor = settings().cc_minor;
    return SUCCESS;
  });
}

DRIVER_FUNCTION cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return call(__func__, Needs::Init, LOCKED {
    return driver.has(device) ? text_of(text, length, bus_id(driver.physical(device))) : INVALID_DEVICE;
  });
}

DRIVER_FUNCTION cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return call(__func__, Needs::Init, LOCKED {
    if (device == nullptr || text == nullptr) return INVALID_VALUE;
    for (size_t i = 0; i < driver.devices.size(); ++i) {
      const std::string id = bus_id(driver.devices[i]);
      // With the domain or without it.
      if (strcasecmp(text, id.c_str()) != 0 && strcasecmp(text, id.c_str() + 5) != 0) continue;
      *device = static_cast<CUdevice>(i);
      return SUCCESS;
    }
    return INVALID_DEVICE;
  });
}

DRIVER_FUNCTION cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return call(__func__, Needs::Init, LOCKED {
    if (!driver.has(device) || !driver.has(peer)) return INVALID_DEVICE;
    if (can == nullptr) return INVALID_VALUE;
    *can = 0;
    return SUCCESS;
  });
}
