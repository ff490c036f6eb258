#include "settings.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace octopus_softgpu {

void refuse(const std::string& complaint) {
  fprintf(stderr, "octopus software GPU: %s\n", complaint.c_str());
  // Not exit(): this may be an initialiser or a call from any thread.
  _Exit(97);
}

namespace {

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(by, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

uint64_t number(const std::string& text, uint64_t most) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long value = strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0 || errno != 0 || value > most) {
    refuse("OCTOPUS_SOFTGPU: `" + text + "` is no number up to " + std::to_string(most));
  }
  return value;
}

int code(const std::string& text) { return static_cast<int>(number(text, INT32_MAX)); }

Fault fault(const std::string& text) {
  Fault fault = {};
  const size_t colon = text.find(':');
  if (colon == std::string::npos) refuse("OCTOPUS_SOFTGPU: fail needs NAME:CODE[@K[+]], not `" + text + "`");
  fault.name = text.substr(0, colon);
  std::string rest = text.substr(colon + 1);
  const size_t at = rest.find('@');
  if (at != std::string::npos) {
    std::string call = rest.substr(at + 1);
    if (!call.empty() && call.back() == '+') {
      fault.onwards = true;
      call.pop_back();
    }
    fault.call = number(call, UINT64_MAX);
    rest = rest.substr(0, at);
  }
  fault.code = code(rest);
  return fault;
}

void capability(Settings& s, const std::string& text) {
  const size_t dot = text.find('.');
  if (dot == std::string::npos) refuse("OCTOPUS_SOFTGPU: cc needs MAJOR.MINOR, not `" + text + "`");
  s.cc_major = static_cast<int>(number(text.substr(0, dot), 99));
  s.cc_minor = static_cast<int>(number(text.substr(dot + 1), 9));
}

void sticky(Settings& s, const std::string& text) {
  const size_t at = text.find('@');
  if (at == std::string::npos) refuse("OCTOPUS_SOFTGPU: sticky needs CODE@K, not `" + text + "`");
  s.sticky_code = code(text.substr(0, at));
  s.sticky_launch = number(text.substr(at + 1), UINT64_MAX);
}

/// `CALL` for all devices, or `DEVICE:CALL,DEVICE:CALL`.
void lost(Settings& s, const std::string& text) {
  for (const std::string& one : split(text, ',')) {
    const size_t colon = one.find(':');
    if (colon == std::string::npos) {
      s.lost = number(one, UINT64_MAX);
    } else {
      s.lost_devices[static_cast<int>(number(one.substr(0, colon), 63))] = number(one.substr(colon + 1), UINT64_MAX);
    }
  }
}

using Set = std::function<void(Settings&, const std::string&)>;

template <class T> Set to(T Settings::*field, uint64_t most) {
  return [=](Settings& s, const std::string& text) { s.*field = static_cast<T>(number(text, most)); };
}
Set to_mebibytes(std::vector<uint64_t> Settings::*field) {
  return [=](Settings& s, const std::string& text) {
    (s.*field).clear();
    for (const std::string& one : split(text, ',')) (s.*field).push_back(number(one, 1 << 30) << 20);
    if ((s.*field).empty()) refuse("OCTOPUS_SOFTGPU: total_mb and free_mb need a number");
  };
}
Set to(std::string Settings::*field) {
  return [=](Settings& s, const std::string& text) { s.*field = text; };
}

const std::map<std::string, Set>& keys() {
  static const std::map<std::string, Set> keys = {
      {"devices", to(&Settings::devices, 64)},
      {"driver", to(&Settings::driver, 99999)},
      {"version", to(&Settings::version)},
      {"cc", capability},
      {"sms", to(&Settings::sms, 1024)},
      {"total_mb", to_mebibytes(&Settings::total)},
      {"free_mb", to_mebibytes(&Settings::free)},
      {"kernels", [](Settings& s, const std::string& text) { s.kernels = split(text, ':'); }},
      {"ptx", to(&Settings::ptx)},
      {"order", to(&Settings::order, UINT64_MAX)},
      {"checked", to(&Settings::checked, 1)},
      {"counts", to(&Settings::counts)},
      {"record", to(&Settings::record)},
      {"late", to(&Settings::late, UINT64_MAX)},
      {"mig", to(&Settings::mig, 1)},
      {"mode", to(&Settings::mode, 3)},
      {"processes", to(&Settings::processes, 1000)},
      {"fail", [](Settings& s, const std::string& text) { for (auto& one : split(text, ',')) s.faults.push_back(fault(one)); }},
      {"sticky", sticky},
      {"hang", to(&Settings::hang, UINT64_MAX)},
      {"lost", lost},
      {"trace", to(&Settings::trace)},
      {"report", to(&Settings::report)},
      {"threads", to(&Settings::threads, 64)},
      {"timeout_ms", to(&Settings::timeout_ms, 86400000)},
      {"watchdog_ms", to(&Settings::watchdog_ms, 86400000)},
      {"temperature", to(&Settings::temperature, 200)},
      {"power_mw", to(&Settings::power_mw, 10000000)},
      {"clock_mhz", to(&Settings::clock_mhz, 10000)},
      {"utilisation", to(&Settings::utilisation, 100)},
      {"throttle", to(&Settings::throttle, UINT64_MAX)},
      {"ecc", to(&Settings::ecc, 1)},
  };
  return keys;
}

Settings read() {
  Settings settings;
  const char* text = getenv("OCTOPUS_SOFTGPU");
  if (text == nullptr) return settings;
  for (const std::string& part : split(text, ';')) {
    const size_t equals = part.find('=');
    const auto key = keys().find(part.substr(0, equals));
    if (equals == std::string::npos || key == keys().end()) refuse("OCTOPUS_SOFTGPU: `" + part + "` is no known key=value");
    key->second(settings, part.substr(equals + 1));
  }
  for (size_t i = 0; i < std::max(settings.free.size(), settings.total.size()); ++i) {
    if (of_device(settings.free, i) > of_device(settings.total, i)) refuse("OCTOPUS_SOFTGPU: free_mb is more than total_mb");
  }
  return settings;
}

}  // namespace

const Settings& settings() {
  static const Settings& settings = *new Settings(read());
  return settings;
}

}  // namespace octopus_softgpu
