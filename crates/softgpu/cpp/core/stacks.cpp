#include "stacks.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace octopus_softgpu {

namespace {
constexpr size_t PER_SLAB = 32;
constexpr size_t GUARD = Stacks::GUARD;
constexpr size_t SLAB = PER_SLAB * Stacks::REGION;
std::atomic<size_t> made{0};
}  // namespace

Stacks::~Stacks() {
  for (char* slab : slabs_) munmap(slab, SLAB);
  made -= all_.size();
}

Stacks::Stack Stacks::take() {
  Stack stack = free_.back();
  free_.pop_back();
  return stack;
}

bool Stacks::make_more() {
  if (made.fetch_add(PER_SLAB) + PER_SLAB > MOST) {
    made -= PER_SLAB;
    return false;
  }
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* slab = mmap(nullptr, SLAB, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (slab == MAP_FAILED) {
    fprintf(stderr, "octopus software GPU: no address space for the stacks of %zu more threads\n", PER_SLAB);
    abort();
  }
  slabs_.push_back(static_cast<char*>(slab));
  for (size_t i = PER_SLAB; i-- > 0;) {
    char* region = slabs_.back() + i * REGION;
    mprotect(region, GUARD, PROT_NONE);
    const size_t number = all_.size();
    all_.push_back({region + GUARD, (number * 1088) % 4096});
    free_.push_back(all_.back());
  }
  return true;
}

}  // namespace octopus_softgpu
