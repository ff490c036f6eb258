#include "shared_memory.hpp"

#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace octopus_softgpu {

namespace {

struct Search {
  const char* anchor;
  char* begin;
  size_t size;
};

/// Finds the library whose thread-local block, for this thread, holds the anchor.
int examine(dl_phdr_info* library, size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  if (library->dlpi_tls_data == nullptr) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    if (library->dlpi_phdr[i].p_type != PT_TLS) continue;
    char* begin = static_cast<char*>(library->dlpi_tls_data);
    const size_t size = library->dlpi_phdr[i].p_memsz;
    if (search.anchor < begin || search.anchor >= begin + size) continue;
    search.begin = begin;
    search.size = size;
    return 1;
  }
  return 0;
}

}  // namespace

SharedSpace::SharedSpace(const SharedMemory* shared) {
  // Asking for the address makes this thread's block, if it has none yet.
  Search search = {static_cast<const char*>(shared->anchor()), nullptr, 0};
  if (dl_iterate_phdr(examine, &search) == 0) {
    fprintf(stderr, "octopus software GPU: the shared memory of the kernels was not found\n");
    abort();
  }
  for (unsigned i = 0; i < shared->dynamic_count; ++i) dynamic_.push_back(static_cast<char*>(shared->dynamic[i]()));
  std::sort(dynamic_.begin(), dynamic_.end());
  // What lies between the dynamic arrays is static shared memory.
  char* at = search.begin;
  for (char* array : dynamic_) {
    fixed_.push_back({at, static_cast<size_t>(array - at)});
    at = array + DYNAMIC_SHARED_MOST + DYNAMIC_SHARED_GUARD;
  }
  fixed_.push_back({at, static_cast<size_t>(search.begin + search.size - at)});
}

template <class F> void SharedSpace::each_range(size_t dynamic, F f) const {
  for (const Range& range : fixed_) f(range);
  for (char* array : dynamic_) f(Range{array, dynamic + DYNAMIC_SHARED_GUARD});
}

void SharedSpace::refresh(size_t dynamic) {
  each_range(dynamic, [](const Range& range) { memset(range.begin, UNWRITTEN, range.size); });
}

void SharedSpace::save(size_t dynamic, std::vector<char>& to) const {
  to.clear();
  each_range(dynamic, [&](const Range& range) { to.insert(to.end(), range.begin, range.begin + range.size); });
}

void SharedSpace::restore(size_t dynamic, const std::vector<char>& from) {
  const char* at = from.data();
  each_range(dynamic, [&](const Range& range) {
    memcpy(range.begin, at, range.size);
    at += range.size;
  });
}

bool SharedSpace::guards_are_whole(size_t dynamic) const {
  const auto whole = [](char byte) { return static_cast<unsigned char>(byte) == UNWRITTEN; };
  return std::all_of(dynamic_.begin(), dynamic_.end(), [&](const char* array) {
    return std::all_of(array + dynamic, array + dynamic + DYNAMIC_SHARED_GUARD, whole);
  });
}

}  // namespace octopus_softgpu
