// Shared memory: fresh for each block, and full of NaNs. Of blocks that take turns on a host thread each finds its own
// again, at the same addresses.
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
  /// Keeps what it holds, so that another block may have the place, and brings it back.
  void save(size_t dynamic, std::vector<char>& to) const;
  void restore(size_t dynamic, const std::vector<char>& from);
  /// False if somebody wrote beyond the dynamic shared memory.
  bool guards_are_whole(size_t dynamic) const;

 private:
  struct Range {
    char* begin;
    size_t size;
  };
  /// All that a block has, with so many bytes of dynamic shared memory.
  template <class F> void each_range(size_t dynamic, F f) const;
  std::vector<Range> fixed_;
  std::vector<char*> dynamic_;
};

}  // namespace octopus_softgpu
