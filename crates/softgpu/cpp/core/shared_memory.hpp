// Shared memory: fresh for each block, and full of NaNs.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "lane.hpp"
#include "unwritten.hpp"

namespace octopus_softgpu {

/// This host thread's copy of a kernel library's shared memory.
class SharedSpace {
 public:
  explicit SharedSpace(const SharedMemory* shared);
  /// Makes it as new, with so many bytes of dynamic shared memory.
  void refresh(size_t dynamic);
  /// False if somebody wrote beyond the dynamic shared memory.
  bool guards_are_whole(size_t dynamic) const;

 private:
  struct Range {
    char* begin;
    size_t size;
  };
  std::vector<Range> fixed_;
  std::vector<char*> dynamic_;
};

}  // namespace octopus_softgpu
