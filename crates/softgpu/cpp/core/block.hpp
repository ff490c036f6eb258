// Runs the threads of one block on one host thread.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "context_switch.hpp"
#include "lane.hpp"
#include "stacks.hpp"

namespace octopus_softgpu {

constexpr unsigned WARP = 32;
constexpr unsigned MOST_THREADS = 1024;

/// What became of a block while it ran.
enum class Turn {
  /// All of its lanes have left the kernel.
  Done,
  /// No lane can go on but those that sleep: other blocks may run, then it wants another turn.
  Asleep,
  /// Its lanes wait for each other in vain or break the rules of an exchange.
  Failed,
};

/// Lanes run one at a time. A lane begins on the stack of the lane before it when that one came to its end without
/// waiting, so that kernels without exchanges need one stack and no switch; a lane that waits keeps its stack, and the
/// next begins on another. The order is fixed, hence a block gives the same result each time.
class BlockRunner {
 public:
  explicit BlockRunner(Stacks& stacks);
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Runs block `index` of the launch.
  Turn begin(const Launch& launch, Dim3 index);
  /// Goes on with the block, which was asleep.
  Turn wake();

  /// What went wrong, in words.
  const std::string& failure() const { return failure_; }
  /// The running lane in words, for what interrupts it from outside.
  std::string where() const { return words_for(running().number); }
  /// The first lane that sleeps, in words.
  std::string sleeper() const;

  /// The runner of the lane that is running on this host thread.
  static BlockRunner& of_running_lane() { return *running().runner; }

  uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source);
  void barrier();
  void sleep();

 private:
  struct RunningLane : Lane {
    unsigned number;
    BlockRunner* runner;
    Stacks::Stack stack;
    Place place;
  };

  struct Warp {
    /// Lanes that may go on but are not running.
    uint32_t ready;
    uint32_t in_exchange;
    uint32_t at_barrier;
    uint32_t asleep;
    uint32_t left;
    Exchange kind[WARP];
    uint32_t mask[WARP];
    uint32_t source[WARP];
    uint64_t value[WARP];
    uint64_t result[WARP];
  };

  static void fiber_entry();
  void run_lanes();
  Turn enter(RunningLane& lane);
  static RunningLane& running() { return *static_cast<RunningLane*>(current_lane); }
  Warp& warp_of(const RunningLane& lane) { return warps_[lane.number / WARP]; }

  bool release(Warp& warp, uint32_t mask, Exchange kind);
  RunningLane* pick(const RunningLane& from);
  RunningLane* take_ready(unsigned warp, unsigned lane);
  RunningLane* begin_next();
  void wait(RunningLane& lane);
  [[noreturn]] void end_of_stack();
  void prefetch(unsigned number) const;
  [[noreturn]] void fail(std::string reason);
  [[noreturn]] void go_home();
  std::string deadlock() const;
  std::string words_for(unsigned lane) const;

  const Launch* launch_ = nullptr;
  Block block_ = {};
  unsigned count_ = 0;
  unsigned begun_ = 0;
  unsigned left_ = 0;
  unsigned at_barrier_ = 0;
  /// Warps that have ready lanes.
  uint32_t ready_warps_ = 0;
  /// Warps that have lanes that sleep.
  uint32_t sleepy_warps_ = 0;
  /// Turns at each barrier: the lanes that ran last are still in the cache and go on first.
  bool upwards_ = true;
  Place home_;
  Place nowhere_;
  Stacks& stacks_;
  std::string failure_;
  Warp warps_[MOST_THREADS / WARP];
  RunningLane lanes_[MOST_THREADS];
};

/// What a host thread runs blocks with: a runner for each block that it has begun and not ended.
class Runners {
 public:
  BlockRunner& operator[](size_t number);
  /// Forgets all blocks, wherever they are.
  void abandon();

 private:
  Stacks stacks_;
  std::vector<std::unique_ptr<BlockRunner>> runners_;
};

/// Those of this host thread.
Runners& runners();

}  // namespace octopus_softgpu
