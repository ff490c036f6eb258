#include "workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace octopus_softgpu {

namespace {

/// Stacks for a thousand lanes per thread take many mappings, of which a process has 65530.
constexpr unsigned MOST = 8;

/// Threads are made when they are first needed and wait from then on. They are never joined: the process ends them, and
/// this object is never destroyed under them.
class Crew {
 public:
  void run(unsigned helpers, const std::function<void()>& work) {
    std::unique_lock<std::mutex> one_at_a_time(order_);
    std::unique_lock<std::mutex> lock(mutex_);
    for (; size_ < helpers; ++size_) std::thread([this] { stay(); }).detach();
    work_ = &work;
    wanted_ = running_ = helpers;
    begin_.notify_all();
    lock.unlock();
    work();
    lock.lock();
    // Those that have not come by now are not needed any more.
    running_ -= wanted_;
    wanted_ = 0;
    end_.wait(lock, [this] { return running_ == 0; });
    work_ = nullptr;
  }

 private:
  void stay() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      begin_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      const std::function<void()>& work = *work_;
      lock.unlock();
      work();
      lock.lock();
      if (--running_ == 0) end_.notify_all();
    }
  }

  std::mutex order_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const std::function<void()>* work_ = nullptr;
  unsigned size_ = 0;
  unsigned wanted_ = 0;
  unsigned running_ = 0;
};

}  // namespace

unsigned usual_threads() { return std::min(MOST, std::max(1u, std::thread::hardware_concurrency())); }

void on_threads(unsigned threads, const std::function<void()>& work) {
  if (threads <= 1) return work();
  static Crew& crew = *new Crew;
  crew.run(threads - 1, work);
}

}  // namespace octopus_softgpu
