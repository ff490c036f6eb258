// Stacks for lanes: made on demand, kept, each with a guard page below it.
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

  /// A stack that nobody uses.
  Stack take();
  void give_back(Stack stack) { free_.push_back(stack); }
  /// All stacks are free again: their lanes have been abandoned.
  void reset() { free_ = all_; }

 private:
  void make_more();
  std::vector<Stack> all_;
  std::vector<Stack> free_;
  std::vector<char*> slabs_;
};

}  // namespace octopus_softgpu
