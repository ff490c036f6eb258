// Stacks for the lanes of a host thread's blocks: made on demand, kept, each with a guard page below it.
#pragma once
#include <cstddef>
#include <vector>

namespace octopus_softgpu {

class Stacks {
 public:
  /// Address space for each; pages are used as they are touched. An odd number of pages: with a power of two all
  /// stacks would compete for a few entries of the TLB.
  static constexpr size_t REGION = 65 * 4096;
  static constexpr size_t GUARD = 4096;
  static constexpr size_t SIZE = REGION - GUARD;

  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;
  ~Stacks();

  struct Stack {
    char* bottom;
    /// How far below its end the stack begins: stacks that begin at the same offset would share the cache's few lines.
    size_t colour;
  };

  /// Of all host threads together. Each takes two mappings, of which a process has 65530.
  static constexpr size_t MOST = 24576;

  /// False when there are as many as there can be and all are in use.
  bool has_one() { return !free_.empty() || make_more(); }
  /// A stack that nobody uses: there must be one.
  Stack take();
  void give_back(Stack stack) { free_.push_back(stack); }
  /// All stacks are free again: their lanes have been abandoned.
  void reset() { free_ = all_; }

 private:
  bool make_more();
  std::vector<Stack> all_;
  std::vector<Stack> free_;
  std::vector<char*> slabs_;
};

}  // namespace octopus_softgpu
