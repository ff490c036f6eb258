#include "block.hpp"

#include <cstdarg>
#include <cstdio>

namespace octopus_softgpu {

thread_local Lane* current_lane = nullptr;

namespace {

std::string words(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string words(const char* format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

const char* name(Exchange kind) {
  switch (kind) {
    case Exchange::Shuffle: return "a shuffle";
    case Exchange::Ballot: return "a vote";
    case Exchange::Sync: return "__syncwarp";
  }
  return "an exchange";
}

uint32_t bit(unsigned lane) { return uint32_t{1} << (lane % WARP); }

std::string no_stack() {
  return words("more than %zu threads wait in the middle of the kernel, for which there are no stacks here", Stacks::MOST);
}

}  // namespace

Runners& runners() {
  // By pointer: `current_lane` puts this library's thread-local variables into the loader's small reserve.
  thread_local const std::unique_ptr<Runners> runners = std::make_unique<Runners>();
  return *runners;
}

BlockRunner& Runners::operator[](size_t number) {
  while (runners_.size() <= number) runners_.push_back(std::make_unique<BlockRunner>(stacks_));
  return *runners_[number];
}

void Runners::abandon() {
  current_lane = nullptr;
  stacks_.reset();
}

BlockRunner::BlockRunner(Stacks& stacks) : stacks_(stacks) {
  for (unsigned i = 0; i < MOST_THREADS; ++i) {
    lanes_[i].number = i;
    lanes_[i].block = &block_;
    lanes_[i].runner = this;
  }
}

Turn BlockRunner::begin(const Launch& launch, Dim3 index) {
  launch_ = &launch;
  block_ = {index, launch.block, launch.grid};
  count_ = launch.block.x * launch.block.y * launch.block.z;
  begun_ = left_ = at_barrier_ = 0;
  ready_warps_ = sleepy_warps_ = 0;
  upwards_ = true;
  failure_.clear();
  for (unsigned w = 0; w * WARP < count_; ++w) {
    Warp& warp = warps_[w];
    warp.ready = warp.in_exchange = warp.at_barrier = warp.asleep = warp.left = 0;
  }
  if (!stacks_.has_one()) {
    failure_ = no_stack();
    return Turn::Failed;
  }
  return enter(*begin_next());
}

/// From the host thread's own stack to a lane, until the block comes to an end of its turn.
Turn BlockRunner::enter(RunningLane& lane) {
  current_lane = &lane;
  home_.leave_for(lane.place);
  current_lane = nullptr;
  if (!failure_.empty()) return Turn::Failed;
  return left_ == count_ ? Turn::Done : Turn::Asleep;
}

/// Every lane that sleeps looks once whether its time has come.
Turn BlockRunner::wake() {
  ready_warps_ = sleepy_warps_;
  for (; sleepy_warps_ != 0; sleepy_warps_ &= sleepy_warps_ - 1) {
    Warp& warp = warps_[__builtin_ctz(sleepy_warps_)];
    warp.ready = warp.asleep;
    warp.asleep = 0;
  }
  const unsigned first = static_cast<unsigned>(__builtin_ctz(ready_warps_));
  return enter(*take_ready(first, static_cast<unsigned>(__builtin_ctz(warps_[first].ready))));
}

std::string BlockRunner::words_for(unsigned lane) const {
  const Dim3 &b = block_.index, &t = lanes_[lane].thread;
  return words("block (%u, %u, %u), thread (%u, %u, %u)", b.x, b.y, b.z, t.x, t.y, t.z);
}

std::string BlockRunner::sleeper() const {
  const unsigned warp = static_cast<unsigned>(__builtin_ctz(sleepy_warps_));
  return words_for(warp * WARP + static_cast<unsigned>(__builtin_ctz(warps_[warp].asleep)));
}

/// The next lane that has not begun, on a stack of its own.
BlockRunner::RunningLane* BlockRunner::begin_next() {
  RunningLane& lane = lanes_[begun_++];
  lane.stack = stacks_.take();
  lane.place.prepare(lane.stack.bottom, Stacks::SIZE, lane.stack.colour, fiber_entry);
  return &lane;
}

void BlockRunner::fiber_entry() {
  BlockRunner& runner = of_running_lane();
  Place::arrived(runner.home_);
  runner.run_lanes();
}

/// The body of a stack: its lane, and then those that have not begun, until one of them waits.
void BlockRunner::run_lanes() {
  const Stacks::Stack stack = running().stack;
  for (;;) {
    RunningLane& lane = running();
    const unsigned x = block_.block_dim.x, y = block_.block_dim.y;
    lane.thread = {lane.number % x, lane.number / x % y, lane.number / x / y};
    launch_->kernel->call(launch_->parameters);
    warp_of(lane).left |= bit(lane.number);
    ++left_;
    if (begun_ == count_) {
      stacks_.give_back(stack);
      RunningLane* next = pick(lane);
      if (next == nullptr) end_of_stack();
      current_lane = next;
      nowhere_.leave_for(next->place);
    }
    // Here only if there is a lane to begin on this stack.
    lanes_[begun_].stack = stack;
    lanes_[begun_].place.is_on(stack.bottom, Stacks::SIZE);
    current_lane = &lanes_[begun_++];
  }
}

namespace {

/// The first set bit after `from` in the direction, going round.
unsigned next_bit(uint32_t bits, unsigned from, bool upwards) {
  const uint32_t above = bits & ~((bit(from) << 1) - 1), below = bits & (bit(from) - 1);
  if (upwards) return static_cast<unsigned>(__builtin_ctz(above != 0 ? above : bits));
  return 31 - static_cast<unsigned>(__builtin_clz(below != 0 ? below : bits));
}

}  // namespace

BlockRunner::RunningLane* BlockRunner::take_ready(unsigned w, unsigned lane) {
  Warp& warp = warps_[w];
  warp.ready &= ~bit(lane);
  if (warp.ready == 0) ready_warps_ &= ~bit(w);
  return &lanes_[w * WARP + lane];
}

/// The lane to run when `from` cannot: of its own warp, else one that has not begun, else of another warp.
BlockRunner::RunningLane* BlockRunner::pick(const RunningLane& from) {
  const unsigned own = from.number / WARP;
  if (warps_[own].ready != 0) return take_ready(own, next_bit(warps_[own].ready, from.number % WARP, upwards_));
  if (begun_ < count_) {
    if (!stacks_.has_one()) fail(no_stack());
    return begin_next();
  }
  if (ready_warps_ == 0) return nullptr;
  const unsigned other = next_bit(ready_warps_, own, upwards_);
  return take_ready(other, next_bit(warps_[other].ready, upwards_ ? WARP - 1 : 0, upwards_));
}

void BlockRunner::wait(RunningLane& lane) {
  RunningLane* next = pick(lane);
  if (next == nullptr) {
    if (sleepy_warps_ == 0) fail(deadlock());
    return lane.place.leave_for(home_);
  }
  prefetch(next->number);
  current_lane = next;
  lane.place.leave_for(next->place);
}

/// After a lane has left the kernel and no other is ready: the block is done, or its turn is.
void BlockRunner::end_of_stack() {
  if (left_ != count_ && sleepy_warps_ == 0) fail(deadlock());
  go_home();
}

/// The stacks of a block do not fit into the first-level cache. Lanes go on one after the other as a rule, so the
/// stack of the one after the next can be on its way already.
void BlockRunner::prefetch(unsigned number) const {
  const unsigned ahead = upwards_ ? number + 2 : number - 2;
  if (ahead >= begun_) return;
  const char* stack = lanes_[ahead].place.hint();
  for (int line = 0; line < 4; ++line) __builtin_prefetch(stack + 64 * line, 1);
}

__attribute__((flatten)) uint64_t BlockRunner::exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source) {
  RunningLane& lane = running();
  const unsigned own = lane.number % WARP;
  Warp& warp = warp_of(lane);
  if ((mask & bit(own)) == 0) {
    fail(words("%s: it calls %s with mask %08x, which leaves out its own lane %u", where().c_str(), name(kind), mask, own));
  }
  warp.kind[own] = kind;
  warp.mask[own] = mask;
  warp.source[own] = source % WARP;
  warp.value[own] = value;
  warp.in_exchange |= bit(own);
  if (!release(warp, mask, kind)) wait(lane);
  return warp.result[own];
}

/// If all lanes of the mask are in this exchange: works it out and lets them go on. The last one to come goes on at
/// once.
bool BlockRunner::release(Warp& warp, uint32_t mask, Exchange kind) {
  if ((warp.in_exchange & mask) != mask) return false;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (warp.mask[i] != mask || warp.kind[i] != kind) return false;
  }
  uint64_t votes = 0;
  for (uint32_t rest = mask; kind == Exchange::Ballot && rest != 0; rest &= rest - 1) {
    if (warp.value[__builtin_ctz(rest)] != 0) votes |= rest & -rest;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (kind == Exchange::Shuffle && (mask & bit(warp.source[i])) == 0) {
      fail(words("%s: lane %d reads lane %u in a shuffle with mask %08x, which leaves that lane out", where().c_str(), i,
                 warp.source[i], mask));
    }
    warp.result[i] = kind == Exchange::Shuffle ? warp.value[warp.source[i]] : votes;
  }
  const RunningLane& last = running();
  warp.in_exchange &= ~mask;
  warp.ready |= mask & ~bit(last.number);
  if (warp.ready != 0) ready_warps_ |= bit(last.number / WARP);
  return true;
}

__attribute__((flatten)) void BlockRunner::barrier() {
  RunningLane& lane = running();
  warp_of(lane).at_barrier |= bit(lane.number);
  if (++at_barrier_ < count_) return wait(lane);
  at_barrier_ = 0;
  upwards_ = !upwards_;
  for (unsigned w = 0; w * WARP < count_; ++w) {
    warps_[w].ready = warps_[w].at_barrier;
    warps_[w].at_barrier = 0;
    ready_warps_ |= bit(w);
  }
  Warp& own = warp_of(lane);
  own.ready &= ~bit(lane.number);
  if (own.ready == 0) ready_warps_ &= ~bit(lane.number / WARP);
}

/// Other lanes come first, so that one that waits for a lane of its own block does not keep it from running.
void BlockRunner::sleep() {
  RunningLane& lane = running();
  warp_of(lane).asleep |= bit(lane.number);
  sleepy_warps_ |= bit(lane.number / WARP);
  wait(lane);
}

void BlockRunner::fail(std::string reason) {
  failure_ = std::move(reason);
  go_home();
}

void BlockRunner::go_home() {
  nowhere_.leave_for(home_);
  __builtin_unreachable();
}

/// Who waits for what, when nobody can go on.
__attribute__((noinline, cold)) std::string BlockRunner::deadlock() const {
  const Dim3& b = block_.index;
  std::string text = words("block (%u, %u, %u) of %u threads waits for ever:", b.x, b.y, b.z, count_);
  if (at_barrier_ != 0) text += words(" %u threads at __syncthreads;", at_barrier_);
  for (unsigned w = 0; w * WARP < count_; ++w) {
    const Warp& warp = warps_[w];
    if (warp.in_exchange == 0) continue;
    const int i = __builtin_ctz(warp.in_exchange);
    text += words(" in warp %u, lanes %08x in an exchange (lane %d in %s with mask %08x), lanes %08x have left the kernel;", w,
                  warp.in_exchange, i, name(warp.kind[i]), warp.mask[i], warp.left);
    break;
  }
  text += words(" %u threads have left the kernel", left_);
  return text;
}

uint64_t exchange(Exchange kind, unsigned mask, uint64_t value, unsigned source) {
  return BlockRunner::of_running_lane().exchange(kind, mask, value, source);
}

void block_barrier() { BlockRunner::of_running_lane().barrier(); }

void lane_sleeps() { BlockRunner::of_running_lane().sleep(); }

}  // namespace octopus_softgpu
