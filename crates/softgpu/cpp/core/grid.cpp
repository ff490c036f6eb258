// A grid is its blocks, taken one after the other by as many host threads as there are.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "block.hpp"
#include "shared_memory.hpp"
#include "trap.hpp"
#include "workers.hpp"

namespace octopus_softgpu {

namespace {

constexpr int ILLEGAL_ADDRESS = 700;
constexpr int LAUNCH_FAILED = 719;
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
    const uint64_t lanes = blocks_ * launch_.block.x * launch_.block.y * launch_.block.z;
    unsigned threads = launch_.threads != 0 ? launch_.threads : usual_threads();
    const bool few = lanes < FEW_LANES && !long_kernels().has(launch_.kernel);
    if (few) threads = 1;
    const auto start = std::chrono::steady_clock::now();
    on_threads(static_cast<unsigned>(std::min<uint64_t>(threads, blocks_)), [this] { take_blocks(); });
    if (few && std::chrono::steady_clock::now() - start > LONG) long_kernels().add(launch_.kernel);
  }

  int code() const { return code_; }
  const std::string& reason() const { return reason_; }

 private:
  void take_blocks() {
    BlockRunner& runner = block_runner();
    SharedSpace shared(launch_.kernel->shared);
    Trap trap;
    if (sigsetjmp(trap.back, 1) != 0) {
      const std::string where = runner.where();
      runner.abandon();
      return interrupted(trap, where);
    }
    trap.arm();
    while (code_ == 0) {
      const uint64_t first = next_.fetch_add(at_once_);
      if (first >= blocks_) break;
      for (uint64_t block = first; block < std::min(first + at_once_, blocks_) && code_ == 0; ++block) {
        shared.refresh(launch_.dynamic_shared);
        if (!runner.run(launch_, index(block))) return fail(LAUNCH_FAILED, runner.failure());
        if (!shared.guards_are_whole(launch_.dynamic_shared)) {
          return fail(ILLEGAL_ADDRESS, "it wrote beyond its dynamic shared memory");
        }
      }
    }
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
  std::atomic<uint64_t> next_{0};
  std::atomic<int> code_{0};
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
