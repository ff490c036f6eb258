// Work that the program has queued and the device has not done yet. Without the setting `late` there is none: all work
// is done by the time its call returns. With it, work is done when something waits for it, or at random moments before,
// in an order drawn by seed among those that streams and events allow. A program that forgets to wait gets other numbers.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace octopus_softgpu {

struct Context;

/// What the device does; called with the driver's lock, which it may give up meanwhile.
using Work = std::function<void(std::unique_lock<std::mutex>&)>;

/// A range of the host's memory.
struct HostRange {
  uintptr_t begin;
  size_t bytes;
};

/// A stream by its number in a context.
struct StreamName {
  Context* context;
  uint64_t number;
  /// Whether it keeps the order with the default stream.
  bool blocking;
};

/// The number of the default stream, and of each thread's own one (which all threads share here).
constexpr uint64_t DEFAULT_STREAM = 0, PER_THREAD_STREAM = 1, FIRST_OWN_STREAM = 2;

class Queue {
 public:
  /// Number 0 is of work that is done.
  using Number = uint64_t;

  explicit Queue(uint64_t seed) : eagerness_(seed % 4), random_(seed) {}

  /// Queues work behind all that the stream has, and behind `after`. The work reads the range of host memory when it is done.
  Number add(StreamName stream, Number after, HostRange reads, Work work);

  /// Does some of the work that may be done now, as the seed wants it.
  void go_on(std::unique_lock<std::mutex>& lock);

  bool is_done(Number number) const { return pending_.count(number) == 0; }
  bool is_idle(const Context& context) const;

  /// A question of a program that does not wait: half of them find that the device has done something meanwhile.
  void ask(std::unique_lock<std::mutex>& lock, const std::vector<Number>& about);

  /// Does this work and all that it comes behind, and of the rest what the seed wants.
  void finish(std::unique_lock<std::mutex>& lock, const std::vector<Number>& wanted);

  std::vector<Number> of_stream(StreamName stream) const;
  std::vector<Number> of_context(const Context& context) const;

  /// Whether work that is queued reads any of these bytes of the host.
  bool reads(HostRange range) const;

  /// Drops what is queued in a context that ends.
  void drop(std::unique_lock<std::mutex>& lock, const Context& context);

 private:
  struct Item {
    StreamName stream;
    std::vector<Number> after;
    HostRange reads;
    Work work;
  };

  uint64_t draw(uint64_t below);
  /// What comes before work of the default stream that is queued now.
  std::vector<Number> before_default(const Context& context) const;
  bool may_run(const Item& item) const;
  /// Those of `among` that may be done now.
  std::vector<Number> ready(const std::vector<Number>& among) const;
  /// This work and all that it comes behind.
  std::vector<Number> with_all_before(const std::vector<Number>& wanted) const;
  /// Does one piece of work that may be done now.
  void run(std::unique_lock<std::mutex>& lock, Number number);

  /// In so many of four cases it goes on before it must.
  uint64_t eagerness_;
  uint64_t random_;
  Number last_ = 0;
  std::map<Number, Item> pending_;
  /// One thread at a time does work; others wait for it.
  bool running_ = false;
  std::condition_variable ran_;
};

}  // namespace octopus_softgpu
