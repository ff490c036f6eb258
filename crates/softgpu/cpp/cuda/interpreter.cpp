#include "interpreter.hpp"

#include <dlfcn.h>

namespace octopus_softgpu {

namespace {

/// `OctopusPtxLaunch` of crates/ptx/src/ffi.rs.
struct PtxLaunch {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared;
  uint32_t together;
  uint64_t order;
  uint32_t checked;
  uint32_t patience_ms;
  const uint64_t* allocations;
  size_t allocation_count;
  const char* counts;
  const char* record;
};

/// The functions of the interpreter's library.
struct Library {
  void* (*load)(const char* text, char* message, size_t size);
  void (*unload)(void* module);
  int (*launch)(void* module, const char* entry, void** parameters, const PtxLaunch* launch, char* message, size_t size);
};

/// Null for a folder that is not set.
const char* folder(const std::string& path) { return path.empty() ? nullptr : path.c_str(); }

const Library& library() {
  static const Library library = [] {
    void* handle = dlopen(settings().ptx.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) refuse(std::string("the interpreter does not load: ") + dlerror());
    const auto function = [handle](const char* name) {
      void* found = dlsym(handle, name);
      if (found == nullptr) refuse(std::string("the interpreter has no ") + name);
      return found;
    };
    return Library{reinterpret_cast<decltype(Library::load)>(function("octopus_ptx_load")),
                   reinterpret_cast<decltype(Library::unload)>(function("octopus_ptx_unload")),
                   reinterpret_cast<decltype(Library::launch)>(function("octopus_ptx_launch"))};
  }();
  return library;
}

}  // namespace

bool interprets() { return !settings().ptx.empty(); }

std::shared_ptr<void> interpret(const char* text, std::string& complaint) {
  char message[1024] = "";
  void* module = library().load(text, message, sizeof message);
  if (module == nullptr) {
    complaint = message;
    return nullptr;
  }
  return std::shared_ptr<void>(module, library().unload);
}

int run_interpreted(const Interpreted& what, char* message, size_t message_size) {
  const PtxLaunch launch = {{what.grid.x, what.grid.y, what.grid.z},
                            {what.block.x, what.block.y, what.block.z},
                            what.dynamic_shared,
                            what.together,
                            settings().order,
                            settings().checked,
                            settings().timeout_ms,
                            what.allocations.data(),
                            what.allocations.size() / 3,
                            folder(settings().counts),
                            folder(settings().record)};
  return library().launch(what.module, what.entry, what.parameters, &launch, message, message_size);
}

}  // namespace octopus_softgpu
