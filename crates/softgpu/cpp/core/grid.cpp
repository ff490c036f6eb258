// A grid is its blocks, taken one after the other by as many host threads as there are. Where all of them must run side
// by side, each host thread has some and lets them take turns.
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "block.hpp"
#include "settings.hpp"
#include "shared_memory.hpp"
#include "trap.hpp"
#include "workers.hpp"

namespace octopus_softgpu {

namespace {

constexpr int ILLEGAL_ADDRESS = 700;
constexpr int LAUNCH_TIMEOUT = 702;
constexpr int LAUNCH_FAILED = 719;
constexpr const char* NOT_TOGETHER = "; blocks of this launch need not run side by side, as those of cuLaunchCooperativeKernel do";
/// Lanes below which waking another thread takes longer than the work, as a rule. (A lane is some 10 ns at least.)
constexpr uint64_t FEW_LANES = 4096;
/// A launch of few lanes that took longer than this was worth several threads.
constexpr std::chrono::microseconds LONG{500};

/// Kernels of which that is known: those that take a whole chain through many iterations, for example.
class LongKernels {
 public:
  bool has(const HostKernel* kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    return kernels_.count(kernel) != 0;
  }
  void add(const HostKernel* kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    kernels_.insert(kernel);
  }

 private:
  std::mutex mutex_;
  std::set<const HostKernel*> kernels_;
};

LongKernels& long_kernels() {
  static auto& kernels = *new LongKernels;
  return kernels;
}

class Grid {
 public:
  explicit Grid(const Launch& launch) : launch_(launch) {
    blocks_ = uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    // A few blocks at a time, so that the counter is no bottleneck and the threads end together.
    at_once_ = std::clamp<uint64_t>(blocks_ / 64, 1, 32);
  }

  void run() {
    if (launch_.together) {
      // Where nobody says, one: blocks wait for each other at every turn, for nanoseconds on one host thread, and for
      // milliseconds on several of a machine that has other work.
      threads_ = std::min<uint64_t>(std::max(1u, launch_.threads), blocks_);
      return on_threads(static_cast<unsigned>(threads_), [this] { take_shares(); });
    }
    const uint64_t lanes = blocks_ * launch_.block.x * launch_.block.y * launch_.block.z;
    const bool few = lanes < FEW_LANES && !long_kernels().has(launch_.kernel);
    const unsigned threads = few ? 1 : launch_.threads != 0 ? launch_.threads : usual_threads();
    threads_ = std::min<uint64_t>(threads, blocks_);
    const auto start = std::chrono::steady_clock::now();
    on_threads(static_cast<unsigned>(threads_), [this] { take_blocks(); });
    if (few && std::chrono::steady_clock::now() - start > LONG) long_kernels().add(launch_.kernel);
  }

  int code() const { return code_; }
  const std::string& reason() const { return reason_; }

 private:
  /// A block that takes turns with others on a host thread.
  struct Seat {
    uint64_t block;
    BlockRunner* runner;
    Turn turn;
    std::vector<char> shared;
  };

  /// One block after the other, each to its end.
  void take_blocks() {
    BlockRunner& runner = runners()[0];
    SharedSpace shared(launch_.kernel->shared);
    trapped([&] {
      while (code_ == 0) {
        const uint64_t first = next_.fetch_add(at_once_);
        if (first >= blocks_) break;
        for (uint64_t block = first; block < std::min(first + at_once_, blocks_) && code_ == 0; ++block) {
          shared.refresh(launch_.dynamic_shared);
          Turn turn = runner.begin(launch_, index(block));
          while (turn == Turn::Asleep && may_wait(runner)) turn = runner.wake();
          judge(turn, runner, shared);
        }
      }
    });
  }

  /// A share of blocks that are beside each other for each host thread that comes; those that do not come in time leave
  /// theirs to the others.
  void take_shares() {
    for (uint64_t share; (share = next_.fetch_add(1)) < threads_;) {
      std::vector<Seat> seats;
      for (uint64_t block = blocks_ * share / threads_; block < blocks_ * (share + 1) / threads_; ++block) {
        seats.push_back({block, &runners()[seats.size()], Turn::Asleep, {}});
      }
      SharedSpace shared(launch_.kernel->shared);
      trapped([&] { take_turns(seats, shared); });
    }
  }

  /// Blocks that run side by side: each goes on until all of its lanes wait, and then it is the next one's turn.
  void take_turns(std::vector<Seat>& seats, SharedSpace& shared) {
    // Whose shared memory is in place.
    Seat* here = nullptr;
    const auto leave = [&] {
      if (here != nullptr && here->turn == Turn::Asleep) shared.save(launch_.dynamic_shared, here->shared);
    };
    for (Seat& seat : seats) {
      leave();
      here = &seat;
      shared.refresh(launch_.dynamic_shared);
      seat.turn = seat.runner->begin(launch_, index(seat.block));
      if (!judge(seat.turn, *seat.runner, shared)) return;
    }
    for (;;) {
      const Seat* asleep = nullptr;
      for (Seat& seat : seats) {
        if (seat.turn != Turn::Asleep) continue;
        if (here != &seat) {
          leave();
          here = &seat;
          shared.restore(launch_.dynamic_shared, seat.shared);
        }
        seat.turn = seat.runner->wake();
        if (!judge(seat.turn, *seat.runner, shared)) return;
        if (seat.turn == Turn::Asleep) asleep = &seat;
      }
      if (asleep == nullptr) return;
      if (!may_wait(*asleep->runner)) return runners().abandon();
    }
  }

  /// Calls `work`. What interrupts it fails the launch.
  template <class Work> void trapped(Work work) {
    Trap trap;
    if (sigsetjmp(trap.back, 1) != 0) {
      const std::string where = BlockRunner::of_running_lane().where();
      runners().abandon();
      return interrupted(trap, where);
    }
    trap.arm();
    work();
  }

  /// False if the launch has failed, by this block or another.
  bool judge(Turn turn, const BlockRunner& runner, const SharedSpace& shared) {
    if (turn == Turn::Failed) fail(LAUNCH_FAILED, runner.failure());
    if (turn == Turn::Done && !shared.guards_are_whole(launch_.dynamic_shared)) {
      fail(ILLEGAL_ADDRESS, "it wrote beyond its dynamic shared memory");
    }
    if (code_ != 0) runners().abandon();
    return code_ == 0;
  }

  /// Where nothing is left to do but look again: lets the others of several host threads run. False if the launch has failed, or does now
  /// because it has waited for too long.
  bool may_wait(const BlockRunner& runner) {
    using namespace std::chrono;
    const int64_t now = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
    int64_t since = 0;
    if (slept_since_.compare_exchange_strong(since, now)) since = now;
    if (now - since >= settings().timeout_ms) {
      fail(LAUNCH_TIMEOUT, runner.sleeper() + ": it sleeps, and the launch has lasted " + std::to_string(now - since) +
                               " ms since a lane first slept (setting timeout_ms)" + (launch_.together ? "" : NOT_TOGETHER));
    }
    if (threads_ > 1 && code_ == 0) sched_yield();
    return code_ == 0;
  }

  Dim3 index(uint64_t block) const {
    const uint64_t x = launch_.grid.x, y = launch_.grid.y;
    return {unsigned(block % x), unsigned(block / x % y), unsigned(block / x / y)};
  }

  void interrupted(const Trap& trap, const std::string& where) {
    char address[32];
    snprintf(address, sizeof address, "%p", trap.address);
    if (trap.signal == SIGFPE) return fail(LAUNCH_FAILED, where + ": integer division by zero");
    fail(ILLEGAL_ADDRESS, where + ": invalid address " + address + " (or too deep a stack)");
  }

  /// The first reason counts.
  void fail(int code, const std::string& reason) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (code_ != 0) return;
    reason_ = reason;
    code_ = code;
  }

  const Launch& launch_;
  uint64_t blocks_;
  uint64_t at_once_;
  /// Host threads, each of which takes a share of a launch whose blocks run side by side.
  uint64_t threads_ = 0;
  /// The next block, or the next share.
  std::atomic<uint64_t> next_{0};
  std::atomic<int> code_{0};
  /// By the steady clock, in milliseconds.
  std::atomic<int64_t> slept_since_{0};
  std::mutex mutex_;
  std::string reason_;
};

}  // namespace

int run_grid(const Launch& launch, char* message, size_t message_size) {
  Grid grid(launch);
  grid.run();
  snprintf(message, message_size, "%s: %s", launch.kernel->name, grid.reason().c_str());
  return grid.code();
}

}  // namespace octopus_softgpu
