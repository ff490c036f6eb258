#include "faults.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "settings.hpp"

namespace octopus_softgpu {

namespace {

constexpr int LAUNCH_FAILED = 719;
constexpr int NVML_GPU_IS_LOST = 15;

struct Calls {
  std::mutex mutex;
  std::map<std::string, uint64_t> by_name;
  std::map<int, uint64_t> by_device;
  uint64_t of_driver = 0;
  uint64_t launches = 0;
  bool lost = false;
  int broken = 0;
};

Calls& calls() {
  static Calls& calls = *new Calls;
  return calls;
}

/// The code of the fault that names this call, if one does.
int named(Calls& state, const char* name) {
  if (settings().faults.empty()) return 0;
  const uint64_t call = ++state.by_name[name];
  for (const Fault& fault : settings().faults) {
    if (fault.name != name) continue;
    if (fault.call == 0 || fault.call == call || (fault.onwards && call > fault.call)) return fault.code;
  }
  return 0;
}

bool starts_with(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/// What a driver answers without asking the device, so also when the device is in no state to answer.
bool needs_no_device(const char* name) {
  return starts_with(name, "cuGetError") || strcmp(name, "cuDriverGetVersion") == 0;
}

/// What a driver knows from its start: it answers after a kernel has crashed.
bool is_remembered(const char* name) { return strcmp(name, "cuInit") == 0 || starts_with(name, "cuDeviceGet"); }

}  // namespace

int driver_fault(const char* name) {
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  ++state.of_driver;
  if (state.of_driver >= settings().lost) state.lost = true;
  if (starts_with(name, "cuLaunchKernel") || starts_with(name, "cuLaunchCooperative")) {
    if (++state.launches == settings().sticky_launch) state.broken = settings().sticky_code;
  }
  if (const int code = named(state, name)) return code;
  if (needs_no_device(name)) return 0;
  if (state.lost) return LAUNCH_FAILED;
  return is_remembered(name) ? 0 : state.broken;
}

int device_fault(int device) {
  Calls& state = calls();
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    ++state.by_device[device];
  }
  return device_is_lost(device) ? LAUNCH_FAILED : 0;
}

bool device_is_lost(int device) {
  const auto found = settings().lost_devices.find(device);
  if (found == settings().lost_devices.end()) return false;
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.by_device[device] >= found->second;
}

int nvml_fault(const char* name) {
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (const int code = named(state, name)) return code;
  const bool lost = state.lost || settings().lost == 0;
  return lost && starts_with(name, "nvmlDevice") ? NVML_GPU_IS_LOST : 0;
}

bool launch_hangs() {
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  return settings().hang > 0 && state.launches == settings().hang;
}

void break_device(int code, const std::string& reason) {
  fprintf(stderr, "octopus software GPU: error %d in kernel %s\n", code, reason.c_str());
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.broken == 0) state.broken = code;
}

int broken_by() {
  Calls& state = calls();
  std::lock_guard<std::mutex> lock(state.mutex);
  return state.broken;
}

bool tracing() { return !settings().trace.empty(); }

void trace(const char* name, int code, const std::string& details) {
  if (!tracing()) return;
  static const int file = open(settings().trace.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) refuse("cannot write the trace " + settings().trace);
  std::string line = std::string(name) + ' ' + std::to_string(code);
  if (!details.empty()) line += ' ' + details;
  line += '\n';
  // One write a line, so that threads and processes do not mix theirs.
  if (write(file, line.data(), line.size()) < 0) refuse("cannot write the trace " + settings().trace);
}

void check_fault_names(const char* prefix, const void* any_function) {
  Dl_info info = {};
  if (dladdr(any_function, &info) == 0) return;
  void* library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  for (const Fault& fault : settings().faults) {
    if (!starts_with(fault.name.c_str(), "cu") && !starts_with(fault.name.c_str(), "nvml")) {
      refuse("OCTOPUS_SOFTGPU: fail=" + fault.name + ": neither a driver nor an NVML function");
    }
    if (starts_with(fault.name.c_str(), prefix) && dlsym(library, fault.name.c_str()) == nullptr) {
      refuse("OCTOPUS_SOFTGPU: fail=" + fault.name + ": there is no such function here");
    }
  }
  dlclose(library);
}

}  // namespace octopus_softgpu
