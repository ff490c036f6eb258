// What a program has used of each device, appended to a file when it ends: a test compares it with what was foretold.
#include "report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "driver.hpp"

namespace octopus_softgpu {

namespace {

struct Account {
  uint64_t bytes = 0, peak_bytes = 0;
  uint64_t charged = 0, peak_charged = 0;
  uint64_t allocations = 0, launches = 0;
};

/// By the machine's devices. Changed with the driver's lock only.
std::map<int, Account>& accounts() {
  static auto& accounts = *new std::map<int, Account>;
  return accounts;
}

void write_report() {
  Driver& state = driver();
  std::unique_lock<std::mutex> lock(state.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  std::string text;
  for (const auto& [device, account] : accounts()) {
    const auto add = [&](const char* name, uint64_t value) { text += std::string(" ") + name + ' ' + std::to_string(value); };
    text += "device " + std::to_string(device);
    add("peak_bytes", account.peak_bytes);
    add("peak_charged_bytes", account.peak_charged);
    add("held_bytes", account.bytes);
    add("allocations", account.allocations);
    add("launches", account.launches);
    text += '\n';
  }
  const int file = open(settings().report.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  // One write, so that processes do not mix their lines.
  if (file < 0 || write(file, text.data(), text.size()) < 0) refuse("cannot write the report " + settings().report);
  close(file);
}

}  // namespace

void report_at_the_end() {
  if (!settings().report.empty()) atexit(write_report);
}

void count_memory(int device, uint64_t bytes, uint64_t charged) {
  Account& account = accounts()[device];
  account.bytes += bytes;
  account.charged += charged;
  account.peak_bytes = std::max(account.peak_bytes, account.bytes);
  account.peak_charged = std::max(account.peak_charged, account.charged);
  ++account.allocations;
}

void count_return(int device, uint64_t bytes, uint64_t charged) {
  Account& account = accounts()[device];
  account.bytes -= bytes;
  account.charged -= charged;
}

void count_launch(int device) { ++accounts()[device].launches; }

}  // namespace octopus_softgpu
