#include "machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "settings.hpp"

namespace octopus_softgpu {

namespace {

// CUDA C++ Programming Guide, "Features and Technical Specifications", table "Technical Specifications per Compute
// Capability".
constexpr Architecture ARCHITECTURES[] = {
    {35, 2048, 16, 49152, 49152, 192, 3, false},   {50, 2048, 32, 65536, 49152, 128, 32, false},
    {52, 2048, 32, 98304, 49152, 128, 32, false},  {60, 2048, 32, 65536, 49152, 64, 2, false},
    {61, 2048, 32, 98304, 49152, 128, 32, false},  {70, 2048, 32, 98304, 98304, 64, 2, false},
    {75, 1024, 16, 65536, 65536, 64, 32, false},   {80, 2048, 32, 167936, 166912, 64, 2, true},
    {86, 1536, 16, 102400, 101376, 128, 64, false}, {89, 1536, 24, 102400, 101376, 128, 64, false},
    {90, 2048, 32, 233472, 232448, 128, 2, true},  {100, 2048, 32, 233472, 232448, 128, 2, true},
    {120, 1536, 24, 102400, 101376, 128, 64, false},
};

constexpr int MOST_DEVICES = 64;
std::atomic<uint64_t> taken[MOST_DEVICES];
std::atomic<int> context_count[MOST_DEVICES];

/// The device that an entry of CUDA_VISIBLE_DEVICES names: a number or the beginning of a UUID; -1 for none.
int named(const std::string& entry) {
  const int devices = settings().devices;
  if (entry.rfind("GPU-", 0) == 0) {
    int found = -1;
    for (int device = 0; device < devices; ++device) {
      if (device_uuid_text(device).rfind(entry, 0) != 0) continue;
      if (found >= 0) return -1;
      found = device;
    }
    return found;
  }
  char* end = nullptr;
  const long number = strtol(entry.c_str(), &end, 10);
  return end != entry.c_str() && *end == 0 && number >= 0 && number < devices ? static_cast<int>(number) : -1;
}

}  // namespace

const Architecture& architecture() {
  const int cc = settings().cc_major * 10 + settings().cc_minor;
  const Architecture* found = ARCHITECTURES;
  for (const Architecture& one : ARCHITECTURES) {
    if (one.cc <= cc) found = &one;
  }
  return *found;
}

std::array<unsigned char, 16> device_uuid(int device) {
  return {'O', 'c', 't', 'o', 'p', 'u', 's', 'S', 'o', 'f', 't', 'G', 'P', 'U', 0, static_cast<unsigned char>(device)};
}

std::string device_uuid_text(int device) {
  std::string text = "GPU";
  int at = 0;
  for (unsigned char byte : device_uuid(device)) {
    char digits[4];
    const bool dash = at == 0 || at == 4 || at == 6 || at == 8 || at == 10;
    snprintf(digits, sizeof digits, dash ? "-%02x" : "%02x", byte);
    text += digits;
    ++at;
  }
  return text;
}

std::vector<int> visible_devices() {
  std::vector<int> devices;
  const char* variable = getenv("CUDA_VISIBLE_DEVICES");
  if (variable == nullptr) {
    for (int device = 0; device < settings().devices; ++device) devices.push_back(device);
    return devices;
  }
  const std::string list = variable;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    std::string entry = list.substr(at, end - at);
    entry.erase(0, entry.find_first_not_of(' '));
    entry.erase(entry.find_last_not_of(' ') + 1);
    const int device = named(entry);
    if (device < 0) break;
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) return {};
    devices.push_back(device);
    at = end + 1;
  }
  return devices;
}

uint64_t memory_taken(int device) { return taken[device]; }
uint64_t memory_free(int device) { return of_device(settings().free, static_cast<size_t>(device)) - taken[device]; }
uint64_t memory_total(int device) { return of_device(settings().total, static_cast<size_t>(device)); }

bool take_memory(int device, uint64_t bytes) {
  const uint64_t free = of_device(settings().free, static_cast<size_t>(device));
  uint64_t now = taken[device];
  do {
    if (bytes > free - now) return false;
  } while (!taken[device].compare_exchange_weak(now, now + bytes));
  return true;
}

void return_memory(int device, uint64_t bytes) { taken[device] -= bytes; }

void count_contexts(int device, int change) { context_count[device] += change; }
int contexts(int device) { return context_count[device]; }

}  // namespace octopus_softgpu
