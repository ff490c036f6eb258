// Which call is to fail, and the record of all calls.
#pragma once
#include <string>

#include "lane.hpp"

namespace octopus_softgpu {

/// Counts a driver call. The CUresult that it must return at once, or 0.
OCTOPUS_EXPORT int driver_fault(const char* name);
/// Counts a driver call in a context of this device. The CUresult that it must return at once, or 0.
OCTOPUS_EXPORT int device_fault(int device);
/// Whether this device alone is lost.
OCTOPUS_EXPORT bool device_is_lost(int device);
/// Counts an NVML call. The nvmlReturn_t that it must return at once, or 0.
OCTOPUS_EXPORT int nvml_fault(const char* name);

/// Whether the launch that was counted last is the one that never ends.
OCTOPUS_EXPORT bool launch_hangs();

/// From now on all that needs the device returns this code: a kernel has corrupted it. The reason goes to stderr.
OCTOPUS_EXPORT void break_device(int code, const std::string& reason);
/// The code that a kernel has broken the device with; 0 if none has.
OCTOPUS_EXPORT int broken_by();

/// Appends `name code details` to the trace, if there is one.
OCTOPUS_EXPORT void trace(const char* name, int code, const std::string& details = "");
OCTOPUS_EXPORT bool tracing();

/// Ends the process if a fault names a function with this prefix that the library of `any_function` does not have.
OCTOPUS_EXPORT void check_fault_names(const char* prefix, const void* any_function);

}  // namespace octopus_softgpu
