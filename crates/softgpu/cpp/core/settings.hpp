// What this software GPU is to be like: the environment variable OCTOPUS_SOFTGPU, `key=value;key=value`, read once.
// A key or a value that makes no sense ends the process: a test that is spelt wrong must not pass.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lane.hpp"

namespace octopus_softgpu {

/// `fail=NAME:CODE[@K[+]]`
struct Fault {
  std::string name;
  int code;
  /// The call that fails, from 1; 0 for every one.
  uint64_t call;
  /// Also all calls after it.
  bool onwards;
};

struct Settings {
  int devices = 1;
  /// As cuDriverGetVersion gives it.
  int driver = 12040;
  std::string version = "550.90.07";
  int cc_major = 8, cc_minor = 6;
  int sms = 84;
  /// Of device after device; those that follow are as the last.
  std::vector<uint64_t> total = {48685ull << 20};
  std::vector<uint64_t> free = {48000ull << 20};
  /// The interpreter of PTX, which runs all kernels if it is there.
  std::string ptx;
  /// The order of the interpreter: 0 for lock-step, else a seed.
  uint64_t order = 0;
  /// Whether the interpreter looks for races and the like.
  unsigned checked = 0;
  /// The folder where the interpreter writes how often each instruction was done.
  std::string counts;
  /// The folder where the interpreter records the first launches of each kernel.
  std::string record;
  /// The seed of a device that does what is queued as late as it may, in any order that is allowed; 0: all work is
  /// done by the time its call returns.
  uint64_t late = 0;
  /// Libraries of host-compiled kernels.
  std::vector<std::string> kernels;
  /// 0 or 1; -1: as the architecture has it.
  int mig = -1;
  int mode = 0;
  unsigned processes = 0;
  std::vector<Fault> faults;
  int sticky_code = 0;
  uint64_t sticky_launch = 0;
  /// The launch that never ends; 0: each does.
  uint64_t hang = 0;
  /// From this driver call on all devices are lost; 0: from the start.
  uint64_t lost = UINT64_MAX;
  /// One device each: from this driver call in its contexts on it is lost; 0: from the start.
  std::map<int, uint64_t> lost_devices;
  std::string trace;
  std::string report;
  unsigned threads = 0;
  /// How long a launch may last from when a lane of it first slept.
  unsigned timeout_ms = 60000;
  /// How long a launch may last on a device that drives a display; 0: none does.
  unsigned watchdog_ms = 0;
  unsigned temperature = 45;
  unsigned power_mw = 75000;
  unsigned clock_mhz = 1800;
  unsigned utilisation = 0;
  uint64_t throttle = 0;
  unsigned ecc = 0;
};

OCTOPUS_EXPORT const Settings& settings();

/// What a list says of a device.
inline uint64_t of_device(const std::vector<uint64_t>& list, size_t device) {
  return device < list.size() ? list[device] : list.back();
}

/// Prints the complaint and ends the process.
[[noreturn]] OCTOPUS_EXPORT void refuse(const std::string& complaint);

}  // namespace octopus_softgpu
