// How a device is at the moment: memory, clocks, power, heat, load.
#include "nvml.hpp"

using namespace octopus_softgpu;

namespace {

struct Memory {
  unsigned long long total, free, used;
};

/// nvmlMemory_v2_t
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

/// nvmlUtilization_t
struct Utilization {
  unsigned gpu, memory;
};

// nvmlClockType_t
enum { GRAPHICS = 0, SM = 1, MEMORY = 2, VIDEO = 3 };

unsigned clock_now(int kind) { return kind == MEMORY ? 8001 : kind == VIDEO ? 1500 : settings().clock_mhz; }
unsigned clock_most(int kind) { return kind == MEMORY ? 8001 : kind == VIDEO ? 1950 : 2100; }

nvmlReturn_t clock(const char* name, const Device* handle, int kind, unsigned* mhz, unsigned (*value)(int)) {
  return ask(name, handle, mhz, [&](int) -> nvmlReturn_t {
    if (kind < GRAPHICS || kind > VIDEO) return INVALID_ARGUMENT;
    *mhz = value(kind);
    return SUCCESS;
  });
}

constexpr unsigned POWER_LIMIT_MW = 300000;

}  // namespace

NVML_FUNCTION nvmlDeviceGetMemoryInfo(Device* handle, Memory* memory) {
  return ask(__func__, handle, memory, [&](int number) {
    memory->total = memory_total(number);
    memory->free = memory_free(number);
    memory->used = memory->total - memory->free;
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetMemoryInfo_v2(Device* handle, MemoryV2* memory) {
  return ask(__func__, handle, memory, [&](int number) {
    memory->total = memory_total(number);
    memory->free = memory_free(number);
    memory->reserved = 0;
    memory->used = memory->total - memory->free;
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetClockInfo(Device* handle, int kind, unsigned* mhz) { return clock(__func__, handle, kind, mhz, clock_now); }
NVML_FUNCTION nvmlDeviceGetMaxClockInfo(Device* handle, int kind, unsigned* mhz) { return clock(__func__, handle, kind, mhz, clock_most); }
NVML_FUNCTION nvmlDeviceGetApplicationsClock(Device* handle, int kind, unsigned* mhz) { return clock(__func__, handle, kind, mhz, clock_now); }

/// The third argument is nvmlClockId_t: 3 asks for the most, the others for now and for what was set.
NVML_FUNCTION nvmlDeviceGetClock(Device* handle, int kind, int id, unsigned* mhz) {
  return clock(__func__, handle, kind, mhz, id == 3 ? clock_most : clock_now);
}

NVML_FUNCTION nvmlDeviceGetPowerUsage(Device* handle, unsigned* milliwatts) { return answer(__func__, handle, milliwatts, settings().power_mw); }
NVML_FUNCTION nvmlDeviceGetEnforcedPowerLimit(Device* handle, unsigned* milliwatts) { return answer(__func__, handle, milliwatts, POWER_LIMIT_MW); }
NVML_FUNCTION nvmlDeviceGetPowerManagementLimit(Device* handle, unsigned* milliwatts) { return answer(__func__, handle, milliwatts, POWER_LIMIT_MW); }

NVML_FUNCTION nvmlDeviceGetTemperature(Device* handle, int sensor, unsigned* celsius) {
  return ask(__func__, handle, celsius, [&](int) -> nvmlReturn_t {
    if (sensor != 0) return INVALID_ARGUMENT;
    *celsius = settings().temperature;
    return SUCCESS;
  });
}

/// nvmlTemperatureThresholds_t: shutdown, slowdown, memory, GPU.
NVML_FUNCTION nvmlDeviceGetTemperatureThreshold(Device* handle, int kind, unsigned* celsius) {
  return ask(__func__, handle, celsius, [&](int) -> nvmlReturn_t {
    constexpr unsigned THRESHOLDS[] = {98, 95, 95, 93};
    if (kind < 0 || kind > 3) return NOT_SUPPORTED;
    *celsius = THRESHOLDS[kind];
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetFanSpeed(Device* handle, unsigned* percent) { return answer(__func__, handle, percent, 30); }

NVML_FUNCTION nvmlDeviceGetUtilizationRates(Device* handle, Utilization* out) {
  return ask(__func__, handle, out, [&](int) {
    *out = {settings().utilisation, settings().utilisation / 2};
    return SUCCESS;
  });
}

NVML_FUNCTION nvmlDeviceGetCurrentClocksThrottleReasons(Device* handle, unsigned long long* reasons) {
  return answer(__func__, handle, reasons, settings().throttle);
}
NVML_FUNCTION nvmlDeviceGetCurrentClocksEventReasons(Device* handle, unsigned long long* reasons) {
  return answer(__func__, handle, reasons, settings().throttle);
}
NVML_FUNCTION nvmlDeviceGetSupportedClocksThrottleReasons(Device* handle, unsigned long long* reasons) {
  return answer(__func__, handle, reasons, 0x1ff);
}

/// P0 under load, P8 at rest.
NVML_FUNCTION nvmlDeviceGetPerformanceState(Device* handle, int* state) {
  return answer(__func__, handle, state, settings().utilisation > 0 ? 0 : 8);
}
NVML_FUNCTION nvmlDeviceGetPowerState(Device* handle, int* state) {
  return answer(__func__, handle, state, settings().utilisation > 0 ? 0 : 8);
}
