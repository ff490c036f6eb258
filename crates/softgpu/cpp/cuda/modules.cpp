// Modules: PTX is read as far as a driver must, and each entry is joined with its host-compiled twin.
#include <dlfcn.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "driver.hpp"
#include "interpreter.hpp"

using namespace octopus_softgpu;

namespace {

/// The libraries of host-compiled kernels that the settings name.
const std::vector<void*>& kernel_libraries() {
  static const std::vector<void*>& libraries = *[] {
    auto* libraries = new std::vector<void*>;
    for (const std::string& path : settings().kernels) {
      libraries->push_back(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
      if (libraries->back() == nullptr) refuse(std::string("the kernels do not load: ") + dlerror());
    }
    return libraries;
  }();
  return libraries;
}

/// The twin of an entry, in the first library that has one; null without one. A twin of another signature is a mistake in the build of this double.
const HostKernel* twin(const PtxEntry& entry) {
  const std::string symbol = "octopus_kernel_" + entry.name;
  const HostKernel* host = nullptr;
  for (void* library : kernel_libraries()) {
    host = static_cast<const HostKernel*>(dlsym(library, symbol.c_str()));
    if (host != nullptr) break;
  }
  if (host == nullptr) return nullptr;
  const std::vector<size_t> sizes(host->parameter_sizes, host->parameter_sizes + host->parameter_count);
  if (sizes != entry.parameter_sizes) refuse("kernel " + entry.name + " has other parameters in the PTX than in its source");
  return host;
}

// CUjit_option
enum { INFO_LOG = 3, INFO_LOG_SIZE = 4, ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };

/// Writes a log where the options want it, and its length in place of the buffer's.
void write_log(const std::string& text, int buffer_option, unsigned count, const int* options, void** values) {
  char* buffer = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == buffer_option) buffer = static_cast<char*>(values[i]);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] != buffer_option + 1) continue;
    // The value itself is the size, in the pointer's low 32 bits.
    const size_t size = static_cast<unsigned>(reinterpret_cast<uintptr_t>(values[i]));
    size_t written = 0;
    if (buffer != nullptr && size > 0) {
      written = std::min(text.size(), size - 1);
      memcpy(buffer, text.data(), written);
      buffer[written] = 0;
    }
    values[i] = reinterpret_cast<void*>(written);
  }
}

CUresult load(Driver& driver, Module** handle, const char* image, unsigned count, const int* options, void** values) {
  if (handle == nullptr || image == nullptr || (count > 0 && (options == nullptr || values == nullptr))) return INVALID_VALUE;
  auto module = std::make_unique<Module>();
  module->context = current_context();
  std::string log;
  CUresult code;
  const bool is_elf = memcmp(image, "\x7f" "ELF", 4) == 0, is_fat = memcmp(image, "\x50\xed\x55\xba", 4) == 0;
  if (is_elf || is_fat) {
    log = "the software GPU runs PTX only\n";
    code = NO_BINARY_FOR_GPU;
  } else {
    code = read_ptx(image, module->ptx, log);
    if (code == SUCCESS && interprets()) {
      module->interpreted = interpret(image, log);
      // The text may be right all the same: silence would be wrong, and so would a driver's word.
      if (module->interpreted == nullptr) refuse("the interpreter does not know the PTX: " + log);
    }
  }
  write_log(log, ERROR_LOG, count, options, values);
  write_log("", INFO_LOG, count, options, values);
  details() = code == SUCCESS ? std::to_string(module->ptx.entries.size()) + " entries" : log.substr(0, log.find('\n'));
  if (code == SUCCESS) *handle = driver.modules.add(std::move(module));
  return code;
}

}  // namespace

DRIVER_FUNCTION cuModuleLoadData(Module** module, const void* image) {
  return call(__func__, Needs::Context, LOCKED { return load(driver, module, static_cast<const char*>(image), 0, nullptr, nullptr); });
}

DRIVER_FUNCTION cuModuleLoadDataEx(Module** module, const void* image, unsigned count, int* options, void** values) {
  return call(__func__, Needs::Context, LOCKED {
    return load(driver, module, static_cast<const char*>(image), count, options, values);
  });
}

DRIVER_FUNCTION cuModuleLoad(Module** module, const char* path) {
  return call(__func__, Needs::Context, LOCKED {
    if (path == nullptr) return INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return FILE_NOT_FOUND;
    std::ostringstream text;
    text << file.rdbuf();
    return load(driver, module, text.str().c_str(), 0, nullptr, nullptr);
  });
}

DRIVER_FUNCTION cuModuleUnload(Module* module) {
  return call(__func__, Needs::Context, LOCKED { return driver.modules.remove(module) ? SUCCESS : INVALID_HANDLE; });
}

DRIVER_FUNCTION cuModuleGetFunction(Function** function, Module* handle, const char* name) {
  return call(__func__, Needs::Context, LOCKED {
    if (function == nullptr || name == nullptr) return INVALID_VALUE;
    Module* module = driver.modules.find(handle);
    if (module == nullptr) return INVALID_HANDLE;
    details() = name;
    const auto entry = module->ptx.entries.find(name);
    if (entry == module->ptx.entries.end()) return NOT_FOUND;
    auto& slot = module->functions[name];
    if (!slot) {
      constexpr int WITHOUT_ASKING = 49152;
      const int dynamic_most = std::max(0, WITHOUT_ASKING - entry->second.static_shared);
      slot = std::make_unique<Function>(Function{module, &entry->second, twin(entry->second), dynamic_most});
    }
    *function = slot.get();
    return SUCCESS;
  });
}

// The kernels here have no variables of their own, and a twin could not share them with the program.
DRIVER_FUNCTION cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, Module* module, const char* name) {
  return call(__func__, Needs::Context, LOCKED {
    if (name == nullptr) return INVALID_VALUE;
    return driver.modules.find(module) == nullptr ? INVALID_HANDLE : NOT_FOUND;
  });
}
