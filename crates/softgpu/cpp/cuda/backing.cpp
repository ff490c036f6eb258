#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "../core/unwritten.hpp"
#include "memory.hpp"

namespace octopus_softgpu {

namespace {

/// From here on memory is not filled but mapped from one file that holds the pattern: a program may take all 48 GB of
/// the device on a machine that has 8, and pays for the pages it writes.
constexpr size_t MAP_FROM = 32 << 20;
constexpr size_t PATTERN = 16 << 20;
constexpr size_t PAGE = 4096;

/// A file without a name, full of the pattern; -1 if there is none to be had.
int pattern_file() {
  static const int file = [] {
    const int made = memfd_create("octopus-softgpu-unwritten", MFD_CLOEXEC);
    if (made < 0 || ftruncate(made, PATTERN) != 0) return -1;
    void* bytes = mmap(nullptr, PATTERN, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
    if (bytes == MAP_FAILED) return -1;
    memset(bytes, UNWRITTEN, PATTERN);
    munmap(bytes, PATTERN);
    return made;
  }();
  return file;
}

/// Maps the pattern as often as needed, with an inaccessible page at the end.
void* map(size_t bytes, size_t& mapped) {
  const int file = pattern_file();
  if (file < 0) return nullptr;
  const size_t length = (bytes + PAGE - 1) / PAGE * PAGE;
  void* space = mmap(nullptr, length + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return nullptr;
  for (size_t at = 0; at < length; at += PATTERN) {
    const size_t piece = length - at < PATTERN ? length - at : PATTERN;
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    if (mmap(static_cast<char*>(space) + at, piece, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED) {
      munmap(space, length + PAGE);
      return nullptr;
    }
  }
  mapped = length + PAGE;
  return space;
}

}  // namespace

void* obtain(size_t bytes, size_t& mapped) {
  mapped = 0;
  if (bytes >= MAP_FROM) return map(bytes, mapped);
  // Not rounded up: with the address sanitizer the first byte behind is out of bounds.
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) return nullptr;
  memset(memory, UNWRITTEN, bytes);
  return memory;
}

void give_up(void* memory, size_t mapped) {
  if (mapped != 0) {
    munmap(memory, mapped);
  } else {
    free(memory);
  }
}

}  // namespace octopus_softgpu
