#include "queue.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "../core/faults.hpp"

namespace octopus_softgpu {

/// SplitMix64 (Steele, Lea and Flood 2014).
uint64_t Queue::draw(uint64_t below) {
  random_ += 0x9e3779b97f4a7c15;
  uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % below;
}

std::vector<Queue::Number> Queue::of_stream(StreamName stream) const {
  std::vector<Number> found;
  for (const auto& [number, item] : pending_) {
    if (item.stream.context == stream.context && item.stream.number == stream.number) found.push_back(number);
  }
  return found;
}

std::vector<Queue::Number> Queue::of_context(const Context& context) const {
  std::vector<Number> found;
  for (const auto& [number, item] : pending_) {
    if (item.stream.context == &context) found.push_back(number);
  }
  return found;
}

std::vector<Queue::Number> Queue::before_default(const Context& context) const {
  std::vector<Number> found;
  for (const auto& [number, item] : pending_) {
    if (item.stream.context == &context && item.stream.blocking) found.push_back(number);
  }
  return found;
}

bool Queue::is_idle(const Context& context) const { return of_context(context).empty(); }

Queue::Number Queue::add(StreamName stream, Number after, HostRange reads, Work work) {
  std::vector<Number> before;
  if (stream.number == DEFAULT_STREAM) {
    before = before_default(*stream.context);
  } else {
    before = of_stream(stream);
    // What the default stream has comes before work of all streams that keep the order with it.
    const auto of_default = of_stream({stream.context, DEFAULT_STREAM, true});
    if (stream.blocking) before.insert(before.end(), of_default.begin(), of_default.end());
  }
  if (!is_done(after)) before.push_back(after);
  pending_.emplace(++last_, Item{stream, std::move(before), reads, std::move(work)});
  return last_;
}

bool Queue::may_run(const Item& item) const {
  return std::all_of(item.after.begin(), item.after.end(), [&](Number number) { return is_done(number); });
}

std::vector<Queue::Number> Queue::ready(const std::vector<Number>& among) const {
  std::vector<Number> found;
  for (const Number number : among) {
    const auto item = pending_.find(number);
    if (item != pending_.end() && may_run(item->second)) found.push_back(number);
  }
  return found;
}

std::vector<Queue::Number> Queue::with_all_before(const std::vector<Number>& wanted) const {
  std::set<Number> all;
  std::vector<Number> open = wanted;
  while (!open.empty()) {
    const Number number = open.back();
    open.pop_back();
    const auto item = pending_.find(number);
    if (item == pending_.end() || !all.insert(number).second) continue;
    open.insert(open.end(), item->second.after.begin(), item->second.after.end());
  }
  return {all.begin(), all.end()};
}

void Queue::run(std::unique_lock<std::mutex>& lock, Number number) {
  running_ = true;
  const Work work = std::move(pending_.at(number).work);
  // Behind a kernel that has failed nothing is done.
  if (broken_by() == 0) work(lock);
  if (!lock.owns_lock()) lock.lock();
  pending_.erase(number);
  running_ = false;
  ran_.notify_all();
}

void Queue::finish(std::unique_lock<std::mutex>& lock, const std::vector<Number>& wanted) {
  const std::vector<Number> needed = with_all_before(wanted);
  for (;;) {
    ran_.wait(lock, [&] { return !running_; });
    const std::vector<Number> choice = ready(needed);
    if (choice.empty()) return;
    run(lock, choice[draw(choice.size())]);
    go_on(lock);
  }
}

void Queue::go_on(std::unique_lock<std::mutex>& lock) {
  while (!running_ && draw(4) < eagerness_) {
    std::vector<Number> all;
    for (const auto& [number, item] : pending_) all.push_back(number);
    const std::vector<Number> choice = ready(all);
    if (choice.empty()) return;
    run(lock, choice[draw(choice.size())]);
  }
}

void Queue::ask(std::unique_lock<std::mutex>& lock, const std::vector<Number>& about) {
  if (running_ || draw(2) == 0) return;
  const std::vector<Number> choice = ready(with_all_before(about));
  if (!choice.empty()) run(lock, choice[draw(choice.size())]);
}

bool Queue::reads(HostRange range) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const auto& entry) {
    const HostRange& reads = entry.second.reads;
    return reads.begin < range.begin + range.bytes && range.begin < reads.begin + reads.bytes;
  });
}

void Queue::drop(std::unique_lock<std::mutex>& lock, const Context& context) {
  ran_.wait(lock, [&] { return !running_; });
  for (const Number number : of_context(context)) pending_.erase(number);
}

}  // namespace octopus_softgpu
